/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_REPLAY_REPLAY_H
#define SOFTOFU_REPLAY_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "softofu/net/net.h"

/*
 * replay_net.c: messages over a network in one process, each at its time. A TNI sends the messages of a CQ one after
 * the other, and serves its CQs a packet at a time in order. Nothing is injected before everything that is due
 * earlier has been done, so the clock is exact.
 */
struct replay_net;
typedef void replay_net_arrived(uint64_t message, int64_t time); /* picoseconds; may post more */

struct replay_net *replay_net_open(const struct net_settings *settings, replay_net_arrived *arrived);
void replay_net_post(struct replay_net *wire, const struct net_message *message, uint64_t tag);
/* Does the next thing that is due. Returns false if nothing is. */
bool replay_net_step(struct replay_net *wire);
struct net *replay_net_state(struct replay_net *wire);
void replay_net_close(struct replay_net *wire);

/* published.c: prints what is published beside what the network gives. Returns the exit status. */
int published_print(void);

_Noreturn void replay_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
void *replay_memory(void *got);

#endif
