/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exchange schedule: with every list in its order nobody waits for ever; each block of each
 * part comes from its place to its place; what passes a node has a step by which it goes on; and
 * the busiest link carries no more than it must. The same where lines have bad cables, which are
 * cut or have bypasses: then nothing goes over these cables.
 */
#include "comms/torus/exchange_schedule.h"
#include "comms/torus/sites.h"

#include <stdlib.h>

#include "tests/lib/tori.h"
#include "tests/lib/unit.h"

#define CUTS 2

static char text[TORUS_TEXT];

struct link {
	int from, to, direction, count, sent;
	struct torus_exchange_step *steps;
	/* By step, what it carries: the blocks, by from * places + to; -1: nothing yet. */
	int *bundle;
	int carried;
};

struct run {
	const struct torus_shape *shape;
	const struct torus_lines *lines;
	int parts, phases, links;
	struct link *link;
	int *cell;    /* by place, part, phases done, and cell */
	int *arrived; /* by place, part and phase */
};

static int *cell_of(const struct run *run, int place, int part, int done, int cell)
{
	return &run->cell[((place * run->parts + part) * (run->phases + 1) + done) * run->shape->places + cell];
}

static int *arrived_of(const struct run *run, int place, int part, int phase)
{
	return &run->arrived[(place * run->parts + part) * run->phases + phase];
}

/* Cell i of the bundle of a coordinate along an axis. */
static int cell_number(const struct run *run, int axis, int coordinate, int i)
{
	int stride = run->shape->stride[axis];

	return i / stride * stride * run->shape->axis[axis].size + coordinate * stride + i % stride;
}

static int bundle_cells(const struct run *run, int axis)
{
	return run->shape->places / run->shape->axis[axis].size;
}

static struct link *link_from(struct run *run, int place, int direction)
{
	for (int l = 0; l < run->links; l++)
		if (run->link[l].from == place && run->link[l].direction == direction)
			return &run->link[l];
	return NULL;
}

static bool is_over(const struct run *run, int place, int part, int phase)
{
	return phase < 0 || *arrived_of(run, place, part, phase) ==
				    run->shape->axis[torus_exchange_axis(run->shape, CUTS, part, phase)].size;
}

static void arrive(struct run *run, int place, int part, int phase)
{
	int axis, mine;

	if (phase >= 0)
		++*arrived_of(run, place, part, phase);
	if (!is_over(run, place, part, phase) || phase + 1 == run->phases)
		return;
	axis = torus_exchange_axis(run->shape, CUTS, part, phase + 1);
	mine = torus_coordinate(run->shape, place, axis);
	for (int i = 0; i < bundle_cells(run, axis); i++)
		*cell_of(run, place, part, phase + 2, cell_number(run, axis, mine, i)) =
			*cell_of(run, place, part, phase + 1, cell_number(run, axis, mine, i));
	arrive(run, place, part, phase + 1);
}

static void make(struct run *run, const struct torus_shape *shape, const struct torus_lines *lines)
{
	int n = shape->places;

	*run = (struct run){.shape = shape,
			    .lines = lines,
			    .parts = torus_exchange_parts(shape, CUTS),
			    .phases = torus_exchange_phases(shape)};
	run->link = calloc((size_t)(n * TORUS_DIRECTIONS), sizeof *run->link);
	run->cell = calloc((size_t)(n * run->parts * (run->phases + 1) * n) + 1, sizeof *run->cell);
	run->arrived = calloc((size_t)(n * run->parts * run->phases) + 1, sizeof *run->arrived);
	for (int place = 0; place < n; place++)
		for (int direction = 0; direction < 2 * shape->axes; direction++) {
			struct link *link = &run->link[run->links];
			int count = torus_exchange_schedule(shape, lines, CUTS, place, direction, NULL);

			if (count == 0)
				continue;
			*link = (struct link){.from = place,
					      .to = torus_neighbour(shape, place, direction),
					      .direction = direction,
					      .count = count};
			EXPECT(link->to >= 0, "%s: %d sends into the void", text, place);
			link->steps = calloc((size_t)count, sizeof *link->steps);
			link->bundle = calloc((size_t)count * (size_t)n, sizeof *link->bundle);
			torus_exchange_schedule(shape, lines, CUTS, place, direction, link->steps);
			for (int i = 0; i < count * n; i++)
				link->bundle[i] = -1;
			run->links++;
		}
	for (int place = 0; place < n; place++)
		for (int part = 0; part < run->parts; part++) {
			for (int to = 0; to < n; to++)
				*cell_of(run, place, part, 0, to) = place * n + to;
			arrive(run, place, part, -1);
		}
}

static void dispose(struct run *run)
{
	for (int l = 0; l < run->links; l++) {
		free(run->link[l].steps);
		free(run->link[l].bundle);
	}
	free(run->link);
	free(run->cell);
	free(run->arrived);
}

static int *find_bundle(struct run *run, const struct link *link, const struct torus_exchange_step *step)
{
	struct link *next = link_from(run, link->to, step->onwards);

	for (int i = next ? next->sent : 0; next && i < next->count; i++) {
		const struct torus_exchange_step *out = &next->steps[i];

		if (out->from == link->direction && out->level == step->level + 1 && out->phase == step->phase &&
		    out->part == step->part && out->line == step->line && out->origin == step->origin &&
		    out->target == step->target)
			return &next->bundle[i * run->shape->places];
	}
	return NULL;
}

/* The bundle comes to the other end: for good, or to go on. */
static void deliver(struct run *run, const struct link *link, const struct torus_exchange_step *step, const int *bundle)
{
	int axis = torus_exchange_axis(run->shape, CUTS, step->part, step->phase), cells = bundle_cells(run, axis);
	int *onwards;

	if (step->onwards < 0) {
		EXPECT(torus_coordinate(run->shape, link->to, axis) == step->target, "%s: %d is no target", text,
		       link->to);
		for (int i = 0; i < cells; i++)
			*cell_of(run, link->to, step->part, step->phase + 1, cell_number(run, axis, step->origin, i)) =
				bundle[i];
		arrive(run, link->to, step->part, step->phase);
		return;
	}
	onwards = find_bundle(run, link, step);
	EXPECT(onwards && onwards[0] < 0, "%s: what passes %d does not go on", text, link->to);
	if (onwards)
		memcpy(onwards, bundle, (size_t)cells * sizeof *bundle);
}

static bool send_next(struct run *run, struct link *link)
{
	const struct torus_exchange_step *step = &link->steps[link->sent];
	int *bundle = &link->bundle[link->sent * run->shape->places], axis;

	if (link->sent == link->count || (step->level > 0 && bundle[0] < 0) ||
	    (step->level == 0 && !is_over(run, link->from, step->part, step->phase - 1)))
		return false;
	axis = torus_exchange_axis(run->shape, CUTS, step->part, step->phase);
	for (int i = 0; step->level == 0 && i < bundle_cells(run, axis); i++)
		bundle[i] = *cell_of(run, link->from, step->part, step->phase, cell_number(run, axis, step->target, i));
	link->sent++;
	link->carried += bundle_cells(run, axis);
	deliver(run, link, step, bundle);
	return true;
}

static void check(const struct torus_shape *shape, const struct torus_lines *lines)
{
	bool moved = true;
	struct run run;
	int most = 0;

	torus_shape_text(shape, text);
	make(&run, shape, lines);
	while (moved) {
		moved = false;
		for (int l = 0; l < run.links; l++)
			moved |= send_next(&run, &run.link[l]);
	}
	for (int l = 0; l < run.links; l++) {
		EXPECT(run.link[l].sent == run.link[l].count, "%s: %d waits for ever", text, run.link[l].from);
		most = run.link[l].carried > most ? run.link[l].carried : most;
	}
	for (int place = 0; run.phases > 0 && place < shape->places; place++)
		for (int part = 0; part < run.parts; part++)
			for (int from = 0; from < shape->places; from++)
				EXPECT(*cell_of(&run, place, part, run.phases, from) == from * shape->places + place,
				       "%s: %d has something else from %d", text, place, from);
	EXPECT(most <= torus_exchange_busiest(shape, lines) * run.parts + 1e-6,
	       "%s: a link carries %d parts of blocks, not %g", text, most,
	       torus_exchange_busiest(shape, lines) * run.parts);
	dispose(&run);
}

/* Some cables that are slow. */
static void mark_cables(struct torus_sites *sites, int flaws)
{
	const struct torus_shape *shape = &sites->shape;
	struct torus_box box = {{0}, {0}};
	struct torus_flaw flaw[8];

	for (int a = 0; a < shape->axes; a++)
		box.extent[a] = shape->axis[a].size;
	for (int i = 0; i < flaws; i++)
		flaw[i] = (struct torus_flaw){tori_random(shape->places), 2 * tori_random(shape->axes), 0.1F};
	EXPECT(torus_sites_mark(sites, &box, shape, flaw, flaws), "memory");
}

/* What of lines with flaws there was. */
static struct {
	int cut, bypassed, both, twice;
} seen;

static void note_lines(const struct torus_shape *shape, const struct torus_lines *lines)
{
	int cut = 0;

	for (int l = 0; l < shape->places * shape->axes; l++)
		cut += lines->begins[l] >= 0;
	seen.cut += cut > 0;
	seen.bypassed += lines->bypasses > 0;
	seen.both += cut > 0 && lines->bypasses > 0;
	seen.twice += lines->bypasses > 1;
}

static void check_flaws(const struct torus_shape *shape)
{
	struct torus_sites sites;
	struct torus_lines lines;
	bool possible;

	torus_shape_text(shape, text);
	EXPECT(torus_sites_all(&sites, shape), "memory");
	mark_cables(&sites, 1 + tori_random(6));
	EXPECT(torus_lines_find(&lines, &sites, &possible), "memory");
	if (possible) {
		for (int p = 0; p < shape->places; p++)
			for (int d = 0; d < 2 * shape->axes; d++)
				EXPECT(torus_sites_share(&sites, p, d) == 1 ||
					       torus_exchange_schedule(shape, &lines, CUTS, p, d, NULL) == 0,
				       "%s: %d sends over a bad cable", text, p);
		check(shape, &lines);
		note_lines(shape, &lines);
		torus_lines_free(&lines);
	}
	torus_sites_free(&sites);
}

/*
 * Rounds keep a node's memory bounded; more cuts than two come with parts of at least a KiB, and no
 * earlier than they must.
 */
static void check_rounds_and_cuts(const char *name, size_t most, size_t cut_in_4, size_t cut_in_8)
{
	struct torus_shape shape;

	tori_read(&shape, name);
	EXPECT(torus_exchange_block_most(&shape) == most, "%s: %zu bytes at once, not %zu", name,
	       torus_exchange_block_most(&shape), most);
	EXPECT(torus_exchange_cuts(&shape, 1) == 2 && torus_exchange_cuts(&shape, cut_in_4 - 1) == 2, "%s: early cuts",
	       name);
	EXPECT(torus_exchange_cuts(&shape, cut_in_4) == 4 && torus_exchange_cuts(&shape, cut_in_8 - 1) == 4,
	       "%s: not 4 cuts", name);
	EXPECT(torus_exchange_cuts(&shape, cut_in_8) == 8 && torus_exchange_cuts(&shape, cut_in_8 << 10) == 8,
	       "%s: not 8 cuts", name);
}

int main(void)
{
	static const char *const known[] = {"3x3x3", "4x4", "2x2x2x2", "2x3x4", "5",   "6",
					    "2",     "2d",  "4mx3",    "3mx3m", "2dx4"};
	struct torus_shape shape;

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		tori_read(&shape, known[i]);
		check(&shape, NULL);
		for (int j = 0; j < 4; j++)
			check_flaws(&shape);
	}
	for (int i = 0; i < 40; i++) {
		tori_shape(&shape, 40);
		check(&shape, NULL);
		for (int j = 0; j < 4; j++)
			check_flaws(&shape);
	}
	EXPECT(seen.cut > 10 && seen.bypassed > 10 && seen.both > 5 && seen.twice > 5,
	       "few shapes with flaws: %d cut, %d bypassed, %d both, %d several", seen.cut, seen.bypassed, seen.both,
	       seen.twice);
	check_rounds_and_cuts("24x16x24", 2368, 12288, 24576);
	check_rounds_and_cuts("4x4", 2097152, 8192, 16384);
	tori_read(&shape, "1");
	EXPECT(torus_exchange_block_most(&shape) == 0, "a single node sends %zu bytes",
	       torus_exchange_block_most(&shape));
	return unit_failures > 0;
}
