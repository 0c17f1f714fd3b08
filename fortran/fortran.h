/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FORTRAN_FORTRAN_H
#define FORTRAN_FORTRAN_H

#include <ISO_Fortran_binding.h>
#include <complex.h>
#include <shmem.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * The implementation of the Fortran interface, on top of the public C routines.
 *
 * An array arrives as a C descriptor: address, bytes of an element, and extent and stride of each
 * dimension. A section of it is a row of contiguous runs; two sections of equal size are moved
 * piece by piece; a piece is contiguous in both.
 *
 * fortran_sections.c  runs and pieces, and checks of arrays
 * fortran_rma.c       puts and gets of sections
 * fortran_allocate.c  symmetric memory for pointers
 * bodies.h            what each generic name does with arrays; fortran/generics.awk makes a routine
 *                     of it for each type
 * fortran_setup.c     routines without a type
 * fortran_legacy.c    what the routines of OpenSHMEM 1.3's Fortran interface need;
 *                     fortran/legacy.awk makes them of fortran/legacy.def
 *
 * fortran_grid.c, fortran_exchange.c, fortran_plans.c, fortran_rdma.c and fortran_stats.c implement
 * the module shmemx.
 */

#define API __attribute__((visibility("default")))
#define FORTRAN_LIKELY(condition) __builtin_expect(condition, 1)

/* The status that C returns is an optional argument of Fortran. */
#define FORTRAN_STATUS(stat, call)         \
	do {                               \
		int status_ = call;        \
		if (stat)                  \
			*(stat) = status_; \
	} while (0)

typedef CFI_cdesc_t array;

/* Ends the job with a message in the name of a Fortran routine. */
_Noreturn void fortran_die(const char *routine, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Elements of an array with a shape; ends the job if it has none (an assumed-size array). */
size_t fortran_elements(const array *a, const char *argument, const char *routine);

/* The same for an array that must be contiguous. */
size_t fortran_contiguous(const array *a, const char *argument, const char *routine);

/* Copies a C string to a character variable, padded with blanks or truncated. */
void fortran_text(const array *variable, const char *text);

/* One array's contiguous runs, in the order of its elements. */
struct runs {
	const array *array;
	char *at;    /* rest of the current run */
	size_t left; /* bytes */
	size_t run;  /* bytes of each run */
	int first;   /* lowest dimension that is not part of a run */
	CFI_index_t index[CFI_MAX_RANK];
};

/* Two arrays with the same number of elements. The next piece is dest, source and bytes. */
struct pieces {
	struct runs to, from;
	size_t left; /* bytes */
	void *dest;
	const void *source;
	size_t bytes, elements;
};

/* Ends the job with a message if the arrays differ in size. */
void fortran_pieces_begin(struct pieces *pieces, const array *dest, const array *source, const char *routine);
/* Returns false after the last piece. The first piece of empty arrays has no bytes. */
bool fortran_pieces_next(struct pieces *pieces);

/* Copies an array to one with the same number of elements. */
void fortran_copy(const array *dest, const array *source, const char *routine);

enum fortran_way { FORTRAN_BLOCKING, FORTRAN_NBI };
void fortran_put(shmem_ctx_t ctx, const array *dest, const array *source, int pe, enum fortran_way way,
		 const char *routine);
void fortran_get(shmem_ctx_t ctx, const array *dest, const array *source, int pe, enum fortran_way way,
		 const char *routine);

struct fortran_signal {
	uint64_t *address, value;
	int op;
};
void fortran_put_signal(shmem_ctx_t ctx, const array *dest, const array *source, const struct fortran_signal *signal,
			int pe, enum fortran_way way, const char *routine);

/* For the strided routines: blocks of elements in contiguous arrays. */
struct fortran_blocks {
	int dst, sst, size, count;
};
void fortran_iput(shmem_ctx_t ctx, const array *dest, const array *source, const struct fortran_blocks *blocks, int pe,
		  const char *routine);
void fortran_iget(shmem_ctx_t ctx, const array *dest, const array *source, const struct fortran_blocks *blocks, int pe,
		  const char *routine);

/*
 * The count argument of a collective of contiguous arrays: the elements of source. Checks that dest
 * has `times` as many.
 */
size_t fortran_count(const array *dest, const array *source, size_t times, const char *routine);
/*
 * Counts or displacements of an array's elements, one for each PE of the team, in bytes; NULL for
 * an argument that is not present. The caller frees them.
 */
size_t *fortran_in_bytes(const size_t *elements, shmem_team_t team, const array *of, const char *routine);
/*
 * Ends the job if the team is invalid. Comes before checks of sizes, which mean nothing without a
 * team.
 */
void fortran_check_team(shmem_team_t team, const char *routine);
/* The PEs of a team, which is checked. */
size_t fortran_team_size(shmem_team_t team, const char *routine);

/* Elements of source for each PE of the team, in equal shares. */
size_t fortran_share(shmem_team_t team, const array *dest, const array *source, const char *routine);
/* Elements of the block of one PE, of which source has one for each PE of the team. */
size_t fortran_block(shmem_team_t team, const array *dest, const array *source, const char *routine);

/* Strides and nelems are in elements. */
/* The number of elements for each PE. Ends the job if it is negative, or an array has no room. */
size_t fortran_check_strided(shmem_team_t team, const array *dest, const array *source,
			     const struct fortran_blocks *blocks, const char *routine);
int fortran_alltoalls(shmem_team_t team, const array *dest, const array *source, const struct fortran_blocks *blocks,
		      const char *routine);

/* Indices in a set of words, as C counts them, until they are written to a Fortran array. */
struct fortran_indices {
	const array *array;
	size_t *places, few[64];
};
void fortran_indices_begin(struct fortran_indices *indices, const array *a, size_t elements, const char *routine);
/* Returns the number of indices. */
int fortran_indices_end(struct fortran_indices *indices, size_t found);

/* The values that the words of a set are compared with. */
const void *fortran_values(const array *values, size_t elements, const char *routine);

/* The status array of a set of words, or NULL; ends the job if it is too short. */
const int *fortran_status(const array *status, size_t elements, const char *routine);

void fortran_allocate(array *a, const array *shape, const array *lower, int *stat, const char *routine);
void fortran_deallocate(array *a, const char *routine);
void fortran_ptr(const array *dest, array *pointer, int pe, const char *routine);

/* One element of a size known to the compiler. */
static inline bool fortran_put_scalar(shmem_ctx_t ctx, const array *dest, const array *source, size_t bytes, int pe)
{
	uint64_t eight;
	uint32_t four;

	if (!FORTRAN_LIKELY(((unsigned char)dest->rank | (unsigned char)source->rank) == 0))
		return false;
	if (bytes == 8) {
		memcpy(&eight, source->base_addr, 8);
		if (ctx == SHMEM_CTX_DEFAULT)
			shmem_uint64_p(dest->base_addr, eight, pe);
		else
			shmem_ctx_uint64_p(ctx, dest->base_addr, eight, pe);
	} else if (bytes == 4) {
		memcpy(&four, source->base_addr, 4);
		if (ctx == SHMEM_CTX_DEFAULT)
			shmem_uint32_p(dest->base_addr, four, pe);
		else
			shmem_ctx_uint32_p(ctx, dest->base_addr, four, pe);
	} else {
		return false;
	}
	return true;
}

#endif
