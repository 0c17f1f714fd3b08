/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that is not symmetric, over UCX: its key, which its owner packs and another PE unpacks,
 * and gets from it. ucx_notify.c has puts.
 */
#include <string.h>

#include "rte/rte.h"
#include "ucx_messages.h"

/* Stored in a buffer's words. */
struct buffer_key {
	uint32_t bytes; /* 0: there is none, and operations go as messages */
	char key[148];
};
_Static_assert(sizeof(struct buffer_key) <= sizeof(((struct comms_buffer *)0)->network), "it has room");

static struct buffer_key *key_in_buffer(struct comms_buffer *buffer)
{
	return (void *)buffer->network;
}

static const struct buffer_key *const_key_in_buffer(const struct comms_buffer *buffer)
{
	return (const void *)buffer->network;
}

void *ucx_share(struct comms_buffer *buffer, const char *routine)
{
	const ucp_mem_map_params_t params = {
		.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
		.address = (void *)(uintptr_t)buffer->base,
		.length = buffer->size,
	};
	ucp_mem_h memory;
	size_t bytes;
	void *key;

	key_in_buffer(buffer)->bytes = 0;
	if (!ucx.rma)
		return NULL;
	memory = ucx_map_memory(&params, routine);
	ucx_check(ucp.rkey_pack(ucx.context, memory, &key, &bytes), "ucp_rkey_pack");
	if (bytes > sizeof key_in_buffer(buffer)->key)
		rte_die(routine,
			"a key of UCX has %zu bytes here, and %zu are the most; name fewer transports in UCX_TLS",
			bytes, sizeof key_in_buffer(buffer)->key);
	key_in_buffer(buffer)->bytes = (uint32_t)bytes;
	memcpy(key_in_buffer(buffer)->key, key, bytes);
	ucp.rkey_buffer_release(key);
	return memory;
}

void ucx_unshare(const struct comms_buffer *buffer, void *handle)
{
	(void)buffer;
	if (handle)
		ucx_check(ucp.mem_unmap(ucx.context, handle), "ucp_mem_unmap");
}

static ucp_rkey_h unpack_buffer_key(const struct ucx_peer *peer, const struct comms_buffer *buffer)
{
	ucp_rkey_h key;

	ucx_check(ucp.ep_rkey_unpack(peer->endpoint, const_key_in_buffer(buffer)->key, &key), "ucp_ep_rkey_unpack");
	return key;
}

static void get_done(void *getting, ucs_status_t status, void *argument)
{
	struct comms_request *request = argument;

	ucp.request_free(getting);
	if (status != UCS_ERR_CANCELED)
		ucx_must_succeed(status, "a get (ucp_get_nbx)", ucx_notification(request)->connection->pe);
	ucx_complete_request(request);
}

void ucx_get_buffer(struct comms_request *request, struct comms_peer *from, const struct comms_buffer *buffer,
		    size_t offset, struct comms_piece *to)
{
	const ucp_request_param_t param = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
		.cb.send = get_done,
		.user_data = request,
	};
	struct ucx_notification *mine = ucx_notification(request);
	struct ucx_peer *peer = ucx_peer(from);
	ucs_status_ptr_t getting;

	mine->connection = peer;
	mine->key = NULL;
	atomic_store_explicit(&request->under_way, true, memory_order_relaxed);
	if (const_key_in_buffer(buffer)->bytes == 0 || !ucx.rma) {
		ucx_message_read_for(request, peer, buffer->base + offset, to);
		return;
	}
	mine->key = unpack_buffer_key(peer, buffer);
	getting = ucp.get_nbx(peer->endpoint, to->dest, to->bytes, buffer->base + offset, mine->key, &param);
	if (UCS_PTR_IS_PTR(getting))
		return;
	ucx_must_succeed(UCS_PTR_STATUS(getting), "a get (ucp_get_nbx)", peer->pe);
	ucx_complete_request(request);
}
