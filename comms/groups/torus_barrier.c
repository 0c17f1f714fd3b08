/* SPDX-License-Identifier: BSD-3-Clause */
#include "torus_barrier.h"

#include <stdlib.h>

#include "comms/core/group.h"
#include "comms/nodes/job_torus.h"
#include "rte/rte.h"
#include "comms/torus/barrier_rounds.h"

/*
 * What a round of a barrier costs beside a hop: over the kernel's network a notification takes some
 * 20 us to a neighbouring host and 1 us more for each further hop. torus_barrier_pays compares more
 * rounds to near nodes with fewer rounds to far ones by this number.
 */
#define HOPS_OF_A_ROUND 20

/* A cheap check first: most jobs have no torus, and should not search for one at their start. */
static bool somebody_knows(void)
{
	return comms_torus_is_given() || comms.map;
}

static void find_places(struct torus_sites *sites, const struct comms_group *nodes)
{
	const struct torus_job *job = comms_ensure_torus();
	int *places = calloc((size_t)nodes->size, sizeof *places);

	for (int n = 0; places && n < nodes->size; n++)
		places[n] = torus_job_place(job, comms_group_pe(nodes, n));
	if (!places || !torus_sites_of_team(sites, &job->sites, places, nodes->size))
		rte_die(NULL, "no memory for the torus of a team of %d nodes", nodes->size);
	free(places);
}

void comms_group_follow_torus(struct comms_group *nodes)
{
	int notified[TORUS_ROUNDS];
	struct torus_sites sites;

	if (nodes->me < 0 || nodes->size < 3)
		return;
	if (comms.barrier != COMMS_TORUS && (comms.barrier != COMMS_AUTO || !somebody_knows()))
		return;
	find_places(&sites, nodes);
	if (sites.shape.places == nodes->size &&
	    (comms.barrier == COMMS_TORUS || torus_barrier_pays(&sites, HOPS_OF_A_ROUND))) {
		nodes->rounds = torus_barrier_rounds(&sites.shape, sites.place[nodes->me], notified);
		nodes->notified = calloc((size_t)nodes->rounds, sizeof *nodes->notified);
		nodes->round = calloc((size_t)nodes->rounds, sizeof *nodes->round);
		if (!nodes->notified || !nodes->round)
			rte_die(NULL, "no memory for the rounds of a team");
		for (int r = 0; r < nodes->rounds; r++) {
			nodes->notified[r] = comms_group_pe(nodes, sites.node[notified[r]]);
			nodes->round[r] = (struct comms_round){.word = r, .first = r, .count = 1};
		}
	}
	torus_sites_free(&sites);
}

void comms_group_leave_torus(struct comms_group *nodes)
{
	free(nodes->notified);
	free(nodes->round);
	nodes->notified = NULL;
	nodes->round = NULL;
	nodes->rounds = 0;
}
