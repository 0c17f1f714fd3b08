/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The TNI planner: published figures, and for small tiles the best assignment against all there
 * are.
 */
#include "comms/torus/tni.h"

#include <math.h>
#include <string.h>

#include "tests/lib/tori.h"
#include "tests/lib/unit.h"

static char problem[TORUS_PROBLEM];

static struct torus_step make_step(int dims, const int *tile, const double *volume, int tnis)
{
	struct torus_step step = {.dims = dims, .tnis = tnis, .tni_rate = 6.8, .link_rate = 6.8};

	memcpy(step.tile, tile, (size_t)dims * sizeof *tile);
	for (int direction = 0; direction < 2 * dims; direction++)
		step.volume[direction] = volume[direction / 2];
	EXPECT(torus_step_complete(&step, problem), "%s", problem);
	return step;
}

static void check_published(void)
{
	static const struct {
		double x, y;
		enum torus_assign how;
		double rate;
	} rows[] = {
		{1, 1, TORUS_BY_DIRECTION, 27.2}, {1, 1, TORUS_ROUND_ROBIN, 36.2667}, {1, 1, TORUS_BEST, 36.2667},
		{2, 1, TORUS_BY_DIRECTION, 20.4}, {2, 1, TORUS_ROUND_ROBIN, 32.64},   {2, 1, TORUS_BEST, 40.8},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct torus_step step = make_step(2, (int[]){2, 2}, (double[]){rows[i].x, rows[i].y}, 6);
		struct torus_assignment a;

		EXPECT(torus_assign(&a, &step, rows[i].how), "memory");
		EXPECT(fabs(torus_step_rate(&a, a.sum) - rows[i].rate) < 0.01, "row %zu: %.4f GB/s, expected %.4f", i,
		       torus_step_rate(&a, a.sum), rows[i].rate);
		EXPECT(a.slots == 16 && fabs(a.leaving - a.sum / 2) < 1e-9, "8 of 16 messages leave the node");
		EXPECT(a.proven == (rows[i].how == TORUS_BEST), "row %zu: proven", i);
		torus_assignment_free(&a);
	}
}

/*
 * Four PEs with eight neighbours each: the fallback of a well-known code, (8 * rank + direction)
 * mod 6.
 */
static void check_four_dimensions(void)
{
	struct torus_step step = make_step(4, (int[]){1, 2, 2, 1}, (double[]){1, 1, 1, 1}, 6);
	struct torus_assignment a;

	EXPECT(torus_assign(&a, &step, TORUS_ROUND_ROBIN), "memory");
	EXPECT(fabs(torus_step_rate(&a, a.sum) - 36.2667) < 0.01, "%.3f GB/s", torus_step_rate(&a, a.sum));
	torus_assignment_free(&a);
	EXPECT(torus_assign(&a, &step, TORUS_BY_DIRECTION), "memory");
	EXPECT(fabs(torus_step_rate(&a, a.sum) - 27.2) < 0.01, "%.3f GB/s", torus_step_rate(&a, a.sum));
	torus_assignment_free(&a);
}

/* Local messages through memory: the step is shorter, and now the link binds. */
static void check_memory(void)
{
	struct torus_step step = make_step(2, (int[]){2, 2}, (double[]){1, 1}, 6);
	struct torus_assignment a;

	step.memory_rate = 1000;
	EXPECT(torus_assign(&a, &step, TORUS_BEST), "memory");
	EXPECT(fabs(a.microseconds - 2 / 6.8 * 1000) < 0.01 && !strcmp(a.bound, "links"), "%.2f us, %s", a.microseconds,
	       a.bound);
	EXPECT(fabs(torus_step_rate(&a, a.leaving) - 27.2) < 0.01, "%.3f GB/s leave", torus_step_rate(&a, a.leaving));
	torus_assignment_free(&a);
	step.memory_rate = 1;
	EXPECT(torus_assign(&a, &step, TORUS_BEST), "memory");
	EXPECT(!strcmp(a.bound, "memory") && fabs(a.microseconds - 8000) < 0.01, "%.2f us, %s", a.microseconds,
	       a.bound);
	torus_assignment_free(&a);
}

/* The shortest step over all assignments, tried one after the other. */
static double shortest(const struct torus_step *step)
{
	int slots = step->pes * 2 * step->dims, tni[16] = {0}, i;
	double best = 1e300, link[TORUS_DIRECTIONS] = {0}, fullest_link = 0;

	for (int s = 0; s < slots; s++) {
		bool leaves;

		torus_step_target(step, s / (2 * step->dims), s % (2 * step->dims), &leaves);
		link[s % (2 * step->dims)] += leaves ? step->volume[s % (2 * step->dims)] : 0;
	}
	for (int direction = 0; direction < 2 * step->dims; direction++)
		fullest_link = fmax(fullest_link, link[direction]);
	do {
		double out[8] = {0}, in[8] = {0}, fullest = fullest_link;

		for (int s = 0; s < slots; s++) {
			out[tni[s]] += step->volume[s % (2 * step->dims)];
			in[tni[s]] += step->volume[(s % (2 * step->dims)) ^ 1];
		}
		for (int e = 0; e < step->tnis; e++)
			fullest = fmax(fullest, fmax(out[e], in[e]));
		best = fmin(best, fullest);
		for (i = 0; i < slots && ++tni[i] == step->tnis; i++)
			tni[i] = 0;
	} while (i < slots);
	return best / 6.8 * 1000;
}

static void check_against_all(void)
{
	for (int i = 0; i < 150; i++) {
		int dims = 1 + tori_random(2), tile[2] = {1 + tori_random(2), 1};
		struct torus_step step = make_step(dims, tile, (double[]){1, 1}, 1 + tori_random(3));
		struct torus_assignment a;

		for (int direction = 0; direction < 2 * dims; direction++)
			step.volume[direction] = tori_random(9);
		EXPECT(torus_assign(&a, &step, TORUS_BEST), "memory");
		EXPECT(fabs(a.microseconds - shortest(&step)) < 1e-6 && a.proven, "case %d: %.3f us, can be %.3f", i,
		       a.microseconds, shortest(&step));
		torus_assignment_free(&a);
	}
}

/*
 * On any node: every message has a TNI, the loads are right, the best is never worse than the
 * simple assignments.
 */
static void check_random(void)
{
	for (int i = 0; i < 300; i++) {
		struct torus_step step = {.dims = 1 + tori_random(4),
					  .tnis = 1 + tori_random(12),
					  .tni_rate = 1,
					  .link_rate = 9};
		double out[12], best = 0;

		for (int d = 0; d < step.dims; d++)
			step.tile[d] = 1 + tori_random(3);
		for (int direction = 0; direction < 2 * step.dims; direction++)
			step.volume[direction] = 1 + tori_random(100);
		EXPECT(torus_step_complete(&step, problem), "%s", problem);
		for (int how = TORUS_BEST; how >= TORUS_BY_DIRECTION; how--) {
			struct torus_assignment a;

			EXPECT(torus_assign(&a, &step, (enum torus_assign)how), "memory");
			memset(out, 0, sizeof out);
			for (int s = 0; s < a.slots; s++) {
				EXPECT(a.tni[s] >= 0 && a.tni[s] < step.tnis, "TNI %d", a.tni[s]);
				out[a.tni[s]] += step.volume[s % (2 * step.dims)];
			}
			for (int e = 0; e < step.tnis; e++)
				EXPECT(fabs(out[e] - a.out[e]) < 1e-6, "TNI %d sends %.1f, said to be %.1f", e, out[e],
				       a.out[e]);
			if (how == TORUS_BEST)
				best = a.microseconds;
			EXPECT(best <= a.microseconds + 1e-6, "case %d: best %.3f, simple %.3f", i, best,
			       a.microseconds);
			EXPECT(a.microseconds * step.tnis * step.tni_rate / 1000 >= a.sum - 1e-6,
			       "faster than the TNIs");
			torus_assignment_free(&a);
		}
	}
}

/* Neighbours are mutual, and a message leaves exactly where it goes over the edge of the tile. */
static void check_targets(void)
{
	struct torus_step step = make_step(3, (int[]){2, 3, 1}, (double[]){1, 1, 1}, 6);

	for (int pe = 0; pe < step.pes; pe++)
		for (int direction = 0; direction < 6; direction++) {
			bool leaves, back_leaves;
			int to = torus_step_target(&step, pe, direction, &leaves);

			EXPECT(to >= 0 && to < step.pes, "PE %d by %d: %d", pe, direction, to);
			EXPECT(torus_step_target(&step, to, direction ^ 1, &back_leaves) == pe && back_leaves == leaves,
			       "and back");
			EXPECT(direction < 4 || leaves, "a tile of one along z");
		}
}

int main(void)
{
	check_published();
	check_four_dimensions();
	check_memory();
	check_against_all();
	check_random();
	check_targets();
	return unit_failures > 0;
}
