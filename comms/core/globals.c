/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Global data as a segment.
 *
 * A constructor of this library runs before the program's own code and, normally, before any
 * thread. It copies the executable's writable pages to a memfd and maps that in their place. It
 * copies only pages in use: those with file contents, and those of .bss that /proc/self/pagemap
 * reports as present.
 */
#include "globals.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "memory.h"
#include "private_copies.h"
#include "rte/rte.h"
#include "rte/settings.h"

struct globals globals = {.fd = -1};

enum {
	LOOKS = 50,    /* at the threads of the process, a millisecond apart */
	MOST_STEPS = 8 /* from the program to this library, by what each needs */
};

static size_t globals_page;

struct range {
	uintptr_t start, file_end, end;
};

static uintptr_t round_down(uintptr_t address)
{
	return address & ~(uintptr_t)(globals_page - 1);
}

static uintptr_t round_up(uintptr_t address)
{
	return round_down(address + globals_page - 1);
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

static bool store_page(void *argument, const char *page, size_t bytes, size_t offset)
{
	return write_all(*(const int *)argument, page, bytes, (off_t)offset);
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
	if (!write_all(fd, (char *)r->start, r->file_end - r->start, 0) ||
	    !private_copies_used_pages(r->start, r->file_end, r->end, store_page, &fd)) {
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
	if (!private_copies_add(globals.start, globals.size, fd))
		return "no memory for fork handlers";
	return NULL;
}

/* "." and "..", and a folder for each thread. */
static bool is_only_thread(void)
{
	struct stat status;

	return stat("/proc/self/task", &status) == 0 && status.st_nlink == 3;
}

/* --- Was the library loaded with the program, or by dlopen? --- */

static const char *next_text(const struct link_map *object, ElfW(Sxword) tag, const ElfW(Dyn) * *at)
{
	const char *texts = NULL;

	for (const ElfW(Dyn) *d = object->l_ld; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_STRTAB)
			texts = (const char *)(d->d_un.d_ptr < object->l_addr ? object->l_addr + d->d_un.d_ptr
									      : d->d_un.d_ptr);
	for (const ElfW(Dyn) *d = *at; texts && d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == tag) {
			*at = d + 1;
			return texts + d->d_un.d_val;
		}
	return NULL;
}

static bool needs(const struct link_map *object, const struct link_map *other)
{
	const ElfW(Dyn) *at = other->l_ld;
	const char *name = next_text(other, DT_SONAME, &at), *needed;

	at = object->l_ld;
	while (name && (needed = next_text(object, DT_NEEDED, &at)))
		if (!strcmp(needed, name))
			return true;
	return false;
}

static bool program_needs(const struct link_map *object, int depth)
{
	const struct link_map *program = _r_debug.r_map;

	for (const struct link_map *user = program; user && depth < MOST_STEPS; user = user->l_next)
		if (user != object && needs(user, object) && (user == program || program_needs(user, depth + 1)))
			return true;
	return false;
}

/* If not, the program's threads may run already. */
static bool is_needed_by_program(void)
{
	struct link_map *own;
	Dl_info info;

	return dladdr1(&globals, &info, (void **)&own, RTLD_DL_LINKMAP) &&
	       (own == _r_debug.r_map || program_needs(own, 0));
}

static bool other_threads_run(void)
{
	return !is_only_thread() && !is_needed_by_program();
}

static const char no_launcher[] = "not started by a launcher";
static const char has_threads[] = "other threads ran already when the library learned of the other PEs";

static void leave_private(void)
{
	globals.size = 0;
	globals.why_private = has_threads;
}

static void share_globals(void)
{
	struct range r = {0, 0, 0};
	bool wanted = true;

	globals_page = (size_t)sysconf(_SC_PAGESIZE);
	dl_iterate_phdr(find_range, &r);
	globals.start = (char *)r.start;
	globals.size = r.end - r.start;
	if (!rte_has_other_pes())
		globals.why_private = no_launcher;
	else if (!setting_bool(SETTING_SHARE_GLOBALS, &wanted) || !wanted)
		globals.why_private = "SHMEM_SHARE_GLOBALS";
	else if (globals.size == 0)
		globals.why_private = "the program has none";
	else if (other_threads_run())
		leave_private();
	else
		globals.why_private = share_range(&r);
}

__attribute__((constructor)) static void share_at_load(void)
{
	share_globals();
}

/* The library has ended its threads, but the kernel may still count one that has just ended. */
static bool becomes_only_thread(void)
{
	const struct timespec moment = {0, 1000000};

	for (int looks = 0; looks < LOOKS && !is_only_thread(); looks++)
		nanosleep(&moment, NULL);
	return is_only_thread();
}

/* A store of nothing to a page of a private mapping gives the process a copy of it. */
__attribute__((no_sanitize("address", "thread"))) static void copy_each_page(void)
{
	_Atomic(char) *data = (_Atomic(char) *)globals.start;

	for (size_t at = 0; at < globals.size; at += globals_page)
		atomic_fetch_or_explicit(&data[at], 0, memory_order_relaxed);
}

/* Loses no store of another thread, but takes memory for pages that nobody has used. */
static bool take_back_under_threads(void)
{
	if (mmap(globals.start, globals.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, globals.fd, 0) ==
	    MAP_FAILED)
		return false;
	copy_each_page();
	private_copies_remove(globals.start);
	return true;
}

void globals_take_back(void)
{
	if (globals.fd < 0)
		return;
	if (becomes_only_thread() ? !private_copies_take_back(globals.start) : !take_back_under_threads())
		return;
	close(globals.fd);
	globals.fd = -1;
	globals.why_private = no_launcher; /* globals_start shares it again */
}

void globals_start(void)
{
	if (globals.why_private != no_launcher || !rte_has_other_pes())
		return;
	if (is_only_thread())
		share_globals();
	else
		leave_private();
}
