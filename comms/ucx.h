/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_UCX_H
#define COMMS_UCX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "comms.h"

/* Everything that load and store cannot reach, through UCP. Ends the job with a message when UCX fails. */

void ucx_start(void);
/* Serves other PEs' requests in a thread of its own from now on (SHMEM_PROGRESS_THREAD). */
void ucx_serve(void);
/* From here on peers that go away are no news, and this PE serves the others in any case until it rests. */
void ucx_expect_end(void);
/* Completes all that was ever put, what no quiet waits for included. */
void ucx_complete(void);
/* Stops serving; then the peers can be forgotten. */
void ucx_rest(void);
void ucx_stop(void);

/* This PE's address and keys, to go into its card; the caller frees. */
void *ucx_make_card(size_t *size);
void ucx_forget(struct ucx_peer *peer);

/* Channels as in comms.h; NULL is the default one. NULL from open: no memory. */
struct comms_channel *ucx_channel_open(bool is_alone);
void ucx_channel_close(struct comms_channel *channel);
/* All are closed; this takes down what was kept of them. Other PEs must still be served. */
void ucx_take_down_spares(void);

void ucx_put(struct comms_channel *channel, struct comms_peer *peer, enum comms_segment_id segment, size_t offset,
	     const void *source, size_t bytes, bool nbi);
/* A put that no quiet waits for: its reader says otherwise that it came. The source may be reused on return. */
void ucx_put_untracked(struct comms_peer *peer, enum comms_segment_id segment, size_t offset, const void *source,
		       size_t bytes);
/* A put, then a put of the record's value to its word, both on their way. */
void ucx_tell_later(struct comms_telling *telling, struct comms_peer *peer, enum comms_segment_id segment, size_t offset,
		    const void *source, size_t bytes, enum comms_segment_id word_segment, size_t word_offset);
/* Puts that follow come behind those that have returned, nonblocking ones left aside. */
void ucx_order(void);
void ucx_get(struct comms_channel *channel, struct comms_peer *peer, enum comms_segment_id segment, size_t offset,
	     void *dest, size_t bytes, bool nbi);
void ucx_amo(struct comms_channel *channel, struct comms_peer *peer, enum comms_segment_id segment, size_t offset,
	     enum comms_amo op, size_t width, uint64_t operand);
/* result holds 4 or 8 bytes; with nbi it is written by the next quiet at the latest. */
void ucx_amo_fetch(struct comms_channel *channel, struct comms_peer *peer, enum comms_segment_id segment, size_t offset,
		   enum comms_amo op, size_t width, uint64_t operand, uint64_t cond, void *result, bool nbi);
void ucx_fence(struct comms_channel *channel);
void ucx_quiet(struct comms_channel *channel);
void ucx_quiet_pes(struct comms_channel *channel, const int *pes, size_t n);

/* Returns true if something happened. */
bool ucx_progress(void);

/* Is there a thread that serves? Without one, who waits must call ucx_progress or doze: sleep until UCX has work. */
bool ucx_served(void);
void ucx_doze(long nanoseconds);

/* "; operations under way to PEs 1, 3", or nothing. */
void ucx_name_under_way(char *text, size_t size);

/* What a peer's card has for UCX (comms.c knows where). */
const void *comms_ucx_card(const struct comms_peer *peer, size_t *size);

#endif
