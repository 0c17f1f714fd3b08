/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * simulate: how long a collective, or an iteration of a lattice code, takes on a torus that nobody has at hand, by the very schedule of the
 * library's functions, and whether any link carries two transfers at once; see --help.
 *
 * Where all transfers of a collective go to neighbours and those of a link wait for each other, nothing shares anything, and times follow exactly
 * from the order. Whatever else there is takes SimGrid (configure --with-simgrid), which shares links among flows: bench/simulate-grid.
 * Faces of a lattice code share links, too; but they all begin at once and nothing waits for them, so simulate_flows.c is enough.
 */
#include "simulate.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comms/torus/exchange_schedule.h"
#include "comms/torus/ring_schedule.h"
#include "simulate_lattice.h"

static int direction_between(const struct torus_shape *shape, int from, int to)
{
	for (int direction = 0; direction < 2 * shape->axes; direction++)
		if (shape->axis[direction / 2].size > 1 && torus_neighbour(shape, from, direction) == to)
			return direction;
	return -1;
}

/* Do all transfers of each link come one after the other? Only between neighbours this can be seen without a network. */
static bool is_exclusive(const struct schedule *schedule)
{
	const struct torus_shape *shape = &schedule->shape;
	int directions = 2 * shape->axes, *last = malloc((size_t)(shape->places * directions) * sizeof *last);
	bool alone = last != NULL;

	for (int l = 0; alone && l < shape->places * directions; l++)
		last[l] = -1;
	for (size_t i = 0; alone && i < schedule->count; i++) {
		const struct transfer *transfer = &schedule->transfer[i];
		int direction = direction_between(shape, transfer->from, transfer->to);

		alone = direction >= 0 && last[transfer->from * directions + direction] == transfer->after[1];
		if (alone)
			last[transfer->from * directions + direction] = (int)i;
	}
	free(last);
	return alone;
}

#ifndef WITH_SIMGRID
static double finish_of(const double *finish, int transfer)
{
	return transfer < 0 ? 0 : finish[transfer];
}

static struct outcome replay(const struct schedule *schedule, const struct network *network)
{
	double *finish = malloc(schedule->count * sizeof *finish);
	size_t more = 0;
	struct outcome outcome = {0, is_exclusive(schedule) ? 1 : 2};

	if (!finish || outcome.at_once > 1) {
		fprintf(stderr, "simulate: %s\n",
			finish ? "transfers share links: that takes SimGrid, see bench/simulate-grid"
			       : "no memory for so many transfers");
		exit(2);
	}
	for (size_t i = 0; i < schedule->count; i++) {
		const struct transfer *transfer = &schedule->transfer[i];
		/* A link is free when a transfer has left it; that is then still travelling. */
		double start = finish_of(finish, transfer->after[0]);
		double link = transfer->after[1] < 0 ? 0 : finish[transfer->after[1]] - network->latency;

		for (; more < schedule->n_more && schedule->more[more].then == (int)i; more++)
			if (finish[schedule->more[more].before] > start)
				start = finish[schedule->more[more].before];
		finish[i] = (start > link ? start : link) + network->latency + (double)transfer->bytes / network->rate;
		if (finish[i] > outcome.seconds)
			outcome.seconds = finish[i];
	}
	free(finish);
	return outcome;
}
static double exchange_seconds(const struct lattice *lattice, const struct lattice_times *times,
			       const struct network *network)
{
	(void)lattice;
	(void)network;
	return times->exchange;
}
#define SIMULATOR "exact"
#define FLOWS "flows"
#else
static struct outcome replay(const struct schedule *schedule, const struct network *network)
{
	struct outcome outcome = replay_in_simgrid(schedule, network);

	/* What SimGrid has counted, and what the order says, are one. */
	if (is_exclusive(schedule) != (outcome.at_once == 1) && outcome.at_once > 0) {
		fprintf(stderr, "simulate: by the order links are %sshared, and SimGrid has seen %d flows on one\n",
			is_exclusive(schedule) ? "not " : "", outcome.at_once);
		exit(1);
	}
	return outcome;
}
/* By SimGrid, whatever simulate_flows.c says. */
static double exchange_seconds(const struct lattice *lattice, const struct lattice_times *times,
			       const struct network *network)
{
	struct schedule schedule = {.shape = lattice->shape};
	struct outcome outcome;

	(void)times;
	lattice_faces(lattice, &schedule);
	outcome = replay_in_simgrid(&schedule, network);
	free(schedule.transfer);
	return outcome.seconds;
}
#define SIMULATOR "simgrid"
#define FLOWS "simgrid"
#endif

/* 0: none is known. */
static double bound_seconds(const struct torus_shape *shape, const char *algorithm, double bytes, double rate)
{
	double gathered = (shape->places - 1) * bytes / torus_ring_links(shape, TORUS_ONE_WAY) / rate;
	double busiest = torus_exchange_busiest(shape, NULL), mean = torus_exchange_mean(shape);

	if (!strcmp(algorithm, "allgather"))
		return gathered;
	if (!strcmp(algorithm, "allreduce"))
		return 2 * (shape->places - 1) * bytes / shape->places / torus_ring_links(shape, TORUS_BOTH_WAYS) /
		       rate;
	return strcmp(algorithm, "alltoall") ? 0 : (busiest > mean ? busiest : mean) * bytes / rate;
}

static const char usage[] = "usage: simulate [OPTION...] SHAPE ALGORITHM BYTES SEGMENT [RATE LATENCY]\n"
			    "       simulate [OPTION...] SHAPE lattice GRID LOCAL ORDER [RATE LATENCY]\n";

static const char help[] =
	"\nRATE is that of a link in each direction, bytes a second (6.8e9); LATENCY is from node to node, seconds (5e-7).\n"
	"\nCollectives: twice, up, both, chain, binomial broadcast; allgather (BYTES from each), alltoall (BYTES for each), allreduce.\n"
	"SEGMENT is that of a broadcast. Prints simulator, shape, algorithm, bytes, segment, transfers, the most at once on a link,\n"
	"seconds, how many times the rate of one link that is, and for the last three the share of a bound: of an allgather what a node gets\n"
	"over its links, of an allreduce what nodes get and send on over all links, of an alltoall what the busiest link has to carry. The\n"
	"simulator is \"exact\", or \"one-node\" where the links of one node are replayed, since on a torus of rings all do the same.\n"
	"\n  --one-node        replay one node, also where all would fit\n"
	"\nlattice: an iteration of a lattice code. PEs in the GRID (8x8x4x2) have LOCAL (16x16x16x16) sites each and exchange faces along all\n"
	"dimensions, compute, and sum twice. ORDER says where PEs are: placed (as by torusplan), rows (node after node) or random (nodes in random\n"
	"order). Prints \"flows\", shape, lattice, grid, local, order, PEs on a node, hops of a message on average, most hops, messages\n"
	"over the busiest link, and microseconds: exchange, computation, sums, all together.\n"
	"\n  --face BYTES      of a site of a face (96: half a spinor in double precision)\n"
	"  --site BYTES      that the computation of a site moves in memory (3648: see docs/simulations.md)\n"
	"  --memory RATE     bytes a second of a node's memory (8e11)\n"
	"  --compute SECONDS of an iteration, instead of what --site and --memory give\n"
	"  --sum BYTES       of a sum (16)\n"
	"  --sums NUMBER     of sums in an iteration (2)\n"
	"  --hop SECONDS     of each hop of a message after the first (1e-7)\n"
	"  --seed NUMBER     of the random order (1)\n";

struct arguments {
	struct network network;
	struct lattice lattice;
	bool one_node;
};

#define LEAST 1e-9 /* of what must be above 0 */
#define MOST 1e15

static _Noreturn void fail(const char *problem)
{
	fprintf(stderr, "simulate: %s\n", problem);
	exit(2);
}

static double number_of(const char *what, const char *text, double least)
{
	char *end;
	double number = strtod(text, &end);

	if (end == text || *end || !(number >= least && number <= MOST)) {
		fprintf(stderr, "simulate: %s '%s': give a number from %g to %g\n", what, text, least, MOST);
		exit(2);
	}
	return number;
}

static int read_options(struct arguments *arguments, int argc, char **argv)
{
	enum { ONE_NODE = 1, FACE, SITE, MEMORY, COMPUTE, SUM, SUMS, HOP, SEED };
	static const struct option options[] = {{"one-node", no_argument, NULL, ONE_NODE},
						{"face", required_argument, NULL, FACE},
						{"site", required_argument, NULL, SITE},
						{"memory", required_argument, NULL, MEMORY},
						{"compute", required_argument, NULL, COMPUTE},
						{"sum", required_argument, NULL, SUM},
						{"sums", required_argument, NULL, SUMS},
						{"hop", required_argument, NULL, HOP},
						{"seed", required_argument, NULL, SEED},
						{"help", no_argument, NULL, 'h'},
						{NULL, 0, NULL, 0}};
	struct lattice *lattice = &arguments->lattice;

	for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;)
		switch (option) {
		case ONE_NODE: arguments->one_node = true; break;
		case FACE: lattice->face = number_of("--face", optarg, LEAST); break;
		case SITE: lattice->site = number_of("--site", optarg, 0); break;
		case MEMORY: lattice->memory = number_of("--memory", optarg, LEAST); break;
		case COMPUTE: lattice->computes = number_of("--compute", optarg, 0); break;
		case SUM: lattice->sum = number_of("--sum", optarg, 0); break;
		case SUMS: lattice->sums = (long)number_of("--sums", optarg, 0); break;
		case HOP: arguments->network.hop = number_of("--hop", optarg, 0); break;
		case SEED: lattice->seed = (unsigned long)number_of("--seed", optarg, 0); break;
		case 'h': printf("%s%s", usage, help); exit(0);
		default: fprintf(stderr, "%s", usage); exit(2);
		}
	return optind;
}

static void read_network(struct network *network, char **argv)
{
	network->rate = number_of("rate", argv[0], LEAST);
	network->latency = number_of("latency", argv[1], 0);
}

static void simulate_collective(const struct arguments *arguments, const struct torus_shape *shape, char **argv)
{
	struct schedule schedule = {.shape = *shape, .one_node = arguments->one_node};
	double bytes = number_of("bytes", argv[2], 1), segment = number_of("segment", argv[3], 1), bound;
	struct outcome outcome;

	schedule_make(&schedule, argv[1], bytes, segment);
	outcome = replay(&schedule, &arguments->network);
	bound = bound_seconds(shape, argv[1], bytes, arguments->network.rate);
	printf("%-8s %-10s %-9s %12.0f %9.0f %9zu %3d %12.9f %8.3f", schedule.one_node ? "one-node" : SIMULATOR,
	       argv[0], argv[1], bytes, segment, schedule.count, outcome.at_once, outcome.seconds,
	       bytes / arguments->network.rate / outcome.seconds);
	if (bound > 0)
		printf(" %6.3f", bound / outcome.seconds);
	printf("\n");
	free(schedule.transfer);
	free(schedule.more);
}

static void simulate_lattice(struct arguments *arguments, const struct torus_shape *shape, char **argv)
{
	static const char *const orders[] = {"placed", "rows", "random"};
	struct lattice *lattice = &arguments->lattice;
	char problem[TORUS_PROBLEM];
	struct lattice_times times;
	int order = 0;

	lattice->shape = *shape;
	if (!torus_grid_read(&lattice->grid, argv[2], problem) || !torus_grid_read(&lattice->local, argv[3], problem))
		fail(problem);
	while (order < 3 && strcmp(argv[4], orders[order]) != 0)
		order++;
	if (order == 3) {
		torus_refuse(problem, "there is no order %.60s; there are placed, rows and random", argv[4]);
		fail(problem);
	}
	lattice->order = (enum lattice_order)order;
	times = lattice_iteration(lattice, &arguments->network);
	times.exchange = exchange_seconds(lattice, &times, &arguments->network);
	printf("%-8s %-10s lattice   %s %s %s %d %.2f %d %d %.2f %.2f %.2f %.2f\n", FLOWS, argv[0], argv[2], argv[3],
	       argv[4], lattice->grid.cells / shape->places, times.hops, times.longest, times.most,
	       1e6 * times.exchange, 1e6 * times.computation, 1e6 * times.sums,
	       1e6 * (times.exchange + times.computation + times.sums));
}

int main(int argc, char **argv)
{
	struct arguments arguments = {
		.network = {.rate = 6.8e9, .latency = 0.5e-6, .hop = 0.1e-6},
		.lattice = {.face = 96, .site = 3648, .memory = 8e11, .computes = -1, .sum = 16, .sums = 2, .seed = 1}};
	int first = read_options(&arguments, argc, argv), given = argc - first, needed;
	char problem[TORUS_PROBLEM];
	struct torus_shape shape;
	bool lattice;

	argv += first;
	lattice = given > 1 && !strcmp(argv[1], "lattice");
	needed = lattice ? 5 : 4;
	if (given != needed && given != needed + 2) {
		fprintf(stderr, "%s", usage);
		return 2;
	}
	if (!torus_shape_read(&shape, argv[0], problem))
		fail(problem);
	if (given > needed)
		read_network(&arguments.network, argv + needed);
	if (arguments.one_node && strncmp(argv[1], "all", 3) != 0)
		fail("--one-node is for allgather, alltoall and allreduce");
	if (lattice)
		simulate_lattice(&arguments, &shape, argv);
	else
		simulate_collective(&arguments, &shape, argv);
	return 0;
}
