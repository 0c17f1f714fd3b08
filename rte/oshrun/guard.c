/* SPDX-License-Identifier: BSD-3-Clause */
#include "guard.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session.h"

#define SWEEPS 5
#define FILES_WITHOUT_CLOSE_RANGE 4096
#define CLOSE_RANGE 436 /* the number of the system call, on all machines; older headers have no name for it */
#define DISMISSED 'q'

/* The parent in /proc/PID/stat: behind the command's name, which may hold anything, even brackets. */
static pid_t parent_of(const char *pid)
{
	char path[64], text[512];
	const char *behind;
	ssize_t length;
	int fd, parent = 0;

	snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	length = read(fd, text, sizeof text - 1);
	close(fd);
	text[length > 0 ? length : 0] = '\0';
	behind = strrchr(text, ')');
	if (!behind || sscanf(behind, ") %*c %d", &parent) != 1)
		return 0;
	return parent;
}

static bool has_mark(const char *pid, const char *mark)
{
	char path[64], *entry = NULL;
	size_t size = 0;
	bool found = false;
	FILE *environment;

	snprintf(path, sizeof path, "/proc/%.20s/environ", pid);
	environment = fopen(path, "re");
	if (!environment)
		return false;
	while (!found && getdelim(&entry, &size, '\0', environment) > 0)
		found = !strcmp(entry, mark);
	free(entry);
	fclose(environment);
	return found;
}

int guard_sweep(const char *mark)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int killed = 0;

	while (proc && (entry = readdir(proc))) {
		pid_t pid = isdigit((unsigned char)entry->d_name[0]) ? atoi(entry->d_name) : 0;

		if (pid <= 1 || pid == getpid())
			continue;
		if (parent_of(entry->d_name) == getpid() || has_mark(entry->d_name, mark))
			killed += !kill(pid, SIGKILL);
	}
	if (proc)
		closedir(proc);
	return killed;
}

/* oshrun died without a word. */
static void clean_up(struct guard *guard)
{
	for (int i = 0; i < guard->count; i++)
		if (guard->groups[i] > 0)
			kill(-guard->groups[i], SIGKILL);
	/* A process that forks while we look may escape one round, hardly several. */
	for (int i = 0; i < SWEEPS && guard->mark[0] && guard_sweep(guard->mark); i++)
		usleep(2000);
	session_remove(guard->folder);
}

static void drop_files(int keep)
{
	int null = open("/dev/null", O_RDWR);

	/* Holding the user's pipes would keep their readers waiting. */
	for (int fd = 0; fd <= 2; fd++)
		dup2(null, fd);
	dup2(keep, 3);
	if (syscall(CLOSE_RANGE, 4U, ~0U, 0U))
		for (int fd = 4; fd < FILES_WITHOUT_CLOSE_RANGE; fd++)
			close(fd);
}

/* Under another name: whoever kills -9 all processes called oshrun should not hit the one that tidies up. */
static void change_name(void)
{
	char *name = program_invocation_name;
	size_t length = strlen(name);

	prctl(PR_SET_NAME, "shmem-guard");
	memset(name, 0, length);
	strncpy(name, "guard", length);
}

static void stand_guard(struct guard *guard, int pipe_fd)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	char word = 0;
	ssize_t got;

	setsid();
	change_name();
	for (int sig = 1; sig < SIGRTMIN; sig++)
		sigaction(sig, &ignore, NULL);
	drop_files(pipe_fd);
	do
		got = read(3, &word, 1);
	while (got < 0 && errno == EINTR);
	if (got != 1 || word != DISMISSED)
		clean_up(guard);
	_exit(0);
}

struct guard *guard_start(int count)
{
	size_t size = sizeof(struct guard) + (size_t)count * sizeof(pid_t);
	struct guard *guard = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int ends[2];
	pid_t pid;

	if (guard == MAP_FAILED)
		return NULL;
	guard->count = count;
	if (pipe2(ends, O_CLOEXEC))
		return NULL;
	pid = fork();
	if (pid == 0)
		stand_guard(guard, ends[0]);
	close(ends[0]);
	/* Not straight from fork(): the child would store its 0 in the same place. */
	guard->pid = pid;
	guard->pipe = ends[1];
	return pid > 0 ? guard : NULL;
}

void guard_dismiss(struct guard *guard)
{
	char word = DISMISSED;

	if (write(guard->pipe, &word, 1) != 1)
		kill(guard->pid, SIGKILL);
	close(guard->pipe);
	waitpid(guard->pid, NULL, 0);
}
