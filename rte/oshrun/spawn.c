/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <hwloc/glibc-sched.h>
#include <pmix.h>

#include "debug.h"
#include "job.h"
#include "program.h"
#include "say.h"

/* Of oshrun, libpmix, other connections to its port, and files that the user left open. */
#define OWN_FILES 128
#define OWN_STACK (1UL << 20)
#define LEAST_STACK (256UL << 10) /* libpmix 4.2 has been seen to die of 200 KiB */
#define OWN_THREADS 3		  /* two of libpmix and the accept filter */
#define OWN_DATA (4UL << 20)	  /* of oshrun and libpmix, without stacks */
#define DATA_PER_PE (16UL << 10)
#define LEAST_FILE (PMIX_VERSION_MAJOR < 5 ? 4UL << 20 : 0) /* of libpmix 4's shared memory */

/*
 * Everything that the child needs, prepared before vfork: between vfork and exec it only makes
 * system calls.
 */
struct child {
	struct job *job;
	const struct part *part;
	const char *path;
	char **program;
	char **environment;
	int files[3];
	cpu_set_t *cpus; /* NULL: not bound */
	size_t cpus_size;
	int ipc; /* its IPC namespace, -1: that of oshrun */
	pid_t parent;
	pid_t *group; /* the entry of this PE in struct reaper */
	_Atomic int error;
	_Atomic bool in_folder; /* wdir is what failed, if anything */
};

static int check_stack(struct job *job)
{
	struct rlimit limit;

	getrlimit(RLIMIT_STACK, &limit);
	job->inherited.stack = limit;
	if (limit.rlim_cur < OWN_STACK) {
		limit.rlim_cur = limit.rlim_max < OWN_STACK ? limit.rlim_max : OWN_STACK;
		setrlimit(RLIMIT_STACK, &limit);
	}
	if (limit.rlim_cur >= LEAST_STACK)
		return 0;
	say("the stack is limited to %lu KiB, and libpmix needs %lu; raise the limit with ulimit -s",
	    (unsigned long)limit.rlim_cur >> 10, LEAST_STACK >> 10);
	return 1;
}

static int check_files(struct job *job)
{
	struct rlimit limit;
	rlim_t need = OWN_FILES + (rlim_t)job->count * (job->io.pumping ? 3 : 1);

	getrlimit(RLIMIT_NOFILE, &limit);
	job->inherited.files = limit;
	if (limit.rlim_cur >= need)
		return 0;
	if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < need) {
		say("%d PEs need about %lu open files here and the limit is %lu; raise it with ulimit -n", job->count,
		    (unsigned long)need, (unsigned long)limit.rlim_max);
		return 1;
	}
	limit.rlim_cur = need;
	setrlimit(RLIMIT_NOFILE, &limit);
	return 0;
}

/* libpmix would make a larger file, and the kernel would then end oshrun by SIGXFSZ. */
static int check_file_size(struct job *job)
{
	struct rlimit limit;

	getrlimit(RLIMIT_FSIZE, &limit);
	job->inherited.file_size = limit;
	if (limit.rlim_cur >= LEAST_FILE)
		return 0;
	limit.rlim_cur = limit.rlim_max < LEAST_FILE ? limit.rlim_max : LEAST_FILE;
	if (limit.rlim_cur == LEAST_FILE && !setrlimit(RLIMIT_FSIZE, &limit))
		return 0;
	say("files are limited to %lu KiB, and libpmix needs one of %lu; raise the limit with ulimit -f",
	    (unsigned long)limit.rlim_max >> 10, LEAST_FILE >> 10);
	return 1;
}

/*
 * libpmix does not notice that one of its threads could not start, and the PEs would wait for ever.
 */
static int check_data(const struct job *job)
{
	rlim_t need = OWN_DATA + (rlim_t)job->count * DATA_PER_PE;
	struct rlimit limit;
	pthread_attr_t attributes;
	size_t stack = 0;

	if (pthread_getattr_default_np(&attributes) == 0) {
		pthread_attr_getstacksize(&attributes, &stack);
		pthread_attr_destroy(&attributes);
	}
	need += OWN_THREADS * stack;
	getrlimit(RLIMIT_DATA, &limit);
	if (limit.rlim_cur >= need)
		return 0;
	say("memory is limited to %lu KiB, and oshrun needs %lu; raise the limit with ulimit -d, or lower ulimit -s",
	    (unsigned long)limit.rlim_cur >> 10, (unsigned long)need >> 10);
	return 1;
}

int spawn_check_limits(struct job *job)
{
	int code = check_files(job);

	if (!code)
		code = check_stack(job);
	if (!code)
		code = check_data(job);
	return code ? code : check_file_size(job);
}

static _Noreturn void become_pe(struct child *child)
{
	const struct inherited *given = &child->job->inherited;
	const char *wdir = child->part->wdir;

	setpgid(0, 0);
	*child->group = getpid();
	/*
	 * Makes the PE die with oshrun, even if that is killed; checks whether the parent died
	 * earlier.
	 */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != child->parent)
		_exit(1);
	for (int fd = 0; fd < 3; fd++)
		if (child->files[fd] != fd)
			dup2(child->files[fd], fd);
	if (child->cpus)
		sched_setaffinity(0, child->cpus_size, child->cpus);
	if (child->ipc >= 0)
		setns(child->ipc, CLONE_NEWIPC);
	setrlimit(RLIMIT_NOFILE, &given->files);
	setrlimit(RLIMIT_STACK, &given->stack);
	setrlimit(RLIMIT_FSIZE, &given->file_size);
	sigaction(SIGPIPE, &given->pipe, NULL);
	sigprocmask(SIG_SETMASK, &given->mask, NULL);
	atomic_store_explicit(&child->in_folder, wdir && chdir(wdir), memory_order_relaxed);
	if (!atomic_load_explicit(&child->in_folder, memory_order_relaxed))
		execve(child->path, child->program, child->environment);
	atomic_store_explicit(&child->error, errno, memory_order_relaxed);
	_exit(1);
}

/* vfork copies no page tables, and when it returns, a failed exec has stored its error. */
static pid_t __attribute__((noinline)) vfork_pe(struct child *child)
{
	pid_t pid = vfork();

	if (pid == 0)
		become_pe(child);
	return pid;
}

static cpu_set_t *binding_of(struct job *job, int pe, size_t *size)
{
	hwloc_cpuset_t cpuset = job->processors.elsewhere ? NULL : bind_cpuset(&job->binding, &job->processors, pe);
	int cpus = hwloc_bitmap_last(hwloc_topology_get_complete_cpuset(job->processors.topology)) + 1;
	cpu_set_t *set = NULL;

	if (!cpuset)
		return NULL;
	set = CPU_ALLOC(cpus);
	*size = CPU_ALLOC_SIZE(cpus);
	if (set)
		hwloc_cpuset_to_glibc_sched_affinity(job->processors.topology, cpuset, set, *size);
	hwloc_bitmap_free(cpuset);
	return set;
}

static void free_environment(char **environment)
{
	for (char **entry = environment; entry && *entry; entry++)
		free(*entry);
	free(environment);
}

static char **copy_environment(char **environment)
{
	size_t count = 0;
	char **copy;

	while (environment[count])
		count++;
	copy = calloc(count + 1, sizeof *copy);
	for (size_t i = 0; copy && i < count; i++)
		copy[i] = strdup(environment[i]);
	return copy;
}

static int say_no_start(struct job *job, int pe, int error)
{
	struct rlimit limit;

	getrlimit(error == EAGAIN ? RLIMIT_NPROC : RLIMIT_NOFILE, &limit);
	if (error == EAGAIN && limit.rlim_cur != RLIM_INFINITY)
		say("PE %d of %d cannot start: no more processes allowed; raise ulimit -u (now %lu) or the "
		    "limit of the container",
		    pe, job->count, (unsigned long)limit.rlim_cur);
	else if (error == EMFILE)
		say("PE %d of %d cannot start: too many open files; raise ulimit -n (now %lu)", pe, job->count,
		    (unsigned long)limit.rlim_cur);
	else
		say("PE %d of %d cannot start: %s", pe, job->count, strerror(error));
	return 1;
}

static int say_failed_exec(struct child *child)
{
	int error = atomic_load_explicit(&child->error, memory_order_relaxed);

	if (!atomic_load_explicit(&child->in_folder, memory_order_relaxed))
		return program_failed(child->program[0], child->path, error);
	say("--wdir %s: the PEs cannot go there: %s", child->part->wdir, strerror(error));
	return 1;
}

static int spawn_pe(struct job *job, int number)
{
	struct pe *pe = &job->pes[number];
	const struct part *part = options_part(job->options, number);
	struct child child = {
		.job = job,
		.part = part,
		.path = debug_is(job, number) ? job->debugger : part->path,
		.program = debug_is(job, number) ? job->debug_arguments : part->program,
		.environment = copy_environment(job->environment),
		.parent = getpid(),
		.group = &job->reaper->groups[number],
		.ipc = job->ipc_of_node ? job->ipc_of_node[number / job->pes_of_node] : -1,
	};
	int error = 0;

	child.cpus = binding_of(job, number, &child.cpus_size);
	if (!child.environment || !server_environment(job->server, number, &child.environment))
		error = ENOMEM;
	else if (!io_child_files(&job->io, number, child.files))
		error = errno;
	else if ((pe->pid = vfork_pe(&child)) < 0)
		error = errno;
	else
		io_child_started(&job->io, child.files);
	if (child.cpus)
		CPU_FREE(child.cpus);
	free_environment(child.environment);
	if (error)
		return say_no_start(job, number, error);
	pe->phase = PE_STARTED;
	job->alive++;
	return atomic_load_explicit(&child.error, memory_order_relaxed) ? say_failed_exec(&child) : 0;
}

int spawn_all(struct job *job)
{
	for (int pe = 0; pe < job->count; pe++) {
		int code = spawn_pe(job, pe);

		if (code)
			return code;
	}
	return 0;
}
