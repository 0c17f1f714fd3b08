/* SPDX-License-Identifier: BSD-3-Clause */
#include "torus_alltoall.h"

#include <stdlib.h>
#include <string.h>

#include "rte/rte.h"
#include "comms/ops/notify.h"
#include "comms/wait/wait.h"

/*
 * Blocks by place. Along axes that are done, the coordinate is that of a block's source; along the
 * others, that of its destination. So at the end all coordinates are those of the source.
 */
struct axes_exchange {
	const struct torus_exchange *exchange;
	const struct torus_shape *shape;
	char *blocks, *packed;
	struct comms_request *request; /* by coordinate */
};

size_t torus_exchange_most(const struct torus_topology *topology)
{
	const struct torus_shape *shape = &topology->sites.shape;
	size_t axes = 0;

	for (int a = 0; a < shape->axes; a++) {
		axes += shape->axis[a].size > 1;
		if (shape->axis[a].size > TORUS_LINE)
			return 0;
	}
	if (!topology->whole || axes == 0)
		return 0;
	return TORUS_WINDOWS / (2 * axes * (size_t)shape->places);
}

/* The window for the message of the node at a coordinate; each axis has room for all places. */
static char *receive_window(const struct axes_exchange *c, int axis, int coordinate)
{
	const struct torus_exchange *exchange = c->exchange;
	size_t all = (size_t)c->shape->places * exchange->bytes, before = 0;

	for (int a = 0; a < axis; a++)
		before += c->shape->axis[a].size > 1;
	return exchange->area->windows + exchange->number % 2 * (TORUS_WINDOWS / 2) + before * all +
	       all / (size_t)c->shape->axis[axis].size * (size_t)coordinate;
}

/* Copies all blocks with this coordinate along the axis into one row, or out of it. */
static void pack_row(const struct axes_exchange *c, int axis, int coordinate, char *row, bool out_of_it)
{
	size_t bytes = c->exchange->bytes, stride = (size_t)c->shape->stride[axis] * bytes,
	       group = stride * (size_t)c->shape->axis[axis].size;

	for (char *at = c->blocks + (size_t)coordinate * stride; at < c->blocks + (size_t)c->shape->places * bytes;
	     at += group) {
		memcpy(out_of_it ? at : row, out_of_it ? row : at, stride);
		row += stride;
	}
}

static bool messages_are_sent(const struct axes_exchange *c, int count)
{
	for (int i = 0; i < count; i++)
		if (atomic_load_explicit(&c->request[i].under_way, memory_order_acquire))
			return false;
	return true;
}

/* Nearest nodes first, so that the links are busy from the start. */
static void exchange_along_axis(const struct axes_exchange *c, int axis)
{
	const struct torus_exchange *exchange = c->exchange;
	const struct torus_topology *topology = exchange->topology;
	int size = c->shape->axis[axis].size, me = torus_coordinate(c->shape, topology->me, axis);
	size_t message = (size_t)c->shape->places * exchange->bytes / (size_t)size;
	_Atomic uint64_t *arrived = exchange->area->arrived[axis];

	for (int i = 1; i < size; i++) {
		int to = (me + (i % 2 ? (i + 1) / 2 : size - i / 2)) % size;
		char *row = c->packed + message * (size_t)to;

		pack_row(c, axis, to, row, false);
		comms_put_notify_later(&c->request[to], (struct comms_piece){receive_window(c, axis, me), row, message},
				       (struct comms_flag){&arrived[me], exchange->number},
				       topology->pe[topology->me + (to - me) * c->shape->stride[axis]],
				       exchange->routine);
	}
	for (int from = 0; from < size; from++) {
		if (from == me)
			continue;
		COMMS_WAIT(&arrived[from],
			   atomic_load_explicit(&arrived[from], memory_order_acquire) >= exchange->number);
		pack_row(c, axis, from, receive_window(c, axis, from), true);
	}
	COMMS_WAIT(COMMS_ANYWHERE, messages_are_sent(c, size));
}

void torus_exchange(const struct torus_exchange *exchange)
{
	const struct torus_sites *sites = &exchange->topology->sites;
	size_t bytes = exchange->bytes, all = (size_t)sites->shape.places * bytes;
	struct axes_exchange c = {.exchange = exchange, .shape = &sites->shape};
	int longest = 0;

	for (int a = 0; a < sites->shape.axes; a++)
		longest = sites->shape.axis[a].size > longest ? sites->shape.axis[a].size : longest;
	c.blocks = malloc(2 * all);
	c.request = calloc((size_t)longest, sizeof *c.request);
	if (!c.blocks || !c.request)
		rte_die(exchange->routine, "no memory for a buffer of %zu bytes", 2 * all);
	c.packed = c.blocks + all;
	for (int n = 0; n < sites->nodes; n++)
		memcpy(c.blocks + (size_t)sites->place[n] * bytes, exchange->from + (size_t)n * exchange->from_step,
		       bytes);
	for (int a = 0; a < sites->shape.axes; a++)
		if (sites->shape.axis[a].size > 1)
			exchange_along_axis(&c, a);
	for (int n = 0; n < sites->nodes; n++)
		memcpy(exchange->to + (size_t)n * exchange->to_step, c.blocks + (size_t)sites->place[n] * bytes, bytes);
	free(c.blocks);
	free(c.request);
}
