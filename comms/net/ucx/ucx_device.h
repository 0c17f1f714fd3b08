/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_DEVICE_H
#define COMMS_DEVICE_H

#include <stdbool.h>

/*
 * The host's only network device, or its only device with an own address beside ports with
 * addresses; NULL: neither exists. The caller frees it.
 */
char *device_of_host(void);

/* Does the host have InfiniBand, or a network with the same interface? */
bool device_has_rdma(void);

/*
 * Does the host have a RoCE device that is not NVIDIA's? Only those write into a completion whether
 * a packet was IPv4 or IPv6.
 */
bool device_has_roce_without_packet_types(void);

#endif
