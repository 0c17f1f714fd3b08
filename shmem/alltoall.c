/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Alltoall and alltoalls.
 *
 * "direct" has two forms. Members put blocks straight into place on a node, and between nodes if
 * the blocks are not small (set_push_blocks, which the collects use too): every byte has to cross
 * anyway. Nodes gather small blocks, so that one message goes from each leader to each other leader
 * (exchange_parts): all members of a node store their data for other nodes in their leader's
 * scratch, ordered by node. The leader sends each node its part, into a window of the other
 * leader's scratch. When all parts have arrived, the members copy their own data.
 *
 * On a torus the leaders do this dimension by dimension (comms/collectives/torus_alltoall.h), with
 * as many bytes at a time as there is room for: "torus-lines". With more data, or a dead or slow
 * cable, they do it from neighbour to neighbour (alltoall_links.c): "torus-links".
 *
 * Data through windows needs no barrier between nodes. Two sets of windows alternate: before a
 * leader sends for alltoall k + 2, it has received this node's part of k + 1, which left after all
 * members here had copied their data of k.
 */
#include "collectives.h"

#include <stdlib.h>
#include <string.h>

#include "comms/collectives/torus_alltoall.h"
#include "comms/collectives/torus_links_alltoall.h"
#include "comms/nodes/job_torus.h"
#include "comms/nodes/costs.h"

#define PIECE_FOR_ALL (256UL << 10)
/*
 * Limits for what a node sends in all, in messages that latency and rate of the network balance
 * (torus_balanced_bytes).
 */
#define LINES_UP_TO 4 /* beyond, sending bytes twice costs more than more messages */
/* Below, messages from neighbour to neighbour cost more than the bytes that they save. */
#define LINKS_FROM 2

static enum alltoall_algorithm { AUTO, DIRECT, TORUS, LINES, LINKS } alltoall_algorithm;

void api_alltoalls_start(void)
{
	alltoall_algorithm = setting_choice(SETTING_ALLTOALL_ALGORITHM);
}

struct alltoall {
	const struct set *set;
	char *dest;
	const char *source;
	size_t bytes;
	uint64_t number;
	const struct torus_topology *topology; /* NULL: not on the torus */
	uint64_t exchanged;		       /* exchanges on the torus before this one */
	bool strided;
};

static int node_size(const struct comms_levels *levels, int node)
{
	return levels->first[node + 1] - levels->first[node];
}

/* Where the part for another node begins in what a node's members exchange with all members. */
static size_t part_of(const struct comms_levels *levels, int node, int other, size_t bytes)
{
	return (size_t)node_size(levels, node) * (size_t)levels->first[other] * bytes;
}

/* Block by block: my blocks for the members of a node, behind those of the members before me. */
static void lay_out_blocks(const struct alltoall *a, struct scratch *leader, int node)
{
	const struct comms_levels *levels = a->set->group->levels;
	int size = node_size(levels, node);
	char *out = leader->out + part_of(levels, levels->my_node, node, a->bytes) +
		    (size_t)levels->node.me * (size_t)size * a->bytes;

	for (int i = 0; i < size; i++)
		memcpy(out + (size_t)i * a->bytes,
		       a->source + (size_t)levels->places[levels->first[node] + i] * a->bytes, a->bytes);
}

/*
 * Exchanges blocks of one size between nodes, as many bytes of each at a time as fit in the
 * windows.
 */
static void alltoall_on_torus(const struct alltoall *a, const char *from, char *to, size_t bytes)
{
	size_t most = torus_exchange_most(a->topology);
	struct torus_exchange exchange = {.topology = a->topology,
					  .area = team_torus(a->set->team),
					  .number = a->exchanged,
					  .from_step = bytes,
					  .to_step = bytes,
					  .routine = a->set->routine};

	for (size_t at = 0; at < bytes; at += most) {
		exchange.number++;
		exchange.from = from + at;
		exchange.to = to + at;
		exchange.bytes = bytes - at < most ? bytes - at : most;
		torus_exchange(&exchange);
	}
}

static void exchange_parts(const struct alltoall *a)
{
	const struct comms_levels *levels = a->set->group->levels;
	struct scratch *scratch = team_scratch(a->set->team);
	int n = levels->leaders.size, me = levels->my_node;

	if (a->topology) {
		alltoall_on_torus(a, scratch->out, scratch->in[a->number & 1], part_of(levels, me, 1, a->bytes));
		return;
	}
	for (int i = 1; i < n; i++) {
		int to = (me + i) % n;

		comms_put_notify(scratch->in[a->number & 1] + part_of(levels, to, me, a->bytes),
				 scratch->out + part_of(levels, me, to, a->bytes),
				 (size_t)node_size(levels, me) * (size_t)node_size(levels, to) * a->bytes,
				 (struct comms_flag){&scratch->arrived[me], a->number},
				 comms_group_pe(&levels->leaders, to), a->set->routine);
	}
	for (int i = 1; i < n; i++)
		await_flag(&scratch->arrived[(me + i) % n], a->number);
}

static void copy_part(const struct alltoall *a, const struct scratch *leader, int node)
{
	const struct comms_levels *levels = a->set->group->levels;
	const char *in = leader->in[a->number & 1] + part_of(levels, levels->my_node, node, a->bytes);

	for (int i = 0; i < node_size(levels, node); i++)
		memcpy(a->dest + (size_t)levels->places[levels->first[node] + i] * a->bytes,
		       in + ((size_t)i * (size_t)levels->node.size + (size_t)levels->node.me) * a->bytes, a->bytes);
}

static void alltoall_by_nodes(struct alltoall *a)
{
	const struct comms_levels *levels = a->set->group->levels;
	struct scratch *leader = scratch_of(a->set->team, comms_group_pe(&levels->node, 0));
	int n = levels->leaders.size, here = levels->first[levels->my_node];

	for (int i = 0; i < levels->node.size; i++)
		comms_put(a->dest + (size_t)a->set->group->me * a->bytes,
			  a->source + (size_t)levels->places[here + i] * a->bytes, a->bytes,
			  comms_group_pe(&levels->node, i), a->set->routine);
	if (!comms_shared(comms_find_segment(a->dest)))
		comms_quiet();
	for (int node = 0; node < n; node++)
		if (node != levels->my_node)
			lay_out_blocks(a, leader, node);
	if (comms_node_barrier_arrive(a->set->group)) {
		exchange_parts(a);
		comms_node_barrier_open(a->set->group);
	}
	for (int node = 0; node < n; node++)
		if (node != levels->my_node)
			copy_part(a, leader, node);
}

static bool fits_windows(const struct comms_levels *levels, int members, size_t bytes)
{
	int largest = 0;

	if (levels->leaders.size > NODES_AT_ONCE)
		return false;
	for (int i = 0; i < levels->leaders.size; i++)
		if (node_size(levels, i) > largest)
			largest = node_size(levels, i);
	return bytes <= ALLTOALL_BYTES / ((size_t)largest * (size_t)members);
}

/*
 * A block that goes to all members goes in pieces, so that each is still in the nearest caches for
 * the next member.
 */
static size_t bytes_at_a_time(const struct set *set, size_t source_step, size_t bytes)
{
	return set->group->on_node && source_step == 0 && bytes > PIECE_FOR_ALL ? PIECE_FOR_ALL : bytes;
}

/*
 * Each member puts its block to all: to itself, to the next member, and so on, so that not all put
 * to one member at a time.
 */
void set_push_blocks(const struct set *set, char *dest, const char *source, size_t source_step, size_t bytes)
{
	size_t most = bytes_at_a_time(set, source_step, bytes);
	int n = set->group->size;
	int first = source_step == 0 && dest == source; /* in place */

	for (size_t at = 0; at < bytes; at += most) {
		size_t now = bytes - at < most ? bytes - at : most;

		for (int i = first; i < n; i++) {
			int to = (set->group->me + i) % n;

			comms_put_nbi(dest + at, source + (size_t)to * source_step + at, now, set_pe(set, to),
				      set->routine);
		}
	}
	set_finish(set);
}

/*
 * Small blocks between a few members of a node: each member writes into a slot of the receiver,
 * which has one for every other member. A member is done when it has a block from each, so this is
 * an epoch like that of a reduction, and needs no barrier.
 */
static void exchange_pieces(const struct set *set, char *dest, const char *source, size_t source_step, size_t bytes)
{
	struct scratch *scratch = team_scratch(set->team);
	uint64_t epoch = ++set->team->pieces;
	int n = set->group->size, me = set->group->me;

	for (int i = 1; i < n; i++) {
		int to = (me + i) % n;

		comms_put_notify(piece_place(scratch, epoch, i - 1, bytes), source + (size_t)to * source_step, bytes,
				 (struct comms_flag){&scratch->slot[epoch & 1][i - 1].received, epoch}, set_pe(set, to),
				 set->routine);
	}
	memcpy(dest + (size_t)me * bytes, source + (size_t)me * source_step, bytes);
	for (int i = 1; i < n; i++) {
		int from = (me + n - i) % n;

		await_flag(&scratch->slot[epoch & 1][i - 1].received, epoch);
		memcpy(dest + (size_t)from * bytes, piece_place(scratch, epoch, i - 1, bytes), bytes);
	}
}

void set_exchange_blocks(const struct set *set, char *dest, const char *source, size_t source_step, size_t bytes)
{
	comms_group_prepare(set->group);
	if (set->team && set->group->on_node && !set->group->oversubscribed && set->group->size <= ROUNDS &&
	    bytes <= SMALL_PIECE)
		exchange_pieces(set, dest, source, source_step, bytes);
	else
		set_push_blocks(set, dest + (size_t)set->group->me * bytes, source, source_step, bytes);
}

/* Do all nodes have the same number of members? */
static bool nodes_are_alike(const struct comms_levels *levels)
{
	int size = levels ? node_size(levels, 0) : 1;

	for (int node = 0; levels && node < levels->leaders.size; node++)
		if (node_size(levels, node) != size)
			return false;
	return true;
}

/*
 * The algorithm that takes least, by the model: on a torus whose nodes have so many members each.
 */
static enum alltoall_algorithm fastest(const struct alltoall *a, size_t members, bool lines, bool links, bool windows)
{
	const struct torus_topology *topology = a->set->team->topology;
	const struct torus_shape *shape = &topology->sites.shape;
	struct torus_costs by_routes = torus_topology_route_costs(topology);
	size_t each = members * members * a->bytes;
	double least = torus_direct_seconds(shape, each, windows ? 1 : (int)(members * members), &by_routes), seconds;
	enum alltoall_algorithm best = DIRECT;

	seconds = lines ? torus_lines_seconds(shape, each, &topology->costs) : 0;
	if (lines && seconds <= least) {
		best = LINES;
		least = seconds;
	}
	seconds = links ? torus_links_seconds(shape, topology->lines, each, &topology->costs) : 0;
	return links && seconds < least ? LINKS : best;
}

/*
 * The members agree on an algorithm: a collective, whose first call measures the links of the
 * torus, and whose later calls may check its cables. Direct messages and lines are for little,
 * where links cost more messages than they save bytes. But neither avoids a cable that is dead or
 * slow, and elements that lie apart go the direct way piece by piece, between barriers.
 */
static enum alltoall_algorithm agree_on_algorithm(const struct alltoall *a)
{
	const struct set *set = a->set;
	const struct comms_levels *levels = set->group->levels;
	size_t members = levels ? (size_t)node_size(levels, 0) : 1,
	       sent = members * a->bytes * (size_t)set->group->size;
	size_t balanced = torus_balanced_bytes(comms_costs_between_nodes());
	bool windows = !levels || fits_windows(levels, set->group->size, a->bytes), lines, links;
	struct torus_topology *topology;

	if (!set->team || set->group->on_node || alltoall_algorithm == DIRECT ||
	    (alltoall_algorithm == AUTO && torus_job_logical(comms_ensure_torus())) || !nodes_are_alike(levels))
		return DIRECT;
	set_prepare_topology(set);
	topology = set->team->topology;
	if (!topology)
		return DIRECT;
	set_check_cables_before(set, sent);
	lines = windows && !a->strided && torus_exchange_most(topology) > 0;
	links = set_reaches_all_here(set, a->dest, a->source) && torus_links_alltoall_most(topology) > 0;
	if (alltoall_algorithm == LINES)
		return lines ? LINES : DIRECT;
	if (alltoall_algorithm == LINKS)
		return links ? LINKS : DIRECT;
	lines = lines && sent <= LINES_UP_TO * balanced;
	links = links && (!topology->whole || a->strided || sent > LINKS_FROM * balanced);
	if (alltoall_algorithm == TORUS)
		return links ? LINKS : lines ? LINES : DIRECT;
	return fastest(a, members, lines, links, windows);
}

static void take_lines(struct alltoall *a)
{
	size_t members = a->set->group->levels ? (size_t)node_size(a->set->group->levels, 0) : 1;
	size_t each = members * members * a->bytes, most = torus_exchange_most(a->set->team->topology);

	a->topology = a->set->team->topology;
	a->exchanged = a->set->team->exchanges;
	a->set->team->exchanges += (each + most - 1) / most;
}

static void alltoall_of_blocks(struct alltoall *a)
{
	const struct set *set = a->set;
	enum alltoall_algorithm algorithm;

	comms_group_prepare(set->group);
	algorithm = agree_on_algorithm(a);
	if (algorithm == LINKS) {
		set_alltoall_by_links(set,
				      &(struct set_blocks){a->dest, a->source, a->bytes, a->bytes, a->bytes, a->bytes});
		return;
	}
	if (algorithm == LINES)
		take_lines(a);
	if (set->team && set->group->levels && fits_windows(set->group->levels, set->group->size, a->bytes)) {
		a->number = ++set->team->alltoalls;
		alltoall_by_nodes(a);
	} else if (a->topology)
		alltoall_on_torus(a, a->source, a->dest, a->bytes);
	else
		set_exchange_blocks(set, a->dest, a->source, a->bytes, a->bytes);
}

void set_alltoall_unchecked(const struct set *set, void *dest, const void *source, size_t bytes)
{
	alltoall_of_blocks(&(struct alltoall){.set = set, .dest = dest, .source = source, .bytes = bytes});
}

bool set_may_take_links(const struct set *set)
{
	if (!set->team || set->group->on_node || set->group->levels || alltoall_algorithm == DIRECT ||
	    alltoall_algorithm == LINES || (alltoall_algorithm == AUTO && torus_job_logical(comms_ensure_torus())))
		return false;
	set_prepare_topology(set);
	return set->team->topology && torus_links_alltoall_most(set->team->topology) > 0;
}

bool set_prefers_links(const struct set *set, size_t longest, size_t sent)
{
	const struct torus_topology *topology = set->team->topology;
	size_t each = sent / (size_t)set->group->size, balanced = torus_balanced_bytes(comms_costs_between_nodes());
	struct torus_costs by_routes;

	set_check_cables_before(set, sent);
	if (torus_links_alltoall_most(set->team->topology) == 0)
		return false;
	if (alltoall_algorithm == LINKS)
		return true;
	if (topology->whole && sent <= LINKS_FROM * balanced)
		return false;
	if (alltoall_algorithm == TORUS)
		return true;
	by_routes = torus_topology_route_costs(topology);
	return torus_links_seconds(&topology->sites.shape, topology->lines, longest, &topology->costs) <
	       torus_direct_seconds(&topology->sites.shape, each, 1, &by_routes);
}

void set_alltoall(const struct set *set, void *dest, const void *source, size_t bytes)
{
	struct alltoall a = {.set = set, .dest = dest, .source = source, .bytes = bytes};

	set_note(set, dest, (size_t)set->group->size * bytes, source, (size_t)set->group->size * bytes);
	set_check_agreement(set, "the number of bytes", (long)bytes, NULL, 0, dest);
	if (bytes == 0 || rte_is_broken() ||
	    !comms_check_symmetric(dest, (size_t)set->group->size * bytes, "dest", set->routine))
		return;
	set_check_overlap(set, (struct set_span){dest, (size_t)set->group->size * bytes},
			  (struct set_span){source, (size_t)set->group->size * bytes}, false);
	if (!rte_is_broken())
		alltoall_of_blocks(&a);
}

struct strided {
	const struct set *set;
	char *dest;
	const char *source;
	size_t dst, sst, size, count; /* strides and size in bytes */
};

/* Puts elements straight into place. For members that store to each other. */
static void put_all_strided(const struct strided *x)
{
	int n = x->set->group->size, me = x->set->group->me;

	for (int i = 0; i < n; i++) {
		int to = (me + i) % n;
		const char *from = x->source + (size_t)to * x->count * x->sst;
		char *at = x->dest + (size_t)me * x->count * x->dst;

		for (size_t e = 0; e < x->count; e++)
			comms_put_nbi(at + e * x->dst, from + e * x->sst, x->size, set_pe(x->set, to), x->set->routine);
	}
	set_finish(x->set);
}

static void copy_strided(char *to, size_t to_step, const char *from, size_t from_step, size_t size, size_t count)
{
	for (size_t e = 0; e < count; e++)
		memcpy(to + e * to_step, from + e * from_step, size);
}

/*
 * In each iteration, packs as many elements for each member as a window holds, puts them to that
 * member, and unpacks what has arrived. Every member's scratch has a window for each member that
 * puts to it.
 */
static void exchange_windows(const struct strided *x, size_t window)
{
	int n = x->set->group->size, me = x->set->group->me;
	char *windows = team_scratch(x->set->team)->window, *packed = malloc(window);
	size_t most = window / x->size;

	if (!packed)
		rte_die(x->set->routine, "no memory for a buffer of %zu bytes", window);
	set_sync(x->set); /* what the scratch held before has been read */
	for (size_t done = 0; done < x->count; done += most) {
		size_t now = x->count - done < most ? x->count - done : most;

		for (int i = 0; i < n; i++) {
			int to = (me + i) % n;

			copy_strided(packed, x->size, x->source + ((size_t)to * x->count + done) * x->sst, x->sst,
				     x->size, now);
			comms_put(windows + (size_t)me * window, packed, now * x->size, set_pe(x->set, to),
				  x->set->routine);
		}
		set_finish(x->set);
		for (int i = 0; i < n; i++)
			copy_strided(x->dest + ((size_t)i * x->count + done) * x->dst, x->dst,
				     windows + (size_t)i * window, x->size, x->size, now);
		set_sync(x->set);
	}
	free(packed);
}

void set_alltoalls(const struct set *set, void *dest, const void *source, struct set_strided elements)
{
	size_t size = elements.size, count = elements.count;
	ptrdiff_t dst = elements.dst, sst = elements.sst;
	struct strided x = {set, dest, source, (size_t)dst * size, (size_t)sst * size, size, count};
	struct alltoall a = {.set = set,
			     .dest = dest,
			     .source = source,
			     .bytes = count * size,
			     .strided = dst != 1 || sst != 1};
	size_t window = sizeof((struct scratch *)NULL)->window / (size_t)set->group->size / size * size;

	set_note(set, dest, (size_t)set->group->size * count * x.dst, source, (size_t)set->group->size * count * x.sst);
	set_check_agreement(set, "nelems", (long)count, "dst", dst, dest);
	set_check_agreement(set, "sst", sst, NULL, 0, dest);
	if (count == 0 || rte_is_broken())
		return;
	if (dst < 1 || sst < 1)
		rte_misuse(set->routine, "dst=%td, sst=%td: a stride must be at least 1", dst, sst);
	else
		comms_check_symmetric(dest, ((size_t)set->group->size * count - 1) * x.dst + size, "dest",
				      set->routine);
	if (dst == 1 && sst == 1) /* otherwise elements may lie between elements */
		set_check_overlap(set, (struct set_span){dest, (size_t)set->group->size * count * size},
				  (struct set_span){source, (size_t)set->group->size * count * size}, false);
	if (rte_is_broken())
		return;
	comms_group_prepare(set->group);
	if (dst == 1 && sst == 1)
		alltoall_of_blocks(&a);
	else if (agree_on_algorithm(&a) == LINKS)
		set_alltoall_by_links(set, &(struct set_blocks){dest, source, a.bytes, size, x.dst, x.sst});
	else if (set->team && !set->group->on_node && window > size)
		exchange_windows(&x, window);
	else
		put_all_strided(&x);
}
