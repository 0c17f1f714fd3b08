/* SPDX-License-Identifier: BSD-3-Clause */
/* How programs began before 1.2: start_pes, and no finalize. */
#include "tests/lib/check.h"

static int from_left = -1;

int main(void)
{
	start_pes(0);
	start_pes(99); /* no effect */
	me = _my_pe();
	npes = _num_pes();
	CHECK(npes >= 1 && npes < 99);
	shmem_int_p(&from_left, me, (me + 1) % npes);
	shmem_barrier_all();
	CHECK_EQUAL(from_left, (me + npes - 1) % npes);
	return 0;
}
