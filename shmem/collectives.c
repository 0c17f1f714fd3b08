/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all collectives share, and the routines that the user calls.
 */
#include "collectives.h"

#include <stdio.h>
#include <string.h>

#include "comms/reorder.h"

void api_barrier_all(const char *routine)
{
	hang_note_group(routine, &api_world.group);
	comms_complete();
	comms_sync(&api_world.group);
}

void api_barrier_at_end(void)
{
	struct comms_group final;

	comms_group_twin(&final, &api_world.group, COMMS_FINAL_SLOT);
	hang_note_group("shmem_finalize", &final);
	if (comms.checks)
		reorder_quiet_all();
	comms_complete();
	comms_sync(&final);
	hang_note_group("shmem_finalize", &api_world.group);
	comms_twin_forget(&final);
}

int set_algorithm(enum setting_id id, const char *const *words, int count)
{
	int choice = setting_choice(id, words, count), length = 0;
	char list[200];

	if (choice >= 0)
		return choice;
	for (int i = 0; i < count; i++)
		length += snprintf(list + length, sizeof list - (size_t)length, "%s%s",
				   i == 0 ? "" : i < count - 1 ? ", " : " or ", words[i]);
	rte_die_together("shmem_init", "%s=%s: give %s", settings_table[id].name, setting_text(id), list);
}

void api_collectives_start(void)
{
	api_broadcasts_start();
	api_reductions_start();
	api_gathers_start();
	api_alltoalls_start();
}

/* Equal on all members for equal things: names by their letters, dest by its place in its segment. */
static long fingerprint(const char *text)
{
	unsigned long hash = 5381;

	while (*text)
		hash = hash * 33 + (unsigned char)*text++;
	return (long)(hash >> 1);
}

static long place_of_dest(const void *dest)
{
	enum comms_segment_id segment = comms_find_segment(dest);

	if (!dest || segment == COMMS_SEGMENTS)
		return -1;
	return (long)((const char *)dest - comms.segments[segment].base) * COMMS_SEGMENTS + (long)segment;
}

/* Where several members differ from the first, one complaint is enough: the lowest's, if it can. */
static void let_lower_speak(const struct set *set, const struct agreement *shown, const struct agreement *first)
{
	for (int i = 1; i < set->group->me; i++) {
		struct agreement theirs;

		comms_get(&theirs, shown, sizeof theirs, set_pe(set, i), set->routine);
		if (memcmp(&theirs, first, sizeof theirs)) {
			rte_let_others_speak();
			return;
		}
	}
}

static void complain(const struct set *set, const char *what, long mine, long theirs)
{
	rte_die(set->routine, "%s is %ld here and %ld on PE %d; all PEs of the call must pass the same", what, mine, theirs,
		set_pe(set, 0));
}

void set_check_agreement(const struct set *set, const char *name, long value, const char *name2, long value2,
			 const void *dest)
{
	struct agreement *shown, mine, first;

	if (COMMS_LIKELY(!comms.checks))
		return;
	shown = set->team ? &team_scratch(set->team)->agreement : (struct agreement *)&set->psync[ROUNDS + 1];
	mine = (struct agreement){fingerprint(set->routine), value, value2, place_of_dest(dest)};
	*shown = mine;
	set_sync(set);
	comms_get(&first, shown, sizeof first, set_pe(set, 0), set->routine);
	if (memcmp(&first, &mine, sizeof mine))
		let_lower_speak(set, shown, &first);
	if (first.routine != mine.routine)
		rte_die(set->routine, "PE %d is in another collective; all PEs must make the same calls in the same order",
			set_pe(set, 0));
	if (name && first.value != mine.value)
		complain(set, name, mine.value, first.value);
	if (name2 && first.value2 != mine.value2)
		complain(set, name2, mine.value2, first.value2);
	if (first.dest != mine.dest)
		rte_die(set->routine, "dest=%p is another object than on PE %d; all PEs of the call must pass the same", dest,
			set_pe(set, 0));
	set_sync(set);
	memset(shown, 0, sizeof *shown);
}

struct set set_of_team(shmem_team_t handle, const char *routine)
{
	struct shmemx_team *team = api_team_or_die(handle, routine);

	hang_note_group(routine, &team->group);
	return (struct set){&team->group, team, NULL, routine};
}

void set_finish(const struct set *set)
{
	comms_complete();
	set_sync(set);
}

struct set set_of_leaders(const struct set *set)
{
	struct set leaders = *set;

	comms_group_see(set->group);
	if (set->group->levels)
		leaders.group = &set->group->levels->leaders;
	return leaders;
}

API void pshmem_barrier_all(void)
{
	COMMS_CALL(__func__, 0, COMMS_NOBODY);
	api_barrier_all(__func__);
}
PROFILED(shmem_barrier_all)

API void pshmem_sync_all(void)
{
	COMMS_CALL(__func__, 0, COMMS_NOBODY);
	hang_note_group(__func__, &api_world.group);
	comms_sync(&api_world.group);
}
PROFILED(shmem_sync_all)

API int pshmem_team_sync(shmem_team_t team)
{
	COMMS_CALL(__func__, 0, COMMS_NOBODY);
	struct set set = set_of_team(team, __func__);

	comms_sync(set.group);
	return 0;
}
PROFILED(shmem_team_sync)

#define COLLECTIVES(TYPE, SIZE, BROADCAST, COLLECT, FCOLLECT, ALLTOALL, ALLTOALLS)                                    \
	API int pshmem_##BROADCAST(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems, int PE_root)     \
	{                                                                                                             \
		COMMS_CALL(__func__, nelems * (SIZE), COMMS_NOBODY);                                                  \
		struct set set = set_of_team(team, __func__);                                                         \
		set_broadcast(&set, dest, source, nelems *(SIZE), PE_root, true);                                     \
		return 0;                                                                                             \
	}                                                                                                             \
	API int pshmem_##COLLECT(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems)                    \
	{                                                                                                             \
		COMMS_CALL(__func__, nelems * (SIZE), COMMS_NOBODY);                                                  \
		struct set set = set_of_team(team, __func__);                                                         \
		set_collect(&set, dest, source, nelems *(SIZE));                                                      \
		return 0;                                                                                             \
	}                                                                                                             \
	API int pshmem_##FCOLLECT(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems)                   \
	{                                                                                                             \
		COMMS_CALL(__func__, nelems * (SIZE), COMMS_NOBODY);                                                  \
		struct set set = set_of_team(team, __func__);                                                         \
		set_fcollect(&set, dest, source, nelems *(SIZE));                                                     \
		return 0;                                                                                             \
	}                                                                                                             \
	API int pshmem_##ALLTOALL(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems)                   \
	{                                                                                                             \
		COMMS_CALL(__func__, nelems * (SIZE), COMMS_NOBODY);                                                  \
		struct set set = set_of_team(team, __func__);                                                         \
		set_alltoall(&set, dest, source, nelems *(SIZE));                                                     \
		return 0;                                                                                             \
	}                                                                                                             \
	API int pshmem_##ALLTOALLS(shmem_team_t team, TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst,   \
				   size_t nelems)                                                                     \
	{                                                                                                             \
		COMMS_CALL(__func__, nelems * (SIZE), COMMS_NOBODY);                                                  \
		struct set set = set_of_team(team, __func__);                                                         \
		set_alltoalls(&set, dest, source, dst, sst, SIZE, nelems);                                            \
		return 0;                                                                                             \
	}                                                                                                             \
	PROFILED(shmem_##BROADCAST)                                                                                   \
	PROFILED(shmem_##COLLECT)                                                                                     \
	PROFILED(shmem_##FCOLLECT)                                                                                    \
	PROFILED(shmem_##ALLTOALL)                                                                                    \
	PROFILED(shmem_##ALLTOALLS)
#define TYPED(NAME, TYPE)                                                                                              \
	COLLECTIVES(TYPE, sizeof(TYPE), NAME##_broadcast, NAME##_collect, NAME##_fcollect, NAME##_alltoall,            \
		    NAME##_alltoalls)
FOR_RMA_TYPES(TYPED)
COLLECTIVES(void, (size_t)1, broadcastmem, collectmem, fcollectmem, alltoallmem, alltoallsmem)
