/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One network that several run at once: threads, so that sanitizers see them, and processes that
 * map it at different addresses. And a process that dies with the lock.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "softofu/net/state.h"
#include "tests/lib/unit.h"
#include "softofu/tests/worker.h"

static const int owner[] = {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3};

static void *work_in_thread(void *worker)
{
	worker_run(worker);
	return NULL;
}

static void *map(int file, size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);

	if (memory == MAP_FAILED)
		exit(1);
	return memory;
}

/* A process of its own, which maps the network again, elsewhere. */
static void work_in_process(struct worker *worker, int file, size_t bytes, void *not_here)
{
	worker->net = map(file, bytes);
	munmap(not_here, bytes);
	worker_run(worker);
	_exit(net_trouble(worker->net) != NULL);
}

static struct net *make(const char *list, int *file, size_t *bytes)
{
	struct net_settings settings;
	char problem[NET_PROBLEM] = "";
	struct net *net;

	net_settings_default(&settings);
	settings.tnis = 2;
	settings.cqs = WORKERS;
	*file = memfd_create("network", MFD_CLOEXEC);
	if (!net_settings_read(&settings, list, problem) || !(*bytes = net_bytes(&settings, problem)) || *file < 0 ||
	    ftruncate(*file, (off_t)*bytes) != 0)
		exit(1);
	net = map(*file, *bytes);
	EXPECT(net_create(net, &settings, problem), "%s: %s", list, problem);
	return net;
}

static void check_all(const char *list, bool processes)
{
	static struct worker workers[WORKERS];
	struct worker_board *board =
		mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_t threads[WORKERS];
	pid_t children[WORKERS];
	size_t bytes;
	int file;
	struct net *net = make(list, &file, &bytes);

	board->senders = WORKERS;
	for (int w = 0; w < WORKERS; w++) {
		workers[w] = (struct worker){.net = net, .board = board, .me = w, .owner = owner};
		if (!processes)
			pthread_create(&threads[w], NULL, work_in_thread, &workers[w]);
		else if ((children[w] = fork()) == 0)
			work_in_process(&workers[w], file, bytes, net);
	}
	for (int w = 0; w < WORKERS; w++) {
		int status = 0;

		if (!processes)
			pthread_join(threads[w], NULL);
		else
			EXPECT(waitpid(children[w], &status, 0) == children[w] && status == 0, "%s: worker %d: %x",
			       list, w, (unsigned)status);
	}
	EXPECT(board->faults == 0 && board->arrived == board->sent && board->sent >= WORKERS * WORKER_MESSAGES,
	       "%s: %llu of %llu packets, %d wrong", list, (unsigned long long)board->arrived,
	       (unsigned long long)board->sent, board->faults);
	net_destroy(net);
	munmap(net, bytes);
	munmap(board, sizeof *board);
	close(file);
}

static void check_dead_owner(void)
{
	size_t bytes;
	int file, status;
	struct net *net = make("shape=2x2", &file, &bytes);
	pid_t child = fork();

	if (child == 0) {
		net_lock(net);
		kill(getpid(), SIGKILL);
	}
	waitpid(child, &status, 0);
	for (int i = 0; i < 1000 && net_step(net, 1) == 0; i++)
		;
	EXPECT(net_step(net, 1) == -1, "nobody goes on with half a state");
	EXPECT(net_trouble(net) && strstr(net_trouble(net), "a process died"), "%s", net_trouble(net));
	net_destroy(net);
	munmap(net, bytes);
	close(file);
}

int main(void)
{
	static const char *const networks[] = {
		"shape=4x3,errors=1e-3,buffers=2,receive-queue=2",
		"shape=2x2x2,mode=through",
		"shape=4,mode=through,receive-queue=1",
	};

	for (size_t i = 0; i < sizeof networks / sizeof networks[0]; i++) {
		check_all(networks[i], false);
		check_all(networks[i], true);
	}
	check_dead_owner();
	return unit_failures != 0;
}
