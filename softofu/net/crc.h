/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_NET_CRC_H
#define SOFTOFU_NET_CRC_H

#include <stddef.h>
#include <stdint.h>

/* The CRC-32 of zlib, Ethernet and PNG. */
uint32_t net_crc(const void *data, size_t length);

#endif
