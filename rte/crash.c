/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Last words of a PE that a signal ends: which PE, which routine, and the calls that led there.
 *
 * All that the handler needs is found beforehand: where the objects of the process lie, and the table of names of our own
 * library. In the handler there is no allocation, no lock and no call but write and backtrace, which has been called
 * once before and needs no lock then. Names of other objects' functions are left to addr2line.
 */
#include <elf.h>
#include <execinfo.h>
#include <link.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plain.h"
#include "rte.h"
#include "settings.h"

enum { MOST_FRAMES = 64, MOST_OBJECTS = 96, STACK_BYTES = 64 << 10 };

static struct object {
	uintptr_t base, end;
	char name[120];
} objects[MOST_OBJECTS];
static int n_objects;

/* Our library's, or the program's where that contains us. */
static struct {
	uintptr_t base, end;
	const ElfW(Sym) *symbols;
	const char *names;
	uint32_t count;
} own;

static const struct fatal {
	int number;
	const char *name;
} fatal[] = {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGFPE, "SIGFPE"}, {SIGILL, "SIGILL"}, {SIGABRT, "SIGABRT"},
	     {SIGTERM, "SIGTERM"}};
enum { FATAL = sizeof fatal / sizeof fatal[0] };

static struct sigaction before[FATAL];
static pid_t own_pid; /* a process that the program forks has the handler, too, and is not the PE */
static bool caught[FATAL];

/* --- Beforehand --- */

/* How many symbols there are is known only to the hash table: the last one of the last chain. */
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

static void find_own_names(uintptr_t base, const ElfW(Dyn) *dynamic)
{
	const uint32_t *hash = NULL;

	for (; dynamic->d_tag != DT_NULL; dynamic++) {
		/* The loader has made addresses of most of them; a few systems leave them as distances. */
		uintptr_t address = dynamic->d_un.d_ptr < base ? base + dynamic->d_un.d_ptr : dynamic->d_un.d_ptr;

		if (dynamic->d_tag == DT_SYMTAB)
			own.symbols = (const ElfW(Sym) *)address;
		else if (dynamic->d_tag == DT_STRTAB)
			own.names = (const char *)address;
		else if (dynamic->d_tag == DT_GNU_HASH)
			hash = (const uint32_t *)address;
	}
	own.count = hash && own.symbols && own.names ? count_symbols(hash) : 0;
}

static int note_object(struct dl_phdr_info *info, size_t size, void *unused)
{
	struct object *object = &objects[n_objects];
	const ElfW(Dyn) *dynamic = NULL;
	ssize_t length;

	(void)size, (void)unused;
	if (n_objects == MOST_OBJECTS)
		return 1;
	object->base = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type == PT_LOAD && info->dlpi_addr + part->p_vaddr + part->p_memsz > object->end)
			object->end = info->dlpi_addr + part->p_vaddr + part->p_memsz;
		if (part->p_type == PT_DYNAMIC)
			dynamic = (const ElfW(Dyn) *)(info->dlpi_addr + part->p_vaddr);
	}
	strncpy(object->name, info->dlpi_name, sizeof object->name - 1);
	if (!object->name[0] && n_objects == 0) {
		length = readlink("/proc/self/exe", object->name, sizeof object->name - 1);
		object->name[length > 0 ? length : 0] = '\0';
	}
	if ((uintptr_t)note_object >= object->base && (uintptr_t)note_object < object->end && dynamic) {
		own.base = object->base;
		own.end = object->end;
		find_own_names(object->base, dynamic);
	}
	n_objects++;
	return 0;
}

/* --- In the handler --- */

static const ElfW(Sym) *own_symbol(uintptr_t address)
{
	if (address < own.base || address >= own.end)
		return NULL;
	for (uint32_t i = 0; i < own.count; i++) {
		const ElfW(Sym) *symbol = &own.symbols[i];

		if (symbol->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
		    address - (own.base + symbol->st_value) < symbol->st_size)
			return symbol;
	}
	return NULL;
}

/* By the user's name. */
static const char *routine_at(uintptr_t address)
{
	const ElfW(Sym) *symbol = own_symbol(address);
	const char *name = symbol ? own.names + symbol->st_name : NULL;

	if (!name || (!strstr(name, "shmem") && !strstr(name, "start_pes")))
		return NULL;
	return name[0] == 'p' ? name + 1 : name;
}

/* The one that the program has called: the outermost. Return addresses lie behind the call. */
static const char *routine_of(void *const *frames, int n)
{
	const char *routine = NULL;

	for (int i = 0; i < n; i++) {
		const char *name = routine_at((uintptr_t)frames[i] - 1);

		routine = name ? name : routine;
	}
	return routine;
}

static void say_frame(struct plain_text *text, int number, uintptr_t address)
{
	const ElfW(Sym) *symbol = own_symbol(address - 1);

	plain_put(text, "torushmem: PE %d:   #%d ", rte.pe, number);
	if (symbol) {
		plain_put(text, "%s + %x\n", own.names + symbol->st_name, address - (own.base + symbol->st_value));
		return;
	}
	for (int i = 0; i < n_objects; i++)
		if (address >= objects[i].base && address < objects[i].end) {
			plain_put(text, "%s + %x\n", objects[i].name, address - objects[i].base);
			return;
		}
	plain_put(text, "%x\n", address);
}

/* In one write each, so that lines of several PEs do not tear. Frames of the handler itself are left out. */
static void say(int which, uintptr_t fault)
{
	void *frames[MOST_FRAMES];
	int n = backtrace(frames, MOST_FRAMES), first = n > 3 ? 3 : 0;
	const char *routine = routine_of(frames + first, n - first);
	struct plain_text text = {.file = STDERR_FILENO};

	plain_put(&text, "torushmem: PE %d: ", rte.pe);
	plain_put(&text, routine ? "%s: %s" : "%s%s", routine ? routine : "", fatal[which].name);
	if (fatal[which].number == SIGSEGV || fatal[which].number == SIGBUS)
		plain_put(&text, " at address %x", fault);
	plain_put(&text, routine ? "; the calls that led there:\n" : " in the program; the calls that led there:\n");
	plain_flush(&text);
	for (int i = first; i < n; i++) {
		say_frame(&text, i - first, (uintptr_t)frames[i]);
		plain_flush(&text);
	}
}

/* What would have happened without us. */
static void pass_on(int which, siginfo_t *info, void *context)
{
	const struct sigaction *old = &before[which];

	if (old->sa_flags & SA_SIGINFO) {
		old->sa_sigaction(fatal[which].number, info, context);
	} else if (old->sa_handler != SIG_DFL && old->sa_handler != SIG_IGN) {
		old->sa_handler(fatal[which].number);
	} else if (old->sa_handler == SIG_DFL) {
		signal(fatal[which].number, SIG_DFL);
		raise(fatal[which].number); /* comes when this handler has returned */
	}
}

static void handle(int number, siginfo_t *info, void *context)
{
	static atomic_flag once = ATOMIC_FLAG_INIT;
	int which = 0;

	while (fatal[which].number != number)
		which++;
	if (getpid() == own_pid && !atomic_flag_test_and_set_explicit(&once, memory_order_relaxed)) {
		if (number != SIGTERM)
			say(which, (uintptr_t)info->si_addr);
		if (rte.last_words)
			rte.last_words();
	}
	pass_on(which, info, context);
}

/* --- Start and stop --- */

/* A stack that has run over has no room for a handler. */
static void take_stack(void)
{
	static char stack[STACK_BYTES];
	stack_t now;

	if (sigaltstack(NULL, &now) == 0 && (now.ss_flags & SS_DISABLE))
		sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
}

void rte_crash_start(void)
{
	struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	void *frame;
	bool wanted;

	if (!setting_bool(SETTING_BACKTRACE, &wanted))
		rte_die_together("shmem_init", "SHMEM_BACKTRACE=%s: give yes or no", setting_text(SETTING_BACKTRACE));
	if (!wanted)
		return;
	own_pid = getpid();
	n_objects = 0;
	dl_iterate_phdr(note_object, NULL);
	backtrace(&frame, 1); /* loads what it needs now */
	take_stack();
	sigemptyset(&action.sa_mask);
	for (int i = 0; i < FATAL; i++) {
		if (fatal[i].number == SIGTERM && !setting_text(SETTING_TRACE)[0])
			continue;
		caught[i] = sigaction(fatal[i].number, &action, &before[i]) == 0;
	}
}

void rte_crash_stop(void)
{
	for (int i = 0; i < FATAL; i++) {
		struct sigaction now;

		if (caught[i] && sigaction(fatal[i].number, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
		    now.sa_sigaction == handle)
			sigaction(fatal[i].number, &before[i], NULL);
		caught[i] = false;
	}
}
