/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies boxes of arrays to buffers and back. A box consists of runs of adjacent elements, and
 * levels of equal distances between them; if elements are adjacent along several dimensions, they
 * form one run.
 */
#include <shmemx.h>

#include <stdbool.h>
#include <string.h>

#include "comms/core/device.h"
#include "shmem/api.h"

#define DIMS 16

struct box {
	size_t start, run; /* bytes */
	int levels;
	size_t count[DIMS], stride[DIMS]; /* outermost first */
};

static bool check_box(int dims, const size_t *sizes, const size_t *first, const size_t *counts, const char *routine)
{
	if (dims < 1 || dims > DIMS) {
		rte_misuse(routine, "dims=%d: an array has 1 to %d dimensions", dims, DIMS);
		return false;
	}
	for (int i = 0; i < dims; i++)
		if (first[i] > sizes[i] || counts[i] > sizes[i] - first[i]) {
			rte_misuse(routine, "counts[%d]=%zu from first[%d]=%zu on: the array ends at %zu", i, counts[i],
				   i, first[i], sizes[i]);
			return false;
		}
	return true;
}

static struct box find_box(size_t element, int dims, const size_t *sizes, const size_t *first, const size_t *counts)
{
	struct box box = {.run = element};
	size_t stride = element;
	bool whole = true; /* for all dimensions so far, so the next ones are adjacent */

	for (int i = dims - 1; i >= 0; i--) {
		box.start += first[i] * stride;
		if (whole) {
			box.run *= counts[i];
		} else {
			memmove(box.count + 1, box.count, (size_t)box.levels * sizeof *box.count);
			memmove(box.stride + 1, box.stride, (size_t)box.levels * sizeof *box.stride);
			box.count[0] = counts[i];
			box.stride[0] = stride;
			box.levels++;
		}
		whole = whole && counts[i] == sizes[i];
		stride *= sizes[i];
	}
	return box;
}

/* Runs of one length at equal distances. With a constant length the compiler needs no calls. */
COMMS_INLINE void copy_runs(char *to, size_t to_stride, const char *from, size_t from_stride, size_t count, size_t run)
{
	for (size_t i = 0; i < count; i++)
		memcpy(to + i * to_stride, from + i * from_stride, run);
}

static void copy_level(char *to, size_t to_stride, const char *from, size_t from_stride, size_t count, size_t run)
{
	if (comms_on_device(to, from))
		comms.device->copy_blocks(to, to_stride, from, from_stride, run, count);
	else if (run == 8)
		copy_runs(to, to_stride, from, from_stride, count, 8);
	else if (run == 4)
		copy_runs(to, to_stride, from, from_stride, count, 4);
	else if (run == 16)
		copy_runs(to, to_stride, from, from_stride, count, 16);
	else
		copy_runs(to, to_stride, from, from_stride, count, run);
}

/* Appends to the buffer; returns its new end. */
static char *copy_box(const struct box *box, int level, char *array, char *buffer, bool pack)
{
	size_t count = box->levels ? box->count[level] : 1, stride = box->levels ? box->stride[level] : 0;

	if (level + 1 >= box->levels) {
		if (pack)
			copy_level(buffer, box->run, array, stride, count, box->run);
		else
			copy_level(array, stride, buffer, box->run, count, box->run);
		return buffer + count * box->run;
	}
	for (size_t i = 0; i < count; i++)
		buffer = copy_box(box, level + 1, array + i * stride, buffer, pack);
	return buffer;
}

API size_t shmemx_pack(void *to, const void *array, size_t element, int dims, const size_t *sizes, const size_t *first,
		       const size_t *counts)
{
	struct box box;

	if (!check_box(dims, sizes, first, counts, __func__))
		return 0;
	box = find_box(element, dims, sizes, first, counts);
	return (size_t)(copy_box(&box, 0, (char *)(uintptr_t)array + box.start, to, true) - (char *)to);
}

API size_t shmemx_unpack(void *array, const void *from, size_t element, int dims, const size_t *sizes,
			 const size_t *first, const size_t *counts)
{
	char *buffer = (char *)(uintptr_t)from;
	struct box box;

	if (!check_box(dims, sizes, first, counts, __func__))
		return 0;
	box = find_box(element, dims, sizes, first, counts);
	return (size_t)(copy_box(&box, 0, (char *)array + box.start, buffer, false) - buffer);
}
