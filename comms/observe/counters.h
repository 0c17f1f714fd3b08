/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_COUNTERS_H
#define COMMS_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "comms/core/comms.h"
#include "comms/torus/shape.h"

/*
 * Counts calls, and the data that they move, while calls are observed (SHMEM_STATS, SHMEM_TRACE).
 *
 * category   routines that do the same thing: "put" is the blocking put of every type
 * call       of a routine by the program; routines called inside belong to it
 * operation  one transfer or atomic on a path; a call may need several, or none
 *
 * Other calls never get here: see COMMS_CALL. Any thread may count.
 */

#define CATEGORIES(F)                   \
	F(PUT, "put")                   \
	F(PUT_NBI, "put_nbi")           \
	F(P, "p")                       \
	F(IPUT, "iput")                 \
	F(GET, "get")                   \
	F(GET_NBI, "get_nbi")           \
	F(G, "g")                       \
	F(IGET, "iget")                 \
	F(PUT_SIGNAL, "put_signal")     \
	F(SIGNAL, "signal")             \
	F(ATOMIC, "atomic")             \
	F(ATOMIC_FETCH, "atomic_fetch") \
	F(ATOMIC_NBI, "atomic_nbi")     \
	F(FENCE, "fence")               \
	F(QUIET, "quiet")               \
	F(WAIT, "wait")                 \
	F(TEST, "test")                 \
	F(LOCK, "lock")                 \
	F(BARRIER, "barrier")           \
	F(SYNC, "sync")                 \
	F(BROADCAST, "broadcast")       \
	F(COLLECT, "collect")           \
	F(FCOLLECT, "fcollect")         \
	F(ALLTOALL, "alltoall")         \
	F(REDUCE, "reduce")             \
	F(SCAN, "scan")                 \
	F(EXCHANGE, "exchange")         \
	F(PLAN, "plan")                 \
	F(RDMA, "rdma")                 \
	F(MEMORY, "memory")             \
	F(TEAM, "team")                 \
	F(CONTEXT, "context")           \
	F(OTHER, "other")

enum counters_category {
#define CATEGORY_NAME(id, name) CATEGORY_##id,
	CATEGORIES(CATEGORY_NAME)
#undef CATEGORY_NAME
		CATEGORY_COUNT
};

/* Rows of counters: categories, paths, peers, directions; behind them one row for each link. */
enum counters_row {
	ROW_LOCAL = CATEGORY_COUNT, /* what the program moves over each path */
#define NETWORK(NAME, name) ROW_##NAME,
#include "comms/networks.def"
#undef NETWORK
	ROW_INSIDE, /* network messages of the library's own, in collectives, locks and exchanges */
	ROW_PEERS,  /* connected PEs, and the memory of their connections */
	/* What this PE relayed for others; and the most buffers that it held at once. */
	ROW_RELAYED,
	ROW_RELAY_BUFFERS,
	/*
	 * One row for each direction on the torus: links used by messages between nodes, and bytes
	 * over them.
	 */
	ROW_AXES,
	ROW_LAST_AXIS = ROW_AXES + TORUS_DIRECTIONS - 1,
	ROW_COUNT
};

struct counters_row_values {
	uint64_t calls, bytes, nanoseconds;
};

/* Nanoseconds of this host's clock. */
uint64_t counters_clock(void);

/* Reads the settings. Call before counting. */
void counters_start(void);
bool counters_counts(void);
/* Makes a row for each link, once the network and the torus are known; the second frees them. */
void counters_start_links(void);
void counters_stop_links(void);

/*
 * All PEs make tables and traces together. The first returns this PE's settings as a number to
 * publish; the second ends the job with a message if another PE's number differs.
 */
uint64_t counters_agreement(void);
void counters_agree_with(int pe, uint64_t theirs);

/* Number of rows, links included. */
int counters_rows(void);
const char *counters_row_name(int row);
void counters_read(int row, struct counters_row_values *values);
void counters_reset(void);

/* The category of a routine by its name, with or without the p of the profiling names. */
enum counters_category counters_category_of(const char *routine);

/* The row of the job's network. */
enum counters_row counters_row_of_network(void);

/* Begins a call of the API; returns false if it is inside another one. */
bool counters_begin(const char *routine, size_t bytes, int pe);
void counters_end(void);
/* Is this thread in a call of the program? */
bool counters_is_in_call(enum counters_category *category);

/*
 * Counts a transfer on a path. The current call shows whether it is the program's or the library's
 * own.
 */
enum counters_side { SIDE_THERE, SIDE_HERE }; /* where the data is stored */
void counters_operation(enum counters_row path, enum counters_side side, int pe, size_t bytes);
/*
 * Counts an operation that belongs to the message counted last, and adds its bytes to that message.
 */
void counters_more(enum counters_row path, int pe, size_t bytes);
/*
 * A message of an exchange. On a node, the program's and the library's stores move it and a stored
 * number shows it; on a network, the next operation is the message, and the flag at the target
 * shows it. The target calls counters_flag when it has seen the flag.
 */
void counters_message(enum counters_row path, int pe, size_t bytes, const void *flag, uint64_t value);
void counters_flag(int pe, const void *flag, uint64_t value);
/*
 * Call after the operation counted last was carried out by stores: its data is at the other PE now.
 * sure: it belongs to a message, whose flag this PE stores next.
 */
void counters_stored(bool sure);
/* Memory that UCX used for a new connection. */
void counters_connection(size_t bytes);
/* This PE relays so many bytes for others, and now holds `buffers` with `held` bytes for that. */
void counters_relay(size_t bytes, int buffers, size_t held);

/* Counts an operation of the program or, inside a collective or lock, of the library. */
COMMS_INLINE void counters_if_on(enum counters_row path, enum counters_side side, int pe, size_t bytes)
{
	if (COMMS_UNLIKELY(comms.observed))
		counters_operation(path, side, pe, bytes);
}

COMMS_INLINE void counters_stored_if_on(bool sure)
{
	if (COMMS_UNLIKELY(comms.observed))
		counters_stored(sure);
}

#endif
