/* SPDX-License-Identifier: BSD-3-Clause */
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "job.h"
#include "say.h"

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
static const int other_signals[] = {SIGCHLD, SIGTSTP, SIGCONT, SIGUSR1, SIGUSR2};
#define ENDING_COUNT (sizeof ending_signals / sizeof ending_signals[0])
#define OTHER_COUNT (sizeof other_signals / sizeof other_signals[0])

static bool is_ignored(int sig)
{
	struct sigaction action;

	return !sigaction(sig, NULL, &action) && action.sa_handler == SIG_IGN;
}

bool signals_take(struct job *job)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, standard = {.sa_handler = SIG_DFL};
	sigset_t set;

	sigemptyset(&set);
	/* nohup, and shells for jobs in the background, ignore some signals; they stay ignored. */
	for (size_t i = 0; i < ENDING_COUNT; i++)
		if (!is_ignored(ending_signals[i]))
			sigaddset(&set, ending_signals[i]);
	for (size_t i = 0; i < OTHER_COUNT; i++)
		sigaddset(&set, other_signals[i]);
	sigaction(SIGCHLD, &standard, NULL);
	sigaction(SIGPIPE, &ignore, &job->inherited.pipe);
	sigprocmask(SIG_BLOCK, &set, &job->inherited.mask);
	job->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return job->signal_fd >= 0;
}

static void end_for(struct job *job, int sig)
{
	if (job->signal || job->phase == JOB_ENDING || job->phase == JOB_KILLED) {
		/* A second signal: kill the PEs now. */
		job->given_up = job->phase == JOB_KILLED && job->deadline == 0;
		job->deadline = job_clock();
		return;
	}
	job->signal = sig;
	job->output_deadline = job_clock() + 2;
	if (!job->explained)
		say("stopped by signal %d (%s); ending %d PE%s", sig, strsignal(sig), job->alive,
		    job->alive == 1 ? "" : "s");
	job->explained = true;
	job_end(job, 128 + sig, true);
}

/* Ctrl-Z: the PEs are not in the terminal's foreground, so oshrun must stop them. */
static void stop_all(struct job *job)
{
	double before = job_clock();

	job_signal(job, SIGSTOP);
	raise(SIGSTOP);
	job_signal(job, SIGCONT);
	if (job->time_limit > 0)
		job->time_limit += job_clock() - before;
}

static void handle_signal(struct job *job, int sig)
{
	switch (sig) {
	case SIGCHLD: break; /* the main loop reaps children after every poll */
	case SIGTSTP: stop_all(job); break;
	case SIGCONT:
	case SIGUSR1:
	case SIGUSR2: job_signal(job, sig); break;
	default: end_for(job, sig); break;
	}
}

void signals_handle(struct job *job)
{
	struct signalfd_siginfo info;

	while (read(job->signal_fd, &info, sizeof info) == (ssize_t)sizeof info)
		handle_signal(job, (int)info.ssi_signo);
}
