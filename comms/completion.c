/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion of operations over UCX: what a channel has touched, waiting for one operation, quiet, fence.
 *
 * Touched: a connection is marked by a channel from an operation until the quiet that completes it. The marked ones form
 * a list: operations push, quiet takes all at once. An operation is sent first and marked then; were it the other way
 * round, a quiet of another thread could take the mark away before there was anything to flush. Being marked and
 * being on the list are one step: who finds the mark there relies on the list.
 *
 * Complete: most operations are complete after a flush of the connection, a question to the other side. Where software there answers
 * each operation anyway, and in their order, operations that bring an answer of their own need no further question (see ask in
 * ucx_ops.c): a quiet then waits for as many answers as had been asked for.
 *
 * Gate: a flush of UCX waits for as many answers on a connection as requests had been sent. Where messages may overtake each
 * other (ucx.overtaking), it passes over requests that UCX still holds back, and takes the answer to another thread's
 * later operation for that to one of ours. So there a flush begins when UCX holds nothing back, and has the connection to
 * itself: operations on shared connections count themselves in and out, and a flush keeps new ones out. With one thread
 * only those count that UCX holds back (ucx.gated).
 */
#include <poll.h>

#include "comms.h"
#include "company.h"
#include "hang.h"
#include "ucx_inside.h"
#include "wait.h"

#define ASKED_MOST 512	  /* operations to one PE that wait for their answers */
#define LOOKS_IN_CROWD 64 /* some 30 us */

static void put_on_list(struct mark *mark)
{
	struct comms_channel *channel = mark->channel;

	if (atomic_load_explicit(&mark->touched, memory_order_acquire))
		return;
	if (channel->alone) {
		atomic_store_explicit(&mark->touched, true, memory_order_relaxed);
		mark->next = atomic_load_explicit(&channel->touched, memory_order_relaxed);
		atomic_store_explicit(&channel->touched, mark, memory_order_relaxed);
		return;
	}
	pthread_mutex_lock(&channel->marking);
	if (!atomic_load(&mark->touched)) {
		mark->next = atomic_load(&channel->touched);
		atomic_store(&channel->touched, mark);
		atomic_store(&mark->touched, true);
	}
	pthread_mutex_unlock(&channel->marking);
}

/* A quiet takes the mark from the list before it looks whether to flush. */
void channel_touch(struct mark *mark)
{
	if (!atomic_load(&mark->unflushed))
		atomic_store(&mark->unflushed, true);
	put_on_list(mark);
}

static bool is_answered(struct mark *mark, unsigned count)
{
	return (int)(atomic_load(&mark->answered) - count) >= 0;
}

void channel_answered(struct mark *mark)
{
	atomic_fetch_add(&mark->answered, 1);
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

/* What an alone channel waits for: an operation; or answers; or, if both are NULL, that UCX holds nothing back. */
struct awaited {
	ucs_status_ptr_t request;
	struct mark *mark;
	unsigned count;
};

static bool is_under_way(struct comms_channel *channel, const struct awaited *what)
{
	if (what->request)
		return ucp_request_check_status(what->request) == UCS_INPROGRESS;
	if (what->mark)
		return !is_answered(what->mark, what->count);
	return atomic_load_explicit(&channel->unsent, memory_order_relaxed) > 0;
}

/*
 * Who looks keeps a processor from the other threads that have a worker of their own, and from whoever they ask; UCX wakes each of them by
 * itself, so sleeping costs little.
 */
static unsigned looks_alone(void)
{
	unsigned looks = comms_spins();

	return channels_crowd() && looks > LOOKS_IN_CROWD ? LOOKS_IN_CROWD : looks;
}

/* The main worker is served by its thread; without one, who waits must do it, for other PEs may do so only then. */
static void wait_alone(struct comms_channel *channel, const struct awaited *what)
{
	unsigned looks = looks_alone(), naps = 0;

	while (is_under_way(channel, what)) {
		if (ucp_worker_progress(channel->worker))
			continue;
		if (!ucx.served)
			comms_spin();
		if (looks > 0)
			looks = company_fewer(looks);
		else
			sleep_alone(channel, &naps);
		if (naps >= COMMS_SLOW)
			comms_wait_is_slow();
	}
	if (naps >= COMMS_SLOW)
		comms_wait_is_over();
}

ucs_status_t channel_finish(struct comms_channel *channel, ucs_status_ptr_t request)
{
	ucs_status_t status;

	if (!UCS_PTR_IS_PTR(request))
		return UCS_PTR_STATUS(request);
	if (channel->alone)
		wait_alone(channel, &(struct awaited){.request = request});
	else
		COMMS_WAIT(COMMS_NOWHERE, ucp_request_check_status(request) != UCS_INPROGRESS);
	status = ucp_request_check_status(request);
	ucp_request_free(request);
	return status;
}

static void await_answers(struct comms_channel *channel, struct mark *mark, unsigned count)
{
	if (is_answered(mark, count))
		return;
	if (channel->alone)
		wait_alone(channel, &(struct awaited){.mark = mark, .count = count});
	else
		COMMS_WAIT(COMMS_NOWHERE, is_answered(mark, count));
}

/* Counted before it is sent, or another thread's quiet could take its answer for that to an operation sent later. */
void channel_ask(struct mark *mark)
{
	atomic_fetch_add(&mark->asked, 1);
}

/* UCX keeps something of each until its answer is there: not of a million. */
void channel_asked(struct mark *mark)
{
	put_on_list(mark);
	await_answers(mark->channel, mark, atomic_load(&mark->asked) - ASKED_MOST);
}

/* --- The gate --- */

bool connection_try_to_enter(struct ucx_peer *peer)
{
	atomic_fetch_add(&peer->inside, 1);
	if (COMMS_LIKELY(!atomic_load(&peer->closed)))
		return true;
	atomic_fetch_sub(&peer->inside, 1);
	return false;
}

void connection_enter(struct ucx_peer *peer)
{
	while (!connection_try_to_enter(peer))
		COMMS_WAIT(COMMS_NOWHERE, !atomic_load(&peer->closed));
}

void connection_leave(struct ucx_peer *peer)
{
	atomic_fetch_sub(&peer->inside, 1);
}

static void close_gate(struct comms_channel *channel, struct ucx_peer *peer)
{
	if (channel->alone) {
		wait_alone(channel, &(struct awaited){0});
		return;
	}
	while (atomic_exchange(&peer->closed, true))
		COMMS_WAIT(COMMS_NOWHERE, !atomic_load(&peer->closed));
	COMMS_WAIT(COMMS_NOWHERE, atomic_load(&peer->inside) == 0);
}

static void open_gate(struct ucx_peer *peer)
{
	atomic_store(&peer->closed, false);
}

/* --- Completion --- */

/* One after the other: two threads that held a gate each could wait for each other's. */
static ucs_status_ptr_t flush_behind_gate(struct comms_channel *channel, struct ucx_peer *peer)
{
	ucs_status_t status;

	close_gate(channel, peer);
	status = channel_finish(channel, ucp_ep_flush_nbx(peer->endpoint, &ucx_plain));
	open_gate(peer);
	return UCS_STATUS_PTR(status);
}

/*
 * Connection by connection: UCX's flush of a whole worker passes over what still waits to be sent over shared memory, and
 * would wait for other channels.
 */
static void start_flush(struct comms_channel *channel, struct mark *mark)
{
	atomic_store_explicit(&mark->in_flush, true, memory_order_relaxed);
	mark->awaited = atomic_load(&mark->asked);
	mark->flushing = NULL;
	if (!atomic_exchange(&mark->unflushed, false))
		return;
	if (COMMS_UNLIKELY(ucx.overtaking))
		mark->flushing = flush_behind_gate(channel, mark->peer);
	else
		mark->flushing = ucp_ep_flush_nbx(mark->peer->endpoint, &ucx_plain);
}

static void finish_flushes(struct comms_channel *channel, struct mark *flushed)
{
	struct hang_answer before = hang_answer;

	for (; flushed; flushed = flushed->next_flushed) {
		hang_answer = (struct hang_answer){"shmem_quiet (or what includes it)", flushed->peer->pe};
		ucx_must_succeed(channel_finish(channel, flushed->flushing), "ucp_ep_flush_nbx");
		await_answers(channel, flushed, flushed->awaited);
		atomic_store_explicit(&flushed->in_flush, false, memory_order_relaxed);
	}
	hang_answer = before;
}

/* A shared channel's lock makes a quiet wait for one of another thread that has taken the list. */
static bool begin_quiet(struct comms_channel *channel)
{
	if (channel->alone) {
		if (!atomic_load_explicit(&channel->touched, memory_order_relaxed))
			return false;
		channel_take_turn(channel);
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
		channel_end_turn(channel);
		return;
	}
	atomic_store(&channel->quiet_under_way, false);
	pthread_mutex_unlock(&channel->quieting);
}

/* Once untouched, a mark may be put on the list again; so those taken have a chain of their own. */
static struct mark *take_touched(struct comms_channel *channel)
{
	struct mark *taken;

	if (!channel->alone)
		pthread_mutex_lock(&channel->marking);
	taken = atomic_load_explicit(&channel->touched, memory_order_relaxed);
	atomic_store_explicit(&channel->touched, NULL, memory_order_relaxed);
	for (struct mark *mark = taken; mark; mark = mark->next) {
		mark->next_flushed = mark->next;
		atomic_store_explicit(&mark->touched, false, memory_order_relaxed);
	}
	if (!channel->alone)
		pthread_mutex_unlock(&channel->marking);
	return taken;
}

void ucx_quiet(struct comms_channel *channel)
{
	struct mark *taken;

	channel = channel_or_main(channel);
	if (!begin_quiet(channel))
		return;
	taken = take_touched(channel);
	for (struct mark *mark = taken; mark; mark = mark->next_flushed)
		start_flush(channel, mark);
	finish_flushes(channel, taken);
	end_quiet(channel);
}

/* The marks stay: to take one out of the list would cost more than another flush of it. */
void ucx_quiet_pes(struct comms_channel *channel, const int *pes, size_t n)
{
	struct mark *flushed = NULL;

	channel = channel_or_main(channel);
	if (!begin_quiet(channel))
		return;
	for (size_t i = 0; i < n; i++) {
		struct mark *mark = channel_known_mark(channel, pes[i]);

		if (!mark || !atomic_load(&mark->touched) || mark->in_flush)
			continue;
		start_flush(channel, mark);
		mark->next_flushed = flushed;
		flushed = mark;
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
	channel = channel_or_main(channel);
	if (atomic_load_explicit(&channel->unsent, memory_order_acquire) > 0) {
		ucx_quiet(channel);
	} else if (atomic_load_explicit(&channel->touched, memory_order_acquire)) {
		if (channel->alone)
			channel_take_turn(channel);
		ucx_check(ucp_worker_fence(channel->worker), "ucp_worker_fence");
		if (channel->alone)
			channel_end_turn(channel);
	}
}

