/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_SITES_H
#define TORUS_SITES_H

#include "shape.h"

/*
 * The places of a job's nodes in a machine: a box, perhaps one that wraps round a ring, perhaps
 * with holes.
 *
 * box     the smallest one that holds all nodes. It may begin near the end of a ring and continue
 *         at its start.
 * sites   the box as its own shape, with the nodes in it. A ring that the box does not fill is a
 *         mesh there.
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
	/*
	 * Of each link, by place times directions plus direction: see torus_sites_share. NULL: no
	 * flaws.
	 */
	float *share;
};

struct torus_flaw {
	int place;     /* of the machine */
	int direction; /* of the cable there */
	float share;   /* of the usual rate; 0: dead */
};

void torus_box_find(struct torus_box *box, const struct torus_shape *machine, const int *places, int count);
bool torus_box_wraps(const struct torus_box *box, const struct torus_shape *machine, int axis);

/* Converts a place of the machine to a place of the box, and back. */
int torus_box_inside(const struct torus_box *box, const struct torus_shape *machine, const struct torus_shape *shape,
		     int place);
int torus_box_outside(const struct torus_box *box, const struct torus_shape *machine, const struct torus_shape *shape,
		      int place);

/* A node at every place, in order. Returns false if there is no memory. */
bool torus_sites_all(struct torus_sites *sites, const struct torus_shape *shape);

/* Nodes at these places of a machine, each at most once. Returns false if there is no memory. */
bool torus_sites_some(struct torus_sites *sites, struct torus_box *box, const struct torus_shape *machine,
		      const int *places, int count);

/*
 * The sites of a team: nodes at these places of all the sites, each at most once. Coordinates
 * without a node of the team are left out, so every second node along an axis forms a row of
 * neighbours. A ring remains one if the team has all of it, or three or more of its coordinates at
 * equal distances. Known flaws are copied. No two links of the team share a cable (team_sites.c).
 * Returns false if there is no memory.
 */
bool torus_sites_of_team(struct torus_sites *sites, const struct torus_sites *all, const int *places, int count);

/*
 * Records flaws of the machine; some may be outside of the box. Returns false if there is no
 * memory.
 */
bool torus_sites_mark(struct torus_sites *sites, const struct torus_box *box, const struct torus_shape *machine,
		      const struct torus_flaw *flaw, int flaws);

/*
 * Records the flaws that all the sites know, in whose shape the box lies. Returns false if there is
 * no memory.
 */
bool torus_sites_inherit(struct torus_sites *sites, const struct torus_box *box, const struct torus_sites *all);

/*
 * The share of the usual rate that a link carries: 1; less if it is slow; 0 if it is dead, lacks a
 * node at one end, or does not exist.
 */
float torus_sites_share(const struct torus_sites *sites, int place, int direction);
void torus_sites_free(struct torus_sites *sites);

#endif
