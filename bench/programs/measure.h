/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the two drivers share. bench measures an OpenSHMEM library between PEs; floor measures the
 * machine between plain processes. Both have a table of measures, and each measure takes samples at
 * some spots.
 *
 *   measure   what a sub-command measures: "put"
 *   spot      one combination of measure, variant and size: gives one record
 *   sample    a few milliseconds of the operation in a loop: gives one value
 *   member    a PE or a process; all of them call everything here together, like a collective
 *
 * Only the group_ functions know what a member is: pes.c has them for PEs, processes.c for
 * processes.
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

enum format { TABLE, CSV };

struct options {
	enum format format;
	bool quick;
	int samples;	  /* per spot */
	double sample_ns; /* how long a sample is to take */
	double spot_ns;	  /* after that time, five samples are enough */
	size_t sizes[64]; /* in bytes, ascending, closed by 0 */
};
extern struct options options;

struct measure {
	const char *name, *help;
	int least_members;
	void (*run)(void);
};
/* Each driver's own; the table ends with a NULL name. */
extern const struct measure measures[];
extern const char driver_name[], driver_help[];
/* What is another program's business goes there, before anything else happens. */
void driver_hand_over(int argc, char *argv[]);

/* --- The members --- */

struct group {
	int me, size;
	char library[64];     /* what is measured: the library's name, or "floor" */
	char processors[256]; /* where the members were at start: "0 1" */
	/* more members than processors: nothing is pinned */
	bool oversubscribed;
	bool has_raw;  /* members 0 and 1 share a page by themselves; known to all */
	uint64_t *raw; /* that page; NULL at the others */
};
extern struct group group;

void group_start(void);
void group_end(void);
void group_barrier(void);
/* Member 0's value. */
long group_broadcast(long value);
/* Member 0 gets everybody's in all[]. */
void group_gather(double mine, double *all);
/* Fill in the group's processors and raw, by means of the two above. */
void group_find_processors(void);
void group_find_raw(void);
/* One line, and the end of all members. */
void group_fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* --- Sampling --- */

/*
 * Does the operation n times and returns the nanoseconds that took; 0 from members that only take
 * part. The longest of all members counts.
 */
typedef double sampler(void *context, long n);

struct spot {
	const char *measure, *variant;
	size_t bytes;
	sampler *sample;
	void *context;
	double operations; /* in each of the n; 0 means 1 */
	/* Is the result right? Asked of every member when all is done. */
	bool (*check)(void *context);
	long most; /* never more than so many at a time; 0: no limit */
};

void harness_measure(const struct spot *spot);
/* For what is not a time of an operation: memory, for instance. Values of member 0 count. */
void harness_report(const char *measure, const char *variant, size_t bytes, const char *unit, double *values,
		    int count);

static inline double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

/* Keeps the compiler from leaving out what was computed. */
static inline void keep(const void *p)
{
	__asm__ volatile("" : : "g"(p) : "memory");
}

/* --- How far apart members 0 and 1 are --- */

/* Half a round trip of a cache line between them, at member 0; 0: not known. Called by all. */
double line_half_round_trip(void);
/* The calling thread alone, if it may be there. */
bool move_to_processor(int processor);
/* "near", "far" or "unknown". */
const char *line_state(double half_round_trip);

/* --- Records --- */

struct record {
	const char *measure, *variant, *unit, *state;
	size_t bytes;
	double value, low, high, best, line_ns; /* median, quartiles, least, cache line */
	int samples;
};

/* Sorts the values and fills in what follows from them. */
void record_fill(struct record *r, double *values, int count);
void record_begin(void);
void record_write(const struct record *r);
void record_end(void);
/* "4 KiB" and the like. */
const char *record_size(size_t bytes, char text[static 24]);

/* A bar on a terminal's standard error, for whoever waits; text may be NULL for the end. */
void progress_show(int done, int of, const char *measure, const char *text);

#endif
