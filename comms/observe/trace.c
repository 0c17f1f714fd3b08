/* SPDX-License-Identifier: BSD-3-Clause */
/* Recording. All threads share one lock: a traced job is not measured to the nanosecond. */
#include "trace.h"

#include <pthread.h>
#include <string.h>

#include "rte/rte.h"
#include "rte/settings.h"

#define KNOWN 1024 /* names by their addresses; a power of two */

static pthread_mutex_t recording = PTHREAD_MUTEX_INITIALIZER;
static struct trace_ring *ring;
static long events;
static uint64_t unsettled; /* no message before this one waits for a quiet */

static struct {
	const char *routine;
	int64_t number;
} known[KNOWN];

/* The last message of this thread. */
static _Thread_local struct {
	bool exists;
	uint64_t number;
	uint32_t carried; /* by the next network message, 0: nothing */
} last __attribute__((tls_model("initial-exec")));

bool trace_start(void)
{
	bool wanted = setting_text(SETTING_TRACE)[0] != '\0';

	if (wanted && (!setting_number(SETTING_TRACE_EVENTS, &events) || events < 1))
		rte_die_together("shmem_init", "SHMEM_TRACE_EVENTS=%s: give a number of events",
				 setting_text(SETTING_TRACE_EVENTS));
	return wanted;
}

uint64_t trace_events(void)
{
	return (uint64_t)events;
}

void trace_use(struct trace_ring *memory, uint64_t capacity)
{
	pthread_mutex_lock(&recording);
	ring = memory;
	unsettled = 0;
	memset(known, 0, sizeof known);
	if (ring) {
		memset(ring, 0, trace_ring_bytes(capacity));
		ring->pe = comms.pe;
		ring->n_pes = comms.n_pes;
		ring->capacity = capacity;
		ring->started = counters_clock();
		ring->magic = TRACE_MAGIC;
	}
	pthread_mutex_unlock(&recording);
}

static uint64_t recorded(void)
{
	return atomic_load_explicit(&ring->recorded, memory_order_relaxed);
}

static struct trace_event *event_at(uint64_t number)
{
	return &ring->event[number % ring->capacity];
}

/* Counts the event after it is there: a PE may be killed between the two, and oshrun reads its part. */
static void record(struct trace_event event)
{
	*event_at(recorded()) = event;
	atomic_store_explicit(&ring->recorded, recorded() + 1, memory_order_release);
}

/* --- Calls --- */

/* All names that find no place share the last one. */
static int64_t add_name(const char *routine, enum counters_category category)
{
	int64_t number = 0, names = (int64_t)ring->names;
	const char *user = strncmp(routine, "pshmem_", 7) ? routine : routine + 1;

	while (number < names && strncmp(ring->name[number].routine, user, sizeof ring->name[0].routine - 1))
		number++;
	if (number == TRACE_NAMES)
		return TRACE_NAMES - 1;
	if (number == names) {
		strncpy(ring->name[number].routine, user, sizeof ring->name[0].routine - 1);
		strncpy(ring->name[number].category, counters_row_name(category), sizeof ring->name[0].category - 1);
		ring->names++;
	}
	return number;
}

static int64_t number_of_name(const char *routine, enum counters_category category)
{
	size_t place = ((uint64_t)(uintptr_t)routine * 0x9e3779b97f4a7c15 >> 40) & (KNOWN - 1);

	if (known[place].routine != routine) {
		known[place].number = add_name(routine, category);
		known[place].routine = routine;
	}
	return known[place].number;
}

/*
 * Calls by which the program can find a message before the sender knows that it has arrived: they read memory of this PE. A barrier or
 * a collective ends after its members have entered, and they enter after the quiet that belongs to it.
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
	pthread_mutex_lock(&recording);
	if (ring) {
		call->position = recorded();
		ring->unfinished = 0;
		atomic_signal_fence(memory_order_seq_cst);
		ring->doing = (struct trace_event){call->began, 0, number_of_name(call->routine, call->category), call->bytes,
						   call->pe, TRACE_CALL, 0, 0, 0};
		atomic_signal_fence(memory_order_seq_cst);
		ring->unfinished = 1;
	}
	pthread_mutex_unlock(&recording);
}

/* Calls that return when their data is here. */
static bool brings(enum counters_category category)
{
	return category == CATEGORY_GET || category == CATEGORY_G || category == CATEGORY_IGET;
}

/* The data that this call fetched is here. The arrow ends at an instant inside the call. */
static void settle_gets(uint64_t from, uint64_t end, bool network)
{
	if (recorded() - from > ring->capacity)
		from = recorded() - ring->capacity;
	for (; from < recorded(); from++) {
		struct trace_event *e = event_at(from);

		if (e->kind != TRACE_MESSAGE || e->away || e->detail != TRACE_UNKNOWN || !(e->local || network))
			continue;
		e->end = end - (end > e->begin);
		e->detail = TRACE_SURE;
	}
}

void trace_call(const struct trace_call *call, uint64_t end)
{
	pthread_mutex_lock(&recording);
	if (ring) {
		settle_gets(call->position, end, brings(call->category));
		ring->unfinished = 0;
		record((struct trace_event){call->began, end, number_of_name(call->routine, call->category), call->bytes, call->pe,
					    TRACE_CALL, polls_here(call->category, call->pe), 0, 0});
	}
	pthread_mutex_unlock(&recording);
}

/* --- Messages --- */

void trace_message(bool local, enum counters_side side, int pe, size_t bytes)
{
	pthread_mutex_lock(&recording);
	last.exists = ring != NULL;
	last.carried = 0;
	if (ring) {
		last.number = recorded();
		last.carried = local || side != SIDE_THERE ? 0 : (uint32_t)(last.number + 1);
		record((struct trace_event){counters_clock(), 0, 0, bytes, pe, TRACE_MESSAGE, TRACE_UNKNOWN, local,
					    side == SIDE_THERE});
	}
	pthread_mutex_unlock(&recording);
}

void trace_no_message(void)
{
	last.exists = false;
	last.carried = 0;
}

/* NULL: there is none, or the ring has lost it. Call with the lock held. */
static struct trace_event *last_message(void)
{
	if (!ring || !last.exists || recorded() <= last.number || recorded() - last.number > ring->capacity)
		return NULL;
	return event_at(last.number);
}

void trace_add(size_t bytes)
{
	struct trace_event *e;

	pthread_mutex_lock(&recording);
	e = last_message();
	if (e)
		e->bytes += bytes;
	pthread_mutex_unlock(&recording);
}

void trace_stored(bool sure)
{
	struct trace_event *e;
	uint64_t now;

	atomic_thread_fence(memory_order_seq_cst); /* the store is where others see it */
	now = counters_clock();
	pthread_mutex_lock(&recording);
	e = last_message();
	if (e) {
		e->end = now;
		e->detail = sure ? TRACE_SURE : TRACE_LATEST;
	}
	pthread_mutex_unlock(&recording);
}

static void set_key(int64_t key)
{
	struct trace_event *e;

	pthread_mutex_lock(&recording);
	e = last_message();
	if (e)
		e->key = key;
	pthread_mutex_unlock(&recording);
}

/* Keys of flags are odd, those of channels are not; 1 is no flag's, and no quiet completes it. */
void trace_set_channel(const void *channel)
{
	set_key(channel ? (int64_t)(uintptr_t)channel : 2);
}

static int64_t key_of(const void *flag, uint64_t value)
{
	return trace_flag_key((uint64_t)((const char *)flag - comms.segments[COMMS_HEAP].base), value);
}

void trace_set_flag(const void *flag, uint64_t value)
{
	set_key(key_of(flag, value));
}

uint32_t trace_take_event(void)
{
	uint32_t carried = last.carried;

	last.carried = 0;
	return carried;
}

void trace_quiet(const void *channel)
{
	int64_t key = channel ? (int64_t)(uintptr_t)channel : 2;
	uint64_t now = counters_clock(), first = UINT64_MAX;

	pthread_mutex_lock(&recording);
	if (ring && unsettled < trace_first(ring))
		unsettled = trace_first(ring);
	for (uint64_t i = unsettled; ring && i < recorded(); i++) {
		struct trace_event *e = event_at(i);

		if (e->kind != TRACE_MESSAGE || e->detail != TRACE_UNKNOWN)
			continue;
		if (e->key == key) {
			e->end = now;
			e->detail = e->away ? TRACE_LATEST : TRACE_SURE;
		} else if (e->key && !(e->key & 1) && first == UINT64_MAX) {
			first = i; /* another channel's */
		}
	}
	if (ring)
		unsettled = first == UINT64_MAX ? recorded() : first;
	pthread_mutex_unlock(&recording);
}

static void record_coming(enum trace_kind kind, int pe, int64_t key)
{
	pthread_mutex_lock(&recording);
	if (ring)
		record((struct trace_event){counters_clock(), 0, key, 0, pe, (uint8_t)kind, 0, 0, 0});
	pthread_mutex_unlock(&recording);
}

void trace_arrival(int pe, uint32_t event)
{
	record_coming(TRACE_ARRIVAL, pe, event);
}

void trace_flag(int pe, const void *flag, uint64_t value)
{
	record_coming(TRACE_FLAG, pe, key_of(flag, value));
}
