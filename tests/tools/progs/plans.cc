// SPDX-License-Identifier: BSD-3-Clause
// Plans of reductions of every type: the type comes from the pointers. With -DCOMPLEX_FIRST
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

template <typename T> static void sum()
{
	run<T>(SHMEMX_SUM, T(shmem_n_pes() * (shmem_n_pes() + 1) / 2));
}

template <typename T> static void number()
{
	sum<T>();
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
