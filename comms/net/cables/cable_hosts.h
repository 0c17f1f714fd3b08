/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_CABLE_HOSTS_H
#define COMMS_CABLE_HOSTS_H

#include <stdbool.h>

#include "comms/torus/file.h"

/*
 * The job's hosts and the cables between them: from SHMEM_TORUS, whose ports are called x+, x- and
 * so on, or from the cable statements of the shape file that SHMEM_TORUS_FILE names or that oshrun
 * found. All PEs read the same text and compute the same routes. Hosts without a PE of the job
 * relay nothing, so their cables do not count.
 *
 * Nodes that SHMEM_NODE_PES makes count as hosts, so that relaying can be tried on one machine.
 */

/* Does the shape file have cable statements? */
bool cable_hosts_are_cabled(void);

void cable_hosts_start(void);
/*
 * Uses cables with a flaw no more, and says so on PE 0. flaw_of gets a PE and a port for each end,
 * and says the same on all PEs: NULL, or such as "has no carrier".
 */
void cable_hosts_check(const char *(*flaw_of)(const int pe[2], const char *const port[2]));
/* Ends the job if no cables lead to one of its hosts and SHMEM_CABLES_ONLY says that they must. */
void cable_hosts_check_reach(void);
void cable_hosts_stop(void);

enum cable_way {
	CABLE_WAY_HOST,	 /* on this host */
	CABLE_WAY_CABLE, /* over a cable */
	CABLE_WAY_OTHER	 /* over the network that joins all hosts: no cables lead there */
};

struct cable_route {
	enum cable_way way;
	int next;	  /* the PE that gets the message first: the destination, or a relay */
	int hops;	  /* cables from there to the destination */
	bool second;	  /* the route leaves by the second cable */
	const char *port; /* the cable: the interface here, and there */
	const char *its_port;
};

/*
 * The route to a PE; one thread at a time. second: over the second cable of a pair of hosts, if
 * they have two.
 */
struct cable_route cable_route_to(int pe, bool second);

/* No route of the job has more cables than this; 0: there are none. */
int cable_hosts_longest(void);
bool cable_hosts_have_second_cables(void);

/* Is the interface of the PE's host the end of a cable? */
bool cable_hosts_is_cabled(int pe, const char *port);

/*
 * The turn, from 0, in which this PE reports that it has lost a PE: another one for each neighbour
 * of that host, and for the PEs at the two ends of a cable that have lost each other.
 */
int cable_hosts_reporter(int lost);

/*
 * "RDMA over cables to 1 neighbour, TCP to 1, relayed to 1 more; detours round 1 cable". has_rdma
 * tells of a route to a neighbour.
 */
enum { CABLE_HOSTS_TEXT = 160 };
const char *cable_hosts_text(char text[CABLE_HOSTS_TEXT], bool (*has_rdma)(const struct cable_route *route));

#endif
