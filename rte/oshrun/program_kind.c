/* SPDX-License-Identifier: BSD-3-Clause */
#include "program_kind.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum contents { NO_EXECUTABLE, NAME_MISSING, NAME_FOUND };

/* Does an executable contain a name, as an import or as a statically linked symbol? */
static enum contents find_in_executable(const char *path, const char *name)
{
	enum contents found = NO_EXECUTABLE;
	struct stat status;
	void *content;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NO_EXECUTABLE;
	if (!fstat(fd, &status) && status.st_size >= 4) {
		content = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (content != MAP_FAILED) {
			if (!memcmp(content, "\177ELF", 4))
				found = memmem(content, (size_t)status.st_size, name, strlen(name)) ? NAME_FOUND
												    : NAME_MISSING;
			munmap(content, (size_t)status.st_size);
		}
	}
	close(fd);
	return found;
}

/* A file that is no executable, such as a script, may start one that has it. */
static bool executable_has_shmem(const char *path)
{
	return find_in_executable(path, "shmem_init") != NAME_MISSING;
}

bool program_checks_leaks(const char *file_of_program)
{
	/*
	 * -fsanitize=leak leaves no call in the program: gcc links liblsan, clang the code that
	 * begins with __lsan_init.
	 */
	static const char *const names[] = {"__asan_init", "liblsan", "__lsan_init"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (find_in_executable(file_of_program, names[i]) == NAME_FOUND)
			return true;
	return false;
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
