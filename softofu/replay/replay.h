/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_REPLAY_REPLAY_H
#define SOFTOFU_REPLAY_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "softofu/net/net.h"

/*
 * wire.c: messages over a network in one process, each at its time. A TNI sends those of a CQ one after the other, and a packet of each CQ
 * in turn. Nothing is handed in before all that is due earlier has been done, so the clock is exact.
 */
struct wire;
typedef void wire_arrived(uint64_t message, int64_t time); /* picoseconds; may post more */

struct wire *wire_open(const struct net_settings *settings, wire_arrived *arrived);
void wire_post(struct wire *wire, const struct net_message *message, uint64_t tag);
/* Does the next thing that is due; false: nothing is. */
bool wire_step(struct wire *wire);
struct net *wire_net(struct wire *wire);

_Noreturn void replay_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
void *replay_memory(void *got);

#endif
