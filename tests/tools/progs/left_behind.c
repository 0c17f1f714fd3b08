/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * left_behind: the signal handlers and the alternate signal stack of this thread are after finalize
 * what they were before the start, also those that the program has changed meanwhile.
 */
#include <shmem.h>
#include <signal.h>
#include <stdio.h>

enum { SIGNALS = 65 };

static struct sigaction before[SIGNALS];

static void note(int number)
{
	(void)number;
}

static int compare(void)
{
	int changed = 0;

	for (int number = 1; number < SIGNALS; number++) {
		struct sigaction now;

		if (sigaction(number, NULL, &now) || now.sa_handler == before[number].sa_handler)
			continue;
		printf("the handler of signal %d has changed\n", number);
		changed = 1;
	}
	return changed;
}

int main(void)
{
	stack_t stack;

	for (int number = 1; number < SIGNALS; number++)
		sigaction(number, NULL, &before[number]);
	for (int start = 0; start < 2; start++) {
		shmem_init();
		sigaction(SIGFPE, NULL, &before[0]);
		if (before[0].sa_handler == SIG_DFL)
			printf("the library has no handler, so this test finds nothing\n");
		before[SIGSEGV].sa_handler = note;
		signal(SIGSEGV, note);
		shmem_finalize();
		if (compare())
			return 1;
		if (sigaltstack(NULL, &stack) || !(stack.ss_flags & SS_DISABLE)) {
			printf("the alternate signal stack is still there\n");
			return 1;
		}
	}
	return 0;
}
