/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clocks of a trace. PEs of one host share a clock. PE 0 compares its clock with that of every
 * other PE at the start and at the end: it takes the fastest of several round trips, and
 * interpolates between the two comparisons.
 */
#include "trace_clocks.h"

#include <fcntl.h>
#include <unistd.h>

#include "comms/ops/notify.h"
#include "comms/wait/wait.h"
#include "shmem/api.h"

#define QUESTIONS 16

uint64_t trace_clock_number(void)
{
	char text[128] = "";
	uint64_t number = 0xcbf29ce484222325;
	int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t used = file < 0 ? -1 : read(file, text, 64);

	if (file >= 0)
		close(file);
	if (used <= 0)
		return 0;
	if (readlink("/proc/self/ns/time", text + used, sizeof text - 1 - (size_t)used) < 0)
		text[used] = '\0'; /* a kernel without such namespaces */
	for (const char *c = text; *c; c++)
		number = (number ^ (uint8_t)*c) * 0x100000001b3;
	return number;
}

static bool shares_clock(struct trace_ring *ring, int pe)
{
	struct comms_peer *peer;
	uint64_t theirs;

	comms_connect(pe);
	if (comms_reach(ring, 1, pe, &peer))
		return true;
	comms_get(&theirs, &ring->clock, sizeof theirs, pe, "shmem_init");
	return theirs && theirs == ring->clock;
}

/* PE 0 asks, and the other PE answers with the time of its clock. */
struct comparison {
	int64_t ahead;	/* of PE 0's clock */
	uint64_t error; /* largest error of that */
	uint64_t when;	/* by the other PE's clock */
};

static struct comparison compare_clock(struct trace_ring *ring, int pe)
{
	struct comparison best = {.error = UINT64_MAX};

	for (int i = 0; i < QUESTIONS; i++) {
		uint64_t asked = counters_clock(), took,
			 number = atomic_load_explicit(&ring->answer, memory_order_relaxed) + 1;

		comms_notify(&ring->ask, number, pe, "shmem_finalize");
		COMMS_WAIT(&ring->answer, atomic_load_explicit(&ring->answer, memory_order_acquire) >= number);
		took = counters_clock() - asked;
		if (took / 2 + 1 < best.error)
			best = (struct comparison){(int64_t)(ring->reading - (asked + took / 2)), took / 2 + 1,
						   ring->reading};
	}
	return best;
}

static void answer_clock(struct trace_ring *ring)
{
	static uint64_t last_question;

	for (int i = 0; i < QUESTIONS; i++) {
		uint64_t now;

		COMMS_WAIT(&ring->ask, atomic_load_explicit(&ring->ask, memory_order_acquire) > last_question);
		last_question = atomic_load_explicit(&ring->ask, memory_order_relaxed);
		now = counters_clock();
		comms_put_notify(&ring->reading, &now, sizeof now, (struct comms_flag){&ring->answer, last_question}, 0,
				 "shmem_finalize");
	}
}

void trace_compare_clocks(struct trace_ring *ring, bool at_end)
{
	for (int pe = 1; comms.pe == 0 && pe < comms.n_pes; pe++) {
		struct comparison found = shares_clock(ring, pe) ? (struct comparison){0} : compare_clock(ring, pe);

		comms_put(at_end ? &ring->ahead_at_end : &ring->ahead, &found.ahead, sizeof found.ahead, pe,
			  "shmem_init");
		comms_put(&ring->error, &found.error, sizeof found.error, pe, "shmem_init");
		if (at_end)
			comms_put(&ring->ended, &found.when, sizeof found.when, pe, "shmem_init");
		else
			comms_put(&ring->zero, &ring->started, sizeof ring->started, pe, "shmem_init");
	}
	if (comms.pe != 0 && !shares_clock(ring, 0))
		answer_clock(ring);
	api_barrier_all("shmem_init");
}
