/* SPDX-License-Identifier: BSD-3-Clause */
/* run: ucx-tcp=5,6 mixed=8 mixed3=7 paths=ucx-tcp,mixed,mixed3,hosts time=120 */
/*
 * Broadcasts and reductions on a torus of which the shape file says that cables are dead or slow
 * and places have no host: they go around, from every root, or do without trees where none is left.
 */
#include <unistd.h>

#include "tests/lib/check.h"
#include "tests/lib/boxes.h"

#define LARGEST 200003UL

static unsigned char *dest, *source, *expected;
static char path[] = "/tmp/torus-damaged.XXXXXX";

/*
 * What is wrong with the machine in a life: beyond the nodes it has so many holes, and lines about
 * cables.
 */
static const struct {
	const char *shape; /* %d: as many as it takes */
	const char *flaws;
} machines[] = {
	{"3x%d", "dead h0 x+\n"},
	{"%dx3", "dead h0 y+\nslow 3 h1\n"},
	{"3x%d", "slow 2 h0\ndead h1 x-\n"},
	{"%d", "dead h0 x-\n"},
	{"2dx%dx2", "dead h0 x+\ndead h0 x-\n"},
	{"%dm", "dead h0 x+\n"}, /* nobody gets to the first host: no trees */
};

/* The hosts are at the first places, but one of them is at the last, if that leaves a hole. */
static void write_machine(int life, int nodes)
{
	int others = strstr(machines[life].shape, "2d") ? 4 : strchr(machines[life].shape, 'x') ? 3 : 1;
	int size = (nodes + others - 1) / others, places = size * others, place = 0, sizes[3] = {size, 1, 1};
	FILE *file = fopen(path, "w");

	CHECK(file != NULL);
	if (machines[life].shape[0] != '%')
		sizes[0] = others == 4 ? 2 : others, sizes[1] = size, sizes[2] = others == 4 ? 2 : 1;
	else if (others > 1)
		sizes[1] = others;
	fprintf(file, "shape ");
	fprintf(file, machines[life].shape, size);
	for (int h = 0; h < nodes; h++, place++) {
		if (h == nodes - 1)
			place = places - 1;
		fprintf(file, "\nhost h%d %d", h, place / (sizes[1] * sizes[2]));
		if (others > 1)
			fprintf(file, ",%d", place / sizes[2] % sizes[1]);
		if (others == 4)
			fprintf(file, ",%d", place % sizes[2]);
	}
	fprintf(file, "\n%s", machines[life].flaws);
	fclose(file);
}

static void broadcast_from(int root, size_t bytes, uint64_t seed)
{
	NOTE("machine %s, from %d, %zu bytes", machines[seed / 1000].shape, root, bytes);
	memset(dest, 0x44, bytes + 1);
	fill_noise(source, bytes, seed + (me == root ? 0 : 1000000));
	shmem_sync_all();
	CHECK_EQUAL(shmem_broadcastmem(SHMEM_TEAM_WORLD, dest, source, bytes, root), 0);
	fill_noise(expected, bytes, seed);
	CHECK_BYTES(dest, expected, bytes);
	CHECK_FILL(dest + bytes, 0x44, 1);
}

static void sum(size_t count, uint64_t seed)
{
	int *in = (int *)source, *out = (int *)dest;

	NOTE("machine %s, %zu elements", machines[seed / 1000].shape, count);
	for (size_t k = 0; k < count; k++)
		in[k] = (int)k % 1000 + me;
	shmem_sync_all();
	CHECK_EQUAL(shmem_int_sum_reduce(SHMEM_TEAM_WORLD, out, in, count), 0);
	for (size_t k = 0; k < count; k++)
		CHECK_EQUAL(out[k], (int)k % 1000 * npes + npes * (npes - 1) / 2);
}

static int live(int life, int nodes)
{
	begin();
	dest = symmetric(LARGEST + 1);
	source = symmetric(LARGEST);
	if (life < 0)
		nodes = count_nodes();
	for (int root = 0; life >= 0 && root < npes; root++) {
		broadcast_from(root, 1 + (size_t)root % 3, (uint64_t)life * 1000 + (uint64_t)root * 4);
		broadcast_from(root, root % 2 ? LARGEST : 8193, (uint64_t)life * 1000 + (uint64_t)root * 4 + 1);
		sum(root % 2 ? 1 : LARGEST / sizeof(int), (uint64_t)life * 1000 + (uint64_t)root * 4 + 2);
	}
	shmem_finalize();
	return nodes;
}

int main(void)
{
	int nodes;

	expected = malloc(LARGEST);
	setenv("SHMEM_SYMMETRIC_SIZE", "32m", 1);
	setenv("SHMEM_BROADCAST_ALGORITHM", "torus", 1);
	setenv("SHMEM_REDUCE_ALGORITHM", "torus", 1);
	nodes = live(-1, 0);
	CHECK(close(mkstemp(path)) == 0);
	if (nodes == npes) /* on one host, UCX alone does not make nodes of PEs */
		setenv("SHMEM_NODE_PES", "1", 0);
	setenv("SHMEM_TORUS_FILE", path, 1);
	/* Of two nodes there is one cable, or there are two of which neither is like the others. */
	for (int life = 0; nodes > 2 && life < (int)(sizeof machines / sizeof machines[0]); life++) {
		write_machine(life, nodes);
		live(life, nodes);
	}
	unlink(path);
	free(expected);
	return 0;
}
