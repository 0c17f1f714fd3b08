/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that is not symmetric, over UCX: its key, which its owner packs and who uses it unpacks, and gets from it. Puts are in ucx_notify.c. */
#include <string.h>

#include "rte/rte.h"
#include "ucx_messages.h"

void *ucx_share(struct comms_buffer *buffer)
{
	const ucp_mem_map_params_t params = {
		.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
		.address = (void *)(uintptr_t)buffer->base,
		.length = buffer->size,
	};
	ucp_mem_h memory;
	size_t bytes;
	void *key;

	buffer->network.ucx.bytes = 0;
	if (!ucx.rma)
		return NULL;
	ucx_check(ucp.mem_map(ucx.context, &params, &memory), "ucp_mem_map");
	ucx_check(ucp.rkey_pack(ucx.context, memory, &key, &bytes), "ucp_rkey_pack");
	if (bytes > sizeof buffer->network.ucx.key)
		rte_die("shmemx_rdma_register", "a key of UCX has %zu bytes here, and %zu are the most; name fewer transports in UCX_TLS", bytes,
			sizeof buffer->network.ucx.key);
	buffer->network.ucx.bytes = (uint32_t)bytes;
	memcpy(buffer->network.ucx.key, key, bytes);
	ucp.rkey_buffer_release(key);
	return memory;
}

void ucx_unshare(const struct comms_buffer *buffer, void *handle)
{
	(void)buffer;
	if (handle)
		ucx_check(ucp.mem_unmap(ucx.context, handle), "ucp_mem_unmap");
}

static ucp_rkey_h buffer_key(const struct ucx_peer *peer, const struct comms_buffer *buffer)
{
	ucp_rkey_h key;

	ucx_check(ucp.ep_rkey_unpack(peer->endpoint, buffer->network.ucx.key, &key), "ucp_ep_rkey_unpack");
	return key;
}

static void came(void *request, ucs_status_t status, void *argument)
{
	struct comms_telling *telling = argument;

	ucp.request_free(request);
	if (status != UCS_ERR_CANCELED)
		ucx_must_succeed(status, "a get (ucp_get_nbx)", telling->connection->pe);
	ucx_rest_telling(telling);
}

void ucx_get_buffer(struct comms_telling *telling, struct comms_peer *from, const struct comms_buffer *buffer, size_t offset,
		    void *dest, size_t bytes)
{
	const ucp_request_param_t param = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
		.cb.send = came,
		.user_data = telling,
	};
	struct ucx_peer *peer = ucx_peer(from);
	ucs_status_ptr_t request;

	telling->connection = peer;
	telling->key = NULL;
	atomic_store_explicit(&telling->under_way, true, memory_order_relaxed);
	if (buffer->network.ucx.bytes == 0 || !ucx.rma) {
		ucx_message_read_for(telling, peer, buffer->base + offset, dest, bytes);
		return;
	}
	telling->key = buffer_key(peer, buffer);
	request = ucp.get_nbx(peer->endpoint, dest, bytes, buffer->base + offset, telling->key, &param);
	if (UCS_PTR_IS_PTR(request))
		return;
	ucx_must_succeed(UCS_PTR_STATUS(request), "a get (ucp_get_nbx)", peer->pe);
	ucx_rest_telling(telling);
}
