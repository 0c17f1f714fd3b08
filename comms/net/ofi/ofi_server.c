/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress of the endpoint: by the PE in a wait, or by a thread (comms/net/server.h). Many
 * providers move data at the target only while the target polls for completions, and no completion
 * at the target reports arrivals. So the thread polls whenever the queue's descriptor becomes
 * readable.
 */
#include "ofi_inside.h"

bool ofi_served(void)
{
	return ofi.server.served;
}

bool ofi_progress(void)
{
	network_server_visit(&ofi.server);
	return ofi_work();
}

static bool queue_is_empty(void)
{
	struct fid *queue = &ofi.cq->fid;

	return ofi.server.event < 0 || fi_trywait(ofi.fabric, &queue, 1) == 0;
}

void ofi_open(void)
{
	ofi.server.work = ofi_work;
	ofi.server.may_sleep = queue_is_empty;
	network_server_open(&ofi.server);
}

void ofi_rest(void)
{
	network_server_rest(&ofi.server);
}

static void ofi_wake_server(void)
{
	network_server_wake(&ofi.server);
}

static enum network_block ofi_wait_blocking(_Atomic uint32_t *word, uint32_t value, long nanoseconds)
{
	return network_server_wait(&ofi.server, word, value, nanoseconds);
}

const struct network_blocking ofi_blocking = {ofi_wait_blocking, ofi_wake_server};
