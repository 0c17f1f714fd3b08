/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Message rates: windows of 8-byte messages that end with a quiet. One pair is PE 0 and PE 1. With
 * all pairs, each PE of the first half sends to one of the second, and with "both" they send to
 * each other.
 */
#include "bench.h"

enum { MOST_WINDOW = 1024 };

struct flow {
	long *here, *there;
	long window;
	int partner; /* -1: this PE starts nothing */
	bool receives, gets;
};

static double send_windows(void *context, long n)
{
	const struct flow *f = context;
	double start = now_ns();

	if (f->partner < 0)
		return 0;
	for (long i = 0; i < n; i++) {
		if (f->gets)
			for (long j = 0; j < f->window; j++)
				shmem_getmem_nbi(&f->here[j], &f->there[j], 8, f->partner);
		else
			for (long j = 0; j < f->window; j++)
				shmem_putmem_nbi(&f->there[j], &f->here[j], 8, f->partner);
		shmem_quiet();
	}
	return now_ns() - start;
}

/* Every source is full of ones; destinations were zero. */
static bool arrived(void *context)
{
	const struct flow *f = context;
	const long *words = f->gets ? f->here : f->there;

	if (f->gets ? f->partner < 0 : !f->receives)
		return true;
	for (long j = 0; j < f->window; j++)
		if (words[j] != 1)
			return false;
	return true;
}

static void measure_flow(const char *measure, const char *who, struct flow *f)
{
	static const long windows[] = {1, 16, 64, MOST_WINDOW};
	char variant[40];

	for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
		f->window = windows[i];
		snprintf(variant, sizeof variant, "%s:window-%ld", who, f->window);
		for (long j = 0; j < MOST_WINDOW; j++) {
			f->here[j] = f->gets ? 0 : 1;
			f->there[j] = f->gets ? 1 : 0;
		}
		harness_measure(&(struct spot){.measure = measure,
					       .variant = variant,
					       .bytes = 8,
					       .sample = send_windows,
					       .context = f,
					       .check = arrived,
					       .operations = (double)f->window});
	}
}

static void measure_rates(const char *measure, bool gets)
{
	struct flow f = {.here = heap_take(MOST_WINDOW * sizeof(long)),
			 .there = heap_take(MOST_WINDOW * sizeof(long)),
			 .gets = gets};
	int half = group.size / 2;

	f.partner = group.me == 0 ? 1 : -1;
	f.receives = group.me == 1;
	measure_flow(measure, "one", &f);
	if (group.size >= 4) {
		f.partner = group.me < half ? group.me + half : -1;
		f.receives = group.me >= half && group.me < 2 * half;
		measure_flow(measure, "pairs", &f);
	}
	f.receives = group.me < 2 * half;
	f.partner = f.receives ? (group.me + half) % (2 * half) : -1;
	measure_flow(measure, "both", &f);
	heap_give(f.there);
	heap_give(f.here);
}

void rate_put(void)
{
	measure_rates("put-rate", false);
}

void rate_get(void)
{
	measure_rates("get-rate", true);
}
