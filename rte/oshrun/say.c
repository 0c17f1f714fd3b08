/* SPDX-License-Identifier: BSD-3-Clause */
#include "say.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void (*say_sink)(void *arg, const char *line, size_t length);
static void *say_arg;
static int say_fd = STDERR_FILENO;

void say_through(void (*sink)(void *arg, const char *line, size_t length), void *arg)
{
	say_sink = sink;
	say_arg = arg;
}

void say(const char *format, ...)
{
	char line[4096] = "oshrun: ";
	size_t length = strlen(line);
	va_list arguments;
	int more;

	va_start(arguments, format);
	more = vsnprintf(line + length, sizeof line - length - 1, format, arguments);
	va_end(arguments);
	if (more > 0)
		length += (size_t)more < sizeof line - length - 1 ? (size_t)more : sizeof line - length - 2;
	/* Texts of PEs or users may contain newlines; a message is one line. */
	for (size_t i = 0; i < length; i++)
		if (line[i] == '\n' || line[i] == '\r')
			line[i] = ' ';
	line[length++] = '\n';
	if (say_sink) {
		say_sink(say_arg, line, length);
		return;
	}
	if (write(say_fd, line, length) < 0)
		return; /* nobody reads stderr, and there is no other place for messages */
}

int say_mute_libraries(void)
{
	int copy = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3), null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (copy >= 0 && null >= 0 && dup2(null, STDERR_FILENO) >= 0)
		say_fd = copy;
	if (null >= 0)
		close(null);
	return say_fd;
}
