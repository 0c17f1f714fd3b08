/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the layers of the path between PEs 0 and 1, and prints what it measured for layers_report.c to make sense of. The layers
 * take turns in short rounds, so that what changes on the machine meanwhile changes all of them.
 *
 *   injection   batches of BATCH posts and a flush: the two timed apart, and whole batches with no timer inside
 *   latency     there and back: whole, and with the post and every look timed
 */
#include "layers.h"
#include "layers_report.h"

#include <stdlib.h>
#include <string.h>

const char driver_name[] = "breakdown", driver_help[] = "";
const struct measure measures[] = {{NULL, NULL, 0, NULL}};

enum { ROUNDS = 120, BATCHES = 5, PING_PONGS = 20, MOST_LAYERS = 8, MOST_VALUES = ROUNDS * PING_PONGS };

static struct values {
	double value[QUANTITIES][MOST_VALUES];
	int count[QUANTITIES];
} values[MOST_LAYERS];

static double ns_per_cycle, timer_cycles, passing_cycles;
static uint64_t turn, value;
static char layer_stamps[PING_PONGS * 32]; /* what PE 1 noted; symmetric */

static void note(int layer, enum quantity quantity, double cycles_taken, double share)
{
	struct values *v = &values[layer];

	if (v->count[quantity] < MOST_VALUES)
		v->value[quantity][v->count[quantity]++] = (cycles_taken - timer_cycles) * ns_per_cycle / share;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double cost_of(uint64_t (*read)(void))
{
	double empty[1001];

	for (int i = 0; i < 1001; i++) {
		uint64_t before = read();

		empty[i] = (double)(read() - before);
	}
	qsort(empty, 1001, sizeof *empty, by_value);
	return empty[500];
}

/* What a cycle is in nanoseconds, and what reading the counter costs. */
static void calibrate(void)
{
	double start = now_ns();
	uint64_t first = cycles();

	timer_cycles = cost_of(cycles);
	passing_cycles = cost_of(cycles_in_passing);
	while (now_ns() < start + 5e7)
		;
	ns_per_cycle = (now_ns() - start) / (double)(cycles() - first);
}

static void delay(double ns)
{
	uint64_t start = cycles();

	while ((double)(cycles() - start) * ns_per_cycle < ns)
		;
}

/* Wraps every layer alike, so what this costs is in all of them, and in the layer that does nothing. */
static void post(const struct layer *layer)
{
	if (layer->slow_ns > 0)
		delay(layer->slow_ns);
	layer->post(++value);
}

/* --- Loops of PE 0, while PE 1 serves --- */

static void timed_batch(const struct layer *layer, int which)
{
	uint64_t start = cycles(), sent, end;

	for (int i = 0; i < BATCH; i++)
		post(layer);
	sent = cycles_in_passing();
	layer->flush();
	end = cycles();
	/* Half of the outer timer is in each, and of the inner one. */
	note(which, POST, (double)(sent - start) + (timer_cycles - passing_cycles) / 2, BATCH);
	note(which, PROGRESS, (double)(end - sent) + (timer_cycles - passing_cycles) / 2, BATCH);
}

static void inject(const struct layer *layer, int which)
{
	for (int b = 0; b < BATCHES; b++) {
		uint64_t start;

		timed_batch(layer, which);
		start = cycles();
		for (int i = 0; i < BATCH; i++)
			post(layer);
		layer->flush();
		note(which, TOTAL, (double)(cycles() - start), BATCH);
	}
}

static void serve(const struct layer *layer)
{
	while (__atomic_load_n(&layer_word->done, __ATOMIC_ACQUIRE) < turn) {
		for (int i = 0; i < 32 && layer->look; i++)
			layer->look();
		library_look();
	}
	value += 2 * BATCHES * BATCH; /* as many as PE 0 has posted */
}

static void injection(const struct layer *layer, int which)
{
	turn++;
	layer_acknowledges = true;
	shmem_barrier_all();
	if (group.me == 1) {
		serve(layer);
	} else {
		inject(layer, which);
		shmem_ulong_p((unsigned long *)&layer_word->done, turn, 1);
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

/* Does the library wait by itself, or may we look for it? */
static bool waits_by_itself(const struct layer *layer)
{
	return !strcmp(layer->name, "shmem") || !layer->look;
}

/* By the counter: before and after the post, before the look that found the message, and after it. */
struct stamps {
	uint64_t before, sent, look, came;
};
static struct stamps mine[PING_PONGS];

static void receive(const struct layer *layer, struct stamps *at)
{
	uint64_t (*now)(void) = is_below_library(layer) ? value_of_layer : value_of_word;

	if (waits_by_itself(layer))
		layer->await(value);
	at->look = cycles();
	while (!waits_by_itself(layer) && now() < value) {
		at->look = cycles();
		layer->look();
	}
	at->came = cycles();
}

static void timed_ping_pong(const struct layer *layer, struct stamps *at)
{
	if (group.me == 1) {
		value++;
		receive(layer, at);
		value--;
	}
	at->before = cycles();
	post(layer);
	at->sent = cycles();
	if (group.me == 0)
		receive(layer, at);
}

/* Clocks of the two that differ cancel out, for each way is there once. */
static void evaluate(int which, const struct stamps *here, const struct stamps *there)
{
	double transfer = (double)(int64_t)(there->look - here->sent) + (double)(int64_t)(here->look - there->sent);

	note(which, SENT, ((double)(here->sent - here->before) + (double)(there->sent - there->before)) / 2, 1);
	note(which, TRANSFER, transfer / 2, 1);
	note(which, CAME, ((double)(here->came - here->look) + (double)(there->came - there->look)) / 2, 1);
}

/* A wait for what is there already. */
static void satisfied_wait(const struct layer *layer, int which)
{
	uint64_t start = cycles();

	for (int i = 0; i < BATCH; i++)
		layer->await(value);
	note(which, SATISFIED, (double)(cycles() - start), BATCH);
}

/* With stamps and without in turn. */
static void latency(const struct layer *layer, int which)
{
	shmem_barrier_all();
	for (int i = 0; i < PING_PONGS; i++) {
		uint64_t start = cycles();

		ping_pong(layer);
		if (group.me == 0)
			note(which, HALF, (double)(cycles() - start), 2);
		timed_ping_pong(layer, &mine[i]);
	}
	satisfied_wait(layer, which);
	if (group.me == 1)
		shmem_putmem(layer_stamps, mine, sizeof mine, 0);
	if (!is_below_library(layer))
		layer->flush();
	shmem_barrier_all();
	for (int i = 0; group.me == 0 && i < PING_PONGS; i++)
		evaluate(which, &mine[i], (const struct stamps *)layer_stamps + i);
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

/* --slow comms=200: a layer that is slower makes all above it slower. */
static void slow_down(struct layer *layers, const char *name, double ns)
{
	bool found = false;

	for (int i = 0; layers[i].name; i++)
		found |= !strcmp(layers[i].name, name);
	if (!found)
		group_fail("--slow %s: the path has no such layer", name);
	for (int i = 0; layers[i].name; i++) {
		layers[i].slow_ns += ns;
		if (!strcmp(layers[i].name, name))
			break;
	}
}

static void measure(const struct layer *layers)
{
	int n = 0;

	while (layers[n].name)
		n++;
	for (int round = -1; round < ROUNDS; round++) { /* the first warms up */
		for (int i = 0; i < n; i++) {
			injection(&layers[i], i);
			latency(&layers[i], i);
		}
		if (group.me == 0)
			inject(&empty, n);
		else
			value += 2 * BATCHES * BATCH;
		if (round < 0)
			memset(values, 0, sizeof values);
	}
}

/*
 * Parts that were timed together are averaged over the same samples, the middle half by the time of all parts: medians of each would not
 * add up to anything.
 */
static const struct group_of_parts {
	enum quantity first, last;
} timed_together[] = {{POST, PROGRESS}, {TOTAL, TOTAL}, {HALF, HALF}, {SENT, CAME}, {SATISFIED, SATISFIED}};

static double whole[MOST_VALUES];

static int by_whole(const void *a, const void *b)
{
	double x = whole[*(const int *)a], y = whole[*(const int *)b];

	return (x > y) - (x < y);
}

static void middle_half(const struct values *v, struct group_of_parts parts, double *means)
{
	static int order[MOST_VALUES];
	int n = v->count[parts.first], used = 0;

	for (int i = 0; i < n; i++) {
		order[i] = i;
		whole[i] = 0;
		for (int q = (int)parts.first; q <= (int)parts.last; q++)
			whole[i] += v->value[q][i];
	}
	qsort(order, (size_t)n, sizeof *order, by_whole);
	for (int i = n / 4; i < n - n / 4; i++, used++)
		for (int q = (int)parts.first; q <= (int)parts.last; q++)
			means[q] += v->value[q][order[i]];
	for (int q = (int)parts.first; used && q <= (int)parts.last; q++)
		means[q] /= used;
}

static void print(const char *path, const char *layer, struct values *v)
{
	double means[QUANTITIES] = {0};

	for (size_t g = 0; g < sizeof timed_together / sizeof *timed_together; g++)
		middle_half(v, timed_together[g], means);
	for (int q = 0; q < QUANTITIES; q++) {
		double *sorted = v->value[q];
		int n = v->count[q];

		if (n == 0)
			continue;
		qsort(sorted, (size_t)n, sizeof *sorted, by_value);
		printf("%s\t%s\t%s\t%.3f\t%.3f\t%.3f\t%d\n", path, layer, quantity_names[q], means[q], sorted[n / 4],
		       sorted[3 * n / 4], n);
	}
}

static void run(const char *slow, double slow_ns)
{
	const char *path;
	struct layer *layers;
	int n = 0;

	group_start();
	if (group.size != 2)
		group_fail("breakdown is between two PEs; there are %d", group.size);
	calibrate();
	layers = layers_of_path(&path);
	if (slow[0])
		slow_down(layers, slow, slow_ns);
	measure(layers);
	for (; group.me == 0 && layers[n].name; n++)
		print(path, layers[n].name, &values[n]);
	if (group.me == 0)
		print(path, "empty", &values[n]);
	fflush(stdout);
	group_end();
}

/* layers [--slow LAYER=NS]: measures, under a launcher. layers --report ...: the rest is layers_report.c's. */
int main(int argc, char *argv[])
{
	char slow[32] = "";
	double slow_ns = 0;

	if (argc > 1 && !strcmp(argv[1], "--report"))
		return layers_report(argc - 1, argv + 1);
	if (argc > 1 && (argc != 3 || strcmp(argv[1], "--slow") || sscanf(argv[2], "%31[a-z]=%lf", slow, &slow_ns) != 2)) {
		fprintf(stderr, "breakdown: --slow LAYER=NANOSECONDS, as in --slow comms=200\n");
		return 2;
	}
	run(slow, slow_ns);
	return 0;
}
