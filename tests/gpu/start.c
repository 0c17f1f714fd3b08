/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts with memory of GPUs and says what the library provides: for tests of machines on which
 * something is missing. As argument "allocate": allocates whether or not it is provided; "pinned":
 * says whether kernels can access the symmetric heap on the host.
 */
#include <shmemg.h>

#include "device.h"

static void say_pinned(void)
{
	int (*find)(device_address * address, void *memory, unsigned flags);
	void *block = shmem_malloc(64), *symbol;
	device_address address;

	device_start();
	symbol = device_symbol("cuMemHostGetDevicePointer_v2");
	memcpy(&find, &symbol, sizeof find);
	printf("%s\n", find(&address, block, 0) == 0 ? "pinned" : "not pinned");
	shmem_free(block);
}

int main(int count, char **arguments)
{
	long *word = NULL;
	int provided = 0;
	long got;

	shmem_init_thread(SHMEM_THREAD_SINGLE | SHMEM_DEVICE_HOST_INIT, &provided);
	if (shmem_my_pe() == 0)
		printf("%s\n", provided & SHMEM_DEVICE_HOST_INIT ? "provided" : "not provided");
	if (provided & SHMEM_DEVICE_HOST_INIT || (count > 1 && !strcmp(arguments[1], "allocate")))
		word = shmemg_calloc(1, sizeof *word);
	if (!word) /* the host's memory works as ever */
		word = shmem_calloc(1, sizeof *word);
	shmem_long_atomic_add(word, shmem_my_pe() + 1, 0);
	shmem_barrier_all();
	got = shmem_long_g(word, 0);
	if (shmem_my_pe() == 0)
		printf("sum %ld\n", got);
	if (count > 1 && !strcmp(arguments[1], "pinned"))
		say_pinned();
	shmem_finalize();
	return 0;
}
