/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_NET_CRC_H
#define SOFTOFU_NET_CRC_H

#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

static inline uint32_t net_crc(const void *data, size_t length)
{
	return (uint32_t)crc32(0, data, (uInt)length);
}

#endif
