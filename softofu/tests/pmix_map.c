/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Comes up as libraries on the real machine do: PMIx, the map of ranks, jTofu. Prints where it is.
 */
#include <jtofu.h>
#include <pmix.h>
#include <pmix_fjext.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <utofu.h>

static int fail(const char *what, int code)
{
	fprintf(stderr, "%s returned %d\n", what, code);
	return 1;
}

int main(int argc, char **argv)
{
	union jtofu_phys_coords place, size;
	union jtofu_log_coords logical;
	jtofu_rank_t ranks[48];
	pmix_proc_t me, all;
	pmix_value_t *map;
	uint8_t coords[6];
	size_t count;
	int code;

	if ((code = PMIx_Init(&me, NULL, 0)))
		return fail("PMIx_Init", code);
	all = me;
	all.rank = PMIX_RANK_WILDCARD;
	if ((code = PMIx_Get(&all, FJPMIX_RANKMAP, NULL, 0, &map)))
		return fail("PMIx_Get of fjpmix.rankmap", code);
	if (map->type != PMIX_BYTE_OBJECT || (code = jtofu_initialize(0, me.rank, map->data.ptr)))
		return fail("jtofu_initialize", code);
	if ((code = jtofu_query_phys_coords(0, me.rank, &place)) ||
	    (code = jtofu_query_log_coords(0, me.rank, &logical)))
		return fail("jtofu_query_*_coords", code);
	if ((code = jtofu_query_phys_size(&size)))
		return fail("jtofu_query_phys_size", code);
	if ((code = jtofu_query_ranks_from_phys_coords(0, &place, 48, ranks, &count)))
		return fail("jtofu_query_ranks_from_phys_coords", code);
	if ((code = utofu_query_my_coords(coords)) || memcmp(coords, place.a, sizeof coords))
		return fail("utofu_query_my_coords", code);
	printf("rank %u at %u %u %u %u %u %u of %u %u %u %u %u %u, logically %u %u %u, first of %zu: %u\n", me.rank,
	       place.s.x, place.s.y, place.s.z, place.s.a, place.s.b, place.s.c, size.s.x, size.s.y, size.s.z, size.s.a,
	       size.s.b, size.s.c, logical.s.x, logical.s.y, logical.s.z, count, ranks[0]);
	PMIX_VALUE_RELEASE(map);
	if (argc > 1 && !strcmp(argv[1], "leave"))
		_exit(0);
	if ((code = jtofu_finalize()))
		return fail("jtofu_finalize", code);
	return PMIx_Finalize(NULL, 0) ? 1 : 0;
}
