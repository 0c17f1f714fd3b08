/* SPDX-License-Identifier: BSD-3-Clause */
/* timed puts COUNT PE: so many puts of 8 bytes to it, one after the other. timed broadcast BYTES: one, as a plan. For tofu.bats, which replays both. */
#include <shmemx.h>
#include <stdlib.h>
#include <string.h>

static void puts_of_eight(long count, int pe)
{
	static long word;

	for (long i = 0; shmem_my_pe() == 0 && i < count; i++) {
		shmem_long_p(&word, i, pe);
		shmem_quiet();
	}
}

static int broadcast(size_t bytes)
{
	char *dest = shmem_calloc(bytes, 1), *source = shmem_malloc(bytes);
	shmemx_plan_t plan;

	memset(source, 7, bytes);
	shmemx_broadcast_init(SHMEM_TEAM_WORLD, dest, source, bytes, 0, SHMEMX_PLAN_CARD, &plan);
	shmemx_plan_start(plan);
	shmemx_plan_wait(plan);
	return dest[0] == 7 && dest[bytes - 1] == 7 ? 0 : 1;
}

int main(int argc, char **argv)
{
	int wrong = argc < 3;

	shmem_init();
	if (argc == 4)
		puts_of_eight(atol(argv[2]), atoi(argv[3]));
	else if (argc == 3)
		wrong = broadcast(strtoul(argv[2], NULL, 10));
	shmem_finalize();
	return wrong;
}
