/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_DEVICE_H
#define COMMS_DEVICE_H

#include <stdbool.h>

/* The host's only network device, or the one with its own address besides ports with addresses; NULL: neither is there. The caller frees it. */
char *device_of_host(void);

/* Is there InfiniBand, or a network with its interface? */
bool device_has_rdma(void);

#endif
