/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which thread runs: executions, random choices, sleeping and waking. One thread runs; it hands the
 * baton on at its steps.
 */
#include "inside.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <shmem.h>

#undef syscall

enum { STEPS_MOST = 2000000 };

#define LATE 4000000000000000000 /* ns: later than any clock was before the first execution */

struct model *model;
_Thread_local int self = -1;
static _Thread_local int number; /* self, between executions as well */
static int threads_per_pe, library_threads_per_pe;
static int library_threads_left; /* of this PE, that go on by themselves */

static void futex_wait(uint32_t *word, uint32_t value)
{
	syscall(SYS_futex, word, FUTEX_WAIT, value, NULL, NULL, 0);
}

static void futex_wake(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* xorshift64* */
static uint64_t next_random(void)
{
	model->random ^= model->random >> 12;
	model->random ^= model->random << 25;
	model->random ^= model->random >> 27;
	return model->random * 0x2545f4914f6cdd1d;
}

unsigned random_below(unsigned limit)
{
	return (unsigned)((next_random() >> 32) * limit >> 32);
}

static void await_baton(void)
{
	struct thread *me = &model->thread[number];

	for (;;) {
		uint32_t seen = __atomic_load_n(&me->wake, __ATOMIC_SEQ_CST);

		if (__atomic_load_n(&model->over, __ATOMIC_SEQ_CST)) {
			self = -1;
			__atomic_fetch_add(&library_threads_left, 1, __ATOMIC_SEQ_CST);
			return;
		}
		if (__atomic_load_n(&model->baton, __ATOMIC_SEQ_CST) == (uint32_t)number)
			break;
		futex_wait(&me->wake, seen);
	}
	self = number;
}

static void wake_thread(int thread)
{
	__atomic_fetch_add(&model->thread[thread].wake, 1, __ATOMIC_SEQ_CST);
	futex_wake(&model->thread[thread].wake);
}

static void hand_to(int next)
{
	__atomic_store_n(&model->baton, (uint32_t)next, __ATOMIC_SEQ_CST);
	wake_thread(next);
}

static bool all_done(void)
{
	for (int t = 0; t < model->threads; t++) {
		const struct thread *thread = &model->thread[t];

		if (thread->state != DONE && !(thread->of_library && thread->state == ASLEEP))
			return false;
	}
	return true;
}

void explore_sleeps_end(void)
{
	model->sleeps_end = true;
}

static int pick_ready(void)
{
	int ready[THREADS], n = 0;

	for (int t = 0; t < model->threads; t++) {
		const struct thread *thread = &model->thread[t];
		bool may_end = model->sleeps_end && thread->of_library && thread->state == ASLEEP && thread->timed;

		if (thread->state == READY || (may_end && !all_done()))
			ready[n++] = t;
	}
	if (n == 0)
		return -1;
	n = ready[random_below((unsigned)n)];
	model->thread[n].state = READY;
	return n;
}

/* A sleep whose time is limited would end, but nothing may depend on that. */
static _Noreturn void nobody_is_ready(void)
{
	for (int t = 0; t < model->threads; t++)
		if (model->thread[t].state == ASLEEP && model->thread[t].timed)
			explore_fail("all threads sleep, and only a time limit ends it: a wake-up is lost", __FILE__,
				     __LINE__);
	explore_fail("no thread can go on", __FILE__, __LINE__);
}

static void end_execution(void)
{
	__atomic_store_n(&model->baton, NOBODY, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&model->phase, 1, __ATOMIC_SEQ_CST);
	futex_wake(&model->phase);
}

static void run_another(void)
{
	int next = pick_ready();

	if (next == number)
		return;
	if (next >= 0)
		hand_to(next);
	else if (all_done())
		end_execution();
	else
		nobody_is_ready();
	if (model->thread[number].state != DONE)
		await_baton();
}

static void count_step(void)
{
	model->all_steps++;
	if (++model->steps > STEPS_MOST)
		explore_fail("an execution does not end", __FILE__, __LINE__);
}

/* To a thread that may be the same one. */
void yield_processor(void)
{
	count_step();
	run_another();
}

void step(void)
{
	count_step();
	if (random_below(model->keep_running) == 0)
		run_another();
}

void block(enum state state, uint64_t place, bool timed)
{
	struct thread *me = &model->thread[self];

	me->state = state;
	me->waits_at = place;
	me->timed = timed;
	while (self >= 0 && me->state == state)
		run_another();
}

int wake_blocked(enum state state, uint64_t place, int most)
{
	int woken = 0;

	for (int t = 0; t < model->threads && woken < most; t++)
		if (model->thread[t].state == state && model->thread[t].waits_at == place) {
			model->thread[t].state = READY;
			woken++;
		}
	return woken;
}

/* --- Executions --- */

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text && text[0] ? strtoull(text, NULL, 0) : otherwise;
}

static void stay_on(int processor)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)processor, &set);
	sched_setaffinity(0, sizeof set, &set);
}

void explore_start(int threads, int library_threads)
{
	struct model *mine = shmem_calloc(1, sizeof *mine);

	if (!mine)
		explore_fail("no room for the model in the symmetric heap", __FILE__, __LINE__);
	threads_per_pe = threads + library_threads;
	library_threads_per_pe = library_threads;
	if (shmem_my_pe() == 0) {
		mine->processor = sched_getcpu();
		mine->threads = shmem_n_pes() * threads_per_pe;
		mine->users = shmem_n_pes() * threads;
		mine->baton = NOBODY;
		mine->clock = LATE;
		mine->rounds = from_environment(EXPLORE_ROUNDS, 2000);
		mine->steps_most = from_environment(EXPLORE_STEPS, UINT64_MAX);
		mine->first_seed = from_environment(EXPLORE_SEED, 1);
		if (mine->threads > THREADS)
			explore_fail("too many threads", __FILE__, __LINE__);
		for (int t = 0; t < mine->threads; t++) {
			mine->thread[t].of_library = t % threads_per_pe >= threads;
			mine->thread[t].state = DONE;
		}
	}
	shmem_barrier_all();
	model = shmem_ptr(mine, 0);
	if (!model)
		explore_fail("PE 0 cannot be reached by load and store", __FILE__, __LINE__);
	stay_on(model->processor);
	number = shmem_my_pe() * threads_per_pe;
}

void explore_thread(int thread)
{
	number = shmem_my_pe() * threads_per_pe + thread;
	stay_on(model->processor);
}

/* --- Threads of the library --- */

static struct of_library {
	bool taken;
	pthread_t thread;
} of_library[THREADS];

struct beginning {
	void *(*run)(void *);
	void *argument;
	int number;
};

static uint64_t end_of(int thread)
{
	return (uint64_t)thread + 1;
}

static void *begin_thread(void *argument)
{
	struct beginning begin = *(struct beginning *)argument;
	void *result;

	free(argument);
	number = begin.number;
	stay_on(model->processor);
	await_baton();
	result = begin.run(begin.argument);
	if (self >= 0) {
		model->thread[self].state = DONE;
		wake_blocked(AT_END, end_of(self), INT32_MAX);
		self = -1;
		run_another();
	}
	return result;
}

static int free_place(void)
{
	for (int k = 0; model && k < library_threads_per_pe; k++)
		if (!of_library[k].taken)
			return k;
	explore_fail("the library makes a thread that the scenario does not announce", __FILE__, __LINE__);
}

static int number_of(int place)
{
	return (shmem_my_pe() + 1) * threads_per_pe - library_threads_per_pe + place;
}

/* What the maker did before is known to the thread. */
int explore_thread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
	struct beginning *begin = malloc(sizeof *begin);
	int place = free_place(), problem;

	if (!begin)
		explore_fail("no memory", __FILE__, __LINE__);
	*begin = (struct beginning){run, argument, number_of(place)};
	if (self >= 0) {
		view_join(&model->thread[begin->number].cur, &model->thread[self].cur);
		model->thread[self].cur.clock[self]++;
	}
	model->thread[begin->number].state = READY;
	of_library[place].taken = true;
	problem = pthread_create(&of_library[place].thread, attributes, begin_thread, begin);
	*thread = of_library[place].thread;
	return problem;
}

int explore_thread_join(pthread_t thread, void **result)
{
	for (int k = 0; k < library_threads_per_pe; k++) {
		int ended = number_of(k);

		if (!of_library[k].taken || !pthread_equal(of_library[k].thread, thread))
			continue;
		while (self >= 0 && model->thread[ended].state != DONE)
			block(AT_END, end_of(ended), false);
		if (self >= 0)
			view_join(&model->thread[self].cur, &model->thread[ended].cur);
		of_library[k].taken = false;
	}
	return pthread_join(thread, result);
}

static void let_library_threads_go(void)
{
	__atomic_store_n(&model->over, 1, __ATOMIC_SEQ_CST);
	for (int t = 0; t < model->threads; t++)
		if (model->thread[t].of_library)
			wake_thread(t);
}

static void print_sites(const char *path)
{
	FILE *file = fopen(path, "we");

	for (int i = 0; file && i < SITES; i++)
		if (model->site[i].count)
			fprintf(file, "0x%x %d %d %u\n", model->site[i].offset, model->site[i].access,
				model->site[i].order, model->site[i].count);
	if (!file || fclose(file))
		explore_fail("the file of " EXPLORE_SITES " cannot be written", __FILE__, __LINE__);
}

/* Those that have not ended. Until then they read the model. */
static void await_library_threads(void)
{
	int made = 0;

	for (int k = 0; k < library_threads_per_pe; k++)
		made += of_library[k].taken;
	while (__atomic_load_n(&library_threads_left, __ATOMIC_SEQ_CST) < made)
		sched_yield();
}

void explore_stop(void)
{
	const char *path = getenv(EXPLORE_SITES);

	await_library_threads();
	shmem_barrier_all();
	if (shmem_my_pe() != 0)
		return;
	printf("%llu executions, %llu steps: no failure\n", (unsigned long long)model->round - 1,
	       (unsigned long long)model->all_steps);
	if (path && path[0])
		print_sites(path);
}

static void begin_execution(void)
{
	model->more = model->round < model->rounds && model->all_steps < model->steps_most;
	model->round++;
	model->seed = model->first_seed + model->round - 1;
	model->random = model->seed * 0x9e3779b97f4a7c15 | 1;
	for (int i = 0; i < 4; i++)
		next_random();
	model->keep_running = 1u << (1 + random_below(6));
	model->steps = 0;
	model->n_events = 0;
	model->n_ranges = 0;
	model->clock_of_round++;
	memory_begin();
	if (!model->more) {
		let_library_threads_go();
		return;
	}
	for (int t = 0; t < model->threads; t++)
		if (!model->thread[t].of_library)
			model->thread[t].state = READY;
	__atomic_store_n(&model->baton, (uint32_t)pick_ready(), __ATOMIC_SEQ_CST);
	wake_thread((int)model->baton);
}

/* Of all threads of the job. The last to come begins the execution. */
static void barrier_of_execution(void)
{
	uint32_t epoch = __atomic_load_n(&model->epoch, __ATOMIC_SEQ_CST);

	if (__atomic_add_fetch(&model->arrived, 1, __ATOMIC_SEQ_CST) == (uint32_t)model->users) {
		model->arrived = 0;
		begin_execution();
		__atomic_fetch_add(&model->epoch, 1, __ATOMIC_SEQ_CST);
		futex_wake(&model->epoch);
	}
	while (__atomic_load_n(&model->epoch, __ATOMIC_SEQ_CST) == epoch)
		futex_wait(&model->epoch, epoch);
}

bool explore_next(uint64_t *round)
{
	barrier_of_execution();
	if (!model->more)
		return false;
	*round = model->round;
	await_baton();
	return true;
}

void explore_done(void)
{
	uint32_t phase = __atomic_load_n(&model->phase, __ATOMIC_SEQ_CST);

	model->thread[self].state = DONE;
	self = -1;
	run_another();
	while (__atomic_load_n(&model->phase, __ATOMIC_SEQ_CST) == phase)
		futex_wait(&model->phase, phase);
}
