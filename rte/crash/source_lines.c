/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Source lines from addr2line, in a child. A system call makes the child, not fork, which takes
 * locks of the C library that the crashed thread may hold. The child ends without a signal to the
 * parent, for which the program might have a handler. It keeps no descriptor of the parent, and
 * only the environment variables that it needs to start, so that it asks no server for debugging
 * information.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "rte/clock.h"
#include "frames.h"
#include "rte/text/plain.h"

enum { PATIENCE = 2000 /* ms, for all files together */, OPTIONS = 4, LEAST_ROOM = 256 };

static struct {
	char tool[512];
	char answers[32 << 10];
	size_t used; /* bytes of answers */
} addr2line;

static bool find_tool(const char *name)
{
	const char *folder = getenv("PATH");
	size_t room = sizeof addr2line.tool - strlen(name) - 2;

	while (folder && *folder) {
		size_t length = strcspn(folder, ":");

		if (length > 0 && length <= room && folder[0] == '/') {
			memcpy(addr2line.tool, folder, length);
			addr2line.tool[length] = '/';
			strcpy(addr2line.tool + length + 1, name);
			if (access(addr2line.tool, X_OK) == 0)
				return true;
		}
		folder += length + (folder[length] == ':');
	}
	return false;
}

/* --- The child --- */

static _Noreturn void become_tool(char *const *arguments, int out)
{
	char *environment[3] = {NULL};
	int n = 0, nothing = open("/dev/null", O_RDWR);
	sigset_t none;

	for (char **each = environ; *each && n < 2; each++)
		if (!strncmp(*each, "LD_LIBRARY_PATH=", 16) || !strncmp(*each, "PATH=", 5))
			environment[n++] = *each;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(nothing, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(nothing, STDERR_FILENO);
#ifdef SYS_close_range
	syscall(SYS_close_range, 3U, ~0U, 0U);
#endif
	execve(addr2line.tool, arguments, environment);
	_exit(127);
}

static void end_child(pid_t child)
{
	const struct timespec moment = {0, 1000000};

	kill(child, SIGKILL);
	for (int i = 0; i < 100 && waitpid(child, NULL, WNOHANG | __WALL) == 0; i++)
		nanosleep(&moment, NULL);
}

/* Reads all output of addr2line. Returns false if it cannot be started, or takes too long. */
static bool read_answer(char *const *arguments, char *text, size_t room, int64_t until)
{
	int ends[2];
	size_t used = 0;
	ssize_t more = -1;
	pid_t child;

	text[0] = '\0';
	if (pipe2(ends, O_CLOEXEC))
		return false;
	child = (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
	if (child == 0)
		become_tool(arguments, ends[1]);
	close(ends[1]);
	while (child > 0 && used + 1 < room && more != 0) {
		struct pollfd wanted = {.fd = ends[0], .events = POLLIN};
		int64_t left = until - rte_clock_ms();
		int ready = left > 0 ? poll(&wanted, 1, (int)left) : 0;

		if (ready == 0)
			break;
		if (ready > 0)
			more = read(ends[0], text + used, room - 1 - used);
		if (ready > 0 && more > 0)
			used += (size_t)more;
	}
	text[used] = '\0';
	close(ends[0]);
	if (child > 0)
		end_child(child);
	return child > 0 && more == 0;
}

/* --- The answer --- */

static char *next_line(char *text)
{
	char *end = text ? strchr(text, '\n') : NULL;

	return end ? end + 1 : NULL;
}

static bool begins_with(const char *text, uintptr_t address)
{
	uintptr_t value = 0;

	if (strncmp(text, "0x", 2))
		return false;
	for (text += 2; *text && *text != '\n'; text++)
		value = value << 4 | (uintptr_t)(*text <= '9' ? *text - '0' : (*text | 0x20) - 'a' + 10);
	return value == address;
}

/*
 * The answer has a line for each address, followed by pairs of lines, with "??" for unknown ones.
 * Returns false if the answer has another form.
 */
static bool parse_answer(struct frame *frames, int n, int file, char *text)
{
	for (int i = 0; i < n && text && *text; i++) {
		char *place;

		if (frames[i].file != file)
			continue;
		if (!begins_with(text, frames[i].there))
			return false;
		text[0] = '\0'; /* the end of the frame before */
		text = next_line(text + 1);
		place = next_line(text);
		if (place && strncmp(place, "??", 2))
			frames[i].lines = text;
		while (text && strncmp(text, "0x", 2))
			text = next_line(text);
	}
	if (text)
		*text = '\0';
	return true;
}

static bool is_same_file(const char *one, const char *other)
{
	struct stat first, second;

	return stat(one, &first) == 0 && stat(other, &second) == 0 && first.st_dev == second.st_dev &&
	       first.st_ino == second.st_ino;
}

/* Drops the last address, whose lines may be incomplete. */
static void leave_out_last(char *text)
{
	char *last = NULL;

	for (char *line = text; line; line = next_line(line))
		if (!strncmp(line, "0x", 2))
			last = line;
	if (last)
		*last = '\0';
}

/*
 * The path to give to addr2line. For the program it is /proc/PID/exe if another file is at the
 * program's path now.
 */
static char *path_of(const struct frame_file *file)
{
	static struct plain_text path = {.file = -1};

	if (!file->program)
		return (char *)(uintptr_t)file->path;
	plain_put(&path, "/proc/%d/exe", (int)getpid());
	path.buffer[path.used] = '\0';
	return is_same_file(file->path, path.buffer) ? (char *)(uintptr_t)file->path : path.buffer;
}

static bool ask_for_lines(struct frame *frames, int n, int file, int64_t until)
{
	static struct plain_text addresses = {.file = -1};
	static char *arguments[FRAMES_MOST + OPTIONS + 1];
	char *text = addr2line.answers + addr2line.used;
	bool complete;
	int count = 0;

	if (sizeof addr2line.answers - addr2line.used < LEAST_ROOM)
		return false;
	addresses.used = 0;
	arguments[count++] = addr2line.tool;
	arguments[count++] = (char *)(uintptr_t) "-Cfia";
	arguments[count++] = (char *)(uintptr_t) "-e";
	arguments[count++] = path_of(&frame_files[file]);
	for (int i = 0; i < n; i++) {
		if (frames[i].file != file)
			continue;
		arguments[count++] = addresses.buffer + addresses.used;
		plain_put(&addresses, "%x", frames[i].there);
		addresses.buffer[addresses.used++] = '\0';
	}
	arguments[count] = NULL;
	complete = read_answer(arguments, text, sizeof addr2line.answers - addr2line.used, until);
	complete &= text[0] != '\0';
	if (!complete)
		leave_out_last(text);
	addr2line.used += strlen(text) + 1;
	return parse_answer(frames, n, file, text) && complete;
}

static bool lines_are_wanted(const struct frame *frames, int n, int file)
{
	for (int i = 0; i < n; i++)
		if (frames[i].file == file)
			return frame_files[file].bytes && (frame_files[file].has_lines || frame_files[file].program);
	return false;
}

/* The program comes first: the user needs its lines most. */
const char *frames_find_lines(struct frame *frames, int n)
{
	int64_t until = rte_clock_ms() + PATIENCE;
	bool some = false;

	for (int file = 0; file < FRAME_FILES; file++)
		some |= lines_are_wanted(frames, n, file) && frame_files[file].has_lines;
	if (!find_tool("addr2line") && !find_tool("llvm-addr2line"))
		return some ? "addr2line is not installed here" : NULL;
	for (int program = 1; program >= 0; program--)
		for (int file = 0; file < FRAME_FILES; file++)
			if (frame_files[file].program == (program == 1) && lines_are_wanted(frames, n, file) &&
			    !ask_for_lines(frames, n, file, until) && some)
				return "addr2line failed or took longer than 2 s";
	return NULL;
}
