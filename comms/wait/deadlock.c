/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds deadlocks: docs/protocols/deadlock.md.
 *
 * passive  a PE in a slow wait that only others can end, with no operation of its own under way
 * wave     a question that travels down the tree of nodes. The answer comes up when all PEs below
 *          are passive and have polled what they wait for twice since the question came. It has
 *          sums: slow waits begun and ended, commands of lists, messages sent and carried out
 * writer   something that could end a wait without the library: writers.h
 *
 * If two waves have equal sums, no PE did anything between them. If as many messages were carried
 * out as sent, none is under way. If no PE found a writer in a wave, and a later wave has equal
 * sums, nothing will ever end a wait.
 */
#include "deadlock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comms/ops/ops.h"
#include "comms/core/group.h"
#include "hang.h"
#include "comms/core/network.h"
#include "comms/ops/reorder.h"
#include "rte/rte.h"
#include "rte/settings.h"
#include "writers.h"
#include "comms/ops/notify.h"

#define STABLE 900    /* ms for which the sums must not change */
#define EXAMINE 700   /* ms after which PEs look for other writers */
#define PATIENCE 3500 /* ms after which an uncertain deadlock is reported */
#define INTERVAL 100  /* ms between two waves */
#define BEGIN 200     /* ms for which PE 0 has waited slowly before the first one */
#define POLLS 2
#define EXAMINING (UINT64_C(1) << 63) /* bit of a wave's number: PEs look for other writers */

static const char routine[] = "SHMEM_DEADLOCK";

static struct {
	struct comms_group *world;
	deadlock_prepare *prepare; /* sorts the PEs of world by node */
	enum { REACTION_AUTO, REACTION_ABORT, REACTION_REPORT, REACTION_IGNORE } reaction;
	bool one_thread;
	/* Of the program, besides the waiting one; determined when a wait becomes slow. */
	bool has_thread;
	/* Of a node's first PE. */
	bool leads, over;
	enum { IDLE, ASKED, ANSWERED } state;
	int node, nodes; /* index of this node, and their number; -1: unknown */
	uint64_t wave, *polls;
	uint64_t notified, received; /* messages of waves */
	/* Of PE 0. */
	struct comms_sums last;
	int64_t since, next;
	/* Ms for which the sums must not change before PEs look for writers. */
	int64_t examine_after;
	bool examined, reported;
	uint64_t writer; /* a PE that found one, plus 1 */
} deadlock;

static bool is_passive(enum deadlock_wait kind, const struct comms_traffic *traffic)
{
	return kind != DEADLOCK_OWN && !traffic->pending && (deadlock.one_thread || !deadlock.has_thread);
}

/* --- What this PE publishes --- */

void deadlock_wait_begins(void)
{
	deadlock.has_thread = !deadlock.one_thread && writers_have_thread();
	deadlock.since = hang_clock();
	deadlock.next = deadlock.since + BEGIN;
	atomic_store_explicit(&comms.system->passive.passive, false, memory_order_relaxed);
	atomic_fetch_add_explicit(&comms.system->passive.waits, 1, memory_order_release);
}

void deadlock_wait_ends(void)
{
	atomic_fetch_add_explicit(&comms.system->passive.waits, 1, memory_order_release);
}

static void show_passive(bool passive, const struct comms_traffic *traffic)
{
	struct comms_passive *mine = &comms.system->passive;

	atomic_store_explicit(&mine->passive, passive, memory_order_relaxed);
	atomic_store_explicit(&mine->sent, traffic->sent - deadlock.notified * traffic->notify, memory_order_relaxed);
	atomic_store_explicit(&mine->carried_out, traffic->carried_out - deadlock.received * traffic->notify,
			      memory_order_relaxed);
	atomic_fetch_add_explicit(&mine->polls, 1, memory_order_release);
}

/* What this PE publishes when a wave asks whether anything else could end its wait. */
static void find_writer(enum deadlock_wait kind, const struct comms_traffic *traffic)
{
	struct comms_passive *mine = &comms.system->passive;
	uint64_t asked = atomic_load_explicit(&mine->examine, memory_order_acquire);
	bool found;

	if (asked == atomic_load_explicit(&mine->examined, memory_order_relaxed))
		return;
	found = writers_find(mine->writer, sizeof mine->writer);
	if (!found && kind == DEADLOCK_MEMORY && traffic->blind) {
		snprintf(mine->writer, sizeof mine->writer, "a put that the network carries out by itself");
		found = true;
	}
	atomic_store_explicit(&mine->has_writer, found, memory_order_relaxed);
	atomic_store_explicit(&mine->examined, asked, memory_order_release);
}

/* --- The tree --- */

/* The group of one PE per node; NULL: there is one node. */
static const struct comms_group *group_of_leaders(void)
{
	const struct comms_group *world = deadlock.world;

	if (world->levels)
		return &world->levels->leaders;
	return world->on_node || world->size == 1 ? NULL : world;
}

/*
 * Finds this PE's node among the nodes of the tree, and whether it is the node's leader, which
 * passes waves on. For that the PEs of world must be sorted by node. The first barrier of all PEs
 * does so too: if the program has several threads, one of them may be doing it now, so this PE
 * takes no part until it is done.
 */
static void find_place(void)
{
	const struct comms_group *world = deadlock.world, *first;
	int here;

	if (!world->prepared && world->size > 1) {
		if (deadlock.has_thread)
			return;
		deadlock.prepare(deadlock.world);
	}
	first = group_of_leaders();
	here = world->levels ? world->levels->node.size : world->on_node ? world->size : 1;
	deadlock.nodes = first ? first->size : 1;
	deadlock.node = first ? first->me : world->me == 0 ? 0 : -1;
	deadlock.leads = deadlock.node >= 0;
	if (deadlock.leads)
		deadlock.polls = calloc((size_t)here, sizeof *deadlock.polls);
	deadlock.leads = deadlock.polls != NULL;
}

static int local_pes(void)
{
	const struct comms_group *world = deadlock.world;

	return world->levels ? world->levels->node.size : group_of_leaders() ? 1 : world->size;
}

static int pe_of_local(int i)
{
	const struct comms_group *world = deadlock.world;

	return world->levels ? comms_group_pe(&world->levels->node, i) : group_of_leaders() ? world->me : i;
}

/* NULL: its memory is not accessible, or no longer. */
static struct comms_passive *passive_of_local(int i)
{
	int pe = pe_of_local(i);
	const struct comms_peer *peer = comms_can_connect(pe) ? comms_connect(pe) : NULL;

	return peer && peer->reach[COMMS_HEAP].base ? &((struct comms_system *)peer->reach[COMMS_HEAP].base)->passive
						    : NULL;
}

static int child_node(int i)
{
	return deadlock.node * COMMS_WAVE_CHILDREN + 1 + i;
}

static int child_count(void)
{
	int rest = deadlock.nodes - child_node(0);

	return rest < 0 ? 0 : rest < COMMS_WAVE_CHILDREN ? rest : COMMS_WAVE_CHILDREN;
}

/* --- Waves --- */

static bool next_wave(int64_t now)
{
	struct comms_passive *mine = &comms.system->passive;
	uint64_t asked = atomic_load_explicit(&mine->wave, memory_order_acquire);

	if (deadlock.node == 0) {
		bool examines = !deadlock.examined && now - deadlock.since >= deadlock.examine_after;

		if (now < deadlock.next)
			return false;
		deadlock.wave = ((deadlock.wave + 1) & ~EXAMINING) | (examines ? EXAMINING : 0);
		return true;
	}
	if (asked == deadlock.wave)
		return false;
	deadlock.wave = asked;
	deadlock.received++;
	return true;
}

static bool begin_wave(int64_t now)
{
	if (!next_wave(now))
		return false;
	for (int i = 0; i < local_pes(); i++) {
		struct comms_passive *shown = passive_of_local(i);

		deadlock.polls[i] = shown ? atomic_load_explicit(&shown->polls, memory_order_acquire) : 0;
		if (shown && (deadlock.wave & EXAMINING))
			atomic_store_explicit(&shown->examine, deadlock.wave, memory_order_release);
	}
	for (int i = 0; i < child_count(); i++) {
		deadlock.notified++;
		comms_notify(&comms.system->passive.wave, deadlock.wave,
			     comms_group_pe(group_of_leaders(), child_node(i)), routine);
	}
	return true;
}

static void add_sums(struct comms_sums *sums, const struct comms_sums *more)
{
	sums->waits += more->waits;
	sums->moves += more->moves;
	sums->sent += more->sent;
	sums->carried_out += more->carried_out;
	if (more->writer && (!sums->writer || more->writer < sums->writer))
		sums->writer = more->writer;
}

/* Returns false if this PE still has to look for writers, as the wave asks. */
static bool add_writer(const struct comms_passive *shown, int pe, struct comms_sums *sums)
{
	if (!(deadlock.wave & EXAMINING))
		return true;
	if (atomic_load_explicit(&shown->examined, memory_order_acquire) != deadlock.wave)
		return false;
	if (atomic_load_explicit(&shown->has_writer, memory_order_relaxed))
		sums->writer = (uint64_t)pe + 1;
	return true;
}

/* Returns false if some PE of the node is not passive, or has not polled again. */
static bool add_sums_of_node(struct comms_sums *sums)
{
	for (int i = 0; i < local_pes(); i++) {
		struct comms_passive *shown = passive_of_local(i);
		struct comms_sums more = {0};

		if (!shown || atomic_load_explicit(&shown->polls, memory_order_acquire) < deadlock.polls[i] + POLLS ||
		    !atomic_load_explicit(&shown->passive, memory_order_relaxed))
			return false;
		more.sent = atomic_load_explicit(&shown->sent, memory_order_relaxed);
		more.carried_out = atomic_load_explicit(&shown->carried_out, memory_order_relaxed);
		more.moves = atomic_load_explicit(&shown->moves, memory_order_relaxed);
		more.waits = atomic_load_explicit(&shown->waits, memory_order_acquire);
		if (more.waits % 2 == 0 || !add_writer(shown, pe_of_local(i), &more))
			return false;
		add_sums(sums, &more);
	}
	return true;
}

static bool children_have_answered(void)
{
	for (int i = 0; i < child_count(); i++)
		if (atomic_load_explicit(&comms.system->passive.answer[i].wave, memory_order_acquire) != deadlock.wave)
			return false;
	return true;
}

static bool sums_are_equal(const struct comms_sums *a, const struct comms_sums *b)
{
	return a->waits == b->waits && a->moves == b->moves && a->sent == b->sent && a->carried_out == b->carried_out;
}

/* All PEs wait, and have done so since they looked for writers. */
static void react(int64_t lasted)
{
	bool certain = deadlock.writer == 0;
	int pe = (int)deadlock.writer - 1;

	deadlock.examined = false;
	deadlock.examine_after = 2 * lasted > PATIENCE ? 2 * lasted : PATIENCE;
	if (deadlock.reaction == REACTION_ABORT || (deadlock.reaction == REACTION_AUTO && certain)) {
		deadlock.over = true;
		hang_deadlock(true, COMMS_NOBODY);
	} else if (deadlock.reaction == REACTION_REPORT) {
		deadlock.over = true;
		hang_deadlock(false, certain ? COMMS_NOBODY : pe);
	} else if (lasted >= PATIENCE && !deadlock.reported) {
		deadlock.reported = true;
		hang_deadlock(false, pe);
	}
}

static void conclude_wave(const struct comms_sums *sums, int64_t now)
{
	bool same = sums_are_equal(sums, &deadlock.last) && sums->sent == sums->carried_out;
	bool examined = deadlock.examined;

	deadlock.next = now + INTERVAL;
	deadlock.last = *sums;
	deadlock.examined = same && (examined || (deadlock.wave & EXAMINING));
	if (!same) {
		deadlock.since = now;
		deadlock.examine_after = EXAMINE;
	} else if (deadlock.wave & EXAMINING) {
		deadlock.writer = sums->writer;
	} else if (examined && now - deadlock.since >= STABLE) {
		react(now - deadlock.since);
	}
}

static void answer_wave(const struct comms_sums *sums)
{
	int parent = (deadlock.node - 1) / COMMS_WAVE_CHILDREN, place = (deadlock.node - 1) % COMMS_WAVE_CHILDREN;
	struct comms_passive *there = &comms.system->passive;

	deadlock.notified++;
	comms_put_notify(&there->answer[place].sums, sums, sizeof *sums,
			 (struct comms_flag){&there->answer[place].wave, deadlock.wave},
			 comms_group_pe(group_of_leaders(), parent), routine);
}

/* Makes one step if possible; this PE publishes its numbers between any two. */
static void lead_waves(int64_t now)
{
	struct comms_sums sums = {0};

	if (deadlock.state == IDLE && begin_wave(now))
		deadlock.state = ASKED;
	else if (deadlock.state == ASKED && children_have_answered()) {
		deadlock.received += (uint64_t)child_count();
		deadlock.state = ANSWERED;
	} else if (deadlock.state == ANSWERED && add_sums_of_node(&sums)) {
		deadlock.state = IDLE;
		for (int i = 0; i < child_count(); i++)
			add_sums(&sums, &comms.system->passive.answer[i].sums);
		if (deadlock.node == 0)
			conclude_wave(&sums, now);
		else
			answer_wave(&sums);
	}
}

void deadlock_wait_goes_on(enum deadlock_wait kind)
{
	struct comms_traffic traffic = {0};

	if (!deadlock.world || deadlock.reaction == REACTION_IGNORE || deadlock.over)
		return;
	if (comms.network)
		comms.network->count_traffic(&traffic);
	traffic.pending |= reorder_holds();
	find_writer(kind, &traffic);
	show_passive(is_passive(kind, &traffic), &traffic);
	if (deadlock.nodes < 0)
		find_place();
	if (deadlock.leads && kind != DEADLOCK_OWN)
		lead_waves(hang_clock());
}

/* --- Start and end --- */

void deadlock_start(struct comms_group *world, deadlock_prepare *prepare, bool one_thread)
{
	memset(&deadlock, 0, sizeof deadlock);
	deadlock.reaction = (unsigned)setting_choice(SETTING_DEADLOCK);
	deadlock.one_thread = one_thread;
	deadlock.nodes = -1;
	deadlock.examine_after = EXAMINE;
	writers_after_start();
	deadlock.prepare = prepare;
	deadlock.world = world;
}

void deadlock_stop(void)
{
	deadlock.world = NULL;
	free(deadlock.polls);
	deadlock.polls = NULL;
}
