/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_NOTIFY_H
#define COMMS_NOTIFY_H

#include "ops.h"

/*
 * Notifications: data, then a flag of the same PE that shows it, in this order on every path. No quiet waits for them: a PE that has seen
 * the flag has the data.
 *
 * notification  what is put, and where
 * request       the sender's record of a notification that is under way. Sender and data stay as they are until it is complete
 * batch         notifications for one PE that leave in one message, where the network can do that
 */
struct comms_flag {
	_Atomic uint64_t *word; /* by its address in this PE */
	uint64_t value;
};

/* Sets a flag, after all that this PE has stored before. */
void comms_notify(_Atomic uint64_t *word, uint64_t value, int pe, const char *routine);

/* Puts data, then sets a flag. The source may be reused on return. pe may be this PE. */
void comms_put_notify(void *dest, const void *source, size_t bytes, struct comms_flag flag, int pe,
		      const char *routine);

/*
 * How large a network's own record of a request, and of a batch, may be.
 */
#define COMMS_REQUEST_DRIVER 208
#define COMMS_BATCH_DRIVER 80

struct comms_request {
	atomic_bool under_way;
	uint64_t value; /* of the flag: it leaves from here */
	_Alignas(16) char driver[COMMS_REQUEST_DRIVER];
};

static inline bool comms_request_is_under_way(const struct comms_request *request)
{
	return atomic_load_explicit(&request->under_way, memory_order_acquire);
}

struct comms_buffer;
struct comms_batch;
struct comms_notification {
	struct comms_piece piece[2]; /* put in this order, to one segment; bytes is 0: nothing */
	struct comms_flag flag;
	const struct comms_buffer *buffer; /* the first piece goes to this memory, to offset in it; NULL: to its dest */
	size_t offset;
	/* instead of the flag: a number that the receiver gave, see completion_numbers.h; 0: the flag */
	uint8_t completion;
	bool by_network;	   /* also where stores reach the PE */
	bool second_cable;	   /* by the second cable of a pair of nodes; see comms_has_second_cables */
	struct comms_batch *batch; /* leaves with this one, if there is room in it; NULL: leaves now */
	int pe;
	const char *routine;
};

/* Starts a notification and waits for nothing. The notification itself may be reused on return. */
void comms_put_notify_start(struct comms_request *request, const struct comms_notification *notification);

/* The same for one piece and a flag. */
static inline void comms_put_notify_later(struct comms_request *request, struct comms_piece piece,
					  struct comms_flag flag, int pe, const char *routine)
{
	comms_put_notify_start(request, &(struct comms_notification){.piece = {piece},
								     .flag = flag,
								     .pe = pe,
								     .routine = routine});
}

/* The first of two uses of a batch must be complete before the second begins. */
#define COMMS_BATCH_MOST 32
struct comms_batch {
	atomic_bool under_way;
	int count;
	size_t bytes;
	struct comms_request *request[COMMS_BATCH_MOST];
	_Alignas(16) char driver[COMMS_BATCH_DRIVER];
};
void comms_batch_send(struct comms_batch *batch);

/* Waits until all notifications that left this PE have arrived. */
void comms_complete_all(void);

/* Can the network tell the two cables of a pair of nodes apart? If they have no route by the second one, it takes the first. */
bool comms_has_second_cables(void);

/* Does a thread of the network go on with what other PEs do here, and move lists, while this PE computes? */
bool comms_is_served(void);

#endif
