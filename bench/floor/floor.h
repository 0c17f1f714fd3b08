/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_FLOOR_H
#define BENCH_FLOOR_H

#include "bench/programs/measure.h"

/* Memory for both processes, taken before they part. */
void *shared_take(size_t bytes);

/* What the measures work on: taken before the processes part, touched by the owner after that. */
void floor_take_memory(void);
void floor_touch_memory(void);

enum { LARGEST_COPY = 64 << 20 };

extern struct floor_memory {
	uint64_t *words; /* some lines, at home with process 1 */
	char *from, *to; /* for copies: from is process 0's, to process 1's */
	char *back_from, *back_to;
} floor_memory;

void floor_store(void);
void floor_load(void);
void floor_line(void);
void floor_atomics(void);
void floor_flags(void);
void floor_copy(void);
void floor_copied(void);

#endif
