/* SPDX-License-Identifier: BSD-3-Clause */
#include "fortran.h"

#include <shmemx_binding.h>

/* An element of an array of 4-byte or 8-byte integers. */
static int64_t integer_at(const array *integers, int i)
{
	const char *at = (const char *)integers->base_addr + i * integers->dim[0].sm;

	return integers->elem_len == 8 ? *(const int64_t *)(const void *)at : *(const int *)(const void *)at;
}

static void check_length(const array *integers, int rank, const char *argument, const char *routine)
{
	int n = integers ? (int)integers->dim[0].extent : 0;

	if (integers && n != rank)
		fortran_die(routine, "%s has %d elements, and the pointer has rank %d; give one for each dimension",
			    argument, n, rank);
}

/* The lower bounds are 1, as after Fortran's allocate. */
static size_t shape_array(array *a, const array *shape, const array *lower, const char *routine)
{
	size_t bytes = a->elem_len;

	check_length(shape, a->rank, "shape", routine);
	check_length(lower, a->rank, "lower", routine);
	if (!shape && a->rank > 0)
		fortran_die(routine, "there is no shape, and the pointer has rank %d; give a size for each dimension",
			    a->rank);
	for (int i = 0; i < a->rank; i++) {
		int64_t extent = integer_at(shape, i);

		a->dim[i].lower_bound = lower ? (CFI_index_t)integer_at(lower, i) : 1;
		a->dim[i].extent = extent > 0 ? (CFI_index_t)extent : 0;
		a->dim[i].sm = (CFI_index_t)bytes;
		if (__builtin_mul_overflow(bytes, (size_t)a->dim[i].extent, &bytes))
			fortran_die(routine, "shape(%d)=%lld: the array would have more bytes than there are addresses",
				    i + 1, (long long)extent);
	}
	return bytes;
}

void fortran_allocate(array *a, const array *shape, const array *lower, int *stat, const char *routine)
{
	size_t bytes = shape_array(a, shape, lower, routine);

	if (bytes == 0)
		bytes = 1; /* an empty array is associated, too */
	a->base_addr = shmem_malloc(bytes);
	if (stat)
		*stat = a->base_addr ? 0 : 1;
	else if (!a->base_addr)
		shmemx_binding_no_room(bytes);
}

void fortran_deallocate(array *a, const char *routine)
{
	if (!a->base_addr)
		fortran_die(routine, "a is not associated");
	shmem_free(a->base_addr);
	a->base_addr = NULL;
}

void fortran_ptr(const array *dest, array *pointer, int pe, const char *routine)
{
	if (dest->rank != pointer->rank)
		fortran_die(routine, "dest has rank %d and pointer has rank %d; they must have the same rank",
			    dest->rank, pointer->rank);
	if (dest->elem_len != pointer->elem_len)
		fortran_die(
			routine,
			"an element of dest has %zu bytes and one of pointer has %zu; they must have the same length",
			dest->elem_len, pointer->elem_len);
	fortran_elements(dest, "dest", routine);
	pointer->base_addr = shmem_ptr(dest->base_addr, pe);
	for (int i = 0; i < dest->rank; i++) {
		pointer->dim[i] = dest->dim[i];
		pointer->dim[i].lower_bound = 1;
	}
}

/*
 * For types that C does not have: Fortran itself sets the pointer, to memory with these extents and
 * lower bounds.
 */

/* A pointer of this rank, to elements of this size. */
static array *native_pointer(void *descriptor, int rank, int bytes)
{
	array *pointer = descriptor;

	memset(pointer, 0, sizeof(CFI_CDESC_T(CFI_MAX_RANK)));
	pointer->rank = (CFI_rank_t)rank;
	pointer->elem_len = (size_t)bytes;
	return pointer;
}

static void show_bounds(const array *pointer, int64_t *extents, int64_t *first)
{
	for (int i = 0; i < pointer->rank; i++) {
		extents[i] = pointer->dim[i].extent;
		first[i] = pointer->dim[i].lower_bound;
	}
}

API void torushmemf_allocate_native(int rank, int bytes, const array *shape, const array *lower, void **memory,
				    int64_t *extents, int64_t *first, int *stat)
{
	CFI_CDESC_T(CFI_MAX_RANK) descriptor;
	array *a = native_pointer(&descriptor, rank, bytes);

	fortran_allocate(a, shape, lower, stat, "shmem_allocate");
	*memory = a->base_addr;
	show_bounds(a, extents, first);
}

API void torushmemf_deallocate_native(const array *a)
{
	if (!a)
		fortran_die("shmem_deallocate", "a is not associated");
	shmem_free(a->base_addr);
}

API void torushmemf_ptr_native(const array *dest, int rank, int bytes, int pe, void **memory, int64_t *extents,
			       int64_t *first)
{
	CFI_CDESC_T(CFI_MAX_RANK) descriptor;
	array *pointer = native_pointer(&descriptor, rank, bytes);

	fortran_contiguous(dest, "dest", "shmem_ptr");
	fortran_ptr(dest, pointer, pe, "shmem_ptr");
	*memory = pointer->base_addr;
	show_bounds(pointer, extents, first);
}
