/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The floor of the UCX path: bare UCP calls on ordinary shared memory, which is what a library has to offer.
 * ucx_perftest has no put that is flushed, and works on memory that UCX itself allocated. UCX_TLS chooses the transport.
 *
 * Process 1 only makes progress until process 0 has done its work. All is done twice: in UCX's mode for one thread, and in
 * the one for several, which a library needs that serves other PEs while its own computes.
 */
#include "floor.h"

#include <string.h>
#include <ucp/api/ucp.h>

enum { MOST_ADDRESS = 4000 };

/* Shared by both: what UCX at process 0 must know of process 1. */
struct endpoint_info {
	uint64_t address_bytes, key_bytes, memory;
	char address[MOST_ADDRESS], key[MOST_ADDRESS];
};

static struct endpoint {
	ucp_context_h context;
	ucp_worker_h worker;
	ucp_ep_h ep;
	ucp_mem_h memory;
	ucp_rkey_h key;
	uint64_t remote;
	uint64_t local;
} ucx;

static void demand(ucs_status_t status, const char *call)
{
	if (status != UCS_OK)
		group_fail("%s: %s", call, ucs_status_string(status));
}

static void finish(void *request)
{
	ucs_status_t status;

	if (request == NULL)
		return;
	if (UCS_PTR_IS_ERR(request))
		demand(UCS_PTR_STATUS(request), "a UCP operation");
	while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS)
		ucp_worker_progress(ucx.worker);
	ucp_request_free(request);
	demand(status, "a UCP operation");
}

static void start_ucx(ucs_thread_mode_t mode)
{
	ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
			       .features = UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64};
	ucp_worker_params_t worker = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE, .thread_mode = mode};
	ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
				    .address = floor_memory.words,
				    .length = 4096};
	ucp_config_t *config;

	demand(ucp_config_read(NULL, NULL, &config), "ucp_config_read");
	demand(ucp_init(&params, config, &ucx.context), "ucp_init");
	ucp_config_release(config);
	demand(ucp_worker_create(ucx.context, &worker, &ucx.worker), "ucp_worker_create");
	demand(ucp_mem_map(ucx.context, &map, &ucx.memory), "ucp_mem_map");
}

static void write_endpoint_info(struct endpoint_info *info)
{
	ucp_address_t *address;
	size_t bytes;
	void *key;

	demand(ucp_worker_get_address(ucx.worker, &address, &bytes), "ucp_worker_get_address");
	if (bytes > MOST_ADDRESS)
		group_fail("the UCX address has %zu bytes", bytes);
	memcpy(info->address, address, bytes);
	info->address_bytes = bytes;
	ucp_worker_release_address(ucx.worker, address);
	demand(ucp_rkey_pack(ucx.context, ucx.memory, &key, &bytes), "ucp_rkey_pack");
	if (bytes > MOST_ADDRESS)
		group_fail("the UCX key has %zu bytes", bytes);
	memcpy(info->key, key, bytes);
	info->key_bytes = bytes;
	ucp_rkey_buffer_release(key);
	info->memory = (uint64_t)(uintptr_t)floor_memory.words;
}

static void connect_to(const struct endpoint_info *info)
{
	ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
				  .address = (const ucp_address_t *)info->address};

	demand(ucp_ep_create(ucx.worker, &params, &ucx.ep), "ucp_ep_create");
	demand(ucp_ep_rkey_unpack(ucx.ep, info->key, &ucx.key), "ucp_ep_rkey_unpack");
	ucx.remote = info->memory;
}

static uint64_t epoch; /* loops that both have begun */

/* The word by which process 0 says how many it has finished. */
static uint64_t *finished(void)
{
	return group.raw + 256;
}

#define LOOP(name, operation)                                                                  \
	static double name(void *context, long n)                                              \
	{                                                                                      \
		const ucp_request_param_t plain = {0};                                         \
		double start = now_ns();                                                       \
                                                                                               \
		(void)context;                                                                 \
		epoch++;                                                                       \
		while (group.me == 1 && __atomic_load_n(finished(), __ATOMIC_ACQUIRE) < epoch) \
			ucp_worker_progress(ucx.worker);                                       \
		if (group.me == 1)                                                             \
			return 0;                                                              \
		for (long i = 0; i < n; i++) {                                                 \
			operation;                                                             \
		}                                                                              \
		finish(ucp_worker_flush_nbx(ucx.worker, &plain));                              \
		start = now_ns() - start;                                                      \
		__atomic_store_n(finished(), epoch, __ATOMIC_RELEASE);                         \
		return start;                                                                  \
	}

static void *atomic(ucp_atomic_op_t operation, const uint64_t *value)
{
	ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER,
				     .datatype = ucp_dt_make_contig(8),
				     .reply_buffer = &ucx.local};

	return ucp_atomic_op_nbx(ucx.ep, operation, value, 1, ucx.remote, ucx.key, &param);
}

static const uint64_t one = 1;

LOOP(put_flush, finish(ucp_put_nbx(ucx.ep, &ucx.local, 8, ucx.remote, ucx.key, &plain));
     finish(ucp_worker_flush_nbx(ucx.worker, &plain)))
LOOP(get, finish(ucp_get_nbx(ucx.ep, &ucx.local, 8, ucx.remote, ucx.key, &plain)))
LOOP(fetch_add, finish(atomic(UCP_ATOMIC_OP_ADD, &one)))
LOOP(compare_swap, finish(atomic(UCP_ATOMIC_OP_CSWAP, &one)))

/* Both must go on making progress until each has let go of the other. */
static void stop_ucx(void)
{
	const ucp_request_param_t plain = {0};
	uint64_t *done = finished() + 8;

	if (group.me == 0) {
		ucp_rkey_destroy(ucx.key);
		finish(ucp_ep_close_nbx(ucx.ep, &plain));
		__atomic_store_n(done, 1, __ATOMIC_RELEASE);
	}
	while (!__atomic_load_n(done, __ATOMIC_ACQUIRE))
		ucp_worker_progress(ucx.worker);
	group_barrier();
	*done = 0;
	ucp_mem_unmap(ucx.context, ucx.memory);
	ucp_worker_destroy(ucx.worker);
	ucp_cleanup(ucx.context);
}

static void measure_mode(ucs_thread_mode_t mode, const char *measure)
{
	static const struct {
		const char *name;
		sampler *sample;
	} kinds[] = {{"put+flush", put_flush}, {"get", get}, {"fetch-add", fetch_add}, {"compare-swap", compare_swap}};
	struct endpoint_info *info = floor_memory.endpoint_info;

	start_ucx(mode);
	if (group.me == 1)
		write_endpoint_info(info);
	group_barrier();
	if (group.me == 0)
		connect_to(info);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		harness_measure(&(struct spot){.measure = measure,
					       .variant = kinds[i].name,
					       .bytes = 8,
					       .sample = kinds[i].sample});
	stop_ucx();
}

void floor_ucx(void)
{
	measure_mode(UCS_THREAD_MODE_SINGLE, "ucx");
	measure_mode(UCS_THREAD_MODE_MULTI, "ucx-threads");
}
