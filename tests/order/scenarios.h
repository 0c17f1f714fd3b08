/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTS_ORDER_SCENARIOS_H
#define TESTS_ORDER_SCENARIOS_H

#include <stdbool.h>
#include <stdint.h>

#include "explore.h"

/* What the scenarios share: the PE, how many there are, and which of its threads this is. */
extern int me, npes;
extern _Thread_local int thread;

void must(bool good, const char *what);
bool all_are(const uint64_t *words, size_t n, uint64_t value);

/*
 * parts.c: parts of the library that no public routine reaches by itself. open: before the first
 * execution; before: before each.
 */
void open_contacts(void);
void before_contacts(void);
void contacts(uint64_t round);
void open_channels(void);
void channels(uint64_t round);
void open_arrivals(void);
void arrivals(uint64_t round);
void open_records(void);
void records(uint64_t round);
void hangs(uint64_t round);
void open_contention(void);
void contention(uint64_t round);
void executor_stops(uint64_t round);

/* tofu.c: software Tofu. */
void open_tofu(void);
void open_tofu_session(void);
void open_tofu_held(void);
void open_tofu_gates(void);
void open_tofu_packets(void);
void open_tofu_through(void);
void open_tofu_routers(void);
void tofu_puts(uint64_t round);
void tofu_words(uint64_t round);
void tofu_atomics(uint64_t round);
void tofu_notices(uint64_t round);
void tofu_comings(uint64_t round);
void tofu_sessions(uint64_t round);
void tofu_held(uint64_t round);
void tofu_gates(uint64_t round);
void tofu_packets(uint64_t round);
void tofu_packet_network(uint64_t round);

#endif
