/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_SLURM_PARTS_H
#define TORUS_SLURM_PARTS_H

#include "comms/torus/shape.h"

/* What the files of slurm.h share. */

/* The hosts at these places as a shape file with ; in place of newlines, to be freed; NULL: no memory. */
char *slurm_shape_line(const struct torus_shape *shape, char *const *host, const int *place, size_t hosts);

/* The same, if the hosts have a place each and form a whole box of the machine, which may wrap; else NULL. */
char *slurm_box_line(const struct torus_shape *machine, char *const *host, const int *place, size_t hosts);

/* The line behind this one; NULL: there is none. */
const char *slurm_next_line(const char *line);

/* The nodes in a line of a topology.conf that begins with this key, as in "BlockName=b1 Nodes=node[01-18]", to be freed; NULL: it is no such one. */
char *slurm_nodes_of(const char *line, const char *key);

#endif
