/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teaches a data-parallel step: reduce-scatter, update, all-gather, while the PE computes.
 *
 * Each PE has some of the samples, and all have the same weights, in layers. In a step each PE
 * computes a gradient from its samples. The gradients are averaged so that each PE gets the average
 * of one block only (reduce-scatter), it updates this block of the weights, and collects the other
 * blocks (all-gather). So each PE updates a part of the weights, and keeps what the update needs,
 * here the momentum, for that part only.
 *
 * While the gradient of one layer is averaged, the PE computes that of the next one: the library
 * moves data meanwhile. All PEs have the same bits in their weights after each step.
 */
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 840 inputs are equal blocks for 1 to 8 PEs. */
enum { LAYERS = 4, INPUTS = 840, SAMPLES = 48, STEPS = 40 };

/* Weights and gradient are of all; the rest, and what arrives there, is this PE's. */
struct layer {
	float *weights, *gradient, *average, *updated; /* symmetric */
	float *momentum;
	float x[SAMPLES][INPUTS], y[SAMPLES]; /* the first `samples` of them */
	shmemx_req_h request;
};

static struct layer layers[LAYERS];
static size_t block;
static int samples;

static void *symmetric(size_t count)
{
	float *memory = shmem_calloc(count, sizeof *memory);

	if (!memory)
		shmem_global_exit(1);
	return memory;
}

/* From 0 to 1, the same on every machine. */
static float noise(unsigned *state)
{
	*state = *state * 1664525U + 1013904223U;
	return (float)(*state >> 8) / 16777216.0F;
}

/* One sample of a layer whose right weights are 1, 2, 3, 1, 2, ... */
static void make_sample(struct layer *layer, int place, unsigned state)
{
	layer->y[place] = 0;
	for (int i = 0; i < INPUTS; i++) {
		layer->x[place][i] = noise(&state) - 0.5F;
		layer->y[place] += layer->x[place][i] * (float)(i % 3 + 1);
	}
}

/* Samples are dealt to the PEs in turn. */
static void make_layer(struct layer *layer, int number)
{
	size_t all = block * (size_t)shmem_n_pes();

	layer->weights = symmetric(all);
	layer->gradient = symmetric(all);
	layer->average = symmetric(block);
	layer->updated = symmetric(block);
	layer->momentum = calloc(block, sizeof *layer->momentum);
	if (!layer->momentum)
		shmem_global_exit(1);
	samples = 0;
	for (int s = shmem_my_pe(); s < SAMPLES; s += shmem_n_pes())
		make_sample(layer, samples++, (unsigned)(s * LAYERS + number));
}

/* Returns the sum of squared errors of this PE's samples. */
static double compute_gradient(struct layer *layer)
{
	const float share = (float)shmem_n_pes() / SAMPLES;
	double loss = 0;

	for (int i = 0; i < INPUTS; i++)
		layer->gradient[i] = 0;
	for (int s = 0; s < samples; s++) {
		float error = -layer->y[s];

		for (int i = 0; i < INPUTS; i++)
			error += layer->x[s][i] * layer->weights[i];
		for (int i = 0; i < INPUTS; i++)
			layer->gradient[i] += error * layer->x[s][i] * share;
		loss += (double)error * (double)error;
	}
	return loss;
}

/* Momentum and learning rate. */
static void update_block(struct layer *layer)
{
	const float *before = layer->weights + block * (size_t)shmem_my_pe();

	for (size_t i = 0; i < block; i++) {
		layer->momentum[i] = 0.5F * layer->momentum[i] + layer->average[i];
		layer->updated[i] = before[i] - 0.5F * layer->momentum[i];
	}
}

static double step(shmem_team_t team)
{
	double loss = 0;

	for (int l = LAYERS - 1; l >= 0; l--) {
		struct layer *layer = &layers[l];

		loss += compute_gradient(layer);
		shmemx_reduce_scatter_nb(team, layer->average, layer->gradient, block, SHMEMX_FLOAT, SHMEMX_AVG,
					 &layer->request);
	}
	for (int l = LAYERS - 1; l >= 0; l--) {
		struct layer *layer = &layers[l];

		shmemx_req_wait(&layer->request);
		update_block(layer);
		shmemx_fcollect_nb(team, layer->weights, layer->updated, block, &layer->request);
	}
	for (int l = LAYERS - 1; l >= 0; l--)
		shmemx_req_wait(&layers[l].request);
	return loss;
}

/* Do all PEs have the same bits? */
static int weights_differ(void)
{
	static long mine[LAYERS], most[LAYERS], least[LAYERS];
	int differ = 0;

	for (int l = 0; l < LAYERS; l++) {
		mine[l] = 0;
		for (int i = 0; i < INPUTS; i++) {
			unsigned bits;

			memcpy(&bits, &layers[l].weights[i], sizeof bits);
			mine[l] = (long)((unsigned long)mine[l] * 33 + bits);
		}
	}
	shmem_long_max_reduce(SHMEM_TEAM_WORLD, most, mine, LAYERS);
	shmem_long_min_reduce(SHMEM_TEAM_WORLD, least, mine, LAYERS);
	for (int l = 0; l < LAYERS; l++)
		differ |= most[l] != least[l];
	return differ;
}

int main(void)
{
	static double loss, first, total;

	shmem_init();
	block = (size_t)((INPUTS + shmem_n_pes() - 1) / shmem_n_pes());
	for (int l = 0; l < LAYERS; l++)
		make_layer(&layers[l], l);
	shmem_barrier_all();
	for (int s = 0; s < STEPS; s++) {
		loss = step(SHMEM_TEAM_WORLD);
		shmem_double_sum_reduce(SHMEM_TEAM_WORLD, &total, &loss, 1);
		if (s == 0)
			first = total;
	}
	if (shmem_my_pe() == 0) {
		printf("train: %d layers of %d weights, of which each PE updates %zu\n", LAYERS, INPUTS, block);
		printf("after %d steps: %s\n", STEPS,
		       total < first / 1000 ? "the error is below a thousandth" : "the error has not shrunk");
	}
	if (weights_differ() || !(total < first / 1000)) {
		printf("FAIL\n");
		shmem_global_exit(1);
	}
	if (shmem_my_pe() == 0)
		printf("all PEs have the same weights\nPASS\n");
	shmem_finalize();
	return 0;
}
