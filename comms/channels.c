/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Channels: order and completion of operations over UCX.
 *
 * Channels of two kinds. Shared ones (the default channel is one) use the main worker, which any thread may enter, and the
 * connections that hang on the peers' records. An alone channel is used by one thread at a time. It has a
 * worker of its own and its own connections, made at the first operation that needs them; no lock, and no
 * atomic change of anything, lies between its user and UCX.
 *
 * Touched: a connection is marked by a channel from an operation until the quiet that completes it. The marked ones form
 * a list: operations push, quiet takes all at once. An operation is sent first and marked then; were it the other way
 * round, a quiet of another thread could take the mark away before there was anything to flush. The mark of
 * the channel that the worker is of lies in the connection; those of other shared channels hang on it.
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
#include <poll.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "comms.h"
#include "rte/rte.h"
#include "ucx_inside.h"

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
	while (atomic_load_explicit(&channel->pushed, memory_order_acquire))
		nap(20000);
}

static void take_turn(struct comms_channel *channel)
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
		atomic_store_explicit(&channel->turn, turn, memory_order_release);
		wait_for_pusher(channel);
	}
}

static void end_turn(struct comms_channel *channel)
{
	unsigned turn = atomic_load_explicit(&channel->turn, memory_order_relaxed);

	atomic_store_explicit(&channel->turn, turn + 1, memory_order_release);
}

/* Has the channel been left alone since the last look, with something that may not have arrived? */
static bool lies_idle(struct comms_channel *channel)
{
	unsigned turn = atomic_load_explicit(&channel->turn, memory_order_acquire);
	bool idle = turn % 2 == 0 && turn == channel->turn_seen;

	channel->turn_seen = turn;
	return idle && atomic_load_explicit(&channel->touched, memory_order_relaxed);
}

/* Gives the channel back at once if its user has come meanwhile. */
static bool push(struct comms_channel *channel)
{
	bool worked = false;

	if (atomic_load_explicit(&channel->turn, memory_order_acquire) == channel->turn_seen)
		for (int i = 0; i < PUSH_MOST && ucp_worker_progress(channel->worker); i++)
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
			atomic_store(&channel->pushed, true);
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
	atomic_fetch_add(&alone.in_use, 1);
	ucp_worker_signal(ucx.main.worker);
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
	atomic_store_explicit(&mark->next_here, atomic_load(&peer->mark.next_here), memory_order_relaxed);
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
	struct mark *mark = atomic_load(&peer->mark.next_here);

	while (mark) {
		struct mark *next = atomic_load(&mark->next_here);

		free(mark);
		mark = next;
	}
}

static struct comms_channel *or_main(struct comms_channel *channel)
{
	return channel ? channel : &ucx.main;
}

struct mark *channel_begin(struct comms_channel **channel, struct comms_peer *peer)
{
	struct ucx_peer *connection;
	struct mark *mark;

	*channel = or_main(*channel);
	if (COMMS_UNLIKELY(!(*channel)->worker))
		come_alive(*channel);
	if ((*channel)->alone) {
		take_turn(*channel);
		return own_mark(*channel, peer);
	}
	connection = ucx_peer(peer);
	mark = find_mark(*channel, connection);
	return COMMS_LIKELY(mark != NULL) ? mark : add_mark(*channel, connection);
}

void channel_end(struct comms_channel *channel)
{
	if (channel->alone)
		end_turn(channel);
}

void channel_touch(struct mark *mark)
{
	struct comms_channel *channel = mark->channel;

	if (atomic_load_explicit(&mark->touched, memory_order_relaxed))
		return;
	if (channel->alone) {
		atomic_store_explicit(&mark->touched, true, memory_order_relaxed);
		mark->next = atomic_load_explicit(&channel->touched, memory_order_relaxed);
		atomic_store_explicit(&channel->touched, mark, memory_order_relaxed);
		return;
	}
	if (atomic_exchange(&mark->touched, true))
		return;
	mark->next = atomic_load(&channel->touched);
	while (!atomic_compare_exchange_weak(&channel->touched, &mark->next, mark))
		;
}

/* --- Waiting --- */

/* Until UCX has something for the channel, or for this PE where nobody serves it. */
static void sleep_alone(struct comms_channel *channel, unsigned *naps)
{
	struct pollfd events[] = {{.events = POLLIN}, {.fd = ucx.event_fd, .events = POLLIN}};
	int milliseconds = 1 << (*naps < 4 ? *naps : 4);

	++*naps;
	if (ucp_worker_get_efd(channel->worker, &events[0].fd) != UCS_OK || ucp_worker_arm(channel->worker) != UCS_OK)
		return;
	if (!ucx.served && ucp_worker_arm(ucx.main.worker) != UCS_OK)
		return;
	if (ucx.longest_sleep > 0)
		milliseconds = ucx.longest_sleep;
	poll(events, ucx.served ? 1 : 2, milliseconds);
}

/* The main worker is served by its thread; without one, who waits must do it, for other PEs may do so only then. */
static void wait_alone(struct comms_channel *channel, ucs_status_ptr_t request)
{
	unsigned looks = comms.spin, naps = 0;

	while (ucp_request_check_status(request) == UCS_INPROGRESS) {
		if (ucp_worker_progress(channel->worker))
			continue;
		if (!ucx.served)
			comms_spin();
		if (looks > 0)
			looks--;
		else
			sleep_alone(channel, &naps);
	}
}

ucs_status_t channel_finish(struct comms_channel *channel, ucs_status_ptr_t request)
{
	ucs_status_t status;

	if (!UCS_PTR_IS_PTR(request))
		return UCS_PTR_STATUS(request);
	if (channel->alone)
		wait_alone(channel, request);
	else
		COMMS_WAIT(COMMS_NOWHERE, ucp_request_check_status(request) != UCS_INPROGRESS);
	status = ucp_request_check_status(request);
	ucp_request_free(request);
	return status;
}

/* --- Completion --- */

/*
 * Connection by connection: UCX's flush of a whole worker passes over what still waits to be sent over shared memory, and
 * would wait for other channels.
 */
static void start_flush(struct mark *mark, struct mark **flushed)
{
	mark->flushing = ucp_ep_flush_nbx(mark->peer->endpoint, &ucx_plain);
	mark->in_flush = true;
	mark->next_flushed = *flushed;
	*flushed = mark;
}

/*
 * A flush of UCX counts answers, and takes one to another thread's later operation for that of a get whose data is still
 * on its way. So a shared channel also waits until UCX keeps none of the operations that were begun before. Those that
 * begin now go to the other phase, so that this ends; twice, for one may have looked at the phase before and counted after.
 */
static void finish_pending(struct mark *mark)
{
	for (int i = 0; i < 2; i++) {
		atomic_int *pending = &mark->pending[atomic_fetch_add(&mark->phase, 1) & 1];

		COMMS_WAIT(COMMS_NOWHERE, atomic_load(pending) == 0);
	}
}

static void finish_flushes(struct comms_channel *channel, struct mark *flushed)
{
	for (; flushed; flushed = flushed->next_flushed) {
		if (!channel->alone && (atomic_load(&flushed->pending[0]) || atomic_load(&flushed->pending[1])))
			finish_pending(flushed);
		ucx_must_succeed(channel_finish(channel, flushed->flushing), "ucp_ep_flush_nbx");
		flushed->in_flush = false;
	}
}

/* A shared channel's lock makes a quiet wait for one of another thread that has taken the list. */
static bool begin_quiet(struct comms_channel *channel)
{
	if (channel->alone) {
		if (!atomic_load_explicit(&channel->touched, memory_order_relaxed))
			return false;
		take_turn(channel);
		return true;
	}
	if (!atomic_load(&channel->touched) && !atomic_load(&channel->quiet_under_way))
		return false;
	pthread_mutex_lock(&channel->quieting);
	atomic_store(&channel->quiet_under_way, true);
	return true;
}

static void end_quiet(struct comms_channel *channel)
{
	if (channel->alone) {
		end_turn(channel);
		return;
	}
	atomic_store(&channel->quiet_under_way, false);
	pthread_mutex_unlock(&channel->quieting);
}

static struct mark *take_touched(struct comms_channel *channel)
{
	struct mark *mark;

	if (!channel->alone)
		return atomic_exchange(&channel->touched, NULL);
	mark = atomic_load_explicit(&channel->touched, memory_order_relaxed);
	atomic_store_explicit(&channel->touched, NULL, memory_order_relaxed);
	return mark;
}

void ucx_quiet(struct comms_channel *channel)
{
	struct mark *flushed = NULL, *next;

	channel = or_main(channel);
	if (!begin_quiet(channel))
		return;
	for (struct mark *mark = take_touched(channel); mark; mark = next) {
		next = mark->next; /* once untouched, others may put it on the list again */
		atomic_store_explicit(&mark->touched, false, memory_order_release);
		start_flush(mark, &flushed);
	}
	finish_flushes(channel, flushed);
	end_quiet(channel);
}

static struct mark *known_mark(struct comms_channel *channel, int pe)
{
	struct ucx_peer *peer = channel->alone ? channel->peers[place_of(channel, pe)]
					       : __atomic_load_n(&comms_peer(pe)->ucx, __ATOMIC_ACQUIRE);

	return peer ? find_mark(channel, peer) : NULL;
}

/* The marks stay: to take one out of the list would cost more than another flush of it. */
void ucx_quiet_pes(struct comms_channel *channel, const int *pes, size_t n)
{
	struct mark *flushed = NULL;

	channel = or_main(channel);
	if (!begin_quiet(channel))
		return;
	for (size_t i = 0; i < n; i++) {
		struct mark *mark = known_mark(channel, pes[i]);

		if (mark && atomic_load(&mark->touched) && !mark->in_flush)
			start_flush(mark, &flushed);
	}
	finish_flushes(channel, flushed);
	end_quiet(channel);
}

/*
 * What UCX has handed to the network stays in order behind a fence. What it still keeps (a large nonblocking put) may be
 * overtaken over shared memory, where a later message goes out as soon as there is room; then only completion orders.
 */
void ucx_fence(struct comms_channel *channel)
{
	channel = or_main(channel);
	if (atomic_load_explicit(&channel->unsent, memory_order_acquire) > 0) {
		ucx_quiet(channel);
	} else if (atomic_load_explicit(&channel->touched, memory_order_acquire)) {
		if (channel->alone)
			take_turn(channel);
		ucx_check(ucp_worker_fence(channel->worker), "ucp_worker_fence");
		channel_end(channel);
	}
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
		peer->mark.flushing = ucp_ep_close_nbx(peer->endpoint, &ucx_plain);
	}
	for (unsigned i = 0; i < channel->places; i++)
		if (channel->peers[i]) {
			channel_finish(channel, channel->peers[i]->mark.flushing);
			free(channel->peers[i]);
		}
	free(channel->peers);
}

static void take_down(struct comms_channel *channel)
{
	leave_list(channel);
	close_connections(channel);
	ucp_worker_destroy(channel->worker);
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

/* A flush that has come back says that all has arrived; the callbacks that say so of single operations may still run. */
void ucx_channel_close(struct comms_channel *channel)
{
	ucx_quiet(channel);
	if (channel->alone && channel->worker) {
		atomic_fetch_sub(&alone.in_use, 1);
		if (!keep_as_spare(channel))
			take_down(channel);
		return;
	}
	COMMS_WAIT(COMMS_NOWHERE, atomic_load(&channel->unsent) == 0);
	free_marks(channel);
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
