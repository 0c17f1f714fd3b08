/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_SERVER_H
#define OSHRUN_SERVER_H

#include <hwloc.h>
#include <stdbool.h>

/* The PMIx server inside oshrun. Only server.c, job_info.c and accept_filter.c know PMIx. */

struct job;

enum server_event_kind { EVENT_CONNECTED, EVENT_FINALIZED, EVENT_ABORT, EVENT_LOST, EVENT_TRACE, EVENT_FENCE };

struct server_event {
	struct server_event *next;
	enum server_event_kind kind;
	int pe;
	/* EVENT_ABORT; EVENT_FENCE: 1 if the PE may be in a fence from now on, else 0. */
	int status;
	char message[4096]; /* EVENT_ABORT; EVENT_TRACE: the name of the file */
};

/* Starts the server of this job and registers the PEs. NULL: failed, reported in one line. */
struct server *server_start(struct job *job);

/*
 * Adds to *environment (malloc'ed array of malloc'ed strings) what this PE needs to find the
 * server.
 */
bool server_environment(struct server *server, int pe, char ***environment);

/* Asks a PE to report what all PEs wait for, if its library can. Does not wait for the report. */
void server_ask(struct server *server, int pe);

/*
 * Stops the server for good: it answers no PE any more and ignores broken connections. Call it
 * before ending PEs while some of them may be in a fence: libpmix uses the record of a fence after
 * it has freed it when a PE outside of the fence and one in it are lost together (4.2.2:
 * lost_connection completes the fence once for each of them).
 */
void server_halt(struct server *server);

/* A descriptor that is readable when there are events. */
int server_event_fd(const struct server *server);

/* The oldest event, or NULL; free() it. */
struct server_event *server_next_event(struct server *server);

#endif
