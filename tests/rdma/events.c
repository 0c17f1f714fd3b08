/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loaded into all programs of the guest of tests/rdma/run. rxe of Linux 7.3 says more than once
 * that a queue pair has reached its last work request; UCX 1.13 ends the program by an assertion
 * when it hears that again. A program gets the event once for each queue pair.
 */
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>

enum { REMEMBERED = 4096 };

static struct {
	const struct ibv_qp *pair;
	unsigned number; /* differs where memory is used again */
} said[REMEMBERED];
static unsigned n_said;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_repeated(const struct ibv_qp *pair)
{
	bool found = false;

	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < REMEMBERED && i < n_said && !found; i++)
		found = said[i].pair == pair && said[i].number == pair->qp_num;
	if (!found) {
		said[n_said % REMEMBERED].pair = pair;
		said[n_said++ % REMEMBERED].number = pair->qp_num;
	}
	pthread_mutex_unlock(&lock);
	return found;
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	/* UCX loads it for itself alone, so that RTLD_NEXT does not find it. */
	void *verbs = dlopen("libibverbs.so.1", RTLD_LAZY);
	int (*get)(struct ibv_context *, struct ibv_async_event *) = dlsym(verbs, "ibv_get_async_event");
	void (*acknowledge)(struct ibv_async_event *) = dlsym(verbs, "ibv_ack_async_event");

	for (;;) {
		int code = get(context, event);

		if (code || event->event_type != IBV_EVENT_QP_LAST_WQE_REACHED || !is_repeated(event->element.qp))
			return code;
		acknowledge(event);
	}
}
