/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ring all-reduce of a torus: a reduce-scatter by the reverse ring schedule, and an all-gather
 * of complete blocks by the ring schedule. In shmem/reduce.c set_agree_on_ring_allreduce chooses
 * it, and set_agree_on_ring_reduce_scatter the first half alone, torus_reduce_scatter.
 */
#include "ring_inside.h"

#include <stdlib.h>

#include "rte/rte.h"
#include "comms/wait/wait.h"

#define FEWEST_ROUNDS 2
#define FEWEST_ON_MESHES 8
#define SHORTEST_PIECE 4096

bool torus_can_allreduce(struct torus_topology *topology)
{
	return torus_topology_reverse_schedule(topology, TORUS_SEGMENTS);
}

/* The longest part of a block. */
static size_t longest_part(const struct torus_shape *shape, size_t block, enum torus_ring_ways ways)
{
	struct torus_ring_shares shares;
	size_t longest = 0;

	torus_ring_shares(shape, ways, &shares);
	for (int part = 0; part < shares.parts; part++) {
		size_t most = (size_t)((double)block * torus_ring_share(&shares, part)) / 64 * 64 + 128;

		longest = most > longest ? most : longest;
	}
	return longest < block ? longest : block;
}

/*
 * On meshes, a link that carries little in one direction carries much in the other, in another
 * round.
 */
static size_t fewest_rounds(const struct torus_shape *shape)
{
	for (int a = 0; a < shape->axes; a++)
		if (shape->axis[a].size > 2 && !shape->axis[a].ring)
			return FEWEST_ON_MESHES;
	return FEWEST_ROUNDS;
}

/* How often the schedule runs with pieces of parts of this length at most. */
static size_t rounds_of_parts(const struct torus_shape *shape, size_t longest)
{
	size_t rounds = longest / SHORTEST_PIECE;
	size_t most = staging_share(shape) / TORUS_LEAST_SLOTS / 64 * 64, least = (longest + most - 1) / most;

	if (rounds > fewest_rounds(shape))
		rounds = fewest_rounds(shape);
	rounds = rounds > least ? rounds : least;
	return rounds > 1 ? rounds : 1;
}

/* The first block of an all-reduce is the longest. */
static size_t longest_of_allreduce(const struct torus_shape *shape, size_t bytes)
{
	return longest_part(shape, torus_part_begin(bytes, shape->places, 1), TORUS_BOTH_WAYS);
}

int torus_allreduce_rounds(const struct torus_shape *shape, size_t bytes)
{
	return (int)rounds_of_parts(shape, longest_of_allreduce(shape, bytes));
}

static struct ring_pile *pile_of(const struct ring_reduce *r, const struct torus_ring_step *step)
{
	return &r->pile[step->part * r->allreduce->topology->sites.shape.places + step->origin];
}

/* --- Who sends what --- */

static size_t cut_streams(struct torus_streams *streams, size_t longest)
{
	size_t rounds = rounds_of_parts(&streams->topology->sites.shape, longest);

	torus_streams_cut(streams, (longest + rounds - 1) / rounds);
	return rounds;
}

void ring_cut_streams(struct torus_streams *streams, size_t bytes)
{
	cut_streams(streams, longest_of_allreduce(&streams->topology->sites.shape, bytes));
}

void ring_cut_streams_of_blocks(struct torus_streams *streams, size_t block)
{
	cut_streams(streams, longest_part(&streams->topology->sites.shape, block, TORUS_ONE_WAY));
}

static void cut_given_blocks(struct ring_reduce *r)
{
	const struct torus_ring_allreduce *reduce = r->allreduce;
	const struct torus_shape *shape = &reduce->topology->sites.shape;
	size_t block = reduce->bytes / (size_t)shape->places;

	torus_ring_shares(shape, TORUS_ONE_WAY, &r->shares);
	r->rounds = cut_streams(&r->back.streams, longest_part(shape, block, TORUS_ONE_WAY));
	for (int p = 0; p < shape->places; p++) {
		r->at[p] = reduce->blocks[p];
		r->bytes[p] = block;
	}
}

static void cut_into_pieces(struct ring_reduce *r)
{
	const struct torus_ring_allreduce *allreduce = r->allreduce;
	const struct torus_shape *shape = &allreduce->topology->sites.shape;

	if (allreduce->blocks) {
		cut_given_blocks(r);
		return;
	}
	torus_ring_shares(shape, TORUS_BOTH_WAYS, &r->shares);
	r->rounds = cut_streams(&r->back.streams, longest_of_allreduce(shape, allreduce->bytes));
	r->forth.streams.piece = r->back.streams.piece;
	r->forth.streams.slots = r->back.streams.slots;
	for (int p = 0; p < shape->places; p++) {
		r->at[p] = torus_part_begin(allreduce->bytes, shape->places, p);
		r->bytes[p] = torus_part_begin(allreduce->bytes, shape->places, p + 1) - r->at[p];
	}
}

static void find_lists(struct ring_reduce *r)
{
	const struct torus_topology *t = r->allreduce->topology;
	struct ring_traffic *back = &r->back, *forth = &r->forth;

	torus_streams_find(&back->streams);
	torus_streams_find(&forth->streams);
	for (int s = 0; s < back->streams.count; s++) {
		int direction = back->streams.out[s].direction;
		size_t steps_in = (size_t)t->n_steps_in[direction], steps_out = (size_t)t->n_steps_out[direction];

		back->out[s] = (struct ring_list){t->reverse_out[direction], steps_in};
		back->in[s] = (struct ring_list){t->reverse_in[direction], steps_out};
		forth->out[s] = (struct ring_list){t->steps_out[direction], steps_out};
		forth->in[s] = (struct ring_list){t->steps_in[direction], steps_in};
		back->streams.out[s].all = forth->streams.in[s].all = steps_in * r->rounds;
		back->streams.in[s].all = forth->streams.out[s].all = steps_out * r->rounds;
		for (size_t i = 0; i < steps_out; i++)
			pile_of(r, &back->in[s].steps[i])->from++;
	}
}

void ring_reduce_prepare(struct ring_reduce *r, const struct torus_ring_allreduce *allreduce)
{
	size_t places = (size_t)allreduce->topology->sites.shape.places;

	*r = (struct ring_reduce){.allreduce = allreduce};
	r->back.streams = (struct torus_streams){.topology = allreduce->topology,
						 .words = allreduce->room.up,
						 .staging = allreduce->room.staging,
						 .there = allreduce->room.there,
						 .number = allreduce->number,
						 .by_plan = allreduce->room.there != NULL,
						 .routine = allreduce->routine};
	r->forth.streams = r->back.streams;
	r->forth.streams.words = allreduce->room.across;
	r->at = calloc(2 * places, sizeof *r->at);
	r->pile = calloc(TORUS_DIRECTIONS * places, sizeof *r->pile);
	if (!r->at || !r->pile)
		rte_die(allreduce->routine, "no memory for the blocks of %zu nodes", places);
	r->bytes = r->at + places;
	cut_into_pieces(r);
	find_lists(r);
}

/* --- One piece --- */

struct span {
	size_t at, bytes;
};

/* Where partial results of a node's data are combined. */
static char *sum_at(const struct ring_reduce *r, int origin, size_t at)
{
	const struct torus_ring_allreduce *allreduce = r->allreduce;

	return allreduce->blocks && origin == allreduce->topology->me ? allreduce->own + (at - r->at[origin])
								      : allreduce->dest + at;
}

/* A round takes an equal share of every part, so that links carry the same in each round. */
static struct span piece_span(const struct ring_reduce *r, const struct torus_ring_step *step, size_t round)
{
	size_t block = r->bytes[step->origin], part = torus_ring_part_begin(&r->shares, block, step->part);
	size_t bytes = torus_ring_part_begin(&r->shares, block, step->part + 1) - part, lines = (bytes + 63) / 64;
	size_t begin = lines * round / r->rounds * 64, end = lines * (round + 1) / r->rounds * 64;

	if (begin > bytes)
		begin = bytes;
	return (struct span){r->at[step->origin] + part + begin, (end < bytes ? end : bytes) - begin};
}

static const struct torus_ring_step *next_step(const struct ring_list *list, const struct torus_stream *stream)
{
	return &list->steps[stream->done % list->count];
}

/* --- Taking --- */

/* Has the stream delivered this piece, or is it the next one? */
static bool brings_piece(struct ring_reduce *r, int s, const struct torus_ring_step *step, size_t round)
{
	struct torus_stream *in = &r->back.streams.in[s];
	const struct torus_ring_step *next;

	if (!torus_stream_has_come(&r->back.streams, in) || in->done / r->back.in[s].count != round)
		return false;
	next = next_step(&r->back.in[s], in);
	return next->part == step->part && next->origin == step->origin;
}

/*
 * A piece is combined when all neighbours have sent it, in the order of directions, whichever
 * arrived first. All lists have the same order, so the first piece that is not combined waits for
 * no other one.
 */
static bool combine_piece(struct ring_reduce *r, int of)
{
	const struct torus_ring_allreduce *allreduce = r->allreduce;
	struct torus_stream *in = r->back.streams.in;
	const struct torus_ring_step *step;
	struct span span;
	const char *so_far;
	char *sum;
	size_t round;
	int come = 0;

	if (!torus_stream_has_come(&r->back.streams, &in[of]))
		return false;
	step = next_step(&r->back.in[of], &in[of]);
	round = in[of].done / r->back.in[of].count;
	for (int s = 0; s < r->back.streams.count; s++)
		come += brings_piece(r, s, step, round);
	if (come < pile_of(r, step)->from)
		return false;
	span = piece_span(r, step, round);
	so_far = allreduce->source + span.at;
	sum = sum_at(r, step->origin, span.at);
	for (int s = 0; s < r->back.streams.count; s++) {
		if (!brings_piece(r, s, step, round))
			continue;
		allreduce->combine(sum, so_far, torus_stream_slot(&r->back.streams, &in[s]),
				   span.bytes / allreduce->element);
		so_far = sum;
		in[s].done++;
	}
	pile_of(r, step)->combined++;
	return true;
}

/* For results: the pieces of a part come from one neighbour, in order. */
static bool take_results(struct ring_reduce *r, int s)
{
	struct torus_stream *in = &r->forth.streams.in[s];

	while (torus_stream_has_come(&r->forth.streams, in)) {
		pile_of(r, next_step(&r->forth.in[s], in))->complete++;
		in->done++;
	}
	return torus_stream_grant(&r->forth.streams, in);
}

/* --- Sending --- */

static bool send_pieces(struct ring_reduce *r, int s)
{
	const struct torus_ring_allreduce *allreduce = r->allreduce;
	struct torus_stream *out = &r->back.streams.out[s];

	while (out->done < out->all && torus_stream_may_send(&r->back.streams, out)) {
		const struct torus_ring_step *step = next_step(&r->back.out[s], out);
		const struct ring_pile *pile = pile_of(r, step);
		size_t round = out->done / r->back.out[s].count;
		struct span span = piece_span(r, step, round);

		if (pile->from > 0 && pile->combined <= round)
			break;
		torus_stream_send(&r->back.streams, out,
				  (struct comms_piece){torus_stream_slot_there(&r->back.streams, out),
						       (pile->from == 0 ? allreduce->source : allreduce->dest) +
							       span.at,
						       span.bytes});
	}
	return torus_stream_is_sent(out);
}

/* At the node of a block: all contributions have been combined. */
static bool result_is_here(const struct ring_reduce *r, const struct torus_ring_step *step, size_t round)
{
	const struct ring_pile *pile = pile_of(r, step);

	return (step->origin == r->allreduce->topology->me ? pile->combined : pile->complete) > round;
}

static bool send_results(struct ring_reduce *r, int s)
{
	struct torus_stream *out = &r->forth.streams.out[s];

	while (out->done < out->all && torus_stream_may_send(&r->forth.streams, out)) {
		const struct torus_ring_step *step = next_step(&r->forth.out[s], out);
		size_t round = out->done / r->forth.out[s].count;
		struct span span = piece_span(r, step, round);
		char *data = r->allreduce->dest + span.at;

		if (!result_is_here(r, step, round))
			break;
		torus_stream_send(&r->forth.streams, out, (struct comms_piece){data, data, span.bytes});
	}
	return torus_stream_is_sent(out);
}

/* --- All of it --- */

bool ring_reduce_advance(struct ring_reduce *r)
{
	bool done = true, moved = true, results = !r->allreduce->blocks;

	while (moved) {
		moved = false;
		for (int s = 0; s < r->back.streams.count; s++)
			moved |= combine_piece(r, s);
	}
	for (int s = 0; s < r->back.streams.count; s++) {
		done &= torus_stream_grant(&r->back.streams, &r->back.streams.in[s]);
		if (results)
			done &= take_results(r, s);
	}
	for (int s = 0; s < r->back.streams.count; s++) {
		if (results)
			done &= send_results(r, s);
		done &= send_pieces(r, s);
	}
	return done;
}

void ring_reduce_dispose(struct ring_reduce *r)
{
	free(r->pile);
	free(r->at);
}

/*
 * No node needs to announce that dest may be overwritten: a result exists only after its node has
 * combined all contributions, so it replaces data that has been read, also in place.
 */
void torus_allreduce(const struct torus_ring_allreduce *allreduce)
{
	struct ring_reduce r;

	ring_reduce_prepare(&r, allreduce);
	COMMS_WAIT(COMMS_ANYWHERE, ring_reduce_advance(&r));
	ring_reduce_dispose(&r);
}

void torus_reduce_scatter(const struct torus_ring_allreduce *reduce)
{
	struct torus_ring_allreduce partial = *reduce;

	partial.dest = malloc(reduce->bytes);
	if (!partial.dest)
		rte_die(reduce->routine, "no memory for %zu bytes of partial results", reduce->bytes);
	torus_allreduce(&partial);
	free(partial.dest);
}
