/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_REPLAY_REPLAY_H
#define SOFTOFU_REPLAY_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "softofu/net/net.h"

/*
 * replay_net.c: messages over a network in one process, each at its time. A TNI sends the messages
 * of a CQ one after the other, and serves its CQs a packet at a time in order. Nothing is injected
 * before everything that is due earlier has been done, so the clock is exact.
 */
struct replay_net;
typedef void replay_net_arrived(uint64_t message, int64_t time); /* picoseconds; may post more */

struct replay_net *replay_net_open(const struct net_settings *settings, replay_net_arrived *arrived);
void replay_net_post(struct replay_net *wire, const struct net_message *message, uint64_t tag);
/* Does the next thing that is due. Returns false if nothing is. */
bool replay_net_step(struct replay_net *wire);
struct net *replay_net_state(struct replay_net *wire);
void replay_net_close(struct replay_net *wire);

/* tnis.c: which TNIs carry the messages, instead of those that did. */
enum tni_choice { TNIS_AS_RECORDED, TNIS_BY_DIRECTION, TNIS_ROUND_ROBIN, TNIS_BALANCED };

/* replay_options.c */
struct replay_options {
	const char *folder;
	bool show_messages;
	enum tni_choice choice;
};

/* Returns false if the options make no sense. */
bool replay_read_options(int argc, char **argv, struct replay_options *options);
void replay_usage(void);

/*
 * Adds a message to the edge between two VCQs, whose addresses are ends. Returns the number of the
 * edge.
 */
size_t tnis_add(uint64_t from, uint64_t to, uint64_t bytes, const struct net_address ends[2]);
/* Call when all messages were added. */
void tnis_assign(enum tni_choice how, int tni_count);
void tnis_of(size_t edge, int *sends, int *arrives);

/* published.c: prints what is published beside what the network gives. Returns the exit status. */
int published_print(void);

_Noreturn void replay_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
void *replay_memory(void *got);

#endif
