/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=2,4,8 ucx-tcp=3,8 mixed=4,8 */
/*
 * The very first thing that all PEs do is to talk to all PEs at once, each kind of operation to
 * another one first: peers get to know each other in the middle of everybody else's first contact.
 */
#include "tests/lib/check.h"

#define ROOM 64
static long from[ROOM], counter, answers[ROOM];
static const long constant_of_pe = 5;
static long own_number = -1;

int main(void)
{
	begin();
	CHECK(npes <= ROOM);
	own_number = 100 + me;
	for (int i = 0; i < npes; i++) {
		int pe = (me + i) % npes;

		switch ((me + i) % 4) {
		case 0: shmem_long_p(&from[me], me + 1, pe); break;
		case 1: answers[pe] = shmem_long_atomic_fetch_inc(&counter, pe); break;
		case 2: shmem_long_put_nbi(&from[me], &constant_of_pe, 1, pe); break;
		case 3: shmem_long_get(&answers[pe], &own_number, 1, pe); break;
		}
	}
	shmem_barrier_all();
	for (int i = 0; i < npes; i++) { /* who did what to me? */
		int pe = (me - i + npes) % npes;
		long expected = (pe + i) % 4 == 0 ? pe + 1 : (pe + i) % 4 == 2 ? constant_of_pe : 0;

		CHECK_EQUAL(from[pe], expected);
		if ((me + i) % 4 == 1)
			CHECK(answers[(me + i) % npes] < npes);
		if ((me + i) % 4 == 3) {
			long answer = answers[(me + i) % npes];

			/* -1: asked before it was set. */
			CHECK(answer == 100 + (me + i) % npes || answer == -1);
		}
	}
	return end();
}
