/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of collectives on a torus: how many nodes a job has, and shapes with so many places. */
#ifndef TESTS_LIB_BOXES_H
#define TESTS_LIB_BOXES_H

#include "check.h"

static inline int count_nodes(void)
{
	int *most = symmetric(2 * sizeof *most);

	most[0] = shmem_team_n_pes(SHMEM_TEAM_SHARED);
	shmem_int_max_reduce(SHMEM_TEAM_WORLD, &most[1], &most[0], 1);
	return (npes + most[1] - 1) / most[1];
}

/* Some shape of a number of nodes: the i-th factorisation into three, with random marks. */
static inline bool write_shape(char *text, int nodes, int i)
{
	for (int a = 1; a <= nodes; a++)
		for (int b = 1; a * b <= nodes; b++) {
			int size[3] = {a, b, nodes / (a * b)}, length = 0;

			if (a * b * size[2] != nodes || i-- > 0)
				continue;
			for (int axis = 0; axis < 3; axis++) {
				const char *mark = noise((uint64_t)(nodes * 100 + a * 10 + b + axis)) % 3 ? "" : "m";

				if (size[axis] <= 2)
					mark = size[axis] == 2 && noise((uint64_t)(a + axis)) % 2 ? "d" : "";
				length += sprintf(text + length, "%s%d%s", axis ? "x" : "", size[axis], mark);
			}
			return true;
		}
	return false;
}

#endif
