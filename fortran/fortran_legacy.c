/* SPDX-License-Identifier: BSD-3-Clause */
#include "legacy.h"

#include <shmemx_binding.h>
#include <stdlib.h>
#include <time.h>

int fortran_legacy_count(const int *count, const char *argument, const char *routine)
{
	if (*count < 0)
		fortran_die(routine, "%s=%d is negative", argument, *count);
	return *count;
}

long *fortran_psync(void *psync)
{
	return (long *)(((uintptr_t)psync + sizeof(long) - 1) & ~(sizeof(long) - 1));
}

/* --- Query --- */

void fortran_info_get_version(int *major, int *minor)
{
	shmem_info_get_version(major, minor);
}

void fortran_info_get_name(char *text, size_t length)
{
	char name[SHMEM_MAX_NAME_LEN];
	size_t used;

	shmem_info_get_name(name);
	used = strlen(name);
	memset(text, ' ', length);
	memcpy(text, name, used < length ? used : length);
}

/* --- Memory --- */

enum { NO_ERROR = 0, BAD_LENGTH = -1, NO_MEMORY = -2, BAD_ADDRESS = -3 };

static void give_error(int error, int *errcode, const int *abort, const char *routine)
{
	*errcode = error;
	if (*abort == 0)
		return;
	if (error == BAD_LENGTH)
		fortran_die(routine, "LENGTH is not positive");
	if (error == BAD_ADDRESS)
		fortran_die(routine, "ADDR is not the address of memory from SHPALLOC");
}

/* The library may have said already that there is no room. */
static void give_memory(const void *memory, size_t bytes, int *errcode, const int *abort)
{
	*errcode = memory ? NO_ERROR : NO_MEMORY;
	if (!memory && *abort != 0)
		shmemx_binding_no_room(bytes);
}

/* Lengths are in words of 32 bits. */
static size_t bytes_of(const int *length)
{
	return (size_t)*length * 4;
}

void fortran_shpalloc(void *addr, const int *length, int *errcode, const int *abort)
{
	void **pointer = addr;

	*pointer = NULL;
	if (*length <= 0) {
		give_error(BAD_LENGTH, errcode, abort, "SHPALLOC");
		return;
	}
	*pointer = shmem_malloc(bytes_of(length));
	give_memory(*pointer, bytes_of(length), errcode, abort);
}

void fortran_shpdeallc(void *addr, int *errcode, const int *abort)
{
	void **pointer = addr;

	if (*pointer)
		shmem_free(*pointer);
	give_error(*pointer ? NO_ERROR : BAD_ADDRESS, errcode, abort, "SHPDEALLC");
	*pointer = NULL;
}

void fortran_shpclmove(void *addr, const int *length, int *errcode, const int *abort)
{
	void **pointer = addr, *moved;

	if (*length <= 0) {
		give_error(BAD_LENGTH, errcode, abort, "SHPCLMOVE");
		return;
	}
	moved = shmem_realloc(*pointer, bytes_of(length));
	if (moved)
		*pointer = moved;
	give_memory(moved, bytes_of(length), errcode, abort);
}

/*
 * --- Locks ---
 *
 * A Fortran lock is a default integer, half of what a C lock needs. It lives on PE 0: the upper
 * half is the next ticket, the lower half the ticket that holds the lock. Tickets count modulo
 * 65536, so fewer PEs than that may wait.
 */
#define TICKET 0x10000u

static uint32_t waiting(uint32_t word)
{
	return word >> 16;
}

static uint32_t serving(uint32_t word)
{
	return word & (TICKET - 1);
}

void fortran_set_lock(void *lock)
{
	uint32_t mine = waiting(shmem_uint32_atomic_fetch_add(lock, TICKET, 0));
	struct timespec pause = {0, 1000};

	while (serving(shmem_uint32_atomic_fetch(lock, 0)) != mine) {
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < 200000)
			pause.tv_nsec *= 2;
	}
}

void fortran_clear_lock(void *lock)
{
	uint32_t now;

	shmem_quiet();
	now = serving(shmem_uint32_atomic_fetch(lock, 0));
	/* Without a carry into the other half. */
	shmem_uint32_atomic_add(lock, now == TICKET - 1 ? -(TICKET - 1) : 1, 0);
	shmem_quiet();
}

int fortran_test_lock(void *lock)
{
	uint32_t now = shmem_uint32_atomic_fetch(lock, 0);

	return waiting(now) != serving(now) || shmem_uint32_atomic_compare_swap(lock, now, now + TICKET, 0) != now;
}

/*
 * --- Reductions of 16-byte reals, which C does not have on every machine ---
 *
 * Each PE receives the numbers of all PEs and reduces them itself, in PE order, so that all have
 * the same result. No PE writes dest, which may be its source, before all have read.
 */
#if defined(__SIZEOF_FLOAT128__)
typedef __float128 real16;
#else
typedef long double real16;
_Static_assert(sizeof(real16) == 16, "a long double is what Fortran calls real*16");
#endif

typedef void (*fold)(void *into, const void *other, int n);

static void reduce_real16(void *dest, const void *source, int nreduce, int start, int log_stride, int size, long *psync,
			  fold combine, const char *routine)
{
	size_t bytes = (size_t)nreduce * 16;
	char *result = malloc(2 * bytes + 1), *other = result + bytes;

	if (!result)
		fortran_die(routine, "there is no memory for %zu bytes", 2 * bytes);
	shmem_barrier(start, log_stride, size, psync);
	for (int i = 0; i < size; i++) {
		shmem_getmem(i == 0 ? result : other, source, bytes, start + (i << log_stride));
		if (i > 0)
			combine(result, other, nreduce);
	}
	shmem_barrier(start, log_stride, size, psync);
	memcpy(dest, result, bytes);
	free(result);
}

#define ELEMENTS(STATEMENT)                                   \
	real16 a, b;                                          \
	for (int i = 0; i < n; i++) {                         \
		memcpy(&a, (char *)into + 16 * i, 16);        \
		memcpy(&b, (const char *)other + 16 * i, 16); \
		STATEMENT;                                    \
		memcpy((char *)into + 16 * i, &a, 16);        \
	}

#define REAL16(OP, ROUTINE, STATEMENT)                                                                            \
	static void fold_##OP(void *into, const void *other, int n)                                               \
	{                                                                                                         \
		ELEMENTS(STATEMENT)                                                                               \
	}                                                                                                         \
	void fortran_real16_##OP##_to_all(void *dest, const void *source, int nreduce, int start, int log_stride, \
					  int size, void *work, long *psync)                                      \
	{                                                                                                         \
		(void)work;                                                                                       \
		reduce_real16(dest, source, nreduce, start, log_stride, size, psync, fold_##OP, ROUTINE);         \
	}
REAL16(sum, "SHMEM_REAL16_SUM_TO_ALL", a += b)
REAL16(prod, "SHMEM_REAL16_PROD_TO_ALL", a *= b)
REAL16(max, "SHMEM_REAL16_MAX_TO_ALL", a = b > a ? b : a)
REAL16(min, "SHMEM_REAL16_MIN_TO_ALL", a = b < a ? b : a)
