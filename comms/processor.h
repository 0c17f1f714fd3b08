/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_PROCESSOR_H
#define COMMS_PROCESSOR_H

#include <stddef.h>

/*
 * Instructions that C has no word for: no other file has any (make check-atomics). None of them orders what PEs share; that is
 * the business of C11's atomics. The exception is processor_end_streams, without which stores past the caches follow no order.
 */

/* In a loop that waits: leaves the processor's other hardware thread more room. */
static inline void processor_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

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
