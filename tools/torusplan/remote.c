/* SPDX-License-Identifier: BSD-3-Clause */
#include "remote.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent.h"

#define LONGEST 1024
#define PATIENCE_MS 200 /* for commands whose input has ended */

/* The programs that Open MPI and PRRTE call in place of ssh, by the names of their settings. */
static const char *remote_shell(void)
{
	static const char *const settings[] = {"PRTE_MCA_plm_ssh_agent", "OMPI_MCA_plm_rsh_agent",
					       "OMPI_MCA_plm_ssh_agent", "PRTE_MCA_plm_rsh_agent"};

	for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
		if (getenv(settings[i]) && getenv(settings[i])[0])
			return getenv(settings[i]);
	return "ssh -x -o BatchMode=yes -o ConnectTimeout=5";
}

static bool in_slurm(void)
{
	return getenv("SLURM_JOB_ID") && system("command -v srun >/dev/null 2>&1") == 0;
}

bool remote_prepare(struct remote *remote, const struct hosts *hosts, char *problem, size_t size)
{
	uint64_t number = 0;
	ssize_t length;
	size_t count = hosts->names.count;

	memset(remote, 0, sizeof *remote);
	signal(SIGPIPE, SIG_IGN);
	remote->hosts = hosts;
	remote->by_srun = in_slurm();
	remote->starts = remote->by_srun ? 1 : (int)count;
	remote->pid = calloc(count, sizeof *remote->pid);
	remote->output = calloc(count, sizeof *remote->output);
	remote->input = calloc(count, sizeof *remote->input);
	if (!remote->pid || !remote->output || !remote->input) {
		snprintf(problem, size, "no memory for %zu hosts", count);
		return false;
	}
	length = readlink("/proc/self/exe", remote->program, sizeof remote->program - 1);
	if (length < 0 || strchr(remote->program, '\'')) {
		snprintf(problem, size, "the name of this program cannot be given to a shell on another host");
		return false;
	}
	if (getrandom(&number, sizeof number, 0) != sizeof number)
		number = (uint64_t)getpid();
	snprintf(remote->session, sizeof remote->session, "%016llx", (unsigned long long)number);
	for (size_t i = 0; i < count; i++)
		remote->output[i] = remote->input[i] = -1;
	return true;
}

static void add_words(struct arguments *command, const char *words)
{
	char copy[LONGEST], *rest = copy, *word;

	snprintf(copy, sizeof copy, "%s", words);
	while ((word = strtok_r(rest, " ", &rest)))
		arguments_add(command, "%s", word);
}

static void make_srun(const struct remote *remote, struct arguments *command)
{
	const struct arguments *names = &remote->hosts->names;
	char *list = calloc(names->count + 1, HOST_NAME_MAX + 2);

	for (size_t i = 0; list && i < names->count; i++)
		sprintf(list + strlen(list), "%s%.*s", i ? "," : "", HOST_NAME_MAX, names->list[i]);
	add_words(command, "srun --overlap --unbuffered --ntasks-per-node=1 --mpi=none --quiet");
	arguments_add(command, "--nodes=%zu", names->count);
	arguments_add(command, "--ntasks=%zu", names->count);
	arguments_add(command, "--nodelist=%s", list ? list : "");
	arguments_add(command, "%s", remote->program);
	arguments_add(command, "agent");
	arguments_add(command, "%s", remote->session);
	free(list);
}

static void make_command(const struct remote *remote, int start, struct arguments *command)
{
	const char *host = remote->hosts->names.list[start];

	if (remote->by_srun) {
		make_srun(remote, command);
	} else if (hosts_is_here(host)) {
		arguments_add(command, "%s", remote->program);
		arguments_add(command, "agent");
		arguments_add(command, "%s", remote->session);
		arguments_add(command, "%s", host);
	} else {
		add_words(command, remote_shell());
		arguments_add(command, "%s", host);
		arguments_add(command, "'%s' agent %s %s", remote->program, remote->session, host);
	}
}

static void become_command(const int in[2], const int out[2], char **words)
{
	signal(SIGPIPE, SIG_DFL);
	dup2(in[0], STDIN_FILENO);
	dup2(out[1], STDOUT_FILENO);
	execvp(words[0], words);
	fprintf(stderr, "torusplan: %s: cannot be executed: %s\n", words[0], strerror(errno));
	_exit(127);
}

void remote_begin(struct remote *remote)
{
	struct arguments command = {0};
	int start = remote->begun++, in[2], out[2];

	if (pipe2(in, O_CLOEXEC))
		return;
	if (pipe2(out, O_CLOEXEC)) {
		close(in[0]);
		close(in[1]);
		return;
	}
	make_command(remote, start, &command);
	remote->pid[start] = fork();
	if (remote->pid[start] == 0)
		become_command(in, out, command.list);
	close(in[0]);
	close(out[1]);
	remote->input[start] = in[1];
	remote->output[start] = out[0];
	arguments_free(&command);
}

void remote_send_newline(const struct remote *remote)
{
	const char *line = remote->hosts->names.count == 2 ? AGENT_OTHERS "\n" : "\n";

	for (int i = 0; i < remote->begun; i++)
		if (remote->output[i] >= 0 && write(remote->input[i], line, strlen(line)) < 0)
			continue; /* it has just ended; its output will show that */
}

void remote_end(struct remote *remote)
{
	int left = 0;

	for (int i = 0; i < remote->begun; i++) {
		if (remote->input[i] >= 0)
			close(remote->input[i]);
		if (remote->output[i] >= 0)
			close(remote->output[i]);
		left += remote->pid[i] > 0;
	}
	for (int waited = 0; left > 0; waited += 5) {
		for (int i = 0; i < remote->begun; i++)
			if (remote->pid[i] > 0 && waitpid(remote->pid[i], NULL, WNOHANG) == remote->pid[i]) {
				remote->pid[i] = 0;
				left--;
			}
		if (left && waited >= PATIENCE_MS)
			for (int i = 0; i < remote->begun; i++)
				if (remote->pid[i] > 0)
					kill(remote->pid[i], SIGKILL);
		if (left)
			poll(NULL, 0, 5);
	}
	free(remote->pid);
	free(remote->output);
	free(remote->input);
}
