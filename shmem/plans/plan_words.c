/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans that start when a word changes. The executor polls the words: when a start word has another
 * value than at the last run, it begins a run, and when that is over, it stores this value in the
 * done word. The thread that writes and reads the words makes no call.
 *
 * The lock protects which plans have words. The executor holds it while it acts on them, so a plan
 * that has lost its words is not touched any more. Only the executor starts and ends runs of a plan
 * with words; other threads move its list, as that of any plan.
 */
#include "plans.h"

#include <pthread.h>
#include <stdatomic.h>

#include "comms/wait/wait.h"

static struct {
	pthread_mutex_t lock;
	struct shmemx_plan *plan[SHMEMX_PLANS];
	int count;
} with_words = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The words are the program's, which need not declare them atomic. */
static uint64_t word_value(const uint64_t *word)
{
	return atomic_load_explicit((const _Atomic uint64_t *)word, memory_order_acquire);
}

static void set_word(uint64_t *word, uint64_t value)
{
	atomic_store_explicit((_Atomic uint64_t *)word, value, memory_order_release);
}

static bool end_by_word(struct shmemx_plan *plan)
{
	if (!plan->words.under_way || !plan_test_run(plan))
		return false;
	plan->words.under_way = false;
	set_word(plan->words.done, plan->words.seen);
	comms_wake(comms_peer(comms.pe)); /* a PE may wait for the word */
	return true;
}

static bool start_by_word(struct shmemx_plan *plan)
{
	uint64_t value = word_value(plan->words.start);

	if (plan->words.under_way || value == plan->words.seen || !plan_try_run(plan))
		return false;
	plan->words.seen = value;
	plan->words.under_way = true;
	return true;
}

/* A thread that takes or gives words comes first. */
static bool poll_words(void)
{
	bool moved = false;

	if (pthread_mutex_trylock(&with_words.lock) != 0)
		return false;
	for (int i = 0; i < with_words.count; i++) {
		moved |= end_by_word(with_words.plan[i]);
		moved |= start_by_word(with_words.plan[i]);
	}
	pthread_mutex_unlock(&with_words.lock);
	return moved;
}

/* --- Which plans have words --- */

static void check_word(const uint64_t *word, const char *name, const char *routine)
{
	if (comms_check_symmetric(word, sizeof *word, name, routine) && comms_check_on_host(word, name, routine) &&
	    (uintptr_t)word % sizeof *word != 0)
		rte_misuse(routine, "%s=%p is not a multiple of 8; pass an aligned word", name, (const void *)word);
}

static void check_free(const uint64_t *word, const char *name, const char *routine)
{
	for (int i = 0; i < with_words.count; i++) {
		const struct shmemx_plan *other = with_words.plan[i];

		if (other->words.start == word || other->words.done == word)
			rte_misuse(routine, "%s=%p is a word of the plan of %s; give each plan words of its own", name,
				   (const void *)word, other->list.routine);
	}
}

static void take_words(struct shmemx_plan *plan, uint64_t *start, uint64_t *done)
{
	plan->words = (struct plan_words){.start = start,
					  .done = done,
					  .seen = word_value(start),
					  .by_executor = plan->list.by_executor};
	set_word(done, plan->words.seen);
	plan->list.by_executor = true;
	with_words.plan[with_words.count++] = plan;
	comms_executor_poll = poll_words;
	atomic_fetch_add_explicit(&comms_executor_polls, 1, memory_order_release);
}

void plan_lose_words(struct shmemx_plan *plan)
{
	pthread_mutex_lock(&with_words.lock);
	for (int i = 0; i < with_words.count && plan->words.start; i++)
		if (with_words.plan[i] == plan) {
			with_words.plan[i] = with_words.plan[--with_words.count];
			plan->list.by_executor = plan->words.by_executor;
			plan->words.start = NULL;
			atomic_fetch_sub_explicit(&comms_executor_polls, 1, memory_order_release);
		}
	pthread_mutex_unlock(&with_words.lock);
}

bool plan_words_are_over(const struct shmemx_plan *plan)
{
	return word_value(plan->words.done) == word_value(plan->words.start);
}

void plan_take_words(struct shmemx_plan *plan, uint64_t *start, uint64_t *done, const char *routine)
{
	if (!start != !done)
		rte_misuse(routine, "%s is NULL; pass two words, or none to end starts by a word",
			   start ? "done" : "start");
	if (rte_is_broken())
		return;
	plan_lose_words(plan);
	if (!start)
		return;
	check_word(start, "start", routine);
	check_word(done, "done", routine);
	if (start == done)
		rte_misuse(routine, "start and done are the same word; pass two words");
	if (rte_is_broken())
		return;
	pthread_mutex_lock(&with_words.lock);
	check_free(start, "start", routine);
	check_free(done, "done", routine);
	if (!rte_is_broken())
		take_words(plan, start, done);
	pthread_mutex_unlock(&with_words.lock);
	comms_executor_start(routine);
	comms_executor_wake();
}
