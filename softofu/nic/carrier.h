/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_NIC_CARRIER_H
#define SOFTOFU_NIC_CARRIER_H

#include "softofu/nic/reach.h"
#include "softofu/nic/vcq.h"

/*
 * The interface between a NIC and the carrier that moves its bytes. The NIC hands over one
 * descriptor at a time, in the order in which they leave. The carrier reports the result with
 * nic_sent and nic_arrived. Any thread of any process of the job may call nic_arrived, also later;
 * only the process that handed over the descriptor may call nic_sent.
 */
struct carrier {
	const char *name;

	/*
	 * strong: bytes arrive in the order of their addresses, the last word last, and after all
	 * earlier communications.
	 */
	void (*carry)(struct vcq *from, const struct descriptor *what, void *cbdata, bool strong);
};

/*
 * The source may be reused, or code says why nothing was sent. Adds the notice to the TCQ if one is
 * wanted.
 */
void nic_sent(struct vcq *from, const struct descriptor *what, void *cbdata, int code);

/*
 * All bytes have arrived, or code says why not. Notifies the target (notice and scheduling
 * pointer), then the sender. value: old value of an atomic operation.
 */
void nic_arrived(struct nic *nic, struct shared_vcq *from, struct shared_vcq *to, const struct descriptor *what,
		 int code, uint64_t value);

/* Copies directly between the memories, in the thread of the caller. */
extern const struct carrier direct_carrier;

/*
 * Sends through the network of softofu/net. packets_plan reads its settings from SOFTOFU_NET, and
 * returns false after one line.
 */
extern const struct carrier packets_carrier;
struct net_settings;
bool packets_plan(const struct settings *settings, struct net_settings *plan);
void packets_report(struct nic *nic);

/*
 * direct.c: address of the bytes of a descriptor here and at the other side, or an error code for a
 * notice.
 */
int carry_here(struct vcq *from, const struct descriptor *what, uint64_t span, uint64_t *here);
int carry_there(struct nic *nic, struct shared_vcq *to, uint32_t number, const struct descriptor *what, uint64_t span,
		uint64_t *there);
int carry_code(enum reached reached);

/* Modelled time of the notices that this thread writes, in picoseconds. */
extern _Thread_local int64_t nic_time;

#endif
