// SPDX-License-Identifier: BSD-3-Clause
// Plans and nonblocking forms of every type: the type comes from the pointers. With -DCOMPLEX_FIRST
// <complex> comes before the headers.
#ifdef COMPLEX_FIRST
#include <complex>
#endif
#include <shmemx.h>
#ifndef COMPLEX_FIRST
#include <complex>
#endif

#include <cstdio>
#include <cstdlib>

template <typename T> static void run(shmemx_op_t op, T expect)
{
	static T from[3], to[3];
	shmemx_plan_t plan;

	for (int part = 0; part < 2; part++) {
		for (int i = 0; i < 3; i++)
			from[i] = T(shmem_my_pe() + 1), to[i] = T(0);
		const int wrong = part ? shmemx_reduce_init(SHMEM_TEAM_WORLD, to, from, 3, op, 0, SHMEMX_PLAN_AUTO, &plan)
				       : shmemx_allreduce_init(SHMEM_TEAM_WORLD, to, from, 3, op, SHMEMX_PLAN_AUTO, &plan);
		if (wrong)
			shmem_global_exit(2);
		shmemx_plan_start(plan);
		shmemx_plan_wait(plan);
		if ((part == 0 || shmem_my_pe() == 0) && to[2] != expect) {
			std::fprintf(stderr, "wrong: op %d, %d bytes, part %d\n", static_cast<int>(op), static_cast<int>(sizeof(T)), part);
			shmem_global_exit(1);
		}
		shmem_barrier_all();
		shmemx_plan_free(plan);
	}
}

static void expect_here(bool right, const char *what)
{
	if (right)
		return;
	std::fprintf(stderr, "wrong: %s\n", what);
	shmem_global_exit(1);
}

// What a reduction is not: blocks of all PEs, as plans and as requests. PE i has i + 1 everywhere.
template <typename T> static void blocks()
{
	enum { MOST = 64 };
	static T from[2 * MOST], to[2 * MOST];
	const int n = shmem_n_pes(), me = shmem_my_pe();
	std::size_t one[MOST];
	shmemx_req_h request;
	shmemx_plan_t plan;

	for (int i = 0; i < 2 * MOST; i++)
		from[i] = T(me + 1), to[i] = T(0);
	for (int i = 0; i < n; i++)
		one[i] = 1;
	shmem_barrier_all();
	shmemx_sum_inscan_nb(SHMEM_TEAM_WORLD, to, from, 2, &request);
	shmemx_req_wait(&request);
	expect_here(to[1] == T((me + 1) * (me + 2) / 2), "sum_inscan_nb");
	shmem_barrier_all();
	shmemx_sum_exscan_init(SHMEM_TEAM_WORLD, to, from, 2, SHMEMX_PLAN_AUTO, &plan);
	shmemx_plan_start(plan);
	shmemx_plan_wait(plan);
	expect_here(to[1] == T(me * (me + 1) / 2), "sum_exscan_init");
	shmemx_plan_free(plan);
	shmemx_reduce_scatter_nb(SHMEM_TEAM_WORLD, to, from, 1, SHMEMX_SUM, &request);
	shmemx_req_wait(&request);
	expect_here(to[0] == T(n * (n + 1) / 2), "reduce_scatter_nb");
	shmem_barrier_all();
	shmemx_alltoallv_nb(SHMEM_TEAM_WORLD, to, from, one, NULL, one, NULL, &request);
	shmemx_req_wait(&request);
	expect_here(to[n - 1] == T(n), "alltoallv_nb");
	shmem_barrier_all();
}

template <typename T> static void moved()
{
	static T from[64], to[64];
	const int n = shmem_n_pes(), me = shmem_my_pe();
	shmemx_req_h request;
	shmemx_plan_t plan;

	for (int i = 0; i < 64; i++)
		from[i] = T(me + 1), to[i] = T(0);
	shmem_barrier_all();
	shmemx_collect_nb(SHMEM_TEAM_WORLD, to, from, 1, &request);
	shmemx_req_wait(&request);
	expect_here(to[n - 1] == T(n), "collect_nb");
	shmem_barrier_all();
	shmemx_alltoalls_nb(SHMEM_TEAM_WORLD, to, from, 2, 1, 1, &request);
	shmemx_req_wait(&request);
	expect_here(to[2 * (n - 1)] == T(n), "alltoalls_nb");
	shmem_barrier_all();
	shmemx_gather_nb(SHMEM_TEAM_WORLD, to, from, 1, 0, &request);
	shmemx_req_wait(&request);
	expect_here(me > 0 || to[n - 1] == T(n), "gather_nb");
	shmem_barrier_all();
	shmemx_scatter_init(SHMEM_TEAM_WORLD, to, from, 1, n - 1, SHMEMX_PLAN_AUTO, &plan);
	shmemx_plan_start(plan);
	shmemx_plan_wait(plan);
	expect_here(to[0] == T(n), "scatter_init");
	shmem_barrier_all();
	shmemx_plan_free(plan);
}

template <typename T> static void sum()
{
	run<T>(SHMEMX_SUM, T(shmem_n_pes() * (shmem_n_pes() + 1) / 2));
	blocks<T>();
}

template <typename T> static void number()
{
	sum<T>();
	moved<T>();
	run<T>(SHMEMX_MAX, T(shmem_n_pes()));
}

template <typename T> static void bits()
{
	number<T>();
	T all = 0;
	for (int pe = 0; pe < shmem_n_pes(); pe++)
		all = static_cast<T>(all | static_cast<T>(pe + 1));
	run<T>(SHMEMX_OR, all);
}

int main()
{
	shmem_init();
	number<float>(), number<double>(), number<long double>();
	number<char>(), bits<signed char>(), bits<short>(), bits<int>(), bits<long>(), bits<long long>();
	bits<unsigned char>(), bits<unsigned short>(), bits<unsigned>(), bits<unsigned long>(), bits<unsigned long long>();
	sum<std::complex<float>>(), sum<std::complex<double>>();
	if (shmem_my_pe() == 0)
		std::puts("plans: right");
	shmem_finalize();
	return 0;
}
