/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_FILE_H
#define TORUS_FILE_H

#include "sites.h"

/*
 * A shape file describes a machine and names the host at each place. One statement a line, # begins
 * a comment:
 *
 *     shape 4x4mx2            before any host: sizes and marks as for torus_shape_read
 *     pes 4                   PEs on each node (1)
 *     host node7 1,0,1        the host with this name is at these coordinates
 *     hosts node###           every place has a host: its number with as many digits, from 0, in
 *                             order of places
 *     dead node7              behind its host: nobody is to be there, and nothing goes through it
 *     dead node7 x+           the cable that leaves there in this direction carries nothing,
 *                             neither to nor fro
 *     slow 4 node7 x+         it takes four times as long as others
 *     slow 4 1,0,1            so do all cables of the host there
 *     port node7 x+ eth2      the interface of the cable that leaves there in this direction; else
 *                             it is called x+
 *     cable node7 eth2 node8 eth1
 *                             this cable is a network of its own: hosts forward nothing, and what
 *                             is not a neighbour is reached by relays of the library. A cable may
 *                             be one that the shape does not have.
 *
 * Places without a host are holes, and so are those of dead ones.
 */
struct torus_file {
	struct torus_shape shape;
	int pes;
	int hosts;
	char **name; /* of each host, in the order of the file */
	int *place;  /* of each host, in the machine */
	int dead;    /* number of dead hosts */
	char **dead_name;
	int flaws;
	struct torus_flaw *flaw; /* dead and slow cables */
	int ports;
	struct torus_port *port; /* interfaces with names other than their directions */
	int cables;
	struct torus_cable *cable; /* networks of their own, without those of dead hosts */
};

struct torus_port {
	int place, direction;
	char *name;
};

struct torus_cable {
	int host[2]; /* in the order of the file's hosts */
	char port[2][TORUS_PORT];
};

/* Reads the text of a shape file. Returns false with the wrong line and the reason in `problem`. */
bool torus_file_read(struct torus_file *file, const char *text, char problem[TORUS_PROBLEM]);

/* Reads a shape file with ; in place of newlines. Returns false if it is empty or wrong. */
bool torus_file_read_line(struct torus_file *file, const char *line);
void torus_file_free(struct torus_file *file);

/* The interface of the cable that leaves a place in a direction. */
const char *torus_file_port(const struct torus_file *file, int place, int direction);

/*
 * The index of a host in the file, with dead hosts after live ones; -1: it is not in the file.
 * Names match with or without their domain. The search begins at the host with index `likely`.
 */
int torus_file_host(const struct torus_file *file, const char *name, int likely);

/* "node###" with 7 is "node007". Returns false if there is no run of #, or more than one. */
bool torus_host_name(const char *pattern, int number, char *name, size_t size);

#endif
