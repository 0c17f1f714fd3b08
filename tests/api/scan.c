/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=1,2,3,4,7,8 ucx-tcp=3 ucx-shm=2 mixed=5 ofi=3 */
/*
 * Inclusive and exclusive scans: every type, on teams of all shapes in the team's order, in place
 * and not, of nothing and of much.
 */
#include "tests/lib/shapes.h"
#include "tests/lib/types.h"

#define MOST 20

/* From 1 to 3: sums of it are exact in every type, and the order of the members shows. */
static int value(int pe, size_t i)
{
	return (int)(noise((uint64_t)pe * 100000 + i) % 3) + 1;
}
#define REAL_VALUE(TYPE, pe, i) ((TYPE)value(pe, i))
#define COMPLEX_VALUE(TYPE, pe, i) ((TYPE)(value(pe, i) + (double)value(pe + 50, i) * I))

#define SCAN(NAME, TYPE, VALUE)                                                                     \
	static void scan_##NAME(const struct shape *shape, size_t n, bool inclusive, bool in_place) \
	{                                                                                           \
		static TYPE source[MOST + 1], dest[MOST + 1];                                       \
		TYPE *from = in_place ? dest : source;                                              \
                                                                                                    \
		memset(dest, 0x11, sizeof dest);                                                    \
		for (size_t i = 0; i < n; i++)                                                      \
			from[i] = VALUE(TYPE, me, i);                                               \
		CHECK_EQUAL(shmem_team_sync(shape->team), 0); /* dest must be ready everywhere */   \
		if (inclusive)                                                                      \
			CHECK_EQUAL(shmem_##NAME##_sum_inscan(shape->team, dest, from, n), 0);      \
		else                                                                                \
			CHECK_EQUAL(shmem_##NAME##_sum_exscan(shape->team, dest, from, n), 0);      \
		for (size_t i = 0; i < n; i++) {                                                    \
			TYPE expected = 0;                                                          \
                                                                                                    \
			for (int k = 0; k < shape->me + inclusive; k++)                             \
				expected = (TYPE)(expected + VALUE(TYPE, shape->pes[k], i));        \
			CHECK(dest[i] == expected);                                                 \
			CHECK(in_place || source[i] == VALUE(TYPE, me, i));                         \
		}                                                                                   \
		CHECK_FILL(&dest[n], 0x11, sizeof dest[n]);                                         \
	}
#define REAL(NAME, TYPE, LEAST, GREATEST) SCAN(NAME, TYPE, REAL_VALUE)
#define COMPLEX(NAME, TYPE, LEAST, GREATEST) SCAN(NAME, TYPE, COMPLEX_VALUE)
RMA_TYPES(REAL)
COMPLEX_TYPES(COMPLEX)

static const struct {
	const char *name;
	void (*run)(const struct shape *shape, size_t n, bool inclusive, bool in_place);
} types[] = {
#define ROW(NAME, TYPE, LEAST, GREATEST) {#NAME, scan_##NAME},
	RMA_TYPES(ROW) COMPLEX_TYPES(ROW)};

static void check_types(const struct shape *shape)
{
	static const size_t lengths[] = {0, 1, MOST};
	size_t combination = 0;

	for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
		for (size_t i = 0; i < 3; i++)
			for (int form = 0; form < 4; form++, combination++) {
				NOTE("%s on %s, %zu elements, %sclusive%s", types[t].name, shape->name, lengths[i],
				     form & 1 ? "in" : "ex", form & 2 ? ", in place" : "");
				if (is_selected(combination + combination / 4))
					types[t].run(shape, lengths[i], form & 1, form & 2);
			}
}

static void check_in_a_row(const struct shape *shape, long rounds)
{
	static long mine, in, ex;

	NOTE("in a row on %s", shape->name);
	for (long round = 0; round < rounds; round++) {
		long before = 0;

		for (int k = 0; k < shape->me; k++)
			before += shape->pes[k] + round;
		mine = me + round;
		CHECK_EQUAL(shmem_long_sum_inscan(shape->team, &in, &mine, 1), 0);
		CHECK_EQUAL(in, before + me + round);
		mine = -100; /* ours as soon as the call is back */
		mine = me + round;
		CHECK_EQUAL(shmem_long_sum_exscan(shape->team, &ex, &mine, 1), 0);
		CHECK_EQUAL(ex, before);
		mine = -100;
	}
}

static void check_large(const struct shape *shape, size_t n)
{
	double *source = symmetric(n * sizeof *source), *dest = symmetric(n * sizeof *dest);

	NOTE("%zu elements on %s", n, shape->name);
	for (size_t i = 0; i < n; i++)
		source[i] = value(me, i);
	if (shape->me >= 0) {
		CHECK_EQUAL(shmem_double_sum_exscan(shape->team, dest, source, n), 0);
		CHECK_EQUAL(shmem_double_sum_inscan(shape->team, source, source, n), 0);
		for (size_t i = 0; i < n; i++) {
			double before = 0;

			for (int k = 0; k < shape->me; k++)
				before += value(shape->pes[k], i);
			CHECK_EQUAL(dest[i], before);
			CHECK_EQUAL(source[i], before + value(me, i));
		}
	}
	shmem_free(dest);
	shmem_free(source);
}

int main(void)
{
	begin();
	make_shapes();
	FOR_SHAPES(shape)
	{
		if (shape->me >= 0) {
			check_types(shape);
			check_in_a_row(shape, eased(200));
		}
	}
	check_large(&shapes[1], 30001);
	shmem_barrier_all();
	destroy_shapes();
	return end();
}
