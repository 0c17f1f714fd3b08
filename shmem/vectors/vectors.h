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
void vector_free(struct vector *vector);

#endif
