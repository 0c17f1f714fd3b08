/* SPDX-License-Identifier: BSD-3-Clause */
/* What the routines of OpenSHMEM 1.3's Fortran interface need beyond the C routines. */
#ifndef FORTRAN_LEGACY_H
#define FORTRAN_LEGACY_H

#include "fortran.h"

/* Where a program may have a routine of its own by this name. */
#define WEAK __attribute__((weak))

/* Other names by which compilers may call a routine. */
#define NAMES(lower, upper, attributes)                                                      \
	extern __typeof__(lower##_) lower##__ __attribute__((alias(#lower "_"))) attributes; \
	extern __typeof__(lower##_) upper __attribute__((alias(#lower "_"))) attributes;

/* A number of elements; ends the job if it is negative. */
int fortran_legacy_count(const int *count, const char *argument, const char *routine);

/*
 * The words of C in an array of default integers, which must be long enough and need not be
 * aligned.
 */
long *fortran_psync(void *psync);

void fortran_info_get_version(int *major, int *minor);
void fortran_info_get_name(char *text, size_t length);

/*
 * addr is the address of a Cray pointer. errcode is 0 or an error; if abort is not 0, an error ends
 * the job.
 */
void fortran_shpalloc(void *addr, const int *length, int *errcode, const int *abort);
void fortran_shpdeallc(void *addr, int *errcode, const int *abort);
void fortran_shpclmove(void *addr, const int *length, int *errcode, const int *abort);

void fortran_set_lock(void *lock);
void fortran_clear_lock(void *lock);
int fortran_test_lock(void *lock);

void fortran_real16_sum_to_all(void *dest, const void *source, int nreduce, int start, int log_stride, int size,
			       void *work, long *psync);
void fortran_real16_prod_to_all(void *dest, const void *source, int nreduce, int start, int log_stride, int size,
				void *work, long *psync);
void fortran_real16_max_to_all(void *dest, const void *source, int nreduce, int start, int log_stride, int size,
			       void *work, long *psync);
void fortran_real16_min_to_all(void *dest, const void *source, int nreduce, int start, int log_stride, int size,
			       void *work, long *psync);

#endif
