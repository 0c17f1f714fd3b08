/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handlers of the signals that end a PE: they write the PE, its routine and the wrong argument, and
 * the calls that led there, with the program's functions, files and lines.
 *
 * crash.c         the handlers themselves
 * crash_report.c  the text
 * backtrace.c     the calls, and the routine among them
 * frames.c        the file and the function of an address; source_lines.c the source lines
 *
 * The handler allocates nothing, takes no lock, and calls only the system and the C library's
 * backtrace, which needs no lock after its first call. A signal that comes while another thread
 * reports waits for it; one that comes within the report ends the process with the first signal.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "backtrace.h"
#include "crash_report.h"
#include "rte/rte.h"
#include "rte/settings.h"

enum { STACK_BYTES = 64 << 10, WAIT_FOR_OTHER = 6000 /* ms */ };

static const struct fatal_signals {
	int number;
	const char *name;
} fatal_signals[] = {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},	 {SIGFPE, "SIGFPE"},
		     {SIGILL, "SIGILL"},   {SIGABRT, "SIGABRT"}, {SIGTERM, "SIGTERM"}};
enum { FATAL = sizeof fatal_signals / sizeof fatal_signals[0] };

static struct {
	pid_t pid; /* of the PE: a process that the program forks has the handler, too */
	struct sigaction before[FATAL];
	bool caught[FATAL];
	atomic_int thread; /* thread that reports a signal; 0: none yet, -1: done */
	int which;	   /* the signal that it reports: an index in fatal */
} crash;

/*
 * Raises the signal again. It takes effect when the handler has returned, so that a core file shows
 * where the fault was.
 */
static void end_by_default(int number)
{
	sigset_t one;

	sigemptyset(&one);
	sigaddset(&one, number);
	pthread_sigmask(SIG_BLOCK, &one, NULL);
	signal(number, SIG_DFL);
	raise(number);
}

/* Does what the signal would do without this handler. */
static void call_previous(int which, siginfo_t *info, void *context)
{
	const struct sigaction *old = &crash.before[which];
	int number = fatal_signals[which].number;
	sigset_t one, now;

	if (!(old->sa_flags & SA_SIGINFO) &&
	    (old->sa_handler == SIG_DFL || (old->sa_handler == SIG_IGN && !crash_sent_by_process(info)))) {
		end_by_default(number);
		return;
	}
	sigemptyset(&one);
	sigaddset(&one, number);
	pthread_sigmask(SIG_BLOCK, &one, &now);
	if (old->sa_flags & SA_SIGINFO)
		old->sa_sigaction(number, info, context);
	else if (old->sa_handler != SIG_IGN)
		old->sa_handler(number);
	pthread_sigmask(SIG_SETMASK, &now, NULL);
}

/* For a signal during the report of the first one: the stack, or data on it, is damaged. */
static void end_by_first_signal(void)
{
	int number = fatal_signals[crash.which].number;
	sigset_t one;

	crash_report_damage(fatal_signals[crash.which].name);
	signal(number, SIG_DFL);
	sigemptyset(&one);
	sigaddset(&one, number);
	raise(number);
	pthread_sigmask(SIG_UNBLOCK, &one, NULL);
	_exit(128 + number);
}

/* Lets another thread finish its report. */
static void wait_for_other_thread(void)
{
	const struct timespec moment = {0, 10000000};

	for (int i = 0; i < WAIT_FOR_OTHER / 10 && atomic_load_explicit(&crash.thread, memory_order_acquire) > 0; i++)
		nanosleep(&moment, NULL);
}

static void handle_crash(int number, siginfo_t *info, void *context)
{
	int which = 0, nobody = 0, me = (int)syscall(SYS_gettid), problem = errno;

	while (fatal_signals[which].number != number)
		which++;
	if (getpid() != crash.pid) {
		call_previous(which, info, context);
	} else if (atomic_compare_exchange_strong_explicit(&crash.thread, &nobody, me, memory_order_acq_rel,
							   memory_order_acquire)) {
		crash.which = which;
		if (number != SIGTERM)
			crash_report(fatal_signals[which].name, info, context);
		else if (crash_report_is_wanted(info))
			crash_report_routine(info, context);
		if (rte.last_words)
			rte.last_words();
		atomic_store_explicit(&crash.thread, -1, memory_order_release);
		call_previous(which, info, context);
	} else if (nobody == me) {
		end_by_first_signal();
	} else {
		wait_for_other_thread();
		call_previous(which, info, context);
	}
	errno = problem;
}

/*
 * Gives the handler its own stack, because an overflowed stack has no room for it. The memory is a
 * private mapping, not a static array: if the program contains the library, other PEs share its
 * static data, and so would the child that runs addr2line.
 */
static void *signal_stack;

static void set_signal_stack(void)
{
	stack_t now;

	if (sigaltstack(NULL, &now) || !(now.ss_flags & SS_DISABLE))
		return;
	if (!signal_stack)
		signal_stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (signal_stack == MAP_FAILED)
		signal_stack = NULL;
	else
		sigaltstack(&(stack_t){.ss_sp = signal_stack, .ss_size = STACK_BYTES}, NULL);
}

/* Each thread has its own: only the one that started the library can take it back. */
static void unset_signal_stack(void)
{
	stack_t now;

	if (!signal_stack || sigaltstack(NULL, &now) || now.ss_sp != signal_stack ||
	    sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL))
		return;
	munmap(signal_stack, STACK_BYTES);
	signal_stack = NULL;
}

void rte_crash_start(const char *routine)
{
	struct sigaction action = {.sa_sigaction = handle_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
	bool wanted, speaker;

	if (!setting_bool(SETTING_BACKTRACE, &wanted))
		rte_die_together(routine, "SHMEM_BACKTRACE=%s: give yes or no", setting_text(SETTING_BACKTRACE));
	if (!wanted)
		return;
	crash.pid = getpid();
	backtrace_prepare();
	set_signal_stack();
	speaker = crash_report_find_speaker();
	sigemptyset(&action.sa_mask);
	/* Oshrun sends it to a PE, and then to the process group of the PE. */
	sigaddset(&action.sa_mask, SIGTERM);
	for (int i = 0; i < FATAL; i++) {
		if (fatal_signals[i].number == SIGTERM && !setting_text(SETTING_TRACE)[0] && !speaker)
			continue;
		crash.caught[i] = sigaction(fatal_signals[i].number, &action, &crash.before[i]) == 0;
	}
}

static bool is_own(const struct sigaction *action)
{
	return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == handle_crash;
}

bool rte_program_action(int number, struct sigaction *action)
{
	if (sigaction(number, NULL, action))
		return false;
	for (int i = 0; i < FATAL; i++)
		if (fatal_signals[i].number == number && is_own(action))
			*action = crash.before[i];
	return true;
}

void rte_crash_stop(void)
{
	for (int i = 0; i < FATAL; i++) {
		struct sigaction now;

		if (crash.caught[i] && sigaction(fatal_signals[i].number, NULL, &now) == 0 && is_own(&now))
			sigaction(fatal_signals[i].number, &crash.before[i], NULL);
		crash.caught[i] = false;
	}
	unset_signal_stack();
}
