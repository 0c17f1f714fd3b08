/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes of any UCX one without thread support, for LD_AUDIT: the loader asks this library when torushmem looks up UCX's functions. A worker is
 * created for one call at a time, whatever was asked for, and the process ends if two threads are inside UCX at once.
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

#define WATCHED(type, name, parameters, arguments)   \
	static type(*real_##name) parameters;        \
	static type watched_##name parameters        \
	{                                            \
		int outermost = enter();             \
		type result = real_##name arguments; \
                                                     \
		leave(outermost);                    \
		return result;                       \
	}
WATCHED(unsigned, ucp_worker_progress, (ucp_worker_h worker), (worker))
WATCHED(ucs_status_t, ucp_worker_arm, (ucp_worker_h worker), (worker))
WATCHED(ucs_status_t, ucp_ep_create, (ucp_worker_h worker, const ucp_ep_params_t *params, ucp_ep_h *ep),
	(worker, params, ep))
WATCHED(ucs_status_ptr_t, ucp_am_send_nbx,
	(ucp_ep_h ep, unsigned id, const void *header, size_t header_bytes, const void *data, size_t count,
	 const ucp_request_param_t *param),
	(ep, id, header, header_bytes, data, count, param))

static ucs_status_t (*real_ucp_worker_create)(ucp_context_h, const ucp_worker_params_t *, ucp_worker_h *);
static ucs_status_t watched_ucp_worker_create(ucp_context_h context, const ucp_worker_params_t *params,
					      ucp_worker_h *worker)
{
	ucp_worker_params_t serialized = *params;

	serialized.thread_mode = UCS_THREAD_MODE_SERIALIZED;
	return real_ucp_worker_create(context, &serialized, worker);
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
	return strstr(map->l_name, "/libtorushmem.so") ? LA_FLG_BINDFROM : 0;
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
	REPLACE(ucp_worker_progress)
	REPLACE(ucp_worker_arm)
	REPLACE(ucp_ep_create)
	REPLACE(ucp_am_send_nbx)
	REPLACE(ucp_worker_create)
	return symbol->st_value;
}
