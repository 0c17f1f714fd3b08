/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_UCX_FILTER_H
#define COMMS_UCX_FILTER_H

#include <stdbool.h>
#include <stdint.h>

/* The accept filter: UCX takes TCP connections from processes of the job only. See ucx_filter.c. */

/* What a PE publishes about its filter. */
struct ucx_filter_info {
	uint64_t filters; /* connects with a greeting, and expects one */
	uint64_t key[2];  /* of the job: PE 0's; of others zero */
};

/* Call before the first worker. Ends the job where SHMEM_ACCEPT_FILTER=yes is not possible. */
void ucx_filter_start(void);

void ucx_filter_describe(struct ucx_filter_info *info);

/* Call when PE 0's info is known. Until then connections wait in the kernel. */
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
 * Connections that this thread makes go by the second cable between two nodes, where routes for
 * this type of service lead.
 */
extern _Thread_local bool ucx_second_cable __attribute__((tls_model("initial-exec")));
#define UCX_SECOND_CABLE_TOS 0x08

/* Are UCX's connections made here? */
bool ucx_filter_connects(void);

#endif
