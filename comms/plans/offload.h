/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_COLL_OFFLOAD_H
#define COMMS_COLL_OFFLOAD_H

#include "comms/core/sessions.h"

/*
 * Does this job's network offer sessions (comms/core/sessions.h)? Call the functions below only if
 * it does.
 */
bool comms_sessions_are_there(void);

/* Describes the queues of this PE for this many trees; NULL: it cannot have them. */
struct comms_session *comms_session_open(int trees, const int *children, struct comms_session_shown *shown);
/* Prepares the work of each run, once every PE knows the queues of all PEs. */
void comms_session_write(struct comms_session *session, const struct comms_session_tree *trees,
			 const struct comms_readiness *ready);
/*
 * The same for data between pairs. ready_queue receives a packet from each PE that is ready; `run`
 * is a word of this PE.
 */
struct comms_session *comms_session_open_edges(const struct comms_edge_out *out, int outs, int ins,
					       uint64_t *ready_queue);
void comms_session_write_edges(struct comms_session *session, const struct comms_edges *edges, _Atomic uint64_t *run);
void comms_session_start(struct comms_session *session, uint64_t run);
/* Has this PE sent everything? */
bool comms_session_is_over(struct comms_session *session);
void comms_session_close(struct comms_session *session);

#endif
