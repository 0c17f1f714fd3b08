/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SHMEM_COLLECTIVES_H
#define SHMEM_COLLECTIVES_H

#include "api.h"
#include "rte/settings.h"

/*
 * Collectives are written over a set: the members in order, and a way for them to meet. Two kinds exist: a team, which
 * meets in its slot and has scratch there, and an active set of the deprecated interface, which has nothing
 * but the user's pSync array.
 */
struct set {
	struct comms_group *group;
	struct shmemx_team *team; /* NULL: an active set */
	long *psync;		  /* of an active set */
	const char *routine;
};

struct set set_of_team(shmem_team_t handle, const char *routine);

static inline int set_pe(const struct set *set, int i)
{
	return comms_group_pe(set->group, i);
}

/* The set that an active-set routine names, about group, which the caller provides. Complains of sets that are none. */
struct set set_of_active(struct comms_group *group, int start, int log_stride, int size, long *psync,
			 const char *routine);

void set_sync(const struct set *set);

/* Makes what this PE has put into others' memory arrive, then meets. */
void set_finish(const struct set *set);

/* out[i] = low[i] op high[i], low from the lower member. */
typedef void combine_t(void *out, const void *low, const void *high, size_t count);

/*
 * With SHMEM_DEBUG set: do all members call the same routine with the same two numbers and the same dest? Ends the job with a
 * message where one differs from the first member. The names say what the numbers are, NULL: there is none.
 */
void set_check_agreement(const struct set *set, const char *name, long value, const char *name2, long value2,
			 const void *dest);

/* What SHMEM_BROADCAST_ALGORITHM and SHMEM_REDUCE_ALGORITHM ask for, in the order of their words. */
enum algorithm { AUTO, FIRST, SECOND };
enum algorithm set_algorithm(enum setting_id id, const char *first, const char *second);

/* The whole collective for one member. Sizes are in bytes unless they are counts. */
void set_broadcast(const struct set *set, void *dest, const void *source, size_t bytes, int root, bool root_too);
void set_fcollect(const struct set *set, void *dest, const void *source, size_t bytes);
void set_collect(const struct set *set, void *dest, const void *source, size_t bytes);
void set_alltoall(const struct set *set, void *dest, const void *source, size_t bytes);
void set_alltoalls(const struct set *set, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t size,
		   size_t count);
void set_reduce(const struct set *set, void *dest, const void *source, size_t count, size_t size, combine_t *combine);

/* Words and slots of a team's collectives in its scratch. */
#define ROUNDS 24 /* 2^22 members, one round to fold in the odd ones, one to tell them */
#define PIECE_BYTES 2048

/* What a member called with, for the others to compare; of an active set, at the end of pSync. */
struct agreement {
	long routine, value, value2, dest;
};

struct scratch {
	_Atomic uint64_t count; /* what this member brings, for others to read */
	_Atomic uint64_t taken; /* could this member take the slot? See teams.c */
	struct agreement agreement;
	_Alignas(64) _Atomic uint64_t broadcast_heard;
	_Alignas(64) _Atomic uint64_t heard[2][ROUNDS];
	_Alignas(64) char slot[2][ROUNDS][PIECE_BYTES];
};
_Static_assert(sizeof(struct scratch) <= COMMS_SCRATCH_BYTES, "the scratch holds it all");

static inline struct scratch *team_scratch(const struct shmemx_team *team)
{
	return (struct scratch *)comms.system->slot[team->group.slot].scratch;
}

/* Puts what comes with a word, then the word. */
void tell(void *dest, const void *source, size_t bytes, _Atomic uint64_t *word, uint64_t value, int pe,
	  const char *routine);
void hear(_Atomic uint64_t *word, uint64_t value);

#endif
