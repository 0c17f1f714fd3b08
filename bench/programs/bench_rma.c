/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts and gets of PE 0 at PE 1, which waits in a barrier meanwhile. Each sample ends with a quiet,
 * so that what a library leaves for later counts too.
 */
#include "bench.h"

struct transfer {
	char *here;  /* on this PE */
	char *there; /* on the other */
	size_t bytes;
	unsigned spot;
};

static char global[LARGEST_GLOBAL] __attribute__((aligned(4096)));
static long global_word;

#define LOOP_OF_PE_0(name, body)                    \
	static double name(void *context, long n)   \
	{                                           \
		const struct transfer *t = context; \
		double start = now_ns();            \
                                                    \
		if (group.me)                       \
			return 0;                   \
		for (long i = 0; i < n; i++) {      \
			body                        \
		}                                   \
		shmem_quiet();                      \
		return now_ns() - start;            \
	}

LOOP_OF_PE_0(put_blocking, shmem_putmem(t->there, t->here, t->bytes, 1);)
LOOP_OF_PE_0(put_quiet, shmem_putmem(t->there, t->here, t->bytes, 1); shmem_quiet();)
LOOP_OF_PE_0(put_nbi, shmem_putmem_nbi(t->there, t->here, t->bytes, 1);)
LOOP_OF_PE_0(put_nbi_quiet, shmem_putmem_nbi(t->there, t->here, t->bytes, 1); shmem_quiet();)
LOOP_OF_PE_0(get_blocking, shmem_getmem(t->here, t->there, t->bytes, 1);)
LOOP_OF_PE_0(get_nbi, shmem_getmem_nbi(t->here, t->there, t->bytes, 1);)
LOOP_OF_PE_0(get_nbi_quiet, shmem_getmem_nbi(t->here, t->there, t->bytes, 1); shmem_quiet();)
LOOP_OF_PE_0(p, shmem_long_p((long *)t->there, i, 1);)
LOOP_OF_PE_0(g, long word = shmem_long_g((long *)t->there, 1); keep(&word);)

struct variant {
	const char *name;
	sampler *sample;
};

static const struct variant put_variants[] = {{"blocking", put_blocking},
					      {"quiet", put_quiet},
					      {"nbi", put_nbi},
					      {"nbi+quiet", put_nbi_quiet},
					      {NULL, NULL}};
static const struct variant get_variants[] = {{"blocking", get_blocking},
					      {"nbi", get_nbi},
					      {"nbi+quiet", get_nbi_quiet},
					      {NULL, NULL}};

/* What PE 0 put is PE 0's. */
static bool was_put(void *context)
{
	const struct transfer *t = context;

	return group.me != 1 || pattern_is(t->there, t->bytes, 0, t->spot);
}

static bool was_got(void *context)
{
	const struct transfer *t = context;

	return group.me != 0 || pattern_is(t->here, t->bytes, 1, t->spot);
}

static void measure_sizes(const char *measure, const struct variant *variants, const char *where, char *here,
			  char *there, bool is_put)
{
	static unsigned spot;

	for (const struct variant *v = variants; v->name; v++) {
		char name[40];

		snprintf(name, sizeof name, "%s%s", v->name, where);
		for (int i = 0; options.sizes[i] && options.sizes[i] <= LARGEST_GLOBAL; i++) {
			struct transfer t = {here, there, options.sizes[i], ++spot};

			pattern_write(is_put ? here : there, t.bytes, group.me, spot);
			harness_measure(&(struct spot){.measure = measure,
						       .variant = name,
						       .bytes = t.bytes,
						       .sample = v->sample,
						       .context = &t,
						       .check = is_put ? was_put : was_got});
		}
	}
}

static void measure_both(const char *measure, const struct variant *variants, bool is_put)
{
	size_t bytes = largest_size() < LARGEST_GLOBAL ? largest_size() : LARGEST_GLOBAL;
	char *here = heap_take(bytes), *there = heap_take(bytes);

	measure_sizes(measure, variants, "", here, there, is_put);
	measure_sizes(measure, variants, ":global", here, global, is_put);
	heap_give(there);
	heap_give(here);
}

void rma_put(void)
{
	measure_both("put", put_variants, true);
}

void rma_get(void)
{
	measure_both("get", get_variants, false);
}

static void measure_word(const char *measure, sampler *sample)
{
	long *word = heap_take(sizeof *word);
	struct transfer on_heap = {.there = (char *)word}, on_global = {.there = (char *)&global_word};

	harness_measure(&(
		struct spot){.measure = measure, .variant = "heap", .bytes = 8, .sample = sample, .context = &on_heap});
	harness_measure(&(struct spot){.measure = measure,
				       .variant = "global",
				       .bytes = 8,
				       .sample = sample,
				       .context = &on_global});
	heap_give(word);
}

void rma_p(void)
{
	measure_word("p", p);
}

void rma_g(void)
{
	measure_word("g", g);
}
