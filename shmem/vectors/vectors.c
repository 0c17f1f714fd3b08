/* SPDX-License-Identifier: BSD-3-Clause */
#include "vectors.h"

#include <stdlib.h>

size_t vectors_bytes(const struct set *set, size_t count, shmemx_type_t type)
{
	size_t size = set_type_size(type);

	if (size == 0)
		rte_die_together(set->routine, "type=%d is no type; pass SHMEMX_INT, SHMEMX_DOUBLE and the like",
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
		rte_die_together(set->routine, "PE_root=%d: there are PEs 0 to %d", root, set->group->size - 1);
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

struct vector vector_make(const struct set *set, const struct vector_arguments *arguments)
{
	int n = set->group->size;
	struct vector vector = {.at = malloc(2 * (size_t)n * sizeof *vector.at)};
	size_t size = vectors_bytes(set, 1, arguments->type);

	if (!vector.at)
		rte_die(set->routine, "no memory for the blocks of %d PEs", n);
	if (!arguments->counts)
		rte_die_together(set->routine, "the counts of %s are NULL; pass an array with a count for each PE",
				 arguments->what);
	vector.bytes = vector.at + n;
	for (int i = 0; i < n; i++) {
		vector.bytes[i] = arguments->counts[i] * size;
		vector.at[i] = arguments->displs ? arguments->displs[i] * size : vector.sum;
		add_block(&vector, i);
	}
	return vector;
}

void vector_free(struct vector *vector)
{
	free(vector->at);
}
