/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=2,4 ucx-tcp=2 mixed=4 split=3 tofu-few=2 env=SHMEM_SYMMETRIC_SIZE=16m */
/*
 * Inline forms: every constant size at every alignment, to and from heap and global data, and
 * nothing beside; the last bytes of a segment; routines by their addresses; whom a program may
 * reach; and that they wake those that sleep. The tests inline_... have the rest.
 */
#define SHMEMX_INLINE
#include "tests/lib/check.h"
#include "tests/lib/types.h"

#define MOST 72
#define GUARD 16
#define ROOM (GUARD + 8 + MOST + GUARD)
#define UNTOUCHED 0x5b

static _Alignas(16) unsigned char in_globals[ROOM];
static unsigned char *in_heap;

/* The length is a constant where the form is inlined, so a function for each. */
typedef void mover(void *dest, const void *source, int pe);
#define EIGHT(X, A, B, C, D, E, F, G, H) X(A) X(B) X(C) X(D) X(E) X(F) X(G) X(H)
#define LENGTHS(X)                               \
	EIGHT(X, 1, 2, 3, 4, 5, 6, 7, 8)         \
	EIGHT(X, 9, 10, 11, 12, 13, 14, 15, 16)  \
	EIGHT(X, 17, 18, 19, 20, 21, 22, 23, 24) \
	EIGHT(X, 25, 26, 27, 28, 29, 30, 31, 32) \
	EIGHT(X, 33, 34, 35, 36, 37, 38, 39, 40) \
	EIGHT(X, 41, 42, 43, 44, 45, 46, 47, 48) \
	EIGHT(X, 49, 50, 51, 52, 53, 54, 55, 56) \
	EIGHT(X, 57, 58, 59, 60, 61, 62, 63, 64) X(65)
#define MOVERS(N)                                                   \
	static void put_##N(void *dest, const void *source, int pe) \
	{                                                           \
		shmem_putmem(dest, source, N, pe);                  \
	}                                                           \
	static void get_##N(void *dest, const void *source, int pe) \
	{                                                           \
		shmem_getmem(dest, source, N, pe);                  \
	}
LENGTHS(MOVERS)
#define ROW(N) {N, put_##N, get_##N},
static const struct {
	size_t bytes;
	mover *put, *get;
} lengths[] = {LENGTHS(ROW)};

static void check_length(unsigned char *there, size_t bytes, size_t offset, mover *put, mover *get)
{
	int right = (me + 1) % npes, left = (me + npes - 1) % npes;
	unsigned char source[MOST], got[MOST + 2 * GUARD], expected[MOST];

	NOTE("%zu bytes at %zu", bytes, offset);
	memset(there, UNTOUCHED, ROOM);
	for (size_t i = 0; i < bytes; i++) {
		source[i] = (unsigned char)(me * 50 + (int)i + 1);
		expected[i] = (unsigned char)(left * 50 + (int)i + 1);
	}
	shmem_barrier_all();
	put(there + GUARD + offset, source, right);
	shmem_barrier_all();
	CHECK_FILL(there, UNTOUCHED, GUARD + offset);
	CHECK_BYTES(there + GUARD + offset, expected, bytes);
	CHECK_FILL(there + GUARD + offset + bytes, UNTOUCHED, ROOM - GUARD - offset - bytes);
	memset(got, UNTOUCHED, sizeof got);
	get(got + GUARD, there + GUARD + offset, right);
	CHECK_FILL(got, UNTOUCHED, GUARD);
	CHECK_BYTES(got + GUARD, source, bytes);
	CHECK_FILL(got + GUARD + bytes, UNTOUCHED, sizeof got - GUARD - bytes);
	shmem_barrier_all();
}

static void check_lengths(unsigned char *there)
{
	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
		for (size_t offset = 0; offset < 8; offset += offset < 2 ? 1 : 2)
			check_length(there, lengths[i].bytes, offset, lengths[i].put, lengths[i].get);
}

/* Source and destination overlap, which a copy in parts must not mind. */
static void check_overlap(void)
{
	unsigned char before[ROOM];

	for (int i = 0; i < ROOM; i++)
		in_globals[i] = before[i] = (unsigned char)i;
	shmem_putmem(in_globals + 3, in_globals, 27, me);
	shmem_quiet();
	CHECK_BYTES(in_globals + 3, before, 27);
	shmem_getmem(in_globals, in_globals + 7, 64, me);
	CHECK_BYTES(in_globals, before + 4, 23);
	CHECK_BYTES(in_globals + 23, before + 30, 41);
}

/* A put of one, two and three elements of each type, and a get of them. */
#define TYPED(NAME, TYPE, LEAST, GREATEST)                                              \
	static void elements_##NAME(void)                                               \
	{                                                                               \
		static TYPE words[4];                                                   \
		const TYPE values[4] = {(TYPE)LEAST, (TYPE)GREATEST, (TYPE)1, (TYPE)2}; \
		int right = (me + 1) % npes;                                            \
		TYPE got[4] = {0};                                                      \
                                                                                        \
		NOTE("%s", #NAME);                                                      \
		shmem_##NAME##_put(words, values, 1, right);                            \
		shmem_##NAME##_put(words + 1, values + 1, 3, right);                    \
		shmem_quiet();                                                          \
		shmem_##NAME##_get(got, words, 2, right);                               \
		shmem_##NAME##_get(got + 2, words + 2, 1, right);                       \
		for (int i = 0; i < 3; i++)                                             \
			CHECK_EQUAL(got[i], values[i]);                                 \
		CHECK_EQUAL(shmem_##NAME##_g(&words[3], right), values[3]);             \
		shmem_##NAME##_p(&words[3], values[0], right);                          \
		shmem_quiet();                                                          \
		CHECK_EQUAL(shmem_##NAME##_g(&words[3], right), values[0]);             \
		shmem_barrier_all();                                                    \
	}
RMA_TYPES(TYPED)

static void check_elements(void)
{
#define CALL(NAME, TYPE, LEAST, GREATEST) elements_##NAME();
	RMA_TYPES(CALL)
}

/*
 * Local variables, which the compiler may keep in registers, are read and written where inline
 * forms call, too.
 */
#define LOCALS(NAME, TYPE, N)                                               \
	static void locals_##NAME##_##N(TYPE *there)                        \
	{                                                                   \
		int right = (me + 1) % npes, left = (me + npes - 1) % npes; \
		TYPE source[N], got[N];                                     \
                                                                            \
		NOTE("%d of " #NAME, N);                                    \
		for (int i = 0; i < (N); i++)                               \
			source[i] = (TYPE)(me * 7 + i + 1);                 \
		shmem_##NAME##_put(there, source, N, right);                \
		shmem_barrier_all();                                        \
		for (int i = 0; i < (N); i++)                               \
			CHECK_EQUAL(there[i], (TYPE)(left * 7 + i + 1));    \
		shmem_##NAME##_get(got, there, N, right);                   \
		for (int i = 0; i < (N); i++)                               \
			CHECK_EQUAL(got[i], source[i]);                     \
		shmem_barrier_all();                                        \
	}
#define ALL_LOCALS(X)    \
	X(long, long, 1) \
	X(long, long, 2) \
	X(long, long, 4) \
	X(long, long, 8) X(int, int, 4) X(int, int, 15) X(double, double, 2) X(uchar, unsigned char, 13)
ALL_LOCALS(LOCALS)

static void check_locals(void)
{
	static long variable[8];

#define CALL_LOCALS(NAME, TYPE, N) \
	locals_##NAME##_##N((TYPE *)(void *)in_heap), locals_##NAME##_##N((TYPE *)(void *)variable);
	ALL_LOCALS(CALL_LOCALS)
}

/*
 * The last bytes of the heap: what begins there and fits is written, by the library and by inline
 * forms.
 */
static void check_end_of_heap(void)
{
	size_t size = 16 << 20;
	unsigned char *block = NULL, *end;
	int right = (me + 1) % npes;

	while (!block && size > 4096)
		block = shmem_malloc(size -= 4096);
	CHECK(block != NULL);
	end = block + size;
	NOTE("the end of the heap");
	memset(end - 64, UNTOUCHED, 64);
	shmem_barrier_all();
	put_32(end - 32, (unsigned char[32]){[0] = 1, [31] = 32}, right);
	shmem_barrier_all();
	CHECK_EQUAL(end[-32], 1);
	CHECK_EQUAL(end[-1], 32);
	shmem_barrier_all();
	put_64(end - 64, (unsigned char[64]){[0] = 3, [63] = 64}, right);
	shmem_barrier_all();
	CHECK_EQUAL(end[-64], 3);
	CHECK_EQUAL(end[-32], 0);
	CHECK_EQUAL(end[-1], 64);
	shmem_barrier_all();
	shmem_long_p((long *)(end - 8), 77, right);
	shmem_uchar_p(end - 9, 9, right);
	shmem_barrier_all();
	CHECK_EQUAL(*(long *)(end - 8), 77);
	CHECK_EQUAL(end[-9], 9);
	CHECK_EQUAL(shmem_long_atomic_fetch_add((long *)(end - 8), 0, 0), 77L);
	shmem_barrier_all();
	shmem_free(block);
}

/* A routine's address is the library's, so it may be compared and handed on. */
static void check_addresses(void)
{
	void (*p)(long *, long, int) = shmem_long_p;
	long (*g)(const long *, int) = shmem_long_g;
	static long word;

	p(&word, me + 5, me);
	shmem_quiet();
	CHECK_EQUAL(g(&word, me), me + 5L);
}

static void check_table(void)
{
	bool quick = !getenv("SHMEM_CHECK") && !getenv("SHMEM_STATS") && !getenv("SHMEM_TRACE");

	for (int pe = 0; pe < npes; pe++) {
		const struct shmemx_inline_peer *peer = &shmemx_inline_1.peers[pe];

		shmem_long_g((long *)in_heap, pe);
		NOTE("PE %d", pe);
		CHECK((peer->room[0] > 0) == (quick && shmem_ptr(in_heap, pe) != NULL));
		CHECK((peer->room[1] > 0) == (quick && shmem_ptr(in_globals, pe) != NULL));
	}
}

/* Outside of shmem_init and shmem_finalize every call goes to the library, which complains. */
static void check_empty(void)
{
	const unsigned char *bytes = (const unsigned char *)&shmemx_inline_1;

	for (size_t i = 0; i < sizeof shmemx_inline_1; i++)
		CHECK_EQUAL(bytes[i], 0);
}

/* --- Sleepers --- */

enum { WAKES = 18, WAYS = 6, WIDE = 4 };
static uint64_t stored_at[WAKES], woken;

static uint64_t nanoseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void store_inline(int way, uint64_t *word)
{
	uint64_t now = nanoseconds(), last[3] = {1, 1, now};

	switch (way % WAYS) {
	case 0: shmem_uint64_p(word, now, 1); break;
	case 1: shmem_uint64_put(word, &now, 1, 1); break;
	case 2: shmem_uint64_atomic_set(word, now, 1); break;
	case 3: shmem_uint64_atomic_add(word, now, 1); break;
	/* The words before have been seen. */
	case 4: shmem_uint64_put(word - 1, last + 1, 2, 1); break;
	case 5: shmem_putmem(word - 2, last, 24, 1); break;
	}
}

/*
 * Unless somebody wakes it, a PE that has slept for long finds what came after 10 ms on average.
 * Were most found within 5 ms, and most of those whose word is the last one of a put?
 */
static bool wakes_are_prompt(void)
{
	int prompt = 0, wide = 0;

	memset(stored_at, 0, sizeof stored_at);
	shmem_barrier_all();
	for (int i = 0; i < WAKES; i++) {
		if (me == 0) {
			nanosleep(&(struct timespec){0, 100000000 + i * 1300000}, NULL);
			store_inline(i, &stored_at[i]);
			shmem_uint64_wait_until(&woken, SHMEM_CMP_EQ, (uint64_t)i + 1);
		} else if (me == 1) {
			shmem_uint64_wait_until(&stored_at[i], SHMEM_CMP_NE, 0);
			bool soon = nanoseconds() - stored_at[i] < 5000000;

			prompt += soon;
			wide += soon && i % WAYS >= WIDE;
			shmem_uint64_p(&woken, (uint64_t)i + 1, 0);
		}
	}
	shmem_barrier_all();
	woken = 0;
	shmem_barrier_all();
	return prompt > WAKES / 2 && wide > WAKES / WAYS;
}

/* Other programs on the machine may delay them, so they may try again. */
static void check_wakes(void)
{
	static long done;

	NOTE("sleepers");
	for (int round = 0; round < 4 && !done; round++) {
		bool good = wakes_are_prompt();

		if (me == 1 && good)
			for (int pe = 0; pe < npes; pe++)
				shmem_long_p(&done, 1, pe);
		shmem_barrier_all();
	}
	CHECK(done);
}

int main(void)
{
	check_empty();
	shmem_init();
	me = shmem_my_pe();
	npes = shmem_n_pes();
	in_heap = shmem_align(16, ROOM);
	check_table();
	check_lengths(in_globals);
	check_lengths(in_heap);
	check_overlap();
	check_elements();
	check_locals();
	check_addresses();
	shmem_barrier_all();
	shmem_free(in_heap);
	check_end_of_heap();
	if (on_path("local") && npes == 2)
		check_wakes();
	shmem_finalize();
	check_empty();
	return 0;
}
