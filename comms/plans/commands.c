/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists of commands (commands.h has the words): how a list is made, moved and started.
 *
 * To move a list is to run those commands of its queues whose words have the values that they wait
 * for (run_next_command). No thread belongs to a list: comms_list_start shows it as active in a bit
 * map, and from then on every thread that waits in the library, or serves its network, moves all
 * active lists (move_lists). When all queues have run and the network has sent everything, the list
 * is over (end_run). Lists of the executor have a bit map of their own.
 */
#include "commands.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "comms/core/network.h"
#include "offload.h"
#include "rte/rte.h"
#include "comms/wait/lists.h"
#include "comms/wait/wait.h"

/*
 * comms_list_start runs commands that cost little at once, puts of up to this many bytes included,
 * and leaves the others to the threads that move lists.
 */
#define LIGHT 8192
#define PLACES (COMMS_LISTS + COMMS_SPARE_LISTS)
#define AT_A_TIME (256 << 10) /* bytes moved before the next queue is served */

atomic_int comms_executor_has;

/*
 * By the list's place in this table. A bit of `active`, or of `executors` for lists of the
 * executor, shows that the list is active. Threads read the bit before the pointer to the list.
 */
static struct {
	_Atomic uint64_t active[PLACES / 64], executors[PLACES / 64];
	struct comms_list *_Atomic list[PLACES];
} command_lists;

/*
 * Not 0: this thread is moving a list. A command may have to wait, and a thread that waits moves
 * lists; it then moves none, so that it does not recurse.
 */
static _Thread_local int lists_held __attribute__((tls_model("initial-exec")));

/* --- Making --- */

struct comms_queue *comms_list_queue(struct comms_list *list)
{
	if (list->n_queues == list->most_queues) {
		list->most_queues = 2 * list->most_queues + 4;
		list->queues = realloc(list->queues, (size_t)list->most_queues * sizeof *list->queues);
		if (!list->queues)
			rte_die(list->routine, "no memory for a list of commands");
	}
	memset(&list->queues[list->n_queues], 0, sizeof *list->queues);
	return &list->queues[list->n_queues++];
}

void comms_queue_add(struct comms_queue *queue, const struct comms_command *command)
{
	if (queue->write == queue->room) {
		queue->room = 2 * queue->room + 4;
		queue->commands = realloc(queue->commands, queue->room * sizeof *queue->commands);
		if (!queue->commands)
			rte_die(NULL, "no memory for a list of %zu commands", queue->room);
	}
	if (queue->write == 0)
		queue->notifies_first = command->kind == COMMS_NOTIFY && !command->until;
	queue->commands[queue->write++] = *command;
}

static _Atomic uint64_t *list_bits(const struct comms_list *list)
{
	return &(list->by_executor ? command_lists.executors : command_lists.active)[list->place / 64];
}

static atomic_int *list_count(const struct comms_list *list)
{
	return list->by_executor ? &comms_executor_has : &wait_lists.to_move;
}

static void deactivate(struct comms_list *list)
{
	atomic_store_explicit(&list->active, false, memory_order_relaxed);
	atomic_fetch_and_explicit(list_bits(list), ~((uint64_t)1 << list->place % 64), memory_order_relaxed);
	atomic_fetch_sub_explicit(list_count(list), 1, memory_order_relaxed);
}

/* --- Freeing --- */

static void free_queues(struct comms_queue *queues, int n_queues, const struct comms_procedure *procedure)
{
	if (procedure->state)
		procedure->dispose(procedure->state);
	for (int q = 0; q < n_queues; q++)
		free(queues[q].commands);
	free(queues);
}

/*
 * What lists had that were given up in a broken job: the network may still complete their requests,
 * so it stays until the network has stopped.
 */
static struct given_up {
	struct comms_queue *queues;
	int n_queues;
	struct comms_procedure procedure;
	struct given_up *next;
} * _Atomic given_up;

/* Without memory nothing is ever freed. */
static void give_up(struct comms_list *list)
{
	struct given_up *entry = malloc(sizeof *entry);

	if (!entry)
		return;
	*entry = (struct given_up){list->queues, list->n_queues, list->procedure, NULL};
	entry->next = atomic_load_explicit(&given_up, memory_order_acquire);
	while (!atomic_compare_exchange_weak_explicit(&given_up, &entry->next, entry, memory_order_acq_rel,
						      memory_order_acquire))
		;
}

void comms_lists_stop(void)
{
	struct given_up *entry = atomic_exchange_explicit(&given_up, NULL, memory_order_acquire);

	while (entry) {
		struct given_up *next = entry->next;

		free_queues(entry->queues, entry->n_queues, &entry->procedure);
		free(entry);
		entry = next;
	}
}

/* In a broken job a list may be active, and another thread in it, whose commands come back soon. */
static void take_from_threads(struct comms_list *list)
{
	while (atomic_exchange_explicit(&list->busy, true, memory_order_acquire))
		sched_yield();
	if (atomic_load_explicit(&list->active, memory_order_relaxed))
		deactivate(list);
}

void comms_list_free(struct comms_list *list)
{
	bool broken = rte_is_broken();

	if (broken)
		take_from_threads(list);
	if (list->session)
		comms_session_close(list->session);
	list->session = NULL;
	if (broken)
		give_up(list);
	else
		free_queues(list->queues, list->n_queues, &list->procedure);
	list->procedure.state = NULL;
	list->queues = NULL;
	list->n_queues = list->most_queues = 0;
	if (broken)
		atomic_store_explicit(&list->busy, false, memory_order_release);
}

/* --- Moving --- */

static int64_t iteration_value(const struct comms_list *list, const struct comms_iteration *iteration)
{
	return (int64_t)(list->run - 1) * iteration->each + iteration->nth;
}

static bool command_may_run(const struct comms_list *list, const struct comms_command *command)
{
	return !command->until || (int64_t)atomic_load_explicit(command->until, memory_order_acquire) >=
					  iteration_value(list, &command->when);
}

/*
 * By a store if the PE is on this node, otherwise by the network if the notification before the
 * last is complete.
 */
static bool notify_by_command(const struct comms_list *list, struct comms_queue *queue,
			      const struct comms_command *command)
{
	uint64_t value = (uint64_t)iteration_value(list, &command->notified);
	struct comms_request *request = &queue->request[queue->begun % COMMS_QUEUE_REQUESTS];

	if (command->there) {
		atomic_store_explicit(command->there, value, memory_order_release);
		comms_wake(comms_peer(command->pe));
		return true;
	}
	if (comms_request_is_under_way(request))
		return false;
	comms_put_notify_start(request, &(struct comms_notification){
						.piece = {{command->dest, command->source, command->size}},
						.flag = {command->word, value},
						.by_network = true,
						.second_cable = command->second_cable,
						.pe = command->pe,
						.routine = list->routine,
					});
	queue->begun++;
	return true;
}

/* Runs the next command if its condition holds. */
static bool run_next_command(const struct comms_list *list, struct comms_queue *queue, bool *moved)
{
	const struct comms_command *command = &queue->commands[queue->read];

	if (!command_may_run(list, command))
		return false;
	switch (command->kind) {
	case COMMS_AWAIT: break;
	case COMMS_NOTIFY:
	case COMMS_PUT:
		if (!notify_by_command(list, queue, command))
			return false;
		break;
	case COMMS_COPY: memmove(command->dest, command->source, command->size); break;
	case COMMS_COMBINE: command->combine(command->dest, command->source, command->with, command->size); break;
	case COMMS_BY_NIC: comms_session_start(list->session, list->run); break;
	case COMMS_NIC_IS_DONE:
		if (!comms_session_is_over(list->session))
			return false;
		break;
	case COMMS_ADVANCE:
		if (!list->procedure.advance(list->procedure.state, list->run, moved))
			return false;
		break;
	}
	queue->read++;
	*moved = true;
	return true;
}

static bool move_queue(const struct comms_list *list, struct comms_queue *queue)
{
	size_t bytes = 0;
	bool moved = false;

	while (queue->read < queue->write && bytes < AT_A_TIME && run_next_command(list, queue, &moved))
		bytes += queue->commands[queue->read - 1].size;
	return moved;
}

static bool is_at_rest(struct comms_queue *queue)
{
	if (queue->read < queue->write)
		return false;
	for (int i = 0; i < COMMS_QUEUE_REQUESTS; i++)
		if (comms_request_is_under_way(&queue->request[i]))
			return false;
	return true;
}

/*
 * Loads what the next start needs into the caches while the program computes: a long run has
 * evicted it.
 */
static void fetch_beginning(const struct comms_queue *queue)
{
	const struct comms_command *first = queue->commands;

	__builtin_prefetch((const char *)(first + 1) - 1);
	if (first->there) {
		__builtin_prefetch(first->there, 1);
		__builtin_prefetch(comms_peer(first->pe)->wakeup);
	}
}

/* The last access to the list: a thread that waits for it may continue and start it again. */
static void end_run(struct comms_list *list)
{
	for (int q = 0; q < list->n_queues; q++) {
		list->queues[q].read = 0;
		list->queues[q].begun = 0;
		if (list->queues[q].notifies_first)
			fetch_beginning(&list->queues[q]);
	}
	if (list->repeats) {
		list->run++;
		return;
	}
	deactivate(list);
	atomic_store_explicit(&list->finished, list->run, memory_order_release);
	comms_wake(comms_peer(comms.pe));
}

static bool move_list_queues(struct comms_list *list)
{
	bool moved = false, over;

	if (!atomic_load_explicit(&list->active, memory_order_acquire))
		return false;
	do {
		over = true;
		for (int q = 0; q < list->n_queues; q++)
			moved |= move_queue(list, &list->queues[q]);
		for (int q = 0; q < list->n_queues && over; q++)
			over = is_at_rest(&list->queues[q]);
		if (over)
			end_run(list);
	} while (over && list->repeats);
	return moved || over;
}

/*
 * A thread that leaves clears busy and then reads again; a thread that arrives sets again and then
 * takes busy. The four accesses have one order, so at least one thread sees the other.
 */
static bool move_list(struct comms_list *list)
{
	bool moved = false;

	if (atomic_exchange_explicit(&list->busy, true, memory_order_acquire)) {
		atomic_store_explicit(&list->again, true, memory_order_seq_cst);
		if (atomic_exchange_explicit(&list->busy, true, memory_order_seq_cst))
			return false;
	}
	lists_held++;
	do {
		atomic_exchange_explicit(&list->again, false, memory_order_acquire);
		moved |= move_list_queues(list);
		atomic_store_explicit(&list->busy, false, memory_order_seq_cst);
	} while (atomic_load_explicit(&list->again, memory_order_seq_cst) &&
		 !atomic_exchange_explicit(&list->busy, true, memory_order_acquire));
	lists_held--;
	if (moved)
		atomic_fetch_add_explicit(&comms.system->passive.moves, 1, memory_order_relaxed);
	return moved;
}

static bool move_all_in(const _Atomic uint64_t *bits)
{
	bool moved = false;

	if (lists_held > 0)
		return false;
	for (int i = 0; i < PLACES / 64; i++) {
		uint64_t left = atomic_load_explicit(&bits[i], memory_order_acquire);

		for (; left; left &= left - 1)
			moved |= move_list(atomic_load_explicit(&command_lists.list[64 * i + __builtin_ctzl(left)],
								memory_order_relaxed));
	}
	return moved;
}

static bool move_lists(void)
{
	return move_all_in(command_lists.active);
}

bool comms_executor_move(void)
{
	return move_all_in(command_lists.executors);
}

static bool serve_lists(void)
{
	bool moved = comms_lists_active() && move_lists();

	if (atomic_load_explicit(&comms_executor_has, memory_order_relaxed) > 0)
		moved |= comms_executor_move();
	return moved;
}

void comms_lists_start(void)
{
	wait_lists.move = move_lists;
	wait_lists.serve = serve_lists;
}

/* --- Runs --- */

static bool is_light(const struct comms_command *command)
{
	return command->kind == COMMS_AWAIT || command->kind == COMMS_NOTIFY || command->kind == COMMS_BY_NIC ||
	       (command->kind == COMMS_PUT && !command->there && command->size <= LIGHT);
}

/* Call before other threads see the list. Returns true if there is already more to do. */
static bool begin_queues(struct comms_list *list)
{
	bool more = false, moved = false;

	for (int q = 0; q < list->n_queues; q++) {
		struct comms_queue *queue = &list->queues[q];

		if (!queue->notifies_first && !list->by_network)
			continue;
		while (queue->read < queue->write && is_light(&queue->commands[queue->read]) &&
		       run_next_command(list, queue, &moved))
			;
		more |= queue->read < queue->write && command_may_run(list, &queue->commands[queue->read]);
	}
	return more;
}

void comms_list_start(struct comms_list *list)
{
	bool more;

	list->run++;
	lists_held++;
	more = begin_queues(list);
	lists_held--;
	atomic_store_explicit(&command_lists.list[list->place], list, memory_order_relaxed);
	atomic_store_explicit(&list->active, true, memory_order_release);
	atomic_fetch_add_explicit(list_count(list), 1, memory_order_relaxed);
	atomic_fetch_or_explicit(list_bits(list), (uint64_t)1 << list->place % 64, memory_order_release);
	if (list->by_executor)
		comms_executor_wake();
	else if ((more || list->attended) && list->by_network && comms.network->blocking)
		comms.network->blocking->wake();
}

bool comms_list_is_over(struct comms_list *list)
{
	if (atomic_load_explicit(&list->finished, memory_order_acquire) == list->run)
		return true;
	if (lists_held > 0)
		return false;
	move_list(list);
	return atomic_load_explicit(&list->finished, memory_order_acquire) == list->run;
}

void comms_list_wait(struct comms_list *list)
{
	COMMS_WAIT(COMMS_ANYWHERE, comms_list_is_over(list));
}

/* After it has returned true, a wait may ask again. */
static bool is_stopped(struct comms_list *list)
{
	bool under_way = false;

	if (!atomic_load_explicit(&list->active, memory_order_relaxed))
		return true;
	if (atomic_exchange_explicit(&list->busy, true, memory_order_acquire))
		return false;
	for (int q = 0; q < list->n_queues; q++)
		for (int i = 0; i < COMMS_QUEUE_REQUESTS; i++)
			under_way |= comms_request_is_under_way(&list->queues[q].request[i]);
	if (!under_way)
		deactivate(list);
	atomic_store_explicit(&list->busy, false, memory_order_seq_cst);
	return !under_way;
}

void comms_list_stop(struct comms_list *list)
{
	COMMS_WAIT(COMMS_ANYWHERE, is_stopped(list));
}
