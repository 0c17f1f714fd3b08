/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_GREETING_H
#define RTE_GREETING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/*
 * The first bytes of a connection between two processes of a job: they prove that the one that
 * connects knows the job's key, 16 random bytes (docs/protocols/greeting.md).
 */
struct greeting {
	char magic[8];
	uint64_t nonce[2]; /* random */
	uint64_t tag;	   /* SipHash-2-4, with the key, of the nonce and the address */
};
_Static_assert(sizeof(struct greeting) == 32, "docs/protocols/greeting.md has the layout");

/* False: the kernel has no random bytes, or this is no address of TCP. */
bool greeting_make(struct greeting *greeting, const uint64_t key[2], const struct sockaddr_storage *to);

/* Was it made with this key, for this address? */
bool greeting_is_genuine(const struct greeting *greeting, const uint64_t key[2], const struct sockaddr_storage *at);

/*
 * Reads the greeting that a connection begins with, and no more. Returns false if it is not genuine
 * or not here yet. The caller then compares it with those seen.
 */
bool greeting_receive(int fd, const uint64_t key[2], struct greeting *greeting);

/*
 * Keeps the tags of greetings that were accepted, from NULL. False: it was there already, or there
 * is no memory.
 */
bool greetings_seen_add(void **seen, const struct greeting *greeting);
void greetings_seen_free(void **seen);

/* SipHash-2-4. The words are little-endian. */
uint64_t siphash(const uint64_t key[2], const uint64_t *words, size_t n);

#endif
