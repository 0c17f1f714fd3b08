/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums and products of 16-bit numbers. Wherever one PE combines the elements of several, it does so
 * in floats, and rounds once, when all are in:
 *
 * - small reductions travel as floats from beginning to end;
 * - on a node, the part that a member combines is a strip of floats;
 * - between nodes, each member gets the others' 16-bit numbers for its part, and adds them in
 *   floats.
 *
 * Partial results that go from node to node are 16-bit numbers: the sums of nodes with several PEs,
 * and, along the trees and rings of a torus, the sums so far. They take half the time of floats on
 * the wire, which is what programs have 16-bit numbers for. An average divides before that, so
 * that no partial result is larger than the elements.
 */
#include "shmem/reduce.h"

#include <stdlib.h>
#include <string.h>

#include "divide.h"

#define AT_A_TIME 1024 /* elements: 4 KiB of floats */

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void divide(float *values, size_t count, int divisor)
{
	if (divisor > 1)
		numbers_divide((struct numbers){SHMEMX_FLOAT, count}, values, values, divisor);
}

void narrow_add(const struct reduction *r, float *sum, const void *numbers, size_t count)
{
	const uint16_t *from = numbers;
	float values[AT_A_TIME];

	for (size_t at = 0; at < count; at += AT_A_TIME) {
		size_t now = least(count - at, AT_A_TIME);

		r->narrow->numbers->widen(values, from + at, now);
		r->narrow->wide(sum + at, sum + at, values, now);
	}
}

static void combine_here(const struct reduction *r, size_t first, size_t count, const struct set *takers)
{
	size_t at = first * r->size;
	uint16_t result[AT_A_TIME];
	float sum[AT_A_TIME];

	r->narrow->numbers->widen(sum, set_memory_of(r->source, set_pe(r->set, 0)) + at, count);
	for (int i = 1; i < r->set->group->size; i++)
		narrow_add(r, sum, set_memory_of(r->source, set_pe(r->set, i)) + at, count);
	divide(sum, count, r->narrow->divisor);
	r->narrow->numbers->round(result, sum, count);
	for (int i = 0; i < takers->group->size; i++)
		memcpy(set_memory_of(r->dest, set_pe(takers, i)) + at, result, count * r->size);
}

void narrow_combine_strip(const struct reduction *r, size_t first, size_t count, const struct set *takers)
{
	for (size_t at = 0; at < count; at += AT_A_TIME)
		combine_here(r, first + at, least(count - at, AT_A_TIME), takers);
}

float *narrow_sum_begin(const struct reduction *r, const void *numbers, size_t count)
{
	float *sum = malloc((count ? count : 1) * sizeof *sum);

	if (!sum)
		rte_die(r->set->routine, "no memory for %lu sums", (unsigned long)count);
	r->narrow->numbers->widen(sum, numbers, count);
	return sum;
}

void narrow_sum_end(const struct reduction *r, void *numbers, float *sum, size_t count)
{
	divide(sum, count, r->narrow->divisor);
	r->narrow->numbers->round(numbers, sum, count);
	free(sum);
}

void narrow_divide_first(struct reduction *r)
{
	if (r->narrow->divisor == 1)
		return;
	for (size_t at = 0; at < r->count; at += AT_A_TIME) {
		size_t now = least(r->count - at, AT_A_TIME);
		float values[AT_A_TIME];

		r->narrow->numbers->widen(values, r->source + at * r->size, now);
		divide(values, now, r->narrow->divisor);
		r->narrow->numbers->round(r->dest + at * r->size, values, now);
	}
	r->source = r->dest;
}

void narrow_reduce_small(const struct reduction *r)
{
	float values[ROW_BYTES / sizeof(float)];
	size_t most = sizeof values / sizeof values[0];

	for (size_t at = 0; at < r->count; at += most) {
		struct reduction floats = *r;

		floats.count = least(r->count - at, most);
		floats.size = sizeof(float);
		floats.combine = r->narrow->wide;
		floats.dest = (char *)values;
		floats.source = floats.dest;
		r->narrow->numbers->widen(values, r->source + at * r->size, floats.count);
		reduce_small(&floats);
		divide(values, least(r->count - at, most), r->narrow->divisor);
		r->narrow->numbers->round(r->dest + at * r->size, values, least(r->count - at, most));
	}
}
