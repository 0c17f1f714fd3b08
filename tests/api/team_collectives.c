/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=1,2,3,4,7,8 ucx-tcp=3 ucx-shm=2 mixed=5 ofi=3 */
/*
 * Broadcasts and reductions on teams of all shapes: roots and results go by the team's numbers; in
 * place; teams side by side.
 */
#include "tests/lib/shapes.h"
#include "tests/lib/types.h"

#define MOST 40

/* dest may be source; every member gets the root's, the root included. */
#define BROADCAST(NAME, TYPE, LEAST, GREATEST)                                                     \
	static void broadcast_##NAME(const struct shape *shape, size_t n, int root, bool in_place) \
	{                                                                                          \
		static TYPE source[MOST], dest[MOST + 1];                                          \
		TYPE expected[MOST];                                                               \
		TYPE *from = in_place ? dest : source;                                             \
                                                                                                   \
		memset(dest, 0x22, sizeof dest);                                                   \
		fill_noise(from, n * sizeof(TYPE), (uint64_t)me + 7);                              \
		fill_noise(expected, n * sizeof(TYPE), (uint64_t)shape->pes[root] + 7);            \
		CHECK_EQUAL(shmem_team_sync(shape->team), 0); /* dest must be ready everywhere */  \
		CHECK_EQUAL(shmem_##NAME##_broadcast(shape->team, dest, from, n, root), 0);        \
		CHECK_BYTES(dest, expected, n * sizeof(TYPE));                                     \
		CHECK_FILL(&dest[n], 0x22, sizeof dest[n]);                                        \
	}
RMA_TYPES(BROADCAST)

/* Sums and greatest of values that differ between members. */
#define REDUCE(NAME, TYPE, LEAST, GREATEST)                                                              \
	static void reduce_##NAME(const struct shape *shape, size_t n, int root, bool in_place)          \
	{                                                                                                \
		static TYPE source[MOST], sum[MOST + 1], most[MOST + 1];                                 \
                                                                                                         \
		memset(sum, 0x33, sizeof sum);                                                           \
		memset(most, 0x33, sizeof most);                                                         \
		for (size_t i = 0; i < n; i++)                                                           \
			source[i] = sum[i] = (TYPE)(me + (int)i % 5 + root);                             \
		CHECK_EQUAL(shmem_team_sync(shape->team), 0);                                            \
		CHECK_EQUAL(shmem_##NAME##_sum_reduce(shape->team, sum, in_place ? sum : source, n), 0); \
		CHECK_EQUAL(shmem_##NAME##_max_reduce(shape->team, most, source, n), 0);                 \
		for (size_t i = 0; i < n; i++) {                                                         \
			int expected = 0, greatest = 0;                                                  \
                                                                                                         \
			for (int k = 0; k < shape->n; k++) {                                             \
				int value = shape->pes[k] + (int)i % 5 + root;                           \
                                                                                                         \
				expected += value;                                                       \
				greatest = greatest > value ? greatest : value;                          \
			}                                                                                \
			CHECK_EQUAL(sum[i], (TYPE)expected);                                             \
			CHECK_EQUAL(most[i], (TYPE)greatest);                                            \
		}                                                                                        \
		CHECK_FILL(&sum[n], 0x33, sizeof sum[n]);                                                \
		CHECK_FILL(&most[n], 0x33, sizeof most[n]);                                              \
	}
RMA_TYPES(REDUCE)

static const struct {
	const char *name;
	void (*run)(const struct shape *shape, size_t n, int root, bool in_place);
} calls[] = {
#define ROWS(NAME, TYPE, LEAST, GREATEST) {#NAME "_broadcast", broadcast_##NAME}, {#NAME "_reduce", reduce_##NAME},
	RMA_TYPES(ROWS)};

static void check_types(const struct shape *shape)
{
	static const size_t lengths[] = {0, 1, MOST};

	for (size_t c = 0; c < sizeof calls / sizeof calls[0]; c++)
		for (size_t i = 0; i < 6; i++) {
			int root = (int)(c / 2 + i) % shape->n;

			if (!is_selected(c / 2 + i))
				continue;
			NOTE("%s on %s, %zu elements, root %d%s", calls[c].name, shape->name, lengths[i / 2], root,
			     i % 2 ? ", in place" : "");
			calls[c].run(shape, lengths[i / 2], root, i % 2);
		}
}

/*
 * Larger than what goes through any buffer, in the heap, on a team without the world's first PE in
 * front.
 */
static void check_large(const struct shape *shape, size_t n)
{
	long *source = symmetric(n * sizeof *source), *dest = symmetric(n * sizeof *dest);

	NOTE("%zu elements on %s", n, shape->name);
	for (size_t i = 0; i < n; i++)
		source[i] = (long)noise((uint64_t)me * n + i) / 1000;
	if (shape->me >= 0) {
		CHECK_EQUAL(shmem_long_sum_reduce(shape->team, dest, source, n), 0);
		for (size_t i = 0; i < n; i++) {
			long sum = 0;

			for (int k = 0; k < shape->n; k++)
				sum += (long)noise((uint64_t)shape->pes[k] * n + i) / 1000;
			CHECK_EQUAL(dest[i], sum);
		}
		CHECK_EQUAL(shmem_long_broadcast(shape->team, source, source, n, shape->n - 1), 0);
		for (size_t i = 0; i < n; i++)
			CHECK_EQUAL(source[i], (long)noise((uint64_t)shape->pes[shape->n - 1] * n + i) / 1000);
	}
	shmem_free(dest);
	shmem_free(source);
}

int main(void)
{
	begin();
	make_shapes();
	FOR_SHAPES(shape)
	if (shape->me >= 0)
		check_types(shape);
	check_large(&shapes[1], 40001);
	check_large(&shapes[2], 3000);
	shmem_barrier_all();
	destroy_shapes();
	return end();
}
