/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_NET_WIRES_INSIDE_H
#define SOFTOFU_NET_WIRES_INSIDE_H

#include "softofu/net/state.h"
#include "softofu/net/wires.h"

/*
 * Kinds of frames after the greeting. The receiving end of a link sends acknowledgements to the
 * sending end.
 */
enum net_frame_kind { NET_DATA = 1, NET_ACKNOWLEDGEMENT, NET_ASK, NET_BYE };

struct net_frame {
	uint32_t link;
	uint16_t kind;
	uint16_t length; /* of what follows */
};

struct net_acknowledgement {
	uint32_t expected;
	uint32_t refused; /* 1: repeat from the expected packet */
	uint32_t freed[NET_CHANNELS];
};

struct net_hello {
	char name[8];	/* NET_HELLO */
	uint32_t order; /* 0x01020304 */
	uint32_t host;
	uint32_t plan; /* check sum of everything that must be equal */
	uint32_t unused;
	unsigned char token[NET_TOKEN];
};

#define NET_HELLO "softofu1"

static_assert(sizeof(struct net_frame) == 8 && sizeof(struct net_acknowledgement) == 24 &&
		      sizeof(struct net_hello) == 56,
	      "frames are as docs/protocols/softofu-link.md has them");

enum { NET_BUFFER = 1 << 18 };

/* Bytes from start to end are pending. */
struct net_buffer {
	size_t start, end;
	unsigned char bytes[NET_BUFFER];
};

struct net_wire {
	int file;  /* -1: closed */
	bool left; /* the other host announced its end */
	struct net_buffer in, out;
};

/* One end of a link whose other end is on another host. */
struct net_end {
	int link, host;
	bool sends;
	/* Time of the last frame sent or received, in nanoseconds of the clock of this host. */
	int64_t last_time;

	/* For a receiving end: what it last reported, and whether it must report again. */
	uint32_t reported[NET_CHANNELS];
	bool due, refused;
};

struct net_wires {
	struct net *net;
	int hosts, me, listener, port, ends;
	struct net_hello hello;
	struct net_wire **wire; /* one for each host; NULL: no links to it */
	struct net_end *end;
	int *end_of; /* of each link, -1: it has none here or both */
};

void net_wires_free(struct net_wires *wires);

#endif
