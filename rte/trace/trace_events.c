/* SPDX-License-Identifier: BSD-3-Clause */
/* The format of Chrome's traces, which Perfetto also reads; and where arrows end. */
#include "trace_events.h"

#include <stdlib.h>
#include <string.h>

uint64_t trace_first(const struct trace_ring *ring)
{
	uint64_t recorded = trace_recorded(ring);

	return recorded > ring->capacity ? recorded - ring->capacity : 0;
}

int64_t trace_time(const struct trace_ring *ring, uint64_t when)
{
	double drift = 0;

	if (ring->ended > ring->started)
		drift = (double)(ring->ahead_at_end - ring->ahead) / (double)(ring->ended - ring->started);
	return (int64_t)(when - ring->zero) - ring->ahead - (int64_t)(drift * (double)(int64_t)(when - ring->started));
}

int64_t trace_flag_key(uint64_t offset, uint64_t value)
{
	return (int64_t)((offset * 0x9e3779b97f4a7c15 ^ value) | 1);
}

/* --- Both ends of a message --- */

/*
 * Messages from one PE to another: those with flags, by key, and the ends of the target's calls
 * that read its own memory.
 */
struct matching {
	struct trace_ring *mine;
	const struct trace_ring *theirs;
	uint64_t *flag; /* numbers of events plus 1; 0: a free slot */
	uint64_t slots; /* a power of two */
	int64_t *reads; /* in ascending order */
	uint64_t n_reads;
};

static struct trace_event *ring_event(struct trace_ring *ring, uint64_t number)
{
	return &ring->event[number % ring->capacity];
}

static bool goes_there(const struct matching *m, const struct trace_event *e)
{
	return e->kind == TRACE_MESSAGE && e->away && e->pe == m->theirs->pe && e->detail != TRACE_SURE;
}

static uint64_t flag_slot(const struct matching *m, int64_t key)
{
	return ((uint64_t)key * 0x9e3779b97f4a7c15 >> 20) & (m->slots - 1);
}

static void note_flag(struct matching *m, int64_t key, uint64_t number)
{
	uint64_t slot = flag_slot(m, key);

	while (m->flag[slot])
		slot = (slot + 1) & (m->slots - 1);
	m->flag[slot] = number + 1;
}

static struct trace_event *find_flag(const struct matching *m, int64_t key)
{
	for (uint64_t slot = flag_slot(m, key); m->flag[slot]; slot = (slot + 1) & (m->slots - 1)) {
		struct trace_event *e = ring_event(m->mine, m->flag[slot] - 1);

		if (e->key == key)
			return e;
	}
	return NULL;
}

/* Finds the message whose (uint32_t)(number + 1) is `name`; NULL: none. */
static struct trace_event *find_named(const struct matching *m, int64_t name)
{
	uint64_t recorded = trace_recorded(m->mine);
	uint64_t number = recorded - (uint32_t)(recorded - ((uint64_t)name - 1));

	if (number < trace_first(m->mine) || number >= recorded || !goes_there(m, ring_event(m->mine, number)))
		return NULL;
	return ring_event(m->mine, number);
}

static bool same_clock(const struct matching *m)
{
	return m->mine->error == 0 && m->theirs->error == 0;
}

/* The message has arrived by `when`, and the target cannot have used it earlier. */
static void end_by(const struct matching *m, struct trace_event *e, int64_t when)
{
	int64_t latest;

	if (e->detail == TRACE_LATEST && same_clock(m)) {
		latest = trace_time(m->mine, e->end);
		when = latest < when ? latest : when;
	} else if (e->detail == TRACE_JOB && (int64_t)e->end < when) {
		when = (int64_t)e->end;
	}
	e->detail = TRACE_JOB;
	e->end = (uint64_t)when;
}

static void match_events(struct matching *m)
{
	uint64_t recorded = trace_recorded(m->theirs);

	for (uint64_t i = trace_first(m->theirs); i < recorded; i++) {
		const struct trace_event *theirs = &m->theirs->event[i % m->theirs->capacity];
		struct trace_event *e = NULL;

		if (theirs->kind == TRACE_CALL && theirs->detail)
			m->reads[m->n_reads++] = trace_time(m->theirs, theirs->end);
		else if (theirs->kind == TRACE_ARRIVAL && theirs->pe == m->mine->pe)
			e = find_named(m, theirs->key);
		else if (theirs->kind == TRACE_FLAG && theirs->pe == m->mine->pe)
			e = find_flag(m, theirs->key);
		if (e)
			end_by(m, e, trace_time(m->theirs, theirs->begin));
	}
}

/*
 * Did a call of the target that reads its own memory end in between? Then the target may have used
 * the message before `to`.
 */
static bool may_be_used_between(const struct matching *m, int64_t from, int64_t to)
{
	uint64_t low = 0, high = m->n_reads;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (m->reads[middle] <= from)
			low = middle + 1;
		else
			high = middle;
	}
	return low < m->n_reads && m->reads[low] < to;
}

/* The time since which all calls of the target are known. */
static int64_t known_since(const struct trace_ring *theirs)
{
	const struct trace_event *oldest = &theirs->event[trace_first(theirs) % theirs->capacity];

	if (trace_first(theirs) == 0)
		return INT64_MIN;
	return trace_time(theirs, oldest->kind == TRACE_CALL ? oldest->end : oldest->begin);
}

/* For some messages only the sender knows the arrival: at a quiet, or after its own stores. */
static void settle_by_sender(struct matching *m)
{
	uint64_t recorded = trace_recorded(m->mine);
	int64_t error = (int64_t)(m->mine->error + m->theirs->error), since = known_since(m->theirs);

	for (uint64_t i = trace_first(m->mine); i < recorded; i++) {
		struct trace_event *e = ring_event(m->mine, i);
		int64_t begin = trace_time(m->mine, e->begin) - error;

		if (!goes_there(m, e) || e->detail != TRACE_LATEST)
			continue;
		if (begin < since || may_be_used_between(m, begin, trace_time(m->mine, e->end) + error))
			e->detail = TRACE_UNKNOWN;
		else
			e->detail = TRACE_SURE;
	}
}

static int compare_times(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return a < b ? -1 : a > b;
}

bool trace_resolve(struct trace_ring *mine, const struct trace_ring *theirs)
{
	struct matching m = {.mine = mine, .theirs = theirs, .slots = 2};
	uint64_t recorded = trace_recorded(mine), flags = 0;
	uint64_t theirs_most = trace_recorded(theirs) - trace_first(theirs);

	for (uint64_t i = trace_first(mine); i < recorded; i++)
		flags += goes_there(&m, ring_event(mine, i));
	while (m.slots < 2 * flags)
		m.slots *= 2;
	m.flag = calloc(m.slots, sizeof *m.flag);
	m.reads = calloc(theirs_most + 1, sizeof *m.reads);
	if (m.flag && m.reads) {
		for (uint64_t i = trace_first(mine); i < recorded; i++)
			if (goes_there(&m, ring_event(mine, i)) && (ring_event(mine, i)->key & 1))
				note_flag(&m, ring_event(mine, i)->key, i);
		match_events(&m);
		qsort(m.reads, m.n_reads, sizeof *m.reads, compare_times);
		settle_by_sender(&m);
	}
	free(m.flag);
	free(m.reads);
	return m.flag && m.reads;
}

/* --- JSON --- */

void trace_write_names(struct plain_text *text, int pe)
{
	static const char *const threads[] = {"calls", "memory"};

	plain_put(text, "\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"args\":{\"name\":\"PE %d\"}},", pe, pe);
	plain_put(text, "\n{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":%d,\"args\":{\"sort_index\":%d}},", pe,
		  pe);
	for (int t = 0; t < 2; t++)
		plain_put(text,
			  "\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":\"%s\"}},",
			  pe, t + 1, threads[t]);
}

static void write_call(struct plain_text *text, const struct trace_ring *ring, const struct trace_event *e, bool ended)
{
	const struct trace_name *name = &ring->name[(uint64_t)e->key % TRACE_NAMES];
	int64_t begin = trace_time(ring, e->begin);

	plain_put(text, "\n{\"ph\":\"%s\",\"name\":\"%s\",\"cat\":\"%s\",\"pid\":%d,\"tid\":1,\"ts\":%t,",
		  ended ? "X" : "B", name->routine, name->category, ring->pe, begin);
	if (ended)
		plain_put(text, "\"dur\":%t,", trace_time(ring, e->end) - begin);
	plain_put(text, "\"args\":{\"bytes\":%l", (int64_t)e->bytes);
	if (e->pe >= 0)
		plain_put(text, ",\"pe\":%d", e->pe);
	plain_put(text, "}},");
}

/* The error of two hosts' clocks may exceed the time of a message: no arrow goes back in time. */
static bool find_arrow_end(const struct trace_ring *ring, const struct trace_event *e, int64_t *end)
{
	if (e->detail != TRACE_SURE && e->detail != TRACE_JOB)
		return false;
	*end = e->detail == TRACE_JOB ? (int64_t)e->end : trace_time(ring, e->end);
	return *end >= trace_time(ring, e->begin);
}

/*
 * An arrow between the tracks of two PEs: at this PE it is attached to the call, at the other to a
 * short mark in the track of its memory.
 */
static void write_message(struct plain_text *text, const struct trace_ring *ring, const struct trace_event *e,
			  int64_t number)
{
	int64_t left = trace_time(ring, e->begin), arrived, mark;

	if (!find_arrow_end(ring, e, &arrived))
		return;
	mark = e->away ? arrived : left;
	plain_put(text,
		  "\n{\"ph\":\"X\",\"name\":\"%s PE "
		  "%d\",\"cat\":\"%s\",\"pid\":%d,\"tid\":2,\"ts\":%t,\"dur\":0.1,\"args\":{\"bytes\":%l}},",
		  e->away ? "from" : "read by", ring->pe, e->local ? "local" : "network", e->pe, mark,
		  (int64_t)e->bytes);
	plain_put(text,
		  "\n{\"ph\":\"s\",\"name\":\"message\",\"cat\":\"message\",\"id\":\"%d.%l\",\"pid\":%d,\"tid\":%d,"
		  "\"ts\":%t},",
		  ring->pe, number, e->away ? ring->pe : e->pe, e->away ? 1 : 2, left);
	plain_put(text,
		  "\n{\"ph\":\"f\",\"bp\":\"e\",\"name\":\"message\",\"cat\":\"message\",\"id\":\"%d.%l\",\"pid\":%d,"
		  "\"tid\":%d,\"ts\":%t},",
		  ring->pe, number, e->away ? e->pe : ring->pe, e->away ? 2 : 1, arrived);
}

void trace_write_event(struct plain_text *text, const struct trace_ring *ring, const struct trace_event *e,
		       int64_t number)
{
	if (e->kind == TRACE_CALL)
		write_call(text, ring, e, true);
	else if (e->kind == TRACE_MESSAGE)
		write_message(text, ring, e, number);
}

void trace_write_unfinished(struct plain_text *text, const struct trace_ring *ring)
{
	if (ring->unfinished)
		write_call(text, ring, &ring->doing, false);
	plain_put(text,
		  "\n{\"ph\":\"M\",\"name\":\"ended\",\"pid\":%d,\"args\":{\"name\":\"ended before shmem_finalize\"}},",
		  ring->pe);
}
