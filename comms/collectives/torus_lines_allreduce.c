/* SPDX-License-Identifier: BSD-3-Clause */
#include "torus_lines_allreduce.h"

#include <stdlib.h>
#include <string.h>

#include "rte/rte.h"
#include "comms/ops/notify.h"
#include "comms/wait/wait.h"

struct line_piece {
	const struct torus_lines_allreduce *allreduce;
	const char *mine; /* this node's data along the axis */
	char *result;
	size_t bytes, most;
	uint64_t number;
	/* The axis, and this node's coordinate on it. */
	int axis, size, me, stride;
	bool ring, by_pairs;
	size_t windows_before; /* those of axes before */
	struct comms_request *request;
	int sent;
};

static int all_sizes(const struct torus_shape *shape, int axes)
{
	int sum = 0;

	for (int a = 0; a < axes; a++)
		sum += shape->axis[a].size > 1 ? shape->axis[a].size : 0;
	return sum;
}

static int longest_axis(const struct torus_shape *shape)
{
	int longest = 0;

	for (int a = 0; a < shape->axes; a++)
		longest = shape->axis[a].size > longest ? shape->axis[a].size : longest;
	return longest;
}

size_t torus_lines_allreduce_most(const struct torus_topology *topology)
{
	const struct torus_shape *shape = &topology->sites.shape;
	int windows = all_sizes(shape, shape->axes);

	if (longest_axis(shape) > TORUS_LINE)
		return 0;
	return topology->whole && windows > 0 ? (size_t)TORUS_WINDOWS / 2 / (size_t)windows / 64 * 64 : 0;
}

static char *window_of(const struct line_piece *p, int coordinate)
{
	return p->allreduce->area->windows + p->number % 2 * (TORUS_WINDOWS / 2) +
	       (p->windows_before + (size_t)coordinate) * p->most;
}

/*
 * How many nodes' data comes up from below to the node at a coordinate, and down from above. On a
 * ring it comes half-way round.
 */
static int come_from_below(const struct line_piece *p, int coordinate)
{
	return p->ring ? p->size / 2 : coordinate;
}

static int come_from_above(const struct line_piece *p, int coordinate)
{
	return p->ring ? (p->size - 1) / 2 : p->size - 1 - coordinate;
}

static int around(const struct line_piece *p, int coordinate)
{
	return (coordinate + p->size) % p->size;
}

/* To a node of the line, into its window for the data of the node at coordinate `origin`. */
static void send_to(struct line_piece *p, int to, int origin, const char *data)
{
	const struct torus_topology *topology = p->allreduce->topology;

	comms_put_notify_later(&p->request[p->sent++], (struct comms_piece){window_of(p, origin), data, p->bytes},
			       (struct comms_flag){&p->allreduce->area->arrived[p->axis][origin], p->number},
			       topology->pe[topology->me + (to - p->me) * p->stride], p->allreduce->routine);
}

static const char *data_of(const struct line_piece *p, int coordinate)
{
	return coordinate == p->me ? p->mine : window_of(p, coordinate);
}

/* To the next node of the line, up or down: the data of the node at coordinate `origin`. */
static void send_on(struct line_piece *p, int step, int origin)
{
	send_to(p, around(p, p->me + step), origin, data_of(p, origin));
}

static void await_data_of(const struct line_piece *p, int origin)
{
	_Atomic uint64_t *arrived = &p->allreduce->area->arrived[p->axis][origin];

	COMMS_WAIT(arrived, atomic_load_explicit(arrived, memory_order_acquire) >= p->number);
}

static bool all_is_sent(const struct line_piece *p)
{
	for (int i = 0; i < p->sent; i++)
		if (atomic_load_explicit(&p->request[i].under_way, memory_order_acquire))
			return false;
	return true;
}

/* In round k a node sends what came in the round before, which is of the nodes k away. */
static void exchange_line(struct line_piece *p)
{
	int below = come_from_below(p, p->me), above = come_from_above(p, p->me);
	bool has_upper = p->ring || p->me < p->size - 1, has_lower = p->ring || p->me > 0;
	int up = has_upper ? come_from_below(p, around(p, p->me + 1)) : 0,
	    down = has_lower ? come_from_above(p, around(p, p->me - 1)) : 0;

	p->sent = 0;
	for (int k = 0; k < p->size - 1; k++) {
		if (k < up)
			send_on(p, 1, around(p, p->me - k));
		if (k < down)
			send_on(p, -1, around(p, p->me + k));
		if (k < below)
			await_data_of(p, around(p, p->me - k - 1));
		if (k < above)
			await_data_of(p, around(p, p->me + k + 1));
	}
	COMMS_WAIT(COMMS_ANYWHERE, all_is_sent(p));
}

/* The result may be this node's own data, which the windows hold on other nodes only. */
static void combine_line(const struct line_piece *p, char *sum)
{
	size_t count = p->bytes / p->allreduce->element;

	p->allreduce->combine(sum, data_of(p, 0), data_of(p, 1), count);
	for (int c = 2; c < p->size; c++)
		p->allreduce->combine(sum, sum, data_of(p, c), count);
	memcpy(p->result, sum, p->bytes);
}

static void combine_in_order(const struct line_piece *p, char *result, const char *mine, const char *theirs,
			     bool mine_first)
{
	p->allreduce->combine(result, mine_first ? mine : theirs, mine_first ? theirs : mine,
			      p->bytes / p->allreduce->element);
}

/*
 * A ring of four: first 0 with 1 and 2 with 3, then 1 with 2 and 3 with 0 exchange what they have.
 * That is two messages of each node, one to each neighbour, where going half-way round is three.
 */
static void reduce_by_pairs(struct line_piece *p, char *sum)
{
	int first = p->me ^ 1, second = 3 - p->me;

	p->sent = 0;
	send_to(p, first, p->me, p->mine);
	await_data_of(p, first);
	combine_in_order(p, sum, p->mine, window_of(p, first), p->me < first);
	send_to(p, second, p->me, sum);
	await_data_of(p, second);
	COMMS_WAIT(COMMS_ANYWHERE, all_is_sent(p));
	combine_in_order(p, p->result, sum, window_of(p, second), p->me < second);
}

static void reduce_line(struct line_piece *p, char *sum)
{
	if (p->by_pairs) {
		reduce_by_pairs(p, sum);
		return;
	}
	exchange_line(p);
	combine_line(p, sum);
}

static void reduce_piece(struct line_piece *p, char *sum)
{
	const struct torus_shape *shape = &p->allreduce->topology->sites.shape;

	for (int a = 0; a < shape->axes; a++) {
		if (shape->axis[a].size == 1)
			continue;
		p->axis = a;
		p->size = shape->axis[a].size;
		p->ring = shape->axis[a].ring;
		p->stride = shape->stride[a];
		p->me = torus_coordinate(shape, p->allreduce->topology->me, a);
		p->by_pairs = torus_lines_by_pairs(&shape->axis[a]);
		p->windows_before = (size_t)all_sizes(shape, a);
		reduce_line(p, sum);
		p->mine = p->result;
	}
}

void torus_lines_allreduce(const struct torus_lines_allreduce *allreduce)
{
	size_t most = torus_lines_allreduce_most(allreduce->topology);
	size_t longest = allreduce->bytes < most ? allreduce->bytes : most;
	struct line_piece p = {.allreduce = allreduce, .most = most};
	char *sum = malloc(2 * longest), *own = sum + longest;

	p.request = calloc(2 * (size_t)longest_axis(&allreduce->topology->sites.shape), sizeof *p.request);
	if (!sum || !p.request)
		rte_die(allreduce->routine, "no memory for a buffer of %zu bytes", 2 * longest);
	for (size_t at = 0, i = 0; at < allreduce->bytes; at += most, i++) {
		p.number = allreduce->number + i;
		p.bytes = allreduce->bytes - at < most ? allreduce->bytes - at : most;
		memcpy(own, allreduce->source + at, p.bytes);
		p.mine = own;
		p.result = allreduce->dest + at;
		reduce_piece(&p, sum);
	}
	free(p.request);
	free(sum);
}
