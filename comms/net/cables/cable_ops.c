/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The operations of this network. Every operation is a message that the target's library carries
 * out (cable_messages.c).
 *
 * Completion: a channel counts an operation until it is acknowledged or answered. Order: messages
 * to one PE are carried out in the order of the calls, so a fence has nothing to do but to tell
 * RDMA (cable_message_is_free). Atomics: the target's processor carries them out, as PEs of its
 * node do.
 */
#include "cable_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comms/wait/wait.h"
#include "rte/rte.h"

void cable_wait_for(atomic_int *counter)
{
	if (atomic_load_explicit(counter, memory_order_acquire) == 0)
		return;
	COMMS_WAIT(COMMS_NOWHERE, atomic_load_explicit(counter, memory_order_acquire) == 0);
	if (COMMS_UNLIKELY(rte_is_broken())) { /* nobody uses the counter after that: cable_work */
		pthread_mutex_lock(&cable_net.lock);
		pthread_mutex_unlock(&cable_net.lock);
	}
}

bool cable_progress(void)
{
	network_server_visit(&cable_net.server);
	return cable_work();
}

/* --- Messages --- */

/*
 * The flow, with the lock. With may_wait, waits first while it has too many messages; a flow stays
 * where it is, so its number may be read without the lock.
 */
static struct cable_flow *lock_flow(int pe, int number, bool may_wait)
{
	struct cable_flow *flow;

	pthread_mutex_lock(&cable_net.lock);
	flow = cable_flow_to(pe, number);
	while (may_wait && atomic_load_explicit(&flow->outstanding, memory_order_relaxed) >= CABLE_UNACKNOWLEDGED &&
	       !rte_is_broken()) {
		pthread_mutex_unlock(&cable_net.lock);
		COMMS_WAIT(COMMS_NOWHERE,
			   atomic_load_explicit(&flow->outstanding, memory_order_acquire) < CABLE_UNACKNOWLEDGED);
		pthread_mutex_lock(&cable_net.lock);
	}
	return flow;
}

/* A message must follow those of its flow that a fence of this PE came after. */
static void note_fences(struct cable_flow *flow, struct cable_message *message)
{
	const uint64_t fences = atomic_load_explicit(&cable_net.fences, memory_order_relaxed);

	if (flow->fences != fences) {
		flow->fences = fences;
		flow->fenced =
			flow->acknowledged + (uint64_t)atomic_load_explicit(&flow->outstanding, memory_order_relaxed);
	}
	message->after = flow->fenced;
}

void cable_submit(struct cable_message *message, int number, bool may_wait)
{
	struct cable_flow *flow;

	message->header.flow_last = (uint8_t)number;
	atomic_fetch_add_explicit(&cable_net.under_way, 1, memory_order_relaxed);
	flow = lock_flow(message->header.to, number, may_wait);
	note_fences(flow, message);
	if (message->fate == CABLE_FATE_ACKNOWLEDGED) {
		atomic_fetch_add_explicit(&flow->outstanding, 1, memory_order_relaxed);
		atomic_fetch_add_explicit(&cable_net.sent, 1, memory_order_release);
	} else {
		atomic_fetch_add_explicit(&cable_net.awaited, 1, memory_order_relaxed);
		cable_net.fetching += message->header.kind == CABLE_FETCH;
	}
	cable_send(flow, message);
	pthread_mutex_unlock(&cable_net.lock);
}

struct cable_message *cable_put_message(int pe, uint64_t there, const void *source, size_t bytes, bool copied)
{
	struct cable_message *put = cable_message_new(CABLE_PUT, pe, copied ? bytes : 0);

	put->fate = CABLE_FATE_ACKNOWLEDGED;
	put->header.there = there;
	put->header.event = cable_event();
	put->left = bytes;
	if (copied && bytes > 0)
		memcpy(put->copy, source, bytes);
	else
		put->data = source;
	return put;
}

struct cable_message *cable_read_message(int pe, uint64_t there, void *dest, size_t bytes)
{
	struct cable_message *read = cable_message_new(CABLE_READ, pe, 0);

	read->fate = CABLE_FATE_ANSWERED;
	read->header.there = there;
	read->header.value = bytes;
	read->header.token = (uint64_t)(uintptr_t)read;
	if (cable_net.verbs && comms_find_segment(dest) < COMMS_FIXED_SEGMENTS)
		read->header.word = (uint64_t)(uintptr_t)dest;
	read->dest = dest;
	read->awaited = bytes;
	return read;
}

static struct cable_message *atomic_message(enum cable_kind kind, const struct comms_place *there,
					    const struct comms_atomic *atomic)
{
	struct cable_message *message = cable_message_new(kind, there->peer->pe, 0);

	message->header.op = (uint8_t)atomic->op;
	message->header.width = (uint8_t)atomic->width;
	message->header.word = cable_place(there);
	message->header.value = atomic->operand;
	message->header.compare = atomic->compare;
	message->header.event = cable_event();
	return message;
}

/* --- Puts, gets, atomics --- */

static void count_pending(struct cable_message *message, atomic_int *counter)
{
	message->pending = counter;
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

static void cable_put(struct comms_channel *channel, const struct comms_place *there, const void *source, size_t bytes,
		      bool nbi)
{
	const bool copied = !nbi && bytes <= CABLE_COPIED;
	struct cable_message *put = cable_put_message(there->peer->pe, cable_place(there), source, bytes, copied);
	const bool waits = !nbi && !copied;
	atomic_int waiter = waits;

	if (waits)
		put->sent = &waiter;
	count_pending(put, cable_pending(channel));
	cable_submit(put, 0, true);
	cable_wait_for(&waiter);
}

static void cable_get(struct comms_channel *channel, const struct comms_place *there, void *dest, size_t bytes,
		      bool nbi)
{
	struct cable_message *read = cable_read_message(there->peer->pe, cable_place(there), dest, bytes);
	atomic_int waiter = 0;

	count_pending(read, nbi ? cable_pending(channel) : &waiter);
	cable_submit(read, 0, true);
	cable_wait_for(&waiter);
}

static void cable_amo(struct comms_channel *channel, const struct comms_place *there, const struct comms_atomic *atomic)
{
	struct cable_message *message = atomic_message(CABLE_ATOMIC, there, atomic);

	message->fate = CABLE_FATE_ACKNOWLEDGED;
	count_pending(message, cable_pending(channel));
	cable_submit(message, 0, true);
}

static void cable_amo_fetch(struct comms_channel *channel, const struct comms_place *there,
			    const struct comms_atomic *atomic, void *result, bool nbi)
{
	struct cable_message *message = atomic_message(CABLE_FETCH, there, atomic);
	atomic_int waiter = 0;

	message->fate = CABLE_FATE_ANSWERED;
	message->header.token = (uint64_t)(uintptr_t)message;
	message->dest = result;
	message->awaited = atomic->width;
	count_pending(message, nbi ? cable_pending(channel) : &waiter);
	cable_submit(message, 0, true);
	cable_wait_for(&waiter);
}

/* --- Order and completion --- */

static void cable_fence(struct comms_channel *channel)
{
	(void)channel;
	if (cable_net.verbs)
		atomic_fetch_add_explicit(&cable_net.fences, 1, memory_order_relaxed);
}

static void cable_quiet(struct comms_channel *channel)
{
	cable_wait_for(cable_pending(channel));
}

static void cable_quiet_pes(struct comms_channel *channel, const int *pes, size_t n)
{
	(void)pes, (void)n;
	cable_quiet(channel);
}

static void cable_complete(void)
{
	cable_wait_for(&cable_net.under_way);
}

static void cable_finish(void)
{
	/*
	 * Also with SHMEM_PROGRESS_THREAD=no: other PEs may still need this one, which makes no
	 * more calls, and it relays for them.
	 */
	network_server_serve(&cable_net.server, "shmem_finalize");
	cable_complete();
	atomic_store_explicit(&cable_net.ending, true, memory_order_seq_cst);
}

static struct comms_channel *cable_channel_open(bool private)
{
	(void)private; /* all channels use the same connections */
	return calloc(1, sizeof(struct cable_channel));
}

static void cable_channel_close(struct comms_channel *channel)
{
	free(channel);
}

/* --- Progress --- */

static bool cable_served(void)
{
	return cable_net.server.served;
}

static void cable_rest(void)
{
	network_server_rest(&cable_net.server);
}

static enum network_block cable_wait_blocking(_Atomic uint32_t *word, uint32_t value, long nanoseconds)
{
	return network_server_wait(&cable_net.server, word, value, nanoseconds);
}

static void cable_wake_server(void)
{
	network_server_wake(&cable_net.server);
}

static const struct network_blocking cable_blocking = {cable_wait_blocking, cable_wake_server};

/* --- For reports --- */

static void cable_count_traffic(struct comms_traffic *traffic)
{
	traffic->carried_out = atomic_load_explicit(&cable_net.carried_out, memory_order_acquire);
	traffic->sent = atomic_load_explicit(&cable_net.sent, memory_order_acquire);
	traffic->notify = 1;
	traffic->pending = atomic_load_explicit(&cable_net.awaited, memory_order_relaxed) > 0;
}

static void cable_name_under_way(char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (int pe = 0; pe < comms.n_pes && used < size; pe++) {
		const struct cable_peer *peer = atomic_load_explicit(&cable_net.peers[pe], memory_order_acquire);

		if (peer && atomic_load_explicit(&peer->flow[0].outstanding, memory_order_relaxed) > 0)
			used += (size_t)snprintf(text + used, size - used, "%s %d",
						 used ? "," : "; operations under way to PEs", pe);
	}
}

static const char *cable_routes(void)
{
	static char text[CABLE_HOSTS_TEXT];

	return cable_hosts_longest() > 0 ? cable_hosts_text(text, cable_has_rdma) : NULL;
}

static const char *cable_connections(void)
{
	return "from processes of this job only";
}

const struct comms_network cables_network = {
	.name = "cables",
	.traits = NETWORK_RECORDS_ARRIVALS,
	.row = ROW_CABLES,
	.find = cable_find,
	.start = cable_start,
	.describe = cable_describe,
	.connect = cable_connect,
	.open = cable_open,
	.finish = cable_finish,
	.rest = cable_rest,
	.forget = cable_forget,
	.stop = cable_stop,
	.channel_open = cable_channel_open,
	.channel_close = cable_channel_close,
	.put = cable_put,
	.get = cable_get,
	.amo = cable_amo,
	.amo_fetch = cable_amo_fetch,
	.notify = cable_notify,
	.fence = cable_fence,
	.quiet = cable_quiet,
	.quiet_pes = cable_quiet_pes,
	.complete = cable_complete,
	.progress = cable_progress,
	.served = cable_served,
	.has_second_cables = cable_hosts_have_second_cables,
	.count_traffic = cable_count_traffic,
	.name_under_way = cable_name_under_way,
	.sent_to = cable_sent_to,
	.routes = cable_routes,
	.connections = cable_connections,
	.buffers = &cable_buffers,
	.blocking = &cable_blocking,
};
