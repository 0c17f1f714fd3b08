/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The torus below a team: where its nodes are, and what their links do. Found out when a collective first has use for it, by
 * all members together.
 */
#include "collectives.h"
#include "rte/clock.h"

#define SAMPLE (128UL << 10) /* bytes taken over each link, to see how fast it is */
#define SLOWEST 1e5	     /* bytes a second that are believed, and most */
#define FASTEST 1e11

/*
 * How long the sample takes over the slowest link towards this node, but for those that are known to be slow. All nodes take theirs at once, as they will in a
 * collective. What is taken is of no interest; the first word brings up the connection.
 */
static uint64_t time_links(const struct set *set, const struct torus_topology *topology)
{
	char *sample = team_torus(set->team)->staging;
	uint64_t slowest = 0;

	for (int direction = 0; direction < 2 * topology->sites.shape.axes; direction++) {
		int place = torus_neighbour(&topology->sites.shape, topology->me, direction);
		int64_t begun;
		uint64_t took;

		if (torus_sites_share(&topology->sites, topology->me, direction) < 1)
			continue;
		comms_get(sample, sample, sizeof(uint64_t), topology->pe[place], set->routine);
		begun = rte_clock_ns();
		comms_get(sample, sample, SAMPLE, topology->pe[place], set->routine);
		took = (uint64_t)(rte_clock_ns() - begun);
		slowest = took > slowest ? took : slowest;
	}
	return slowest;
}

/* The words of a team that had the slot before must be gone when the first of this one comes: nobody leaves before all came. */
static void prepare_topology(const struct set *set, struct torus_topology *topology)
{
	bool leads = topology->pe[topology->me] == set_pe(set, set->group->me);
	char text[TORUS_TEXT];
	uint64_t slowest;

	torus_area_clear(team_torus(set->team));
	slowest = set_max(set, leads ? time_links(set, topology) : 0);
	if (slowest > 0)
		topology->costs.rate = SAMPLE / (1e-9 * (double)slowest);
	if (topology->costs.rate < SLOWEST)
		topology->costs.rate = SLOWEST;
	if (topology->costs.rate > FASTEST)
		topology->costs.rate = FASTEST;
	rte_debug("a team is on a torus %s whose links carry %.3g MB/s",
		  torus_shape_text(&topology->sites.shape, text), topology->costs.rate * 1e-6);
}

const struct torus_topology *set_topology(const struct set *set)
{
	struct shmemx_team *team = set->team;

	if (!team->topology_seen) {
		comms_group_see(set->group);
		team->topology_seen = true;
		team->topology = torus_topology_make(set->group);
		if (team->topology)
			prepare_topology(set, team->topology);
	}
	return team->topology;
}
