/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies between two processes' memory, by every method of this processor; the fastest is the
 * floor.
 */
#include "floor.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

typedef void copier(char *to, const char *from, size_t bytes);

static void by_memcpy(char *to, const char *from, size_t bytes)
{
	memcpy(to, from, bytes);
}

#if defined(__x86_64__)
static void by_string_move(char *to, const char *from, size_t bytes)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

#define BY_VECTORS(name, target_name, vector, width, load, store, closing)                              \
	__attribute__((target(target_name))) static void name(char *to, const char *from, size_t bytes) \
	{                                                                                               \
		for (; bytes >= 4 * width; bytes -= 4 * width, to += 4 * width, from += 4 * width) {    \
			vector a = load((const void *)from), b = load((const void *)(from + width));    \
			vector c = load((const void *)(from + 2 * width));                              \
			vector d = load((const void *)(from + 3 * width));                              \
                                                                                                        \
			store((void *)to, a);                                                           \
			store((void *)(to + width), b);                                                 \
			store((void *)(to + 2 * width), c);                                             \
			store((void *)(to + 3 * width), d);                                             \
		}                                                                                       \
		closing;                                                                                \
		memcpy(to, from, bytes);                                                                \
	}

BY_VECTORS(by_avx, "avx2", __m256i, 32, _mm256_loadu_si256, _mm256_storeu_si256, )
BY_VECTORS(by_avx_streaming, "avx2", __m256i, 32, _mm256_loadu_si256, _mm256_stream_si256, _mm_sfence())
BY_VECTORS(by_avx512, "avx512f", __m512i, 64, _mm512_loadu_si512, _mm512_storeu_si512, )
#endif

static const struct method {
	const char *name, *needs;
	copier *copy;
} methods[] = {{"memcpy", NULL, by_memcpy},
#if defined(__x86_64__)
	       {"movsb", NULL, by_string_move},
	       {"avx", "avx2", by_avx},
	       {"avx-streaming", "avx2", by_avx_streaming},
	       {"avx512", "avx512f", by_avx512},
#endif
	       {NULL, NULL, NULL}};

static bool is_possible(const struct method *w)
{
#if defined(__x86_64__)
	if (w->needs && !strcmp(w->needs, "avx2"))
		return __builtin_cpu_supports("avx2");
	if (w->needs && !strcmp(w->needs, "avx512f"))
		return __builtin_cpu_supports("avx512f");
#endif
	return !w->needs;
}

struct copying {
	copier *copy;
	size_t bytes;
};

static double copy_loop(void *context, long n)
{
	const struct copying *c = context;
	double start = now_ns();

	if (group.me)
		return 0;
	for (long i = 0; i < n; i++) {
		c->copy(floor_memory.to, floor_memory.from, c->bytes);
		keep(floor_memory.to);
	}
	return now_ns() - start;
}

static bool is_copied(void *context)
{
	const struct copying *c = context;

	return memcmp(floor_memory.to, floor_memory.from, c->bytes) == 0;
}

void floor_copy(void)
{
	for (const struct method *w = methods; w->name; w++) {
		for (int i = 0; is_possible(w) && options.sizes[i] && options.sizes[i] <= LARGEST_COPY; i++) {
			struct copying c = {w->copy, options.sizes[i]};

			group_barrier();
			if (group.me == 0)
				memset(floor_memory.from, (int)(w - methods) + i + 1, c.bytes);
			harness_measure(&(struct spot){.measure = "copy",
						       .variant = w->name,
						       .bytes = c.bytes,
						       .sample = copy_loop,
						       .context = &c,
						       .check = is_copied});
		}
	}
}

/* Process 0's message goes to process 1, which sends one back. */
static double copy_there_and_back(void *context, long n)
{
	static uint64_t count;
	const struct copying *c = context;
	volatile uint64_t *ping = group.raw, *pong = group.raw + 64;
	double start = now_ns();

	for (long i = 0; i < n; i++) {
		count++;
		if (group.me == 0) {
			c->copy(floor_memory.to, floor_memory.from, c->bytes);
			__atomic_store_n(ping, count, __ATOMIC_RELEASE);
		}
		while (*(group.me == 0 ? pong : ping) < count)
			;
		if (group.me == 1) {
			c->copy(floor_memory.back_to, floor_memory.back_from, c->bytes);
			__atomic_store_n(pong, count, __ATOMIC_RELEASE);
		}
	}
	return now_ns() - start;
}

void floor_copied(void)
{
	group_barrier();
	group.raw[0] = group.raw[64] = 0;
	group_barrier();
	for (int i = 0; options.sizes[i] && options.sizes[i] <= LARGEST_COPY; i++) {
		struct copying c = {by_memcpy, options.sizes[i]};

		harness_measure(&(struct spot){.measure = "copied",
					       .variant = "memcpy",
					       .bytes = c.bytes,
					       .sample = copy_there_and_back,
					       .context = &c,
					       .operations = 2});
	}
}
