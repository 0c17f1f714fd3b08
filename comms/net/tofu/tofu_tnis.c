/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queues of this PE, one on each TNI that it may use, the memory registered with them, and the
 * queues of peers.
 */
#include "tofu_inside.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "comms/core/peers.h"
#include "rte/rte.h"
#include "rte/settings.h"

static void open_tofu_queue(struct tofu_queue *queue, utofu_tni_id_t tni)
{
	struct utofu_onesided_caps *caps;
	int code = utofu.create_vcq(tni, 0, &queue->vcq);

	if (code != UTOFU_SUCCESS)
		rte_die("shmem_init",
			"utofu_create_vcq: error %d of uTofu: TNI %u has no queue for this PE; put fewer PEs on a node, or "
			"set SHMEM_PATHS=local,ucx",
			code, (unsigned)tni);
	tofu_check(utofu.query_vcq_id(queue->vcq, &queue->id), "utofu_query_vcq_id");
	tofu_check(utofu.query_onesided_caps(tni, &caps), "utofu_query_onesided_caps");
	if (!(caps->flags & UTOFU_ONESIDED_CAP_FLAG_ARMW))
		rte_die_together("shmem_init", "this Tofu network has no atomics; set SHMEM_PATHS=local,ucx");
	tofu.most_bytes = caps->max_putget_size;
	tofu.most_small = caps->max_piggyback_size;
}

static void register_segments(struct tofu_queue *queue)
{
	for (unsigned i = 0; i < COMMS_FIXED_SEGMENTS; i++)
		if (comms.segments[i].size > 0)
			tofu_check(utofu.reg_mem_with_stag(queue->vcq, comms.segments[i].base, comms.segments[i].size,
							   i, 0, &queue->memory[i]),
				   "utofu_reg_mem_with_stag");
	tofu_check(utofu.reg_mem(queue->vcq, tofu.staging, (size_t)TOFU_REQUESTS * TOFU_STAGING, 0, &queue->staging),
		   "utofu_reg_mem");
}

static void tofu_make_requests(void)
{
	size_t bytes = (size_t)TOFU_REQUESTS * TOFU_STAGING, page = (size_t)sysconf(_SC_PAGESIZE);

	tofu.staging = aligned_alloc(page, (bytes + page - 1) / page * page);
	if (!tofu.staging)
		rte_die("shmem_init", "no memory");
	tofu.free = NULL;
	for (int i = TOFU_REQUESTS; i > 0; i--) {
		tofu.requests[i] = (struct tofu_request){.number = (uint8_t)i, .next_free = tofu.free};
		tofu.free = &tofu.requests[i];
	}
}

static void tofu_read_settings(void)
{
	setting_bool(SETTING_TOFU_LOOPBACK, &comms.loopback);
}

void tofu_start(void)
{
	utofu_tni_id_t *tnis;
	size_t count;

	tofu_read_settings();
	tofu_check(utofu.get_onesided_tnis(&tnis, &count), "utofu_get_onesided_tnis");
	tofu.tnis = count < TOFU_TNIS ? (int)count : TOFU_TNIS;
	tofu_make_requests();
	for (int e = 0; e < tofu.tnis; e++) {
		open_tofu_queue(&tofu.queue[e], tnis[e]);
		register_segments(&tofu.queue[e]);
	}
	free(tnis);
}

/* The numbers of this PE's queues; 0 for those that it does not have. */
void *tofu_describe(size_t *size)
{
	uint64_t *ids = calloc(TOFU_TNIS, sizeof *ids);

	if (!ids)
		rte_die("shmem_init", "no memory");
	for (int e = 0; e < tofu.tnis; e++)
		ids[e] = tofu.queue[e].id;
	*size = TOFU_TNIS * sizeof *ids;
	return ids;
}

static int tnis_of(const struct comms_peer *peer, uint64_t ids[TOFU_TNIS])
{
	size_t size;
	const void *published = peers_network_info(peer, &size);
	int tnis = 0;

	if (published && size == TOFU_TNIS * sizeof *ids) {
		memcpy(ids, published, size);
		while (tnis < TOFU_TNIS && ids[tnis])
			tnis++;
	}
	if (tnis == 0)
		rte_die(NULL, "PE %d published no queue of the Tofu network; do all PEs have the same SHMEM_ settings?",
			peer->pe);
	return tnis;
}

/* The addresses of its memory follow from the queue, because all PEs register in the same order. */
void tofu_connect(struct comms_peer *peer)
{
	uint64_t ids[TOFU_TNIS];
	int tnis = tnis_of(peer, ids);
	struct tofu_peer *made = calloc(1, sizeof *made);

	if (!made)
		rte_die(NULL, "no memory for a connection to PE %d", peer->pe);
	made->tni = tofu_tni_of(comms.pe, peer->pe, tofu.tnis);
	made->theirs = tofu_tni_of(peer->pe, comms.pe, tnis);
	made->vcq = ids[made->theirs];
	for (unsigned i = 0; i < COMMS_FIXED_SEGMENTS; i++)
		tofu_check(utofu.query_stadd(made->vcq, i, &made->memory[i]), "utofu_query_stadd");
	tofu_check(utofu.set_vcq_id_path(&made->vcq, NULL), "utofu_set_vcq_id_path");
	atomic_store_explicit(&peer->driver, made, memory_order_relaxed);
}

void tofu_forget(struct comms_peer *peer)
{
	free(tofu_peer(peer));
}

static void close_queue(struct tofu_queue *queue)
{
	for (int i = 0; i < COMMS_FIXED_SEGMENTS; i++)
		if (comms.segments[i].size > 0)
			tofu_check(utofu.dereg_mem(queue->vcq, queue->memory[i], 0), "utofu_dereg_mem");
	tofu_check(utofu.dereg_mem(queue->vcq, queue->staging, 0), "utofu_dereg_mem");
	tofu_check(utofu.free_vcq(queue->vcq), "utofu_free_vcq");
}

void tofu_stop(void)
{
	tofu_gates_stop();
	for (int e = 0; e < tofu.tnis; e++)
		close_queue(&tofu.queue[e]);
	free(tofu.staging);
}
