// SPDX-License-Identifier: BSD-3-Clause
// 16-bit numbers, averages and their atomics by type-generic names, and plans of them, whose type comes from the pointers.
#include <shmemx.h>

#include <cstdio>
#include <cstdlib>

static void store(shmemx_half_t *to, const float *from)
{
	shmemx_half_from_float(to, from, 2);
}
static void store(shmemx_bfloat16_t *to, const float *from)
{
	shmemx_bfloat16_from_float(to, from, 2);
}
template <typename T> static void store(T *to, const float *from)
{
	to[0] = from[0], to[1] = from[1];
}
static void load(float *to, const shmemx_half_t *from)
{
	shmemx_half_to_float(to, from, 2);
}
static void load(float *to, const shmemx_bfloat16_t *from)
{
	shmemx_bfloat16_to_float(to, from, 2);
}
template <typename T> static void load(float *to, const T *from)
{
	to[0] = float(from[0]), to[1] = float(from[1]);
}

template <typename T> static void check(const T *to, float expect, const char *what)
{
	float got[2];

	load(got, to);
	if (got[0] != expect || got[1] != expect) {
		std::fprintf(stderr, "wrong: %s of %d bytes: %g, not %g\n", what, static_cast<int>(sizeof(T)),
			     double(got[0]), double(expect));
		shmem_global_exit(1);
	}
	shmem_barrier_all();
}

template <typename T> static void average(T *to, T *from)
{
	const float mine[] = {2.0F * float(shmem_my_pe()), 2.0F * float(shmem_my_pe())};
	const float mean = float(shmem_n_pes() - 1);
	shmemx_plan_t plan;

	store(from, mine);
	shmemx_avg_reduce(SHMEM_TEAM_WORLD, to, from, 2);
	check(to, mean, "avg");
	if (shmemx_allreduce_init(SHMEM_TEAM_WORLD, to, from, 2, SHMEMX_AVG, SHMEMX_PLAN_AUTO, &plan))
		shmem_global_exit(2);
	shmemx_plan_start(plan);
	shmemx_plan_wait(plan);
	check(to, mean, "plan");
	shmemx_plan_free(plan);
}

template <typename T> static void narrow()
{
	static T to[2], from[2];

	average(to, from);
	shmemx_sum_reduce(SHMEM_TEAM_WORLD, to, from, 2);
	check(to, float(shmem_n_pes() * (shmem_n_pes() - 1)), "sum");
	shmemx_prod_reduce(SHMEM_TEAM_WORLD, to, from, 2);
	check(to, 0, "prod");
	shmemx_min_reduce(SHMEM_TEAM_WORLD, to, from, 2);
	check(to, 0, "min");
	shmemx_max_reduce(SHMEM_TEAM_WORLD, to, from, 2);
	check(to, 2 * float(shmem_n_pes() - 1), "max");
}

// Everybody brings the same blocks of 2 elements, one of each PE.
template <typename T> static void scatter()
{
	static T blocks[2 * 64], to[2];
	const float mine[] = {0.5F, 0.5F};

	for (int pe = 0; pe < shmem_n_pes(); pe++)
		store(&blocks[2 * pe], mine);
	shmemx_reduce_scatter(SHMEM_TEAM_WORLD, to, blocks, 2, SHMEMX_SUM);
	check(to, 0.5F * float(shmem_n_pes()), "reduce_scatter");
}

// What each PE of two has is gathered, scattered, and sent round.
template <typename T> static void blocks()
{
	static T all[2 * 64], to[2], from[2];
	const float mine[] = {0.5F, 0.5F};
	size_t counts[64];

	for (int pe = 0; pe < shmem_n_pes(); pe++)
		counts[pe] = 2;
	store(from, mine);
	shmemx_gather(SHMEM_TEAM_WORLD, all, from, 2, 0);
	shmemx_scatter(SHMEM_TEAM_WORLD, to, all, 2, 0);
	check(to, 0.5F, "scatter");
	shmemx_allgatherv(SHMEM_TEAM_WORLD, all, from, counts, nullptr);
	check(all + 2 * (shmem_n_pes() - 1), 0.5F, "allgatherv");
	static T others[2 * 64];
	shmemx_alltoallv(SHMEM_TEAM_WORLD, others, all, counts, nullptr, counts, nullptr);
	check(others + 2 * (shmem_n_pes() - 1), 0.5F, "alltoallv");
}

template <typename T> static void nonblocking()
{
	static T to[2], from[2];
	const float mine[] = {0.5F, 0.5F};
	shmemx_req_h request = SHMEMX_REQ_INVALID;

	store(from, mine);
	shmemx_sum_reduce_nb(SHMEM_TEAM_WORLD, to, from, 2, &request);
	while (shmemx_req_test(&request) != 0)
		;
	check(to, 0.5F * float(shmem_n_pes()), "sum_reduce_nb");
	shmemx_avg_reduce_nb(SHMEM_TEAM_WORLD, to, from, 2, &request);
	shmemx_req_wait(&request);
	check(to, 0.5F, "avg_reduce_nb");
}

template <typename T> static void plain()
{
	static T to[2], from[2];

	average(to, from);
}

static void atomics()
{
	static double sum;
	static int greatest;

	shmemx_atomic_add(&sum, 1.5, 0);
	if (!(shmemx_atomic_fetch_add(SHMEM_CTX_DEFAULT, &sum, 0.5, 0) >= 1.5))
		shmem_global_exit(3);
	shmemx_atomic_max(&greatest, shmem_my_pe(), 0);
	if (shmemx_atomic_fetch_max(SHMEM_CTX_DEFAULT, &greatest, 0, 0) < shmem_my_pe())
		shmem_global_exit(4);
	shmem_barrier_all();
	if (shmem_g(&sum, 0) != 2.0 * shmem_n_pes() || shmem_g(&greatest, 0) != shmem_n_pes() - 1)
		shmem_global_exit(5);
	shmem_barrier_all();
}

int main()
{
	shmem_init();
	narrow<shmemx_half_t>();
	narrow<shmemx_bfloat16_t>();
	plain<float>();
	plain<double>();
	plain<long double>();
	atomics();
	scatter<shmemx_bfloat16_t>();
	scatter<double>();
	blocks<shmemx_half_t>();
	blocks<double>();
	nonblocking<shmemx_half_t>();
	nonblocking<double>();
	nonblocking<long double>();
	if (shmem_my_pe() == 0)
		std::puts("numbers: right");
	shmem_finalize();
}
