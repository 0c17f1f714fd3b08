/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_GREETING_H
#define COMMS_GREETING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/*
 * The first bytes of a connection between two processes of a job: they prove that the one that
 * connects knows the job's key (docs/protocols/greeting.md).
 */

#define GREETING_KEY_BYTES 16

struct greeting {
	uint8_t magic[8];
	uint8_t nonce[16]; /* random */
	/* SipHash-2-4, with the key, of the nonce and of the address that was connected to. */
	uint8_t tag[8];
};
_Static_assert(sizeof(struct greeting) == 32, "docs/protocols/greeting.md has the layout");

/* False: the kernel has no random bytes, or this is no address of TCP. */
bool greeting_make(struct greeting *greeting, const uint8_t key[GREETING_KEY_BYTES], const struct sockaddr_storage *to);

/* Can these first bytes of one begin a greeting? */
bool greeting_may_begin(const void *bytes, size_t n);

/* Was it made with this key, for this address? */
bool greeting_is_genuine(const struct greeting *greeting, const uint8_t key[GREETING_KEY_BYTES],
			 const struct sockaddr_storage *at);

/* The tags of greetings that were accepted, so that none is accepted twice. All zero: none. */
struct greetings_seen {
	uint64_t *tag; /* an open hash table; 0: free */
	size_t places, used;
};

/* False: it was there already, or there is no memory. */
bool greetings_seen_add(struct greetings_seen *seen, const struct greeting *greeting);
void greetings_seen_free(struct greetings_seen *seen);

/* SipHash-2-4. */
uint64_t siphash(const uint8_t key[GREETING_KEY_BYTES], const uint8_t *bytes, size_t n);

#endif
