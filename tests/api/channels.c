/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=2,4,8 ucx-tcp=2,3 ucx-shm=2 mixed=4 */
/*
 * Contexts as queues of their own: threads with one each, order and completion of each by itself,
 * arrival of what nobody completes, contexts without end, contexts that nobody destroys, too few
 * file descriptors for all.
 */
#include <dirent.h>
#include <pthread.h>
#include <sys/resource.h>

#include "tests/lib/check.h"

#define THREADS 6
#define BYTES 900
#define MOST 64 /* PEs */

/* From each thread of each PE, on every PE. */
static struct written {
	unsigned char put[BYTES], nbi[BYTES], signalled[BYTES];
	uint64_t signal, twice;
	long added, swapped, p, strided[6];
} written[MOST][THREADS];

static long read_only[MOST], total, flag[MOST], data[MOST], answer;
static long *big, *big_here;
static long big_count = 2 << 20; /* more than sockets take by themselves */
static long rounds;
static pthread_barrier_t all_threads;
static pthread_mutex_t baton = PTHREAD_MUTEX_INITIALIZER;
static shmem_team_t reversed;

/* --- Threads, each with a context --- */

static uint64_t seed_of(int pe, int t, long round)
{
	return (uint64_t)((round * MOST + pe) * THREADS + t);
}

/* to is a PE of the context's team. */
static void send(shmem_ctx_t ctx, int to, int t, long round)
{
	struct written *area = &written[me][t];
	unsigned char put[BYTES], signalled[BYTES];
	static _Thread_local unsigned char nbi[MOST][BYTES]; /* one per target, until the quiet */
	long pair[3] = {round, round + 1, round + 2};

	fill_noise(put, BYTES, seed_of(me, t, round));
	fill_noise(nbi[to], BYTES, seed_of(me, t, round) + 1);
	fill_noise(signalled, BYTES, seed_of(me, t, round) + 2);
	shmem_ctx_putmem(ctx, area->put, put, BYTES, to);
	shmem_ctx_putmem_nbi(ctx, area->nbi, nbi[to], BYTES, to);
	shmem_ctx_putmem_signal(ctx, area->signalled, signalled, BYTES, &area->signal, (uint64_t)round,
				SHMEM_SIGNAL_SET, to);
	shmem_ctx_signal_add(ctx, &area->twice, 2, to);
	shmem_ctx_long_atomic_add(ctx, &area->added, round, to);
	CHECK_EQUAL(shmem_ctx_long_atomic_swap(ctx, &area->swapped, round, to), round - 1);
	shmem_ctx_long_p(ctx, &area->p, -round, to);
	shmem_ctx_long_iput(ctx, area->strided, pair, 2, 1, 3, to);
	shmem_ctx_long_atomic_inc(ctx, &total, to);
	memset(put, 0, sizeof put); /* all but nbi may be overwritten at once */
	memset(signalled, 0, sizeof signalled);
	memset(pair, 0, sizeof pair);
}

static void check_written(const struct written *area, int from, int t, long round)
{
	unsigned char expected[BYTES];

	fill_noise(expected, BYTES, seed_of(from, t, round));
	CHECK_BYTES(area->put, expected, BYTES);
	fill_noise(expected, BYTES, seed_of(from, t, round) + 1);
	CHECK_BYTES(area->nbi, expected, BYTES);
	fill_noise(expected, BYTES, seed_of(from, t, round) + 2);
	CHECK_BYTES(area->signalled, expected, BYTES);
	CHECK_EQUAL(area->signal, (uint64_t)round);
	CHECK_EQUAL(area->twice, (uint64_t)round * 2);
	CHECK_EQUAL(area->added, round * (round + 1) / 2);
	CHECK_EQUAL(area->swapped, round);
	CHECK_EQUAL(area->p, -round);
	for (long i = 0; i < 3; i++)
		CHECK_EQUAL(area->strided[2 * i], round + i);
}

/* What is there once the quiet is done, by the same context; and results that come with a quiet. */
static void read_back(shmem_ctx_t ctx, int to, int world, int t, long round)
{
	struct written copy, later;
	long number = -1, fetched = -1, strided[3];

	shmem_ctx_getmem(ctx, &copy, &written[me][t], sizeof copy, to);
	check_written(&copy, me, t, round);
	CHECK_EQUAL(shmem_ctx_long_g(ctx, &read_only[world], to), world);
	shmem_ctx_long_iget(ctx, strided, written[me][t].strided, 1, 2, 3, to);
	CHECK_EQUAL(strided[2], round + 2);
	shmem_ctx_getmem_nbi(ctx, &later, &written[me][t], sizeof later, to);
	shmem_ctx_long_get_nbi(ctx, &number, &read_only[world], 1, to);
	shmem_ctx_long_atomic_fetch_nbi(ctx, &fetched, &written[me][t].swapped, to);
	if (round % 2)
		shmem_ctx_pe_quiet(ctx, &to, 1);
	else
		shmem_ctx_quiet(ctx);
	check_written(&later, me, t, round);
	CHECK_EQUAL(number, world);
	CHECK_EQUAL(fetched, round);
}

static void talk_to_all(shmem_ctx_t ctx, bool is_reversed, int t, long round)
{
	int all[MOST];

	for (int i = 0; i < npes; i++) {
		all[i] = (me + i + t) % npes;
		send(ctx, all[i], t, round);
	}
	if (round % 3 == 0)
		shmem_ctx_pe_quiet(ctx, all, (size_t)npes);
	else
		shmem_ctx_quiet(ctx);
	for (int pe = 0; pe < npes; pe++)
		read_back(ctx, pe, is_reversed ? npes - 1 - pe : pe, t, round);
}

static void *talk(void *argument)
{
	static const long options[] = {SHMEM_CTX_PRIVATE,
				       SHMEM_CTX_SERIALIZED,
				       0,
				       SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE,
				       SHMEM_CTX_NOSTORE,
				       SHMEM_CTX_PRIVATE | SHMEM_CTX_SERIALIZED};
	int t = (int)(uintptr_t)argument;
	shmem_ctx_t ctx;

	CHECK_EQUAL(shmem_team_create_ctx(t % 2 ? reversed : SHMEM_TEAM_WORLD, options[t % 6], &ctx), 0);
	pthread_barrier_wait(&all_threads);
	for (long round = 1; round <= rounds; round++)
		talk_to_all(ctx, t % 2, t, round);
	shmem_ctx_destroy(ctx);
	return NULL;
}

static void run_threads(void *(*work)(void *))
{
	pthread_t threads[THREADS];

	CHECK(pthread_barrier_init(&all_threads, NULL, THREADS) == 0);
	for (int t = 0; t < THREADS; t++)
		CHECK(pthread_create(&threads[t], NULL, work, (void *)(uintptr_t)t) == 0);
	for (int t = 0; t < THREADS; t++)
		CHECK(pthread_join(threads[t], NULL) == 0);
	pthread_barrier_destroy(&all_threads);
}

static void check_threads(void)
{
	NOTE("a context for each thread");
	rounds = eased(60);
	run_threads(talk);
	shmem_barrier_all();
	for (int from = 0; from < npes; from++)
		for (int t = 0; t < THREADS; t++)
			check_written(&written[from][t], from, t, rounds);
	CHECK_EQUAL(total, npes * THREADS * rounds);
	shmem_barrier_all();
}

/* One serialised context that goes from thread to thread. */
static shmem_ctx_t passed_on;

static void *alternate(void *argument)
{
	int t = (int)(uintptr_t)argument, to = (me + t) % npes;

	pthread_barrier_wait(&all_threads);
	for (long i = 0; i < rounds; i++) {
		long seen = -1;

		pthread_mutex_lock(&baton);
		shmem_ctx_long_atomic_inc(passed_on, &total, to);
		shmem_ctx_long_get_nbi(passed_on, &seen, &read_only[to], 1, to);
		if (i % 2)
			shmem_ctx_quiet(passed_on);
		else
			shmem_ctx_pe_quiet(passed_on, &to, 1);
		CHECK_EQUAL(seen, to);
		pthread_mutex_unlock(&baton);
	}
	return NULL;
}

static void check_handing_on(void)
{
	NOTE("one context passed from thread to thread");
	rounds = eased(300);
	total = 0;
	shmem_barrier_all();
	CHECK_EQUAL(shmem_ctx_create(SHMEM_CTX_SERIALIZED, &passed_on), 0);
	run_threads(alternate);
	shmem_ctx_destroy(passed_on);
	shmem_barrier_all();
	CHECK_EQUAL(total, THREADS * rounds);
	shmem_barrier_all();
}

/* --- Order --- */

/* Data; fence; flag, from everybody to the right: who sees the flag sees the data. */
static void check_order(long options)
{
	int right = (me + 1) % npes, left = (me + npes - 1) % npes;
	shmem_ctx_t ctx;

	NOTE("order on a context with options %ld", options);
	flag[left] = data[left] = 0;
	shmem_barrier_all();
	CHECK_EQUAL(shmem_ctx_create(options, &ctx), 0);
	for (long round = 1; round <= eased(300); round++) {
		long value = round * 7;

		if (round % 2)
			shmem_ctx_long_put_nbi(ctx, &data[me], &value, 1, right);
		else
			shmem_ctx_long_atomic_set(ctx, &data[me], value, right);
		shmem_ctx_fence(ctx);
		if (round % 3)
			shmem_ctx_long_p(ctx, &flag[me], round, right);
		else
			shmem_ctx_long_atomic_set(ctx, &flag[me], round, right);
		shmem_long_wait_until(&flag[left], SHMEM_CMP_GE, round);
		CHECK(shmem_long_atomic_fetch(&data[left], me) >= round * 7);
		shmem_ctx_quiet(ctx);
		shmem_sync_all();
	}
	shmem_ctx_destroy(ctx);
	shmem_barrier_all();
}

/* --- Independence --- */

enum { QUIET, PE_QUIET, FENCE, CREATE, METHODS };

/*
 * Many operations of one context are pending while another, or another PE on the same, is
 * completed. Returns whether that was done before the much had come: what completes only what it
 * should is, more often than not.
 */
static bool comes_first(int method, shmem_ctx_t busy, shmem_ctx_t other, int far, int near)
{
	bool first;

	memset(big_here, 0, (size_t)big_count * sizeof *big_here);
	shmem_ctx_long_get_nbi(busy, big_here, big, big_count, far);
	shmem_ctx_long_p(other, &data[me], 5, near);
	switch (method) {
	case QUIET: shmem_ctx_quiet(other); break;
	case PE_QUIET: shmem_ctx_pe_quiet(other, &near, 1); break;
	case FENCE: shmem_ctx_fence(other); break;
	case CREATE:
		shmem_ctx_create(SHMEM_CTX_PRIVATE, &other);
		shmem_ctx_destroy(other);
		break;
	}
	first = __atomic_load_n(&big_here[big_count - 1], __ATOMIC_RELAXED) != big_count;
	shmem_ctx_quiet(busy);
	for (long i = 0; i < big_count; i++)
		CHECK_EQUAL(big_here[i], i + 1);
	return first;
}

static void check_independence(long options, int method, bool same, const char *what)
{
	int far = (me + 1) % npes, near = (me + 2) % npes, firsts = 0;
	shmem_ctx_t busy, other;

	NOTE("%s", what);
	CHECK_EQUAL(shmem_ctx_create(options, &busy), 0);
	other = busy;
	if (!same)
		CHECK_EQUAL(shmem_ctx_create(options, &other), 0);
	for (int i = 0; i < 20 && !firsts; i++)
		firsts += comes_first(method, busy, other, far, near);
	if (on_path("ucx-tcp") && npes > 2)
		CHECK(firsts > 0);
	if (!same)
		shmem_ctx_destroy(other);
	shmem_ctx_destroy(busy);
	shmem_barrier_all();
}

/* --- Arrival --- */

/*
 * What was begun on a context arrives though it is never completed, while its owner waits for the
 * answer or does nothing.
 */
static void check_arrival(long options, bool waiting)
{
	int right = (me + 1) % npes, left = (me + npes - 1) % npes;
	shmem_ctx_t ctx;

	NOTE("arrival without quiet, options %ld, %s", options, waiting ? "waiting" : "idle");
	CHECK_EQUAL(shmem_ctx_create(options, &ctx), 0);
	for (long round = 1; round <= 3; round++) {
		answer = 0;
		memset(big, 0, (size_t)big_count * sizeof *big);
		for (long i = 0; i < big_count; i++)
			big_here[i] = round;
		shmem_barrier_all();
		shmem_ctx_long_put_nbi(ctx, big, big_here, big_count, right);
		if (me % 2 == 0 && !waiting)
			sleep_for(0.1);
		for (long i = 0; i < big_count; i += big_count / 16)
			shmem_long_wait_until(&big[i], SHMEM_CMP_EQ, round);
		shmem_long_wait_until(&big[big_count - 1], SHMEM_CMP_EQ, round);
		shmem_long_atomic_set(&answer, round, left);
		while (!waiting && shmem_long_atomic_fetch(&answer, me) != round)
			sleep_for(0.001); /* nothing here calls for anything else to happen */
		shmem_long_wait_until(&answer, SHMEM_CMP_EQ, round);
		shmem_ctx_quiet(ctx);
		shmem_barrier_all();
	}
	shmem_ctx_destroy(ctx);
}

/* --- Number --- */

static int open_files(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int count = 0;

	CHECK(folder != NULL);
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

/* Some at a time, all in use, again and again; returns how many files are open afterwards. */
static int make_and_destroy(long times, int at_once)
{
	shmem_ctx_t ctx[40];

	for (long i = 0; i < times; i++) {
		for (int k = 0; k < at_once; k++)
			CHECK_EQUAL(shmem_ctx_create((i + k) % 8, &ctx[k]), 0);
		for (int k = 0; k < at_once; k++) {
			int pe = (me + k) % npes;

			shmem_ctx_long_atomic_inc(ctx[k], &total, pe);
			CHECK_EQUAL(shmem_ctx_long_g(ctx[k], &read_only[pe], pe), pe);
		}
		for (int k = 0; k < at_once; k++)
			shmem_ctx_destroy(ctx[(k + i) % at_once]);
	}
	return open_files();
}

static void check_number(void)
{
	long before = 0;
	int files;

	NOTE("contexts without end");
	total = 0;
	shmem_barrier_all();
	/*
	 * Those who connect to us open files here, too, so all count when all have done the same.
	 */
	make_and_destroy(2, 20);
	shmem_barrier_all();
	files = open_files();
	shmem_barrier_all();
	make_and_destroy(eased(100), 1);
	make_and_destroy(eased(24), 20);
	shmem_barrier_all();
	for (int patience = 50; open_files() > files + 20 && patience > 0; patience--)
		sleep_for(0.1); /* the other side's part of a connection may take a moment to go */
	CHECK(open_files() <= files + 20);
	for (int pe = 0; pe < npes; pe++)
		before += shmem_long_g(&total, pe);
	CHECK_EQUAL(before, npes * (2 * 20 + eased(100) + eased(24) * 20));
	shmem_barrier_all();
}

/* More contexts than there are file descriptors for: they work all the same. */
static void check_few_files(void)
{
	static shmem_ctx_t many[100];
	struct rlimit limit, low;

	NOTE("few file descriptors");
	CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
	low = limit;
	low.rlim_cur = (rlim_t)open_files() + 200;
	if (low.rlim_cur > limit.rlim_cur)
		return;
	CHECK(setrlimit(RLIMIT_NOFILE, &low) == 0);
	total = 0;
	shmem_barrier_all();
	for (int i = 0; i < 100; i++) {
		CHECK_EQUAL(shmem_ctx_create(SHMEM_CTX_PRIVATE, &many[i]), 0);
		shmem_ctx_long_atomic_inc(many[i], &total, (me + 1) % npes);
	}
	for (int i = 0; i < 100; i++)
		CHECK_EQUAL(shmem_ctx_long_g(many[i], &read_only[me], me), me);
	for (int i = 0; i < 100; i++)
		shmem_ctx_destroy(many[i]);
	shmem_barrier_all();
	CHECK_EQUAL(total, 100);
	CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	shmem_barrier_all();
}

/* --- The end --- */

static long left_behind[MOST];

/*
 * Contexts that nobody destroys or completes; what was begun on them is there when all have
 * finalised.
 */
static void leave_some(long value)
{
	static long source;
	shmem_ctx_t ctx[6];

	source = value;
	memset(left_behind, 0, sizeof left_behind);
	shmem_barrier_all();
	for (int i = 0; i < 6; i++) {
		int pe = (me + i) % npes;

		CHECK_EQUAL(shmem_team_create_ctx(SHMEM_TEAM_WORLD, i % 2 ? SHMEM_CTX_SERIALIZED : 0, &ctx[i]), 0);
		if (i < npes)
			shmem_ctx_long_put_nbi(ctx[i], &left_behind[me], &source, 1, pe);
	}
	shmem_finalize();
	for (int i = 0; i < npes && i < 6; i++)
		CHECK_EQUAL(left_behind[(me + npes - i) % npes], value);
}

static void come_up(void)
{
	int level = -1;

	CHECK_EQUAL(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level), 0);
	me = shmem_my_pe();
	npes = shmem_n_pes();
	CHECK(npes <= MOST);
	for (int pe = 0; pe < npes; pe++)
		read_only[pe] = pe;
	if (ease() > 10)
		big_count /= 16;
	big = symmetric((size_t)big_count * sizeof *big);
	big_here = symmetric((size_t)big_count * sizeof *big);
	for (long i = 0; i < big_count; i++)
		big[i] = i + 1;
	CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes, NULL, 0, &reversed), 0);
	shmem_barrier_all();
}

int main(void)
{
	come_up();
	check_threads();
	check_handing_on();
	for (long options = 0; options < 4; options++)
		check_order(options);
	check_independence(SHMEM_CTX_PRIVATE, QUIET, false, "quiet of one private context");
	check_independence(0, QUIET, false, "quiet of one context of several");
	check_independence(SHMEM_CTX_PRIVATE, PE_QUIET, true, "pe_quiet of a private context");
	check_independence(0, PE_QUIET, true, "pe_quiet of a context");
	check_independence(SHMEM_CTX_SERIALIZED, FENCE, false, "fence of one serialised context");
	check_independence(SHMEM_CTX_SERIALIZED, CREATE, false, "creation and end of a context");
	for (long options = 0; options < 3; options++)
		for (int waiting = 0; waiting < 2; waiting++)
			check_arrival(options, waiting);
	check_number();
	check_few_files();
	leave_some(11);

	/* Once more where only those who wait or communicate make anything happen. */
	setenv("SHMEM_PROGRESS_THREAD", "no", 1);
	come_up();
	for (long options = 0; options < 3; options++)
		check_arrival(options, true);
	check_order(SHMEM_CTX_PRIVATE);
	leave_some(22);
	return 0;
}
