/* SPDX-License-Identifier: BSD-3-Clause */
#include "reaper.h"

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
/* Number of the system call on all machines; older headers do not define it. */
#define CLOSE_RANGE 436
#define DISMISSED 'q'

/*
 * Reads the parent from /proc/PID/stat. It follows the command's name, which may contain anything,
 * even brackets.
 */
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

int reaper_sweep(const char *mark)
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

/* For an oshrun that died without dismissing the reaper. */
static void clean_up(struct reaper *reaper)
{
	for (int i = 0; i < reaper->count; i++)
		if (reaper->groups[i] > 0)
			kill(-reaper->groups[i], SIGKILL);
	/* A process that forks during the scan may escape one round, hardly several. */
	for (int i = 0; i < SWEEPS && reaper->mark[0] && reaper_sweep(reaper->mark); i++)
		usleep(2000);
	session_remove(reaper->folder);
}

static void drop_files(int keep)
{
	int null = open("/dev/null", O_RDWR);

	/* An open copy of the user's pipes would keep their readers waiting. */
	for (int fd = 0; fd <= 2; fd++)
		dup2(null, fd);
	dup2(keep, 3);
	if (syscall(CLOSE_RANGE, 4U, ~0U, 0U))
		for (int fd = 4; fd < FILES_WITHOUT_CLOSE_RANGE; fd++)
			close(fd);
}

/* Changes its name, so that "kill -9" of all processes called oshrun does not hit the reaper. */
static void change_name(void)
{
	char *name = program_invocation_name;
	size_t length = strlen(name);

	prctl(PR_SET_NAME, "shmem-reaper");
	memset(name, 0, length);
	strncpy(name, "reaper", length);
}

static void reap_when_orphaned(struct reaper *reaper, int pipe_fd)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	char byte = 0;
	ssize_t got;

	setsid();
	change_name();
	for (int sig = 1; sig < SIGRTMIN; sig++)
		sigaction(sig, &ignore, NULL);
	drop_files(pipe_fd);
	do
		got = read(3, &byte, 1);
	while (got < 0 && errno == EINTR);
	if (got != 1 || byte != DISMISSED)
		clean_up(reaper);
	_exit(0);
}

struct reaper *reaper_start(int count)
{
	size_t size = sizeof(struct reaper) + (size_t)count * sizeof(pid_t);
	struct reaper *reaper = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int ends[2];
	pid_t pid;

	if (reaper == MAP_FAILED)
		return NULL;
	reaper->count = count;
	if (pipe2(ends, O_CLOEXEC))
		return NULL;
	pid = fork();
	if (pid == 0)
		reap_when_orphaned(reaper, ends[0]);
	close(ends[0]);
	/*
	 * Not assigned directly from fork(): the child would store its 0 in the same shared memory.
	 */
	reaper->pid = pid;
	reaper->pipe = ends[1];
	return pid > 0 ? reaper : NULL;
}

void reaper_dismiss(struct reaper *reaper)
{
	char byte = DISMISSED;

	if (write(reaper->pipe, &byte, 1) != 1)
		kill(reaper->pid, SIGKILL);
	close(reaper->pipe);
	waitpid(reaper->pid, NULL, 0);
}
