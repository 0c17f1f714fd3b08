/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The launchers on this machine with their versions, and the launcher of this process, if there is
 * one.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report.h"

#define PATIENCE_MS 3000

/* The path where the shell would find the program. */
static bool find_in_path(const char *program, char *found, size_t size)
{
	const char *path = getenv("PATH");

	for (const char *folder = path; folder; folder = strchr(folder, ':') ? strchr(folder, ':') + 1 : NULL) {
		int length = (int)strcspn(folder, ":");

		snprintf(found, size, "%.*s/%s", length ? length : 1, length ? folder : ".", program);
		if (access(found, X_OK) == 0)
			return true;
	}
	return false;
}

/* Runs "program --version" with both outputs in a pipe; returns the read end, or -1. */
static int start_version(const char *program, pid_t *pid)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	*pid = fork();
	if (*pid == 0) {
		int null = open("/dev/null", O_RDONLY);

		dup2(null, STDIN_FILENO);
		dup2(ends[1], STDOUT_FILENO);
		dup2(ends[1], STDERR_FILENO);
		execl(program, program, "--version", (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	if (*pid > 0)
		return ends[0];
	close(ends[0]);
	return -1;
}

/* The first line of the program's version output, within a few seconds. */
static void version_of(const char *program, char *line, size_t size)
{
	size_t length = 0;
	ssize_t got = 1;
	pid_t pid;
	int end = start_version(program, &pid);
	struct pollfd wait = {.fd = end, .events = POLLIN};

	line[0] = '\0';
	if (end < 0)
		return;
	while (got > 0 && length < size - 1 && !memchr(line, '\n', length) && poll(&wait, 1, PATIENCE_MS) > 0) {
		got = read(end, line + length, size - 1 - length);
		length += got > 0 ? (size_t)got : 0;
	}
	line[length] = '\0';
	line[strcspn(line, "\n")] = '\0';
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	close(end);
}

static void report_launcher(struct report *report, const char *name, const char *path)
{
	char version[256];

	version_of(path, version, sizeof version);
	report_fact(report, name, name, "%s, %s", path, *version ? version : "which says no version");
}

/* This installation's oshrun is in the folder of this program; PATH may find another one. */
static void report_own(struct report *report)
{
	char beside[4200], path[4096];
	bool have = own_folder(path, sizeof path);

	snprintf(beside, sizeof beside, "%s/" OSHRUN_NAME, path);
	if (access(beside, X_OK)) /* a build tree has no --program-suffix */
		snprintf(beside, sizeof beside, "%s/oshrun", path);
	if (have && access(beside, X_OK) == 0)
		report_launcher(report, "oshrun", beside);
	else
		report_fact(report, "oshrun", "oshrun", "no: not beside oshinfo");
	if (find_in_path("oshrun", path, sizeof path)) {
		char *own = realpath(beside, NULL), *found = realpath(path, NULL);

		if (!own || !found || strcmp(own, found))
			report_note(report, "oshrun_in_path", "the oshrun that PATH finds is another: %s", path);
		free(own);
		free(found);
	}
}

static void report_parent(struct report *report)
{
	const char *nspace = getenv("PMIX_NAMESPACE"), *rank = getenv("PMIX_RANK"), *slurm = getenv("SLURM_JOB_ID");

	if (nspace && rank)
		report_fact(report, "started_by", "started by", "a PMIx launcher, job %s, PE %s", nspace, rank);
	else
		report_fact(report, "started_by", "started by", "no launcher");
	if (slurm)
		report_fact(report, "allocation", "allocation", "Slurm job %s", slurm);
}

void report_launchers(struct report *report)
{
	static const char *const others[] = {"prterun", "mpirun", "srun"};
	char path[4096];

	report_section(report, "launchers", "Launchers");
	report_own(report);
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
		if (find_in_path(others[i], path, sizeof path))
			report_launcher(report, others[i], path);
		else
			report_fact(report, others[i], others[i], "no: not in PATH");
	}
	report_parent(report);
}
