/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library calls functions of others through slots that the loader fills in (its global offset
 * table). A relocation names each slot's function. A hook is another address in the slot.
 */
#include "ucx_hooks.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TABLES = 2 }; /* of relocations: those of calls, and the others */

struct image {
	ElfW(Addr) base;
	const ElfW(Sym) * symbols;
	const char *names;
	const ElfW(Rela) * table[TABLES];
	size_t bytes[TABLES];
	ElfW(Addr) read_only, read_only_end; /* from when the loader is done */
};

/* The loader of some processors leaves the section as it is in the file: then these are offsets. */
static const void *pointer_in(const struct image *image, ElfW(Addr) value)
{
	return (const void *)(value < image->base ? value + image->base : value);
}

static bool read_section(struct image *image, const ElfW(Dyn) * entry)
{
	for (; entry->d_tag != DT_NULL; entry++) {
		switch (entry->d_tag) {
		case DT_SYMTAB: image->symbols = pointer_in(image, entry->d_un.d_ptr); break;
		case DT_STRTAB: image->names = pointer_in(image, entry->d_un.d_ptr); break;
		case DT_JMPREL: image->table[0] = pointer_in(image, entry->d_un.d_ptr); break;
		case DT_PLTRELSZ: image->bytes[0] = entry->d_un.d_val; break;
		case DT_RELA: image->table[1] = pointer_in(image, entry->d_un.d_ptr); break;
		case DT_RELASZ: image->bytes[1] = entry->d_un.d_val; break;
		case DT_PLTREL:
			if (entry->d_un.d_val != DT_RELA)
				return false;
			break;
		}
	}
	return image->symbols && image->names;
}

/* A library begins in memory with the head of its file. */
static bool read_image(struct image *image, const void *code)
{
	const ElfW(Dyn) *section = NULL;
	const ElfW(Phdr) * segment;
	Dl_info library;

	if (!dladdr(code, &library))
		return false;
	image->base = (ElfW(Addr))library.dli_fbase;
	segment = (const void *)(image->base + ((const ElfW(Ehdr) *)library.dli_fbase)->e_phoff);
	for (int i = 0; i < ((const ElfW(Ehdr) *)library.dli_fbase)->e_phnum; i++, segment++) {
		if (segment->p_type == PT_DYNAMIC)
			section = (const void *)(image->base + segment->p_vaddr);
		if (segment->p_type != PT_GNU_RELRO)
			continue;
		image->read_only = image->base + segment->p_vaddr;
		image->read_only_end = image->read_only + segment->p_memsz;
	}
	return section && read_section(image, section);
}

static bool write_slot(const struct image *image, ElfW(Addr) slot, const struct hook *hook)
{
	const ElfW(Addr) page_bytes = (ElfW(Addr))sysconf(_SC_PAGESIZE);
	void *page = (void *)(slot & ~(page_bytes - 1));
	bool is_read_only = slot >= image->read_only && slot < image->read_only_end;

	if (is_read_only && mprotect(page, page_bytes, PROT_READ | PROT_WRITE))
		return false;
	atomic_store_explicit((_Atomic(uintptr_t) *)slot, (uintptr_t)hook->function, memory_order_release);
	if (is_read_only)
		mprotect(page, page_bytes, PROT_READ);
	return true;
}

/*
 * Counts the slots of a function, and changes them if that is wanted. A slot that cannot be changed
 * does not count.
 */
static int visit_slots(const struct image *image, const struct hook *hook, bool change)
{
	int slots = 0;

	for (int t = 0; t < TABLES; t++) {
		for (size_t i = 0; image->table[t] && i < image->bytes[t] / sizeof(ElfW(Rela)); i++) {
			const ElfW(Rela) *relocation = &image->table[t][i];
			const ElfW(Sym) *symbol = &image->symbols[ELF64_R_SYM(relocation->r_info)];

			if (ELF64_R_SYM(relocation->r_info) && !strcmp(image->names + symbol->st_name, hook->name))
				slots += !change || write_slot(image, image->base + relocation->r_offset, hook);
		}
	}
	return slots;
}

bool hooks_set(const void *code, const struct hook *hooks, int n)
{
	struct image image = {0};

	if (!read_image(&image, code))
		return false;
	for (int change = 0; change <= 1; change++)
		for (int i = 0; i < n; i++)
			if (visit_slots(&image, &hooks[i], change) == 0)
				return false;
	return true;
}
