/* SPDX-License-Identifier: BSD-3-Clause */
/* The plans of this PE: their memory, start, test, wait, and end. Other files make them. */
#include "plans.h"

#include <pthread.h>
#include <string.h>

#include "shmem/blocks.h"
#include "shmem/numbers/divide.h"
#include "comms/wait/wait.h"
#include "comms/observe/counters.h"
#include "rte/text/text.h"

_Static_assert(SHMEMX_PLANS == COMMS_LISTS, "each plan is a list");

static struct {
	pthread_mutex_t lock;
	struct blocks *blocks; /* allocator of the memory of plans */
	struct shmemx_plan plan[SHMEMX_PLANS];
	int end; /* no plan from here on has been used */
	uint64_t made;
} plans = {.lock = PTHREAD_MUTEX_INITIALIZER};

void api_plans_start(void)
{
	plans.blocks = blocks_create(COMMS_PLAN_BYTES);
	if (!plans.blocks)
		rte_die("shmem_init", "no memory");
	for (int i = 0; i < SHMEMX_PLANS; i++)
		plans.plan[i].list.place = i;
}

/* --- Room --- */

static struct shmemx_plan *take_free_plan(struct shmemx_team *team)
{
	struct shmemx_plan *plan = NULL;

	pthread_mutex_lock(&plans.lock);
	for (int i = 0; i < SHMEMX_PLANS && !plan; i++)
		if (!plans.plan[i].team)
			plan = &plans.plan[i];
	if (plan) {
		if (plans.end <= plan - plans.plan)
			plans.end = (int)(plan - plans.plan) + 1;
		plan->kind = NULL;
		plan->team = team;
		plan->block = BLOCKS_NONE;
	}
	pthread_mutex_unlock(&plans.lock);
	return plan;
}

static size_t take_block(size_t bytes)
{
	size_t block;

	pthread_mutex_lock(&plans.lock);
	block = blocks_allocate(plans.blocks, bytes ? bytes : BLOCKS_UNIT, BLOCKS_UNIT);
	pthread_mutex_unlock(&plans.lock);
	return block;
}

static void release_block(size_t block)
{
	pthread_mutex_lock(&plans.lock);
	if (block != BLOCKS_NONE)
		blocks_release(plans.blocks, block);
	pthread_mutex_unlock(&plans.lock);
}

/* The list has ended, but a thread that came for it in vain may still be there. */
static void empty_plan(struct shmemx_plan *plan)
{
	COMMS_WAIT(COMMS_NOWHERE, !atomic_load_explicit(&plan->list.busy, memory_order_acquire));
	comms_list_free(&plan->list);
	release_block(plan->block);
	plan->block = BLOCKS_NONE;
}

static void free_plan(struct shmemx_plan *plan)
{
	empty_plan(plan);
	pthread_mutex_lock(&plans.lock);
	plan->order.make = NULL;
	plan->kind = NULL;
	plan->team = NULL;
	pthread_mutex_unlock(&plans.lock);
}

static void report_missing_room(const struct shmemx_plan *plan, size_t bytes, const char *routine)
{
	char wanted[32], room[32], free[32];

	if (!plan)
		rte_report(routine, "this PE has %d plans, the maximum; free some with shmemx_plan_free", SHMEMX_PLANS);
	else
		rte_report(routine,
			   "no room for a plan of %s: of the %s for plans, the largest free block is %s; free some "
			   "plans with "
			   "shmemx_plan_free",
			   text_size(bytes, wanted), text_size(COMMS_PLAN_BYTES, room),
			   text_size(blocks_largest(plans.blocks), free));
}

/*
 * Either all members have room, or none allocates. The first member without room for a new plan
 * reports it.
 */
static bool all_have_room(const struct maker *m, bool mine, size_t bytes)
{
	uint64_t me = (uint64_t)(m->set.group->size - m->set.group->me);
	uint64_t first = set_max(&m->set, mine ? 0 : me);

	if (first == me && !m->again && !m->quiet && !rte_is_broken())
		report_missing_room(m->plan, bytes, m->set.routine);
	return first == 0;
}

static void reset_plan(struct shmemx_plan *plan, const char *routine)
{
	pthread_mutex_lock(&plans.lock);
	plan->serial = ++plans.made; /* the numbers of its runs begin again */
	pthread_mutex_unlock(&plans.lock);
	plan->list.run = plan->counted = 0;
	plan->list.by_executor = plan->list.by_network = false;
	plan->list.routine = routine;
	atomic_store_explicit(&plan->list.finished, 0, memory_order_relaxed);
}

static void number_plan(struct shmemx_plan *plan)
{
	atomic_store_explicit(&plan->state, PLAN_IDLE, memory_order_relaxed);
	plan->order = (struct plan_order){0};
	plan->words = (struct plan_words){0};
	plan->number = ++plan->team->plans;
}

/*
 * A plan that is made again keeps its block until all members have room for the new one; then no
 * member sends for the old one any more.
 */
bool plan_begin(struct maker *m, size_t ports, size_t staging, size_t edges)
{
	size_t bytes = ports * sizeof(struct port) + staging, block;

	m->plan = m->again ? m->again : take_free_plan(m->set.team);
	block = m->plan ? take_block(bytes) : BLOCKS_NONE;
	if (m->again && m->plan->list.by_network)
		comms_complete_all();
	if (!all_have_room(m, block != BLOCKS_NONE, bytes) || block == BLOCKS_NONE) {
		release_block(block);
		if (m->plan && !m->again)
			free_plan(m->plan);
		return false;
	}
	if (m->again)
		empty_plan(m->plan);
	else
		number_plan(m->plan);
	m->plan->block = block;
	m->plan->room = bytes;
	reset_plan(m->plan, m->set.routine);
	m->plan->ports = (struct port *)(comms.system->plans + m->plan->block);
	m->plan->staging = (char *)(m->plan->ports + ports);
	memset(m->plan->ports, 0, ports * sizeof(struct port));
	team_scratch(m->set.team)->plan =
		(struct plan_block){m->plan->block, m->plan->block + ports * sizeof(struct port), edges, 0};
	set_sync(&m->set);
	return !rte_is_broken(); /* else nobody knows where the others have theirs */
}

struct shmemx_plan *plan_after(const struct shmemx_team *team, uint64_t number)
{
	struct shmemx_plan *next = NULL;

	pthread_mutex_lock(&plans.lock);
	for (int i = 0; i < SHMEMX_PLANS; i++) {
		struct shmemx_plan *plan = &plans.plan[i];

		if (plan->team == team && plan->order.make && plan->number > number &&
		    plan->changes != team->topology->changes && (!next || plan->number < next->number))
			next = plan;
	}
	pthread_mutex_unlock(&plans.lock);
	return next;
}

size_t plans_moved(const struct shmemx_team *team, bool *under_way)
{
	size_t bytes = 0;

	pthread_mutex_lock(&plans.lock);
	for (int i = 0; i < SHMEMX_PLANS; i++) {
		struct shmemx_plan *plan = &plans.plan[i];

		if (plan->team != team || !plan->order.make)
			continue;
		if (!plan_hold(plan)) {
			*under_way = true;
			continue;
		}
		if (plan->order.bytes >= SET_WATCHED_FROM)
			bytes += plan->order.bytes * (plan->list.run - plan->counted);
		plan->counted = plan->list.run;
		plan_release(plan);
	}
	pthread_mutex_unlock(&plans.lock);
	return bytes;
}

/* --- API --- */

/* NULL: misuse of a job whose errors return. */
static struct shmemx_plan *plan_of(shmemx_plan_t plan, const char *routine)
{
	comms_check_up(routine);
	if (COMMS_LIKELY(plan && plan >= plans.plan && plan < plans.plan + SHMEMX_PLANS && plan->team && !plan->kind))
		return plan;
	rte_misuse(routine, "plan=%p is no plan; it is SHMEMX_PLAN_INVALID, or was freed", (void *)plan);
	return NULL;
}

static bool is_started(const struct shmemx_plan *plan)
{
	return atomic_load_explicit(&plan->state, memory_order_acquire) == PLAN_STARTED;
}

static bool is_under_way(struct shmemx_plan *plan)
{
	if (plan->words.start)
		return !plan_words_are_over(plan);
	return is_started(plan) && !comms_list_is_over(&plan->list);
}

/*
 * An average is a sum. Floats are divided at the end, when this PE's dest is its own again; 16-bit
 * numbers before they travel, so that no sum exceeds them.
 */
static struct numbers numbers_of(const struct plan_order *order)
{
	return (struct numbers){(shmemx_type_t)order->type, order->count};
}

static void divide_before(const struct shmemx_plan *plan)
{
	const struct plan_order *order = &plan->order;

	if (narrow_of_type((shmemx_type_t)order->type))
		numbers_divide(numbers_of(order), order->dest, order->source, plan->team->group.size);
}

static void divide_after(const struct shmemx_plan *plan)
{
	const struct plan_order *order = &plan->order;
	const struct comms_group *group = &plan->team->group;

	if (!narrow_of_type((shmemx_type_t)order->type) && (order->root < 0 || order->root == group->me))
		numbers_divide(numbers_of(order), order->dest, order->dest, group->size);
}

static void end_run(struct shmemx_plan *plan)
{
	if (COMMS_UNLIKELY(plan->divides))
		divide_after(plan);
	atomic_store_explicit(&plan->state, PLAN_IDLE, memory_order_release);
}

/* Returns false if the job is broken. */
static bool begin_run(struct shmemx_plan *plan, const char *routine)
{
	int state = PLAN_IDLE;

	while (!atomic_compare_exchange_strong_explicit(&plan->state, &state, PLAN_STARTED, memory_order_acquire,
							memory_order_acquire)) {
		if (COMMS_UNLIKELY(state == PLAN_STARTED))
			rte_misuse(routine, "the plan of %s is under way since it was started last; wait for it first",
				   plan->list.routine);
		COMMS_WAIT(COMMS_NOWHERE, atomic_load_explicit(&plan->state, memory_order_acquire) != PLAN_HELD);
		if (rte_is_broken())
			return false;
		state = PLAN_IDLE;
	}
	return true;
}

static void run(struct shmemx_plan *plan)
{
	if (COMMS_UNLIKELY(plan->divides))
		divide_before(plan);
	comms_list_start(&plan->list);
}

void plan_start_run(struct shmemx_plan *plan, const char *routine)
{
	if (begin_run(plan, routine))
		run(plan);
}

bool plan_try_run(struct shmemx_plan *plan)
{
	int state = PLAN_IDLE;

	if (!atomic_compare_exchange_strong_explicit(&plan->state, &state, PLAN_STARTED, memory_order_acquire,
						     memory_order_relaxed))
		return false;
	run(plan);
	return true;
}

bool plan_test_run(struct shmemx_plan *plan)
{
	if (!is_started(plan))
		return true;
	if (!comms_list_is_over(&plan->list)) {
		if (!plan->list.by_executor)
			comms_spin();
		if (!comms_list_is_over(&plan->list))
			return false;
	}
	end_run(plan);
	return true;
}

void plan_wait_run(struct shmemx_plan *plan)
{
	if (!is_started(plan))
		return;
	if (!comms_list_is_over(&plan->list)) {
		hang_note_group(plan->list.routine, &plan->team->group);
		comms_list_wait(&plan->list);
	}
	end_run(plan);
}

/* Only the executor starts and ends runs of a plan with words. */
static bool run_is_over(struct shmemx_plan *plan)
{
	return COMMS_UNLIKELY(plan->words.start != NULL) ? plan_words_are_over(plan) : plan_test_run(plan);
}

API int shmemx_plan_wait_within(shmemx_plan_t plan, double seconds)
{
	COMMS_CALL_OR(1, __func__, 0, COMMS_NOBODY);
	struct shmemx_plan *p = plan_of(plan, __func__);
	int64_t end = wait_end(seconds, __func__);

	if (rte_is_broken())
		return 1;
	hang_note_bounded(__func__);
	COMMS_WAIT(COMMS_ANYWHERE, run_is_over(p) || wait_is_past(end));
	return run_is_over(p) ? rte_is_broken() : 1;
}

API void shmemx_plan_start(shmemx_plan_t plan)
{
	COMMS_CALL(__func__, 0, COMMS_NOBODY);
	struct shmemx_plan *p = plan_of(plan, __func__);

	if (!p)
		return;
	if (COMMS_LIKELY(!p->words.start))
		plan_start_run(p, __func__);
	else
		rte_misuse(__func__, "a word starts the plan of %s; write it, or end that with shmemx_plan_start_on",
			   p->list.routine);
}

API void shmemx_plan_start_on(shmemx_plan_t plan, uint64_t *start, uint64_t *done)
{
	COMMS_CALL(__func__, 0, COMMS_NOBODY);
	struct shmemx_plan *p = plan_of(plan, __func__);

	if (!p)
		return;
	if (is_under_way(p) || (!p->words.start && is_started(p)))
		rte_misuse(__func__, "the plan of %s is under way; wait for it first", p->list.routine);
	else
		plan_take_words(p, start, done, __func__);
}

API int shmemx_plan_test(shmemx_plan_t plan)
{
	COMMS_CALL_OR(1, __func__, 0, COMMS_NOBODY);
	struct shmemx_plan *p = plan_of(plan, __func__);

	return !p || run_is_over(p); /* a loop that tests a plan ends in a broken job, too */
}

API void shmemx_plan_wait(shmemx_plan_t plan)
{
	COMMS_CALL(__func__, 0, COMMS_NOBODY);
	struct shmemx_plan *p = plan_of(plan, __func__);

	if (!p)
		return;
	if (COMMS_LIKELY(!p->words.start)) {
		plan_wait_run(p);
	} else if (!plan_words_are_over(p)) {
		hang_note_group(p->list.routine, &p->team->group);
		COMMS_WAIT(COMMS_ANYWHERE, plan_words_are_over(p));
	}
}

/*
 * Data that others sent for it may still be under way: after a barrier of all members, everything
 * has arrived.
 */
API void shmemx_plan_free(shmemx_plan_t plan)
{
	COMMS_CALL(__func__, 0, COMMS_NOBODY);
	struct shmemx_plan *p = plan_of(plan, __func__);
	struct set set = {.routine = __func__};

	if (p && is_under_way(p))
		rte_misuse(__func__, "the plan of %s is under way; wait for it first", p->list.routine);
	if (rte_is_broken())
		return;
	set.group = &p->team->group;
	set.team = p->team;
	plan_lose_words(p);
	hang_note_group(__func__, set.group);
	set_check_agreement(&set, "the plan's number among those of its team", (long)p->number, NULL, 0, NULL);
	plan_discard(&set, p);
}

/* --- For requests --- */

void plan_discard(const struct set *set, struct shmemx_plan *plan)
{
	if (plan->list.by_network)
		comms_complete_all();
	set_sync(set);
	if (!rte_is_broken()) /* else api_plans_stop frees it: others may still send for it */
		free_plan(plan);
}

static bool same_key(const struct plan_order *a, const struct plan_order *b)
{
	return a->dest == b->dest && a->source == b->source && a->bytes == b->bytes && a->count == b->count &&
	       a->root == b->root && a->op == b->op && a->type == b->type && a->strided.dst == b->strided.dst &&
	       a->strided.sst == b->strided.sst && a->strided.size == b->strided.size;
}

struct shmemx_plan *plan_find(const struct shmemx_team *team, const struct plan_kind *kind,
			      const struct plan_order *key)
{
	struct shmemx_plan *found = NULL;

	pthread_mutex_lock(&plans.lock);
	for (int i = 0; i < plans.end && !found; i++) {
		struct shmemx_plan *plan = &plans.plan[i];

		if (plan->team == team && plan->kind == kind && same_key(&plan->key, key))
			found = plan;
	}
	pthread_mutex_unlock(&plans.lock);
	return found;
}

struct shmemx_plan *plan_oldest(const struct shmemx_team *team, struct plans_kept *kept)
{
	struct shmemx_plan *oldest = NULL;

	*kept = (struct plans_kept){0, 0};
	pthread_mutex_lock(&plans.lock);
	for (int i = 0; i < plans.end; i++) {
		struct shmemx_plan *plan = &plans.plan[i];

		if (plan->team != team || !plan->kind)
			continue;
		kept->count++;
		kept->bytes += plan->room;
		if (!oldest || plan->used < oldest->used)
			oldest = plan;
	}
	pthread_mutex_unlock(&plans.lock);
	return oldest;
}

bool plan_discard_oldest(const struct set *set)
{
	struct plans_kept kept;
	struct shmemx_plan *oldest = plan_oldest(set->team, &kept);

	if (!oldest || rte_is_broken())
		return false;
	plan_wait_run(oldest);
	plan_discard(set, oldest);
	return true;
}

/* --- The end --- */

void api_plans_check(const char *routine)
{
	for (int i = 0; i < SHMEMX_PLANS; i++)
		if (plans.plan[i].team && is_under_way(&plans.plan[i]) && !rte_is_broken())
			rte_misuse(routine, "%s%s is under way; wait for %s first",
				   plans.plan[i].kind ? "" : "a plan of ", plans.plan[i].list.routine,
				   plans.plan[i].kind ? "its request" : "it");
}

void api_plans_check_team(const struct shmemx_team *team, const char *routine)
{
	for (int i = 0; i < SHMEMX_PLANS; i++) {
		struct shmemx_plan *plan = &plans.plan[i];

		if (plan->team == team && !plan->kind)
			rte_misuse_together(routine, "the team has a plan of %s; free it first with shmemx_plan_free",
					    plan->list.routine);
		else if (plan->team == team && is_under_way(plan))
			rte_misuse_together(routine, "%s is under way on the team; wait for its request first",
					    plan->list.routine);
	}
}

void api_plans_stop(void)
{
	for (int i = 0; i < SHMEMX_PLANS; i++)
		plan_lose_words(&plans.plan[i]);
	comms_executor_stop();
	for (int i = 0; i < SHMEMX_PLANS; i++)
		if (plans.plan[i].team)
			free_plan(&plans.plan[i]);
	blocks_destroy(plans.blocks);
	plans.blocks = NULL;
}
