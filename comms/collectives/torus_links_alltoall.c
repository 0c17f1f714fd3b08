/* SPDX-License-Identifier: BSD-3-Clause */
#include "torus_links_alltoall.h"

#include <stdlib.h>
#include <string.h>

#include "torus_stream.h"
#include "rte/rte.h"
#include "comms/torus/exchange_schedule.h"
#include "comms/wait/wait.h"

/*
 * A bundle on its way out: the bytes present, and the number of pieces once the last one has left.
 */
struct bundle {
	char *data;
	size_t bytes, end;
};

/* The list of a stream, and the position in it. */
struct course {
	struct torus_exchange_step *steps;
	int count, step;
	size_t bytes; /* of this bundle, sent or received so far */
	/* Of a stream out, by step; and the first bundle still in use. */
	struct bundle *bundle;
	int released;
	struct bundle *taken; /* of a stream in: the bundle to forward */
};

struct run {
	const struct torus_links_alltoall *alltoall;
	const struct torus_shape *shape;
	int cuts, parts, phases;
	int *arrived; /* by part and phase: number of bundles present, including this node's own */
	char *kept;   /* by phase from the second on, then part and place */
	struct torus_streams streams;
	struct course out[TORUS_DIRECTIONS], in[TORUS_DIRECTIONS]; /* by stream */
	/* By direction: the stream out; NULL: none. */
	struct course *onwards[TORUS_DIRECTIONS];
};

size_t torus_links_alltoall_most(struct torus_topology *topology)
{
	return torus_topology_has_links(topology) ? torus_exchange_block_most(&topology->sites.shape) : 0;
}

static void *check_memory(const struct run *run, void *memory, size_t bytes)
{
	if (!memory)
		rte_die(run->alltoall->routine, "no memory for %zu bytes that are for other nodes", bytes);
	return memory;
}

static void *allocate_zeros(const struct run *run, size_t count, size_t size)
{
	return check_memory(run, calloc(count ? count : 1, size), count * size);
}

/* Memory that is written before it is read. */
static void *allocate_room(const struct run *run, size_t bytes)
{
	return check_memory(run, malloc(bytes ? bytes : 1), bytes);
}

/* --- Parts, bundles, cells --- */

static size_t part_begin(const struct run *run, int part)
{
	return torus_part_begin(run->alltoall->bytes, run->parts, part);
}

static size_t part_bytes(const struct run *run, int part)
{
	return part_begin(run, part + 1) - part_begin(run, part);
}

static int phase_axis(const struct run *run, int part, int phase)
{
	return torus_exchange_axis(run->shape, run->cuts, part, phase);
}

static int my_coordinate(const struct run *run, int axis)
{
	return torus_coordinate(run->shape, run->alltoall->topology->me, axis);
}

static size_t bundle_bytes(const struct run *run, int part, int phase)
{
	return part_bytes(run, part) *
	       (size_t)(run->shape->places / run->shape->axis[phase_axis(run, part, phase)].size);
}

/*
 * Bytes at .. at + bytes of a bundle: all data of a part that must move, in this phase, to (or has
 * come from) one coordinate along the phase's axis. The bundle is an array of cells, one for each
 * place with that coordinate. A cell is a part of one block. Along axes whose phases are to come
 * the place is where the block goes; along axes whose phases are over it is where the block came
 * from.
 */
struct cells {
	int part, phase, coordinate;
	int done; /* completed phases of the part */
	size_t at, bytes;
};

/* The position of a place's cell of a part after some phases, except the last. */
static char *kept_cell(const struct run *run, int part, int done, int place)
{
	size_t places = (size_t)run->shape->places;

	return run->kept + ((size_t)(done - 1) * run->alltoall->bytes + part_begin(run, part)) * places +
	       (size_t)place * part_bytes(run, part);
}

static void move_cell(const struct run *run, const struct cells *cells, int place, size_t at, size_t bytes, char *data,
		      bool out)
{
	const struct torus_links_alltoall *a = run->alltoall;
	size_t begin = part_begin(run, cells->part);
	char *kept;

	if (cells->done == 0) {
		a->load(a->blocks, a->topology->sites.node[place], begin + at, bytes, data);
		return;
	}
	if (cells->done == run->phases) {
		a->store(a->blocks, a->topology->sites.node[place], begin + at, bytes, data);
		return;
	}
	kept = kept_cell(run, cells->part, cells->done, place) + at;
	memcpy(out ? data : kept, out ? kept : data, bytes);
}

/* The i-th of the places with a coordinate along an axis. */
static int place_of_cell(const struct run *run, int axis, int coordinate, int i)
{
	int stride = run->shape->stride[axis];

	return i / stride * stride * run->shape->axis[axis].size + coordinate * stride + i % stride;
}

static void move_cells(const struct run *run, struct cells cells, char *data, bool out)
{
	int axis = phase_axis(run, cells.part, cells.phase);
	size_t each = part_bytes(run, cells.part), now;

	for (; cells.bytes > 0; cells.at += now, data += now, cells.bytes -= now) {
		int place = place_of_cell(run, axis, cells.coordinate, (int)(cells.at / each));

		now = each - cells.at % each;
		if (now > cells.bytes)
			now = cells.bytes;
		move_cell(run, &cells, place, cells.at % each, now, data, out);
	}
}

static int *arrived_of(const struct run *run, int part, int phase)
{
	return &run->arrived[part * run->phases + phase];
}

static bool phase_is_over(const struct run *run, int part, int phase)
{
	return phase < 0 || *arrived_of(run, part, phase) == run->shape->axis[phase_axis(run, part, phase)].size;
}

static void count_bundle(struct run *run, int part, int phase);

/*
 * Handles the bundle that needs no link in this phase, because its destination has this node's own
 * coordinate along the phase's axis: copies it to where the next phase sends from or, in the last
 * phase, to the destination buffers.
 */
static void keep_own(struct run *run, int part, int phase)
{
	const struct torus_links_alltoall *a = run->alltoall;
	int axis = phase_axis(run, part, phase), count = run->shape->places / run->shape->axis[axis].size;
	size_t begin = part_begin(run, part), bytes = part_bytes(run, part);

	for (int i = 0; i < count; i++) {
		int place = place_of_cell(run, axis, my_coordinate(run, axis), i),
		    node = a->topology->sites.node[place];
		char *kept = kept_cell(run, part, phase > 0 ? phase : 1, place);

		if (phase == 0)
			a->load(a->blocks, node, begin, bytes, kept);
		else if (phase + 1 < run->phases)
			memcpy(kept_cell(run, part, phase + 1, place), kept, bytes);
		if (phase + 1 == run->phases)
			a->store(a->blocks, node, begin, bytes, kept);
	}
	count_bundle(run, part, phase);
}

/*
 * Counts a bundle of this part that has arrived completely. The last one of a phase begins the next
 * phase: everything is now here that this node sends in it.
 */
static void count_bundle(struct run *run, int part, int phase)
{
	++*arrived_of(run, part, phase);
	if (phase_is_over(run, part, phase) && phase + 1 < run->phases)
		keep_own(run, part, phase + 1);
}

/* --- Pieces on the links --- */

static size_t step_bytes(const struct run *run, const struct torus_exchange_step *step)
{
	return bundle_bytes(run, step->part, step->phase);
}

static size_t next_piece(const struct run *run, const struct course *course)
{
	size_t left = step_bytes(run, &course->steps[course->step]) - course->bytes;

	return left < run->streams.piece ? left : run->streams.piece;
}

/*
 * Advances a stream's position past a piece that was sent or received; bundles without bytes are
 * skipped, because they have no pieces. Returns true if the piece was the last of its bundle.
 */
static bool pass_piece(const struct run *run, struct course *course, size_t bytes)
{
	bool last;

	course->bytes += bytes;
	last = course->bytes == step_bytes(run, &course->steps[course->step]);
	while (course->step < course->count && course->bytes == step_bytes(run, &course->steps[course->step])) {
		course->step++;
		course->bytes = 0;
	}
	return last;
}

static size_t list_steps(const struct run *run, struct course *course, int place, int direction)
{
	const struct torus_lines *lines = run->alltoall->topology->lines;
	size_t pieces = 0;

	course->count = torus_exchange_schedule(run->shape, lines, run->cuts, place, direction, NULL);
	course->steps = allocate_room(run, (size_t)course->count * sizeof *course->steps);
	torus_exchange_schedule(run->shape, lines, run->cuts, place, direction, course->steps);
	for (int i = 0; i < course->count; i++)
		pieces += (step_bytes(run, &course->steps[i]) + run->streams.piece - 1) / run->streams.piece;
	if (course->count > 0)
		pass_piece(run, course, 0);
	return pieces;
}

static size_t longest_bundle(const struct run *run)
{
	size_t longest = 0;

	for (int part = 0; part < run->parts; part++)
		for (int phase = 0; phase < run->phases; phase++) {
			size_t bytes = bundle_bytes(run, part, phase);

			longest = bytes > longest ? bytes : longest;
		}
	return longest;
}

static void find_courses(struct run *run)
{
	const struct torus_topology *topology = run->alltoall->topology;

	torus_streams_cut(&run->streams, longest_bundle(run));
	torus_streams_find(&run->streams);
	for (int s = 0; s < run->streams.count; s++) {
		struct torus_stream *out = &run->streams.out[s], *in = &run->streams.in[s];

		out->all = list_steps(run, &run->out[s], topology->me, out->direction);
		in->all = list_steps(run, &run->in[s], torus_neighbour(run->shape, topology->me, out->direction),
				     in->direction);
		run->out[s].bundle = allocate_zeros(run, (size_t)run->out[s].count, sizeof(struct bundle));
		run->onwards[out->direction] = &run->out[s];
	}
}

static void prepare_run(struct run *run, const struct torus_links_alltoall *alltoall)
{
	const struct torus_shape *shape = &alltoall->topology->sites.shape;

	*run = (struct run){.alltoall = alltoall,
			    .shape = shape,
			    .cuts = torus_exchange_cuts(shape, alltoall->bytes),
			    .phases = torus_exchange_phases(shape),
			    .streams = {.topology = alltoall->topology,
					.staging = alltoall->staging,
					.words = alltoall->words,
					.there = alltoall->there,
					.by_plan = alltoall->there != NULL,
					.number = alltoall->number,
					.routine = alltoall->routine}};
	run->parts = torus_exchange_parts(shape, run->cuts);
	run->arrived = allocate_zeros(run, (size_t)(run->parts * run->phases), sizeof *run->arrived);
	run->kept = allocate_room(run, (size_t)(run->phases > 1 ? run->phases - 1 : 1) * (size_t)shape->places *
					       alltoall->bytes);
	find_courses(run);
}

static void begin_run(struct run *run)
{
	for (int part = 0; part < run->parts; part++)
		keep_own(run, part, 0);
}

static void free_bundles(struct course *out)
{
	for (int i = out->released; i < out->count; i++)
		free(out->bundle[i].data);
}

static void dispose_run(struct run *run)
{
	for (int s = 0; s < run->streams.count; s++) {
		free_bundles(&run->out[s]);
		free(run->out[s].bundle);
		free(run->out[s].steps);
		free(run->in[s].steps);
	}
	free(run->arrived);
	free(run->kept);
}

/* --- Receiving --- */

static bool is_bundle_of(const struct torus_exchange_step *a, const struct torus_exchange_step *b)
{
	return a->phase == b->phase && a->part == b->part && a->line == b->line && a->origin == b->origin &&
	       a->target == b->target;
}

/*
 * The step that will forward a bundle arriving from this direction. It is still to come, because a
 * bundle leaves after all of it has arrived.
 */
static struct bundle *find_bundle(struct course *out, const struct torus_exchange_step *step, int direction)
{
	int i = out->step;

	while (out->steps[i].from != direction || !is_bundle_of(&out->steps[i], step))
		i++;
	return &out->bundle[i];
}

/* Adds a piece to a bundle that goes on to the next node. */
static void take_onwards(struct run *run, int s, const struct torus_exchange_step *step, size_t bytes, const char *data)
{
	struct course *in = &run->in[s];

	if (in->bytes == 0)
		in->taken = find_bundle(run->onwards[step->onwards], step, run->streams.in[s].direction);
	if (!in->taken->data)
		in->taken->data = allocate_room(run, step_bytes(run, step));
	memcpy(in->taken->data + in->taken->bytes, data, bytes);
	in->taken->bytes += bytes;
}

static bool take_pieces(struct run *run, int s)
{
	struct torus_stream *in = &run->streams.in[s];
	struct course *course = &run->in[s];

	while (torus_stream_has_come(&run->streams, in)) {
		struct torus_exchange_step step = course->steps[course->step];
		struct cells cells = {step.part,      step.phase,    step.origin,
				      step.phase + 1, course->bytes, next_piece(run, course)};
		char *slot = torus_stream_slot(&run->streams, in);
		bool here = step.onwards < 0;

		if (here)
			move_cells(run, cells, slot, false);
		else
			take_onwards(run, s, &step, cells.bytes, slot);
		if (pass_piece(run, course, cells.bytes) && here)
			count_bundle(run, step.part, step.phase);
		in->done++;
	}
	return torus_stream_grant(&run->streams, in);
}

/* --- Sending --- */

/* Memory that the network may still read is kept: pieces with fewer than this many behind them. */
static void release_bundles(struct course *course, size_t done)
{
	while (course->released < course->step && course->bundle[course->released].end + SEGMENTS_AHEAD <= done) {
		free(course->bundle[course->released].data);
		course->bundle[course->released++].data = NULL;
	}
}

/* Is the next piece of a bundle here? A bundle of this node's own is assembled as it goes. */
static bool fetch_piece(struct run *run, struct course *course, size_t bytes)
{
	const struct torus_exchange_step *step = &course->steps[course->step];
	struct bundle *bundle = &course->bundle[course->step];

	if (step->level > 0)
		return bundle->bytes >= course->bytes + bytes;
	if (!phase_is_over(run, step->part, step->phase - 1))
		return false;
	if (!bundle->data)
		bundle->data = allocate_room(run, step_bytes(run, step));
	move_cells(run, (struct cells){step->part, step->phase, step->target, step->phase, course->bytes, bytes},
		   bundle->data + course->bytes, true);
	return true;
}

static bool send_pieces(struct run *run, int s)
{
	struct torus_stream *out = &run->streams.out[s];
	struct course *course = &run->out[s];

	while (out->done < out->all && torus_stream_may_send(&run->streams, out)) {
		size_t bytes = next_piece(run, course);
		struct bundle *bundle = &course->bundle[course->step];

		if (!fetch_piece(run, course, bytes))
			break;
		bundle->end = out->done + 1;
		torus_stream_send(&run->streams, out,
				  (struct comms_piece){torus_stream_slot_there(&run->streams, out),
						       bundle->data + course->bytes, bytes});
		pass_piece(run, course, bytes);
		release_bundles(course, out->done);
	}
	return torus_stream_is_sent(out);
}

static bool advance_run(struct run *run)
{
	bool done = true;

	for (int s = 0; s < run->streams.count; s++)
		done &= take_pieces(run, s);
	for (int s = 0; s < run->streams.count; s++)
		done &= send_pieces(run, s);
	return done;
}

void torus_links_alltoall(const struct torus_links_alltoall *alltoall)
{
	struct run run;

	prepare_run(&run, alltoall);
	begin_run(&run);
	COMMS_WAIT(COMMS_ANYWHERE, advance_run(&run));
	dispose_run(&run);
}

/* --- In steps, for plans --- */

struct torus_links_plan {
	struct torus_links_alltoall alltoall;
	struct torus_links_round round;
	ptrdiff_t there[TORUS_DIRECTIONS];
	struct run run;
};

struct torus_links_plan *torus_links_plan_make(const struct torus_links_alltoall *alltoall,
					       struct torus_links_round round)
{
	struct torus_links_plan *plan = calloc(1, sizeof *plan);

	if (!plan)
		rte_die(alltoall->routine, "no memory for a plan of %zu bytes", sizeof *plan);
	plan->alltoall = *alltoall;
	plan->round = round;
	memcpy(plan->there, alltoall->there, sizeof plan->there);
	plan->alltoall.there = plan->there;
	prepare_run(&plan->run, &plan->alltoall);
	return plan;
}

static void rewind_course(const struct run *run, struct course *course)
{
	course->step = 0;
	course->bytes = 0;
	if (course->count > 0)
		pass_piece(run, course, 0);
}

static void rewind_run(struct run *run, uint64_t number)
{
	torus_streams_rewind(&run->streams, number);
	memset(run->arrived, 0, (size_t)(run->parts * run->phases) * sizeof *run->arrived);
	for (int s = 0; s < run->streams.count; s++) {
		struct course *out = &run->out[s];

		free_bundles(out);
		memset(out->bundle, 0, (size_t)out->count * sizeof *out->bundle);
		out->released = 0;
		rewind_course(run, out);
		rewind_course(run, &run->in[s]);
	}
	begin_run(run);
}

bool torus_links_plan_advance(struct torus_links_plan *plan, uint64_t run, bool *moved)
{
	struct torus_streams *streams = &plan->run.streams;
	uint64_t number = (run - 1) * plan->round.count + plan->round.index + 1;
	size_t before;
	bool done;

	if (streams->number != number)
		rewind_run(&plan->run, number);
	before = torus_streams_progress(streams);
	done = advance_run(&plan->run);
	*moved |= torus_streams_progress(streams) != before;
	return done;
}

void torus_links_plan_free(struct torus_links_plan *plan)
{
	dispose_run(&plan->run);
	free(plan);
}

size_t torus_links_plan_staging(const struct torus_topology *topology, size_t bytes)
{
	const struct torus_shape *shape = &topology->sites.shape;
	struct torus_links_alltoall alltoall = {.bytes = bytes};
	struct run run = {.alltoall = &alltoall,
			  .shape = shape,
			  .cuts = torus_exchange_cuts(shape, bytes),
			  .phases = torus_exchange_phases(shape),
			  .streams = {.topology = topology, .by_plan = true}};

	run.parts = torus_exchange_parts(shape, run.cuts);
	torus_streams_cut(&run.streams, longest_bundle(&run));
	return 2 * (size_t)shape->axes * run.streams.share;
}
