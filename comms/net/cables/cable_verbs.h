/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_CABLE_VERBS_H
#define COMMS_CABLE_VERBS_H

#include "cable_inside.h"

#include <infiniband/verbs.h>

/*
 * What cable_verbs.c (libibverbs, devices), cable_verbs_links.c (queue pairs, frames) and
 * cable_verbs_memory.c (registered memory) share.
 *
 * device     an open RDMA device, with one completion queue for all its queue pairs
 * slot       registered memory for a frame: a sender copies a frame into a free slot of its own and
 *            sends it to a slot that the receiver has posted
 * room       slots of the receiver that are free, as the sender knows
 */
enum {
	CABLE_SLOTS = 16, /* of an end of a queue pair */
	CABLE_SLOT = sizeof(struct cable_header) + CABLE_RELAYED_FRAME,
	CABLE_SLOTS_BYTES = CABLE_SLOTS * CABLE_SLOT,
	CABLE_WRITTEN = 4096 /* bytes of data from which on it is written to its place */
};
_Static_assert(CABLE_SLOT % 64 == 0, "slots begin at cache lines");

/* Its functions that are not inline. */
struct verbs_library {
	__typeof__(&ibv_get_device_list) get_device_list;
	__typeof__(&ibv_free_device_list) free_device_list;
	__typeof__(&ibv_open_device) open_device;
	__typeof__(&ibv_close_device) close_device;
	__typeof__(&ibv_query_device) query_device;
	__typeof__(&ibv_query_port) query_port;
	__typeof__(&_ibv_query_gid_table) query_gid_table;
	__typeof__(&ibv_alloc_pd) alloc_pd;
	__typeof__(&ibv_dealloc_pd) dealloc_pd;
	__typeof__(&ibv_reg_mr) reg_mr;
	__typeof__(&ibv_dereg_mr) dereg_mr;
	__typeof__(&ibv_create_comp_channel) create_comp_channel;
	__typeof__(&ibv_destroy_comp_channel) destroy_comp_channel;
	__typeof__(&ibv_create_cq) create_cq;
	__typeof__(&ibv_destroy_cq) destroy_cq;
	__typeof__(&ibv_get_cq_event) get_cq_event;
	__typeof__(&ibv_ack_cq_events) ack_cq_events;
	__typeof__(&ibv_create_qp) create_qp;
	__typeof__(&ibv_modify_qp) modify_qp;
	__typeof__(&ibv_destroy_qp) destroy_qp;
};
extern struct verbs_library verbs_library;

/* Memory from begin to end; usable: registered, or with the neighbour's key for it. */
struct cable_part {
	uint64_t begin, end;
	struct ibv_mr *memory; /* of this PE; NULL: another one's */
	uint32_t key;	       /* of another one's */
	bool usable;
};

/* By address. */
struct cable_parts {
	struct cable_part *part;
	int count;
};

struct cable_device {
	struct cable_device *next;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *queue;
	struct cable_parts memory;
	bool full;  /* it refuses more memory */
	int unused; /* entries of the completion queue that no queue pair has */
};

/* A port of this host that has a device. */
struct cable_verbs_port {
	char name[TORUS_PORT];
	struct cable_device *device;
	uint8_t number;
	enum ibv_mtu mtu;
	struct cable_gids gids;
	uint8_t index[CABLE_GIDS];
};
/* NULL: it has none. */
const struct cable_verbs_port *cable_verbs_port(const char *name);

/* One end of a queue pair. Either link or arrival is not NULL. */
struct cable_rdma {
	struct cable_link *link;
	struct cable_arrival *arrival;
	struct cable_device *device;
	struct ibv_qp *pair;
	struct ibv_mr *registered;
	char *slots;
	uint32_t packet;
	uint64_t begun, ended; /* slots used so far, in turns; those that are free again */
	unsigned room;
	atomic_int *sent[CABLE_SLOTS]; /* decreased when the frame of this slot has been sent */
	struct cable_parts keys;       /* of the other end's memory */
	bool asking;		       /* for one of them */
	/* For reports. */
	uint64_t bytes, busy, busy_since;
};

/* cable_verbs_links.c */
bool cable_rdma_reaches(const char *port, const struct cable_gids *its);
bool cable_rdma_offer(struct cable_link *link, const struct cable_route *route, const struct cable_gids *its,
		      struct cable_offer *offer);
bool cable_rdma_begin(struct cable_link *link, const struct cable_offer *offer, const struct cable_answer *answer);
void cable_rdma_accept(struct cable_arrival *arrival, const struct cable_offer *offer, struct cable_answer *answer);
void cable_rdma_free(struct cable_rdma *rdma);
bool cable_rdma_has_room(const struct cable_rdma *rdma);
void cable_rdma_send(struct cable_link *link, struct cable_message *message, int class);
void cable_rdma_add_room(struct cable_rdma *rdma);
void cable_rdma_add_sent(const struct cable_rdma *rdma, struct network_sent *sent);
void cable_rdma_complete(struct cable_rdma *rdma, const struct ibv_wc *completion);

/* Sends a request for the key of memory there. */
void cable_rdma_ask(struct cable_rdma *rdma, uint64_t address);

/* cable_verbs_memory.c */
/* The part of this PE's memory around the address. The pointer lasts until the next call. */
const struct cable_part *cable_memory_part(struct cable_device *device, uint64_t address);
/* That of the other end's memory; NULL: there is no key, or it has been asked for. */
const struct cable_part *cable_memory_key(struct cable_rdma *rdma, uint64_t address);
void cable_memory_give_key(const struct cable_arrival *arrival);
void cable_memory_take_key(const struct cable_header *header);
void cable_parts_free(struct cable_parts *parts);

#endif
