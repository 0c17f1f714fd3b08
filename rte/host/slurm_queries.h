/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_SLURM_H
#define RTE_SLURM_H

/* What Slurm says on this host, in a job of Slurm. Nothing else is asked: all of these return NULL then. */

/* slurm.conf, or a file beside it; to be freed, NULL: it is not there. */
char *slurm_file(const char *name);

/* The names of all nodes of the cluster, one a line, which Slurm's controller has two seconds to say; to be freed, NULL: it did not. */
char *slurm_nodes(void);

#endif
