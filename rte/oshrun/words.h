/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_WORDS_H
#define OSHRUN_WORDS_H

#include <stddef.h>

/* A growing list of strings that ends in NULL, as execvp wants it; the strings are its own. */
struct words {
	char **list;
	size_t count;
};

void words_add(struct words *words, const char *format, ...) __attribute__((format(printf, 2, 3)));
void words_free(struct words *words);

/* Prints the words as a shell would read them back. */
void words_print(char *const *list);

#endif
