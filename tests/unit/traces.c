/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the arrows of a trace end: by what the target has recorded, by what the sender knows, or
 * nowhere.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "rte/trace/trace_events.h"
#include "tests/lib/unit.h"

#define CHECK(condition) EXPECT(condition, "in %s", __func__)
#define CHECK_EQUAL(left, right) \
	EXPECT((long long)(left) == (long long)(right), "%lld is not %lld", (long long)(left), (long long)(right))

enum { CAPACITY = 16 };

static struct trace_ring *rings[2];

static struct trace_ring *make(int pe)
{
	struct trace_ring *ring = calloc(1, trace_ring_bytes(CAPACITY));

	CHECK(ring != NULL);
	ring->magic = TRACE_MAGIC;
	ring->pe = pe;
	ring->n_pes = 2;
	ring->capacity = CAPACITY;
	ring->started = ring->zero = 1000;
	return ring;
}

static void start(void)
{
	for (int pe = 0; pe < 2; pe++) {
		free(rings[pe]);
		rings[pe] = make(pe);
	}
}

static uint64_t record(int pe, struct trace_event event)
{
	uint64_t number = trace_recorded(rings[pe]);

	rings[pe]->event[number % CAPACITY] = event;
	atomic_store_explicit(&rings[pe]->recorded, number + 1, memory_order_relaxed);
	return number;
}

/* PE 0 to PE 1. */
static uint64_t message(uint64_t begin, uint64_t end, enum trace_end detail, int64_t key)
{
	return record(0, (struct trace_event){.begin = begin,
					      .end = end,
					      .key = key,
					      .bytes = 8,
					      .pe = 1,
					      .kind = TRACE_MESSAGE,
					      .detail = (uint8_t)detail,
					      .away = 1});
}

static void arrival(uint64_t when, uint64_t number)
{
	record(1, (struct trace_event){.begin = when, .key = (uint32_t)(number + 1), .pe = 0, .kind = TRACE_ARRIVAL});
}

static void call(uint64_t begin, uint64_t end, bool polls)
{
	record(1, (struct trace_event){.begin = begin, .end = end, .pe = -1, .kind = TRACE_CALL, .detail = polls});
}

/* The job's time at which the arrow of the message ends, -1: there is none. */
static int64_t arrow(uint64_t number)
{
	const struct trace_event *e = &rings[0]->event[number % CAPACITY];

	CHECK(trace_resolve(rings[0], rings[1]));
	if (e->detail == TRACE_JOB)
		return (int64_t)e->end;
	return e->detail == TRACE_SURE ? trace_time(rings[0], e->end) : -1;
}

static void check_arrivals(void)
{
	uint64_t first, second;

	start();
	first = message(1100, 0, TRACE_UNKNOWN, 0);
	second = message(1200, 0, TRACE_UNKNOWN, 0);
	arrival(1300, second);
	arrival(1400, 77); /* of what the sender has not recorded */
	CHECK_EQUAL(arrow(second), 300);
	CHECK_EQUAL(arrow(first), -1);

	/* The sender has known earlier: both are instants at which it had come. */
	start();
	first = message(1100, 1250, TRACE_LATEST, 0);
	arrival(1300, first);
	CHECK_EQUAL(arrow(first), 250);

	/* The target's clock is 5000 ahead; then nothing is said of what the sender knew. */
	start();
	rings[1]->started = 6000;
	rings[1]->ahead = 5000;
	rings[1]->error = 10;
	first = message(1100, 1250, TRACE_LATEST, 0);
	arrival(6300, first);
	CHECK_EQUAL(arrow(first), 300);
}

static void check_flags(void)
{
	uint64_t first, second;

	start();
	first = message(1100, 0, TRACE_UNKNOWN, trace_flag_key(64, 1));
	second = message(1200, 0, TRACE_UNKNOWN, trace_flag_key(64, 2));
	record(1, (struct trace_event){.begin = 1310, .key = trace_flag_key(64, 2), .pe = 0, .kind = TRACE_FLAG});
	record(1, (struct trace_event){.begin = 1300, .key = trace_flag_key(64, 1), .pe = 0, .kind = TRACE_FLAG});
	record(1, (struct trace_event){.begin = 1250,
				       .key = trace_flag_key(64, 1),
				       .pe = 1,
				       .kind = TRACE_FLAG}); /* another sender's */
	CHECK_EQUAL(arrow(first), 300);
	CHECK_EQUAL(arrow(second), 310);
}

static void check_latest(void)
{
	uint64_t number;

	start();
	number = message(1100, 1500, TRACE_LATEST, 0);
	call(1000, 1050, true);	 /* before */
	call(1000, 1300, false); /* a barrier, say */
	call(1400, 1600, true);
	CHECK_EQUAL(arrow(number), 500);

	/* The target may have seen it. */
	start();
	number = message(1100, 1500, TRACE_LATEST, 0);
	call(1000, 1300, true);
	CHECK_EQUAL(arrow(number), -1);

	/* The clocks are not known well enough to say. */
	start();
	rings[1]->error = 200;
	number = message(1100, 1500, TRACE_LATEST, 0);
	call(1550, 1600, true);
	CHECK_EQUAL(arrow(number), -1);

	/* The target has overwritten its calls of that time. */
	start();
	number = message(1100, 1500, TRACE_LATEST, 0);
	for (uint64_t i = 0; i <= CAPACITY; i++)
		call(1400 + i, 1600 + i, false);
	CHECK_EQUAL(arrow(number), -1);
	number = message(1700, 1800, TRACE_LATEST, 0);
	CHECK_EQUAL(arrow(number), 800);
}

/* The numbers that arrivals name go round, and the ring does. */
static void check_numbers(void)
{
	const uint64_t before = 0xffffffff0;
	uint64_t number = 0;

	start();
	atomic_store_explicit(&rings[0]->recorded, before, memory_order_relaxed);
	for (int i = 0; i < 24; i++)
		number = message(1100 + (uint64_t)i, 0, TRACE_UNKNOWN, 0);
	arrival(1900, number);
	arrival(1901, number - CAPACITY); /* not there any more: its place is this message's */
	CHECK_EQUAL(arrow(number), 900);
	CHECK_EQUAL(arrow(number - 1), -1);
}

/* An arrow that would go back in time is not drawn. */
static void check_text(void)
{
	struct plain_text text = {.file = open("/dev/null", O_WRONLY)};
	uint64_t number;

	start();
	rings[1]->error = 100;
	number = message(1500, 0, TRACE_UNKNOWN, 0);
	arrival(1450, number);
	CHECK_EQUAL(arrow(number), 450);
	trace_write_event(&text, rings[0], &rings[0]->event[0], 0);
	CHECK_EQUAL(text.used, 0);
	rings[0]->event[0].end = 501;
	trace_write_event(&text, rings[0], &rings[0]->event[0], 0);
	CHECK(text.used > 0);
	close(text.file);
}

int main(void)
{
	check_arrivals();
	check_flags();
	check_latest();
	check_numbers();
	check_text();
	return unit_failures > 0;
}
