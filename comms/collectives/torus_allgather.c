/* SPDX-License-Identifier: BSD-3-Clause */
#include "torus_allgather.h"

#include <stdlib.h>
#include <string.h>

#include "torus_stream.h"
#include "rte/rte.h"
#include "comms/wait/wait.h"

/* Position of a stream in its list. */
struct cursor {
	const struct torus_ring_step *steps;
	int step, count;
	size_t bytes; /* of this step, sent or received so far */
};

struct schedule {
	const struct torus_gathering *gathering;
	struct torus_ring_shares shares;
	struct torus_streams streams;
	struct cursor out[TORUS_DIRECTIONS], in[TORUS_DIRECTIONS]; /* by stream */
	/* Bytes present, by part and origin. */
	size_t *has;
	size_t *bytes; /* of each node's data, by place */
};

struct span {
	size_t at, bytes;
};

bool torus_can_gather(struct torus_topology *topology)
{
	return torus_topology_schedule(topology, TORUS_SEGMENTS);
}

/* Position in the origin's data, as if its runs were contiguous. */
static struct span part_span(const struct schedule *schedule, int part, int origin)
{
	size_t bytes = schedule->bytes[origin], begin = torus_ring_part_begin(&schedule->shares, bytes, part);

	return (struct span){begin, torus_ring_part_begin(&schedule->shares, bytes, part + 1) - begin};
}

/* Some bytes of the origin's data in dest: at most the rest of one run. */
static struct span span_in_dest(const struct schedule *schedule, int origin, struct span span)
{
	const struct torus_gathering_run *run = &schedule->gathering->run[schedule->gathering->first[origin]];

	for (; span.bytes > 0 && span.at >= run->bytes; run++)
		span.at -= run->bytes;
	if (span.bytes > run->bytes - span.at)
		span.bytes = run->bytes - span.at;
	return (struct span){run->at + span.at, span.bytes};
}

static size_t *part_has(const struct schedule *schedule, int part, int origin)
{
	return &schedule->has[part * schedule->gathering->topology->sites.shape.places + origin];
}

/* The next piece. A part without bytes has none. */
static struct span next_span(const struct schedule *schedule, const struct cursor *cursor)
{
	const struct torus_ring_step *step = &cursor->steps[cursor->step];
	struct span span = part_span(schedule, step->part, step->origin);
	size_t left = span.bytes - cursor->bytes;

	span = (struct span){span.at + cursor->bytes, left < schedule->streams.piece ? left : schedule->streams.piece};
	return span_in_dest(schedule, step->origin, span);
}

static bool step_is_over(const struct schedule *schedule, const struct cursor *cursor)
{
	const struct torus_ring_step *step = &cursor->steps[cursor->step];

	return cursor->bytes == part_span(schedule, step->part, step->origin).bytes;
}

static void pass_piece(const struct schedule *schedule, struct cursor *cursor, size_t bytes)
{
	cursor->bytes += bytes;
	while (cursor->step < cursor->count && step_is_over(schedule, cursor)) {
		cursor->step++;
		cursor->bytes = 0;
	}
}

/* Both ends of a link know all runs, so they cut the data alike. */
static size_t count_pieces(const struct schedule *schedule, struct cursor *cursor)
{
	struct cursor ahead;
	size_t pieces = 0;

	pass_piece(schedule, cursor, 0);
	for (ahead = *cursor; ahead.step < ahead.count; pieces++)
		pass_piece(schedule, &ahead, next_span(schedule, &ahead).bytes);
	return pieces;
}

static void count_bytes(struct schedule *schedule, int places)
{
	const struct torus_gathering *gathering = schedule->gathering;

	for (int p = 0; p < places; p++)
		for (int i = gathering->first[p]; i < gathering->first[p + 1]; i++)
			schedule->bytes[p] += gathering->run[i].bytes;
}

static size_t longest_part(const struct schedule *schedule, int places)
{
	size_t longest = 0;

	for (int p = 0; p < places; p++)
		for (int part = 0; part < schedule->shares.parts; part++) {
			size_t bytes = part_span(schedule, part, p).bytes;

			longest = bytes > longest ? bytes : longest;
		}
	return longest;
}

static void have_own_parts(struct schedule *schedule)
{
	int me = schedule->gathering->topology->me;

	for (int part = 0; part < schedule->shares.parts; part++)
		*part_has(schedule, part, me) = part_span(schedule, part, me).bytes;
}

static void prepare_gathering(struct schedule *schedule, const struct torus_gathering *gathering)
{
	const struct torus_topology *topology = gathering->topology;
	int places = topology->sites.shape.places;

	*schedule = (struct schedule){.gathering = gathering,
				      .streams = {.topology = topology,
						  .words = gathering->words,
						  .there = gathering->there,
						  .by_plan = gathering->there != NULL,
						  .number = gathering->number,
						  .routine = gathering->routine}};
	torus_ring_shares(&topology->sites.shape, TORUS_ONE_WAY, &schedule->shares);
	schedule->has = calloc((size_t)(schedule->shares.parts + 1) * (size_t)places, sizeof *schedule->has);
	if (!schedule->has)
		rte_die(gathering->routine, "no memory for the parts of %d nodes", places);
	schedule->bytes = schedule->has + (size_t)schedule->shares.parts * (size_t)places;
	count_bytes(schedule, places);
	have_own_parts(schedule);
	torus_streams_pace(&schedule->streams, longest_part(schedule, places));
	torus_streams_find(&schedule->streams);
	for (int s = 0; s < schedule->streams.count; s++) {
		int direction = schedule->streams.out[s].direction;

		schedule->out[s] = (struct cursor){.steps = topology->steps_out[direction],
						   .count = topology->n_steps_out[direction]};
		schedule->in[s] = (struct cursor){.steps = topology->steps_in[direction],
						  .count = topology->n_steps_in[direction]};
		schedule->streams.out[s].all = count_pieces(schedule, &schedule->out[s]);
		schedule->streams.in[s].all = count_pieces(schedule, &schedule->in[s]);
	}
}

static bool receive_pieces(struct schedule *schedule, int s)
{
	struct torus_stream *in = &schedule->streams.in[s];
	struct cursor *cursor = &schedule->in[s];

	while (torus_stream_has_come(&schedule->streams, in)) {
		const struct torus_ring_step *step = &cursor->steps[cursor->step];
		struct span span = next_span(schedule, cursor);

		*part_has(schedule, step->part, step->origin) += span.bytes;
		pass_piece(schedule, cursor, span.bytes);
		in->done++;
	}
	return torus_stream_grant(&schedule->streams, in);
}

/* In list order: data that is late delays later data, but no longer than the link itself does. */
static bool send_pieces(struct schedule *schedule, int s)
{
	struct torus_stream *out = &schedule->streams.out[s];
	struct cursor *cursor = &schedule->out[s];

	while (out->done < out->all && torus_stream_may_send(&schedule->streams, out)) {
		const struct torus_ring_step *step = &cursor->steps[cursor->step];
		struct span span = next_span(schedule, cursor);
		char *data = schedule->gathering->dest + span.at;

		if (*part_has(schedule, step->part, step->origin) < cursor->bytes + span.bytes)
			break;
		torus_stream_send(&schedule->streams, out, (struct comms_piece){data, data, span.bytes});
		pass_piece(schedule, cursor, span.bytes);
	}
	return torus_stream_is_sent(out);
}

static bool advance_gathering(struct schedule *schedule)
{
	bool done = true;

	for (int s = 0; s < schedule->streams.count; s++)
		done &= receive_pieces(schedule, s);
	for (int s = 0; s < schedule->streams.count; s++)
		done &= send_pieces(schedule, s);
	return done;
}

void torus_gather(const struct torus_gathering *gathering)
{
	struct schedule schedule;

	prepare_gathering(&schedule, gathering);
	COMMS_WAIT(COMMS_ANYWHERE, advance_gathering(&schedule));
	free(schedule.has);
}

/* --- In steps, for plans --- */

struct torus_gather_plan {
	struct torus_gathering gathering;
	ptrdiff_t there[TORUS_DIRECTIONS];
	struct schedule schedule;
};

static void *copy_memory(const struct torus_gathering *gathering, const void *from, size_t bytes)
{
	void *copy = malloc(bytes ? bytes : 1);

	if (!copy)
		rte_die(gathering->routine, "no memory for a plan of %zu bytes", bytes);
	memcpy(copy, from, bytes);
	return copy;
}

struct torus_gather_plan *torus_gather_plan_make(const struct torus_gathering *gathering)
{
	struct torus_gather_plan *plan = calloc(1, sizeof *plan);
	size_t places = (size_t)gathering->topology->sites.shape.places, runs = (size_t)gathering->first[places];

	if (!plan)
		rte_die(gathering->routine, "no memory for a plan of %zu bytes", sizeof *plan);
	plan->gathering = *gathering;
	memcpy(plan->there, gathering->there, sizeof plan->there);
	plan->gathering.there = plan->there;
	plan->gathering.first = copy_memory(gathering, gathering->first, (places + 1) * sizeof *gathering->first);
	plan->gathering.run = copy_memory(gathering, gathering->run, runs * sizeof *gathering->run);
	prepare_gathering(&plan->schedule, &plan->gathering);
	return plan;
}

static void rewind_cursor(const struct schedule *schedule, struct cursor *cursor)
{
	cursor->step = 0;
	cursor->bytes = 0;
	pass_piece(schedule, cursor, 0);
}

static void rewind_schedule(struct schedule *schedule, uint64_t run)
{
	size_t parts = (size_t)(schedule->shares.parts * schedule->gathering->topology->sites.shape.places);

	torus_streams_rewind(&schedule->streams, run);
	memset(schedule->has, 0, parts * sizeof *schedule->has);
	have_own_parts(schedule);
	for (int s = 0; s < schedule->streams.count; s++) {
		rewind_cursor(schedule, &schedule->out[s]);
		rewind_cursor(schedule, &schedule->in[s]);
	}
}

bool torus_gather_plan_advance(struct torus_gather_plan *plan, uint64_t run, bool *moved)
{
	struct torus_streams *streams = &plan->schedule.streams;
	size_t before;
	bool done;

	if (streams->number != run)
		rewind_schedule(&plan->schedule, run);
	before = torus_streams_progress(streams);
	done = advance_gathering(&plan->schedule);
	*moved |= torus_streams_progress(streams) != before;
	return done;
}

void torus_gather_plan_free(struct torus_gather_plan *plan)
{
	free(plan->schedule.has);
	free((void *)(uintptr_t)plan->gathering.first);
	free((void *)(uintptr_t)plan->gathering.run);
	free(plan);
}
