/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of the stand-in for CUDA's driver. As the driver does, a copy from pageable memory takes
 * its source before it returns, one to pageable memory is done when it returns, and all others
 * happen later.
 */
#include "soft.h"

#include <stdlib.h>
#include <string.h>

#define LARGEST_PITCH 0x7fffffff

/* CUDA_MEMCPY2D */
struct soft_copy_2d {
	size_t source_x, source_y;
	unsigned source_type;
	const void *source_host;
	soft_address source;
	void *source_array;
	size_t source_pitch;
	size_t dest_x, dest_y;
	unsigned dest_type;
	void *dest_host;
	soft_address dest;
	void *dest_array;
	size_t dest_pitch;
	size_t width, height;
};

/* Copies the rows now, one after the other. */
static bool take_source(struct soft_work *work)
{
	struct soft_copy *copy = &work->copy;

	work->bounce = malloc(copy->width * copy->height);
	if (!work->bounce)
		return false;
	for (size_t row = 0; row < copy->height; row++)
		memcpy(work->bounce + row * copy->width, copy->source + row * copy->source_pitch, copy->width);
	copy->source = work->bounce;
	copy->source_pitch = copy->width;
	return true;
}

static size_t extent(size_t pitch, size_t width, size_t height)
{
	return (height - 1) * pitch + width;
}

/* dest and source are addresses for the program in copy; wait: as cuMemcpy does. */
static int copy_rows(struct soft_copy copy, struct soft_stream *stream, bool wait)
{
	enum soft_place from, to;
	struct soft_work work = {.what = SOFT_COPY, .copy = copy};
	int error;

	if (copy.width == 0 || copy.height == 0)
		return SOFT_OK;
	work.copy.source =
		soft_find_bytes((uintptr_t)copy.source, extent(copy.source_pitch, copy.width, copy.height), &from);
	work.copy.dest = soft_find_bytes((uintptr_t)copy.dest, extent(copy.dest_pitch, copy.width, copy.height), &to);
	if (!work.copy.source || !work.copy.dest)
		return SOFT_INVALID_VALUE;
	if (from == SOFT_ON_DEVICE && to == SOFT_ON_DEVICE)
		wait = false;
	else if (to == SOFT_PAGEABLE || (from != SOFT_ON_DEVICE && to != SOFT_ON_DEVICE))
		wait = true;
	if (from == SOFT_PAGEABLE && to == SOFT_ON_DEVICE && !wait && !take_source(&work))
		return SOFT_OUT_OF_MEMORY;
	error = soft_issue(stream, &work, wait);
	if (error)
		free(work.bounce);
	return error;
}

static struct soft_copy one_row(soft_address dest, soft_address source, size_t bytes)
{
	return (struct soft_copy){.dest = (char *)(uintptr_t)dest,
				  .dest_pitch = bytes,
				  .source = (const char *)(uintptr_t)source,
				  .source_pitch = bytes,
				  .width = bytes,
				  .height = 1};
}

EXPORT int cuMemcpy(soft_address dest, soft_address source, size_t bytes)
{
	ENTER_CONTEXT();
	return copy_rows(one_row(dest, source, bytes), NULL, true);
}

EXPORT int cuMemcpyAsync(soft_address dest, soft_address source, size_t bytes, struct soft_stream *stream)
{
	ENTER_CONTEXT();
	return copy_rows(one_row(dest, source, bytes), stream, false);
}

/* Where a side of a copy begins. 0: it is of no known type, or its memory is not of that type. */
static soft_address find_side(unsigned type, const void *host, soft_address address)
{
	enum soft_place place;

	switch (type) {
	case 1: address = (uintptr_t)host; break;
	case 2:
	case 4: break;
	default: return 0;
	}
	soft_find_bytes(address, 1, &place);
	if ((type == 1 && place == SOFT_ON_DEVICE) || (type == 2 && place == SOFT_PAGEABLE))
		return 0;
	return address;
}

EXPORT int cuMemcpy2DAsync_v2(const struct soft_copy_2d *copy, struct soft_stream *stream)
{
	soft_address source, dest;

	ENTER_CONTEXT();
	source = find_side(copy->source_type, copy->source_host, copy->source);
	dest = find_side(copy->dest_type, copy->dest_host, copy->dest);
	if (!source || !dest)
		return SOFT_INVALID_VALUE;
	if (copy->width > copy->source_pitch || copy->width > copy->dest_pitch || copy->source_pitch > LARGEST_PITCH ||
	    copy->dest_pitch > LARGEST_PITCH)
		return SOFT_INVALID_VALUE;
	source += copy->source_y * copy->source_pitch + copy->source_x;
	dest += copy->dest_y * copy->dest_pitch + copy->dest_x;
	return copy_rows((struct soft_copy){.dest = (char *)(uintptr_t)dest,
					    .dest_pitch = copy->dest_pitch,
					    .source = (const char *)(uintptr_t)source,
					    .source_pitch = copy->source_pitch,
					    .width = copy->width,
					    .height = copy->height},
			 stream, false);
}

/* Pinned memory can be filled, too; pageable memory cannot. */
static int fill(soft_address dest, unsigned char value, size_t bytes, struct soft_stream *stream)
{
	enum soft_place place;
	struct soft_work work = {.what = SOFT_FILL, .value = value};

	if (bytes == 0)
		return SOFT_OK;
	work.copy.dest = soft_find_bytes(dest, bytes, &place);
	work.copy.width = bytes;
	if (!work.copy.dest || place == SOFT_PAGEABLE)
		return SOFT_INVALID_VALUE;
	return soft_issue(stream, &work, false);
}

EXPORT int cuMemsetD8_v2(soft_address dest, unsigned char value, size_t bytes)
{
	ENTER_CONTEXT();
	return fill(dest, value, bytes, NULL);
}

EXPORT int cuMemsetD8Async(soft_address dest, unsigned char value, size_t bytes, struct soft_stream *stream)
{
	ENTER_CONTEXT();
	return fill(dest, value, bytes, stream);
}
