/* SPDX-License-Identifier: BSD-3-Clause */
/* Brings memory of GPUs up and down once all PEs have a heap there: gpu.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_inside.h"
#include "rte/rte.h"
#include "rte/text/text.h"

static void show_card(void)
{
	*gpu.card = (struct gpu_card){.base = gpu_address_of(gpu.heap), .size = gpu.heap_size, .gpu = gpu.uuid};
	gpu_enter();
	gpu.card->is_shared = gpu.driver->share(&gpu.card->shared, gpu_address_of(gpu.heap)) == GPU_OK;
	gpu_leave();
}

/* Pinned memory moves faster, but any memory will do. */
static bool pin(void *memory, size_t bytes)
{
	bool pinned;

	gpu_enter();
	pinned = gpu.driver->pin(memory, bytes, GPU_PIN_PORTABLE) == GPU_OK;
	gpu_leave();
	return pinned;
}

size_t comms_gpu_box_bytes(void)
{
	return GPU_CARD_BYTES + parcels_box_bytes();
}

static void make_old(void)
{
	void *old;

	gpu_enter();
	gpu_check(gpu.driver->host_allocate(&old, sizeof *gpu.old, GPU_PIN_PORTABLE | GPU_PIN_MAPPED),
		  "allocate pinned memory");
	gpu_check(gpu.driver->pinned_address(&gpu.old_there, old, 0), "return the address of pinned memory");
	gpu_leave();
	gpu.old = old;
}

/* Where the kernel puts the break is in the list of this process's memory. */
static void find_break(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long begin;
	char line[256];

	while (maps && fgets(line, sizeof line, maps))
		if (strstr(line, "[heap]") && sscanf(line, "%lx", &begin) == 1)
			gpu.break_begin = (const char *)begin;
	if (maps)
		fclose(maps);
}

void comms_gpu_open(void *box)
{
	find_break();
	gpu.peers = calloc((size_t)comms.n_pes, sizeof *gpu.peers);
	gpu.bounce = aligned_alloc(4096, 2 * GPU_BOUNCE);
	if (!gpu.peers || !gpu.bounce)
		rte_die("shmem_init_thread", "no memory");
	gpu.bounce_pinned = pin(gpu.bounce, 2 * GPU_BOUNCE);
	gpu.box = box;
	gpu.box_pinned = !gpu.pinned && pin(box, comms_gpu_box_bytes());
	gpu.card = box;
	show_card();
	gpu_kernels_start(&gpu.kernels, gpu.driver);
	make_old();
	parcels_start((char *)box + GPU_CARD_BYTES);
	comms.quiets = true;
	comms.device = &gpu_device;
}

static void unpin(void *memory)
{
	gpu.driver->unpin(memory);
}

void comms_gpu_part(void)
{
	if (!comms.device)
		return;
	comms.device->quiet();
	gpu_enter();
	gpu_unmap_peers();
	gpu_leave();
}

void comms_gpu_stop(void)
{
	if (!gpu.driver)
		return;
	if (comms.device)
		parcels_stop();
	comms.device = NULL;
	if (gpu.context) {
		gpu_enter();
		if (gpu.old) {
			gpu_kernels_stop(&gpu.kernels);
			gpu.driver->host_release(gpu.old);
		}
		if (gpu.bounce_pinned)
			unpin(gpu.bounce);
		if (gpu.box_pinned)
			unpin(gpu.box);
		if (gpu.pinned)
			unpin(comms_heap());
		if (gpu.scratch)
			gpu.driver->release(gpu.scratch);
		if (gpu.heap)
			gpu.driver->release(gpu_address_of(gpu.heap));
		if (gpu.stream)
			gpu.driver->stream_destroy(gpu.stream);
		if (gpu.background)
			gpu.driver->stream_destroy(gpu.background);
		gpu_leave();
	}
	if (gpu.retained)
		gpu.driver->primary_release(gpu.device);
	free(gpu.peers);
	free(gpu.bounce);
	gpu = (struct gpu){.lock = PTHREAD_MUTEX_INITIALIZER, .old_lock = PTHREAD_MUTEX_INITIALIZER};
}

/* --- In words --- */

const char *comms_gpu_in_words(char *text, size_t size)
{
	char name[64] = "a GPU", heap[32];

	gpu.driver->device_name(name, sizeof name, gpu.device);
	snprintf(text, size, "%s, heap of %s there%s", name, text_size(gpu.heap_size, heap),
		 gpu.pinned ? "; kernels may access the heap on the host" : "");
	return text;
}
