/* SPDX-License-Identifier: BSD-3-Clause */
#include "rdma_ports.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define MOST_GIDS 256

/* The first line of DEVICE/ports/1/FILE/INDEX. An index without a GID cannot be read. */
static bool read_entry(const char *folder, const char *device, const char *file, int index, char line[64])
{
	char path[PATH_MAX];
	FILE *entry;
	bool good;

	snprintf(path, sizeof path, "%s/%s/ports/1/%s/%d", folder, device, file, index);
	entry = fopen(path, "re");
	if (!entry)
		return false;
	good = fgets(line, 64, entry) != NULL;
	fclose(entry);
	if (good)
		line[strcspn(line, "\n")] = '\0';
	return good;
}

/* 0: not of this port; more is better. */
static int worth(const char *folder, const char *device, const char *port, int index)
{
	char line[64];
	int worth = 1;

	if (!read_entry(folder, device, "gid_attrs/ndevs", index, line) || strcmp(line, port) != 0)
		return 0;
	if (read_entry(folder, device, "gid_attrs/types", index, line) && !strcmp(line, "RoCE v2"))
		worth += 2;
	if (read_entry(folder, device, "gids", index, line) &&
	    (!strncmp(line, "fe80:", 5) || !strncmp(line, "0000:0000:0000:0000:0000:ffff:", 30)))
		worth += 1;
	return worth;
}

bool rdma_port_find(const char *folder, const char *port, struct rdma_port *found)
{
	DIR *devices = opendir(folder);
	struct dirent *entry;
	int best = 0;

	while (devices && (entry = readdir(devices))) {
		if (entry->d_name[0] == '.')
			continue;
		for (int index = 0; index < MOST_GIDS; index++) {
			int its_worth = worth(folder, entry->d_name, port, index);

			if (its_worth <= best)
				continue;
			best = its_worth;
			snprintf(found->device, sizeof found->device, "%.63s", entry->d_name);
			found->gid = index;
		}
	}
	if (devices)
		closedir(devices);
	return best > 0;
}
