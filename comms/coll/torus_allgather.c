/* SPDX-License-Identifier: BSD-3-Clause */
#include "torus_allgather.h"

#include <stdlib.h>
#include <string.h>

#include "tree_inside.h"
#include "rte/rte.h"
#include "comms/wait/wait.h"

/* What goes in one direction, out of this node or into it. */
struct stream {
	int direction, pe; /* of the neighbour there */
	int count, done;
	const struct torus_ring_step *steps;
	bool allowed;
	struct comms_request request[SEGMENTS_AHEAD];
};

struct schedule {
	const struct torus_gathering *gathering;
	int parts;
	bool *has; /* by part and origin */
	int streams;
	/* both by stream: the same neighbour, to it and from it */
	struct stream out[TORUS_DIRECTIONS], in[TORUS_DIRECTIONS];
};

bool torus_can_gather(const struct torus_topology *topology)
{
	return torus_topology_schedule(topology, TORUS_SEGMENTS);
}

static bool *part_flag(const struct schedule *schedule, const struct torus_ring_step *step)
{
	return &schedule->has[step->part * schedule->gathering->topology->sites.shape.places + step->origin];
}

static void prepare_gathering(struct schedule *schedule, const struct torus_gathering *gathering)
{
	const struct torus_topology *topology = gathering->topology;
	const struct torus_shape *shape = &topology->sites.shape;

	*schedule = (struct schedule){.gathering = gathering, .parts = torus_ring_parts(shape)};
	schedule->has = calloc((size_t)(schedule->parts * shape->places), sizeof *schedule->has);
	if (!schedule->has)
		rte_die(gathering->routine, "no memory for the parts of %d nodes", shape->places);
	for (int part = 0; part < schedule->parts; part++)
		schedule->has[part * shape->places + topology->me] = true;
	for (int direction = 0; direction < 2 * shape->axes; direction++) {
		int next = shape->axis[direction / 2].size > 1 ? torus_neighbour(shape, topology->me, direction) : -1;

		if (next < 0)
			continue;
		schedule->out[schedule->streams] = (struct stream){.direction = direction,
								   .pe = topology->pe[next],
								   .steps = topology->steps_out[direction]};
		schedule->out[schedule->streams].count = topology->n_steps_out[direction];
		schedule->in[schedule->streams] = (struct stream){.direction = direction ^ 1,
								  .pe = topology->pe[next],
								  .steps = topology->steps_in[direction]};
		schedule->in[schedule->streams++].count = topology->n_steps_in[direction];
	}
}

static void send_step(const struct torus_gathering *gathering, const struct schedule *schedule, struct stream *stream)
{
	const struct torus_ring_step *step = &stream->steps[stream->done];
	size_t begin = torus_part_begin(gathering->bytes[step->origin], schedule->parts, step->part);
	size_t end = torus_part_begin(gathering->bytes[step->origin], schedule->parts, step->part + 1);
	char *data = gathering->dest + gathering->at[step->origin] + begin;

	comms_put_notify_later(&stream->request[stream->done % SEGMENTS_AHEAD],
			       (struct comms_piece){data, data, end - begin},
			       (struct comms_flag){&gathering->area->down.came[stream->direction][stream->done],
						   gathering->number},
			       stream->pe, gathering->routine);
	stream->done++;
}

static bool receive_steps(const struct schedule *schedule, struct stream *stream)
{
	const struct torus_gathering *gathering = schedule->gathering;
	_Atomic uint64_t *came = gathering->area->down.came[stream->direction];

	while (stream->done < stream->count &&
	       atomic_load_explicit(&came[stream->done], memory_order_acquire) >= gathering->number)
		*part_flag(schedule, &stream->steps[stream->done++]) = true;
	return stream->done == stream->count && !comms_request_is_under_way(&stream->request[0]);
}

/* In the order of the list: what has not come yet keeps others waiting, but for no longer than the same link keeps it itself. */
static bool send_steps(const struct schedule *schedule, struct stream *stream)
{
	const struct torus_gathering *gathering = schedule->gathering;

	if (!stream->allowed && atomic_load_explicit(&gathering->area->down.leave[stream->direction],
						     memory_order_acquire) < gathering->number)
		return stream->count == 0;
	stream->allowed = true;
	while (stream->done < stream->count && *part_flag(schedule, &stream->steps[stream->done]) &&
	       !comms_request_is_under_way(&stream->request[stream->done % SEGMENTS_AHEAD]))
		send_step(gathering, schedule, stream);
	return stream->done == stream->count && are_at_rest(stream->request);
}

static bool advance_gathering(struct schedule *schedule)
{
	bool done = true;

	for (int s = 0; s < schedule->streams; s++)
		done &= receive_steps(schedule, &schedule->in[s]);
	for (int s = 0; s < schedule->streams; s++)
		done &= send_steps(schedule, &schedule->out[s]);
	return done;
}

void torus_gather(const struct torus_gathering *gathering)
{
	struct schedule schedule;

	prepare_gathering(&schedule, gathering);
	for (int s = 0; s < schedule.streams; s++)
		if (schedule.in[s].count > 0)
			comms_put_notify_later(&schedule.in[s].request[0], (struct comms_piece){0},
					       (struct comms_flag){&gathering->area->down
									    .leave[schedule.in[s].direction],
								   gathering->number},
					       schedule.in[s].pe, gathering->routine);
	COMMS_WAIT(COMMS_ANYWHERE, advance_gathering(&schedule));
	free(schedule.has);
}
