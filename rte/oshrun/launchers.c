/* SPDX-License-Identifier: BSD-3-Clause */
#include "launchers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rte/text/arguments.h"
#include "await_hosts.h"
#include "environment.h"
#include "discover_torus.h"
#include "launcher_options.h"
#include "rte/settings.h"
#include "rte/text/text.h"
#include "say.h"

#define GO_ON (-1)
#define MISTAKE 2
#define NO_LAUNCHER 1

static char *find_launcher_path(const char *name)
{
	const char *part = getenv("PATH");

	if (strchr(name, '/'))
		return access(name, X_OK) ? NULL : strdup(name);
	while (part) {
		size_t length = strcspn(part, ":");
		char *path = NULL;

		if (asprintf(&path, "%.*s/%s", (int)length, part, name) < 0)
			return NULL;
		if (!access(path, X_OK))
			return path;
		free(path);
		part = part[length] ? part + length + 1 : NULL;
	}
	return NULL;
}

/* Reads the output of the program with --version, as far as it fits into text. */
static void ask_version(const char *path, char *text, size_t size)
{
	ssize_t got;
	int ends[2];
	pid_t pid;

	text[0] = '\0';
	if (pipe2(ends, O_CLOEXEC))
		return;
	pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 0);
		dup2(ends[1], 1);
		dup2(null, 2);
		execl(path, path, "--version", (char *)NULL);
		_exit(1);
	}
	close(ends[1]);
	got = pid > 0 ? read(ends[0], text, size - 1) : 0;
	close(ends[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	text[got > 0 ? got : 0] = '\0';
}

/*
 * Several MPIs call their launcher mpirun, and only Open MPI's offers PMIx to the PEs. The mpirun
 * of Open MPI 5 is PRRTE's and takes PRRTE's options; it no longer understands some of the older
 * ones (--output-filename). NULL: not one of these.
 */
static const struct launcher_kind *kind_of_mpirun(const char *path)
{
	char text[512];
	const char *number;

	ask_version(path, text, sizeof text);
	if (strstr(text, "PRRTE"))
		return &launcher_kinds[LAUNCHER_PRTERUN];
	number = strstr(text, "(Open MPI) ");
	if (number)
		return atoi(number + strlen("(Open MPI) ")) >= 5 ? &launcher_kinds[LAUNCHER_PRTERUN]
								 : &launcher_kinds[LAUNCHER_MPIRUN];
	return strstr(text, "Open MPI") || strstr(text, "open-mpi") ? &launcher_kinds[LAUNCHER_MPIRUN] : NULL;
}

static bool try_launcher(struct launcher *launcher, const struct launcher_kind *kind, const char *given)
{
	launcher->path = find_launcher_path(given);
	if (!launcher->path)
		return false;
	if (kind == &launcher_kinds[LAUNCHER_MPIRUN])
		kind = kind_of_mpirun(launcher->path);
	if (!kind) {
		free(launcher->path);
		launcher->path = NULL;
		return false;
	}
	launcher->name = given;
	launcher->kind = kind;
	return true;
}

static const char *base_name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static const struct launcher_kind *find_kind(const char *given)
{
	for (size_t i = 0; i < LAUNCHER_KINDS; i++)
		if (!strcmp(base_name_of(given), launcher_kinds[i].name))
			return &launcher_kinds[i];
	return NULL;
}

static int refuse_launcher(const char *given, const char *from)
{
	const char *names[LAUNCHER_KINDS], *nearest;

	for (size_t i = 0; i < LAUNCHER_KINDS; i++)
		names[i] = launcher_kinds[i].name;
	nearest = text_nearest(base_name_of(given), names, LAUNCHER_KINDS);
	say("%s %s: no such launcher; %s%s?", from, given, nearest ? "did you mean " : "prterun, mpirun or srun",
	    nearest ? nearest : "");
	return MISTAKE;
}

/* A name such as mpirun, or a path to one. */
static int choose_named(struct launcher *launcher, const char *given, const char *from)
{
	const struct launcher_kind *kind = find_kind(given);

	if (!kind)
		return refuse_launcher(given, from);
	if (try_launcher(launcher, kind, given))
		return GO_ON;
	say("%s %s: not found, or not a launcher with PMIx; install %s, or leave the choice to oshrun", from, given,
	    kind->package);
	return NO_LAUNCHER;
}

static int choose_any(struct launcher *launcher, const char *why, const char *what)
{
	/*
	 * Inside Slurm its own launcher knows the allocation best; outside, srun would queue for a
	 * new one.
	 */
	if (getenv("SLURM_JOB_ID") && try_launcher(launcher, &launcher_kinds[LAUNCHER_SRUN], "srun"))
		return GO_ON;
	for (size_t i = 0; i < LAUNCHER_KINDS; i++)
		if (try_launcher(launcher, &launcher_kinds[i], launcher_kinds[i].name))
			return GO_ON;
	say("%s (%s), and oshrun by itself starts PEs on this machine only; install prrte (prterun), "
	    "openmpi-bin (mpirun) or slurm-client (srun)",
	    why, what);
	return NO_LAUNCHER;
}

/* Does a batch system's list of hosts, with one line per slot, contain more than one name? */
static bool names_several(const char *path)
{
	FILE *file = path ? fopen(path, "re") : NULL;
	char first[256] = "", line[256];
	bool several = false;

	while (file && !several && fscanf(file, "%255s%*[^\n]", line) == 1) {
		several = first[0] && strcmp(first, line);
		strcpy(first, line);
	}
	if (file)
		fclose(file);
	return several;
}

/* Returns the environment variable that names several hosts, NULL if none does. */
static const char *find_allocation(struct launcher *launcher)
{
	static const char *const files[] = {"PBS_NODEFILE", "LSB_DJOB_HOSTFILE"};
	const char *nodes = getenv("SLURM_JOB_NUM_NODES");

	if (!nodes)
		nodes = getenv("SLURM_NNODES");
	if (getenv("SLURM_JOB_ID") && nodes && atoi(nodes) > 1)
		return "SLURM_JOB_ID";
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
		if (names_several(getenv(files[i]))) {
			launcher->hostfile = getenv(files[i]);
			return files[i];
		}
	return NULL;
}

int launcher_choose(struct launcher *launcher, const struct options *options, const struct hosts *hosts)
{
	const char *setting = setting_text(SETTING_LAUNCHER), *allocation;
	const char *given = options->launcher ? options->launcher : setting;

	memset(launcher, 0, sizeof *launcher);
	if (setting[0] && strcmp(setting, "none") && !find_kind(setting))
		return refuse_launcher(setting, "SHMEM_LAUNCHER");
	if (!strcmp(given, "none")) {
		if (!hosts->other)
			return GO_ON;
		say("another host is asked for (%s), and the launcher is set to none; leave one of them out",
		    hosts->other);
		return MISTAKE;
	}
	if (options->launcher)
		return choose_named(launcher, options->launcher, "--launcher");
	allocation = hosts->names.count ? NULL : find_allocation(launcher);
	if (!hosts->other && !allocation)
		return GO_ON;
	if (setting[0])
		return choose_named(launcher, setting, "SHMEM_LAUNCHER");
	if (hosts->other)
		return choose_any(launcher, "another host is asked for", hosts->other);
	return choose_any(launcher, "several hosts are allocated", allocation);
}

static void print_command(const struct arguments *command, const struct options *options)
{
	bool first = true;

	for (int i = 0; i < options->export_count; i++) {
		char *assignment[] = {options->exports[i], NULL};

		if (!strchr(options->exports[i], '='))
			continue;
		fputs(first ? "env " : "", stdout);
		arguments_print(assignment);
		putchar(' ');
		first = false;
	}
	arguments_print(command->list);
	putchar('\n');
}

int launcher_run(struct launcher *launcher, const struct options *options, const struct hosts *hosts)
{
	char **environment;
	struct arguments command = {0};

	if (options->rankfile && launcher->kind == &launcher_kinds[LAUNCHER_SRUN]) {
		say("--rankfile %s: srun takes another kind of file; let torusplan place write it (--format "
		    "slurm), and use srun --distribution=arbitrary",
		    options->rankfile);
		return MISTAKE;
	}
	if (options->part_count > 1 && launcher->kind == &launcher_kinds[LAUNCHER_SRUN]) {
		say("srun takes several programs from a file (srun --multi-prog) and not behind :; call it so, "
		    "or use mpirun (--launcher mpirun)");
		return MISTAKE;
	}
	environment = environment_for_pes(options);
	environment_free(environment);
	if (!environment)
		return 1;
	if (!options->dry_run)
		discover_torus(launcher, options, hosts);
	launcher_command(&command, launcher, options, hosts);
	if (options->verbose)
		say("handing over to %s", launcher->path);
	if (options->dry_run) {
		print_command(&command, options);
	} else {
		await_hosts(launcher, options, hosts);
		execv(launcher->path, command.list);
		say("%s: cannot be executed: %s", launcher->path, strerror(errno));
	}
	arguments_free(&command);
	free(launcher->path);
	return options->dry_run ? 0 : 1;
}
