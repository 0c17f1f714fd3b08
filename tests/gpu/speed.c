/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How fast memory of GPUs is, beside what the driver itself takes for the same in the same run. Two
 * PEs; PE 0 measures. A line per row: what, value, unit, beside what, its value, ratio. The first
 * argument is the size of the large transfers in MiB (64), the second the repetitions (20).
 */
#include "gpu.h"

static size_t large;
static long repetitions;
static char *mine, *other, *on_host[2], *private_gpu[2], *pinned;
static bool direct; /* the PEs reach each other's heaps */

/* --- What is measured: each function does it once --- */

static void put_large(void)
{
	shmem_putmem(other, mine, large, 1);
	shmem_quiet();
}
static void get_large(void)
{
	shmem_getmem(mine, other, large, 1);
}
static void put_from_host(void)
{
	shmem_putmem(other, on_host[0], large, 1);
	shmem_quiet();
}
static void put_host(void)
{
	shmem_putmem(on_host[1], on_host[0], large, 1);
	shmem_quiet();
}
static void driver_copy(void)
{
	DEVICE(cuMemcpyAsync(device_of(private_gpu[1]), device_of(private_gpu[0]), large, NULL));
	DEVICE(cuStreamSynchronize(NULL));
}
static void driver_to_host(void)
{
	DEVICE(cuMemcpyAsync(device_of(pinned), device_of(private_gpu[0]), large, NULL));
	DEVICE(cuStreamSynchronize(NULL));
}
static void driver_from_host(void)
{
	DEVICE(cuMemcpyAsync(device_of(private_gpu[0]), device_of(pinned), large, NULL));
	DEVICE(cuStreamSynchronize(NULL));
}

#define SMALL 100 /* operations of a measurement */
static void put_small(void)
{
	for (int i = 0; i < SMALL; i++)
		shmem_putmem(other, mine, 8, 1);
	shmem_quiet();
}
static void put_small_from_host(void)
{
	for (int i = 0; i < SMALL; i++)
		shmem_putmem(other, on_host[0], 8, 1);
	shmem_quiet();
}
static void p_small(void)
{
	for (int i = 0; i < SMALL; i++)
		shmem_long_p((long *)(void *)other, i, 1);
	shmem_quiet();
}
static void get_small(void)
{
	for (int i = 0; i < SMALL; i++)
		shmem_getmem(on_host[0], other, 8, 1);
}
static void atomic_small(void)
{
	for (int i = 0; i < SMALL; i++)
		shmem_long_atomic_fetch_inc((long *)(void *)other, 1);
}
static void driver_copy_small(void)
{
	for (int i = 0; i < SMALL; i++) {
		DEVICE(cuMemcpy(device_of(private_gpu[1]), device_of(private_gpu[0]), 8));
		DEVICE(cuStreamSynchronize(NULL));
	}
}
static void driver_from_host_small(void)
{
	for (int i = 0; i < SMALL; i++)
		DEVICE(cuMemcpy(device_of(private_gpu[0]), device_of(on_host[0]), 8));
}
static void driver_to_host_small(void)
{
	for (int i = 0; i < SMALL; i++)
		DEVICE(cuMemcpy(device_of(on_host[0]), device_of(private_gpu[0]), 8));
}

/* --- Measuring --- */

static int compare_times(const void *one, const void *other_one)
{
	double a = *(const double *)one, b = *(const double *)other_one;

	return (a > b) - (a < b);
}

/* Seconds, the median. */
static double measure(void (*run)(void))
{
	double times[100];
	long count = repetitions < 100 ? repetitions : 100;

	run();
	for (long i = 0; i < count; i++) {
		double start = seconds();

		run();
		times[i] = seconds() - start;
	}
	qsort(times, (size_t)count, sizeof times[0], compare_times);
	return times[count / 2];
}

static void row_rate(const char *what, double time, const char *beside, double beside_time)
{
	printf("%s, %zu MiB\t%.1f\tGB/s\t%s\t%.1f\t%.2f\n", what, large >> 20, 1e-9 * (double)large / time, beside,
	       1e-9 * (double)large / beside_time, beside_time / time);
}

static void row_time(const char *what, double time, const char *beside, double beside_time)
{
	printf("%s\t%.2f\tus\t%s\t%.2f\t%.2f\n", what, 1e6 * time / SMALL, beside, 1e6 * beside_time / SMALL,
	       time / beside_time);
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/* A put through the host is as fast as the slowest of its three parts, if they overlap. */
static void measure_large(void)
{
	double device_copy_time = measure(driver_copy), network = measure(put_host);
	double host_copies = larger(measure(driver_to_host), measure(driver_from_host));

	if (direct) {
		row_rate("put GPU to GPU", measure(put_large), "cuMemcpy GPU to GPU", device_copy_time);
		row_rate("get GPU to GPU", measure(get_large), "cuMemcpy GPU to GPU", device_copy_time);
		row_rate("put host to GPU", measure(put_from_host), "cuMemcpy pinned host to GPU", host_copies);
		return;
	}
	row_rate("put GPU to GPU through hosts", measure(put_large), "least of put host to host and copies",
		 larger(network, host_copies));
	row_rate("get GPU to GPU through hosts", measure(get_large), "least of put host to host and copies",
		 larger(network, host_copies));
	row_rate("put host to host", network, "cuMemcpy GPU to pinned host", host_copies);
}

static void measure_small(void)
{
	double copy = measure(driver_copy_small), from_host = measure(driver_from_host_small);

	row_time("put 8 B GPU to GPU", measure(put_small), "cuMemcpy and wait", copy);
	row_time("put 8 B host to GPU", measure(put_small_from_host), "cuMemcpy from host", from_host);
	row_time("p of 8 B to GPU", measure(p_small), "cuMemcpy from host", from_host);
	row_time("get 8 B from GPU", measure(get_small), "cuMemcpy to host", measure(driver_to_host_small));
	row_time("fetch_inc on GPU", measure(atomic_small), "cuMemcpy and wait", copy);
}

/* --- Of both PEs at once --- */

static void reduce_large(void)
{
	shmem_float_sum_reduce(SHMEM_TEAM_WORLD, (float *)(void *)other, (float *)(void *)mine, large / sizeof(float));
}
static void reduce_host(void)
{
	shmem_float_sum_reduce(SHMEM_TEAM_WORLD, (float *)(void *)on_host[1], (float *)(void *)on_host[0],
			       large / sizeof(float));
}
/* There and back, a flag on the GPU each time. */
static void ping_pong(void)
{
	static uint64_t turn;

	for (int i = 0; i < SMALL; i++) {
		turn++;
		if (me == 0)
			shmem_putmem_signal(other, private_gpu[0], 8, (uint64_t *)(void *)mine, turn, SHMEM_SIGNAL_SET,
					    1);
		shmem_signal_wait_until((uint64_t *)(void *)mine, SHMEM_CMP_EQ, turn);
		if (me == 1)
			shmem_putmem_signal(other, private_gpu[0], 8, (uint64_t *)(void *)mine, turn, SHMEM_SIGNAL_SET,
					    0);
	}
}

static void measure_together(void)
{
	double on_gpus = measure(reduce_large), on_hosts = measure(reduce_host), turn;

	device_fill(mine, 0, 8);
	shmem_barrier_all();
	turn = measure(ping_pong) / 2;
	if (me != 0)
		return;
	row_rate("sum of floats on GPUs", on_gpus, "on hosts", on_hosts);
	row_time("put 8 B and signal, GPU to GPU, one way", turn, "cuMemcpy and wait", measure(driver_copy_small));
}

int main(int count, char **arguments)
{
	begin_gpu(SHMEM_THREAD_SINGLE);
	large = (size_t)(count > 1 ? atol(arguments[1]) : 64) << 20;
	repetitions = count > 2 ? atol(arguments[2]) : 20;
	CHECK_EQUAL(npes, 2);
	mine = on_gpu(large);
	other = on_gpu(large);
	for (int i = 0; i < 2; i++) {
		on_host[i] = symmetric(large);
		private_gpu[i] = device_alloc(large);
		memset(on_host[i], 0, large);
		device_fill(private_gpu[i], 0, large);
	}
	device_fill(mine, 0, large);
	device_fill(other, 0, large);
	DEVICE(cuMemHostAlloc((void **)&pinned, large, 0));
	direct = shmem_ptr(mine, 1 - me) != NULL;
	shmem_barrier_all();
	if (me == 0) {
		measure_large();
		measure_small();
	}
	shmem_barrier_all();
	measure_together();
	fflush(stdout);
	return end();
}
