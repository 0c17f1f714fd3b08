/* SPDX-License-Identifier: BSD-3-Clause */
#include "torus_stream.h"

/* Times a link's rate: enough for a receiver that shares its processor with many others. */
#define WINDOW_SECONDS 0.04
#define SHORTEST_WINDOW 65536.0
#define LONGEST_WINDOW 1048576.0
/*
 * A port may send bursts of 64 KiB, and a grant waits behind data. So a window is long enough only
 * if it is granted in small parts: this many, or two if pieces are so small that a grant for each
 * would take longer than they do.
 */
#define GRANTS 8

void torus_streams_find(struct torus_streams *streams)
{
	const struct torus_topology *topology = streams->topology;
	const struct torus_shape *shape = &topology->sites.shape;

	for (int direction = 0; direction < 2 * shape->axes; direction++) {
		int next = shape->axis[direction / 2].size > 1 ? torus_neighbour(shape, topology->me, direction) : -1;

		if (next < 0)
			continue;
		streams->out[streams->count] =
			(struct torus_stream){.direction = direction,
					      .pe = topology->pe[next],
					      .there = streams->there ? streams->there[direction] : 0};
		streams->in[streams->count] = streams->out[streams->count];
		streams->in[streams->count++].direction = direction ^ 1;
	}
}

void torus_streams_rewind(struct torus_streams *streams, uint64_t number)
{
	streams->number = number;
	for (int s = 0; s < streams->count; s++) {
		streams->in[s].done = streams->in[s].seen = streams->in[s].granted = 0;
		streams->out[s].done = streams->out[s].allowed = 0;
	}
}

size_t torus_streams_progress(const struct torus_streams *streams)
{
	size_t sum = 0;

	for (int s = 0; s < streams->count; s++)
		sum += streams->in[s].done + streams->out[s].done + streams->in[s].granted;
	return sum;
}

static size_t window_bytes(const struct torus_streams *streams)
{
	double window = streams->topology->costs.rate * WINDOW_SECONDS;

	if (window < SHORTEST_WINDOW)
		window = SHORTEST_WINDOW;
	return (size_t)(window < LONGEST_WINDOW ? window : LONGEST_WINDOW);
}

/* For pieces of at most this size. */
static void choose_grants(struct torus_streams *streams, size_t longest)
{
	size_t most = (streams->slots + 1) / 2, bytes = window_bytes(streams) / GRANTS;

	streams->per_grant = longest < bytes ? bytes / (longest + 1) : 1;
	if (streams->per_grant > most)
		streams->per_grant = most;
}

void torus_streams_cut(struct torus_streams *streams, size_t longest)
{
	size_t share = staging_share(&streams->topology->sites.shape), most = share / TORUS_LEAST_SLOTS / 64 * 64;
	size_t count = longest > most ? (longest + most - 1) / most : 1;

	streams->piece = (longest + 64 * count - 1) / (64 * count) * 64;
	streams->slots = share / (streams->piece ? streams->piece : 64);
	if (streams->slots > TORUS_SLOTS)
		streams->slots = TORUS_SLOTS;
	streams->share = streams->by_plan ? streams->slots * streams->piece : share;
	choose_grants(streams, streams->piece);
}

void torus_streams_pace(struct torus_streams *streams, size_t longest)
{
	streams->slots = TORUS_LEAST_SLOTS;
	streams->piece = window_bytes(streams) / TORUS_LEAST_SLOTS / 64 * 64;
	choose_grants(streams, longest < streams->piece ? longest : streams->piece);
}

/* --- Words --- */

/*
 * The word behind a piece: its number and, in the lowest byte, the last piece that its sender
 * allows in the opposite direction.
 */
#define ALLOWED_BITS 8

static uint64_t came_value(const struct torus_streams *streams, size_t pieces, size_t allowed)
{
	return segment_count(streams->number, pieces << ALLOWED_BITS | (uint8_t)allowed);
}

static _Atomic uint64_t *came_word(const struct torus_streams *streams, const struct torus_stream *stream, size_t piece)
{
	return &streams->words->came[stream->direction][piece % streams->slots];
}

/* The opposite stream on the same cable. */
static struct torus_stream *stream_out(struct torus_streams *streams, const struct torus_stream *in)
{
	return &streams->out[in - streams->in];
}

static struct torus_stream *stream_in(struct torus_streams *streams, const struct torus_stream *out)
{
	return &streams->in[out - streams->out];
}

/*
 * Decodes the lowest byte. At most `slots` pieces more than sent are allowed; a smaller value comes
 * from an old word.
 */
static void take_allowed(struct torus_stream *out, uint64_t word)
{
	int8_t more;

	if (out->allowed < out->done)
		out->allowed = out->done; /* from separate grants */
	more = (int8_t)((uint8_t)word - (uint8_t)out->allowed);
	if (more > 0)
		out->allowed += (size_t)more;
}
_Static_assert(TORUS_SLOTS <= INT8_MAX, "the lowest byte of a word shows how many more");

/* A piece that has arrived may wait until it is taken, but its grant counts at once. */
static void look_at_words(struct torus_streams *streams, struct torus_stream *in)
{
	while (in->seen < in->all && in->seen < in->done + streams->slots) {
		uint64_t word = atomic_load_explicit(came_word(streams, in, in->seen), memory_order_acquire);

		if (word < came_value(streams, in->seen + 1, 0))
			return;
		take_allowed(stream_out(streams, in), word);
		in->seen++;
	}
}

/* Number of pieces that the neighbour may send now. */
static size_t allow_pieces(const struct torus_streams *streams, const struct torus_stream *in)
{
	size_t most = in->done + streams->slots;

	return most < in->all ? most : in->all;
}

/* --- Pieces --- */

char *torus_stream_slot(const struct torus_streams *streams, const struct torus_stream *in)
{
	return streams->staging + (size_t)in->direction * streams->share + in->done % streams->slots * streams->piece;
}

char *torus_stream_slot_there(const struct torus_streams *streams, const struct torus_stream *out)
{
	return torus_stream_slot(streams, out) + out->there;
}

/* The neighbour's word at the position of this one's. */
static void put_to_neighbour(const struct torus_streams *streams, const struct torus_stream *stream,
			     struct comms_request *request, struct comms_piece piece, struct comms_flag flag)
{
	flag.word = (_Atomic uint64_t *)(void *)((char *)flag.word + stream->there);
	comms_put_notify_start(request, &(struct comms_notification){.piece = {piece},
								     .flag = flag,
								     .by_network = streams->by_plan,
								     .pe = stream->pe,
								     .routine = streams->routine});
}

bool torus_stream_may_send(const struct torus_streams *streams, const struct torus_stream *out)
{
	return !comms_request_is_under_way(&out->request[out->done % SEGMENTS_AHEAD]) &&
	       (out->allowed > out->done ||
		atomic_load_explicit(&streams->words->leave[out->direction], memory_order_acquire) >=
			segment_count(streams->number, out->done + 1));
}

void torus_stream_send(struct torus_streams *streams, struct torus_stream *out, struct comms_piece piece)
{
	struct torus_stream *in = stream_in(streams, out);
	struct comms_flag flag;

	in->granted = allow_pieces(streams, in);
	flag = (struct comms_flag){came_word(streams, out, out->done), came_value(streams, out->done + 1, in->granted)};
	put_to_neighbour(streams, out, &out->request[out->done++ % SEGMENTS_AHEAD], piece, flag);
}

bool torus_stream_has_come(struct torus_streams *streams, struct torus_stream *in)
{
	look_at_words(streams, in);
	return in->done < in->seen;
}

/*
 * Pieces in the opposite direction carry grants. Without them, or if they are late, a grant goes
 * separately.
 */
static bool is_worth_a_message(struct torus_streams *streams, const struct torus_stream *in, size_t most)
{
	const struct torus_stream *out = stream_out(streams, in);
	size_t least = out->done < out->all ? (streams->slots + 3) / 4 : streams->per_grant;

	return most == in->all || most - in->granted >= least;
}

/*
 * The first pieces need no grant; later the neighbour is notified when some slots are free again.
 */
bool torus_stream_grant(struct torus_streams *streams, struct torus_stream *in)
{
	size_t most = allow_pieces(streams, in);

	if (comms_request_is_under_way(&in->granting))
		return false;
	if (most == in->granted)
		return in->done == in->all;
	if (!is_worth_a_message(streams, in, most))
		return false;
	in->granted = most;
	put_to_neighbour(streams, in, &in->granting, (struct comms_piece){0},
			 (struct comms_flag){&streams->words->leave[in->direction],
					     segment_count(streams->number, most)});
	return in->done == in->all && !comms_request_is_under_way(&in->granting);
}

bool torus_stream_is_sent(const struct torus_stream *out)
{
	return out->done == out->all && are_at_rest(out->request);
}
