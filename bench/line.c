/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A cache line goes back and forth between members 0 and 1, by plain stores and loads on memory they share
 * without any library; where members share processors, between two threads of member 0, each on a processor of
 * its own, while all members yield. Virtual processors may be near each other at one moment and far at the next;
 * only results of the same state can be compared.
 */
#include "measure.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

enum {
	BATCHES = 21,
	ROUNDS = 60,
	FAR_NS = 95, /* neighbours need 10 to 60, others 120 to 250 */
	PATIENCE = 1000000
};

/* Who waits for the other, and where. */
struct side {
	bool first;
	uint64_t *ping, *pong;
	uint64_t count;
	double half_round_trip;
};

static void await(const uint64_t *word, uint64_t value)
{
	for (long polls = 0; __atomic_load_n(word, __ATOMIC_ACQUIRE) != value; polls++) {
		relax();
		if (polls > PATIENCE)
			sched_yield();
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void bounce(struct side *side)
{
	double times[BATCHES];

	for (int b = 0; b < BATCHES; b++) {
		double start = now_ns();

		for (int i = 0; i < ROUNDS; i++) {
			side->count++;
			if (side->first) {
				__atomic_store_n(side->ping, side->count, __ATOMIC_RELEASE);
				await(side->pong, side->count);
			} else {
				await(side->ping, side->count);
				__atomic_store_n(side->pong, side->count, __ATOMIC_RELEASE);
			}
		}
		times[b] = (now_ns() - start) / (2 * ROUNDS);
	}
	qsort(times, BATCHES, sizeof *times, by_value);
	side->half_round_trip = times[BATCHES / 4]; /* what took longer was interrupted */
}

static double between_members(void)
{
	/* The words are far enough from each other for the prefetcher too. */
	static struct side side;

	if (group.me > 1)
		return 0;
	side.first = group.me == 0;
	side.ping = group.raw;
	side.pong = group.raw + 64;
	bounce(&side);
	return side.half_round_trip;
}

bool move_to_processor(int processor)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(processor, &set);
	return sched_setaffinity(0, sizeof set, &set) == 0;
}

/*
 * The first two processors that a thread may be moved to: a member may be bound to a single one. That moves a member about, and so
 * happens once, before anything is measured.
 */
static const int *two_processors(void)
{
	static int processors[2], found = -1;
	cpu_set_t mine;

	if (found >= 0)
		return found == 2 ? processors : NULL;
	found = 0;
	if (sched_getaffinity(0, sizeof mine, &mine) != 0)
		return NULL;
	for (int i = 0; i < CPU_SETSIZE && found < 2; i++)
		if (move_to_processor(i))
			processors[found++] = i;
	sched_setaffinity(0, sizeof mine, &mine);
	return found == 2 ? processors : NULL;
}

struct thread {
	pthread_t id;
	int processor;
	bool ended;
	struct side side;
};

static void *bounce_there(void *of)
{
	struct thread *thread = of;

	if (!move_to_processor(thread->processor))
		group_fail("cannot move a thread to processor %d", thread->processor);
	bounce(&thread->side);
	__atomic_store_n(&thread->ended, true, __ATOMIC_RELEASE);
	return NULL;
}

/* Member 0 yields meanwhile and does not sleep: it would wake up wherever the kernel likes, and so change what is measured. */
static double between_threads(void)
{
	static uint64_t words[128];
	const int *processors = group.me == 0 ? two_processors() : NULL;
	struct thread threads[2];

	if (!processors)
		return 0;
	words[0] = words[64] = 0;
	for (int i = 0; i < 2; i++) {
		threads[i] = (struct thread){.processor = processors[i],
					     .side = {.first = i == 0, .ping = words, .pong = words + 64}};
		if (pthread_create(&threads[i].id, NULL, bounce_there, &threads[i]) != 0)
			group_fail("no thread to find how far processors are from each other");
	}
	for (int i = 0; i < 2; i++) {
		while (!__atomic_load_n(&threads[i].ended, __ATOMIC_ACQUIRE))
			sched_yield();
		pthread_join(threads[i].id, NULL);
	}
	return threads[0].side.half_round_trip;
}

double line_half_round_trip(void)
{
	if (!group.oversubscribed && !group.has_raw)
		return 0;
	group_barrier();
	return group.oversubscribed ? between_threads() : between_members();
}

const char *line_state(double half_round_trip)
{
	if (half_round_trip <= 0)
		return "unknown";
	return half_round_trip < FAR_NS ? "near" : "far";
}
