/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Modules and kernels of the stand-in for CUDA's driver. It does not understand PTX: it looks for
 * the name of an entry in the text, and calls the C function of the same name here. What the text
 * says is tested by ptxas, and on a GPU.
 */
#include "soft.h"

#include <stdlib.h>
#include <string.h>

struct soft_kernel {
	const char *name;
	void (*run)(const uint64_t *arguments);
	int count;	   /* of arguments, all of 8 bytes */
	unsigned pointers; /* which of them are addresses: a bit each */
	int width;
	/* Bytes that an address argument covers. */
	size_t (*extent)(const uint64_t *arguments, int argument, int width);
};

/* --- combine(dest, low, high, count) --- */

static size_t combine_extent(const uint64_t *arguments, int argument, int width)
{
	(void)argument;
	return arguments[3] * (size_t)width;
}

#define COMBINE(NAME, TYPE, EXPRESSION)                             \
	static void combine_##NAME(const uint64_t *arguments)       \
	{                                                           \
		TYPE *dest = (TYPE *)(uintptr_t)arguments[0];       \
		const TYPE *low = (TYPE *)(uintptr_t)arguments[1];  \
		const TYPE *high = (TYPE *)(uintptr_t)arguments[2]; \
                                                                    \
		for (uint64_t i = 0; i < arguments[3]; i++) {       \
			TYPE a = low[i], b = high[i];               \
                                                                    \
			dest[i] = (TYPE)(EXPRESSION);               \
		}                                                   \
	}
#define COMBINE_EXTREMES(SHORT, TYPE)             \
	COMBINE(min_##SHORT, TYPE, a < b ? a : b) \
	COMBINE(max_##SHORT, TYPE, a > b ? a : b)
#define COMBINE_FLOATING(SHORT, TYPE)     \
	COMBINE(sum_##SHORT, TYPE, a + b) \
	COMBINE(prod_##SHORT, TYPE, a *b) \
	COMBINE_EXTREMES(SHORT, TYPE)
/* Sums of signed numbers wrap round on a GPU. */
#define COMBINE_INTEGER(SHORT, TYPE)                          \
	COMBINE(sum_##SHORT, TYPE, (uint64_t)a + (uint64_t)b) \
	COMBINE(prod_##SHORT, TYPE, (uint64_t)a *(uint64_t)b) \
	COMBINE_EXTREMES(SHORT, TYPE)                         \
	COMBINE(and_##SHORT, TYPE, a &b)                      \
	COMBINE(or_##SHORT, TYPE, a | b)                      \
	COMBINE(xor_##SHORT, TYPE, a ^ b)

#define FOR_INTEGERS(X) \
	X(u8, uint8_t)  \
	X(u16, uint16_t) X(u32, uint32_t) X(u64, uint64_t) X(s8, int8_t) X(s16, int16_t) X(s32, int32_t) X(s64, int64_t)
#define FOR_FLOATS(X) X(f32, float) X(f64, double)
FOR_INTEGERS(COMBINE_INTEGER)
FOR_FLOATS(COMBINE_FLOATING)

/* --- atomic(word, operand, compare, old) --- */

static size_t atomic_extent(const uint64_t *arguments, int argument, int width)
{
	(void)arguments;
	return argument == 0 ? (size_t)width : 8;
}

#define ATOMIC(NAME, BITS, CALL)                                                                         \
	static void atomic_##NAME##_##BITS(const uint64_t *arguments)                                    \
	{                                                                                                \
		uint##BITS##_t *word = (uint##BITS##_t *)(uintptr_t)arguments[0];                        \
		uint##BITS##_t value = (uint##BITS##_t)arguments[1], was = (uint##BITS##_t)arguments[2]; \
                                                                                                         \
		(void)value;                                                                             \
		was = CALL;                                                                              \
		__atomic_store_n((uint64_t *)(uintptr_t)arguments[3], was, __ATOMIC_SEQ_CST);            \
	}
/* Whether it swapped or not, `was` then is what was there. */
#define CSWAP(BITS) (__atomic_compare_exchange_n(word, &was, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST), was)
#define ATOMICS(BITS)                                                          \
	ATOMIC(fetch, BITS, __atomic_load_n(word, __ATOMIC_SEQ_CST))           \
	ATOMIC(add, BITS, __atomic_fetch_add(word, value, __ATOMIC_SEQ_CST))   \
	ATOMIC(and, BITS, __atomic_fetch_and(word, value, __ATOMIC_SEQ_CST))   \
	ATOMIC(or, BITS, __atomic_fetch_or(word, value, __ATOMIC_SEQ_CST))     \
	ATOMIC(xor, BITS, __atomic_fetch_xor(word, value, __ATOMIC_SEQ_CST))   \
	ATOMIC(swap, BITS, __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST)) \
	ATOMIC(cswap, BITS, CSWAP(BITS))
ATOMICS(32)
ATOMICS(64)

/* --- All of them --- */

#define COMBINE_ROW(OP, SHORT, TYPE) \
	{"combine_" #OP "_" #SHORT, combine_##OP##_##SHORT, 4, 7, sizeof(TYPE), combine_extent},
#define NUMBER_ROWS(SHORT, TYPE)      \
	COMBINE_ROW(sum, SHORT, TYPE) \
	COMBINE_ROW(prod, SHORT, TYPE) COMBINE_ROW(min, SHORT, TYPE) COMBINE_ROW(max, SHORT, TYPE)
#define INTEGER_ROWS(SHORT, TYPE) \
	NUMBER_ROWS(SHORT, TYPE)  \
	COMBINE_ROW(and, SHORT, TYPE) COMBINE_ROW(or, SHORT, TYPE) COMBINE_ROW(xor, SHORT, TYPE)
#define ATOMIC_ROW(OP, BITS) {"atomic_" #OP "_" #BITS, atomic_##OP##_##BITS, 4, 9, BITS / 8, atomic_extent},
#define ATOMIC_ROWS(BITS)       \
	ATOMIC_ROW(fetch, BITS) \
	ATOMIC_ROW(add, BITS)   \
	ATOMIC_ROW(and, BITS) ATOMIC_ROW(or, BITS) ATOMIC_ROW(xor, BITS) ATOMIC_ROW(swap, BITS) ATOMIC_ROW(cswap, BITS)
static const struct soft_kernel kernels[] = {FOR_INTEGERS(INTEGER_ROWS) FOR_FLOATS(NUMBER_ROWS) ATOMIC_ROWS(32)
						     ATOMIC_ROWS(64)};

/* Fills in work; an error of the kernel itself shows later, as the driver's does. */
static bool prepare(const struct soft_kernel *kernel, void **arguments, struct soft_work *work)
{
	enum soft_place place;

	work->kernel = kernel->run;
	for (int i = 0; i < kernel->count; i++)
		memcpy(&work->arguments[i], arguments[i], sizeof work->arguments[i]);
	for (int i = 0; i < kernel->count; i++) {
		size_t bytes = 0;
		char *found;

		if (!(kernel->pointers >> i & 1))
			continue;
		bytes = kernel->extent(work->arguments, i, kernel->width);
		if (work->arguments[i] % (unsigned)kernel->width) {
			soft_break(SOFT_MISALIGNED);
			return false;
		}
		found = soft_find_bytes(work->arguments[i], bytes, &place);
		if (!found || place == SOFT_PAGEABLE) {
			soft_break(SOFT_ILLEGAL_ADDRESS);
			return false;
		}
		work->arguments[i] = (uintptr_t)found;
	}
	return true;
}

/* --- Functions of the driver --- */

EXPORT int cuModuleLoadData(char **module, const char *image)
{
	const char *version = strstr(image, ".version");

	ENTER_CONTEXT();
	if (!version || !strstr(version, ".target") || !strstr(version, ".entry"))
		return SOFT_INVALID_PTX;
	*module = strdup(image);
	return *module ? SOFT_OK : SOFT_OUT_OF_MEMORY;
}

EXPORT int cuModuleUnload(char *module)
{
	ENTER_CONTEXT();
	soft_drain();
	free(module);
	return SOFT_OK;
}

static bool has_entry(const char *module, const char *name)
{
	size_t length = strlen(name);

	while ((module = strstr(module, ".entry "))) {
		module += strlen(".entry ");
		if (!strncmp(module, name, length) && module[length] == '(')
			return true;
	}
	return false;
}

EXPORT int cuModuleGetFunction(const struct soft_kernel **function, const char *module, const char *name)
{
	ENTER_CONTEXT();
	if (!has_entry(module, name))
		return SOFT_NOT_FOUND;
	for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
		if (strcmp(kernels[i].name, name) != 0)
			continue;
		*function = &kernels[i];
		return SOFT_OK;
	}
	return SOFT_NOT_FOUND;
}

EXPORT int cuLaunchKernel(const struct soft_kernel *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
			  unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
			  struct soft_stream *stream, void **arguments, void **extra)
{
	struct soft_work work = {.what = SOFT_KERNEL};

	ENTER_CONTEXT();
	if (grid_x == 0 || grid_y != 1 || grid_z != 1 || block_x == 0 || block_x > 1024 || block_y != 1 ||
	    block_z != 1 || shared || extra || !arguments)
		return SOFT_INVALID_VALUE;
	if (!prepare(function, arguments, &work))
		return SOFT_OK;
	return soft_issue(stream, &work, false);
}
