/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_NOTIFY_H
#define COMMS_NOTIFY_H

#include "ops.h"

/*
 * Notifications: data, then a flag of the same PE, in this order on every path. No quiet waits for
 * them: a PE that has seen the flag has the data.
 *
 * A notification is data, its destination, and the flag. Requests and batches of notifications are
 * in comms/core/operations.h.
 */
struct comms_flag {
	_Atomic uint64_t *word; /* by its address in this PE */
	uint64_t value;
};

/* Sets a flag after all earlier stores of this PE. */
void comms_notify(_Atomic uint64_t *word, uint64_t value, int pe, const char *routine);

/* Puts data, then sets a flag. The source may be reused on return. pe may be this PE. */
void comms_put_notify(void *dest, const void *source, size_t bytes, struct comms_flag flag, int pe,
		      const char *routine);

struct comms_notification {
	struct comms_piece piece[2]; /* in this order, to one segment; bytes is 0: no data */
	struct comms_flag flag;
	/* The first piece goes to this buffer, to offset in it; NULL: to its dest. */
	const struct comms_buffer *buffer;
	size_t offset;
	/*
	 * Used instead of the flag: a number from the receiver, see completion_numbers.h; 0: the
	 * flag.
	 */
	uint8_t completion;
	bool by_network; /* use the network even if stores reach the PE */
	/* By the second cable of a pair of nodes; see comms_has_second_cables. */
	bool second_cable;
	struct comms_batch *batch; /* send with this batch, if it has room; NULL: send now */
	int pe;
	const char *routine;
};

/* Starts a notification without waiting. The struct may be reused on return. */
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

void comms_batch_send(struct comms_batch *batch);

/* Waits until all notifications that this PE has sent have arrived. */
void comms_complete_all(void);

/*
 * Can the network tell the two cables of a pair of nodes apart? If there is no route by the second
 * cable, it uses the first.
 */
bool comms_has_second_cables(void);

/*
 * Does a thread of the network carry out other PEs' operations, and move lists, while this PE
 * computes?
 */
bool comms_is_served(void);

#endif
