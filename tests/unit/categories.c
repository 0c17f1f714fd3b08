/* SPDX-License-Identifier: BSD-3-Clause */
/* Every routine that can be counted has a category, and the one that its name says. */
#include <string.h>

#include "comms/observe/counters.h"
#include "tests/lib/unit.h"

struct routine {
	const char *name;
};

static const struct routine routines[] = {
#define F(ret, name, ...) {#name},
#define D(ret, name, ...) {#name},
#include "include/prototypes.def"
#undef F
#undef D
#define EXTENSION(name) {#name},
#include "tests/unit/extensions.def"
#undef EXTENSION
};

/* Set-up, queries and what does nothing: nobody counts them. Parts of the standard's names. */
static const char *const without[] = {"init",	  "finalize", "exit",  "my_pe",	   "n_pes",	"num_pes", "accessible",
				      "team_ptr", "info_",    "query", "pcontrol", "start_pes", "cache",   "udcflush"};

/*
 * The same of shmemx.h, and what copies in the PE's own memory only. These are whole names, so that
 * a new routine is in neither list until somebody has decided.
 */
static const char *const extensions_without[] = {
	"shmemx_get_unique_id",
	"shmemx_error",
	"shmemx_init_attr",
	"shmemx_torus_shape",
	"shmemx_torus_coordinates",
	"shmemx_torus_hops",
	"shmemx_torus_source",
	"shmemx_grid_sizes",
	"shmemx_grid_coordinates",
	"shmemx_grid_pe",
	"shmemx_grid_neighbour",
	"shmemx_grid_shift",
	"shmemx_grid_report",
	"shmemx_stats_enabled",
	"shmemx_stats_count",
	"shmemx_stats_name",
	"shmemx_stats_read",
	"shmemx_stats_reset",
	"shmemx_pack",
	"shmemx_unpack",
	"shmemx_atomic_query",
	"shmemx_wtime",
	"shmemx_thread_register",
	"shmemx_thread_unregister",
	"shmemx_half_from_float",
	"shmemx_half_to_float",
	"shmemx_bfloat16_from_float",
	"shmemx_bfloat16_to_float",
};

static bool is_extension_without(const char *name)
{
	for (size_t i = 0; i < sizeof extensions_without / sizeof extensions_without[0]; i++)
		if (!strcmp(name, extensions_without[i]))
			return true;
	return false;
}

static bool is_without(const char *name)
{
	if (!strncmp(name, "shmemx_", strlen("shmemx_")))
		return is_extension_without(name);
	for (size_t i = 0; i < sizeof without / sizeof without[0]; i++)
		if (strstr(name, without[i]))
			return true;
	return !strcmp(name, "shmem_ptr");
}

static void all_have_one(void)
{
	int counts[CATEGORY_COUNT] = {0};

	for (size_t i = 0; i < sizeof routines / sizeof routines[0]; i++) {
		enum counters_category category = counters_category_of(routines[i].name);

		counts[category]++;
		if (is_without(routines[i].name) == (category == CATEGORY_OTHER) || category == CATEGORY_TEAM)
			continue;
		EXPECT(false, "%s is of category %d", routines[i].name, (int)category);
	}
	for (int category = 0; category < CATEGORY_OTHER; category++)
		EXPECT(counts[category] > 0, "category %d", category);
	/* 24 types and 6 sizes, with and without a context. */
	EXPECT(counts[CATEGORY_PUT] == 2 * (24 + 6), "%d", counts[CATEGORY_PUT]);
	EXPECT(counts[CATEGORY_GET] == 2 * (24 + 6), "%d", counts[CATEGORY_GET]);
	EXPECT(counts[CATEGORY_P] == 2 * 24 && counts[CATEGORY_G] == 2 * 24, "%d, %d", counts[CATEGORY_P],
	       counts[CATEGORY_G]);
}

static void names_say_it(void)
{
	static const struct {
		const char *name;
		enum counters_category category;
	} known[] = {
		{"pshmem_long_put", CATEGORY_PUT},
		{"pshmem_ctx_putmem_nbi", CATEGORY_PUT_NBI},
		{"pshmem_ctx_double_p", CATEGORY_P},
		{"shmem_ibput128", CATEGORY_IPUT},
		{"pshmem_long_iget", CATEGORY_IGET},
		{"pshmem_putmem_signal_nbi", CATEGORY_PUT_SIGNAL},
		{"pshmem_signal_wait_until", CATEGORY_WAIT},
		{"pshmem_signal_set", CATEGORY_SIGNAL},
		{"pshmem_ctx_signal_add", CATEGORY_SIGNAL},
		{"pshmem_int_atomic_set", CATEGORY_ATOMIC},
		{"pshmem_int_atomic_fetch_add_nbi", CATEGORY_ATOMIC_NBI},
		{"pshmem_int_atomic_fetch_add", CATEGORY_ATOMIC_FETCH},
		{"pshmem_ctx_long_atomic_compare_swap", CATEGORY_ATOMIC_FETCH},
		{"pshmem_int_finc", CATEGORY_ATOMIC_FETCH},
		{"pshmem_swap", CATEGORY_ATOMIC_FETCH},
		{"pshmem_long_add", CATEGORY_ATOMIC},
		{"pshmem_set_lock", CATEGORY_LOCK},
		{"pshmem_test_lock", CATEGORY_LOCK},
		{"pshmem_int_test_any_vector", CATEGORY_TEST},
		{"pshmem_team_sync", CATEGORY_SYNC},
		{"pshmem_team_split_2d", CATEGORY_TEAM},
		{"pshmem_int_and_to_all", CATEGORY_REDUCE},
		{"pshmem_int_sum_inscan", CATEGORY_SCAN},
		{"pshmem_fcollect64", CATEGORY_FCOLLECT},
		{"pshmem_alltoallsmem", CATEGORY_ALLTOALL},
		{"pshmem_ctx_pe_quiet", CATEGORY_QUIET},
		{"pshmem_ctx_create", CATEGORY_CONTEXT},
		{"shmalloc", CATEGORY_MEMORY},
		{"shmemx_grid_create", CATEGORY_TEAM},
		{"shmemx_exchange_create", CATEGORY_EXCHANGE},
		{"shmemx_exchange_start", CATEGORY_EXCHANGE},
		{"shmemx_plan_start", CATEGORY_PLAN},
		{"shmemx_rdma_wait", CATEGORY_RDMA},
		{"shmemx_broadcast_init", CATEGORY_PLAN},
	};

	for (int round = 0; round < 2; round++) /* the second time from the stored one */
		for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
			EXPECT(counters_category_of(known[i].name) == known[i].category, "%s", known[i].name);
}

int main(void)
{
	all_have_one();
	names_say_it();
	return unit_failures > 0;
}
