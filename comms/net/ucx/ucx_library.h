/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_UCX_LIBRARY_H
#define COMMS_UCX_LIBRARY_H

#include <ucp/api/ucp.h>
#include <ucs/config/global_opts.h>

/*
 * The functions of UCX that the UCX path calls, as ucp.put_nbx and so on. UCX is loaded when a job
 * takes the path: loading it takes as long as the rest of the start, because it hooks functions of
 * the C library, and a job on one node does not need it.
 */
/* clang-format off */
#define UCP_FUNCTIONS(F)                                                                                     \
	F(ucp, am_send_nbx) F(ucp, cleanup) F(ucp, config_modify) F(ucp, config_read) F(ucp, config_release) \
	F(ucp, dt_create_generic) F(ucp, dt_destroy) F(ucp, ep_close_nbx) F(ucp, ep_create)                  \
	F(ucp, ep_flush_nbx) F(ucp, ep_rkey_unpack) F(ucp, get_nbx) F(ucp, init_version) F(ucp, mem_map)     \
	F(ucp, mem_unmap) F(ucp, put_nbx) F(ucp, request_check_status) F(ucp, request_free)                  \
	F(ucp, rkey_buffer_release) F(ucp, rkey_destroy) F(ucp, rkey_pack) F(ucp, worker_arm)                \
	F(ucp, worker_create) F(ucp, worker_destroy) F(ucp, worker_get_address) F(ucp, worker_get_efd)       \
	F(ucp, worker_progress) F(ucp, worker_query) F(ucp, worker_release_address)                           \
	F(ucp, worker_set_am_recv_handler) F(ucp, worker_signal)
#define UCS_FUNCTIONS(F) F(ucs, global_opts_set_value) F(ucs, status_string)
/* clang-format on */

#define UCX_MEMBER(library, name) __typeof__(library##_##name) *name;
struct ucp_library {
	UCP_FUNCTIONS(UCX_MEMBER)
};
struct ucs_library {
	UCS_FUNCTIONS(UCX_MEMBER)
};
#undef UCX_MEMBER
extern struct ucp_library ucp;
extern struct ucs_library ucs;

/* Ends the job if UCX cannot be loaded. UCX stays loaded until the process ends. */
void ucx_library_load(void);

#endif
