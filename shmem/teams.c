/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams. A team is an arithmetic series of its parent's numbers. So its members are a series of
 * world PEs or, below a node whose PEs are no series, a list.
 *
 * A new team needs a slot that is free on every member. The PEs of the parent agree on it: each
 * offers its free slots as bits, the and of all shows the slots that are free everywhere, and all
 * take the same one. PEs that do not become members offer all, so teams without common members may
 * share a slot.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "collectives.h"

#define ALL_SLOTS (((uint64_t)1 << COMMS_SLOTS) - 1)
#define TAKEN_SLOTS ((uint64_t)1 << COMMS_WORLD_SLOT | (uint64_t)1 << COMMS_NODE_SLOT | (uint64_t)1 << COMMS_FINAL_SLOT)

/* Changed by collectives on any team, which several threads may run at once. */
static struct {
	_Atomic uint64_t free_slots;
	pthread_mutex_t lock;	   /* protects the list */
	struct shmemx_team *first; /* of those that the user made */
	struct destroyed_handles destroyed;
} teams = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void free_slot(int slot)
{
	atomic_fetch_or_explicit(&teams.free_slots, (uint64_t)1 << slot, memory_order_relaxed);
}

void api_teams_start(void)
{
	atomic_init(&teams.free_slots, ALL_SLOTS & ~TAKEN_SLOTS);
	memset(&api_world, 0, sizeof api_world);
	api_world.group = (struct comms_group){.size = comms.n_pes,
					       .me = comms.pe,
					       .stride = 1,
					       .slot = COMMS_WORLD_SLOT,
					       .on_node = comms.n_node == comms.n_pes};
	memset(&api_shared, 0, sizeof api_shared);
	api_shared.group = (struct comms_group){.size = comms.n_node,
						.me = comms.node_index,
						.members = comms.node_pes,
						.slot = COMMS_NODE_SLOT,
						.on_node = true};
}

/* A team without members has been destroyed: see api_team. */
static void free_team(struct shmemx_team *team)
{
	api_forget_contexts(team);
	comms_group_forget(&team->group);
	torus_topology_free(team->topology);
	free(team->members);
	free(team->grid);
	*team = (struct shmemx_team){.members = NULL};
	pthread_mutex_lock(&teams.lock);
	api_keep_destroyed(&teams.destroyed, team);
	pthread_mutex_unlock(&teams.lock);
}

void api_teams_stop(void)
{
	while (teams.first) {
		struct shmemx_team *team = teams.first;

		teams.first = team->next;
		free_team(team);
	}
	api_forget_contexts(&api_world);
	api_forget_contexts(&api_shared);
	comms_group_forget(&api_world.group);
	torus_topology_free(api_world.topology);
	api_forget_active_sets();
}

/* Several threads may split teams at once: another may have been faster. */
static bool take_slot(int slot)
{
	uint64_t bit = (uint64_t)1 << slot;

	return atomic_fetch_and_explicit(&teams.free_slots, ~bit, memory_order_relaxed) & bit;
}

/*
 * The first slot after a start that differs between parents, so that simultaneous splits of several
 * teams rarely choose the same.
 */
static int choose_slot(uint64_t common, const struct set *parent)
{
	int start = parent->group->slot * 5 % COMMS_SLOTS;

	for (int i = 0; i < COMMS_SLOTS; i++)
		if (common >> (start + i) % COMMS_SLOTS & 1)
			return (start + i) % COMMS_SLOTS;
	return COMMS_SLOTS;
}

/*
 * No PE returns before all have cleared the slot. All PEs try again if a member has meanwhile given
 * the slot to another team.
 */
int api_agree_on_slot(const struct set *set, enum slot_wish wish)
{
	bool member = wish != SLOT_NOT_FOR_ME;

	for (;;) {
		uint64_t offer =
			wish == SLOT_IF_FREE ? atomic_load_explicit(&teams.free_slots, memory_order_relaxed) : 0;
		int slot = choose_slot(set_and(set, member ? offer : ALL_SLOTS), set);
		bool taken;

		if (slot == COMMS_SLOTS || rte_is_broken())
			return COMMS_SLOTS;
		taken = !member || take_slot(slot);
		if (set_and(set, taken)) {
			if (member) {
				comms_slot_clear(slot);
				memset(comms.system->slot[slot].scratch, 0, offsetof(struct scratch, row));
			}
			set_sync(set);
			return slot;
		}
		if (member && taken)
			free_slot(slot);
	}
}

static struct shmemx_team *enlist_team(struct shmemx_team *team)
{
	team->group.on_node = comms_all_on_node(&team->group);
	pthread_mutex_lock(&teams.lock);
	team->next = teams.first;
	teams.first = team;
	pthread_mutex_unlock(&teams.lock);
	return team;
}

struct shmemx_team *api_team_of_list(const struct set *set, int *pes, int me)
{
	int slot = api_agree_on_slot(set, SLOT_IF_FREE);
	struct shmemx_team *team;

	if (slot == COMMS_SLOTS)
		return NULL;
	team = calloc(1, sizeof *team);
	if (!team)
		rte_die(set->routine, "no memory");
	team->members = pes;
	team->group = (struct comms_group){.members = pes, .size = set->group->size, .me = me, .slot = slot};
	return enlist_team(team);
}

static struct shmemx_team *make_team(const struct comms_group *parent, int start, int stride, int size, int slot)
{
	struct shmemx_team *team = calloc(1, sizeof *team);

	if (!team)
		rte_die("shmem_team_split_strided", "no memory");
	team->group.size = size;
	team->group.slot = slot;
	team->group.me = stride ? (parent->me - start) / stride : 0;
	if (parent->members) {
		team->members = malloc((size_t)size * sizeof *team->members);
		if (!team->members)
			rte_die("shmem_team_split_strided", "no memory");
		for (int i = 0; i < size; i++)
			team->members[i] = parent->members[start + i * stride];
		team->group.members = team->members;
	} else {
		team->group.start = parent->start + start * parent->stride;
		team->group.stride = parent->stride * stride;
	}
	return enlist_team(team);
}

static bool is_member(const struct comms_group *parent, int start, int stride, int size)
{
	int away = parent->me - start;

	if (stride == 0 || size == 1)
		return away == 0;
	return away % stride == 0 && away / stride >= 0 && away / stride < size;
}

/* A series that leaves the parent is no team; every PE of the parent detects that itself. */
static bool is_series(const struct comms_group *parent, int start, int stride, int size)
{
	long last = start + (long)stride * (size - 1);

	return size >= 1 && (stride != 0 || size == 1) && start >= 0 && start < parent->size && last >= 0 &&
	       last < parent->size;
}

static void configure_team(struct shmemx_team *team, const shmem_team_config_t *config, long mask)
{
	if (config && mask & SHMEM_TEAM_NUM_CONTEXTS)
		team->config.num_contexts = config->num_contexts;
}

API int pshmem_team_split_strided(shmem_team_t parent_team, int start, int stride, int size,
				  const shmem_team_config_t *config, long config_mask, shmem_team_t *new_team)
{
	COMMS_CALL_OR(1, __func__, 0, COMMS_NOBODY);
	struct shmemx_team *parent;
	struct set set;
	bool member;
	int slot;

	comms_check_up(__func__);
	*new_team = SHMEM_TEAM_INVALID;
	parent = api_team(parent_team, __func__);
	if (!parent || !is_series(&parent->group, start, stride, size))
		return 1;
	set = set_of_team(parent_team, __func__);
	set_check_agreement(&set, "start", start, "stride", stride, NULL);
	set_check_agreement(&set, "size", size, NULL, 0, NULL);
	member = is_member(&parent->group, start, stride, size);
	slot = api_agree_on_slot(&set, member ? SLOT_IF_FREE : SLOT_NOT_FOR_ME);
	if (slot == COMMS_SLOTS || rte_is_broken())
		return 1;
	if (!member)
		return 0;
	*new_team = make_team(&parent->group, start, stride, size, slot);
	configure_team(*new_team, config, config_mask);
	return 0;
}
PROFILED(shmem_team_split_strided)

static bool check_entry(const int *pes, int i, const bool *seen, const char *routine)
{
	if (pes[i] < 0 || pes[i] >= comms.n_pes)
		rte_misuse(routine, "pes[%d]=%d: the job has PEs 0 to %d", i, pes[i], comms.n_pes - 1);
	else if (seen[pes[i]])
		rte_misuse(routine, "pes[%d]=%d: this PE is in the list already", i, pes[i]);
	return !rte_is_broken();
}

/*
 * This PE's position in the list; misuse and -1 if that is no list of different PEs with this one.
 */
static int find_in_list(const int *pes, int n, const char *routine)
{
	bool *seen = calloc((size_t)comms.n_pes, sizeof *seen);
	int me = -1;

	if (!seen)
		rte_die(routine, "no memory");
	if (n < 1 || n > comms.n_pes)
		rte_misuse(routine, "n=%d: give 1 to %d PEs", n, comms.n_pes);
	for (int i = 0; !rte_is_broken() && i < n && check_entry(pes, i, seen, routine); i++) {
		seen[pes[i]] = true;
		me = pes[i] == comms.pe ? i : me;
	}
	free(seen);
	if (me < 0)
		rte_misuse(routine, "pes: the calling PE is not in the list; only PEs of the new team call this");
	return me;
}

/*
 * Nobody else takes part: the members agree through psync, as those of an active set without a slot
 * do.
 */
API int shmemx_team_of_pes(const int *pes, int n, long *psync, shmem_team_t *new_team)
{
	COMMS_CALL_OR(1, __func__, 0, COMMS_NOBODY);
	struct comms_group group = {.size = n};
	struct set set = {&group, NULL, psync, __func__};
	int *members;

	comms_check_up(__func__);
	*new_team = SHMEM_TEAM_INVALID;
	group.me = find_in_list(pes, n, __func__);
	if (!comms_check_symmetric(psync, SHMEM_SYNC_SIZE * sizeof *psync, "psync", __func__))
		return 1;
	if (COMMS_UNLIKELY(comms.checks))
		set_check_psync_new(psync, __func__);
	members = malloc((size_t)n * sizeof *members);
	if (!members)
		rte_die(__func__, "no memory");
	memcpy(members, pes, (size_t)n * sizeof *members);
	group.members = members;
	group.on_node = comms_all_on_node(&group);
	hang_note_group(__func__, &group);
	set_check_agreement(&set, "n", n, "pes[0]", pes[0], NULL);
	*new_team = api_team_of_list(&set, members, group.me);
	hang_note_group(__func__, &api_world.group);
	if (*new_team)
		return 0;
	free(members);
	return 1;
}

static int min_int(int a, int b)
{
	return a < b ? a : b;
}

API int pshmem_team_split_2d(shmem_team_t parent_team, int xrange, const shmem_team_config_t *xaxis_config,
			     long xaxis_mask, shmem_team_t *xaxis_team, const shmem_team_config_t *yaxis_config,
			     long yaxis_mask, shmem_team_t *yaxis_team)
{
	COMMS_CALL_OR(1, __func__, 0, COMMS_NOBODY);
	int n, x, y, row_slot, column_slot;
	struct shmemx_team *parent;
	struct set set;

	*xaxis_team = *yaxis_team = SHMEM_TEAM_INVALID;
	parent = api_team(parent_team, __func__);
	if (!parent || xrange < 1)
		return 1;
	/* Rows share no member, nor do columns: one slot serves all rows, another all columns. */
	set = set_of_team(parent_team, __func__);
	set_check_agreement(&set, "xrange", xrange, NULL, 0, NULL);
	row_slot = api_agree_on_slot(&set, SLOT_IF_FREE);
	column_slot = row_slot == COMMS_SLOTS ? COMMS_SLOTS : api_agree_on_slot(&set, SLOT_IF_FREE);
	if (column_slot == COMMS_SLOTS || rte_is_broken()) {
		if (row_slot != COMMS_SLOTS)
			free_slot(row_slot);
		return 1;
	}
	n = parent->group.size;
	xrange = xrange < n ? xrange : n;
	x = parent->group.me % xrange;
	y = parent->group.me / xrange;
	*xaxis_team = make_team(&parent->group, y * xrange, 1, min_int(xrange, n - y * xrange), row_slot);
	*yaxis_team = make_team(&parent->group, x, xrange, (n - x + xrange - 1) / xrange, column_slot);
	configure_team(*xaxis_team, xaxis_config, xaxis_mask);
	configure_team(*yaxis_team, yaxis_config, yaxis_mask);
	return 0;
}
PROFILED(shmem_team_split_2d)

static void unlink_team(const struct shmemx_team *team)
{
	struct shmemx_team **link = &teams.first;

	pthread_mutex_lock(&teams.lock);
	while (*link != team)
		link = &(*link)->next;
	*link = team->next;
	pthread_mutex_unlock(&teams.lock);
}

/* All members must finish the team's collectives before another team may use its slot. */
API void pshmem_team_destroy(shmem_team_t team)
{
	COMMS_CALL(__func__, 0, COMMS_NOBODY);
	struct set set;
	int slot;

	if (team == SHMEM_TEAM_INVALID)
		return;
	if (team == SHMEM_TEAM_WORLD || team == SHMEM_TEAM_SHARED)
		rte_misuse(__func__, "the predefined teams cannot be destroyed");
	else
		api_plans_check_team(team, __func__);
	if (rte_is_broken())
		return;
	set = set_of_team(team, __func__);
	set_check_agreement(&set, NULL, 0, NULL, 0, NULL);
	set_sync(&set);
	if (rte_is_broken()) /* api_teams_stop frees the team */
		return;
	api_requests_end(&set);
	unlink_team(team);
	slot = team->group.slot;
	free_team(team); /* the network's part of the slot, too */
	free_slot(slot);
}
PROFILED(shmem_team_destroy)

API int pshmem_team_my_pe(shmem_team_t team)
{
	const struct shmemx_team *of;

	comms_check_up(__func__);
	of = api_team(team, __func__);
	return of ? of->group.me : -1;
}
PROFILED(shmem_team_my_pe)

API int pshmem_team_n_pes(shmem_team_t team)
{
	const struct shmemx_team *of;

	comms_check_up(__func__);
	of = api_team(team, __func__);
	return of ? of->group.size : -1;
}
PROFILED(shmem_team_n_pes)

API int pshmem_team_get_config(shmem_team_t team, long config_mask, shmem_team_config_t *config)
{
	const struct shmemx_team *of;

	comms_check_up(__func__);
	if (team == SHMEM_TEAM_INVALID)
		return 1;
	of = config_mask & SHMEM_TEAM_NUM_CONTEXTS ? api_team(team, __func__) : NULL;
	if (of)
		config->num_contexts = of->config.num_contexts;
	return of || !(config_mask & SHMEM_TEAM_NUM_CONTEXTS) ? 0 : 1;
}
PROFILED(shmem_team_get_config)

static int place_in_group(const struct comms_group *group, int pe)
{
	int place;

	if (!group->members) {
		place = group->stride ? (pe - group->start) / group->stride : 0;
		return place >= 0 && place < group->size && comms_group_pe(group, place) == pe ? place : -1;
	}
	for (place = 0; place < group->size; place++)
		if (group->members[place] == pe)
			return place;
	return -1;
}

API int pshmem_team_translate_pe(shmem_team_t src_team, int src_pe, shmem_team_t dest_team)
{
	struct shmemx_team *from, *to;

	comms_check_up(__func__);
	from = api_team(src_team, __func__);
	to = api_team(dest_team, __func__);
	if (!from || !to || src_pe < 0 || src_pe >= from->group.size)
		return -1;
	return place_in_group(&to->group, comms_group_pe(&from->group, src_pe));
}
PROFILED(shmem_team_translate_pe)
