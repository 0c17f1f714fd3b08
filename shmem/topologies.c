/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The torus below a team: where its nodes are, and how fast their links are. All members prepare it together, before the
 * first collective that can use it.
 */
#include "collectives.h"
#include "rte/clock.h"

#define SAMPLE (128UL << 10) /* bytes taken over each link, to see how fast it is */
#define SLOWEST 1e5	     /* bytes a second: a measured rate below this, or above the next, is taken for an error */
#define FASTEST 1e11

/*
 * Nanoseconds that the sample takes over the slowest link towards this node, known slow links aside. All nodes measure at once,
 * as they will in a collective. The bytes are not used; the get of one word before makes the connection.
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

/*
 * Clears the flags of a team that had the slot before, and measures the links. The maximum is a barrier: no member uses a flag before
 * all members have cleared theirs.
 */
static void measure_links(const struct set *set, struct torus_topology *topology)
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
	rte_debug("a team is on a torus %s whose links carry %.3g MB/s", torus_shape_text(&topology->sites.shape, text),
		  topology->costs.rate * 1e-6);
}

void set_prepare_topology(const struct set *set)
{
	struct shmemx_team *team = set->team;

	if (team->topology_prepared)
		return;
	comms_group_prepare(set->group);
	team->topology_prepared = true;
	team->topology = torus_topology_make(set->group);
	if (team->topology)
		measure_links(set, team->topology);
}
