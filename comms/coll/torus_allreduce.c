/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ring all-reduce of a torus: a reduce-scatter by the ring schedule in reverse, then torus_gather. takes_ring_allreduce in
 * shmem/reduce.c chooses it.
 */
#include "torus_allreduce.h"

#include <stdlib.h>

#include "torus_allgather.h"
#include "tree_inside.h"
#include "rte/rte.h"
#include "comms/wait/wait.h"

#define LEAST_SLOTS 8 /* for pieces on one link; with fewer, links wait for each other */

/* What goes in one direction, out of this node or into it. */
struct stream {
	int direction, pe;  /* of the neighbour there */
	size_t count, done; /* count: of steps; done: pieces, in all rounds */
	size_t granted;	    /* how many pieces the neighbour knows it may send */
	const struct torus_ring_step *steps;
	struct comms_request request[SEGMENTS_AHEAD], granting;
};

/* A part that travels to one node: from how many neighbours it comes here, and how many pieces have been combined. */
struct pile {
	int from;
	size_t combined;
};

struct ring_reduce {
	const struct torus_ring_allreduce *allreduce;
	size_t *at, *bytes; /* by place: its block */
	int parts, streams;
	size_t piece, rounds, slots;
	struct pile *pile; /* by part and place */
	/* both by stream: the same neighbour, to it and from it */
	struct stream out[TORUS_DIRECTIONS], in[TORUS_DIRECTIONS];
};

bool torus_can_allreduce(const struct torus_topology *topology)
{
	return torus_topology_reverse_schedule(topology, TORUS_SEGMENTS);
}

/* The first part of the first block: no other is longer. */
static size_t longest_part(const struct torus_shape *shape, size_t bytes)
{
	return torus_part_begin(torus_part_begin(bytes, shape->places, 1), torus_ring_parts(shape), 1);
}

int torus_allreduce_rounds(const struct torus_shape *shape, size_t bytes)
{
	size_t most = staging_share(shape) / LEAST_SLOTS / 64 * 64, longest = longest_part(shape, bytes);

	return longest > most ? (int)((longest + most - 1) / most) : 1;
}

static struct pile *pile_of(const struct ring_reduce *r, const struct torus_ring_step *step)
{
	return &r->pile[step->part * r->allreduce->topology->sites.shape.places + step->origin];
}

/* --- Who sends what --- */

static void cut_into_pieces(struct ring_reduce *r)
{
	const struct torus_ring_allreduce *allreduce = r->allreduce;
	const struct torus_shape *shape = &allreduce->topology->sites.shape;

	r->parts = torus_ring_parts(shape);
	r->rounds = (size_t)torus_allreduce_rounds(shape, allreduce->bytes);
	r->piece = ((longest_part(shape, allreduce->bytes) + r->rounds - 1) / r->rounds + 63) / 64 * 64;
	r->slots = staging_share(shape) / r->piece;
	if (r->slots > TORUS_SLOTS)
		r->slots = TORUS_SLOTS;
	for (int p = 0; p < shape->places; p++) {
		r->at[p] = torus_part_begin(allreduce->bytes, shape->places, p);
		r->bytes[p] = torus_part_begin(allreduce->bytes, shape->places, p + 1) - r->at[p];
	}
}

static void find_streams(struct ring_reduce *r)
{
	const struct torus_topology *topology = r->allreduce->topology;
	const struct torus_shape *shape = &topology->sites.shape;

	for (int direction = 0; direction < 2 * shape->axes; direction++) {
		struct stream *in = &r->in[r->streams], *out = &r->out[r->streams];
		int next = shape->axis[direction / 2].size > 1 ? torus_neighbour(shape, topology->me, direction) : -1;

		if (next < 0)
			continue;
		r->streams++;
		*out = (struct stream){.direction = direction,
				       .pe = topology->pe[next],
				       .steps = topology->reverse_out[direction]};
		out->count = (size_t)topology->n_steps_in[direction];
		*in = (struct stream){.direction = direction ^ 1,
				      .pe = topology->pe[next],
				      .steps = topology->reverse_in[direction]};
		in->count = (size_t)topology->n_steps_out[direction];
		for (size_t i = 0; i < in->count; i++)
			pile_of(r, &in->steps[i])->from++;
	}
}

static void prepare_allreduce(struct ring_reduce *r, const struct torus_ring_allreduce *allreduce)
{
	size_t places = (size_t)allreduce->topology->sites.shape.places;

	*r = (struct ring_reduce){.allreduce = allreduce};
	r->at = calloc(2 * places, sizeof *r->at);
	r->pile = calloc(TORUS_DIRECTIONS * places, sizeof *r->pile);
	if (!r->at || !r->pile)
		rte_die(allreduce->routine, "no memory for the blocks of %zu nodes", places);
	r->bytes = r->at + places;
	cut_into_pieces(r);
	find_streams(r);
}

/* --- One piece --- */

struct span {
	size_t at, bytes;
};

static struct span piece_span(const struct ring_reduce *r, const struct torus_ring_step *step, size_t round)
{
	size_t block = r->bytes[step->origin], begin = torus_part_begin(block, r->parts, step->part) + round * r->piece;
	size_t end = torus_part_begin(block, r->parts, step->part + 1);

	if (begin > end)
		begin = end;
	return (struct span){r->at[step->origin] + begin, end - begin < r->piece ? end - begin : r->piece};
}

static bool stream_is_over(const struct ring_reduce *r, const struct stream *stream)
{
	return stream->done == stream->count * r->rounds;
}

static const struct torus_ring_step *next_reverse_step(const struct stream *stream)
{
	return &stream->steps[stream->done % stream->count];
}

static char *allreduce_slot(const struct ring_reduce *r, const struct stream *stream)
{
	return r->allreduce->area->staging +
	       (size_t)stream->direction * staging_share(&r->allreduce->topology->sites.shape) +
	       stream->done % r->slots * r->piece;
}

/* --- Taking --- */

static bool piece_has_come(const struct ring_reduce *r, const struct stream *stream)
{
	const struct torus_ring_allreduce *allreduce = r->allreduce;

	return !stream_is_over(r, stream) &&
	       atomic_load_explicit(&allreduce->area->up.came[stream->direction][stream->done % r->slots],
				    memory_order_acquire) >= segment_count(allreduce->number, stream->done + 1);
}

/* Is this what the stream brings next? */
static bool brings_piece(const struct ring_reduce *r, const struct stream *stream, const struct torus_ring_step *step,
			 size_t round)
{
	return !stream_is_over(r, stream) && stream->done / stream->count == round &&
	       next_reverse_step(stream)->part == step->part && next_reverse_step(stream)->origin == step->origin;
}

/*
 * A piece is combined when all neighbours have sent it, in the order of directions, whichever came first. All lists have the
 * same order, so the first piece that is not combined yet waits for no other one, and can always be combined next.
 */
static bool combine_piece(struct ring_reduce *r, const struct stream *stream)
{
	const struct torus_ring_allreduce *allreduce = r->allreduce;
	const struct torus_ring_step *step;
	struct span span;
	const char *so_far;
	size_t round;
	int come = 0;

	if (!piece_has_come(r, stream))
		return false;
	step = next_reverse_step(stream);
	round = stream->done / stream->count;
	for (int s = 0; s < r->streams; s++)
		come += brings_piece(r, &r->in[s], step, round) && piece_has_come(r, &r->in[s]);
	if (come < pile_of(r, step)->from)
		return false;
	span = piece_span(r, step, round);
	so_far = allreduce->source + span.at;
	for (int s = 0; s < r->streams; s++) {
		if (!brings_piece(r, &r->in[s], step, round))
			continue;
		allreduce->combine(allreduce->dest + span.at, so_far, allreduce_slot(r, &r->in[s]),
				   span.bytes / allreduce->element);
		so_far = allreduce->dest + span.at;
		r->in[s].done++;
	}
	pile_of(r, step)->combined++;
	return true;
}

/* The first pieces may come at once; later the neighbour is notified when half of the slots are free again. */
static bool grant_pieces(const struct ring_reduce *r, struct stream *stream)
{
	const struct torus_ring_allreduce *allreduce = r->allreduce;
	size_t all = stream->count * r->rounds, most = stream->done + r->slots;

	if (most > all)
		most = all;
	if (comms_request_is_under_way(&stream->granting))
		return false;
	if (most == stream->granted)
		return stream->done == all;
	if (most < all && most - stream->granted < (r->slots + 1) / 2)
		return false;
	stream->granted = most;
	comms_put_notify_later(&stream->granting, (struct comms_piece){0},
			       (struct comms_flag){&allreduce->area->up.leave[stream->direction],
						   segment_count(allreduce->number, most)},
			       stream->pe, allreduce->routine);
	return stream->done == all && !comms_request_is_under_way(&stream->granting);
}

/* --- Sending --- */

static bool piece_may_go(const struct ring_reduce *r, struct stream *stream)
{
	const struct torus_ring_allreduce *allreduce = r->allreduce;
	const struct pile *pile = pile_of(r, next_reverse_step(stream));

	return (pile->from == 0 || pile->combined > stream->done / stream->count) &&
	       !comms_request_is_under_way(&stream->request[stream->done % SEGMENTS_AHEAD]) &&
	       atomic_load_explicit(&allreduce->area->up.leave[stream->direction], memory_order_acquire) >=
		       segment_count(allreduce->number, stream->done + 1);
}

static bool send_pieces(const struct ring_reduce *r, struct stream *stream)
{
	const struct torus_ring_allreduce *allreduce = r->allreduce;

	while (!stream_is_over(r, stream) && piece_may_go(r, stream)) {
		struct span span = piece_span(r, next_reverse_step(stream), stream->done / stream->count);
		const char *data =
			pile_of(r, next_reverse_step(stream))->from == 0 ? allreduce->source : allreduce->dest;
		char *slot = allreduce_slot(r, stream);
		size_t i = stream->done++;

		comms_put_notify_later(&stream->request[i % SEGMENTS_AHEAD],
				       (struct comms_piece){slot, data + span.at, span.bytes},
				       (struct comms_flag){&allreduce->area->up.came[stream->direction][i % r->slots],
							   segment_count(allreduce->number, i + 1)},
				       stream->pe, allreduce->routine);
	}
	return stream_is_over(r, stream) && are_at_rest(stream->request);
}

/* --- All of it --- */

static bool advance_allreduce(struct ring_reduce *r)
{
	bool done = true, moved = true;

	while (moved) {
		moved = false;
		for (int s = 0; s < r->streams; s++)
			moved |= combine_piece(r, &r->in[s]);
	}
	for (int s = 0; s < r->streams; s++)
		done &= grant_pieces(r, &r->in[s]);
	for (int s = 0; s < r->streams; s++)
		done &= send_pieces(r, &r->out[s]);
	return done;
}

/*
 * No node has to say that its dest may be written to again: a block goes out after its node has combined all contributions to
 * it. For the all-gather, each node says so when it has finished its part of all blocks.
 */
void torus_allreduce(const struct torus_ring_allreduce *allreduce)
{
	struct ring_reduce r;
	struct torus_gathering gathering = {.topology = allreduce->topology,
					    .number = allreduce->number,
					    .area = allreduce->area,
					    .dest = allreduce->dest,
					    .routine = allreduce->routine};

	prepare_allreduce(&r, allreduce);
	COMMS_WAIT(COMMS_ANYWHERE, advance_allreduce(&r));
	gathering.at = r.at;
	gathering.bytes = r.bytes;
	torus_gather(&gathering);
	free(r.pile);
	free(r.at);
}
