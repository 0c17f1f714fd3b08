/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_NET_NETWORKS_H
#define COMMS_NET_NETWORKS_H

#include "comms/core/network.h"

/* The networks that this library knows. A set of networks has one bit for each. */

/* Adds the network with this name in SHMEM_PATHS to the set. Returns false if there is none. */
bool networks_add(unsigned *set, const char *name);
/*
 * The first usable network of the set, in the order of the table; NULL: none. If one is required,
 * ends the job with the reasons instead.
 */
const struct comms_network *networks_find(unsigned set, bool must);
/* Writes all names as a list, "tofu and ucx". */
void networks_names(char *text, size_t size);

#endif
