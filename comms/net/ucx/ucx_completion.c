/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion of operations over UCX: the connections that a channel has touched, waiting for one
 * operation, quiet, fence.
 *
 * Touched: a channel marks a connection from an operation until the quiet that completes it. The
 * marked ones form a list: operations push, quiet takes all at once. An operation is first sent and
 * then marked; in the other order, a quiet of another thread could remove the mark before there was
 * anything to complete. Marking and pushing are one step: a thread that finds the mark set relies
 * on the list.
 *
 * Complete: a put that is a message is complete when the target has acknowledged its number, or a
 * later one, of the connection; the mark has the last number that a quiet must wait for. A UCX put
 * is complete after a flush of the connection. Operations with a result are counted until it
 * arrives.
 *
 * Order: messages of a connection are carried out in order, so a fence between them does nothing.
 * If there are UCX puts, only completion orders: see ucx_fence.
 */
#include <poll.h>

#include "comms/ops/ops.h"
#include "comms/core/comms.h"
#include "comms/wait/contention.h"
#include "comms/core/awaited.h"
#include "comms/wait/hang.h"
#include "ucx_inside.h"
#include "comms/wait/wait.h"
#include "comms/observe/counters.h"

#define POLLS_OVERSUBSCRIBED 64 /* some 30 us */
#define SLOW_WAIT 100000000	/* ns; other waits measure this in sleeps */

void channel_put_on_list(struct mark *mark)
{
	struct comms_channel *channel = mark_channel(mark);

	if (atomic_load_explicit(&mark->touched,
				 /* After the store of what to wait for: see take_touched. */
				 memory_order_seq_cst))
		return;
	if (channel->private) {
		atomic_store_explicit(&mark->touched, true, memory_order_relaxed);
		mark->next = atomic_load_explicit(&channel->touched, memory_order_relaxed);
		atomic_store_explicit(&channel->touched, mark, memory_order_relaxed);
		return;
	}
	pthread_mutex_lock(&channel->marking);
	if (!atomic_load_explicit(&mark->touched, memory_order_seq_cst)) {
		mark->next = atomic_load_explicit(&channel->touched, memory_order_seq_cst);
		atomic_store_explicit(&channel->touched, mark, memory_order_seq_cst);
		atomic_store_explicit(&mark->touched, true, memory_order_seq_cst);
	}
	pthread_mutex_unlock(&channel->marking);
}

/* A quiet takes the mark from the list before it reads what to wait for. */
void channel_touch(struct mark *mark)
{
	if (!atomic_load_explicit(&mark->unflushed, memory_order_seq_cst))
		atomic_store_explicit(&mark->unflushed, true, memory_order_seq_cst);
	channel_put_on_list(mark);
}

/* Threads that share the channel may get here in another order than their messages. */
void channel_sent(struct mark *mark, uint64_t sequence)
{
	uint64_t known = atomic_load_explicit(&mark->sent, memory_order_seq_cst);

	while (known < sequence && !atomic_compare_exchange_weak_explicit(&mark->sent, &known, sequence,
									  memory_order_seq_cst, memory_order_seq_cst))
		;
	channel_put_on_list(mark);
}

/* --- Waiting --- */

/* Sleeps until UCX has something for the channel, or for this PE if no server runs. */
static void sleep_undisturbed(struct comms_channel *channel, unsigned sleeps)
{
	struct pollfd events[] = {{.events = POLLIN}, {.fd = ucx.event_fd, .events = POLLIN}};
	int milliseconds = 1 << (sleeps < 4 ? sleeps : 4);

	if (ucp.worker_get_efd(channel->worker, &events[0].fd) != UCS_OK || ucp.worker_arm(channel->worker) != UCS_OK)
		return;
	if (!ucx.served && ucp.worker_arm(ucx.main.worker) != UCS_OK)
		return;
	if (ucx.longest_sleep > 0)
		milliseconds = ucx.longest_sleep;
	poll(events, ucx.served ? 1 : 2, milliseconds);
}

/*
 * How often a thread with a worker of its own polls before it sleeps: seldom if threads and PEs are
 * more than the processors, because polling keeps a processor from the threads and PEs that the
 * result depends on. Sleeping then costs little: each worker has its own event descriptor, so data
 * wakes only the thread that waits for it.
 */
static unsigned polls_undisturbed(void)
{
	unsigned polls = comms_spins();

	return channels_oversubscribed() && polls > POLLS_OVERSUBSCRIBED ? POLLS_OVERSUBSCRIBED : polls;
}

/*
 * The server progresses the main worker; without one, a waiting thread must, because other PEs may
 * depend on it.
 */
static void wait_undisturbed(struct comms_channel *channel, channel_condition *holds, const void *what)
{
	unsigned polls = polls_undisturbed(), sleeps = 0;
	uint64_t began = 0;
	bool slow = false;

	while (!holds(channel, what) && !comms_wait_ends()) {
		if (ucx_worker_progress(channel->worker))
			continue;
		if (!ucx.served)
			comms_spin();
		if (polls > 0) {
			polls = contention_fewer(polls);
			continue;
		}
		if (sleeps == 0)
			began = counters_clock();
		sleep_undisturbed(channel, sleeps++);
		slow = counters_clock() - began >= SLOW_WAIT;
		if (slow)
			comms_wait_is_slow(true);
	}
	if (slow)
		comms_wait_is_over();
}

void channel_wait(struct comms_channel *channel, channel_condition *holds, const void *what)
{
	if (holds(channel, what))
		return;
	if (channel->private)
		wait_undisturbed(channel, holds, what);
	else
		COMMS_WAIT(COMMS_NOWHERE, holds(channel, what));
}

static bool is_finished(const struct comms_channel *channel, const void *request)
{
	(void)channel;
	return ucp.request_check_status((void *)(uintptr_t)request) != UCS_INPROGRESS;
}

ucs_status_t channel_finish(struct comms_channel *channel, ucs_status_ptr_t request)
{
	ucs_status_t status;

	if (!UCS_PTR_IS_PTR(request))
		return UCS_PTR_STATUS(request);
	channel_wait(channel, is_finished, request);
	status = ucp.request_check_status(request);
	ucp.request_free(request);
	return status;
}

/* Waits for all messages of a connection up to a number. */
struct acknowledgement {
	struct ucx_peer *peer;
	uint64_t number;
};

static bool is_acknowledged(const struct comms_channel *channel, const void *waiting)
{
	const struct acknowledgement *wanted = waiting;

	(void)channel;
	return atomic_load_explicit(&wanted->peer->acknowledged, memory_order_seq_cst) >= wanted->number;
}

static bool is_other_half_over(const struct comms_channel *channel, const void *waiting)
{
	const struct mark *mark = waiting;

	(void)channel;
	return atomic_load_explicit(
		       &mark->unanswered[(atomic_load_explicit(&mark->half, memory_order_seq_cst) + 1) % 2],
		       memory_order_seq_cst) == 0;
}

/*
 * Waits for the results of all operations that had begun, but not for those that other threads
 * begin meanwhile, which might never end. An operation counts in the current half or, if it was
 * slow, in the one before. So this waits for the other half, swaps the two, and waits for the
 * previously current half.
 */
static void await_answers(struct comms_channel *channel, struct mark *mark)
{
	channel_wait(channel, is_other_half_over, mark);
	atomic_fetch_add_explicit(&mark->half, 1, memory_order_seq_cst);
	channel_wait(channel, is_other_half_over, mark);
}

/* --- Completion --- */

/* Connection by connection: UCX's flush of a whole worker would wait for other channels. */
static void start_flush(struct mark *mark)
{
	atomic_store_explicit(&mark->in_flush, true, memory_order_relaxed);
	mark->awaited = atomic_load_explicit(&mark->sent, memory_order_seq_cst);
	mark->flushing = atomic_exchange_explicit(&mark->unflushed, false, memory_order_seq_cst)
				 ? ucp.ep_flush_nbx(mark->peer->endpoint, &ucx_plain)
				 : NULL;
}

static void finish_flushes(struct comms_channel *channel, struct mark *flushed)
{
	struct comms_awaited before = comms_awaited;

	for (; flushed; flushed = flushed->next_flushed) {
		comms_awaited = (struct comms_awaited){"shmem_quiet (or what includes it)", flushed->peer->pe};
		ucx_must_succeed(channel_finish(channel, flushed->flushing), "a flush (ucp_ep_flush_nbx)",
				 flushed->peer->pe);
		channel_wait(channel, is_acknowledged, &(struct acknowledgement){flushed->peer, flushed->awaited});
		await_answers(channel, flushed);
		atomic_store_explicit(&flushed->in_flush, false, memory_order_relaxed);
	}
	comms_awaited = before;
}

/*
 * If several threads use the channel, the mark stays: a quiet of another thread must not take this
 * flush, still under way, for a completed one of its own.
 */
void channel_flush_puts(struct mark *mark)
{
	if (!atomic_load_explicit(&mark->unflushed, memory_order_seq_cst))
		return;
	if (mark_channel(mark)->private || !comms.threads)
		atomic_store_explicit(&mark->unflushed, false, memory_order_seq_cst);
	ucx_must_succeed(channel_finish(mark_channel(mark), ucp.ep_flush_nbx(mark->peer->endpoint, &ucx_plain)),
			 "a flush (ucp_ep_flush_nbx)", mark->peer->pe);
}

/* A shared channel's lock makes a quiet wait for one of another thread that has taken the list. */
static bool begin_quiet(struct comms_channel *channel)
{
	if (channel->private) {
		if (!atomic_load_explicit(&channel->touched, memory_order_relaxed))
			return false;
		channel_enter(channel);
		return true;
	}
	if (!atomic_load_explicit(&channel->touched, memory_order_seq_cst) &&
	    !atomic_load_explicit(&channel->quiet_under_way, memory_order_seq_cst))
		return false;
	pthread_mutex_lock(&channel->quieting);
	atomic_store_explicit(&channel->quiet_under_way, true, memory_order_seq_cst);
	return true;
}

static void end_quiet(struct comms_channel *channel)
{
	if (channel->private) {
		channel_leave(channel);
		return;
	}
	atomic_store_explicit(&channel->quiet_under_way, false, memory_order_seq_cst);
	pthread_mutex_unlock(&channel->quieting);
}

/* An untouched mark may be put on the list again, so the marks taken have a chain of their own. */
static struct mark *take_touched(struct comms_channel *channel)
{
	struct mark *taken;

	if (!channel->private)
		pthread_mutex_lock(&channel->marking);
	taken = atomic_load_explicit(&channel->touched, memory_order_relaxed);
	atomic_store_explicit(&channel->touched, NULL, memory_order_relaxed);
	for (struct mark *mark = taken; mark; mark = mark->next) {
		mark->next_flushed = mark->next;
		if (channel->private)
			atomic_store_explicit(&mark->touched, false, memory_order_relaxed);
		/* Before the read of what to wait for. */
		else
			atomic_store_explicit(&mark->touched, false, memory_order_seq_cst);
	}
	if (!channel->private)
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
		start_flush(mark);
	finish_flushes(channel, taken);
	end_quiet(channel);
}

/* The marks stay: removing one from the list would cost more than flushing it again. */
void ucx_quiet_pes(struct comms_channel *channel, const int *pes, size_t n)
{
	struct mark *flushed = NULL;

	channel = channel_or_main(channel);
	if (!begin_quiet(channel))
		return;
	for (size_t i = 0; i < n; i++) {
		struct mark *mark = channel_known_mark(channel, pes[i]);

		if (!mark || !atomic_load_explicit(&mark->touched, memory_order_seq_cst) ||
		    atomic_load_explicit(&mark->in_flush, memory_order_relaxed))
			continue;
		start_flush(mark);
		mark->next_flushed = flushed;
		flushed = mark;
	}
	finish_flushes(channel, flushed);
	end_quiet(channel);
}

/*
 * UCX's fence does not order messages and, since 1.16, orders the rest only by a flush of
 * everything, for which it blocks. So a fence is only recorded, and the next operation on a
 * connection used before it completes that connection first.
 */
void ucx_fence(struct comms_channel *channel)
{
	if (ucx.rma)
		atomic_fetch_add_explicit(&channel_or_main(channel)->fences, 1, memory_order_seq_cst);
}

void channel_order(struct mark *mark)
{
	unsigned fences;

	if (COMMS_LIKELY(!ucx.rma))
		return;
	fences = atomic_load_explicit(&mark_channel(mark)->fences, memory_order_seq_cst);
	if (fences == atomic_load_explicit(&mark->fences, memory_order_seq_cst))
		return;
	channel_flush_puts(mark);
	channel_wait(mark_channel(mark), is_acknowledged,
		     &(struct acknowledgement){mark->peer, atomic_load_explicit(&mark->sent, memory_order_seq_cst)});
	atomic_store_explicit(&mark->fences, fences,
			      /* Not earlier: another thread may come after the same fence. */
			      memory_order_seq_cst);
}
