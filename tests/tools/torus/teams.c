/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * teams PES APART: disjoint teams of so many PEs, so far apart, broadcast 100 KB from their first
 * one to the others.
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES 100000

int main(int argc, char **argv)
{
	int length = argc > 1 ? atoi(argv[1]) : 1, apart = argc > 2 ? atoi(argv[2]) : 1, right = 1;
	shmem_team_t team, mine = SHMEM_TEAM_INVALID;
	unsigned char *data;

	shmem_init();
	data = shmem_malloc(BYTES);
	for (int block = 0; block + length * apart <= shmem_n_pes(); block += length * apart)
		for (int i = 0; i < apart; i++) {
			shmem_team_split_strided(SHMEM_TEAM_WORLD, block + i, apart, length, NULL, 0, &team);
			mine = team == SHMEM_TEAM_INVALID ? mine : team;
		}
	memset(data, shmem_team_my_pe(mine) == 0 ? 7 : 1, BYTES);
	shmem_barrier_all();
	shmem_broadcastmem(mine, data, data, BYTES, 0);
	for (int i = 0; i < BYTES; i++)
		right &= data[i] == 7;
	if (!right)
		printf("PE %d: the data is wrong\n", shmem_my_pe());
	shmem_finalize();
	return !right;
}
