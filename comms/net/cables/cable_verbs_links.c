/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queue pairs of links over RDMA, and the frames on them. A link sends only as many frames as its
 * receiver has posted slots for; the receiver takes a frame out of its slot at once, whatever comes
 * of it, posts the slot again, and says so for half of its slots at a time. So room comes back
 * without waiting for anybody, and classes and credits keep their meaning.
 */
#include "cable_verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>

#include "comms/net/failure.h"
#include "rte/rte.h"

/* --- Queue pairs --- */

void cable_rdma_free(struct cable_rdma *rdma)
{
	if (!rdma)
		return;
	if (rdma->pair && verbs_library.destroy_qp(rdma->pair) == 0)
		rdma->device->unused += CABLE_SLOTS;
	if (rdma->registered)
		verbs_library.dereg_mr(rdma->registered);
	if (rdma->slots)
		munmap(rdma->slots, CABLE_SLOTS_BYTES);
	cable_parts_free(&rdma->keys);
	free(rdma);
}

/* A child of fork does not get the slots: its copy would move them away from the device. */
static bool make_slots(struct cable_rdma *rdma)
{
	void *slots = mmap(NULL, CABLE_SLOTS_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (slots == MAP_FAILED)
		return false;
	rdma->slots = slots;
	madvise(slots, CABLE_SLOTS_BYTES, MADV_DONTFORK);
	rdma->registered = verbs_library.reg_mr(rdma->device->pd, slots, CABLE_SLOTS_BYTES, IBV_ACCESS_LOCAL_WRITE);
	return rdma->registered != NULL;
}

static bool make_pair(struct cable_rdma *rdma, const struct cable_verbs_port *port, bool sends)
{
	struct ibv_qp_init_attr wanted = {
		.send_cq = rdma->device->queue,
		.recv_cq = rdma->device->queue,
		.cap = {.max_send_wr = sends ? 2 * CABLE_SLOTS : 1,
			.max_recv_wr = sends ? 1 : CABLE_SLOTS,
			.max_send_sge = 1,
			.max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT,
				   .port_num = port->number,
				   .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};

	rdma->pair = verbs_library.create_qp(rdma->device->pd, &wanted);
	if (!rdma->pair)
		return false;
	rdma->device->unused -= CABLE_SLOTS;
	errno = verbs_library.modify_qp(rdma->pair, &init,
					IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	return errno == 0;
}

static const char *advice_on_memory(int error)
{
	return error == ENOMEM || error == EPERM ? "; raise ulimit -l" : "";
}

/* NULL: this link uses TCP. */
static struct cable_rdma *make_end(const struct cable_verbs_port *port, int pe, bool sends)
{
	struct cable_rdma *rdma = calloc(1, sizeof *rdma);

	if (!rdma)
		rte_die(NULL, "no memory for a connection to PE %d", pe);
	rdma->device = port->device;
	errno = ENOSPC;
	if (port->device->unused >= CABLE_SLOTS && make_slots(rdma) && make_pair(rdma, port, sends) &&
	    getrandom(&rdma->packet, sizeof rdma->packet, 0) == (ssize_t)sizeof rdma->packet) {
		rdma->packet &= 0xffffff;
		return rdma;
	}
	rte_debug("the cable at %s carries TCP for PE %d: %s has no queue pair for it (%s%s)", port->name, pe,
		  port->device->context->device->name, strerror(errno), advice_on_memory(errno));
	cable_rdma_free(rdma);
	return NULL;
}

/* The way to the other end, and what it may send. */
static bool connect_pair(struct cable_rdma *rdma, const struct cable_verbs_port *port, unsigned kind,
			 const struct cable_pair *its, const uint8_t its_gid[16])
{
	struct ibv_qp_attr receive = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = its->mtu < (uint32_t)port->mtu ? (enum ibv_mtu)its->mtu : port->mtu,
		.dest_qp_num = its->number,
		.rq_psn = its->packet,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = {.is_global = 1,
			    .port_num = port->number,
			    .grh = {.sgid_index = port->index[kind], .hop_limit = 64}},
	};

	memcpy(receive.ah_attr.grh.dgid.raw, its_gid, sizeof receive.ah_attr.grh.dgid.raw);
	errno = verbs_library.modify_qp(rdma->pair, &receive,
					IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
						IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	return errno == 0;
}

enum { REPEATS = 7, LONGEST_TIMEOUT = 31 };

/*
 * The time after which the device repeats a frame without an answer, as 4096 ns * 2^timeout: all of
 * them together take as long as a silent host is waited for. 0: it repeats it for ever.
 */
static uint8_t timeout_of_frames(void)
{
	const int64_t each = failure_limit() * 1000000 / (REPEATS + 1);
	uint8_t timeout = 0;

	while (timeout < LONGEST_TIMEOUT && INT64_C(4096) << (timeout + 1) <= each)
		timeout++;
	return timeout;
}

static bool let_send(struct cable_rdma *rdma)
{
	struct ibv_qp_attr send = {.qp_state = IBV_QPS_RTS,
				   .sq_psn = rdma->packet,
				   .max_rd_atomic = 1,
				   .timeout = timeout_of_frames(),
				   .retry_cnt = REPEATS,
				   .rnr_retry = 7};

	errno = verbs_library.modify_qp(rdma->pair, &send,
					IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_TIMEOUT |
						IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY);
	return errno == 0;
}

/* --- The sender's end --- */

static bool has_gid(const struct cable_gids *gids, unsigned kind)
{
	static const uint8_t none[16];

	return memcmp(gids->gid[kind], none, sizeof none) != 0;
}

/* The addresses that both ports have; CABLE_GIDS: there are none. */
static unsigned common_kind(const struct cable_verbs_port *port, const struct cable_gids *its)
{
	unsigned kind = 0;

	while (kind < CABLE_GIDS && !(has_gid(&port->gids, kind) && has_gid(its, kind)))
		kind++;
	return kind;
}

bool cable_rdma_reaches(const char *port, const struct cable_gids *its)
{
	const struct cable_verbs_port *here = cable_verbs_port(port);

	return here && common_kind(here, its) < CABLE_GIDS;
}

bool cable_rdma_offer(struct cable_link *link, const struct cable_route *route, const struct cable_gids *its,
		      struct cable_offer *offer)
{
	const struct cable_verbs_port *port = cable_verbs_port(route->port);
	const unsigned kind = port ? common_kind(port, its) : CABLE_GIDS;

	if (kind == CABLE_GIDS)
		return false;
	link->rdma = make_end(port, link->pe, true);
	if (!link->rdma)
		return false;
	link->rdma->link = link;
	link->rdma->room = CABLE_SLOTS;
	*offer = (struct cable_offer){.kind = kind,
				      .pair = {.number = link->rdma->pair->qp_num,
					       .packet = link->rdma->packet,
					       .mtu = (uint32_t)port->mtu}};
	memcpy(offer->gid, port->gids.gid[kind], sizeof offer->gid);
	memcpy(offer->its_gid, its->gid[kind], sizeof offer->its_gid);
	memcpy(offer->port, route->its_port, strnlen(route->its_port, sizeof offer->port - 1));
	return true;
}

bool cable_rdma_begin(struct cable_link *link, const struct cable_offer *offer, const struct cable_answer *answer)
{
	const struct cable_verbs_port *port = cable_verbs_port(link->port);

	if (answer->taken && connect_pair(link->rdma, port, offer->kind, &answer->pair, offer->its_gid) &&
	    let_send(link->rdma))
		return true;
	rte_debug("the cable at %s carries TCP for PE %d: %s", link->port, link->pe,
		  answer->taken ? strerror(errno) : "the PE has no queue pair for it");
	return false;
}

bool cable_rdma_has_room(const struct cable_rdma *rdma)
{
	return rdma->room > 0 && rdma->begun - rdma->ended < CABLE_SLOTS;
}

void cable_rdma_add_room(struct cable_rdma *rdma)
{
	rdma->room += CABLE_SLOTS / 2;
}

static uint64_t microseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static char *slot(const struct cable_rdma *rdma, uint64_t number)
{
	return rdma->slots + number % CABLE_SLOTS * CABLE_SLOT;
}

/* Sends a header and the data that is in the slot behind it; what is written goes before it. */
static void post_frame(struct cable_rdma *rdma, const struct cable_header *header, size_t bytes,
		       struct ibv_send_wr *written)
{
	char *frame = slot(rdma, rdma->begun);
	struct ibv_sge part = {.addr = (uintptr_t)frame,
			       .length = (uint32_t)(sizeof *header + bytes),
			       .lkey = rdma->registered->lkey};
	struct ibv_send_wr send = {.wr_id = (uintptr_t)rdma,
				   .sg_list = &part,
				   .num_sge = 1,
				   .opcode = IBV_WR_SEND,
				   .send_flags = IBV_SEND_SIGNALED},
			   *bad;
	int error;

	memcpy(frame, header, sizeof *header);
	if (written)
		written->next = &send;
	if (rdma->begun == rdma->ended)
		rdma->busy_since = microseconds();
	error = ibv_post_send(rdma->pair, written ? written : &send, &bad);
	if (error)
		cable_link_lose(rdma->link, error);
	rdma->begun++;
	rdma->room--;
}

void cable_rdma_ask(struct cable_rdma *rdma, uint64_t address)
{
	const struct cable_header header = {.kind = CABLE_ASK_KEY,
					    .from = comms.pe,
					    .to = rdma->link->pe,
					    .there = address,
					    .token = (uintptr_t)rdma};

	post_frame(rdma, &header, 0, NULL);
}

/* The address of the next frame's data at the target, if RDMA may write there; otherwise 0. */
static uint64_t place_of(const struct cable_message *message, int class)
{
	const struct cable_header *header = &message->header;

	if (class > 0 || message->left < CABLE_WRITTEN || !cable_message_is_free(message))
		return 0;
	if (header->kind == CABLE_PUT)
		return header->there;
	return header->kind == CABLE_ANSWER && header->word ? header->word + header->there : 0;
}

static size_t at_most(size_t bytes, uint64_t most)
{
	return bytes < most ? bytes : (size_t)most;
}

/*
 * Prepares to write data of the message to its place: from where it is if this PE has registered
 * that memory, otherwise from the slot. Returns how much; 0: it goes behind the header.
 */
static size_t prepare_write(struct cable_rdma *rdma, struct cable_message *message, int class,
			    struct ibv_send_wr *write, struct ibv_sge *part)
{
	const uint64_t place = place_of(message, class);
	const struct cable_part *key = place ? cable_memory_key(rdma, place) : NULL, *own;
	char *data = slot(rdma, rdma->begun) + sizeof(struct cable_header);
	size_t bytes;

	if (!key)
		return 0;
	own = cable_memory_part(rdma->device, (uintptr_t)message->data);
	bytes = at_most(at_most(message->left, CABLE_FRAME), key->end - place);
	bytes = at_most(bytes, own->usable ? own->end - (uintptr_t)message->data : CABLE_RELAYED_FRAME);
	if (!own->usable)
		memcpy(data, message->data, bytes);
	message->lent = message->lent || own->usable;
	*part = (struct ibv_sge){.addr = own->usable ? (uintptr_t)message->data : (uintptr_t)data,
				 .length = (uint32_t)bytes,
				 .lkey = own->usable ? own->memory->lkey : rdma->registered->lkey};
	*write = (struct ibv_send_wr){
		.wr_id = (uintptr_t)rdma,
		.sg_list = part,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = {.remote_addr = place, .rkey = key->key},
	};
	return bytes;
}

void cable_rdma_send(struct cable_link *link, struct cable_message *message, int class)
{
	struct cable_rdma *rdma = link->rdma;
	struct ibv_send_wr write;
	struct ibv_sge part;
	const size_t written = prepare_write(rdma, message, class, &write, &part);
	const size_t bytes = written ? written : at_most(message->left, CABLE_RELAYED_FRAME);
	struct cable_header header;

	if (!cable_rdma_has_room(rdma)) /* a request for a key took it */
		return;
	header = cable_frame_begin(link, message, class, bytes);
	if (written)
		header.flow_last |= CABLE_IN_PLACE;
	else if (bytes > 0)
		memcpy(slot(rdma, rdma->begun) + sizeof header, message->data, bytes);
	if (message->lent && bytes == message->left) {
		rdma->sent[rdma->begun % CABLE_SLOTS] = message->sent;
		message->sent = NULL;
	}
	post_frame(rdma, &header, written ? 0 : bytes, written ? &write : NULL);
	cable_frame_end(link, message, class, bytes);
}

static void end_send(struct cable_rdma *rdma)
{
	const struct cable_header *header = (const void *)slot(rdma, rdma->ended);

	atomic_int **sent = &rdma->sent[rdma->ended % CABLE_SLOTS];

	rdma->bytes += sizeof *header + header->bytes;
	if (*sent)
		atomic_fetch_sub_explicit(*sent, 1, memory_order_acq_rel);
	*sent = NULL;
	rdma->ended++;
	if (rdma->begun == rdma->ended)
		rdma->busy += microseconds() - rdma->busy_since;
	cable_link_flush(rdma->link);
}

void cable_rdma_add_sent(const struct cable_rdma *rdma, struct network_sent *sent)
{
	sent->bytes += rdma->bytes;
	sent->microseconds += rdma->busy;
	if (rdma->begun != rdma->ended)
		sent->microseconds += microseconds() - rdma->busy_since;
}

/* --- The receiver's end --- */

static int post_slot(struct cable_rdma *rdma, uint64_t number)
{
	struct ibv_sge part = {.addr = (uintptr_t)slot(rdma, number),
			       .length = CABLE_SLOT,
			       .lkey = rdma->registered->lkey};
	struct ibv_recv_wr wanted = {.wr_id = (uintptr_t)rdma, .sg_list = &part, .num_sge = 1}, *bad;

	return ibv_post_recv(rdma->pair, &wanted, &bad);
}

static bool prepare_to_receive(struct cable_rdma *rdma, const struct cable_verbs_port *port,
			       const struct cable_offer *offer)
{
	for (uint64_t i = 0; i < CABLE_SLOTS; i++)
		if (post_slot(rdma, i))
			return false;
	return connect_pair(rdma, port, offer->kind, &offer->pair, offer->gid);
}

void cable_rdma_accept(struct cable_arrival *arrival, const struct cable_offer *offer, struct cable_answer *answer)
{
	const struct cable_verbs_port *port = cable_verbs_port(offer->port);
	struct cable_rdma *rdma = NULL;

	*answer = (struct cable_answer){0};
	if (port && offer->kind < CABLE_GIDS && has_gid(&port->gids, offer->kind))
		rdma = make_end(port, arrival->pe, false);
	if (!rdma)
		return;
	if (!prepare_to_receive(rdma, port, offer)) {
		rte_debug("the cable at %s carries TCP for PE %d: the address of its device is not reached (%s)",
			  port->name, arrival->pe, strerror(errno));
		cable_rdma_free(rdma);
		return;
	}
	rdma->arrival = arrival;
	arrival->rdma = rdma;
	*answer = (struct cable_answer){.taken = 1,
					.pair = {.number = rdma->pair->qp_num,
						 .packet = rdma->packet,
						 .mtu = (uint32_t)port->mtu}};
}

static void take_frame(struct cable_rdma *rdma, size_t bytes)
{
	struct cable_arrival *arrival = rdma->arrival;
	int error;

	cable_arrival_take(arrival, slot(rdma, rdma->ended), bytes);
	error = post_slot(rdma, rdma->ended);
	rdma->ended++;
	if (error)
		cable_arrival_lose(arrival, error);
	else if (rdma->ended % (CABLE_SLOTS / 2) == 0)
		cable_return_credit(arrival, CABLE_ROOM);
}

/* --- Both --- */

static bool is_gone(const struct cable_rdma *rdma)
{
	return rdma->link ? rdma->link->gone : rdma->arrival->gone;
}

void cable_rdma_complete(struct cable_rdma *rdma, const struct ibv_wc *completion)
{
	if (is_gone(rdma))
		return;
	if (completion->status == IBV_WC_SUCCESS && rdma->link) {
		end_send(rdma);
	} else if (completion->status == IBV_WC_SUCCESS) {
		take_frame(rdma, completion->byte_len);
	} else {
		rte_debug("%s reports status %d of libibverbs", rdma->device->context->device->name,
			  completion->status);
		if (rdma->link)
			cable_link_lose(rdma->link, EIO);
		else
			cable_arrival_lose(rdma->arrival, EIO);
	}
}
