/* SPDX-License-Identifier: BSD-3-Clause */
#include "program_kind.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Whether the executable contains the names of an OpenSHMEM: as imports, or because that is linked statically. What is no executable, such as a
 * script, may start one that does.
 */
static bool executable_has_shmem(const char *path)
{
	static const char name[] = "shmem_init";
	struct stat status;
	bool has = true;
	void *content;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return true;
	if (!fstat(fd, &status) && status.st_size > 0) {
		content = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (content != MAP_FAILED) {
			has = status.st_size < 4 || memcmp(content, "\177ELF", 4) != 0 ||
			      memmem(content, (size_t)status.st_size, name, sizeof name - 1);
			munmap(content, (size_t)status.st_size);
		}
	}
	close(fd);
	return has;
}

bool program_is_other(pid_t pid, const char *file_of_program)
{
	bool pmix = false, shmem = false, ended = true;
	char path[64], line[4352];
	FILE *maps;

	snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	while (maps && fgets(line, sizeof line, maps)) {
		const char *file = strrchr(line, '/');

		ended = false;
		pmix = pmix || (file && strstr(file, "pmix"));
		shmem = shmem ||
			(file && (strstr(file, "torushmem") || strstr(file, "oshmem") || strstr(file, "libsma")));
	}
	if (maps)
		fclose(maps);
	if (ended)
		return !executable_has_shmem(file_of_program);
	snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
	return pmix && !shmem && !executable_has_shmem(path);
}
