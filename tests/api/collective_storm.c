/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=1,2,3,4,8 ucx-tcp=3 ucx-shm=2 mixed=4,7 mixed3=7,8 split=3 ofi=3 time=120 */
/*
 * Two thousand collectives drawn at random, on random teams and active sets that overlap in every
 * pattern, with nothing between them: who is late, and who is early. One PE is stopped again and
 * again, wherever it may be. TEST_SEED=n draws others.
 */
#include "tests/lib/steps.h"
#include "tests/lib/stops.h"

static _Alignas(64) char static_arena[(size_t)4 << 20];

/* What all PEs draw alike, and what each draws for itself. */
static uint64_t common, own;
static char seed_text[60];
static int slow_pe;

static uint64_t draw(uint64_t *state, uint64_t below)
{
	return noise((*state)++) % below;
}

static int common_below(int n)
{
	return (int)draw(&common, (uint64_t)n);
}

static void be_late(void)
{
	if (draw(&own, me == slow_pe ? 20 : 200) == 0)
		stops_sleep(draw(&own, 500));
}

/* --- Random teams and steps --- */

/* Teams of teams, split without anything between, and rows and columns of the world. */
static void make_teams(void)
{
	static const char *const names[] = {"world", "A", "B", "C", "D", "E", "F", "G"};

	n_shapes = 1;
	for (int i = 1; i < 8; i++) {
		const struct shape *parent = &shapes[common_below(2) ? 0 : common_below(i)];
		int start = common_below(parent->n), stride = common_below(7) - 3, size, most = 1;

		if (stride == 0)
			stride = parent->n;
		while (start + most * stride >= 0 && start + most * stride < parent->n)
			most++;
		size = most == 1 || common_below(3) ? most : 1 + common_below(most);
		add_shape(names[i], parent, start, stride, size);
	}
	if (common_below(2))
		add_rows_and_columns(&shapes[0]);
}

static size_t draw_bytes(void)
{
	static const size_t edges[] = {64, 256, 1024, 2048, 4096, 8192, 16384, 65536};

	switch (common_below(8)) {
	case 0: return common_below(2) ? 0 : 1;
	case 1:
	case 2: return 8;
	case 3:
	case 4: return (size_t)common_below(200);
	case 5: return edges[common_below(8)] + (size_t)common_below(17) - 8;
	case 6: return (size_t)common_below(5000);
	default: return common_below(4) ? (size_t)common_below(20000) : (size_t)common_below(150000);
	}
}

static struct step draw_step(void)
{
	static const size_t sizes[] = {1, 4, 8};
	size_t bytes = draw_bytes();
	struct step s = {.kind = (enum kind)common_below(KINDS),
			 .shape = &shapes[common_below(3) ? common_below(n_shapes) : 0],
			 .in_place = common_below(2),
			 .root = common_below(npes),
			 .type = common_below(N_REDUCTIONS * N_SCANS),
			 .dst = 1 + common_below(MOST_STRIDE),
			 .sst = 1 + common_below(MOST_STRIDE),
			 .seed = noise(common) % 1000000};

	/* Barriers hold back PEs that would run ahead; in broadcasts, roots do. */
	if (is_barrier(&s) && common_below(2))
		s.kind = BROADCAST;
	s.active = common_below(3) == 0 && active_log(s.shape) >= 0 && s.kind != INSCAN && s.kind != EXSCAN;
	s.size = sizes[s.active ? 1 + common_below(2) : common_below(3)];
	s.count = bytes / (has_types(&s) ? 8 : s.size);
	if (s.kind == ALLTOALLS && ease() > 1)
		s.count %= 300; /* each may be a message */
	return s;
}

/* A stretch is as much as the arena takes; nobody waits for all within it. */
static long run_stretch(long most)
{
	struct step s = draw_step();
	long count = 0;

	for (; count < most && add_step(s); count++)
		s = draw_step();
	CHECK(count > 0);
	slow_pe = common_below(npes);
	if (me == slow_pe)
		stops_begin(own);
	run_steps(be_late);
	stops_end();
	return count;
}

int main(void)
{
	const char *wanted = getenv("TEST_SEED");
	uint64_t seed = wanted ? strtoull(wanted, NULL, 10) : 1;
	long left = eased(2000);

	begin();
	snprintf(seed_text, sizeof seed_text, "TEST_SEED=%llu, ", (unsigned long long)seed);
	steps_of = seed_text;
	common = noise(seed);
	own = noise(seed + 1000 * (uint64_t)(me + 1));
	shapes[0] = (struct shape){.name = "world", .team = SHMEM_TEAM_WORLD, .n = npes, .me = me};
	for (int i = 0; i < npes; i++)
		shapes[0].pes[i] = i;
	begin_steps();
	for (int stretch = 0; left > 0; stretch++) {
		arena = stretch % 2 ? static_arena : heap_arena;
		arena_size = sizeof static_arena;
		make_teams();
		left -= run_stretch(left < 250 ? left : 250);
		destroy_shapes();
	}
	end_steps();
	return end();
}
