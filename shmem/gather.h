/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the algorithms of collect and fcollect. */
#ifndef API_GATHER_H
#define API_GATHER_H

#include "collectives.h"
#include "comms/collectives/torus_allgather.h"

/*
 * The position of each member's block in dest: blocks of one size, or at[i] to at[i + 1], or
 * bytes[i] at at[i], with gaps and in any order.
 */
struct layout {
	size_t each;
	const size_t *at;
	int first, last; /* only members in this range have a block */
	const size_t *bytes;
};

static inline size_t block_at(const struct layout *layout, int i)
{
	return layout->at ? layout->at[i] : (size_t)(i - layout->first) * layout->each;
}

static inline size_t block_bytes(const struct layout *layout, int i)
{
	if (i < layout->first || i >= layout->last)
		return 0;
	if (layout->bytes)
		return layout->bytes[i];
	return layout->at ? layout->at[i + 1] - layout->at[i] : layout->each;
}

static inline size_t layout_bytes(const struct layout *layout)
{
	size_t sum = 0;

	for (int i = layout->first; layout->bytes && i < layout->last; i++)
		sum += layout->bytes[i];
	if (layout->bytes)
		return sum;
	return layout->at ? layout->at[layout->last] - layout->at[layout->first]
			  : (size_t)(layout->last - layout->first) * layout->each;
}

/*
 * Blocks of this leader's dest for the same position of another leader's; adjacent ones leave in
 * one message.
 */
struct parcel {
	const struct set *set;
	const struct layout *layout;
	char *dest;
	int pe;
	size_t at, bytes; /* collected and not sent yet */
	bool begun;	  /* some blocks have been sent */
};

/* Adds the blocks of a node's members. */
void parcel_add_node(struct parcel *parcel, int node);
/* Sends all blocks, and then the flag. The parcel is then empty. */
void parcel_send_with(struct parcel *parcel, struct comms_flag flag);

/*
 * Gathers the members' blocks in everybody's dest. In place: source is this member's block in dest.
 */
void gather_blocks(const struct set *set, const struct layout *layout, void *dest, const void *source);

/*
 * The next adjacent blocks of a node as they lie in dest: from the i-th member of all nodes on,
 * before end.
 */
struct torus_gathering_run gather_next_run(const struct comms_levels *levels, const struct layout *layout, int *i,
					   int end);

/*
 * Do blocks go by the ring schedule of a torus, where each node has one member? A collective: the
 * members agree.
 */
bool gather_agrees_on_torus(const struct set *set, const struct layout *layout);
/* What the members bring, for torus_gather without its number and words. Takes memory. */
struct torus_gathering gather_along_runs(const struct set *set, const struct layout *layout, char *dest);
void gather_free_runs(struct torus_gathering *gathering);

/*
 * On a torus that is not whole: the number of broadcasts in which the trees do it, if they are
 * faster than rounds and one ring, or forced; otherwise 0.
 */
int gather_trees_pay(const struct set *set, const struct layout *layout, struct torus_topology *topology, bool forced);
/* Call on node leaders only. Uses one number of the torus' collectives per broadcast. */
void gather_by_trees(const struct set *set, const struct layout *layout, char *dest, uint64_t number);

bool gather_lines_fit(const struct torus_topology *topology);
void gather_by_lines(const struct set *set, const struct layout *layout, char *dest);

#endif
