/* SPDX-License-Identifier: BSD-3-Clause */
/* run: split=3 tofu-few=2 */
/* Put with signal in all its types, sizes and forms; signals without data. */
#include "tests/lib/check.h"
#include "tests/lib/types.h"

#define MOST 33
#define ROOM (MOST * 16)

static uint64_t signal_in_globals;
static uint64_t *signal_in_heap;
static _Alignas(16) unsigned char data_in_globals[ROOM];
static unsigned char *data_in_heap;

typedef void put_signal(int form, void *dest, const void *source, size_t nelems, uint64_t *word, uint64_t value, int op,
			int pe);

#define FORMS(NAME, PREFIX, TYPE)                                                                                      \
	static void send_##NAME(int form, void *dest, const void *source, size_t nelems, uint64_t *word,               \
				uint64_t value, int op, int pe)                                                        \
	{                                                                                                              \
		TYPE *d = dest;                                                                                        \
		const TYPE *s = source;                                                                                \
                                                                                                                       \
		switch (form) {                                                                                        \
		case 0: shmem_##PREFIX##_signal(d, s, nelems, word, value, op, pe); break;                             \
		case 1: shmem_##PREFIX##_signal_nbi(d, s, nelems, word, value, op, pe); break;                         \
		case 2: shmem_ctx_##PREFIX##_signal(SHMEM_CTX_DEFAULT, d, s, nelems, word, value, op, pe); break;      \
		default: shmem_ctx_##PREFIX##_signal_nbi(SHMEM_CTX_DEFAULT, d, s, nelems, word, value, op, pe); break; \
		}                                                                                                      \
	}
#define TYPED(NAME, TYPE, LEAST, GREATEST) FORMS(NAME, NAME##_put, TYPE)
#define SIZED(BITS) FORMS(BITS, put##BITS, void)
RMA_TYPES(TYPED)
SIZES(SIZED)
SIZED(mem)

static const struct {
	const char *name;
	size_t width;
	put_signal *send;
} routines[] = {
#define ROW(NAME, TYPE, LEAST, GREATEST) {#NAME, sizeof(TYPE), send_##NAME},
	RMA_TYPES(ROW)
#undef ROW
#define ROW(BITS) {#BITS, BITS / 8, send_##BITS},
		SIZES(ROW)
#undef ROW
			{"mem", 1, send_mem},
};

/*
 * The payload must be there, whole, when the signal is. Data and signal lie in different segments.
 */
static void try(size_t r, size_t nelems, int form)
{
	static _Alignas(16) unsigned char source[ROOM], expected[ROOM];
	static uint64_t round;
	size_t bytes = nelems * routines[r].width;

	for (int step = 0; step < npes; step++) {
		int to = (me + step) % npes, from = (me - step + npes) % npes;
		int op = (r + (size_t)form + (size_t)step) % 2 ? SHMEM_SIGNAL_SET : SHMEM_SIGNAL_ADD;
		uint64_t *word = form / 2 ? signal_in_heap : &signal_in_globals;
		unsigned char *area = form / 2 ? data_in_globals : data_in_heap;

		round++;
		*word = 100;
		memset(area, 0x2d, ROOM);
		fill_noise(source, ROOM, round * 64 + (uint64_t)me);
		fill_noise(expected, ROOM, round * 64 + (uint64_t)from);
		shmem_barrier_all();
		routines[r].send(form, area, source, nelems, word, 1000 + round, op, to);
		CHECK_EQUAL(shmem_signal_wait_until(word, SHMEM_CMP_NE, 100),
			    (op == SHMEM_SIGNAL_ADD ? 1100 : 1000) + round);
		CHECK_BYTES(area, expected, bytes);
		CHECK_FILL(area + bytes, 0x2d, ROOM - bytes);
		shmem_barrier_all();
	}
}

/* Large payloads, the signal at once behind. */
static void check_large(void)
{
	static const size_t sizes[] = {4096, 8191, 70001, 1 << 20, (3 << 20) + 5};
	size_t most = (3 << 20) + 5;
	unsigned char *area = symmetric(most), *source = malloc(most), *expected = malloc(most);
	int right = (me + 1) % npes, left = (me + npes - 1) % npes;

	*signal_in_heap = 0;
	shmem_barrier_all();
	for (uint64_t i = 0; i < 10; i++) {
		size_t bytes = sizes[i / 2];

		NOTE("%zu bytes", bytes);
		fill_noise(source, bytes, i * 64 + (uint64_t)me);
		fill_noise(expected, bytes, i * 64 + (uint64_t)left);
		if (i % 2)
			shmem_putmem_signal_nbi(area, source, bytes, signal_in_heap, 1, SHMEM_SIGNAL_ADD, right);
		else
			shmem_putmem_signal(area, source, bytes, signal_in_heap, 1, SHMEM_SIGNAL_ADD, right);
		shmem_signal_wait_until(signal_in_heap, SHMEM_CMP_EQ, i + 1);
		CHECK_BYTES(area, expected, bytes);
		shmem_barrier_all();
	}
	free(source);
	free(expected);
	shmem_free(area);
}

/* Adds of all PEs to one word, with and without data: none is lost. */
static void check_many_adders(long each)
{
	static uint64_t count;
	static long slots[64];

	for (long i = 0; i < each; i++) {
		switch (i % 4) {
		case 0: shmem_signal_add(&count, 3, 0); break;
		case 1: shmem_ctx_signal_add(SHMEM_CTX_DEFAULT, &count, 3, 0); break;
		case 2: shmem_long_put_signal(&slots[me % 64], &i, 1, &count, 3, SHMEM_SIGNAL_ADD, 0); break;
		case 3: shmem_long_put_signal(NULL, NULL, 0, &count, 3, SHMEM_SIGNAL_ADD, 0); break;
		}
	}
	if (me == 0) {
		uint64_t all = 3 * (uint64_t)each * (uint64_t)npes;

		CHECK_EQUAL(shmem_signal_wait_until(&count, SHMEM_CMP_GE, all), all);
		CHECK_EQUAL(shmem_signal_fetch(&count), all);
	}
	shmem_barrier_all();
}

/* Values are unsigned, sums wrap, and a wait returns what ended it. */
static void check_values(void)
{
	static uint64_t word;
	int right = (me + 1) % npes;

	word = 5;
	shmem_barrier_all();
	CHECK_EQUAL(shmem_signal_fetch(&word), 5);
	CHECK_EQUAL(shmem_signal_wait_until(&word, SHMEM_CMP_LT, UINT64_MAX), 5);
	shmem_barrier_all();
	shmem_signal_add(&word, UINT64_MAX - 10, right);
	CHECK_EQUAL(shmem_signal_wait_until(&word, SHMEM_CMP_GT, 5), UINT64_MAX - 5);
	shmem_barrier_all();
	shmem_ctx_signal_add(SHMEM_CTX_DEFAULT, &word, 8, right);
	CHECK_EQUAL(shmem_signal_wait_until(&word, SHMEM_CMP_LE, 5), 2);
	shmem_barrier_all();
	shmem_signal_set(&word, UINT64_MAX, right);
	CHECK_EQUAL(shmem_signal_wait_until(&word, SHMEM_CMP_GE, UINT64_MAX), UINT64_MAX);
	shmem_barrier_all();
	shmem_ctx_signal_set(SHMEM_CTX_DEFAULT, &word, 0, right);
	CHECK_EQUAL(shmem_signal_wait_until(&word, SHMEM_CMP_EQ, 0), 0);
}

int main(void)
{
	static const size_t lengths[] = {0, 1, MOST};

	begin();
	signal_in_heap = symmetric(sizeof *signal_in_heap);
	data_in_heap = shmem_align(16, ROOM);
	for (size_t r = 0; r < sizeof routines / sizeof routines[0]; r++) {
		for (int form = 0; form < 4; form++) {
			for (size_t i = 0; i < 3; i++) {
				if (!is_selected(r + i + (size_t)form))
					continue;
				NOTE("%s, form %d, %zu elements", routines[r].name, form, lengths[i]);
				try(r, lengths[i], form);
			}
		}
	}
	check_large();
	check_note[0] = '\0';
	check_values();
	check_many_adders(eased(4000));
	return end();
}
