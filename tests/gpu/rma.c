/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts and gets between memory of GPUs and of hosts: every routine between every two kinds of
 * memory, from a byte to more than what the library stages at once; elements that do not belong to
 * the transfer stay as they were.
 */
#include "gpu.h"

#define MOST_WIDTH 16
#define ELEMENTS 23

static char *expected;
static uint64_t step;

/* --- Bytes --- */

enum way { PUT, PUT_NBI, PUT_CONTEXT, GET, GET_NBI, GET_CONTEXT, WAYS };
static const char *const way_names[WAYS] = {"putmem", "putmem_nbi", "ctx_putmem", "getmem", "getmem_nbi", "ctx_getmem"};

static void transfer(enum way way, void *dest, const void *source, size_t bytes, int pe)
{
	switch (way) {
	case PUT: shmem_putmem(dest, source, bytes, pe); break;
	case PUT_NBI: shmem_putmem_nbi(dest, source, bytes, pe); break;
	case PUT_CONTEXT: shmem_ctx_putmem(SHMEM_CTX_DEFAULT, dest, source, bytes, pe); break;
	case GET: shmem_getmem(dest, source, bytes, pe); break;
	case GET_NBI: shmem_getmem_nbi(dest, source, bytes, pe); break;
	case GET_CONTEXT: shmem_ctx_getmem(SHMEM_CTX_DEFAULT, dest, source, bytes, pe); break;
	default: break;
	}
}

/* dest and source are at `at` and 2 * `at` of their rooms. A put goes right, a get left. */
static void try_bytes(enum way way, enum where to, enum where from, size_t bytes, size_t at)
{
	size_t all = bytes + at + 64;

	NOTE("%s of %zu bytes from %s to %s, offset %zu", way_names[way], bytes, where_names[from], where_names[to],
	     at);
	step++;
	clear(dests[to], all);
	write_noise(sources[from] + 2 * at, bytes, step * 1000 + (uint64_t)me);
	shmem_barrier_all();
	transfer(way, dests[to] + at, sources[from] + 2 * at, bytes, way < GET ? right() : left());
	if (way == PUT) /* the source may change at once */
		clear(sources[from], all + at);
	if (way == GET_NBI)
		shmem_quiet();
	if (way < GET)
		shmem_barrier_all();
	memset(expected, UNTOUCHED, all);
	fill_noise(expected + at, bytes, step * 1000 + (uint64_t)left());
	CHECK_BYTES(read_from(dests[to], all), expected, all);
	shmem_barrier_all();
}

static void try_all_bytes(void)
{
	static const size_t sizes[] = {0, 1, 2, 4, 7, 8, 16, 100, 1000, 4096, 65536 + 3};

	for (int way = 0; way < WAYS; way++)
		for (int to = 0; to < (way < GET ? SYMMETRIC : WHERES); to++)
			for (int from = 0; from < (way < GET ? WHERES : SYMMETRIC); from++) {
				if (!is_pair((enum where)to, (enum where)from))
					continue;
				for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
					if (is_selected(i + (size_t)way + (size_t)to + (size_t)from))
						try_bytes((enum way)way, (enum where)to, (enum where)from, sizes[i],
							  i % 3 * 5);
				if (way == PUT || way == GET)
					try_bytes((enum way)way, (enum where)to, (enum where)from, (2 << 20) + 5, 3);
			}
}

/* --- Typed routines --- */

typedef void several(bool is_put, bool nbi, void *dest, const void *source, int pe);
typedef void one(bool is_put, void *dest, const void *source, int pe);
typedef void strided(bool is_put, void *dest, const void *source, ptrdiff_t to, ptrdiff_t from, size_t count, int pe);

/* p takes its value from the host, g gives it to the host. */
#define TYPED(NAME, TYPE, LEAST, GREATEST)                                                                    \
	static void several_##NAME(bool is_put, bool nbi, void *dest, const void *source, int pe)             \
	{                                                                                                     \
		if (is_put && nbi)                                                                            \
			shmem_##NAME##_put_nbi(dest, source, ELEMENTS, pe);                                   \
		else if (is_put)                                                                              \
			shmem_##NAME##_put(dest, source, ELEMENTS, pe);                                       \
		else if (nbi)                                                                                 \
			shmem_##NAME##_get_nbi(dest, source, ELEMENTS, pe);                                   \
		else                                                                                          \
			shmem_##NAME##_get(dest, source, ELEMENTS, pe);                                       \
	}                                                                                                     \
	static void one_##NAME(bool is_put, void *dest, const void *source, int pe)                           \
	{                                                                                                     \
		TYPE value;                                                                                   \
                                                                                                              \
		memset(&value, 0, sizeof value);                                                              \
		if (is_put) {                                                                                 \
			memcpy(&value, source, sizeof value);                                                 \
			shmem_##NAME##_p(dest, value, pe);                                                    \
		} else {                                                                                      \
			value = shmem_##NAME##_g(source, pe);                                                 \
			memcpy(dest, &value, sizeof value);                                                   \
		}                                                                                             \
	}                                                                                                     \
	static void strided_##NAME(bool is_put, void *dest, const void *source, ptrdiff_t to, ptrdiff_t from, \
				   size_t count, int pe)                                                      \
	{                                                                                                     \
		if (is_put)                                                                                   \
			shmem_##NAME##_iput(dest, source, to, from, count, pe);                               \
		else                                                                                          \
			shmem_##NAME##_iget(dest, source, to, from, count, pe);                               \
	}
RMA_TYPES(TYPED)

static const struct {
	const char *name;
	size_t width, meant; /* of a long double some bytes mean nothing */
	several *several;
	one *one;
	strided *strided;
} types[] = {
#define ROW(NAME, TYPE, LEAST, GREATEST) \
	{#NAME, sizeof(TYPE), sizeof(TYPE) == 16 ? 10 : sizeof(TYPE), several_##NAME, one_##NAME, strided_##NAME},
	RMA_TYPES(ROW)
#undef ROW
};
#define TYPES (sizeof types / sizeof types[0])

/* Numbers as floats take them, the same bits on both sides. */
static void make_source(void *dest, size_t width, uint64_t seed)
{
	fill_noise(scratch, ELEMENTS * width, seed);
	if (width >= 4) /* no numbers that change when a register holds them */
		for (size_t i = 1; i <= ELEMENTS; i++)
			scratch[i * width - (width == 16 ? 7 : 1)] = 0x3f;
	write_to(dest, scratch, ELEMENTS * width);
}

static void try_several(size_t type, enum where to, enum where from, bool is_put, bool nbi)
{
	size_t bytes = ELEMENTS * types[type].width;

	NOTE("%s_%s%s from %s to %s", types[type].name, is_put ? "put" : "get", nbi ? "_nbi" : "", where_names[from],
	     where_names[to]);
	step++;
	clear(dests[to], bytes + 16);
	write_noise(sources[from], bytes, step * 1000 + (uint64_t)me);
	shmem_barrier_all();
	types[type].several(is_put, nbi, dests[to], sources[from], is_put ? right() : left());
	if (!is_put && nbi)
		shmem_quiet();
	if (is_put)
		shmem_barrier_all();
	fill_noise(expected, bytes, step * 1000 + (uint64_t)left());
	read_from(dests[to], bytes + 16);
	CHECK_BYTES(scratch, expected, bytes);
	CHECK_FILL(scratch + bytes, UNTOUCHED, 16);
	shmem_barrier_all();
}

/* p to the GPU at the right, g from the GPU at the left. */
static void try_one(size_t type, bool is_put)
{
	size_t width = types[type].width;
	char *value = malloc(ELEMENTS * MOST_WIDTH), *got = malloc(MOST_WIDTH);

	NOTE("%s_%s", types[type].name, is_put ? "p" : "g");
	step++;
	make_source(value, width, step * 1000 + (uint64_t)(is_put ? me : left()));
	clear(dests[ON_GPU], 3 * width);
	make_source(sources[ON_GPU], width, step * 1000 + (uint64_t)me);
	shmem_barrier_all();
	if (is_put) {
		types[type].one(true, dests[ON_GPU] + width, value, right());
		shmem_barrier_all();
		make_source(value, width, step * 1000 + (uint64_t)left());
		read_from(dests[ON_GPU], 3 * width);
		CHECK_FILL(scratch, UNTOUCHED, width);
		CHECK_BYTES(scratch + width, value, types[type].meant);
		CHECK_FILL(scratch + 2 * width, UNTOUCHED, width);
	} else {
		types[type].one(false, got, sources[ON_GPU], left());
		CHECK_BYTES(got, value, types[type].meant);
	}
	free(value);
	free(got);
	shmem_barrier_all();
}

static void try_strided(size_t type, enum where to, enum where from, bool is_put, size_t count)
{
	static const ptrdiff_t strides[][2] = {{1, 1}, {3, 1}, {1, 4}, {2, 3}};
	size_t width = types[type].width;
	ptrdiff_t dst = strides[step % 4][0], sst = strides[step % 4][1];
	size_t dest_bytes = count * (size_t)dst * width, source_bytes = count * (size_t)sst * width;
	char *source = malloc(source_bytes);

	NOTE("%s_%s of %zu elements from %s to %s, strides %td and %td", types[type].name, is_put ? "iput" : "iget",
	     count, where_names[from], where_names[to], dst, sst);
	step++;
	clear(dests[to], dest_bytes);
	write_noise(sources[from], source_bytes, step * 1000 + (uint64_t)me);
	shmem_barrier_all();
	types[type].strided(is_put, dests[to], sources[from], dst, sst, count, is_put ? right() : left());
	if (is_put)
		shmem_barrier_all();
	fill_noise(source, source_bytes, step * 1000 + (uint64_t)left());
	memset(expected, UNTOUCHED, dest_bytes);
	for (size_t i = 0; i < count; i++)
		memcpy(expected + i * (size_t)dst * width, source + i * (size_t)sst * width, width);
	CHECK_BYTES(read_from(dests[to], dest_bytes), expected, dest_bytes);
	free(source);
	shmem_barrier_all();
}

static void try_type(size_t type)
{
	for (int to = 0; to < WHERES; to++)
		for (int from = 0; from < WHERES; from++) {
			size_t which = type + (size_t)to + (size_t)from;

			/* Types differ in their width alone; each has some of the pairs. */
			if (!is_pair((enum where)to, (enum where)from) || which % 3)
				continue;
			if (to < SYMMETRIC)
				try_several(type, (enum where)to, (enum where)from, true, which & 1);
			if (from < SYMMETRIC)
				try_several(type, (enum where)to, (enum where)from, false, which & 1);
			if (to < SYMMETRIC)
				try_strided(type, (enum where)to, (enum where)from, true, ELEMENTS);
			if (from < SYMMETRIC)
				try_strided(type, (enum where)to, (enum where)from, false, ELEMENTS);
		}
	try_one(type, true);
	try_one(type, false);
}

/* Many elements, between all pairs. */
static void try_long_strides(void)
{
	for (int to = 0; to < WHERES; to++)
		for (int from = 0; from < WHERES; from++) {
			if (!is_pair((enum where)to, (enum where)from))
				continue;
			if (to < SYMMETRIC)
				try_strided(0, (enum where)to, (enum where)from, true, 100);
			if (from < SYMMETRIC)
				try_strided(0, (enum where)to, (enum where)from, false, 100);
		}
}

/* Blocks of several elements: a face of a field. */
static void try_blocks(void)
{
	size_t bytes = 100 * 9 * 4;

	NOTE("ibput of 100 blocks");
	clear(dests[ON_GPU], bytes);
	write_noise(sources[ON_GPU], bytes, (uint64_t)me);
	shmem_barrier_all();
	shmem_ibput32(dests[ON_GPU], sources[ON_GPU], 9, 7, 5, 100, right());
	shmem_barrier_all();
	fill_noise(sources[OWN_HOST], bytes, (uint64_t)left());
	memset(expected, UNTOUCHED, bytes);
	for (size_t i = 0; i < 100; i++)
		memcpy(expected + i * 36, sources[OWN_HOST] + i * 28, 20);
	CHECK_BYTES(read_from(dests[ON_GPU], bytes), expected, bytes);
	shmem_barrier_all();
}

int main(void)
{
	begin_gpu(SHMEM_THREAD_SINGLE);
	open_rooms(MOST_ROOM);
	expected = malloc(MOST_ROOM);
	try_all_bytes();
	for (size_t type = 0; type < TYPES; type++)
		if (is_selected(type))
			try_type(type);
	try_long_strides();
	try_blocks();
	free(expected);
	close_rooms();
	return end();
}
