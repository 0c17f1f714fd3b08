/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "environment.h"
#include "rte/settings.h"
#include "rte/text.h"
#include "say.h"

#define GO_ON (-1)
#define MISTAKE 2
#define NO_ENGINE 1

extern char **environ;

/* What the same wish is called by each engine. */
struct dialect {
	const char *name;
	void (*options)(struct words *command, const struct engine *engine, const struct options *options,
			const struct hosts *hosts);
};

static bool is_passed_on(const char *entry)
{
	return strchr(entry, '=') &&
	       (!strncmp(entry, "SHMEM_", 6) || !strncmp(entry, "SMA_", 4) || !strncmp(entry, "UCX_", 4));
}

/* -x for all that the library reads, and for what the user named; the values are in our environment already. */
static void add_exports(struct words *command, const struct options *o)
{
	for (char **entry = environ; *entry; entry++) {
		bool named = false;

		for (int i = 0; i < o->export_count; i++) {
			size_t length = strcspn(o->exports[i], "=");

			named = named || (!strncmp(*entry, o->exports[i], length) && (*entry)[length] == '=');
		}
		if (!named && !is_passed_on(*entry))
			continue;
		words_add(command, "-x");
		words_add(command, "%.*s", (int)strcspn(*entry, "="), *entry);
	}
}

static void add_pair(struct words *command, const char *option, const char *value)
{
	if (!value)
		return;
	words_add(command, "%s", option);
	words_add(command, "%s", value);
}

static void add_count(struct words *command, const struct options *o)
{
	if (!o->pes)
		return;
	words_add(command, "-n");
	words_add(command, "%d", o->parts[0].pes);
}

static void add_hosts(struct words *command, const struct engine *engine, const struct options *o)
{
	add_pair(command, "--host", o->hosts);
	add_pair(command, "--hostfile", o->hostfile ? o->hostfile : o->hosts ? NULL : engine->hostfile);
}

/* An engine does not ask PEs what they wait for when time is up: let them tell before. */
static void ask_for_reports(const struct options *o)
{
	char seconds[24];

	if (o->timeout <= 0)
		return;
	snprintf(seconds, sizeof seconds, "%ld", o->timeout < 4 ? 1L : (long)o->timeout / 2);
	setenv(settings_table[SETTING_HANG_SECONDS].name, seconds, 0);
}

/* The engines know whole seconds only: rounded up. */
static long whole_seconds(const struct options *o)
{
	long seconds = (long)o->timeout;

	return seconds + ((double)seconds < o->timeout);
}

static void add_seconds(struct words *command, const struct options *o)
{
	if (o->timeout <= 0)
		return;
	words_add(command, "--timeout");
	words_add(command, "%ld", whole_seconds(o));
}

/*
 * Their daemons ask each other for a sign of life after five minutes of silence, unless told otherwise, and the engine waits for a
 * daemon of a lost host when it is to end the job. So the engine has to notice before the PEs do, who take twice the time.
 */
static void watch_hosts(const char *prefix)
{
	char name[64], value[16];
	long seconds;

	if (!setting_number(SETTING_SILENCE_SECONDS, &seconds) || seconds == 0)
		return;
	seconds = seconds < 8 ? 8 : seconds;
	for (int i = 0; i < 3; i++) {
		static const char *const names[] = {"time", "intvl", "probes"};
		const long values[] = {seconds / 4, (seconds + 19) / 20, 5};

		snprintf(name, sizeof name, "%s_MCA_oob_tcp_keepalive_%s", prefix, names[i]);
		snprintf(value, sizeof value, "%ld", values[i]);
		setenv(name, value, 0);
	}
}

static void mpirun_options(struct words *command, const struct engine *engine, const struct options *o,
			   const struct hosts *hosts)
{
	(void)hosts;
	watch_hosts("OMPI");
	if (geteuid() == 0)
		words_add(command, "--allow-run-as-root");
	words_add(command, "--oversubscribe");
	add_count(command, o);
	add_hosts(command, engine, o);
	add_pair(command, "--rankfile", o->rankfile);
	add_pair(command, "--wdir", o->wdir);
	add_pair(command, "--bind-to", o->bind ? bind_to_name(o->bind) : NULL);
	if (o->report_bindings)
		words_add(command, "--report-bindings");
	if (o->label)
		words_add(command, "--tag-output");
	if (o->timestamp)
		words_add(command, "--timestamp-output");
	add_pair(command, "--output-filename", o->output);
	add_seconds(command, o);
	add_exports(command, o);
}

static void prterun_options(struct words *command, const struct engine *engine, const struct options *o,
			    const struct hosts *hosts)
{
	(void)hosts;
	watch_hosts("PRTE");
	/* Not an option here: versions differ in having one, and agree on the variables. As mpirun it has others. */
	if (geteuid() == 0) {
		setenv("PRTE_ALLOW_RUN_AS_ROOT", "1", 1);
		setenv("PRTE_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
		setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
		setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
	}
	/* Without "slot", PRRTE 3 puts all PEs on the first host. */
	words_add(command, "--map-by");
	if (o->rankfile)
		words_add(command, "rankfile:FILE=%s:OVERSUBSCRIBE", o->rankfile);
	else
		words_add(command, "slot:OVERSUBSCRIBE");
	add_count(command, o);
	add_hosts(command, engine, o);
	add_pair(command, "--wdir", o->wdir);
	if (o->bind)
		add_pair(command, "--bind-to", o->bind == BIND_SOCKET ? "package" : bind_to_name(o->bind));
	if (o->report_bindings)
		add_pair(command, "--display", "bind");
	if (o->label || o->timestamp)
		add_pair(command, "--output", !o->timestamp ? "tag" : o->label ? "tag,timestamp" : "timestamp");
	if (o->output) {
		words_add(command, "--output");
		words_add(command, "dir=%s", o->output);
	}
	add_seconds(command, o);
	add_exports(command, o);
}

/* The names with commas between; srun wants no places with them. */
static void add_nodelist(struct words *command, const struct hosts *hosts)
{
	struct words joined = {0};

	words_add(&joined, "%s", "");
	for (size_t i = 0; i < hosts->names.count; i++) {
		struct words longer = {0};

		words_add(&longer, "%s%s%s", joined.list[0], i ? "," : "", hosts->names.list[i]);
		words_free(&joined);
		joined = longer;
	}
	if (hosts->names.count)
		add_pair(command, "--nodelist", joined.list[0]);
	words_free(&joined);
}

static void srun_options(struct words *command, const struct engine *engine, const struct options *o,
			 const struct hosts *hosts)
{
	static const char *const binds[] = {"", "none", "cores", "threads", "sockets", "ldoms"};
	long seconds = whole_seconds(o);

	(void)engine;
	words_add(command, "--mpi=pmix");
	words_add(command, "--export=ALL");
	words_add(command, "--overcommit");
	words_add(command, "--kill-on-bad-exit=1");
	add_count(command, o);
	add_nodelist(command, hosts);
	if (o->wdir)
		words_add(command, "--chdir=%s", o->wdir);
	if (o->bind || o->report_bindings)
		words_add(command, "--cpu-bind=%s%s%s", o->report_bindings ? "verbose" : "",
			  o->bind && o->report_bindings ? "," : "", binds[o->bind]);
	if (o->label)
		words_add(command, "--label");
	if (o->output)
		words_add(command, "--output=%s/pe.%%t", o->output);
	if (seconds)
		words_add(command, "--time=%ld:%02ld", seconds / 60, seconds % 60);
}

static const struct dialect dialects[] = {
	{"prterun", prterun_options},
	{"mpirun", mpirun_options},
	{"srun", srun_options},
};
#define DIALECTS (sizeof dialects / sizeof dialects[0])

static char *find_program(const char *name)
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

/* What a program prints when it is asked for its version, or as much of it as there is room for. */
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
 * Several MPIs call their launcher mpirun, and only Open MPI's speaks PMIx to the PEs. That of Open MPI 5 is PRRTE's, with PRRTE's
 * options; some of the older ones it no longer understands (--output-filename).
 */
static const struct dialect *dialect_of_mpirun(const char *path)
{
	char text[512];
	const char *number;

	ask_version(path, text, sizeof text);
	if (strstr(text, "PRRTE"))
		return &dialects[0];
	number = strstr(text, "(Open MPI) ");
	if (number)
		return atoi(number + strlen("(Open MPI) ")) >= 5 ? &dialects[0] : &dialects[1];
	return strstr(text, "Open MPI") || strstr(text, "open-mpi") ? &dialects[1] : NULL;
}

static bool take_engine(struct engine *engine, const struct dialect *dialect, const char *given)
{
	engine->path = find_program(given);
	if (!engine->path)
		return false;
	if (!strcmp(dialect->name, "mpirun"))
		dialect = dialect_of_mpirun(engine->path);
	if (!dialect) {
		free(engine->path);
		engine->path = NULL;
		return false;
	}
	engine->name = given;
	engine->dialect = dialect;
	return true;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static const struct dialect *known_engine(const char *given)
{
	for (size_t i = 0; i < DIALECTS; i++)
		if (!strcmp(base_of(given), dialects[i].name))
			return &dialects[i];
	return NULL;
}

static int refuse_engine(const char *given, const char *from)
{
	const char *names[DIALECTS], *nearest;

	for (size_t i = 0; i < DIALECTS; i++)
		names[i] = dialects[i].name;
	nearest = text_nearest(base_of(given), names, DIALECTS);
	say("%s %s: no such engine; %s%s?", from, given, nearest ? "did you mean " : "prterun, mpirun or srun",
	    nearest ? nearest : "");
	return MISTAKE;
}

/* A name such as mpirun, or a path to one. */
static int take_named(struct engine *engine, const char *given, const char *from)
{
	const struct dialect *dialect = known_engine(given);

	if (!dialect)
		return refuse_engine(given, from);
	if (take_engine(engine, dialect, given))
		return GO_ON;
	say("%s %s: not found, or not an engine with PMIx; install %s, or leave the choice to oshrun", from, given,
	    dialect == &dialects[0]   ? "prrte"
	    : dialect == &dialects[1] ? "openmpi-bin"
				      : "slurm-client");
	return NO_ENGINE;
}

static int take_any(struct engine *engine, const char *why, const char *what)
{
	/* Inside Slurm its own launcher knows the allocation best; elsewhere srun would queue for a new one. */
	if (getenv("SLURM_JOB_ID") && take_engine(engine, &dialects[2], "srun"))
		return GO_ON;
	for (size_t i = 0; i < DIALECTS; i++)
		if (take_engine(engine, &dialects[i], dialects[i].name))
			return GO_ON;
	say("%s (%s), and oshrun by itself starts PEs on this machine only; install prrte (prterun), openmpi-bin "
	    "(mpirun) "
	    "or slurm-client (srun)",
	    why, what);
	return NO_ENGINE;
}

/* A batch system's list of hosts, a line per place, has more than one name in it. */
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

/* What gave us several hosts, or NULL if nothing did. */
static const char *find_allocation(struct engine *engine)
{
	static const char *const files[] = {"PBS_NODEFILE", "LSB_DJOB_HOSTFILE"};
	const char *nodes = getenv("SLURM_JOB_NUM_NODES");

	if (!nodes)
		nodes = getenv("SLURM_NNODES");
	if (getenv("SLURM_JOB_ID") && nodes && atoi(nodes) > 1)
		return "SLURM_JOB_ID";
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
		if (names_several(getenv(files[i]))) {
			engine->hostfile = getenv(files[i]);
			return files[i];
		}
	return NULL;
}

int engine_choose(struct engine *engine, const struct options *options, const struct hosts *hosts)
{
	const char *setting = setting_text(SETTING_LAUNCHER), *allocation;
	const char *given = options->launcher ? options->launcher : setting;

	memset(engine, 0, sizeof *engine);
	if (setting[0] && strcmp(setting, "none") && !known_engine(setting))
		return refuse_engine(setting, "SHMEM_LAUNCHER");
	if (!strcmp(given, "none")) {
		if (!hosts->other)
			return GO_ON;
		say("another host is asked for (%s), and the launcher is set to none; leave one of them out",
		    hosts->other);
		return MISTAKE;
	}
	if (options->launcher)
		return take_named(engine, options->launcher, "--launcher");
	allocation = hosts->names.count ? NULL : find_allocation(engine);
	if (!hosts->other && !allocation)
		return GO_ON;
	if (setting[0])
		return take_named(engine, setting, "SHMEM_LAUNCHER");
	if (hosts->other)
		return take_any(engine, "another host is asked for", hosts->other);
	return take_any(engine, "several hosts are allocated", allocation);
}

static void print_command(const struct words *command, const struct options *options)
{
	bool first = true;

	for (int i = 0; i < options->export_count; i++) {
		char *assignment[] = {options->exports[i], NULL};

		if (!strchr(options->exports[i], '='))
			continue;
		fputs(first ? "env " : "", stdout);
		words_print(assignment);
		putchar(' ');
		first = false;
	}
	words_print(command->list);
	putchar('\n');
}

static void add_programs(struct words *command, const struct options *options)
{
	for (int i = 0; i < options->part_count; i++) {
		const struct part *part = &options->parts[i];

		if (i > 0) {
			words_add(command, ":");
			words_add(command, "-n");
			words_add(command, "%d", part->pes);
			add_pair(command, "--wdir", part->wdir);
		}
		for (char **word = part->program; *word; word++)
			words_add(command, "%s", *word);
	}
}

int engine_run(struct engine *engine, const struct options *options, const struct hosts *hosts)
{
	char **environment;
	struct words command = {0};

	if (options->rankfile && !strcmp(engine->dialect->name, "srun")) {
		say("--rankfile %s: srun takes another kind of file; let torusplan place write it (--format slurm), and use srun --distribution=arbitrary",
		    options->rankfile);
		return MISTAKE;
	}
	if (options->part_count > 1 && !strcmp(engine->dialect->name, "srun")) {
		say("srun takes several programs from a file (srun --multi-prog) and not behind :; call it so, or use mpirun (--launcher mpirun)");
		return MISTAKE;
	}
	environment = environment_for_pes(options);
	environment_free(environment);
	if (!environment)
		return 1;
	ask_for_reports(options);
	words_add(&command, "%s", engine->name);
	engine->dialect->options(&command, engine, options, hosts);
	add_programs(&command, options);
	if (options->verbose)
		say("handing over to %s", engine->path);
	if (options->dry_run) {
		print_command(&command, options);
	} else {
		execv(engine->path, command.list);
		say("%s: cannot be executed: %s", engine->path, strerror(errno));
	}
	words_free(&command);
	free(engine->path);
	return options->dry_run ? 0 : 1;
}
