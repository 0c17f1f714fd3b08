/* SPDX-License-Identifier: BSD-3-Clause */
#include "vectors.h"

#include <stdlib.h>
#include <string.h>

size_t vectors_bytes(const struct set *set, size_t count, shmemx_type_t type)
{
	size_t size = set_type_size(type);

	if (size == 0)
		rte_misuse_together(set->routine, "type=%d is no type; pass SHMEMX_INT, SHMEMX_DOUBLE and the like",
				    (int)type);
	return count * size;
}

size_t vectors_counted(shmem_team_t team, const size_t *counts, shmemx_type_t type, bool all)
{
	struct shmemx_team *t = comms.n_pes > 0 && counts ? api_team(team, "shmemx_alltoallv") : NULL;
	size_t sum = 0;

	for (int i = 0; t && i < t->group.size; i++)
		if (all || i == t->group.me)
			sum += counts[i];
	return sum * set_type_size(type);
}

void vectors_check_root(const struct set *set, int root)
{
	if (root < 0 || root >= set->group->size)
		rte_misuse_together(set->routine, "PE_root=%d: there are PEs 0 to %d", root, set->group->size - 1);
}

static void add_block(struct vector *vector, int i)
{
	size_t bytes = vector->bytes[i], end = vector->at[i] + bytes;

	vector->sum += bytes;
	if (bytes > vector->longest)
		vector->longest = bytes;
	if (bytes > 0 && end > vector->end)
		vector->end = end;
}

static struct vector vector_of_size(const struct set *set)
{
	size_t n = (size_t)set->group->size;
	struct vector vector = {.at = calloc(2 * n, sizeof *vector.at)};

	if (!vector.at)
		rte_die(set->routine, "no memory for the blocks of %zu PEs", n);
	vector.bytes = vector.at + n;
	return vector;
}

struct vector vector_make(const struct set *set, const struct vector_arguments *arguments)
{
	int n = set->group->size;
	struct vector vector = vector_of_size(set);
	size_t size = vectors_bytes(set, 1, arguments->type);

	if (!arguments->counts)
		rte_misuse_together(set->routine, "the counts of %s are NULL; pass an array with a count for each PE",
				    arguments->what);
	for (int i = 0; i < n && !rte_is_broken(); i++) {
		vector.bytes[i] = arguments->counts[i] * size;
		vector.at[i] = arguments->displs ? arguments->displs[i] * size : vector.sum;
		add_block(&vector, i);
	}
	return vector;
}

struct vector vector_of_equal(const struct set *set, size_t bytes, size_t step, int only)
{
	struct vector vector = vector_of_size(set);

	for (int i = 0; i < set->group->size; i++) {
		vector.bytes[i] = only < 0 || i == only ? bytes : 0;
		vector.at[i] = (size_t)i * step;
		add_block(&vector, i);
	}
	return vector;
}

struct vector vector_copy(const struct set *set, const struct vector *vector)
{
	struct vector copy = *vector, memory = vector_of_size(set);

	copy.at = memory.at;
	copy.bytes = memory.bytes;
	memcpy(copy.at, vector->at, 2 * (size_t)set->group->size * sizeof *copy.at);
	return copy;
}

void vector_free(struct vector *vector)
{
	free(vector->at);
}

long vector_checksum(const struct vector *blocks, int n)
{
	uint64_t hash = 5381;

	for (int i = 0; i < n; i++) {
		hash = hash * 33 + blocks->bytes[i];
		hash = hash * 33 + (blocks->bytes[i] > 0 ? blocks->at[i] : 0);
	}
	return (long)(hash >> 1);
}

void vectors_check_pair(const struct vector_pair *pair)
{
	const struct set *set = pair->set;
	size_t size = set_type_size(pair->type);

	if (pair->bytes == pair->theirs || rte_is_broken())
		return;
	api_let_lower_speak(set_pe(set, pair->member));
	if (pair->counted)
		rte_misuse(set->routine,
			   "source_counts[%d] is %zu here, and dest_counts[%d] is %zu on PE %d of the team; "
			   "both must be the same number of elements",
			   pair->member, pair->bytes / size, set->group->me, pair->theirs / size, pair->member);
	else
		rte_misuse(
			set->routine,
			"this PE passes %zu elements for PE %d of the team, which passes %zu; both must be the same number",
			pair->bytes / size, pair->member, pair->theirs / size);
}

struct vectors_rooted vectors_gather(const struct set *set, size_t nelems, shmemx_type_t type, int root)
{
	size_t bytes = vectors_bytes(set, nelems, type);

	vectors_check_root(set, root);
	return (struct vectors_rooted){vector_of_equal(set, set->group->me == root ? bytes : 0, bytes, -1),
				       vector_of_equal(set, bytes, 0, root)};
}

struct vectors_rooted vectors_scatter(const struct set *set, size_t nelems, shmemx_type_t type, int root)
{
	struct vectors_rooted gather = vectors_gather(set, nelems, type, root);

	return (struct vectors_rooted){gather.from, gather.to};
}
