/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_OFI_INSIDE_H
#define COMMS_OFI_INSIDE_H

#include <pthread.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>

#include "comms/core/network.h"
#include "comms/core/regions.h"
#include "comms/net/server.h"
#include "ofi_library.h"

/*
 * Shared by the files of this network: ofi_library.c (libfabric), ofi.c (start and stop),
 * ofi_requests.c (outstanding transfers), ofi_ops.c (operations), ofi_notify.c (notifications and
 * buffers), ofi_sent.c (what TCP has sent), ofi_server.c (progress).
 *
 * transfer  an operation of libfabric
 * request   the record of an outstanding transfer. A caller that finds none free waits until a
 *           transfer has ended
 * staging   memory of a request for data that the caller may change on return
 */
enum { OFI_REQUESTS = 512, OFI_STAGING = 4096 };

struct ofi_memory {
	struct fid_mr *mr;
	/* Base is 0 if the provider counts offsets from the start of the memory. */
	uint64_t base, key;
};

/* The record of a peer, from the first contact on. */
struct ofi_peer {
	fi_addr_t address;
	uint64_t base[COMMS_FIXED_SEGMENTS], key[COMMS_FIXED_SEGMENTS];
	atomic_int under_way;
};

struct ofi_channel {
	atomic_int pending;
};

struct transfer {
	enum transfer_kind { TRANSFER_PUT, TRANSFER_GET, TRANSFER_ATOMIC, TRANSFER_FETCH } kind;
	struct comms_peer *peer;
	uint64_t there, key;
	void *here;
	size_t bytes; /* of an atomic: its width */
	struct comms_atomic atomic;
};

/*
 * What the end of a transfer changes: a counter, which it decreases (NULL: none), or a
 * notification.
 */
struct ofi_end {
	atomic_int *counter;
	struct comms_request *notification;
};

/* The record of an outstanding notification, in its request. */
struct ofi_record {
	atomic_int left;   /* transfers to go, plus one while it is open */
	bool flag_follows; /* send it when none is left */
	struct transfer flag;
};
_Static_assert(sizeof(struct ofi_record) <= COMMS_REQUEST_DRIVER, "the request has room");

static inline struct ofi_record *ofi_record(struct comms_request *notification)
{
	return (void *)notification->driver;
}

struct ofi_request {
	struct fi_context2 context; /* libfabric's, while the transfer is under way */
	struct ofi_request *next;
	struct transfer transfer;
	struct ofi_end end;
	uint64_t result;
	char staging[OFI_STAGING];
};

struct ofi {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep;
	struct ofi_memory memory[COMMS_FIXED_SEGMENTS];
	/* Of one transfer; the longest that a later one does not overtake. */
	size_t most_bytes, ordered_bytes;
	struct ofi_channel main;
	atomic_int under_way;
	atomic_bool ending;   /* the loss of a peer is no error */
	atomic_int workers;   /* threads in ofi_work, where errors return */
	pthread_mutex_t lock; /* protects the free requests */
	struct ofi_request *requests, *free;
	struct network_server server;
};
extern struct ofi ofi;

static inline struct ofi_peer *ofi_peer(const struct comms_peer *peer)
{
	return atomic_load_explicit(&peer->driver, memory_order_relaxed);
}

static inline atomic_int *ofi_pending(struct comms_channel *channel)
{
	return &(channel ? (struct ofi_channel *)channel : &ofi.main)->pending;
}

/* ofi.c: ofi_check ends the job if the return code of a call is not 0. */
void ofi_start(void);
void *ofi_describe(size_t *bytes);
void ofi_connect(struct comms_peer *peer);
void ofi_forget(struct comms_peer *peer);
void ofi_stop(void);
void ofi_check(long code, const char *call);
void ofi_register(struct ofi_memory *memory, void *base, size_t bytes, const char *routine);

/*
 * ofi_requests.c: begin counts a request; start retries until libfabric takes it. In a broken job
 * begin may return NULL, which start ignores.
 */
struct ofi_request *ofi_begin(const struct transfer *transfer, struct ofi_end end);
void ofi_start_request(struct ofi_request *request);
/* Until the counter, which may be on the caller's stack, is 0; or the job is broken. */
void ofi_wait_for(atomic_int *counter);
/* Handles transfers that have ended. Returns true if there were any. */
bool ofi_work(void);
/* In a broken job: from the return on, no thread changes counters of transfers any more. */
void ofi_settle(void);
/*
 * notification_open takes a reference to the notification for the caller, who then begins its
 * transfers; notification_less drops one. Returns true for the last one: the caller must then send
 * the flag.
 */
void ofi_notification_open(struct comms_request *notification, bool flag_follows);
bool ofi_notification_less(struct comms_request *notification);

/* ofi_ops.c */
struct transfer ofi_transfer(enum transfer_kind kind, const struct comms_place *there, size_t bytes);
/* For data that the caller may change on return, or, with a waiter, when the waiter is 0. */
void ofi_start_put_copied(const struct transfer *put, const void *source, atomic_int *pending, atomic_int *waiter);
void ofi_start_put(const struct transfer *put, const void *source, struct ofi_end end);
/* Puts from, or gets to, this memory, in pieces no longer than the provider allows. */
void ofi_start_pieces(const struct transfer *transfer, void *here, struct ofi_end end);
void ofi_atomic(const struct comms_place *there, const struct comms_atomic *atomic, struct ofi_end end);

/* ofi_notify.c */
void ofi_notify(struct comms_request *request, const struct network_notification *notification);
extern const struct network_buffers ofi_buffers;

/* ofi_sent.c */
void ofi_sent_to(const int *pes, int n, struct network_sent *sent);

/* ofi_server.c */
bool ofi_progress(void);
void ofi_open(void);
void ofi_rest(void);
bool ofi_served(void);
extern const struct network_blocking ofi_blocking;

#endif
