/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_CABLING_H
#define TORUS_CABLING_H

#include "comms/torus/sites.h"

/*
 * Which torus the cables between hosts make, and what is wrong with them: from the port that is at the other end of each port.
 *
 * label    the name of a port. Where the ports were cabled by a rule, x+ always to x- say, or eth2 to eth3, the rule is
 *          found by majority, and ports that break it are named; where there is no rule, labels are made up from the squares
 *          that the cables form.
 * layout   the hosts at places. Hosts take the places that most of their neighbours give them, so some wrong cables
 *          are outvoted.
 * order    the names of hosts often count places. If most of them do, the others are in the wrong place.
 */
struct cabling_port {
	int host;
	const char *name;
	int peer;     /* the port at the other end; -1: none is known */
	bool carrier; /* the port has a link */
	bool shared;  /* more than one port answers: a switch */
	int speed;    /* Mbit/s; 0: not known */
};

struct cabling {
	int hosts, ports;
	const char *const *name;   /* of each host */
	const bool *silent;	   /* by host: it did not say anything of its ports */
	struct cabling_port *port; /* host after host */
};

struct torus_found {
	struct torus_shape shape; /* no axes: no torus, and why says it */
	char why[TORUS_PROBLEM];
	int *place;		/* by host; -1: nowhere */
	signed char *direction; /* by port; -1: it leads to no neighbour */
	struct torus_flaw *flaw;
	int flaws;
	char **fault; /* what is wrong, a line each */
	int faults;
	bool ruled;   /* ports follow a rule of cabling */
	bool ordered; /* names follow the places */
};

/* False: no memory. */
bool torus_cabling_find(struct torus_found *found, const struct cabling *cabling);
void torus_found_free(struct torus_found *found);

#endif
