/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "plan.h"

/* A plan from the call to the steps: what fjmpi_plan_agree to fjmpi_plan_connect do. */
#define PLANS_API __attribute__((visibility("default")))

static_assert(sizeof(struct plan_ids) == FJMPI_PLAN_IDS_BYTES, "mpi-ext.h exchanges ids of this size");
static_assert(sizeof(struct plan_places) == FJMPI_PLAN_PLACES_BYTES, "mpi-ext.h exchanges places of this size");

PLANS_API int fjmpi_plan_element_of(char number_class, int bytes)
{
	static const struct {
		char number_class;
		int bytes;
	} element[FJMPI_PLAN_ELEMENTS] = {
		[FJMPI_PLAN_INT8] = {'i', 1},	 [FJMPI_PLAN_INT16] = {'i', 2},
		[FJMPI_PLAN_INT32] = {'i', 4},	 [FJMPI_PLAN_INT64] = {'i', 8},
		[FJMPI_PLAN_UINT8] = {'u', 1},	 [FJMPI_PLAN_UINT16] = {'u', 2},
		[FJMPI_PLAN_UINT32] = {'u', 4},	 [FJMPI_PLAN_UINT64] = {'u', 8},
		[FJMPI_PLAN_FLOAT] = {'f', 4},	 [FJMPI_PLAN_DOUBLE] = {'f', 8},
		[FJMPI_PLAN_COMPLEX] = {'c', 8}, [FJMPI_PLAN_DOUBLE_COMPLEX] = {'c', 16},
	};

	for (int i = 0; i < FJMPI_PLAN_ELEMENTS; i++)
		if (element[i].number_class == number_class && element[i].bytes == bytes)
			return i;
	return -1;
}

/* --- Agreement --- */

#define FIRST_HASH UINT64_C(0xcbf29ce484222325)

static uint64_t mix(uint64_t hash, uint64_t word)
{
	for (int byte = 0; byte < 8; byte++, word >>= 8)
		hash = (hash ^ (word & 0xff)) * UINT64_C(0x100000001b3);
	return hash;
}

/*
 * Processes with the same number can reach each other: they have one kernel, and share its names of
 * sockets and processes.
 */
uint64_t plan_machine(void)
{
	static const char *const spaces[] = {"/proc/self/ns/net", "/proc/self/ns/pid", "/proc/self/ns/user"};
	static uint64_t known;
	char boot[40] = "";
	uint64_t hash = FIRST_HASH;
	FILE *file;

	if (known)
		return known;
	file = fopen("/proc/sys/kernel/random/boot_id", "re");
	if (file && !fgets(boot, sizeof boot, file))
		boot[0] = '\0';
	if (file)
		fclose(file);
	for (const char *letter = boot; *letter; letter++)
		hash = mix(hash, (unsigned char)*letter);
	for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
		struct stat status;

		hash = mix(hash, stat(spaces[i], &status) ? 0 : (uint64_t)status.st_ino);
	}
	known = hash;
	return hash;
}

static bool is_reduction(enum fjmpi_plan_kind kind)
{
	return kind == FJMPI_PLAN_REDUCE || kind == FJMPI_PLAN_ALLREDUCE;
}

bool plan_setting(void)
{
	const char *setting = getenv("SOFTOFU_PLANS");

	if (setting && strcmp(setting, "no") == 0)
		return false;
	if (setting && *setting && strcmp(setting, "yes") != 0) {
		fprintf(stderr, "softofu: SOFTOFU_PLANS=%s: yes or no is wanted\n", setting);
		exit(1);
	}
	return true;
}

PLANS_API uint64_t fjmpi_plan_agree(struct fjmpi_plan_call *call)
{
	uint64_t hash = FIRST_HASH;

	fjmpi_error_rank(call->me);
	if (!plan_setting())
		call->refused = "SOFTOFU_PLANS=no";
	if (!call->refused && is_reduction(call->kind) && !plan_combine_of(call->element, call->operation))
		call->refused = "the datatype has no such operation";
	if (call->refused)
		return 0;
	hash = mix(mix(mix(hash, call->kind), (uint64_t)call->root), call->bytes);
	if (is_reduction(call->kind))
		hash = mix(mix(hash, call->element), call->operation);
	hash = mix(hash, plan_machine());
	return hash ? hash : 1;
}

/* --- Steps --- */

int plan_add_step(struct plan_steps *steps, struct plan_step step)
{
	if (steps->count == steps->room) {
		int room = steps->room ? 2 * steps->room : 32;
		struct plan_step *list = realloc(steps->list, (size_t)room * sizeof *list);

		if (!list)
			return -1;
		steps->list = list;
		steps->room = room;
	}
	steps->list[steps->count++] = step;
	return 0;
}

static struct plan_step *add_step(struct plan_maker *maker, enum plan_step_kind kind)
{
	static struct plan_step nowhere;

	if (plan_add_step(maker->steps, (struct plan_step){.kind = kind}) == 0)
		return &maker->steps->list[maker->steps->count - 1];
	maker->failed = true;
	return &nowhere;
}

/* TNIs take turns. */
static struct plan_step *add_transfer(struct plan_maker *maker, enum plan_step_kind kind, int rank, struct plan_spot to)
{
	struct plan_step *step = add_step(maker, kind);

	step->tni = maker->next_tni++ % maker->tnis;
	step->target = maker->ids[rank].vcq[step->tni];
	step->remote = maker->places[rank].stadd[to.region][step->tni] + to.offset;
	return step;
}

void plan_add_notify(struct plan_maker *maker, int rank)
{
	add_transfer(maker, STEP_NOTIFY, rank,
		     (struct plan_spot){PLAN_FLAGS, (size_t)maker->plan->call.rank * sizeof(uint64_t)});
}

void plan_add_await(struct plan_maker *maker, enum plan_region_name name, int block, int piece)
{
	const struct plan_region *region = &maker->plan->region[name];

	add_step(maker, STEP_AWAIT)->slot = region->first_slot + block * region->pieces + piece;
}

void plan_add_put(struct plan_maker *maker, int rank, struct plan_spot from, struct plan_spot to, size_t bytes)
{
	struct plan_step *step = add_transfer(maker, STEP_PUT, rank, to);

	step->local = maker->plan->region[from.region].stadd[step->tni] + from.offset;
	step->bytes = bytes;
}

void plan_add_sent(struct plan_maker *maker)
{
	add_step(maker, STEP_SENT);
}

static unsigned char *find_spot(const struct plan_maker *maker, struct plan_spot spot)
{
	return maker->plan->region[spot.region].at + spot.offset;
}

void plan_add_copy(struct plan_maker *maker, struct plan_spot to, struct plan_spot from, size_t bytes)
{
	struct plan_step *step = add_step(maker, STEP_COPY);

	step->to = find_spot(maker, to);
	step->left = find_spot(maker, from);
	step->bytes = bytes;
}

void plan_add_combine(struct plan_maker *maker, struct plan_spot to, struct plan_spot left, struct plan_spot right,
		      size_t bytes)
{
	struct plan_step *step = add_step(maker, STEP_COMBINE);

	step->to = find_spot(maker, to);
	step->left = find_spot(maker, left);
	step->right = find_spot(maker, right);
	step->bytes = bytes;
}

int plan_pieces(size_t bytes)
{
	return (int)((bytes + PLAN_PIECE - 1) / PLAN_PIECE);
}

size_t plan_piece_bytes(size_t bytes, int piece)
{
	size_t before = (size_t)piece * PLAN_PIECE;

	return bytes - before < PLAN_PIECE ? bytes - before : PLAN_PIECE;
}

/* --- The steps of making --- */

PLANS_API struct fjmpi_plan *fjmpi_plan_prepare(const struct fjmpi_plan_call *call,
						unsigned char ids[FJMPI_PLAN_IDS_BYTES])
{
	struct fjmpi_plan *plan = calloc(1, sizeof *plan);
	struct plan_maker *maker = calloc(1, sizeof *maker);
	struct plan_ids mine = {0};

	if (plan && maker) {
		*maker = (struct plan_maker){.plan = plan};
		plan->call = *call;
		plan->maker = maker;
		if (is_reduction(call->kind))
			plan->combine = plan_combine_of(call->element, call->operation);
		plan_lock();
		mine.tnis = (uint64_t)plan_queues_open();
		if (mine.tnis && plan_start_thread())
			mine.tnis = 0;
		for (int tni = 0; tni < (int)mine.tnis; tni++)
			mine.vcq[tni] = plan_queues_id(tni);
		plan_unlock();
	} else {
		free(plan);
		free(maker);
		plan = NULL;
	}
	memcpy(ids, &mine, sizeof mine);
	return plan;
}

/* Returns 0, or -1 if a rank has no queues, or there is no memory. */
static int find_members(struct plan_maker *maker, const unsigned char *ids)
{
	const struct fjmpi_plan_call *call = &maker->plan->call;
	size_t bytes = (size_t)call->ranks * sizeof *maker->ids;

	maker->ids = malloc(bytes);
	maker->children = malloc(2 * (size_t)call->ranks * sizeof *maker->children);
	if (!maker->ids || !maker->children)
		return -1;
	maker->at_parent = maker->children + call->ranks;
	memcpy(maker->ids, ids, bytes);
	maker->tnis = FJMPI_PLAN_TNIS;
	for (int rank = 0; rank < call->ranks; rank++)
		if (maker->ids[rank].tnis < (uint64_t)maker->tnis)
			maker->tnis = (int)maker->ids[rank].tnis;
	if (maker->tnis == 0 || plan_members_find(&maker->members, maker->ids, call))
		return -1;
	maker->trees = plan_members_trees(&maker->members);
	if (maker->trees > plan_pieces(call->bytes))
		maker->trees = plan_pieces(call->bytes) ? plan_pieces(call->bytes) : 1;
	maker->child_count = plan_members_children(&maker->members, maker->trees, call->rank, maker->children);
	return 0;
}

/* Numbers the slots, and makes the memory that is not the program's. */
int plan_make_regions(struct fjmpi_plan *plan)
{
	for (int name = 0; name < PLAN_REGIONS; name++) {
		struct plan_region *region = &plan->region[name];

		if (!region->bytes)
			continue;
		region->pieces = plan_pieces(region->block);
		region->first_slot = plan->slots;
		plan->slots += (int)(region->bytes / region->block) * region->pieces;
		if (!region->at && !(region->at = calloc(1, region->bytes)))
			return -1;
	}
	plan->arrived = calloc((size_t)plan->slots + 1, sizeof *plan->arrived);
	plan->awaited = calloc((size_t)plan->slots + 1, sizeof *plan->awaited);
	return plan->arrived && plan->awaited ? 0 : -1;
}

PLANS_API void fjmpi_plan_lay_out(struct fjmpi_plan *plan, const unsigned char *ids,
				  unsigned char places[FJMPI_PLAN_PLACES_BYTES])
{
	struct plan_places mine = {0};

	if (plan && find_members(plan->maker, ids) == 0) {
		plan_lay_out(plan->maker);
		plan_lock();
		mine.valid = plan_make_regions(plan) == 0 && plan_queues_register(plan) == 0 &&
			     plan_queues_expect(plan) == 0;
		plan_unlock();
		for (int name = 0; name < FJMPI_PLAN_TARGETS; name++)
			memcpy(mine.stadd[name], plan->region[name].stadd, sizeof mine.stadd[name]);
	}
	memcpy(places, &mine, sizeof mine);
}

PLANS_API int fjmpi_plan_connect(struct fjmpi_plan *plan, const unsigned char *places)
{
	struct plan_maker *maker = plan ? plan->maker : NULL;

	if (!maker)
		return -1;
	maker->places = (const struct plan_places *)(const void *)places;
	for (int rank = 0; rank < plan->call.ranks; rank++)
		if (!maker->places[rank].valid)
			return -1;
	for (int parity = 0; parity < 2; parity++) {
		maker->steps = &plan->steps[parity];
		maker->next_tni = plan->call.rank;
		plan_write_steps(maker, parity);
	}
	return maker->failed ? -1 : 0;
}
