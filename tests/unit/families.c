/* SPDX-License-Identifier: BSD-3-Clause */
/* Every routine that can be counted has a family, and the one that its name says. */
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
};

/* Set-up, queries and what does nothing: nobody counts them. */
static const char *const without[] = {"init", "finalize", "exit", "my_pe", "n_pes", "num_pes", "accessible", "team_ptr", "info_",
				      "query", "pcontrol", "start_pes", "cache", "udcflush"};

static bool is_without(const char *name)
{
	for (size_t i = 0; i < sizeof without / sizeof without[0]; i++)
		if (strstr(name, without[i]))
			return true;
	return !strcmp(name, "shmem_ptr");
}

static void all_have_one(void)
{
	int counts[WATCH_FAMILY_COUNT] = {0};

	for (size_t i = 0; i < sizeof routines / sizeof routines[0]; i++) {
		enum watch_family family = watch_family_of(routines[i].name);

		counts[family]++;
		if (is_without(routines[i].name) == (family == WATCH_OTHER) || family == WATCH_TEAM)
			continue;
		EXPECT(false, "%s is of family %d", routines[i].name, (int)family);
	}
	for (int family = 0; family < WATCH_OTHER; family++)
		EXPECT(counts[family] > 0 || family == WATCH_EXCHANGE || family == WATCH_PLAN || family == WATCH_RDMA, "family %d", family);
	/* 24 types and 6 sizes, with and without a context. */
	EXPECT(counts[WATCH_PUT] == 2 * (24 + 6), "%d", counts[WATCH_PUT]);
	EXPECT(counts[WATCH_GET] == 2 * (24 + 6), "%d", counts[WATCH_GET]);
	EXPECT(counts[WATCH_P] == 2 * 24 && counts[WATCH_G] == 2 * 24, "%d, %d", counts[WATCH_P], counts[WATCH_G]);
}

static void names_say_it(void)
{
	static const struct {
		const char *name;
		enum watch_family family;
	} known[] = {
		{"pshmem_long_put", WATCH_PUT},
		{"pshmem_ctx_putmem_nbi", WATCH_PUT_NBI},
		{"pshmem_ctx_double_p", WATCH_P},
		{"shmem_ibput128", WATCH_IPUT},
		{"pshmem_long_iget", WATCH_IGET},
		{"pshmem_putmem_signal_nbi", WATCH_PUT_SIGNAL},
		{"pshmem_signal_wait_until", WATCH_WAIT},
		{"pshmem_signal_set", WATCH_SIGNAL},
		{"pshmem_ctx_signal_add", WATCH_SIGNAL},
		{"pshmem_int_atomic_set", WATCH_ATOMIC},
		{"pshmem_int_atomic_fetch_add_nbi", WATCH_ATOMIC_NBI},
		{"pshmem_int_atomic_fetch_add", WATCH_ATOMIC_FETCH},
		{"pshmem_ctx_long_atomic_compare_swap", WATCH_ATOMIC_FETCH},
		{"pshmem_int_finc", WATCH_ATOMIC_FETCH},
		{"pshmem_swap", WATCH_ATOMIC_FETCH},
		{"pshmem_long_add", WATCH_ATOMIC},
		{"pshmem_set_lock", WATCH_LOCK},
		{"pshmem_test_lock", WATCH_LOCK},
		{"pshmem_int_test_any_vector", WATCH_TEST},
		{"pshmem_team_sync", WATCH_SYNC},
		{"pshmem_team_split_2d", WATCH_TEAM},
		{"pshmem_int_and_to_all", WATCH_REDUCE},
		{"pshmem_int_sum_inscan", WATCH_SCAN},
		{"pshmem_fcollect64", WATCH_FCOLLECT},
		{"pshmem_alltoallsmem", WATCH_ALLTOALL},
		{"pshmem_ctx_pe_quiet", WATCH_QUIET},
		{"pshmem_ctx_create", WATCH_CONTEXT},
		{"shmalloc", WATCH_MEMORY},
		{"shmemx_exchange_start", WATCH_EXCHANGE},
		{"shmemx_plan_start", WATCH_PLAN},
		{"shmemx_rdma_wait", WATCH_RDMA},
		{"shmemx_broadcast_init", WATCH_PLAN},
	};

	for (int turn = 0; turn < 2; turn++) /* the second time from what is kept */
		for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
			EXPECT(watch_family_of(known[i].name) == known[i].family, "%s", known[i].name);
}

int main(void)
{
	all_have_one();
	names_say_it();
	return unit_failures > 0;
}
