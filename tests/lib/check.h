/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What every test of the API needs. A check that fails says file, line, PE, what it got and what it
 * expected, and ends the job with exit code 1. Time limits are the runner's business.
 */
#ifndef TESTS_LIB_CHECK_H
#define TESTS_LIB_CHECK_H

#include <shmem.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int me, npes;

/* What is being tried, for the message of a check that fails. */
static char check_note[200];
#define NOTE(...) snprintf(check_note, sizeof check_note, __VA_ARGS__)

__attribute__((unused, noreturn, format(printf, 3, 4))) static void check_failed(const char *file, int line,
										 const char *format, ...)
{
	char text[800];
	int length = snprintf(text, sizeof text, "%s:%d: PE %d: ", file, line, me);
	int up = 0;
	va_list arguments;

	va_start(arguments, format);
	length += vsnprintf(text + length, sizeof text - (size_t)length, format, arguments);
	va_end(arguments);
	if (length < (int)sizeof text)
		snprintf(text + length, sizeof text - (size_t)length, "%s%s", check_note[0] ? " -- " : "", check_note);
	fprintf(stderr, "%s\n", text);
	fflush(stderr);
	shmem_query_initialized(&up);
	if (up)
		shmem_global_exit(1);
	_exit(1);
}

#define CHECK(condition)                                                            \
	do {                                                                        \
		if (!(condition))                                                   \
			check_failed(__FILE__, __LINE__, "not so: %s", #condition); \
	} while (0)

#ifdef __cplusplus
#define CHECK_AUTO auto
#else
#define CHECK_AUTO __auto_type
#endif

/*
 * Two numbers of one type. Printed as long double, which holds every integer of 64 bits exactly on
 * x86.
 */
#define CHECK_EQUAL(got, expected)                                                                                   \
	do {                                                                                                         \
		CHECK_AUTO got_ = (got);                                                                             \
		__typeof__(got_) expected_ = (expected);                                                             \
		if (!(got_ == expected_))                                                                            \
			check_failed(__FILE__, __LINE__, "%s: got %.21Lg, expected %.21Lg", #got, (long double)got_, \
				     (long double)expected_);                                                        \
	} while (0)

#define CHECK_BYTES(got, expected, bytes) check_bytes(__FILE__, __LINE__, got, expected, bytes)

__attribute__((unused)) static void check_bytes(const char *file, int line, const void *got, const void *expected,
						size_t bytes)
{
	const unsigned char *g = (const unsigned char *)got, *e = (const unsigned char *)expected;
	size_t i = 0;

	if (bytes == 0 || !memcmp(got, expected, bytes))
		return;
	while (g[i] == e[i])
		i++;
	check_failed(file, line, "byte %zu of %zu: got 0x%02x, expected 0x%02x", i, bytes, g[i], e[i]);
}

/* Every byte of an area that nobody may have touched. */
#define CHECK_FILL(area, byte, bytes) check_fill(__FILE__, __LINE__, area, byte, bytes)

__attribute__((unused)) static void check_fill(const char *file, int line, const void *area, int byte, size_t bytes)
{
	const unsigned char *a = (const unsigned char *)area;

	for (size_t i = 0; i < bytes; i++)
		if (a[i] != (unsigned char)byte)
			check_failed(file, line, "byte %zu of %zu, not to be touched: got 0x%02x, expected 0x%02x", i,
				     bytes, a[i], (unsigned char)byte);
}

/* The n-th of a fixed row of numbers without a pattern (the finaliser of splitmix64). */
__attribute__((unused)) static uint64_t noise(uint64_t n)
{
	n = (n + 1) * 0x9e3779b97f4a7c15;
	n = (n ^ (n >> 30)) * 0xbf58476d1ce4e5b9;
	n = (n ^ (n >> 27)) * 0x94d049bb133111eb;
	return n ^ (n >> 31);
}

/* Bytes that identify where they come from: of which PE, which round, which place. */
__attribute__((unused)) static void fill_noise(void *area, size_t bytes, uint64_t seed)
{
	unsigned char *a = (unsigned char *)area;

	for (size_t i = 0; i < bytes; i += 8) {
		uint64_t word = noise(seed * 0x100000000 + i / 8);

		memcpy(a + i, &word, bytes - i < 8 ? bytes - i : 8);
	}
}

/*
 * The runner asks for less where everything is slow: over a network, under valgrind and the like.
 */
__attribute__((unused)) static long ease(void)
{
	const char *ease = getenv("TEST_EASE");

	return ease && atol(ease) > 1 ? atol(ease) : 1;
}

/* A number of repetitions. */
__attribute__((unused)) static long eased(long count)
{
	count /= ease();
	return count > 2 ? count : 2;
}

/* Does a test run this one of its many combinations? It runs all, unless ease is asked for. */
__attribute__((unused)) static bool is_selected(size_t combination)
{
	return ease() == 1 || combination % 4 == 0;
}

/* Does the runner say that we run on this path? (local, ucx-tcp, ucx-shm, mixed) */
__attribute__((unused)) static bool on_path(const char *name)
{
	const char *path = getenv("TEST_PATH");

	return path && !strcmp(path, name);
}

/*
 * Does SHMEM_PATHS name this network, as in ofi or cables? On hosts the path's name does not tell.
 */
__attribute__((unused)) static bool over_network(const char *name)
{
	const char *paths = getenv("SHMEM_PATHS");

	return paths && strstr(paths, name);
}

__attribute__((unused)) static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

__attribute__((unused)) static void sleep_for(double duration)
{
	struct timespec left = {(time_t)duration, (long)((duration - (double)(time_t)duration) * 1e9)};

	while (nanosleep(&left, &left) != 0)
		;
}

__attribute__((unused)) static void begin(void)
{
	shmem_init();
	me = shmem_my_pe();
	npes = shmem_n_pes();
}

__attribute__((unused)) static void *symmetric(size_t bytes)
{
	void *memory = shmem_malloc(bytes);

	if (!memory)
		check_failed(__FILE__, __LINE__, "shmem_malloc(%zu) returned NULL", bytes);
	return memory;
}

/* Every PE got here: if one has failed, the job ends with its exit code and not with ours. */
__attribute__((unused)) static int end(void)
{
	shmem_barrier_all();
	shmem_finalize();
	return 0;
}

#endif
