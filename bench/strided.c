/* SPDX-License-Identifier: BSD-3-Clause */
/* Words with gaps between them: shmem_long_iput and iget of PE 0 at PE 1. */
#include "bench.h"

struct pattern {
	long *here, *there;
	ptrdiff_t stride;
	size_t count;
	bool gets;
};

enum { MOST_WORDS = 16384, MOST_STRIDE = 16 };

static double move(void *context, long n)
{
	const struct pattern *p = context;
	double start = now_ns();

	if (group.me)
		return 0;
	for (long i = 0; i < n; i++) {
		if (p->gets)
			shmem_long_iget(p->here, p->there, 1, p->stride, p->count, 1);
		else
			shmem_long_iput(p->there, p->here, p->stride, 1, p->count, 1);
	}
	shmem_quiet();
	return now_ns() - start;
}

static bool moved(void *context)
{
	const struct pattern *p = context;

	if (group.me != (p->gets ? 0 : 1))
		return true;
	for (size_t i = 0; i < p->count; i++)
		if (p->gets ? p->here[i] != (long)(i * (size_t)p->stride) + p->stride
			    : p->there[i * (size_t)p->stride] != (long)i + p->stride)
			return false;
	return true;
}

static void measure_pattern(struct pattern *p)
{
	char variant[40];

	snprintf(variant, sizeof variant, "%s:stride-%td", p->gets ? "iget" : "iput", p->stride);
	for (long i = 0; i < MOST_WORDS * MOST_STRIDE; i++)
		p->there[i] = p->gets ? i + p->stride : 0;
	for (long i = 0; i < MOST_WORDS; i++)
		p->here[i] = p->gets ? 0 : i + p->stride;
	harness_measure(&(struct spot){.measure = "strided",
				       .variant = variant,
				       .bytes = p->count * 8,
				       .sample = move,
				       .context = p,
				       .check = moved});
}

void strided_put_get(void)
{
	static const ptrdiff_t strides[] = {1, 2, MOST_STRIDE};
	static const size_t counts[] = {1, 16, 256, MOST_WORDS};
	struct pattern p = {.here = heap_take(MOST_WORDS * sizeof(long)),
			    .there = heap_take(MOST_WORDS * MOST_STRIDE * sizeof(long))};

	for (int gets = 0; gets < 2; gets++)
		for (int s = 0; s < 3; s++)
			for (int c = 0; c < 4; c++) {
				p.gets = gets;
				p.stride = strides[s];
				p.count = counts[c];
				measure_pattern(&p);
			}
	heap_give(p.there);
	heap_give(p.here);
}
