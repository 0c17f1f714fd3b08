/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_DEVICE_H
#define COMMS_DEVICE_H

#include <stdbool.h>

/* The network device with the host's own address, if it has one besides ports with addresses; else NULL. The caller frees it. */
char *device_of_host(void);

/* Is there InfiniBand, or what passes for it? */
bool device_has_rdma(void);

#endif
