/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_LAYERS_TOFU_H
#define BENCH_LAYERS_TOFU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Messages go to this word of the other PE. Ends the job with a message if there is no Tofu network. */
void tofu_layer_open(void *word, size_t bytes);
void tofu_layer_post(uint64_t value);
void tofu_layer_flush(void);
bool tofu_layer_progress(void);

#endif
