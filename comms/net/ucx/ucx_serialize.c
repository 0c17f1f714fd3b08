/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A UCX built without --enable-mt, which is its own default, has no locks: it allows one call at a
 * time, over all workers of a context (ucp_lib_query reports UCS_THREAD_MODE_SERIALIZED). Some
 * versions do not even lock what workers share. The server and the program's threads call UCX all
 * the same. So for such a UCX, the functions in the table `ucp` are replaced by those below, which
 * take one lock. A UCX with thread support keeps its own functions there, at no cost.
 *
 * The lock is where UCX's own would be: each call takes it, and callbacks run with it held, so it
 * is recursive. No thread holds it while it sleeps for an event of UCX, because that is poll's job.
 * ucp_worker_signal and ucp_request_check_status do not need it, as in UCX: they write to a
 * descriptor, and read one word.
 */
#include "ucx_inside.h"

#include <pthread.h>

static pthread_mutex_t serializing = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static struct ucp_library unlocked; /* UCX's own functions */

/* clang-format off */
#define SERIALIZED_FUNCTIONS(RESULT, VOID)                                                                                       \
	RESULT(ucs_status_ptr_t, am_send_nbx,                                                                                    \
	       (ucp_ep_h ep, unsigned id, const void *header, size_t header_bytes, const void *data, size_t count,               \
		const ucp_request_param_t *param),                                                                               \
	       (ep, id, header, header_bytes, data, count, param))                                                               \
	RESULT(ucs_status_ptr_t, ep_close_nbx, (ucp_ep_h ep, const ucp_request_param_t *param), (ep, param))                     \
	RESULT(ucs_status_t, ep_create, (ucp_worker_h worker, const ucp_ep_params_t *params, ucp_ep_h *ep),                      \
	       (worker, params, ep))                                                                                             \
	RESULT(ucs_status_ptr_t, ep_flush_nbx, (ucp_ep_h ep, const ucp_request_param_t *param), (ep, param))                     \
	RESULT(ucs_status_t, ep_rkey_unpack, (ucp_ep_h ep, const void *packed, ucp_rkey_h *key), (ep, packed, key))              \
	RESULT(ucs_status_ptr_t, get_nbx,                                                                                        \
	       (ucp_ep_h ep, void *dest, size_t count, uint64_t there, ucp_rkey_h key, const ucp_request_param_t *param),        \
	       (ep, dest, count, there, key, param))                                                                             \
	RESULT(ucs_status_t, mem_map, (ucp_context_h context, const ucp_mem_map_params_t *params, ucp_mem_h *memory),            \
	       (context, params, memory))                                                                                        \
	RESULT(ucs_status_t, mem_unmap, (ucp_context_h context, ucp_mem_h memory), (context, memory))                            \
	RESULT(ucs_status_ptr_t, put_nbx,                                                                                        \
	       (ucp_ep_h ep, const void *source, size_t count, uint64_t there, ucp_rkey_h key,                                   \
		const ucp_request_param_t *param),                                                                               \
	       (ep, source, count, there, key, param))                                                                           \
	VOID(request_free, (void *request), (request))                                                                           \
	VOID(rkey_buffer_release, (void *packed), (packed))                                                                      \
	VOID(rkey_destroy, (ucp_rkey_h key), (key))                                                                              \
	RESULT(ucs_status_t, rkey_pack, (ucp_context_h context, ucp_mem_h memory, void **packed, size_t *bytes),                 \
	       (context, memory, packed, bytes))                                                                                 \
	RESULT(ucs_status_t, worker_arm, (ucp_worker_h worker), (worker))                                                        \
	RESULT(ucs_status_t, worker_create,                                                                                      \
	       (ucp_context_h context, const ucp_worker_params_t *params, ucp_worker_h *worker), (context, params, worker))      \
	VOID(worker_destroy, (ucp_worker_h worker), (worker))                                                                    \
	RESULT(ucs_status_t, worker_get_efd, (ucp_worker_h worker, int *fd), (worker, fd))                                       \
	RESULT(unsigned, worker_progress, (ucp_worker_h worker), (worker))                                                       \
	RESULT(ucs_status_t, worker_set_am_recv_handler, (ucp_worker_h worker, const ucp_am_handler_param_t *param),             \
	       (worker, param))
/* clang-format on */

#define RESULT(type, name, parameters, arguments)   \
	static type serialized_##name parameters    \
	{                                           \
		type result;                        \
                                                    \
		pthread_mutex_lock(&serializing);   \
		result = unlocked.name arguments;   \
		pthread_mutex_unlock(&serializing); \
		return result;                      \
	}
#define VOID(name, parameters, arguments)           \
	static void serialized_##name parameters    \
	{                                           \
		pthread_mutex_lock(&serializing);   \
		unlocked.name arguments;            \
		pthread_mutex_unlock(&serializing); \
	}
SERIALIZED_FUNCTIONS(RESULT, VOID)
#undef RESULT
#undef VOID

static bool has_threads(ucp_worker_h worker)
{
	ucp_worker_attr_t attributes = {.field_mask = UCP_WORKER_ATTR_FIELD_THREAD_MODE};

	ucx_check(ucp.worker_query(worker, &attributes), "ucp_worker_query");
	return attributes.thread_mode == UCS_THREAD_MODE_MULTI;
}

void ucx_serialize_if_needed(ucp_worker_h worker)
{
	if (ucx.serialized || has_threads(worker))
		return;
	unlocked = ucp;
#define RESULT(type, name, parameters, arguments) ucp.name = serialized_##name;
#define VOID(name, parameters, arguments) ucp.name = serialized_##name;
	SERIALIZED_FUNCTIONS(RESULT, VOID)
#undef RESULT
#undef VOID
	ucx.serialized = true;
}

const char *ucx_threads_text(void)
{
	return ucx.serialized
		       ? "this UCX was built without --enable-mt, so only one thread at a time can call it, which is slower with several threads"
		       : NULL;
}
