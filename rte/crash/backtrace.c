/* SPDX-License-Identifier: BSD-3-Clause */
#include "backtrace.h"

#include <elf.h>
#include <execinfo.h>
#include <link.h>
#include <string.h>

/* Frames from backtrace_take to the handler, the return from the handler included. */
enum { OWN_FRAMES = 4 };

/* The object that contains this function: our library, or the program that is linked with it. */
static struct {
	uintptr_t base, end;
	const ElfW(Sym) * symbols;
	const char *names;
	uint32_t count;
} own_object;

/*
 * Only the hash table knows how many symbols there are: the end of its last chain is the last
 * symbol.
 */
static uint32_t count_symbols(const uint32_t *hash)
{
	uint32_t buckets = hash[0], offset = hash[1], bloom_words = hash[2], last = 0;
	const uint32_t *bucket = hash + 4 + bloom_words * (sizeof(ElfW(Addr)) / 4), *chain = bucket + buckets;

	for (uint32_t i = 0; i < buckets; i++)
		last = bucket[i] > last ? bucket[i] : last;
	if (last < offset)
		return 0;
	while (!(chain[last - offset] & 1))
		last++;
	return last + 1;
}

static void find_own_names(uintptr_t base, const ElfW(Dyn) * dynamic)
{
	const uint32_t *hash = NULL;

	for (; dynamic->d_tag != DT_NULL; dynamic++) {
		/* Most loaders have relocated the entry; a few leave it relative to the base. */
		uintptr_t address = dynamic->d_un.d_ptr < base ? base + dynamic->d_un.d_ptr : dynamic->d_un.d_ptr;

		if (dynamic->d_tag == DT_SYMTAB)
			own_object.symbols = (const ElfW(Sym) *)address;
		else if (dynamic->d_tag == DT_STRTAB)
			own_object.names = (const char *)address;
		else if (dynamic->d_tag == DT_GNU_HASH)
			hash = (const uint32_t *)address;
	}
	own_object.count = hash && own_object.symbols && own_object.names ? count_symbols(hash) : 0;
}

static int find_own(struct dl_phdr_info *info, size_t size, void *unused)
{
	uintptr_t end = 0;
	const ElfW(Dyn) *dynamic = NULL;

	(void)size, (void)unused;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type == PT_LOAD && info->dlpi_addr + part->p_vaddr + part->p_memsz > end)
			end = info->dlpi_addr + part->p_vaddr + part->p_memsz;
		if (part->p_type == PT_DYNAMIC)
			dynamic = (const ElfW(Dyn) *)(info->dlpi_addr + part->p_vaddr);
	}
	if ((uintptr_t)find_own < info->dlpi_addr || (uintptr_t)find_own >= end)
		return 0;
	own_object.base = info->dlpi_addr;
	own_object.end = end;
	if (dynamic)
		find_own_names(info->dlpi_addr, dynamic);
	return 1;
}

/* --- The calls --- */

/* Finds the instruction that the signal interrupted. False: not known for this processor. */
static bool find_instruction(const ucontext_t *context, uintptr_t *here)
{
#if defined(__x86_64__)
	*here = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	*here = (uintptr_t)context->uc_mcontext.pc;
#elif defined(__riscv)
	*here = (uintptr_t)context->uc_mcontext.__gregs[REG_PC];
#elif defined(__powerpc64__)
	*here = (uintptr_t)context->uc_mcontext.gp_regs[32];
#else
	(void)context, (void)here;
	return false;
#endif
	return true;
}

/* The caller of a function that does not exist: the stack is as the call left it. 0: not known. */
static uintptr_t caller_of_nothing(const ucontext_t *context)
{
#if defined(__x86_64__)
	return *(const uintptr_t *)context->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
	return (uintptr_t)context->uc_mcontext.regs[30];
#else
	(void)context;
	return 0;
#endif
}

static const ElfW(Sym) * own_symbol(uintptr_t address)
{
	if (address < own_object.base || address >= own_object.end)
		return NULL;
	for (uint32_t i = 0; i < own_object.count; i++) {
		const ElfW(Sym) *symbol = &own_object.symbols[i];

		if (symbol->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
		    address - (own_object.base + symbol->st_value) < symbol->st_size)
			return symbol;
	}
	return NULL;
}

bool backtrace_in_library(const struct frame *frame)
{
	return frame->address >= own_object.base && frame->address < own_object.end;
}

/* The name without the suffix that the compiler gives to a part of a function, such as ".cold". */
static const char *whole_name(const char *name)
{
	size_t length = strcspn(name, ".");

	for (uint32_t i = 0; name[length] && i < own_object.count; i++) {
		const char *whole = own_object.names + own_object.symbols[i].st_name;

		if (!strncmp(whole, name, length) && !whole[length])
			return whole;
	}
	return name;
}

/*
 * A program that contains the library need not export the names of routines; then its symbol table
 * has them.
 */
const char *backtrace_routine_at(const struct frame *frame)
{
	static const char *const routine_prefixes[] = {"shmem_", "shmemx_", "start_pes"};
	const ElfW(Sym) *symbol = own_symbol(frame->address);
	const char *name = symbol			 ? own_object.names + symbol->st_name
			   : backtrace_in_library(frame) ? frame->function
							 : NULL;

	if (name && name[0] == 'p')
		name++;
	for (int i = 0; name && i < 3; i++)
		if (!strncmp(name, routine_prefixes[i], strlen(routine_prefixes[i])))
			return whole_name(name);
	return NULL;
}

const char *backtrace_routine(const struct frame *frames, int n)
{
	const char *routine = NULL;

	for (int i = 0; i < n; i++) {
		const char *name = backtrace_routine_at(&frames[i]);

		routine = name ? name : routine;
	}
	return routine;
}

/* A return address lies behind its call, so all but the first are reduced by one. */
int backtrace_take(struct frame frames[FRAMES_MOST], const ucontext_t *context)
{
	void *addresses[FRAMES_MOST];
	uintptr_t here = 0, caller;
	int all = backtrace(addresses, FRAMES_MOST), first = 0, n = 0;

	if (!find_instruction(context, &here))
		first = all > OWN_FRAMES ? OWN_FRAMES : 0;
	else
		while (first < all && (uintptr_t)addresses[first] != here)
			first++;
	for (int i = first; i < all; i++, n++)
		frames[n] = (struct frame){.address = (uintptr_t)addresses[i] - (i > first)};
	if (n > 0)
		return n;
	frames[n++] = (struct frame){.address = here};
	caller = caller_of_nothing(context);
	if (caller)
		frames[n++] = (struct frame){.address = caller - 1};
	return n;
}

void backtrace_prepare(void)
{
	void *frame;

	dl_iterate_phdr(find_own, NULL);
	backtrace(&frame, 1); /* loads what it needs now */
}
