/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The physical floor: what two processes on shared memory can do with plain loads, stores and locked instructions.
 * No OpenSHMEM library can be faster, and each of bench's measures has its counterpart here.
 */
#include "floor.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

const char driver_name[] = "floor";
const char driver_help[] =
	"floor [options] [sub-command ...]\n\n"
	"Measures what two processes, each on its own processor, can do on shared memory without any library.";

void driver_hand_over(int argc, char *argv[])
{
	(void)argc, (void)argv;
}

const struct measure measures[] = {
	{"store",
	 "stores into the other's memory: in a loop, in windows that end with a fence, each with one, each behind a call",
	 2, floor_store},
	{"load", "loads from the other's memory: the same word, lines that it has just written, each behind a call", 2,
	 floor_load},
	{"line", "a cache line there and back: half a round trip", 2, floor_line},
	{"atomic", "locked instructions: by one process alone, and by both on one word", 2, floor_atomics},
	{"flags", "both say that they are there and wait for the other: a barrier", 2, floor_flags},
	{"oversubscribed", "four on two processors count each other and yield while they wait: a barrier", 2,
	 floor_oversubscribed},
	{"copy", "copies into the other's memory, by several methods", 2, floor_copy},
	{"blocks", "what collectives of two have to copy, both at the same time", 2, floor_blocks},
	{"edges", "the edges of a stencil of two, and a flag with each", 2, floor_edges},
	{"copied", "a copy and a flag, there and back: half a round trip", 2, floor_copied},
	{"ucx", "bare UCP calls; UCX_TLS chooses the transport", 2, floor_ucx},
	{NULL, NULL, 0, NULL}};

struct floor_memory floor_memory;

enum { WORDS_BYTES = 4096 };

void floor_take_memory(void)
{
	struct floor_memory *m = &floor_memory;

	m->words = shared_take(WORDS_BYTES);
	m->fresh = shared_take(FRESH_LINES * LINE_WORDS * sizeof *m->fresh);
	m->from = shared_take(LARGEST_COPY);
	m->to = shared_take(LARGEST_COPY);
	m->back_from = shared_take(LARGEST_COPY);
	m->back_to = shared_take(LARGEST_COPY);
	m->endpoint_info = shared_take(16 * KIB);
}

void floor_touch_memory(void)
{
	struct floor_memory *m = &floor_memory;
	size_t largest = 0;

	for (int i = 0; options.sizes[i] && options.sizes[i] <= LARGEST_COPY; i++)
		largest = options.sizes[i];
	largest = largest <= LARGEST_COPY / 2 ? 2 * largest : LARGEST_COPY; /* blocks: two side by side */
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

/*
 * The least that a function of a library has to do: be called where the compiler cannot inline it, find out whether there is
 * such a process and whether the address lies in the memory that it shares, and where that is here.
 */
static struct {
	unsigned n;
	const char *base;
	struct {
		size_t size;
		char *here;
	} of[2];
} shares;

/*
 * The compiler must not specialise these functions for their callers, nor drop a call whose result is not used. Not every
 * compiler has noipa; HIDE takes the argument's value from the compiler's sight and keeps the call.
 */
#if __has_attribute(noipa)
#define OPAQUE __attribute__((noipa))
#else
#define OPAQUE __attribute__((noinline))
#endif
#define HIDE(argument) __asm__ volatile("" : "+r"(argument))

static OPAQUE void called_store(uint64_t *word, uint64_t value, unsigned process)
{
	size_t offset = (size_t)((char *)word - shares.base);

	HIDE(process);
	if (process < shares.n && offset < shares.of[process].size)
		*(uint64_t *)(void *)(shares.of[process].here + offset) = value;
}

static OPAQUE uint64_t called_load(const uint64_t *word, unsigned process)
{
	size_t offset = (size_t)((const char *)word - shares.base);

	HIDE(process);
	if (process < shares.n && offset < shares.of[process].size)
		return *(uint64_t *)(void *)(shares.of[process].here + offset);
	return 0;
}

static void share(uint64_t *words, size_t size)
{
	shares.n = 2;
	shares.base = (char *)words;
	for (int i = 0; i < 2; i++) {
		shares.of[i].size = size;
		shares.of[i].here = (char *)words;
	}
}

LOOP_OF_0(store_called, called_store((uint64_t *)word, (uint64_t)i, 1);)
LOOP_OF_0(store_called_window, for (int j = 0; j < WINDOW; j++) called_store((uint64_t *)word + j, (uint64_t)i, 1);
	  __atomic_thread_fence(__ATOMIC_SEQ_CST);)
LOOP_OF_0(load_called, (void)called_load((const uint64_t *)word, 1);)

/* A word of its own sample by sample: what member 1 has written since is in its cache, not in ours. */
static double load_fresh(void *context, long n)
{
	volatile uint64_t *lines = floor_memory.fresh;
	const bool *called = context;
	double start;

	for (long i = 0; group.me == 1 && i < n; i++)
		lines[i * LINE_WORDS]++;
	group_barrier();
	if (group.me)
		return 0;
	start = now_ns();
	if (*called)
		for (long i = 0; i < n; i++)
			(void)called_load((const uint64_t *)&lines[i * FRESH_STEP % FRESH_LINES * LINE_WORDS], 1);
	else
		for (long i = 0; i < n; i++)
			(void)lines[i * FRESH_STEP % FRESH_LINES * LINE_WORDS];
	return now_ns() - start;
}

void floor_store(void)
{
	harness_measure(&(struct spot){.measure = "store", .variant = "loop", .bytes = 8, .sample = store_loop});
	harness_measure(&(struct spot){.measure = "store", .variant = "fence", .bytes = 8, .sample = store_fence});
	harness_measure(&(struct spot){.measure = "store",
				       .variant = "window-64",
				       .bytes = 8,
				       .sample = store_window,
				       .operations = WINDOW});
	share(floor_memory.words, WORDS_BYTES);
	harness_measure(&(struct spot){.measure = "store", .variant = "called", .bytes = 8, .sample = store_called});
	harness_measure(&(struct spot){.measure = "store",
				       .variant = "called-window-64",
				       .bytes = 8,
				       .sample = store_called_window,
				       .operations = WINDOW});
}

void floor_load(void)
{
	harness_measure(&(struct spot){.measure = "load", .variant = "loop", .bytes = 8, .sample = load_loop});
	share(floor_memory.fresh, FRESH_LINES * LINE_WORDS * sizeof *floor_memory.fresh);
	for (int called = 0; called < 2; called++)
		harness_measure(&(struct spot){.measure = "load",
					       .variant = called ? "fresh-called" : "fresh",
					       .bytes = 8,
					       .sample = load_fresh,
					       .context = &(bool){called},
					       .most = FRESH_LINES});
	share(floor_memory.words, WORDS_BYTES);
	harness_measure(&(struct spot){.measure = "load", .variant = "called", .bytes = 8, .sample = load_called});
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

enum { MEMBERS = 4 };

/* The last to come lets all go; the others leave the processor to whom they share it with. */
static void barrier_oversubscribed(long n)
{
	uint64_t *arrived = group.raw + 320, *epoch = group.raw + 384;

	for (long i = 0; i < n; i++) {
		uint64_t old = __atomic_load_n(epoch, __ATOMIC_ACQUIRE);

		if (__atomic_fetch_add(arrived, 1, __ATOMIC_ACQ_REL) == MEMBERS - 1) {
			__atomic_store_n(arrived, 0, __ATOMIC_RELAXED);
			__atomic_store_n(epoch, old + 1, __ATOMIC_RELEASE);
		} else {
			while (__atomic_load_n(epoch, __ATOMIC_ACQUIRE) == old)
				sched_yield();
		}
	}
}

/* For the time of a sample each of the two has a second one beside it. */
static double oversubscribed(void *context, long n)
{
	pid_t parent = getpid(), beside = fork();
	double start;

	(void)context;
	if (beside < 0)
		group_fail("no process for more than one on a processor");
	if (beside == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent)
			barrier_oversubscribed(n + 1);
		_exit(0);
	}
	barrier_oversubscribed(1);
	start = now_ns();
	barrier_oversubscribed(n);
	start = now_ns() - start;
	waitpid(beside, NULL, 0);
	return start;
}

void floor_oversubscribed(void)
{
	harness_measure(&(struct spot){.measure = "oversubscribed", .variant = "counter", .sample = oversubscribed});
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
