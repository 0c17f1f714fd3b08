/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The deprecated collectives on active sets: PEs start, start + 2^log, ... A set has no state but the user's pSync array, which
 * is zero before and after. Its first elements count the words of each round of a dissemination: who comes
 * adds one to its partner's, who waits takes one away; so a partner that is already in the next call does no harm.
 */
#include "collectives.h"

_Static_assert(SHMEM_SYNC_SIZE >= ROUNDS + 1 + sizeof(struct agreement) / sizeof(long),
	       "a word for each round, one for counts, and what members compare");
_Static_assert(SHMEM_SYNC_VALUE == 0, "counters begin at zero");

struct set set_of_active(struct comms_group *group, int start, int log_stride, int size, long *psync,
			 const char *routine)
{
	long stride, last;

	comms_check_up(routine);
	stride = log_stride >= 0 && log_stride < 31 ? 1L << log_stride : 0;
	last = start + stride * ((long)size - 1);
	if (size < 1 || stride == 0 || start < 0 || last >= comms.n_pes)
		rte_die(routine, "PE_start=%d, logPE_stride=%d, PE_size=%d: this set leaves PEs 0 to %d", start, log_stride,
			size, comms.n_pes - 1);
	if (comms.pe < start || comms.pe > last || (comms.pe - start) % stride)
		rte_die(routine, "PE_start=%d, logPE_stride=%d, PE_size=%d: the caller is not in this set", start,
			log_stride, size);
	comms_check_symmetric(psync, SHMEM_SYNC_SIZE * sizeof *psync, "pSync", routine);
	*group = (struct comms_group){
		.size = size, .me = (int)((comms.pe - start) / stride), .start = start, .stride = (int)stride};
	return (struct set){group, NULL, psync, routine};
}

static void sync_by_counters(const struct set *set)
{
	int n = set->group->size, round = 0;

	for (long step = 1; step < n; step *= 2, round++) {
		_Atomic uint64_t *word = (_Atomic uint64_t *)&set->psync[round];

		comms_amo(COMMS_ADD, sizeof *word, word, 1, set_pe(set, (int)((set->group->me + step) % n)),
			  set->routine);
		COMMS_WAIT(atomic_load_explicit(word, memory_order_acquire) > 0);
		atomic_fetch_sub(word, 1);
	}
}

void set_sync(const struct set *set)
{
	if (set->team)
		comms_sync(set->group);
	else
		sync_by_counters(set);
}

/* Within a body: the set that the last parameters name. */
#define ACTIVE_SET(set)           \
	struct comms_group group; \
	struct set set = set_of_active(&group, PE_start, logPE_stride, PE_size, pSync, __func__);

API void pshmem_barrier(int PE_start, int logPE_stride, int PE_size, long *pSync)
{
	ACTIVE_SET(set)
	set_finish(&set);
}
PROFILED(shmem_barrier)

#undef shmem_sync
API void pshmem_sync(int PE_start, int logPE_stride, int PE_size, long *pSync)
{
	ACTIVE_SET(set)
	set_sync(&set);
}
PROFILED(shmem_sync)

#define OLD_COLLECTIVES(BITS, BYTES)                                                                                   \
	API void pshmem_broadcast##BITS(void *dest, const void *source, size_t nelems, int PE_root, int PE_start,      \
					int logPE_stride, int PE_size, long *pSync)                                    \
	{                                                                                                              \
		ACTIVE_SET(set)                                                                                        \
		set_broadcast(&set, dest, source, nelems *(BYTES), PE_root, false);                                    \
	}                                                                                                              \
	API void pshmem_collect##BITS(void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride,   \
				      int PE_size, long *pSync)                                                        \
	{                                                                                                              \
		ACTIVE_SET(set)                                                                                        \
		set_collect(&set, dest, source, nelems *(BYTES));                                                      \
		pSync[ROUNDS] = SHMEM_SYNC_VALUE;                                                                      \
	}                                                                                                              \
	API void pshmem_fcollect##BITS(void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride,  \
				       int PE_size, long *pSync)                                                       \
	{                                                                                                              \
		ACTIVE_SET(set)                                                                                        \
		set_fcollect(&set, dest, source, nelems *(BYTES));                                                     \
	}                                                                                                              \
	API void pshmem_alltoall##BITS(void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride,  \
				       int PE_size, long *pSync)                                                       \
	{                                                                                                              \
		ACTIVE_SET(set)                                                                                        \
		set_alltoall(&set, dest, source, nelems *(BYTES));                                                     \
	}                                                                                                              \
	API void pshmem_alltoalls##BITS(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems,   \
					int PE_start, int logPE_stride, int PE_size, long *pSync)                      \
	{                                                                                                              \
		ACTIVE_SET(set)                                                                                        \
		set_alltoalls(&set, dest, source, dst, sst, BYTES, nelems);                                            \
	}                                                                                                              \
	PROFILED(shmem_broadcast##BITS)                                                                                \
	PROFILED(shmem_collect##BITS)                                                                                  \
	PROFILED(shmem_fcollect##BITS)                                                                                 \
	PROFILED(shmem_alltoall##BITS)                                                                                 \
	PROFILED(shmem_alltoalls##BITS)
OLD_COLLECTIVES(32, (size_t)4)
OLD_COLLECTIVES(64, (size_t)8)
