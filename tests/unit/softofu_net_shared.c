/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One network that several run at once: threads, so that sanitizers see them, and processes that map it at different
 * addresses. And a process that dies with the lock.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "softofu/net/state.h"
#include "tests/lib/unit.h"

enum { WORKERS = 4, MESSAGES = 1500, LARGEST = 5000, PATTERN = 1 << 14 };

/* What the workers share besides the network. */
struct board {
	_Atomic uint64_t sent, arrived;
	_Atomic int senders; /* that have not finished */
	_Atomic int faults;
};

struct worker {
	struct net *net;
	struct board *board;
	int me;
	uint64_t lots;
	unsigned char pattern[PATTERN];
	struct net_message message;
	uint64_t done;
	int left;
};

static uint32_t draw(struct worker *worker, uint32_t below)
{
	worker->lots ^= worker->lots << 13;
	worker->lots ^= worker->lots >> 7;
	worker->lots ^= worker->lots << 17;
	return (uint32_t)((worker->lots >> 11) % below);
}

/* Worker w has the nodes n with n % WORKERS == w. */
static void compose(struct worker *worker)
{
	int nodes = net_settings(worker->net)->shape.places;
	uint32_t label[2] = {(uint32_t)(MESSAGES - worker->left), draw(worker, PATTERN - LARGEST)};

	worker->message = (struct net_message){
		.from = {worker->me, 0, 0},
		.to = {(int)draw(worker, (uint32_t)nodes), 1, worker->me},
		.class = draw(worker, 2) ? NET_REPLY : NET_REQUEST,
		.bytes = draw(worker, draw(worker, 8) ? 40 : LARGEST),
	};
	memcpy(worker->message.note, label, sizeof label);
	worker->done = 0;
}

static bool taker(void *context, const struct net_packet *packet, const void *data)
{
	struct worker *worker = context;
	uint32_t label[2];

	memcpy(label, packet->note, sizeof label);
	if ((int)packet->to % WORKERS != worker->me || packet->from != packet->to_cq || label[0] > MESSAGES ||
	    label[1] + packet->offset + packet->length > PATTERN ||
	    memcmp(data, worker->pattern + label[1] + packet->offset, packet->length) != 0)
		worker->board->faults++;
	worker->board->arrived++;
	return true;
}

static bool move(struct worker *worker)
{
	bool moved = net_step(worker->net, 64) > 0;

	if (worker->left > 0) {
		uint64_t before = worker->done;
		int sent = net_inject(worker->net, &worker->message,
				      worker->pattern + ((uint32_t *)(void *)worker->message.note)[1] + before,
				      &worker->done);

		if (sent == 1) {
			worker->board->sent += worker->message.bytes ? (worker->message.bytes + NET_PAYLOAD - 1) / NET_PAYLOAD : 1;
			if (--worker->left == 0)
				worker->board->senders--;
			else
				compose(worker);
		}
		moved = moved || sent == 1 || worker->done > before;
	}
	for (int node = worker->me; node < net_settings(worker->net)->shape.places; node += WORKERS)
		for (int cq = 0; cq < WORKERS; cq++)
			for (int class = 0; class < NET_CLASSES; class++) {
				struct net_address at = {node, 1, cq};

				if (net_waiting(worker->net, &at, class))
					moved = net_take(worker->net, &at, class, 16, taker, worker) > 0 || moved;
			}
	return moved;
}

static void work(struct worker *worker)
{
	struct board *board = worker->board;

	for (int i = 0; i < PATTERN; i++)
		worker->pattern[i] = (unsigned char)(i * 7 + i / 251);
	worker->lots = 88172645463325252 + (uint64_t)worker->me * 1000003;
	worker->left = MESSAGES;
	compose(worker);
	while (!net_trouble(worker->net) && (board->senders > 0 || board->arrived < board->sent))
		if (!move(worker))
			sched_yield();
}

static void *work_in_thread(void *worker)
{
	work(worker);
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
	work(worker);
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
	struct board *board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_t threads[WORKERS];
	pid_t children[WORKERS];
	size_t bytes;
	int file;
	struct net *net = make(list, &file, &bytes);

	board->senders = WORKERS;
	for (int w = 0; w < WORKERS; w++) {
		workers[w] = (struct worker){.net = net, .board = board, .me = w};
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
			EXPECT(waitpid(children[w], &status, 0) == children[w] && status == 0, "%s: worker %d: %x", list, w,
			       (unsigned)status);
	}
	EXPECT(board->faults == 0 && board->arrived == board->sent && board->sent >= WORKERS * MESSAGES,
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
		"shape=4x3,errors=1e-3,buffers=2,door=2",
		"shape=2x2x2,mode=through",
		"shape=4,mode=through,door=1",
	};

	for (size_t i = 0; i < sizeof networks / sizeof networks[0]; i++) {
		check_all(networks[i], false);
		check_all(networks[i], true);
	}
	check_dead_owner();
	return unit_failures != 0;
}
