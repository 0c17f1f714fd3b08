/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The torus of a team's nodes, and the rates of its links. All members prepare it together, before
 * the first collective that can use it.
 */
#include "collectives.h"
#include "rte/clock.h"

#define SAMPLE (128UL << 10) /* bytes fetched over each link to measure it */
/* Bytes a second: a rate below this, or above the next, counts as an error. */
#define SLOWEST 1e5
#define FASTEST 1e11
#define SHORTEST_WORD 1e-7 /* seconds, likewise */
#define LONGEST_WORD 0.1

struct link_times {
	uint64_t sample, word;
};

/* Nanoseconds of a get from a neighbour. */
static uint64_t time_get(const struct set *set, char *sample, size_t bytes, int pe)
{
	int64_t begun = rte_clock_ns();

	comms_get(sample, sample, bytes, pe, set->routine);
	return (uint64_t)(rte_clock_ns() - begun);
}

/*
 * Times in nanoseconds: of the sample over the slowest link towards this node, except for known
 * slow links; and of a round trip of a word, on average over the links. All nodes measure at once,
 * as in a collective. The data is not used; the first word makes the connection.
 */
static struct link_times time_links(const struct set *set, const struct torus_topology *topology)
{
	char *sample = team_torus(set->team)->staging;
	struct link_times times = {0};
	uint64_t links = 0;

	for (int direction = 0; direction < 2 * topology->sites.shape.axes; direction++) {
		int place = torus_neighbour(&topology->sites.shape, topology->me, direction);
		uint64_t took;

		if (torus_sites_share(&topology->sites, topology->me, direction) < 1)
			continue;
		time_get(set, sample, sizeof(uint64_t), topology->pe[place]);
		times.word += time_get(set, sample, sizeof(uint64_t), topology->pe[place]);
		links++;
		took = time_get(set, sample, SAMPLE, topology->pe[place]);
		times.sample = took > times.sample ? took : times.sample;
	}
	if (links > 0)
		times.word /= links;
	return times;
}

static double between(double least, double value, double most)
{
	return value < least ? least : value > most ? most : value;
}

/*
 * Clears the flags that the slot's last team left, and measures the links. The maximum is a
 * barrier: no member uses a flag before all members have cleared theirs.
 */
static void measure_links(const struct set *set, struct torus_topology *topology)
{
	bool leads = topology->pe[topology->me] == set_pe(set, set->group->me);
	struct link_times times = {0};
	double usual = topology->costs.forward + 2 * topology->costs.handle, word;

	torus_area_clear(team_torus(set->team));
	if (leads)
		times = time_links(set, topology);
	set_reduce_words(set, &times.sample, 1, SET_MOST);
	set_reduce_words(set, &times.word, 1, SET_SUM);
	if (times.sample > 0)
		topology->costs.rate = between(SLOWEST, SAMPLE / (1e-9 * (double)times.sample), FASTEST);
	word = times.word > 0
		       ? between(SHORTEST_WORD, 0.5e-9 * (double)times.word / topology->sites.nodes, LONGEST_WORD)
		       : usual;
	topology->costs.forward *= word / usual;
	topology->costs.handle *= word / usual;
}

/* On the team's first member, because all have the same result. */
static void report_topology(const struct set *set)
{
	struct torus_topology *topology = set->team->topology;
	int nodes = set->group->levels ? set->group->levels->leaders.size : set->group->size;
	char text[TORUS_TEXT];

	if (set->group->me != 0)
		return;
	if (!topology)
		rte_debug("a team of %d PEs on %d nodes is on no torus: its nodes fill no box and have no links "
			  "of their own, so its collectives do not use one",
			  set->group->size, nodes);
	else if (!topology->whole)
		rte_debug("a team of %d PEs on %d nodes is on a torus %s with holes or bad cables, whose links carry "
			  "%.3g MB/s: broadcasts, reductions and collects go down trees around these, all-to-alls %s",
			  set->group->size, nodes, torus_shape_text(&topology->sites.shape, text),
			  topology->costs.rate * 1e-6,
			  torus_topology_has_links(topology) ? "over the other links" : "as without a torus");
	else
		rte_debug("a team of %d PEs on %d nodes is on a torus %s of its own, whose links carry %.3g MB/s, "
			  "and a word in %.3g us",
			  set->group->size, nodes, torus_shape_text(&topology->sites.shape, text),
			  topology->costs.rate * 1e-6, (topology->costs.forward + 2 * topology->costs.handle) * 1e6);
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
	if (!set->group->on_node)
		report_topology(set);
}
