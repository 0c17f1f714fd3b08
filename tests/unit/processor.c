/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * comms/core/processor.h: what a waiting PE executes runs here, and a wait for a store ends when it
 * comes, a thousand times.
 */
#include "comms/core/processor.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#include "tests/lib/unit.h"

#define ROUNDS 1000

static _Alignas(64) _Atomic uint64_t there;
static _Alignas(64) _Atomic uint64_t back;

static void wait_for(_Atomic uint64_t *word, uint64_t value)
{
	while (atomic_load_explicit(word, memory_order_acquire) != value) {
#if PROCESSOR_HAS_EVENTS
		if (processor_can_wait()) {
			processor_monitor(word);
			if (atomic_load_explicit(word, memory_order_acquire) != value)
				processor_wait_for_event();
			continue;
		}
#endif
		processor_pause();
	}
}

static void *answer(void *unused)
{
	for (uint64_t round = 1; round <= ROUNDS; round++) {
		wait_for(&there, round);
		atomic_store_explicit(&back, round, memory_order_release);
	}
	return unused;
}

int main(void)
{
	pthread_t other;
	time_t begin = time(NULL);

	EXPECT(!pthread_create(&other, NULL, answer, NULL), "no thread");
	for (uint64_t round = 1; round <= ROUNDS && !unit_failures; round++) {
		atomic_store_explicit(&there, round, memory_order_release);
		wait_for(&back, round);
	}
	pthread_join(other, NULL);
	EXPECT(atomic_load(&back) == ROUNDS, "the other thread answered %llu times",
	       (unsigned long long)atomic_load(&back));
	EXPECT(time(NULL) - begin < 60, "%d rounds took %ld s", ROUNDS, (long)(time(NULL) - begin));
#if PROCESSOR_HAS_EVENTS
	EXPECT(processor_ticks_per_second() > 0, "the clock has no frequency");
	begin = (time_t)processor_ticks();
	EXPECT(processor_ticks() >= (uint64_t)begin, "the clock goes backwards");
#endif
	return unit_failures > 0;
}
