/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=3,8 mixed=8 tofu-few=3 ofi=3 paths=local,mixed,tofu-few time=120 */
/*
 * The order of combining is fixed: by each algorithm of SHMEM_REDUCE_ALGORITHM, all PEs get the
 * same bits of sums and products that are rounded, and equal calls give equal bits, whichever PE is
 * late. Blocking, nonblocking and as plans; in place and not; on the world and on a part of it.
 */
#include "tests/lib/check.h"
#include "tests/lib/boxes.h"

#include <shmemx.h>

#define MOST 40000

static const char *const algorithms[] = {"auto",	"doubling", "parts",	  "torus-lines",
					 "torus-rings", "torus",    "torus-both", "torus-up"};
static unsigned char *dest, *source, *first, *other;
static const char *algorithm;

static void maybe_late(uint64_t seed)
{
	if (noise(seed) % (uint64_t)npes == (uint64_t)me)
		usleep(500);
}

/* Between 0.5 and 1.5, so that products stay in range and lose digits, too. */
static float value_of(size_t i, uint64_t seed)
{
	return 0.5F + (float)(noise(seed + (uint64_t)me * 100003 + i) % 1000003) / 1000003.0F;
}

#define PLAIN(at, value) (*(at) = (__typeof__(*(at)))(value))
#define NARROW_half(at, value) shmemx_half_from_float(at, &(float){value}, 1)
#define NARROW_bfloat16(at, value) shmemx_bfloat16_from_float(at, &(float){value}, 1)

#define BITS(NAME, TYPE, CODE, BLOCKING, OP, WHICH, SET)                                                            \
	static void NAME##_##OP(shmem_team_t team, size_t count, uint64_t seed)                                     \
	{                                                                                                           \
		int n = shmem_team_n_pes(team), mine = shmem_team_my_pe(team);                                      \
		TYPE *in = (TYPE *)(void *)source, *out = (TYPE *)(void *)dest;                                     \
		shmemx_req_h request;                                                                               \
		shmemx_plan_t plan;                                                                                 \
                                                                                                                    \
		CHECK_EQUAL(shmemx_allreduce_init(team, out, out, count, CODE, WHICH, SHMEMX_PLAN_AUTO, &plan), 0); \
		for (int round = 0; round < 6; round++) {                                                           \
			NOTE("%s, " #NAME " " #OP " of %zu, %d PEs, round %d", algorithm, count, n, round);         \
			for (size_t i = 0; i < count; i++) {                                                        \
				SET(in + i, value_of(i, seed));                                                     \
				out[i] = in[i];                                                                     \
			}                                                                                           \
			shmem_team_sync(team);                                                                      \
			maybe_late(seed + (uint64_t)round);                                                         \
			if (round < 2) {                                                                            \
				BLOCKING(team, out, round ? out : in, count);                                       \
			} else if (round < 4) {                                                                     \
				CHECK_EQUAL(shmemx_##NAME##_##OP##_reduce_nb(team, out, in, count, &request), 0);   \
				shmemx_req_wait(&request);                                                          \
			} else {                                                                                    \
				shmemx_plan_start(plan);                                                            \
				shmemx_plan_wait(plan);                                                             \
			}                                                                                           \
			if (round % 2 == 0)                                                                         \
				memcpy(first, out, count * sizeof *out);                                            \
			CHECK_BYTES(out, first, count * sizeof *out);                                               \
			shmem_team_sync(team);                                                                      \
			shmem_getmem(other, out, count * sizeof *out,                                               \
				     shmem_team_translate_pe(team, (mine + 1) % n, SHMEM_TEAM_WORLD));              \
			CHECK_BYTES(out, other, count * sizeof *out);                                               \
			shmem_team_sync(team);                                                                      \
		}                                                                                                   \
		shmemx_plan_free(plan);                                                                             \
	}
BITS(float, float, SHMEMX_FLOAT, shmem_float_sum_reduce, sum, SHMEMX_SUM, PLAIN)
BITS(float, float, SHMEMX_FLOAT, shmem_float_prod_reduce, prod, SHMEMX_PROD, PLAIN)
BITS(float, float, SHMEMX_FLOAT, shmemx_float_avg_reduce, avg, SHMEMX_AVG, PLAIN)
BITS(double, double, SHMEMX_DOUBLE, shmem_double_sum_reduce, sum, SHMEMX_SUM, PLAIN)
BITS(bfloat16, shmemx_bfloat16_t, SHMEMX_BFLOAT16, shmemx_bfloat16_sum_reduce, sum, SHMEMX_SUM, NARROW_bfloat16)
BITS(bfloat16, shmemx_bfloat16_t, SHMEMX_BFLOAT16, shmemx_bfloat16_avg_reduce, avg, SHMEMX_AVG, NARROW_bfloat16)
BITS(half, shmemx_half_t, SHMEMX_HALF, shmemx_half_sum_reduce, sum, SHMEMX_SUM, NARROW_half)

static void check_team(shmem_team_t team, bool all, uint64_t seed)
{
	static const size_t counts[] = {1, 300, 5000, MOST};

	for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
		if (!all && counts[c] != 5000)
			continue;
		float_sum(team, counts[c], seed);
		bfloat16_sum(team, counts[c], seed + 1);
		if (counts[c] != 5000)
			continue;
		float_avg(team, counts[c], seed + 2);
		float_prod(team, counts[c], seed + 3);
		double_sum(team, counts[c], seed + 4);
		bfloat16_avg(team, counts[c], seed + 5);
		half_sum(team, counts[c], seed + 6);
	}
}

/* Without a network, the algorithms between nodes are not used. */
static void live(size_t which, const char *shape)
{
	shmem_team_t odd;

	algorithm = algorithms[which];
	setenv("SHMEM_REDUCE_ALGORITHM", algorithm, 1);
	if (shape)
		setenv("SHMEM_TORUS", shape, 1);
	begin();
	dest = symmetric(MOST * sizeof(double));
	source = symmetric(MOST * sizeof(double));
	first = malloc(MOST * sizeof(double));
	other = malloc(MOST * sizeof(double));
	check_team(SHMEM_TEAM_WORLD, true, which * 1000);
	shmem_team_split_strided(SHMEM_TEAM_WORLD, npes > 2, 1, npes > 2 ? npes - 1 : 1, NULL, 0, &odd);
	if (odd != SHMEM_TEAM_INVALID) {
		check_team(odd, false, which * 1000 + 500);
		shmem_team_destroy(odd);
	}
	free(other);
	free(first);
	shmem_finalize();
}

int main(void)
{
	char shape[64];
	int nodes;

	begin();
	nodes = count_nodes();
	shmem_finalize();
	for (size_t which = 0; which < sizeof algorithms / sizeof algorithms[0]; which++) {
		if (nodes == 1 && which > 0)
			break;
		live(which, write_shape(shape, nodes, (int)which % 2) ? shape : NULL);
	}
	return 0;
}
