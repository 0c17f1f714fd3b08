/* SPDX-License-Identifier: BSD-3-Clause */
#include "program_kind.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether the executable contains the names of an OpenSHMEM: as imports, or because that is linked statically. */
static bool executable_has_shmem(pid_t pid)
{
	static const char name[] = "shmem_init";
	struct stat status;
	char path[64];
	bool has = true;
	void *content;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return true;
	if (!fstat(fd, &status) && status.st_size > 0) {
		content = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (content != MAP_FAILED) {
			has = memmem(content, (size_t)status.st_size, name, sizeof name - 1);
			munmap(content, (size_t)status.st_size);
		}
	}
	close(fd);
	return has;
}

bool program_is_other(pid_t pid)
{
	bool pmix = false, shmem = false;
	char path[64], line[4352];
	FILE *maps;

	snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	if (!maps)
		return false;
	while (fgets(line, sizeof line, maps)) {
		const char *file = strrchr(line, '/');

		pmix = pmix || (file && strstr(file, "pmix"));
		shmem = shmem ||
			(file && (strstr(file, "torushmem") || strstr(file, "oshmem") || strstr(file, "libsma")));
	}
	fclose(maps);
	return pmix && !shmem && !executable_has_shmem(pid);
}
