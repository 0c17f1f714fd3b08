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
 * Instructions that C has no word for: no other file has any (make check-atomics). None of them orders what PEs share; that is
 * the business of C11's atomics. The exception is processor_end_streams, without which stores past the caches follow no order.
 */

/*
 * What a processor executes while a PE polls. docs/decisions/waiting.md has the reasons.
 *
 * x86 pauses, which frees the core for its other hardware thread. So does POWER at low priority, and RISC-V by a hint that
 * processors without it take for a fence of nothing. On ARM yield does nothing where a core has one thread, so there isb empties
 * the pipeline, which takes about as long as a pause of x86.
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
	__asm__ volatile(".4byte 0x0100000f" ::: "memory"); /* pause, for assemblers that do not know it */
#endif
}

/*
 * ARM can wait for a store: processor_monitor makes the processor monitor the cache line of an address for stores by others, and
 * processor_wait_for_event stops it until that has happened. Linux wakes it every 0.1 ms as well (the event stream). Between
 * the two the caller reads the word once more; it does nothing else that may be an atomic operation.
 */
#if defined(__aarch64__)
#define PROCESSOR_HAS_EVENTS 1

/* False: the kernel sends no event stream, so that a wait for something else than a store might not end. */
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

/* A clock that every processor of the machine reads alike, and its ticks in a second. */
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

/* Asks for the line of an address, to be stored to soon. Compilers for any x86-64 would ask for it to be loaded. */
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

/* Its stores come in any order among themselves, and before all later ones. */
static inline void processor_copy_string(void *dest, const void *source, size_t bytes)
{
	__asm__ volatile("rep movsb" : "+D"(dest), "+S"(source), "+c"(bytes) : : "memory");
}

/* Of the processor and of the system, which has to keep the registers. */
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
 * At least two lines, of memory that does not overlap. Stores of whole lines of dest are faster than such that cross lines; loads may cross. What
 * is in front of and behind whole lines is copied twice.
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

/* Past the caches. Dest is aligned to the 16 bytes. */
static inline void processor_stream(void *dest, const void *source)
{
	_mm_stream_si128(dest, _mm_loadu_si128(source));
}

/* Behind the last processor_stream: those stores come before all later ones, which a release of C11 would not see to. */
static inline void processor_end_streams(void)
{
	_mm_sfence();
}
#endif

#endif
