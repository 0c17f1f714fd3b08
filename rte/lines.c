/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines of the source, by addr2line. The child is made by the system call, not by fork: that takes locks of the C library, which the thread
 * that crashed may hold. It ends without a signal to the parent, which the program might have a handler for; it keeps no descriptor of the
 * parent, and of the environment what it needs to start, so that it asks no server for debugging information.
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

#include "frames.h"
#include "plain.h"

enum { PATIENCE = 2000 /* ms, for all files together */, OPTIONS = 4, LEAST_ROOM = 256 };

static char tool[512];
static char answers[32 << 10];
static size_t answered; /* bytes of it that are in use */

static int64_t now_in_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool find_in_path(const char *name)
{
	const char *folder = getenv("PATH");
	size_t room = sizeof tool - strlen(name) - 2;

	while (folder && *folder) {
		size_t length = strcspn(folder, ":");

		if (length > 0 && length <= room && folder[0] == '/') {
			memcpy(tool, folder, length);
			tool[length] = '/';
			strcpy(tool + length + 1, name);
			if (access(tool, X_OK) == 0)
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
	execve(tool, arguments, environment);
	_exit(127);
}

static void end_child(pid_t child)
{
	const struct timespec moment = {0, 1000000};

	kill(child, SIGKILL);
	for (int i = 0; i < 100 && waitpid(child, NULL, WNOHANG | __WALL) == 0; i++)
		nanosleep(&moment, NULL);
}

/* What the tool writes, to its end; false: it could not be started, or took too long. */
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
		int64_t left = until - now_in_ms();
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

/* --- What it says --- */

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

/* For each address a line with it, and behind that pairs of lines; "??" where it knows nothing. False: it says something else. */
static bool take_answer(struct frame *frames, int n, int file, char *text)
{
	for (int i = 0; i < n && text && *text; i++) {
		char *place;

		if (frames[i].file != file)
			continue;
		if (!begins_with(text, frames[i].there))
			return false;
		text[0] = '\0'; /* the end of what the frame before has */
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

	return stat(one, &first) == 0 && stat(other, &second) == 0 && first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

/* What is behind the last address may have been cut off. */
static void leave_out_last(char *text)
{
	char *last = NULL;

	for (char *line = text; line; line = next_line(line))
		if (!strncmp(line, "0x", 2))
			last = line;
	if (last)
		*last = '\0';
}

/* The program may have another file at its path by now, or none. */
static char *name_of(const struct frame_file *file)
{
	static struct plain_text path = {.file = -1};

	if (!file->program)
		return (char *)(uintptr_t)file->path;
	plain_put(&path, "/proc/%d/exe", (int)getpid());
	path.buffer[path.used] = '\0';
	return is_same_file(file->path, path.buffer) ? (char *)(uintptr_t)file->path : path.buffer;
}

static bool ask(struct frame *frames, int n, int file, int64_t until)
{
	static struct plain_text addresses = {.file = -1};
	static char *arguments[FRAMES_MOST + OPTIONS + 1];
	char *text = answers + answered;
	bool complete;
	int count = 0;

	if (sizeof answers - answered < LEAST_ROOM)
		return false;
	addresses.used = 0;
	arguments[count++] = tool;
	arguments[count++] = (char *)(uintptr_t)"-Cfia";
	arguments[count++] = (char *)(uintptr_t)"-e";
	arguments[count++] = name_of(&frame_files[file]);
	for (int i = 0; i < n; i++) {
		if (frames[i].file != file)
			continue;
		arguments[count++] = addresses.buffer + addresses.used;
		plain_put(&addresses, "%x", frames[i].there);
		addresses.buffer[addresses.used++] = '\0';
	}
	arguments[count] = NULL;
	complete = read_answer(arguments, text, sizeof answers - answered, until);
	complete &= text[0] != '\0';
	if (!complete)
		leave_out_last(text);
	answered += strlen(text) + 1;
	return take_answer(frames, n, file, text) && complete;
}

static bool is_wanted(const struct frame *frames, int n, int file)
{
	for (int i = 0; i < n; i++)
		if (frames[i].file == file)
			return frame_files[file].bytes && (frame_files[file].has_lines || frame_files[file].program);
	return false;
}

/* The program first: its lines are what the user looks for. */
const char *frames_find_lines(struct frame *frames, int n)
{
	int64_t until = now_in_ms() + PATIENCE;
	bool some = false;

	for (int file = 0; file < FRAME_FILES; file++)
		some |= is_wanted(frames, n, file) && frame_files[file].has_lines;
	if (!find_in_path("addr2line") && !find_in_path("llvm-addr2line"))
		return some ? "addr2line is not installed here" : NULL;
	for (int program = 1; program >= 0; program--)
		for (int file = 0; file < FRAME_FILES; file++)
			if (frame_files[file].program == (program == 1) && is_wanted(frames, n, file) &&
			    !ask(frames, n, file, until) && some)
				return "addr2line failed or took longer than 2 s";
	return NULL;
}
