/* SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST (1 << 20)

extern char **environ;

static double command_clock(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static pid_t start_command(const char *const *words, int output)
{
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int error;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	error = posix_spawnp(&pid, words[0], &actions, NULL, (char *const *)(uintptr_t)words, environ);
	posix_spawn_file_actions_destroy(&actions);
	return error ? -1 : pid;
}

/* Returns false if it does not end in time, or if there is no room. */
static bool read_output(int fd, char *text, double end)
{
	size_t length = 0;

	for (;;) {
		struct pollfd poller = {.fd = fd, .events = POLLIN};
		double left = end - command_clock();
		ssize_t got;

		if (left <= 0 || length == MOST)
			return false;
		if (poll(&poller, 1, (int)(left * 1000) + 1) <= 0)
			continue;
		got = read(fd, text + length, MOST - length);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return false;
		length += (size_t)got;
		text[length] = '\0';
		if (got == 0)
			return true;
	}
}

char *command_output(const char *const *words, double seconds)
{
	char *text = malloc(MOST + 1);
	int ends[2], status = -1;
	bool good;
	pid_t pid;

	if (!text || pipe2(ends, O_CLOEXEC)) {
		free(text);
		return NULL;
	}
	pid = start_command(words, ends[1]);
	close(ends[1]);
	good = pid > 0 && read_output(ends[0], text, command_clock() + seconds);
	close(ends[0]);
	/* It may still run after it has closed its output. */
	if (pid > 0 && !good)
		kill(pid, SIGKILL);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (good && status == 0)
		return text;
	free(text);
	return NULL;
}
