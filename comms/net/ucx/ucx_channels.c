/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Channels over UCX: their lives, their connections, and turns. ucx_completion.c has what they are for.
 *
 * Channels of two kinds. Shared ones (the default channel is one) use the main worker, which any thread may enter, and the
 * connections that hang on the peers' records. An alone channel is used by one thread at a time. It has a
 * worker of its own and its own connections, made at the first operation that needs them; no lock, and no
 * atomic change of anything, lies between its user and UCX.
 *
 * Marks: what a channel knows of a connection. The mark of the channel that the worker is of lies in the connection;
 * those of other shared channels hang on it.
 *
 * Turns: what an alone channel has begun must arrive even if its user now computes, or waits elsewhere for the answer; a
 * socket may have been full. So whoever serves the main worker now and then progresses the workers
 * of channels that have lain idle with something touched. The user is never to pay for that with a lock:
 *	user: turn++ (odd: in use); look at pushed; ... ; turn++		pusher: pushed = true; membarrier; look at turn
 * membarrier puts the fence that is missing on the user's side between its two accesses, so at least one of the two sees
 * the other. The pusher that sees a turn other than the one it knew gives way; the user that sees the pusher waits
 * for the few calls that it makes.
 */
#include <errno.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "comms/core/comms.h"
#include "comms/wait/hang.h"
#include "comms/core/near.h"
#include "rte/rte.h"
#include "ucx_messages.h"
#include "comms/wait/wait.h"

#define PUSH_EVERY 10 /* ms between two looks at what lies idle */
#define PUSH_AGAIN 1  /* ms, after there was something to do */
#define PUSH_MOST 256 /* calls for one channel before its user may have it back */
#define FIRST_PLACES 8
#define SPARE_MOST 8

/* The alone channels that have a worker. */
static struct {
	pthread_mutex_t lock; /* of all this; who pushes holds it, so that no channel goes away meanwhile */
	struct comms_channel *first;
	struct comms_channel *spare; /* those of them that nobody uses */
	int n_spare;
	atomic_int in_use;
	int64_t next_push; /* ms */
} alone = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool have_membarrier;

/* Before there are threads this is a flag; later the kernel would have to wait for every processor. */
__attribute__((constructor)) static void register_membarrier(void)
{
	have_membarrier = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

/* --- Turns --- */

static void nap(long nanoseconds)
{
	struct timespec time = {0, nanoseconds};

	nanosleep(&time, NULL);
}

static __attribute__((noinline)) void wait_for_pusher(struct comms_channel *channel)
{
	while (atomic_load_explicit(&channel->pushed, memory_order_relaxed)) /* who takes the turn then acquires */
		nap(20000);
}

void channel_take_turn(struct comms_channel *channel)
{
	unsigned turn = atomic_load_explicit(&channel->turn, memory_order_relaxed);

	for (;;) {
		atomic_store_explicit(&channel->turn, turn + 1, memory_order_relaxed);
		if (COMMS_LIKELY(have_membarrier))
			atomic_signal_fence(memory_order_seq_cst);
		else
			atomic_thread_fence(memory_order_seq_cst);
		if (COMMS_LIKELY(!atomic_load_explicit(&channel->pushed, memory_order_acquire)))
			return;
		atomic_store_explicit(&channel->turn, turn, memory_order_relaxed);
		wait_for_pusher(channel);
	}
}

void channel_end_turn(struct comms_channel *channel)
{
	unsigned turn = atomic_load_explicit(&channel->turn, memory_order_relaxed);

	atomic_store_explicit(&channel->turn, turn + 1, memory_order_release);
}

/* Has the channel been left alone since the last look, with something that may not have arrived? */
static bool lies_idle(struct comms_channel *channel)
{
	unsigned turn = atomic_load_explicit(&channel->turn, memory_order_relaxed);
	bool idle = turn % 2 == 0 && turn == channel->turn_seen;

	channel->turn_seen = turn;
	return idle && atomic_load_explicit(&channel->touched, memory_order_relaxed);
}

/*
 * Gives the channel back at once if its user has come meanwhile. The membarrier, or the fence, is behind the load of lies_idle:
 * what the user did before the turn that was seen comes before what is done here.
 */
static bool push(struct comms_channel *channel)
{
	bool worked = false;

	if (atomic_load_explicit(&channel->turn, memory_order_relaxed) == channel->turn_seen)
		for (int i = 0; i < PUSH_MOST && ucx_worker_progress(channel->worker); i++)
			worked = true;
	atomic_store_explicit(&channel->pushed, false, memory_order_release);
	return worked;
}

/* One membarrier for all channels. */
static bool push_idle(void)
{
	bool some = false, worked = false;

	for (struct comms_channel *channel = alone.first; channel; channel = channel->next) {
		channel->offered = lies_idle(channel);
		if (channel->offered)
			atomic_store_explicit(&channel->pushed, true, memory_order_relaxed);
		some |= channel->offered;
	}
	if (!some)
		return false;
	if (have_membarrier)
		syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
	else
		atomic_thread_fence(memory_order_seq_cst);
	for (struct comms_channel *channel = alone.first; channel; channel = channel->next)
		if (channel->offered)
			worked |= push(channel);
	return worked;
}

static int64_t now_in_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int channels_push(void)
{
	int64_t wanted;

	if (atomic_load_explicit(&alone.in_use, memory_order_relaxed) == 0)
		return -1;
	if (pthread_mutex_trylock(&alone.lock))
		return PUSH_EVERY;
	wanted = alone.next_push - now_in_ms();
	if (wanted <= 0) {
		wanted = push_idle() ? PUSH_AGAIN : PUSH_EVERY;
		alone.next_push = now_in_ms() + wanted;
	}
	pthread_mutex_unlock(&alone.lock);
	return (int)wanted;
}

/* --- Connections and marks --- */

static unsigned place_of(const struct comms_channel *channel, int pe)
{
	unsigned place = ((uint32_t)pe * 2654435769U >> 7) & (channel->places - 1);

	while (channel->peers[place] && channel->peers[place]->pe != pe)
		place = (place + 1) & (channel->places - 1);
	return place;
}

static void make_room(struct comms_channel *channel)
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
			channel->peers[place_of(channel, old[i]->pe)] = old[i];
	free(old);
}

/* From here on somebody looks whether it lies idle; the server may have gone to sleep for good. */
static void begin_use(void)
{
	atomic_fetch_add_explicit(&alone.in_use, 1, memory_order_seq_cst);
	ucp.worker_signal(ucx.main.worker);
}

bool channels_crowd(void)
{
	return atomic_load_explicit(&alone.in_use, memory_order_relaxed) >= ucx.processors;
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

/* The first operation. If it cannot have a worker of its own, the channel becomes a shared one. */
static __attribute__((noinline)) void come_alive(struct comms_channel *channel)
{
	if (!descriptors_abound()) {
		rte_debug("a context shares its connections with others, for lack of file descriptors (ulimit -n)");
		channel->alone = false;
		channel->worker = ucx.main.worker;
		return;
	}
	channel->worker = ucx_make_worker(UCS_THREAD_MODE_SERIALIZED);
	make_room(channel);
	pthread_mutex_lock(&alone.lock);
	channel->next = alone.first;
	if (alone.first)
		alone.first->previous = channel;
	alone.first = channel;
	pthread_mutex_unlock(&alone.lock);
	begin_use();
}

static struct mark *own_mark(struct comms_channel *channel, struct comms_peer *peer)
{
	unsigned place = place_of(channel, peer->pe);

	if (COMMS_UNLIKELY(!channel->peers[place])) {
		make_room(channel);
		place = place_of(channel, peer->pe);
		channel->peers[place] = ucx_connect(channel, peer);
		channel->n_peers++;
	}
	return &channel->peers[place]->mark;
}

/* A mark of a channel that is used now is not taken from it, so no lock is needed to find it. */
static struct mark *find_mark(struct comms_channel *channel, struct ucx_peer *peer)
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

static struct mark *add_mark(struct comms_channel *channel, struct ucx_peer *peer)
{
	struct mark *mark;

	pthread_mutex_lock(&ucx.connecting);
	mark = find_mark(channel, peer); /* another thread may have been here first */
	if (!mark) {
		mark = find_mark(NULL, peer);
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
	struct ucx_peer *peer = channel->alone ? channel->peers[place_of(channel, pe)] : peer_ucx(comms_peer(pe));

	return peer ? find_mark(channel, peer) : NULL;
}

struct mark *channel_begin(struct comms_channel **channel, struct comms_peer *peer)
{
	struct ucx_peer *connection;
	struct mark *mark;

	*channel = channel_or_main(*channel);
	if (COMMS_UNLIKELY(!(*channel)->worker))
		come_alive(*channel);
	if ((*channel)->alone) {
		channel_take_turn(*channel);
		mark = own_mark(*channel, peer);
	} else {
		connection = ucx_peer(peer);
		mark = find_mark(*channel, connection);
		if (COMMS_UNLIKELY(!mark))
			mark = add_mark(*channel, connection);
	}
	atomic_store_explicit(&mark->peer->last_routine, comms_near.routine, memory_order_relaxed);
	return mark;
}

void channel_end(struct mark *mark)
{
	if (mark_channel(mark)->alone)
		channel_end_turn(mark_channel(mark));
}

/* --- Life --- */

static struct comms_channel *take_spare(void)
{
	struct comms_channel *channel;

	pthread_mutex_lock(&alone.lock);
	channel = alone.spare;
	if (channel) {
		alone.spare = channel->next_spare;
		alone.n_spare--;
	}
	pthread_mutex_unlock(&alone.lock);
	if (channel)
		begin_use();
	return channel;
}

/*
 * A worker costs milliseconds to make and to take down, here and at each PE that it was connected to. Programs that make a
 * context for every phase get the last ones again.
 */
static bool keep_as_spare(struct comms_channel *channel)
{
	bool kept;

	pthread_mutex_lock(&alone.lock);
	kept = alone.n_spare < SPARE_MOST;
	if (kept) {
		channel->next_spare = alone.spare;
		alone.spare = channel;
		alone.n_spare++;
	}
	pthread_mutex_unlock(&alone.lock);
	return kept;
}

struct comms_channel *ucx_channel_open(bool is_alone)
{
	struct comms_channel *channel = is_alone ? take_spare() : NULL;

	if (channel)
		return channel;
	channel = calloc(1, sizeof *channel);
	if (!channel)
		return NULL;
	channel->alone = is_alone;
	pthread_mutex_init(&channel->marking, NULL);
	pthread_mutex_init(&channel->quieting, NULL);
	if (!is_alone)
		channel->worker = ucx.main.worker;
	return channel;
}

/* From here on nobody pushes it. */
static void leave_list(struct comms_channel *channel)
{
	pthread_mutex_lock(&alone.lock);
	if (channel->previous)
		channel->previous->next = channel->next;
	else
		alone.first = channel->next;
	if (channel->next)
		channel->next->previous = channel->previous;
	pthread_mutex_unlock(&alone.lock);
}

/*
 * By flush and not by force, so that the other PE, which never made an endpoint for this, sees a connection end that owes
 * nothing.
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

/* Not before the worker has gone: until then an acknowledgement may come that a result has overtaken. */
static void forget_connections(struct comms_channel *channel)
{
	for (unsigned i = 0; i < channel->places; i++)
		free(channel->peers[i]);
	free(channel->peers);
}

static void take_down(struct comms_channel *channel)
{
	leave_list(channel);
	close_connections(channel);
	ucp.worker_destroy(channel->worker);
	forget_connections(channel);
	pthread_mutex_destroy(&channel->marking);
	pthread_mutex_destroy(&channel->quieting);
	free(channel);
}

static void free_marks(struct comms_channel *channel)
{
	pthread_mutex_lock(&ucx.connecting);
	for (struct mark *mark = channel->marks; mark; mark = mark->next_of_channel)
		atomic_store_explicit(&mark->channel, NULL, memory_order_release);
	pthread_mutex_unlock(&ucx.connecting);
}

/* A quiet waits until all has arrived; the callbacks that say that single operations were sent may still run. */
void ucx_channel_close(struct comms_channel *channel)
{
	ucx_quiet(channel);
	if (channel->alone && channel->worker) {
		atomic_fetch_sub_explicit(&alone.in_use, 1, memory_order_seq_cst);
		if (!keep_as_spare(channel))
			take_down(channel);
		return;
	}
	hang_note_peer("shmem_ctx_destroy", "answers to operations of", comms.pe);
	COMMS_WAIT(COMMS_NOWHERE, atomic_load_explicit(&channel->unsent, memory_order_seq_cst) == 0);
	free_marks(channel);
	pthread_mutex_destroy(&channel->marking);
	pthread_mutex_destroy(&channel->quieting);
	free(channel);
}

void ucx_take_down_spares(void)
{
	struct comms_channel *next;

	for (struct comms_channel *channel = alone.spare; channel; channel = next) {
		next = channel->next_spare;
		take_down(channel);
	}
	alone.spare = NULL;
	alone.n_spare = 0;
}
