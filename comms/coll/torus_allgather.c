/* SPDX-License-Identifier: BSD-3-Clause */
#include "torus_allgather.h"

#include <stdlib.h>
#include <string.h>

#include "tree_inside.h"
#include "rte/rte.h"
#include "comms/wait/wait.h"

/* What goes one way, out of this node or into it. */
struct stream {
	int way, pe; /* of the neighbour there */
	int count, done;
	const struct torus_pass *pass;
	bool allowed;
	struct comms_request request[RELAY_AHEAD];
};

struct passing {
	const struct torus_gathering *gathering;
	int parts;
	bool *has; /* by part and origin */
	int streams;
	struct stream out[TORUS_WAYS], in[TORUS_WAYS]; /* both by stream: the same neighbour, to it and from it */
};

bool torus_can_gather(const struct torus_ground *ground)
{
	return torus_ground_passes(ground, TORUS_SEGMENTS);
}

static bool *has(const struct passing *passing, const struct torus_pass *pass)
{
	return &passing->has[pass->part * passing->gathering->ground->sites.shape.places + pass->origin];
}

static void prepare(struct passing *passing, const struct torus_gathering *gathering)
{
	const struct torus_ground *ground = gathering->ground;
	const struct torus_shape *shape = &ground->sites.shape;

	*passing = (struct passing){.gathering = gathering, .parts = torus_pass_parts(shape)};
	passing->has = calloc((size_t)(passing->parts * shape->places), sizeof *passing->has);
	if (!passing->has)
		rte_die(gathering->routine, "no memory for the parts of %d nodes", shape->places);
	for (int part = 0; part < passing->parts; part++)
		passing->has[part * shape->places + ground->me] = true;
	for (int way = 0; way < 2 * shape->axes; way++) {
		int next = shape->axis[way / 2].size > 1 ? torus_neighbour(shape, ground->me, way) : -1;

		if (next < 0)
			continue;
		passing->out[passing->streams] = (struct stream){.way = way, .pe = ground->pe[next], .pass = ground->passes_out[way]};
		passing->out[passing->streams].count = ground->n_passes_out[way];
		passing->in[passing->streams] = (struct stream){.way = way ^ 1, .pe = ground->pe[next], .pass = ground->passes_in[way]};
		passing->in[passing->streams++].count = ground->n_passes_in[way];
	}
}

static void send_pass(const struct torus_gathering *gathering, const struct passing *passing, struct stream *stream)
{
	const struct torus_pass *pass = &stream->pass[stream->done];
	size_t begin = torus_part_begin(gathering->bytes[pass->origin], passing->parts, pass->part);
	size_t end = torus_part_begin(gathering->bytes[pass->origin], passing->parts, pass->part + 1);
	char *data = gathering->dest + gathering->at[pass->origin] + begin;

	comms_put_notify_later(&stream->request[stream->done % RELAY_AHEAD], (struct comms_piece){data, data, end - begin},
			       (struct comms_flag){&gathering->area->down.came[stream->way][stream->done], gathering->number},
			       stream->pe, gathering->routine);
	stream->done++;
}

static bool take(const struct passing *passing, struct stream *stream)
{
	const struct torus_gathering *gathering = passing->gathering;
	_Atomic uint64_t *came = gathering->area->down.came[stream->way];

	while (stream->done < stream->count &&
	       atomic_load_explicit(&came[stream->done], memory_order_acquire) >= gathering->number)
		*has(passing, &stream->pass[stream->done++]) = true;
	return stream->done == stream->count && !comms_request_is_under_way(&stream->request[0]);
}

/* In the order of the list: what has not come yet keeps others waiting, but for no longer than the same link keeps it itself. */
static bool send(const struct passing *passing, struct stream *stream)
{
	const struct torus_gathering *gathering = passing->gathering;

	if (!stream->allowed &&
	    atomic_load_explicit(&gathering->area->down.leave[stream->way], memory_order_acquire) < gathering->number)
		return stream->count == 0;
	stream->allowed = true;
	while (stream->done < stream->count && *has(passing, &stream->pass[stream->done]) &&
	       !comms_request_is_under_way(&stream->request[stream->done % RELAY_AHEAD]))
		send_pass(gathering, passing, stream);
	return stream->done == stream->count && are_at_rest(stream->request);
}

static bool advance(struct passing *passing)
{
	bool done = true;

	for (int s = 0; s < passing->streams; s++)
		done &= take(passing, &passing->in[s]);
	for (int s = 0; s < passing->streams; s++)
		done &= send(passing, &passing->out[s]);
	return done;
}

void torus_gather(const struct torus_gathering *gathering)
{
	struct passing passing;

	prepare(&passing, gathering);
	for (int s = 0; s < passing.streams; s++)
		if (passing.in[s].count > 0)
			comms_put_notify_later(&passing.in[s].request[0], (struct comms_piece){0},
					       (struct comms_flag){&gathering->area->down.leave[passing.in[s].way], gathering->number},
					       passing.in[s].pe, gathering->routine);
	COMMS_WAIT(COMMS_ANYWHERE, advance(&passing));
	free(passing.has);
}
