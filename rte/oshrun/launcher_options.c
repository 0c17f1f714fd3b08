/* SPDX-License-Identifier: BSD-3-Clause */
/* Translates the options of oshrun into those of prterun, mpirun and srun. */
#include "launcher_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rte/text/arguments.h"
#include "launchers.h"
#include "rte/rte.h"
#include "rte/settings.h"

extern char **environ;

static bool is_passed_on(const char *entry)
{
	return strchr(entry, '=') &&
	       (!strncmp(entry, "SHMEM_", 6) || !strncmp(entry, "SMA_", 4) || !strncmp(entry, "UCX_", 4) ||
		!strncmp(entry, RTE_TORUS_FOUND "=", sizeof RTE_TORUS_FOUND));
}

/*
 * Adds -x for all variables that the library reads and for those that the user named. Their values
 * are already in the environment.
 */
static void add_exports(struct arguments *command, const struct options *o)
{
	for (char **entry = environ; *entry; entry++) {
		bool named = false;

		for (int i = 0; i < o->export_count; i++) {
			size_t length = strcspn(o->exports[i], "=");

			named = named || (!strncmp(*entry, o->exports[i], length) && (*entry)[length] == '=');
		}
		if (!named && !is_passed_on(*entry))
			continue;
		arguments_add(command, "-x");
		arguments_add(command, "%.*s", (int)strcspn(*entry, "="), *entry);
	}
}

static void add_pair(struct arguments *command, const char *option, const char *value)
{
	if (!value)
		return;
	arguments_add(command, "%s", option);
	arguments_add(command, "%s", value);
}

static void add_count(struct arguments *command, const struct options *o)
{
	if (!o->pes)
		return;
	arguments_add(command, "-n");
	arguments_add(command, "%d", o->parts[0].pes);
}

static void add_hosts(struct arguments *command, const struct launcher *launcher, const struct options *o)
{
	add_pair(command, "--host", o->hosts);
	add_pair(command, "--hostfile", o->hostfile ? o->hostfile : o->hosts ? NULL : launcher->hostfile);
}

/* The launchers do not ask PEs for a report at the time limit, so PEs report before it. */
static void set_hang_seconds(const struct options *o)
{
	char seconds[24];

	if (o->timeout <= 0)
		return;
	snprintf(seconds, sizeof seconds, "%ld", o->timeout < 4 ? 1L : (long)o->timeout / 2);
	setenv(settings_table[SETTING_HANG_SECONDS].name, seconds, 0);
}

/* The time limit, rounded up: the launchers take whole seconds only. */
static long whole_seconds(const struct options *o)
{
	long seconds = (long)o->timeout;

	return seconds + ((double)seconds < o->timeout);
}

static void add_seconds(struct arguments *command, const struct options *o)
{
	if (o->timeout <= 0)
		return;
	arguments_add(command, "--timeout");
	arguments_add(command, "%ld", whole_seconds(o));
}

/*
 * By default the launcher's daemons probe an idle connection only after five minutes, and the
 * launcher waits for the daemon of a lost host when it ends the job. These values let the launcher
 * detect the loss before the PEs do, which take twice the time.
 */
static void set_keepalive(const char *prefix)
{
	char name[64], value[16];
	long seconds;

	if (!setting_number(SETTING_FAILURE_SECONDS, &seconds) || seconds == 0)
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

static void mpirun_options(struct arguments *command, const struct launcher *launcher, const struct options *o,
			   const struct hosts *hosts)
{
	(void)hosts;
	set_keepalive("OMPI");
	if (geteuid() == 0)
		arguments_add(command, "--allow-run-as-root");
	arguments_add(command, "--oversubscribe");
	add_count(command, o);
	add_hosts(command, launcher, o);
	add_pair(command, "--rankfile", o->rankfile);
	add_pair(command, "--wdir", o->wdir);
	add_pair(command, "--bind-to", o->bind ? bind_to_name(o->bind) : NULL);
	if (o->report_bindings)
		arguments_add(command, "--report-bindings");
	if (o->label)
		arguments_add(command, "--tag-output");
	if (o->timestamp)
		arguments_add(command, "--timestamp-output");
	add_pair(command, "--output-filename", o->output);
	add_seconds(command, o);
	add_exports(command, o);
}

static void prterun_options(struct arguments *command, const struct launcher *launcher, const struct options *o,
			    const struct hosts *hosts)
{
	(void)hosts;
	set_keepalive("PRTE");
	/*
	 * Sets variables because not all versions have the option. Under the name mpirun, the
	 * launcher reads other variables.
	 */
	if (geteuid() == 0) {
		setenv("PRTE_ALLOW_RUN_AS_ROOT", "1", 1);
		setenv("PRTE_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
		setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
		setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
	}
	/* Without "slot", PRRTE 3 puts all PEs on the first host. */
	arguments_add(command, "--map-by");
	if (o->rankfile)
		arguments_add(command, "rankfile:FILE=%s:OVERSUBSCRIBE", o->rankfile);
	else
		arguments_add(command, "slot:OVERSUBSCRIBE");
	add_count(command, o);
	add_hosts(command, launcher, o);
	add_pair(command, "--wdir", o->wdir);
	if (o->bind)
		add_pair(command, "--bind-to", o->bind == BIND_SOCKET ? "package" : bind_to_name(o->bind));
	if (o->report_bindings)
		add_pair(command, "--display", "bind");
	if (o->label || o->timestamp)
		add_pair(command, "--output", !o->timestamp ? "tag" : o->label ? "tag,timestamp" : "timestamp");
	if (o->output) {
		arguments_add(command, "--output");
		arguments_add(command, "dir=%s", o->output);
	}
	add_seconds(command, o);
	add_exports(command, o);
}

/* Adds the names of the hosts without their numbers of slots, which srun does not accept. */
static void add_nodelist(struct arguments *command, const struct hosts *hosts)
{
	struct arguments joined = {0};

	arguments_add(&joined, "%s", "");
	for (size_t i = 0; i < hosts->names.count; i++) {
		struct arguments longer = {0};

		arguments_add(&longer, "%s%s%s", joined.list[0], i ? "," : "", hosts->names.list[i]);
		arguments_free(&joined);
		joined = longer;
	}
	if (hosts->names.count)
		add_pair(command, "--nodelist", joined.list[0]);
	arguments_free(&joined);
}

static void srun_options(struct arguments *command, const struct launcher *launcher, const struct options *o,
			 const struct hosts *hosts)
{
	static const char *const binds[] = {"", "none", "cores", "threads", "sockets", "ldoms"};
	long seconds = whole_seconds(o);

	(void)launcher;
	arguments_add(command, "--mpi=pmix");
	arguments_add(command, "--export=ALL");
	arguments_add(command, "--overcommit");
	arguments_add(command, "--kill-on-bad-exit=1");
	add_count(command, o);
	add_nodelist(command, hosts);
	if (o->wdir)
		arguments_add(command, "--chdir=%s", o->wdir);
	if (o->bind || o->report_bindings)
		arguments_add(command, "--cpu-bind=%s%s%s", o->report_bindings ? "verbose" : "",
			      o->bind && o->report_bindings ? "," : "", binds[o->bind]);
	if (o->label)
		arguments_add(command, "--label");
	if (o->output)
		arguments_add(command, "--output=%s/pe.%%t", o->output);
	if (seconds)
		arguments_add(command, "--time=%ld:%02ld", seconds / 60, seconds % 60);
}

const struct launcher_kind launcher_kinds[LAUNCHER_KINDS] = {
	[LAUNCHER_PRTERUN] = {"prterun", "prrte", "PRTE_MCA_prte_if_include", prterun_options},
	[LAUNCHER_MPIRUN] = {"mpirun", "openmpi-bin", "OMPI_MCA_oob_tcp_if_include", mpirun_options},
	[LAUNCHER_SRUN] = {"srun", "slurm-client", NULL, srun_options},
};

static void add_programs(struct arguments *command, const struct options *options)
{
	for (int i = 0; i < options->part_count; i++) {
		const struct part *part = &options->parts[i];

		if (i > 0) {
			arguments_add(command, ":");
			arguments_add(command, "-n");
			arguments_add(command, "%d", part->pes);
			add_pair(command, "--wdir", part->wdir);
		}
		for (char **argument = part->program; *argument; argument++)
			arguments_add(command, "%s", *argument);
	}
}

void launcher_command(struct arguments *command, const struct launcher *launcher, const struct options *options,
		      const struct hosts *hosts)
{
	set_hang_seconds(options);
	arguments_add(command, "%s", launcher->name);
	launcher->kind->add_options(command, launcher, options, hosts);
	add_programs(command, options);
}
