/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Eight bytes at a time: table k holds what a byte does to the remainder when k zero bytes follow it, so that the effects of
 * eight bytes can be looked up side by side and added.
 */
#include "softofu/net/crc.h"

#include <pthread.h>
#include <string.h>

#define POLYNOMIAL 0xedb88320u /* of CRC-32, lowest bit first */

static uint32_t table[8][256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fill_table(void)
{
	for (uint32_t byte = 0; byte < 256; byte++) {
		uint32_t rest = byte;

		for (int bit = 0; bit < 8; bit++)
			rest = rest & 1 ? rest >> 1 ^ POLYNOMIAL : rest >> 1;
		table[0][byte] = rest;
	}
	for (int k = 1; k < 8; k++)
		for (int byte = 0; byte < 256; byte++)
			table[k][byte] = table[k - 1][byte] >> 8 ^ table[0][table[k - 1][byte] & 255];
}

uint32_t net_crc(const void *data, size_t length)
{
	const unsigned char *at = data;
	uint32_t rest = ~0u;

	pthread_once(&once, fill_table);
	for (; length >= 8; length -= 8, at += 8) {
		uint64_t word;

		memcpy(&word, at, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
		word = __builtin_bswap64(word);
#endif
		word ^= rest;
		rest = 0;
		for (int k = 0; k < 8; k++)
			rest ^= table[7 - k][word >> 8 * k & 255];
	}
	for (; length > 0; length--)
		rest = rest >> 8 ^ table[0][(rest ^ *at++) & 255];
	return ~rest;
}
