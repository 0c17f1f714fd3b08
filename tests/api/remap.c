/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=1 ucx-tcp=2 */
/*
 * comms/core/globals.c moves memory by the system call mremap, for some versions of UCX put a hook
 * into glibc's that loses the fifth argument. Says whether the UCX at hand does; the system call
 * must be right with each.
 */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/lib/check.h"

#define BYTES 8192

static char *pages(int protection)
{
	char *memory = mmap(NULL, BYTES, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(memory != MAP_FAILED);
	return memory;
}

int main(void)
{
	char *from, *to, *moved;

	begin();
	from = pages(PROT_READ | PROT_WRITE), to = pages(PROT_NONE);
	from[0] = 1;
	CHECK_EQUAL(syscall(SYS_mremap, from, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, to), (intptr_t)to);
	CHECK_EQUAL(to[0], 1);
	from = pages(PROT_READ | PROT_WRITE), to = pages(PROT_NONE);
	from[0] = 2;
	moved = mremap(from, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, to);
	if (me == 0)
		printf("mremap by system call: %s\n",
		       moved == to ? "not needed, glibc's moves to the address given" : "needed, glibc's loses it");
	if (moved == to)
		CHECK_EQUAL(to[0], 2);
	shmem_finalize();
	return 0;
}
