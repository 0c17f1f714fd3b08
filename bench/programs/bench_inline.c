/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inline forms (oshcc --inline) of PE 0 towards PE 1, each beside the loop of plain loads and
 * stores that it replaces: variants NAME and NAME:bare. The same routines as calls are other
 * measures: p, g, put, get and atomic. A library without inline forms calls here, too.
 */
#define SHMEMX_INLINE
#include "bench.h"

struct inlined {
	long *word;		 /* at PE 1, by its address here */
	volatile long *directly; /* where PE 0 stores to it */
};

static long global_word[8];

#define LOOP_OF_PE_0(name, ...)                    \
	static double name(void *context, long n)  \
	{                                          \
		const struct inlined *t = context; \
		long *word = t->word, old = 0;     \
		volatile long *w = t->directly;    \
		double start = now_ns();           \
                                                   \
		(void)word, (void)w;               \
		if (group.me)                      \
			return 0;                  \
		for (long i = 0; i < n; i++) {     \
			__VA_ARGS__;               \
		}                                  \
		shmem_quiet();                     \
		keep(&old);                        \
		return now_ns() - start;           \
	}

LOOP_OF_PE_0(p, shmem_long_p(word, i, 1))
LOOP_OF_PE_0(p_bare, *w = i)
LOOP_OF_PE_0(g, old += shmem_long_g(word, 1))
LOOP_OF_PE_0(g_bare, old += *w)
LOOP_OF_PE_0(put_8, long one = i; shmem_long_put(word, &one, 1, 1))
LOOP_OF_PE_0(put_8_bare, w[0] = i)
LOOP_OF_PE_0(get_8, long one; shmem_long_get(&one, word, 1, 1); old += one)
LOOP_OF_PE_0(get_8_bare, old += w[0])
LOOP_OF_PE_0(put_64, long all[8] = {i, i, i, i, i, i, i, i}; shmem_long_put(word, all, 8, 1))
LOOP_OF_PE_0(put_64_bare, w[0] = i; w[1] = i; w[2] = i; w[3] = i; w[4] = i; w[5] = i; w[6] = i; w[7] = i)
LOOP_OF_PE_0(get_64, long all[8]; shmem_long_get(all, word, 8, 1);
	     old += all[0] + all[1] + all[2] + all[3] + all[4] + all[5] + all[6] + all[7])
LOOP_OF_PE_0(get_64_bare, old += w[0] + w[1] + w[2] + w[3] + w[4] + w[5] + w[6] + w[7])
LOOP_OF_PE_0(add, shmem_long_atomic_add(word, 1, 1))
LOOP_OF_PE_0(add_bare, __atomic_fetch_add(w, 1, __ATOMIC_SEQ_CST))
LOOP_OF_PE_0(fetch_add, old += shmem_long_atomic_fetch_add(word, 1, 1))
LOOP_OF_PE_0(fetch_add_bare, old += __atomic_fetch_add(w, 1, __ATOMIC_SEQ_CST))
LOOP_OF_PE_0(fetch, old += shmem_long_atomic_fetch(word, 1))
LOOP_OF_PE_0(fetch_bare, old += __atomic_load_n(w, __ATOMIC_SEQ_CST))
LOOP_OF_PE_0(swap, old += shmem_long_atomic_swap(word, i, 1))
LOOP_OF_PE_0(swap_bare, old += __atomic_exchange_n(w, i, __ATOMIC_SEQ_CST))

static const struct form {
	const char *name;
	sampler *sample, *bare;
	size_t bytes;
} forms[] = {{"p", p, p_bare, 8},
	     {"g", g, g_bare, 8},
	     {"put", put_8, put_8_bare, 8},
	     {"get", get_8, get_8_bare, 8},
	     {"put", put_64, put_64_bare, 64},
	     {"get", get_64, get_64_bare, 64},
	     {"add", add, add_bare, 8},
	     {"fetch-add", fetch_add, fetch_add_bare, 8},
	     {"fetch", fetch, fetch_bare, 8},
	     {"swap", swap, swap_bare, 8},
	     {NULL, NULL, NULL, 0}};

static void measure_forms(long *word, const char *where)
{
	struct inlined t = {word, shmem_ptr(word, 1)};
	char name[40];

	for (const struct form *f = forms; f->name; f++) {
		for (int bare = 0; bare < (t.directly ? 2 : 1); bare++) {
			snprintf(name, sizeof name, "%s%s%s", f->name, where, bare ? ":bare" : "");
			harness_measure(&(struct spot){.measure = "inline",
						       .variant = name,
						       .bytes = f->bytes,
						       .sample = bare ? f->bare : f->sample,
						       .context = &t});
		}
	}
}

void inline_forms(void)
{
	long *word = heap_take(8 * sizeof *word);

	measure_forms(word, "");
	measure_forms(global_word, ":global");
	heap_give(word);
}
