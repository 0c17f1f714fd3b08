/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "plan.h"

/*
 * The table of plans, and what advances them: every poll of the program and, since a rank may have
 * to forward while its program is elsewhere, a thread while a plan is active. The thread calls
 * uTofu alone, so the MPI need not know of it. The lock is for everything in this library that
 * concerns plans.
 */
#define PLANS_API __attribute__((visibility("default")))

/*
 * Times of the thread in nanoseconds; and how often it rests without a plan before it sleeps until
 * one starts.
 */
enum { SHORT_REST = 50000, LONG_REST = 2000000, IDLE_RESTS = 20, HASHES = 512 };

static struct {
	pthread_mutex_t lock;
	pthread_cond_t started;
	struct fjmpi_plan *first;
	struct fjmpi_plan *hashed[HASHES];
	/*
	 * Plans with a request; read without the lock, so that programs without plans do not
	 * search.
	 */
	_Atomic int count;
	int busy;    /* plans */
	bool failed; /* after an error message; nothing advances any more */
	bool has_thread, asleep, end;
	pid_t process; /* the process that owns the thread: not its children */
	pthread_t thread;
} plans = {.lock = PTHREAD_MUTEX_INITIALIZER, .started = PTHREAD_COND_INITIALIZER};

void plan_lock(void)
{
	pthread_mutex_lock(&plans.lock);
}

void plan_unlock(void)
{
	pthread_mutex_unlock(&plans.lock);
}

const char *plan_routine(enum fjmpi_plan_kind kind)
{
	static const char *const names[] = {"MPIX_Barrier_init",	"MPIX_Bcast_init",	   "MPIX_Reduce_init",
					    "MPIX_Allreduce_init",	"MPIX_Allgather_init",	   "MPIX_Alltoall_init",
					    "FJMPI_Prequest_send_init", "FJMPI_Prequest_recv_init"};

	return names[kind];
}

bool plan_wants_stats(void)
{
	const char *text = getenv("SOFTOFU_STATS");

	return text && *text && strcmp(text, "0") != 0 && strcmp(text, "no") != 0;
}

void plan_fail(void)
{
	plans.failed = true;
}

struct fjmpi_plan *plan_first(void)
{
	return plans.first;
}

void plan_recount(struct fjmpi_plan *plan)
{
	bool busy = plan->pair ? plan_pair_busy(plan) : plan->state == FJMPI_PLAN_ACTIVE;

	plans.busy += busy - plan->busy;
	plan->busy = busy;
	if (busy && plans.asleep)
		pthread_cond_signal(&plans.started);
}

/* --- The end of a plan --- */

/* A handle is a small number or an address. */
static size_t hash_of(uintptr_t request)
{
	return (request ^ request >> 4 ^ request >> 12) % HASHES;
}

static void free_maker(struct plan_maker *maker)
{
	if (!maker)
		return;
	plan_members_free(&maker->members);
	free(maker->ids);
	free(maker->children);
	free(maker);
}

void plan_free(struct fjmpi_plan *plan)
{
	plan_queues_forget(plan);
	free_maker(plan->maker);
	free(plan->region[PLAN_STAGING].at);
	free(plan->region[PLAN_FLAGS].at);
	free(plan->steps[0].list);
	free(plan->steps[1].list);
	free(plan->arrived);
	free(plan->awaited);
	plan_pair_free(plan->pair);
	free(plan);
}

/* No request refers to it any more. */
static void take_request(struct fjmpi_plan *plan)
{
	for (struct fjmpi_plan **link = &plans.hashed[hash_of(plan->request)]; *link; link = &(*link)->next_hashed)
		if (*link == plan) {
			*link = plan->next_hashed;
			atomic_fetch_sub_explicit(&plans.count, 1, memory_order_relaxed);
			return;
		}
}

static void take_from_table(struct fjmpi_plan *plan)
{
	take_request(plan);
	for (struct fjmpi_plan **link = &plans.first; *link; link = &(*link)->next)
		if (*link == plan) {
			*link = plan->next;
			return;
		}
}

/* --- Steps --- */

static bool carry_out(struct fjmpi_plan *plan, const struct plan_step *step)
{
	int code;

	switch (step->kind) {
	case STEP_AWAIT:
		if (plan->arrived[step->slot] == plan->awaited[step->slot])
			return false;
		plan->awaited[step->slot]++;
		return true;
	case STEP_SENT: return plan->unsent == 0;
	case STEP_COPY: memmove(step->to, step->left, step->bytes); return true;
	case STEP_COMBINE: plan->combine(step->to, step->left, step->right, step->bytes); return true;
	case STEP_NOTIFY:
	case STEP_PUT:
		code = plan_queues_post(plan, step);
		if (code != UTOFU_SUCCESS && code != UTOFU_ERR_BUSY) {
			fjmpi_error("%s: a put of the plan failed: uTofu returned %d", plan_routine(plan->call.kind),
				    code);
			plans.failed = true;
		}
		return code == UTOFU_SUCCESS;
	}
	return false;
}

/* Returns whether anything advanced. */
static bool advance_plan(struct fjmpi_plan *plan)
{
	const struct plan_steps *steps = &plan->steps[plan->pair ? 0 : plan->rounds % 2];
	int before = plan->at;

	while (plan->at < steps->count && carry_out(plan, &steps->list[plan->at]))
		plan->at++;
	if (plan->at == steps->count && !plans.failed) {
		plan->state = FJMPI_PLAN_COMPLETE;
		plan_recount(plan);
	}
	return plan->at != before;
}

static bool advance_all(void)
{
	struct fjmpi_plan *plan, *next;
	bool moved = false;

	if (!plans.failed && plan_queues_poll())
		plans.failed = true;
	for (plan = plans.first; plan && !plans.failed; plan = next) {
		next = plan->next;
		if (plan->pair)
			moved = plan_pair_advance(plan) || moved;
		if (plan->state == FJMPI_PLAN_ACTIVE && !(plan->pair && plan_pair_in_mpi(plan)))
			moved = advance_plan(plan) || moved;
		if (plan->pair && plan_pair_ended(plan)) {
			take_from_table(plan);
			plan_free(plan);
		}
	}
	return moved;
}

/* It wakes from a rest by itself, so that starts of short collectives need not wake it. */
static void *serve(void *none)
{
	long rest = SHORT_REST;
	int idle = 0;

	(void)none;
	plan_lock();
	while (!plans.end) {
		if ((plans.busy == 0 && idle >= IDLE_RESTS) || plans.failed) {
			plans.asleep = true;
			pthread_cond_wait(&plans.started, &plans.lock);
			plans.asleep = false;
			rest = SHORT_REST;
			idle = 0;
			continue;
		}
		if (advance_all())
			rest = SHORT_REST;
		else if (rest < LONG_REST)
			rest *= 2;
		idle = plans.busy ? 0 : idle + 1;
		plan_unlock();
		nanosleep(&(struct timespec){.tv_nsec = rest}, NULL);
		plan_lock();
	}
	plan_unlock();
	return none;
}

/* --- The table --- */

int plan_start_thread(void)
{
	if (plans.has_thread)
		return 0;
	if (pthread_create(&plans.thread, NULL, serve, NULL))
		return fjmpi_error("there can be no thread for plans; the MPI carries out what it can");
	plans.has_thread = true;
	plans.process = getpid();
	return 0;
}

/* Runs before uTofu's own handler, which would drop what reorder injection holds back. */
__attribute__((destructor)) static void end_plans(void)
{
	if (!plans.has_thread || plans.process != getpid())
		return;
	plan_lock();
	plans.end = true;
	pthread_cond_signal(&plans.started);
	plan_unlock();
	pthread_join(plans.thread, NULL);
	plan_queues_close();
}

PLANS_API void fjmpi_plan_attach(struct fjmpi_plan *plan, uintptr_t request)
{
	plan_lock();
	plan->request = request;
	plan->next = plans.first;
	plans.first = plan;
	plan->next_hashed = plans.hashed[hash_of(request)];
	plans.hashed[hash_of(request)] = plan;
	atomic_fetch_add_explicit(&plans.count, 1, memory_order_relaxed);
	if (plan->pair)
		plan_pair_warn_others(plan);
	plan_unlock();
}

PLANS_API struct fjmpi_plan *fjmpi_plan_find(uintptr_t request)
{
	struct fjmpi_plan *plan;

	if (atomic_load_explicit(&plans.count, memory_order_relaxed) == 0)
		return NULL;
	plan_lock();
	for (plan = plans.hashed[hash_of(request)]; plan && plan->request != request; plan = plan->next_hashed)
		;
	plan_unlock();
	return plan;
}

PLANS_API int fjmpi_plan_destroy(struct fjmpi_plan *plan)
{
	int code = 0;

	plan_lock();
	if (plan->state == FJMPI_PLAN_ACTIVE) {
		code = fjmpi_error("MPI_Request_free: the request of %s is active; complete it with MPI_Wait first",
				   plan_routine(plan->call.kind));
	} else if (plan->pair) {
		take_request(plan);
		plan_pair_detach(plan);
		advance_all();
	} else {
		take_from_table(plan);
		plan_free(plan);
	}
	plan_unlock();
	return code;
}

PLANS_API void fjmpi_plan_conclude(const struct fjmpi_plan_call *call, struct fjmpi_plan *plan, int kept)
{
	const char *name = plan_routine(call->kind), *reason = call->refused;

	plan_lock();
	if (kept) {
		free_maker(plan->maker);
		plan->maker = NULL;
	} else if (plan) {
		take_from_table(plan);
		plan_free(plan);
	}
	plan_unlock();
	if (!plan_wants_stats())
		return;
	if (kept)
		fprintf(stderr, "softofu: rank %d: %s: a plan of %d steps\n", call->me, name, plan->steps[0].count);
	else
		fprintf(stderr, "softofu: rank %d: %s: the MPI carries it out: %s\n", call->me, name,
			reason ? reason : "not all ranks can have a plan");
}

/* --- Rounds --- */

PLANS_API enum fjmpi_plan_start fjmpi_plan_start(struct fjmpi_plan *plan)
{
	enum fjmpi_plan_start how = FJMPI_PLAN_STARTED;

	plan_lock();
	if (plan->state != FJMPI_PLAN_INACTIVE) {
		fjmpi_error("MPI_Start: the request of %s is active; complete it with MPI_Wait first",
			    plan_routine(plan->call.kind));
		how = FJMPI_PLAN_WRONG;
	} else {
		if (plan->pair && !plans.failed) {
			advance_all();
			how = plan_pair_start(plan);
		}
		if (how != FJMPI_PLAN_NOT_YET) {
			plan->rounds++;
			plan->at = 0;
			plan->state = FJMPI_PLAN_ACTIVE;
			plan_recount(plan);
			advance_all();
		}
	}
	plan_unlock();
	return how;
}

PLANS_API enum fjmpi_plan_state fjmpi_plan_poll(struct fjmpi_plan *plan)
{
	enum fjmpi_plan_state state;

	plan_lock();
	plan->polled = true;
	if (plan->state == FJMPI_PLAN_ACTIVE)
		advance_all();
	state = plan->state;
	if (state == FJMPI_PLAN_ACTIVE && plans.failed)
		state = FJMPI_PLAN_FAILED;
	else if (state == FJMPI_PLAN_ACTIVE && plan->pair && plan_pair_testable(plan))
		state = FJMPI_PLAN_IN_MPI;
	plan_unlock();
	return state;
}

PLANS_API void fjmpi_plan_end(struct fjmpi_plan *plan)
{
	plan_lock();
	if (plan->state == FJMPI_PLAN_COMPLETE)
		plan->state = FJMPI_PLAN_INACTIVE;
	plan_unlock();
}

PLANS_API void fjmpi_plan_refuse_cancel(struct fjmpi_plan *plan)
{
	fjmpi_error("MPI_Cancel: a persistent collective, here %s, cannot be cancelled", plan_routine(plan->call.kind));
}

PLANS_API int fjmpi_plan_was_polled(struct fjmpi_plan *plan)
{
	return plan->polled;
}

PLANS_API void fjmpi_plan_pause(int polls)
{
	if (polls > 20)
		sched_yield();
}
