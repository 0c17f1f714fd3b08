/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ring all-reduce of a torus: a reduce-scatter by the ring schedule in reverse, then torus_gather. takes_ring_allreduce in
 * shmem/reduce.c chooses it.
 */
#include "torus_allreduce.h"

#include <stdlib.h>

#include "torus_allgather.h"
#include "torus_stream.h"
#include "rte/rte.h"
#include "comms/wait/wait.h"

/* A part that travels to one node: from how many neighbours it comes here, and how many pieces have been combined. */
struct pile {
	int from;
	size_t combined;
};

/* The steps of a stream, gone through once in each round. */
struct list {
	const struct torus_ring_step *steps;
	size_t count;
};

struct ring_reduce {
	const struct torus_ring_allreduce *allreduce;
	size_t *at, *bytes; /* by place: its block */
	struct torus_ring_shares shares;
	size_t rounds;
	struct pile *pile; /* by part and place */
	struct torus_streams streams;
	struct list out[TORUS_DIRECTIONS], in[TORUS_DIRECTIONS]; /* by stream */
};

bool torus_can_allreduce(const struct torus_topology *topology)
{
	return torus_topology_reverse_schedule(topology, TORUS_SEGMENTS);
}

/* The longest part of a block: that of the first block. */
static size_t longest_part(const struct torus_shape *shape, size_t bytes)
{
	size_t block = torus_part_begin(bytes, shape->places, 1), longest = 0;
	struct torus_ring_shares shares;

	torus_ring_shares(shape, TORUS_ONE_WAY, &shares);
	for (int part = 0; part < shares.parts; part++) {
		size_t most = (size_t)((double)block * torus_ring_share(&shares, part)) / 64 * 64 + 128;

		longest = most > longest ? most : longest;
	}
	return longest < block ? longest : block;
}

int torus_allreduce_rounds(const struct torus_shape *shape, size_t bytes)
{
	struct torus_topology like = {.sites = {.shape = *shape}};
	struct torus_streams streams = {.topology = &like};
	size_t longest = longest_part(shape, bytes);

	torus_streams_cut(&streams, longest);
	return longest > streams.piece ? (int)((longest + streams.piece - 1) / streams.piece) : 1;
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

	torus_ring_shares(shape, TORUS_ONE_WAY, &r->shares);
	r->rounds = (size_t)torus_allreduce_rounds(shape, allreduce->bytes);
	torus_streams_cut(&r->streams, longest_part(shape, allreduce->bytes));
	for (int p = 0; p < shape->places; p++) {
		r->at[p] = torus_part_begin(allreduce->bytes, shape->places, p);
		r->bytes[p] = torus_part_begin(allreduce->bytes, shape->places, p + 1) - r->at[p];
	}
}

static void find_lists(struct ring_reduce *r)
{
	const struct torus_topology *topology = r->allreduce->topology;

	torus_streams_find(&r->streams);
	for (int s = 0; s < r->streams.count; s++) {
		int direction = r->streams.out[s].direction;

		r->out[s] = (struct list){topology->reverse_out[direction], (size_t)topology->n_steps_in[direction]};
		r->in[s] = (struct list){topology->reverse_in[direction], (size_t)topology->n_steps_out[direction]};
		r->streams.out[s].all = r->out[s].count * r->rounds;
		r->streams.in[s].all = r->in[s].count * r->rounds;
		for (size_t i = 0; i < r->in[s].count; i++)
			pile_of(r, &r->in[s].steps[i])->from++;
	}
}

static void prepare_allreduce(struct ring_reduce *r, const struct torus_ring_allreduce *allreduce)
{
	size_t places = (size_t)allreduce->topology->sites.shape.places;

	*r = (struct ring_reduce){.allreduce = allreduce,
				  .streams = {.topology = allreduce->topology,
					      .area = allreduce->area,
					      .words = &allreduce->area->up,
					      .number = allreduce->number,
					      .routine = allreduce->routine}};
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

static struct span piece_span(const struct ring_reduce *r, const struct torus_ring_step *step, size_t round)
{
	size_t block = r->bytes[step->origin], piece = r->streams.piece;
	size_t begin = torus_ring_part_begin(&r->shares, block, step->part) + round * piece;
	size_t end = torus_ring_part_begin(&r->shares, block, step->part + 1);

	if (begin > end)
		begin = end;
	return (struct span){r->at[step->origin] + begin, end - begin < piece ? end - begin : piece};
}

static const struct torus_ring_step *next_reverse_step(const struct list *list, const struct torus_stream *stream)
{
	return &list->steps[stream->done % list->count];
}

/* --- Taking --- */

/* Has the stream brought this, and is it what it brings next? */
static bool brings_piece(const struct ring_reduce *r, int s, const struct torus_ring_step *step, size_t round)
{
	const struct torus_stream *in = &r->streams.in[s];
	const struct torus_ring_step *next;

	if (!torus_stream_has_come(&r->streams, in) || in->done / r->in[s].count != round)
		return false;
	next = next_reverse_step(&r->in[s], in);
	return next->part == step->part && next->origin == step->origin;
}

/*
 * A piece is combined when all neighbours have sent it, in the order of directions, whichever came first. All lists have the
 * same order, so the first piece that is not combined yet waits for no other one, and can always be combined next.
 */
static bool combine_piece(struct ring_reduce *r, int of)
{
	const struct torus_ring_allreduce *allreduce = r->allreduce;
	struct torus_stream *in = r->streams.in;
	const struct torus_ring_step *step;
	struct span span;
	const char *so_far;
	size_t round;
	int come = 0;

	if (!torus_stream_has_come(&r->streams, &in[of]))
		return false;
	step = next_reverse_step(&r->in[of], &in[of]);
	round = in[of].done / r->in[of].count;
	for (int s = 0; s < r->streams.count; s++)
		come += brings_piece(r, s, step, round);
	if (come < pile_of(r, step)->from)
		return false;
	span = piece_span(r, step, round);
	so_far = allreduce->source + span.at;
	for (int s = 0; s < r->streams.count; s++) {
		if (!brings_piece(r, s, step, round))
			continue;
		allreduce->combine(allreduce->dest + span.at, so_far, torus_stream_slot(&r->streams, &in[s]),
				   span.bytes / allreduce->element);
		so_far = allreduce->dest + span.at;
		in[s].done++;
	}
	pile_of(r, step)->combined++;
	return true;
}

/* --- Sending --- */

static bool send_pieces(struct ring_reduce *r, int s)
{
	const struct torus_ring_allreduce *allreduce = r->allreduce;
	struct torus_stream *out = &r->streams.out[s];

	while (out->done < out->all && torus_stream_may_send(&r->streams, out)) {
		const struct torus_ring_step *step = next_reverse_step(&r->out[s], out);
		const struct pile *pile = pile_of(r, step);
		size_t round = out->done / r->out[s].count;
		struct span span = piece_span(r, step, round);

		if (pile->from > 0 && pile->combined <= round)
			break;
		torus_stream_send(&r->streams, out,
				  (struct comms_piece){torus_stream_slot(&r->streams, out),
						       (pile->from == 0 ? allreduce->source : allreduce->dest) +
							       span.at,
						       span.bytes});
	}
	return torus_stream_is_sent(out);
}

/* --- All of it --- */

static bool advance_allreduce(struct ring_reduce *r)
{
	bool done = true, moved = true;

	while (moved) {
		moved = false;
		for (int s = 0; s < r->streams.count; s++)
			moved |= combine_piece(r, s);
	}
	for (int s = 0; s < r->streams.count; s++)
		done &= torus_stream_grant(&r->streams, &r->streams.in[s]);
	for (int s = 0; s < r->streams.count; s++)
		done &= send_pieces(r, s);
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
					    .number = allreduce->number + 1,
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
