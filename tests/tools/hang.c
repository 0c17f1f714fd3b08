/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that hang, one for each cause; the argument names it. PE 1 is to blame. */
#include <shmem.h>

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

static long flag, lock, sum, part;
static uint64_t signal_word;
static const char *wanted;

static bool is(const char *name)
{
	return !strcmp(wanted, name);
}

static void compute_for_ever(void)
{
	for (volatile int i = 0;; i = 1)
		;
}

static void hang_in_collectives(bool culprit)
{
	if (culprit && is("missing"))
		pause();
	if (culprit && is("loop"))
		compute_for_ever();
	if (is("missing") || is("loop"))
		shmem_barrier_all();
}

/* Two collectives of different teams, by one PE in the opposite order. */
static void hang_in_order(bool culprit)
{
	shmem_team_t team;

	if (!is("order"))
		return;
	shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), NULL, 0, &team);
	if (culprit)
		shmem_long_sum_reduce(team, &sum, &part, 1);
	shmem_barrier_all();
	if (!culprit)
		shmem_long_sum_reduce(team, &sum, &part, 1);
}

static void hang_alone(bool culprit)
{
	if (is("value") && !culprit)
		shmem_long_wait_until(&flag, SHMEM_CMP_GE, -5 + 12);
	if (is("signal") && !culprit)
		shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, 1);
	if (is("lock") && culprit)
		shmem_set_lock(&lock);
	if (is("lock"))
		shmem_barrier_all();
	if (is("lock") && !culprit)
		shmem_set_lock(&lock);
}

int main(int argc, char **argv)
{
	bool culprit;

	wanted = argc > 1 ? argv[1] : "none";
	shmem_init();
	culprit = shmem_my_pe() == 1;
	flag = -3;
	shmem_barrier_all();
	hang_in_collectives(culprit);
	hang_in_order(culprit);
	hang_alone(culprit);
	if (!is("none"))
		shmem_barrier_all();
	shmem_finalize();
	return 0;
}
