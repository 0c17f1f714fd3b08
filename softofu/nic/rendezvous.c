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

#include "softofu/nic/job.h"

/*
 * How the processes of a job find the memory they share, leaving no name behind that outlives them.
 *
 * By launcher: the memory is a memfd. Each process binds a socket whose abstract name says
 * softofu/USER/JOB/PROCESS/DESCRIPTOR; the kernel forgets the name when the process is gone, however it went. A new
 * one reads the names in /proc/net/unix and opens /proc/PROCESS/fd/DESCRIPTOR of any that lives. The name
 * softofu/USER/JOB/turn is bound by who is at it, so that two do not both begin.
 *
 * By run directory: the memory is the file softofu-job in it. Byte 0 of the file is locked by who is at it, byte 1 is
 * read-locked by all who use it: who can lock byte 1 for writing is alone, and what the file holds is of a former job.
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

static int take_turn(const char *job)
{
	char name[96];

	snprintf(name, sizeof name, "softofu/%u/%s/turn", (unsigned)getuid(), job);
	for (int waited = 0; waited < PATIENCE; waited++) {
		int fd = bound_socket(name);

		if (fd >= 0 || errno != EADDRINUSE)
			return fd;
		usleep(1000);
	}
	return -1;
}

/*
 * Anybody can bind a name with our number in it, and point it at memory of their own: what a member shares is a file of its user. Looked
 * at before it is opened, since opening a device or a pipe has effects.
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

static bool meet_by_name(struct meeting *meeting, const char *job, uint64_t bytes)
{
	char name[96];

	meeting->turn_fd = take_turn(job);
	if (meeting->turn_fd < 0)
		return false;
	meeting->job_fd = find_member(job);
	meeting->first = meeting->job_fd < 0;
	if (meeting->first)
		meeting->job_fd = new_memory(bytes);
	if (meeting->job_fd < 0)
		return false;
	snprintf(name, sizeof name, "softofu/%u/%s/%d/%d", (unsigned)getuid(), job, (int)getpid(), meeting->job_fd);
	meeting->member_fd = bound_socket(name);
	return meeting->member_fd >= 0;
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

/* With byte 0 locked. The last of a former job may remove the file while we wait for that. */
static int open_file(const char *directory)
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

static bool meet_in_directory(struct meeting *meeting, const char *directory, uint64_t bytes)
{
	meeting->job_fd = open_file(directory);
	if (meeting->job_fd < 0)
		return false;
	meeting->first = lock_byte(meeting->job_fd, 1, F_WRLCK, false);
	if (meeting->first && (ftruncate(meeting->job_fd, 0) || ftruncate(meeting->job_fd, (off_t)bytes)))
		return false;
	return lock_byte(meeting->job_fd, 1, F_RDLCK, true);
}

bool job_meet(struct meeting *meeting, const struct settings *settings, uint64_t bytes)
{
	*meeting = (struct meeting){-1, -1, false, -1};
	if (settings->run) {
		if (meet_in_directory(meeting, settings->run, bytes))
			return true;
		fprintf(stderr, "softofu: SOFTOFU_RUN_DIRECTORY=%s cannot be used: %s\n", settings->run,
			strerror(errno));
		return false;
	}
	if (settings->job[0]) {
		if (meet_by_name(meeting, settings->job, bytes))
			return true;
		fprintf(stderr,
			"softofu: the processes of this job do not find each other (/proc and sockets are needed): "
			"%s; set SOFTOFU_RUN_DIRECTORY to a folder they share\n",
			strerror(errno));
		return false;
	}
	meeting->first = true;
	meeting->job_fd = new_memory(bytes);
	if (meeting->job_fd >= 0)
		return true;
	fprintf(stderr, "softofu: no memory of %" PRIu64 " bytes can be made: %s\n", bytes, strerror(errno));
	return false;
}

void job_met(struct meeting *meeting)
{
	if (meeting->turn_fd >= 0)
		close(meeting->turn_fd);
	else if (meeting->member_fd < 0)
		lock_byte(meeting->job_fd, 0, F_UNLCK, false);
	meeting->turn_fd = -1;
}

void job_leave_directory(const char *directory, int job_fd)
{
	char path[4096];

	name_file(path, directory);
	lock_byte(job_fd, 0, F_WRLCK, true);
	if (lock_byte(job_fd, 1, F_WRLCK, false))
		unlink(path);
	lock_byte(job_fd, 1, F_UNLCK, false);
	lock_byte(job_fd, 0, F_UNLCK, false);
}
