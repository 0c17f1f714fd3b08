/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counters of SHMEM_STATS: for the program to read, and as a table of the whole job at its end.
 * No PE collects the numbers of all. Minimum, maximum and sum of a number are reductions. The
 * median is found by bisection between minimum and maximum: a reduction counts the PEs below, for
 * all numbers at once. So it takes a few kilobytes and at most 64 rounds for any number of PEs.
 */
#include <shmemx.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shmem/collectives.h"
#include "comms/observe/links.h"
#include "comms/observe/counters.h"
#include "rte/rte.h"

API int shmemx_stats_enabled(void)
{
	comms_check_up(__func__);
	return counters_counts();
}

API int shmemx_stats_count(void)
{
	return counters_rows();
}

API const char *shmemx_stats_name(int row)
{
	return counters_row_name(row);
}

API int shmemx_stats_read(const char *name, shmemx_stats_t *stats)
{
	struct counters_row_values values;

	comms_check_up(__func__);
	for (int row = 0; counters_counts() && name && row < counters_rows(); row++)
		if (!strcmp(name, counters_row_name(row))) {
			counters_read(row, &values);
			*stats = (shmemx_stats_t){values.calls, values.bytes, values.nanoseconds};
			return 0;
		}
	return 1;
}

API void shmemx_stats_reset(void)
{
	comms_check_up(__func__);
	counters_reset();
}

/* --- The table --- */

enum measure { CALLS, BYTES, NANOSECONDS, MEASURES };
/* Behind the rows: bytes for each connected peer. */
enum { PER_PEER = ROW_COUNT * MEASURES, NUMBERS };

struct table {
	uint64_t mine[NUMBERS], sum[NUMBERS], least[NUMBERS], median[NUMBERS], most[NUMBERS];
};

static void read_mine(uint64_t *numbers)
{
	for (int row = 0; row < ROW_COUNT; row++) {
		struct counters_row_values values = {0};

		counters_read(row, &values);
		numbers[row * MEASURES + CALLS] = values.calls;
		numbers[row * MEASURES + BYTES] = values.bytes;
		numbers[row * MEASURES + NANOSECONDS] = values.nanoseconds;
	}
	numbers[PER_PEER] = numbers[ROW_PEERS * MEASURES + BYTES] / numbers[ROW_PEERS * MEASURES + CALLS];
}

/* The lower one if the number of PEs is even. */
static void find_medians(const struct set *world, struct table *t)
{
	uint64_t high[NUMBERS], below[NUMBERS];
	bool found = false;

	memcpy(t->median, t->least, sizeof t->median);
	memcpy(high, t->most, sizeof high);
	while (!found) {
		for (int i = 0; i < NUMBERS; i++)
			below[i] = t->mine[i] <= t->median[i] + (high[i] - t->median[i]) / 2;
		set_reduce_words(world, below, NUMBERS, SET_SUM);
		found = true;
		for (int i = 0; i < NUMBERS; i++) {
			uint64_t middle = t->median[i] + (high[i] - t->median[i]) / 2;

			if (2 * below[i] >= (uint64_t)comms.n_pes)
				high[i] = middle;
			else
				t->median[i] = middle + 1;
			found = found && t->median[i] == high[i];
		}
	}
}

static void reduce_table(const struct set *world, struct table *t)
{
	memcpy(t->sum, t->mine, sizeof t->sum);
	memcpy(t->least, t->mine, sizeof t->least);
	memcpy(t->most, t->mine, sizeof t->most);
	set_reduce_words(world, t->sum, NUMBERS, SET_SUM);
	set_reduce_words(world, t->least, NUMBERS, SET_LEAST);
	set_reduce_words(world, t->most, NUMBERS, SET_MOST);
	find_medians(world, t);
}

static void print_numbers(const struct table *t, int i)
{
	fprintf(stderr, " | %14" PRIu64 " %12" PRIu64 " %12" PRIu64 " %12" PRIu64, t->sum[i], t->least[i], t->median[i],
		t->most[i]);
}

static void print_times(const struct table *t, int i)
{
	fprintf(stderr, " | %10.3f %10.3f %10.3f", (double)t->least[i] / 1e6, (double)t->median[i] / 1e6,
		(double)t->most[i] / 1e6);
}

static void print_table(const struct table *t)
{
	fprintf(stderr, "torushmem: what %d PEs did (SHMEM_STATS); least, median and most of a PE\n", comms.n_pes);
	fprintf(stderr, "%-14s | %14s %12s %12s %12s | %14s %12s %12s %12s | %10s %10s %10s\n", "", "calls, all",
		"least", "median", "most", "bytes, all", "least", "median", "most", "ms, least", "median", "most");
	for (int row = 0; row < ROW_COUNT; row++) {
		const int first = row * MEASURES;

		if (t->sum[first + CALLS] == 0)
			continue;
		fprintf(stderr, "%-14s", counters_row_name(row));
		print_numbers(t, first + CALLS);
		print_numbers(t, first + BYTES);
		if (t->sum[first + NANOSECONDS] > 0)
			print_times(t, first + NANOSECONDS);
		fputc('\n', stderr);
	}
	fprintf(stderr,
		"memory for each connected peer: least %" PRIu64 ", median %" PRIu64 ", most %" PRIu64 " bytes\n",
		t->least[PER_PEER], t->median[PER_PEER], t->most[PER_PEER]);
}

/* --- The links: bytes of all PEs over each --- */

enum { MOST_SHOWN = 100 };

struct link_load {
	uint64_t messages, bytes;
};

struct link_row {
	const char *name;
	struct link_load load;
};

static int compare_loads(const void *left, const void *right)
{
	const struct link_row *a = left, *b = right;

	if (a->load.bytes != b->load.bytes)
		return a->load.bytes < b->load.bytes ? 1 : -1;
	return (a->name > b->name) - (a->name < b->name); /* names are in the order of the links */
}

static struct link_load *read_links(int links)
{
	struct link_load *load = calloc((size_t)links, sizeof *load);

	if (!load)
		rte_die("shmem_finalize", "SHMEM_STATS: no memory for the counters of %d links", links);
	for (int i = 0; i < links; i++)
		links_read(i, &load[i].messages, &load[i].bytes);
	return load;
}

static void print_links(const struct link_load *load, int links)
{
	struct link_row *rows = calloc((size_t)links, sizeof *rows);
	int used = 0;

	if (!rows)
		return;
	for (int i = 0; i < links; i++)
		if (load[i].messages > 0)
			rows[used++] = (struct link_row){links_counted_name(i), load[i]};
	qsort(rows, (size_t)used, sizeof *rows, compare_loads);
	fprintf(stderr, "%d of %d links of the torus were used%s%s\n", used, links,
		used > 0 ? "; messages and bytes of all PEs" : "",
		used > MOST_SHOWN ? ", the busiest hundred:"
		: used > 0	  ? ", the busiest first:"
				  : "");
	for (int i = 0; i < used && i < MOST_SHOWN; i++)
		fprintf(stderr, "%-20s | %14" PRIu64 " | %14" PRIu64 "\n", rows[i].name, rows[i].load.messages,
			rows[i].load.bytes);
	free(rows);
}

static void add_up_links(const struct set *world, struct link_load *load, int links)
{
	set_reduce_words(world, &load[0].messages, (size_t)links * sizeof *load / sizeof load[0].messages, SET_SUM);
	if (comms.pe == 0)
		print_links(load, links);
	free(load);
}

/* Reads everything before it sends anything, because the reductions are counted, too. */
void api_stats_stop(void)
{
	struct set world;
	struct table t;
	struct link_load *load;
	int links = links_counted();

	if (!counters_counts())
		return;
	world = set_of_team(SHMEM_TEAM_WORLD, "shmem_finalize");
	read_mine(t.mine);
	load = links > 0 ? read_links(links) : NULL;
	reduce_table(&world, &t);
	if (comms.pe == 0)
		print_table(&t);
	if (load)
		add_up_links(&world, load, links);
	if (comms.pe == 0)
		set_print_faults(&world);
	fflush(stderr);
}
