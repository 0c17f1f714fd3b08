/* SPDX-License-Identifier: BSD-3-Clause */
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rte/host/pages.h"
#include "rte/rte.h"
#include "rte/settings.h"
#include "rte/text/text.h"

#define SYSTEM_MAGIC 0x31306d6574737973

void memory_describe(const struct comms_segment *segment, struct memory_handle *handle)
{
	struct stat status;

	*handle = (struct memory_handle){.pid = getpid(), .fd = -1};
	if (segment->fd < 0 || fstat(segment->fd, &status))
		return;
	handle->fd = segment->fd;
	handle->device = status.st_dev;
	handle->inode = status.st_ino;
}

bool memory_sees_processes(void)
{
	char number[32] = "";

	return readlink("/proc/self", number, sizeof number - 1) > 0 && atoi(number) == getpid();
}

bool memory_is_there(const struct memory_handle *handle)
{
	struct stat status;
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/fd/%d", handle->pid, handle->fd);
	return stat(path, &status) == 0 && status.st_dev == handle->device && status.st_ino == handle->inode;
}

void *memory_map_peer(const struct memory_handle *handle, size_t size, int64_t offset, int pe)
{
	const char *problem = NULL;
	void *base = MAP_FAILED;
	struct stat status;
	char path[64];
	bool is_gone;
	int fd;

	errno = 0;
	snprintf(path, sizeof path, "/proc/%d/fd/%d", handle->pid, handle->fd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		problem = strerror(errno);
	else if (fstat(fd, &status) || status.st_dev != handle->device || status.st_ino != handle->inode)
		problem = "it is another process's; the PEs do not share a process table";
	else if ((base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd,
			      offset == MEMORY_AT_END ? status.st_size - (off_t)size : offset)) == MAP_FAILED)
		problem = strerror(errno);
	if (fd >= 0)
		close(fd);
	if (problem && !memory_sees_processes())
		rte_die_together(
			NULL,
			"the memory of PE %d on this node cannot be mapped, because /proc is not mounted here "
			"or belongs "
			"to another process table; mount it (mount -t proc proc /proc), or set SHMEM_PATHS=ucx",
			pe);
	is_gone = problem && errno == ENOENT;
	if (is_gone)
		rte_let_others_speak();
	if (problem)
		rte_break(is_gone ? RTE_ERROR_LOST : RTE_ERROR_OTHER, pe, NULL,
			  "the memory of PE %d on this node cannot be mapped (%s: %s); set SHMEM_PATHS=ucx", pe, path,
			  problem);
	return problem ? memory_map_nobody(size) : base;
}

void *memory_map_nobody(size_t size)
{
	void *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (base == MAP_FAILED)
		rte_die(NULL, "no address space in place of the memory of a lost PE");
	return base;
}

int memory_size_file(int fd, size_t size)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) || size <= limit.rlim_cur)
		return ftruncate(fd, (off_t)size);
	errno = EFBIG;
	return -1;
}

void memory_unmap(void *base, size_t size)
{
	munmap(base, size);
}

/* The user's size, or the default limited by the machine's memory. */
static size_t wanted_heap(void)
{
	size_t memory = rte_memory(), size;
	char wanted[32], have[32];

	setting_size(SETTING_SYMMETRIC_SIZE, &size);
	if (size <= memory)
		return size;
	if (!setting_given(SETTING_SYMMETRIC_SIZE))
		return memory;
	rte_die_together("shmem_init",
			 "SHMEM_SYMMETRIC_SIZE=%s: a heap of %s per PE is larger than this node's memory (%s); "
			 "ask for less",
			 setting_text(SETTING_SYMMETRIC_SIZE), text_size(size, wanted), text_size(memory, have));
}

/*
 * Legal, because memory is committed when touched; but if all of it is, the kernel kills a process.
 */
static void warn_of_overcommit(size_t size)
{
	size_t memory = rte_memory();
	char total[32], have[32];

	if (rte.generation == 1 && setting_given(SETTING_SYMMETRIC_SIZE) && comms.pe == rte.local_pes[0] &&
	    size > memory / (size_t)rte.n_local)
		rte_report("shmem_init",
			   "warning: the heaps of the %d PEs on this node come to %s, its memory to %s; lower "
			   "SHMEM_SYMMETRIC_SIZE if they will be filled",
			   rte.n_local, text_size(size * (size_t)rte.n_local, total), text_size(memory, have));
}

/* Reserves address space such that a page begins offset bytes behind its start. */
static char *reserve_addresses(size_t size, size_t offset, size_t page)
{
	char *area = mmap(NULL, size + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char *start;

	if (area == MAP_FAILED)
		return NULL;
	start = (char *)pages_place((uintptr_t)area, offset, page);
	if (start > area)
		munmap(area, (size_t)(start - area));
	munmap(start + size, page - (size_t)(start - area));
	return start;
}

/* The current choice in the kernel's file about huge pages: the word in brackets. */
static bool huge_pages_forbidden(const char *path)
{
	char mode[128] = "";
	FILE *file = fopen(path, "re");

	if (file && !fgets(mode, sizeof mode, file))
		mode[0] = '\0';
	if (file)
		fclose(file);
	return !strchr(mode, '[') || strstr(mode, "[never]") || strstr(mode, "[deny]");
}

/* Not for the system's part, of which a PE touches only a few small pages. */
static const char *ask_for_huge_pages(char *base, size_t size, const struct pages *pages, bool shared)
{
	static char too_few[80];
	bool wanted = true;
	char text[32];

	setting_bool(SETTING_HUGE_PAGES, &wanted);
	if (!wanted)
		return "small pages (SHMEM_HUGE_PAGES)";
	if (pages->huge && !pages_suit(size - COMMS_SYSTEM_BYTES, pages->huge)) {
		snprintf(too_few, sizeof too_few, "small pages (huge ones have %s, of which it holds too few)",
			 text_size(pages->huge, text));
		return too_few;
	}
	if (!pages->huge || madvise(base + COMMS_SYSTEM_BYTES, size - COMMS_SYSTEM_BYTES, MADV_HUGEPAGE))
		return "small pages (no huge pages in this kernel)";
	if (huge_pages_forbidden(shared ? "/sys/kernel/mm/transparent_hugepage/shmem_enabled"
					: "/sys/kernel/mm/transparent_hugepage/enabled"))
		return shared ? "small pages (transparent_hugepage/shmem_enabled forbids huge ones)"
			      : "small pages (transparent_hugepage/enabled forbids huge ones)";
	return "huge pages";
}

/* An anonymous file with the heap at its end, which other processes of the node can map. */
static int make_heap_file(size_t size)
{
	int fd = memfd_create("torushmem-heap", MFD_CLOEXEC);
	char text[32];

	if (fd < 0)
		rte_die("shmem_init", "memfd_create: %s; this system must allow it", strerror(errno));
	if (!memory_size_file(fd, size))
		return fd;
	if (errno == EFBIG)
		rte_die_together(
			"shmem_init",
			"the heap needs a file of %s in shared memory, and ulimit -f allows less; raise ulimit -f",
			text_size(size, text));
	close(fd);
	return -1;
}

/*
 * The heap begins at the boundary, and at one of huge pages, behind the system's part. It does so
 * in the file, too: only then does the kernel use huge pages for it. The file has a hole in front
 * of the system's part.
 */
static char *map_heap(size_t size, bool shared, const struct pages *pages, int *fd)
{
	int kind = shared ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
	bool suits = pages_suit(size - COMMS_SYSTEM_BYTES, pages->huge) && pages->huge > COMMS_HEAP_BOUNDARY;
	size_t hole = shared && pages->huge ? pages_round_up(COMMS_SYSTEM_BYTES, pages->huge) - COMMS_SYSTEM_BYTES : 0;
	char *base;

	*fd = shared ? make_heap_file(hole + size) : -1;
	base = shared && *fd < 0
		       ? NULL
		       : reserve_addresses(size, COMMS_SYSTEM_BYTES, suits ? pages->huge : COMMS_HEAP_BOUNDARY);
	if (base &&
	    mmap(base, size, PROT_READ | PROT_WRITE, kind | MAP_FIXED | MAP_NORESERVE, *fd, (off_t)hole) == MAP_FAILED)
		return NULL;
	return base;
}

void memory_make_heap(void)
{
	struct pages pages = pages_of_system();
	struct comms_segment *heap = &comms.segments[COMMS_HEAP];
	size_t wanted = wanted_heap();
	size_t size = COMMS_SYSTEM_BYTES + pages_round_up(wanted, pages.small);
	bool shared = comms.n_node > 1; /* most kernels give huge pages to private memory only */
	char text[32];
	int fd;
	char *base = map_heap(size, shared, &pages, &fd);

	if (!base)
		rte_die_together(
			"shmem_init",
			"no address space for a heap of %s (%s); lower SHMEM_SYMMETRIC_SIZE or raise ulimit -v",
			text_size(wanted, text), strerror(errno));
	warn_of_overcommit(wanted);
	comms.pages = ask_for_huge_pages(base, size, &pages, shared);
	*heap = (struct comms_segment){base, size, fd, COMMS_KIND_HEAP};
	comms.heap_size = size - COMMS_SYSTEM_BYTES;
	comms.system = (struct comms_system *)base;
	comms.system->magic = SYSTEM_MAGIC;
	rte_debug("heap of %s at %p, %s", text_size(wanted, text), (void *)comms_heap(), comms.pages);
}

void memory_unmake_heap(void)
{
	munmap(comms.segments[COMMS_HEAP].base, comms.segments[COMMS_HEAP].size);
	if (comms.segments[COMMS_HEAP].fd >= 0)
		close(comms.segments[COMMS_HEAP].fd);
}
