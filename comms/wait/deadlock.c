/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds deadlocks: docs/protocols/deadlock.md.
 *
 * passive  a PE in a slow wait that only other PEs can end, with no operation of its own under way
 * wave     a question that goes down the tree of nodes; the answer comes up when all PEs below are passive and have polled
 *          what they wait for twice since the question came. It has sums: how often waits began and ended, commands of lists
 *          that were carried out, messages sent, messages carried out
 *
 * Two waves with equal sums: no PE did anything between them. As many messages carried out as sent: none is under way. Since every PE polled
 * again after the last message was carried out, nothing will ever end a wait.
 */
#include "deadlock.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "comms/ops/ops.h"
#include "comms/topology/group.h"
#include "lists.h"
#include "hang.h"
#include "comms/net/network.h"
#include "comms/ops/reorder.h"
#include "rte/rte.h"
#include "rte/settings.h"

#define STABLE 1000  /* ms that the sums must stay as they are */
#define INTERVAL 100 /* ms between two waves */
#define BEGIN 200    /* ms that PE 0 has waited slowly before the first one */
#define POLLS 2
#define MOST_SIGNALS 65

static const char routine[] = "SHMEM_DEADLOCK";

typedef void handler(int);

/* The program's, when it initialised the library. */
static struct {
	int threads;
	handler *handlers[MOST_SIGNALS];
} before_start;

static struct {
	const struct comms_group *world;
	enum { REACTION_ABORT, REACTION_REPORT, REACTION_IGNORE } reaction;
	bool one_thread;
	int threads;			 /* the program's before, and the library's */
	handler *handlers[MOST_SIGNALS]; /* of libraries */
	/* The program's, now. A PE that only others can wake does not change them: searched when a wait becomes slow. */
	bool has_threads, has_handlers;
	/* Of a node's first PE. */
	bool leads, over;
	enum { IDLE, ASKED, ANSWERED } state;
	int node, nodes; /* its own, and how many there are; -1: not known yet */
	uint64_t wave, *polls;
	uint64_t notified, received; /* messages of waves */
	/* Of PE 0. */
	struct comms_sums last;
	int64_t since, next;
} deadlock;

/* --- What else could end a wait --- */

static int count_threads(void)
{
	DIR *folder = opendir("/proc/self/task");
	struct dirent *entry;
	int count = 0;

	while (folder && (entry = readdir(folder)))
		count += entry->d_name[0] != '.';
	if (folder)
		closedir(folder);
	return count;
}

/* NULL: the signal has none. */
static handler *handler_of(int number)
{
	struct sigaction action;

	if (sigaction(number, NULL, &action) || action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)
		return NULL;
	return action.sa_handler;
}

/* What UCX and others installed while the library started is not the program's. */
static void note_handlers(void)
{
	for (int number = 1; number <= SIGRTMAX; number++)
		deadlock.handlers[number] = before_start.handlers[number] ? NULL : handler_of(number);
}

/* A handler of the program's may store what its main thread waits for. (The library itself handles signals that end a program.) */
static bool has_handlers(void)
{
	static const int ending[] = {SIGSEGV, SIGBUS, SIGFPE,  SIGILL,	SIGABRT,
				     SIGTRAP, SIGSYS, SIGTERM, SIGPIPE, SIGCHLD};
	bool found = false;

	for (int number = 1; number <= SIGRTMAX && !found; number++) {
		handler *now = handler_of(number);

		found = now && now != deadlock.handlers[number];
		for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
			found = found && number != ending[i];
	}
	return found;
}

static int own_threads(void)
{
	return atomic_load_explicit(&wait_lists.own_threads, memory_order_relaxed);
}

static bool has_other_threads(void)
{
	return before_start.threads > 1 || count_threads() > deadlock.threads + own_threads();
}

static bool is_passive(enum deadlock_wait kind, const struct comms_traffic *traffic)
{
	if (kind == DEADLOCK_OWN || traffic->pending)
		return false;
	if (kind == DEADLOCK_MEMORY && (traffic->blind || deadlock.has_handlers))
		return false;
	return !deadlock.has_threads || (kind == DEADLOCK_PES && deadlock.one_thread);
}

/* --- What this PE shows --- */

void deadlock_wait_begins(void)
{
	deadlock.has_threads = has_other_threads();
	deadlock.has_handlers = has_handlers();
	deadlock.next = hang_clock() + BEGIN;
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

/* --- The tree --- */

/* The group of one PE for each node; NULL: there is one node. */
static const struct comms_group *group_of_leaders(void)
{
	const struct comms_group *world = deadlock.world;

	if (world->levels)
		return &world->levels->leaders;
	return world->on_node || world->size == 1 ? NULL : world;
}

/* Known after the first barrier of the PEs. */
static void find_place(void)
{
	const struct comms_group *world = deadlock.world, *first = group_of_leaders();
	int here = world->levels ? world->levels->node.size : world->on_node ? world->size : 1;

	if (!world->prepared && world->size > 1)
		return;
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

/* NULL: its memory cannot be seen, or can no more. */
static struct comms_passive *passive_of_local(int i)
{
	const struct comms_group *world = deadlock.world;
	int pe = world->levels ? comms_group_pe(&world->levels->node, i) : group_of_leaders() ? world->me : i;
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
		if (now < deadlock.next)
			return false;
		deadlock.wave++;
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
		const struct comms_passive *shown = passive_of_local(i);

		deadlock.polls[i] = shown ? atomic_load_explicit(&shown->polls, memory_order_acquire) : 0;
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
}

/* False: not all PEs of the node are passive, or have polled again. */
static bool add_sums_of_node(struct comms_sums *sums)
{
	for (int i = 0; i < local_pes(); i++) {
		struct comms_passive *shown = passive_of_local(i);
		struct comms_sums more;

		if (!shown || atomic_load_explicit(&shown->polls, memory_order_acquire) < deadlock.polls[i] + POLLS ||
		    !atomic_load_explicit(&shown->passive, memory_order_relaxed))
			return false;
		more.sent = atomic_load_explicit(&shown->sent, memory_order_relaxed);
		more.carried_out = atomic_load_explicit(&shown->carried_out, memory_order_relaxed);
		more.moves = atomic_load_explicit(&shown->moves, memory_order_relaxed);
		more.waits = atomic_load_explicit(&shown->waits, memory_order_acquire);
		if (more.waits % 2 == 0)
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

static void conclude_wave(const struct comms_sums *sums, int64_t now)
{
	bool same = sums_are_equal(sums, &deadlock.last) && sums->sent == sums->carried_out;

	deadlock.next = now + INTERVAL;
	if (!same)
		deadlock.since = now;
	deadlock.last = *sums;
	if (!same || now - deadlock.since < STABLE)
		return;
	deadlock.over = true;
	hang_deadlock(deadlock.reaction == REACTION_ABORT);
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

/* A step further, if one can be made; this PE shows its numbers between any two. */
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
	show_passive(is_passive(kind, &traffic), &traffic);
	if (deadlock.nodes < 0)
		find_place();
	if (deadlock.leads && kind != DEADLOCK_OWN)
		lead_waves(hang_clock());
}

/* --- Start and end --- */

void deadlock_count_threads(void)
{
	before_start.threads = count_threads();
	for (int number = 1; number <= SIGRTMAX; number++)
		before_start.handlers[number] = handler_of(number);
}

void deadlock_start(const struct comms_group *world, bool one_thread)
{
	memset(&deadlock, 0, sizeof deadlock);
	deadlock.reaction = (unsigned)setting_choice(SETTING_DEADLOCK);
	deadlock.one_thread = one_thread;
	deadlock.threads = count_threads() - own_threads();
	note_handlers();
	deadlock.nodes = -1;
	deadlock.world = world;
}

void deadlock_stop(void)
{
	deadlock.world = NULL;
	free(deadlock.polls);
	deadlock.polls = NULL;
}
