/* SPDX-License-Identifier: BSD-3-Clause */
#include "backtrace.h"

#include <execinfo.h>
#include <link.h>
#include <string.h>

#include "rte/text/routine_names.h"

/* Frames from backtrace_take to the handler, the return from the handler included. */
enum { OWN_FRAMES = 4 };

/* The object that contains this function: our library, or the program that is linked with it. */
static struct {
	uintptr_t base, end;
} own_object;

static int find_own(struct dl_phdr_info *info, size_t size, void *unused)
{
	uintptr_t end = 0;

	(void)size, (void)unused;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type == PT_LOAD && info->dlpi_addr + part->p_vaddr + part->p_memsz > end)
			end = info->dlpi_addr + part->p_vaddr + part->p_memsz;
	}
	if ((uintptr_t)find_own < info->dlpi_addr || (uintptr_t)find_own >= end)
		return 0;
	own_object.base = info->dlpi_addr;
	own_object.end = end;
	frames_keep(info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe");
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

bool backtrace_in_library(const struct frame *frame)
{
	return frame->address >= own_object.base && frame->address < own_object.end;
}

/* The name without the suffix that the compiler gives to a part of a function, such as ".cold". */
static const char *whole_name(const char *name)
{
	static char whole[64];
	size_t length = strcspn(name, ".");

	if (!name[length] || length >= sizeof whole)
		return name;
	memcpy(whole, name, length);
	whole[length] = '\0';
	return whole;
}

const char *backtrace_routine_at(const struct frame *frame)
{
	const char *name = backtrace_in_library(frame) ? frame->function : NULL;

	if (name && name[0] == 'p')
		name++;
	if (!name || !rte_routine_names.is_routine || !rte_routine_names.is_routine(name))
		return NULL;
	return whole_name(name);
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
