/* SPDX-License-Identifier: BSD-3-Clause */
#include "offload.h"

#include "comms/core/network.h"

bool comms_sessions_are_there(void)
{
	return comms.network && comms.network->offload;
}

struct comms_session *comms_session_open(int trees, const int *children, struct comms_session_shown *shown)
{
	return comms.network->offload->open(trees, children, shown);
}

void comms_session_write(struct comms_session *session, const struct comms_session_tree *trees,
			 const struct comms_readiness *ready)
{
	comms.network->offload->write(session, trees, ready);
}

struct comms_session *comms_session_open_edges(const struct comms_edge_out *out, int outs, int ins,
					       uint64_t *ready_queue)
{
	return comms.network->offload->open_edges(out, outs, ins, ready_queue);
}

void comms_session_write_edges(struct comms_session *session, const struct comms_edges *edges, _Atomic uint64_t *run)
{
	comms.network->offload->write_edges(session, edges, run);
}

void comms_session_start(struct comms_session *session, uint64_t run)
{
	comms.network->offload->start(session, run);
}

bool comms_session_is_over(struct comms_session *session)
{
	return comms.network->offload->is_over(session);
}

void comms_session_close(struct comms_session *session)
{
	comms.network->offload->close(session);
}
