/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Last words of a PE that a signal ends: which PE, which routine and which of its arguments, and the calls that led there, with the
 * program's functions, files and lines.
 *
 * In the handler there is no allocation, no lock and no call but of the system and backtrace, which has been called once before and needs no
 * lock then. The names of the routines are found beforehand; frames.h has all other names. A signal that comes while the first one is
 * described ends the process with that first one.
 */
#include <elf.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "frames.h"
#include "plain.h"
#include "rte.h"
#include "settings.h"

enum { STACK_BYTES = 64 << 10, OWN_FRAMES = 3, WAIT_FOR_OTHER = 6000 /* ms */ };

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

/* The thread that describes a signal, and which one: 0: none has come, -1: it is done. */
static struct {
	atomic_int thread;
	int which;
	bool begun; /* the first line is written */
} describing;

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
	own.base = info->dlpi_addr;
	own.end = end;
	if (dynamic)
		find_own_names(info->dlpi_addr, dynamic);
	return 1;
}

/* --- What the kernel says of it --- */

/* Where it came; false: on this processor nobody here knows. */
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

/* Who called a function that is not there: the stack is as the call left it. 0: not known. */
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

static enum rte_access access_of(const ucontext_t *context)
{
#if defined(__x86_64__)
	enum { PAGE_FAULT = 14, BY_WRITE = 2 };

	if (context->uc_mcontext.gregs[REG_TRAPNO] == PAGE_FAULT)
		return context->uc_mcontext.gregs[REG_ERR] & BY_WRITE ? RTE_WRITES : RTE_READS;
#else
	(void)context;
#endif
	return RTE_ACCESSES;
}

/* --- The calls --- */

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

static bool is_own(const struct frame *frame)
{
	return frame->address >= own.base && frame->address < own.end;
}

/* Without what the compiler adds to the name of a part of a function (".cold"). */
static const char *whole_name(const char *name)
{
	size_t length = strcspn(name, ".");

	for (uint32_t i = 0; name[length] && i < own.count; i++) {
		const char *whole = own.names + own.symbols[i].st_name;

		if (!strncmp(whole, name, length) && !whole[length])
			return whole;
	}
	return name;
}

/* By the user's name. A program that contains the library need not export the names; then its symbol table has them. */
static const char *routine_at(const struct frame *frame)
{
	static const char *const begins[] = {"shmem_", "shmemx_", "start_pes"};
	const ElfW(Sym) *symbol = own_symbol(frame->address);
	const char *name = symbol ? own.names + symbol->st_name : is_own(frame) ? frame->function : NULL;

	if (name && name[0] == 'p')
		name++;
	for (int i = 0; name && i < 3; i++)
		if (!strncmp(name, begins[i], strlen(begins[i])))
			return whole_name(name);
	return NULL;
}

/* The one that the program has called: the outermost. */
static const char *routine_of(const struct frame *frames, int n)
{
	const char *routine = NULL;

	for (int i = 0; i < n; i++) {
		const char *name = routine_at(&frames[i]);

		routine = name ? name : routine;
	}
	return routine;
}

/* Without the handler's own. The first is where the signal came; a return address lies behind its call. */
static int find_calls(struct frame frames[FRAMES_MOST], const ucontext_t *context)
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

/* --- In words --- */

static void say_pe(struct plain_text *text)
{
	plain_put(text, "torushmem: PE %d: ", rte.pe);
}

static void say_sender(struct plain_text *text, const siginfo_t *info)
{
	struct plain_text path = {.file = -1};
	char name[64];
	ssize_t length = -1;
	int fd;

	if (info->si_pid == getpid()) {
		plain_put(text, info->si_signo == SIGABRT ? "" : ", sent by this process itself");
		return;
	}
	if (info->si_pid == 0) {
		plain_put(text, ", sent by a process that cannot be seen from here");
		return;
	}
	plain_put(&path, "/proc/%d/comm", (int)info->si_pid);
	path.buffer[path.used] = '\0';
	fd = open(path.buffer, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		length = read(fd, name, sizeof name - 1);
		close(fd);
	}
	name[length > 0 ? length - 1 : 0] = '\0'; /* a line end is the last */
	plain_put(text, ", sent by process %d", (int)info->si_pid);
	if (name[0])
		plain_put(text, " (%s)", name);
	plain_put(text, " of user %d", (int)info->si_uid);
}

static bool by_a_process(const siginfo_t *info)
{
	return info->si_code == SI_USER || info->si_code == SI_TKILL || info->si_code == SI_QUEUE;
}

/* What a fault was about: of those that an access to memory brings about, where that was. */
static void say_cause(struct plain_text *text, const siginfo_t *info, const struct rte_fault *fault)
{
	if (by_a_process(info)) {
		say_sender(text, info);
		return;
	}
	if (info->si_signo != SIGSEGV && info->si_signo != SIGBUS)
		return;
	if (fault->nowhere)
		plain_put(text, " at an address that no memory can have");
	else
		plain_put(text, " at address %x", fault->address);
	if (fault->argument && fault->memory_known)
		plain_put(text, ", in %s=%x (%l bytes)", fault->argument, fault->memory, (int64_t)fault->bytes);
	else if (fault->argument)
		plain_put(text, ", where %s points", fault->argument);
}

static void say_what(struct plain_text *text, int which, const siginfo_t *info, const struct rte_fault *fault)
{
	say_pe(text);
	if (fault->routine)
		plain_put(text, "%s: ", fault->routine);
	plain_put(text, "%s", fatal[which].name);
	say_cause(text, info, fault);
	plain_put(text, fault->routine ? "; the calls that led there:\n" : " in the program; the calls that led there:\n");
	plain_flush(text);
	describing.begun = true;
}

/* To its end, or to the number that tells apart what the compiler has made of one line. */
static void put_line(struct plain_text *text, const char *line)
{
	const char *number = strstr(line, " (discriminator");
	size_t length = strcspn(line, "\n");
	char word[512];

	if (number && (size_t)(number - line) < length)
		length = (size_t)(number - line);
	length = length < sizeof word - 1 ? length : sizeof word - 1;
	memcpy(word, line, length);
	word[length] = '\0';
	plain_put(text, "%s", word);
}

/* Pairs of lines: what is inlined is in front of where. */
static void say_lines(struct plain_text *text, const struct frame *frame)
{
	const char *function = frame->lines, *place;

	for (; function && *function; function = *place ? place + 1 : place) {
		place = function + strcspn(function, "\n");
		place += *place == '\n';
		if (function != frame->lines)
			plain_put(text, ", inlined in ");
		put_line(text, !strncmp(function, "??", 2) && frame->function ? frame->function : function);
		plain_put(text, " at ");
		put_line(text, place);
		place += strcspn(place, "\n");
	}
}

static void say_frame(struct plain_text *text, int number, const struct frame *frame)
{
	say_pe(text);
	plain_put(text, "  #%d ", number);
	if (frame->lines)
		say_lines(text, frame);
	else if (frame->function)
		plain_put(text, "%s + %x", routine_at(frame) ? routine_at(frame) : frame->function, frame->into);
	if (frame->file < 0)
		plain_put(text, "%x, which is in no file", frame->address);
	else
		plain_put(text, frame->lines || frame->function ? " (%s + %x)" : "%s + %x", frame_files[frame->file].path, frame->there);
	plain_put(text, "\n");
	plain_flush(text);
}

/* What the user can type for the lines of a file, if some are missing. */
static void say_command(struct plain_text *text, const struct frame *frames, int n, int file, const char *why)
{
	say_pe(text);
	plain_put(text, "files and lines are missing (%s); type: addr2line -Cfpie %s", why, frame_files[file].path);
	for (int i = 0; i < n; i++)
		if (frames[i].file == file && !frames[i].lines)
			plain_put(text, " %x", frames[i].there);
	plain_put(text, "\n");
	plain_flush(text);
}

static void say_missing(struct plain_text *text, const struct frame *frames, int n, const char *why)
{
	for (int file = 0; file < FRAME_FILES; file++) {
		int missing = 0, there = 0;

		for (int i = 0; i < n; i++) {
			missing += frames[i].file == file && !frames[i].lines;
			there += frames[i].file == file && frames[i].lines;
		}
		if (missing > 0 && why && frame_files[file].has_lines) {
			say_command(text, frames, n, file, why);
		} else if (missing > 0 && there == 0 && frame_files[file].program && !frame_files[file].has_lines) {
			say_pe(text);
			plain_put(text, frame_files[file].bytes ? "%s has no line numbers; compile and link it with -g, and do not strip it\n"
								: "%s cannot be read, or has changed since it began to run\n",
				  frame_files[file].path);
			plain_flush(text);
		}
	}
}

/* Whose lines nobody but its developers wants: a library other than the program that this is in. */
static void leave_out_own_lines(const struct frame *frames, int n)
{
	for (int i = 0; i < n; i++)
		if (is_own(&frames[i]) && frames[i].file >= 0 && !frame_files[frames[i].file].program)
			frame_files[frames[i].file].has_lines = false;
}

/* In one write a line, so that lines of several PEs do not tear. */
static void say(int which, const siginfo_t *info, const ucontext_t *context)
{
	static struct frame frames[FRAMES_MOST];
	struct rte_fault fault = {.access = access_of(context)};
	struct plain_text text = {.file = STDERR_FILENO};
	int n = find_calls(frames, context);
	const char *why;

	frames_find(frames, n);
	fault.routine = routine_of(frames, n);
	for (int i = 0; i < n; i++)
		fault.in_library |= is_own(&frames[i]);
	fault.at_once = n > 0 && is_own(&frames[0]) && fault.routine;
	fault.is_fault = !by_a_process(info) && (info->si_signo == SIGSEGV || info->si_signo == SIGBUS);
	fault.nowhere = info->si_signo == SIGSEGV && info->si_code == SI_KERNEL;
	fault.address = (uintptr_t)info->si_addr;
	if (rte.explain)
		rte.explain(&fault);
	say_what(&text, which, info, &fault);
	leave_out_own_lines(frames, n);
	why = frames_find_lines(frames, n);
	for (int i = 0; i < n; i++)
		say_frame(&text, i, &frames[i]);
	say_missing(&text, frames, n, why);
}

/* --- Where a job's end met this PE --- */

/* The PE that makes this file speaks for all. Empty: oshrun has not started this PE. */
static char speaker[PATH_MAX];

static void find_speaker(void)
{
	const char *folder = getenv("PMIX_SERVER_TMPDIR");

	speaker[0] = '\0';
	if (!rte_by_oshrun() || !folder || strlen(folder) + sizeof "/speaker" > sizeof speaker)
		return;
	strcat(strcpy(speaker, folder), "/speaker");
}

/* oshrun ends a job with the number of the PE that is gone: a line tells what the first of the others to be found in a routine was doing. */
static bool asks_where(const siginfo_t *info)
{
	return speaker[0] && info->si_code == SI_QUEUE && info->si_pid == getppid();
}

static void say_where(const siginfo_t *info, const ucontext_t *context)
{
	static struct frame frames[FRAMES_MOST];
	struct plain_text text = {.file = STDERR_FILENO};
	int n = find_calls(frames, context), fd;
	const char *routine;

	frames_find(frames, n);
	routine = routine_of(frames, n);
	fd = routine ? open(speaker, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
	if (fd < 0)
		return;
	close(fd);
	say_pe(&text);
	plain_put(&text, "was in %s when PE %d ended\n", routine, info->si_value.sival_int);
	plain_flush(&text);
}

/* --- The handler --- */

/* Comes when the handler has returned, so that a core file shows where it was. */
static void end_by_default(int number)
{
	sigset_t one;

	sigemptyset(&one);
	sigaddset(&one, number);
	pthread_sigmask(SIG_BLOCK, &one, NULL);
	signal(number, SIG_DFL);
	raise(number);
}

/* What would have happened without us. */
static void pass_on(int which, siginfo_t *info, void *context)
{
	const struct sigaction *old = &before[which];
	int number = fatal[which].number;
	sigset_t one, now;

	if (!(old->sa_flags & SA_SIGINFO) && (old->sa_handler == SIG_DFL || (old->sa_handler == SIG_IGN && !by_a_process(info)))) {
		end_by_default(number);
		return;
	}
	sigemptyset(&one);
	sigaddset(&one, number);
	pthread_sigmask(SIG_BLOCK, &one, &now);
	if (old->sa_flags & SA_SIGINFO)
		old->sa_sigaction(number, info, context);
	else if (old->sa_handler != SIG_IGN)
		old->sa_handler(number);
	pthread_sigmask(SIG_SETMASK, &now, NULL);
}

/* The description itself has come to grief: the stack is damaged, or what is on it. */
static void end_with_the_first(void)
{
	struct plain_text text = {.file = STDERR_FILENO};
	int number = fatal[describing.which].number;
	sigset_t one;

	say_pe(&text);
	plain_put(&text, describing.begun ? "the rest cannot be said: the memory of the process is damaged\n"
					  : "%s; the calls that led there cannot be found: the stack is damaged\n",
		  fatal[describing.which].name);
	plain_flush(&text);
	signal(number, SIG_DFL);
	sigemptyset(&one);
	sigaddset(&one, number);
	raise(number);
	pthread_sigmask(SIG_UNBLOCK, &one, NULL);
	_exit(128 + number);
}

/* Another thread's last words are not to be cut off. */
static void wait_for_other(void)
{
	const struct timespec moment = {0, 10000000};

	for (int i = 0; i < WAIT_FOR_OTHER / 10 && atomic_load_explicit(&describing.thread, memory_order_acquire) > 0; i++)
		nanosleep(&moment, NULL);
}

static void handle(int number, siginfo_t *info, void *context)
{
	int which = 0, nobody = 0, me = (int)syscall(SYS_gettid), problem = errno;

	while (fatal[which].number != number)
		which++;
	if (getpid() != own_pid) {
		pass_on(which, info, context);
	} else if (atomic_compare_exchange_strong_explicit(&describing.thread, &nobody, me, memory_order_acq_rel, memory_order_acquire)) {
		describing.which = which;
		if (number != SIGTERM)
			say(which, info, context);
		else if (asks_where(info))
			say_where(info, context);
		if (rte.last_words)
			rte.last_words();
		atomic_store_explicit(&describing.thread, -1, memory_order_release);
		pass_on(which, info, context);
	} else if (nobody == me) {
		end_with_the_first();
	} else {
		wait_for_other();
		pass_on(which, info, context);
	}
	errno = problem;
}

/* --- Start and stop --- */

/*
 * A stack that has run over has no room for a handler. Not one of the variables here: where the program contains the library these are shared with
 * other PEs, and would be with the child that runs addr2line.
 */
static void take_stack(void)
{
	static void *stack = NULL;
	stack_t now;

	if (sigaltstack(NULL, &now) || !(now.ss_flags & SS_DISABLE))
		return;
	if (!stack)
		stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack != MAP_FAILED)
		sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = STACK_BYTES}, NULL);
}

void rte_crash_start(void)
{
	struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
	void *frame;
	bool wanted;

	if (!setting_bool(SETTING_BACKTRACE, &wanted))
		rte_die_together("shmem_init", "SHMEM_BACKTRACE=%s: give yes or no", setting_text(SETTING_BACKTRACE));
	if (!wanted)
		return;
	own_pid = getpid();
	dl_iterate_phdr(find_own, NULL);
	backtrace(&frame, 1); /* loads what it needs now */
	take_stack();
	find_speaker();
	sigemptyset(&action.sa_mask);
	sigaddset(&action.sa_mask, SIGTERM); /* oshrun sends it to a PE, and then to all that the PE has started */
	for (int i = 0; i < FATAL; i++) {
		if (fatal[i].number == SIGTERM && !setting_text(SETTING_TRACE)[0] && !speaker[0])
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
