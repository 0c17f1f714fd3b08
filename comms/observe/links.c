/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Load of messages on the links of the job's torus, by their routes in dimension order: counted by
 * direction, and for each link if there are few enough.
 */
#include "links.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "comms/nodes/job_torus.h"
#include "rte/rte.h"

#define MOST_LINKS 4096

struct counter {
	_Atomic uint64_t messages, bytes;
};
static struct {
	struct counter directions[TORUS_DIRECTIONS];
	int links; /* number of existing links, and their names, which the program may read */
	struct one_link {
		struct counter counter;
		char name[sizeof "link " + LINKS_TEXT];
	} * link;
	int *place_of; /* index of a link by its number */
} link_counters;

int links_known(void)
{
	const struct torus_shape *shape = &comms_ensure_torus()->sites.shape;
	long links = (long)shape->places * 2 * shape->axes;

	return links <= MOST_LINKS ? (int)links : 0;
}

void links_follow(int from, int to, links_visitor *visit, void *argument)
{
	const struct torus_job *job = comms_ensure_torus();
	const struct torus_shape *shape = &job->sites.shape;
	int at = torus_job_place(job, from), end = torus_job_place(job, to), direction;

	while ((direction = torus_next(shape, at, end)) >= 0) {
		visit(at * 2 * shape->axes + direction, direction, argument);
		at = torus_neighbour(shape, at, direction);
	}
}

/* Returns false if the shape has no cable there. */
static bool link_exists(int link)
{
	const struct torus_shape *shape = &comms_ensure_torus()->sites.shape;
	int from = link / (2 * shape->axes), to = torus_neighbour(shape, from, link % (2 * shape->axes));

	return to >= 0 && to != from;
}

static void add_to_counters(struct counter *counter, uint64_t bytes)
{
	atomic_fetch_add_explicit(&counter->messages, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&counter->bytes, bytes, memory_order_relaxed);
}

static void count_link(int link, int direction, void *argument)
{
	uint64_t bytes = *(const size_t *)argument;

	add_to_counters(&link_counters.directions[direction], bytes);
	if (link_counters.links > 0)
		add_to_counters(&link_counters.link[link_counters.place_of[link]].counter, bytes);
}

void links_count(int from, int to, size_t bytes)
{
	links_follow(from, to, count_link, &bytes);
}

static void read_counter(const struct counter *counter, uint64_t *messages, uint64_t *bytes)
{
	*messages = atomic_load_explicit(&counter->messages, memory_order_relaxed);
	*bytes = atomic_load_explicit(&counter->bytes, memory_order_relaxed);
}

void links_read_direction(int direction, uint64_t *hops, uint64_t *bytes)
{
	read_counter(&link_counters.directions[direction], hops, bytes);
}

void links_read(int which, uint64_t *messages, uint64_t *bytes)
{
	read_counter(&link_counters.link[which].counter, messages, bytes);
}

int links_counted(void)
{
	return link_counters.links;
}

const char *links_counted_name(int which)
{
	return link_counters.link[which].name;
}

const char *links_name(int link, char text[LINKS_TEXT])
{
	const struct torus_shape *shape = &comms_ensure_torus()->sites.shape;
	char place[TORUS_TEXT];

	snprintf(text, LINKS_TEXT, "%s %s", torus_place_text(shape, link / (2 * shape->axes), place),
		 torus_direction_name(link % (2 * shape->axes)));
	return text;
}

static void clear_counters(struct counter *counter)
{
	atomic_store_explicit(&counter->messages, 0, memory_order_relaxed);
	atomic_store_explicit(&counter->bytes, 0, memory_order_relaxed);
}

void links_reset(void)
{
	for (int direction = 0; direction < TORUS_DIRECTIONS; direction++)
		clear_counters(&link_counters.directions[direction]);
	for (int i = 0; i < link_counters.links; i++)
		clear_counters(&link_counters.link[i].counter);
}

bool links_count_each(void)
{
	int known = links_known(), found = 0;
	char name[LINKS_TEXT];

	if (known == 0)
		return true;
	link_counters.link = calloc((size_t)known, sizeof *link_counters.link);
	link_counters.place_of = calloc((size_t)known, sizeof *link_counters.place_of);
	if (!link_counters.link || !link_counters.place_of)
		return false;
	for (int link = 0; link < known; link++) {
		if (!link_exists(link))
			continue;
		snprintf(link_counters.link[found].name, sizeof link_counters.link[found].name, "link %s",
			 links_name(link, name));
		link_counters.place_of[link] = found++;
	}
	link_counters.links = found;
	return true;
}

void links_stop(void)
{
	link_counters.links = 0;
	free(link_counters.link);
	free(link_counters.place_of);
	link_counters.link = NULL;
	link_counters.place_of = NULL;
}
