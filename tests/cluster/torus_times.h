/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the programs of tests/cluster/torus-bench share: the clock, sizes, and how much this host's
 * cables have carried.
 */
#ifndef CLUSTER_TORUS_TIMES_H
#define CLUSTER_TORUS_TIMES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PORTS 32
#define MOST_NEIGHBOURS 12

struct cables {
	int count;
	char name[PORTS][16];
	double sent[PORTS]; /* bytes, by the kernel */
};

static inline double seconds_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* The ports of a torus are those with a + or a - in their names. */
static inline void read_cables(struct cables *cables)
{
	FILE *file = fopen("/proc/net/dev", "r");
	char line[512], name[16];
	double sent;

	cables->count = 0;
	while (file && cables->count < PORTS && fgets(line, sizeof line, file))
		if (sscanf(line, " %15[^:]: %*f %*f %*f %*f %*f %*f %*f %*f %lf", name, &sent) == 2 &&
		    strpbrk(name, "+-")) {
			strcpy(cables->name[cables->count], name);
			cables->sent[cables->count++] = sent;
		}
	if (file)
		fclose(file);
}

/* What the busiest cable of this host has carried since. */
static inline double busiest_since(const struct cables *before)
{
	struct cables now;
	double most = 0;

	read_cables(&now);
	for (int i = 0; i < now.count && i < before->count; i++)
		if (now.sent[i] - before->sent[i] > most)
			most = now.sent[i] - before->sent[i];
	return most;
}

/* TCP segments that this host has sent again, because they were lost or seemed to be. */
static inline double sent_again(void)
{
	FILE *file = fopen("/proc/net/snmp", "r");
	char line[512];
	double again = 0, value;

	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "Tcp: %*f %*f %*f %*f %*f %*f %*f %*f %*f %*f %*f %lf", &value) == 1)
			again = value;
	if (file)
		fclose(file);
	return again;
}

/* "64k", "16m": the next size of a list with commas; 0: there is none. */
static inline size_t next_size(const char **list)
{
	char *end;
	size_t size = strtoul(*list, &end, 10);

	if (*end == 'k' || *end == 'm')
		size <<= *end++ == 'k' ? 10 : 20;
	*list = *end == ',' ? end + 1 : end;
	return size;
}

static inline unsigned char byte_at(size_t i, int pe)
{
	return (unsigned char)(i * 7 + i / 4093 + (size_t)pe);
}

static inline int compare_seconds(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/*
 * The hosts next to this one in all directions, -1 where there is none, and if coordinates is not
 * NULL the place of this host along each axis. Hosts of the last axis are side by side.
 */
static inline int find_neighbours(const char *shape, int hosts, int host, int neighbour[MOST_NEIGHBOURS],
				  int *coordinates)
{
	int count = 0, stride = hosts;
	char *end;

	for (const char *at = shape; count < MOST_NEIGHBOURS && *at; at = *end ? end + 1 : end) {
		int length = (int)strtol(at, &end, 10), mesh = *end == 'm', here;

		stride /= length;
		here = host / stride % length;
		if (coordinates)
			coordinates[count / 2] = here;
		end += mesh || *end == 'd';
		for (int step = -1; step <= 1; step += 2) {
			int next = here + step, inside = next >= 0 && next < length;

			neighbour[count++] = length == 1 || (!inside && (mesh || length == 2))
						     ? -1
						     : host + ((next + length) % length - here) * stride;
		}
	}
	return count;
}

/* One line for tests/cluster/torus-bench. */
static inline void print_time(const char *collective, size_t bytes, double seconds, double busiest, double again)
{
	printf("%s %zu %.6f %.0f %.0f\n", collective, bytes, seconds, busiest, again);
	fflush(stdout);
}

#endif
