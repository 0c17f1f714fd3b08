/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_ERRORS_H
#define RTE_ERRORS_H

#include <stdarg.h>
#include <stddef.h>

#include "rte/rte.h"

/* How rte_break makes and ends with the same lines as rte_die. */

/* The name that the program called; it may be in the buffer. */
const char *rte_routine_to_print(const char *routine, char *name, size_t size);
/* "torushmem: PE 3: routine: text"; returns its length. */
int rte_make_line(char *line, size_t size, const char *routine, const char *format, va_list arguments)
	__attribute__((format(printf, 4, 0)));
void rte_report_with(const char *routine, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));
_Noreturn void rte_die_with(const char *routine, const char *format, va_list arguments)
	__attribute__((format(printf, 2, 0)));
_Noreturn void rte_die_together_with(const char *routine, const char *format, va_list arguments)
	__attribute__((format(printf, 2, 0)));

#endif
