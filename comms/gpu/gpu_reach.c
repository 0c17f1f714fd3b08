/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps the heaps on GPUs of other PEs of this node, when they are first needed. */
#include <string.h>

#include "comms/ops/ops.h"
#include "gpu_inside.h"
#include "rte/rte.h"

/* The driver tells whether it can: not all GPUs of a machine reach each other. */
static char *map(int pe, const struct gpu_card *card)
{
	gpu_address there = 0;
	int answer;

	gpu_enter();
	answer = gpu.driver->map(&there, card->shared, GPU_MAP_LAZY_PEER_ACCESS);
	gpu_leave();
	if (answer != GPU_OK)
		rte_debug("the heap on the GPU of PE %d cannot be mapped (%s); data goes through the host", pe,
			  gpu_driver_error(gpu.driver, answer));
	return answer == GPU_OK ? (char *)(uintptr_t)there : NULL;
}

static char *reach_first(int pe, struct gpu_uuid *uuid)
{
	struct gpu_card card = {.is_shared = false};

	*uuid = gpu.uuid;
	if (pe == comms.pe)
		return gpu.heap;
	/* What a PE of another node shows means nothing here. */
	if (comms_connect(pe)->reach[COMMS_HEAP].size == 0)
		return NULL;
	comms_get(&card, gpu.card, sizeof card, pe, "shmem_init_thread");
	*uuid = card.gpu;
	return card.is_shared ? map(pe, &card) : NULL;
}

char *gpu_reach(int pe)
{
	struct gpu_peer *peer = &gpu.peers[pe];

	if (COMMS_LIKELY(atomic_load_explicit(&peer->state, memory_order_acquire) != GPU_UNKNOWN))
		return peer->here;
	pthread_mutex_lock(&gpu.lock);
	if (atomic_load_explicit(&peer->state, memory_order_relaxed) == GPU_UNKNOWN) {
		peer->here = reach_first(pe, &peer->gpu);
		atomic_store_explicit(&peer->state, peer->here ? GPU_MAPPED : GPU_BY_PARCELS, memory_order_release);
	}
	pthread_mutex_unlock(&gpu.lock);
	return peer->here;
}

bool comms_gpu_is_shared(int pe, int other)
{
	return gpu_reach(pe) && gpu_reach(other) && !memcmp(&gpu.peers[pe].gpu, &gpu.peers[other].gpu, sizeof gpu.uuid);
}

void gpu_unmap_peers(void)
{
	for (int pe = 0; gpu.peers && pe < comms.n_pes; pe++)
		if (pe != comms.pe && gpu.peers[pe].here)
			gpu.driver->unmap(gpu_address_of(gpu.peers[pe].here));
}
