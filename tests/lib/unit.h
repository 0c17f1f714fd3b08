/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks for tests of single functions, which need no job. Prints every one that fails. */
#ifndef TESTS_LIB_UNIT_H
#define TESTS_LIB_UNIT_H

#include <stdio.h>

static int unit_failures;

#define EXPECT(condition, ...)                                                                    \
	do {                                                                                      \
		if (!(condition)) {                                                               \
			fprintf(stderr, "%s:%d: not so: %s -- ", __FILE__, __LINE__, #condition); \
			fprintf(stderr, __VA_ARGS__);                                             \
			fputc('\n', stderr);                                                      \
			unit_failures++;                                                          \
		}                                                                                 \
	} while (0)

#endif
