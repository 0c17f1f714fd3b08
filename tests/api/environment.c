/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=2 ucx-tcp=2,4 ucx-shm=2 mixed=4 */
/*
 * Threads may read the environment while the library starts, which tells UCX and libfabric what it
 * chose for them by variables.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/lib/check.h"

enum { VARIABLES = 3000, READERS = 3 };

static atomic_int is_over, wrong;

static void *read_environment(void *unused)
{
	while (!is_over)
		if (!getenv("LAST_ONE") || getenv("NOT_THERE"))
			wrong++;
	return unused;
}

int main(void)
{
	pthread_t readers[READERS];
	char name[32];
	int provided;

	for (int i = 0; i < VARIABLES; i++) {
		snprintf(name, sizeof name, "VARIABLE_%d", i);
		setenv(name, "1", 1);
	}
	setenv("LAST_ONE", "1", 1);
	for (int i = 0; i < READERS; i++)
		pthread_create(&readers[i], NULL, read_environment, NULL);
	shmem_init_thread(SHMEM_THREAD_FUNNELED, &provided);
	me = shmem_my_pe();
	npes = shmem_n_pes();
	is_over = 1;
	for (int i = 0; i < READERS; i++)
		pthread_join(readers[i], NULL);
	CHECK_EQUAL(wrong, 0);
	CHECK(!getenv("UCX_LOG_FILE") && !getenv("FI_OFI_RXM_BUFFER_SIZE"));
	setenv("AFTER", "2", 1);
	CHECK(getenv("AFTER") && getenv("VARIABLE_0"));
	return end();
}
