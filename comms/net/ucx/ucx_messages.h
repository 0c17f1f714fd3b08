/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_UCX_MESSAGES_H
#define COMMS_UCX_MESSAGES_H

#include "comms/ops/ops.h"
#include "comms/observe/trace.h"
#include "ucx_inside.h"

/*
 * Operations as active messages, which need only UCX's message delivery: atomics always, puts and
 * gets if no NIC carries them out. docs/protocols/messages.md has the rules. ucx_messages.c and
 * ucx_requests.c are their origin, ucx_target.c is their target, which answers by ucx_answers.c.
 */

/* UCX's numbers of active messages. */
enum { UCX_REQUEST = 1, UCX_ANSWER, UCX_FIRST };

enum ucx_message_kind {
	UCX_HELLO,  /* first of its stream: tells the target where to send answers */
	UCX_WRITE,  /* data, then a word */
	UCX_BATCH,  /* several of these, each an item with its data behind it */
	UCX_ATOMIC, /* an atomic without a result */
	UCX_FETCH,
	UCX_READ,
	UCX_CLOSE /* last of its stream */
};

/* UCX's part of a request (struct comms_request), and of a batch. */
struct ucx_notification {
	struct ucx_peer *connection;
	bool over;
	uint32_t event;
	ucp_rkey_h key;			/* for a get from a buffer, to be released; NULL: none */
	uint64_t flag;			/* its address at the peer, 0: none */
	struct network_piece now, next; /* remaining data; offsets are addresses at the peer */
	struct ucx_message message;	/* the message under way */
	struct ucx_item item;		/* as an item of a batch */
};
_Static_assert(sizeof(struct ucx_notification) <= COMMS_REQUEST_DRIVER, "it fits into a request");
static inline struct ucx_notification *ucx_notification(struct comms_request *request)
{
	return (void *)request->driver;
}

struct ucx_batch {
	struct ucx_message message;
};
_Static_assert(sizeof(struct ucx_batch) <= COMMS_BATCH_DRIVER, "it fits into a batch");

/* The header of an answer. */
struct ucx_answer {
	uint64_t token;	       /* of the request; without a result, of the connection */
	uint64_t acknowledged; /* every message of the stream up to this one has been carried out */
	uint64_t offset;       /* offset of the answer's data in the data requested */
	uint64_t value;	       /* the result in place of data, if it has at most 8 bytes */
	uint32_t has_result, width;
};
_Static_assert(sizeof(struct ucx_answer) == 40, "the same on all PEs");

/*
 * From now on the worker passes messages of this number to the handler, which runs in the thread
 * that progresses the worker.
 */
void ucx_take_by(ucp_worker_h worker, unsigned number, ucp_am_recv_callback_t taker);

/* All workers handle answers; the main worker, which other PEs know, also handles requests. */
void ucx_take_answers(ucp_worker_h worker);
void ucx_target_start(void);
void ucx_target_stop(void);
/* Notifies the senders of the operations that the last progress of the main worker carried out. */
void ucx_target_acknowledge(void);

/*
 * Answers to other PEs: a list that the target fills with its lock held and sends without it. data:
 * NULL, or data in this PE's memory.
 */
struct ucx_outgoing;
void ucx_answer_add(struct ucx_outgoing **first, ucp_ep_h back, const struct ucx_answer *answer, const void *data,
		    size_t bytes);
void ucx_answers_send(struct ucx_outgoing *first);
/* Used by ucx_batch.c to pack items. */
void ucx_start_batches(void);
void ucx_stop_batches(void);

/*
 * Limits on nonblocking puts of a channel outstanding in UCX, and on operations with a result that
 * a channel has outstanding at one PE.
 */
#define UCX_OUTSTANDING_MOST 512
/* Memory for the record of a nonblocking operation; ends the job if there is none. */
void *ucx_message_allocate(size_t bytes);

/* Sends the first message of a connection. */
void ucx_message_hello(struct ucx_peer *peer);

/*
 * Numbers a message of the connection and sends it. UCX owns header and data until the returned
 * request completes, as with ucp_am_send_nbx. A message without data may pass a data type for the
 * data.
 */
ucs_status_ptr_t ucx_message_send(struct ucx_peer *peer, struct ucx_message *message, const void *data, size_t bytes,
				  const ucp_request_param_t *how);

/*
 * What a message carries of the trace event that it belongs to. Call before sending anything else.
 */
static inline uint32_t ucx_event(void)
{
	return COMMS_UNLIKELY(comms.traced) ? trace_take_event() : 0;
}

/* The target stores the data, then applies op if item.word is not 0. */
void ucx_message_write(struct mark *mark, struct ucx_item item, enum comms_amo op, const void *source, bool nbi,
		       uint32_t event);
void ucx_message_atomic(struct mark *mark, const struct comms_atomic *atomic, uint64_t word, uint32_t event);
void ucx_message_fetch(struct mark *mark, const struct ucx_message *atomic, void *result, bool nbi);
void ucx_message_read(struct mark *mark, uint64_t there, void *dest, size_t bytes, bool nbi);
/* Completes the request when the data has arrived. */
void ucx_message_read_for(struct comms_request *request, struct ucx_peer *peer, uint64_t there,
			  const struct comms_piece *to);
/* Makes a quiet of the channel wait for all messages sent to the PE so far. */
void ucx_message_mark_all(struct mark *mark);
/* Requests an acknowledgement without waiting; returns the number to be acknowledged. */
uint64_t ucx_message_probe(struct ucx_peer *peer);
/* Ends the connection. */
void ucx_message_close(struct comms_channel *channel, struct ucx_peer *peer);

#endif
