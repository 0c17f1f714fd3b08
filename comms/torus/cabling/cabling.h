/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_CABLING_H
#define TORUS_CABLING_H

#include "comms/torus/sites.h"

/*
 * Finds the torus that the cables between hosts form, and faults in it, from the port at the other
 * end of each port.
 *
 * label    the name of a port. If the ports were cabled by a rule, such as x+ always to x-, or eth2
 *          to eth3, the rule is found by majority, and ports that break it are named. Without a
 *          rule, labels are invented from the squares that the cables form
 * layout   hosts at places. Hosts take the places that most of their neighbours imply, so that some
 *          wrong cables are outvoted
 * row      if each cable is a network of its own, hosts get a shape also where their cables follow
 *          no axes: one row or ring, whatever other cables they have
 * order    host names often count places. If most of them do, the others are in the wrong place
 */
struct cabling_port {
	int host;
	const char *name;
	int peer;     /* the port at the other end; -1: unknown */
	bool carrier; /* the port has a link */
	bool shared;  /* more than one port answers, or could: a switch */
	int speed;    /* Mbit/s; 0: unknown */
	bool mute;    /* the ends of its cable have no addresses of one kind */
};

struct cabling {
	int hosts, ports;
	const char *const *name;   /* of each host */
	const bool *silent;	   /* by host: it reported nothing about its ports */
	struct cabling_port *port; /* host after host */
	/* Hosts forward nothing, so each cable is a network of its own. */
	bool own_networks;
};

struct torus_found {
	struct torus_shape shape; /* no axes: no torus, and `why` has the reason */
	char why[TORUS_PROBLEM];
	int *place;		/* by host; -1: no place */
	signed char *direction; /* by port; -1: leads to no neighbour */
	struct torus_flaw *flaw;
	int flaws;
	char **fault; /* faults, one line each */
	int faults;
	bool ruled;   /* ports follow a cabling rule */
	bool ordered; /* names follow the places */
	/*
	 * One row of hosts, because their cables follow no axes; more cables may be between them.
	 */
	bool row;
};

/* The port at the other end if it is a cable to another host; otherwise -1. */
int cabling_peer(const struct cabling *cabling, int port);

/* Returns false if there is no memory. */
bool torus_cabling_find(struct torus_found *found, const struct cabling *cabling);
void torus_found_free(struct torus_found *found);

#endif
