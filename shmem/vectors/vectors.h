/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SHMEM_VECTORS_H
#define SHMEM_VECTORS_H

#include "shmem/collectives.h"

/*
 * Collectives of blocks with a type as an argument; those in whose name is a v take a count and a
 * displacement for each member.
 */

/* The bytes of so many elements. Ends the job if there is no such type. */
size_t vectors_bytes(const struct set *set, size_t count, shmemx_type_t type);
void vectors_check_root(const struct set *set, int root);

/*
 * For COMMS_CALL, which checks afterwards that the library is up: bytes of this member's block, or
 * of all blocks.
 */
size_t vectors_counted(shmem_team_t team, const size_t *counts, shmemx_type_t type, bool all);

/* Blocks by member: where they begin in the array, and their lengths, in bytes. */
struct vector {
	size_t *at, *bytes;
	size_t end; /* of the last block */
	size_t sum, longest;
};

/* What the user passes; `what` names the array, dest or source. */
struct vector_arguments {
	const size_t *counts, *displs;
	shmemx_type_t type;
	const char *what;
};
/* Free it with vector_free. */
struct vector vector_make(const struct set *set, const struct vector_arguments *arguments);
/*
 * Blocks of so many bytes, the one of member i at i * step, for all members or only for one (-1:
 * all); those of the others are empty.
 */
struct vector vector_of_equal(const struct set *set, size_t bytes, size_t step, int only);
/* Those of a gather and of a scatter. End the job if the team has no such root. */
struct vectors_rooted {
	struct vector to, from;
};
struct vectors_rooted vectors_gather(const struct set *set, size_t nelems, shmemx_type_t type, int root);
struct vectors_rooted vectors_scatter(const struct set *set, size_t nelems, shmemx_type_t type, int root);
struct vector vector_copy(const struct set *set, const struct vector *vector);
void vector_free(struct vector *vector);
/* A number that differs if the blocks of n members do. */
long vector_checksum(const struct vector *blocks, int n);
/* Ends the job if another member expects another number of bytes than this one has for it. */
struct vector_pair {
	const struct set *set;
	int member;
	size_t bytes, theirs;
	shmemx_type_t type;
	bool counted; /* the program passes counts of source and of dest */
};
void vectors_check_pair(const struct vector_pair *pair);

/*
 * Blocks of an alltoallv that go from neighbour to neighbour, as if all were as long as the longest
 * one: for torus_links_alltoall.h, whose nodes are members.
 */
struct linked_blocks {
	char *dest;
	const char *source;
	struct vector to, from; /* blocks in dest and in source */
	size_t done;		/* of each block, in earlier rounds */
};
void vectors_load(const void *linked_blocks, int member, size_t at, size_t bytes, char *out);
void vectors_store(const void *linked_blocks, int member, size_t at, size_t bytes, const char *in);

#endif
