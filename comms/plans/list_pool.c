/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Command lists for uses other than plans. Their memory is never freed, because a thread that saw a
 * list active may access it late.
 */
#include <pthread.h>
#include <string.h>

#include "commands.h"
#include "comms/wait/wait.h"

static struct {
	pthread_mutex_t lock;
	struct comms_list list[COMMS_SPARE_LISTS];
	bool taken[COMMS_SPARE_LISTS];
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct comms_list *comms_list_take(const char *routine)
{
	struct comms_list *list = NULL;

	pthread_mutex_lock(&pool.lock);
	for (int i = 0; i < COMMS_SPARE_LISTS && !list; i++)
		if (!pool.taken[i]) {
			pool.taken[i] = true;
			list = &pool.list[i];
			list->place = COMMS_LISTS + i;
		}
	pthread_mutex_unlock(&pool.lock);
	if (!list)
		return NULL;
	list->by_executor = list->repeats = false;
	list->by_network = true;
	list->routine = routine;
	list->run = 0;
	atomic_store_explicit(&list->finished, 0, memory_order_relaxed);
	return list;
}

void comms_list_return(struct comms_list *list)
{
	/* A thread that came for the list in vain may still be there. */
	COMMS_WAIT(COMMS_NOWHERE, !atomic_load_explicit(&list->busy, memory_order_acquire));
	comms_list_free(list);
	pthread_mutex_lock(&pool.lock);
	pool.taken[list - pool.list] = false;
	pthread_mutex_unlock(&pool.lock);
}

int comms_lists_left(void)
{
	int left = 0;

	pthread_mutex_lock(&pool.lock);
	for (int i = 0; i < COMMS_SPARE_LISTS; i++)
		left += !pool.taken[i];
	pthread_mutex_unlock(&pool.lock);
	return left;
}
