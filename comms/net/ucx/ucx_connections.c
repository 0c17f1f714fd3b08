/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections: an endpoint of a worker at a PE, with the keys of the PE's memory. */
#include "comms/ops/ops.h"
#include "ucx_inside.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comms/core/near.h"
#include "comms/core/peers.h"
#include "comms/observe/counters.h"
#include "rte/rte.h"
#include "ucx_failure.h"
#include "ucx_messages.h"

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

/*
 * The connection to a PE broke. If that PE failed, the launcher knows the cause and is about to end
 * the job: give it time to report before this PE reports what it saw. (ucx_failure.c says how long
 * PEs wait for the launcher and for each other.)
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
	failure_wait_to_report(peer->pe);
	rte_host(peer->pe, host, sizeof host);
	if (last)
		snprintf(during, sizeof during, "; the last operation on it was of %s", last + (last[0] == 'p'));
	rte_break(RTE_ERROR_LOST, peer->pe, NULL, "UCX's connection to PE %d on host %s broke: %s%s; %s", peer->pe,
		  host, ucs.status_string(status), during, comms_process_in_words(peer->pe));
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

/*
 * A UCX that expects no greeting takes it for garbage, and one that expects a greeting takes data
 * for garbage.
 */
static void check_filters(const struct comms_peer *peer, const struct ucx_filter_info *theirs)
{
	struct ucx_filter_info mine;

	ucx_filter_describe(&mine);
	if (theirs->filters != mine.filters)
		rte_die(NULL,
			"PE %d %s connections, and this PE %s; give all PEs the same UCX, or SHMEM_ACCEPT_FILTER=no",
			peer->pe, theirs->filters ? "filters" : "does not filter", mine.filters ? "does" : "does not");
}

static struct ucx_peer *make_connection(struct comms_channel *channel, struct comms_peer *peer)
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
	failure_expect(info->listens);
	ucx_filter_calls++;
	status = ucp.ep_create(channel->worker, &params, &made->endpoint);
	ucx_filter_calls--;
	ucx_must_succeed(status, "connecting (ucp_ep_create)", peer->pe);
	at += info->address_bytes;
	for (int i = 0; i < COMMS_FIXED_SEGMENTS; i++) {
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
	size_t before = comms.observed ? memory_in_use() : 0;
	struct ucx_peer *made = make_connection(channel, peer);
	size_t after = comms.observed ? memory_in_use() : 0;

	/*
	 * UCX also frees memory meanwhile, in its threads too, so the difference may be negative.
	 */
	if (after > before)
		counters_connection(after - before);
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

/*
 * Its packets have their own type of service, for which the hosts have routes by the second cable
 * (torusplan routes).
 */
struct ucx_peer *ucx_second_peer(struct comms_peer *peer)
{
	struct ucx_peer *first = ucx_peer(peer), *second = atomic_load_explicit(&first->second, memory_order_acquire);

	if (COMMS_LIKELY(second != NULL))
		return second;
	pthread_mutex_lock(&ucx.connecting);
	second = atomic_load_explicit(&first->second, memory_order_relaxed);
	if (!second) {
		ucx_second_cable = true;
		second = ucx_connect(&ucx.main, peer);
		ucx_second_cable = false;
		atomic_store_explicit(&first->second, second, memory_order_release);
	}
	pthread_mutex_unlock(&ucx.connecting);
	return second;
}

const struct socket_address *ucx_addresses(int pe)
{
	const struct comms_peer *peer = comms_peer(pe);
	size_t size;
	const struct ucx_info *info = peer->connected ? peers_network_info(peer, &size) : NULL;

	return info ? info->listens : NULL;
}

void ucx_release_keys(struct ucx_peer *peer)
{
	for (int i = 0; i < COMMS_FIXED_SEGMENTS; i++)
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
	struct ucx_peer *known = peer_ucx(peer);
	struct ucx_peer *second = known ? atomic_load_explicit(&known->second, memory_order_acquire) : NULL;

	if (second)
		disconnect(second);
	if (known)
		disconnect(known);
}
