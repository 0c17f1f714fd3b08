/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that are one put. The receiver's queue gets a notice when the complete put has arrived.
 * The notice's edata is a number that the receiver gave out, which selects the word of its memory
 * that counts the message. As the edata is the receiver's, the sender cannot store its own number
 * there; it asks for the notice that the data has left instead. Strong order keeps messages, and
 * puts before them, in order.
 *
 * Notices wait in the queue while the receiver computes. At most two messages of a sender are not
 * released by the receiver, and there are at most 255 numbers, so the queue cannot overflow.
 *
 * Progress reads every notice, also of messages of the next iteration. For a recorded run, the PE
 * therefore says which messages it needs.
 *
 * The sender learns that data has arrived only when it must, before memory is released: it sends
 * one more put in the same order and asks for the notice of its arrival.
 */
#include "comms/observe/trace.h"
#include "tofu_inside.h"

static struct listener {
	_Atomic uint64_t *word; /* NULL: this number is free */
	uint64_t value, step;
	int pe;
} listeners[TOFU_TNIS][TOFU_REQUESTS + 1];

static void record_when_needed(const struct comms_peer *from, uint8_t notice, bool on)
{
	if (softofu.record_when_needed)
		atomic_store_explicit(&tofu.is_recorded,
				      softofu.record_when_needed(tofu.queue[tofu_peer(from)->tni].vcq, notice, on),
				      memory_order_relaxed);
}

uint8_t tofu_completion_listen(struct comms_peer *from, _Atomic uint64_t *word, uint64_t value, uint64_t step)
{
	struct listener *mine = listeners[tofu_peer(from)->tni];
	int number = 1;

	tofu_lock();
	while (number <= TOFU_REQUESTS && mine[number].word)
		number++;
	if (number <= TOFU_REQUESTS) {
		mine[number] = (struct listener){word, value, step, from->pe};
		atomic_fetch_add_explicit(&tofu.queue[tofu_peer(from)->tni].listeners, 1, memory_order_seq_cst);
		record_when_needed(from, (uint8_t)number, true);
	}
	tofu_unlock();
	return number <= TOFU_REQUESTS ? (uint8_t)number : 0;
}

/* No thread waits for notices still in the queue. */
void tofu_completion_release(struct comms_peer *from, uint8_t notice)
{
	struct tofu_queue *queue = &tofu.queue[tofu_peer(from)->tni];

	tofu_lock();
	while (tofu_take_notice(queue))
		;
	listeners[tofu_peer(from)->tni][notice].word = NULL;
	record_when_needed(from, notice, false);
	atomic_fetch_sub_explicit(&queue->listeners, 1, memory_order_seq_cst);
	tofu_unlock();
}

void tofu_needed(struct comms_peer *from, uint8_t notice)
{
	if (!atomic_load_explicit(&tofu.is_recorded, memory_order_relaxed))
		return;
	tofu_lock();
	softofu.record_needed(tofu.queue[tofu_peer(from)->tni].vcq, notice);
	tofu_unlock();
}

void tofu_completion_arrived(const struct tofu_queue *queue, uint8_t notice)
{
	struct listener *listener = &listeners[queue - tofu.queue][notice];

	atomic_fetch_add_explicit(&tofu.received, 1, memory_order_relaxed);
	if (!listener->word)
		return;
	if (COMMS_UNLIKELY(comms.traced))
		trace_flag(listener->pe, listener->word, listener->value);
	atomic_store_explicit(listener->word, listener->value, memory_order_release);
	listener->value += listener->step;
}
