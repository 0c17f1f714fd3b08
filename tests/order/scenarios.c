/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short programs that use one protocol of the library each, run in many orders: scenarios NAME, on
 * so many PEs of one node. tests/order/run has the list.
 */
#undef pthread_create /* the threads of a scenario are its own */
#undef pthread_join

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <shmem.h>
#include <shmemx.h>

#include "scenarios.h"

enum { WORDS = 12, PLANS = 2 };

int me, npes;
_Thread_local int thread;

/* In the symmetric heap, for each PE its own lines. */
static struct shared {
	uint64_t data[WORDS], flag, back, sum, result[WORDS];
	uint64_t other_line[8];
	long lock, count, held;
	uint64_t signal;
	uint64_t all[8];
	uint64_t received[2];
} * shared;

static shmemx_exchange_t exchange, one_direction;
static shmemx_rdma_buffer_t *buffers; /* of all PEs, on each */
static shmemx_plan_t plan[PLANS];

static struct shared *peers(int pe)
{
	return shmem_ptr(shared, pe);
}

/* Each PE's part of the user's data: a race on it is a failure even where the access is atomic. */
static void data_is_ordered(void)
{
	for (int pe = 0; pe < npes; pe++)
		explore_data(peers(pe)->data, sizeof shared->data);
}

bool all_are(const uint64_t *words, size_t n, uint64_t value)
{
	for (size_t i = 0; i < n; i++)
		if (words[i] != value)
			return false;
	return true;
}

/* Data, a fence, a flag; the reader answers, and the writer uses the memory again. */
static void flags(uint64_t round)
{
	uint64_t source[WORDS];

	if (me > 1)
		return;
	for (uint64_t iteration = 2 * round; iteration < 2 * round + 2; iteration++) {
		size_t n = iteration % 2 ? 1 : WORDS;

		if (me == 0) {
			for (size_t i = 0; i < n; i++)
				source[i] = iteration;
			shmem_uint64_put(shared->data, source, n, 1);
			shmem_fence();
			shmem_uint64_p(&shared->flag, iteration, 1);
			shmem_uint64_wait_until(&shared->back, SHMEM_CMP_GE, iteration);
		} else {
			shmem_uint64_wait_until(&shared->flag, SHMEM_CMP_GE, iteration);
			EXPLORE_CHECK(all_are(shared->data, n, iteration));
			shmem_fence();
			shmem_uint64_p(&shared->back, iteration, 0);
		}
	}
}

static void signals(uint64_t round)
{
	uint64_t source[2] = {round, round};

	if (me == 0) {
		shmem_uint64_put_signal(shared->data, source, 2, &shared->signal, round, SHMEM_SIGNAL_SET, 1);
		shmem_uint64_wait_until(&shared->back, SHMEM_CMP_GE, round);
	} else if (me == 1) {
		EXPLORE_CHECK(shmem_signal_wait_until(&shared->signal, SHMEM_CMP_GE, round) == round);
		EXPLORE_CHECK(all_are(shared->data, 2, round));
		shmem_quiet();
		shmem_uint64_atomic_set(&shared->back, round, 0);
	}
}

/* What was put before a barrier is there after it, and may be put again after the next. */
static void barriers(uint64_t round)
{
	int to = (me + 1) % npes;
	uint64_t source[2] = {round, round};

	shmem_uint64_put(shared->data, source, 2, to);
	shmem_barrier_all();
	EXPLORE_CHECK(all_are(shared->data, 2, round));
	shmem_barrier_all();
	source[0] = source[1] = round + 1;
	shmem_uint64_put(shared->data, source, 2, to);
	shmem_barrier_all();
	EXPLORE_CHECK(all_are(shared->data, 2, round + 1));
	shmem_barrier_all();
}

/* Under the lock, plain loads and stores of PE 0's memory. */
static void locks(uint64_t round)
{
	volatile uint64_t *count = &peers(0)->data[0];
	unsigned times = 1 + (unsigned)(round % 2);

	for (unsigned i = 0; i < times; i++) {
		shmem_set_lock(&shared->lock);
		*count = *count + 1;
		shmem_clear_lock(&shared->lock);
	}
	if (me == 0 && shmem_test_lock(&shared->lock) == 0) {
		*count = *count + 1;
		*count = *count - 1;
		shmem_clear_lock(&shared->lock);
	}
	shmem_barrier_all();
	if (me == 0) {
		shared->result[0] += (uint64_t)times * (uint64_t)npes;
		EXPLORE_CHECK(*count == shared->result[0]);
	}
	shmem_barrier_all();
}

static void exchanges(uint64_t round)
{
	if (me > 1)
		return;
	for (uint64_t message = 0; message < 4; message++) {
		uint64_t *out = shmemx_exchange_buffer(exchange, 0);
		const uint64_t *in;
		size_t bytes;

		for (int i = 0; i < 8; i++)
			out[i] = 4 * round + message;
		shmemx_exchange_start(exchange, 0, 8 * sizeof *out);
		in = shmemx_exchange_wait(exchange, 0, &bytes);
		EXPLORE_CHECK(bytes == 8 * sizeof *in && all_are(in, 8, 4 * round + message));
		shmemx_exchange_release(exchange, 0);
	}
}

static void reductions(uint64_t round)
{
	uint64_t *source = shared->data, *result = shared->result;

	for (int i = 0; i < 2; i++)
		source[i] = round + (uint64_t)me;
	shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, result, source, 2);
	EXPLORE_CHECK(result[1] == round * (uint64_t)npes + (uint64_t)(npes * (npes - 1) / 2));
	shmem_barrier_all();
}

static void broadcasts(uint64_t round)
{
	uint64_t *source = shared->data, *result = shared->result;

	for (int i = 0; i < WORDS; i++)
		source[i] = me == 0 ? round : 0;
	shmem_uint64_broadcast(SHMEM_TEAM_WORLD, result, source, WORDS, 0);
	EXPLORE_CHECK(all_are(result, WORDS, round));
	shmem_uint64_fcollect(SHMEM_TEAM_WORLD, shared->all, &source[0], 1);
	EXPLORE_CHECK(shared->all[0] == round && (npes < 2 || shared->all[1] == 0));
	shmem_barrier_all();
}

/*
 * Store buffering: of two PEs that put, complete, and read each other's word, one at least sees
 * what the other put.
 */
static void quiets(uint64_t round)
{
	if (me > 1)
		return;
	shmem_uint64_p(&shared->flag, round, 1 - me);
	shmem_quiet();
	shared->result[0] = shmem_uint64_g(&shared->flag, me);
	shmem_barrier_all();
	EXPLORE_CHECK(shared->result[0] == round || peers(1 - me)->result[0] == round);
	shmem_barrier_all();
}

/* Only one side sends, so slots are released by a word of their own. */
static void slots(uint64_t round)
{
	size_t bytes;

	if (me > 1)
		return;
	for (uint64_t message = 0; message < 5; message++) {
		uint64_t value = 5 * round + message;

		if (me == 0) {
			uint64_t *out = shmemx_exchange_buffer(one_direction, 0);

			for (int i = 0; i < 8; i++)
				out[i] = value;
			shmemx_exchange_start(one_direction, 0, 8 * sizeof *out);
		} else {
			EXPLORE_CHECK(all_are(shmemx_exchange_wait(one_direction, 0, &bytes), 8, value));
			shmemx_exchange_release(one_direction, 0);
		}
	}
}

/* Puts with an event in the other's queue. */
static void events(uint64_t round)
{
	uint64_t source[2] = {round, round};
	shmemx_rdma_event_t event;
	int seen = 0;

	if (me > 1)
		return;
	shmemx_rdma_put(&buffers[1 - me], 0, source, sizeof source, 1, round);
	while (seen < 2) {
		shmemx_rdma_wait(&event);
		EXPLORE_CHECK(event.word == round);
		if (event.kind == SHMEMX_RDMA_ARRIVED)
			EXPLORE_CHECK(all_are(event.address, 2, round));
		seen++;
	}
	shmem_barrier_all();
}

static void run_plan(int i, uint64_t run)
{
	const uint64_t *result = me == i ? &shared->data[2 * i] : &shared->result[2 * i];

	if (me == i)
		shared->data[2 * i] = shared->data[2 * i + 1] = run;
	shmemx_plan_start(plan[i]);
	shmemx_plan_wait(plan[i]);
	EXPLORE_CHECK(all_are(result, 2, run));
}

static void plans(uint64_t round)
{
	for (uint64_t run = 2 * round; run < 2 * round + 2; run++)
		run_plan(0, run);
}

/* Each of two threads has a plan, and moves that of the other while it waits. */
static void lists(uint64_t round)
{
	for (uint64_t run = 2 * round; run < 2 * round + 2; run++)
		run_plan(thread, run);
}

/* Each PE counts the words of all others; a wait for any, then for all. */
static void wait_sets(uint64_t round)
{
	size_t one;

	for (int pe = 0; pe < npes; pe++)
		if (pe != me)
			shmem_uint64_put_signal(&shared->data[me], &round, 1, &shared->all[me], round, SHMEM_SIGNAL_SET,
						pe);
	shared->all[me] = round;
	shared->data[me] = round;
	one = shmem_uint64_wait_until_any(shared->all, (size_t)npes, NULL, SHMEM_CMP_GE, round);
	EXPLORE_CHECK(shared->data[one] == round);
	shmem_uint64_wait_until_all(shared->all, (size_t)npes, NULL, SHMEM_CMP_GE, round);
	EXPLORE_CHECK(all_are(shared->data, (size_t)npes, round));
	shmem_barrier_all();
}

/*
 * Two threads of a PE, each with the one of the same number in the other PE; events go to whichever
 * of the two takes them.
 */
static void threads(uint64_t round)
{
	uint64_t *data = &shared->data[2 * thread], source[2] = {round, round};
	shmemx_rdma_event_t event;

	shmem_uint64_put_signal(data, source, 2, &shared->all[thread], round, SHMEM_SIGNAL_SET, 1 - me);
	EXPLORE_CHECK(shmem_signal_wait_until(&shared->all[thread], SHMEM_CMP_EQ, round) == round);
	EXPLORE_CHECK(all_are(data, 2, round));
	shmemx_rdma_put(&buffers[1 - me], 0, source, 8, 1, round);
	for (int taken = 0; taken < 2; taken++) {
		shmemx_rdma_wait(&event);
		EXPLORE_CHECK(event.word == round);
	}
}

/* --- What scenarios need before the first execution --- */

void must(bool good, const char *what)
{
	if (!good)
		explore_fail(what, __FILE__, __LINE__);
}

static void open_exchanges(void)
{
	shmemx_edge_t both = {.pe = 1 - me, .send_bytes = 64, .receive_bytes = 64}, one = both;

	one.send_bytes = me == 0 ? 64 : 0;
	one.receive_bytes = me == 1 ? 64 : 0;
	must(shmemx_exchange_create(SHMEM_TEAM_WORLD, &both, me > 1 ? 0 : 1, &exchange) == 0, "no exchange");
	must(shmemx_exchange_create(SHMEM_TEAM_WORLD, &one, me > 1 ? 0 : 1, &one_direction) == 0,
	     "no exchange in one direction");
}

static void open_buffers(void)
{
	shmemx_rdma_buffer_t *mine = shmem_malloc(sizeof *mine);

	buffers = shmem_calloc((size_t)npes, sizeof *buffers);
	must(shmemx_rdma_register(shared->received, sizeof shared->received, mine) == 0, "no buffer");
	shmem_fcollectmem(SHMEM_TEAM_WORLD, buffers, mine, sizeof *mine);
	explore_reachable(shared->received, sizeof shared->received);
}

/* The plan with number i has PE i for its root. */
static void open_plans(int executor)
{
	for (int i = 0; i < PLANS; i++)
		must(shmemx_broadcast_init(SHMEM_TEAM_WORLD, &shared->result[2 * i], &shared->data[2 * i], 16, i,
					   executor, &plan[i]) == 0,
		     "no plan");
}

static void open_lists(void)
{
	open_plans(SHMEMX_PLAN_LIST);
}

static void open_executor(void)
{
	open_plans(SHMEMX_PLAN_THREAD);
}

static const struct scenario {
	const char *name;
	void (*run)(uint64_t round);
	void (*open)(void);
	int threads, library_threads; /* of each PE */
	void (*before)(void);	      /* each execution, by the first thread of each PE */
} scenarios[] = {
	{"flags", flags, NULL, 1, 0, NULL},
	{"signals", signals, NULL, 1, 0, NULL},
	{"observed", signals, NULL, 1, 0, NULL},
	{"quiets", quiets, NULL, 1, 0, NULL},
	{"wait_sets", wait_sets, NULL, 1, 0, NULL},
	{"barriers", barriers, NULL, 1, 0, NULL},
	{"counters", barriers, NULL, 1, 0, NULL},
	{"groups", barriers, NULL, 1, 0, NULL},
	{"group_counters", barriers, NULL, 1, 0, NULL},
	{"locks", locks, NULL, 1, 0, NULL},
	{"contended", locks, NULL, 1, 0, NULL},
	{"exchanges", exchanges, open_exchanges, 1, 0, NULL},
	{"slots", slots, open_exchanges, 1, 0, NULL},
	{"events", events, open_buffers, 1, 0, NULL},
	{"plans", plans, open_lists, 1, 0, NULL},
	{"lists", lists, open_lists, 2, 0, NULL},
	{"executor", plans, open_executor, 1, 1, NULL},
	{"reductions", reductions, NULL, 1, 0, NULL},
	{"group_reductions", reductions, NULL, 1, 0, NULL},
	{"broadcasts", broadcasts, NULL, 1, 0, NULL},
	{"threads", threads, open_buffers, 2, 0, NULL},
	{"contacts", contacts, open_contacts, 2, 0, before_contacts},
	{"channels", channels, open_channels, 2, 0, NULL},
	{"channels_fenced", channels, open_channels, 2, 0, NULL},
	{"arrivals", arrivals, open_arrivals, 2, 0, NULL},
	{"records", records, open_records, 2, 0, NULL},
	{"hangs", hangs, NULL, 1, 0, NULL},
	{"contention", contention, open_contention, 2, 0, NULL},
	{"executor_stops", executor_stops, NULL, 1, 1, NULL},
#if HAVE_SOFTOFU
	{"tofu_puts", tofu_puts, open_tofu, 1, 0, NULL},
	{"tofu_words", tofu_words, open_tofu, 1, 0, NULL},
	{"tofu_atomics", tofu_atomics, open_tofu, 1, 0, NULL},
	{"tofu_notices", tofu_notices, open_tofu, 1, 0, NULL},
	{"tofu_comings", tofu_comings, open_tofu, 1, 0, NULL},
	{"tofu_sessions", tofu_sessions, open_tofu_session, 1, 1, NULL},
	{"tofu_held", tofu_held, open_tofu_held, 1, 1, NULL},
	{"tofu_gates", tofu_gates, open_tofu_gates, 1, 0, NULL},
	{"tofu_packets", tofu_packets, open_tofu_packets, 1, 0, NULL},
	{"tofu_through", tofu_packet_network, open_tofu_through, 1, 0, NULL},
	{"tofu_routers", tofu_packet_network, open_tofu_routers, 1, 0, NULL},
#endif
};

static const struct scenario *find(const char *name)
{
	for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++)
		if (!strcmp(scenarios[i].name, name))
			return &scenarios[i];
	fprintf(stderr, "scenarios: there is no scenario '%s'\n", name);
	exit(2);
}

static const struct scenario *chosen;

static void run_all(void)
{
	uint64_t round;

	for (;;) {
		if (chosen->before && thread == 0)
			chosen->before();
		if (!explore_next(&round))
			break;
		if (me == 0 && thread == 0)
			data_is_ordered();
		chosen->run(round);
		explore_done();
	}
}

static void *run_thread(void *unused)
{
	thread = 1;
	explore_thread(thread);
	run_all();
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t other;
	int provided;

	chosen = find(argc > 1 ? argv[1] : "");
	shmem_init_thread(chosen->threads > 1 ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SINGLE, &provided);
	me = shmem_my_pe();
	npes = shmem_n_pes();
	shared = shmem_calloc(1, sizeof *shared);
	explore_start(chosen->threads, chosen->library_threads);
	if (chosen->open)
		chosen->open();
	shmem_barrier_all();
	if (chosen->threads > 1)
		must(pthread_create(&other, NULL, run_thread, NULL) == 0, "no thread");
	run_all();
	if (chosen->threads > 1)
		pthread_join(other, NULL);
	explore_stop();
	shmem_finalize();
	return 0;
}
