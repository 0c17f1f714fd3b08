/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the time of an 8-byte message goes: the layers of a path, from the call of the program to the bare machine, all
 * driven by the same loops between PEs 0 and 1. docs/decisions/observing.md says what follows from the numbers.
 *
 *   layer    one method to send: each does what the one before it in the table does, but for its own part
 *   post     one message out; returns when the program may go on
 *   flush    waits until all that was posted has been dealt with at the other end
 *   progress lets a layer work once; true: something came. NULL where nothing has to be done for messages to come
 *   await    until the word that messages go to has a value or a greater one
 */
#ifndef BENCH_LAYERS_H
#define BENCH_LAYERS_H

#include "bench.h"

enum { BATCH = 64 };

struct layer {
	const char *name;
	void (*post)(uint64_t value);
	void (*flush)(void);
	bool (*progress)(void);
	void (*await)(uint64_t value);
	double slow_ns; /* --slow: what this layer, and so every layer above it, is made to take longer */
};

/* The layers of the path between PEs 0 and 1, outermost first; ends with a NULL name. */
struct layer *layers_of_path(const char **path);

/* On the path local: messages go to the PE itself, until they are to go to the other again. */
void layers_to_oneself(bool yes);

/* shmem_putmem without a check of the PE and the length. */
void layers_put_unchecked(void *dest, const void *source, size_t bytes, int pe);

/* Lets the library work, whatever layer is measured. */
bool library_progress(void);

/* What each layer is between. */
struct layer_word {
	_Alignas(256) uint64_t value; /* where messages go, at each PE */
	_Alignas(256) uint64_t done;  /* how many loops of PE 0 are over */
};
extern struct layer_word *layer_word; /* symmetric */
extern uint64_t layer_value;	      /* what has come by a layer that has no symmetric memory */
extern bool layer_acknowledges;	      /* the target answers every BATCH messages */

/* Bare layers, in files of their own. They end the job with a message if they cannot be had. */
void uct_open(const char *transport);
void uct_post(uint64_t value);
void uct_flush(void);
bool uct_progress(void);
void socket_open(void);
void socket_post(uint64_t value);
void socket_flush(void);
bool socket_progress(void);

/* The counter of cycles, with its own time taken off by who uses it. */
static inline uint64_t cycles(void)
{
#if defined(__x86_64__)
	uint32_t low, high;

	__asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
#elif defined(__aarch64__)
	uint64_t now;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(now) : : "memory");
	return now;
#else
	return (uint64_t)now_ns();
#endif
}

/* Not ordered with the instructions around it, which go on meanwhile. */
static inline uint64_t cycles_unordered(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	return cycles();
#endif
}

#endif
