/* SPDX-License-Identifier: BSD-3-Clause */
#include "fortran.h"

/* The bytes of an array with this many blocks, which begin `stride` elements apart. */
static void check_room(const array *a, size_t blocks, int stride, const char *argument, const char *routine)
{
	size_t elements = fortran_contiguous(a, argument, routine);

	if (stride < 1)
		fortran_die(routine, "the stride of %s is %d; it must be at least 1", argument, stride);
	if (blocks > 0 && (blocks - 1) * (size_t)stride >= elements)
		fortran_die(routine, "%s has %zu elements, too few for %zu that are %d apart", argument, elements,
			    blocks, stride);
}

size_t fortran_check_strided(shmem_team_t team, const array *dest, const array *source,
			     const struct fortran_blocks *blocks, const char *routine)
{
	size_t n = (size_t)blocks->count, all = n * fortran_team_size(team, routine);

	if (blocks->count < 0)
		fortran_die(routine, "nelems=%d is negative", blocks->count);
	check_room(dest, all, blocks->dst, "dest", routine);
	check_room(source, all, blocks->sst, "source", routine);
	return n;
}

int fortran_alltoalls(shmem_team_t team, const array *dest, const array *source, const struct fortran_blocks *blocks,
		      const char *routine)
{
	size_t n = fortran_check_strided(team, dest, source, blocks, routine);
	void *to = dest->base_addr;
	const void *from = source->base_addr;

	switch (source->elem_len) {
	case 1: return shmem_uint8_alltoalls(team, to, from, blocks->dst, blocks->sst, n);
	case 2: return shmem_uint16_alltoalls(team, to, from, blocks->dst, blocks->sst, n);
	case 4: return shmem_uint32_alltoalls(team, to, from, blocks->dst, blocks->sst, n);
	case 8: return shmem_uint64_alltoalls(team, to, from, blocks->dst, blocks->sst, n);
	/* The routine moves bytes; this is the size of the type. */
	case sizeof(long double): return shmem_longdouble_alltoalls(team, to, from, blocks->dst, blocks->sst, n);
	default: fortran_die(routine, "an element of source has %zu bytes", source->elem_len);
	}
}
