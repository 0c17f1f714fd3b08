/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_SITES_H
#define TORUS_SITES_H

#include "shape.h"

/*
 * Where the nodes of a job are. A job gets some places of a machine: perhaps a box of them, perhaps a box that wraps
 * round a ring, perhaps one with holes.
 *
 * box     the smallest one that holds all nodes. It may begin near the end of a ring and go on at its beginning.
 * sites   the box as a shape of its own, with the nodes in it. A ring that the box does not fill is a mesh there.
 * flaw    a cable known to be dead or slow
 */
struct torus_box {
	int origin[TORUS_AXES], extent[TORUS_AXES];
};

struct torus_sites {
	struct torus_shape shape;
	int nodes;
	int *place; /* of each node */
	int *node;  /* at each place, or -1: a hole */
	/* of each link, by place times directions plus direction: see torus_sites_share. NULL: no flaws */
	float *share;
};

struct torus_flaw {
	int place;     /* of the machine */
	int direction; /* in which the cable leaves there */
	float share;   /* of the usual rate: 0 is dead */
};

void torus_box_find(struct torus_box *box, const struct torus_shape *machine, const int *places, int count);
void torus_box_shape(struct torus_shape *shape, const struct torus_shape *machine, const struct torus_box *box);
bool torus_box_wraps(const struct torus_box *box, const struct torus_shape *machine, int axis);

/* The place in the box that a place of the machine is, and back. */
int torus_box_inside(const struct torus_box *box, const struct torus_shape *machine, const struct torus_shape *shape,
		     int place);
int torus_box_outside(const struct torus_box *box, const struct torus_shape *machine, const struct torus_shape *shape,
		      int place);

/* A node at every place, in order. False: no memory. */
bool torus_sites_all(struct torus_sites *sites, const struct torus_shape *shape);

/* Nodes at these places of a machine, no place twice. False: no memory. */
bool torus_sites_some(struct torus_sites *sites, struct torus_box *box, const struct torus_shape *machine,
		      const int *places, int count);

/*
 * Some of all the sites: the nodes of a team, at these places, no place twice. Coordinates that no node of the team has are left out, so
 * every second node along an axis is a row of neighbours. A ring stays one if the team has all of it, or three or more of its coordinates at
 * equal distances. What is known of flaws is taken over. No two links of the team share a cable (team_sites.c). False: no memory.
 */
bool torus_sites_of_team(struct torus_sites *sites, const struct torus_sites *all, const int *places, int count);

/* Takes note of flaws of the machine, of which some may be outside of the box. False: no memory. */
bool torus_sites_mark(struct torus_sites *sites, const struct torus_box *box, const struct torus_shape *machine,
		      const struct torus_flaw *flaw, int flaws);

/* Takes note of the flaws that all the sites know of, in whose shape the box lies. False: no memory. */
bool torus_sites_inherit(struct torus_sites *sites, const struct torus_box *box, const struct torus_sites *all);

/*
 * What a link carries of the usual rate: 1; less where it is slow; 0 where nothing can go, because the link is dead, or no node is
 * at one end of it, or there is no cable.
 */
float torus_sites_share(const struct torus_sites *sites, int place, int direction);
void torus_sites_free(struct torus_sites *sites);

#endif
