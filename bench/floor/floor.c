/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The physical floor: what two processes on shared memory can do with plain loads, stores and
 * locked instructions. No OpenSHMEM library can be faster, and each of bench's measures has its
 * counterpart here.
 */
#include "floor.h"

#include <string.h>

const char driver_name[] = "floor";
const char driver_help[] =
	"floor [options] [sub-command ...]\n\n"
	"Measures what two processes, each on its own processor, can do on shared memory without any library.";

void driver_hand_over(int argc, char *argv[])
{
	(void)argc, (void)argv;
}

const struct measure measures[] =
	{{"store", "stores into the other's memory: in a loop, in windows that end with a fence, each with one", 2,
	  floor_store},
	 {"load", "loads of a word of the other's memory", 2, floor_load},
	 {"line", "a cache line there and back: half a round trip", 2, floor_line},
	 {"atomic", "locked instructions: by one process alone, and by both on one word", 2, floor_atomics},
	 {"flags", "both say that they are there and wait for the other: a barrier", 2, floor_flags},
	 {"copy", "copies into the other's memory, by several methods", 2, floor_copy},
	 {"copied", "a copy and a flag, there and back: half a round trip", 2, floor_copied},
	 {NULL, NULL, 0, NULL}};

struct floor_memory floor_memory;

enum { WORDS_BYTES = 4096 };

void floor_take_memory(void)
{
	struct floor_memory *m = &floor_memory;

	m->words = shared_take(WORDS_BYTES);
	m->from = shared_take(LARGEST_COPY);
	m->to = shared_take(LARGEST_COPY);
	m->back_from = shared_take(LARGEST_COPY);
	m->back_to = shared_take(LARGEST_COPY);
}

void floor_touch_memory(void)
{
	struct floor_memory *m = &floor_memory;
	size_t largest = 0;

	for (int i = 0; options.sizes[i] && options.sizes[i] <= LARGEST_COPY; i++)
		largest = options.sizes[i];
	memset(group.me == 0 ? m->from : m->to, 1, largest);
	memset(group.me == 0 ? m->back_to : m->back_from, 1, largest);
	if (group.me == 1)
		memset(m->words, 0, 4096);
}

/* A loop that process 0 runs alone. */
#define LOOP_OF_0(name, body)                                 \
	static double name(void *context, long n)             \
	{                                                     \
		volatile uint64_t *word = floor_memory.words; \
		double start = now_ns();                      \
                                                              \
		(void)context;                                \
		if (group.me)                                 \
			return 0;                             \
		for (long i = 0; i < n; i++) {                \
			body                                  \
		}                                             \
		__atomic_thread_fence(__ATOMIC_SEQ_CST);      \
		return now_ns() - start;                      \
	}

enum { WINDOW = 64 };

LOOP_OF_0(store_loop, *word = (uint64_t)i;)
LOOP_OF_0(store_fence, *word = (uint64_t)i; __atomic_thread_fence(__ATOMIC_SEQ_CST);)
LOOP_OF_0(store_window, for (int j = 0; j < WINDOW; j++) word[j] = (uint64_t)i;
	  __atomic_thread_fence(__ATOMIC_SEQ_CST);)
LOOP_OF_0(load_loop, (void)*word;)

void floor_store(void)
{
	harness_measure(&(struct spot){.measure = "store", .variant = "loop", .bytes = 8, .sample = store_loop});
	harness_measure(&(struct spot){.measure = "store", .variant = "fence", .bytes = 8, .sample = store_fence});
	harness_measure(&(struct spot){.measure = "store",
				       .variant = "window-64",
				       .bytes = 8,
				       .sample = store_window,
				       .operations = WINDOW});
}

void floor_load(void)
{
	harness_measure(&(struct spot){.measure = "load", .variant = "loop", .bytes = 8, .sample = load_loop});
}

/* --- There and back --- */

static double bounce(void *context, long n)
{
	static uint64_t count;
	const bool *polite = context;
	volatile uint64_t *ping = group.raw, *pong = group.raw + 64;
	double start = now_ns();

	for (long i = 0; i < n; i++) {
		count++;
		if (group.me == 0)
			*ping = count;
		while (*(group.me == 0 ? pong : ping) < count)
			if (*polite)
				relax();
		if (group.me == 1)
			*pong = count;
	}
	return now_ns() - start;
}

void floor_line(void)
{
	for (int polite = 0; polite < 2; polite++) {
		bool context = polite;

		group.raw[0] = group.raw[64] = 0;
		harness_measure(&(struct spot){.measure = "line",
					       .variant = polite ? "pause" : "spin",
					       .bytes = 8,
					       .sample = bounce,
					       .context = &context,
					       .operations = 2});
	}
}

static double exchange_flags(void *context, long n)
{
	static uint64_t count;
	volatile uint64_t *mine = group.raw + 128 + 64 * group.me, *other = group.raw + 128 + 64 * !group.me;
	double start = now_ns();

	(void)context;
	for (long i = 0; i < n; i++) {
		*mine = ++count;
		while (*other < count)
			;
	}
	return now_ns() - start;
}

void floor_flags(void)
{
	harness_measure(&(struct spot){.measure = "flags", .variant = "two", .sample = exchange_flags});
}

/* --- Locked instructions --- */

#define ATOMIC(name, operation)                               \
	static double name(void *context, long n)             \
	{                                                     \
		const bool *alone = context;                  \
		uint64_t *word = floor_memory.words, old = 0; \
		double start = now_ns();                      \
                                                              \
		if (*alone && group.me)                       \
			return 0;                             \
		for (long i = 0; i < n; i++)                  \
			operation;                            \
		keep(&old);                                   \
		return now_ns() - start;                      \
	}

ATOMIC(fetch_add, old += __atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST))
ATOMIC(swap, old += __atomic_exchange_n(word, (uint64_t)i, __ATOMIC_SEQ_CST))
/* A failure brings the present value, to be tried next. */
ATOMIC(compare_swap, if (__atomic_compare_exchange_n(word, &old, old + 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) old++)

void floor_atomics(void)
{
	static const struct {
		const char *name;
		sampler *sample;
	} kinds[] = {{"fetch-add", fetch_add}, {"compare-swap", compare_swap}, {"swap", swap}};

	for (int i = 0; i < 6; i++) {
		bool alone = i < 3;

		harness_measure(&(struct spot){.measure = alone ? "atomic" : "atomic-all",
					       .variant = kinds[i % 3].name,
					       .bytes = 8,
					       .sample = kinds[i % 3].sample,
					       .context = &alone});
	}
}
