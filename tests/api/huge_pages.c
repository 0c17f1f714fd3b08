/* SPDX-License-Identifier: BSD-3-Clause */
/* run: pes=1,2 paths=local,ucx-tcp,hosts */
/*
 * A PE whose heap nobody else maps has it in huge pages wherever the kernel gives them to private
 * memory.
 */
#include <sys/mman.h>

#include "tests/lib/check.h"
#include "tests/lib/huge.h"

/*
 * What /proc/self/smaps has under a name for the mapping that an address lies in, in KiB; -1:
 * nothing.
 */
static long fact(const void *address, const char *format)
{
	FILE *file = fopen("/proc/self/smaps", "re");
	char line[512];
	bool here = false;
	long found = -1;

	while (file && found < 0 && fgets(line, sizeof line, file)) {
		unsigned long start, end;

		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			here = (unsigned long)(uintptr_t)address - start < end - start;
		else if (here)
			sscanf(line, format, &found);
	}
	if (file)
		fclose(file);
	return found;
}

/* Does the kernel have any to give just now? */
static bool are_to_be_had(size_t huge)
{
	char *area = mmap(NULL, 2 * huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool had;

	CHECK(area != MAP_FAILED);
	had = madvise(area, 2 * huge, MADV_HUGEPAGE) == 0;
	memset(area, 1, 2 * huge);
	had = had && fact(area, "AnonHugePages: %ld kB") > 0;
	munmap(area, 2 * huge);
	return had;
}

int main(void)
{
	size_t huge = huge_page_bytes(), bytes;
	bool reached = false;
	char *memory;

	shmem_init();
	/* Larger ones the heap has not enough of. */
	bytes = huge && huge <= 32UL << 20 ? 4 * huge : 8UL << 20;
	memory = shmem_malloc(bytes);
	CHECK(memory != NULL);
	for (int pe = 0; pe < shmem_n_pes(); pe++)
		reached = reached || (pe != shmem_my_pe() && shmem_ptr(memory, pe));
	memset(memory, 1, bytes);
	if (!reached && bytes == 4 * huge && are_to_be_had(huge))
		CHECK(fact(memory, "AnonHugePages: %ld kB") > 0);
	if (reached) /* it is one piece of memory for both */
		CHECK_EQUAL(fact(memory, "Anonymous: %ld kB"), 0);
	shmem_barrier_all();
	shmem_free(memory);
	shmem_finalize();
	return 0;
}
