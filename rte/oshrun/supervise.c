/* SPDX-License-Identifier: BSD-3-Clause */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "job.h"
#include "program_kind.h"
#include "say.h"

/*
 * Supervises the PEs: evaluates what happened to them, and what that means for the job. Only the
 * first cause ends a job and is reported. Consequences of the end (PEs that die of oshrun's
 * SIGTERM, or report that other PEs are gone) are neither counted nor reported.
 */

/* For other PEs to end by themselves after one of an ordinary program has failed. */
#define GRACE 0.3
/* For a PE to die after its connection broke; usually it died of the same cause. */
#define LOST_WAIT 0.5

static bool is_running(const struct job *job)
{
	return job->phase == JOB_RUNNING || job->phase == JOB_ASKED || job->phase == JOB_GRACE;
}

/* "PE 2 (pid 4711, host node7)" */
static const char *name_pe(struct job *job, int pe, char *buffer, size_t size)
{
	snprintf(buffer, size, "PE %d (pid %d, host %s)", pe, (int)job->pes[pe].pid, job->host);
	return buffer;
}

/* "; ending the other 3 PEs", if there are any. */
static const char *and_the_rest(const struct job *job, int pe, char *buffer, size_t size)
{
	int others = job->alive - !job->pes[pe].gone;

	buffer[0] = '\0';
	if (others == 1)
		snprintf(buffer, size, "; ending the one other PE");
	else if (others > 1)
		snprintf(buffer, size, "; ending the other %d PEs", others);
	return buffer;
}

static const char *hint_for(int sig)
{
	switch (sig) {
	case SIGKILL: return "; out of memory? dmesg would tell";
	case SIGBUS: return "; no space in /dev/shm? df /dev/shm would tell";
	case SIGXCPU: return "; ulimit -t limits its time";
	case SIGXFSZ: return "; ulimit -f limits the size of its files and shared memory";
	default: return "";
	}
}

/* The call that a PE missed if it ends without finalizing. */
static const char *finalizer(const struct job *job)
{
	return job->other_program ? "PMIx_Finalize" : "shmem_finalize";
}

static bool has_no_reader(int fd)
{
	struct pollfd file = {.fd = fd};

	return poll(&file, 1, 0) == 1 && file.revents & POLLERR;
}

/*
 * A reader such as head leaves when it has enough. In any pipeline the writer then ends by SIGPIPE,
 * and nobody reports it.
 */
static bool reader_left(const struct job *job, int sig)
{
	return sig == SIGPIPE && (has_no_reader(STDOUT_FILENO) || has_no_reader(job->io.error_fd));
}

static void say_signal(struct job *job, int pe, int status)
{
	char name[128], rest[64];
	int sig = WTERMSIG(status);

	if (reader_left(job, sig) && !job->options->verbose)
		return;
	say("%s was killed by signal %d (%s)%s%s%s", name_pe(job, pe, name, sizeof name), sig, strsignal(sig),
	    WCOREDUMP(status) ? ", core dumped" : "", hint_for(sig), and_the_rest(job, pe, rest, sizeof rest));
}

void supervise_report_exits(struct job *job)
{
	char name[128], rest[64], more[48] = "", early[48] = "";
	const struct pe *pe = &job->pes[job->worst];

	if (job->explained)
		return;
	job->explained = true;
	if (job->failures > 1)
		snprintf(more, sizeof more, ", and %d more with codes up to that", job->failures - 1);
	if (pe->phase == PE_CONNECTED)
		snprintf(early, sizeof early, " without calling %s", finalizer(job));
	say("%s exited with code %d%s%s%s", name_pe(job, job->worst, name, sizeof name), job->code, early, more,
	    and_the_rest(job, job->worst, rest, sizeof rest));
}

static void note_code(struct job *job, int pe, int code)
{
	job->failures++;
	if (code <= job->code)
		return;
	job->code = code;
	job->worst = pe;
}

/* For a PE that ended with 0 too early. */
static void fail_early(struct job *job, int pe, const char *how)
{
	char name[128], rest[64];

	say("%s %s%s", name_pe(job, pe, name, sizeof name), how, and_the_rest(job, pe, rest, sizeof rest));
	job->explained = true;
	job_end_without(job, pe, 1, false);
}

static void fail_exit(struct job *job)
{
	supervise_report_exits(job);
	job_end_without(job, job->worst, job->code, false);
}

static int find_absent(const struct job *job)
{
	for (int pe = 0; pe < job->count; pe++)
		if (job->pes[pe].gone && !job->pes[pe].fresh && job->pes[pe].phase == PE_STARTED)
			return pe;
	return -1;
}

/* For a PE that ended with 0 while others wait for it. */
static void fail_unfinished(struct job *job, int pe, const char *how)
{
	char text[96];

	snprintf(text, sizeof text, "%s without calling %s", how, finalizer(job));
	fail_early(job, pe, text);
}

static void fail_absent(struct job *job, int pe)
{
	fail_early(job, pe,
		   job->other_program ? "exited without calling PMIx_Init, and other PEs wait for it"
				      : "exited without calling shmem_init, and other PEs wait for it");
}

static void judge_exit(struct job *job, int number, int code)
{
	struct pe *pe = &job->pes[number];

	if (pe->phase == PE_CONNECTED && code)
		fail_exit(job);
	else if (pe->phase == PE_CONNECTED)
		fail_unfinished(job, number, "exited");
	else if (pe->phase == PE_STARTED && job->connected && code)
		fail_exit(job);
	else if (pe->phase == PE_STARTED && job->connected)
		fail_absent(job, number);
	else if (pe->phase == PE_STARTED && code && job->phase == JOB_RUNNING) {
		job->phase = JOB_GRACE;
		job->deadline = job_clock() + GRACE;
	}
	/*
	 * A PE that returns nonzero after finalizing does not end the job: no other PE waits for
	 * it.
	 */
}

static int code_of(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void judge_pe(struct job *job, int number)
{
	int status = job->pes[number].status;

	if (!is_running(job))
		return;
	if (!WIFSIGNALED(status)) {
		judge_exit(job, number, WEXITSTATUS(status));
		return;
	}
	say_signal(job, number, status);
	job->explained = true;
	job_end_without(job, number, code_of(status), false);
}

static int number_of(const struct job *job, pid_t pid)
{
	for (int pe = 0; pe < job->count; pe++)
		if (job->pes[pe].pid == pid && !job->pes[pe].gone)
			return pe;
	return -1;
}

/* Reaps all PEs that have exited. Returns false if none has. */
static bool reap(struct job *job)
{
	bool any = false;

	for (;;) {
		siginfo_t info = {0};
		int status, pe;

		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) || !info.si_pid)
			return any;
		pe = number_of(job, info.si_pid);
		/*
		 * Kills the rest of its process group. Until the PE is reaped, no other process can
		 * have this number.
		 */
		if (pe >= 0) {
			kill(-info.si_pid, SIGKILL);
			job->reaper->groups[pe] = 0;
		}
		if (waitpid(info.si_pid, &status, 0) < 0 || pe < 0)
			continue;
		job->pes[pe].gone = job->pes[pe].fresh = any = true;
		job->pes[pe].status = status;
		job->alive--;
	}
}

static void count_exit(struct job *job, int number)
{
	const struct pe *pe = &job->pes[number];
	int code = code_of(pe->status);

	job->absent += pe->phase == PE_STARTED;
	job->connected -= pe->phase == PE_CONNECTED;
	if (!is_running(job))
		return;
	if (code)
		note_code(job, number, code);
	if (job->options->verbose)
		say("PE %d ended with %d", number, code);
}

/*
 * Evaluates causes before consequences. Of several PEs found dead together, a killed one is the
 * most likely cause, then one that returned an error, then one that only ended early.
 */
void supervise_children(struct job *job)
{
	if (!reap(job))
		return;
	/* All events of the dead PEs are in the list now. */
	supervise_events(job);
	for (int pe = 0; pe < job->count; pe++)
		if (job->pes[pe].fresh)
			count_exit(job, pe);
	for (int pe = 0; pe < job->count; pe++)
		if (job->pes[pe].fresh && WIFSIGNALED(job->pes[pe].status))
			judge_pe(job, pe);
	for (int pe = 0; pe < job->count; pe++)
		if (job->pes[pe].fresh && code_of(job->pes[pe].status))
			judge_pe(job, pe);
	for (int pe = 0; pe < job->count; pe++) {
		if (job->pes[pe].fresh && !job->pes[pe].status)
			judge_pe(job, pe);
		job->pes[pe].fresh = false;
	}
}

static void pe_connects(struct job *job, int pe)
{
	if (!job->program_known)
		job->other_program = program_is_other(job->pes[pe].pid, options_part(job->options, pe)->path);
	job->program_known = true;
	if (job->pes[pe].phase != PE_CONNECTED)
		job->connected++;
	job->pes[pe].phase = PE_CONNECTED;
	job->pes[pe].in_fence = true;
	if (job->phase == JOB_GRACE)
		fail_exit(job);
	else if (job->absent && job->phase == JOB_RUNNING)
		fail_absent(job, find_absent(job));
}

static void pe_finalizes(struct job *job, int pe)
{
	if (job->pes[pe].phase == PE_CONNECTED)
		job->connected--;
	job->pes[pe].phase = PE_FINALIZED;
}

/* The contract with the library: docs/protocols/launch.md. */
static void pe_aborts(struct job *job, const struct server_event *event)
{
	int code = event->status & 255;
	char name[128];

	if (!is_running(job))
		return;
	job->explained = true;
	if (!strcmp(event->message, "torushmem:global_exit")) {
		say("PE %d called shmem_global_exit(%d)", event->pe, event->status);
		job_end(job, code, true);
		return;
	}
	if (!strcmp(event->message, "torushmem:exit")) {
		job_end_without(job, event->pe, code ? code : 1, true);
		return;
	}
	if (strcmp(event->message, "torushmem:said"))
		say("%s aborted the job with %d%s%s", name_pe(job, event->pe, name, sizeof name), event->status,
		    event->message[0] ? ": " : "", event->message);
	job_end(job, code ? code : 1, true);
}

/*
 * The connected program is not always the process that oshrun started: a shell that runs a script
 * outlives its program. If it is that process, its exit follows soon and tells more.
 */
static void pe_loses_connection(struct job *job, int pe)
{
	if (job->pes[pe].phase != PE_CONNECTED || job->lost_deadline > 0)
		return;
	job->lost_pe = pe;
	job->lost_deadline = job_clock() + LOST_WAIT;
}

void supervise_lost(struct job *job)
{
	const struct pe *pe = &job->pes[job->lost_pe];

	job->lost_deadline = 0;
	if (is_running(job) && !pe->gone && pe->phase == PE_CONNECTED)
		fail_unfinished(job, job->lost_pe, "lost its program: that ended");
}

void supervise_grace(struct job *job)
{
	fail_exit(job);
}

static void note_trace(struct job *job, const char *file)
{
	free(job->trace);
	job->trace = strdup(file);
}

void supervise_events(struct job *job)
{
	struct server_event *event;

	while ((event = server_next_event(job->server))) {
		const struct pe *pe = event->pe >= 0 && event->pe < job->count ? &job->pes[event->pe] : NULL;
		bool known = pe && (!pe->gone || pe->fresh);

		if (known && event->kind == EVENT_CONNECTED)
			pe_connects(job, event->pe);
		else if (known && event->kind == EVENT_FINALIZED)
			pe_finalizes(job, event->pe);
		else if (known && event->kind == EVENT_ABORT)
			pe_aborts(job, event);
		else if (known && event->kind == EVENT_LOST)
			pe_loses_connection(job, event->pe);
		else if (known && event->kind == EVENT_TRACE)
			note_trace(job, event->message);
		else if (known && event->kind == EVENT_FENCE)
			job->pes[event->pe].in_fence = event->status;
		free(event);
	}
}
