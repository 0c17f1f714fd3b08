/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_NET_NETWORKS_H
#define COMMS_NET_NETWORKS_H

#include "comms/core/network.h"

/* The networks that this library knows. A set of them is a bit for each. */

/* Adds the network that SHMEM_PATHS calls by this name. False: there is none. */
bool networks_add(unsigned *set, const char *name);
/* The first of the set that can be used, in the order of the table; NULL: none. Says why not, and ends the job, if one must be. */
const struct comms_network *networks_find(unsigned set, bool must);
/* Writes the names of all, "tofu and ucx". */
void networks_names(char *text, size_t size);

#endif
