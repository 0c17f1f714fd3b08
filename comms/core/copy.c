/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long copies. The fastest method depends on the processor: its own string copy, which takes whole
 * lines without reading them first, or a loop over vectors if the string copy is slow for some
 * addresses. Larger copies use non-temporal stores. docs/decisions/paths.md has the reasons.
 */
#include "copy.h"

#include "near.h"

#if defined(__x86_64__)
#include <cpuid.h>

#include "processor.h"

#define STRING_FROM (64UL << 10)
#define VECTORS_FROM (2UL << 10) /* above this the C library may use the string copy */
#define STREAM_FROM (32UL << 20) /* no cache near the processor holds two copies */

#define ZEN_5 26 /* a family of AMD's processors */

static struct {
	/* Shorter copies are the C library's; from the second size on, stores are non-temporal. */
	size_t from, stream_from;
	void (*copy)(void *dest, const void *source, size_t bytes);
} own_copy = {SIZE_MAX, STREAM_FROM, NULL};

/* "Enhanced rep movsb" in the processor's list of features. */
static bool has_fast_string_copy(void)
{
	unsigned a, b, c, d;

	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & 1U << 9;
}

/* The processor's family if AMD made it, otherwise 0. */
static unsigned amd_family(void)
{
	unsigned a, b, c, d;

	if (!__get_cpuid(0, &a, &b, &c, &d) || b != signature_AMD_ebx || c != signature_AMD_ecx ||
	    d != signature_AMD_edx || !__get_cpuid(1, &a, &b, &c, &d))
		return 0;
	return (a >> 8 & 15) + (a >> 20 & 255);
}

/*
 * AMD's string copy copies single bytes if dest is up to 15 bytes ahead of source modulo 64. That
 * of Zen 5 does not, and is the fastest for all sizes.
 */
__attribute__((constructor)) static void choose_copy(void)
{
	unsigned amd = amd_family();

	if (!has_fast_string_copy())
		return;
	if (amd == 0 || amd >= ZEN_5) {
		own_copy.copy = processor_copy_string;
		own_copy.from = STRING_FROM;
		own_copy.stream_from = amd ? SIZE_MAX : STREAM_FROM;
	} else if (processor_has_vectors()) {
		own_copy.copy = processor_copy_vectors;
		own_copy.from = VECTORS_FROM;
	}
}

static bool are_apart(const void *dest, const void *source, size_t bytes)
{
	uintptr_t to = (uintptr_t)dest, from = (uintptr_t)source;

	return to - from >= bytes && from - to >= bytes;
}

enum { LINE = 64, PAGE = 4096, AT_ONCE = 4 }; /* of an x86 */

static void stream_line(char *dest, const char *source)
{
	for (size_t i = 0; i < LINE; i += sizeof(__m128i))
		processor_stream(dest + i, source + i);
}

/* Processors prefetch only within a page: several pages at once keep more reads outstanding. */
static void stream_pages(char *dest, const char *source)
{
	for (size_t at = 0; at < PAGE; at += LINE)
		for (size_t page = 0; page < AT_ONCE * PAGE; page += PAGE) {
			__builtin_prefetch(source + page + at + 2 * LINE);
			stream_line(dest + page + at, source + page + at);
		}
}

/*
 * Non-temporal stores: a store of a whole line need not read it first. The fence orders these
 * stores before all later ones.
 */
static void stream_past_caches(char *dest, const char *source, size_t bytes)
{
	const size_t head = -(uintptr_t)dest % LINE, step = AT_ONCE * PAGE;

	memcpy(dest, source, head);
	for (dest += head, source += head, bytes -= head; bytes >= step; dest += step, source += step, bytes -= step)
		stream_pages(dest, source);
	for (; bytes >= LINE; dest += LINE, source += LINE, bytes -= LINE)
		stream_line(dest, source);
	memcpy(dest, source, bytes);
	processor_end_streams();
}

void comms_copy_large(void *dest, const void *source, size_t bytes)
{
	if (bytes < own_copy.from || !are_apart(dest, source, bytes))
		memmove(dest, source, bytes);
	else if (bytes >= own_copy.stream_from)
		stream_past_caches(dest, source, bytes);
	else
		own_copy.copy(dest, source, bytes);
}
#else
void comms_copy_large(void *dest, const void *source, size_t bytes)
{
	memmove(dest, source, bytes);
}
#endif

void comms_copy_near(void *dest, const void *source, size_t bytes, const void *near, const char *routine)
{
	comms_near_begin(routine, near, bytes);
	comms_copy_large(dest, source, bytes);
	comms_near_end();
}

void comms_put_large(const struct comms_peer *peer, const void *dest, void *here, const void *source, size_t bytes,
		     const char *routine)
{
	comms_copy_near(here, source, bytes, source, routine);
	comms_wake_at(peer, dest, bytes);
}
