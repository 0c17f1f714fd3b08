/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The UCX path: one UCP context; one main worker in multi-thread mode, whose address all PEs know,
 * and one more for each private channel; an endpoint and two keys per peer and worker, made on
 * first use. This file starts and stops the path; ucx_choices.c has the settings, ucx_connections.c
 * connections, ucx_server.c the progress of the main worker, ucx_completion.c order and completion,
 * ucx_ops.c the operations.
 *
 * Atomics are messages that the target's library carries out, so that they are atomic with those of
 * the processors, which PEs of a node use. Puts and gets are messages, too, unless a NIC carries
 * them out (ucx_messages.h). So the serving thread calls ucp_worker_progress at the target while
 * the PE computes or sleeps.
 */
#include "ucx_inside.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "comms/core/peers.h"
#include "rte/rte.h"
#include "ucx_failure.h"
#include "ucx_messages.h"

static void make_context(void)
{
	ucp_params_t params = {
		.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS |
			      UCP_PARAM_FIELD_MT_WORKERS_SHARED,
		.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP | (ucx.rma ? UCP_FEATURE_RMA : 0),
		.mt_workers_shared = 1,
		.estimated_num_eps = (size_t)comms.n_pes,
	};
	ucp_config_t *config = ucx_choices();
	/*
	 * In a container without /dev/shm, UCX reports an error for each of its looks there,
	 * although its shared memory is not used.
	 */
	bool silent = access("/dev/shm", F_OK) && ucx_silence();
	ucs_status_t status = ucp.init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, config, &ucx.context);

	ucx_end_silence(silent);
	ucx_check(status, "ucp_init");
	ucp.config_release(config);
}

static void make_main_worker(void)
{
	failure_before_worker();
	ucx.main.worker = ucx_make_worker(UCS_THREAD_MODE_MULTI);
	ucx_serialize_if_needed(ucx.main.worker);
	ucx_check(ucp.worker_get_efd(ucx.main.worker, &ucx.event_fd), "ucp_worker_get_efd");
	failure_after_worker(ucx.listens);
	ucx_target_start();
	ucx_start_batches();
}

static void register_memory(void)
{
	for (int i = 0; i < COMMS_FIXED_SEGMENTS; i++) {
		ucp_mem_map_params_t params = {
			.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
				      UCP_MEM_MAP_PARAM_FIELD_FLAGS,
			.address = comms.segments[i].base,
			.length = comms.segments[i].size,
			.flags = UCP_MEM_MAP_NONBLOCK,
		};

		if (ucx.rma && comms.segments[i].size > 0)
			ucx.memory[i] = ucx_map_memory(&params, "shmem_init");
	}
}

void ucx_start(void)
{
	ucx_library_load();
	ucx_filter_start();
	atomic_store_explicit(&ucx.ending, false, memory_order_seq_cst);
	ucx.failure_mode = ucx_failure_mode();
	ucx.rma = ucx_wants_rma();
	/*
	 * UCX's shared memory has no event for a sender that waits for room; if UCX uses nothing
	 * else, poll often.
	 */
	ucx.longest_sleep = ucx.failure_mode == UCP_ERR_HANDLING_MODE_NONE ? 1 : -1;
	ucx.processors = rte_node_processors() / rte.n_local;
	make_context();
	make_main_worker();
	register_memory();
}

void *ucx_describe(size_t *size)
{
	void *keys[COMMS_FIXED_SEGMENTS] = {NULL};
	size_t key_bytes[COMMS_FIXED_SEGMENTS] = {0};
	size_t address_bytes;
	ucp_address_t *address;
	struct ucx_info *info;
	char *end;

	ucx_check(ucp.worker_get_address(ucx.main.worker, &address, &address_bytes), "ucp_worker_get_address");
	*size = sizeof *info + address_bytes;
	for (int i = 0; i < COMMS_FIXED_SEGMENTS; i++) {
		if (ucx.memory[i])
			ucx_check(ucp.rkey_pack(ucx.context, ucx.memory[i], &keys[i], &key_bytes[i]), "ucp_rkey_pack");
		*size += key_bytes[i];
	}
	info = malloc(*size);
	if (!info)
		rte_die("shmem_init", "no memory");
	info->address_bytes = (uint32_t)address_bytes;
	memcpy(info->listens, ucx.listens, sizeof info->listens);
	ucx_filter_describe(&info->filter);
	end = (char *)(info + 1);
	memcpy(end, address, address_bytes);
	end += address_bytes;
	for (int i = 0; i < COMMS_FIXED_SEGMENTS; i++) {
		info->key_bytes[i] = (uint32_t)key_bytes[i];
		if (!keys[i])
			continue;
		memcpy(end, keys[i], key_bytes[i]);
		end += key_bytes[i];
		ucp.rkey_buffer_release(keys[i]);
	}
	ucp.worker_release_address(ucx.main.worker, address);
	return info;
}

void ucx_open(void)
{
	struct ucx_info first;

	if (!peers_read_network_info(0, &first, sizeof first))
		rte_die("shmem_init", "cannot fetch what PE 0 published (%s); has it ended?", rte.problem);
	ucx_filter_open(&first.filter);
	ucx_serve();
}

static void mark_connection(struct ucx_peer *peer)
{
	ucx_message_mark_all(&peer->mark);
	if (ucx.rma)
		channel_touch(&peer->mark);
}

void ucx_complete(void)
{
	for (int pe = 0; pe < comms.n_pes; pe++) {
		struct ucx_peer *peer = peer_ucx(comms_peer(pe)), *second;

		if (!peer)
			continue;
		mark_connection(peer);
		second = atomic_load_explicit(&peer->second, memory_order_acquire);
		if (second)
			mark_connection(second);
	}
	ucx_quiet(NULL);
}

void ucx_finish(void)
{
	ucx_expect_end();
	if (!rte_is_broken())
		ucx_complete();
	ucx_take_down_spares();
}

/*
 * After the worker is destroyed: until then an acknowledgement may arrive that a result has
 * overtaken.
 */
static void free_closed(void)
{
	while (ucx.closed) {
		struct ucx_peer *next = ucx.closed->next;

		free(ucx.closed);
		ucx.closed = next;
	}
}

/* What a broken job has left under way; callbacks used it until the worker was destroyed. */
static void forget_unfinished(void)
{
	struct comms_channel *next;

	for (; ucx.abandoned; ucx.abandoned = next) {
		next = ucx.abandoned->next_spare;
		free(ucx.abandoned);
	}
	atomic_store_explicit(&ucx.main.touched, NULL, memory_order_relaxed);
	atomic_store_explicit(&ucx.main.unsent, 0, memory_order_relaxed);
	ucx.main.marks = NULL;
	atomic_store_explicit(&ucx.results, 0, memory_order_relaxed);
	atomic_store_explicit(&ucx.partial, 0, memory_order_relaxed);
}

void ucx_stop(void)
{
	for (int i = 0; i < COMMS_FIXED_SEGMENTS; i++)
		if (ucx.memory[i])
			ucp.mem_unmap(ucx.context, ucx.memory[i]);
	memset(ucx.memory, 0, sizeof ucx.memory);
	ucp.worker_destroy(ucx.main.worker);
	free_closed();
	if (rte_is_broken())
		forget_unfinished();
	ucx_stop_batches();
	ucx_target_stop();
	ucp.cleanup(ucx.context);
	ucx_filter_stop();
}
