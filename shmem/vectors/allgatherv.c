/* SPDX-License-Identifier: BSD-3-Clause */
/* All-gather of blocks whose sizes all members know, by the algorithms of shmem/gather.c. */
#include "shmem/gather.h"
#include "vectors.h"

static void check_arguments(const struct set *set, const struct vector *blocks, void *dest, const void *source)
{
	int me = set->group->me;
	size_t bytes = blocks->bytes[me];

	set_note(set, dest, blocks->end, source, bytes);
	comms_check_on_host(source, "source", set->routine);
	set_check_agreement(set, "the sum of the blocks in bytes", (long)blocks->sum,
			    "the checksum of counts and displacements", vector_checksum(blocks, set->group->size),
			    dest);
	if (blocks->sum == 0)
		return;
	if (!comms_check_symmetric(dest, blocks->end, "dest", set->routine))
		return;
	if (source != (char *)dest + blocks->at[me])
		set_check_overlap(set, (struct set_span){dest, blocks->end}, (struct set_span){source, bytes}, false);
}

API int shmemx_allgatherv(shmem_team_t team, void *dest, const void *source, const size_t *counts, const size_t *displs,
			  shmemx_type_t type)
{
	COMMS_CALL_OR(1, __func__, vectors_counted(team, counts, type, false), COMMS_NOBODY);
	struct set set = set_of_team(team, __func__);
	struct vector blocks = vector_make(&set, &(struct vector_arguments){counts, displs, type, "dest"});
	struct layout layout = {.at = blocks.at, .last = set.group->size, .bytes = blocks.bytes};

	if (!rte_is_broken())
		check_arguments(&set, &blocks, dest, source);
	if (blocks.sum > 0 && !rte_is_broken())
		gather_blocks(&set, &layout, dest, source);
	vector_free(&blocks);
	return rte_is_broken();
}
