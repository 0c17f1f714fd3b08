/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collect, fcollect and alltoall.
 *
 * On a node each member puts its block straight to all others. Between nodes, a node's blocks are first put together in its
 * leader's dest. The leaders exchange what they have: little data in rounds, each time with a leader twice as far;
 * much along a ring, so that every link between neighbours is busy and carries everything once. Then the members
 * copy their leader's dest. Blocks lie where they belong from the beginning, so nothing is rearranged.
 */
#include "collectives.h"

#include <stdlib.h>
#include <string.h>

#define RING_FROM 65536 /* bytes of a whole dest */

/* Where the block of each member lies in dest: all of one size, or at[i] to at[i + 1]. */
struct layout {
	size_t each;
	const size_t *at;
	int first, last; /* only the members in this range have one */
};

static size_t block_at(const struct layout *layout, int i)
{
	return layout->at ? layout->at[i] : (size_t)(i - layout->first) * layout->each;
}

static size_t block_bytes(const struct layout *layout, int i)
{
	if (i < layout->first || i >= layout->last)
		return 0;
	return layout->at ? layout->at[i + 1] - layout->at[i] : layout->each;
}

static size_t layout_bytes(const struct layout *layout)
{
	return layout->at ? layout->at[layout->last] - layout->at[layout->first]
			  : (size_t)(layout->last - layout->first) * layout->each;
}

/* Puts the blocks of one node's members into the same place of another leader's dest, neighbouring ones together. */
static void put_blocks_of(const struct set *set, const struct layout *layout, char *dest, int node, int pe)
{
	const struct comms_levels *levels = set->group->levels;
	int i = levels ? levels->first[node] : node, end = levels ? levels->first[node + 1] : node + 1;

	while (i < end) {
		int place = levels ? levels->places[i] : i, next = place;
		size_t bytes = 0;

		for (; i < end && (levels ? levels->places[i] : i) == next; i++, next++)
			bytes += block_bytes(layout, next);
		if (bytes > 0) {
			size_t at = block_at(layout, place < layout->first ? layout->first : place);

			comms_put(dest + at, dest + at, bytes, pe, set->routine);
		}
	}
}

/* After the round of 1, 2, 4, ... the leader has the blocks of so many nodes from its own on. */
static void exchange_in_rounds(const struct set *set, const struct set *leaders, const struct layout *layout, char *dest)
{
	_Atomic uint64_t *word = team_scratch(set->team)->gathered;
	int n = leaders->group->size, me = leaders->group->me;

	for (int have = 1; have < n; have = have < n - have ? 2 * have : n, word++) {
		int count = have < n - have ? have : n - have, to = set_pe(leaders, (me + n - have) % n);

		for (int i = 0; i < count; i++)
			put_blocks_of(set, layout, dest, (me + i) % n, to);
		comms_tell(NULL, NULL, 0, word, set->team->gathers, to, set->routine);
		hear(word, set->team->gathers);
	}
}

static void exchange_along_ring(const struct set *set, const struct set *leaders, const struct layout *layout,
				char *dest)
{
	_Atomic uint64_t *word = &team_scratch(set->team)->gathered[ROUNDS];
	int n = leaders->group->size, me = leaders->group->me, to = set_pe(leaders, (me + n - 1) % n);

	for (int step = 1; step < n; step++) {
		uint64_t count = set->team->gathers << 24 | (uint64_t)step;

		put_blocks_of(set, layout, dest, (me + step - 1) % n, to);
		comms_tell(NULL, NULL, 0, word, count, to, set->routine);
		hear(word, count);
	}
}

struct exchange {
	const struct set *set;
	const struct layout *layout;
	char *dest;
};

static void exchange(void *argument)
{
	const struct exchange *x = argument;
	struct set leaders = set_of_leaders(x->set);

	if (layout_bytes(x->layout) < RING_FROM)
		exchange_in_rounds(x->set, &leaders, x->layout, x->dest);
	else
		exchange_along_ring(x->set, &leaders, x->layout, x->dest);
}

static void gather_on_nodes(const struct set *set, const struct layout *layout, char *dest, const void *source)
{
	const struct comms_levels *levels = set->group->levels;
	int leader = levels ? comms_group_pe(&levels->node, 0) : comms.pe;
	struct exchange x = {set, layout, dest};
	size_t bytes = block_bytes(layout, set->group->me), first = block_at(layout, layout->first);

	if (bytes > 0)
		comms_put(dest + block_at(layout, set->group->me), source, bytes, leader, set->routine);
	if (levels && !comms_shared(comms_find_segment(dest)))
		comms_quiet();
	set->team->gathers++;
	comms_meet_node(set->group, exchange, &x);
	if (leader == comms.pe) {
		comms_meet_node(set->group, NULL, NULL);
		return;
	}
	comms_get(dest + first, dest + first, layout_bytes(layout), leader, set->routine);
	comms_meet_node(set->group, NULL, NULL);
}

/* Everybody puts its block to everybody, beginning with its neighbour so that not all go to one at a time. */
static void push_blocks(const struct set *set, char *dest, const char *source, size_t source_step, size_t bytes)
{
	int n = set->group->size;

	for (int i = 0; bytes > 0 && i < n; i++) {
		int to = (set->group->me + i) % n;

		comms_put_nbi(dest, source + (size_t)to * source_step, bytes, set_pe(set, to), set->routine);
	}
	set_finish(set);
}

static void gather(const struct set *set, const struct layout *layout, void *dest, const void *source)
{
	if (set->team && !set->group->on_node) {
		comms_group_see(set->group);
		gather_on_nodes(set, layout, dest, source);
	} else {
		size_t bytes = block_bytes(layout, set->group->me);

		push_blocks(set, (char *)dest + (bytes > 0 ? block_at(layout, set->group->me) : 0), source, 0, bytes);
	}
}

void set_fcollect(const struct set *set, void *dest, const void *source, size_t bytes)
{
	struct layout layout = {bytes, NULL, 0, set->group->size};

	set_check_agreement(set, "the number of bytes", (long)bytes, NULL, 0, dest);
	if (bytes > 0)
		gather(set, &layout, dest, source);
}

/* How much each member of a team brings, by way of the scratch, as many at a time as it holds. */
static void exchange_counts(const struct set *set, size_t *counts, uint64_t mine)
{
	uint64_t *shown = team_scratch(set->team)->counts;
	int n = set->group->size;

	for (int first = 0; first < n; first += COUNTS) {
		struct layout layout = {sizeof mine, NULL, first, n - first < COUNTS ? n : first + COUNTS};

		if (first > 0)
			set_sync(set);
		gather(set, &layout, shown, &mine);
		for (int i = first; i < layout.last; i++)
			counts[i] = shown[i - first];
	}
}

/* The same without a slot: each shows its count in a word of pSync. */
static void read_counts(const struct set *set, size_t *counts, uint64_t mine)
{
	set->psync[ROUNDS] = (long)mine;
	set_sync(set);
	for (int i = 0; i < set->group->size; i++)
		comms_get(&counts[i], &set->psync[ROUNDS], sizeof counts[i], set_pe(set, i), set->routine);
	set_sync(set);
	set->psync[ROUNDS] = SHMEM_SYNC_VALUE;
}

void set_collect(const struct set *set, void *dest, const void *source, size_t bytes)
{
	int n = set->group->size;
	size_t *at = malloc(((size_t)n + 1) * sizeof *at), sum = 0;
	struct layout layout = {0, at, 0, n};

	if (!at)
		rte_die(set->routine, "no memory for the sizes of %d PEs", n);
	set_check_agreement(set, NULL, 0, NULL, 0, dest);
	if (set->team)
		exchange_counts(set, at, bytes);
	else
		read_counts(set, at, bytes);
	for (int i = 0; i <= n; i++) {
		size_t here = i < n ? at[i] : 0;

		at[i] = sum;
		sum += here;
	}
	if (sum > 0)
		gather(set, &layout, dest, source);
	else
		set_sync(set); /* the scratch is free again */
	free(at);
}

void set_alltoall(const struct set *set, void *dest, const void *source, size_t bytes)
{
	set_check_agreement(set, "the number of bytes", (long)bytes, NULL, 0, dest);
	if (bytes > 0)
		push_blocks(set, (char *)dest + (size_t)set->group->me * bytes, source, bytes, bytes);
}

struct strided {
	const struct set *set;
	char *dest;
	const char *source;
	size_t dst, sst, size, count; /* strides and size in bytes */
};

/* Elements straight into place; for members that store to each other. */
static void put_strided(const struct strided *x)
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

/* Some elements of all members at a time: packed, into the window that each member has in everyone's scratch, and unpacked. */
static void exchange_windows(const struct strided *x, size_t window)
{
	int n = x->set->group->size, me = x->set->group->me;
	char *windows = team_scratch(x->set->team)->piece[0][0], *packed = malloc(window);
	size_t most = window / x->size;

	if (!packed)
		rte_die(x->set->routine, "no memory for a buffer of %zu bytes", window);
	set_sync(x->set); /* what the scratch held before has been read */
	for (size_t done = 0; done < x->count; done += most) {
		size_t now = x->count - done < most ? x->count - done : most;

		for (int i = 0; i < n; i++) {
			int to = (me + i) % n;

			copy_strided(packed, x->size, x->source + ((size_t)to * x->count + done) * x->sst, x->sst, x->size, now);
			comms_put(windows + (size_t)me * window, packed, now * x->size, set_pe(x->set, to), x->set->routine);
		}
		set_finish(x->set);
		for (int i = 0; i < n; i++)
			copy_strided(x->dest + ((size_t)i * x->count + done) * x->dst, x->dst, windows + (size_t)i * window,
				     x->size, x->size, now);
		set_sync(x->set);
	}
	free(packed);
}

void set_alltoalls(const struct set *set, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t size,
		   size_t count)
{
	struct strided x = {set, dest, source, (size_t)dst * size, (size_t)sst * size, size, count};
	size_t window = sizeof((struct scratch *)NULL)->piece / (size_t)set->group->size / size * size;

	set_check_agreement(set, "nelems", (long)count, "dst", dst, dest);
	set_check_agreement(set, "sst", sst, NULL, 0, dest);
	if (count == 0)
		return;
	if (dst < 1 || sst < 1)
		rte_die(set->routine, "dst=%td, sst=%td: a stride must be at least 1", dst, sst);
	comms_check_symmetric(dest, ((size_t)set->group->size * count - 1) * x.dst + size, "dest", set->routine);
	if (set->team && !set->group->on_node && window > size)
		exchange_windows(&x, window);
	else
		put_strided(&x);
}
