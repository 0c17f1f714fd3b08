/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_ARGUMENTS_H
#define RTE_ARGUMENTS_H

#include <stddef.h>

/* A growing argument list that ends in NULL, as execvp expects it. It owns its strings. */
struct arguments {
	char **list;
	size_t count;
};

void arguments_add(struct arguments *arguments, const char *format, ...) __attribute__((format(printf, 2, 3)));
void arguments_free(struct arguments *arguments);

/* Prints the arguments quoted, so that a shell reads the same list back. */
void arguments_print(char *const *list);

#endif
