/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_SLURM_H
#define TORUS_SLURM_H

#include <stdbool.h>
#include <stddef.h>

/*
 * What Slurm's files say about where nodes are. Slurm's plug-in topology/3d_torus takes the coordinates from the last three characters of a
 * node's name, x y z, each a digit or an upper-case letter (base 36); topology/torus3d and topology/ring have lists of nodes in the order of
 * their places; topology/block knows blocks of nodes that are close to each other.
 *
 * Each of the functions that return a text returns a shape file with ; in place of newlines, to be freed. Of a topology.yaml with several
 * topologies only the default of the cluster counts.
 */
enum slurm_plugin { SLURM_OTHER, SLURM_3D_TORUS, SLURM_BLOCK, SLURM_RING };

/* The topology plug-in that a slurm.conf names. */
enum slurm_plugin slurm_plugin(const char *conf);

/*
 * Of a list of Slurm's, as in "node[01-18,20],login": how many names it has, -1: it is malformed; and which of them a name is, from 0,
 * -1: it is not there.
 */
long slurm_list_count(const char *list);
long slurm_list_position(const char *list, const char *name);

/*
 * The hosts of a job in the torus that all nodes of the cluster form (nodes: their names, one a line). NULL: the hosts form no whole box of it.
 */
char *slurm_torus(const char *nodes, char *const *host, size_t hosts);

/*
 * The hosts of a job in the one torus, or ring, of a topology.conf or, with yaml, a topology.yaml that has all of them. NULL: there is none, or
 * they form no whole box of it.
 */
char *slurm_toruses(const char *topology, bool yaml, char *const *host, size_t hosts);

/*
 * The hosts of a job by their blocks, from a topology.conf or, with yaml, a topology.yaml: a shape whose first axis counts the blocks. NULL: the
 * hosts are in one block, or not in blocks that have the same number of them.
 */
char *slurm_blocks(const char *topology, bool yaml, char *const *host, size_t hosts);

#endif
