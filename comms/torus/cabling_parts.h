/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_CABLING_PARTS_H
#define TORUS_CABLING_PARTS_H

#include "cabling.h"

/*
 * The steps of torus_cabling_find, in order: labels of ports (cabling_labels.c), sizes and layouts (cabling_layout.c), rings,
 * meshes and the order of names (cabling_order.c), what is wrong (cabling_faults.c).
 */
enum { CABLING_PORTS = 64 /* of a host, at most */ };

struct cabling_rule {
	int labels;
	int *label;			      /* by port; -1: none */
	int up[TORUS_AXES], down[TORUS_AXES]; /* labels of an axis; the same one at both ends of a pair perhaps */
	int axes;
	bool named;   /* the labels are x+, x- and so on: they say which axis it is */
	bool made_up; /* the labels are not the names */
};

struct cabling_work {
	const struct cabling *cabling;
	int *first; /* port of each host, and of a host behind the last one */
	int links;  /* cables between two ports of different hosts, no switch between */
	struct cabling_rule rule;
};

struct cabling_layout {
	struct torus_shape shape; /* all axes rings here */
	int *place, *host;	  /* by host, by place; -1: none */
	int placed, explained;	  /* hosts; links between neighbours */
};

/* The port at the other end, if that is a cable to another host; else -1. */
int cabling_peer(const struct cabling *cabling, int port);

/* False: no memory. With no rule, rule.axes is 0. */
bool cabling_find_rule(struct cabling_work *work);
bool cabling_make_up_rule(struct cabling_work *work);
void cabling_forget_rule(struct cabling_rule *rule);

/* The axis and step of a label: 2 * axis, or 2 * axis + 1 downwards, or -1. A pair with one label: upwards. */
int cabling_step_of(const struct cabling_rule *rule, int label);
bool cabling_labels_agree(const struct cabling_rule *rule, int label, int other);

/* False: no memory. The best layout has no place if nothing fits. */
bool cabling_lay_out(const struct cabling_work *work, struct cabling_layout *best);
bool cabling_layout_make(struct cabling_layout *layout, const struct torus_shape *shape, int hosts);
void cabling_layout_free(struct cabling_layout *layout);
int cabling_explained(const struct cabling_work *work, const struct cabling_layout *layout);

/* Are the places neighbours, or would they be with all axes rings? The direction from the one, or -1; wanted if it fits. */
int cabling_direction(const struct torus_shape *shape, int from, int to, int wanted);

/* Turns, shifts and cuts the layout: which axes are rings, and a host named first at place 0. expected: by host, -1. */
bool cabling_put_in_order(struct cabling_work *work, struct cabling_layout *layout, int *expected, bool *ordered);

/* Fills in directions, flaws and faults. */
bool cabling_find_faults(struct torus_found *found, const struct cabling_work *work,
			 const struct cabling_layout *layout, const int *expected);

#endif
