/* SPDX-License-Identifier: BSD-3-Clause */
/* Options and the run through the measures: the same for both drivers. */
#include "measure.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SIZES = sizeof options.sizes / sizeof *options.sizes - 1 };

/* Launchers start many of us, and one complaint is enough. */
static bool is_first(void)
{
	const char *rank = getenv("PMIX_RANK");

	return !rank || !strcmp(rank, "0");
}

__attribute__((noreturn)) static void fail(const char *what, const char *word)
{
	if (is_first())
		fprintf(stderr, "%s: %s '%s'; try --help\n", driver_name, what, word);
	exit(2);
}

static void help(void)
{
	printf("usage: %s\n"
	       "\n"
	       "Each sub-command measures one thing; without any, all of them are run.\n"
	       "\n"
	       "  --quick          few sizes and short samples: to try it, not to quote it\n"
	       "  --csv            records instead of a table\n"
	       "  --sizes LIST     message sizes, as in 8,4k,1m (powers of two, 1 to 64m)\n"
	       "  --samples N      for each size (15)\n"
	       "  --sample-time T  milliseconds that a sample is to take (2; 20 with more PEs than processors)\n"
	       "  --list           name the sub-commands\n"
	       "  -h, --help       this text\n"
	       "\n",
	       driver_help);
	for (const struct measure *m = measures; m->name; m++)
		printf("  %-15s  %s\n", m->name, m->help);
	puts("\nTimes are per operation: median, quartiles and number of samples. The state is how far PEs 0 "
	     "and 1 are\n"
	     "from each other (half a round trip of a cache line): near or far.");
}

static size_t read_size(const char *text, const char **end)
{
	char *rest;
	double value;
	size_t unit = 1;

	errno = 0;
	value = strtod(text, &rest);
	if (*rest == 'k' || *rest == 'K')
		unit = KIB;
	else if (*rest == 'm' || *rest == 'M')
		unit = MIB;
	else if (*rest == 'g' || *rest == 'G')
		unit = KIB * MIB;
	if (unit > 1)
		rest++;
	if (rest == text || errno || !(value >= 1) || value * (double)unit > 1e12)
		fail("no size", text);
	*end = rest;
	return (size_t)(value * (double)unit);
}

static void read_sizes(const char *list)
{
	const char *p = list;
	int count = 0;

	while (true) {
		size_t size = read_size(p, &p);

		if (count == MOST_SIZES || (count && size <= options.sizes[count - 1]))
			fail("--sizes wants up to 63 sizes in ascending order, not", list);
		options.sizes[count++] = size;
		if (!*p)
			break;
		if (*p++ != ',')
			fail("no list of sizes", list);
	}
	options.sizes[count] = 0;
}

static double read_number(const char *name, const char *text, double least, double most)
{
	char *rest;
	double value = strtod(text, &rest);
	char what[64];

	if (rest == text || *rest || !(value >= least && value <= most)) {
		snprintf(what, sizeof what, "%s wants a number from %g to %g, not", name, least, most);
		fail(what, text);
	}
	return value;
}

static void list(void)
{
	for (const struct measure *m = measures; m->name; m++)
		puts(m->name);
}

enum { QUICK = 256, AS_CSV, AS_LIST, SIZES, SAMPLES, SAMPLE_TIME };

static const struct option names[] = {{"quick", no_argument, NULL, QUICK},
				      {"csv", no_argument, NULL, AS_CSV},
				      {"list", no_argument, NULL, AS_LIST},
				      {"sizes", required_argument, NULL, SIZES},
				      {"samples", required_argument, NULL, SAMPLES},
				      {"sample-time", required_argument, NULL, SAMPLE_TIME},
				      {"help", no_argument, NULL, 'h'},
				      {NULL, 0, NULL, 0}};

/* What was not given follows from --quick. */
static void fill_options(void)
{
	if (!options.samples)
		options.samples = options.quick ? 5 : 15;
	if (!options.sizes[0] && options.quick)
		read_sizes("8,4k,256k");
	if (options.sizes[0])
		return;
	for (int i = 0; i <= 26; i++)
		options.sizes[i] = (size_t)1 << i;
}

/*
 * Where some slept between two samples, the kernel wakes them wherever it likes, and spreads many
 * processes over the processors in its own time, some ten milliseconds. Before that a barrier of
 * eight on two processors takes twice as long.
 */
static void fill_times(void)
{
	const int longer = group.oversubscribed ? 10 : 1;

	if (options.sample_ns <= 0)
		options.sample_ns = longer * (options.quick ? 2e5 : 2e6);
	options.spot_ns = (options.quick ? 20 : 60) * options.sample_ns / longer;
}

static void read_options(int argc, char *argv[])
{
	int option;

	opterr = is_first();
	argv[0] = (char *)driver_name; /* for getopt's complaints */
	while ((option = getopt_long(argc, argv, "h", names, NULL)) != -1) {
		switch (option) {
		case QUICK: options.quick = true; break;
		case AS_CSV: options.format = CSV; break;
		case AS_LIST:
			if (is_first())
				list();
			exit(0);
		case SIZES: read_sizes(optarg); break;
		case SAMPLES: options.samples = (int)read_number("--samples", optarg, 3, 10000); break;
		case SAMPLE_TIME: options.sample_ns = 1e6 * read_number("--sample-time", optarg, 0.01, 10000); break;
		case 'h':
			if (is_first())
				help();
			exit(0);
		default: exit(2);
		}
	}
	fill_options();
}

static const struct measure *find(const char *name)
{
	for (const struct measure *m = measures; m->name; m++)
		if (!strcmp(m->name, name))
			return m;
	return NULL;
}

static void demand_members(const struct measure *m)
{
	if (group.size >= m->least_members)
		return;
	if (group.me == 0)
		group_fail("%s needs at least %d PEs", m->name, m->least_members);
	group_barrier(); /* PE 0 does not reach it: one PE reports for all */
}

static void run(const struct measure *m, int done, int of)
{
	if (group.size < m->least_members)
		return;
	if (group.me == 0)
		progress_show(done, of, m->name, "");
	m->run();
	group_barrier();
}

int main(int argc, char *argv[])
{
	int count;

	driver_hand_over(argc, argv);
	read_options(argc, argv);
	for (int i = optind; i < argc; i++)
		if (!find(argv[i]))
			fail("unknown sub-command", argv[i]);

	group_start();
	fill_times();
	count = argc - optind;
	for (int i = 0; i < count; i++)
		demand_members(find(argv[optind + i]));
	if (group.me == 0)
		record_begin();
	for (int i = 0; i < count; i++)
		run(find(argv[optind + i]), i, count);
	if (!count) {
		while (measures[count].name)
			count++;
		for (int i = 0; i < count; i++)
			run(&measures[i], i, count);
	}
	if (group.me == 0) {
		progress_show(count, count, "", NULL);
		record_end();
	}
	group_end();
	return 0;
}
