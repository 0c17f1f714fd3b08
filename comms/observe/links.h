/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_LINKS_H
#define COMMS_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "comms/torus/shape.h"

/*
 * A link's number follows from the place where it begins and its direction. Returns how many
 * numbers there are if links are counted one by one; 0: there are too many.
 */
int links_known(void);

/* Visits the links on the route from one PE to another; none on one node. */
typedef void links_visitor(int link, int direction, void *argument);
void links_follow(int from, int to, links_visitor *visit, void *argument);

/* Counts a message of this PE on the links of its route. */
void links_count(int from, int to, size_t bytes);

/* Totals of all links of a direction: uses, and bytes. */
void links_read_direction(int direction, uint64_t *hops, uint64_t *bytes);
void links_reset(void);

/* Counts each link by itself from now on. Returns false if there is no memory. */
bool links_count_each(void);
void links_stop(void);
/* The links counted one by one: how many, and each by its index in the order of their numbers. */
int links_counted(void);
const char *links_counted_name(int which);
void links_read(int which, uint64_t *messages, uint64_t *bytes);

/* Writes a name such as "0,1 x+". */
enum { LINKS_TEXT = TORUS_TEXT + 8 };
const char *links_name(int link, char text[LINKS_TEXT]);

#endif
