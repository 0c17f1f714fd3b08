/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenSHMEM for C++11 and later, see shmem.hpp(3): owners of what must be given back (the library itself, teams, contexts, symmetric
 * arrays), and puts, gets and collectives for every type that may be copied as bytes. The rest is the interface of C.
 *
 * Owners may be moved and not copied. Making and destroying a team or an array is a call that PEs make together, so it belongs in the
 * same place of the program on all of them. No destructor waits for other PEs while an exception is on its way: the PE that lost its way
 * would wait for PEs that do not come. Nor after the library has been finalized, which has freed everything.
 */
#ifndef TORUSHMEM_SHMEM_HPP
#define TORUSHMEM_SHMEM_HPP

#include <shmem_arrays.hpp>
#include <shmem_owners.hpp>

namespace shmem {

/* ---- Collectives: of arrays, or of n elements from a pointer on; dest may be source in reductions ---- */

#define SHMEMX_HPP_REDUCTION(name, routine)                                                                           \
	template <typename T>                                                                                         \
	void name(T *dest, detail::const_pointer<T> source, std::size_t n, shmem_team_t team = SHMEM_TEAM_WORLD)      \
	{                                                                                                             \
		detail::check(routine(team, dest, source, n), #routine);                                              \
	}                                                                                                             \
	template <typename T> void name(array<T> &dest, const array<T> &source, shmem_team_t team = SHMEM_TEAM_WORLD) \
	{                                                                                                             \
		detail::fits(dest.size(), source.size(), detail::shares::one, team, "shmem::" #name);                 \
		name(dest.data(), source.data(), source.size(), team);                                                \
	}                                                                                                             \
	template <typename T> void name(array<T> &both, shmem_team_t team = SHMEM_TEAM_WORLD)                         \
	{                                                                                                             \
		name(both, both, team);                                                                               \
	}

SHMEMX_HPP_REDUCTION(sum_reduce, shmem_sum_reduce)
SHMEMX_HPP_REDUCTION(prod_reduce, shmem_prod_reduce)
SHMEMX_HPP_REDUCTION(min_reduce, shmem_min_reduce)
SHMEMX_HPP_REDUCTION(max_reduce, shmem_max_reduce)
SHMEMX_HPP_REDUCTION(and_reduce, shmem_and_reduce)
SHMEMX_HPP_REDUCTION(or_reduce, shmem_or_reduce)
SHMEMX_HPP_REDUCTION(xor_reduce, shmem_xor_reduce)
SHMEMX_HPP_REDUCTION(sum_inscan, shmem_sum_inscan)
SHMEMX_HPP_REDUCTION(sum_exscan, shmem_sum_exscan)
#undef SHMEMX_HPP_REDUCTION

/* Of every type that may be copied as bytes. n is what one PE gives to one PE; dest of fcollect and alltoall takes that from each. */
template <typename T>
void broadcast(T *dest, detail::const_pointer<T> source, std::size_t n, int root, shmem_team_t team = SHMEM_TEAM_WORLD)
{
	detail::check(shmem_broadcastmem(team, dest, source, detail::bytes<T>(n), root), "shmem_broadcastmem");
}

template <typename T>
void broadcast(array<T> &dest, const array<T> &source, int root, shmem_team_t team = SHMEM_TEAM_WORLD)
{
	detail::fits(dest.size(), source.size(), detail::shares::one, team, "shmem::broadcast");
	broadcast(dest.data(), source.data(), source.size(), root, team);
}

#define SHMEMX_HPP_GATHER(name)                                                                                  \
	template <typename T>                                                                                    \
	void name(T *dest, detail::const_pointer<T> source, std::size_t n, shmem_team_t team = SHMEM_TEAM_WORLD) \
	{                                                                                                        \
		detail::check(shmem_##name##mem(team, dest, source, detail::bytes<T>(n)), "shmem_" #name "mem"); \
	}

SHMEMX_HPP_GATHER(collect)
SHMEMX_HPP_GATHER(fcollect)
SHMEMX_HPP_GATHER(alltoall)
#undef SHMEMX_HPP_GATHER

template <typename T> void fcollect(array<T> &dest, const array<T> &source, shmem_team_t team = SHMEM_TEAM_WORLD)
{
	detail::fits(dest.size(), source.size(), detail::shares::of_each_pe, team, "shmem::fcollect");
	fcollect(dest.data(), source.data(), source.size(), team);
}

/* Equal shares of source go to the PEs. */
template <typename T> void alltoall(array<T> &dest, const array<T> &source, shmem_team_t team = SHMEM_TEAM_WORLD)
{
	detail::fits(dest.size(), source.size(), detail::shares::one, team, "shmem::alltoall");
	alltoall(dest.data(), source.data(), source.size() / static_cast<std::size_t>(shmem_team_n_pes(team)), team);
}

} // namespace shmem

#endif
