/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the layers of the path between PEs 0 and 1, and prints what it measured for layers_report.c to make sense of. The layers
 * take turns in short rounds, so that what changes on the machine meanwhile changes all of them; layers_values.c says which rounds
 * count.
 *
 *   injection   batches of BATCH posts and a flush: the two timed apart, and whole batches with no timer inside
 *   latency     there and back, by three methods, one after the other: whole; with stamps around the posts; and with stamps around the polls
 */
#include "layers.h"
#include "layers_clock.h"
#include "layers_values.h"

#include <stdlib.h>
#include <string.h>

const char driver_name[] = "breakdown", driver_help[] = "";
const struct measure measures[] = {{NULL, NULL, 0, NULL}};

enum { BATCHES = 5, PING_PONGS = SAMPLES, MOST_LAYERS = 8 };

static double seconds = 3; /* to measure for */
static uint64_t epoch, value;

/* The layers in use: those of the path; then, with --slow, the same once more, slowed. */
static struct layer layers[2 * MOST_LAYERS];
static int n_layers, n_all;

static void note(int layer, enum quantity quantity, double cycles_taken, double share)
{
	values_note(layer, quantity, (cycles_taken - layer_clock.timer) * layer_clock.ns_per_cycle / share);
}

/* Wraps every layer alike, so what this costs is in all of them, and in the layer that does nothing. */
static void post(const struct layer *layer)
{
	if (layer->slow_ns > 0)
		clock_delay(layer->slow_ns);
	layer->post(++value);
}

/* --- Loops of PE 0, while PE 1 serves --- */

struct batch {
	uint64_t start, sent, end;
};

static struct batch run_batch(const struct layer *layer, bool stamped)
{
	struct batch batch = {cycles(), 0, 0};

	for (int i = 0; i < BATCH; i++)
		post(layer);
	if (stamped)
		batch.sent = cycles_unordered();
	layer->flush();
	batch.end = cycles();
	return batch;
}

static void inject(const struct layer *layer, int which)
{
	for (int b = 0; b < BATCHES; b++) {
		struct batch batch = run_batch(layer, true);

		note(which, POST, (double)(batch.sent - batch.start) + clock_stamp_share(), BATCH);
		note(which, PROGRESS, (double)(batch.end - batch.sent) + clock_stamp_share(), BATCH);
		batch = run_batch(layer, false);
		note(which, TOTAL, (double)(batch.end - batch.start), BATCH);
	}
}

static void serve(const struct layer *layer)
{
	while (__atomic_load_n(&layer_word->done, __ATOMIC_ACQUIRE) < epoch) {
		for (int i = 0; i < 32 && layer->progress; i++)
			layer->progress();
		library_progress();
	}
	value += 2 * BATCHES * BATCH; /* as many as PE 0 has posted */
}

static void injection(const struct layer *layer, int which)
{
	epoch++;
	layer_acknowledges = true;
	shmem_barrier_all();
	if (group.me == 1) {
		serve(layer);
	} else {
		inject(layer, which);
		shmem_ulong_p((unsigned long *)&layer_word->done, epoch, 1);
		shmem_quiet();
	}
	shmem_barrier_all();
	layer_acknowledges = false;
}

/* --- There and back --- */

static void ping_pong(const struct layer *layer)
{
	if (group.me == 0)
		post(layer);
	else
		value++;
	layer->await(value);
	if (group.me == 1) {
		value--;
		post(layer);
	}
}

static uint64_t value_of_word(void)
{
	return __atomic_load_n(&layer_word->value, __ATOMIC_ACQUIRE);
}

static uint64_t value_of_layer(void)
{
	return layer_value;
}

static bool is_below_library(const struct layer *layer)
{
	return !strcmp(layer->name, "uct") || !strcmp(layer->name, "floor");
}

/* Does the library wait by itself, or may we poll for it? */
static bool waits_by_itself(const struct layer *layer)
{
	return !strcmp(layer->name, "shmem") || !layer->progress;
}

/* By the counter: before and after the post; by other messages, before and after the poll that found one. */
struct stamps {
	uint64_t before, sent, poll, found;
};
static struct stamps mine[PING_PONGS], theirs[PING_PONGS]; /* symmetric: PE 1 puts its stamps to PE 0's */

static void posting_ping_pong(const struct layer *layer, struct stamps *at)
{
	if (group.me == 1) {
		value++;
		layer->await(value);
		value--;
	}
	at->before = cycles_unordered();
	post(layer);
	at->sent = cycles_unordered();
	if (group.me == 0)
		layer->await(value);
}

static void find(const struct layer *layer, struct stamps *at)
{
	uint64_t (*now)(void) = is_below_library(layer) ? value_of_layer : value_of_word;

	while (now() < value) {
		at->poll = cycles_unordered();
		layer->progress();
	}
	at->found = cycles_unordered();
}

static void looking_ping_pong(const struct layer *layer, struct stamps *at)
{
	if (group.me == 1) {
		value++;
		find(layer, at);
		value--;
	}
	post(layer);
	if (group.me == 0)
		find(layer, at);
}

/*
 * On a node a post is over long before the line has come to the other, and what it takes in a batch is not what it holds up the
 * line: the loads by which it finds the target follow each other, but those of one post do not wait for those of the one before. So each is timed by
 * itself, until the PE itself sees what it has posted to itself.
 */
static void see_own(const struct layer *layer, int which)
{
	layers_to_oneself(true);
	for (int i = 0; i < PING_PONGS; i++) {
		uint64_t start = cycles();

		post(layer);
		layer->await(value);
		note(which, SENT, (double)(cycles() - start), 1);
	}
	layers_to_oneself(false);
}

/* Both directions are averaged. */
static void note_stamped(int which, enum quantity quantity, uint64_t here, uint64_t there)
{
	note(which, quantity, (double)(here + there) / 2 - layer_clock.unordered + layer_clock.timer, 1);
}

static void evaluate(int which, const struct stamps *here, const struct stamps *there)
{
	if (layers[which].progress)
		note_stamped(which, SENT, here->sent - here->before, there->sent - there->before);
	if (!waits_by_itself(&layers[which]))
		note_stamped(which, CAME, here->found - here->poll, there->found - there->poll);
}

/* A wait for what is there already. */
static void satisfied_wait(const struct layer *layer, int which)
{
	for (int b = 0; b < BATCHES; b++) {
		uint64_t start = cycles();

		for (int i = 0; i < BATCH; i++)
			layer->await(value);
		note(which, SATISFIED, (double)(cycles() - start), BATCH);
	}
}

static void latency(const struct layer *layer, int which)
{
	shmem_barrier_all();
	for (int i = 0; i < PING_PONGS; i++) {
		uint64_t start = cycles();

		ping_pong(layer);
		if (group.me == 0)
			note(which, HALF, (double)(cycles() - start), 2);
		if (layer->progress)
			posting_ping_pong(layer, &mine[i]);
		if (!waits_by_itself(layer))
			looking_ping_pong(layer, &mine[i]);
	}
	satisfied_wait(layer, which);
	if (!layer->progress)
		see_own(layer, which);
	if (group.me == 1)
		shmem_putmem(theirs, mine, sizeof mine, 0);
	if (!is_below_library(layer))
		layer->flush();
	shmem_barrier_all();
	for (int i = 0; group.me == 0 && i < PING_PONGS; i++)
		evaluate(which, &mine[i], &theirs[i]);
}

/* --- All of it --- */

static void nothing(uint64_t unused)
{
	(void)unused;
}

static void no_flush(void)
{
}

static const struct layer empty = {"empty", nothing, no_flush, NULL, NULL, 0};

static void take_layers(const struct layer *of_path)
{
	while (of_path[n_layers].name) {
		layers[n_layers] = of_path[n_layers];
		n_layers++;
	}
	n_all = n_layers;
}

/* --slow comms=200: a layer that is slower makes all above it slower. */
static void add_slowed(const char *name, double ns)
{
	bool found = false;

	for (int i = 0; i < n_layers; i++) {
		layers[n_layers + i] = layers[i];
		layers[n_layers + i].slow_ns = found ? 0 : ns;
		found = found || !strcmp(layers[i].name, name);
	}
	if (!found)
		group_fail("--slow %s: the path has no such layer", name);
	n_all = 2 * n_layers;
}

static double empty_batch(bool stamped)
{
	struct batch batch = run_batch(&empty, stamped);

	return (double)(batch.end - batch.start);
}

static void measure_round(void)
{
	clock_calibrate(empty_batch);
	/* A layer and its slowed twin follow each other. */
	for (int i = 0; i < n_layers; i++)
		for (int which = i; which < n_all; which += n_layers) {
			injection(&layers[which], which);
			latency(&layers[which], which);
		}
	if (group.me == 0)
		inject(&empty, n_all);
	else
		value += 2 * BATCHES * BATCH;
}

/* On a busy machine it takes longer until enough rounds count, or they never will. */
static bool goes_on(double so_far)
{
	return so_far < seconds || (so_far < 4 * seconds && !values_enough());
}

/* PE 0 sees the time and the values, and says whether to go on. */
static void measure(void)
{
	double start, line;
	bool more;

	measure_round(); /* warms up */
	values_start(n_all + 1);
	start = now_ns();
	line = clock_probe();
	do {
		double before = line;

		measure_round();
		line = clock_probe();
		more = group_broadcast(group.me == 0 && values_end_round(before, line) &&
				       goes_on((now_ns() - start) / 1e9));
	} while (more);
}

static void print_all(const char *path, const char *slow, double slow_ns)
{
	char slowed[64];

	snprintf(slowed, sizeof slowed, "%s, %s + %g ns", path, slow, slow_ns);
	values_choose();
	for (int which = 0; which < n_all; which++) {
		values_print(which < n_layers ? path : slowed, layers[which].name, which);
		if (which == n_layers - 1)
			values_print(path, "empty", n_all);
	}
	if (n_all > n_layers)
		values_print(slowed, "empty", n_all);
	values_print_rounds(path);
	fflush(stdout);
}

static void run(const char *slow, double slow_ns)
{
	const char *path;

	group_start();
	if (group.size != 2)
		group_fail("breakdown is between two PEs; there are %d", group.size);
	clock_start();
	take_layers(layers_of_path(&path));
	if (slow[0])
		add_slowed(slow, slow_ns);
	measure();
	if (group.me == 0)
		print_all(path, slow, slow_ns);
	group_end();
}

static bool read_options(int argc, char *argv[], char *slow, double *slow_ns)
{
	for (int i = 1; i < argc; i += 2)
		if (i + 1 == argc ||
		    !((!strcmp(argv[i], "--slow") && sscanf(argv[i + 1], "%31[a-z]=%lf", slow, slow_ns) == 2) ||
		      (!strcmp(argv[i], "--seconds") && sscanf(argv[i + 1], "%lf", &seconds) == 1)))
			return false;
	return true;
}

/* layers [--slow LAYER=NS] [--seconds S]: measures, under a launcher. layers --report ...: the rest is layers_report.c's. */
int main(int argc, char *argv[])
{
	char slow[32] = "";
	double slow_ns = 0;

	if (argc > 1 && !strcmp(argv[1], "--report"))
		return layers_report(argc - 1, argv + 1);
	if (!read_options(argc, argv, slow, &slow_ns)) {
		fprintf(stderr, "breakdown: --slow LAYER=NANOSECONDS, as in --slow comms=200; --seconds SECONDS\n");
		return 2;
	}
	run(slow, slow_ns);
	return 0;
}
