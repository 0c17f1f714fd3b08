/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Global data as a segment.
 *
 * A constructor of this library runs before the program's own code and, normally, before any
 * thread. It copies the executable's writable pages to a memfd and maps that in their place. It
 * copies only pages in use: those with file contents, and those of .bss that /proc/self/pagemap
 * reports as present.
 *
 * fork() would leave the child and its parent with the same globals, which no program expects. So
 * after a fork the child makes a private copy while the parent waits on a pipe. Children made by
 * vfork or posix_spawn run no code of the program before exec and need nothing.
 */
#include "globals.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memory.h"
#include "rte/settings.h"

struct globals globals = {.fd = -1};

static struct {
	size_t page;
	int fork_pipe[2];
} globals_copy = {.fork_pipe = {-1, -1}};

struct range {
	uintptr_t start, file_end, end;
};

static uintptr_t round_down(uintptr_t address)
{
	return address & ~(uintptr_t)(globals_copy.page - 1);
}

static uintptr_t round_up(uintptr_t address)
{
	return round_down(address + globals_copy.page - 1);
}

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t size)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3;
	return hash;
}

/*
 * The largest writable load segment of the executable, without the part that the loader makes
 * read-only after relocation. dl_iterate_phdr names the executable first; we stop there.
 */
static int find_range(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct range *best = argument;
	uintptr_t relro_start = 0, relro_end = 0;

	(void)size;
	globals.layout = 0xcbf29ce484222325;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_GNU_RELRO) {
			relro_start = info->dlpi_addr + p->p_vaddr;
			relro_end = round_down(relro_start + p->p_memsz);
		}
		if (p->p_type == PT_NOTE) /* holds the build id where the linker made one */
			globals.layout = hash_bytes(globals.layout, (void *)(info->dlpi_addr + p->p_vaddr), p->p_memsz);
		globals.layout = hash_bytes(globals.layout, &p->p_memsz, sizeof p->p_memsz);
		globals.layout = hash_bytes(globals.layout, &p->p_vaddr, sizeof p->p_vaddr);
	}
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		struct range r = {info->dlpi_addr + p->p_vaddr, 0, 0};

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_W))
			continue;
		r.file_end = round_up(r.start + p->p_filesz);
		r.end = round_up(r.start + p->p_memsz);
		r.start = round_down(r.start);
		if (r.start <= relro_start && relro_end > r.start && relro_end <= r.end)
			r.start = relro_end;
		if (r.file_end < r.start)
			r.file_end = r.start;
		if (r.end > r.start && r.end - r.start > best->end - best->start)
			*best = r;
	}
	return 1;
}

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

static bool write_all(int fd, const char *data, size_t size, off_t offset)
{
	while (size > 0) {
		ssize_t n = pwrite(fd, data, size, offset);

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

/* Copies the used pages of [file_end, end); without a page map, all that are not zero. */
static bool copy_used_pages(int fd, const struct range *r)
{
	const uint64_t in_use = 3ULL << 62; /* present, or swapped out */
	int map = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t entries[512];
	bool ok = true;

	for (uintptr_t at = r->file_end; ok && at < r->end;) {
		size_t count = (r->end - at) / globals_copy.page;
		ssize_t got = -1;

		if (count > 512)
			count = 512;
		if (map >= 0)
			got = pread(map, entries, count * 8, (off_t)(at / globals_copy.page * 8));
		for (size_t i = 0; ok && i < count; i++, at += globals_copy.page) {
			const char *p = (const char *)at;

			if (got == (ssize_t)(count * 8) ? !(entries[i] & in_use)
							: !p[0] && !memcmp(p, p + 1, globals_copy.page - 1))
				continue;
			ok = write_all(fd, p, globals_copy.page, (off_t)(at - r->start));
		}
	}
	if (map >= 0)
		close(map);
	return ok;
}

/* In the child of a fork: replaces the memory by a private copy. */
static void make_private(void)
{
	char *copy =
		mmap(NULL, globals.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	off_t at = 0, end = (off_t)globals.size, data;

	/* If this fails, the child must end: continuing would change the parent's data. */
	if (copy == MAP_FAILED)
		_exit(127);
	while (at < end && (data = lseek(globals.fd, at, SEEK_DATA)) >= 0) {
		at = lseek(globals.fd, data, SEEK_HOLE);
		if (at < 0 || at > end)
			at = end;
		if (!read_all(globals.fd, copy + data, (size_t)(at - data), data))
			_exit(127);
	}
	/*
	 * A direct system call, because UCX's memory hooks replace glibc's mremap by one that loses
	 * the fifth argument.
	 */
	if (syscall(SYS_mremap, copy, globals.size, globals.size, MREMAP_MAYMOVE | MREMAP_FIXED, globals.start) < 0)
		_exit(127);
}

static void before_fork(void)
{
	if (pipe2(globals_copy.fork_pipe, O_CLOEXEC))
		globals_copy.fork_pipe[0] = globals_copy.fork_pipe[1] = -1;
}

static void after_fork_in_parent(void)
{
	int end = globals_copy.fork_pipe[0];
	char byte;

	if (end < 0)
		return;
	close(globals_copy.fork_pipe[1]);
	while (read(end, &byte, 1) < 0 && errno == EINTR)
		;
	close(end);
}

static void after_fork_in_child(void)
{
	int ends[2] = {globals_copy.fork_pipe[0], globals_copy.fork_pipe[1]};

	make_private();
	if (ends[0] >= 0) {
		close(ends[0]);
		close(ends[1]);
	}
}

static const char *share_range(const struct range *r)
{
	size_t size = r->end - r->start;
	int fd = memfd_create("torushmem-globals", MFD_CLOEXEC);

	if (fd < 0)
		return "memfd_create is not allowed here";
	if (memory_size_file(fd, size)) {
		const char *why = errno == EFBIG ? "ulimit -f allows no file of its size"
						 : "no memory for a copy of the global data";

		close(fd);
		return why;
	}
	if (!write_all(fd, (char *)r->start, r->file_end - r->start, 0) || !copy_used_pages(fd, r)) {
		close(fd);
		return "no memory for a copy of the global data";
	}
	/*
	 * Between copying and mapping, nothing in the range may change, so this uses only the
	 * stack.
	 */
	if (mmap((void *)r->start, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
		close(fd);
		return "the global data cannot be mapped from shared memory";
	}
	globals.fd = fd;
	if (pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child))
		return "no memory for fork handlers";
	return NULL;
}

__attribute__((constructor)) static void share_globals(void)
{
	struct range r = {0, 0, 0};
	bool wanted = true;

	globals_copy.page = (size_t)sysconf(_SC_PAGESIZE);
	dl_iterate_phdr(find_range, &r);
	globals.start = (char *)r.start;
	globals.size = r.end - r.start;
	if (!getenv("PMIX_RANK"))
		globals.why_private = "not started by a launcher";
	else if (!setting_bool(SETTING_SHARE_GLOBALS, &wanted) || !wanted)
		globals.why_private = "SHMEM_SHARE_GLOBALS";
	else if (globals.size == 0)
		globals.why_private = "the program has none";
	else
		globals.why_private = share_range(&r);
}
