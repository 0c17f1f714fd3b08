/* SPDX-License-Identifier: BSD-3-Clause */
#include "softofu/nic/shared_job.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "softofu/net/net.h"
#include "softofu/nic/carrier.h"
#include "softofu/nic/recording.h"
#include "softofu/nic/vcq.h"

/* Where parts of the mapping begin; that it is a page on many systems does not matter. */
#define BOUNDARY 4096u
#define VCQS_PER_RANK 64u
#define VCQS_MOST 65536u
#define SPINS 1000

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct nic the_nic = {.member_fd = -1, .job_fd = -1};
static bool usable;

void job_lock(_Atomic int32_t *lock)
{
	int32_t me = (int32_t)getpid(), holder = 0;

	for (int spins = 0;
	     !atomic_compare_exchange_weak_explicit(lock, &holder, me, memory_order_acquire, memory_order_relaxed);
	     spins++) {
		/* A holder that was killed loses the lock. */
		if (holder && spins % SPINS == SPINS - 1 && kill(holder, 0) && errno == ESRCH &&
		    atomic_compare_exchange_strong_explicit(lock, &holder, me, memory_order_acquire,
							    memory_order_relaxed))
			return;
		if (spins > SPINS)
			sched_yield();
		holder = 0;
	}
}

void job_unlock(_Atomic int32_t *lock)
{
	atomic_store_explicit(lock, 0, memory_order_release);
}

void process_wake(struct process *process)
{
	atomic_fetch_add_explicit(&process->wakeups, 1, memory_order_seq_cst);
	if (atomic_load_explicit(&process->asleep, memory_order_seq_cst))
		syscall(SYS_futex, &process->wakeups, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static uint64_t whole(uint64_t bytes)
{
	return (bytes + BOUNDARY - 1) / BOUNDARY * BOUNDARY;
}

/* The same from the same settings in every process of the job. */
static void lay_out_job(struct job *job, const struct settings *settings, const struct net_settings *net)
{
	char problem[NET_PROBLEM];
	uint64_t ranks = (uint64_t)(settings->ranks ? settings->ranks : node_grid_capacity(&settings->grid));

	for (job->mrq_size = 16; job->mrq_size < (uint64_t)settings->mrq_size;)
		job->mrq_size *= 2;
	job->processes = (uint32_t)ranks;
	job->node_nics = (uint32_t)node_grid_nodes(&settings->grid);
	job->vcqs = (uint32_t)(ranks * VCQS_PER_RANK < VCQS_MOST ? ranks * VCQS_PER_RANK : VCQS_MOST);
	job->vcq_bytes = whole(sizeof(struct shared_vcq) + job->mrq_size * sizeof(struct mrq_entry));
	job->processes_at = whole(sizeof *job);
	job->node_nics_at = whole(job->processes_at + ranks * sizeof(struct process));
	job->vcqs_at = whole(job->node_nics_at + job->node_nics * sizeof(struct node_nic));
	job->bytes = job->vcqs_at + job->vcqs * job->vcq_bytes;
	if (net) {
		job->taking_at = job->bytes;
		job->net_at = whole(job->taking_at + job->node_nics * TNIS * CQS * sizeof(int32_t));
		job->bytes = whole(job->net_at + net_bytes(net, problem));
	}
}

/* Clears the queues of a former process with our rank that ended without freeing them. */
static void clear_after_former(struct nic *nic)
{
	struct job *job = nic->job;

	job_lock(&job->making);
	for (uint32_t i = 0; i < atomic_load_explicit(&job->used_vcqs, memory_order_relaxed); i++)
		if (atomic_load_explicit(&job_vcq(job, i)->live, memory_order_relaxed) &&
		    job_vcq(job, i)->rank == (uint32_t)nic->rank)
			vcq_release(nic, i);
	job_unlock(&job->making);
	memset(nic->me->memories, 0, sizeof nic->me->memories);
	gates_release(nic);
}

static bool enter_job(struct nic *nic)
{
	int32_t before = atomic_load_explicit(&nic->me->pid, memory_order_relaxed), me = (int32_t)getpid();
	bool mine = !before || before == me || (kill(before, 0) && errno == ESRCH);

	if (mine && before)
		clear_after_former(nic);
	if (mine && atomic_compare_exchange_strong_explicit(&nic->me->pid, &before, me, memory_order_relaxed,
							    memory_order_relaxed))
		return true;
	fprintf(stderr, "softofu: rank %d is taken by process %d; give each process its own SOFTOFU_RANK\n", nic->rank,
		(int)before);
	return false;
}

static bool map_job(struct nic *nic)
{
	bool through_net = nic->carrier == &packets_carrier;
	struct net_settings net;
	char problem[NET_PROBLEM];
	struct job plan = {0};
	struct rendezvous found;
	bool entered, findable;

	if (through_net && !packets_plan(&nic->settings, &net))
		return false;
	lay_out_job(&plan, &nic->settings, through_net ? &net : NULL);
	if (!rendezvous_join(&found, &nic->settings, plan.bytes))
		return false;
	nic->job_fd = found.job_fd;
	nic->job = mmap(NULL, plan.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, found.job_fd, 0);
	if (nic->job == MAP_FAILED) {
		fprintf(stderr, "softofu: %llu bytes of address space cannot be had: %s; see ulimit -v\n",
			(unsigned long long)plan.bytes, strerror(errno));
		return false;
	}
	if (found.first) {
		memcpy(nic->job, &plan, sizeof plan);
		if (through_net && !net_create((struct net *)((char *)nic->job + plan.net_at), &net, problem)) {
			fprintf(stderr, "softofu: SOFTOFU_NET: %s\n", problem);
			return false;
		}
		atomic_store_explicit(&nic->job->ready, 1, memory_order_release);
	}
	if (nic->job->bytes != plan.bytes || !atomic_load_explicit(&nic->job->ready, memory_order_acquire)) {
		fprintf(stderr,
			"softofu: rank %d has other settings than the job it joins; SOFTOFU_* must be equal in all\n",
			nic->rank);
		return false;
	}
	nic->me = job_process(nic->job, (uint32_t)nic->rank);
	entered = enter_job(nic);
	findable = rendezvous_done(&found);
	nic->member_fd = found.member_fd;
	return entered && findable;
}

/* Not by atexit: functions that were registered before us may still communicate. */
__attribute__((destructor)) static void leave_job(void)
{
	struct nic *nic = &the_nic;

	if (!usable || atomic_load_explicit(&nic->me->pid, memory_order_relaxed) != (int32_t)getpid())
		return;
	if (nic->settings.stats)
		vcq_report(nic);
	if (nic->settings.stats && nic->carrier == &packets_carrier && nic->rank == 0)
		packets_report(nic);
	vcq_release_all(nic);
	gates_release(nic);
	atomic_store_explicit(&nic->me->pid, 0, memory_order_relaxed);
	record_close();
	if (nic->settings.run)
		rendezvous_leave(nic->settings.run, nic->job_fd);
}

static void start_nic(void)
{
	struct nic *nic = &the_nic;

	settings_read(&nic->settings);
	nic->rank = (int)nic->settings.rank;
	nic->local = nic->rank % nic->settings.grid.per_node;
	node_grid_place(&nic->settings.grid, nic->rank, nic->coords, NULL);
	nic->node = (int)node_grid_node(&nic->settings.grid, nic->coords);
	pthread_mutex_init(&nic->lock, NULL);
	pthread_mutex_init(&nic->registration_lock, NULL);
	nic->carrier = nic->settings.net ? &packets_carrier : &direct_carrier;
	nic->vcqs = vcq_table(&nic->vcq_count);
	if (!nic->vcqs || !map_job(nic))
		return;
	/*
	 * Under the Yama security module, allow the other processes of the job to reach our memory.
	 */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	record_open(nic);
	usable = true;
}

struct nic *nic_get(void)
{
	pthread_once(&once, start_nic);
	return usable ? &the_nic : NULL;
}
