/* SPDX-License-Identifier: BSD-3-Clause */
#include "greeting.h"

#include <endian.h>
#include <netinet/in.h>
#include <search.h>
#include <string.h>
#include <sys/random.h>

static const char magic[8] = "torushm1";

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

uint64_t siphash(const uint64_t key[2], const uint64_t *words, size_t n)
{
	const uint64_t low = le64toh(key[0]), high = le64toh(key[1]);
	uint64_t v[4] = {low ^ 0x736f6d6570736575, high ^ 0x646f72616e646f6d, low ^ 0x6c7967656e657261,
			 high ^ 0x7465646279746573};

	for (size_t i = 0; i <= n; i++) { /* the length in bytes comes last */
		uint64_t word = i < n ? le64toh(words[i]) : (uint64_t)(8 * n) << 56;

		v[3] ^= word;
		siphash_rounds(v, 2);
		v[0] ^= word;
	}
	v[2] ^= 0xff;
	siphash_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* --- Greetings --- */

/* The tag is over the nonce, the host as IPv6 has it (::ffff:a.b.c.d), the port, and zeros. */
static bool find_tag(uint64_t *tag, const struct greeting *greeting, const uint64_t key[2],
		     const struct sockaddr_storage *address)
{
	const struct sockaddr_in *in = (const void *)address;
	const struct sockaddr_in6 *in6 = (const void *)address;
	uint64_t words[5] = {greeting->nonce[0], greeting->nonce[1]};
	uint8_t *host = (uint8_t *)&words[2], *port = (uint8_t *)&words[4];

	if (address->ss_family == AF_INET) {
		memset(host + 10, 0xff, 2);
		memcpy(host + 12, &in->sin_addr, sizeof in->sin_addr);
		memcpy(port, &in->sin_port, sizeof in->sin_port);
	} else {
		memcpy(host, &in6->sin6_addr, sizeof in6->sin6_addr);
		memcpy(port, &in6->sin6_port, sizeof in6->sin6_port);
	}
	*tag = htole64(siphash(key, words, sizeof words / sizeof words[0]));
	return address->ss_family == AF_INET || address->ss_family == AF_INET6;
}

bool greeting_make(struct greeting *greeting, const uint64_t key[2], const struct sockaddr_storage *to)
{
	memcpy(greeting->magic, magic, sizeof magic);
	return getrandom(greeting->nonce, sizeof greeting->nonce, 0) == (ssize_t)sizeof greeting->nonce &&
	       find_tag(&greeting->tag, greeting, key, to);
}

bool greeting_is_genuine(const struct greeting *greeting, const uint64_t key[2], const struct sockaddr_storage *at)
{
	uint64_t tag;

	return !memcmp(greeting->magic, magic, sizeof magic) && find_tag(&tag, greeting, key, at) &&
	       tag == greeting->tag;
}

bool greeting_receive(int fd, const uint64_t key[2], struct greeting *greeting)
{
	struct sockaddr_storage here;
	socklen_t size = sizeof here;

	return getsockname(fd, (struct sockaddr *)&here, &size) == 0 &&
	       recv(fd, greeting, sizeof *greeting, MSG_DONTWAIT) == (ssize_t)sizeof *greeting &&
	       greeting_is_genuine(greeting, key, &here);
}

/* --- Greetings seen --- */

/* The tree of tsearch keeps the tags themselves. */
_Static_assert(sizeof(void *) == sizeof(uint64_t), "a tag in the place of a pointer");

static int compare_tags(const void *one, const void *other)
{
	return ((uintptr_t)one > (uintptr_t)other) - ((uintptr_t)one < (uintptr_t)other);
}

bool greetings_seen_add(void **seen, const struct greeting *greeting)
{
	void *tag = (void *)(uintptr_t)greeting->tag;

	return !tfind(tag, seen, compare_tags) && tsearch(tag, seen, compare_tags);
}

/* A node of the tree begins with what it keeps. */
void greetings_seen_free(void **seen)
{
	while (*seen)
		tdelete(**(void ***)seen, seen, compare_tags);
}
