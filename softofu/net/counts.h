/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_NET_COUNTS_H
#define SOFTOFU_NET_COUNTS_H

#include <stdint.h>

/* Counters of one direction of a cable. Times are modelled, in picoseconds. */
struct net_link_count {
	uint64_t packets, bytes; /* packets received, and their payload */
	uint64_t sent;		 /* packets, with those sent again */
	uint64_t damaged, lost;	 /* by injected faults */
	/* By the receiver: the check was wrong, or one before it was missing. */
	uint64_t refused;
	uint64_t doubled; /* received twice, because the answer to the first was lost */
	int64_t busy;	  /* time in which it carried something */
	/* Total time that ready packets waited because it was busy or had no free buffer. */
	int64_t waited;
};

struct net_tni_count {
	uint64_t sent_packets, sent_bytes, taken_packets, taken_bytes;
	int64_t send_busy, take_busy;
	int64_t waited; /* total time that packets at the node waited because the TNI was busy */
};

#endif
