/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_UCX_FILTER_H
#define COMMS_UCX_FILTER_H

#include "ucx_greeting.h"
#include "ucx_library.h"

/* The accept filter: UCX takes TCP connections from processes of the job only. See ucx_filter.c. */

/* What a PE publishes about its filter. */
struct ucx_filter_info {
	uint32_t filters;		 /* connects with a greeting, and expects one */
	uint8_t key[GREETING_KEY_BYTES]; /* of the job: PE 0's; of others zero */
};

/*
 * Call after UCX is loaded and before the first worker. Ends the job where SHMEM_ACCEPT_FILTER=yes
 * cannot be had.
 */
void ucx_filter_start(void);

/* Call after the main worker is created: sees whether its listeners came by the hooks. */
void ucx_filter_check(void);

void ucx_filter_describe(struct ucx_filter_info *info);

/*
 * PE 0's info is known. From now on connections are accepted; until then they wait in the kernel.
 */
void ucx_filter_open(const struct ucx_filter_info *first);

/* Call after the last worker is destroyed. */
void ucx_filter_stop(void);

/* In words, for SHMEM_INFO. */
const char *ucx_filter_text(void);

/*
 * How many calls of the UCX path this thread is in that may listen or connect. Another library may
 * use UCX in the same process; its listeners and connections are left alone.
 */
extern _Thread_local int ucx_filter_calls __attribute__((tls_model("initial-exec")));

/*
 * Connections that this thread makes go by the second cable between two nodes, where routes for the
 * type of service lead there.
 */
extern _Thread_local bool ucx_filter_second_cable __attribute__((tls_model("initial-exec")));
#define UCX_SECOND_CABLE_TOS 0x08

/* Are UCX's connections made here? */
bool ucx_filter_connects(void);

static inline unsigned ucx_worker_progress(ucp_worker_h worker)
{
	unsigned done;

	ucx_filter_calls++;
	done = ucp.worker_progress(worker);
	ucx_filter_calls--;
	return done;
}

#endif
