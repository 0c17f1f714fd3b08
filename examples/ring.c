/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teaches a one-sided store (shmem_long_p) and how the PE it goes to waits for it. Nobody calls
 * "receive".
 *
 * A token goes round a ring of PEs; everybody adds one to it.
 */
#include <shmem.h>
#include <stdio.h>

/*
 * Global variables are symmetric: every PE has its own, and any PE can reach the one of any other
 * by the name it has here.
 */
static long token = 0;

int main(void)
{
	const int rounds = 3;
	int me, n_pes, next;

	shmem_init();
	me = shmem_my_pe();
	n_pes = shmem_n_pes();
	next = (me + 1) % n_pes;

	for (long round = 0; round < rounds; round++) {
		/* PE 0 starts each round; the others pass on what comes, plus one. */
		long expected = round * n_pes + me;

		if (me > 0)
			shmem_long_wait_until(&token, SHMEM_CMP_EQ, expected);
		shmem_long_p(&token, expected + 1, next);
		if (me == 0) {
			shmem_long_wait_until(&token, SHMEM_CMP_EQ, (round + 1) * n_pes);
			printf("round %ld: the token came back as %ld\n", round + 1, token);
		}
	}
	shmem_finalize();
	return 0;
}
