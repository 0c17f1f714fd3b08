/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What messages load onto the links of the job's torus, each on its route in dimension order: counted by way, and for traces
 * link by link where there are few enough of them.
 */
#include "links.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "job.h"
#include "rte/rte.h"

#define MOST_LINKS 4096

static struct {
	_Atomic uint64_t hops, bytes;
} ways[TORUS_WAYS];

int links_known(void)
{
	const struct torus_shape *shape = &comms_torus()->sites.shape;
	long links = (long)shape->places * 2 * shape->axes;

	return links <= MOST_LINKS ? (int)links : 0;
}

void links_follow(int from, int to, links_visitor *visit, void *argument)
{
	const struct torus_job *job = comms_torus();
	const struct torus_shape *shape = &job->sites.shape;
	int at = torus_job_place(job, from), end = torus_job_place(job, to), way;

	while ((way = torus_next(shape, at, end)) >= 0) {
		visit(at * 2 * shape->axes + way, way, argument);
		at = torus_neighbour(shape, at, way);
	}
}

static void count(int link, int way, void *argument)
{
	uint64_t bytes = *(const size_t *)argument;

	(void)link;
	atomic_fetch_add_explicit(&ways[way].hops, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&ways[way].bytes, bytes, memory_order_relaxed);
}

void links_count(int from, int to, size_t bytes)
{
	links_follow(from, to, count, &bytes);
}

void links_read_way(int way, uint64_t *hops, uint64_t *bytes)
{
	*hops = atomic_load_explicit(&ways[way].hops, memory_order_relaxed);
	*bytes = atomic_load_explicit(&ways[way].bytes, memory_order_relaxed);
}

const char *links_name(int link, char text[LINKS_TEXT])
{
	const struct torus_shape *shape = &comms_torus()->sites.shape;
	char place[TORUS_TEXT];

	snprintf(text, LINKS_TEXT, "%s %s", torus_place_text(shape, link / (2 * shape->axes), place),
		 torus_way_name(link % (2 * shape->axes)));
	return text;
}

void links_reset(void)
{
	for (int way = 0; way < TORUS_WAYS; way++) {
		atomic_store(&ways[way].hops, 0);
		atomic_store(&ways[way].bytes, 0);
	}
}
