/* SPDX-License-Identifier: BSD-3-Clause */
#include "arguments.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void arguments_add(struct arguments *arguments, const char *format, ...)
{
	char **longer = realloc(arguments->list, (arguments->count + 2) * sizeof *longer);
	char *argument = NULL;
	va_list values;
	int length;

	va_start(values, format);
	length = vasprintf(&argument, format, values);
	va_end(values);
	if (!longer || length < 0) {
		/* An incomplete command line must not be executed. */
		fputs("out of memory for a command line\n", stderr);
		exit(1);
	}
	arguments->list = longer;
	arguments->list[arguments->count++] = argument;
	arguments->list[arguments->count] = NULL;
}

void arguments_free(struct arguments *arguments)
{
	for (size_t i = 0; i < arguments->count; i++)
		free(arguments->list[i]);
	free(arguments->list);
}

static void print_argument(const char *argument)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=./:,@%";

	if (argument[0] && strspn(argument, plain) == strlen(argument)) {
		fputs(argument, stdout);
		return;
	}
	putchar('\'');
	for (; *argument; argument++) {
		if (*argument == '\'')
			fputs("'\\'", stdout);
		putchar(*argument);
	}
	putchar('\'');
}

void arguments_print(char *const *list)
{
	for (size_t i = 0; list[i]; i++) {
		if (i)
			putchar(' ');
		print_argument(list[i]);
	}
}
