/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Channels over UCX: their life cycle and their connections. ucx_marks.c has what they know of
 * connections, ucx_epochs.c the progress of private channels, ucx_completion.c order and
 * completion.
 *
 * There are two kinds of channels. Shared ones (the default channel is one) use the main worker,
 * which any thread may call, and the connections in the peers' records. A private channel is used
 * by one thread at a time. It has its own worker and connections, created at the first operation
 * that needs them; no lock and no atomic read-modify-write lies between its user and UCX.
 */
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "comms/ops/ops.h"
#include "comms/core/comms.h"
#include "comms/wait/hang.h"
#include "comms/core/near.h"
#include "rte/rte.h"
#include "ucx_messages.h"
#include "comms/wait/wait.h"

#define FIRST_PLACES 8
#define SPARE_MOST 8

/* --- Connections --- */

static void make_room_for_connection(struct comms_channel *channel)
{
	struct ucx_peer **old = channel->peers;
	unsigned old_places = channel->places;

	if (2 * (channel->n_peers + 1) <= channel->places)
		return;
	channel->places = old_places ? 2 * old_places : FIRST_PLACES;
	channel->peers = calloc(channel->places, sizeof(struct ucx_peer *));
	if (!channel->peers)
		rte_die(NULL, "no memory for a context's connections to %u PEs", channel->n_peers + 1);
	for (unsigned i = 0; i < old_places; i++)
		if (old[i])
			channel->peers[channel_place_of(channel, old[i]->pe)] = old[i];
	free(old);
}

/*
 * From here on the server checks whether the channel is idle; the server may be in an unlimited
 * sleep, so wake it.
 */
static void begin_private_use(void)
{
	atomic_fetch_add_explicit(&ucx_private.in_use, 1, memory_order_seq_cst);
	ucp.worker_signal(ucx.main.worker);
}

/* A worker takes some eight file descriptors, and another one for each PE. */
static bool descriptors_abound(void)
{
	struct rlimit most;
	int next = dup(ucx.event_fd);

	if (next >= 0)
		close(next);
	return next >= 0 && getrlimit(RLIMIT_NOFILE, &most) == 0 && (rlim_t)next < most.rlim_cur / 4 * 3;
}

/* At the first operation. If it cannot have its own worker, the channel becomes a shared one. */
static __attribute__((noinline)) void come_alive(struct comms_channel *channel)
{
	if (!descriptors_abound()) {
		rte_debug("a context shares its connections with others, for lack of file descriptors (ulimit -n)");
		channel->private = false;
		channel->worker = ucx.main.worker;
		return;
	}
	channel->worker = ucx_make_worker(UCS_THREAD_MODE_SERIALIZED);
	make_room_for_connection(channel);
	pthread_mutex_lock(&ucx_private.lock);
	channel->next = ucx_private.first;
	if (ucx_private.first)
		ucx_private.first->previous = channel;
	ucx_private.first = channel;
	pthread_mutex_unlock(&ucx_private.lock);
	begin_private_use();
}

static struct mark *own_mark(struct comms_channel *channel, struct comms_peer *peer)
{
	unsigned place = channel_place_of(channel, peer->pe);

	if (COMMS_UNLIKELY(!channel->peers[place])) {
		make_room_for_connection(channel);
		place = channel_place_of(channel, peer->pe);
		channel->peers[place] = ucx_connect(channel, peer);
		channel->n_peers++;
	}
	return &channel->peers[place]->mark;
}

struct mark *channel_begin(struct comms_channel **channel, struct comms_peer *peer)
{
	struct ucx_peer *connection;
	struct mark *mark;

	*channel = channel_or_main(*channel);
	if (COMMS_UNLIKELY(!(*channel)->worker))
		come_alive(*channel);
	if ((*channel)->private) {
		channel_enter(*channel);
		mark = own_mark(*channel, peer);
	} else {
		connection = ucx_peer(peer);
		mark = channel_find_mark(*channel, connection);
		if (COMMS_UNLIKELY(!mark))
			mark = channel_add_mark(*channel, connection);
	}
	atomic_store_explicit(&mark->peer->last_routine, comms_near.routine, memory_order_relaxed);
	return mark;
}

void channel_end(struct mark *mark)
{
	if (mark_channel(mark)->private)
		channel_leave(mark_channel(mark));
}

/* --- Life cycle --- */

static struct comms_channel *take_spare(void)
{
	struct comms_channel *channel;

	pthread_mutex_lock(&ucx_private.lock);
	channel = ucx_private.spare;
	if (channel) {
		ucx_private.spare = channel->next_spare;
		ucx_private.n_spare--;
	}
	pthread_mutex_unlock(&ucx_private.lock);
	if (channel)
		begin_private_use();
	return channel;
}

/*
 * Creating and destroying a worker takes milliseconds, here and at each PE connected to it.
 * Programs that make a context for every phase get the last ones again.
 */
static bool add_spare(struct comms_channel *channel)
{
	bool spare;

	pthread_mutex_lock(&ucx_private.lock);
	spare = ucx_private.n_spare < SPARE_MOST;
	if (spare) {
		channel->next_spare = ucx_private.spare;
		ucx_private.spare = channel;
		ucx_private.n_spare++;
	}
	pthread_mutex_unlock(&ucx_private.lock);
	return spare;
}

struct comms_channel *ucx_channel_open(bool is_private)
{
	struct comms_channel *channel = is_private ? take_spare() : NULL;

	if (channel)
		return channel;
	channel = calloc(1, sizeof *channel);
	if (!channel)
		return NULL;
	channel->private = is_private;
	pthread_mutex_init(&channel->marking, NULL);
	pthread_mutex_init(&channel->quieting, NULL);
	if (!is_private)
		channel->worker = ucx.main.worker;
	return channel;
}

/* From here on the server does not push it. */
static void leave_private_list(struct comms_channel *channel)
{
	pthread_mutex_lock(&ucx_private.lock);
	if (channel->previous)
		channel->previous->next = channel->next;
	else
		ucx_private.first = channel->next;
	if (channel->next)
		channel->next->previous = channel->previous;
	pthread_mutex_unlock(&ucx_private.lock);
}

/*
 * By flush and not by force, so that the other PE, which never made an endpoint for this, sees a
 * connection end without outstanding data.
 */
static void close_connections(struct comms_channel *channel)
{
	for (unsigned i = 0; i < channel->places; i++) {
		struct ucx_peer *peer = channel->peers[i];

		if (!peer)
			continue;
		ucx_release_keys(peer);
		ucx_message_close(channel, peer);
		peer->mark.flushing = ucp.ep_close_nbx(peer->endpoint, &ucx_plain);
	}
	for (unsigned i = 0; i < channel->places; i++)
		if (channel->peers[i])
			channel_finish(channel, channel->peers[i]->mark.flushing);
}

/*
 * Not before the worker is destroyed: until then an acknowledgement may arrive that a result has
 * overtaken.
 */
static void forget_connections(struct comms_channel *channel)
{
	for (unsigned i = 0; i < channel->places; i++)
		free(channel->peers[i]);
	free(channel->peers);
}

static void take_down_channel(struct comms_channel *channel)
{
	leave_private_list(channel);
	close_connections(channel);
	ucp.worker_destroy(channel->worker);
	forget_connections(channel);
	pthread_mutex_destroy(&channel->marking);
	pthread_mutex_destroy(&channel->quieting);
	free(channel);
}

/* A quiet waits until everything has arrived; callbacks for single sends may still run. */
void ucx_channel_close(struct comms_channel *channel)
{
	ucx_quiet(channel);
	if (channel->private && channel->worker) {
		atomic_fetch_sub_explicit(&ucx_private.in_use, 1, memory_order_seq_cst);
		if (!add_spare(channel))
			take_down_channel(channel);
		return;
	}
	if (rte_is_broken()) {
		channel->next_spare = ucx.abandoned;
		ucx.abandoned = channel;
		return;
	}
	hang_note_peer("shmem_ctx_destroy", "answers to operations of", comms.pe);
	COMMS_WAIT(COMMS_NOWHERE, atomic_load_explicit(&channel->unsent, memory_order_seq_cst) == 0);
	channel_free_marks(channel);
	pthread_mutex_destroy(&channel->marking);
	pthread_mutex_destroy(&channel->quieting);
	free(channel);
}

void ucx_take_down_spares(void)
{
	struct comms_channel *next;

	for (struct comms_channel *channel = ucx_private.spare; channel; channel = next) {
		next = channel->next_spare;
		take_down_channel(channel);
	}
	ucx_private.spare = NULL;
	ucx_private.n_spare = 0;
}
