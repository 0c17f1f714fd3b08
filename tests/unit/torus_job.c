/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The torus of a job: PEs handed out to nodes in any pattern, nodes anywhere in a machine; numbers
 * there and back.
 */
#include "comms/torus/job_places.h"

#include <stdlib.h>
#include <string.h>

#include "tests/lib/tori.h"
#include "tests/lib/unit.h"

#define MOST 400

static int place[MOST], node_of[MOST], count[MOST];

/* So many nodes at places of the machine drawn at random; returns how many. */
static int draw_places(const struct torus_shape *machine)
{
	int nodes = 0, wanted = 1 + tori_random(machine->places);

	for (int p = 0; p < machine->places && nodes < wanted; p++)
		if (tori_random(3))
			place[nodes++] = p;
	if (nodes == 0)
		place[nodes++] = tori_random(machine->places);
	for (int n = nodes - 1; n > 0; n--) {
		int other = tori_random(n + 1), saved = place[n];

		place[n] = place[other];
		place[other] = saved;
	}
	return nodes;
}

/*
 * Filled one after the other, dealt out, or anyhow; node n has its first PE after those of the
 * nodes before it.
 */
static int draw_pes(int nodes)
{
	int kind = tori_random(3), run = kind == 1 ? 1 : 1 + tori_random(4), pes = nodes;

	if (kind == 0)
		pes = nodes * run;
	else if (nodes <= MOST / 4)
		pes = nodes + tori_random(2 * nodes);
	pes = pes <= MOST ? pes : nodes;
	for (int pe = 0; pe < pes; pe++)
		node_of[pe] = kind == 0 && pes > nodes	? pe / run
			      : kind == 1 || pe < nodes ? pe % nodes
							: tori_random(nodes);
	return pes;
}

static void check_numbers(const struct torus_job *job, const struct torus_shape *machine, int nodes)
{
	memset(count, 0, sizeof count);
	EXPECT(job->sites.nodes == nodes, "%d nodes", job->sites.nodes);
	for (int pe = 0; pe < job->pes; pe++) {
		int node = torus_job_node(job, pe);

		EXPECT(node == node_of[pe], "PE %d: node %d, not %d", pe, node, node_of[pe]);
		EXPECT(torus_box_outside(&job->box, &job->machine, &job->sites.shape, torus_job_place(job, pe)) ==
			       place[node],
		       "PE %d: its place", pe);
		EXPECT(torus_job_pe(job, node, count[node]) == pe, "PE %d is PE %d of its node", pe, count[node]);
		count[node]++;
	}
	for (int n = 0; n < nodes; n++)
		EXPECT(torus_job_pe(job, n, count[n]) == -1, "node %d: one PE too many", n);
	/* Routes stay in the box, so they may be longer than in the machine, never shorter. */
	for (int i = 0; i < 10; i++) {
		int a = tori_random(job->pes), b = tori_random(job->pes);
		int hops = torus_job_hops(job, a, b), least = torus_hops(machine, place[node_of[a]], place[node_of[b]]);

		EXPECT(hops >= least && (hops > 0) == (node_of[a] != node_of[b]), "%d hops, at least %d", hops, least);
	}
}

static void check_spread(const struct torus_sites *sites)
{
	struct torus_spread spread;
	char text[TORUS_SPREAD_TEXT];
	double sum = 0, hops = 0, pairs = (double)sites->nodes * (sites->nodes - 1);

	if (!torus_spread_find(&spread, sites)) {
		EXPECT(0, "no memory");
		return;
	}
	for (int h = 1; h <= spread.longest; h++)
		sum += spread.share[h];
	for (int a = 0; a < sites->nodes; a++)
		for (int b = 0; b < sites->nodes; b++)
			hops += torus_hops(&sites->shape, sites->place[a], sites->place[b]);
	EXPECT(sites->nodes == 1 || (sum > 0.999 && sum < 1.001), "shares: %g in all", sum);
	EXPECT(sites->nodes == 1 || (spread.mean < hops / pairs + 1e-6 && spread.mean > hops / pairs - 1e-6), "mean %g",
	       spread.mean);
	EXPECT((strchr(torus_spread_text(&spread, text), '%') != NULL) == (sites->nodes > 1), "%s", text);
	torus_spread_free(&spread);
}

static void try_lots(void)
{
	struct torus_shape machine;
	struct torus_job_map map = {.source = TORUS_FROM_FILE, .machine = &machine, .place = place, .node_of = node_of};
	struct torus_job job;
	int nodes, twice;

	tori_shape(&machine, MOST);
	nodes = map.nodes = draw_places(&machine);
	map.pes = draw_pes(nodes);
	if (!torus_job_make(&job, &map, &twice)) {
		EXPECT(0, "not made: %d nodes, %d PEs, node %d", nodes, map.pes, twice);
		return;
	}
	check_numbers(&job, &machine, nodes);
	check_spread(&job.sites);
	torus_job_free(&job);
	if (nodes > 1) {
		place[nodes - 1] = place[0];
		EXPECT(!torus_job_make(&job, &map, &twice), "two nodes at a place");
		EXPECT(twice == nodes - 1, "node %d, not %d", twice, nodes - 1);
	}
}

/* What a job of the largest machine costs each PE: 8 bytes for each node, none for its PEs. */
static void try_runs(void)
{
	static const int runs[] = {1, 4, 3};
	struct torus_shape machine;
	struct torus_job job;
	int twice;

	tori_read(&machine, "5x4");
	for (int r = 0; r < 3; r++) {
		for (int n = 0; n < 20; n++)
			place[n] = n;
		for (int pe = 0; pe < 240; pe++)
			node_of[pe] = pe / runs[r] % 20;
		torus_job_make(&job, &(struct torus_job_map){TORUS_LOGICAL, &machine, 20, 240, place, node_of}, &twice);
		EXPECT(job.run == runs[r] && !job.node_of && !job.first, "runs of %d: %d", runs[r], job.run);
		torus_job_free(&job);
	}
}

int main(void)
{
	for (int i = 0; i < 3000; i++)
		try_lots();
	try_runs();
	return unit_failures > 0;
}
