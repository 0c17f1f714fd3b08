/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The UCX path: one UCP context; one main worker in multi-thread mode, whose address all PEs know, and one more for each
 * channel that asked to be alone; an endpoint and two keys per peer and worker, made on first use. Here: coming up
 * and going down, connections. ucx_choices.c has the settings, ucx_server.c who looks after the main worker, ucx_completion.c order and
 * completion, ucx_ops.c the operations.
 *
 * Atomics are messages that the target's library carries out, so that they agree with the atomics that PEs of a node do by
 * themselves. Puts and gets are messages, too, unless a network card carries them out (ucx_messages.h). So somebody must call
 * ucp_worker_progress at the target while it computes or sleeps: the serving thread.
 */
#include "ucx_inside.h"

#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "comms/wait/hang.h"
#include "comms/core/near.h"
#include "comms/core/peers.h"
#include "rte/rte.h"
#include "ucx_failure.h"
#include "ucx_messages.h"
#include "comms/observe/counters.h"

/* What this PE publishes: the lengths and where UCX listens, then the worker's address, then the keys. */
struct ucx_info {
	uint32_t address_bytes;
	uint32_t key_bytes[COMMS_SEGMENTS];
	struct silence_address listens[SILENCE_ADDRESSES];
	struct ucx_filter_info filter;
};

static void make_context(void)
{
	ucp_params_t params = {
		.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS | UCP_PARAM_FIELD_MT_WORKERS_SHARED,
		.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP | (ucx.rma ? UCP_FEATURE_RMA : 0),
		.mt_workers_shared = 1,
		.estimated_num_eps = (size_t)comms.n_pes,
	};
	ucp_config_t *config = ucx_choices();

	ucx_check(ucp.init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, config, &ucx.context), "ucp_init");
	ucp.config_release(config);
}

ucp_worker_h ucx_make_worker(ucs_thread_mode_t mode)
{
	ucp_worker_params_t params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE, .thread_mode = mode};
	ucp_worker_h worker;

	ucx_filter_calls++;
	ucx_check(ucp.worker_create(ucx.context, &params, &worker), "ucp_worker_create");
	ucx_filter_calls--;
	ucx_take_answers(worker);
	return worker;
}

static void make_main_worker(void)
{
	silence_before_worker();
	ucx.main.worker = ucx_make_worker(UCS_THREAD_MODE_MULTI);
	ucx_filter_check();
	ucx_check(ucp.worker_get_efd(ucx.main.worker, &ucx.event_fd), "ucp_worker_get_efd");
	silence_behind_worker(ucx.listens);
	ucx_target_start();
	ucx_start_batches();
}

static void register_memory(void)
{
	for (int i = 0; i < COMMS_SEGMENTS; i++) {
		ucp_mem_map_params_t params = {
			.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
				      UCP_MEM_MAP_PARAM_FIELD_FLAGS,
			.address = comms.segments[i].base,
			.length = comms.segments[i].size,
			.flags = UCP_MEM_MAP_NONBLOCK,
		};

		if (ucx.rma && comms.segments[i].size > 0)
			ucx_check(ucp.mem_map(ucx.context, &params, &ucx.memory[i]), "ucp_mem_map");
	}
}

void ucx_start(void)
{
	ucx_library_load();
	ucx_filter_start();
	atomic_store_explicit(&ucx.ending, false, memory_order_seq_cst);
	ucx.failure_mode = ucx_failure_mode();
	ucx.rma = ucx_wants_rma();
	/* UCX's shared memory has no event for a sender that waits for room; where nothing else is used, look often. */
	ucx.longest_sleep = ucx.failure_mode == UCP_ERR_HANDLING_MODE_NONE ? 1 : -1;
	ucx.processors = rte_node_processors() / rte.n_local;
	make_context();
	make_main_worker();
	register_memory();
}

void *ucx_describe(size_t *size)
{
	void *keys[COMMS_SEGMENTS] = {NULL};
	size_t key_bytes[COMMS_SEGMENTS] = {0};
	size_t address_bytes;
	ucp_address_t *address;
	struct ucx_info *info;
	char *end;

	ucx_check(ucp.worker_get_address(ucx.main.worker, &address, &address_bytes), "ucp_worker_get_address");
	*size = sizeof *info + address_bytes;
	for (int i = 0; i < COMMS_SEGMENTS; i++) {
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
	for (int i = 0; i < COMMS_SEGMENTS; i++) {
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

/*
 * The connection to a PE broke. If that PE failed, the launcher knows better what happened and is about to
 * end the job: leave it the time to say so before we say what we saw. (How long others wait for the launcher, and for each other, is in failure.c.)
 */
static void lost_peer(void *argument, ucp_ep_h endpoint, ucs_status_t status)
{
	struct ucx_peer *peer = argument;
	const char *last = atomic_load_explicit(&peer->last_routine, memory_order_relaxed);
	char host[256] = "?", during[128] = "";

	(void)endpoint;
	if (atomic_load_explicit(&ucx.ending, memory_order_seq_cst))
		return;
	rte_let_others_speak();
	silence_take_turn(peer->pe);
	rte_host(peer->pe, host, sizeof host);
	if (last)
		snprintf(during, sizeof during, "; the last operation on it was of %s", last + (last[0] == 'p'));
	rte_die(NULL, "UCX's connection to PE %d on host %s broke: %s%s; %s", peer->pe, host, ucs.status_string(status), during,
		comms_process_in_words(peer->pe));
}

static size_t memory_in_use(void)
{
#ifdef HAVE_MALLINFO2
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
#else
	struct mallinfo info = mallinfo(); /* before glibc 2.33; it counts to 2 GiB */

	return (unsigned)info.uordblks + (unsigned)info.hblkhd;
#endif
}

void ucx_open(void)
{
	struct ucx_info first;

	if (!peers_read_network_info(0, &first, sizeof first))
		rte_die("shmem_init", "what PE 0 published cannot be had (%s); has it ended?", rte.problem);
	ucx_filter_open(&first.filter);
	ucx_serve();
}

/* A greeting is rubbish to a UCX that expects none, and the other way round. */
static void check_filters(const struct comms_peer *peer, const struct ucx_filter_info *theirs)
{
	struct ucx_filter_info mine;

	ucx_filter_describe(&mine);
	if (theirs->filters != mine.filters)
		rte_die(NULL, "PE %d %s connections, and this PE %s; give all PEs the same UCX, or SHMEM_ACCEPT_FILTER=no", peer->pe,
			theirs->filters ? "filters" : "does not filter", mine.filters ? "does" : "does not");
}

static struct ucx_peer *connect_to(struct comms_channel *channel, struct comms_peer *peer)
{
	struct ucx_peer *made = calloc(1, sizeof *made);
	size_t size;
	const struct ucx_info *info = peers_network_info(peer, &size);
	ucs_status_t status;
	const char *at = (const char *)(info + 1);
	ucp_ep_params_t params = {
		.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
			      UCP_EP_PARAM_FIELD_ERR_HANDLER,
		.err_mode = ucx.failure_mode,
		.err_handler = {.cb = lost_peer, .arg = made},
	};

	if (!made || !info || size < sizeof *info)
		rte_die(NULL, "PE %d cannot be reached: %s", peer->pe,
			made ? "it published no UCX address (do all PEs have the same SHMEM_ settings?)" : "no memory");
	made->pe = peer->pe;
	atomic_init(&made->last_routine, comms_near.routine);
	params.address = (const ucp_address_t *)at;
	check_filters(peer, &info->filter);
	silence_expect(info->listens);
	ucx_filter_calls++;
	status = ucp.ep_create(channel->worker, &params, &made->endpoint);
	ucx_filter_calls--;
	ucx_must_succeed(status, "connecting (ucp_ep_create)", peer->pe);
	at += info->address_bytes;
	for (int i = 0; i < COMMS_SEGMENTS; i++) {
		if (info->key_bytes[i])
			ucx_check(ucp.ep_rkey_unpack(made->endpoint, at, &made->key[i]), "ucp_ep_rkey_unpack");
		at += info->key_bytes[i];
		made->base[i] = peer->remote_base[i];
	}
	made->stream = atomic_fetch_add_explicit(&ucx.streams, 1, memory_order_seq_cst) + 1;
	made->mark.peer = made;
	atomic_init(&made->mark.channel, channel);
	ucx_message_hello(made);
	return made;
}

struct ucx_peer *ucx_connect(struct comms_channel *channel, struct comms_peer *peer)
{
	size_t before = comms.watched ? memory_in_use() : 0;
	struct ucx_peer *made = connect_to(channel, peer);
	size_t after = comms.watched ? memory_in_use() : 0;

	/* UCX frees what it no longer needs, in its threads too: less may be in use than before. */
	if (after > before)
		watch_connection(after - before);
	return made;
}

struct ucx_peer *ucx_peer(struct comms_peer *peer)
{
	struct ucx_peer *known = peer_ucx(peer);

	if (COMMS_LIKELY(known != NULL))
		return known;
	pthread_mutex_lock(&ucx.connecting);
	known = atomic_load_explicit(&peer->driver, memory_order_relaxed);
	if (!known) {
		known = ucx_connect(&ucx.main, peer);
		atomic_store_explicit(&peer->driver, known, memory_order_release);
	}
	pthread_mutex_unlock(&ucx.connecting);
	return known;
}

const struct silence_address *ucx_addresses(int pe)
{
	const struct comms_peer *peer = comms_peer(pe);
	size_t size;
	const struct ucx_info *info = peer->met ? peers_network_info(peer, &size) : NULL;

	return info ? info->listens : NULL;
}

void ucx_complete(void)
{
	for (int pe = 0; pe < comms.n_pes; pe++) {
		struct ucx_peer *peer = peer_ucx(comms_peer(pe));

		if (!peer)
			continue;
		ucx_message_mark_all(&peer->mark);
		if (ucx.rma)
			channel_touch(&peer->mark);
	}
	ucx_quiet(NULL);
}

void ucx_finish(void)
{
	ucx_expect_end();
	ucx_complete();
	ucx_take_down_spares();
}

void ucx_release_keys(struct ucx_peer *peer)
{
	for (int i = 0; i < COMMS_SEGMENTS; i++)
		if (peer->key[i])
			ucp.rkey_destroy(peer->key[i]);
}

static void disconnect(struct ucx_peer *peer)
{
	ucp_request_param_t force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};
	ucs_status_ptr_t request;

	ucx_release_keys(peer);
	request = ucp.ep_close_nbx(peer->endpoint, &force);
	while (UCS_PTR_IS_PTR(request) && ucp.request_check_status(request) == UCS_INPROGRESS)
		ucx_progress();
	if (UCS_PTR_IS_PTR(request))
		ucp.request_free(request);
	channel_forget_marks(peer);
	peer->next = ucx.closed;
	ucx.closed = peer;
}

void ucx_forget(struct comms_peer *peer)
{
	if (peer_ucx(peer))
		disconnect(peer_ucx(peer));
}

/* When the worker has gone: until then an acknowledgement may come that a result has overtaken. */
static void free_closed(void)
{
	while (ucx.closed) {
		struct ucx_peer *next = ucx.closed->next;

		free(ucx.closed);
		ucx.closed = next;
	}
}

void ucx_stop(void)
{
	for (int i = 0; i < COMMS_SEGMENTS; i++)
		if (ucx.memory[i])
			ucp.mem_unmap(ucx.context, ucx.memory[i]);
	memset(ucx.memory, 0, sizeof ucx.memory);
	ucp.worker_destroy(ucx.main.worker);
	free_closed();
	ucx_stop_batches();
	ucx_target_stop();
	ucp.cleanup(ucx.context);
	ucx_filter_stop();
}
