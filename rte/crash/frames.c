/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * /proc/self/maps gives the file of an address and the place in this file; the headers of the file
 * give the address as its symbol table counts; the symbol table gives the function. A file that has
 * been rewritten since it was loaded would give wrong functions, so its headers are compared with
 * those in memory first.
 */
#include "frames.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct frame_file frame_files[FRAME_FILES];
static int frame_file_count;

/* --- Files --- */

/* [at, at + size) of the file; NULL: there is no such part. */
static const void *file_part(const struct frame_file *file, uint64_t at, uint64_t size)
{
	return file->bytes && at <= file->size && size <= file->size - at ? file->bytes + at : NULL;
}

static const ElfW(Ehdr) * header_of(const struct frame_file *file)
{
	const ElfW(Ehdr) *header = file_part(file, 0, sizeof *header);

	return header && !memcmp(header->e_ident, ELFMAG, SELFMAG) ? header : NULL;
}

static const ElfW(Phdr) * segment_at(const struct frame_file *file, int i)
{
	const ElfW(Ehdr) *header = header_of(file);

	return header && i < header->e_phnum
		       ? file_part(file, header->e_phoff + (uint64_t)i * sizeof(ElfW(Phdr)), sizeof(ElfW(Phdr)))
		       : NULL;
}

static const ElfW(Shdr) * section_at(const struct frame_file *file, int i)
{
	const ElfW(Ehdr) *header = header_of(file);

	return header && i < header->e_shnum
		       ? file_part(file, header->e_shoff + (uint64_t)i * sizeof(ElfW(Shdr)), sizeof(ElfW(Shdr)))
		       : NULL;
}

/*
 * Maps a file. The program is opened by /proc/self/exe, for another file may lie at its path by
 * now.
 */
static void map_file(struct frame_file *file)
{
	int fd = open(file->program ? "/proc/self/exe" : file->path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *bytes;

	if (fd < 0)
		return;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
		bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		file->bytes = bytes == MAP_FAILED ? NULL : bytes;
		file->size = (size_t)status.st_size;
	}
	close(fd);
}

/*
 * Compares headers and notes, which contain the linker's build ID, with those in memory. Shift:
 * from addresses of the file to those of the process.
 */
static bool is_what_runs(const struct frame_file *file, uintptr_t shift)
{
	const ElfW(Phdr) * segment;

	for (int i = 0; (segment = segment_at(file, i)); i++) {
		const void *theirs = file_part(file, segment->p_offset, segment->p_filesz);

		if (segment->p_type != PT_NOTE && segment->p_type != PT_PHDR)
			continue;
		if (!theirs || memcmp(theirs, (const void *)(shift + segment->p_vaddr), segment->p_filesz))
			return false;
	}
	return true;
}

static bool has_section(const struct frame_file *file, const char *name)
{
	const ElfW(Ehdr) *header = header_of(file);
	const ElfW(Shdr) *names = header ? section_at(file, header->e_shstrndx) : NULL, *section;

	for (int i = 0; names && (section = section_at(file, i)); i++) {
		const char *its = file_part(file, names->sh_offset + section->sh_name, strlen(name) + 1);

		if (its && !memcmp(its, name, strlen(name) + 1))
			return true;
	}
	return false;
}

static bool is_program(const char *path)
{
	char exe[sizeof frame_files[0].path];
	ssize_t length = readlink("/proc/self/exe", exe, sizeof exe - 1);

	exe[length > 0 ? length : 0] = '\0';
	return !strcmp(exe, path);
}

/* The kernel adds " (deleted)" to the path of a file that is not there any more. */
static bool is_path(const char *path, const char *known)
{
	size_t length = strlen(known);

	return !strncmp(path, known, length) && (!path[length] || !strcmp(path + length, " (deleted)"));
}

static int file_of(const char *path)
{
	struct frame_file *file;

	for (int i = 0; i < frame_file_count; i++)
		if (is_path(path, frame_files[i].path))
			return i;
	if (frame_file_count == FRAME_FILES || strlen(path) >= sizeof file->path)
		return -1;
	file = &frame_files[frame_file_count];
	strcpy(file->path, path);
	file->program = is_program(path);
	map_file(file);
	return frame_file_count++;
}

/*
 * The file of a library that is replaced while it runs has the names only if it was mapped before.
 */
void frames_keep(const char *path)
{
	char *real = realpath(path, NULL);

	if (real)
		file_of(real);
	free(real);
}

/* --- Where an address is in its file --- */

struct mapping {
	uintptr_t begin, end, offset;
	const char *path;
};

static void locate(struct frame *frame, const struct mapping *mapping)
{
	uintptr_t at = mapping->offset + (frame->address - mapping->begin);
	const ElfW(Phdr) * segment;
	struct frame_file *file;
	int number = file_of(mapping->path);

	if (number < 0)
		return;
	file = &frame_files[number];
	frame->file = number;
	frame->there = at;
	for (int i = 0; (segment = segment_at(file, i)); i++) {
		if (segment->p_type != PT_LOAD || at < segment->p_offset || at - segment->p_offset >= segment->p_filesz)
			continue;
		frame->there = at - segment->p_offset + segment->p_vaddr;
		if (!is_what_runs(file, frame->address - frame->there))
			file->bytes = NULL;
		file->has_lines = has_section(file, ".debug_line") || has_section(file, ".zdebug_line");
		return;
	}
}

static const char *read_hex(const char *at, uintptr_t *value)
{
	for (*value = 0;; at++) {
		if (*at >= '0' && *at <= '9')
			*value = *value << 4 | (uintptr_t)(*at - '0');
		else if (*at >= 'a' && *at <= 'f')
			*value = *value << 4 | (uintptr_t)(*at - 'a' + 10);
		else
			return at;
	}
}

/* "begin-end rights offset device inode path" */
static bool read_mapping(const char *line, struct mapping *mapping)
{
	line = read_hex(line, &mapping->begin);
	line = *line ? read_hex(line + 1, &mapping->end) : line;
	for (int i = 0; i < 2 && *line; i++) {
		while (*line == ' ')
			line++;
		while (*line && *line != ' ')
			line++;
	}
	mapping->path = strchr(line, '/');
	return mapping->path != NULL;
}

static void read_offset(const char *line, struct mapping *mapping)
{
	for (int i = 0; i < 2 && *line; i++) {
		line += strcspn(line, " ");
		line += strspn(line, " ");
	}
	read_hex(line, &mapping->offset);
}

static void locate_in_mapping(struct frame *frames, int n, const char *line)
{
	struct mapping mapping = {0};

	if (!read_mapping(line, &mapping))
		return;
	read_offset(line, &mapping);
	for (int i = 0; i < n; i++)
		if (frames[i].address >= mapping.begin && frames[i].address < mapping.end)
			locate(&frames[i], &mapping);
}

static void locate_all(struct frame *frames, int n)
{
	static char text[8192];
	size_t used = 0;
	ssize_t more;
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	while (fd >= 0 && (more = read(fd, text + used, sizeof text - 1 - used)) > 0) {
		char *line = text, *end;

		used += (size_t)more;
		text[used] = '\0';
		for (; (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			locate_in_mapping(frames, n, line);
		}
		used = strlen(line);
		memmove(text, line, used + 1);
	}
	if (fd >= 0)
		close(fd);
}

/* --- Which function is there --- */

/*
 * An address belongs to a function only within the length of its symbol: code behind the last named
 * function has no name.
 */
static bool find_in_table(struct frame *frame, const struct frame_file *file, const ElfW(Shdr) * table)
{
	const ElfW(Shdr) *names = section_at(file, (int)table->sh_link);
	const ElfW(Sym) *symbols = file_part(file, table->sh_offset, table->sh_size);
	uint64_t count = table->sh_size / sizeof *symbols;

	for (uint64_t i = 0; names && symbols && i < count; i++) {
		int type = ELF64_ST_TYPE(symbols[i].st_info);
		const char *name = file_part(file, names->sh_offset + symbols[i].st_name, 1);

		if (symbols[i].st_shndx == SHN_UNDEF || (type != STT_FUNC && type != STT_GNU_IFUNC) ||
		    frame->there - symbols[i].st_value >= symbols[i].st_size || !name)
			continue;
		frame->function = name;
		frame->into = frame->there - symbols[i].st_value;
		return true;
	}
	return false;
}

static void find_function(struct frame *frame)
{
	static const ElfW(Word) kinds[] = {SHT_DYNSYM, SHT_SYMTAB};
	const struct frame_file *file = frame->file < 0 ? NULL : &frame_files[frame->file];
	const ElfW(Shdr) * section;

	for (int kind = 0; file && kind < 2; kind++)
		for (int i = 0; (section = section_at(file, i)); i++)
			if (section->sh_type == kinds[kind] && find_in_table(frame, file, section))
				return;
}

void frames_find(struct frame *frames, int n)
{
	for (int i = 0; i < n; i++)
		frames[i].file = -1;
	locate_all(frames, n);
	for (int i = 0; i < n; i++)
		find_function(&frames[i]);
}
