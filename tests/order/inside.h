/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTS_ORDER_INSIDE_H
#define TESTS_ORDER_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "explore.h"

enum { THREADS = 8, LOCATIONS = 1024, MESSAGES = 8192, CELLS = 1 << 16, SITES = 4096, EVENTS = 64 };

enum order { RELAXED, CONSUME, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST }; /* the compiler's numbers */

enum access { LOAD, STORE, UPDATE, FENCE };

/*
 * What a thread, or a message, knows: of each location the earliest message that may still be read,
 * and of each thread how far everything it did happened before. Entries from n on are 0.
 */
struct view {
	uint32_t clock[THREADS];
	uint32_t n;
	uint16_t at[LOCATIONS];
};

/* A value that an atomic location had, in the location's order. */
struct message {
	uint64_t value;
	uint16_t at, next; /* its time, which grows along the order; the message behind it */
	uint8_t by;
	bool update;	  /* by an atomic update, which nothing may come in front of */
	bool unknown;	  /* by a plain store: memory has the value */
	struct view view; /* what an acquiring reader learns */
};

struct location {
	uint64_t place;
	uint16_t first, last; /* messages */
	uint8_t bytes;
};

/* The last accesses to a byte. */
struct cell {
	uint64_t place;
	uint32_t round;
	uint32_t write_clock, write_site;
	uint32_t read_clock[THREADS], read_site[THREADS];
	uint8_t writer;
	bool atomic_write;
	uint8_t atomic_reads; /* bit per thread */
};

enum state { READY, ASLEEP, AT_MUTEX, AT_END, DONE };

enum { NOBODY = 0xffff }; /* who runs between executions */

struct thread {
	uint32_t wake; /* futex: this thread runs next */
	enum state state;
	bool timed;
	bool of_library; /* the library made it, and it outlives executions */
	uint64_t waits_at;
	/*
	 * cur: what it knows. acquired: what its relaxed loads have read, for an acquire fence.
	 * released: cur at the last release fence.
	 */
	struct view cur, acquired, released;
};

struct site {
	uint32_t offset;
	uint8_t access, order;
	uint32_t count;
};

struct event {
	char what[12];
	uint64_t place, value;
	uint32_t site;
	uint8_t thread, order, bytes;
};

struct range {
	uint64_t start, end;
};

/* An object of a PE that others reach through the kernel. */
struct reachable {
	int process;
	uint64_t address, bytes;
};

/* Shared by the PEs, in the symmetric heap of PE 0. */
struct model {
	uint32_t arrived, epoch;       /* of the barrier between executions */
	uint32_t phase;		       /* futex: grows at the end of each execution */
	uint32_t baton;		       /* who runs */
	int threads, users, processor; /* users: threads that run scenarios */
	bool more;
	bool sleeps_end; /* sleeps of library threads whose time is limited */
	uint32_t over;	 /* all executions have been; the library's threads go on by themselves */
	int64_t clock;	 /* ns: what the time is in an execution */
	struct reachable reachable[THREADS];
	uint64_t random, seed, first_seed, round, rounds, steps, all_steps, steps_most;
	unsigned keep_running; /* of this many steps, one is followed by another thread's */
	int n_locations, n_messages, n_sites, n_ranges, n_events;
	uint32_t clock_of_round;
	struct view sc;
	struct thread thread[THREADS];
	struct location location[LOCATIONS];
	uint16_t location_hash[2 * LOCATIONS];
	struct site site[SITES];
	struct range range[64];
	struct event event[EVENTS];
	struct message message[MESSAGES];
	struct cell cell[CELLS];
};

extern struct model *model;
extern _Thread_local int self; /* the thread's number in the model; -1 outside of an execution */

/* --- memory.c: atomic locations and their views --- */

void memory_begin(void);
uint64_t memory_load(uint64_t place, volatile void *address, int bytes, enum order order);
void memory_store(uint64_t place, volatile void *address, int bytes, uint64_t value, enum order order);
/*
 * Reads a value, calls change with it and stores what that returns right behind it, unless change
 * returns false.
 */
typedef bool memory_change(uint64_t old, uint64_t *new, void *argument);
uint64_t memory_update(uint64_t place, volatile void *address, int bytes, memory_change *change, void *argument,
		       enum order order);
/* The same of the newest value. */
uint64_t memory_update_newest(uint64_t place, volatile void *address, int bytes, memory_change *change, void *argument,
			      enum order order);
void memory_fence(enum order order);
/* A fence of every thread at the place where it is. */
void memory_fence_all(void);
void memory_plain_store(uint64_t place, volatile void *address, size_t bytes);
void view_join(struct view *view, const struct view *other);

/* --- races.c --- */
void race_check(uint64_t place, size_t bytes, bool write, bool atomic, uint32_t site);

/* --- threads.c --- */
unsigned random_below(unsigned limit);
void step(void);
void yield_processor(void);
void block(enum state state, uint64_t place, bool timed);
int wake_blocked(enum state state, uint64_t place, int most);

/* --- sites.c --- */
uint32_t site_of(const void *return_address);
enum order site_order(uint32_t site, enum access access, enum order order, bool *gone);
void note(const char *what, uint64_t place, uint64_t value, int bytes, enum order order, uint32_t site);
_Noreturn void fail_at(const char *text, uint32_t site, uint32_t other);

#endif
