/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests to PEs whose heap on the GPU this process cannot map. A parcel is a header, and the data
 * of a put, in a slot of the target's host memory; it travels as a put with signal, so any network
 * carries it. A thread of the target's library carries out the parcels of each PE in their order
 * and answers by a number: the parcels carried out so far. So:
 *
 * sent - done <= SLOTS   the sender waits before it uses a slot again
 * quiet                  waits until done is sent, for all PEs
 * a get, or an atomic    waits for its own number; the reply is in a slot here by then
 *
 * The box is symmetric memory, at the same offset on all PEs. Only PEs that send touch its pages.
 */
#include <stdlib.h>
#include <string.h>

#include "comms/core/sanitizer.h"
#include "comms/ops/carry.h"
#include "comms/ops/ops.h"
#include "comms/wait/hang.h"
#include "comms/wait/wait.h"
#include "gpu_inside.h"
#include "rte/rte.h"

#define SLOTS 4
#define OUTS 2
#define BOX_MOST (64UL << 20)
#define SLOT_MOST (256UL << 10)
#define SLOT_LEAST (4UL << 10)
#define LINE 64
#define IN_PLACE_FROM (16UL << 10)
#define POLLS 2000

enum parcel_kind { PARCEL_PUT, PARCEL_GET, PARCEL_AMO };

struct parcel {
	uint64_t kind, offset, bytes;
	/* Between blocks in the heap, and bytes of each; 0: there is one block. */
	uint64_t stride, block;
	uint64_t op, width, operand, compare; /* of an atomic */
	uint64_t signal_segment;	      /* 0: none; 1: on the GPU; else the segment plus 2 */
	uint64_t signal_offset, signal_value, signal_op;
	char data[];
};

/* Of this PE, by the other PE. Others write arrived and done. */
struct counts {
	_Alignas(LINE) _Atomic uint64_t arrived; /* number of the last parcel from that PE */
	_Atomic uint64_t done;			 /* of this PE's parcels there, those carried out */
};

static struct {
	size_t slot; /* bytes of a slot, header and data */
	struct counts *counts;
	char *in, *replies; /* SLOTS for each PE */
	char *out;	    /* two slots in which parcels are made, and one for a reply */
	/* By PE, of this PE's side. */
	_Atomic uint64_t *sent;
	uint64_t *handled;
	pthread_mutex_t lock; /* of sent and out */
	pthread_t thread;
	atomic_bool stop;
} parcels = {.lock = PTHREAD_MUTEX_INITIALIZER};

static size_t slot_bytes(void)
{
	size_t each = BOX_MOST / (2 * SLOTS * (size_t)comms.n_pes) / SLOT_LEAST * SLOT_LEAST;

	return each > SLOT_MOST ? SLOT_MOST : each < SLOT_LEAST ? SLOT_LEAST : each;
}

static size_t counts_bytes(void)
{
	return ((size_t)comms.n_pes * sizeof(struct counts) + 4095) / 4096 * 4096;
}

size_t parcels_box_bytes(void)
{
	return counts_bytes() + (2 * SLOTS * (size_t)comms.n_pes + OUTS + 1) * slot_bytes();
}

static char *slot_of(char *slots, int pe, uint64_t number)
{
	return slots + ((size_t)pe * SLOTS + number % SLOTS) * parcels.slot;
}

static size_t data_most(void)
{
	return parcels.slot - sizeof(struct parcel);
}

static uint64_t sent_to(int pe)
{
	return atomic_load_explicit(&parcels.sent[pe], memory_order_relaxed);
}

static uint64_t done_by(int pe)
{
	return atomic_load_explicit(&parcels.counts[pe].done, memory_order_acquire);
}

/*
 * What this process sends next takes effect after what it has sent. (comms_fence would wait for all
 * parcels.)
 */
static void order_behind(void)
{
	carry_fence(NULL);
	atomic_thread_fence(memory_order_release);
}

static void await_done(int pe, uint64_t number)
{
	if (done_by(pe) >= number)
		return;
	hang_note_word("a parcel to a GPU", &parcels.counts[pe].done, 8, false, ">=", number);
	COMMS_WAIT(&parcels.counts[pe].done, done_by(pe) >= number);
}

/* --- Sending: with the lock held --- */

static struct parcel *out_slot(uint64_t number)
{
	return (struct parcel *)(void *)(parcels.out + number % OUTS * parcels.slot);
}

/* Waits until the target has room for the next parcel. Returns where to make it. */
static struct parcel *begin(int pe)
{
	uint64_t number = sent_to(pe) + 1;

	if (number > SLOTS)
		await_done(pe, number - SLOTS);
	return out_slot(number);
}

/* Behind all parcels before it. Returns its number. */
static uint64_t send(const struct parcel *parcel, size_t data, int pe)
{
	uint64_t number = atomic_fetch_add_explicit(&parcels.sent[pe], 1, memory_order_relaxed) + 1;
	const struct comms_piece piece = {slot_of(parcels.in, comms.pe, number), parcel, sizeof *parcel + data};

	order_behind();
	comms_channel_put_signal(NULL, &piece,
				 &(struct comms_signal){(uint64_t *)&parcels.counts[comms.pe].arrived, number,
							COMMS_SWAP, false},
				 pe, "shmem_put");
	return number;
}

static void add_signal(struct parcel *parcel, const struct comms_device_signal *signal)
{
	enum comms_segment_id segment;

	parcel->signal_value = signal->value;
	parcel->signal_op = signal->op;
	if (gpu_in_heap(signal->word)) {
		parcel->signal_segment = 1;
		parcel->signal_offset = gpu_offset(signal->word);
		return;
	}
	segment = comms_find_segment(signal->word);
	parcel->signal_segment = 2 + (uint64_t)segment;
	parcel->signal_offset = (size_t)((char *)signal->word - comms.segments[segment].base);
}

static size_t part_at(size_t at, size_t bytes)
{
	return bytes - at < data_most() ? bytes - at : data_most();
}

static struct parcel header_of(size_t offset, size_t bytes)
{
	return (struct parcel){.kind = PARCEL_PUT, .offset = offset, .bytes = bytes};
}

/* While a parcel leaves, the GPU fills the next. */
static void put_from_gpu(size_t offset, const char *source, size_t bytes, const struct comms_device_signal *signal,
			 int pe)
{
	gpu_copy_begin(out_slot(sent_to(pe) + 1)->data, source, part_at(0, bytes));
	for (size_t at = 0; at < bytes; at += data_most()) {
		size_t now = part_at(at, bytes), next = at + now;
		struct parcel *parcel = begin(pe);

		gpu_copy_end();
		if (next < bytes)
			gpu_copy_begin(out_slot(sent_to(pe) + 2)->data, source + next, part_at(next, bytes));
		*parcel = header_of(offset + at, now);
		if (signal && next == bytes)
			add_signal(parcel, signal);
		send(parcel, now, pe);
	}
}

/* Data of the host travels from where it lies, if it is not so short that a copy costs less. */
static void put_from_host(size_t offset, const char *source, size_t bytes, const struct comms_device_signal *signal,
			  int pe)
{
	for (size_t at = 0; at < bytes; at += data_most()) {
		size_t now = part_at(at, bytes);
		struct parcel *parcel = begin(pe);
		char *there = slot_of(parcels.in, comms.pe, sent_to(pe) + 1);

		*parcel = header_of(offset + at, now);
		if (signal && at + now == bytes)
			add_signal(parcel, signal);
		if (now < IN_PLACE_FROM) {
			memcpy(parcel->data, source + at, now);
			send(parcel, now, pe);
		} else {
			comms_channel_put(NULL, there + sizeof *parcel, source + at, now, pe, "shmem_put");
			send(parcel, 0, pe);
		}
	}
}

void parcels_put(size_t offset, const void *source, size_t bytes, const struct comms_device_signal *signal, int pe)
{
	pthread_mutex_lock(&parcels.lock);
	if (comms.device->owns(source))
		put_from_gpu(offset, source, bytes, signal, pe);
	else
		put_from_host(offset, source, bytes, signal, pe);
	pthread_mutex_unlock(&parcels.lock);
}

/* As many requests are under way as there are slots. */
void parcels_get(void *dest, size_t offset, size_t bytes, int pe)
{
	size_t asked = 0, taken = 0;

	pthread_mutex_lock(&parcels.lock);
	while (taken < bytes) {
		uint64_t first = sent_to(pe) + 1;

		for (int i = 0; i < SLOTS && asked < bytes; i++) {
			size_t now = part_at(asked, bytes);
			struct parcel *parcel = begin(pe);

			*parcel = (struct parcel){.kind = PARCEL_GET, .offset = offset + asked, .bytes = now};
			send(parcel, 0, pe);
			asked += now;
		}
		for (uint64_t number = first; number <= sent_to(pe); number++) {
			size_t now = part_at(taken, bytes);

			await_done(pe, number);
			gpu_copy((char *)dest + taken, slot_of(parcels.replies, pe, number), now);
			taken += now;
		}
	}
	pthread_mutex_unlock(&parcels.lock);
}

/* --- Blocks: as many in a parcel as there is room for --- */

static size_t blocks_at_once(const struct comms_device_blocks *b, size_t done)
{
	size_t most = data_most() / b->block;

	return b->count - done < most ? b->count - done : most;
}

static struct parcel blocks_header(enum parcel_kind kind, size_t offset, size_t stride, size_t block, size_t count)
{
	return (struct parcel){.kind = kind,
			       .offset = offset,
			       .bytes = block * count,
			       .stride = stride,
			       .block = block};
}

void parcels_put_blocks(size_t offset, const struct comms_device_blocks *b, int pe)
{
	const char *source = b->source;

	for (size_t i = 0; b->block > data_most() && i < b->count; i++)
		parcels_put(offset + i * b->dest_stride, source + i * b->source_stride, b->block, NULL, pe);
	if (b->block > data_most())
		return;
	pthread_mutex_lock(&parcels.lock);
	for (size_t i = 0, now; i < b->count; i += now) {
		struct parcel *parcel = begin(pe);

		now = blocks_at_once(b, i);
		*parcel = blocks_header(PARCEL_PUT, offset + i * b->dest_stride, b->dest_stride, b->block, now);
		gpu_copy_blocks(parcel->data, b->block, source + i * b->source_stride, b->source_stride, b->block, now);
		send(parcel, b->block * now, pe);
	}
	pthread_mutex_unlock(&parcels.lock);
}

void parcels_get_blocks(size_t offset, const struct comms_device_blocks *b, int pe)
{
	char *dest = b->dest;

	for (size_t i = 0; b->block > data_most() && i < b->count; i++)
		parcels_get(dest + i * b->dest_stride, offset + i * b->source_stride, b->block, pe);
	if (b->block > data_most())
		return;
	pthread_mutex_lock(&parcels.lock);
	for (size_t i = 0, now; i < b->count; i += now) {
		struct parcel *parcel = begin(pe);
		uint64_t number;

		now = blocks_at_once(b, i);
		*parcel = blocks_header(PARCEL_GET, offset + i * b->source_stride, b->source_stride, b->block, now);
		number = send(parcel, 0, pe);
		await_done(pe, number);
		gpu_copy_blocks(dest + i * b->dest_stride, b->dest_stride, slot_of(parcels.replies, pe, number),
				b->block, b->block, now);
	}
	pthread_mutex_unlock(&parcels.lock);
}

uint64_t parcels_amo(size_t offset, const struct comms_atomic *atomic, int pe)
{
	struct parcel *parcel;
	uint64_t number, old;

	pthread_mutex_lock(&parcels.lock);
	parcel = begin(pe);
	*parcel = (struct parcel){
		.kind = PARCEL_AMO,
		.offset = offset,
		.op = atomic->op,
		.width = atomic->width,
		.operand = atomic->operand,
		.compare = atomic->compare,
	};
	number = send(parcel, 0, pe);
	await_done(pe, number);
	memcpy(&old, slot_of(parcels.replies, pe, number), sizeof old);
	pthread_mutex_unlock(&parcels.lock);
	return old;
}

void parcels_quiet(void)
{
	for (int pe = 0; pe < comms.n_pes; pe++)
		await_done(pe, sent_to(pe));
}

/* --- Carrying out: the thread --- */

static void change_signal(const struct parcel *parcel)
{
	const struct comms_atomic atomic = {(enum comms_amo)parcel->signal_op, 8, parcel->signal_value, 0};

	if (parcel->signal_segment == 0)
		return;
	if (parcel->signal_segment == 1) {
		gpu_atomic(gpu.heap + parcel->signal_offset, &atomic);
		comms_wake(comms_peer(comms.pe));
		return;
	}
	comms_amo(comms.segments[parcel->signal_segment - 2].base + parcel->signal_offset, atomic, comms.pe,
		  "shmem_put_signal");
}

/* The reply and the count arrive together, behind all counts before. */
static void reply(int pe, uint64_t number, const void *data, size_t bytes)
{
	const struct comms_piece piece = {slot_of(parcels.replies, comms.pe, number), data, bytes};

	order_behind();
	comms_channel_put_signal(NULL, &piece,
				 &(struct comms_signal){(uint64_t *)&parcels.counts[comms.pe].done, number, COMMS_SWAP,
							false},
				 pe, "shmem_get");
}

static void copy_part(char *dest, size_t dest_stride, const char *source, size_t source_stride,
		      const struct parcel *parcel)
{
	if (parcel->block == 0)
		gpu_copy(dest, source, parcel->bytes);
	else
		gpu_copy_blocks(dest, dest_stride, source, source_stride, parcel->block, parcel->bytes / parcel->block);
}

static void carry_out(int pe, uint64_t number, const struct parcel *parcel)
{
	const struct comms_atomic atomic = {(enum comms_amo)parcel->op, parcel->width, parcel->operand,
					    parcel->compare};
	char *there = gpu.heap + parcel->offset, *out = parcels.out + OUTS * parcels.slot;
	uint64_t old;

	switch (parcel->kind) {
	case PARCEL_PUT:
		copy_part(there, parcel->stride, parcel->data, parcel->block, parcel);
		change_signal(parcel);
		order_behind();
		comms_amo(&parcels.counts[comms.pe].done, (struct comms_atomic){COMMS_SWAP, 8, number, 0}, pe,
			  "shmem_put");
		break;
	case PARCEL_GET:
		copy_part(out, parcel->block, there, parcel->stride, parcel);
		reply(pe, number, out, parcel->bytes);
		break;
	case PARCEL_AMO:
		old = gpu_atomic(there, &atomic);
		comms_wake(comms_peer(comms.pe));
		reply(pe, number, &old, sizeof old);
		break;
	}
}

static bool carry_out_some(void)
{
	bool some = false;

	for (int pe = 0; pe < comms.n_pes; pe++)
		while (parcels.handled[pe] < atomic_load_explicit(&parcels.counts[pe].arrived, memory_order_acquire)) {
			uint64_t number = ++parcels.handled[pe];

			carry_out(pe, number, (struct parcel *)(void *)slot_of(parcels.in, pe, number));
			some = true;
		}
	return some;
}

static void *serve(void *unused)
{
	unsigned polls = POLLS;

	SANITIZER_IGNORE();
	while (!atomic_load_explicit(&parcels.stop, memory_order_acquire)) {
		uint32_t key;

		if (carry_out_some()) {
			polls = POLLS;
			continue;
		}
		if (polls > 0) {
			polls--;
			comms_spin();
			continue;
		}
		key = comms_sleep_prepare(COMMS_ANYWHERE);
		if (carry_out_some() || atomic_load_explicit(&parcels.stop, memory_order_relaxed)) {
			comms_sleep_cancel();
			continue;
		}
		comms_sleep_idle(key, 0);
		polls = 1;
	}
	SANITIZER_HEED();
	return unused;
}

/* --- Start and stop --- */

void parcels_start(void *box)
{
	size_t n = (size_t)comms.n_pes;
	int problem;

	parcels.slot = slot_bytes();
	parcels.counts = box;
	parcels.in = (char *)box + counts_bytes();
	parcels.replies = parcels.in + SLOTS * n * parcels.slot;
	parcels.out = parcels.replies + SLOTS * n * parcels.slot;
	memset((void *)parcels.counts, 0, n * sizeof *parcels.counts);
	parcels.sent = calloc(n, sizeof *parcels.sent);
	parcels.handled = calloc(n, sizeof *parcels.handled);
	if (!parcels.sent || !parcels.handled)
		rte_die("shmem_init_thread", "no memory");
	atomic_store_explicit(&parcels.stop, false, memory_order_relaxed);
	problem = rte_start_thread(&parcels.thread, serve);
	if (problem)
		rte_die("shmem_init_thread", "no thread to serve the heap on the GPU (%s); raise ulimit -u",
			strerror(problem));
}

void parcels_stop(void)
{
	atomic_store_explicit(&parcels.stop, true, memory_order_release);
	comms_wake(comms_peer(comms.pe));
	pthread_join(parcels.thread, NULL);
	free(parcels.sent);
	free(parcels.handled);
}
