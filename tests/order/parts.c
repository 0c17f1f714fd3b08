/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scenarios over functions of the library, where a public routine would bring a network or much
 * else along.
 */
#include <stdlib.h>
#include <string.h>

#include <shmem.h>

#include "comms/ops/ops.h"
#include "comms/ops/buffers.h"
#include "comms/plans/commands.h"
#include "comms/wait/contention.h"
#include "comms/wait/hang.h"
#include "comms/core/memory.h"
#include "comms/net/ucx/ucx_inside.h"
#include "comms/rdma/transfers.h"
#include "comms/wait/lists.h"
#include "comms/wait/wait.h"
#include "scenarios.h"

/* --- First contact: the threads of a PE connect to the same PE at once --- */

static struct comms_peer *first_peer;

void open_contacts(void)
{
	first_peer = comms_connect(1 - me);
}

/* The model lies in what the first record maps, so that one stays. */
void before_contacts(void)
{
	struct comms_peer *peer = comms_peer(1 - me);

	atomic_store_explicit(&comms.peers[1 - me], &comms.unconnected, memory_order_relaxed);
	if (peer == first_peer || peer == &comms.unconnected)
		return;
	for (int i = 0; i < COMMS_FIXED_SEGMENTS; i++)
		if (peer->reach[i].base)
			memory_unmap(peer->reach[i].base, peer->reach[i].size);
	free(peer->info);
	free(peer);
	explore_forget_mappings();
}

void contacts(uint64_t round)
{
	const struct comms_peer *peer = comms_connect(1 - me);

	(void)round;
	EXPLORE_CHECK(peer->pe == 1 - me && peer->connected && peer->same_program);
	EXPLORE_CHECK(peer->reach[COMMS_HEAP].size == first_peer->reach[COMMS_HEAP].size);
	EXPLORE_CHECK(peer->wakeup == &((struct comms_system *)(void *)peer->reach[COMMS_HEAP].base)->wakeup);
	EXPLORE_CHECK(comms_peer(1 - me) == peer);
}

/* --- The user of a private channel, and the thread that progresses it while it lies idle --- */

static struct comms_channel *channel;
static struct ucx_peer fake_peer;
static uint64_t in_worker; /* what a worker of UCX does not protect */

static unsigned fake_progress(ucp_worker_h worker)
{
	if (worker == channel->worker)
		in_worker++;
	return 0;
}

static ucs_status_t fake_create(ucp_context_h context, const ucp_worker_params_t *params, ucp_worker_h *worker)
{
	(void)context;
	(void)params;
	*worker = (ucp_worker_h)&fake_peer;
	return UCS_OK;
}

static ucs_status_t fake_handler(ucp_worker_h worker, const ucp_am_handler_param_t *handler)
{
	(void)worker;
	(void)handler;
	return UCS_OK;
}

static ucs_status_t fake_signal(ucp_worker_h worker)
{
	(void)worker;
	return UCS_OK;
}

/* No UCX is loaded. The channel finds a connection to the PE wherever it searches for one. */
void open_channels(void)
{
	struct comms_channel *used;

	ucp.worker_progress = fake_progress;
	ucp.worker_create = fake_create;
	ucp.worker_set_am_recv_handler = fake_handler;
	ucp.worker_signal = fake_signal;
	used = channel = ucx_channel_open(true);
	channel->places = 8;
	channel->peers = calloc(channel->places, sizeof(struct ucx_peer *));
	must(channel->peers != NULL, "no memory");
	for (unsigned i = 0; i < channel->places; i++)
		channel->peers[i] = &fake_peer;
	fake_peer.pe = me;
	fake_peer.mark.peer = &fake_peer;
	atomic_store_explicit(&fake_peer.mark.channel, channel, memory_order_relaxed);
	channel_end(channel_begin(&used, comms_peer(me)));
	atomic_store_explicit(&channel->touched, &fake_peer.mark, memory_order_relaxed);
}

void channels(uint64_t round)
{
	struct comms_channel *used = channel;

	(void)round;
	for (int i = 0; i < 8 && thread == 1; i++)
		channels_push();
	for (int i = 0; i < 3 && thread == 0; i++) {
		struct mark *mark = channel_begin(&used, comms_peer(me));

		in_worker++;
		channel_end(mark);
	}
}

/*
 * --- An arrival while another thread is inside the list: who serves the network moves lists once,
 * and leaves ---
 */

static struct comms_list list = {.place = COMMS_LISTS - 1, .routine = "shmemx_plan_start"};
static _Atomic uint64_t arrived, started;

void open_arrivals(void)
{
	struct comms_command wait = {.kind = COMMS_AWAIT, .until = &arrived, .when = {1, 1}};

	comms_queue_add(comms_list_queue(&list), &wait);
}

void arrivals(uint64_t round)
{
	if (thread == 0) {
		comms_list_start(&list);
		atomic_store_explicit(&started, round, memory_order_release);
		wait_lists.move();
		while (atomic_load_explicit(&list.finished, memory_order_acquire) != round)
			;
		return;
	}
	while (atomic_load_explicit(&started, memory_order_acquire) != round)
		;
	atomic_store_explicit(&arrived, round, memory_order_release);
	wait_lists.move();
}

/*
 * --- Registered buffers: one comes and goes, another thread looks for it, another PE asks whether
 * it is there ---
 */

static struct {
	struct comms_buffer buffer;
	uint64_t come, asked, gone;
	uint64_t memory[2];
} * shown;

void open_records(void)
{
	shown = shmem_calloc(1, sizeof *shown);
	explore_reachable(shown, sizeof *shown);
}

static void come_and_go(uint64_t round)
{
	struct comms_buffer buffer;

	must(comms_buffer_share(shown->memory, sizeof shown->memory, &buffer), "no room for a buffer");
	shmem_putmem(&shown->buffer, &buffer, sizeof buffer, 1);
	shmem_fence();
	shmem_uint64_p(&shown->come, round, 1);
	shmem_uint64_wait_until(&shown->asked, SHMEM_CMP_EQ, round);
	must(comms_buffer_unshare(&buffer), "the buffer cannot be given back");
	shmem_uint64_put_signal(&shown->memory[0], &round, 1, &shown->gone, round, SHMEM_SIGNAL_SET, 1);
}

static void ask(uint64_t round)
{
	shmem_uint64_wait_until(&shown->come, SHMEM_CMP_EQ, round);
	EXPLORE_CHECK(!comms_buffer_is_gone(&shown->buffer));
	shmem_uint64_p(&shown->asked, round, 0);
	shmem_uint64_wait_until(&shown->gone, SHMEM_CMP_EQ, round);
	EXPLORE_CHECK(comms_buffer_is_gone(&shown->buffer));
}

void records(uint64_t round)
{
	struct comms_buffer found;

	if (me == 0 && thread == 0)
		come_and_go(round);
	else if (thread == 0)
		ask(round);
	for (int i = 0; i < 2 && me == 0 && thread == 1; i++)
		if (comms_buffer_find(&shown->memory[1], sizeof shown->memory[1], &found))
			EXPLORE_CHECK(found.base == (uint64_t)(uintptr_t)shown->memory &&
				      found.size == sizeof shown->memory);
}

/* --- What a PE waits for, as another PE reads it --- */

void hangs(uint64_t round)
{
	struct comms_waiting waiting;

	(void)round;
	if (me == 0) {
		hang_note_peer("shmem_wait", "a word of", 1);
		comms_wait_is_slow(false);
		comms_wait_is_over();
		return;
	}
	for (int i = 0; i < 2; i++) {
		if (!hang_read(0, &waiting))
			continue;
		EXPLORE_CHECK(waiting.kind == COMMS_WAITS_NOT || waiting.kind == COMMS_WAITS_FOR_PE);
		EXPLORE_CHECK(waiting.kind == COMMS_WAITS_NOT || waiting.pe == 1);
		EXPLORE_CHECK(!strcmp(waiting.routine, waiting.kind == COMMS_WAITS_NOT ? "" : "shmem_wait"));
	}
}

/* --- How busy the processors are, by several threads that wait --- */

void open_contention(void)
{
	comms.minds_contention = true;
	contention_start(20000);
}

void contention(uint64_t round)
{
	(void)round;
	for (unsigned i = 0; i < 3; i++) {
		unsigned polls = contention_poll((8 - i) * CONTENTION_POLLS);

		contention_sample();
		EXPLORE_CHECK(polls > 0 && comms_spins() <= 20000);
	}
}

/* --- The thread of plans, when it must end --- */

void executor_stops(uint64_t round)
{
	(void)round;
	comms_executor_start("shmemx_plan_start");
	comms_executor_wake();
	comms_executor_stop();
}
