/* SPDX-License-Identifier: BSD-3-Clause */
/* Tellings: data and a word that shows it, as comms_tell puts them, on their way while the caller does something else. */
#ifndef COMMS_TELLING_H
#define COMMS_TELLING_H

#include "comms/core/comms.h"

/*
 * As comms_tell, without waiting for anything; bytes may be 0. The source, and the record of it that the caller keeps, are left alone until the record
 * is at rest; the reader's answer says when the data has come.
 */
struct comms_piece {
	void *dest;
	const void *source;
	size_t bytes;
};

/* Data for an address of the target's memory, then a value for a word there. No data: bytes is 0; no word: word is 0. */
struct comms_item {
	uint64_t there, word, value, bytes;
};

#define COMMS_ITEM_EVENT 32

/* The header of what one PE's library asks of another's, where the network carries messages only; docs/protocols/messages.md. */
struct comms_message {
	uint32_t pe, stream;	/* who sends, and by which of its connections */
	uint64_t sequence;	/* in that stream, from 1 */
	uint8_t kind, op, width; /* op: what is done to the word, an enum comms_amo */
	uint8_t acknowledge;	/* the sender waits until it is carried out */
	uint32_t event; /* of the sender's trace, 0: none */
	uint64_t token; /* says to the sender what an answer belongs to */
	uint64_t compare;
	struct comms_item item;
};
_Static_assert(sizeof(struct comms_message) == 72, "the same on all PEs");

struct comms_telling {
	atomic_bool under_way;
	bool over;
	void *key; /* of the buffer that the data goes to, to be given back */
	struct ucx_peer *connection;
	atomic_int left; /* of what it consists of, on a network that has no connections */
	uint64_t there; /* the word's address at the peer */
	uint64_t value;
	struct comms_piece more; /* of the data, put when UCX has handed on the rest of it */
	uint64_t more_there;
	struct comms_message message; /* under way, and what is to follow */
	struct comms_item item;	      /* in a batch; above its bytes, shifted by COMMS_ITEM_EVENT, the event */
	struct comms_piece now;
	uint32_t event;
};
void comms_tell_later(struct comms_telling *telling, void *dest, const void *source, size_t bytes, _Atomic uint64_t *word,
		      uint64_t value, int pe, const char *routine);

/* The same, by the network even where the peer could be stored to. False: not now, another thread of this PE is in the way. */
bool comms_tell_by_network(struct comms_telling *telling, void *dest, const void *source, size_t bytes, _Atomic uint64_t *word,
			   uint64_t value, int pe, const char *routine);

/* The same with data from two places, to the same segment; neither may be empty. */
void comms_tell_both_later(struct comms_telling *telling, struct comms_piece first, struct comms_piece second,
			   _Atomic uint64_t *word, uint64_t value, int pe, const char *routine);

/*
 * Several tellings to one PE that go in one message, where the network can do that. Each is kept, if it fits, and then all are sent. Of two uses
 * of a record the first must be at rest.
 */
#define COMMS_TOGETHER 32

struct comms_together {
	atomic_bool under_way; /* at rest when all that it keeps are */
	int kept;
	size_t bytes;
	struct comms_message message;
	struct comms_telling *telling[COMMS_TOGETHER];
};
/* As comms_tell_later; what cannot be kept goes at once. */
void comms_tell_together(struct comms_together *together, struct comms_telling *telling, void *dest, const void *source, size_t bytes,
			 _Atomic uint64_t *word, uint64_t value, int pe, const char *routine);
void comms_together_send(struct comms_together *together);

#endif
