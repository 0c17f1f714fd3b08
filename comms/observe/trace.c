/* SPDX-License-Identifier: BSD-3-Clause */
/* Recording. All threads share one lock: traced jobs need no exact times. */
#include "trace.h"

#include <pthread.h>
#include <string.h>

#include "rte/rte.h"
#include "rte/settings.h"

#define NAMES 1024 /* names by their addresses; a power of two */

static struct {
	pthread_mutex_t lock;
	struct trace_ring *ring;
	long events;
	uint64_t unsettled; /* no earlier message waits for a quiet */
	struct {
		const char *routine;
		int64_t number;
	} names[NAMES];
} recorder = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The last message of this thread. */
static _Thread_local struct {
	bool exists;
	uint64_t number;
	uint32_t carried; /* to be carried by the next network message, 0: none */
} thread_message __attribute__((tls_model("initial-exec")));

bool trace_start(void)
{
	setting_number(SETTING_TRACE_EVENTS, &recorder.events);
	return setting_text(SETTING_TRACE)[0] != '\0';
}

uint64_t trace_events(void)
{
	return (uint64_t)recorder.events;
}

void trace_use(struct trace_ring *memory, uint64_t capacity)
{
	pthread_mutex_lock(&recorder.lock);
	recorder.ring = memory;
	recorder.unsettled = 0;
	memset(recorder.names, 0, sizeof recorder.names);
	if (recorder.ring) {
		memset(recorder.ring, 0, trace_ring_bytes(capacity));
		recorder.ring->pe = comms.pe;
		recorder.ring->n_pes = comms.n_pes;
		recorder.ring->capacity = capacity;
		recorder.ring->started = counters_clock();
		recorder.ring->magic = TRACE_MAGIC;
	}
	pthread_mutex_unlock(&recorder.lock);
}

static uint64_t events_recorded(void)
{
	return atomic_load_explicit(&recorder.ring->recorded, memory_order_relaxed);
}

static struct trace_event *recorded_event(uint64_t number)
{
	return &recorder.ring->event[number % recorder.ring->capacity];
}

/* Counts the event after writing it: oshrun reads the part of a PE that is killed in between. */
static void record_event(struct trace_event event)
{
	*recorded_event(events_recorded()) = event;
	atomic_store_explicit(&recorder.ring->recorded, events_recorded() + 1, memory_order_release);
}

/* --- Calls --- */

/* Names that find no free slot share the last one. */
static int64_t add_name(const char *routine, enum counters_category category)
{
	int64_t number = 0, names = (int64_t)recorder.ring->names;
	const char *user = strncmp(routine, "pshmem_", 7) ? routine : routine + 1;

	while (number < names &&
	       strncmp(recorder.ring->name[number].routine, user, sizeof recorder.ring->name[0].routine - 1))
		number++;
	if (number == TRACE_NAMES)
		return TRACE_NAMES - 1;
	if (number == names) {
		strncpy(recorder.ring->name[number].routine, user, sizeof recorder.ring->name[0].routine - 1);
		strncpy(recorder.ring->name[number].category, counters_row_name(category),
			sizeof recorder.ring->name[0].category - 1);
		recorder.ring->names++;
	}
	return number;
}

static int64_t number_of_name(const char *routine, enum counters_category category)
{
	size_t place = ((uint64_t)(uintptr_t)routine * 0x9e3779b97f4a7c15 >> 40) & (NAMES - 1);

	if (recorder.names[place].routine != routine) {
		recorder.names[place].number = add_name(routine, category);
		recorder.names[place].routine = routine;
	}
	return recorder.names[place].number;
}

/*
 * Calls that read memory of this PE, by which the program can see a message before the sender knows
 * that it has arrived. A barrier or collective ends after its members have entered, and they enter
 * after the quiet that belongs to it.
 */
static bool polls_here(enum counters_category category, int pe)
{
	switch (category) {
	case CATEGORY_GET:
	case CATEGORY_GET_NBI:
	case CATEGORY_G:
	case CATEGORY_IGET:
	case CATEGORY_ATOMIC_FETCH:
	case CATEGORY_ATOMIC_NBI: return pe == comms.pe || pe == COMMS_NOBODY;
	case CATEGORY_SIGNAL:
	case CATEGORY_WAIT:
	case CATEGORY_TEST:
	case CATEGORY_LOCK:
	case CATEGORY_EXCHANGE:
	case CATEGORY_PLAN:
	case CATEGORY_RDMA:
	case CATEGORY_OTHER: return true;
	default: return false;
	}
}

void trace_begin(struct trace_call *call)
{
	call->position = 0;
	pthread_mutex_lock(&recorder.lock);
	if (recorder.ring) {
		call->position = events_recorded();
		recorder.ring->unfinished = 0;
		atomic_signal_fence(memory_order_seq_cst);
		recorder.ring->doing =
			(struct trace_event){call->began, 0,	    number_of_name(call->routine, call->category),
					     call->bytes, call->pe, TRACE_CALL,
					     0,		  0,	    0};
		atomic_signal_fence(memory_order_seq_cst);
		recorder.ring->unfinished = 1;
	}
	pthread_mutex_unlock(&recorder.lock);
}

/* Calls that return when their data has arrived. */
static bool is_blocking_get(enum counters_category category)
{
	return category == CATEGORY_GET || category == CATEGORY_G || category == CATEGORY_IGET;
}

/* The data that this call fetched has arrived. The arrow ends at a time inside the call. */
static void settle_gets(uint64_t from, uint64_t end, bool network)
{
	if (events_recorded() - from > recorder.ring->capacity)
		from = events_recorded() - recorder.ring->capacity;
	for (; from < events_recorded(); from++) {
		struct trace_event *e = recorded_event(from);

		if (e->kind != TRACE_MESSAGE || e->away || e->detail != TRACE_UNKNOWN || !(e->local || network))
			continue;
		e->end = end - (end > e->begin);
		e->detail = TRACE_SURE;
	}
}

void trace_call(const struct trace_call *call, uint64_t end)
{
	pthread_mutex_lock(&recorder.lock);
	if (recorder.ring) {
		settle_gets(call->position, end, is_blocking_get(call->category));
		recorder.ring->unfinished = 0;
		record_event((struct trace_event){call->began, end, number_of_name(call->routine, call->category),
						  call->bytes, call->pe, TRACE_CALL,
						  polls_here(call->category, call->pe), 0, 0});
	}
	pthread_mutex_unlock(&recorder.lock);
}

/* --- Messages --- */

void trace_message(bool local, enum counters_side side, int pe, size_t bytes)
{
	pthread_mutex_lock(&recorder.lock);
	thread_message.exists = recorder.ring != NULL;
	thread_message.carried = 0;
	if (recorder.ring) {
		thread_message.number = events_recorded();
		thread_message.carried = local || side != SIDE_THERE ? 0 : (uint32_t)(thread_message.number + 1);
		record_event((struct trace_event){counters_clock(), 0, 0, bytes, pe, TRACE_MESSAGE, TRACE_UNKNOWN,
						  local, side == SIDE_THERE});
	}
	pthread_mutex_unlock(&recorder.lock);
}

void trace_no_message(void)
{
	thread_message.exists = false;
	thread_message.carried = 0;
}

/* NULL: there is none, or the ring has overwritten it. Call with the lock held. */
static struct trace_event *last_message(void)
{
	if (!recorder.ring || !thread_message.exists || events_recorded() <= thread_message.number ||
	    events_recorded() - thread_message.number > recorder.ring->capacity)
		return NULL;
	return recorded_event(thread_message.number);
}

void trace_add(size_t bytes)
{
	struct trace_event *e;

	pthread_mutex_lock(&recorder.lock);
	e = last_message();
	if (e)
		e->bytes += bytes;
	pthread_mutex_unlock(&recorder.lock);
}

void trace_stored(bool sure)
{
	struct trace_event *e;
	uint64_t now;

	atomic_thread_fence(memory_order_seq_cst); /* the store is visible to other PEs */
	now = counters_clock();
	pthread_mutex_lock(&recorder.lock);
	e = last_message();
	if (e) {
		e->end = now;
		e->detail = sure ? TRACE_SURE : TRACE_LATEST;
	}
	pthread_mutex_unlock(&recorder.lock);
}

static void set_message_key(int64_t key)
{
	struct trace_event *e;

	pthread_mutex_lock(&recorder.lock);
	e = last_message();
	if (e)
		e->key = key;
	pthread_mutex_unlock(&recorder.lock);
}

/*
 * Keys of flags are odd, those of channels even; 1 belongs to no flag, and no quiet completes it.
 */
void trace_set_channel(const void *channel)
{
	set_message_key(channel ? (int64_t)(uintptr_t)channel : 2);
}

static int64_t flag_key(const void *flag, uint64_t value)
{
	return trace_flag_key((uint64_t)((const char *)flag - comms.segments[COMMS_HEAP].base), value);
}

void trace_set_flag(const void *flag, uint64_t value)
{
	set_message_key(flag_key(flag, value));
}

uint32_t trace_take_event(void)
{
	uint32_t carried = thread_message.carried;

	thread_message.carried = 0;
	return carried;
}

void trace_quiet(const void *channel)
{
	int64_t key = channel ? (int64_t)(uintptr_t)channel : 2;
	uint64_t now = counters_clock(), first = UINT64_MAX;

	pthread_mutex_lock(&recorder.lock);
	if (recorder.ring && recorder.unsettled < trace_first(recorder.ring))
		recorder.unsettled = trace_first(recorder.ring);
	for (uint64_t i = recorder.unsettled; recorder.ring && i < events_recorded(); i++) {
		struct trace_event *e = recorded_event(i);

		if (e->kind != TRACE_MESSAGE || e->detail != TRACE_UNKNOWN)
			continue;
		if (e->key == key) {
			e->end = now;
			e->detail = e->away ? TRACE_LATEST : TRACE_SURE;
		} else if (e->key && !(e->key & 1) && first == UINT64_MAX) {
			first = i; /* another channel's */
		}
	}
	if (recorder.ring)
		recorder.unsettled = first == UINT64_MAX ? events_recorded() : first;
	pthread_mutex_unlock(&recorder.lock);
}

static void record_arrival_or_flag(enum trace_kind kind, int pe, int64_t key)
{
	pthread_mutex_lock(&recorder.lock);
	if (recorder.ring)
		record_event((struct trace_event){counters_clock(), 0, key, 0, pe, (uint8_t)kind, 0, 0, 0});
	pthread_mutex_unlock(&recorder.lock);
}

void trace_arrival(int pe, uint32_t event)
{
	record_arrival_or_flag(TRACE_ARRIVAL, pe, event);
}

void trace_flag(int pe, const void *flag, uint64_t value)
{
	record_arrival_or_flag(TRACE_FLAG, pe, flag_key(flag, value));
}
