/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counting. While calls are observed or checked, comms.quick_pes is 0, so no routine takes its
 * inline path, and all take the slow path, which counts. Otherwise no call gets here.
 *
 * Counters are atomic because other threads may read them; with one thread they are changed by
 * plain loads and stores.
 */
#include "counters.h"

#include <stdatomic.h>
#include <string.h>

#include "links.h"
#include "comms/core/network.h"
#include "rte/clock.h"
#include "rte/rte.h"
#include "rte/settings.h"
#include "trace.h"

static struct {
	bool counting;
	struct {
		_Atomic uint64_t calls, bytes, nanoseconds;
	} rows[ROW_COUNT];
} counters;

/* This thread's current call: the outermost observed one. */
static _Thread_local struct {
	int depth;
	struct trace_call call;
	bool announced; /* the message to come is already in the trace */
} current_call __attribute__((tls_model("initial-exec")));

uint64_t counters_clock(void)
{
	return (uint64_t)rte_clock_ns();
}

static void add_to_counter(_Atomic uint64_t *counter, uint64_t n)
{
	if (comms.threads)
		atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
	else
		atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
				      memory_order_relaxed);
}

void counters_start(void)
{
	setting_bool(SETTING_STATS, &counters.counting);
	counters_reset();
	comms.traced = trace_start();
	comms.observed = counters.counting || comms.traced;
	if ((comms.observed || comms.checks) && !ARGUMENT_CHECKS)
		rte_die_together("shmem_init",
				 "%s: this library was configured --disable-argument-checks, and calls are counted "
				 "where arguments "
				 "are checked; configure it without that",
				 counters.counting ? "SHMEM_STATS"
				 : comms.traced	   ? "SHMEM_TRACE"
						   : "SHMEM_CHECK");
}

bool counters_counts(void)
{
	return counters.counting;
}

void counters_start_links(void)
{
	if (counters.counting && comms.network && !links_count_each())
		rte_die("shmem_init", "SHMEM_STATS: no memory to count %d links", links_known());
}

void counters_stop_links(void)
{
	links_stop();
}

/* --- Do all PEs observe alike? --- */

/* AGREE_EVENTS: bits below the number of events. */
enum { AGREE_COUNT = 1, AGREE_TRACE = 2, AGREE_CHECKS = 4, AGREE_EVENTS = 3 };

uint64_t counters_agreement(void)
{
	return (counters.counting ? AGREE_COUNT : 0u) | (comms.checks ? AGREE_CHECKS : 0u) |
	       (comms.traced ? AGREE_TRACE | trace_events() << AGREE_EVENTS : 0u);
}

static void complain_of_difference(const char *setting, int pe)
{
	rte_die("shmem_init",
		"%s differs between this PE and PE %d; give all PEs the same value (with mpirun over hosts: -x %s)",
		setting, pe, setting);
}

void counters_agree_with(int pe, uint64_t theirs)
{
	uint64_t mine = counters_agreement();

	if ((mine ^ theirs) & AGREE_COUNT)
		complain_of_difference("SHMEM_STATS", pe);
	if ((mine ^ theirs) & AGREE_TRACE)
		complain_of_difference("SHMEM_TRACE", pe);
	if ((mine ^ theirs) & AGREE_CHECKS)
		complain_of_difference("SHMEM_CHECK", pe);
	if (mine != theirs)
		complain_of_difference("SHMEM_TRACE_EVENTS", pe);
}

/* --- Calls --- */

enum counters_row counters_row_of_network(void)
{
	return (enum counters_row)comms.network->row;
}

bool counters_begin(const char *routine, size_t bytes, int pe)
{
	if (current_call.depth++ > 0)
		return false;
	current_call.call = (struct trace_call){routine, counters_category_of(routine), pe, bytes, counters_clock(), 0};
	if (comms.traced)
		trace_begin(&current_call.call);
	return true;
}

void counters_end(void)
{
	enum counters_category category = current_call.call.category;
	uint64_t end;

	if (--current_call.depth > 0)
		return;
	end = counters_clock();
	add_to_counter(&counters.rows[category].calls, 1);
	add_to_counter(&counters.rows[category].bytes, current_call.call.bytes);
	add_to_counter(&counters.rows[category].nanoseconds, end - current_call.call.began);
	if (comms.traced)
		trace_call(&current_call.call, end);
}

bool counters_is_in_call(enum counters_category *category)
{
	*category = current_call.call.category;
	return current_call.depth > 0;
}

/* --- Operations --- */

/* Calls of these categories move data for the program, others for the library. */
static bool is_call_of_program(void)
{
	return current_call.depth > 0 && current_call.call.category <= CATEGORY_ATOMIC_NBI;
}

static void count_operation(enum counters_row path, enum counters_side side, int pe, size_t bytes)
{
	add_to_counter(&counters.rows[path].calls, 1);
	add_to_counter(&counters.rows[path].bytes, bytes);
	if (path != ROW_LOCAL)
		links_count(side == SIDE_THERE ? comms.pe : pe, side == SIDE_THERE ? pe : comms.pe, bytes);
	if (comms.traced && !current_call.announced)
		trace_message(path == ROW_LOCAL, side, pe, bytes);
	current_call.announced = false;
}

void counters_operation(enum counters_row path, enum counters_side side, int pe, size_t bytes)
{
	if (is_call_of_program())
		count_operation(path, side, pe, bytes);
	else if (path != ROW_LOCAL)
		count_operation(ROW_INSIDE, side, pe, bytes);
	else if (comms.traced)
		trace_no_message();
}

void counters_more(enum counters_row path, int pe, size_t bytes)
{
	current_call.announced = comms.traced;
	counters_operation(path, SIDE_THERE, pe, bytes);
	current_call.announced = false;
	if (comms.traced)
		trace_add(bytes);
}

void counters_message(enum counters_row path, int pe, size_t bytes, const void *flag, uint64_t value)
{
	count_operation(path, SIDE_THERE, pe, bytes);
	if (!comms.traced)
		return;
	current_call.announced = path != ROW_LOCAL;
	if (path == ROW_LOCAL)
		trace_stored(true);
	else
		trace_set_flag(flag, value);
}

void counters_flag(int pe, const void *flag, uint64_t value)
{
	if (comms.traced && comms.network && !(comms.network->traits & NETWORK_RECORDS_ARRIVALS))
		trace_flag(pe, flag, value);
}

void counters_stored(bool sure)
{
	if (comms.traced)
		trace_stored(sure);
}

void counters_connection(size_t bytes)
{
	add_to_counter(&counters.rows[ROW_PEERS].bytes, bytes);
}

static void raise_counter(_Atomic uint64_t *counter, uint64_t n)
{
	if (n > atomic_load_explicit(counter, memory_order_relaxed))
		atomic_store_explicit(counter, n, memory_order_relaxed);
}

void counters_relay(size_t bytes, int buffers, size_t held)
{
	if (!comms.observed)
		return;
	add_to_counter(&counters.rows[ROW_RELAYED].calls, 1);
	add_to_counter(&counters.rows[ROW_RELAYED].bytes, bytes);
	raise_counter(&counters.rows[ROW_RELAY_BUFFERS].calls, (uint64_t)buffers);
	raise_counter(&counters.rows[ROW_RELAY_BUFFERS].bytes, held);
}

/* --- Reading --- */

int counters_rows(void)
{
	return ROW_COUNT + links_counted();
}

const char *counters_row_name(int row)
{
	static const char *const row_names[] = {
#define CATEGORY_NAME(id, name) name,
		CATEGORIES(CATEGORY_NAME)
#undef CATEGORY_NAME
			"path local",
#define NETWORK(NAME, name) "path " #name,
#include "comms/networks.def"
#undef NETWORK
		"inside",
		"peers",
		"relayed",
		"relay buffers",
		"torus x+",
		"torus x-",
		"torus y+",
		"torus y-",
		"torus z+",
		"torus z-",
		"torus a+",
		"torus a-",
		"torus b+",
		"torus b-",
		"torus c+",
		"torus c-",
	};

	_Static_assert(sizeof row_names / sizeof row_names[0] == ROW_COUNT, "every row has a name");
	if (row >= ROW_COUNT && row < counters_rows())
		return links_counted_name(row - ROW_COUNT);
	return row >= 0 && row < ROW_COUNT ? row_names[row] : NULL;
}

void counters_read(int row, struct counters_row_values *values)
{
	if (row >= ROW_COUNT) {
		values->nanoseconds = 0;
		links_read(row - ROW_COUNT, &values->calls, &values->bytes);
		return;
	}
	values->calls = atomic_load_explicit(&counters.rows[row].calls, memory_order_relaxed);
	values->bytes = atomic_load_explicit(&counters.rows[row].bytes, memory_order_relaxed);
	values->nanoseconds = atomic_load_explicit(&counters.rows[row].nanoseconds, memory_order_relaxed);
	if (row >= ROW_AXES)
		links_read_direction(row - ROW_AXES, &values->calls, &values->bytes);
	if (row == ROW_PEERS)
		comms_count_peers(&values->calls, &values->bytes);
}

void counters_reset(void)
{
	for (int row = 0; row < ROW_COUNT; row++) {
		atomic_store_explicit(&counters.rows[row].calls, 0, memory_order_relaxed);
		atomic_store_explicit(&counters.rows[row].bytes, 0, memory_order_relaxed);
		atomic_store_explicit(&counters.rows[row].nanoseconds, 0, memory_order_relaxed);
	}
	links_reset();
}
