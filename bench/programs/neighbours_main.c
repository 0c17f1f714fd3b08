/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * neighbours [faces] [poisson]: for each transport and size a line
 * "measure,work,transport,bytes,nanoseconds", the median of samples.
 *
 * faces    eight messages to the other PE and eight from it, and nothing else
 * poisson  what the solver of examples/poisson.c does in an iteration, 60x60 points on each PE;
 *          messages are 1 to 8192 times as long as the faces need
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "neighbours.h"

#define SIDE 60
#define ROW (SIDE + 2)
#define MOST (8192 * SIDE * sizeof(double))
#define SAMPLES 9
#define SAMPLE_NS 4e6

static int me, pes;
static double now_points[ROW * ROW], next_points[ROW * ROW];
static const struct transport *t;
static size_t bytes;
static char *from, *to; /* what messages are made of, and where they end up */

static double clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* --- What is done in an iteration --- */

/* Every message is written and read as a whole: a copy, as from and to an array. */
static void fill_faces(long k)
{
	memcpy(from, &k, sizeof k);
	memcpy(from + bytes - sizeof k, &k, sizeof k);
	for (int e = 0; e < EDGES; e++)
		memcpy(t->buffer(e), from, bytes);
}

static void take_faces(long k)
{
	for (int e = 0; e < EDGES; e++) {
		memcpy(to, t->received(e), bytes);
		if (memcmp(to, &k, sizeof k) || memcmp(to + bytes - sizeof k, &k, sizeof k)) {
			fprintf(stderr, "%s: iteration %ld brought a wrong message\n", t->name, k);
			exit(1);
		}
	}
	t->release();
}

static void exchange_faces(long k)
{
	fill_faces(k);
	t->start(bytes);
	t->wait();
	take_faces(k);
}

static void relax(const double *now, double *next, int top, int bottom, int left, int right)
{
	for (int r = top; r <= bottom; r++)
		for (int c = left; c <= right; c++) {
			const double *p = &now[r * ROW + c];

			next[r * ROW + c] = p[0] + 0.2 * (p[-1] + p[1] + p[-ROW] + p[ROW] - 4 * p[0]);
		}
}

/* Messages longer than a face are filled with something else. */
static void pack(double *now)
{
	size_t face = SIDE * sizeof *now;

	for (int e = 0; e < 4; e++)
		memcpy((char *)t->buffer(e) + face, from + face, bytes - face);

	double *up = t->buffer(0), *down = t->buffer(1), *right = t->buffer(2), *left = t->buffer(3);

	memcpy(up, &now[SIDE * ROW + 1], SIDE * sizeof *up);
	memcpy(down, &now[ROW + 1], SIDE * sizeof *down);
	for (int r = 0; r < SIDE; r++) {
		right[r] = now[(r + 1) * ROW + SIDE];
		left[r] = now[(r + 1) * ROW + 1];
	}
}

static void unpack(double *now)
{
	size_t face = SIDE * sizeof *now;
	const double *up = t->received(0), *down = t->received(1), *right = t->received(2), *left = t->received(3);

	memcpy(&now[(SIDE + 1) * ROW + 1], up, SIDE * sizeof *up);
	memcpy(&now[1], down, SIDE * sizeof *down);
	for (int r = 0; r < SIDE; r++) {
		now[(r + 1) * ROW + SIDE + 1] = right[r];
		now[(r + 1) * ROW] = left[r];
	}
	for (int e = 0; e < 4; e++)
		memcpy(to + face, (const char *)t->received(e) + face, bytes - face);
	t->release();
}

static void multiply(long k)
{
	double *now = k % 2 ? now_points : next_points, *next = k % 2 ? next_points : now_points;

	pack(now);
	t->start(bytes);
	relax(now, next, 2, SIDE - 1, 2, SIDE - 1);
	t->wait();
	unpack(now);
	relax(now, next, 1, 1, 1, SIDE);
	relax(now, next, SIDE, SIDE, 1, SIDE);
	relax(now, next, 2, SIDE - 1, 1, 1);
	relax(now, next, 2, SIDE - 1, SIDE, SIDE);
}

/* --- Measuring --- */

static int by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static double median(double *values)
{
	qsort(values, SAMPLES, sizeof *values, by_value);
	return values[SAMPLES / 2];
}

/* As many iterations as take a while, after a few that nobody counts. */
static double measure(void (*iterate)(long k))
{
	double values[SAMPLES], start = 0;
	long n, k = 0;

	while (k < 20) {
		if (k == 10)
			start = clock_ns();
		iterate(++k);
	}
	n = 1 + (long)job_broadcast(SAMPLE_NS / ((clock_ns() - start) / 10));
	for (int s = 0; s < SAMPLES; s++) {
		job_barrier();
		start = clock_ns();
		for (long i = 0; i < n; i++)
			iterate(++k);
		values[s] = (clock_ns() - start) / (double)n;
	}
	return median(values);
}

static void say(const char *name, const char *work, double ns)
{
	if (me == 0)
		printf("%s,%s,%s,%zu,%.0f\n", name, work, t->name, bytes, ns);
}

static void faces(const int *pe)
{
	static const size_t sizes[] = {64, 512, 2048, 8192, 65536};

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		bytes = sizes[i];
		t->open(EDGES, pe, bytes);
		say("faces", "none", measure(exchange_faces));
		t->close();
		job_barrier();
	}
}

static void poisson(const int *pe)
{
	for (size_t scale = 1; scale <= 8192; scale *= 8) {
		bytes = scale * SIDE * sizeof(double);
		t->open(4, pe, bytes);
		say("poisson", "even", measure(multiply));
		t->close();
		job_barrier();
	}
}

int main(int argc, char **argv)
{
	int all[EDGES], across[4];

	job_begin(&argc, &argv, &me, &pes);
	from = calloc(1, MOST);
	to = calloc(1, MOST);
	if (!from || !to)
		return 1;
	for (int e = 0; e < EDGES; e++)
		all[e] = pes == 1 ? 0 : me ^ 1;
	/* A grid of 2x1 that wraps: along the second dimension a PE is its own neighbour. */
	for (int e = 0; e < 4; e++)
		across[e] = e < 2 ? all[e] : me;
	for (t = transports; t->name; t++)
		for (int i = 1; i < argc; i++) {
			if (!strcmp(argv[i], "faces"))
				faces(all);
			else if (!strcmp(argv[i], "poisson"))
				poisson(across);
		}
	job_end();
	free(from);
	free(to);
	return 0;
}
