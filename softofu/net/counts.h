/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_NET_COUNTS_H
#define SOFTOFU_NET_COUNTS_H

#include <stdint.h>

/* Counters of one direction of a cable. Times are modelled, in picoseconds. */
struct net_link_count {
	uint64_t packets, bytes; /* that passed it and arrived, payload only */
	uint64_t sent;		 /* packets, with those sent again */
	uint64_t damaged, lost;	 /* by injected faults */
	uint64_t refused;	 /* by the receiver: the check was wrong, or one before it was missing */
	uint64_t doubled;	 /* came a second time, since the answer to the first was lost */
	int64_t busy;		 /* time in which it carried something */
	int64_t waited;		 /* of packets that were ready and found it busy or without a free buffer */
};

struct net_tni_count {
	uint64_t sent_packets, sent_bytes, taken_packets, taken_bytes;
	int64_t send_busy, take_busy;
	int64_t waited; /* of packets that had arrived at the node and found the TNI busy */
};

#endif
