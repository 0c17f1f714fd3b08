/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Integers sorted by buckets: each PE sends every key to the PE that owns its range, and counts
 * what it got. Places at the receiver are taken by fetch-and-add. The time is that of a whole sort,
 * per key of a PE.
 */
#include "bench.h"

#include <string.h>

struct sort {
	size_t keys, room; /* per PE: its own, and space for those that come */
	uint32_t range;	   /* keys are smaller; a power of two */
	uint32_t *own, *ordered, *received;
	uint32_t *counts; /* of my range */
	size_t *places;	  /* where each PE's keys begin in ordered */
	long *taken;	  /* symmetric: how many have come */
};

static uint32_t owner_width(const struct sort *s)
{
	return (s->range + (uint32_t)group.size - 1) / (uint32_t)group.size;
}

static void make_keys(struct sort *s)
{
	uint64_t state = 0x9e3779b97f4a7c15u * (uint64_t)(group.me + 1) | 1;

	for (size_t i = 0; i < s->keys; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		s->own[i] = (uint32_t)(state >> 20) & (s->range - 1);
	}
}

static void order_by_owner(struct sort *s)
{
	uint32_t width = owner_width(s);

	memset(s->places, 0, ((size_t)group.size + 1) * sizeof *s->places);
	for (size_t i = 0; i < s->keys; i++)
		s->places[s->own[i] / width + 1]++;
	for (int pe = 0; pe < group.size; pe++)
		s->places[pe + 1] += s->places[pe];
	for (size_t i = 0; i < s->keys; i++)
		s->ordered[s->places[s->own[i] / width]++] = s->own[i];
	/* Each place has moved to the beginning of the next. */
	memmove(s->places + 1, s->places, (size_t)group.size * sizeof *s->places);
	s->places[0] = 0;
}

/* Beginning with the next PE, so that not all go to the same one first. */
static void send_keys(struct sort *s)
{
	for (int i = 1; i <= group.size; i++) {
		int pe = (group.me + i) % group.size;
		size_t count = s->places[pe + 1] - s->places[pe];
		long at = shmem_long_atomic_fetch_add(s->taken, (long)count, pe);

		if ((size_t)at + count > s->room)
			group_fail("isort: PE %d got more keys than it has room for", pe);
		shmem_put32_nbi(s->received + at, s->ordered + s->places[pe], count, pe);
	}
}

static double sort_keys(void *context, long n)
{
	struct sort *s = context;
	uint32_t width = owner_width(s), first = width * (uint32_t)group.me;
	double start = now_ns();

	for (long k = 0; k < n; k++) {
		order_by_owner(s);
		*s->taken = 0;
		shmem_barrier_all();
		send_keys(s);
		shmem_barrier_all();
		memset(s->counts, 0, width * sizeof *s->counts);
		for (long i = 0; i < *s->taken; i++)
			s->counts[s->received[i] - first]++;
	}
	return now_ns() - start;
}

/*
 * All that came is in my range (else counts would have been left), and no key is lost: sums of
 * number and value.
 */
static bool is_sorted(void *context)
{
	const struct sort *s = context;
	uint32_t width = owner_width(s), first = width * (uint32_t)group.me;
	long *sums = heap_take(2 * sizeof *sums);
	long before = 0, after = 0, number = 0;
	bool right;

	for (size_t i = 0; i < s->keys; i++)
		before += s->own[i];
	for (uint32_t i = 0; i < width; i++) {
		number += s->counts[i];
		after += (long)s->counts[i] * (long)(first + i);
	}
	sums[0] = sums[1] = 0;
	group_barrier();
	shmem_long_atomic_add(&sums[0], number - (long)s->keys, 0);
	shmem_long_atomic_add(&sums[1], after - before, 0);
	group_barrier();
	right = number == *s->taken && shmem_long_g(&sums[0], 0) == 0 && shmem_long_g(&sums[1], 0) == 0;
	group_barrier();
	heap_give(sums);
	return right;
}

void isort_keys(void)
{
	struct sort s = {.keys = options.quick ? 1 << 14 : 1 << 20, .range = options.quick ? 1 << 14 : 1 << 18};

	/* Random keys are shared out evenly enough. */
	s.room = s.keys + s.keys / 4 + 1024;
	s.own = heap_take(s.keys * sizeof *s.own);
	s.ordered = heap_take(s.keys * sizeof *s.ordered);
	s.received = heap_take(s.room * sizeof *s.received);
	s.counts = heap_take(owner_width(&s) * sizeof *s.counts);
	s.places = heap_take(((size_t)group.size + 1) * sizeof *s.places);
	s.taken = heap_take(sizeof *s.taken);
	make_keys(&s);
	harness_measure(&(struct spot){.measure = "isort",
				       .variant = options.quick ? "16K-keys" : "1M-keys",
				       .bytes = 4,
				       .sample = sort_keys,
				       .context = &s,
				       .operations = (double)s.keys,
				       .check = is_sorted});
	heap_give(s.taken);
	heap_give(s.places);
	heap_give(s.counts);
	heap_give(s.received);
	heap_give(s.ordered);
	heap_give(s.own);
}
