/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receive queues: lock-free queues with many writers and one reader. A writer claims the next entry
 * by increasing `appended`, fills it, and publishes it by the entry's sequence number (release).
 * The reader sees the sequence number (acquire) before it reads the entry, and frees the entry with
 * the sequence number of the next round.
 */
#include <string.h>

#include "softofu/net/state.h"

static size_t receive_queue_number(const struct net *net, int node, int tni, int cq, int class)
{
	size_t tnis = (size_t)net->settings.tnis, cqs = (size_t)net->settings.cqs;

	return (((size_t)node * tnis + (size_t)tni) * cqs + (size_t)cq) * NET_CLASSES + (size_t) class;
}

static struct net_receive_queue *receive_queue_at(const struct net *net, size_t number)
{
	return (struct net_receive_queue *)net_part(net, net->receive_queues) + number;
}

static struct net_receive_entry *receive_entry(const struct net *net, size_t queue, uint64_t n)
{
	size_t depth = (size_t)net->settings.receive_queue;

	return (struct net_receive_entry *)net_part(net, net->receive_entries) + queue * depth + n % depth;
}

static uint64_t sequence_of(const struct net *net, uint64_t n)
{
	return 2 * (n / (uint64_t)net->settings.receive_queue);
}

static size_t receive_queue_of(const struct net *net, const struct net_packet *packet)
{
	return receive_queue_number(net, (int)packet->to, packet->to_tni, packet->to_cq, packet->channel / NET_LANES);
}

/* Relaxed: net_receive_append acquires. */
bool net_receive_has_room(const struct net *net, const struct net_packet *packet)
{
	size_t queue = receive_queue_of(net, packet);
	uint64_t n = atomic_load_explicit(&receive_queue_at(net, queue)->appended, memory_order_relaxed);

	return atomic_load_explicit(&receive_entry(net, queue, n)->sequence, memory_order_relaxed) ==
	       sequence_of(net, n);
}

bool net_receive_append(struct net *net, const struct net_packet *packet, const void *data)
{
	size_t number = receive_queue_of(net, packet);
	struct net_receive_queue *queue = receive_queue_at(net, number);
	uint64_t n = atomic_load_explicit(&queue->appended, memory_order_relaxed);
	struct net_receive_entry *entry;

	for (;;) {
		uint64_t sequence;

		entry = receive_entry(net, number, n);
		sequence = atomic_load_explicit(&entry->sequence, memory_order_acquire);
		if (sequence < sequence_of(net, n))
			return false;
		if (sequence > sequence_of(net, n))
			n = atomic_load_explicit(&queue->appended, memory_order_relaxed);
		else if (atomic_compare_exchange_weak_explicit(&queue->appended, &n, n + 1, memory_order_relaxed,
							       memory_order_relaxed))
			break;
	}
	entry->slot.packet = *packet;
	memcpy(entry->slot.rest, data, packet->length);
	atomic_store_explicit(&entry->sequence, sequence_of(net, n) + 1, memory_order_release);
	return true;
}

bool net_waiting(const struct net *net, const struct net_address *at, int class)
{
	size_t number = receive_queue_number(net, at->node, at->tni, at->cq, class);
	uint64_t n = atomic_load_explicit(&receive_queue_at(net, number)->taken, memory_order_relaxed);

	return atomic_load_explicit(&receive_entry(net, number, n)->sequence, memory_order_acquire) ==
	       sequence_of(net, n) + 1;
}

/*
 * The TNI may have found the queue full and have packets for it. Returns false if the network
 * failed.
 */
static bool wake_tni(struct net *net, const struct net_address *at)
{
	int port = net_port_number(net, at->node, net->directions + at->tni);

	atomic_thread_fence(memory_order_seq_cst);
	if (!net_wants(net_port(net, port)))
		return true;
	if (!net_lock(net))
		return false;
	net_schedule(net, port, net->now);
	net_unlock(net);
	return true;
}

int net_take(struct net *net, const struct net_address *at, int class, int most, net_receiver *receiver, void *context)
{
	size_t number = receive_queue_number(net, at->node, at->tni, at->cq, class);
	struct net_receive_queue *queue = receive_queue_at(net, number);
	int count = 0;

	while (count < most && net_waiting(net, at, class)) {
		uint64_t n = atomic_load_explicit(&queue->taken, memory_order_relaxed);
		struct net_receive_entry *entry = receive_entry(net, number, n);

		if (!receiver(context, &entry->slot.packet, entry->slot.rest))
			break;
		atomic_store_explicit(&queue->taken, n + 1, memory_order_relaxed);
		atomic_store_explicit(&entry->sequence, sequence_of(net, n) + 2, memory_order_release);
		count++;
	}
	if (count > 0 && net->settings.mode == NET_PACKETS && !wake_tni(net, at))
		return -1;
	return net_is_broken(net) ? -1 : count;
}
