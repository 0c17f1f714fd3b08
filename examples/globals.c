/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teaches what is symmetric, and what is not.
 *
 * Symmetric memory exists on every PE, and every PE can reach every other's: global and static
 * variables, and what shmem_malloc returns. The stack and malloc belong to one PE alone.
 */
#include <shmem.h>
#include <stdio.h>

#define MOST 64

static int visitors;		/* starts as 0 on every PE */
static int squares[MOST] = {1}; /* initialised data is as good */

int main(void)
{
	int me, n_pes, *inbox;
	int mine; /* private: no other PE can see it, but it may be the source of a put */

	shmem_init();
	me = shmem_my_pe();
	n_pes = shmem_n_pes();

	/* Every PE must make this call, with the same size. */
	inbox = shmem_malloc((size_t)n_pes * sizeof *inbox);

	/* Each PE writes one place of an array of PE 0, and of the heap of every PE. */
	mine = me * me;
	if (me < MOST)
		shmem_int_p(&squares[me], mine, 0);
	for (int pe = 0; pe < n_pes; pe++)
		shmem_int_p(&inbox[me], 100 * me + pe, pe);
	shmem_int_atomic_inc(&visitors, 0);

	shmem_barrier_all(); /* all that was put is there, on all PEs */

	if (me == 0) {
		printf("%d visitors; squares:", visitors);
		for (int pe = 0; pe < n_pes && pe < MOST; pe++)
			printf(" %d", squares[pe]);
		printf("\n");
	}
	if (me == n_pes - 1)
		printf("PE %d received from PE 0: %d, from itself: %d; it counts %d visitors of its own\n", me,
		       inbox[0], inbox[me], visitors);

	shmem_free(inbox);
	shmem_finalize();
	return 0;
}
