/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_SLURM_H
#define TORUS_SLURM_H

#include <stdbool.h>
#include <stddef.h>

#include "comms/torus/shape.h"

/*
 * What Slurm says about where nodes are. Its plug-in topology/3d_torus takes the coordinates from
 * the last three characters of a node's name, x y z, each a digit or an upper-case letter (base
 * 36); topology/block knows blocks of nodes that are close to each other.
 *
 * Each function that returns a text returns a shape file with ; in place of newlines, to be freed.
 */
enum slurm_plugin { SLURM_OTHER, SLURM_3D_TORUS, SLURM_BLOCK };

/* The topology plug-in that a slurm.conf names. */
enum slurm_plugin slurm_plugin(const char *conf);

/*
 * The hosts of a job in the torus that all nodes of the cluster form (nodes: their names, one a
 * line). NULL: the hosts form no whole box of it.
 */
char *slurm_torus(const char *nodes, char *const *host, size_t hosts);

/*
 * The hosts of a job by their blocks, from a topology.conf: a shape whose first axis counts the
 * blocks. NULL: the hosts are in one block, or not in blocks that have the same number of them.
 */
char *slurm_blocks(const char *topology, char *const *host, size_t hosts);

/* --- What the two files that define these share --- */

/* The shape file; NULL: no memory. */
char *slurm_shape_line(const struct torus_shape *shape, char *const *host, const int *place, size_t hosts);

/* The line behind this one; NULL: there is none. */
const char *slurm_next_line(const char *line);

/*
 * If the text begins with "key=value" (upper or lower case, blanks around the = allowed), returns
 * where the value begins; otherwise NULL.
 */
const char *slurm_value_of(const char *text, const char *key);

#endif
