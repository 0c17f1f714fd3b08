/* SPDX-License-Identifier: BSD-3-Clause */
/* run: pes=4 paths=local,mixed,hosts env=SHMEM_SYMMETRIC_SIZE=160m time=300 not=valgrind,tsan long */
/*
 * Every collective with nothing at all, with 1 to 64 MiB and odd tails, on the world and on every
 * other PE, with roots all over.
 */
#define ARENA_BYTES ((size_t)68 << 20)
#include "tests/lib/steps.h"

static int steps_made;

/* So many bytes in the dest of a member. */
static void run_alone(const struct shape *shape, enum kind kind, size_t bytes)
{
	bool collects = kind == COLLECT || kind == FCOLLECT || kind == ALLTOALL || kind == ALLTOALLS;
	size_t members = collects ? (size_t)npes : 1;
	struct step s = {.kind = kind,
			 .shape = shape,
			 .root = steps_made * 7 + 3,
			 .type = steps_made,
			 .size = steps_made % 2 ? 8 : 4,
			 .dst = 1,
			 .sst = 1};

	if (kind == REDUCE || kind == INSCAN || kind == EXSCAN)
		s.size = reductions[s.type % (kind == REDUCE ? N_REDUCTIONS : N_SCANS)].size;
	s.count = bytes / members / s.size;
	s.in_place = steps_made % 3 == 0;
	s.seed = noise((uint64_t)steps_made++);
	CHECK(add_step(s));
	run_steps(NULL);
}

/*
 * Elements of their own are a message each, and what scans and smaller teams must give takes all
 * members long to work out.
 */
static size_t most_of(const struct shape *shape, enum kind kind)
{
	return kind == ALLTOALLS ? 1UL << 20 : shape == shapes && kind <= REDUCE ? 64UL << 20 : 8UL << 20;
}

int main(void)
{
	static const size_t sizes[] = {0, 1000003, (4UL << 20) + 72, (16UL << 20) - 8, 64UL << 20};

	begin();
	shapes[0] = (struct shape){.name = "world", .team = SHMEM_TEAM_WORLD, .n = npes, .me = me};
	n_shapes = 1;
	for (int i = 0; i < npes; i++)
		shapes[0].pes[i] = i;
	add_shape("evens", &shapes[0], 0, 2, (npes + 1) / 2);
	begin_steps();
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
		for (enum kind kind = 0; kind < SYNC; kind++)
			FOR_SHAPES(shape)
	if (sizes[i] <= most_of(shape, kind))
		run_alone(shape, kind, sizes[i]);
	end_steps();
	destroy_shapes();
	return end();
}
