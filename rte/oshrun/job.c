/* SPDX-License-Identifier: BSD-3-Clause */
#include "job.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "environment.h"
#include "join_trace.h"
#include "say.h"
#include "session.h"

#define PATIENCE 1.0  /* from SIGTERM to SIGKILL */
#define KILLING 3.0   /* from SIGKILL until oshrun reports that the kernel needs more time */
#define REPORTING 1.5 /* for a report on what the PEs wait for */
#define TIMED_OUT 124
#define SWEEPS 5

double job_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void job_signal(struct job *job, int sig)
{
	for (int pe = 0; pe < job->count; pe++)
		if (job->pes[pe].pid > 0 && !job->pes[pe].gone)
			kill(-job->pes[pe].pid, sig);
}

/* Dead PEs count, too: the fence still contains their data. */
static bool any_in_fence(const struct job *job)
{
	for (int pe = 0; pe < job->count; pe++)
		if (job->pes[pe].phase == PE_CONNECTED && job->pes[pe].in_fence)
			return true;
	return false;
}

static void halt_server_if_in_fence(struct job *job)
{
	if (job->server && any_in_fence(job))
		server_halt(job->server);
}

void job_end(struct job *job, int code, bool decided)
{
	if (decided && !job->code_decided)
		job->code = code;
	else if (!job->code_decided && code > job->code)
		job->code = code;
	job->code_decided = job->code_decided || decided;
	job->phase = JOB_ENDING;
	job->deadline = job_clock() + PATIENCE;
	halt_server_if_in_fence(job);
	job_signal(job, SIGTERM);
	job_signal(job, SIGCONT); /* a stopped process handles SIGTERM only when it continues */
}

void job_end_without(struct job *job, int gone, int code, bool decided)
{
	halt_server_if_in_fence(job);
	for (int pe = 0; pe < job->count; pe++)
		if (pe != gone && !job->pes[pe].gone && job->pes[pe].phase == PE_CONNECTED)
			sigqueue(job->pes[pe].pid, SIGTERM, (union sigval){.sival_int = gone});
	job_end(job, code, decided);
}

static void kill_all(struct job *job)
{
	if (job->options->verbose)
		say("%d PEs have not ended when asked; killing them", job->alive);
	job->phase = JOB_KILLED;
	job->deadline = job_clock() + KILLING;
	halt_server_if_in_fence(job);
	job_signal(job, SIGKILL);
}

static void end_by_time_limit(struct job *job)
{
	if (job->phase == JOB_ENDING || job->phase == JOB_KILLED)
		return;
	say("the job did not end within %g s (--timeout); ending %d PE%s", job->options->timeout, job->alive,
	    job->alive == 1 ? "" : "s");
	job->explained = true;
	job_end(job, TIMED_OUT, true);
}

static int first_connected(const struct job *job)
{
	for (int pe = 0; pe < job->count; pe++)
		if (!job->pes[pe].gone && job->pes[pe].phase == PE_CONNECTED)
			return pe;
	return -1;
}

/* Before the job ends, asks a PE to report what all PEs wait for. */
static void reach_time_limit(struct job *job)
{
	int witness = first_connected(job);

	job->time_limit = 0;
	if (job->phase != JOB_RUNNING || witness < 0) {
		end_by_time_limit(job);
		return;
	}
	server_ask(job->server, witness);
	job->phase = JOB_ASKED;
	job->deadline = job_clock() + REPORTING;
}

/*
 * A killed process ends only when the kernel has finished a core dump to a slow disk, or a request
 * to a file server that does not answer.
 */
static void wait_for_kernel(struct job *job)
{
	if (job->alive && !job->given_up) {
		say("%d PE%s been killed and %s not ended yet: the kernel still works for %s; waiting (Ctrl-C: "
		    "give up)",
		    job->alive, job->alive == 1 ? " has" : "s have", job->alive == 1 ? "has" : "have",
		    job->alive == 1 ? "it" : "them");
	} else if (job->alive) {
		say("giving up on %d killed PE%s that the kernel has not ended", job->alive,
		    job->alive == 1 ? "" : "s");
		job->alive = 0;
	}
}

static void end_phase(struct job *job)
{
	job->deadline = 0;
	if (job->phase == JOB_GRACE)
		supervise_grace(job);
	else if (job->phase == JOB_ASKED)
		end_by_time_limit(job);
	else if (job->phase == JOB_ENDING)
		kill_all(job);
	else if (job->phase == JOB_KILLED)
		wait_for_kernel(job);
}

static void check_clock(struct job *job)
{
	double now = job_clock();

	if (job->deadline > 0 && now >= job->deadline)
		end_phase(job);
	if (job->time_limit > 0 && now >= job->time_limit)
		reach_time_limit(job);
	if (job->lost_deadline > 0 && now >= job->lost_deadline)
		supervise_lost(job);
}

/* Milliseconds until check_clock has work; -1: none. */
static int time_to_sleep(const struct job *job)
{
	double dues[] = {job->deadline, job->time_limit, job->lost_deadline, job->output_deadline}, next = 0, left;

	for (size_t i = 0; i < sizeof dues / sizeof dues[0]; i++)
		if (dues[i] > 0 && (next <= 0 || dues[i] < next))
			next = dues[i];
	left = (next - job_clock()) * 1000;
	/* No event reports that oshrun is in the foreground of its terminal again. */
	if (job->io.typing_fd >= 0 && (next <= 0 || left > 500))
		return 500;
	if (next <= 0 || left > 1e6)
		return next <= 0 ? -1 : 1000000;
	return left > 0 ? (int)left + 1 : 0;
}

static void job_step(struct job *job, struct pollfd *fds)
{
	int count;

	fds[0] = (struct pollfd){.fd = job->signal_fd, .events = POLLIN};
	fds[1] = (struct pollfd){.fd = server_event_fd(job->server), .events = POLLIN};
	count = io_poll(&job->io, fds + 2);
	if (poll(fds, (nfds_t)count + 2, time_to_sleep(job)) < 0 && errno != EINTR)
		return;
	io_handle(&job->io, fds + 2, count);
	io_is_whole(&job->io);
	/* Signals first: after reading the SIGCHLD of a child, oshrun must reap the child. */
	signals_handle(job);
	supervise_events(job);
	supervise_children(job);
	check_clock(job);
}

/* oshrun waits for the reader of its output without limit, unless a signal has asked it to end. */
static bool output_waits(const struct job *job)
{
	return io_unwritten(&job->io) && !(job->output_deadline > 0 && job_clock() >= job->output_deadline);
}

static void main_loop(struct job *job)
{
	struct pollfd *fds = calloc((size_t)io_poll_most(&job->io) + 2, sizeof *fds);

	if (!fds) {
		say("out of memory");
		job_end(job, 1, true);
		return;
	}
	while (job->alive > 0)
		job_step(job, fds);
	if (job->code)
		supervise_report_exits(job);
	io_drain(&job->io);
	while (output_waits(job))
		job_step(job, fds);
	free(fds);
}

/* Orphans of PEs that had left their process group are now children of oshrun. */
static void reap_orphans(struct job *job)
{
	for (int i = 0; i < SWEEPS; i++) {
		pid_t pid;

		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
			;
		if (pid < 0)
			return;
		reaper_sweep(job->reaper->mark);
		usleep(1000);
	}
}

static bool prepare_job(struct job *job)
{
	if (!signals_take(job)) {
		say("signals cannot be received: %s", strerror(errno));
		return false;
	}
	job->reaper = reaper_start(job->count);
	if (!job->reaper) {
		say("the reaper process cannot start: %s; are processes (ulimit -u) left?", strerror(errno));
		return false;
	}
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	snprintf(job->reaper->mark, sizeof job->reaper->mark, "PMIX_NAMESPACE=%s", job->name);
	return true;
}

/*
 * Lets UCX make its temporary files in the session folder: a PE that is killed before it has shared
 * such a file leaves it, and it is removed with the folder. Only for a folder in memory, since a
 * disk would make the segments slow.
 */
static bool set_ucx_folder(struct job *job)
{
	if (strncmp(job->reaper->folder, "/dev/shm/", 9))
		return true;
	if (environment_add(&job->environment, "UCX_POSIX_DIR", job->reaper->folder))
		return true;
	say("out of memory");
	return false;
}

static int start_job(struct job *job)
{
	int code = spawn_check_limits(job);

	if (code)
		return code;
	if (!session_create(job->reaper->folder, sizeof job->reaper->folder, job->folder_name, job->count))
		return 1;
	if (!set_ucx_folder(job))
		return 1;
	job->server = server_start(job);
	if (!job->server)
		return 1;
	if (job->options->verbose)
		say("PMIx server of %s is up; its folder is %s", job->folder_name, job->reaper->folder);
	code = spawn_all(job);
	if (code) {
		job->explained = true;
		job_end(job, code, true);
	}
	return 0;
}

int job_run(struct job *job)
{
	int code;

	if (!prepare_job(job))
		return 1;
	if (!io_start(&job->io, job->options, job->count, job->options->verbose ? STDERR_FILENO : say_mute_libraries()))
		return 1;
	code = start_job(job);
	if (!code) {
		if (job->options->timeout > 0)
			job->time_limit = job_clock() + job->options->timeout;
		main_loop(job);
		join_trace_after_job(job->trace);
		code = job->code;
	}
	if (!io_is_whole(&job->io) && !code)
		code = 1;
	/* The reaper stays until everything is removed. */
	session_remove(job->reaper->folder);
	reaper_dismiss(job->reaper);
	reap_orphans(job);
	io_stop(&job->io);
	return code;
}
