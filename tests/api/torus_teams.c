/* SPDX-License-Identifier: BSD-3-Clause */
/* run: ucx-tcp=8,12 mixed=12 mixed3=12 cables-ring=8 paths=ucx-tcp,mixed,mixed3,hosts time=120 */
/*
 * Every collective on teams that are parts of a torus: planes, lines, boxes, every second and third
 * node, and nodes at random places, with one, two or three PEs each, on rings and meshes; one team
 * alone, and disjoint teams at once without a word between them. The grid has PEs of a node that
 * are not side by side. By the torus's algorithms, and by whatever the library takes.
 */
#include <unistd.h>

#include <shmemx.h>

#include "tests/lib/check.h"
#include "tests/lib/boxes.h"

#define LARGEST 20011UL

static unsigned char *dest, *source, *expected;
static char path[] = "/tmp/torus-teams.XXXXXX";
static const char *machine;

/* A team, as its members know it. */
struct crew {
	shmem_team_t team;
	int n, me, number;
};

static uint64_t brought(const struct crew *crew, int from, int to, uint64_t seed)
{
	return ((seed * 64 + (uint64_t)crew->number) * 64 + (uint64_t)from) * 64 + (uint64_t)to;
}

static void get_ready(const struct crew *crew, const char *what, size_t bytes, uint64_t seed)
{
	NOTE("%s, team %d of %d PEs, %s of %zu bytes", machine, crew->number, crew->n, what, bytes);
	shmem_team_sync(crew->team);
	if (noise(seed) % (uint64_t)crew->n == (uint64_t)crew->me)
		usleep((unsigned)(noise(seed + 1) % 2000));
}

static void check_broadcast(const struct crew *crew, size_t bytes, uint64_t seed)
{
	int root = (int)(seed % (uint64_t)crew->n);

	memset(dest, 0x44, bytes + 1);
	fill_noise(source, bytes, brought(crew, crew->me, 0, seed));
	get_ready(crew, "broadcast", bytes, seed);
	CHECK_EQUAL(shmem_broadcastmem(crew->team, dest, source, bytes, root), 0);
	fill_noise(expected, bytes, brought(crew, root, 0, seed));
	CHECK_BYTES(dest, expected, bytes);
	CHECK_FILL(dest + bytes, 0x44, 1);
}

static int term(int pe, size_t i, uint64_t seed)
{
	return (int)((i + seed) % 89) * (pe + 1);
}

static int sum_of_terms(int from, int to, size_t i, uint64_t seed)
{
	int sum = 0;

	for (int pe = from; pe < to; pe++)
		sum += term(pe, i, seed);
	return sum;
}

/* Reductions and scans: sums over the members from the first one on, up to this one, or all. */
static void check_sums(const struct crew *crew, size_t bytes, uint64_t seed, bool in_place)
{
	size_t count = bytes / sizeof(int);
	int *out = (int *)(void *)dest, *in = in_place ? out : (int *)(void *)source;

	for (size_t i = 0; i < count; i++)
		in[i] = term(crew->me, i, seed);
	get_ready(crew, in_place ? "sum in place" : "sum", bytes, seed);
	CHECK_EQUAL(shmem_int_sum_reduce(crew->team, out, in, count), 0);
	for (size_t i = 0; i < count; i++)
		CHECK_EQUAL(out[i], sum_of_terms(0, crew->n, i, seed));
	if (in_place)
		return;
	get_ready(crew, "scans", bytes, seed);
	CHECK_EQUAL(shmem_int_sum_inscan(crew->team, out, in, count), 0);
	for (size_t i = 0; i < count; i++)
		CHECK_EQUAL(out[i], sum_of_terms(0, crew->me + 1, i, seed));
	shmem_team_sync(crew->team);
	CHECK_EQUAL(shmem_int_sum_exscan(crew->team, out, in, count), 0);
	for (size_t i = 0; i < count; i++)
		CHECK_EQUAL(out[i], sum_of_terms(0, crew->me, i, seed));
}

/* Collect: every member brings another number of bytes, some none. */
static size_t bytes_of(int pe, size_t bytes, uint64_t seed)
{
	return noise(seed + (uint64_t)pe) % 4 ? noise(seed * 7 + (uint64_t)pe) % (bytes + 1) : 0;
}

static void check_collects(const struct crew *crew, size_t bytes, uint64_t seed)
{
	size_t at = 0;

	memset(dest, 0x44, (size_t)crew->n * bytes + 1);
	fill_noise(source, bytes, brought(crew, crew->me, 0, seed));
	get_ready(crew, "fcollect", bytes, seed);
	CHECK_EQUAL(shmem_fcollectmem(crew->team, dest, source, bytes), 0);
	for (int i = 0; i < crew->n; i++) {
		fill_noise(expected, bytes, brought(crew, i, 0, seed));
		CHECK_BYTES(dest + (size_t)i * bytes, expected, bytes);
	}
	memset(dest, 0x44, (size_t)crew->n * bytes + 1);
	get_ready(crew, "collect", bytes, seed);
	CHECK_EQUAL(shmem_collectmem(crew->team, dest, source, bytes_of(crew->me, bytes, seed)), 0);
	for (int i = 0; i < crew->n; at += bytes_of(i, bytes, seed), i++) {
		fill_noise(expected, bytes, brought(crew, i, 0, seed));
		CHECK_BYTES(dest + at, expected, bytes_of(i, bytes, seed));
	}
	CHECK_FILL(dest + at, 0x44, 1);
}

static void check_alltoalls(const struct crew *crew, size_t bytes, uint64_t seed)
{
	size_t count = bytes / sizeof(long);

	memset(dest, 0x44, (size_t)crew->n * bytes + 1);
	for (int i = 0; i < crew->n; i++)
		fill_noise(source + (size_t)i * bytes, bytes, brought(crew, crew->me, i, seed));
	get_ready(crew, "alltoall", bytes, seed);
	CHECK_EQUAL(shmem_alltoallmem(crew->team, dest, source, bytes), 0);
	for (int i = 0; i < crew->n; i++) {
		fill_noise(expected, bytes, brought(crew, i, crew->me, seed));
		CHECK_BYTES(dest + (size_t)i * bytes, expected, bytes);
	}
	CHECK_FILL(dest + (size_t)crew->n * bytes, 0x44, 1);
	for (int i = 0; i < crew->n; i++)
		for (size_t k = 0; k < count; k++)
			((long *)(void *)source)[(size_t)i * count + k] = (long)k + crew->me * 1000 + i;
	get_ready(crew, "alltoalls", bytes, seed);
	CHECK_EQUAL(shmem_long_alltoalls(crew->team, (long *)(void *)dest, (long *)(void *)source, 2, 1, count), 0);
	for (int i = 0; i < crew->n; i++)
		for (size_t k = 0; k < count; k++)
			CHECK_EQUAL(((long *)(void *)dest)[2 * ((size_t)i * count + k)], (long)k + i * 1000 + crew->me);
}

static void check_crew(const struct crew *crew, uint64_t seed)
{
	static const size_t sizes[] = {8, 72, 3000, LARGEST};

	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		check_broadcast(crew, i < 3 ? sizes[i] : LARGEST * 8, ++seed);
		check_sums(crew, i < 3 ? sizes[i] : LARGEST * 8, ++seed, i % 2);
		check_collects(crew, sizes[i], ++seed);
		check_alltoalls(crew, sizes[i], ++seed);
		check_sums(crew, sizes[i], ++seed, i % 2 == 0);
	}
	check_broadcast(crew, 70000, ++seed);
	shmem_team_sync(crew->team);
}

/* Called by all; who is in the team is told. */
static void split(struct crew *mine, int number, int first, int stride, int n)
{
	shmem_team_t team;

	CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, first, stride, n, NULL, 0, &team), 0);
	if (team != SHMEM_TEAM_INVALID)
		*mine = (struct crew){team, n, shmem_team_my_pe(team), number};
}

static void work_in(struct crew *crew, uint64_t seed)
{
	if (crew->n > 0) {
		check_crew(crew, seed);
		shmem_team_destroy(crew->team);
	}
	*crew = (struct crew){.n = 0};
}

/* Teams of so many PEs side by side: planes and boxes, where PEs are at places in order. */
static void in_runs(int length, uint64_t seed)
{
	struct crew crew = {.n = 0};

	for (int first = 0; first < npes; first += length)
		split(&crew, first, first, 1, first + length <= npes ? length : npes - first);
	work_in(&crew, seed);
}

/* Every so many-th PE: lines, planes across, or every second node of lines. */
static void in_strides(int stride, uint64_t seed)
{
	struct crew crew = {.n = 0};

	for (int first = 0; first < stride; first++)
		split(&crew, first, first, stride, (npes - first + stride - 1) / stride);
	work_in(&crew, seed);
}

static void in_a_grid(uint64_t seed)
{
	int sizes[2] = {0, 0}, wraps[2] = {1, 1};
	struct crew crew = {.n = npes, .number = 63};

	CHECK_EQUAL(shmemx_grid_create(SHMEM_TEAM_WORLD, 2, sizes, wraps, 1, &crew.team), 0);
	crew.me = shmem_team_my_pe(crew.team);
	work_in(&crew, seed);
}

/* --- Machines --- */

/*
 * %d: as many as it takes. Nodes are at their places in order, or, with a number, shuffled by that;
 * there may be more places than nodes.
 */
static const struct {
	const char *shape;
	int others, sizes[3];
	uint64_t shuffled;
	const char *flaws;
} machines[] = {
	{"3x%d", 3, {3, 0, 1}, 0, ""},
	{"%dx2x2", 4, {0, 2, 2}, 0, ""},
	{"2x%dmx2d", 4, {2, 0, 2}, 7, ""},
	{"%d", 1, {0, 1, 1}, 0, ""},
	{"3x%d", 3, {3, 0, 1}, 5, "slow 2 h0 x+\n"},
};

static void write_machine(int life, int nodes)
{
	int size = (nodes + machines[life].others - 1) / machines[life].others, places = size * machines[life].others;
	int sizes[3], at[64];
	FILE *file = fopen(path, "w");

	CHECK(file != NULL && places <= 64);
	for (int a = 0; a < 3; a++)
		sizes[a] = machines[life].sizes[a] ? machines[life].sizes[a] : size;
	for (int p = 0; p < places; p++)
		at[p] = p;
	for (int p = places - 1; p > 0 && machines[life].shuffled; p--) {
		int other = (int)(noise(machines[life].shuffled * 100 + (uint64_t)p) % (uint64_t)(p + 1)),
		    place = at[p];

		at[p] = at[other];
		at[other] = place;
	}
	fprintf(file, "shape ");
	fprintf(file, machines[life].shape, size);
	for (int h = 0; h < nodes; h++) {
		fprintf(file, "\nhost h%d %d", h, at[h] / (sizes[1] * sizes[2]));
		if (strchr(machines[life].shape, 'x'))
			fprintf(file, ",%d", at[h] / sizes[2] % sizes[1]);
		if (machines[life].others == 4)
			fprintf(file, ",%d", at[h] % sizes[2]);
	}
	fprintf(file, "\n%s", machines[life].flaws);
	fclose(file);
}

static int live(int life, int nodes)
{
	uint64_t seed = (uint64_t)life * 1000;
	int per_node;

	machine = life < 0 ? "" : machines[life].shape;
	begin();
	dest = symmetric(2 * LARGEST * (size_t)npes + 1);
	source = symmetric(2 * LARGEST * (size_t)npes);
	if (life < 0)
		nodes = count_nodes();
	per_node = (npes + nodes - 1) / nodes;
	if (life >= 0 && machines[life].shuffled) {
		in_strides(1, seed);
		in_runs(4 * per_node, seed + 100);
		in_strides(3, seed + 200);
	} else if (life >= 0) {
		in_runs(npes / (machines[life].others > 1 ? 2 : 3), seed);
		in_strides(2, seed + 100);
		in_strides(2 * per_node, seed + 200);
		in_strides(npes / 4, seed + 300);
		in_a_grid(seed + 400);
	}
	shmem_finalize();
	return nodes;
}

/* By the torus wherever it can be, and then by choice. */
static void force(const char *reduce, const char *alltoall)
{
	setenv("SHMEM_REDUCE_ALGORITHM", reduce, 1);
	setenv("SHMEM_ALLTOALL_ALGORITHM", alltoall, 1);
	setenv("SHMEM_BROADCAST_ALGORITHM", strcmp(reduce, "auto") ? "torus" : "auto", 1);
	setenv("SHMEM_COLLECT_ALGORITHM", strcmp(reduce, "auto") ? "torus" : "auto", 1);
	setenv("SHMEM_BARRIER_ALGORITHM", strcmp(reduce, "auto") ? "torus" : "auto", 1);
}

int main(void)
{
	static const char *const reduce[] = {"torus", "torus-rings", "auto"};
	static const char *const alltoall[] = {"torus-links", "torus-lines", "auto"};
	int nodes;

	expected = malloc(LARGEST * 8);
	setenv("SHMEM_SYMMETRIC_SIZE", "32m", 1);
	nodes = live(-1, 0);
	CHECK(close(mkstemp(path)) == 0);
	if (nodes == npes) /* on one host, UCX alone does not make nodes of PEs */
		setenv("SHMEM_NODE_PES", "1", 0);
	setenv("SHMEM_TORUS_FILE", path, 1);
	for (int life = 0; nodes > 3 && life < (int)(sizeof machines / sizeof machines[0]); life++) {
		force(reduce[life % 3], alltoall[life % 3]);
		write_machine(life, nodes);
		live(life, nodes);
	}
	unlink(path);
	free(expected);
	return 0;
}
