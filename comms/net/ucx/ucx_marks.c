/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Marks: what a channel knows of a connection. The mark of the worker's own channel is part of the
 * connection; marks of other shared channels are in its list.
 */
#include <stdlib.h>

#include "comms/ops/ops.h"
#include "rte/rte.h"
#include "ucx_inside.h"

unsigned channel_place_of(const struct comms_channel *channel, int pe)
{
	unsigned place = ((uint32_t)pe * 2654435769U >> 7) & (channel->places - 1);

	while (channel->peers[place] && channel->peers[place]->pe != pe)
		place = (place + 1) & (channel->places - 1);
	return place;
}

/* A mark of a channel in use is not removed, so finding it needs no lock. */
struct mark *channel_find_mark(struct comms_channel *channel, struct ucx_peer *peer)
{
	struct mark *mark = &peer->mark;

	while (mark && atomic_load_explicit(&mark->channel, memory_order_acquire) != channel)
		mark = atomic_load_explicit(&mark->next_here, memory_order_acquire);
	return mark;
}

static struct mark *make_mark(struct ucx_peer *peer)
{
	struct mark *mark = calloc(1, sizeof *mark);

	if (!mark)
		rte_die(NULL, "no memory");
	mark->peer = peer;
	atomic_store_explicit(&mark->next_here, atomic_load_explicit(&peer->mark.next_here, memory_order_seq_cst),
			      memory_order_relaxed);
	atomic_store_explicit(&peer->mark.next_here, mark, memory_order_release);
	return mark;
}

struct mark *channel_add_mark(struct comms_channel *channel, struct ucx_peer *peer)
{
	struct mark *mark;

	pthread_mutex_lock(&ucx.connecting);
	mark = channel_find_mark(channel, peer); /* another thread may have added it */
	if (!mark) {
		mark = channel_find_mark(NULL, peer);
		if (!mark)
			mark = make_mark(peer);
		mark->next_of_channel = channel->marks;
		channel->marks = mark;
		atomic_store_explicit(&mark->channel, channel, memory_order_release);
	}
	pthread_mutex_unlock(&ucx.connecting);
	return mark;
}

void channel_forget_marks(struct ucx_peer *peer)
{
	struct mark *mark = atomic_load_explicit(&peer->mark.next_here, memory_order_seq_cst);

	while (mark) {
		struct mark *next = atomic_load_explicit(&mark->next_here, memory_order_seq_cst);

		free(mark);
		mark = next;
	}
}

struct mark *channel_known_mark(struct comms_channel *channel, int pe)
{
	struct ucx_peer *peer =
		channel->private ? channel->peers[channel_place_of(channel, pe)] : peer_ucx(comms_peer(pe));

	return peer ? channel_find_mark(channel, peer) : NULL;
}

void channel_free_marks(struct comms_channel *channel)
{
	pthread_mutex_lock(&ucx.connecting);
	for (struct mark *mark = channel->marks; mark; mark = mark->next_of_channel)
		atomic_store_explicit(&mark->channel, NULL, memory_order_release);
	pthread_mutex_unlock(&ucx.connecting);
}
