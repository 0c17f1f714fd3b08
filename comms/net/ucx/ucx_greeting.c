/* SPDX-License-Identifier: BSD-3-Clause */
#include "ucx_greeting.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static const uint8_t magic[8] = "torushm1";

enum { ADDRESS_BYTES = 18 }; /* of IPv6, or of IPv4 as IPv6 has it; then the port */

/* --- SipHash-2-4 --- */

static uint64_t rotated(uint64_t word, int bits)
{
	return word << bits | word >> (64 - bits);
}

static void siphash_rounds(uint64_t v[4], int rounds)
{
	for (; rounds > 0; rounds--) {
		v[0] += v[1];
		v[1] = rotated(v[1], 13) ^ v[0];
		v[0] = rotated(v[0], 32);
		v[2] += v[3];
		v[3] = rotated(v[3], 16) ^ v[2];
		v[0] += v[3];
		v[3] = rotated(v[3], 21) ^ v[0];
		v[2] += v[1];
		v[1] = rotated(v[1], 17) ^ v[2];
		v[2] = rotated(v[2], 32);
	}
}

static uint64_t little_endian(const uint8_t *bytes, size_t n)
{
	uint64_t word = 0;

	for (size_t i = 0; i < n; i++)
		word |= (uint64_t)bytes[i] << 8 * i;
	return word;
}

uint64_t siphash(const uint8_t key[GREETING_KEY_BYTES], const uint8_t *bytes, size_t n)
{
	const uint64_t low = little_endian(key, 8), high = little_endian(key + 8, 8);
	uint64_t v[4] = {low ^ 0x736f6d6570736575, high ^ 0x646f72616e646f6d, low ^ 0x6c7967656e657261,
			 high ^ 0x7465646279746573};

	for (size_t at = 0;; at += 8) {
		bool last = n - at < 8;
		uint64_t word =
			last ? little_endian(bytes + at, n - at) | (uint64_t)n << 56 : little_endian(bytes + at, 8);

		v[3] ^= word;
		siphash_rounds(v, 2);
		v[0] ^= word;
		if (last)
			break;
	}
	v[2] ^= 0xff;
	siphash_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* --- Greetings --- */

static bool write_address(uint8_t out[ADDRESS_BYTES], const struct sockaddr_storage *address)
{
	const struct sockaddr_in *in = (const void *)address;
	const struct sockaddr_in6 *in6 = (const void *)address;

	memset(out, 0, ADDRESS_BYTES);
	if (address->ss_family == AF_INET) {
		memset(out + 10, 0xff, 2);
		memcpy(out + 12, &in->sin_addr, 4);
		memcpy(out + 16, &in->sin_port, 2);
	} else if (address->ss_family == AF_INET6) {
		memcpy(out, &in6->sin6_addr, 16);
		memcpy(out + 16, &in6->sin6_port, 2);
	}
	return address->ss_family == AF_INET || address->ss_family == AF_INET6;
}

static bool find_tag(uint8_t tag[8], const struct greeting *greeting, const uint8_t *key,
		     const struct sockaddr_storage *address)
{
	uint8_t what[sizeof greeting->nonce + ADDRESS_BYTES];
	uint64_t hash;

	memcpy(what, greeting->nonce, sizeof greeting->nonce);
	if (!write_address(what + sizeof greeting->nonce, address))
		return false;
	hash = siphash(key, what, sizeof what);
	for (int i = 0; i < 8; i++)
		tag[i] = (uint8_t)(hash >> 8 * i);
	return true;
}

bool greeting_make(struct greeting *greeting, const uint8_t key[GREETING_KEY_BYTES], const struct sockaddr_storage *to)
{
	memcpy(greeting->magic, magic, sizeof magic);
	return getrandom(greeting->nonce, sizeof greeting->nonce, 0) == (ssize_t)sizeof greeting->nonce &&
	       find_tag(greeting->tag, greeting, key, to);
}

bool greeting_may_begin(const void *bytes, size_t n)
{
	return !memcmp(bytes, magic, n < sizeof magic ? n : sizeof magic);
}

/* How long the comparison of tags takes says nothing of how many of their bytes are right. */
bool greeting_is_genuine(const struct greeting *greeting, const uint8_t key[GREETING_KEY_BYTES],
			 const struct sockaddr_storage *at)
{
	uint8_t tag[8], difference = 0;

	if (!greeting_may_begin(greeting, sizeof *greeting) || !find_tag(tag, greeting, key, at))
		return false;
	for (int i = 0; i < 8; i++)
		difference |= tag[i] ^ greeting->tag[i];
	return difference == 0;
}

/* --- Greetings seen --- */

/* The tag is a hash itself. */
static uint64_t *place_of_tag(uint64_t *table, size_t places, uint64_t tag)
{
	size_t at = tag % places;

	while (table[at] && table[at] != tag)
		at = (at + 1) % places;
	return &table[at];
}

static bool make_room_for_tag(struct greetings_seen *seen)
{
	size_t places = seen->places ? 2 * seen->places : 64;
	uint64_t *table;

	if (2 * seen->used < seen->places)
		return true;
	table = calloc(places, sizeof *table);
	if (!table)
		return false;
	for (size_t i = 0; i < seen->places; i++)
		if (seen->tag[i])
			*place_of_tag(table, places, seen->tag[i]) = seen->tag[i];
	free(seen->tag);
	seen->tag = table;
	seen->places = places;
	return true;
}

bool greetings_seen_add(struct greetings_seen *seen, const struct greeting *greeting)
{
	uint64_t tag = little_endian(greeting->tag, sizeof greeting->tag), *place;

	if (!make_room_for_tag(seen))
		return false;
	tag += tag == 0;
	place = place_of_tag(seen->tag, seen->places, tag);
	if (*place)
		return false;
	*place = tag;
	seen->used++;
	return true;
}

void greetings_seen_free(struct greetings_seen *seen)
{
	free(seen->tag);
	memset(seen, 0, sizeof *seen);
}
