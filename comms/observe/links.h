/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_LINKS_H
#define COMMS_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "comms/torus/shape.h"

/*
 * A link is numbered by the place where it begins and the direction it goes. How many numbers there are, if links are known one by one; 0:
 * there are too many for that.
 */
int links_known(void);

/* False: the shape has no cable there. */
bool links_exist(int link);

/* Visits the links on the route from one PE to another; none on one node. */
typedef void links_visitor(int link, int direction, void *argument);
void links_follow(int from, int to, links_visitor *visit, void *argument);

/* A message of this PE that takes them. */
void links_count(int from, int to, size_t bytes);

/* All links of a direction together: how often one was taken, and the bytes that took it. */
void links_read_direction(int direction, uint64_t *hops, uint64_t *bytes);
void links_reset(void);

/* Each link by itself, from now on. False: no memory. */
bool links_count_each(void);
void links_stop(void);
/* How many links are counted one by one, in the order of their numbers; they are read by their place in that order. */
int links_counted(void);
const char *links_counted_name(int which);
void links_read(int which, uint64_t *messages, uint64_t *bytes);

/* "0,1 x+" */
enum { LINKS_TEXT = TORUS_TEXT + 8 };
const char *links_name(int link, char text[LINKS_TEXT]);

#endif
