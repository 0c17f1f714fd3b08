/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gpu_mistake NAME: makes one mistake with memory of a GPU, on the last PE if it is a matter of one
 * PE. For gpu.bats.
 */
#include <shmemg.h>
#include <shmemx.h>
#include <stdio.h>
#include <string.h>

#include "../gpu/device.h"

static const char *mistake;
static long word, *there;

static int is(const char *name)
{
	return !strcmp(mistake, name);
}

/* The others wait at a barrier meanwhile. */
static void of_one(void)
{
	char *bytes = (char *)there;

	if (is("dest-private"))
		shmem_long_put(device_alloc(64), &word, 1, 0);
	else if (is("source-private"))
		shmem_long_get(&word, device_alloc(64), 1, 0);
	else if (is("beyond"))
		shmem_putmem(bytes, bytes, (size_t)1 << 40, 0);
	else if (is("strided-beyond"))
		shmem_long_iput(there, there, 1 << 20, 1, 1000, 0);
	else if (is("misaligned"))
		shmem_long_atomic_add((long *)(void *)(bytes + 4), 1, 0);
	else if (is("no-pe"))
		shmem_long_p(there, 1, 99);
	else if (is("lock"))
		shmem_set_lock(there);
	else if (is("free"))
		shmemg_free(there + 1);
}

static void of_all(void)
{
	shmemx_plan_t plan;
	const shmemx_neighbour_t edge = {.pe = shmem_my_pe(),
					 .source = there,
					 .send_bytes = 8,
					 .dest = there + 1,
					 .receive_bytes = 8};
	const size_t counts[] = {1, 1}, places[] = {0, 1};

	if (is("plan"))
		shmemx_allreduce_init(SHMEM_TEAM_WORLD, there, there + 8, 4, SHMEMX_LONG, SHMEMX_SUM, SHMEMX_PLAN_AUTO,
				      &plan);
	else if (is("neighbours"))
		shmemx_neighbours_init(SHMEM_TEAM_WORLD, &edge, 1, SHMEMX_PLAN_AUTO, &plan);
	else if (is("psync"))
		shmem_barrier(0, 0, shmem_n_pes(), there);
	else if (is("gather"))
		shmemx_gather(SHMEM_TEAM_WORLD, there, there + 8, 1, SHMEMX_LONG, 0);
	else if (is("allgatherv"))
		shmemx_allgatherv(SHMEM_TEAM_WORLD, there, there + 8, counts, places, SHMEMX_LONG);
	else if (is("too-large"))
		printf("%d\n", shmemg_malloc((size_t)1 << 40) == NULL);
	else if (is("align"))
		shmemg_align(3, 64);
	else if (is("context")) {
		shmem_ctx_t kernels;

		printf("%d\n", shmem_ctx_create(SHMEM_DEVICE_CTX, &kernels) != 0 && kernels == SHMEM_CTX_INVALID);
	}
}

int main(int argc, char *argv[])
{
	int provided;

	mistake = argc > 1 ? argv[1] : "";
	if (strstr(mistake, "private"))
		device_start();
	if (is("not-requested"))
		shmem_init();
	else
		shmem_init_thread(SHMEM_THREAD_SINGLE | SHMEM_DEVICE_HOST_INIT | SHMEM_DEVICE_KERNEL_INIT, &provided);
	if (is("provided")) {
		printf("%d\n", provided);
		shmem_long_p(&word, 1, 0); /* the program goes on */
		shmem_finalize();
		return 0;
	}
	there = shmemg_malloc(4096);
	of_all();
	if (shmem_my_pe() == shmem_n_pes() - 1)
		of_one();
	shmem_barrier_all();
	shmem_finalize();
	return 0;
}
