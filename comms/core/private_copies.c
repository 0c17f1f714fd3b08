/* SPDX-License-Identifier: BSD-3-Clause */
#include "private_copies.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "system.h"

enum { MOST_COPIES = 1 + COMMS_REGIONS };

static struct {
	struct private_copy {
		char *start;
		size_t size; /* 0: unused */
		int fd;
	} copy[MOST_COPIES];
	int fork_pipe[2];
	bool has_handlers;
} private_copies = {.fork_pipe = {-1, -1}};

/* --- Pages in use --- */

bool private_copies_used_pages(uintptr_t start, uintptr_t at, uintptr_t end, private_copies_store *store,
			       void *argument)
{
	const uint64_t in_use = 3ULL << 62; /* present, or swapped out */
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int map = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t entries[512];
	bool ok = true;

	while (ok && at < end) {
		size_t count = (end - at) / page;
		ssize_t got = -1;

		if (count > 512)
			count = 512;
		if (map >= 0)
			got = pread(map, entries, count * 8, (off_t)(at / page * 8));
		for (size_t i = 0; ok && i < count; i++, at += page) {
			const char *p = (const char *)at;

			if (got == (ssize_t)(count * 8) ? !(entries[i] & in_use) : !p[0] && !memcmp(p, p + 1, page - 1))
				continue;
			ok = store(argument, p, page, at - start);
		}
	}
	if (map >= 0)
		close(map);
	return ok;
}

/* --- Forks --- */

static bool read_all(int fd, char *data, size_t size, off_t offset)
{
	while (size > 0) {
		ssize_t n = pread(fd, data, size, offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		data += n;
		size -= (size_t)n;
		offset += n;
	}
	return true;
}

/* Replaces the memory by a private copy; false: there is no memory for one. */
static bool make_private(const struct private_copy *from)
{
	char *copy = mmap(NULL, from->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	off_t at = 0, end = (off_t)from->size, data;
	bool good = true;

	if (copy == MAP_FAILED)
		return false;
	while (good && at < end && (data = lseek(from->fd, at, SEEK_DATA)) >= 0) {
		at = lseek(from->fd, data, SEEK_HOLE);
		if (at < 0 || at > end)
			at = end;
		good = read_all(from->fd, copy + data, (size_t)(at - data), data);
	}
	/*
	 * A direct system call, because UCX's memory hooks replace glibc's mremap by one that loses
	 * the fifth argument.
	 */
	if (good && syscall(SYS_mremap, copy, from->size, from->size, MREMAP_MAYMOVE | MREMAP_FIXED, from->start) >= 0)
		return true;
	munmap(copy, from->size);
	return false;
}

static void before_fork(void)
{
	if (pipe2(private_copies.fork_pipe, O_CLOEXEC))
		private_copies.fork_pipe[0] = private_copies.fork_pipe[1] = -1;
}

static void after_fork_in_parent(void)
{
	int end = private_copies.fork_pipe[0];
	char byte;

	if (end < 0)
		return;
	close(private_copies.fork_pipe[1]);
	while (read(end, &byte, 1) < 0 && errno == EINTR)
		;
	close(end);
}

static void after_fork_in_child(void)
{
	int ends[2] = {private_copies.fork_pipe[0], private_copies.fork_pipe[1]};

	/* If this fails, the child must end: continuing would change the parent's data. */
	for (int i = 0; i < MOST_COPIES; i++)
		if (private_copies.copy[i].size > 0 && !make_private(&private_copies.copy[i]))
			_exit(127);
	if (ends[0] >= 0) {
		close(ends[0]);
		close(ends[1]);
	}
}

bool private_copies_add(char *start, size_t size, int fd)
{
	int i = 0;

	while (i < MOST_COPIES && private_copies.copy[i].size > 0)
		i++;
	if (i == MOST_COPIES)
		return false;
	if (!private_copies.has_handlers && pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child))
		return false;
	private_copies.has_handlers = true;
	private_copies.copy[i] = (struct private_copy){start, size, fd};
	return true;
}

void private_copies_remove(const char *start)
{
	for (int i = 0; i < MOST_COPIES; i++)
		if (private_copies.copy[i].start == start)
			private_copies.copy[i].size = 0;
}

bool private_copies_take_back(const char *start)
{
	int i = 0;

	while (i < MOST_COPIES && (private_copies.copy[i].size == 0 || private_copies.copy[i].start != start))
		i++;
	if (i == MOST_COPIES || !make_private(&private_copies.copy[i]))
		return false;
	private_copies.copy[i].size = 0;
	return true;
}
