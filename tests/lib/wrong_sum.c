/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library with a fault, for LD_PRELOAD: sums of long are one too large. Tests of oshverify are to
 * see its report turn red.
 */
#include <pshmem.h>

int shmem_long_sum_reduce(shmem_team_t team, long *to, const long *from, size_t count)
{
	int result = pshmem_long_sum_reduce(team, to, from, count);

	if (count > 0)
		to[0]++;
	return result;
}
