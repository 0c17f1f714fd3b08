/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Epochs: operations of a private channel must arrive even if its user now computes, or waits
 * elsewhere for the answer, because a socket may have been full. So the thread that serves the main
 * worker now and then progresses the workers of idle channels that have touched a connection. This
 * must not cost the user a lock:
 *
 * user    epoch++ (odd: in use) ; read pushed ; ... ; epoch++
 * pusher  pushed = true ; membarrier ; read epoch
 *
 * membarrier provides the missing fence between the user's two accesses, so at least one of the two
 * sees the other. A pusher that sees another epoch than the one it knew yields; a user that sees
 * the pusher waits for the few calls that it makes.
 */
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "comms/ops/ops.h"
#include "rte/clock.h"
#include "ucx_inside.h"

#define PUSH_EVERY 10 /* ms between checks for idle channels */
#define PUSH_AGAIN 1  /* ms, after a check that found work */
#define PUSH_MOST 256 /* calls for one channel before its user gets it back */

struct ucx_private ucx_private = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool epochs_have_membarrier;

/*
 * Before there are threads this is a flag; later the kernel would have to wait for every processor.
 */
__attribute__((constructor)) static void register_epochs_membarrier(void)
{
	epochs_have_membarrier = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

static void short_sleep(long nanoseconds)
{
	struct timespec time = {0, nanoseconds};

	nanosleep(&time, NULL);
}

static __attribute__((noinline)) void wait_for_pusher(struct comms_channel *channel)
{
	/* channel_enter then acquires. */
	while (atomic_load_explicit(&channel->pushed, memory_order_relaxed))
		short_sleep(20000);
}

void channel_enter(struct comms_channel *channel)
{
	unsigned epoch = atomic_load_explicit(&channel->epoch, memory_order_relaxed);

	for (;;) {
		atomic_store_explicit(&channel->epoch, epoch + 1, memory_order_relaxed);
		if (COMMS_LIKELY(epochs_have_membarrier))
			atomic_signal_fence(memory_order_seq_cst);
		else
			atomic_thread_fence(memory_order_seq_cst);
		if (COMMS_LIKELY(!atomic_load_explicit(&channel->pushed, memory_order_acquire)))
			return;
		atomic_store_explicit(&channel->epoch, epoch, memory_order_relaxed);
		wait_for_pusher(channel);
	}
}

void channel_leave(struct comms_channel *channel)
{
	unsigned epoch = atomic_load_explicit(&channel->epoch, memory_order_relaxed);

	atomic_store_explicit(&channel->epoch, epoch + 1, memory_order_release);
}

/* Has the channel been unused since the last check, with something that may not have arrived? */
static bool lies_idle(struct comms_channel *channel)
{
	unsigned epoch = atomic_load_explicit(&channel->epoch, memory_order_relaxed);
	bool idle = epoch % 2 == 0 && epoch == channel->epoch_seen;

	channel->epoch_seen = epoch;
	return idle && atomic_load_explicit(&channel->touched, memory_order_relaxed);
}

/*
 * Returns the channel at once if its user has come meanwhile. The membarrier, or the fence, is
 * behind the load of lies_idle: stores of the user before the observed epoch precede the accesses
 * here.
 */
static bool push_channel(struct comms_channel *channel)
{
	bool worked = false;

	if (atomic_load_explicit(&channel->epoch, memory_order_relaxed) == channel->epoch_seen)
		for (int i = 0; i < PUSH_MOST && ucx_worker_progress(channel->worker); i++)
			worked = true;
	atomic_store_explicit(&channel->pushed, false, memory_order_release);
	return worked;
}

/* One membarrier for all channels. */
static bool push_idle_channels(void)
{
	bool some = false, worked = false;

	for (struct comms_channel *channel = ucx_private.first; channel; channel = channel->next) {
		channel->offered = lies_idle(channel);
		if (channel->offered)
			atomic_store_explicit(&channel->pushed, true, memory_order_relaxed);
		some |= channel->offered;
	}
	if (!some)
		return false;
	if (epochs_have_membarrier)
		syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
	else
		atomic_thread_fence(memory_order_seq_cst);
	for (struct comms_channel *channel = ucx_private.first; channel; channel = channel->next)
		if (channel->offered)
			worked |= push_channel(channel);
	return worked;
}

int channels_push(void)
{
	int64_t wanted;

	if (atomic_load_explicit(&ucx_private.in_use, memory_order_relaxed) == 0)
		return -1;
	if (pthread_mutex_trylock(&ucx_private.lock))
		return PUSH_EVERY;
	wanted = ucx_private.next_push - rte_clock_ms();
	if (wanted <= 0) {
		wanted = push_idle_channels() ? PUSH_AGAIN : PUSH_EVERY;
		ucx_private.next_push = rte_clock_ms() + wanted;
	}
	pthread_mutex_unlock(&ucx_private.lock);
	return (int)wanted;
}

bool channels_oversubscribed(void)
{
	return atomic_load_explicit(&ucx_private.in_use, memory_order_relaxed) >= ucx.processors;
}
