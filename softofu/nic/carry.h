/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_NIC_CARRY_H
#define SOFTOFU_NIC_CARRY_H

#include "softofu/nic/reach.h"
#include "softofu/nic/vcq.h"

/*
 * Between a card and whatever carries its communications. The card hands over one descriptor at a time, in the order in
 * which they leave; the carrier tells by the calls below what became of it. All of them may be made by any thread of
 * any process of the job, and later, except that card_sent belongs to the process that handed over.
 */
struct carrier {
	const char *name;

	/* strong: bytes arrive in the order of their addresses, the last word last, and after all that went before. */
	void (*carry)(struct vcq *from, const struct descriptor *what, void *cbdata, bool strong);
};

/* The source may be used again, or code says why nothing was sent. A notice for the TCQ, if one is wanted. */
void card_sent(struct vcq *from, const struct descriptor *what, void *cbdata, int code);

/*
 * All of it is at the other side, to: its notice, and the scheduling pointer; then the sender's notice. Or code says what the
 * other side did not like. value: what an atomic operation found.
 */
void card_arrived(struct nic *nic, struct shared_vcq *from, struct shared_vcq *to, const struct descriptor *what, int code,
		  uint64_t value);

/* Straight from memory to memory, in the caller's thread. */
extern const struct carrier direct_carrier;

/* Through the network of softofu/net. Its settings, from SOFTOFU_NET: false after a line. */
extern const struct carrier packets_carrier;
struct net_settings;
bool packets_plan(const struct settings *settings, struct net_settings *plan);
void packets_report(struct nic *nic);

/* direct.c: where a descriptor's bytes are on this side and on the other, or an error for a notice. */
int carry_here(struct vcq *from, const struct descriptor *what, uint64_t span, uint64_t *here);
int carry_there(struct nic *nic, struct shared_vcq *to, uint32_t number, const struct descriptor *what, uint64_t span,
		uint64_t *there);
int carry_code(enum reached reached);

/* The modelled time that the notices of this thread are about, picoseconds. */
extern _Thread_local int64_t card_time;

#endif
