/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts, gets and messages between buffers that are not symmetric (rdma_buffers.c), and their events
 * (rdma_events.c).
 *
 * operation  an outstanding put or get of this PE, or a message that it has sent and no PE has
 *            received
 * event      another PE's report (comms/rdma/events.h): a put arrived here, a message is ready, or
 *            a PE has fetched a message of this one
 *
 * The receiver fetches a message when it has both the sender's event and memory for it, and then
 * the sender gets an event. So a message needs no memory of the library and goes straight from one
 * buffer to the other.
 *
 * All functions except waits hold the lock. A PE that waits for room in another's event queue
 * empties its own meanwhile, so there is no deadlock.
 */
#include "rdma.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "comms/rdma/events.h"
#include "comms/rdma/transfers.h"
#include "comms/wait/wait.h"

enum event_kind { EVENT_ARRIVED, EVENT_SENT, EVENT_GOT };
#define SHORT_EVENT offsetof(struct comms_event, operation)
#define ANSWER offsetof(struct comms_event, from)

struct operation {
	struct comms_request request;
	struct comms_event remote_event; /* for the target */
	shmemx_rdma_event_t event;
	uint64_t answer; /* of a get for a message: the sender's operation; 0: none */
	struct operation *next;
};

struct list {
	struct operation *first, **end;
};

/* Memory for a message, or a message without memory. */
struct waiting {
	struct comms_event event;
	char *address;
	size_t bytes;
	struct waiting *next;
};

struct queue {
	struct waiting *first, **end;
};

static struct {
	pthread_mutex_t lock;
	struct list under_way, sent;
	size_t unfinished; /* number of operations */
	struct queue posted, messages;
} rdma = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- Operations --- */

/* Turns an operation into an event. */
static struct operation *begin_operation(int kind, int pe, uint64_t word, void *address, size_t bytes,
					 const char *routine)
{
	struct operation *operation = rdma_memory(calloc(1, sizeof *operation), routine);

	if (rdma_events_count() + rdma.unfinished >= SHMEMX_RDMA_EVENTS)
		rte_die(routine,
			"%d events of this PE have not been taken, the maximum; take them with shmemx_rdma_wait or "
			"shmemx_rdma_test",
			SHMEMX_RDMA_EVENTS);
	rdma.unfinished++;
	operation->event = (shmemx_rdma_event_t){kind, pe, word, address, bytes};
	return operation;
}

static void end_operation(struct operation *operation, const char *routine)
{
	rdma.unfinished--;
	rdma_event_add(&operation->event, routine);
	free(operation);
}

static void add_operation(struct list *list, struct operation *operation)
{
	operation->next = NULL;
	if (!list->first)
		list->end = &list->first;
	*list->end = operation;
	list->end = &operation->next;
}

static void remove_from(struct list *list, struct operation **at)
{
	if (list->end == &(*at)->next)
		list->end = at;
	*at = (*at)->next;
}

static bool is_complete(const struct operation *operation)
{
	return !comms_request_is_under_way(&operation->request);
}

/* --- Events of other PEs --- */

static void append_waiting(struct queue *queue, const struct waiting *waiting, const char *routine)
{
	struct waiting *copy = rdma_memory(malloc(sizeof *copy), routine);

	*copy = *waiting;
	copy->next = NULL;
	if (!queue->first)
		queue->end = &queue->first;
	*queue->end = copy;
	queue->end = &copy->next;
}

static struct waiting take_first_waiting(struct queue *queue)
{
	struct waiting *first = queue->first, taken = *first;

	queue->first = first->next;
	free(first);
	return taken;
}

static void end_sent(struct operation *operation, const char *routine)
{
	struct operation **at = &rdma.sent.first;

	while (*at != operation)
		at = &(*at)->next;
	remove_from(&rdma.sent, at);
	end_operation(operation, routine);
}

static void handle_event(const struct comms_event *event, const char *routine)
{
	struct waiting message = {.event = *event};
	shmemx_rdma_event_t arrived = {SHMEMX_RDMA_ARRIVED, event->pe, event->word, (void *)(uintptr_t)event->address,
				       event->bytes};

	switch ((enum event_kind)event->kind) {
	case EVENT_ARRIVED: rdma_event_add(&arrived, routine); break;
	case EVENT_SENT: append_waiting(&rdma.messages, &message, routine); break;
	case EVENT_GOT: end_sent((struct operation *)(uintptr_t)event->operation, routine); break;
	}
}

static void handle_events(void)
{
	static const char routine[] = "shmemx_rdma_wait";
	struct comms_event event;

	while (comms_event_take(&event, routine))
		handle_event(&event, routine);
}

/* --- Progress --- */

static void send_event(int pe, const struct comms_event *event, size_t bytes, const char *routine)
{
	const struct comms_posted_event posted_event = {event, bytes, comms_event_number(pe, handle_events, routine)};

	comms_event_send(pe, &posted_event, routine);
}

static void answer_sender(const struct operation *operation, const char *routine)
{
	const struct comms_event event = {.kind = EVENT_GOT, .pe = comms.pe, .operation = operation->answer};

	send_event(operation->event.pe, &event, ANSWER, routine);
}

/* Turns completed operations into events, in the order in which they began. */
static bool finish_operations(const char *routine)
{
	bool some = false;

	for (struct operation **at = &rdma.under_way.first; *at;) {
		struct operation *operation = *at;

		if (!is_complete(operation)) {
			at = &operation->next;
			continue;
		}
		remove_from(&rdma.under_way, at);
		if (operation->answer)
			answer_sender(operation, routine);
		end_operation(operation, routine);
		some = true;
	}
	return some;
}

static void receive_message(const struct comms_event *event, const struct waiting *posted, const char *routine)
{
	struct operation *operation;

	if (event->bytes > posted->bytes) {
		rte_misuse(routine,
			   "a message of %llu bytes came from PE %d to memory of %zu bytes; give "
			   "shmemx_rdma_receive memory for all bytes sent",
			   (unsigned long long)event->bytes, event->pe, posted->bytes);
		return;
	}
	operation =
		begin_operation(SHMEMX_RDMA_RECEIVED, event->pe, event->word, posted->address, event->bytes, routine);
	operation->answer = event->operation;
	comms_buffer_get(&operation->request, &(struct comms_transfer){&event->from, event->address - event->from.base,
								       event->bytes, posted->address, routine});
	add_operation(&rdma.under_way, operation);
}

static void collect_events(const char *routine)
{
	do {
		handle_events();
		while (rdma.posted.first && rdma.messages.first) {
			struct waiting posted = take_first_waiting(&rdma.posted),
				       message = take_first_waiting(&rdma.messages);

			receive_message(&message.event, &posted, routine);
		}
	} while (finish_operations(routine));
}

/* --- API --- */

API void shmemx_rdma_put(const shmemx_rdma_buffer_t *dest, size_t offset, const void *source, size_t bytes, int notify,
			 uint64_t word)
{
	const struct comms_buffer *to = rdma_buffer(dest);
	struct operation *operation;
	struct comms_posted_event posted_event = {.bytes = SHORT_EVENT};

	if (!rdma_check_buffer(to, "dest", offset, bytes, __func__))
		return;
	COMMS_CALL(__func__, bytes, to->pe);
	pthread_mutex_lock(&rdma.lock);
	operation = begin_operation(SHMEMX_RDMA_SENT, to->pe, word, (void *)(uintptr_t)source, bytes, __func__);
	operation->remote_event = (struct comms_event){EVENT_ARRIVED, comms.pe, word, to->base + offset, bytes, 0, {0}};
	posted_event.event = &operation->remote_event;
	if (notify)
		posted_event.number = comms_event_number(to->pe, handle_events, __func__);
	comms_buffer_put(&operation->request,
			 &(struct comms_transfer){to, offset, bytes, (void *)(uintptr_t)source, __func__},
			 notify ? &posted_event : NULL);
	add_operation(&rdma.under_way, operation);
	pthread_mutex_unlock(&rdma.lock);
}

API void shmemx_rdma_get(void *dest, const shmemx_rdma_buffer_t *source, size_t offset, size_t bytes, uint64_t word)
{
	const struct comms_buffer *from = rdma_buffer(source);
	struct operation *operation;

	if (!rdma_check_buffer(from, "source", offset, bytes, __func__))
		return;
	COMMS_CALL(__func__, bytes, from->pe);
	pthread_mutex_lock(&rdma.lock);
	operation = begin_operation(SHMEMX_RDMA_GOT, from->pe, word, dest, bytes, __func__);
	comms_buffer_get(&operation->request, &(struct comms_transfer){from, offset, bytes, dest, __func__});
	add_operation(&rdma.under_way, operation);
	pthread_mutex_unlock(&rdma.lock);
}

/* The operation ends when the receiver reports it, without a transfer here. */
API void shmemx_rdma_send(int pe, const shmemx_rdma_buffer_t *source, size_t offset, size_t bytes, uint64_t word)
{
	const struct comms_buffer *from = rdma_buffer(source);
	struct comms_event event = {EVENT_SENT, comms.pe, word, 0, bytes, 0, {0}};
	struct operation *operation;

	if (!rdma_check_buffer(from, "source", offset, bytes, __func__) || !rdma_check_mine(from, "source", __func__) ||
	    !comms_check_pe(pe, __func__))
		return;
	COMMS_CALL(__func__, bytes, pe);
	event.from = *from;
	event.address = from->base + offset;
	pthread_mutex_lock(&rdma.lock);
	operation = begin_operation(SHMEMX_RDMA_SENT, pe, word, (void *)(uintptr_t)event.address, bytes, __func__);
	add_operation(&rdma.sent, operation);
	event.operation = (uint64_t)(uintptr_t)operation;
	send_event(pe, &event, sizeof event, __func__);
	pthread_mutex_unlock(&rdma.lock);
}

API void shmemx_rdma_receive(const shmemx_rdma_buffer_t *dest, size_t offset, size_t bytes)
{
	const struct comms_buffer *to = rdma_buffer(dest);
	struct waiting posted = {.bytes = bytes};

	if (!rdma_check_buffer(to, "dest", offset, bytes, __func__) || !rdma_check_mine(to, "dest", __func__))
		return;
	COMMS_CALL(__func__, bytes, COMMS_NOBODY);
	posted.address = (char *)(uintptr_t)to->base + offset;
	pthread_mutex_lock(&rdma.lock);
	append_waiting(&rdma.posted, &posted, __func__);
	pthread_mutex_unlock(&rdma.lock);
}

static bool next_event(shmemx_rdma_event_t *event, const char *routine)
{
	bool taken;

	pthread_mutex_lock(&rdma.lock);
	if (rdma_events_count() == 0)
		collect_events(routine);
	taken = rdma_event_take(event);
	pthread_mutex_unlock(&rdma.lock);
	return taken;
}

API int shmemx_rdma_test(shmemx_rdma_event_t *event)
{
	COMMS_CALL_OR(1, __func__, 0, COMMS_NOBODY);
	comms_check_up(__func__);
	if (next_event(event, __func__))
		return 1;
	comms_spin();
	return next_event(event, __func__);
}

/* Another thread, which holds the lock, may be about to change what this one waits for. */
static bool something_came(void)
{
	bool came;

	if (pthread_mutex_trylock(&rdma.lock))
		return true;
	came = rdma_events_count() > 0 || comms_event_waits();
	for (struct operation *operation = rdma.under_way.first; operation && !came; operation = operation->next)
		came = is_complete(operation);
	pthread_mutex_unlock(&rdma.lock);
	return came;
}

API void shmemx_rdma_wait(shmemx_rdma_event_t *event)
{
	COMMS_CALL(__func__, 0, COMMS_NOBODY);
	comms_check_up(__func__);
	while (!next_event(event, __func__)) {
		if (rte_is_broken()) {
			*event = (shmemx_rdma_event_t){.pe = -1};
			return;
		}
		hang_note_peer(__func__, "an event", COMMS_NOBODY);
		COMMS_WAIT(comms_event_next(), something_came());
	}
}

/* --- The end --- */

static bool all_are_complete(void)
{
	for (struct operation *operation = rdma.under_way.first; operation; operation = operation->next)
		if (!is_complete(operation))
			return false;
	return true;
}

void api_rdma_finish(const char *routine)
{
	hang_note_peer(routine, "the end of its own puts and gets", COMMS_NOBODY);
	COMMS_WAIT(COMMS_NOWHERE, all_are_complete());
}

static void free_operations(struct list *list)
{
	while (list->first) {
		struct operation *next = list->first->next;

		free(list->first);
		list->first = next;
	}
}

void api_rdma_stop(void)
{
	free_operations(&rdma.under_way);
	free_operations(&rdma.sent);
	while (rdma.posted.first)
		take_first_waiting(&rdma.posted);
	while (rdma.messages.first)
		take_first_waiting(&rdma.messages);
	rdma_events_forget();
	rdma.unfinished = 0;
	comms_buffers_stop();
}
