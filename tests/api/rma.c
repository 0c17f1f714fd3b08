/* SPDX-License-Identifier: BSD-3-Clause */
/* run: tofu-few=2 */
/*
 * Put, get, p, g: every type and size of element, blocking and not, with and without a context; to
 * and from every PE, the own one included; heap and globals on the far side; nothing written
 * beside.
 */
#include "tests/lib/check.h"
#include "tests/lib/types.h"

#define MOST 33 /* elements */
#define GUARD 64
#define ROOM (GUARD + MOST * 16 + GUARD)
#define UNTOUCHED 0x5b

static const size_t lengths[] = {0, 1, 2, 7, MOST};
enum form { PLAIN, ON_CONTEXT, NBI, NBI_ON_CONTEXT, FORMS };
static const char *const form_names[] = {"", "ctx", "nbi", "ctx nbi"};

static _Alignas(16) unsigned char in_globals[ROOM];

/* One routine with its arguments bound to bytes, so that one tester serves all types and sizes. */
typedef void transfer(enum form form, void *dest, const void *source, size_t nelems, int pe);

#define FOUR_FORMS(CALL, NBI_CALL, CTX_CALL, CTX_NBI_CALL, TYPE)                                             \
	switch (form) {                                                                                      \
	case PLAIN: CALL((TYPE *)dest, (const TYPE *)source, nelems, pe); break;                             \
	case NBI: NBI_CALL((TYPE *)dest, (const TYPE *)source, nelems, pe); break;                           \
	case ON_CONTEXT: CTX_CALL(SHMEM_CTX_DEFAULT, (TYPE *)dest, (const TYPE *)source, nelems, pe); break; \
	default: CTX_NBI_CALL(SHMEM_CTX_DEFAULT, (TYPE *)dest, (const TYPE *)source, nelems, pe);            \
	}

#define TYPED(NAME, TYPE, LEAST, GREATEST)                                                            \
	static void put_##NAME(enum form form, void *dest, const void *source, size_t nelems, int pe) \
	{                                                                                             \
		FOUR_FORMS(shmem_##NAME##_put, shmem_##NAME##_put_nbi, shmem_ctx_##NAME##_put,        \
			   shmem_ctx_##NAME##_put_nbi, TYPE)                                          \
	}                                                                                             \
	static void get_##NAME(enum form form, void *dest, const void *source, size_t nelems, int pe) \
	{                                                                                             \
		FOUR_FORMS(shmem_##NAME##_get, shmem_##NAME##_get_nbi, shmem_ctx_##NAME##_get,        \
			   shmem_ctx_##NAME##_get_nbi, TYPE)                                          \
	}
RMA_TYPES(TYPED)

#define SIZED(BITS)                                                                                                \
	static void put_##BITS(enum form form, void *dest, const void *source, size_t nelems, int pe)              \
	{                                                                                                          \
		FOUR_FORMS(shmem_put##BITS, shmem_put##BITS##_nbi, shmem_ctx_put##BITS, shmem_ctx_put##BITS##_nbi, \
			   char)                                                                                   \
	}                                                                                                          \
	static void get_##BITS(enum form form, void *dest, const void *source, size_t nelems, int pe)              \
	{                                                                                                          \
		FOUR_FORMS(shmem_get##BITS, shmem_get##BITS##_nbi, shmem_ctx_get##BITS, shmem_ctx_get##BITS##_nbi, \
			   char)                                                                                   \
	}
SIZES(SIZED)
SIZED(mem)

static const struct {
	const char *name;
	size_t width;
	transfer *put, *get;
} routines[] = {
#define ROW(NAME, TYPE, LEAST, GREATEST) {#NAME, sizeof(TYPE), put_##NAME, get_##NAME},
	RMA_TYPES(ROW)
#undef ROW
#define ROW(BITS) {#BITS, BITS / 8, put_##BITS, get_##BITS},
		SIZES(ROW)
#undef ROW
			{"mem", 1, put_mem, get_mem},
};
#define ROUTINES (sizeof routines / sizeof routines[0])

static uint64_t seed_of(size_t routine, size_t length, int form, int pe)
{
	return ((routine * 64 + length) * FORMS + (size_t)form) * 64 + (uint64_t)pe;
}

/*
 * Round the ring with each step: in step 0 everybody is his own target, in the last his left
 * neighbour's.
 */
static void try_put(size_t r, size_t nelems, enum form form, unsigned char *area)
{
	size_t bytes = nelems * routines[r].width;
	_Alignas(16) unsigned char source[MOST * 16], expected[MOST * 16];

	for (int step = 0; step < npes; step++) {
		int to = (me + step) % npes, from = (me - step + npes) % npes;

		memset(area, UNTOUCHED, ROOM);
		fill_noise(source, sizeof source, seed_of(r, nelems, form, me));
		fill_noise(expected, sizeof expected, seed_of(r, nelems, form, from));
		shmem_barrier_all();
		routines[r].put(form, area + GUARD, source, nelems, to);
		/* Ours again as soon as the call is back. */
		if (form == PLAIN || form == ON_CONTEXT)
			memset(source, 0xee, sizeof source);
		shmem_barrier_all();
		CHECK_BYTES(area + GUARD, expected, bytes);
		CHECK_FILL(area, UNTOUCHED, GUARD);
		CHECK_FILL(area + GUARD + bytes, UNTOUCHED, ROOM - GUARD - bytes);
	}
}

static void try_get(size_t r, size_t nelems, enum form form, unsigned char *area)
{
	size_t bytes = nelems * routines[r].width;
	_Alignas(16) unsigned char dest[ROOM], expected[MOST * 16];

	fill_noise(area + GUARD, MOST * 16, seed_of(r, nelems, form, me));
	shmem_barrier_all();
	for (int step = 0; step < npes; step++) {
		int from = (me + step) % npes;

		memset(dest, UNTOUCHED, sizeof dest);
		fill_noise(expected, sizeof expected, seed_of(r, nelems, form, from));
		routines[r].get(form, dest + GUARD, area + GUARD, nelems, from);
		if (form == NBI || form == NBI_ON_CONTEXT)
			shmem_quiet();
		CHECK_BYTES(dest + GUARD, expected, bytes);
		CHECK_FILL(dest, UNTOUCHED, GUARD);
		CHECK_FILL(dest + GUARD + bytes, UNTOUCHED, sizeof dest - GUARD - bytes);
	}
	shmem_barrier_all();
}

/* Single elements, at both ends of what the type can hold. */
#define SINGLE(NAME, TYPE, LEAST, GREATEST)                                                                   \
	static void single_##NAME(void)                                                                       \
	{                                                                                                     \
		static TYPE slots[6];                                                                         \
		TYPE *heap = symmetric(6 * sizeof *heap);                                                     \
		const TYPE values[4] = {(TYPE)LEAST, (TYPE)GREATEST, (TYPE)(me + 1), (TYPE)(60 - me)};        \
		int right = (me + 1) % npes, left = (me + npes - 1) % npes;                                   \
                                                                                                              \
		memset(slots, UNTOUCHED, sizeof slots);                                                       \
		memset(heap, UNTOUCHED, 6 * sizeof *heap);                                                    \
		shmem_barrier_all();                                                                          \
		for (int i = 0; i < 4; i++) {                                                                 \
			shmem_##NAME##_p(&slots[1 + i], values[i], right);                                    \
			shmem_ctx_##NAME##_p(SHMEM_CTX_DEFAULT, &heap[1 + i], values[i], right);              \
		}                                                                                             \
		shmem_barrier_all();                                                                          \
		for (int i = 0; i < 4; i++) {                                                                 \
			TYPE expected = i == 2 ? (TYPE)(left + 1) : i == 3 ? (TYPE)(60 - left) : values[i];   \
                                                                                                              \
			CHECK_EQUAL(slots[1 + i], expected);                                                  \
			CHECK_EQUAL(heap[1 + i], expected);                                                   \
			CHECK_EQUAL(shmem_##NAME##_g(&slots[1 + i], right), values[i]);                       \
			CHECK_EQUAL(shmem_ctx_##NAME##_g(SHMEM_CTX_DEFAULT, &heap[1 + i], right), values[i]); \
			CHECK_EQUAL(shmem_##NAME##_g(&heap[1 + i], me), expected);                            \
		}                                                                                             \
		CHECK_FILL(&slots[0], UNTOUCHED, sizeof slots[0]);                                            \
		CHECK_FILL(&slots[5], UNTOUCHED, sizeof slots[0]);                                            \
		CHECK_FILL(&heap[0], UNTOUCHED, sizeof heap[0]);                                              \
		CHECK_FILL(&heap[5], UNTOUCHED, sizeof heap[0]);                                              \
		shmem_free(heap);                                                                             \
	}
RMA_TYPES(SINGLE)

/* A length of zero moves nothing, and takes NULL for what it does not need. */
static void try_nothing(void)
{
	for (int pe = 0; pe < npes; pe++) {
		shmem_putmem(NULL, NULL, 0, pe);
		shmem_getmem(NULL, NULL, 0, pe);
		shmem_long_put_nbi(NULL, NULL, 0, pe);
		shmem_long_get_nbi(NULL, NULL, 0, pe);
	}
	shmem_quiet();
}

int main(void)
{
	unsigned char *in_heap, *areas[2];

	begin();
	in_heap = shmem_align(16, ROOM);
	areas[0] = in_heap;
	areas[1] = in_globals;
	for (size_t r = 0; r < ROUTINES; r++) {
		for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
			for (int form = 0; form < FORMS; form++) {
				if (!is_selected(r + i + (size_t)form))
					continue;
				NOTE("%s %s, %zu elements", routines[r].name, form_names[form], lengths[i]);
				try_put(r, lengths[i], (enum form)form, areas[(r + i + (size_t)form) % 2]);
				try_get(r, lengths[i], (enum form)form, areas[(r + i + (size_t)form) % 2]);
			}
		}
	}
#define CALL(NAME, TYPE, LEAST, GREATEST) \
	NOTE("p and g of %s", #NAME);     \
	single_##NAME();
	RMA_TYPES(CALL)
	try_nothing();
	return end();
}
