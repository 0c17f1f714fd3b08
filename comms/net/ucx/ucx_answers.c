/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers to other PEs' messages: acknowledgements and results. Long results go in pieces, without
 * being copied.
 */
#include "ucx_messages.h"

#include <stdlib.h>

#include "rte/rte.h"

struct ucx_outgoing {
	struct ucx_outgoing *next;
	struct ucx_answer header;
	ucp_ep_h back;
	const char *data; /* `left` bytes from header.offset on are still to be sent */
	size_t left, piece;
};

static void send_outgoing(struct ucx_outgoing *out);

/*
 * If the PE has gone, the launcher and its connection report that. An answer without a waiter is no
 * failure of this PE.
 */
static void answer_sent(void *request, ucs_status_t status, void *argument)
{
	struct ucx_outgoing *out = argument;

	ucp.request_free(request);
	if (status != UCS_OK || out->left == out->piece) {
		free(out);
		return;
	}
	out->header.offset += out->piece;
	out->left -= out->piece;
	send_outgoing(out);
}

static void send_outgoing(struct ucx_outgoing *out)
{
	const ucp_request_param_t param = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS,
		.cb.send = answer_sent,
		.user_data = out,
		.flags = UCP_AM_SEND_FLAG_EAGER,
	};

	for (;;) {
		ucs_status_ptr_t request;

		out->piece = out->left < UCX_PIECE_MOST ? out->left : UCX_PIECE_MOST;
		request = ucp.am_send_nbx(out->back, UCX_ANSWER, &out->header, sizeof out->header,
					  out->data + out->header.offset, out->piece, &param);
		if (UCS_PTR_IS_PTR(request))
			return;
		if (UCS_PTR_IS_ERR(request) || out->left == out->piece)
			break;
		out->header.offset += out->piece;
		out->left -= out->piece;
	}
	free(out);
}

void ucx_answers_send(struct ucx_outgoing *out)
{
	while (out) {
		struct ucx_outgoing *next = out->next;

		send_outgoing(out);
		out = next;
	}
}

void ucx_answer_add(struct ucx_outgoing **first, ucp_ep_h back, const struct ucx_answer *answer, const void *data,
		    size_t bytes)
{
	static const char no_data[1];
	struct ucx_outgoing *out = calloc(1, sizeof *out);

	if (!out)
		rte_die(NULL, "no memory for an answer to another PE");
	*out = (struct ucx_outgoing){*first, *answer, back, data ? data : no_data, bytes, 0};
	*first = out;
}
