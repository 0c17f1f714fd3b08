/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For copies.f90: counts the bytes that the Fortran library copies, and sees what it hands on to C.
 * These definitions come before those of the libraries; nothing moves.
 */
#include <shmem.h>

struct {
	size_t copied, calls, moved; /* bytes, calls, bytes */
	const char *first, *last;    /* local side: where it begins and ends */
} seen;

void *memcpy(void *dest, const void *source, size_t n)
{
	volatile char *to = dest;
	const volatile char *from = source;

	seen.copied += n;
	for (size_t i = 0; i < n; i++)
		to[i] = from[i];
	return dest;
}

static void see(const void *local, size_t n)
{
	if (seen.calls++ == 0 || (const char *)local < seen.first)
		seen.first = local;
	if ((const char *)local + n > seen.last)
		seen.last = (const char *)local + n;
	seen.moved += n;
}

void shmem_ctx_putmem(shmem_ctx_t ctx, void *dest, const void *source, size_t n, int pe)
{
	(void)ctx, (void)dest, (void)pe;
	see(source, n);
}

void shmem_ctx_getmem(shmem_ctx_t ctx, void *dest, const void *source, size_t n, int pe)
{
	(void)ctx, (void)source, (void)pe;
	see(dest, n);
}

void shmem_ctx_getmem_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t n, int pe)
{
	shmem_ctx_getmem(ctx, dest, source, n, pe);
}

void copies_begin(void)
{
	seen.copied = seen.calls = seen.moved = 0;
	seen.first = seen.last = NULL;
}

void copies_result(size_t *copied, size_t *calls, size_t *moved, const char *from, size_t length, _Bool *inside)
{
	*copied = seen.copied;
	*calls = seen.calls;
	*moved = seen.moved;
	*inside = seen.first >= from && seen.last <= from + length;
}
