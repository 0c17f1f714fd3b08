/* SPDX-License-Identifier: BSD-3-Clause */
#include "words.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void words_add(struct words *words, const char *format, ...)
{
	char **longer = realloc(words->list, (words->count + 2) * sizeof *longer);
	char *word = NULL;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vasprintf(&word, format, arguments);
	va_end(arguments);
	if (!longer || length < 0) {
		/* A command line with a word missing must not be executed. */
		fputs("oshrun: out of memory\n", stderr);
		exit(1);
	}
	words->list = longer;
	words->list[words->count++] = word;
	words->list[words->count] = NULL;
}

void words_free(struct words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->list[i]);
	free(words->list);
}

static void print_word(const char *word)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=./:,@%";

	if (word[0] && strspn(word, plain) == strlen(word)) {
		fputs(word, stdout);
		return;
	}
	putchar('\'');
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\'", stdout);
		putchar(*word);
	}
	putchar('\'');
}

void words_print(char *const *list)
{
	for (size_t i = 0; list[i]; i++) {
		if (i)
			putchar(' ');
		print_word(list[i]);
	}
}
