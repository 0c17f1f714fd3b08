/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * iput, iget, ibput, ibget: every type and size of element, with and without a context; elements
 * land at their places and the gaps between them stay as they were.
 */
#include "tests/lib/check.h"
#include "tests/lib/types.h"

#define MOST 16 /* bytes of an element */
#define ROOM (200 * MOST)
#define UNTOUCHED 0x3c

static _Alignas(16) unsigned char in_globals[ROOM];

struct shape {
	ptrdiff_t to, from; /* strides, in elements */
	size_t block, count;
};

static const struct shape shapes[] = {
	{1, 1, 1, 9},  {3, 1, 1, 20}, {1, 4, 1, 20}, {5, 2, 1, 17},  {2, 7, 1, 1}, {3, 3, 1, 0},
	{4, 4, 4, 10}, {7, 3, 3, 11}, {5, 9, 5, 12}, {8, 11, 2, 13}, {9, 4, 0, 5}, {6, 6, 5, 0},
};

/* Blocks of one element go through iput and iget as well. */
enum form { ELEMENTS, BLOCKS };

typedef void transfer(bool with_context, enum form form, void *dest, const void *source, const struct shape *s, int pe);

#define BODY(PREFIX, ONE, MANY, TYPE)                                                                      \
	TYPE *d = dest;                                                                                    \
	const TYPE *f = source;                                                                            \
                                                                                                           \
	if (form == ELEMENTS && with_context)                                                              \
		shmem_ctx_##PREFIX##ONE(SHMEM_CTX_DEFAULT, d, f, s->to, s->from, s->count, pe);            \
	else if (form == ELEMENTS)                                                                         \
		shmem_##PREFIX##ONE(d, f, s->to, s->from, s->count, pe);                                   \
	else if (with_context)                                                                             \
		shmem_ctx_##PREFIX##MANY(SHMEM_CTX_DEFAULT, d, f, s->to, s->from, s->block, s->count, pe); \
	else                                                                                               \
		shmem_##PREFIX##MANY(d, f, s->to, s->from, s->block, s->count, pe);

#define PAIR(NAME, PREFIX, SUFFIX, TYPE)                                                          \
	static void put_##NAME(bool with_context, enum form form, void *dest, const void *source, \
			       const struct shape *s, int pe)                                     \
	{                                                                                         \
		BODY(PREFIX, iput##SUFFIX, ibput##SUFFIX, TYPE)                                   \
	}                                                                                         \
	static void get_##NAME(bool with_context, enum form form, void *dest, const void *source, \
			       const struct shape *s, int pe)                                     \
	{                                                                                         \
		BODY(PREFIX, iget##SUFFIX, ibget##SUFFIX, TYPE)                                   \
	}
#define TYPED(NAME, TYPE, LEAST, GREATEST) PAIR(NAME, NAME##_, , TYPE)
#define SIZED(BITS) PAIR(BITS, , BITS, void)
RMA_TYPES(TYPED)
SIZES(SIZED)

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
};

/* The same transfer by plain copies: what the area must contain. */
static void model(unsigned char *dest, const unsigned char *source, const struct shape *s, size_t width)
{
	for (size_t i = 0; i < s->count; i++)
		memcpy(dest + i * (size_t)s->to * width, source + i * (size_t)s->from * width, s->block * width);
}

static void try(size_t r, const struct shape *s, enum form form, bool with_context, unsigned char *area)
{
	static _Alignas(16) unsigned char private[ROOM], source[ROOM], expected[ROOM];
	size_t width = routines[r].width;

	for (int step = 0; step < npes; step++) {
		int pe = (me + step) % npes, from = (me - step + npes) % npes;

		memset(area, UNTOUCHED, ROOM);
		memset(expected, UNTOUCHED, ROOM);
		fill_noise(source, ROOM, (uint64_t)from);
		model(expected, source, s, width);
		fill_noise(source, ROOM, (uint64_t)me);
		shmem_barrier_all();
		routines[r].put(with_context, form, area, source, s, pe);
		shmem_barrier_all();
		CHECK_BYTES(area, expected, ROOM);
	}
	shmem_barrier_all();
	fill_noise(area, ROOM, (uint64_t)me + 100);
	shmem_barrier_all();
	for (int pe = 0; pe < npes; pe++) {
		memset(private, UNTOUCHED, ROOM);
		memset(expected, UNTOUCHED, ROOM);
		fill_noise(source, ROOM, (uint64_t)pe + 100);
		model(expected, source, s, width);
		routines[r].get(with_context, form, private, area, s, pe);
		CHECK_BYTES(private, expected, ROOM);
	}
	shmem_barrier_all();
}

int main(void)
{
	unsigned char *in_heap;

	begin();
	in_heap = shmem_align(16, ROOM);
	for (size_t r = 0; r < sizeof routines / sizeof routines[0]; r++) {
		for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
			const struct shape *s = &shapes[i];
			unsigned char *area = (r + i) % 2 ? in_heap : in_globals;

			NOTE("%s: %zu blocks of %zu, strides %td and %td", routines[r].name, s->count, s->block, s->to,
			     s->from);
			if (is_selected(r + i))
				try(r, s, BLOCKS, i % 2, area);
			if (s->block == 1 && is_selected(r + i + 1))
				try(r, s, ELEMENTS, r % 2, area);
		}
	}
	return end();
}
