/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that the program brings: finds or makes the file that other PEs of the node map. */
#include "brought.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "memory.h"
#include "private_copies.h"

#ifndef MFD_HUGETLB
#define MFD_HUGETLB 4U
#endif
#ifndef MAP_HUGE_SHIFT
#define MAP_HUGE_SHIFT 26
#endif
#define POLICY_OF_ADDRESS 2 /* MPOL_F_ADDR of linux/mempolicy.h, as the next */
#define POLICY_DEFAULT 0

enum { MOST_POLICIES = 64, NODE_WORDS = 16, PATH_BYTES = 256 };

/* The mappings of [start, end), as one: they are alike and follow each other. */
struct mappings {
	uintptr_t start, end;
	uintptr_t first_start, first_end; /* of the first mapping, whole */
	bool none, mixed, shared, writable;
	size_t page;
	uint64_t offset, inode; /* inode 0: no file */
	unsigned major, minor;
	char path[PATH_BYTES];
	struct policy {
		size_t offset, bytes;
		int mode;
		unsigned long nodes[NODE_WORDS];
	} policy[MOST_POLICIES];
	int policies;
};

/* --- What is mapped there --- */

struct line {
	uintptr_t start, end;
	char rights[5];
	uint64_t offset, inode;
	unsigned major, minor;
	int path; /* where it begins */
};

/* Returns false if the line does not begin a mapping. */
static bool read_line(const char *text, struct line *line)
{
	return sscanf(text, "%" SCNxPTR "-%" SCNxPTR " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &line->start, &line->end,
		      line->rights, &line->offset, &line->major, &line->minor, &line->inode, &line->path) >= 7;
}

static void note_policy(struct mappings *m, uintptr_t start, uintptr_t end)
{
	struct policy *policy = &m->policy[m->policies];

	if (m->policies == MOST_POLICIES)
		return;
	*policy = (struct policy){.offset = start - m->start, .bytes = end - start};
	if (syscall(SYS_get_mempolicy, &policy->mode, policy->nodes, (unsigned long)sizeof policy->nodes * 8, start,
		    (unsigned long)POLICY_OF_ADDRESS) == 0 &&
	    policy->mode != POLICY_DEFAULT)
		m->policies++;
}

static void first_mapping(struct mappings *m, const struct line *line, const char *text)
{
	m->shared = line->rights[3] == 's';
	m->writable = true;
	m->first_start = line->start;
	m->first_end = line->end;
	m->offset = line->offset + (m->start - line->start);
	m->inode = line->inode;
	m->major = line->major;
	m->minor = line->minor;
	snprintf(m->path, sizeof m->path, "%s", text + line->path);
	m->path[strcspn(m->path, "\n")] = '\0';
}

/* covered: the address up to which mappings have been seen. */
static void add_mapping(struct mappings *m, const struct line *line, uintptr_t covered, uintptr_t end)
{
	bool follows = line->inode == m->inode && line->major == m->major && line->minor == m->minor &&
		       line->offset + (covered - line->start) == m->offset + (covered - m->start);

	m->mixed |= (line->rights[3] == 's') != m->shared || (m->shared && !follows);
	m->writable &= line->rights[0] == 'r' && line->rights[1] == 'w';
	note_policy(m, covered, end);
}

/* Reads on until the mappings cover all bytes or there is a gap. */
static void read_mappings(struct mappings *m, FILE *file)
{
	uintptr_t covered = m->start;
	bool inside = false;
	size_t room = 0, page;
	char *text = NULL;
	struct line line;

	while (getline(&text, &room, file) > 0) {
		if (read_line(text, &line)) {
			if (covered >= m->end || line.start > covered)
				break;
			inside = line.end > covered;
			if (!inside)
				continue;
			if (covered == m->start)
				first_mapping(m, &line, text);
			uintptr_t end = line.end < m->end ? line.end : m->end;
			add_mapping(m, &line, covered, end);
			covered = end;
		} else if (inside && sscanf(text, "KernelPageSize: %zu kB", &page) == 1) {
			m->mixed |= m->page && m->page != page << 10;
			m->page = page << 10;
			inside = false;
		}
	}
	m->none = covered < m->end;
	free(text);
}

/* Texts of the problems that these find; NULL: none. */
static const char *check_mappings(const struct mappings *m, char problem[BROUGHT_PROBLEM])
{
	if (m->none || !m->writable)
		snprintf(problem, BROUGHT_PROBLEM,
			 "not all of it is memory that this process reads and writes; check base and bytes");
	else if (m->start % m->page || m->end % m->page)
		snprintf(problem, BROUGHT_PROBLEM,
			 "it does not begin and end at boundaries of its pages of %zu KiB; give whole pages, as mmap "
			 "or aligned_alloc return them",
			 m->page >> 10);
	else if (m->mixed)
		snprintf(problem, BROUGHT_PROBLEM,
			 "it is not one piece: its parts are of several files, or private and shared, or have pages of "
			 "different sizes; map one file, or give private memory");
	else
		return NULL;
	return problem;
}

static bool look_at_mappings(struct mappings *m, const struct comms_segment *segment, char problem[BROUGHT_PROBLEM])
{
	FILE *file = fopen("/proc/self/smaps", "re");

	*m = (struct mappings){.start = (uintptr_t)segment->base, .end = (uintptr_t)segment->base + segment->size};
	if (!file) {
		snprintf(problem, BROUGHT_PROBLEM, "/proc/self/smaps cannot be read (%s); mount /proc",
			 strerror(errno));
		return false;
	}
	read_mappings(m, file);
	fclose(file);
	return !check_mappings(m, problem);
}

/* --- Shared memory: its file --- */

/* Some file systems show another device in mappings than in stat. */
static bool is_file_of(const struct mappings *m, int fd)
{
	char link[64], path[PATH_BYTES] = "";
	struct stat status;

	if (fstat(fd, &status) || !S_ISREG(status.st_mode) || status.st_ino != m->inode ||
	    (uint64_t)status.st_size < m->offset + (m->end - m->start))
		return false;
	if (status.st_dev == makedev(m->major, m->minor))
		return true;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	return readlink(link, path, sizeof path - 1) > 0 && !strcmp(path, m->path);
}

static int open_if_file_of(const struct mappings *m, const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 || is_file_of(m, fd))
		return fd;
	close(fd);
	return -1;
}

/* A file that the process has open, for one without a name, such as a memfd. */
static int open_again(const struct mappings *m)
{
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;
	char path[64];
	int fd = -1;

	while (folder && fd < 0 && (entry = readdir(folder)))
		if (entry->d_name[0] != '.' && is_file_of(m, atoi(entry->d_name))) {
			snprintf(path, sizeof path, "/proc/self/fd/%d", atoi(entry->d_name));
			fd = open_if_file_of(m, path);
		}
	if (folder)
		closedir(folder);
	return fd;
}

static bool find_file(const struct mappings *m, struct comms_segment *segment, char problem[BROUGHT_PROBLEM])
{
	char path[80];

	/* Root may open it by its place; others by its name, or again if it is open. */
	snprintf(path, sizeof path, "/proc/self/map_files/%" PRIxPTR "-%" PRIxPTR, m->first_start, m->first_end);
	segment->fd = open_if_file_of(m, path);
	if (segment->fd < 0)
		segment->fd = open_if_file_of(m, m->path);
	if (segment->fd < 0)
		segment->fd = open_again(m);
	if (segment->fd < 0)
		snprintf(problem, BROUGHT_PROBLEM,
			 "other PEs of this node cannot open the file that it maps (%.120s); keep a descriptor of the "
			 "file open, or map one of memfd_create with MAP_SHARED",
			 m->path);
	return segment->fd >= 0;
}

/* --- Private memory: moved into a file --- */

static void set_policies(const struct mappings *m, char *base)
{
	for (int i = 0; i < m->policies; i++) {
		const struct policy *p = &m->policy[i];

		syscall(SYS_mbind, base + p->offset, p->bytes, p->mode, p->nodes, (unsigned long)sizeof p->nodes * 8,
			0U);
	}
}

static bool copy_page(void *to, const char *page, size_t bytes, size_t offset)
{
	memcpy((char *)to + offset, page, bytes);
	return true;
}

/* Fills a mapping that is to take the place of the memory. */
static void fill(const struct mappings *m, char *copy)
{
	set_policies(m, copy);
	private_copies_used_pages(m->start, m->start, m->end, copy_page, copy);
}

static bool has_huge_pages(const struct mappings *m)
{
	return m->page > (size_t)sysconf(_SC_PAGESIZE);
}

/* For memfd_create and mmap: pages of this size. */
static unsigned size_of_pages(const struct mappings *m)
{
	return (unsigned)__builtin_ctzl(m->page) << MAP_HUGE_SHIFT;
}

static int make_file(const struct mappings *m)
{
	unsigned huge = has_huge_pages(m) ? MFD_HUGETLB | size_of_pages(m) : 0;
	int fd = memfd_create("torushmem-brought", MFD_CLOEXEC | huge);

	if (fd >= 0 && memory_size_file(fd, m->end - m->start)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Nothing in the memory may change between filling and mapping. */
static bool move_into_file(const struct mappings *m, int fd)
{
	size_t size = m->end - m->start;
	char *copy = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	void *base = (void *)m->start;
	bool moved;

	if (copy == MAP_FAILED)
		return false;
	fill(m, copy);
	moved = mmap(base, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED;
	munmap(copy, size);
	if (moved)
		set_policies(m, base);
	return moved;
}

static bool move_private(const struct mappings *m, struct comms_segment *segment, char problem[BROUGHT_PROBLEM])
{
	segment->fd = make_file(m);
	if (segment->fd >= 0 && move_into_file(m, segment->fd) &&
	    private_copies_add(segment->base, segment->size, segment->fd))
		return true;
	snprintf(problem, BROUGHT_PROBLEM,
		 "it is private, and cannot be moved into a file with pages of %zu KiB that other PEs of this node map "
		 "(%s); map a file of memfd_create with MAP_SHARED, and give that%s",
		 m->page >> 10, strerror(errno), has_huge_pages(m) ? ", or keep more huge pages free" : "");
	if (segment->fd >= 0)
		close(segment->fd);
	segment->fd = -1;
	return false;
}

bool comms_brought_share(struct comms_segment *segment, uint64_t *offset, char problem[BROUGHT_PROBLEM])
{
	static struct mappings m;

	segment->fd = -1;
	segment->kind = COMMS_KIND_BROUGHT;
	*offset = 0;
	if (!look_at_mappings(&m, segment, problem))
		return false;
	if (comms.n_node == 1)
		return true;
	if (!m.shared)
		return move_private(&m, segment, problem);
	*offset = m.offset;
	return find_file(&m, segment, problem);
}

/* --- The end --- */

/* Huge pages stay in the file, which nobody else maps, if the kernel cannot move such mappings. */
static void move_back(const struct mappings *m)
{
	size_t size = m->end - m->start;
	int huge = has_huge_pages(m) ? MAP_HUGETLB | (int)size_of_pages(m) : MAP_NORESERVE;
	char *copy = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | huge, -1, 0);

	if (copy == MAP_FAILED)
		return;
	fill(m, copy);
	if (syscall(SYS_mremap, copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, m->start) < 0)
		munmap(copy, size);
}

static bool is_moved(const struct mappings *m)
{
	return !m->none && !m->mixed && m->shared && !strncmp(m->path, "/memfd:torushmem-brought", 24);
}

void comms_brought_end(const struct comms_segment *segment)
{
	static struct mappings m;
	char problem[BROUGHT_PROBLEM];

	private_copies_remove(segment->base);
	if (segment->fd < 0)
		return;
	/* The program may have unmapped it. */
	if (look_at_mappings(&m, segment, problem) && is_moved(&m))
		move_back(&m);
	close(segment->fd);
}
