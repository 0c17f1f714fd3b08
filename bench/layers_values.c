/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Of samples, values of rounds; of those, what is printed.
 *
 * In a round, parts that were timed together are averaged over the same samples, the middle half by the time of all
 * parts: medians of each would not add up to anything.
 *
 * Of the rounds, those count in which all layers met the same machine:
 *   - the cache line took as long before the round as after it, but for a fifth: the processors did not move;
 *   - it was near, or far, as in most rounds;
 *   - no layer's messages took more than one and a half times their median over the rounds: nobody came in between.
 * All quantities are averaged over the same rounds, so that sums and differences of them mean something.
 */
#include "layers_values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"

enum { MOST_MEASURED = 17, LEAST_ROUNDS = 40 };

static struct layer_values {
	double sample[QUANTITIES][SAMPLES];
	int samples[QUANTITIES];
	double round[QUANTITIES][MOST_ROUNDS];
} measured[MOST_MEASURED];

static int n_layers, rounds;
static double before[MOST_ROUNDS], after[MOST_ROUNDS];

static enum verdict { COUNTS, MOVED, OTHER_STATE, INTERRUPTED, VERDICTS } verdict[MOST_ROUNDS];
static const char *state;
static bool disturbed; /* every round breaks a rule, so all count */

static const struct group_of_parts {
	enum quantity first, last;
} timed_together[] = {{POST, PROGRESS}, {TOTAL, TOTAL}, {HALF, HALF},
		      {SENT, SENT},	{CAME, CAME},	{SATISFIED, SATISFIED}};
enum { GROUPS = sizeof timed_together / sizeof *timed_together };

/* --- A round --- */

static void clear_samples(void)
{
	for (int l = 0; l < n_layers; l++)
		memset(measured[l].samples, 0, sizeof measured[l].samples);
}

void values_start(int layers)
{
	n_layers = layers;
	rounds = 0;
	clear_samples();
}

void values_note(int layer, enum quantity quantity, double ns)
{
	struct layer_values *v = &measured[layer];

	if (v->samples[quantity] < SAMPLES)
		v->sample[quantity][v->samples[quantity]++] = ns;
}

static double whole[SAMPLES];

static int by_whole(const void *a, const void *b)
{
	double x = whole[*(const int *)a], y = whole[*(const int *)b];

	return (x > y) - (x < y);
}

static void average_middle(struct layer_values *v, struct group_of_parts parts)
{
	int order[SAMPLES], n = v->samples[parts.first], used = n - 2 * (n / 4);

	for (int i = 0; i < n; i++) {
		order[i] = i;
		whole[i] = 0;
		for (int q = (int)parts.first; q <= (int)parts.last; q++)
			whole[i] += v->sample[q][i];
	}
	qsort(order, (size_t)n, sizeof *order, by_whole);
	for (int q = (int)parts.first; q <= (int)parts.last; q++) {
		double sum = 0;

		for (int i = n / 4; i < n - n / 4; i++)
			sum += v->sample[q][order[i]];
		v->round[q][rounds] = used > 0 ? sum / used : NAN;
	}
}

bool values_end_round(double line_before, double line_after)
{
	for (int l = 0; l < n_layers; l++)
		for (int g = 0; g < GROUPS; g++)
			average_middle(&measured[l], timed_together[g]);
	before[rounds] = line_before;
	after[rounds] = line_after;
	rounds++;
	clear_samples();
	return rounds < MOST_ROUNDS;
}

/* --- Which rounds count --- */

static bool moved(int round)
{
	return fmax(before[round], after[round]) > 1.2 * fmin(before[round], after[round]);
}

static const char *state_of(int round)
{
	return line_state(after[round]);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Of those that count, ascending. */
static int sorted_rounds(const double *of_round, double *sorted)
{
	int n = 0;

	for (int r = 0; r < rounds; r++)
		if (verdict[r] == COUNTS)
			sorted[n++] = of_round[r];
	qsort(sorted, (size_t)n, sizeof *sorted, by_value);
	return n;
}

/* Parts may be near nothing; what they are parts of is not. */
static void find_interruptions(const double *first, const double *last, ptrdiff_t step)
{
	static double sum[MOST_ROUNDS], sorted[MOST_ROUNDS];
	int n;

	for (int r = 0; r < rounds; r++) {
		sum[r] = 0;
		for (const double *part = first; part <= last; part += step)
			sum[r] += part[r];
	}
	n = sorted_rounds(sum, sorted);
	for (int r = 0; r < rounds; r++)
		if (n > 0 && verdict[r] == COUNTS && sum[r] > 1.5 * sorted[n / 2])
			verdict[r] = INTERRUPTED;
}

static void choose_state(void)
{
	int near = 0, known = 0;

	for (int r = 0; r < rounds; r++) {
		verdict[r] = moved(r) ? MOVED : COUNTS;
		known += verdict[r] == COUNTS;
		near += verdict[r] == COUNTS && !strcmp(state_of(r), "near");
	}
	state = line_state(before[0]);
	if (!strcmp(state, "near") || !strcmp(state, "far"))
		state = 2 * near > known ? "near" : "far";
	for (int r = 0; r < rounds; r++)
		if (verdict[r] == COUNTS && strcmp(state_of(r), state))
			verdict[r] = OTHER_STATE;
}

/* Whole messages of each layer: what takes a nanosecond or two may well double. */
static void leave_out_interruptions(void)
{
	for (int l = 0; l < n_layers - 1; l++)
		for (int g = 0; g < GROUPS && timed_together[g].first != SENT; g++) {
			const struct layer_values *v = &measured[l];

			if (!isnan(v->round[timed_together[g].first][0]))
				find_interruptions(v->round[timed_together[g].first], v->round[timed_together[g].last],
						   MOST_ROUNDS);
		}
}

static int count(enum verdict wanted)
{
	int n = 0;

	for (int r = 0; r < rounds; r++)
		n += verdict[r] == wanted;
	return n;
}

void values_choose(void)
{
	choose_state();
	leave_out_interruptions();
	disturbed = count(COUNTS) == 0;
	for (int r = 0; disturbed && r < rounds; r++)
		verdict[r] = COUNTS;
}

bool values_enough(void)
{
	values_choose();
	return !disturbed && count(COUNTS) >= LEAST_ROUNDS;
}

/* --- What is printed --- */

void values_print(const char *path, const char *layer, int which)
{
	static double sorted[MOST_ROUNDS];

	for (int q = 0; q < QUANTITIES; q++) {
		int n = isnan(measured[which].round[q][0]) ? 0 : sorted_rounds(measured[which].round[q], sorted);
		double sum = 0;

		for (int i = 0; i < n; i++)
			sum += sorted[i];
		if (n > 0)
			printf("%s\t%s\t%s\t%.3f\t%.3f\t%.3f\t%d\n", path, layer, quantity_names[q], sum / n,
			       sorted[n / 4], sorted[3 * n / 4], n);
	}
}

void values_print_rounds(const char *path)
{
	static double lines[MOST_ROUNDS];
	int n = sorted_rounds(after, lines);

	if (disturbed) {
		printf("# %s: this machine is too busy: none of %d rounds was left alone, and all count\n", path, n);
		return;
	}
	printf("# %s: %d of %d rounds count", path, n, rounds);
	if (n > 0 && lines[n / 2] > 0)
		printf(", with the processors %s (a cache line takes %.0f ns)", state, lines[n / 2]);
	printf("; left out: %d in which they moved, %d in the other state, %d interrupted\n", count(MOVED),
	       count(OTHER_STATE), count(INTERRUPTED));
}
