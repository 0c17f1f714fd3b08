/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_SLURM_H
#define RTE_SLURM_H

/*
 * What Slurm reports on this host. Outside of a Slurm job all of these return NULL without asking.
 */

/* Reads slurm.conf, or a file beside it; the caller frees the result. NULL: there is none. */
char *slurm_file(const char *name);

/*
 * The names of all nodes of the cluster, one per line, if Slurm's controller answers within two
 * seconds; the caller frees it. NULL: no answer.
 */
char *slurm_nodes(void);

#endif
