/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints how this UCX chooses protocols unless UCX_PROTO_ENABLE says otherwise: y (since 1.16) or
 * n. Nothing, if it has no choice. It shows its settings, which it reads from the environment, as a
 * text only.
 */
#include <ucp/api/ucp.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
	const char *name = "UCX_PROTO_ENABLE=", *found;
	size_t size;
	char *text;
	FILE *file = open_memstream(&text, &size);
	ucp_config_t *config;

	unsetenv("UCX_PROTO_ENABLE");
	if (!file || ucp_config_read(NULL, NULL, &config) != UCS_OK)
		return 1;
	ucp_config_print(config, file, NULL, UCS_CONFIG_PRINT_CONFIG);
	ucp_config_release(config);
	fclose(file);
	found = strstr(text, name);
	if (found)
		printf("%c\n", found[strlen(name)]);
	free(text);
	return 0;
}
