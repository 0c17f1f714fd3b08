/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_RENDEZVOUS_H
#define RTE_RENDEZVOUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "rte/rte.h"

/*
 * The rendezvous: each PE has one TCP connection to a thread of the root, which is PE 0 or the PE
 * that made the unique id. A connection begins with a greeting (rte/host/greeting.h); messages
 * follow. All numbers are in the byte order of the hosts, which must be the same.
 *
 * PE -> root                            root -> PE
 * JOIN      struct rendezvous_join      WELCOME   at once: the root's proof that it knows the key
 *                                       JOINED    when all have joined: struct rendezvous_joined,
 *                                                 the node of each PE, the host of each node
 * INFO      endpoint info               INFOS     when all have sent theirs: sizes, then infos; or
 *                                                 nothing in large jobs
 * ONE_INFO  (number: a PE)              ONE_INFO  that info
 * FENCE                                 FENCE     when all have sent one
 * ABORT     (number: the exit status)   ABORT     the same, to all
 * LEAVE                                 LEAVE     when all have sent one
 *
 * BROKEN    struct rte_error            BROKEN    the same, to the others
 * PONG                                  PING      from time to time: struct rte.silence_ms
 *
 * A connection that closes before LEAVE is a lost PE, or the lost root, and ends the job, or breaks
 * it (BROKEN). After BROKEN a PE closes its connection when it likes.
 */
enum rendezvous_kind { JOIN = 1, WELCOME, JOINED, INFO, INFOS, ONE_INFO, FENCE, ABORT, LEAVE, BROKEN, PING, PONG };

struct rendezvous_message {
	uint32_t kind;
	int32_t number;
	uint64_t bytes; /* that follow */
};

enum { RENDEZVOUS_HOST = 64, RENDEZVOUS_VERSION = 2 };

struct rendezvous_join {
	uint32_t version;
	int32_t pe, n_pes, pid;
	uint64_t node[2]; /* equal for PEs that can map each other's memory */
	char host[RENDEZVOUS_HOST];
	uint64_t returns_errors; /* must be the same on all PEs */
};

struct rendezvous_joined {
	int32_t root; /* its PE */
	int32_t n_nodes;
};

/* Above this number of PEs, infos are fetched one by one. */
enum { RENDEZVOUS_COLLECTED = 256 };

/* --- sockets.c --- */

struct rte_unique_id {
	char magic[8];
	uint64_t key[2];
	uint16_t port; /* in network byte order, as the addresses */
	uint16_t count;
	struct {
		uint32_t is_ip6;
		unsigned char host[16];
	} at[4];
	uint32_t unused[5];
};
_Static_assert(sizeof(struct rte_unique_id) == RTE_UNIQUE_ID_BYTES, "its size is public");

/* A listener at HOST:PORT, or at any free port if root is NULL. -1: rte.problem says why. */
int rendezvous_listen(const char *root);

enum { RENDEZVOUS_NO_ADDRESS = -2 };

/*
 * Connects to HOST:PORT, or to an address of the id. -1: errno; ENOENT: the name has no address
 * yet. RENDEZVOUS_NO_ADDRESS: it is no HOST:PORT, see rte.problem.
 */
int rendezvous_connect(const char *root, const struct rte_unique_id *id, struct sockaddr_storage *to);

/* Sends all, waiting. */
bool rendezvous_send(int fd, const void *data, size_t size);
bool rendezvous_send_message(int fd, enum rendezvous_kind kind, int number, const void *data, size_t size);
/* Receives all, waiting for each part until then (rte_clock_ms; 0: for ever). */
bool rendezvous_receive(int fd, void *data, size_t size, int64_t until);

/* The root's proof, over the nonce of the greeting that it has received. */
uint64_t rendezvous_proof(const uint64_t key[2], const uint64_t nonce[2]);

long rendezvous_seconds(void); /* SHMEM_START_SECONDS */

/* --- unique_id.c --- */

/* The listener of an id that this process has made, which the caller closes; -1: it has not. */
int rendezvous_listener_of(const struct rte_unique_id *id);

/* --- root.c --- */

/*
 * Starts the root's thread. `own` is the other end of this PE's connection, whose greeting is left
 * out. False: no memory or no thread.
 */
bool rendezvous_root_start(int listener, int own, int n_pes, const uint64_t key[2]);
/* Waits until all PEs have left, or the job is broken and this PE has closed its end. */
void rendezvous_root_stop(void);
/* In a child of fork: closes what the root has open. */
void rendezvous_root_close(void);

#endif
