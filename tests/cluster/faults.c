/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives while cables die and become slow: faults FOLDER STEP... does each STEP,
 * COLLECTIVE:BYTES:CALLS with broadcast, reduce, fcollect, alltoall (BYTES: what a PE has for all),
 * plans (a broadcast and a sum by plans, which the first such step makes), starts (the same, then a
 * barrier), or late (the same round an all-to-all), when the file FOLDER/N is there, N from 0; what
 * makes the file has changed a cable before. All data is checked. PE 0 prints "step N seconds"
 * after each. Run by faults.bats.
 */
#include <shmemx.h>
#include <string.h>
#include <unistd.h>

#include "torus_times.h"

static unsigned char *dest, *source;
/*
 * All PEs; the steps begin and end with its syncs, which check no cables for the plans of another
 * team.
 */
static shmem_team_t apart;

static void check_byte(size_t i, unsigned char right, const char *what)
{
	if (dest[i] == right)
		return;
	fprintf(stderr, "faults: PE %d: %s: byte %zu is wrong\n", shmem_my_pe(), what, i);
	shmem_global_exit(1);
}

/* The root is another one each time. */
static void broadcast_once(size_t bytes, int call)
{
	int root = call % shmem_n_pes();

	for (size_t i = 0; i < bytes; i++)
		source[i] = byte_at(i, root + call);
	memset(dest, 0xee, bytes);
	shmem_barrier_all();
	shmem_broadcastmem(SHMEM_TEAM_WORLD, dest, source, bytes, root);
	for (size_t i = 0; i < bytes; i++)
		check_byte(i, byte_at(i, root + call), "broadcast");
}

static void reduce_once(size_t bytes, int call)
{
	unsigned n = (unsigned)shmem_n_pes(), *mine = (unsigned *)source, *sums = (unsigned *)dest, sum;

	for (size_t i = 0; i < bytes / sizeof *mine; i++)
		mine[i] = (unsigned)(i + (size_t)shmem_my_pe() * (size_t)call);
	shmem_barrier_all();
	shmem_uint_sum_reduce(SHMEM_TEAM_WORLD, sums, mine, bytes / sizeof *mine);
	for (size_t i = 0; i < bytes / sizeof *mine; i++) {
		sum = (unsigned)i * n + n * (n - 1) / 2 * (unsigned)call;
		check_byte(i * sizeof sum, ((unsigned char *)&sum)[0], "sum");
		check_byte(i * sizeof sum + 1, ((unsigned char *)&sum)[1], "sum");
		check_byte(i * sizeof sum + 2, ((unsigned char *)&sum)[2], "sum");
		check_byte(i * sizeof sum + 3, ((unsigned char *)&sum)[3], "sum");
	}
}

static void fcollect_once(size_t bytes, int call)
{
	size_t n = (size_t)shmem_n_pes(), each = bytes / n;

	for (size_t i = 0; i < each; i++)
		source[i] = byte_at(i, shmem_my_pe() + call);
	memset(dest, 0xee, bytes);
	shmem_barrier_all();
	shmem_fcollectmem(SHMEM_TEAM_WORLD, dest, source, each);
	for (size_t from = 0; from < n; from++)
		for (size_t i = 0; i < each; i++)
			check_byte(from * each + i, byte_at(i, (int)from + call), "fcollect");
}

static void alltoall_once(size_t bytes, int call)
{
	size_t n = (size_t)shmem_n_pes(), each = bytes / n;
	int me = shmem_my_pe();

	for (size_t to = 0; to < n; to++)
		for (size_t i = 0; i < each; i++)
			source[to * each + i] = byte_at(i, me + 7 * (int)to + call);
	memset(dest, 0xee, bytes);
	shmem_barrier_all();
	shmem_alltoallmem(SHMEM_TEAM_WORLD, dest, source, each);
	for (size_t from = 0; from < n; from++)
		for (size_t i = 0; i < each; i++)
			check_byte(from * each + i, byte_at(i, (int)from + 7 * me + call), "alltoall");
}

/* Made by the first call, so that cables change afterwards. */
static struct {
	shmemx_plan_t broadcast, sum;
	unsigned char *data;
	unsigned *mine, *sums;
} plans = {SHMEMX_PLAN_INVALID, SHMEMX_PLAN_INVALID, NULL, NULL, NULL};

static void make_plans(size_t bytes)
{
	plans.data = shmem_malloc(bytes);
	plans.mine = shmem_malloc(bytes);
	plans.sums = shmem_malloc(bytes);
	if (shmemx_broadcast_init(SHMEM_TEAM_WORLD, plans.data, plans.data, bytes, 1, SHMEMX_PLAN_AUTO,
				  &plans.broadcast) ||
	    shmemx_allreduce_init(SHMEM_TEAM_WORLD, plans.sums, plans.mine, bytes / sizeof *plans.mine, SHMEMX_UINT,
				  SHMEMX_SUM, SHMEMX_PLAN_AUTO, &plans.sum))
		shmem_global_exit(1);
}

static void fill_plans(size_t bytes, int call)
{
	int me = shmem_my_pe();

	if (!plans.data)
		make_plans(bytes);
	for (size_t i = 0; i < bytes; i++)
		plans.data[i] = me == 1 ? byte_at(i, 1 + call) : 0xee;
	for (size_t i = 0; i < bytes / sizeof *plans.mine; i++)
		plans.mine[i] = (unsigned)i + (unsigned)me * (unsigned)call;
}

static void check_plans(size_t bytes, int call)
{
	unsigned n = (unsigned)shmem_n_pes();

	memcpy(dest, plans.data, bytes);
	for (size_t i = 0; i < bytes; i++)
		check_byte(i, byte_at(i, 1 + call), "broadcast by plan");
	for (size_t i = 0; i < bytes / sizeof *plans.sums; i++)
		if (plans.sums[i] != (unsigned)i * n + n * (n - 1) / 2 * (unsigned)call) {
			fprintf(stderr, "faults: PE %d: sum by plan: element %zu is %u\n", shmem_my_pe(), i,
				plans.sums[i]);
			shmem_global_exit(1);
		}
}

/* PEs start their plans in different orders. */
static void plans_once(size_t bytes, int call)
{
	int odd = shmem_my_pe() % 2;

	fill_plans(bytes, call);
	shmemx_plan_start(odd ? plans.broadcast : plans.sum);
	shmemx_plan_start(odd ? plans.sum : plans.broadcast);
	shmemx_plan_wait(plans.broadcast);
	shmemx_plan_wait(plans.sum);
	check_plans(bytes, call);
}

static void starts_once(size_t bytes, int call)
{
	plans_once(bytes, call);
	shmem_barrier_all();
}

/*
 * Some have started the sum, and others have not, when an all-to-all of twice as much may notice
 * that a cable has changed.
 */
static void late_once(size_t bytes, int call)
{
	int odd = shmem_my_pe() % 2;

	fill_plans(bytes, call);
	if (odd)
		shmemx_plan_start(plans.sum);
	alltoall_once(2 * bytes, call);
	if (!odd)
		shmemx_plan_start(plans.sum);
	shmemx_plan_start(plans.broadcast);
	shmemx_plan_wait(plans.sum);
	shmemx_plan_wait(plans.broadcast);
	check_plans(bytes, call);
}

static const struct {
	const char *name;
	void (*once)(size_t bytes, int call);
} collectives[] = {{"broadcast", broadcast_once}, {"reduce", reduce_once}, {"fcollect", fcollect_once},
		   {"alltoall", alltoall_once},	  {"plans", plans_once},   {"late", late_once},
		   {"starts", starts_once}};

static void wait_for_file(const char *folder, int step)
{
	char name[4096];

	snprintf(name, sizeof name, "%s/%d", folder, step);
	while (shmem_my_pe() == 0 && access(name, F_OK))
		usleep(10000);
	shmem_team_sync(apart);
}

static void do_step(const char *text)
{
	size_t length = strcspn(text, ":");
	const char *numbers = text[length] ? text + length + 1 : "";
	size_t bytes = next_size(&numbers);
	int calls = *numbers ? atoi(numbers + 1) : 0;

	dest = shmem_malloc(2 * bytes + sizeof(unsigned));
	source = shmem_malloc(2 * bytes + sizeof(unsigned));
	for (size_t c = 0; c < sizeof collectives / sizeof collectives[0]; c++)
		for (int call = 1; !strncmp(text, collectives[c].name, length) && call <= calls; call++)
			collectives[c].once(bytes, call);
	shmem_free(source);
	shmem_free(dest);
}

int main(int argc, char **argv)
{
	shmem_init();
	shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), NULL, 0, &apart);
	for (int step = 0; step + 2 < argc; step++) {
		double begun;

		wait_for_file(argv[1], step);
		begun = seconds_now();
		do_step(argv[step + 2]);
		shmem_team_sync(apart);
		if (shmem_my_pe() == 0) {
			printf("step %d %.3f\n", step, seconds_now() - begun);
			fflush(stdout);
		}
	}
	shmem_finalize();
	return 0;
}
