/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long a collective takes from the first PE that begins to the last that has its result:
 * torus_times COLLECTIVE SIZES [REPEATS[xCALLS] [SHAPE [PES [TEAMS]]]], with a name of the list
 * below. Sizes are those of the message; of collects what each brings, of alltoall and alltoalls
 * what each has for each. The median of the repetitions counts; each is of so many CALLS in a row
 * (1), of which a call's share counts. With a SHAPE, such as 4x3m, of hosts that have PES PEs each,
 * it prints first how long a round takes: a word to all neighbours and one from each, on all hosts
 * at once; "-" is none. TEAMS, as in 9x1: teams of so many PEs, so far apart, all at once instead
 * of the world. Run by tests/cluster/torus-bench and team_cables.bats.
 */
#include <shmemx.h>

#include "torus_times.h"

#define ROUNDS 101 /* to time one */
#define MOST_PES 4096

static double *spread;		    /* a number of this PE's, and the greatest of all */
static long *words;		    /* from each direction */
static long psync[SHMEM_SYNC_SIZE]; /* zero, as SHMEM_SYNC_VALUE is */
/* Whose collective it is, its size, and this PE's number there. */
static shmem_team_t team;
static int size, me;
/* Neighbours that send each other messages at once: PEs of the world, -1 is none. */
static int partner[MOST_NEIGHBOURS], pairings, pairing;
static uint64_t messages;

static double greatest(double mine)
{
	spread[0] = mine;
	shmem_double_max_reduce(SHMEM_TEAM_WORLD, &spread[1], &spread[0], 1);
	return spread[1];
}

static void check(int right, const char *what, size_t i)
{
	if (right)
		return;
	fprintf(stderr, "torus_times: PE %d: %s: element %zu is wrong\n", shmem_my_pe(), what, i);
	shmem_global_exit(1);
}

/* --- What each collective does, with what, and what comes of it --- */

static void run_broadcast(unsigned char *dest, unsigned char *source, size_t bytes)
{
	shmem_broadcastmem(team, dest, source, bytes, 0);
}

static void run_reduce(unsigned char *dest, unsigned char *source, size_t bytes)
{
	shmem_uint_sum_reduce(team, (unsigned *)dest, (unsigned *)source, bytes / sizeof(unsigned));
}

static void run_fcollect(unsigned char *dest, unsigned char *source, size_t bytes)
{
	shmem_fcollectmem(team, dest, source, bytes);
}

static void run_inplace(unsigned char *dest, unsigned char *source, size_t bytes)
{
	(void)source;
	shmem_uint_sum_reduce(team, (unsigned *)dest, (unsigned *)dest, bytes / sizeof(unsigned));
}

/* The deprecated routine, on the active set of all. */
static void run_active(unsigned char *dest, unsigned char *source, size_t bytes)
{
	shmem_fcollect32(dest, source, bytes / 4, 0, 0, shmem_n_pes(), psync);
}

static void run_collect(unsigned char *dest, unsigned char *source, size_t bytes)
{
	shmem_collectmem(team, dest, source, bytes);
}

static void run_scan(unsigned char *dest, unsigned char *source, size_t bytes)
{
	shmem_uint_sum_inscan(team, (unsigned *)dest, (unsigned *)source, bytes / sizeof(unsigned));
}

/* Every second word, so that half of them move. */
static void run_alltoalls(unsigned char *dest, unsigned char *source, size_t bytes)
{
	shmem_uint32_alltoalls(team, (uint32_t *)dest, (uint32_t *)source, 2, 2, bytes / 8);
}

static void run_alltoall(unsigned char *dest, unsigned char *source, size_t bytes)
{
	shmem_alltoallmem(team, dest, source, bytes);
}

/* A block for each PE, of equal size, as the bounds have it. */
static void run_reduce_scatter(unsigned char *dest, unsigned char *source, size_t bytes)
{
	shmemx_reduce_scatter(team, dest, source, bytes / sizeof(unsigned), SHMEMX_UINT, SHMEMX_SUM);
}

static const size_t *counts_of(size_t bytes)
{
	static size_t counts[MOST_PES];

	for (int i = 0; i < size; i++)
		counts[i] = bytes;
	return counts;
}

static void run_allgatherv(unsigned char *dest, unsigned char *source, size_t bytes)
{
	shmemx_allgatherv(team, dest, source, counts_of(bytes), NULL, SHMEMX_UINT8);
}

static void run_alltoallv(unsigned char *dest, unsigned char *source, size_t bytes)
{
	const size_t *counts = counts_of(bytes);

	shmemx_alltoallv(team, dest, source, counts, NULL, counts, NULL, SHMEMX_UINT8);
}

/* The same as plans, which are made in the first call of each size. */
static shmemx_plan_t plan;
static size_t planned;

static int is_planned(size_t bytes)
{
	int right = plan && planned == bytes;

	if (plan && !right)
		shmemx_plan_free(plan);
	return right;
}

static void run_plan(size_t bytes)
{
	planned = bytes;
	shmemx_plan_start(plan);
	shmemx_plan_wait(plan);
}

static void run_allgatherv_plan(unsigned char *dest, unsigned char *source, size_t bytes)
{
	if (!is_planned(bytes))
		shmemx_allgatherv_init(team, dest, source, counts_of(bytes), NULL, SHMEMX_UINT8, SHMEMX_PLAN_AUTO,
				       &plan);
	run_plan(bytes);
}

static void run_alltoallv_plan(unsigned char *dest, unsigned char *source, size_t bytes)
{
	const size_t *counts = counts_of(bytes);

	if (!is_planned(bytes))
		shmemx_alltoallv_init(team, dest, source, counts, NULL, counts, NULL, SHMEMX_UINT8, SHMEMX_PLAN_AUTO,
				      &plan);
	run_plan(bytes);
}

/* To a neighbour, and as much from it, at once. Each pairing has a block of dest. */
static void exchange_message(unsigned char *dest, unsigned char *source, size_t bytes)
{
	static uint64_t signal[MOST_NEIGHBOURS];
	uint64_t number = ++messages;

	if (partner[pairing] < 0)
		return;
	shmem_putmem_signal(dest + (size_t)pairing * bytes, source, bytes, &signal[pairing], number, SHMEM_SIGNAL_SET,
			    partner[pairing]);
	shmem_signal_wait_until(&signal[pairing], SHMEM_CMP_GE, number);
}

/* What a cable carries: always the same neighbour, so that pairs do not wait for other pairs. */
static void run_message(unsigned char *dest, unsigned char *source, size_t bytes)
{
	pairing = pairings - 1;
	exchange_message(dest, source, bytes);
}

/*
 * What processors and wakeups allow: the neighbours in turn, so that all hosts depend on each
 * other.
 */
static void run_messages(unsigned char *dest, unsigned char *source, size_t bytes)
{
	pairing = (int)(messages % (uint64_t)pairings);
	exchange_message(dest, source, bytes);
}

static void fill_bytes(unsigned char *source, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		source[i] = byte_at(i, me);
}

static void fill_numbers(unsigned char *source, size_t bytes)
{
	for (size_t i = 0; i < bytes / sizeof(unsigned); i++)
		((unsigned *)source)[i] = (unsigned)i + (unsigned)me;
}

static void fill_blocks(unsigned char *source, size_t bytes)
{
	for (int to = 0; to < size; to++)
		for (size_t i = 0; i < bytes; i++)
			source[(size_t)to * bytes + i] = byte_at(i, me * 5 + to);
}

static void check_broadcast(const unsigned char *dest, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		check(dest[i] == byte_at(i, 0), "broadcast", i);
}

static void check_message(const unsigned char *dest, size_t bytes)
{
	for (size_t i = 0; i < bytes && partner[pairing] >= 0; i++)
		check(dest[(size_t)pairing * bytes + i] == byte_at(i, partner[pairing]), "message", i);
}

static void check_reduce(const unsigned char *dest, size_t bytes)
{
	unsigned n = (unsigned)size;

	for (size_t i = 0; i < bytes / sizeof(unsigned); i++)
		check(((const unsigned *)dest)[i] == (unsigned)i * n + n * (n - 1) / 2, "reduce", i);
}

static void fill_many_numbers(unsigned char *source, size_t bytes)
{
	fill_numbers(source, (size_t)size * bytes);
}

static void check_reduce_scatter(const unsigned char *dest, size_t bytes)
{
	unsigned n = (unsigned)size, first = (unsigned)me * (unsigned)(bytes / sizeof(unsigned));

	for (size_t i = 0; i < bytes / sizeof(unsigned); i++)
		check(((const unsigned *)dest)[i] == (first + (unsigned)i) * n + n * (n - 1) / 2, "reduce_scatter", i);
}

static void check_scan(const unsigned char *dest, size_t bytes)
{
	unsigned n = (unsigned)me + 1;

	for (size_t i = 0; i < bytes / sizeof(unsigned); i++)
		check(((const unsigned *)dest)[i] == (unsigned)i * n + n * (n - 1) / 2, "scan", i);
}

static void check_fcollect(const unsigned char *dest, size_t bytes)
{
	for (int from = 0; from < size; from++)
		for (size_t i = 0; i < bytes; i++)
			check(dest[(size_t)from * bytes + i] == byte_at(i, from), "fcollect", (size_t)from * bytes + i);
}

static void check_alltoall(const unsigned char *dest, size_t bytes)
{
	for (int from = 0; from < size; from++)
		for (size_t i = 0; i < bytes; i++)
			check(dest[(size_t)from * bytes + i] == byte_at(i, from * 5 + me), "alltoall",
			      (size_t)from * bytes + i);
}

static void check_alltoalls(const unsigned char *dest, size_t bytes)
{
	for (int from = 0; from < size; from++)
		for (size_t i = 0; i < bytes / 8 * 4; i++) {
			size_t at = i / 4 * 8 + i % 4;

			check(dest[(size_t)from * bytes + at] == byte_at(at, from * 5 + me), "alltoalls", at);
		}
}

static const struct collective {
	const char *name;
	void (*run)(unsigned char *dest, unsigned char *source, size_t bytes);
	void (*fill)(unsigned char *source, size_t bytes);
	void (*check)(const unsigned char *dest, size_t bytes);
	int many_in_dest, many_in_source; /* as many blocks as there are PEs */
	int in_place;
} collectives[] = {
	{"broadcast", run_broadcast, fill_bytes, check_broadcast, 0, 0, 0},
	{"reduce", run_reduce, fill_numbers, check_reduce, 0, 0, 0},
	{"fcollect", run_fcollect, fill_bytes, check_fcollect, 1, 0, 0},
	{"alltoall", run_alltoall, fill_blocks, check_alltoall, 1, 1, 0},
	{"inplace", run_inplace, fill_numbers, check_reduce, 0, 0, 1},
	{"scan", run_scan, fill_numbers, check_scan, 0, 0, 0},
	{"active", run_active, fill_bytes, check_fcollect, 1, 0, 0},
	{"collect", run_collect, fill_bytes, check_fcollect, 1, 0, 0},
	{"alltoalls", run_alltoalls, fill_blocks, check_alltoalls, 1, 1, 0},
	{"reduce_scatter", run_reduce_scatter, fill_many_numbers, check_reduce_scatter, 0, 1, 0},
	{"allgatherv", run_allgatherv, fill_bytes, check_fcollect, 1, 0, 0},
	{"message", run_message, fill_bytes, check_message, 1, 0, 0},
	{"messages", run_messages, fill_bytes, check_message, 1, 0, 0},
	{"alltoallv", run_alltoallv, fill_blocks, check_alltoall, 1, 1, 0},
	{"allgatherv_plan", run_allgatherv_plan, fill_bytes, check_fcollect, 1, 0, 0},
	{"alltoallv_plan", run_alltoallv_plan, fill_blocks, check_alltoall, 1, 1, 0},
};

/* --- The clock --- */

struct timing {
	double took, busiest, again;
};

/* A sum that takes the place of what was added cannot be made twice. */
static struct timing time_calls(const struct collective *c, size_t bytes, unsigned char *dest, unsigned char *source,
				long asked)
{
	long calls = c->in_place ? 1 : asked;
	struct cables before;
	struct timing timing;
	double begun, again;

	memset(dest, 0xee, (c->many_in_dest ? (size_t)size : 1) * bytes);
	if (c->in_place)
		c->fill(dest, bytes);
	shmem_barrier_all();
	read_cables(&before);
	again = sent_again();
	shmem_barrier_all();
	begun = seconds_now();
	for (long i = 0; i < calls; i++)
		c->run(dest, source, bytes);
	timing.took = greatest(seconds_now() - begun) / (double)calls;
	timing.busiest = greatest(busiest_since(&before)) / (double)calls;
	timing.again = greatest(sent_again() - again);
	c->check(dest, bytes);
	return timing;
}

static int compare_timings(const void *left, const void *right)
{
	double a = ((const struct timing *)left)->took, b = ((const struct timing *)right)->took;

	return (a > b) - (a < b);
}

static void measure(const struct collective *c, size_t bytes, long repeats, long calls)
{
	size_t n = (size_t)size;
	unsigned char *dest = shmem_malloc((c->many_in_dest ? n : 1) * bytes),
		      *source = shmem_malloc((c->many_in_source ? n : 1) * bytes);
	struct timing *timing = calloc((size_t)repeats, sizeof *timing), *median = &timing[repeats / 2];

	if (!dest || !source || !timing)
		shmem_global_exit(1);
	c->fill(source, bytes);
	/* Connections come up, links are measured. */
	c->run(dest, source, bytes < 65536 ? bytes : 65536);
	if (strstr(c->name, "_plan"))
		c->run(dest, source, bytes); /* makes it */
	for (long i = 0; i < repeats; i++)
		timing[i] = time_calls(c, bytes, dest, source, calls);
	qsort(timing, (size_t)repeats, sizeof *timing, compare_timings);
	if (shmem_my_pe() == 0)
		print_time(c->name, bytes, median->took, median->busiest, median->again);
	free(timing);
	if (plan)
		shmemx_plan_free(plan);
	plan = NULL;
	shmem_free(source);
	shmem_free(dest);
}

static double time_round(const int *neighbour, int count, int pes, long number)
{
	double begun = seconds_now();

	for (int i = 0; i < count; i++)
		if (neighbour[i] >= 0)
			shmem_long_p(&words[i ^ 1], number, neighbour[i] * pes);
	for (int i = 0; i < count; i++)
		if (neighbour[i] >= 0)
			shmem_long_wait_until(&words[i], SHMEM_CMP_GE, number);
	return seconds_now() - begun;
}

/* The median. The other PEs of each host wait in a barrier. */
static void time_rounds(const char *shape, int pes)
{
	double took[ROUNDS];
	int neighbour[MOST_NEIGHBOURS],
		count = find_neighbours(shape, shmem_n_pes() / pes, shmem_my_pe() / pes, neighbour, NULL);

	for (long i = 0; i < ROUNDS && shmem_my_pe() % pes == 0; i++)
		took[i] = time_round(neighbour, count, pes, i + 1);
	qsort(took, ROUNDS, sizeof *took, compare_seconds);
	if (shmem_my_pe() == 0)
		print_time("round", sizeof *words, took[ROUNDS / 2], 0, 0);
	shmem_barrier_all();
}

/*
 * The neighbour before a host with an odd coordinate, behind the others; the second time vice
 * versa.
 */
static int find_next(const char *shape, int hosts, int host, int axis, int second)
{
	int neighbour[MOST_NEIGHBOURS], coordinates[MOST_NEIGHBOURS];

	find_neighbours(shape, hosts, host, neighbour, coordinates);
	return neighbour[2 * axis + (coordinates[axis] % 2 == second)];
}

/* A host and its partner are next to each other, both ways: not at the seam of an odd ring. */
static int find_partner(const char *shape, int hosts, int host, int axis, int second)
{
	int next = find_next(shape, hosts, host, axis, second);

	return next >= 0 && find_next(shape, hosts, next, axis, second) == host ? next : -1;
}

/* Two pairings for each axis, one if it has two hosts. Without a shape: PEs 0 and 1, 2 and 3. */
static void find_pairings(const char *shape, int pes)
{
	int n = shmem_n_pes(), self = shmem_my_pe(), neighbour[MOST_NEIGHBOURS];
	int count = shape ? find_neighbours(shape, n / pes, self / pes, neighbour, NULL) : 0;

	partner[0] = (self ^ 1) < n ? self ^ 1 : -1;
	pairings = count ? 0 : 1;
	for (int i = 0; i < count; i++) {
		int next = find_partner(shape, n / pes, self / pes, i / 2, i % 2);

		if (greatest(next) >= 0)
			partner[pairings++] = next < 0 ? -1 : next * pes + self % pes;
	}
}

/* Every PE is in one of the teams, which take PEs in blocks. */
static void make_teams(const char *text)
{
	int length, apart, n = shmem_n_pes();

	team = SHMEM_TEAM_WORLD;
	if (text && (sscanf(text, "%dx%d", &length, &apart) != 2 || length < 1 || apart < 1 || n % (length * apart))) {
		fprintf(stderr, "torus_times: teams %s: give PEs and distance, as in 9x1; the job has %d PEs\n", text,
			n);
		shmem_global_exit(2);
	}
	for (int first = 0; text && first < n; first += first % apart == apart - 1 ? (length - 1) * apart + 1 : 1) {
		shmem_team_t made;

		if (shmem_team_split_strided(SHMEM_TEAM_WORLD, first, apart, length, NULL, 0, &made))
			shmem_global_exit(1);
		team = made == SHMEM_TEAM_INVALID ? team : made;
	}
	size = shmem_team_n_pes(team);
	me = shmem_team_my_pe(team);
}

int main(int argc, char **argv)
{
	const char *sizes = argc > 2 ? argv[2] : "", *shape = argc > 4 && strcmp(argv[4], "-") != 0 ? argv[4] : NULL;
	int pes = argc > 5 ? atoi(argv[5]) : 1;
	long repeats = 1, calls = 1;
	size_t bytes;

	if (argc > 3)
		sscanf(argv[3], "%ldx%ld", &repeats, &calls);
	shmem_init();
	spread = shmem_malloc(2 * sizeof *spread);
	words = shmem_calloc(MOST_NEIGHBOURS, sizeof *words);
	if (shape)
		time_rounds(shape, pes);
	find_pairings(shape, pes);
	make_teams(argc > 6 ? argv[6] : NULL);
	for (size_t c = 0; c < sizeof collectives / sizeof collectives[0]; c++)
		if (argc > 1 && !strcmp(argv[1], collectives[c].name))
			while ((bytes = next_size(&sizes)) > 0)
				measure(&collectives[c], bytes, repeats < 1 ? 1 : repeats, calls < 1 ? 1 : calls);
	shmem_finalize();
	return 0;
}
