/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "debug.h"
#include "dry_run.h"
#include "environment.h"
#include "rte/host/hosts.h"
#include "job.h"
#include "join_trace.h"
#include "launchers.h"
#include "program.h"
#include "say.h"
#include "tofu_ranks.h"

/*
 * oshrun reads the command line (options.c) and the list of hosts (rte/host/hosts.c), and decides
 * which launcher starts the job (launchers.c). For a job on this machine that is oshrun itself:
 * run_here below calls job_run (job.c), which starts the PEs (spawn.c) and supervises them
 * (supervise.c). docs/protocols/launch.md describes on one page what may happen to a job.
 */

/*
 * If one of these were closed, the first file that oshrun opens would get its number, and the PEs'
 * output.
 */
static void open_standard_files(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= 2);
	if (fd > 2)
		close(fd);
}

/*
 * Makes a folder name that no other current or recent job of this machine has, and from it a job
 * name that others cannot guess.
 */
static void name_job(struct job *job)
{
	struct timespec now;
	uint64_t secret = 0;

	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(job->folder_name, sizeof job->folder_name, "oshrun-%d-%lx%06lx", (int)getpid(),
		 (unsigned long)now.tv_sec, (unsigned long)now.tv_nsec >> 8);
	if (getrandom(&secret, sizeof secret, 0) != sizeof secret)
		say("the kernel gives no random numbers: others on this machine may guess the job's name");
	snprintf(job->name, sizeof job->name, "%s-%016" PRIx64, job->folder_name, secret);
}

/* Reports more PEs than slots: with -v; and if the user asked for slots and there are none. */
static void say_who_shares(const struct job *job, bool unbound)
{
	const struct options *options = job->options;
	bool threads = options->bind == BIND_HWTHREAD, asked = options->bind != BIND_DEFAULT;
	int places = threads ? job->processors.hwthreads : job->processors.cores;
	bool shared = job->binding.to == BIND_CORE && job->count > places;
	char how[32] = "not binding";

	if (options->quiet || !(unbound || shared) || !(options->verbose || (unbound && asked)))
		return;
	if (shared)
		snprintf(how, sizeof how, "%d on each", job->count / places);
	say("%d PEs share %d %s%s; %s", job->count, places, threads ? "hardware thread" : "core",
	    places == 1 ? "" : "s", how);
}

static bool discover_machine(struct job *job, const struct hosts *hosts)
{
	bool oversubscribed;

	gethostname(job->host, sizeof job->host - 1);
	if (!processors_discover(&job->processors)) {
		if (getenv("HWLOC_XMLFILE"))
			say("HWLOC_XMLFILE=%s: hwloc finds no processors in it; give a file that lstopo wrote",
			    getenv("HWLOC_XMLFILE"));
		else
			say("hwloc finds no processor that oshrun may use");
		return false;
	}
	job->count = job->options->pes;
	if (!job->count)
		job->count = hosts->slots ? hosts->slots : job->processors.cores;
	if (!bind_make(&job->binding, &job->processors, job->options->bind, job->count, &oversubscribed)) {
		say("out of memory for the places of %d PEs", job->count);
		return false;
	}
	if (job->processors.elsewhere && !job->options->quiet)
		say("HWLOC_XMLFILE or HWLOC_SYNTHETIC describes another machine: PEs are placed for that "
		    "machine, and not bound on this one");
	say_who_shares(job, oversubscribed);
	return true;
}

static int find_programs(struct options *options)
{
	for (int i = 0; i < options->part_count; i++) {
		struct part *part = &options->parts[i];
		int code = program_find(part->program[0], part->wdir, &part->path);

		if (code)
			return code;
	}
	return 0;
}

static int run_here(struct options *options, const struct hosts *hosts)
{
	struct job job = {.options = options};
	int code = find_programs(options);

	if (code)
		return code;
	name_job(&job);
	/* Otherwise Open MPI 4 treats a process whose server is not its mpirun as a job of one. */
	setenv("OMPI_MCA_schizo", "^orte", 0);
	/*
	 * The shared memory of PMIx 5 numbers keys that PMIx does not define, and each process
	 * numbers them in the order of its own use.
	 */
	setenv("PMIX_MCA_gds", "^shmem2", 0);
	job.environment = environment_for_pes(options);
	if (!job.environment || !discover_machine(&job, hosts))
		return 1;
	/*
	 * Open MPI in the same program would spin while other PEs want the core. MPICH yields by
	 * itself.
	 */
	if (job.count > job.processors.cores && !environment_add(&job.environment, "OMPI_MCA_mpi_yield_when_idle", "1"))
		return 1;
	code = tofu_ranks_prepare(&job);
	if (code)
		return code;
	job.pes = calloc((size_t)job.count, sizeof *job.pes);
	if (!job.pes) {
		say("out of memory for %d PEs", job.count);
		return 1;
	}
	code = debug_prepare(&job);
	if (code)
		return code;
	if (options->report_bindings || options->dry_run)
		dry_run_report_bindings(&job);
	code = options->dry_run ? dry_run_job(&job) : job_run(&job);
	if (job.signal == SIGINT) {
		/* Ending by SIGINT also ends a loop of the calling shell; the shell reports 130. */
		signal(SIGINT, SIG_DFL);
		raise(SIGINT);
		sigprocmask(SIG_SETMASK, &job.inherited.mask, NULL);
	}
	bind_free(&job.binding);
	processors_forget(&job.processors);
	free(job.tofu_map.bytes);
	free(job.ipc_of_node);
	environment_free(job.environment);
	free(job.pes);
	free(job.debugger);
	free(job.trace);
	return code;
}

/* Other launchers start debuggers in other ways. */
static int refuse_debug(const struct launcher *launcher, const struct options *options)
{
	if (!launcher->name || options->debug < 0)
		return -1;
	say("--debug is for jobs on this machine; this one is handed to %s", launcher->name);
	return 2;
}

/*
 * Checks options about hosts that this launcher does not support, and applies -N on this machine.
 */
static int apply_per_host(const struct launcher *launcher, struct options *options)
{
	if (options->rankfile && !launcher->name) {
		say("--rankfile %s: this job is on one machine; name its hosts with --hostfile, or leave it out",
		    options->rankfile);
		return 2;
	}
	if (!options->per_node)
		return -1;
	if (launcher->name) {
		say("-N %d: give each host its places instead, as in --host node1:%d,node2:%d", options->per_node,
		    options->per_node, options->per_node);
		return 2;
	}
	if (options->pes > options->per_node) {
		say("-N %d: %d PEs need more than this one host; leave it out, or name hosts with --host",
		    options->per_node, options->pes);
		return 2;
	}
	if (!options->pes)
		options->pes = options->per_node;
	return -1;
}

static int read_hosts(struct hosts *hosts, const struct options *options)
{
	char problem[160];

	memset(hosts, 0, sizeof *hosts);
	if (options->hosts && !hosts_read_list(hosts, options->hosts, problem, sizeof problem))
		say("--host %s: %s", options->hosts, problem);
	else if (options->hostfile && !hosts_read_file(hosts, options->hostfile, problem, sizeof problem))
		say("--hostfile %s: %s", options->hostfile, problem);
	else
		return -1;
	return 2;
}

int main(int argc, char **argv)
{
	struct options options;
	struct launcher launcher;
	struct hosts hosts;
	int code;

	open_standard_files();
	code = options_parse(&options, argc, argv);
	if (code < 0 && options.join_trace)
		code = join_trace(options.join_trace) ? 0 : 1;
	if (code < 0)
		code = read_hosts(&hosts, &options);
	if (code < 0)
		code = launcher_choose(&launcher, &options, &hosts);
	if (code < 0)
		code = refuse_debug(&launcher, &options);
	if (code < 0)
		code = apply_per_host(&launcher, &options);
	if (code < 0)
		code = launcher.name ? launcher_run(&launcher, &options, &hosts) : run_here(&options, &hosts);
	for (int i = 0; i < options.part_count; i++)
		free(options.parts[i].path);
	free(options.parts);
	free(options.exports);
	fflush(stdout);
	_exit(code); /* without waiting for libpmix's threads */
}
