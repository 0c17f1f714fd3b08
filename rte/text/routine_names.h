/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_ROUTINE_NAMES_H
#define RTE_ROUTINE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * What the program calls the routines of the library: the layer that has them sets both functions
 * when the library is loaded, for messages may come before the job starts. NULL: nobody knows.
 */
struct rte_routine_names {
	/* The name to print in place of `routine`. The result may be in buffer. */
	const char *(*to_print)(const char *routine, char *buffer, size_t size);
	/* Is this symbol (without the p of a profiling name) a routine? Signal handlers ask. */
	bool (*is_routine)(const char *symbol);
};
extern struct rte_routine_names rte_routine_names;

#endif
