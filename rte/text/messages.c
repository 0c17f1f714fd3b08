/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "rte/rte.h"
#include "rte/settings.h"
#include "errors.h"
#include "routine_names.h"

/* The word of the root comes within milliseconds, or it does not come. */
enum { WORD_POLLS = 50 };

struct rte_routine_names rte_routine_names;

/* Known from the launcher even before rte_init and after rte_finalize. */
static int my_number(void)
{
	const char *rank = getenv("SHMEM_RANK");

	if (!rank)
		rank = getenv("PMIX_RANK");
	return rte.n_pes > 0 || !rank ? rte.pe : atoi(rank);
}

int rte_make_line(char *line, size_t size, const char *routine, const char *format, va_list arguments)
{
	char name[128];
	int length = snprintf(line, size, "torushmem: PE %d: ", my_number());

	if (routine)
		length += snprintf(line + length, size - (size_t)length,
				   "%s: ", rte_routine_to_print(routine, name, sizeof name));
	length += vsnprintf(line + length, size - (size_t)length, format, arguments);
	return length < (int)size - 1 ? length : (int)size - 1;
}

const char *rte_routine_to_print(const char *routine, char *name, size_t size)
{
	return rte_routine_names.to_print ? rte_routine_names.to_print(routine, name, size) : routine;
}

/* One write, so that lines of several PEs do not tear. */
void rte_report_with(const char *routine, const char *format, va_list arguments)
{
	char line[RTE_LINE];
	int length = rte_make_line(line, sizeof line - 1, routine, format, arguments);

	line[length] = '\n';
	if (write(STDERR_FILENO, line, (size_t)length + 1) < 0)
		return; /* nobody reads stderr any more */
}

void rte_report(const char *routine, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	rte_report_with(routine, format, arguments);
	va_end(arguments);
}

void rte_die(const char *routine, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	rte_die_with(routine, format, arguments);
}

void rte_die_with(const char *routine, const char *format, va_list arguments)
{
	rte_report_with(routine, format, arguments);
	rte_abort(1, RTE_SAID);
}

/* The file by which one PE of a job under oshrun claims to speak. Returns false elsewhere. */
static bool find_claim(char *path, size_t size)
{
	const char *job = getenv("PMIX_NAMESPACE"), *folder = getenv("PMIX_SERVER_TMPDIR");

	return job && folder && !strncmp(job, "oshrun-", 7) && snprintf(path, size, "%s/together", folder) < (int)size;
}

/* Returns false if another PE has the claim. */
static bool take_claim(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return errno != EEXIST;
	close(fd);
	return true;
}

/*
 * PEs other than 0 wait, so that PE 0 speaks and the launcher ends the others. On a loaded machine
 * either may be late; so under oshrun only the PE that takes the claim speaks. The others wait to
 * be ended, and speak only if that PE died before it could. Other launchers offer no place for a
 * claim, so there PEs wait longer for PE 0.
 */
static void await_turn_to_speak(void)
{
	const struct timespec early = {0, 300000000}, late = {2, 0}, until_ended = {20, 0};
	char path[PATH_MAX];
	bool claims = find_claim(path, sizeof path);

	if (my_number() != 0)
		nanosleep(claims ? &early : &late, NULL);
	if (claims && !take_claim(path))
		nanosleep(&until_ended, NULL);
}

void rte_die_together(const char *routine, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	rte_die_together_with(routine, format, arguments);
}

void rte_die_together_with(const char *routine, const char *format, va_list arguments)
{
	await_turn_to_speak();
	rte_die_with(routine, format, arguments);
}

void rte_let_others_speak(void)
{
	const struct timespec grace = {5, 0}, poll = {0, 10000000};

	if (!rte.returns_errors)
		nanosleep(&grace, NULL);
	for (int polls = 0; rte.returns_errors && polls < WORD_POLLS && !rte_is_broken(); polls++)
		nanosleep(&poll, NULL);
}

void rte_debug(const char *format, ...)
{
	va_list arguments;

	if (!setting_given(SETTING_DEBUG))
		return;
	va_start(arguments, format);
	rte_report_with(NULL, format, arguments);
	va_end(arguments);
}
