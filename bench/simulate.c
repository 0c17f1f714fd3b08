/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * simulate SHAPE ALGORITHM BYTES SEGMENT [RATE LATENCY]: how long a collective takes on a torus that nobody has at hand, by the very
 * schedule of the library's functions, and whether any link carries two transfers at once. Prints: simulator, shape, algorithm, bytes,
 * segment, transfers, the most at once on a link, seconds, how many times the rate of one link that is, and, where a bound is known, which
 * share of it: of an allgather (bytes from each) what a node gets over its links, of an allreduce what nodes get and what they send on over all links, of an alltoall (bytes for each)
 * what the busiest link has to carry. The simulator is "one-node" where the links of one node are replayed, since on a torus of rings all do the same.
 *
 * Where all transfers go to neighbours and those of a link wait for each other, nothing shares anything, and times follow exactly
 * from the order. Whatever else there is takes SimGrid (configure --with-simgrid), which shares links among flows: bench/simulate-grid.
 */
#include "simulate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comms/torus/exchange_schedule.h"
#include "comms/torus/ring_schedule.h"

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
#define SIMULATOR "exact"
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
#define SIMULATOR "simgrid"
#endif

/* 0: none is known. */
static double bound_seconds(const struct torus_shape *shape, const char *algorithm, double bytes, double rate)
{
	double gathered = (shape->places - 1) * bytes / torus_ring_links(shape, TORUS_ONE_WAY) / rate;
	double busiest = torus_exchange_busiest(shape), mean = torus_exchange_mean(shape);

	if (!strcmp(algorithm, "allgather"))
		return gathered;
	if (!strcmp(algorithm, "allreduce"))
		return 2 * (shape->places - 1) * bytes / shape->places / torus_ring_links(shape, TORUS_BOTH_WAYS) /
		       rate;
	return strcmp(algorithm, "alltoall") ? 0 : (busiest > mean ? busiest : mean) * bytes / rate;
}

int main(int argc, char **argv)
{
	struct network network = {6.8e9, 0.5e-6};
	struct schedule schedule = {.transfer = NULL};
	char problem[TORUS_PROBLEM];
	struct outcome outcome;
	double bytes, segment, bound;

	if (argc != 5 && argc != 7) {
		fprintf(stderr,
			"usage: simulate SHAPE ALGORITHM BYTES SEGMENT [RATE LATENCY]\n"
			"algorithms: twice, up, both, chain, binomial, allgather, alltoall, allreduce; bytes a second, seconds (6.8e9 5e-7)\n");
		return 2;
	}
	if (!torus_shape_read(&schedule.shape, argv[1], problem)) {
		fprintf(stderr, "simulate: %s\n", problem);
		return 2;
	}
	bytes = strtod(argv[3], NULL);
	segment = strtod(argv[4], NULL);
	if (argc == 7)
		network = (struct network){strtod(argv[5], NULL), strtod(argv[6], NULL)};
	if (!(bytes >= 1 && segment >= 1 && network.rate > 0 && network.latency >= 0)) {
		fprintf(stderr, "simulate: bytes and segment are numbers from 1, a rate is above 0\n");
		return 2;
	}
	schedule_make(&schedule, argv[2], bytes, segment);
	outcome = replay(&schedule, &network);
	bound = bound_seconds(&schedule.shape, argv[2], bytes, network.rate);
	printf("%-8s %-10s %-9s %12.0f %9.0f %9zu %3d %12.9f %8.3f", schedule.one_node ? "one-node" : SIMULATOR,
	       argv[1], argv[2], bytes, segment, schedule.count, outcome.at_once, outcome.seconds,
	       bytes / network.rate / outcome.seconds);
	if (bound > 0)
		printf(" %6.3f", bound / outcome.seconds);
	printf("\n");
	free(schedule.transfer);
	free(schedule.more);
	return 0;
}
