/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Synchronising and moving data together.
 *
 * A collective may write to a member's dest as soon as it is called itself (the caller saw to it that every dest is ready),
 * but may read a member's source only after that member has entered. So what pushes needs one meeting, at the
 * end; what pulls needs one at each end.
 */
#include "collectives.h"

#include <string.h>

#define PUSH_AT_MOST 2048 /* bytes of a broadcast that go down a tree on a node, too */

void api_barrier_all(void)
{
	comms_quiet();
	comms_sync(&api_world.group);
}

enum algorithm set_algorithm(enum setting_id id, const char *first, const char *second)
{
	const char *const words[] = {"auto", first, second};
	int choice = setting_choice(id, words, 3);

	if (choice < 0)
		rte_die_together("shmem_init", "%s=%s: give auto, %s or %s", settings_table[id].name, setting_text(id),
				 first, second);
	return (enum algorithm)choice;
}

static enum algorithm broadcast_algorithm;

void api_collectives_start(void)
{
	broadcast_algorithm = set_algorithm(SETTING_BROADCAST_ALGORITHM, "tree", "pull");
	api_reductions_start();
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

static void complain(const struct set *set, const char *what, long mine, long theirs)
{
	rte_die(set->routine, "%s is %ld here and %ld on PE %d; all PEs of the call must pass the same", what, mine, theirs,
		set_pe(set, 0));
}

void set_check_agreement(const struct set *set, const char *name, long value, const char *name2, long value2,
			 const void *dest)
{
	struct agreement *shown, mine, first;

	if (COMMS_LIKELY(!comms.debug))
		return;
	shown = set->team ? &team_scratch(set->team)->agreement : (struct agreement *)&set->psync[ROUNDS + 1];
	mine = (struct agreement){fingerprint(set->routine), value, value2, place_of_dest(dest)};
	*shown = mine;
	set_sync(set);
	comms_get(&first, shown, sizeof first, set_pe(set, 0), set->routine);
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

	return (struct set){&team->group, team, NULL, routine};
}

void set_finish(const struct set *set)
{
	comms_quiet();
	set_sync(set);
}

void tell(void *dest, const void *source, size_t bytes, _Atomic uint64_t *word, uint64_t value, int pe,
	  const char *routine)
{
	comms_put(dest, source, bytes, pe, routine);
	comms_fence();
	comms_put(word, &value, sizeof value, pe, routine);
}

void hear(_Atomic uint64_t *word, uint64_t value)
{
	COMMS_WAIT(atomic_load_explicit(word, memory_order_acquire) >= value);
}

API void pshmem_barrier_all(void)
{
	comms_check_up(__func__);
	api_barrier_all();
}
PROFILED(shmem_barrier_all)

API void pshmem_sync_all(void)
{
	comms_check_up(__func__);
	comms_sync(&api_world.group);
}
PROFILED(shmem_sync_all)

API int pshmem_team_sync(shmem_team_t team)
{
	comms_sync(&api_team_or_die(team, __func__)->group);
	return 0;
}
PROFILED(shmem_team_sync)

/*
 * Down a binomial tree: each member puts straight into its children's dest and then raises their word. Numbered from the
 * root, a member's parent is its number without the highest bit.
 */
static void push_broadcast(const struct set *set, void *dest, const void *source, size_t bytes, int root)
{
	int n = set->group->size, me = (set->group->me - root + n) % n, step = 1;
	struct scratch *scratch = team_scratch(set->team);
	uint64_t epoch = ++set->team->broadcasts;

	if (me != 0)
		hear(&scratch->broadcast_heard, epoch);
	while (step <= me)
		step *= 2;
	for (; me + step < n; step *= 2)
		tell(dest, me == 0 ? source : dest, bytes, &scratch->broadcast_heard, epoch,
		     set_pe(set, (me + step + root) % n), set->routine);
	set_sync(set);
}

static void pull_broadcast(const struct set *set, void *dest, const void *source, size_t bytes, int root)
{
	set_sync(set);
	if (set->group->me != root)
		comms_get(dest, source, bytes, set_pe(set, root), set->routine);
	set_sync(set);
}

static bool pushes(const struct set *set, size_t bytes)
{
	if (broadcast_algorithm != AUTO)
		return broadcast_algorithm == FIRST;
	return bytes <= PUSH_AT_MOST || !set->group->on_node;
}

void set_broadcast(const struct set *set, void *dest, const void *source, size_t bytes, int root, bool root_too)
{
	set_check_agreement(set, "the number of bytes", (long)bytes, "PE_root", root, dest);
	if (root < 0 || root >= set->group->size)
		rte_die(set->routine, "PE_root=%d: there are PEs 0 to %d", root, set->group->size - 1);
	if (bytes == 0)
		return;
	if (set->team && pushes(set, bytes))
		push_broadcast(set, dest, source, bytes, root);
	else
		pull_broadcast(set, dest, source, bytes, root);
	/* Last, so that a source in the way of dest is out of use. */
	if (root_too && set->group->me == root && dest != source)
		memmove(dest, source, bytes);
}

/* Everybody puts its block to everybody, beginning with its neighbour so that not all go to one at a time. */
static void push_blocks(const struct set *set, char *dest, const char *source, size_t source_step, size_t bytes)
{
	int n = set->group->size;

	for (int i = 0; i < n; i++) {
		int to = (set->group->me + i) % n;

		comms_put_nbi(dest, source + (size_t)to * source_step, bytes, set_pe(set, to), set->routine);
	}
	set_finish(set);
}

void set_fcollect(const struct set *set, void *dest, const void *source, size_t bytes)
{
	set_check_agreement(set, "the number of bytes", (long)bytes, NULL, 0, dest);
	if (bytes > 0)
		push_blocks(set, (char *)dest + (size_t)set->group->me * bytes, source, 0, bytes);
}

void set_alltoall(const struct set *set, void *dest, const void *source, size_t bytes)
{
	set_check_agreement(set, "the number of bytes", (long)bytes, NULL, 0, dest);
	if (bytes > 0)
		push_blocks(set, (char *)dest + (size_t)set->group->me * bytes, source, bytes, bytes);
}

void set_alltoalls(const struct set *set, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t size,
		   size_t count)
{
	int n = set->group->size, me = set->group->me;

	set_check_agreement(set, "nelems", (long)count, "dst", dst, dest);
	if (count == 0)
		return;
	if (dst < 1 || sst < 1)
		rte_die(set->routine, "dst=%td, sst=%td: a stride must be at least 1", dst, sst);
	for (int i = 0; i < n; i++) {
		int to = (me + i) % n;
		const char *from = (const char *)source + (size_t)to * count * (size_t)sst * size;
		char *at = (char *)dest + (size_t)me * count * (size_t)dst * size;

		for (size_t e = 0; e < count; e++)
			comms_put_nbi(at + e * (size_t)dst * size, from + e * (size_t)sst * size, size, set_pe(set, to),
				      set->routine);
	}
	set_finish(set);
}

/* The word in which a member shows how much it brings. */
static _Atomic uint64_t *count_word(const struct set *set)
{
	return set->team ? &team_scratch(set->team)->count : (_Atomic uint64_t *)&set->psync[ROUNDS];
}

void set_collect(const struct set *set, void *dest, const void *source, size_t bytes)
{
	_Atomic uint64_t *count = count_word(set);
	size_t before = 0;

	set_check_agreement(set, NULL, 0, NULL, 0, dest);
	atomic_store(count, bytes);
	set_sync(set);
	for (int i = 0; i < set->group->me; i++) {
		uint64_t theirs;

		comms_get(&theirs, count, sizeof theirs, set_pe(set, i), set->routine);
		before += theirs;
	}
	if (bytes > 0)
		for (int i = 0; i < set->group->size; i++) {
			int to = (set->group->me + i) % set->group->size;

			comms_put_nbi((char *)dest + before, source, bytes, set_pe(set, to), set->routine);
		}
	set_finish(set);
}

#define COLLECTIVES(TYPE, SIZE, BROADCAST, COLLECT, FCOLLECT, ALLTOALL, ALLTOALLS)                                    \
	API int pshmem_##BROADCAST(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems, int PE_root)     \
	{                                                                                                             \
		struct set set = set_of_team(team, __func__);                                                         \
		set_broadcast(&set, dest, source, nelems *(SIZE), PE_root, true);                                     \
		return 0;                                                                                             \
	}                                                                                                             \
	API int pshmem_##COLLECT(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems)                    \
	{                                                                                                             \
		struct set set = set_of_team(team, __func__);                                                         \
		set_collect(&set, dest, source, nelems *(SIZE));                                                      \
		return 0;                                                                                             \
	}                                                                                                             \
	API int pshmem_##FCOLLECT(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems)                   \
	{                                                                                                             \
		struct set set = set_of_team(team, __func__);                                                         \
		set_fcollect(&set, dest, source, nelems *(SIZE));                                                     \
		return 0;                                                                                             \
	}                                                                                                             \
	API int pshmem_##ALLTOALL(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems)                   \
	{                                                                                                             \
		struct set set = set_of_team(team, __func__);                                                         \
		set_alltoall(&set, dest, source, nelems *(SIZE));                                                     \
		return 0;                                                                                             \
	}                                                                                                             \
	API int pshmem_##ALLTOALLS(shmem_team_t team, TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst,   \
				   size_t nelems)                                                                     \
	{                                                                                                             \
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
