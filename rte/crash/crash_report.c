/* SPDX-License-Identifier: BSD-3-Clause */
#include "crash_report.h"

#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backtrace.h"
#include "frames.h"
#include "rte/text/plain.h"
#include "rte/rte.h"

static struct {
	bool begun; /* the first line has been written */
	/*
	 * The PE that creates this file reports for all PEs. Empty: oshrun has not started this PE.
	 */
	char speaker[PATH_MAX];
} crash_text;

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

static void write_prefix(struct plain_text *text)
{
	plain_put(text, "torushmem: PE %d: ", rte.pe);
}

static void write_sender(struct plain_text *text, const siginfo_t *info)
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
		plain_put(text, ", sent by a process outside of this PID namespace");
		return;
	}
	plain_put(&path, "/proc/%d/comm", (int)info->si_pid);
	path.buffer[path.used] = '\0';
	fd = open(path.buffer, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		length = read(fd, name, sizeof name - 1);
		close(fd);
	}
	name[length > 0 ? length - 1 : 0] = '\0'; /* the last byte is a line end */
	plain_put(text, ", sent by process %d", (int)info->si_pid);
	if (name[0])
		plain_put(text, " (%s)", name);
	plain_put(text, " of user %d", (int)info->si_uid);
}

bool crash_sent_by_process(const siginfo_t *info)
{
	return info->si_code == SI_USER || info->si_code == SI_TKILL || info->si_code == SI_QUEUE;
}

/* The sender of the signal; or, for a signal caused by a memory access, its address. */
static void write_cause(struct plain_text *text, const siginfo_t *info, const struct rte_fault *fault)
{
	if (crash_sent_by_process(info)) {
		write_sender(text, info);
		return;
	}
	if (info->si_signo != SIGSEGV && info->si_signo != SIGBUS)
		return;
	if (fault->nowhere)
		plain_put(text, " at an impossible address");
	else
		plain_put(text, " at address %x", fault->address);
	if (fault->place)
		plain_put(text, ", in %s of PE %l", fault->place, (int64_t)fault->place_pe);
	if (fault->argument && fault->memory_known)
		plain_put(text, ", in %s=%x (%l bytes)", fault->argument, fault->memory, (int64_t)fault->bytes);
	else if (fault->argument)
		plain_put(text, ", where %s points", fault->argument);
}

static void write_first_line(struct plain_text *text, const char *name, const siginfo_t *info,
			     const struct rte_fault *fault)
{
	write_prefix(text);
	if (fault->routine)
		plain_put(text, "%s: ", fault->routine);
	plain_put(text, "%s", name);
	write_cause(text, info, fault);
	plain_put(text,
		  fault->routine ? "; the calls that led there:\n" : " in the program; the calls that led there:\n");
	plain_flush(text);
	crash_text.begun = true;
}

/*
 * Writes the line up to its end, or up to the number with which addr2line distinguishes instances
 * of one source line.
 */
static void write_line_of(struct plain_text *text, const char *line)
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

/*
 * Writes pairs of lines, function and location. Inlined functions come before the one that contains
 * them.
 */
static void write_lines(struct plain_text *text, const struct frame *frame)
{
	const char *function = frame->lines, *place;

	for (; function && *function; function = *place ? place + 1 : place) {
		place = function + strcspn(function, "\n");
		place += *place == '\n';
		if (function != frame->lines)
			plain_put(text, ", inlined in ");
		write_line_of(text, !strncmp(function, "??", 2) && frame->function ? frame->function : function);
		plain_put(text, " at ");
		write_line_of(text, place);
		place += strcspn(place, "\n");
	}
}

static void write_frame(struct plain_text *text, int number, const struct frame *frame)
{
	write_prefix(text);
	plain_put(text, "  #%d ", number);
	if (frame->lines)
		write_lines(text, frame);
	else if (frame->function)
		plain_put(text, "%s + %x", backtrace_routine_at(frame) ? backtrace_routine_at(frame) : frame->function,
			  frame->into);
	if (frame->file < 0)
		plain_put(text, "%x, which is in no file", frame->address);
	else
		plain_put(text, frame->lines || frame->function ? " (%s + %x)" : "%s + %x",
			  frame_files[frame->file].path, frame->there);
	plain_put(text, "\n");
	plain_flush(text);
}

/* Writes the command by which the user gets the missing lines of a file. */
static void write_command(struct plain_text *text, const struct frame *frames, int n, int file, const char *why)
{
	write_prefix(text);
	plain_put(text, "files and lines are missing (%s); type: addr2line -Cfpie %s", why, frame_files[file].path);
	for (int i = 0; i < n; i++)
		if (frames[i].file == file && !frames[i].lines)
			plain_put(text, " %x", frames[i].there);
	plain_put(text, "\n");
	plain_flush(text);
}

static void write_missing(struct plain_text *text, const struct frame *frames, int n, const char *why)
{
	for (int file = 0; file < FRAME_FILES; file++) {
		int missing = 0, there = 0;

		for (int i = 0; i < n; i++) {
			missing += frames[i].file == file && !frames[i].lines;
			there += frames[i].file == file && frames[i].lines;
		}
		if (missing > 0 && why && frame_files[file].has_lines) {
			write_command(text, frames, n, file, why);
		} else if (missing > 0 && there == 0 && frame_files[file].program && !frame_files[file].has_lines) {
			write_prefix(text);
			plain_put(text,
				  frame_files[file].bytes
					  ? "%s has no line numbers; compile and link it with -g, and do not strip it\n"
					  : "%s cannot be read, or has changed since it began to run\n",
				  frame_files[file].path);
			plain_flush(text);
		}
	}
}

/*
 * Omits source lines of the library itself, unless the program contains the library: only its
 * developers want them.
 */
static void omit_library_lines(const struct frame *frames, int n)
{
	for (int i = 0; i < n; i++)
		if (backtrace_in_library(&frames[i]) && frames[i].file >= 0 && !frame_files[frames[i].file].program)
			frame_files[frames[i].file].has_lines = false;
}

/* Each line is one write, so that lines of several PEs do not tear. */
void crash_report(const char *name, const siginfo_t *info, const ucontext_t *context)
{
	static struct frame frames[FRAMES_MOST];
	struct rte_fault fault = {.access = access_of(context)};
	struct plain_text text = {.file = STDERR_FILENO};
	int n = backtrace_take(frames, context);
	const char *why;

	frames_find(frames, n);
	fault.routine = backtrace_routine(frames, n);
	for (int i = 0; i < n; i++)
		fault.in_library |= backtrace_in_library(&frames[i]);
	fault.at_once = n > 0 && backtrace_in_library(&frames[0]) && fault.routine;
	fault.is_fault = !crash_sent_by_process(info) && (info->si_signo == SIGSEGV || info->si_signo == SIGBUS);
	fault.nowhere = info->si_signo == SIGSEGV && info->si_code == SI_KERNEL;
	fault.address = (uintptr_t)info->si_addr;
	if (rte.explain)
		rte.explain(&fault);
	write_first_line(&text, name, info, &fault);
	omit_library_lines(frames, n);
	why = frames_find_lines(frames, n);
	for (int i = 0; i < n; i++)
		write_frame(&text, i, &frames[i]);
	write_missing(&text, frames, n, why);
}

void crash_report_damage(const char *name)
{
	struct plain_text text = {.file = STDERR_FILENO};

	write_prefix(&text);
	plain_put(&text,
		  crash_text.begun ? "the rest of this report is lost: the memory of the process is damaged\n"
				   : "%s; the calls that led there cannot be found: the stack is damaged\n",
		  name);
	plain_flush(&text);
}

/* --- What this PE was doing when the job ended --- */

bool crash_report_find_speaker(void)
{
	const char *folder = getenv("PMIX_SERVER_TMPDIR");

	crash_text.speaker[0] = '\0';
	if (!rte_by_oshrun() || !folder || strlen(folder) + sizeof "/speaker" > sizeof crash_text.speaker)
		return false;
	strcat(strcpy(crash_text.speaker, folder), "/speaker");
	return true;
}

bool crash_report_is_wanted(const siginfo_t *info)
{
	return crash_text.speaker[0] && info->si_code == SI_QUEUE && info->si_pid == getppid();
}

void crash_report_routine(const siginfo_t *info, const ucontext_t *context)
{
	static struct frame frames[FRAMES_MOST];
	struct plain_text text = {.file = STDERR_FILENO};
	int n = backtrace_take(frames, context), fd;
	const char *routine;

	frames_find(frames, n);
	routine = backtrace_routine(frames, n);
	fd = routine ? open(crash_text.speaker, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
	if (fd < 0)
		return;
	close(fd);
	write_prefix(&text);
	plain_put(&text, "was in %s when PE %d ended\n", routine, info->si_value.sival_int);
	plain_flush(&text);
}
