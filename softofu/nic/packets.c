/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "softofu/net/net.h"
#include "softofu/nic/carrier.h"
#include "softofu/nic/reach.h"

/*
 * The carrier through the network of softofu/net: routers, links, faults and the modelled clock.
 *
 * The thread that hands over a descriptor completes it. It injects the packets, runs the network,
 * and writes what arrives at the receive queue of its target to memory, its own packets and those
 * of others. So a process that computes blocks nobody. The same thread also does what the NIC of
 * the other side does for a get or an atomic operation.
 */
enum { TRIES_BEFORE_SWEEP = 64, CHUNK = 1 << 16, LAST = 8, NOBODY = -1 };

/* The note of each packet. */
struct label {
	/* Address of the message in the memory of a rank; unused if rank is NOBODY. */
	uint64_t address;
	int32_t rank;
	uint32_t sender, ticket, strong;
};
static_assert(sizeof(struct label) <= NET_NOTE, "it is in the note");

static struct net *job_net(struct nic *nic)
{
	return (struct net *)((char *)nic->job + nic->job->net_at);
}

enum { REPORTING = 1, REPORTED };

/*
 * One process reports the failure of the network, and all end. The others wait for the report,
 * because a launcher ends all processes when one has ended.
 */
static void end_job(struct nic *nic)
{
	const struct timespec moment = {.tv_nsec = 1000000};
	uint32_t nobody = 0;

	if (atomic_compare_exchange_strong_explicit(&nic->job->net_reported, &nobody, REPORTING, memory_order_relaxed,
						    memory_order_relaxed)) {
		fprintf(stderr, "softofu: rank %d: %s\n", nic->rank, net_trouble(job_net(nic)));
		atomic_store_explicit(&nic->job->net_reported, REPORTED, memory_order_release);
	}
	for (int tries = 0;
	     tries < 1000 && atomic_load_explicit(&nic->job->net_reported, memory_order_acquire) != REPORTED; tries++)
		nanosleep(&moment, NULL);
	_exit(1);
}

static struct net_address net_address_of(struct nic *nic, uint64_t id)
{
	const struct net_shape *shape = &net_settings(job_net(nic))->shape;
	struct vcq_name name;
	int coordinates[GRID_AXES];

	id_read(id, &name);
	for (int a = 0; a < GRID_AXES; a++)
		coordinates[a] = name.coords[a];
	return (struct net_address){net_place_at(shape, coordinates), (int)name.tni, (int)name.cq};
}

/* --- Taking --- */

/*
 * Where a payload is cut that arrives without strong order: at a line of the target near its
 * middle, in a line that is not written as a whole, or nowhere (0).
 */
static size_t payload_cut(const struct nic *nic, uint64_t there, size_t length)
{
	size_t before = CACHE_LINE - there % CACHE_LINE;
	bool whole_line = before == CACHE_LINE && length == CACHE_LINE;

	if (nic->settings.tear)
		return length / 2;
	if (before >= length)
		return whole_line ? 0 : length / 2;
	return before + (length - before) / 2 / CACHE_LINE * CACHE_LINE;
}

/*
 * With strong order a payload is written in order, or its last word alone goes last where lines are
 * torn. Otherwise its end goes before its beginning.
 */
static enum reached write_payload(struct nic *nic, const struct label *label, const struct net_packet *packet,
				  const char *data)
{
	size_t length = packet->length, first;
	uint64_t there = label->address + packet->offset;
	enum reached reached;
	struct piece pieces[2];

	if (label->strong)
		first = nic->settings.tear && length > LAST ? length - LAST : 0;
	else
		first = payload_cut(nic, there, length);
	if (!first) {
		pieces[0] = (struct piece){(void *)(uintptr_t)data, there, length};
		return reach_write_in_order(nic, (uint32_t)label->rank, pieces, 1);
	}
	pieces[0] = (struct piece){(void *)(uintptr_t)data, there, first};
	pieces[1] = (struct piece){(void *)(uintptr_t)(data + first), there + first, length - first};
	if (!label->strong) {
		struct piece end = pieces[1];

		pieces[1] = pieces[0];
		pieces[0] = end;
	}
	if (!label->strong)
		return reach_write(nic, (uint32_t)label->rank, pieces, 2);
	reached = reach_write(nic, (uint32_t)label->rank, pieces, 1);
	return reached == REACHED ? reach_write_in_order(nic, (uint32_t)label->rank, &pieces[1], 1) : reached;
}

static bool write_arrived(void *context, const struct net_packet *packet, const void *data)
{
	struct nic *nic = context;
	struct label label;
	struct ticket *ticket;

	memcpy(&label, packet->note, sizeof label);
	ticket = &job_process(nic->job, label.sender)->tickets[label.ticket];
	if (label.rank != NOBODY && packet->length > 0) {
		enum reached reached = write_payload(nic, &label, packet, data);

		if (reached != REACHED)
			atomic_store_explicit(&ticket->reached, (int32_t)reached, memory_order_relaxed);
	}
	if (packet->last) {
		atomic_store_explicit(&ticket->time, packet->tail, memory_order_relaxed);
		atomic_store_explicit(&ticket->state, TICKET_ARRIVED, memory_order_release);
	}
	return true;
}

/* One process at a time takes from a receive queue. A holder that was killed loses its right. */
static bool take_arrived(struct nic *nic, const struct net_address *at)
{
	_Atomic int32_t *taking = job_taking(nic->job, at->node, at->tni, at->cq);
	int32_t me = atomic_load_explicit(&nic->me->pid, memory_order_relaxed), holder = 0;
	int taken = 0;

	if (!net_waiting(job_net(nic), at, NET_REQUEST) && !net_waiting(job_net(nic), at, NET_REPLY))
		return false;
	if (!atomic_compare_exchange_strong_explicit(taking, &holder, me, memory_order_acquire, memory_order_relaxed) &&
	    !(holder != me && kill(holder, 0) && errno == ESRCH &&
	      atomic_compare_exchange_strong_explicit(taking, &holder, me, memory_order_acquire, memory_order_relaxed)))
		return false;
	for (int class = 0; class < NET_CLASSES && taken >= 0; class ++)
		taken = net_take(job_net(nic), at, class, 64, write_arrived, nic);
	atomic_store_explicit(taking, 0, memory_order_release);
	if (taken < 0)
		end_job(nic);
	return true;
}

/*
 * Empties all receive queues, after a long wait: packets of others may block the queues while their
 * process has no processor.
 */
static void sweep(struct nic *nic)
{
	uint32_t used = atomic_load_explicit(&nic->job->used_vcqs, memory_order_relaxed);

	for (uint32_t i = 0; i < used; i++)
		if (atomic_load_explicit(&job_vcq(nic->job, i)->live, memory_order_relaxed) == 1) {
			struct net_address at = net_address_of(nic, shared_vcq_id(job_vcq(nic->job, i)));

			take_arrived(nic, &at);
		}
}

/* --- Sending --- */

static uint32_t take_ticket(struct nic *nic)
{
	for (uint32_t i = 0;; i = (i + 1) % TICKETS) {
		uint32_t nobody = TICKET_FREE;

		if (atomic_compare_exchange_strong_explicit(&nic->me->tickets[i].state, &nobody, TICKET_DRAWN,
							    memory_order_acquire, memory_order_relaxed))
			return i;
		if (i == TICKETS - 1)
			sched_yield();
	}
}

/*
 * Sends a message, waits until it has arrived, and returns what became of it. *time: start of the
 * message, then its arrival.
 */
static enum reached carry_message(struct nic *nic, struct net_message *message, struct label *label, const void *data,
				  int64_t *time)
{
	struct ticket *ticket = &nic->me->tickets[label->ticket = take_ticket(nic)];
	struct net *net = job_net(nic);
	uint64_t done = 0;
	enum reached reached;
	int in = 0;

	atomic_store_explicit(&ticket->reached, REACHED, memory_order_relaxed);
	label->sender = (uint32_t)nic->rank;
	message->time = *time;
	memcpy(message->note, label, sizeof *label);
	for (int tries = 1; atomic_load_explicit(&ticket->state, memory_order_acquire) != TICKET_ARRIVED; tries++) {
		int steps;

		if (!in)
			in = net_inject(net, message, (const char *)data + done, &done);
		steps = net_step(net, 64);
		if (in < 0 || steps < 0)
			end_job(nic);
		if (!take_arrived(nic, &message->to) && !steps && tries % TRIES_BEFORE_SWEEP == 0) {
			sweep(nic);
			sched_yield();
		}
	}
	reached = (enum reached)atomic_load_explicit(&ticket->reached, memory_order_relaxed);
	*time = atomic_load_explicit(&ticket->time, memory_order_relaxed);
	atomic_store_explicit(&ticket->state, TICKET_FREE, memory_order_release);
	return reached;
}

struct trip {
	struct nic *nic;
	struct vcq *vcq;
	struct net_address from, to;
	const struct descriptor *what;
	uint64_t here, there;
	uint32_t rank; /* the other side's */
	bool strong;
	int64_t time;
};

static enum reached put_part(struct trip *trip, uint64_t here, uint64_t there, uint32_t bytes)
{
	struct net_message message = {.from = trip->from, .to = trip->to, .bytes = bytes};
	struct label label = {there, (int32_t)trip->rank, 0, 0, trip->strong};

	return carry_message(trip->nic, &message, &label, (const char *)(uintptr_t)here, &trip->time);
}

/*
 * Without strong order, reorder injection sends the end of a block before its beginning, cut at a
 * random place.
 */
static enum reached put_block(struct trip *trip, uint64_t here, uint64_t there, uint32_t bytes)
{
	uint32_t cut = 0;
	enum reached reached;

	if (!trip->strong && bytes > NET_PAYLOAD) {
		vcq_lock(trip->vcq);
		cut = (vcq_random(trip->vcq, (bytes - 1) / NET_PAYLOAD) + 1) * NET_PAYLOAD;
		vcq_unlock(trip->vcq);
	}
	reached = put_part(trip, here + cut, there + cut, bytes - cut);
	return cut && reached == REACHED ? put_part(trip, here, there, cut) : reached;
}

static enum reached trip_put(struct trip *trip)
{
	uint32_t blocks = trip->what->kind == KIND_PIGGYBACK ? 1 : trip->what->memory.blocks;
	uint64_t stride = blocks > 1 ? trip->what->memory.stride : 0;
	enum reached reached = REACHED;

	for (uint32_t i = 0; i < blocks && reached == REACHED; i++)
		reached = put_block(trip, trip->here + i * stride, trip->there + i * stride, trip->what->length);
	return reached;
}

/* A request or an answer that is not written to memory. */
static enum reached trip_ask(struct trip *trip, bool back, uint32_t bytes)
{
	struct net_message message = {.from = back ? trip->to : trip->from,
				      .to = back ? trip->from : trip->to,
				      .class = back ? NET_REPLY : NET_REQUEST,
				      .bytes = bytes};
	struct label label = {0, NOBODY, 0, 0, 0};
	uint64_t words[2] = {0, 0};

	return carry_message(trip->nic, &message, &label, words, &trip->time);
}

static enum reached get_block(struct trip *trip, uint64_t here, uint64_t there, uint64_t bytes)
{
	static _Thread_local char chunk[CHUNK];
	enum reached reached = REACHED;

	for (uint64_t at = 0; at < bytes && reached == REACHED; at += CHUNK) {
		uint32_t length = (uint32_t)(bytes - at < CHUNK ? bytes - at : CHUNK);
		struct net_message message = {.from = trip->to, .to = trip->from, .class = NET_REPLY, .bytes = length};
		struct label label = {here + at, trip->nic->rank, 0, 0, trip->strong};
		struct piece piece = {chunk, there + at, length};

		reached = reach_read(trip->nic, trip->rank, &piece, 1);
		if (reached == REACHED)
			reached = carry_message(trip->nic, &message, &label, chunk, &trip->time);
	}
	return reached;
}

static enum reached trip_get(struct trip *trip)
{
	uint32_t blocks = trip->what->memory.blocks;
	uint64_t stride = blocks > 1 ? trip->what->memory.stride : 0;
	enum reached reached = trip_ask(trip, false, 0);

	for (uint32_t i = 0; i < blocks && reached == REACHED; i++)
		reached = get_block(trip, trip->here + i * stride, trip->there + i * stride, trip->what->length);
	return reached;
}

static enum reached trip_change(struct trip *trip, uint64_t *value)
{
	enum reached reached = trip_ask(trip, false, 2 * sizeof *value);

	if (reached == REACHED)
		reached = reach_change(trip->nic, trip->rank, trip->there, trip->what, value);
	return reached == REACHED ? trip_ask(trip, true, sizeof *value) : reached;
}

static enum reached trip_run(struct trip *trip, uint64_t *value)
{
	switch (trip->what->kind) {
	case KIND_GET: return trip_get(trip);
	case KIND_ARMW: return trip_change(trip, value);
	default: return trip_put(trip);
	}
}

static void packets_carry(struct vcq *from, const struct descriptor *what, void *cbdata, bool strong)
{
	struct nic *nic = from->nic;
	struct trip trip = {.nic = nic,
			    .vcq = from,
			    .what = what,
			    .strong = strong,
			    .time = atomic_load_explicit(&nic->clock, memory_order_relaxed)};
	uint64_t span = descriptor_span(what), value = 0;
	struct shared_vcq *to;
	uint32_t number;
	int code = what->kind == KIND_NOP ? UTOFU_SUCCESS : carry_here(from, what, span, &trip.here);

	if (what->kind == KIND_NOP || code) {
		nic_sent(from, what, cbdata, code);
		return;
	}
	to = vcq_find(nic, what->vcq_id, &number);
	code = to ? carry_there(nic, to, number, what, span, &trip.there) : UTOFU_ERR_MRQ_PEER;
	if (!code) {
		trip.from = net_address_of(nic, shared_vcq_id(from->shared));
		trip.to = net_address_of(nic, shared_vcq_id(to));
		trip.rank = to->rank;
		code = carry_code(trip_run(&trip, &value));
	}
	nic_time = trip.time;
	nic_sent(from, what, cbdata, UTOFU_SUCCESS);
	nic_arrived(nic, from->shared, to, what, code, value);
}

const struct carrier packets_carrier = {"packets", packets_carry};

/* --- The network of the job --- */

void packets_report(struct nic *nic)
{
	net_report(job_net(nic), stderr);
}
