/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reorder injection: see reorder.h.
 *
 * Adding an operation and carrying out operations hold one lock, so a thread that gets it knows
 * that everything that left before has been passed on. Operations are carried out on the default
 * channel, which any thread may use; the original channel only decides which fence and quiet they
 * wait for.
 */
#include "reorder.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ops.h"
#include "rte/clock.h"
#include "rte/rte.h"
#include "rte/settings.h"

#define MOST 4096		      /* operations held at a time */
#define MOST_BYTES ((size_t)64 << 20) /* of copies */
#define HOLD 20			      /* ms, unless the program makes them leave earlier */
#define PAUSE 2			      /* ms */
#define OFTEN 64		      /* pauses before they become rare */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t added;
	struct held *held;
	atomic_int count;
	size_t bytes;
	uint64_t seed, calls, departures;
	uint64_t overtaken; /* records written so far */
	pthread_t thread;
	bool stopping;
} reorder = {.lock = PTHREAD_MUTEX_INITIALIZER, .added = PTHREAD_COND_INITIALIZER};

static int held_count(void)
{
	return atomic_load_explicit(&reorder.count, memory_order_relaxed);
}

/* This thread is carrying out held operations: the calls inside are not held again. */
static _Thread_local bool reorder_carrying __attribute__((tls_model("initial-exec")));

/* --- Random numbers --- */

static uint64_t splitmix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

uint64_t reorder_random(uint64_t number)
{
	return splitmix(reorder.seed ^ splitmix(number));
}

static uint64_t random_of_pe(uint64_t number)
{
	return reorder_random(number ^ splitmix((uint64_t)comms.pe + 1));
}

void reorder_pause(uint64_t number, uint64_t often)
{
	const struct timespec pause = {0, PAUSE * 1000000L};

	if (reorder_random(~number) % (number / often + 1) == 0)
		nanosleep(&pause, NULL);
}

/* --- Leaving --- */

/* A selection of held operations. */
struct choice {
	bool any_channel, gets;
	struct comms_channel *channel;
	const int *pes; /* NULL: all */
	size_t n_pes;
};

static bool is_put(const struct held *h)
{
	return h->kind == HELD_PUT || h->kind == HELD_SIGNAL;
}

static bool is_chosen(const struct held *h, const struct choice *choice)
{
	if ((!choice->any_channel && h->channel != choice->channel) || (!choice->gets && !is_put(h)))
		return false;
	for (size_t i = 0; choice->pes && i < choice->n_pes; i++)
		if (choice->pes[i] == h->pe)
			return true;
	return !choice->pes;
}

static int compare_draws(const void *left, const void *right)
{
	const struct held *a = left, *b = right;

	return a->draw < b->draw ? -1 : a->draw > b->draw;
}

/* Moves the selected ones into a separate list; the others keep their order. */
static int take_chosen(const struct choice *choice, struct held *list)
{
	int taken = 0, left = 0, count = held_count();

	for (int i = 0; i < count; i++)
		if (is_chosen(&reorder.held[i], choice))
			list[taken++] = reorder.held[i];
		else
			reorder.held[left++] = reorder.held[i];
	atomic_store_explicit(&reorder.count, left, memory_order_relaxed);
	return taken;
}

/* --- Puts that overtake each other --- */

static bool share_bytes(const struct held *a, const struct held *b)
{
	const char *x = a->dest, *y = b->dest;

	return a->pe == b->pe && x < y + b->bytes && y < x + a->bytes;
}

/* Notifies the PE, which reports it if it later waits for a value there. */
static void record_overtaken_put(const struct held *h)
{
	enum comms_segment_id segment = comms_find_segment(h->dest);
	struct comms_overtaken mine = {.segment = segment, .bytes = h->bytes, .from = (uint64_t)comms.pe + 1};

	mine.offset = (uint64_t)((const char *)h->dest - comms.segments[segment].base);
	comms_put(&comms.system->overtaken[reorder.overtaken++ % COMMS_OVERTAKEN], &mine, sizeof mine, h->pe,
		  h->routine);
}

/* The first operation that this put overtook; NULL: none. */
static const struct held *find_overtaken(const struct held *put, const struct held *end)
{
	for (const struct held *later = put + 1; is_put(put) && later < end; later++)
		if (is_put(later) && later->number < put->number && share_bytes(put, later))
			return later;
	return NULL;
}

static void record_overtaken(const struct held *list, int count)
{
	for (int i = 0, records = 0; i < count && records < COMMS_OVERTAKEN; i++) {
		const struct held *overtaken = find_overtaken(&list[i], list + count);

		if (overtaken) {
			record_overtaken_put(overtaken);
			records++;
		}
	}
}

bool reorder_overtook(const void *address, size_t bytes, int *from)
{
	enum comms_segment_id segment = comms_find_segment(address);
	uint64_t offset;

	if (!comms.checks || segment == COMMS_NO_SEGMENT)
		return false;
	offset = (uint64_t)((const char *)address - comms.segments[segment].base);
	for (int i = 0; i < COMMS_OVERTAKEN; i++) {
		const struct comms_overtaken *o = &comms.system->overtaken[i];

		if (o->from == 0 || o->segment != segment || offset >= o->offset + o->bytes ||
		    o->offset >= offset + bytes)
			continue;
		*from = (int)o->from - 1;
		return true;
	}
	return false;
}

static void carry_out_list(struct held *list, int count)
{
	uint64_t departure = reorder.departures;
	int stop = count > 1 ? 1 + (int)(random_of_pe(departure) % (uint64_t)(count - 1)) : 0;

	if (count > 1)
		reorder.departures++;
	reorder_carrying = true;
	for (int i = 0; i < count; i++) {
		if (stop > 0 && i == stop)
			reorder_pause(departure, OFTEN);
		comms_carry_out(&list[i]);
		reorder.bytes -= list[i].copy ? list[i].bytes : 0;
		free(list[i].copy);
	}
	record_overtaken(list, count);
	reorder_carrying = false;
}

/* Call with the lock held. */
static void carry_out_chosen(const struct choice *choice)
{
	int count = held_count();
	struct held *list = count > 0 ? malloc((size_t)count * sizeof *list) : NULL;

	if (count == 0)
		return;
	if (!list)
		rte_die("SHMEM_CHECK", "no memory for %d operations", count);
	count = take_chosen(choice, list);
	qsort(list, (size_t)count, sizeof *list, compare_draws);
	carry_out_list(list, count);
	free(list);
}

static void lock_and_carry_out(const struct choice *choice)
{
	if (reorder_carrying || !reorder.held)
		return;
	pthread_mutex_lock(&reorder.lock);
	carry_out_chosen(choice);
	pthread_mutex_unlock(&reorder.lock);
}

void reorder_fence(struct comms_channel *channel)
{
	lock_and_carry_out(&(struct choice){.channel = channel});
}

void reorder_quiet(struct comms_channel *channel)
{
	lock_and_carry_out(&(struct choice){.channel = channel, .gets = true});
}

void reorder_quiet_pes(struct comms_channel *channel, const int *pes, size_t n)
{
	lock_and_carry_out(&(struct choice){.channel = channel, .gets = true, .pes = pes, .n_pes = n});
}

void reorder_quiet_all(void)
{
	lock_and_carry_out(&(struct choice){.any_channel = true, .gets = true});
}

void reorder_call_begins(enum counters_category category)
{
	if (category == CATEGORY_WAIT || category == CATEGORY_TEST || category == CATEGORY_LOCK)
		lock_and_carry_out(&(struct choice){.any_channel = true});
}

bool reorder_holds(void)
{
	return comms.checks && held_count() > 0;
}

/* --- Holding --- */

static bool is_held_kind(enum held_kind kind)
{
	enum counters_category category;

	if (reorder_carrying || !counters_is_in_call(&category))
		return false;
	switch (kind) {
	case HELD_PUT:
		return category == CATEGORY_PUT || category == CATEGORY_PUT_NBI || category == CATEGORY_P ||
		       category == CATEGORY_IPUT;
	case HELD_SIGNAL: return category == CATEGORY_PUT_SIGNAL;
	case HELD_GET: return category == CATEGORY_GET_NBI;
	case HELD_RESULT: return category == CATEGORY_ATOMIC_NBI;
	}
	return false;
}

/*
 * Copies the source of a put, or the place of a result, unless the routine is nonblocking: it may
 * change after the return.
 */
static void copy_source(struct held *h)
{
	if (h->bytes == 0 || h->kind == HELD_GET || (is_put(h) && h->nbi))
		return;
	h->copy = malloc(h->bytes);
	if (!h->copy)
		rte_die(h->routine, "SHMEM_CHECK: no memory to hold a put of %zu bytes back", h->bytes);
	memcpy(h->copy, h->source, h->bytes);
	h->source = h->copy;
}

bool reorder_hold(const struct held *operation)
{
	struct held h = *operation;

	if (!is_held_kind(h.kind) || h.bytes > MOST_BYTES)
		return false;
	copy_source(&h);
	if (!is_put(&h))
		memset(h.dest, REORDER_CANARY, h.bytes);
	pthread_mutex_lock(&reorder.lock);
	if (held_count() == MOST || reorder.bytes + h.bytes > MOST_BYTES)
		carry_out_chosen(&(struct choice){.any_channel = true, .gets = true});
	h.number = reorder.calls++;
	h.draw = random_of_pe(h.number);
	h.since = rte_clock_ms();
	reorder.bytes += h.copy ? h.bytes : 0;
	reorder.held[held_count()] = h;
	atomic_fetch_add_explicit(&reorder.count, 1, memory_order_relaxed);
	pthread_cond_signal(&reorder.added);
	pthread_mutex_unlock(&reorder.lock);
	return true;
}

/* --- The thread --- */

/* How long ago was the first put held? -1: there is none. */
static int64_t oldest_put(void)
{
	for (int i = 0; i < held_count(); i++)
		if (is_put(&reorder.held[i]))
			return rte_clock_ms() - reorder.held[i].since;
	return -1;
}

static void *let_old_leave(void *unused)
{
	const struct timespec half = {0, HOLD / 2 * 1000000L};

	pthread_mutex_lock(&reorder.lock);
	while (!reorder.stopping) {
		int64_t age = oldest_put();

		if (age < 0) {
			pthread_cond_wait(&reorder.added, &reorder.lock);
			continue;
		}
		if (age >= HOLD)
			carry_out_chosen(&(struct choice){.any_channel = true});
		pthread_mutex_unlock(&reorder.lock);
		nanosleep(&half, NULL);
		pthread_mutex_lock(&reorder.lock);
	}
	pthread_mutex_unlock(&reorder.lock);
	return unused;
}

void reorder_start(void)
{
	long seed = 0;

	if (!comms.checks)
		return;
	setting_number(SETTING_CHECK_SEED, &seed);
	reorder.seed = splitmix((uint64_t)seed);
	reorder.calls = reorder.departures = reorder.overtaken = 0;
	reorder.stopping = false;
	reorder.held = malloc(MOST * sizeof *reorder.held);
	if (!reorder.held || rte_start_thread(&reorder.thread, let_old_leave))
		rte_die("shmem_init", "SHMEM_CHECK: no memory, or no thread, to hold operations back");
}

void reorder_stop(void)
{
	if (!reorder.held)
		return;
	reorder_quiet_all();
	pthread_mutex_lock(&reorder.lock);
	reorder.stopping = true;
	pthread_cond_signal(&reorder.added);
	pthread_mutex_unlock(&reorder.lock);
	pthread_join(reorder.thread, NULL);
	free(reorder.held);
	reorder.held = NULL;
}
