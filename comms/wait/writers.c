/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writers in this process: threads, signal handlers, files through which the kernel or a device
 * stores, and a tracer. Libraries have threads, handlers and files of their own, which never store
 * to symmetric memory without a message that the search counts. They are recognised by the time
 * they appear (while the library starts), by their name (threads of rte_start_thread), or by the
 * file that contains a handler.
 */
#include "writers.h"

#include <dirent.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "comms/core/comms.h"
#include "rte/rte.h"

#define MOST_SIGNALS 65
#define MOST_THREADS 64
#define MOST_FILES 32
#define LINK 128
#define XDP_SOCKETS 44 /* AF_XDP: the kernel stores packets to memory of the program */

typedef void handler(int);

struct threads {
	int count; /* number of entries; more than fit: unknown */
	pid_t id[MOST_THREADS];
};
struct open_files {
	int count;
	char link[MOST_FILES][LINK];
};

static struct {
	/* The latter: libraries'. */
	handler *handlers_before[MOST_SIGNALS], *handlers[MOST_SIGNALS];
	struct threads threads_before, threads;
	struct open_files files_before, files;
} writers;

/* --- Threads --- */

/* Returns false if there is no other thread. */
static bool next_number(DIR *folder, int *number)
{
	struct dirent *entry;

	while ((entry = readdir(folder)))
		if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9') {
			*number = atoi(entry->d_name);
			return true;
		}
	return false;
}

static bool has_thread(const struct threads *threads, pid_t id)
{
	for (int i = 0; i < threads->count && i < MOST_THREADS; i++)
		if (threads->id[i] == id)
			return true;
	return false;
}

/* The name that rte_start_thread gives to threads of the library. */
static bool is_named_as_library(pid_t id)
{
	char path[64], name[32] = "";
	FILE *file;

	snprintf(path, sizeof path, "/proc/self/task/%d/comm", (int)id);
	file = fopen(path, "r");
	if (!file)
		return true; /* the thread has ended */
	if (!fgets(name, sizeof name, file))
		name[0] = '\0';
	fclose(file);
	name[strcspn(name, "\n")] = '\0';
	return !strcmp(name, RTE_THREAD_NAME);
}

/* Threads besides the calling one that are not in known. */
static void list_threads(struct threads *threads, const struct threads *known)
{
	DIR *folder = opendir("/proc/self/task");
	pid_t me = (pid_t)syscall(SYS_gettid);
	int id;

	threads->count = 0;
	while (folder && next_number(folder, &id)) {
		if (id == me || has_thread(known, id))
			continue;
		if (threads->count < MOST_THREADS)
			threads->id[threads->count] = id;
		threads->count++;
	}
	if (folder)
		closedir(folder);
}

bool writers_have_thread(void)
{
	static struct threads now;

	list_threads(&now, &writers.threads);
	for (int i = 0; i < now.count && i < MOST_THREADS; i++)
		if (!is_named_as_library(now.id[i]))
			return true;
	return now.count > MOST_THREADS;
}

/* --- Handlers --- */

/*
 * NULL: the signal has none. For the library's own handler, the handler that it would call counts.
 */
static handler *handler_of(int number)
{
	struct sigaction action;

	if (!rte_program_action(number, &action) || action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)
		return NULL;
	return action.sa_handler;
}

/*
 * Run-time libraries that install handlers before main, or in code that the compiler calls first
 * there.
 */
static bool is_in_runtime(handler *function)
{
	static const char *const files[] = {"libgfortran.so", "libtorushmem", "libucs.so",	 "libucm.so",
					    "libasan.so",     "libtsan.so",   "libubsan.so",	 "liblsan.so",
					    "libpmix.so",     "libpsm2.so",   "libinfinipath.so"};
	const char *name;
	Dl_info info;

	if (!dladdr((void *)(uintptr_t)function, &info) || !info.dli_fname)
		return false;
	name = strrchr(info.dli_fname, '/');
	name = name ? name + 1 : info.dli_fname;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		if (!strncmp(name, files[i], strlen(files[i])))
			return true;
	return false;
}

static bool find_handler(char *text, size_t size)
{
	for (int number = 1; number <= SIGRTMAX; number++) {
		handler *now = handler_of(number);

		if (!now || now == writers.handlers[number] || is_in_runtime(now))
			continue;
		snprintf(text, size, "the handler of signal %d (%s)", number, strsignal(number));
		return true;
	}
	return false;
}

/* --- The kernel and devices --- */

static bool begins_with(const char *text, const char *begin)
{
	return !strncmp(text, begin, strlen(begin));
}

/* Memory, terminals and pseudo-terminals do not store to a program's memory by themselves. */
static bool is_plain_device(dev_t device)
{
	unsigned kind = major(device);

	return kind == 1 || kind == 4 || kind == 5 || (kind >= 136 && kind <= 143);
}

/*
 * Is this file unable to store to memory while the process makes no system call? Another thread may
 * open and close files meanwhile; that race is harmless. Opening by path and by bare system call
 * hides it from the thread sanitizer.
 */
static bool is_plain_file(int fd, const char *path, const char *link)
{
	static const char *const kinds[] = {"anon_inode:[eventfd",  "anon_inode:[eventpoll", "anon_inode:[timerfd",
					    "anon_inode:[signalfd", "anon_inode:inotify",    "anon_inode:[pidfd",
					    "anon_inode:[fanotify"};
	struct stat status;
	int family = 0;

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (begins_with(link, kinds[i]))
			return true;
	if (begins_with(link, "anon_inode:"))
		return false;
	if (begins_with(link, "socket:"))
		return syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_DOMAIN, &family, &(socklen_t){sizeof family}) ||
		       family != XDP_SOCKETS;
	return stat(path, &status) || !S_ISCHR(status.st_mode) || is_plain_device(status.st_rdev);
}

static bool has_file(const struct open_files *files, const char *link)
{
	for (int i = 0; i < files->count; i++)
		if (!strcmp(files->link[i], link))
			return true;
	return false;
}

/* Files of an unknown kind; false: /proc does not tell. */
static bool list_files(struct open_files *files, const struct open_files *known)
{
	DIR *folder = opendir("/proc/self/fd");
	int fd;

	files->count = 0;
	while (folder && files->count < MOST_FILES && next_number(folder, &fd)) {
		char path[64], link[LINK];
		ssize_t length;

		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		length = readlink(path, link, sizeof link - 1);
		if (length < 0 || fd == dirfd(folder))
			continue;
		link[length] = '\0';
		if (!is_plain_file(fd, path, link) && !has_file(known, link))
			memcpy(files->link[files->count++], link, sizeof link);
	}
	if (folder)
		closedir(folder);
	return folder != NULL;
}

/*
 * A mapping outlives its file: contexts of asynchronous I/O, rings of io_uring, memory of devices.
 */
static bool is_writer_map(const char *path)
{
	if (begins_with(path, "/[aio]") || begins_with(path, "anon_inode:"))
		return true;
	return begins_with(path, "/dev/") && !begins_with(path, "/dev/shm/") && !begins_with(path, "/dev/zero") &&
	       !begins_with(path, "/dev/hugepages") && !begins_with(path, "/dev/mqueue");
}

static bool find_map(char *text, size_t size)
{
	FILE *file = fopen("/proc/self/maps", "r");
	char *line = NULL;
	size_t room = 0;
	bool found = false;

	while (file && !found && getline(&line, &room, file) > 0) {
		const char *path = strstr(line, "anon_inode:");

		path = path ? path : strchr(line, '/');
		if (!path)
			continue;
		line[strcspn(line, "\n")] = '\0';
		found = is_writer_map(path) && !has_file(&writers.files, path);
		if (found)
			snprintf(text, size, "memory of %s", path);
	}
	free(line);
	if (file)
		fclose(file);
	return found;
}

static bool find_file(char *text, size_t size)
{
	static struct open_files now;

	if (!list_files(&now, &writers.files)) {
		snprintf(text, size, "something that cannot be seen without /proc");
		return true;
	}
	if (now.count > 0)
		snprintf(text, size, "the open file %s", now.link[0]);
	return now.count > 0;
}

static bool find_tracer(char *text, size_t size)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[128];
	int tracer = 0;

	while (file && tracer == 0 && fgets(line, sizeof line, file))
		sscanf(line, "TracerPid: %d", &tracer);
	if (file)
		fclose(file);
	if (tracer > 0)
		snprintf(text, size, "process %d, which traces it", tracer);
	return tracer > 0;
}

/* --- All --- */

bool writers_find(char *text, size_t size)
{
	if (comms.device) {
		snprintf(text, size, "a GPU");
		return true;
	}
	if (find_handler(text, size) || find_file(text, size) || find_map(text, size) || find_tracer(text, size))
		return true;
	if (writers_have_thread()) {
		snprintf(text, size, "another thread");
		return true;
	}
	return writers_find_process(text, size);
}

void writers_before_start(void)
{
	for (int number = 1; number <= SIGRTMAX; number++) {
		handler *now = handler_of(number);

		writers.handlers_before[number] = now == writers.handlers[number] ? NULL : now;
	}
	list_threads(&writers.threads_before, &writers.threads);
	list_files(&writers.files_before, &writers.files);
}

void writers_after_start(void)
{
	for (int number = 1; number <= SIGRTMAX; number++) {
		handler *now = handler_of(number);

		writers.handlers[number] = now == writers.handlers_before[number] ? NULL : now;
	}
	list_threads(&writers.threads, &writers.threads_before);
	if (writers.threads.count > MOST_THREADS)
		writers.threads.count = MOST_THREADS;
	list_files(&writers.files, &writers.files_before);
}
