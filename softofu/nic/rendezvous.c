/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "softofu/nic/shared_job.h"

/*
 * How the processes of a job find their shared memory without leaving names behind.
 *
 * With a launcher: the memory is a memfd. Each process binds a socket with the abstract name
 * softofu/USER/JOB/PROCESS/DESCRIPTOR, which the kernel removes when the process ends. A new process reads the names
 * in /proc/net/unix and opens /proc/PROCESS/fd/DESCRIPTOR of any living one. The name softofu/USER/JOB/lock is bound
 * by the process that is doing so, as a lock: otherwise two could both create the memory.
 *
 * With a run directory: the memory is the file softofu-job in it. A joining process locks byte 0 of the file. All
 * users hold a read lock on byte 1: a process that can lock byte 1 for writing is alone, and the content is of a
 * former job.
 */
#define PATIENCE 20000 /* milliseconds */

static int bound_socket(const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t length = strlen(name);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	memcpy(address.sun_path + 1, name, length);
	if (!bind(fd, (struct sockaddr *)&address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)))
		return fd;
	length = (size_t)errno;
	close(fd);
	errno = (int)length;
	return -1;
}

static int lock_job_name(const char *job)
{
	char name[96];

	snprintf(name, sizeof name, "softofu/%u/%s/lock", (unsigned)getuid(), job);
	for (int waited = 0; waited < PATIENCE; waited++) {
		int fd = bound_socket(name);

		if (fd >= 0 || errno != EADDRINUSE)
			return fd;
		usleep(1000);
	}
	return -1;
}

/*
 * Any user can bind a name with our number in it that points at other memory. So the file of a member must belong to
 * its user. This checks before it opens, because opening a device or a pipe has effects.
 */
static int open_own(const char *path)
{
	char again[32];
	struct stat status;
	int there = open(path, O_PATH | O_CLOEXEC), fd = -1;

	if (there < 0)
		return -1;
	snprintf(again, sizeof again, "/proc/self/fd/%d", there);
	if (fstat(there, &status) || !S_ISREG(status.st_mode) || status.st_uid != geteuid())
		errno = EACCES;
	else
		fd = open(again, O_RDWR | O_CLOEXEC);
	close(there);
	return fd;
}

static int open_member(const char *entry)
{
	char path[64];
	int pid, fd;

	if (sscanf(entry, "%d/%d", &pid, &fd) != 2)
		return -1;
	snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
	return open_own(path);
}

static int find_member(const char *job)
{
	char mine[96], line[512];
	FILE *names = fopen("/proc/net/unix", "re");
	size_t length;
	int found = -1;

	length = (size_t)snprintf(mine, sizeof mine, "@softofu/%u/%s/", (unsigned)getuid(), job);
	while (names && found < 0 && fgets(line, sizeof line, names)) {
		const char *name = strchr(line, '@');

		if (name && !strncmp(name, mine, length))
			found = open_member(name + length);
	}
	if (names)
		fclose(names);
	return found;
}

static int new_memory(uint64_t bytes)
{
	int fd = memfd_create("softofu", MFD_CLOEXEC);

	if (fd >= 0 && !ftruncate(fd, (off_t)bytes))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static bool join_by_name(struct rendezvous *found, const char *job, uint64_t bytes)
{
	char name[96];

	found->lock_fd = lock_job_name(job);
	if (found->lock_fd < 0)
		return false;
	found->job_fd = find_member(job);
	found->first = found->job_fd < 0;
	if (found->first)
		found->job_fd = new_memory(bytes);
	if (found->job_fd < 0)
		return false;
	snprintf(name, sizeof name, "softofu/%u/%s/%d/%d", (unsigned)getuid(), job, (int)getpid(), found->job_fd);
	found->member_fd = bound_socket(name);
	return found->member_fd >= 0;
}

static bool lock_byte(int fd, off_t byte, short type, bool wait)
{
	struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};

	return !fcntl(fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock);
}

static void name_file(char path[4096], const char *directory)
{
	snprintf(path, 4096, "%s/softofu-job", directory);
}

/* Opens the file and locks byte 0. The last process of a former job may remove the file meanwhile. */
static int open_job_file(const char *directory)
{
	char path[4096];
	struct stat status;

	name_file(path, directory);
	for (;;) {
		int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

		if (fd < 0)
			return -1;
		if (fstat(fd, &status) || !S_ISREG(status.st_mode) || status.st_uid != geteuid()) {
			close(fd);
			errno = EACCES; /* another user's */
			return -1;
		}
		if (lock_byte(fd, 0, F_WRLCK, true) && !fstat(fd, &status) && status.st_nlink > 0)
			return fd;
		close(fd);
	}
}

static bool join_in_directory(struct rendezvous *found, const char *directory, uint64_t bytes)
{
	found->job_fd = open_job_file(directory);
	if (found->job_fd < 0)
		return false;
	found->first = lock_byte(found->job_fd, 1, F_WRLCK, false);
	if (found->first && (ftruncate(found->job_fd, 0) || ftruncate(found->job_fd, (off_t)bytes)))
		return false;
	return lock_byte(found->job_fd, 1, F_RDLCK, true);
}

bool rendezvous_join(struct rendezvous *found, const struct settings *settings, uint64_t bytes)
{
	*found = (struct rendezvous){-1, -1, false, -1};
	if (settings->run) {
		if (join_in_directory(found, settings->run, bytes))
			return true;
		fprintf(stderr, "softofu: SOFTOFU_RUN_DIRECTORY=%s cannot be used: %s\n", settings->run,
			strerror(errno));
		return false;
	}
	if (settings->job[0]) {
		if (join_by_name(found, settings->job, bytes))
			return true;
		fprintf(stderr,
			"softofu: the processes of this job do not find each other (/proc and sockets are needed): "
			"%s; set SOFTOFU_RUN_DIRECTORY to a folder they share\n",
			strerror(errno));
		return false;
	}
	found->first = true;
	found->job_fd = new_memory(bytes);
	if (found->job_fd >= 0)
		return true;
	fprintf(stderr, "softofu: no memory of %" PRIu64 " bytes can be made: %s\n", bytes, strerror(errno));
	return false;
}

void rendezvous_done(struct rendezvous *found)
{
	if (found->lock_fd >= 0)
		close(found->lock_fd);
	else if (found->member_fd < 0)
		lock_byte(found->job_fd, 0, F_UNLCK, false);
	found->lock_fd = -1;
}

void rendezvous_leave(const char *directory, int job_fd)
{
	char path[4096];

	name_file(path, directory);
	lock_byte(job_fd, 0, F_WRLCK, true);
	if (lock_byte(job_fd, 1, F_WRLCK, false))
		unlink(path);
	lock_byte(job_fd, 1, F_UNLCK, false);
	lock_byte(job_fd, 0, F_UNLCK, false);
}
