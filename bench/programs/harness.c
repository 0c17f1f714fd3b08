/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Taking samples. A spot is warmed up while it is found out how many operations fill a sample; then
 * samples are taken until there are enough. A sample during which a member lost its processor is
 * thrown away, and so is the whole spot when members 0 and 1 were near each other before it and far
 * after it, or the reverse.
 */
#include "measure.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { LEAST_SAMPLES = 5, TRIES = 3 };

struct options options;
struct group group;

/* How often this process had to leave its processor to another. */
static double times_interrupted(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_nivcsw;
}

/* At member 0: the longest time of all, and whether any member was interrupted. */
static double take(const struct spot *spot, long n, bool *disturbed)
{
	double *all = malloc((size_t)group.size * sizeof *all);
	double longest = 0, interrupted, elapsed;

	if (!all)
		group_fail("no memory for the times of %d members", group.size);
	group_barrier();
	interrupted = times_interrupted();
	elapsed = spot->sample(spot->context, n);
	interrupted = times_interrupted() - interrupted;
	/* One number for both: times are not negative. */
	group_gather(interrupted > 0 ? -elapsed - 1 : elapsed, all);
	*disturbed = false;
	for (int i = 0; group.me == 0 && i < group.size; i++) {
		double time = all[i] < 0 ? -all[i] - 1 : all[i];

		*disturbed |= all[i] < 0;
		longest = time > longest ? time : longest;
	}
	free(all);
	return longest;
}

/* How many operations make a sample of the wanted length. This is the warming up, too. */
static long calibrate(const struct spot *spot)
{
	long n = 1, next;
	bool disturbed;

	take(spot, n, &disturbed);
	for (int attempt = 0; attempt < 40; attempt++) {
		double time = take(spot, n, &disturbed);

		if (time >= options.sample_ns / 4 && !(disturbed && n < 1000 && attempt < 4))
			next = (long)((double)n * options.sample_ns / time);
		else
			next = -4 * n; /* and measure again */
		if (time >= options.sample_ns)
			next = n;
		if (spot->most && labs(next) > spot->most)
			next = spot->most;
		next = group_broadcast(next);
		if (next >= 0)
			return next > 0 ? next : 1;
		n = -next;
	}
	return n;
}

/*
 * The values so far, at member 0. Undisturbed ones grow from the front; the others wait at the back
 * in case they are needed.
 */
struct values {
	double *all;
	int good, bad, wanted;
};

static void store(struct values *v, double value, bool disturbed)
{
	if (!disturbed)
		v->all[v->good++] = value;
	else
		v->all[v->wanted - 1 - v->bad++ % (v->wanted - v->good)] = value;
}

/* Where too few were undisturbed, the others are better than none. Returns how many there are. */
static int gather_values(struct values *v)
{
	int bad = v->bad < v->wanted - v->good ? v->bad : v->wanted - v->good;

	if (v->good >= 3)
		return v->good;
	memmove(v->all + v->good, v->all + v->wanted - bad, (size_t)bad * sizeof *v->all);
	return v->good + bad;
}

/* At member 0: fills values[] and returns how many there are. */
static int collect(const struct spot *spot, double *values)
{
	long n = calibrate(spot);
	double each = (double)n * (spot->operations > 0 ? spot->operations : 1), start = now_ns();
	struct values v = {.all = values, .wanted = options.samples};
	bool enough = false, disturbed;

	while (!enough) {
		double value = take(spot, n, &disturbed) / each;

		if (group.me == 0) {
			store(&v, value, disturbed && !group.oversubscribed);
			enough = v.good == v.wanted || v.bad >= 2 * v.wanted;
			if (now_ns() - start > options.spot_ns)
				enough |= v.good + v.bad >= LEAST_SAMPLES;
		}
		enough = group_broadcast(enough);
	}
	return group.me == 0 ? gather_values(&v) : 0;
}

static void check(const struct spot *spot)
{
	char size[24];

	group_barrier();
	if (spot->check && !spot->check(spot->context))
		group_fail("%s %s, %s: wrong data; the library or this benchmark has an error", spot->measure,
			   spot->variant, record_size(spot->bytes, size));
	group_barrier();
}

void harness_measure(const struct spot *spot)
{
	double *values = malloc((size_t)options.samples * sizeof *values);
	struct record r = {.measure = spot->measure, .variant = spot->variant, .bytes = spot->bytes, .unit = "ns"};
	int count = 0;

	if (!values)
		group_fail("no memory for %d samples", options.samples);
	for (int i = 0; i < TRIES; i++) {
		double before = line_half_round_trip(), after;
		bool same;

		count = collect(spot, values);
		after = line_half_round_trip();
		r.line_ns = (before + after) / 2;
		r.state = line_state(before);
		same = !strcmp(r.state, line_state(after));
		if (!same)
			r.state = "mixed";
		if (group_broadcast(same))
			break;
	}
	check(spot);
	if (group.me == 0) {
		record_fill(&r, values, count);
		record_write(&r);
	}
	free(values);
}

void harness_report(const char *measure, const char *variant, size_t bytes, const char *unit, double *values, int count)
{
	double line = line_half_round_trip();
	struct record r = {.measure = measure,
			   .variant = variant,
			   .bytes = bytes,
			   .unit = unit,
			   .line_ns = line,
			   .state = line_state(line)};

	if (group.me == 0) {
		record_fill(&r, values, count);
		record_write(&r);
	}
}
