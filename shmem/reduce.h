/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SHMEM_REDUCE_H
#define SHMEM_REDUCE_H

#include "collectives.h"
#include "numbers/narrow.h"

/*
 * Shared by the files of reductions: reduce.c chooses and has the large ones, reduce_small.c the
 * small ones, numbers/reduce_narrow.c what is different for 16-bit floating-point numbers.
 */

struct reduce_narrow {
	const struct narrow *numbers;
	combine_t *combine; /* of 16-bit numbers */
	combine_t *wide;    /* the same of floats */
	int divisor;	    /* the number of PEs, for an average; otherwise 1 */
};

struct reduction {
	const struct set *set;
	char *dest;
	const char *source;
	size_t count, size;
	combine_t *combine;
	const struct reduce_narrow *narrow; /* NULL: other types */
	bool by_network;		    /* the network may combine if it can */
	uint64_t epoch;			    /* of the first piece */
	struct set_trees trees;		    /* between nodes */
	bool by_rings;			    /* torus_allreduce instead of trees */
	bool by_lines;			    /* torus_lines_allreduce */
	uint64_t first_number;		    /* of the first message along trees, rings or lines */
};

/* For a team whose members exchange all their data. May change its argument. */
void reduce_small(struct reduction *r);

/*
 * The members agree whether a reduce-scatter goes by the rings of a torus, with blocks of this
 * size. A collective like set_agree_on_ring_allreduce. Each node has one member then.
 */
bool set_agree_on_ring_reduce_scatter(const struct set *set, size_t block);

/* Bytes of another's data at a time, where it cannot be read in place. */
#define REDUCE_WINDOW (256UL << 10)
/*
 * acc = acc op what member i has at source, through a window where its memory is not here. acc
 * holds floats if the elements are narrow.
 */
void reduce_member(const struct reduction *r, int i, char *acc, const char *source, size_t count, void *window);

void set_reduce_narrow(const struct set *set, void *dest, const void *source, size_t count,
		       const struct reduce_narrow *narrow);
/* The same as functions of reduce.c and reduce_small.c, for 16-bit numbers, in floats. */
void narrow_reduce_small(const struct reduction *r);
void narrow_combine_strip(const struct reduction *r, size_t first, size_t count, const struct set *takers);
/*
 * A sum of elements in floats: begins with some numbers, takes others, and at its end, which frees
 * it, becomes 16-bit numbers.
 */
float *narrow_sum_begin(const struct reduction *r, const void *numbers, size_t count);
void narrow_add(const struct reduction *r, float *sum, const void *numbers, size_t count);
void narrow_sum_end(const struct reduction *r, void *numbers, float *sum, size_t count);
/* Divides this PE's elements into dest, for an average whose partial results travel. */
void narrow_divide_first(struct reduction *r);

#endif
