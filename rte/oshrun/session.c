/* SPDX-License-Identifier: BSD-3-Clause */
#include "session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "say.h"

/*
 * Measured size of the server's shared files, with a margin: without room for a page, a process
 * gets SIGBUS.
 */
#define ROOM_BASE (24UL << 20)
#define ROOM_PER_PE (64UL << 10)

/* NULL if a session with this many PEs fits in this folder, otherwise the reason. */
static const char *why_unfit(const char *base, int pes)
{
	unsigned long long room = ROOM_BASE + (unsigned long long)pes * ROOM_PER_PE;
	struct statvfs fs;

	if (statvfs(base, &fs))
		return strerror(errno);
	if ((unsigned long long)fs.f_bavail * fs.f_frsize < room)
		return "full";
	if (access(base, W_OK | X_OK))
		return strerror(errno);
	return NULL;
}

bool session_create(char *folder, size_t size, const char *name, int pes)
{
	const char *bases[] = {"/dev/shm", getenv("TMPDIR"), "/tmp"};
	char reasons[512] = "";

	for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++) {
		const char *reason;
		size_t used = strlen(reasons);

		if (!bases[i] || bases[i][0] != '/' || strlen(bases[i]) + strlen(name) + 2 > size)
			continue;
		reason = why_unfit(bases[i], pes);
		if (!reason) {
			snprintf(folder, size, "%s/%s", bases[i], name);
			if (!mkdir(folder, 0700))
				return true;
			reason = strerror(errno);
			folder[0] = '\0';
		}
		snprintf(reasons + used, sizeof reasons - used, "%s%s (%s)", used ? ", " : "", bases[i], reason);
	}
	say("no space in %s for about %lu MiB; free some, or set TMPDIR to a folder that can be written", reasons,
	    (ROOM_BASE + (unsigned long)pes * ROOM_PER_PE) >> 20);
	return false;
}

static void remove_inside(int folder_fd)
{
	DIR *dir = fdopendir(folder_fd);
	struct dirent *entry;

	if (!dir) {
		close(folder_fd);
		return;
	}
	while ((entry = readdir(dir))) {
		int fd;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (!unlinkat(dirfd(dir), entry->d_name, 0))
			continue;
		fd = openat(dirfd(dir), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0)
			remove_inside(fd);
		unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	}
	closedir(dir);
}

void session_remove(const char *folder)
{
	int fd = folder[0] ? open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;

	if (fd < 0)
		return;
	remove_inside(fd);
	rmdir(folder);
}
