/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The members are two plain processes, each on a processor of its own, and memory that both have
 * mapped.
 */
#include "floor.h"

#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { POLLS = 2000 };

/* Shared by both. */
static struct control {
	uint64_t raw[512]; /* a page of its own */
	uint32_t arrived, epoch;
	long broadcast;
	double gathered[2];
} * control;

static pid_t child;

void *shared_take(size_t bytes)
{
	int fd = memfd_create("floor", MFD_CLOEXEC);
	void *p = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, (off_t)bytes) == 0)
		p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		group_fail("no %zu MiB of shared memory", bytes / MIB + 1);
	close(fd);
	return p;
}

static void pin(int processor)
{
	if (!move_to_processor(processor))
		group_fail("cannot move to processor %d", processor);
}

/* The first two processors we may use. */
static void find_processors(int processors[2])
{
	cpu_set_t set;
	int found = 0;

	CPU_ZERO(&set);
	sched_getaffinity(0, sizeof set, &set);
	for (int i = 0; i < CPU_SETSIZE && found < 2; i++)
		if (CPU_ISSET(i, &set))
			processors[found++] = i;
	group.oversubscribed = found < 2;
	if (found < 2)
		processors[1] = processors[0];
}

/*
 * Ordinary signals end both: the child asks for its parent's death, the parent waits for the
 * child's.
 */
static void child_ended(int number)
{
	int status;

	(void)number;
	if (waitpid(child, &status, WNOHANG) == child && !(WIFEXITED(status) && WEXITSTATUS(status) == 0))
		_exit(1);
}

/* What both must have is taken before they become two. */
void group_start(void)
{
	int processors[2];

	group.size = 2;
	strcpy(group.library, "floor");
	control = shared_take(sizeof *control);
	group.raw = control->raw;
	group.has_raw = true;
	find_processors(processors);
	snprintf(group.processors, sizeof group.processors, "%d %d", processors[0], processors[1]);
	floor_take_memory();
	fflush(NULL);
	signal(SIGCHLD, child_ended);
	child = fork();
	if (child < 0)
		group_fail("cannot make a second process");
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		group.me = 1;
	}
	pin(processors[group.me]);
	floor_touch_memory();
	group_barrier();
}

void group_end(void)
{
	group_barrier();
	if (group.me == 1)
		_exit(0);
	signal(SIGCHLD, SIG_DFL);
	waitpid(child, NULL, 0);
}

/*
 * A short spin, then sleep: the same manners as a library's, so that neither disturbs the other
 * more.
 */
void group_barrier(void)
{
	uint32_t epoch = __atomic_load_n(&control->epoch, __ATOMIC_ACQUIRE);

	if (__atomic_add_fetch(&control->arrived, 1, __ATOMIC_ACQ_REL) == 2) {
		control->arrived = 0;
		__atomic_store_n(&control->epoch, epoch + 1, __ATOMIC_RELEASE);
		syscall(SYS_futex, &control->epoch, FUTEX_WAKE, 1, NULL, NULL, 0);
		return;
	}
	for (int i = 0; i < POLLS; i++) {
		if (__atomic_load_n(&control->epoch, __ATOMIC_ACQUIRE) != epoch)
			return;
		relax();
	}
	while (__atomic_load_n(&control->epoch, __ATOMIC_ACQUIRE) == epoch)
		syscall(SYS_futex, &control->epoch, FUTEX_WAIT, epoch, NULL, NULL, 0);
}

long group_broadcast(long value)
{
	if (group.me == 0)
		control->broadcast = value;
	group_barrier();
	value = control->broadcast;
	group_barrier();
	return value;
}

void group_gather(double mine, double *all)
{
	control->gathered[group.me] = mine;
	group_barrier();
	if (group.me == 0)
		memcpy(all, control->gathered, sizeof control->gathered);
	group_barrier();
}

void group_fail(const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "%s: ", driver_name);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	if (group.me == 0 && child > 0)
		kill(child, SIGKILL);
	fflush(NULL);
	_exit(1);
}
