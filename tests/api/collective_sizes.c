/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=1,2,3,8 ucx-tcp=3 ucx-shm=2 mixed=4,7 mixed3=7,8 cables-ring=7 ofi=3 time=120 */
/*
 * Every collective, on teams and active sets that lie across nodes in many patterns, at sizes
 * around those where algorithms may change, with every root, in place and not, odd addresses.
 */
#include "tests/lib/steps.h"

static size_t steps_made;

static void must_add(struct step s)
{
	s.seed = ++steps_made;
	s.dst = 1 + (ptrdiff_t)(steps_made % MOST_STRIDE);
	s.sst = 1 + (ptrdiff_t)(steps_made / 2 % MOST_STRIDE);
	if (add_step(s))
		return;
	run_steps(NULL);
	CHECK(add_step(s));
}

/* A routine with so many bytes for each member, on a team and on the active set of its members. */
static void add_both(const struct shape *shape, enum kind kind, size_t bytes, int root)
{
	static const size_t sizes[] = {1, 8, 4};
	struct step s = {.kind = kind, .shape = shape, .root = root, .type = (int)(steps_made + steps_made / 8)};

	s.size = sizes[steps_made % 3];
	if (kind == REDUCE || kind == INSCAN || kind == EXSCAN)
		s.size = reductions[s.type % (kind == REDUCE ? N_REDUCTIONS : N_SCANS)].size;
	s.count = (bytes + s.size - 1) / s.size;
	if (kind == ALLTOALLS && ease() > 1 && s.count > 300)
		s.count = 300 + s.count % 8; /* each may be a message */
	s.in_place = steps_made % 2;
	must_add(s);
	if (active_log(shape) < 0 || kind == INSCAN || kind == EXSCAN)
		return;
	s.active = true;
	s.in_place = !s.in_place;
	if (s.size == 1) {
		s.size = 4;
		s.count = (s.count + 3) / 4;
	}
	must_add(s);
}

/* Around the powers of two, where buffers end and algorithms change. */
static void check_sizes(const struct shape *shape)
{
	bool eased = ease() > 1;

	for (enum kind kind = 0; kind < KINDS; kind++) {
		for (size_t bytes = 0; bytes <= 4; bytes += eased ? 3 : 1)
			add_both(shape, kind, bytes, (int)bytes);
		for (size_t log = 3; log <= 16 && kind < SYNC; log++)
			for (size_t i = 0; i < 3; i++)
				if (!eased || (steps_made + log) % 6 == i)
					add_both(shape, kind, ((size_t)1 << log) - 1 + i, (int)(steps_made % MOST_PES));
	}
}

/* The plan must be the same on all PEs, however many there are in their own row. */
static void check_roots(const struct shape *shape)
{
	for (int root = 0; root < (shape->own ? npes : shape->n); root++) {
		add_both(shape, BROADCAST, 8, root);
		add_both(shape, BROADCAST, 2049, root);
		add_both(shape, BROADCAST, 70001, root);
	}
}

/* A few MiB in all. */
static void check_large(const struct shape *shape)
{
	for (enum kind kind = 0; kind < SYNC; kind++) {
		size_t bytes =
			kind == COLLECT || kind == FCOLLECT || kind == ALLTOALL || kind == ALLTOALLS ? 300001 : 1500003;

		if (is_selected(kind) || kind == BROADCAST || kind == REDUCE)
			add_both(shape, kind, bytes, shape->n - 1);
	}
}

int main(void)
{
	begin();
	make_shapes();
	begin_steps();
	FOR_SHAPES(shape)
	{
		check_sizes(shape);
		check_roots(shape);
	}
	check_large(&shapes[0]);
	check_large(&shapes[2]);
	run_steps(NULL);
	end_steps();
	destroy_shapes();
	return end();
}
