/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "softofu/nic/shared_job.h"

/*
 * How the processes of a job find their shared memory, without names that stay after the job.
 *
 * With a launcher: the memory is a memfd. Each process binds a socket with the abstract name
 * softofu/USER/JOB/PROCESS/DESCRIPTOR, which the kernel removes when the process ends. A new
 * process reads the names in /proc/net/unix and opens /proc/PROCESS/fd/DESCRIPTOR of any living
 * one. Its own name is valid if that process still lives once it is bound: so at any time the
 * memory has a name. A rank that finds no process binds the name softofu/USER/JOB/lock, as a lock,
 * and creates the memory; its own name follows when the memory is filled. Thousands of processes
 * may join at once, so those that find one take no lock.
 *
 * With a run directory: the memory is the file softofu-job in it. A joining process locks byte 0 of
 * the file. All users hold a read lock on byte 1: a process that can lock byte 1 for writing is
 * alone, and the content is of a former job.
 */
#define PATIENCE 20000 /* milliseconds */

static int unix_socket(void)
{
	return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

static socklen_t name_address(struct sockaddr_un *address, const char *name)
{
	size_t length = strlen(name);

	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	memcpy(address->sun_path + 1, name, length);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
}

static int bound_socket(const char *name)
{
	struct sockaddr_un address;
	socklen_t length = name_address(&address, name);
	int fd = unix_socket(), error;

	if (fd < 0 || !bind(fd, (struct sockaddr *)&address, length))
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

/*
 * Any user can bind a name with this job's number that points at other memory. So the file of a
 * member must belong to its user. This checks before it opens, because opening a device or a pipe
 * has effects.
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

/* A process of the job, by its name. */
struct member {
	int pid, fd;
};

static void member_name(char name[96], const char *job, const struct member *member)
{
	snprintf(name, 96, "softofu/%u/%s/%d/%d", (unsigned)getuid(), job, member->pid, member->fd);
}

static int open_member(const char *entry, struct member *member)
{
	char path[64];

	if (sscanf(entry, "%d/%d", &member->pid, &member->fd) != 2)
		return -1;
	snprintf(path, sizeof path, "/proc/%d/fd/%d", member->pid, member->fd);
	return open_own(path);
}

static int find_member(const char *job, struct member *member)
{
	char mine[96], line[512];
	FILE *names = fopen("/proc/net/unix", "re");
	size_t length;
	int found = -1;

	length = (size_t)snprintf(mine, sizeof mine, "@softofu/%u/%s/", (unsigned)getuid(), job);
	while (names && found < 0 && fgets(line, sizeof line, names)) {
		const char *name = strchr(line, '@');

		if (name && !strncmp(name, mine, length))
			found = open_member(name + length, member);
	}
	if (names)
		fclose(names);
	return found;
}

static bool is_bound(const char *name)
{
	int fd = unix_socket();
	struct sockaddr_un address;
	socklen_t length = name_address(&address, name);
	bool bound = fd >= 0 && !connect(fd, (struct sockaddr *)&address, length);

	if (fd >= 0)
		close(fd);
	return bound;
}

static bool bind_member_name(struct rendezvous *found)
{
	char name[96];

	member_name(name, found->job, &(struct member){(int)getpid(), found->job_fd});
	found->member_fd = bound_socket(name);
	return found->member_fd >= 0;
}

/* Joins a process that lives. */
static bool join_member(struct rendezvous *found)
{
	struct member member;
	char name[96];

	found->job_fd = find_member(found->job, &member);
	if (found->job_fd < 0)
		return false;
	member_name(name, found->job, &member);
	if (bind_member_name(found) && is_bound(name))
		return true;
	if (found->member_fd >= 0)
		close(found->member_fd);
	close(found->job_fd);
	found->member_fd = found->job_fd = -1;
	return false;
}

/* If ulimit -f is smaller, the kernel would end the process by SIGXFSZ without a message. */
static bool size_file(int fd, uint64_t bytes)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) || bytes <= limit.rlim_cur)
		return !ftruncate(fd, (off_t)bytes);
	errno = EFBIG;
	return false;
}

static int new_memory(uint64_t bytes)
{
	int fd = memfd_create("softofu", MFD_CLOEXEC), error;

	if (fd < 0 || size_file(fd, bytes))
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

static bool join_by_name(struct rendezvous *found, uint64_t bytes)
{
	char lock[96];

	/* Without the names each process would be the first, and have a job of its own. */
	if (access("/proc/net/unix", R_OK))
		return false;
	snprintf(lock, sizeof lock, "softofu/%u/%s/lock", (unsigned)getuid(), found->job);
	for (int waited = 0; waited < PATIENCE; waited++) {
		if (join_member(found))
			return true;
		found->lock_fd = bound_socket(lock);
		if (found->lock_fd >= 0 || errno != EADDRINUSE)
			break;
		usleep(1000);
	}
	if (found->lock_fd < 0)
		return false;
	/* Another process may have created the memory before this one had the lock. */
	if (join_member(found))
		return true;
	found->first = true;
	found->job_fd = new_memory(bytes);
	return found->job_fd >= 0;
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

/*
 * Opens the file and locks byte 0. The last process of a former job may remove the file meanwhile.
 */
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
	if (found->first && (ftruncate(found->job_fd, 0) || !size_file(found->job_fd, bytes)))
		return false;
	return lock_byte(found->job_fd, 1, F_RDLCK, true);
}

static bool join_somehow(struct rendezvous *found, const struct settings *settings, uint64_t bytes)
{
	if (found->in_directory)
		return join_in_directory(found, settings->run, bytes);
	if (settings->job[0])
		return join_by_name(found, bytes);
	found->first = true;
	found->job_fd = new_memory(bytes);
	return found->job_fd >= 0;
}

bool rendezvous_join(struct rendezvous *found, const struct settings *settings, uint64_t bytes)
{
	*found = (struct rendezvous){.job_fd = -1, .member_fd = -1, .lock_fd = -1, .job = settings->job};
	found->in_directory = settings->run != NULL;
	if (join_somehow(found, settings, bytes))
		return true;
	if (errno == EFBIG)
		fprintf(stderr,
			"softofu: the job needs a file of %" PRIu64 " bytes in shared memory, and ulimit -f allows "
			"less; raise ulimit -f\n",
			bytes);
	else if (found->in_directory)
		fprintf(stderr, "softofu: SOFTOFU_RUN_DIRECTORY=%s cannot be used: %s\n", settings->run,
			strerror(errno));
	else if (settings->job[0])
		fprintf(stderr,
			"softofu: the processes of this job do not find each other (/proc and sockets are needed): "
			"%s; set SOFTOFU_RUN_DIRECTORY to a folder they share\n",
			strerror(errno));
	else
		fprintf(stderr, "softofu: no memory of %" PRIu64 " bytes can be made: %s\n", bytes, strerror(errno));
	return false;
}

bool rendezvous_done(struct rendezvous *found)
{
	bool good = true;

	if (found->in_directory)
		lock_byte(found->job_fd, 0, F_UNLCK, false);
	else if (found->first && found->job[0])
		good = bind_member_name(found);
	if (found->lock_fd >= 0)
		close(found->lock_fd);
	found->lock_fd = -1;
	if (!good)
		fprintf(stderr, "softofu: the processes of this job will not find each other: %s\n", strerror(errno));
	return good;
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
