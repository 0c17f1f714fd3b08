/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bench breakdown: what an 8-byte put takes at each layer of a path between PEs 0 and 1, from the
 * program's call to the bare machine. The same two loops drive every layer:
 *
 *   injection   batches of puts, each batch with a flush: time per put
 *   latency     one put there and one back: half of the round trip
 *
 * The layers take turns in short rounds, so that a change of the machine hits all of them, and the
 * median of the rounds counts. Linked with the library's archive, to call what is inside.
 */
#include "comms/core/comms.h"
#include "comms/core/copy.h"
#include "comms/core/network.h"
#include "comms/net/ucx/ucx_messages.h"
#include "comms/ops/ops.h"
#include "comms/wait/wait.h"

/* Behind the library's headers: both define words such as KIB. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

const char driver_name[] = "breakdown", driver_help[] = "";
const struct measure measures[] = {{NULL, NULL, 0, NULL}};

enum { BATCH = 64, BATCHES = 10, ROUND_TRIPS = 50, MOST_LAYERS = 4, MOST_ROUNDS = 2000 };

struct layer {
	const char *name, *what;
	void (*post)(uint64_t value);
	void (*flush)(void);
	/* Returns when the word that puts go to has reached the value. */
	void (*await)(uint64_t value);
	/* One step of PE 1 while PE 0 posts and flushes; NULL: none is needed. */
	bool (*progress)(void);
	double injection[MOST_ROUNDS], latency[MOST_ROUNDS];
};

static struct layer layers[MOST_LAYERS];
static int n_layers, rounds;

/* Symmetric. */
static struct words {
	_Alignas(256) uint64_t value; /* where puts go */
	_Alignas(256) uint64_t done;  /* loops that PE 0 has ended */
} words;

static uint64_t value; /* of the last put */

static uint64_t value_now(void)
{
	return __atomic_load_n(&words.value, __ATOMIC_ACQUIRE);
}

static void add_layer(struct layer layer)
{
	layers[n_layers++] = layer;
}

/* --- The program's call, and the comms layer below it --- */

static void shmem_post(uint64_t v)
{
	shmem_putmem(&words.value, &v, sizeof v, !group.me);
}

static void shmem_await(uint64_t v)
{
	shmem_ulong_wait_until((unsigned long *)&words.value, SHMEM_CMP_GE, v);
}

static void comms_post(uint64_t v)
{
	struct comms_peer *peer;
	void *here = comms_reach_quickly(&words.value, sizeof v, !group.me, &peer);

	if (here)
		comms_put_here(peer, &words.value, here, &v, sizeof v, __func__);
	else
		comms_put(&words.value, &v, sizeof v, !group.me, "shmem_putmem");
}

static void comms_await(uint64_t v)
{
	COMMS_WAIT(&words.value, value_now() >= v);
}

/* --- UCP: messages on the library's own connection, as the library sends them --- */

/* Message numbers that the library does not use. */
enum { POSTED = 29, ANSWERED, GREETING };

static struct {
	ucp_ep_h endpoint;
	_Atomic(ucp_ep_h) back;		    /* to the sender of the greeting */
	_Atomic uint64_t sent, came, known; /* known: by the other PE, of those that came */
	_Atomic uint64_t answered;
} link;

static void finish(ucs_status_ptr_t request)
{
	while (UCS_PTR_IS_PTR(request) && ucp_request_check_status(request) == UCS_INPROGRESS)
		ucx_progress();
	if (UCS_PTR_IS_ERR(request))
		group_fail("UCP: %s", ucs_status_string(UCS_PTR_STATUS(request)));
	if (UCS_PTR_IS_PTR(request))
		ucp_request_free(request);
}

static void send_message(ucp_ep_h to, unsigned number, const void *header, size_t bytes, unsigned more_flags)
{
	const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
					   .flags = UCP_AM_SEND_FLAG_EAGER | more_flags};

	finish(ucp_am_send_nbx(to, number, header, bytes, NULL, 0, &param));
}

static ucs_status_t post_came(void *unused, const void *header, size_t header_bytes, void *data, size_t bytes,
			      const ucp_am_recv_param_t *param)
{
	uint64_t v;

	(void)unused, (void)header_bytes, (void)data, (void)bytes, (void)param;
	memcpy(&v, header, sizeof v);
	__atomic_store_n(&words.value, v, __ATOMIC_RELEASE);
	link.came++;
	return UCS_OK;
}

static ucs_status_t answer_came(void *unused, const void *header, size_t header_bytes, void *data, size_t bytes,
				const ucp_am_recv_param_t *param)
{
	uint64_t count;

	(void)unused, (void)header_bytes, (void)data, (void)bytes, (void)param;
	memcpy(&count, header, sizeof count);
	link.answered = count;
	return UCS_OK;
}

static ucs_status_t greeting_came(void *unused, const void *header, size_t header_bytes, void *data, size_t bytes,
				  const ucp_am_recv_param_t *param)
{
	(void)unused, (void)header, (void)header_bytes, (void)data, (void)bytes;
	link.back = param->reply_ep;
	return UCS_OK;
}

static void open_ucp(struct comms_peer *other)
{
	link.endpoint = ucx_peer(other)->endpoint;
	ucx_take_by(ucx.main.worker, POSTED, post_came);
	ucx_take_by(ucx.main.worker, ANSWERED, answer_came);
	ucx_take_by(ucx.main.worker, GREETING, greeting_came);
	shmem_barrier_all();
	send_message(link.endpoint, GREETING, NULL, 0, UCP_AM_SEND_FLAG_REPLY);
	while (!link.back)
		ucx_progress();
}

/* One answer for all that came at once. */
static bool ucp_work(void)
{
	bool worked = ucx_progress();
	uint64_t came = link.came;

	if (link.known < came) {
		link.known = came;
		send_message(link.back, ANSWERED, &came, sizeof came, 0);
	}
	return worked;
}

static void ucp_post(uint64_t v)
{
	link.sent++;
	send_message(link.endpoint, POSTED, &v, sizeof v, 0);
}

/* Answers what came at the other's last put, too. */
static void ucp_flush(void)
{
	do {
		ucp_work();
	} while (link.answered < link.sent);
}

static void ucp_await(uint64_t v)
{
	while (value_now() < v)
		ucx_progress();
}

/* --- The machine: a word of shared memory for each PE --- */

static volatile uint64_t *word_of(int pe)
{
	return group.raw + 64 * (1 + pe);
}

static void line_post(uint64_t v)
{
	*word_of(!group.me) = v;
}

static void line_flush(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void line_await(uint64_t v)
{
	while (*word_of(group.me) < v)
		;
}

/* --- The loops --- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median_of(double *values, int n)
{
	qsort(values, (size_t)n, sizeof *values, by_value);
	return values[n / 2];
}

static bool library_work(void)
{
	return comms_spin();
}

/* At PE 1, until PE 0 has ended its loop. */
static void serve(const struct layer *layer, uint64_t loop)
{
	while (__atomic_load_n(&words.done, __ATOMIC_ACQUIRE) < loop) {
		if (layer->progress)
			layer->progress();
		library_work();
	}
}

static double injection(const struct layer *layer)
{
	static uint64_t loop;
	double times[BATCHES] = {0};

	loop++;
	shmem_barrier_all();
	for (int b = 0; group.me == 0 && b < BATCHES; b++) {
		double start = now_ns();

		for (int i = 0; i < BATCH; i++)
			layer->post(value + (uint64_t)(b * BATCH + i + 1));
		layer->flush();
		times[b] = (now_ns() - start) / BATCH;
	}
	if (group.me == 0) {
		shmem_ulong_p((unsigned long *)&words.done, loop, 1);
		shmem_quiet();
	} else {
		serve(layer, loop);
	}
	value += BATCHES * BATCH;
	shmem_barrier_all();
	return median_of(times, BATCHES);
}

static double latency(const struct layer *layer)
{
	double start;

	shmem_barrier_all();
	start = now_ns();
	for (int i = 0; i < ROUND_TRIPS; i++) {
		value++;
		if (group.me == 0)
			layer->post(value);
		layer->await(value);
		if (group.me == 1)
			layer->post(value);
	}
	start = (now_ns() - start) / (2 * ROUND_TRIPS);
	layer->flush();
	shmem_barrier_all();
	return start;
}

/* PE 0 decides when it is enough. */
static void measure(double seconds)
{
	double end = now_ns() + 1e9 * seconds;

	for (int i = 0; i < n_layers; i++) /* warm up */
		injection(&layers[i]), latency(&layers[i]);
	do {
		for (int i = 0; i < n_layers; i++) {
			layers[i].injection[rounds] = injection(&layers[i]);
			layers[i].latency[rounds] = latency(&layers[i]);
		}
		rounds++;
	} while (group_broadcast(now_ns() < end && rounds < MOST_ROUNDS));
}

/* --- What is measured, and the table --- */

static const char *find_layers(void)
{
	struct comms_peer *other = comms_connect(!group.me), *peer;
	bool local = comms_reach(&words, sizeof words, !group.me, &peer) != NULL;
	bool by_ucx = !local && comms.network->row == ROW_UCX;

	add_layer((struct layer){.name = "shmem",
				 .what = "the program's call",
				 .post = shmem_post,
				 .flush = shmem_quiet,
				 .await = shmem_await});
	add_layer((struct layer){.name = "comms",
				 .what = "without checks and call",
				 .post = comms_post,
				 .flush = comms_quiet,
				 .await = comms_await});
	if (by_ucx) {
		open_ucp(other);
		add_layer((struct layer){.name = "ucp",
					 .what = "UCX alone",
					 .post = ucp_post,
					 .flush = ucp_flush,
					 .await = ucp_await,
					 .progress = ucp_work});
	}
	if (group.has_raw)
		add_layer((struct layer){.name = "floor",
					 .what = "a cache line, no library",
					 .post = line_post,
					 .flush = line_flush,
					 .await = line_await});
	return local ? "local" : comms.network->name;
}

static void print_table(const char *path)
{
	double injected[MOST_LAYERS + 1] = {0}, there[MOST_LAYERS + 1] = {0};

	for (int i = 0; i < n_layers; i++) {
		injected[i] = median_of(layers[i].injection, rounds);
		there[i] = median_of(layers[i].latency, rounds);
	}
	printf("an 8-byte put, path %s: nanoseconds, medians of %d rounds\n", path, rounds);
	printf("%-7s %-25s %10s %10s %10s %10s\n", "layer", "", "injection", "adds", "latency", "adds");
	for (int i = 0; i < n_layers; i++)
		printf("%-7s %-25s %10.1f %10.1f %10.1f %10.1f\n", layers[i].name, layers[i].what, injected[i],
		       injected[i] - injected[i + 1], there[i], there[i] - there[i + 1]);
}

/* breakdown [--seconds S]: under a launcher, with two PEs. */
int main(int argc, char *argv[])
{
	double seconds = 3;
	const char *path;

	if (argc != 1 &&
	    !(argc == 3 && !strcmp(argv[1], "--seconds") && sscanf(argv[2], "%lf", &seconds) == 1 && seconds >= 0)) {
		fprintf(stderr, "usage: oshrun -n 2 bench/bench breakdown [--seconds S]\n");
		return 2;
	}
	group_start();
	if (group.size != 2) {
		if (group.me == 0)
			group_fail("breakdown is between two PEs, this job has %d; use oshrun -n 2", group.size);
		group_barrier();
	}
	path = find_layers();
	measure(seconds);
	if (group.me == 0)
		print_table(path);
	group_end();
	return 0;
}
