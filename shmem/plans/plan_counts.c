/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nonblocking collectives whose sizes differ between members and from call to call: collect,
 * gather, scatter, allgatherv and alltoallv. A plan of theirs has no arguments. Each start brings
 * them, and a procedure of the plan's list moves the data.
 *
 * announced  what a member says to another one when it starts a run: where the other's block goes
 *            in its dest, and how long it may be; of a collect, how long its own block is. The one
 *            who gets it then knows, too, that dest is ready
 *
 * A member puts its block to another one when it has that one's announcement and, in a collect,
 * those of all members before itself, which say where the block begins. A block of no bytes is
 * notified as well: so a member ends a run after all others have read its announcement, and the
 * next one may overwrite it.
 */
#include "plans.h"

#include <stdlib.h>
#include <string.h>

#include "requests.h"

#define AT_A_TIME (256UL << 10) /* bytes stored to a near member before the next one is served */

struct announced {
	struct spot spot; /* of the other's block */
	uint64_t bytes;
	int kind, root; /* must be the same on both */
};

/* What a run has done for another member. */
struct progress {
	bool known, sent, came;
	size_t stored;			 /* bytes of the block, to a near member */
	struct announced mine, theirs;	 /* announcements */
	struct comms_request request[2]; /* the announcement, the block */
};

struct moving {
	struct shmemx_plan *plan;
	struct set set;
	int n, me;
	bool *near;
	struct progress *progress;
	struct announced *slots; /* in the staging: what the members have announced */
	struct port **there;	 /* by member: its port for this one */
	struct announced **slot; /* by member: where this one's announcement goes */
	/* Of the run. to: blocks in dest; of a collect, at is known later. */
	enum moving_kind kind;
	char *dest;
	const char *source;
	struct vector to, from;
	shmemx_type_t type;
	bool placed; /* this member's block in dest is known, and there */
	size_t own_at;
	int root;
};

static const char *data_for(const struct moving *v, int i)
{
	return v->source + v->from.at[i];
}

/* Members that have something for each other. */
static bool is_partner(const struct moving *v, int i)
{
	return i != v->me && (v->kind != MOVE_ROOTED || i == v->root || v->me == v->root);
}

/* --- Announcements --- */

static void announce(struct moving *v, int i, uint64_t run)
{
	struct progress *p = &v->progress[i];

	p->mine.kind = (int)v->kind;
	p->mine.root = v->root;
	p->mine.bytes = v->kind == MOVE_COLLECT ? v->from.bytes[i] : v->to.bytes[i];
	if (v->kind != MOVE_COLLECT)
		p->mine.spot = spot_of(v->dest + v->to.at[i], v->to.bytes[i]);
	comms_put_notify_later(&p->request[0], (struct comms_piece){v->slot[i], &p->mine, sizeof p->mine},
			       (struct comms_flag){&v->there[i]->came[0], run}, set_pe(&v->set, i), v->set.routine);
}

static void check_announced(const struct moving *v, int i)
{
	const struct announced *theirs = &v->progress[i].theirs;

	if (rte_is_broken())
		return;
	if (theirs->kind != (int)v->kind || theirs->root != v->root)
		api_let_lower_speak(set_pe(&v->set, i));
	if (theirs->kind != (int)v->kind)
		rte_misuse(v->set.routine, "PE %d of the team calls another collective; all PEs must call the same", i);
	else if (theirs->root != v->root)
		rte_misuse(v->set.routine, "PE_root is %d here, and %d on PE %d of the team; pass the same", v->root,
			   theirs->root, i);
	else if (v->kind != MOVE_COLLECT)
		vectors_check_pair(&(struct vector_pair){&v->set, i, v->from.bytes[i], theirs->bytes, v->type,
							 v->kind == MOVE_ALLTOALLV});
}

static bool learn(struct moving *v, int i, uint64_t run)
{
	struct progress *p = &v->progress[i];

	if (p->known || atomic_load_explicit(&v->plan->ports[i].came[0], memory_order_acquire) < run)
		return false;
	p->theirs = v->slots[i];
	p->known = true;
	check_announced(v, i);
	return true;
}

/* --- Blocks --- */

/* Where this member's block begins in everybody's dest of a collect. */
static bool place_collected(struct moving *v)
{
	v->own_at = 0;
	for (int i = 0; i < v->me; i++) {
		if (!v->progress[i].known)
			return false;
		v->own_at += v->progress[i].theirs.bytes;
	}
	return true;
}

static bool place_own(struct moving *v)
{
	size_t bytes = v->from.bytes[v->me];

	if (v->placed || (v->kind == MOVE_COLLECT && !place_collected(v)))
		return false;
	if (v->kind != MOVE_COLLECT)
		v->own_at = v->to.at[v->me];
	if (bytes > 0 && v->dest + v->own_at != data_for(v, v->me)) {
		if (!comms_check_symmetric(v->dest + v->own_at, bytes, "dest", v->set.routine))
			return false;
		memmove(v->dest + v->own_at, data_for(v, v->me), bytes);
	}
	v->placed = true;
	return true;
}

static bool send_block(struct moving *v, int i, uint64_t run)
{
	struct progress *p = &v->progress[i];
	size_t left = v->from.bytes[i] - p->stored, now = left < AT_A_TIME ? left : AT_A_TIME;
	char *dest;
	bool near;

	if (p->sent || !p->known || !v->placed)
		return false;
	dest = v->kind == MOVE_COLLECT ? v->dest + v->own_at : spot_address(&p->theirs.spot);
	dest += p->stored;
	near = v->near[i] && (left == 0 || comms_shared(comms_find_segment(dest)));
	if (near && now < left) {
		comms_put(dest, data_for(v, i) + p->stored, now, set_pe(&v->set, i), v->set.routine);
		p->stored += now;
		return true;
	}
	comms_put_notify_start(&p->request[1], &(struct comms_notification){
						       .piece = {{dest, data_for(v, i) + p->stored, left}},
						       .flag = {&v->there[i]->came[1], run},
						       .by_network = !near,
						       .pe = set_pe(&v->set, i),
						       .routine = v->set.routine,
					       });
	p->sent = true;
	return true;
}

static bool arrive(struct moving *v, int i, uint64_t run)
{
	struct progress *p = &v->progress[i];

	if (p->came || atomic_load_explicit(&v->plan->ports[i].came[1], memory_order_acquire) < run)
		return false;
	p->came = true;
	return true;
}

static bool is_over(const struct moving *v, int i)
{
	const struct progress *p = &v->progress[i];

	return p->sent && p->came && !comms_request_is_under_way(&p->request[0]) &&
	       !comms_request_is_under_way(&p->request[1]);
}

static bool advance_blocks(void *state, uint64_t run, bool *moved)
{
	struct moving *v = state;
	bool over, any = false;

	for (int i = 0; i < v->n; i++)
		any |= is_partner(v, i) && learn(v, i, run);
	any |= place_own(v);
	over = v->placed;
	for (int k = 1; k < v->n; k++) {
		int i = (v->me + k) % v->n;

		if (!is_partner(v, i))
			continue;
		any |= send_block(v, i, run);
		any |= arrive(v, i, run);
		over = over && is_over(v, i);
	}
	*moved |= any;
	return over;
}

/* --- The plan --- */

static void forget_arguments(struct moving *v)
{
	vector_free(&v->to);
	vector_free(&v->from);
	v->to.at = v->from.at = NULL;
}

static void dispose_blocks(void *state)
{
	struct moving *v = state;

	forget_arguments(v);
	free(v->near);
	free(v->progress);
	free(v->there);
	free(v->slot);
	free(v);
}

static struct moving *make_moving(const struct maker *m)
{
	size_t n = (size_t)m->set.group->size;
	struct moving *v = calloc(1, sizeof *v);

	if (v) {
		v->near = calloc(n, sizeof *v->near);
		v->progress = calloc(n, sizeof *v->progress);
		v->there = calloc(n, sizeof *v->there);
		v->slot = calloc(n, sizeof *v->slot);
	}
	if (!v || !v->near || !v->progress || !v->there || !v->slot)
		rte_die(m->set.routine, "no memory for the blocks of %zu PEs", n);
	v->set = m->set;
	v->n = m->set.group->size;
	v->me = m->set.group->me;
	return v;
}

static bool make_blocks(struct maker *m, const struct plan_order *order)
{
	struct moving *v;
	bool far = false;

	(void)order;
	if (!plan_begin(m, (size_t)m->set.group->size, (size_t)m->set.group->size * sizeof(struct announced), 0))
		return false;
	v = make_moving(m);
	v->plan = m->plan;
	v->slots = (struct announced *)(void *)m->plan->staging;
	for (int i = 0; i < v->n; i++) {
		int pe = set_pe(&m->set, i);

		v->near[i] = plan_is_near(m, pe);
		v->there[i] = plan_port(m, pe, (size_t)v->me);
		v->slot[i] = (struct announced *)(void *)plan_staging(m, pe) + v->me;
		far |= !v->near[i];
	}
	plan_advance(m, plan_queue(m), (struct comms_procedure){advance_blocks, dispose_blocks, v});
	m->plan->list.by_network = far;
	return true;
}

static void check_moved(struct maker *m, const struct plan_order *order)
{
	(void)order;
	set_check_agreement(&m->set, NULL, 0, NULL, 0, NULL);
}

static const struct plan_kind plan_moved = {check_moved, make_blocks, .again = false};

/* --- Starts --- */

/*
 * This member's own block may be in its place; of a collect, whose place is not known, it may not.
 */
static void check_arguments(const struct set *set, const struct moved_blocks *blocks)
{
	const struct vector *to = &blocks->to, *from = &blocks->from;
	const char *dest = blocks->dest, *source = blocks->source;
	int me = set->group->me;
	bool placed = blocks->kind != MOVE_COLLECT && dest + to->at[me] == source + from->at[me];

	set_note(set, dest, to->end, source, from->end);
	if (to->end > 0)
		comms_check_symmetric(dest, to->end, "dest", set->routine);
	comms_check_on_host(source, "source", set->routine);
	if (!placed && !rte_is_broken())
		set_check_overlap(set, (struct set_span){dest, to->end}, (struct set_span){source, from->end}, false);
}

/* The run that comes next. The plan is at rest. */
static void take_arguments(struct shmemx_plan *plan, const void *arguments)
{
	const struct moved_blocks *blocks = arguments;
	struct moving *v = plan->list.procedure.state;

	forget_arguments(v);
	v->set.routine = plan->list.routine;
	v->kind = blocks->kind;
	v->dest = blocks->dest;
	v->source = blocks->source;
	v->to = blocks->to;
	v->from = blocks->from;
	v->type = blocks->type;
	v->root = blocks->root;
	v->placed = false;
	for (int k = 1; k < v->n; k++) {
		int i = (v->me + k) % v->n;
		struct progress *p = &v->progress[i];

		p->known = p->sent = p->came = false;
		p->stored = 0;
		if (is_partner(v, i))
			announce(v, i, plan->list.run + 1);
	}
}

int nonblocking_move(shmem_team_t team, struct moved_blocks *blocks, const char *routine, shmemx_req_h *request)
{
	struct set set = set_of_team(team, routine);
	struct nonblocking call = {.team = team, .kind = &plan_moved, .prepare = take_arguments, .arguments = blocks};
	int status, me = set.group->me;

	if (!rte_is_broken())
		check_arguments(&set, blocks);
	if (blocks->kind == MOVE_ALLTOALLV)
		vectors_check_pair(&(struct vector_pair){&set, me, blocks->from.bytes[me], blocks->to.bytes[me],
							 blocks->type, true});
	call.key.count = set.team->moves++ % NONBLOCKING_AT_ONCE;
	status = rte_is_broken() ? 1 : nonblocking_start(&call, routine, request);
	if (status != 0) {
		vector_free(&blocks->to);
		vector_free(&blocks->from);
	}
	return status;
}
