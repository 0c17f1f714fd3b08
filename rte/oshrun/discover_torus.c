/* SPDX-License-Identifier: BSD-3-Clause */
#include "discover_torus.h"

#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "job.h"
#include "rte/text/arguments.h"
#include "rte/host/ports.h"
#include "rte/rte.h"
#include "rte/settings.h"
#include "say.h"

#define HOSTS_SECONDS "5"   /* for hosts to answer */
#define MOST_SECONDS 8.0    /* for the whole search */
#define LONGEST (100 << 10) /* the kernel limits an environment entry to 128 KiB */

enum { DISCOVER_AUTO, DISCOVER_YES, DISCOVER_NO }; /* in the order of the setting's words */

static bool includes_this_host(const struct hosts *hosts)
{
	for (size_t h = 0; h < hosts->names.count; h++)
		if (hosts_is_here(hosts->names.list[h]))
			return true;
	return hosts->names.count == 0;
}

/*
 * One host needs no torus; two may have cables that are networks of their own. Jobs on a switch end
 * here, after a check of this host's ports.
 */
static bool is_worth_it(const struct hosts *hosts)
{
	int wanted = setting_choice(SETTING_TORUS_DISCOVER);
	const char *nodes = getenv("SLURM_JOB_NUM_NODES");

	if (wanted == DISCOVER_NO || setting_text(SETTING_TORUS)[0] || setting_text(SETTING_TORUS_FILE)[0])
		return false;
	if (hosts->names.count ? hosts->names.count < 2 : nodes && atoi(nodes) < 2)
		return false;
	return wanted == DISCOVER_YES || (includes_this_host(hosts) && ports_cabled());
}

/* torusplan is in oshrun's folder, with the same prefix and suffix in its name. */
static bool find_torusplan(char path[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 16);
	char *base, *own, tail[NAME_MAX + 1];

	if (length < 0)
		return false;
	path[length] = '\0';
	base = strrchr(path, '/');
	own = base ? strstr(base, "oshrun") : NULL;
	if (!own)
		return false;
	snprintf(tail, sizeof tail, "%s", own + strlen("oshrun"));
	snprintf(own, (size_t)(PATH_MAX - (own - path)), "torusplan%s", tail);
	return access(path, X_OK) == 0;
}

static _Noreturn void become_torusplan(const struct arguments *command, int output, bool quiet)
{
	int null = open("/dev/null", O_RDWR);

	dup2(null, STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	if (quiet)
		dup2(null, STDERR_FILENO);
	execv(command->list[0], command->list);
	_exit(127);
}

/* Reads its output within the time; longer output is useless. */
static void read_answer(int fd, char *text, size_t room)
{
	double end = job_clock() + MOST_SECONDS;
	size_t length = 0;
	ssize_t got = 1;

	while (got > 0 && length < room - 1) {
		struct pollfd poller = {.fd = fd, .events = POLLIN};
		double left = end - job_clock();

		if (left <= 0 || poll(&poller, 1, (int)(left * 1000) + 1) <= 0)
			break;
		got = read(fd, text + length, room - 1 - length);
		length += got > 0 ? (size_t)got : 0;
	}
	text[got == 0 ? length : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
}

static void ask_torusplan(const struct arguments *command, bool quiet, char *text, size_t room)
{
	int ends[2], status;
	pid_t pid;

	text[0] = '\0';
	if (pipe2(ends, O_CLOEXEC))
		return;
	pid = fork();
	if (pid == 0)
		become_torusplan(command, ends[1], quiet);
	close(ends[1]);
	if (pid > 0)
		read_answer(ends[0], text, room);
	close(ends[0]);
	if (pid > 0 && !text[0])
		kill(pid, SIGTERM);
	if (pid > 0 && waitpid(pid, &status, 0) == pid && status != 0)
		text[0] = '\0';
}

static void make_command(struct arguments *command, const char *path, const struct launcher *launcher,
			 const struct options *options)
{
	const char *hostfile = options->hostfile ? options->hostfile : options->hosts ? NULL : launcher->hostfile;

	arguments_add(command, "%s", path);
	arguments_add(command, "discover");
	arguments_add(command, "--cached");
	arguments_add(command, "--timeout=" HOSTS_SECONDS);
	if (options->hosts)
		arguments_add(command, "-H=%s", options->hosts);
	else if (hostfile)
		arguments_add(command, "--hostfile=%s", hostfile);
}

/* "lo,x+,x-": the ports of cables that are networks of their own; "": there are none. */
static void list_cable_ports(const char *shape, char *list, size_t size)
{
	char port[2][IF_NAMESIZE], listed[2 * IF_NAMESIZE + 4];

	snprintf(list, size, ",lo,");
	for (const char *at = shape; (at = strstr(at, "cable ")); at++) {
		if (sscanf(at, "cable %*s %15s %*s %15[^; ]", port[0], port[1]) != 2)
			continue;
		for (int side = 0; side < 2; side++) {
			const size_t used = strlen(list);

			snprintf(listed, sizeof listed, ",%s,", port[side]);
			if (!strstr(list, listed) && used + strlen(port[side]) + 2 < size)
				sprintf(list + used, "%s,", port[side]);
		}
	}
	list[strlen(list) - 1] = '\0';
	memmove(list, list + 1, strlen(list));
	if (!strcmp(list, "lo"))
		list[0] = '\0';
}

/* By the environment, or by an option such as --mca. */
static bool is_given(const char *variable, const struct options *options)
{
	const size_t length = strlen(variable);

	for (int i = 0; i < options->export_count; i++)
		if (!strncmp(options->exports[i], variable, length) && options->exports[i][length] == '=')
			return true;
	return getenv(variable) != NULL;
}

/*
 * Open MPI's and PRRTE's daemons connect over any network that two hosts share. One over a cable
 * would not survive the loss of it, and the launcher then waits for ever.
 */
static void keep_launcher_off_cables(const char *shape, const struct options *options)
{
	static const char *const variables[][2] = {
		{"OMPI_MCA_oob_tcp_if_exclude", "OMPI_MCA_oob_tcp_if_include"},
		{"PRTE_MCA_oob_tcp_if_exclude", "PRTE_MCA_oob_tcp_if_include"},
		{"PRTE_MCA_prte_if_exclude", "PRTE_MCA_prte_if_include"},
	};
	char ports[1024];

	list_cable_ports(shape, ports, sizeof ports);
	for (size_t i = 0; ports[0] && i < sizeof variables / sizeof variables[0]; i++)
		if (!is_given(variables[i][0], options) && !is_given(variables[i][1], options))
			setenv(variables[i][0], ports, 1);
}

void discover_torus(const struct launcher *launcher, const struct options *options, const struct hosts *hosts)
{
	struct arguments command = {0};
	char path[PATH_MAX], *text;

	unsetenv(RTE_TORUS_FOUND);
	if (!is_worth_it(hosts) || !find_torusplan(path))
		return;
	text = malloc(LONGEST);
	if (!text)
		return;
	make_command(&command, path, launcher, options);
	ask_torusplan(&command, options->quiet, text, LONGEST);
	if (text[0]) {
		setenv(RTE_TORUS_FOUND, text, 1);
		keep_launcher_off_cables(text, options);
	}
	if (options->verbose)
		say("torus by its cables: %s", text[0] ? text : "none found");
	arguments_free(&command);
	free(text);
}
