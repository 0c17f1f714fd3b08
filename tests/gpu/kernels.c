/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The library's kernels on a GPU, or on the stand-in for CUDA's driver, against loops here. With a
 * folder as argument it writes the PTX texts there instead, for ptxas.
 */
#include <math.h>
#include <stdbool.h>

#include "comms/gpu/kernels.h"
#include "device.h"

#define COUNT 3001
#define CHECK(condition, ...)                                           \
	do {                                                            \
		if (!(condition)) {                                     \
			fprintf(stderr, "%s:%d: ", __FILE__, __LINE__); \
			fprintf(stderr, __VA_ARGS__);                   \
			fprintf(stderr, "\n");                          \
			exit(1);                                        \
		}                                                       \
	} while (0)

static struct gpu_kernels kernels;
static char *memory[3];			     /* on the GPU */
static char low[COUNT * 8], high[COUNT * 8]; /* on the host */
static unsigned long long *old;		     /* pinned */

static uint64_t noise(uint64_t n)
{
	n = (n + 1) * 0x9e3779b97f4a7c15;
	n = (n ^ (n >> 30)) * 0xbf58476d1ce4e5b9;
	n = (n ^ (n >> 27)) * 0x94d049bb133111eb;
	return n ^ (n >> 31);
}

static void finish(void)
{
	DEVICE(cuStreamSynchronize(NULL));
}

/* --- combine --- */

#define EXPECT(NAME, TYPE, OP, EXPRESSION)                                              \
	static void NAME##_##OP(void *out, const void *left, const void *right)         \
	{                                                                               \
		for (size_t i = 0; i < COUNT; i++) {                                    \
			TYPE a = ((const TYPE *)left)[i], b = ((const TYPE *)right)[i]; \
                                                                                        \
			((TYPE *)out)[i] = (TYPE)(EXPRESSION);                          \
		}                                                                       \
	}
#define EXPECT_EXTREMES(NAME, TYPE)            \
	EXPECT(NAME, TYPE, min, a < b ? a : b) \
	EXPECT(NAME, TYPE, max, a > b ? a : b)
#define EXPECT_FLOATING(NAME, TYPE)    \
	EXPECT(NAME, TYPE, sum, a + b) \
	EXPECT(NAME, TYPE, prod, a *b) \
	EXPECT_EXTREMES(NAME, TYPE)
/* Sums of signed numbers wrap round on the GPU. */
#define EXPECT_INTEGER(NAME, TYPE)                         \
	EXPECT(NAME, TYPE, sum, (uint64_t)a + (uint64_t)b) \
	EXPECT(NAME, TYPE, prod, (uint64_t)a *(uint64_t)b) \
	EXPECT_EXTREMES(NAME, TYPE)                        \
	EXPECT(NAME, TYPE, and, a &b)                      \
	EXPECT(NAME, TYPE, or, a | b)                      \
	EXPECT(NAME, TYPE, xor, a ^ b)
#define FOR_INTEGERS(X)       \
	X(uint8_t, uint8_t)   \
	X(uint16_t, uint16_t) \
	X(uint32_t, uint32_t) \
	X(uint64_t, uint64_t) X(int8_t, int8_t) X(int16_t, int16_t) X(int32_t, int32_t) X(int64_t, int64_t)
FOR_INTEGERS(EXPECT_INTEGER)
EXPECT_FLOATING(float, float)
EXPECT_FLOATING(double, double)

static const struct {
	const char *name;
	struct gpu_numbers numbers;
	void (*expect[GPU_OPERATORS])(void *out, const void *left, const void *right);
} types[] = {
#define NUMBERS(NAME) [GPU_SUM] = NAME##_sum, [GPU_PROD] = NAME##_prod, [GPU_MIN] = NAME##_min, [GPU_MAX] = NAME##_max
#define INTEGERS(NAME) NUMBERS(NAME), [GPU_AND] = NAME##_and, [GPU_OR] = NAME##_or, [GPU_XOR] = NAME##_xor
#define UNSIGNED(NAME)                                       \
	{                                                    \
#NAME, {GPU_UNSIGNED, sizeof(NAME), COUNT }, \
		{                                            \
			INTEGERS(NAME)                       \
		}                                            \
	}
#define SIGNED(NAME)                                       \
	{                                                  \
#NAME, {GPU_SIGNED, sizeof(NAME), COUNT }, \
		{                                          \
			INTEGERS(NAME)                     \
		}                                          \
	}
#define FLOAT(NAME)                                       \
	{                                                 \
#NAME, {GPU_FLOAT, sizeof(NAME), COUNT }, \
		{                                         \
			NUMBERS(NAME)                     \
		}                                         \
	}
	UNSIGNED(uint8_t), UNSIGNED(uint16_t), UNSIGNED(uint32_t), UNSIGNED(uint64_t), SIGNED(int8_t),
	SIGNED(int16_t),   SIGNED(int32_t),    SIGNED(int64_t),	   FLOAT(float),       FLOAT(double)};

/* Any bits are integers. Some floats are tiny, some infinite, for min and max some no numbers. */
static void make_input(size_t type, bool with_nan)
{
	for (size_t i = 0; i < sizeof low / 8; i++) {
		((uint64_t *)(void *)low)[i] = noise(2 * i);
		((uint64_t *)(void *)high)[i] = noise(2 * i + 1);
	}
	for (size_t i = 0; i < COUNT && types[type].numbers.kind == GPU_FLOAT; i++) {
		double values[] = {(double)noise(i) / 3, -1e-300, 1.0 / 3, with_nan ? NAN : 1, 3e38,
				   -(double)INFINITY,	 1e-40};
		double a = values[i % 7], b = values[noise(i) % 5];

		if (types[type].numbers.width == 4) {
			((float *)(void *)low)[i] = (float)a;
			((float *)(void *)high)[i] = (float)b;
		} else {
			((double *)(void *)low)[i] = a;
			((double *)(void *)high)[i] = b;
		}
	}
}

/* The bits of a sum or product that is no number are not the processor's. */
static bool both_are_no_number(size_t type, const char *one, const char *other)
{
	if (types[type].numbers.kind != GPU_FLOAT)
		return false;
	if (types[type].numbers.width == 4)
		return isnan(*(const float *)(const void *)one) && isnan(*(const float *)(const void *)other);
	return isnan(*(const double *)(const void *)one) && isnan(*(const double *)(const void *)other);
}

static void check_combine(size_t type, enum gpu_operator op)
{
	static _Alignas(8) char expected[COUNT * 8], got[COUNT * 8];
	struct gpu_numbers numbers = types[type].numbers;
	size_t bytes = numbers.width * COUNT;

	make_input(type, op == GPU_MIN || op == GPU_MAX);
	types[type].expect[op](expected, low, high);
	for (int in_place = 0; in_place < 3; in_place++) {
		char *dest = memory[in_place == 0 ? 2 : in_place - 1];

		device_copy(memory[0], low, bytes);
		device_copy(memory[1], high, bytes);
		device_fill(memory[2], 0x11, COUNT * 8);
		CHECK(gpu_combine(&kernels, NULL, op, &numbers, device_of(dest), device_of(memory[0]),
				  device_of(memory[1])),
		      "operator %d of %s is not there", op, types[type].name);
		finish();
		device_copy(got, dest, bytes);
		for (size_t i = 0; i < COUNT; i++)
			CHECK(!memcmp(got + i * numbers.width, expected + i * numbers.width, numbers.width) ||
				      (op <= GPU_PROD &&
				       both_are_no_number(type, got + i * numbers.width, expected + i * numbers.width)),
			      "operator %d of %s, in place %d: element %zu is wrong", op, types[type].name, in_place,
			      i);
	}
}

static void check_combines(void)
{
	for (size_t type = 0; type < sizeof types / sizeof types[0]; type++)
		for (int op = 0; op < GPU_OPERATORS; op++)
			if (types[type].expect[op])
				check_combine(type, (enum gpu_operator)op);
	for (size_t width = 1; width <= 16; width++) {
		struct gpu_numbers numbers = {GPU_FLOAT, width, 8};

		CHECK(gpu_combine(&kernels, NULL, GPU_SUM, &numbers, device_of(memory[2]), device_of(memory[0]),
				  device_of(memory[1])) == (width == 4 || width == 8),
		      "floats of %zu bytes", width);
	}
	finish();
}

/* --- atomic --- */

static uint64_t apply(enum comms_amo op, uint64_t was, uint64_t operand, uint64_t compare)
{
	switch (op) {
	case COMMS_FETCH: return was;
	case COMMS_ADD: return was + operand;
	case COMMS_AND: return was & operand;
	case COMMS_OR: return was | operand;
	case COMMS_XOR: return was ^ operand;
	case COMMS_SWAP: return operand;
	case COMMS_CSWAP: return was == compare ? operand : was;
	}
	return 0;
}

static void check_atomic(enum comms_amo op, size_t width, bool equal)
{
	uint64_t was = noise(1), mask = width == 8 ? UINT64_MAX : UINT32_MAX;
	struct comms_atomic atomic = {op, width, noise(2) & mask, (equal ? was : noise(3)) & mask};
	uint64_t words[3] = {~was, was, ~was}, got[3], expected;

	/* The bytes beside a word of 4 bytes stay as they are. */
	expected = (was & ~mask) | (apply(op, was & mask, atomic.operand, atomic.compare) & mask);
	device_copy(memory[0], words, sizeof words);
	*old = ~was;
	CHECK(gpu_kernel_atomic(&kernels, NULL, device_of(memory[0] + 8), &atomic, device_of(old)),
	      "atomic %d of %zu bytes is not there", op, width);
	finish();
	device_copy(got, memory[0], sizeof got);
	CHECK(*old == (was & mask), "atomic %d of %zu bytes: old value %llx", op, width, *old);
	CHECK(got[1] == expected && got[0] == ~was && got[2] == ~was, "atomic %d of %zu bytes: %llx", op, width,
	      (unsigned long long)got[1]);
}

static void check_atomics(void)
{
	for (int op = COMMS_FETCH; op <= COMMS_CSWAP; op++)
		for (int i = 0; i < 4; i++)
			check_atomic((enum comms_amo)op, i & 1 ? 8 : 4, i & 2);
}

static int write_texts(const char *folder)
{
	char name[GPU_NAME_BYTES], text[GPU_TEXT_BYTES], path[4096];

	for (size_t i = 0; i < GPU_KERNELS; i++) {
		FILE *file;

		if (!gpu_kernel_text(i, name, text))
			continue;
		snprintf(path, sizeof path, "%s/%s.ptx", folder, name);
		file = fopen(path, "w");
		CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0, "cannot write %s", path);
	}
	return 0;
}

int main(int count, char **arguments)
{
	const char *problem;
	const struct gpu_driver *driver;

	if (count > 1)
		return write_texts(arguments[1]);
	device_start();
	driver = gpu_driver_load(&problem);
	CHECK(driver, "%s", problem);
	for (int i = 0; i < 3; i++)
		memory[i] = device_alloc(COUNT * 8);
	DEVICE(cuMemHostAlloc((void **)&old, 8, 0));
	gpu_kernels_start(&kernels, driver);
	check_combines();
	check_atomics();
	gpu_kernels_stop(&kernels);
	return 0;
}
