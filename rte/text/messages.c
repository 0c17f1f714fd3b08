/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "rte/rte.h"
#include "rte/settings.h"
#include "routine_names.h"

struct rte_routine_names rte_routine_names;

/* Known from the launcher even before rte_init and after rte_finalize. */
static int my_number(void)
{
	const char *rank = getenv("PMIX_RANK");

	return rte.n_pes > 0 || !rank ? rte.pe : atoi(rank);
}

/* One write, so that lines of several PEs do not tear. */
static void write_line(const char *routine, const char *format, va_list arguments)
{
	char line[1024], name[128];
	int length = snprintf(line, sizeof line, "torushmem: PE %d: ", my_number()), more;

	if (routine && rte_routine_names.to_print)
		routine = rte_routine_names.to_print(routine, name, sizeof name);
	if (routine)
		length += snprintf(line + length, sizeof line - (size_t)length, "%s: ", routine);
	more = vsnprintf(line + length, sizeof line - (size_t)length - 1, format, arguments);
	length += more;
	if (length > (int)sizeof line - 2)
		length = (int)sizeof line - 2;
	line[length] = '\n';
	if (write(STDERR_FILENO, line, (size_t)length + 1) < 0)
		return; /* nobody reads stderr any more */
}

void rte_report(const char *routine, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	write_line(routine, format, arguments);
	va_end(arguments);
}

void rte_die(const char *routine, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	write_line(routine, format, arguments);
	va_end(arguments);
	rte_abort(1, RTE_SAID);
}

void rte_die_together(const char *routine, const char *format, ...)
{
	const struct timespec grace = {0, 300000000};
	va_list arguments;

	if (my_number() != 0)
		nanosleep(&grace, NULL);
	va_start(arguments, format);
	write_line(routine, format, arguments);
	va_end(arguments);
	rte_abort(1, RTE_SAID);
}

void rte_let_others_speak(void)
{
	const struct timespec grace = {5, 0};

	nanosleep(&grace, NULL);
}

void rte_debug(const char *format, ...)
{
	va_list arguments;

	if (!setting_given(SETTING_DEBUG))
		return;
	va_start(arguments, format);
	write_line(NULL, format, arguments);
	va_end(arguments);
}
