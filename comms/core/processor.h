/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_PROCESSOR_H
#define COMMS_PROCESSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

/*
 * Instructions that C cannot express; no other file contains any (make check-atomics). None of them
 * orders shared data, which is left to C11 atomics. The exception is processor_end_streams: only it
 * orders non-temporal stores.
 */

/*
 * The pause between two polls of a waiting PE. docs/decisions/waiting.md has the reasons.
 *
 * x86 has pause, which frees the core for its other hardware thread. POWER lowers its priority, and
 * RISC-V has a hint that processors without it execute as an empty fence. On ARM, yield does
 * nothing on a core with one thread; isb instead empties the pipeline, which takes about as long as
 * pause does on x86.
 */
static inline __attribute__((always_inline)) void processor_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("isb" ::: "memory");
#elif defined(__powerpc64__)
	__asm__ volatile("or 27,27,27" ::: "memory");
#elif defined(__riscv)
	__asm__ volatile(".4byte 0x0100000f" ::: "memory"); /* pause, for assemblers without it */
#endif
}

/*
 * ARM can wait for a store: processor_monitor makes the processor monitor the cache line of an
 * address for stores by others, and processor_wait_for_event stops it until one happens. Linux also
 * wakes it every 0.1 ms (the event stream). Between the two, the caller reads the word again and
 * executes no atomic operation.
 */
#if defined(__aarch64__)
#define PROCESSOR_HAS_EVENTS 1

/*
 * Returns false if the kernel provides no event stream: a wait for anything but a store might not
 * end then.
 */
static inline bool processor_can_wait(void)
{
	return getauxval(AT_HWCAP) & 1UL << 2; /* HWCAP_EVTSTRM */
}

static inline __attribute__((always_inline)) void processor_monitor(const void *address)
{
	uint32_t unused;

	__asm__ volatile("ldxrb %w0, [%1]" : "=&r"(unused) : "r"(address) : "memory");
}

static inline __attribute__((always_inline)) void processor_wait_for_event(void)
{
	__asm__ volatile("wfe" ::: "memory");
}

/* A clock that is the same on all processors of the machine, and its ticks per second. */
static inline uint64_t processor_ticks(void)
{
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
}

static inline uint64_t processor_ticks_per_second(void)
{
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(ticks));
	return ticks;
}
#else
#define PROCESSOR_HAS_EVENTS 0
#endif

/*
 * Prefetches the line of an address for a store. Compilers for generic x86-64 would prefetch it for
 * a load.
 */
static inline void processor_fetch_to_write(void *address)
{
#if defined(__x86_64__)
	__asm__ volatile("prefetchw %0" : : "m"(*(const char *)address));
#else
	__builtin_prefetch(address, 1);
#endif
}

#if defined(__x86_64__)
#include <emmintrin.h>

/* String copy: its stores are unordered among themselves and precede all later stores. */
static inline void processor_copy_string(void *dest, const void *source, size_t bytes)
{
	__asm__ volatile("rep movsb" : "+D"(dest), "+S"(source), "+c"(bytes) : : "memory");
}

/* Both the processor and the system must support this, because the system saves the registers. */
static inline bool processor_has_vectors(void)
{
	__builtin_cpu_init();
	return __builtin_cpu_supports("avx");
}

#define PROCESSOR_VECTORS __attribute__((target("avx"))) static inline

typedef long long processor_vector __attribute__((vector_size(32), aligned(1), may_alias));

PROCESSOR_VECTORS void processor_copy_two_lines(char *dest, const char *source)
{
	const processor_vector *from = (const void *)source;
	processor_vector *to = (void *)dest, a = from[0], b = from[1], c = from[2], d = from[3];

	to[0] = a;
	to[1] = b;
	to[2] = c;
	to[3] = d;
}

/*
 * Copies at least two lines of memory that does not overlap. Stores of whole lines are faster than
 * stores across lines, so stores to dest are aligned and loads are not. The bytes around the whole
 * lines are copied twice.
 */
PROCESSOR_VECTORS void processor_copy_vectors(void *dest, const void *source, size_t bytes)
{
	enum { LINE_BYTES = 64, TWO_LINES = 128 };
	char *to = dest;
	const char *from = source;

	processor_copy_two_lines(to, from);
	for (size_t at = LINE_BYTES - (uintptr_t)dest % LINE_BYTES; at < bytes - TWO_LINES; at += TWO_LINES)
		processor_copy_two_lines(to + at, from + at);
	processor_copy_two_lines(to + bytes - TWO_LINES, from + bytes - TWO_LINES);
}

/* Non-temporal store. dest is aligned to 16 bytes. */
static inline void processor_stream(void *dest, const void *source)
{
	_mm_stream_si128(dest, _mm_loadu_si128(source));
}

/*
 * Call after the last processor_stream: those stores then precede all later ones, which C11's
 * release does not guarantee.
 */
static inline void processor_end_streams(void)
{
	_mm_sfence();
}
#endif

#endif
