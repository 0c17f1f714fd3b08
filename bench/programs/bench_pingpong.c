/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PEs 0 and 1 send each other the same message alternately: half a round trip. A wait's wake-up is
 * measured apart: the waiting PE has been idle for some time when the put comes.
 */
#include "bench.h"

struct exchange {
	char *from, *to;
	uint64_t *flag;
	uint64_t epoch; /* what the flag has come to */
	size_t bytes;
	unsigned spot;
	void (*send)(const struct exchange *);
	void (*await)(const struct exchange *);
};

static void send_word(const struct exchange *e)
{
	shmem_long_p((long *)e->flag, (long)e->epoch, !group.me);
}

static void await_word(const struct exchange *e)
{
	shmem_long_wait_until((long *)e->flag, SHMEM_CMP_GE, (long)e->epoch);
}

static void send_fence_word(const struct exchange *e)
{
	shmem_putmem(e->to, e->from, e->bytes, !group.me);
	shmem_fence();
	shmem_long_p((long *)e->flag, (long)e->epoch, !group.me);
}

#if HAS_15
static void send_signal(const struct exchange *e)
{
	shmem_putmem_signal(e->to, e->from, e->bytes, e->flag, e->epoch, SHMEM_SIGNAL_SET, !group.me);
}

static void await_signal(const struct exchange *e)
{
	shmem_signal_wait_until(e->flag, SHMEM_CMP_GE, e->epoch);
}
#else /* what one wrote before there were signals */
#define send_signal send_fence_word
#define await_signal await_word
#endif

static double ping_pong(void *context, long n)
{
	struct exchange *e = context;
	double start = now_ns();

	if (group.me > 1)
		return 0;
	for (long i = 0; i < n; i++) {
		e->epoch++;
		if (group.me == 0)
			e->send(e);
		e->await(e);
		if (group.me == 1)
			e->send(e);
	}
	return now_ns() - start;
}

static bool arrived(void *context)
{
	const struct exchange *e = context;

	return group.me > 1 || e->bytes == 0 || pattern_is(e->to, e->bytes, !group.me, e->spot);
}

static void measure_exchange(const char *measure, const char *variant, struct exchange *e)
{
	static unsigned spot;

	e->spot = ++spot;
	if (e->from)
		pattern_write(e->from, e->bytes, group.me, e->spot);
	harness_measure(&(struct spot){.measure = measure,
				       .variant = variant,
				       .bytes = e->bytes ? e->bytes : 8,
				       .sample = ping_pong,
				       .context = e,
				       .operations = 2,
				       .check = arrived});
}

static struct exchange take_exchange(void)
{
	struct exchange e = {.from = heap_take(largest_size()),
			     .to = heap_take(largest_size()),
			     .flag = shmem_malloc(64)};

	if (!e.flag)
		group_fail("no symmetric memory for a flag");
	*e.flag = 0;
	group_barrier();
	return e;
}

static void give_exchange(const struct exchange *e)
{
	heap_give(e->flag);
	heap_give(e->to);
	heap_give(e->from);
}

void wait_ping_pong(void)
{
	struct exchange e = take_exchange(), word = {.flag = e.flag, .send = send_word, .await = await_word};

	measure_exchange("pingpong", "p", &word);
	e.epoch = word.epoch;
	e.send = send_fence_word;
	e.await = await_word;
	for (int i = 0; options.sizes[i]; i++) {
		e.bytes = options.sizes[i];
		measure_exchange("pingpong", "put+fence+p", &e);
	}
	give_exchange(&e);
}

void signal_ping_pong(void)
{
	struct exchange e = take_exchange();

	e.send = send_signal;
	e.await = await_signal;
	for (int i = 0; options.sizes[i]; i++) {
		e.bytes = options.sizes[i];
		measure_exchange("signal", "put-signal", &e);
	}
	give_exchange(&e);
}

/* --- Waking up --- */

struct sleeper {
	long *words; /* [0] the time of the put in ns since the machine started, [1] an answer */
	double delay_ns;
	long epoch;
};

/* The clock is the same for all processes of a machine, so the times of two may be compared. */
static double wake(void *context, long n)
{
	struct sleeper *s = context;
	double sum = 0;

	if (group.me > 1)
		return 0;
	for (long i = 0; i < n; i++) {
		s->epoch++;
		if (group.me == 0) {
			double until = now_ns() + s->delay_ns;

			while (now_ns() < until)
				relax();
			shmem_long_p(s->words, (long)now_ns(), 1);
			shmem_long_wait_until(&s->words[8], SHMEM_CMP_GE, s->epoch);
		} else {
			shmem_long_wait_until(s->words, SHMEM_CMP_NE, 0);
			sum += now_ns() - (double)s->words[0];
			s->words[0] = 0;
			shmem_long_p(&s->words[8], s->epoch, 0);
		}
	}
	return sum;
}

/* It takes as many rounds as fit into the time of a sample, the idle time included. */
void wait_wake_up(void)
{
	static const double delays[] = {1e3, 1e4, 1e5, 1e6, 1e7};
	static const char *const names[] = {"after-1us", "after-10us", "after-100us", "after-1ms", "after-10ms"};
	struct sleeper s = {.words = shmem_malloc(128)};

	if (!s.words)
		group_fail("no symmetric memory for a flag");
	if (!group.has_raw) {
		if (group.me == 0)
			fprintf(stderr, "bench: wake is left out: PEs 0 and 1 are not on one machine\n");
		heap_give(s.words);
		return;
	}
	for (int i = 0; i < 5 && !(options.quick && i > 3); i++) {
		long most = (long)(options.sample_ns * 4 / delays[i]);

		s.delay_ns = delays[i];
		s.epoch = 0;
		s.words[0] = s.words[8] = 0;
		harness_measure(&(struct spot){.measure = "wake",
					       .variant = names[i],
					       .bytes = 8,
					       .sample = wake,
					       .context = &s,
					       .most = most > 0 ? most : 1});
	}
	heap_give(s.words);
}
