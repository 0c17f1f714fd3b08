/* SPDX-License-Identifier: BSD-3-Clause */
/* Start, end, and who is there: nested initialisation, queries, constants. */
#include "tests/lib/check.h"

/* The constants must be usable here ... */
_Static_assert(SHMEM_MAJOR_VERSION == 1 && SHMEM_MINOR_VERSION == 6, "version of the specification");
_Static_assert(SHMEM_THREAD_SINGLE < SHMEM_THREAD_FUNNELED && SHMEM_THREAD_FUNNELED < SHMEM_THREAD_SERIALIZED &&
		       SHMEM_THREAD_SERIALIZED < SHMEM_THREAD_MULTIPLE,
	       "order of thread levels");
_Static_assert(SHMEM_MALLOC_ATOMICS_REMOTE != SHMEM_MALLOC_SIGNAL_REMOTE, "hints are distinct");
_Static_assert(_SHMEM_CMP_EQ == SHMEM_CMP_EQ && _SHMEM_CMP_GE == SHMEM_CMP_GE, "old spellings");
_Static_assert(sizeof SHMEM_VENDOR_STRING <= SHMEM_MAX_NAME_LEN, "the name fits");
static shmem_team_t world = SHMEM_TEAM_WORLD, no_team = SHMEM_TEAM_INVALID;
static shmem_ctx_t context = SHMEM_CTX_DEFAULT, no_context = SHMEM_CTX_INVALID;

static int seen[1024];
static long mark;

static int known_comparison(int cmp)
{
	switch (cmp) { /* ... and here */
	case SHMEM_CMP_EQ:
	case SHMEM_CMP_NE:
	case SHMEM_CMP_GT:
	case SHMEM_CMP_GE:
	case SHMEM_CMP_LT:
	case SHMEM_CMP_LE: return 1;
	}
	return 0;
}

static int is_up(void)
{
	int up = -1;

	shmem_query_initialized(&up);
	CHECK(up != -1);
	return up;
}

static void check_names(void)
{
	char name[SHMEM_MAX_NAME_LEN];
	int major = 0, minor = 0;

	shmem_info_get_version(&major, &minor);
	CHECK_EQUAL(major, SHMEM_MAJOR_VERSION);
	CHECK_EQUAL(minor, SHMEM_MINOR_VERSION);
	memset(name, 'x', sizeof name);
	shmem_info_get_name(name);
	CHECK(!strcmp(name, SHMEM_VENDOR_STRING));
	CHECK(known_comparison(SHMEM_CMP_NE));
}

static void check_numbers(void)
{
	CHECK(npes >= 1 && npes <= (int)(sizeof seen / sizeof seen[0]));
	CHECK(me >= 0 && me < npes);
	CHECK_EQUAL(_my_pe(), me);
	CHECK_EQUAL(_num_pes(), npes);
	CHECK_EQUAL(shmem_team_my_pe(world), me);
	CHECK_EQUAL(shmem_team_n_pes(world), npes);
	CHECK_EQUAL(shmem_team_my_pe(no_team), -1);
	CHECK_EQUAL(shmem_team_n_pes(no_team), -1);
	CHECK(context != no_context);

	/* No two PEs have the same number, and all agree on how many there are. */
	for (int pe = 0; pe < npes; pe++)
		shmem_int_p(&seen[me], npes, pe);
	shmem_barrier_all();
	for (int pe = 0; pe < npes; pe++)
		CHECK_EQUAL(seen[pe], npes);
}

static void check_accessible(void)
{
	static int in_function;
	int on_stack = 0, *from_malloc = malloc(sizeof *from_malloc), *from_heap = symmetric(sizeof *from_heap);

	for (int pe = 0; pe < npes; pe++) {
		CHECK_EQUAL(shmem_pe_accessible(pe), 1);
		CHECK_EQUAL(shmem_addr_accessible(seen, pe), 1);
		CHECK_EQUAL(shmem_addr_accessible(&seen[1023], pe), 1);
		CHECK_EQUAL(shmem_addr_accessible(&in_function, pe), 1);
		CHECK_EQUAL(shmem_addr_accessible(from_heap, pe), 1);
		CHECK_EQUAL(shmem_addr_accessible(&on_stack, pe), 0);
		CHECK_EQUAL(shmem_addr_accessible(from_malloc, pe), 0);
		CHECK_EQUAL(shmem_addr_accessible(NULL, pe), 0);
	}
	CHECK_EQUAL(shmem_pe_accessible(-1), 0);
	CHECK_EQUAL(shmem_pe_accessible(npes), 0);
	CHECK_EQUAL(shmem_addr_accessible(seen, npes), 0);
	CHECK_EQUAL(shmem_addr_accessible(seen, -1), 0);
	shmem_free(from_heap);
	free(from_malloc);
}

/* Each call counts; a finalize that is not the last is a barrier and leaves everything as it is. */
static void check_nesting(void)
{
	int level = -1, again = -1;
	long *persistent = symmetric(sizeof *persistent);

	CHECK_EQUAL(shmem_init_thread(SHMEM_THREAD_SINGLE, &level), 0);
	shmem_query_thread(&again);
	CHECK_EQUAL(level, again);
	shmem_init();
	*persistent = -1;
	shmem_barrier_all();

	if (me == 0)
		sleep_for(0.05); /* the others must wait for PE 0's store at the finalize */
	shmem_long_p(persistent, me, (me + 1) % npes);
	if (me == 0)
		for (int pe = 0; pe < npes; pe++)
			shmem_long_p(&mark, 77, pe);
	shmem_finalize();
	CHECK(is_up());
	CHECK_EQUAL(mark, 77);
	CHECK_EQUAL(*persistent, (me + npes - 1) % npes);

	shmem_finalize();
	CHECK(is_up());
	CHECK_EQUAL(shmem_my_pe(), me);
	CHECK_EQUAL(shmem_n_pes(), npes);
	shmem_free(persistent);
}

int main(void)
{
	int level = -1, again = -1;

	CHECK(!is_up());
	CHECK_EQUAL(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level), 0);
	me = shmem_my_pe();
	npes = shmem_n_pes();
	CHECK(is_up());
	CHECK(level >= SHMEM_THREAD_SINGLE && level <= SHMEM_THREAD_MULTIPLE);
	shmem_query_thread(&again);
	CHECK_EQUAL(level, again);

	check_names();
	check_numbers();
	check_accessible();
	check_nesting();
	shmem_pcontrol(0);
	shmem_pcontrol(7, "more", 1.5);

	shmem_barrier_all();
	shmem_finalize();
	CHECK(!is_up());
	return 0;
}
