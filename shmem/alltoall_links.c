/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Alltoall and alltoalls on a torus from neighbour to neighbour
 * (comms/collectives/torus_links_alltoall.h). The leader of a node acts for all its members: it
 * reads their sources and writes their dests directly.
 */
#include "collectives.h"

#include <stdlib.h>
#include <string.h>

#include "comms/collectives/torus_links_alltoall.h"

/*
 * A node's data for another node: the blocks of its first member for all members there, then those
 * of the second, and so on.
 */
struct node_blocks {
	const struct set *set;
	const struct set_blocks *blocks;
	char **dest;
	char **source; /* both arrays by member of this node */
	int members;
	size_t done; /* bytes of a node's data for another that went in earlier rounds */
	uint64_t first_number;
};

static size_t place_in_set(const struct node_blocks *blocks, int node, int member)
{
	const struct comms_levels *levels = blocks->set->group->levels;

	return (size_t)(levels ? levels->places[levels->first[node] + member] : node);
}

/*
 * A piece of one block: from byte `within` of the block that member `from` of this node has for
 * member `to` of the other node. block_span finds the piece at position `at` of the node's data for
 * the other node; it ends with the block, or after `most` bytes.
 */
struct block_span {
	int from, to; /* indices in their nodes */
	size_t within, bytes;
};

static struct block_span block_span(const struct node_blocks *blocks, size_t at, size_t most)
{
	size_t bytes = blocks->blocks->bytes, within = at % bytes, left = bytes - within;
	int block = (int)(at / bytes);

	return (struct block_span){block / blocks->members, block % blocks->members, within, left < most ? left : most};
}

/* `step`: distance between elements of the block. */
static void move_elements(char *block, size_t step, size_t size, const struct block_span *span, char *packed, bool out)
{
	size_t element = span->within / size, part = span->within % size, now;

	for (size_t at = 0; at < span->bytes; at += now, element++, part = 0) {
		char *here = block + element * step + part;

		now = size - part < span->bytes - at ? size - part : span->bytes - at;
		memcpy(out ? packed + at : here, out ? here : packed + at, now);
	}
}

static void load_blocks(const void *argument, int node, size_t at, size_t bytes, char *out)
{
	const struct node_blocks *blocks = argument;
	const struct set_blocks *b = blocks->blocks;
	struct block_span s;

	for (at += blocks->done; bytes > 0; at += s.bytes, out += s.bytes, bytes -= s.bytes) {
		s = block_span(blocks, at, bytes);
		move_elements(blocks->source[s.from] + place_in_set(blocks, node, s.to) * (b->bytes / b->size) * b->sst,
			      b->sst, b->size, &s, out, true);
	}
}

static void store_blocks(const void *argument, int node, size_t at, size_t bytes, const char *in)
{
	const struct node_blocks *blocks = argument;
	const struct set_blocks *b = blocks->blocks;
	struct block_span s;

	for (at += blocks->done; bytes > 0; at += s.bytes, in += s.bytes, bytes -= s.bytes) {
		s = block_span(blocks, at, bytes);
		move_elements(blocks->dest[s.to] + place_in_set(blocks, node, s.from) * (b->bytes / b->size) * b->dst,
			      b->dst, b->size, &s, (char *)(uintptr_t)in, false);
	}
}

static size_t node_block_bytes(const struct set *set, size_t bytes)
{
	size_t members = set->group->levels ? (size_t)set->group->levels->node.size : 1;

	return members * members * bytes;
}

bool set_reaches_all_here(const struct set *set, const void *dest, const void *source)
{
	return !set->group->levels ||
	       (comms_shared(comms_find_segment(dest)) && comms_shared(comms_find_segment(source)));
}

static void exchange_by_links(struct node_blocks *blocks)
{
	const struct set *set = blocks->set;
	struct torus_topology *topology = set->team->topology;
	size_t all = node_block_bytes(set, blocks->blocks->bytes), most = torus_links_alltoall_most(topology);
	struct torus_links_alltoall alltoall = {.topology = topology,
						.number = blocks->first_number,
						.words = &team_torus(set->team)->up,
						.staging = team_torus(set->team)->staging,
						.load = load_blocks,
						.store = store_blocks,
						.blocks = blocks,
						.routine = set->routine};

	for (; blocks->done < all; blocks->done += alltoall.bytes, alltoall.number++) {
		alltoall.bytes = all - blocks->done < most ? all - blocks->done : most;
		torus_links_alltoall(&alltoall);
	}
}

void set_alltoall_by_links(const struct set *set, const struct set_blocks *blocks)
{
	const struct comms_levels *levels = set->group->levels;
	int members = levels ? levels->node.size : 1;
	size_t most = torus_links_alltoall_most(set->team->topology);
	char **memory = malloc(2 * (size_t)members * sizeof *memory);
	struct node_blocks here = {.set = set,
				   .blocks = blocks,
				   .dest = memory,
				   .source = memory + members,
				   .members = members,
				   .first_number = set->team->torus_collectives + 1};

	if (!memory)
		rte_die(set->routine, "no memory for the addresses of %d PEs", members);
	set->team->torus_collectives += (node_block_bytes(set, blocks->bytes) + most - 1) / most;
	here.dest[0] = blocks->dest;
	here.source[0] = (char *)(uintptr_t)blocks->source;
	for (int i = 0; levels && i < members; i++) {
		here.dest[i] = set_memory_of(blocks->dest, comms_group_pe(&levels->node, i));
		here.source[i] = set_memory_of(blocks->source, comms_group_pe(&levels->node, i));
	}
	if (comms_node_barrier_arrive(set->group)) {
		exchange_by_links(&here);
		comms_node_barrier_open(set->group);
	}
	free(memory);
}
