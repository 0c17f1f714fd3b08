/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_CABLING_PARTS_H
#define TORUS_CABLING_PARTS_H

#include "cabling.h"

/*
 * The steps of torus_cabling_find, in order: labels of ports (cabling_labels.c), sizes
 * (cabling_sizes.c) and layouts (cabling_layout.c) or a single row (cabling_row.c), rings and
 * meshes (cabling_rings.c), the order of names (cabling_order.c), directions of ports
 * (cabling_directions.c), faults (cabling_faults.c).
 */
enum { CABLING_PORTS = 64 /* of a host, at most */ };

struct cabling_rule {
	int labels;
	int *label; /* by port; -1: none */
	/* Labels of an axis; both ends of a pair may have the same one. */
	int up[TORUS_AXES], down[TORUS_AXES];
	int axes;
	bool named;   /* the labels are x+, x- and so on, which name the axis */
	bool made_up; /* the labels are invented, not the ports' names */
};

struct cabling_work {
	const struct cabling *cabling;
	int *first; /* first port of each host, and the end */
	int links;  /* cables between two ports of different hosts, without a switch */
	struct cabling_rule rule;
};

struct cabling_layout {
	struct torus_shape shape; /* every axis is a ring here */
	int *place, *host;	  /* by host, by place; -1: none */
	int placed, explained;	  /* hosts placed; links between neighbours */
};

/* Returns false if there is no memory. If there is no rule, rule.axes is 0. */
bool cabling_find_rule(struct cabling_work *work);
bool cabling_make_up_rule(struct cabling_work *work);
void cabling_forget_rule(struct cabling_rule *rule);

/*
 * The axis and direction of a label: 2 * axis upwards, 2 * axis + 1 downwards, or -1. A pair with
 * one label counts as upwards.
 */
int cabling_step_of(const struct cabling_rule *rule, int label);
bool cabling_labels_agree(const struct cabling_rule *rule, int label, int other);

/*
 * Grows a layout from one host, or places hosts in their listed order; keeps it if it is better.
 * Returns false if there is no memory.
 */
bool cabling_try_seed(const struct cabling_work *work, const struct torus_shape *shape, int seed,
		      struct cabling_layout *best);
bool cabling_try_list(const struct cabling_work *work, const struct torus_shape *shape, struct cabling_layout *best);

/* Returns false if there is no memory. The best layout has no place if nothing fits. */
bool cabling_lay_out(const struct cabling_work *work, struct cabling_layout *best);
/*
 * Puts the hosts that cables join in one row or ring; no place if there are too many. Replaces the
 * rule. Returns false if there is no memory.
 */
bool cabling_lay_out_row(struct cabling_work *work, struct cabling_layout *layout);
bool cabling_layout_make(struct cabling_layout *layout, const struct torus_shape *shape, int hosts);
void cabling_layout_free(struct cabling_layout *layout);
int cabling_explained(const struct cabling_work *work, const struct cabling_layout *layout);

/*
 * The direction from one place to the other if they are neighbours, or would be if every axis were
 * a ring; otherwise -1. Prefers `wanted` if it fits.
 */
int cabling_direction(const struct torus_shape *shape, int from, int to, int wanted);

/*
 * Maps a place of the layout to one of another shape: its axis i is axis from[i] of the layout,
 * reversed and shifted.
 */
struct cabling_turn {
	int axes, from[TORUS_AXES];
	bool down[TORUS_AXES];
	int shift[TORUS_AXES];
};

int cabling_turn_place(const struct cabling_turn *turn, const struct torus_shape *old, const struct torus_shape *shape,
		       int place);
void cabling_turn_layout(struct cabling_work *work, struct cabling_layout *layout, const struct cabling_turn *turn);
struct cabling_turn cabling_no_turn(const struct torus_shape *shape);
void cabling_drop_axes_of_one(struct cabling_work *work, struct cabling_layout *layout);

/*
 * Marks the axes that are rings, and shifts meshes to their starts. Returns false if there is no
 * memory.
 */
bool cabling_find_rings(struct cabling_work *work, struct cabling_layout *layout);

/*
 * Rotates, shifts and cuts the layout: determines the rings, and puts the host that is first by
 * name at place 0. expected: by host, or -1.
 */
bool cabling_put_in_order(struct cabling_work *work, struct cabling_layout *layout, int *expected, bool *ordered);

struct cabling_inspection {
	struct torus_found *found;
	const struct cabling_work *work;
	const struct cabling_layout *layout;
	const int *expected;
	bool *reported; /* by port: a fault names it */
	bool failed;	/* there is no memory */
};

/* The port where the rule makes a port lead; -1: the rule does not say. */
int cabling_direction_by_rule(const struct cabling_inspection *in, int port);
/* The port of a host that leads, or should lead, in a direction; -1: none. */
int cabling_port_towards(const struct cabling_inspection *in, int host, int direction);
int cabling_port_meant_for(const struct cabling_inspection *in, int host, int direction);
void cabling_find_directions(struct cabling_inspection *in);

/* Fills in directions, flaws and faults. */
bool cabling_find_faults(struct torus_found *found, const struct cabling_work *work,
			 const struct cabling_layout *layout, const int *expected);

#endif
