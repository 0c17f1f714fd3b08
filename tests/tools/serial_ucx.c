/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes of any UCX one without thread support, for LD_AUDIT: the loader asks this library when
 * torushmem looks up UCX's functions. A worker is created for one call at a time, whatever was
 * asked for, and the process ends if two threads are inside UCX at once.
 */
#define _GNU_SOURCE
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ucp/api/ucp.h>

static _Atomic(uintptr_t) inside; /* the thread that is in UCX */

/* Callbacks of UCX call UCX. True: this is the outermost call. */
static int enter(void)
{
	static const char message[] = "two threads are inside UCX at once\n";
	uintptr_t me = (uintptr_t)pthread_self(), nobody = 0;

	if (atomic_load(&inside) == me)
		return 0;
	if (atomic_compare_exchange_strong(&inside, &nobody, me))
		return 1;
	(void)!write(2, message, sizeof message - 1);
	abort();
}

static void leave(int outermost)
{
	if (outermost)
		atomic_store(&inside, 0);
}

/* clang-format off */
#define WATCHED_FUNCTIONS(RESULT, VOID)                                                                                  \
	RESULT(ucs_status_ptr_t, ucp_am_send_nbx,                                                                        \
	       (ucp_ep_h ep, unsigned id, const void *header, size_t header_bytes, const void *data, size_t count,       \
		const ucp_request_param_t *param),                                                                       \
	       (ep, id, header, header_bytes, data, count, param))                                                       \
	RESULT(ucs_status_ptr_t, ucp_ep_close_nbx, (ucp_ep_h ep, const ucp_request_param_t *param), (ep, param))         \
	RESULT(ucs_status_t, ucp_ep_create, (ucp_worker_h worker, const ucp_ep_params_t *params, ucp_ep_h *ep),          \
	       (worker, params, ep))                                                                                     \
	RESULT(ucs_status_ptr_t, ucp_ep_flush_nbx, (ucp_ep_h ep, const ucp_request_param_t *param), (ep, param))         \
	RESULT(ucs_status_t, ucp_ep_rkey_unpack, (ucp_ep_h ep, const void *packed, ucp_rkey_h *key), (ep, packed, key))  \
	RESULT(ucs_status_ptr_t, ucp_get_nbx,                                                                            \
	       (ucp_ep_h ep, void *dest, size_t count, uint64_t there, ucp_rkey_h key, const ucp_request_param_t *param),\
	       (ep, dest, count, there, key, param))                                                                     \
	RESULT(ucs_status_t, ucp_mem_map, (ucp_context_h context, const ucp_mem_map_params_t *params, ucp_mem_h *memory),\
	       (context, params, memory))                                                                                \
	RESULT(ucs_status_t, ucp_mem_unmap, (ucp_context_h context, ucp_mem_h memory), (context, memory))                \
	RESULT(ucs_status_ptr_t, ucp_put_nbx,                                                                            \
	       (ucp_ep_h ep, const void *source, size_t count, uint64_t there, ucp_rkey_h key,                           \
		const ucp_request_param_t *param),                                                                       \
	       (ep, source, count, there, key, param))                                                                   \
	VOID(ucp_request_free, (void *request), (request))                                                               \
	RESULT(ucs_status_t, ucp_worker_arm, (ucp_worker_h worker), (worker))                                            \
	RESULT(ucs_status_t, ucp_worker_create,                                                                          \
	       (ucp_context_h context, const ucp_worker_params_t *params, ucp_worker_h *worker),                         \
	       (context, serialized(params), worker))                                                                    \
	VOID(ucp_worker_destroy, (ucp_worker_h worker), (worker))                                                        \
	RESULT(unsigned, ucp_worker_progress, (ucp_worker_h worker), (worker))                                           \
	RESULT(ucs_status_t, ucp_worker_set_am_recv_handler,                                                             \
	       (ucp_worker_h worker, const ucp_am_handler_param_t *param), (worker, param))
/* clang-format on */

static const ucp_worker_params_t *serialized(const ucp_worker_params_t *params)
{
	static _Thread_local ucp_worker_params_t changed;

	changed = *params;
	changed.thread_mode = UCS_THREAD_MODE_SERIALIZED;
	return &changed;
}

#define RESULT(type, name, parameters, arguments)    \
	static type(*real_##name) parameters;        \
	static type watched_##name parameters        \
	{                                            \
		int outermost = enter();             \
		type result = real_##name arguments; \
                                                     \
		leave(outermost);                    \
		return result;                       \
	}
#define VOID(name, parameters, arguments)     \
	static void(*real_##name) parameters; \
	static void watched_##name parameters \
	{                                     \
		int outermost = enter();      \
                                              \
		real_##name arguments;        \
		leave(outermost);             \
	}
WATCHED_FUNCTIONS(RESULT, VOID)
#undef RESULT
#undef VOID

static ucs_status_t (*real_ucp_lib_query)(ucp_lib_attr_t *);
static ucs_status_t watched_ucp_lib_query(ucp_lib_attr_t *attributes)
{
	ucs_status_t status = real_ucp_lib_query(attributes);

	attributes->max_thread_level = UCS_THREAD_MODE_SERIALIZED;
	return status;
}

/* --- What the loader calls --- */

unsigned la_version(unsigned version)
{
	return version < LAV_CURRENT ? version : LAV_CURRENT;
}

unsigned la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie)
{
	(void)space, (void)cookie;
	if (strstr(map->l_name, "/libucp.so"))
		return LA_FLG_BINDTO;
	/* The program has no name here. */
	return !*map->l_name || strstr(map->l_name, "/libtorushmem.so") ? LA_FLG_BINDFROM : 0;
}

uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned number, uintptr_t *from, uintptr_t *to, unsigned *flags,
		       const char *name)
{
	(void)number, (void)from, (void)to, (void)flags;
#define REPLACE(function)                                                    \
	if (!strcmp(name, #function)) {                                      \
		memcpy(&real_##function, &symbol->st_value, sizeof(void *)); \
		return (uintptr_t)watched_##function;                        \
	}
#define RESULT(type, function, parameters, arguments) REPLACE(function)
#define VOID(function, parameters, arguments) REPLACE(function)
	WATCHED_FUNCTIONS(RESULT, VOID)
	REPLACE(ucp_lib_query)
	return symbol->st_value;
}
