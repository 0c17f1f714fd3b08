/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Alltoall of blocks that differ in size and position. Members first send each other the place and
 * the length of a block in dest, and how much they send in all. Then each member puts its blocks
 * there, or, on a torus with one member to a node, blocks go from neighbour to neighbour as those
 * of an alltoall do (comms/collectives/torus_links_alltoall.h): as if all were as long as the
 * longest one.
 */
#include <stdlib.h>
#include <string.h>

#include "comms/collectives/torus_links_alltoall.h"
#include "vectors.h"

/* What a member shows each sender: its block, and what it sends itself, for the choice. */
struct place {
	size_t at, bytes;
	size_t longest, sum; /* of the blocks in its source */
};
#define PLACES_AT_ONCE ((int)(ALLTOALL_BYTES / sizeof(struct place)))

struct alltoallv {
	const struct set *set;
	struct linked_blocks blocks;
	struct place *there; /* by member: where this member's block goes in its dest */
};

/*
 * The window is free when this begins: each collective that uses it ends after all members have
 * read it. Large teams exchange for as many senders at a time as it has room for.
 */
static void exchange_places(const struct alltoallv *a, const struct place *mine)
{
	const struct set *set = a->set;
	struct place *window = (struct place *)(void *)team_scratch(set->team)->window;
	int n = set->group->size, me = set->group->me;

	if (n <= PLACES_AT_ONCE) {
		set_alltoall_unchecked(set, window, mine, sizeof *window);
		memcpy(a->there, window, (size_t)n * sizeof *window);
		return;
	}
	for (int first = 0; first < n; first += PLACES_AT_ONCE) {
		int end = n - first < PLACES_AT_ONCE ? n : first + PLACES_AT_ONCE;

		for (int i = 0; i < n && me >= first && me < end; i++)
			comms_put_nbi(&window[me - first], &mine[i], sizeof *window, set_pe(set, i), set->routine);
		set_finish(set);
		memcpy(&a->there[first], window, (size_t)(end - first) * sizeof *window);
		set_sync(set);
	}
}

static void send_places(const struct alltoallv *a, shmemx_type_t type)
{
	int n = a->set->group->size;
	struct place *mine = malloc((size_t)n * sizeof *mine);

	if (!mine)
		rte_die(a->set->routine, "no memory for the blocks of %d PEs", n);
	for (int i = 0; i < n; i++)
		mine[i] = (struct place){a->blocks.to.at[i], a->blocks.to.bytes[i], a->blocks.from.longest,
					 a->blocks.from.sum};
	exchange_places(a, mine);
	for (int i = 0; i < n && !rte_is_broken(); i++)
		vectors_check_pair(
			&(struct vector_pair){a->set, i, a->blocks.from.bytes[i], a->there[i].bytes, type, true});
	free(mine);
}

/* First to itself, then to the next member, and so on, so that not all put to one at a time. */
static void put_blocks(const struct alltoallv *a)
{
	const struct set *set = a->set;
	int n = set->group->size, me = set->group->me;

	for (int i = 0; i < n; i++) {
		int to = (me + i) % n;

		if (a->there[to].bytes > 0)
			comms_put_nbi(a->blocks.dest + a->there[to].at, a->blocks.source + a->blocks.from.at[to],
				      a->there[to].bytes, set_pe(set, to), set->routine);
	}
	set_finish(set);
}

/* Bytes of a block of this length that are among some from `at` on. */
static size_t bytes_within(size_t block, size_t at, size_t bytes)
{
	if (at >= block)
		return 0;
	return block - at < bytes ? block - at : bytes;
}

/* What is beyond the end of a block is filled up. */
void vectors_load(const void *linked_blocks, int member, size_t at, size_t bytes, char *out)
{
	const struct linked_blocks *b = linked_blocks;
	size_t here = bytes_within(b->from.bytes[member], b->done + at, bytes);

	if (here > 0)
		memcpy(out, b->source + b->from.at[member] + b->done + at, here);
	memset(out + here, 0, bytes - here);
}

void vectors_store(const void *linked_blocks, int member, size_t at, size_t bytes, const char *in)
{
	const struct linked_blocks *b = linked_blocks;
	size_t here = bytes_within(b->to.bytes[member], b->done + at, bytes);

	if (here > 0)
		memcpy(b->dest + b->to.at[member] + b->done + at, in, here);
}

static void exchange_by_links(struct alltoallv *a, size_t longest)
{
	struct shmemx_team *team = a->set->team;
	size_t most = torus_links_alltoall_most(team->topology);
	struct torus_links_alltoall alltoall = {.topology = team->topology,
						.words = &team_torus(team)->up,
						.staging = team_torus(team)->staging,
						.load = vectors_load,
						.store = vectors_store,
						.blocks = &a->blocks,
						.routine = a->set->routine};

	for (; a->blocks.done < longest; a->blocks.done += alltoall.bytes) {
		alltoall.number = ++team->torus_collectives;
		alltoall.bytes = longest - a->blocks.done < most ? longest - a->blocks.done : most;
		torus_links_alltoall(&alltoall);
	}
}

/* All members know what all send, so they agree. */
static void move_blocks(struct alltoallv *a)
{
	size_t longest = 0, sum = 0;

	for (int i = 0; i < a->set->group->size; i++) {
		longest = a->there[i].longest > longest ? a->there[i].longest : longest;
		sum = a->there[i].sum > sum ? a->there[i].sum : sum;
	}
	if (longest > 0 && set_may_take_links(a->set) && set_prefers_links(a->set, longest, sum))
		exchange_by_links(a, longest);
	else
		put_blocks(a);
}

static void check_arguments(const struct alltoallv *a)
{
	const struct set *set = a->set;
	struct set_span dest = {a->blocks.dest, a->blocks.to.end}, source = {a->blocks.source, a->blocks.from.end};

	set_note(set, a->blocks.dest, dest.bytes, a->blocks.source, source.bytes);
	comms_check_on_host(a->blocks.source, "source", set->routine);
	set_check_agreement(set, NULL, 0, NULL, 0, a->blocks.dest);
	if (dest.bytes > 0)
		comms_check_symmetric(a->blocks.dest, dest.bytes, "dest", set->routine);
	if (!rte_is_broken())
		set_check_overlap(set, dest, source, false);
}

/* In a broken job nothing moves: lengths of other members may be missing. */
static void exchange_blocks(struct alltoallv *a, shmemx_type_t type)
{
	check_arguments(a);
	if (rte_is_broken())
		return;
	comms_group_prepare(a->set->group);
	send_places(a, type);
	if (!rte_is_broken())
		move_blocks(a);
}

API int shmemx_alltoallv(shmem_team_t team, void *dest, const void *source, const size_t *dest_counts,
			 const size_t *dest_displs, const size_t *source_counts, const size_t *source_displs,
			 shmemx_type_t type)
{
	COMMS_CALL_OR(1, __func__, vectors_counted(team, source_counts, type, true), COMMS_NOBODY);
	struct set set = set_of_team(team, __func__);
	struct alltoallv a = {
		.set = &set,
		.blocks = {.dest = dest,
			   .source = source,
			   .to = vector_make(&set, &(struct vector_arguments){dest_counts, dest_displs, type, "dest"}),
			   .from = vector_make(&set, &(struct vector_arguments){source_counts, source_displs, type,
										"source"})},
	};

	a.there = malloc((size_t)set.group->size * sizeof *a.there);
	if (!a.there)
		rte_die(__func__, "no memory for the blocks of %d PEs", set.group->size);
	if (!rte_is_broken())
		exchange_blocks(&a, type);
	free(a.there);
	vector_free(&a.blocks.to);
	vector_free(&a.blocks.from);
	return rte_is_broken();
}
