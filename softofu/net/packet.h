/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_NET_PACKET_H
#define SOFTOFU_NET_PACKET_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * A packet on a link: header, payload, footer (docs/protocols/softofu-link.md). Numbers are in the
 * byte order of the host; a link between hosts refuses a host with another order.
 */
enum {
	NET_PAYLOAD = 1920, /* bytes of a packet, the MTU of Tofu */
	NET_NOTE = 64,	    /* bytes that the NIC sends along with every packet of a message */
	NET_CLASSES = 2,
	NET_LANES = 2,
	NET_CHANNELS = NET_CLASSES * NET_LANES,
	NET_TNIS = 6, /* at most */
	NET_CQS = 16, /* of a TNI, at most */
	NET_ALIGN = 64
};

enum net_class { NET_REQUEST, NET_REPLY };

struct net_address {
	int node; /* a place in the shape */
	int tni;
	int cq;
};

struct net_message {
	struct net_address from, to;
	enum net_class class;
	uint32_t bytes;
	int64_t time; /* modelled, picoseconds: when the NIC is given it */
	unsigned char note[NET_NOTE];
};

struct net_packet {
	uint32_t sequence; /* on this link */
	uint16_t length;   /* of the payload */
	uint8_t channel;   /* class * NET_LANES + lane */
	uint8_t last;	   /* of its message */
	uint32_t from, to; /* nodes */
	uint8_t from_tni, to_tni, from_cq, to_cq;
	uint32_t offset, bytes; /* in the message, and of it */
	uint8_t down;		/* a bit for each axis that it passes in the negative direction */
	uint8_t unused[3];
	/* Modelled, picoseconds: when the first and the last byte reach what comes next. */
	int64_t head, tail;
	unsigned char note[NET_NOTE];
	uint32_t hops;	       /* links that it has passed */
	uint32_t header_check; /* CRC-32 of all before it */
};

struct net_footer {
	uint32_t payload_check; /* CRC-32 of the payload */
	uint32_t mark;		/* NET_MARK, to check the length in the header */
};

enum { NET_MARK = 0x746f6675, NET_ENVELOPE = sizeof(struct net_packet) + sizeof(struct net_footer) };

/* A packet in a buffer: the footer follows the last byte of the payload, and may be unaligned. */
struct net_slot {
	struct net_packet packet;
	unsigned char rest[NET_PAYLOAD + sizeof(struct net_footer)];
};

static_assert(sizeof(struct net_packet) == 120, "the header is as docs/protocols/softofu-link.md has it");
static_assert(sizeof(struct net_slot) == 2048, "a slot is a power of two, and slots stand side by side");
static_assert(NET_ENVELOPE == 128, "a full packet is 2048 bytes on the wire");

static inline int net_wire_bytes(const struct net_packet *packet)
{
	return NET_ENVELOPE + packet->length;
}

#endif
