/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * jTofu in grids of several shapes: places and ranks are inverse to each other, logical neighbours
 * are neighbours.
 */
#include "together.h"

static void *map;
static size_t bytes;
static unsigned ranks;

static void take_shape(const char *shape, const char *per_node, const char *holes, const char *size)
{
	setenv("SOFTOFU_SHAPE", shape, 1);
	setenv("SOFTOFU_RANKS_PER_NODE", per_node, 1);
	setenv("SOFTOFU_HOLES", holes, 1);
	setenv("SOFTOFU_RANKS", size, 1);
	CHECK(!jtofu_create_mapinfo_by_envvars(&map, &bytes, &ranks));
	CHECK(!jtofu_initialize(5, 0, map));
}

static void let_go(void)
{
	free(map);
	CHECK(!jtofu_finalize());
}

static unsigned distance(union jtofu_phys_coords one, union jtofu_phys_coords other)
{
	unsigned sum = 0;

	for (int i = 0; i < 6; i++)
		sum += (unsigned)abs(one.a[i] - other.a[i]);
	return sum;
}

static void inverse(size_t per_node)
{
	union jtofu_phys_coords place, before, size;
	union jtofu_log_coords logical, log_size;
	jtofu_rank_t found[48];
	size_t count;

	CHECK(!jtofu_query_phys_size(&size) && !jtofu_query_log_size(&log_size));
	CHECK(jtofu_query_max_proc_per_node() == (int)per_node);
	for (unsigned rank = 0; rank < ranks; rank++) {
		CHECK(!jtofu_query_phys_coords(5, rank, &place) && !jtofu_query_log_coords(5, rank, &logical));
		for (int i = 0; i < 6; i++)
			CHECK(place.a[i] < size.a[i]);
		for (int i = 0; i < 3; i++)
			CHECK(logical.a[i] < log_size.a[i]);
		CHECK(!jtofu_query_ranks_from_phys_coords(5, &place, 48, found, &count));
		CHECK(count <= per_node && found[rank % per_node] == rank);
		CHECK(!jtofu_query_ranks_from_log_coords(5, &logical, 48, found, &count));
		CHECK(count <= per_node && found[rank % per_node] == rank);
		if (logical.s.x && rank >= per_node && !getenv("SOFTOFU_HOLES")[0]) {
			CHECK(!jtofu_query_phys_coords(5, rank - (unsigned)per_node, &before));
			CHECK(distance(place, before) == 1);
		}
	}
}

static void shapes(void)
{
	union jtofu_phys_coords size, ring, corner, place = {.a = {1, 0, 0, 0, 0, 0}};
	jtofu_rank_t found[4];
	size_t count;

	take_shape("2x2x2x2x3x2", "1", "", "96");
	CHECK(!jtofu_query_sys_size(&size) && !jtofu_query_sys_torus(&ring) && !jtofu_query_ref_coords(&corner));
	CHECK(!memcmp(size.a, "\2\2\2\2\3\2", 6) && !memcmp(ring.a, "\1\1\1\1\1\1", 6) &&
	      !memcmp(corner.a, "\0\0\0\0\0\0", 6));
	inverse(1);
	let_go();
	take_shape("4mx3x5x2x3x2", "4", "", "1440");
	CHECK(!jtofu_query_sys_torus(&ring) && !memcmp(ring.a, "\0\1\1\1\1\1", 6));
	inverse(4);
	let_go();
	take_shape("4x4", "2", "1,0,0,0,0,0; 3,3,0,0,0,0", "28");
	inverse(2);
	CHECK(!jtofu_query_ranks_from_phys_coords(5, &place, 4, found, &count) && !count);
	let_go();
}

static void directions(void)
{
	union jtofu_phys_coords far = {.a = {3, 0, 0, 1, 2, 1}}, outside = {.a = {9, 0, 0, 0, 0, 0}};
	union jtofu_path_coords paths[20];
	size_t count, hops;

	take_shape("6x1x1x2x3x2", "1", "", "72");
	CHECK(!jtofu_query_onesided_hops(&far, &hops) && hops == 3 + 1 + 1 + 1);
	CHECK(!jtofu_query_barrier_hops(&far, &hops) && hops == 6);
	CHECK(!jtofu_query_onesided_paths(&far, 20, paths, &count) && count == 12);
	CHECK(!memcmp(paths[0].a, "\1\2\1", 3));
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < i; j++)
			CHECK(memcmp(paths[i].a, paths[j].a, 3) != 0);
	CHECK(!jtofu_query_barrier_paths(&far, 5, paths, &count) && count == 5);
	CHECK(jtofu_query_onesided_hops(&outside, &hops) == JTOFU_ERR_INVALID_ARG);
	CHECK(jtofu_query_onesided_hops(NULL, &hops) == JTOFU_ERR_INVALID_POINTER);
	let_go();
}

static void mistakes(void)
{
	union jtofu_phys_coords place;
	char nonsense[200] = "nonsense";
	int major = 7, minor = 7;

	CHECK(jtofu_finalize() == JTOFU_ERR_EXCESS_FINALIZE);
	CHECK(jtofu_query_sys_size(&place) == JTOFU_ERR_NOT_INITIALIZED);
	CHECK(jtofu_query_phys_coords(5, 0, &place) == JTOFU_ERR_NOT_INITIALIZED);
	CHECK(jtofu_query_max_proc_per_node() < 0);
	CHECK(jtofu_initialize(5, 0, NULL) == JTOFU_ERR_INVALID_POINTER);
	CHECK(jtofu_initialize(5, 0, nonsense) == JTOFU_ERR_INVALID_ARG);
	CHECK(jtofu_add_job(6, nonsense) == JTOFU_ERR_NOT_INITIALIZED);
	take_shape("2x2", "1", "", "4");
	CHECK(jtofu_initialize(5, 0, map) == JTOFU_SUCCESS);
	CHECK(jtofu_query_sys_size(NULL) == JTOFU_ERR_INVALID_POINTER);
	CHECK(jtofu_query_phys_coords(5, 4, &place) == JTOFU_ERR_INVALID_ARG);
	CHECK(jtofu_query_phys_coords(6, 0, &place) == JTOFU_ERR_INVALID_ARG);
	CHECK(jtofu_add_job(5, map) == JTOFU_ERR_INVALID_ARG);
	CHECK(!jtofu_add_job(6, map) && !jtofu_query_phys_coords(6, 3, &place));
	CHECK(!jtofu_delete_job(6) && jtofu_delete_job(6) == JTOFU_ERR_INVALID_ARG);
	CHECK(jtofu_delete_job(5) == JTOFU_ERR_INVALID_ARG);
	CHECK(!jtofu_finalize() && !jtofu_query_sys_size(&place));
	let_go();
	CHECK(jtofu_query_sys_size(&place) == JTOFU_ERR_NOT_INITIALIZED);
	jtofu_query_jtofu_version(&major, &minor);
	CHECK(!major && !minor);
}

int main(void)
{
	mistakes();
	shapes();
	directions();
	return 0;
}
