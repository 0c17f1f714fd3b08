/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * simulate: how long a collective takes on a torus that nobody has at hand, by the very schedule of
 * the library's functions; see --help. It ends with a message if a link would carry two transfers.
 *
 * All transfers of a collective go to neighbours and those of a link wait for each other, so
 * nothing shares anything, and times follow exactly from the order.
 */
#include "simulate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comms/torus/exchange_schedule.h"
#include "comms/torus/ring_schedule.h"

static _Noreturn void fail(const char *problem)
{
	fprintf(stderr, "simulate: %s\n", problem);
	exit(2);
}

static int direction_between(const struct torus_shape *shape, int from, int to)
{
	for (int direction = 0; direction < 2 * shape->axes; direction++)
		if (shape->axis[direction / 2].size > 1 && torus_neighbour(shape, from, direction) == to)
			return direction;
	return -1;
}

/*
 * Do all transfers of each link come one after the other? Only between neighbours this can be seen
 * without a network.
 */
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

struct network {
	double rate, latency; /* of a link: bytes a second, seconds from node to node */
};

static double finish_of(const double *finish, int transfer)
{
	return transfer < 0 ? 0 : finish[transfer];
}

/* Seconds until the last transfer is over. Ends the program if a link would carry two at once. */
static double replay(const struct schedule *schedule, const struct network *network)
{
	double *finish = malloc(schedule->count * sizeof *finish), last = 0;
	size_t more = 0;

	if (!finish)
		fail("no memory for so many transfers");
	if (!is_exclusive(schedule))
		fail("transfers share links, so times do not follow from the order");
	for (size_t i = 0; i < schedule->count; i++) {
		const struct transfer *transfer = &schedule->transfer[i];
		/* A link is free when a transfer has left it; that is then still travelling. */
		double start = finish_of(finish, transfer->after[0]);
		double link = transfer->after[1] < 0 ? 0 : finish[transfer->after[1]] - network->latency;

		for (; more < schedule->n_more && schedule->more[more].then == (int)i; more++)
			if (finish[schedule->more[more].before] > start)
				start = finish[schedule->more[more].before];
		finish[i] = (start > link ? start : link) + network->latency + (double)transfer->bytes / network->rate;
		last = finish[i] > last ? finish[i] : last;
	}
	free(finish);
	return last;
}

/* 0: none is known. */
static double bound_seconds(const struct torus_shape *shape, const char *algorithm, double bytes, double rate)
{
	double gathered = (shape->places - 1) * bytes / torus_ring_links(shape, TORUS_ONE_WAY) / rate;
	double busiest = torus_exchange_busiest(shape, NULL), mean = torus_exchange_mean(shape);

	if (!strcmp(algorithm, "allgather") || !strcmp(algorithm, "reduce-scatter"))
		return gathered;
	if (!strcmp(algorithm, "allreduce"))
		return 2 * (shape->places - 1) * bytes / shape->places / torus_ring_links(shape, TORUS_BOTH_WAYS) /
		       rate;
	return strcmp(algorithm, "alltoall") ? 0 : (busiest > mean ? busiest : mean) * bytes / rate;
}

static const char usage[] = "usage: simulate [--one-node] SHAPE ALGORITHM BYTES SEGMENT [RATE LATENCY]\n";

static const char help[] =
	"\nRATE is that of a link in each direction, bytes a second (6.8e9); LATENCY is from node to node,\n"
	"seconds (5e-7).\n"
	"\nALGORITHM: twice, up, both or chain (broadcasts); allgather (BYTES from each), alltoall and\n"
	"reduce-scatter (BYTES for each), allreduce.\n"
	"SEGMENT is that of a broadcast. Prints the simulator, shape, algorithm, bytes, segment, transfers,\n"
	"seconds, how many times the rate of one link that is, and for the last four the share of a bound:\n"
	"of an allgather what a node gets over its links, of a reduce-scatter what it sends, of an allreduce\n"
	"what nodes get and send on over all links, of an alltoall what the busiest link has to carry. The\n"
	"simulator is \"exact\", or \"one-node\" where the links of one node are replayed, since on a torus of\n"
	"rings all do the same; with --one-node also where all would fit.\n";

#define LEAST 1e-9 /* of what must be above 0 */
#define MOST 1e15

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

/* SHAPE ALGORITHM BYTES SEGMENT */
static void simulate(char **argv, bool one_node, const struct network *network)
{
	struct schedule schedule = {.one_node = one_node};
	double bytes = number_of("bytes", argv[2], 1), segment = number_of("segment", argv[3], 1), bound, seconds;
	char problem[TORUS_PROBLEM];

	if (!torus_shape_read(&schedule.shape, argv[0], problem))
		fail(problem);
	schedule_make(&schedule, argv[1], bytes, segment);
	seconds = replay(&schedule, network);
	bound = bound_seconds(&schedule.shape, argv[1], bytes, network->rate);
	printf("%-8s %-10s %-9s %12.0f %9.0f %9zu %12.9f %8.3f", schedule.one_node ? "one-node" : "exact", argv[0],
	       argv[1], bytes, segment, schedule.count, seconds, bytes / network->rate / seconds);
	if (bound > 0)
		printf(" %6.3f", bound / seconds);
	printf("\n");
	free(schedule.transfer);
	free(schedule.more);
}

int main(int argc, char **argv)
{
	struct network network = {.rate = 6.8e9, .latency = 0.5e-6};
	bool one_node = argc > 1 && !strcmp(argv[1], "--one-node");
	int given = argc - 1 - one_node;

	if (argc > 1 && !strcmp(argv[1], "--help")) {
		printf("%s%s", usage, help);
		return 0;
	}
	argv += 1 + one_node;
	if (given != 4 && given != 6) {
		fprintf(stderr, "%s", usage);
		return 2;
	}
	if (given == 6) {
		network.rate = number_of("rate", argv[4], LEAST);
		network.latency = number_of("latency", argv[5], 0);
	}
	if (one_node && strncmp(argv[1], "all", 3) != 0 && strcmp(argv[1], "reduce-scatter") != 0)
		fail("--one-node is for allgather, reduce-scatter, alltoall and allreduce");
	simulate(argv, one_node, &network);
	return 0;
}
