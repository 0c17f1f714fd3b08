/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting and meeting.
 *
 * Waiting: look a bounded number of times, then sleep on a futex. Never sched_yield alone: on kernels of
 * today it keeps the processor from whoever could make progress.
 *
 * Sleeper: sleepers++ ; membarrier ; look again ; futex_wait(word).   Changer: store ; load sleepers.
 * The changer has no fence between its two accesses. membarrier(GLOBAL_EXPEDITED) puts one into every
 * registered process that runs at that moment, so either the changer's load sees the sleeper, or the
 * sleeper's second look sees the store. Stores nobody rings for (through shmem_ptr, by a thread of this
 * PE, or where membarrier is missing) are found because every sleep is a nap of bounded length.
 *
 * Meeting, all PEs on one node: a counter and an epoch in the leader's memory. The last to arrive opens the next epoch.
 * Otherwise: dissemination, each PE telling the PE 1, 2, 4, ... further on. The words carry epochs that only
 * grow, so nothing is ever reset.
 */
#include "wait.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "comms.h"
#include "rte/rte.h"
#include "rte/settings.h"
#include "ucx.h"

#define NAP_SHORTEST 50000L	/* ns */
#define NAP_LONGEST 20000000L	/* ns */
#define SPINS_ALONE 1000	/* PEs have a processor each: some 20 us */
#define SPINS_CROWDED 20	/* they do not: the one we wait for may need ours */

static bool have_membarrier;

static long futex(_Atomic uint32_t *word, int operation, uint32_t value, const struct timespec *timeout)
{
	return syscall(SYS_futex, word, operation, value, timeout, NULL, 0);
}

/* Before there are threads this is a flag; later the kernel would have to wait for every processor. */
__attribute__((constructor)) static void register_membarrier(void)
{
	have_membarrier = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

void wait_start(void)
{
	long spins;

	if (setting_number(SETTING_SPIN, &spins) && spins <= INT32_MAX)
		comms.spin = (unsigned)spins;
	else if (!strcasecmp(setting_text(SETTING_SPIN), "auto"))
		comms.spin = rte.n_local <= rte_processors() ? SPINS_ALONE : SPINS_CROWDED;
	else
		rte_die_together("shmem_init", "SHMEM_SPIN=%s: give auto or a number", setting_text(SETTING_SPIN));
}

static void pause_processor(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

void comms_spin(void)
{
	if (!comms.ucx)
		pause_processor();
	else if (ucx_progress())
		comms_notify(comms_peer(comms.pe)); /* other threads of this PE may wait for what came */
}

uint32_t comms_bell_prepare(void)
{
	struct comms_bell *bell = &comms.system->bell;
	uint32_t key = atomic_load(&bell->word);

	atomic_fetch_add(&bell->sleepers, 1);
	if (have_membarrier)
		syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
	return key;
}

void comms_bell_cancel(void)
{
	atomic_fetch_sub(&comms.system->bell.sleepers, 1);
}

/* The longer the wait, the longer the naps: a bell ends one at once anyway. */
void comms_bell_sleep(uint32_t key, unsigned *naps)
{
	long nap = NAP_SHORTEST << (*naps < 9 ? *naps : 9);
	struct timespec timeout = {0, nap < NAP_LONGEST ? nap : NAP_LONGEST};

	++*naps;
	if (comms.ucx && !ucx_served())
		ucx_doze(timeout.tv_nsec);
	else
		futex(&comms.system->bell.word, FUTEX_WAIT, key, &timeout);
	comms_bell_cancel();
}

void comms_ring(struct comms_bell *bell)
{
	atomic_fetch_add(&bell->word, 1);
	futex(&bell->word, FUTEX_WAKE, INT32_MAX, NULL);
}

static void wait_for_epoch(struct comms_gate *gate, uint32_t old)
{
	const struct timespec nap = {0, NAP_LONGEST};

	for (unsigned looks = comms.spin; looks > 0; looks--) {
		if (atomic_load_explicit(&gate->epoch, memory_order_acquire) != old)
			return;
		comms_spin();
	}
	atomic_fetch_add(&gate->sleepers, 1);
	while (atomic_load(&gate->epoch) == old) {
		if (comms.ucx && !ucx_served())
			ucx_doze(NAP_SHORTEST);
		else
			futex(&gate->epoch, FUTEX_WAIT, old, &nap);
	}
	atomic_fetch_sub(&gate->sleepers, 1);
}

static void meet_on_node(void)
{
	struct comms_gate *gate = &comms.leader->gate;
	uint32_t old = atomic_load(&gate->epoch);

	if (atomic_fetch_add(&gate->arrived, 1) + 1 < (uint32_t)comms.n_node) {
		wait_for_epoch(gate, old);
		return;
	}
	atomic_store(&gate->arrived, 0);
	atomic_store(&gate->epoch, old + 1);
	if (atomic_load(&gate->sleepers))
		futex(&gate->epoch, FUTEX_WAKE, INT32_MAX, NULL);
}

struct sync_words {
	uint64_t epoch;		    /* syncs this PE has begun */
	_Atomic uint64_t heard[32]; /* by round: the epoch of the last word that came */
};
_Static_assert(sizeof(struct sync_words) <= WAIT_SCRATCH_BYTES, "scratch of comms_sync");

static void meet_everywhere(void)
{
	struct sync_words *mine = (struct sync_words *)comms.system->scratch;
	uint64_t epoch = ++mine->epoch;
	int round = 0;

	for (long step = 1; step < comms.n_pes; step *= 2, round++) {
		int to = (int)((comms.pe + step) % comms.n_pes);

		comms_put(&mine->heard[round], &epoch, sizeof epoch, to, __func__);
		COMMS_WAIT(atomic_load_explicit(&mine->heard[round], memory_order_acquire) >= epoch);
	}
}

void comms_sync(void)
{
	if (comms.n_pes == 1)
		return;
	atomic_thread_fence(memory_order_release);
	if (comms.n_node == comms.n_pes)
		meet_on_node();
	else
		meet_everywhere();
}
