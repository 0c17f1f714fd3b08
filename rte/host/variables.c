/* SPDX-License-Identifier: BSD-3-Clause */
#include "variables.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A list that was environ. It is never freed, since a thread may still read it. */
struct published {
	struct published *before;
	char *list[];
};

static struct published *newest;

static size_t count_variables(void)
{
	size_t count = 0;

	while (environ && environ[count])
		count++;
	return count;
}

void rte_variable_set(const char *name, const char *value)
{
	size_t length = strlen(name), old = count_variables(), count = 0;
	struct published *made = malloc(sizeof *made + (old + 2) * sizeof(char *));
	char *entry = NULL;

	if (!made || (value && asprintf(&entry, "%s=%s", name, value) < 0)) {
		free(made);
		return;
	}
	for (size_t i = 0; i < old; i++)
		if (strncmp(environ[i], name, length) != 0 || environ[i][length] != '=')
			made->list[count++] = environ[i];
	if (value)
		made->list[count++] = entry;
	made->list[count] = NULL;
	made->before = newest;
	newest = made;
	/* A reader must find the list complete; environ cannot be declared _Atomic. */
	atomic_thread_fence(memory_order_release);
	environ = made->list;
}
