/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Contention: others want the processors. The library knows the PEs of its node, but not other
 * jobs, test clusters' hosts or containers on the same processors, or a hypervisor that has too
 * few. A PE that spins then keeps a processor from the PE it waits for, and all wait until the
 * kernel preempts.
 *
 * Two things show it. The kernel counts how long this thread was runnable without running, and how
 * often it ran (schedstat); a PE that is alone on its processor never waits for one. And when a
 * hypervisor takes the processor away, there is a gap between polls. If repeatedly more than a
 * sixteenth of the time is lost, waiting PEs poll a few times and then sleep. While next to none is
 * lost, they double the number of polls every 20 ms until it is normal again. Threads that serve a
 * PE, this one or another, take the processor often and for microseconds. If PEs slept for that, no
 * processor would be awake for them, and waking an idle one takes longer.
 */
#include "contention.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "rte/clock.h"

#define SAMPLE_EVERY 10000000LL /* ns */
#define CALM_FOR 20000000LL	/* ns */
#define OFTEN 2			/* samples in a row: a daemon that runs once is no contention */
#define GAP 200000LL		/* ns; the polls between two clock readings take a tenth of that */
#define POLLS_LEAST 128
#define MUCH 16 /* lost share of the time that counts as contention */
#define LITTLE 64
#define LONG 100000 /* ns without interruption */
/* Longer than the serving thread needs to see that it has no work, a few times in 10 ms. */
#define SHORT 50000

struct delays {
	int64_t time; /* ns ready to run */
	int64_t pieces;
};

static struct {
	int file; /* schedstat of the thread that started; -1: there is none */
	unsigned most;
	atomic_bool sampling; /* the thread that set it owns the fields below, up to gaps */
	int64_t calm_since;
	struct delays seen;
	int often;		 /* samples in a row with contention */
	_Atomic int64_t sampled; /* time of the last sample; ns, like all times here */
	_Atomic int64_t gaps;	 /* since then */
} contention = {.file = -1};

/* The kernel's numbers: ns run, ns runnable, number of runs. */
static struct delays read_delays(void)
{
	char text[96], *at = text;
	ssize_t length = contention.file < 0 ? -1 : pread(contention.file, text, sizeof text - 1, 0);
	struct delays delays = {0};

	if (length <= 0)
		return delays;
	text[length] = '\0';
	strtoll(at, &at, 10);
	delays.time = strtoll(at, &at, 10);
	delays.pieces = strtoll(at, &at, 10);
	return delays;
}

void contention_start(unsigned most)
{
	contention.file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	contention.most = most;
	contention.seen = read_delays();
	contention.often = 0;
	contention.calm_since = rte_clock_ns();
	atomic_store_explicit(&contention.sampled, contention.calm_since, memory_order_relaxed);
	atomic_store_explicit(&contention.gaps, 0, memory_order_relaxed);
}

void contention_stop(void)
{
	if (contention.file >= 0)
		close(contention.file);
	contention.file = -1;
}

static void judge_sample(int64_t now)
{
	struct delays delays = read_delays();
	int64_t span = now - atomic_load_explicit(&contention.sampled, memory_order_relaxed),
		gaps = atomic_exchange_explicit(&contention.gaps, 0, memory_order_relaxed);
	int64_t late = delays.time - contention.seen.time, pieces = delays.pieces - contention.seen.pieces;
	bool much = gaps > span / MUCH || (late > span / MUCH && late > pieces * LONG);
	bool little = gaps < span / LITTLE && (late < span / LITTLE || late < pieces * SHORT);
	unsigned spin = atomic_load_explicit(&comms.spin, memory_order_relaxed);

	contention.seen = delays;
	atomic_store_explicit(&contention.sampled, now, memory_order_relaxed);
	if (!little)
		contention.calm_since = now;
	contention.often = much ? contention.often + 1 : 0;
	if (contention.often >= OFTEN) {
		atomic_store_explicit(&comms.spin, POLLS_LEAST, memory_order_relaxed);
	} else if (spin < contention.most && now - contention.calm_since > CALM_FOR) {
		atomic_store_explicit(&comms.spin, spin < contention.most / 2 ? 2 * spin : contention.most,
				      memory_order_relaxed);
		contention.calm_since = now;
	}
}

bool contention_is_there(void)
{
	return comms.minds_contention && atomic_load_explicit(&comms.spin, memory_order_relaxed) < contention.most;
}

static void sample_if_due(int64_t now)
{
	if (now - atomic_load_explicit(&contention.sampled, memory_order_relaxed) < SAMPLE_EVERY ||
	    atomic_exchange_explicit(&contention.sampling, true, memory_order_acquire))
		return;
	judge_sample(now);
	atomic_store_explicit(&contention.sampling, false, memory_order_release);
}

void contention_sample(void)
{
	sample_if_due(rte_clock_ns());
}

unsigned contention_poll(unsigned polls)
{
	static _Thread_local struct {
		unsigned polls;
		int64_t at;
	} last_poll __attribute__((tls_model("initial-exec")));
	int64_t now = rte_clock_ns();
	unsigned most;

	if (last_poll.polls == polls + CONTENTION_POLLS && now - last_poll.at > GAP)
		atomic_fetch_add_explicit(&contention.gaps, now - last_poll.at, memory_order_relaxed);
	last_poll.polls = polls;
	last_poll.at = now;
	sample_if_due(now);
	most = atomic_load_explicit(&comms.spin, memory_order_relaxed);
	return polls < most ? polls : most;
}
