/* SPDX-License-Identifier: BSD-3-Clause */
/* run: exit=9 */
/* One PE ends the job, whatever the others are doing: computing, waiting, standing at a barrier. */
#include "tests/lib/check.h"

static long never;

int main(void)
{
	begin();
	if (me == npes - 1) {
		sleep_for(0.1);
		shmem_global_exit(9);
	}
	/* No call, and nothing for the compiler to take away. */
	if (me == 0)
		for (;;)
			__asm__ volatile("");
	if (me == 1)
		shmem_long_wait_until(&never, SHMEM_CMP_NE, 0);
	shmem_barrier_all();
	CHECK(!"reached");
}
