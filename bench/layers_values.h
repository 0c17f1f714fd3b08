/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_LAYERS_VALUES_H
#define BENCH_LAYERS_VALUES_H

#include <stdbool.h>

#include "layers_report.h"

/*
 * What PE 0 has measured. A round takes some samples of each quantity of each layer and makes one value of them.
 */
enum { SAMPLES = 20, MOST_ROUNDS = 2000 }; /* samples of a quantity in a round, at most */

/* Forgets all; so many layers will be measured. */
void values_start(int layers);
void values_note(int layer, enum quantity quantity, double ns);

/* With half a round trip of a cache line before the round and after it; 0: not known. False: there is no room for more rounds. */
bool values_end_round(double line_before, double line_after);

/* Are there as many rounds as the rules below need? */
bool values_enough(void);

/* Decides which rounds count; then prints lines for layers_report.c, and how many rounds there were, as a remark. */
void values_choose(void);
void values_print(const char *path, const char *layer, int which);
void values_print_rounds(const char *path);

#endif
