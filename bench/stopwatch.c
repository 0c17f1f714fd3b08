/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a command several times, writes how long each took, and does not let it run for ever. All that the
 * command leaves running is ended: whoever loses its parent becomes a child of ours, for that is asked
 * of the kernel. Launchers that are killed leave PEs behind, which would disturb every later measurement.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TIMED_OUT = 124, CANNOT_RUN = 127 };

static void help(void)
{
	puts("usage: stopwatch [-n TIMES] [-l SECONDS] [-q] [--] command [argument ...]\n"
	     "\n"
	     "Runs the command and writes a line per run: milliseconds and exit code. Its own output goes to standard\n"
	     "error, or nowhere.\n"
	     "\n"
	     "  -n TIMES     run it so often (1)\n"
	     "  -l SECONDS   end it after that time, with exit code 124 (60)\n"
	     "  -q           leave out the lines, and let the output pass; the exit code is the command's\n"
	     "  -h           this text");
}

__attribute__((noreturn)) static void fail(const char *what, const char *word)
{
	fprintf(stderr, "stopwatch: %s '%s'; try -h\n", what, word);
	exit(2);
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Every child there is, ours and adopted; 0 only checks. Their own children come to us in a later round. */
static bool end_children(int number)
{
	char path[64];
	FILE *file;
	long pid;
	bool any = false;

	snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
	file = fopen(path, "r");
	while (file && fscanf(file, "%ld", &pid) == 1) {
		kill((pid_t)pid, number);
		any = true;
	}
	if (file)
		fclose(file);
	return any;
}

static void short_sleep(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

/*
 * A launcher, unless it has ended already (0), is given the time to end its job and to clear up by itself; when it has
 * gone, what it left is asked to go as well. After four seconds nobody is asked any more.
 */
static void end_all(pid_t launcher)
{
	enum { ASKING = 400, ROUNDS = 700 };
	int number = SIGTERM;
	pid_t pid;

	for (int round = 0; round < ROUNDS && end_children(number); round++) {
		number = round < ASKING ? 0 : SIGKILL;
		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
			if (pid == launcher && number == 0)
				number = SIGTERM;
		short_sleep();
	}
}

static pid_t start(char *argv[], const sigset_t *before, bool quiet)
{
	pid_t pid = fork();

	if (pid < 0)
		fail("cannot make a process for", argv[0]);
	if (pid)
		return pid;
	sigprocmask(SIG_SETMASK, before, NULL);
	if (!quiet)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	execvp(argv[0], argv);
	fprintf(stderr, "stopwatch: cannot run %s: %s\n", argv[0], strerror(errno));
	_exit(CANNOT_RUN);
}

/* These are blocked and waited for, so that none comes at a moment when it is missed. */
static sigset_t awaited(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	return set;
}

/* Returns the exit code. Whoever interrupts us interrupts all. */
static int wait_until(pid_t pid, double deadline)
{
	sigset_t set = awaited();
	int status;

	while (waitpid(pid, &status, WNOHANG) != pid) {
		double left = deadline - now_ms();
		struct timespec time = {(time_t)(left / 1e3), (long)((left - 1e3 * (double)(long)(left / 1e3)) * 1e6)};
		int number;

		if (left <= 0)
			return TIMED_OUT;
		number = sigtimedwait(&set, NULL, &time);
		if (number == SIGINT || number == SIGTERM) {
			end_all(pid);
			exit(128 + number);
		}
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static double read_number(const char *text)
{
	char *rest;
	double value = strtod(text, &rest);

	if (rest == text || *rest || !(value > 0 && value < 1e6))
		fail("no useful number", text);
	return value;
}

int main(int argc, char *argv[])
{
	sigset_t set = awaited(), before;
	double limit = 60;
	int option, times = 1, code = 0;
	bool quiet = false;

	while ((option = getopt(argc, argv, "+n:l:qh")) != -1) {
		switch (option) {
		case 'n': times = (int)read_number(optarg); break;
		case 'l': limit = read_number(optarg); break;
		case 'q': quiet = true; break;
		case 'h': help(); return 0;
		default: return 2;
		}
	}
	if (optind == argc)
		fail("no command after", argv[argc - 1]);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	sigprocmask(SIG_BLOCK, &set, &before);
	for (int i = 0; i < times && code != TIMED_OUT; i++) {
		double began = now_ms();
		pid_t pid = start(argv + optind, &before, quiet);

		code = wait_until(pid, began + limit * 1e3);
		if (!quiet) {
			printf("%.3f %d\n", now_ms() - began, code);
			fflush(stdout);
		}
		end_all(code == TIMED_OUT ? pid : 0);
	}
	return quiet || code == TIMED_OUT ? code : 0;
}
