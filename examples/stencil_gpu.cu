/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teaches a halo exchange between GPUs: the equation of stencil.c, with the points in the memory of
 * GPUs. Kernels compute, pack and unpack; the host puts edges from GPU to GPU, each with a signal
 * in the memory of the host, and waits for those of its neighbours. There is no barrier, for the
 * reason that stencil.c gives.
 *
 *     make stencil_gpu
 *     oshrun -n 4 ./stencil_gpu
 */
#include <cuda_runtime.h>
#include <math.h>
#include <shmemg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum side { NORTH, SOUTH, WEST, EAST, SIDES };

/* My place in the grid of PEs, and the block of points that goes with it: see stencil.c. */
struct place {
	int across, down, x, y;
	int columns, rows, left, top;
	int stride; /* from a row to the next, in memory: the same on every PE */
	int neighbour[SIDES];
	int north_rows;
};

/* All on the GPU. Two of each: for even and for odd iterations. */
struct field {
	double *block[2], *source;
	double *in[2][2]; /* columns that come from west and from east */
	double *out;	  /* my first column, then my last one */
	int most_rows;
};

static uint64_t arrived[2][SIDES]; /* symmetric, on the host: the last iteration from that side */

static void check(cudaError_t error, const char *what)
{
	if (error == cudaSuccess)
		return;
	fprintf(stderr, "stencil_gpu: %s: %s\n", what, cudaGetErrorString(error));
	shmem_global_exit(1);
}

static int share(int n, int parts, int i)
{
	return (int)((long)n * i / parts);
}

static struct place find_place(int size, int me, int n_pes)
{
	struct place p = {};

	p.down = 1;
	for (int d = 1; d * d <= n_pes; d++)
		if (n_pes % d == 0)
			p.down = d;
	p.across = n_pes / p.down;
	p.x = me % p.across;
	p.y = me / p.across;

	int north = (p.y + p.down - 1) % p.down, south = (p.y + 1) % p.down;

	p.neighbour[WEST] = p.y * p.across + (p.x + p.across - 1) % p.across;
	p.neighbour[EAST] = p.y * p.across + (p.x + 1) % p.across;
	p.neighbour[NORTH] = north * p.across + p.x;
	p.neighbour[SOUTH] = south * p.across + p.x;
	p.left = share(size, p.across, p.x);
	p.top = share(size, p.down, p.y);
	p.columns = share(size, p.across, p.x + 1) - p.left;
	p.rows = share(size, p.down, p.y + 1) - p.top;
	p.north_rows = share(size, p.down, north + 1) - share(size, p.down, north);
	p.stride = size / p.across + 3;
	return p;
}

static double charge(int size, int column, int row)
{
	if (column == size / 4 && row == size / 4)
		return 1;
	if (column == size / 4 + size / 2 && row == size / 4 + size / 2)
		return -1;
	return 0;
}

/* A point goes most of the distance to the mean of its neighbours plus its charge. */
__host__ __device__ static double relaxed(const double *now, const double *source, int i, int stride)
{
	double mean = 0.25 * (now[i - 1] + now[i + 1] + now[i - stride] + now[i + stride] + source[i]);

	return now[i] + 0.8 * (mean - now[i]);
}

/* One thread for each point. Those of the first and the last column also pack it. */
__global__ static void relax(const double *now, double *next, const double *source, double *out, int columns,
			     int rows, int stride, int most_rows)
{
	int c = (int)(blockIdx.x * blockDim.x + threadIdx.x) + 1, r = (int)blockIdx.y + 1;

	if (c > columns || r > rows)
		return;
	next[r * stride + c] = relaxed(now, source, r * stride + c, stride);
	if (c == 1)
		out[r - 1] = next[r * stride + c];
	if (c == columns)
		out[most_rows + r - 1] = next[r * stride + c];
}

__global__ static void unpack(double *block, const double *west, const double *east, int columns, int rows, int stride)
{
	int r = (int)(blockIdx.x * blockDim.x + threadIdx.x) + 1;

	if (r > rows)
		return;
	block[r * stride] = west[r - 1];
	block[r * stride + columns + 1] = east[r - 1];
}

static void send_edges(const struct place *p, const struct field *f, uint64_t k)
{
	double *b = f->block[k % 2], *const *in = f->in[k % 2];
	uint64_t *signal = arrived[k % 2];
	size_t columns = (size_t)p->columns, rows = (size_t)p->rows;
	int s = p->stride;

	/* Rows lie in one piece; columns were packed by the kernel. */
	shmem_double_put_signal(&b[(p->north_rows + 1) * s + 1], &b[s + 1], columns, &signal[SOUTH], k,
				SHMEM_SIGNAL_SET, p->neighbour[NORTH]);
	shmem_double_put_signal(&b[1], &b[p->rows * s + 1], columns, &signal[NORTH], k, SHMEM_SIGNAL_SET,
				p->neighbour[SOUTH]);
	shmem_double_put_signal(in[1], f->out, rows, &signal[EAST], k, SHMEM_SIGNAL_SET, p->neighbour[WEST]);
	shmem_double_put_signal(in[0], f->out + f->most_rows, rows, &signal[WEST], k, SHMEM_SIGNAL_SET,
				p->neighbour[EAST]);
}

static void receive_edges(const struct place *p, const struct field *f, uint64_t k)
{
	for (int side = 0; side < SIDES; side++)
		shmem_signal_wait_until(&arrived[k % 2][side], SHMEM_CMP_GE, k);
	unpack<<<(unsigned)(p->rows + 127) / 128, 128>>>(f->block[k % 2], f->in[k % 2][0], f->in[k % 2][1], p->columns,
							 p->rows, p->stride);
}

static void iterate(const struct place *p, const struct field *f, long iterations)
{
	dim3 blocks((unsigned)(p->columns + 127) / 128, (unsigned)p->rows);

	for (uint64_t k = 1; k <= (uint64_t)iterations; k++) {
		relax<<<blocks, 128>>>(f->block[(k - 1) % 2], f->block[k % 2], f->source, f->out, p->columns, p->rows,
				       p->stride, f->most_rows);
		check(cudaDeviceSynchronize(), "relax"); /* puts do not wait for kernels */
		send_edges(p, f, k);
		receive_edges(p, f, k);
	}
	check(cudaDeviceSynchronize(), "unpack");
}

/* What one PE alone computes on its host. */
static double *solve_serially(int size, long iterations)
{
	int s = size + 2;
	size_t points = (size_t)s * (size_t)s;
	double *now = (double *)calloc(points, sizeof *now), *next = (double *)calloc(points, sizeof *now);
	double *source = (double *)calloc(points, sizeof *now);

	if (!now || !next || !source)
		shmem_global_exit(1);
	for (int r = 1; r <= size; r++)
		for (int c = 1; c <= size; c++)
			source[r * s + c] = charge(size, c - 1, r - 1);
	for (long k = 0; k < iterations; k++) {
		double *swap = now;

		for (int i = 1; i <= size; i++) {
			now[i] = now[size * s + i];
			now[(size + 1) * s + i] = now[s + i];
			now[i * s] = now[i * s + size];
			now[i * s + size + 1] = now[i * s + 1];
		}
		for (int r = 1; r <= size; r++)
			for (int c = 1; c <= size; c++)
				next[r * s + c] = relaxed(now, source, r * s + c, s);
		now = next;
		next = swap;
	}
	free(next);
	free(source);
	return now;
}

/* PE 0 gets all blocks from the GPUs. Processors round differently, so the last bits may differ. */
static int is_right(const double *block, int size, long iterations, int n_pes)
{
	double *serial = solve_serially(size, iterations), *row = (double *)malloc((size_t)size * sizeof *row);
	double worst = 0, most = 0;

	if (!row)
		shmem_global_exit(1);
	for (int pe = 0; pe < n_pes; pe++) {
		struct place p = find_place(size, pe, n_pes);

		for (int r = 0; r < p.rows; r++) {
			shmem_double_get(row, &block[(r + 1) * p.stride + 1], (size_t)p.columns, pe);
			for (int c = 0; c < p.columns; c++) {
				double right = serial[(p.top + r + 1) * (size + 2) + p.left + c + 1];

				worst = fmax(worst, fabs(row[c] - right));
				most = fmax(most, fabs(right));
			}
		}
	}
	free(row);
	free(serial);
	printf("largest difference from the serial answer: %.1e\n%s\n", worst,
	       worst <= 1e-12 * most ? "PASS" : "FAIL");
	return worst <= 1e-12 * most;
}

static double *on_gpu(size_t numbers)
{
	double *memory = (double *)shmemg_calloc(numbers, sizeof *memory);

	if (!memory)
		shmem_global_exit(1);
	return memory;
}

static struct field make_field(const struct place *p, int size)
{
	struct field f;
	size_t points;
	double *source;

	f.most_rows = size / p->down + 3;
	points = (size_t)f.most_rows * (size_t)p->stride;
	for (int i = 0; i < 2; i++) {
		f.block[i] = on_gpu(points);
		f.in[i][0] = on_gpu((size_t)f.most_rows);
		f.in[i][1] = on_gpu((size_t)f.most_rows);
	}
	f.out = on_gpu(2 * (size_t)f.most_rows);
	f.source = on_gpu(points);
	source = (double *)calloc(points, sizeof *source);
	if (!source)
		shmem_global_exit(1);
	for (int r = 0; r < p->rows; r++)
		for (int c = 0; c < p->columns; c++)
			source[(r + 1) * p->stride + c + 1] = charge(size, p->left + c, p->top + r);
	shmem_double_put(f.source, source, points, shmem_my_pe());
	free(source);
	return f;
}

/* The GPU must be current before the library starts. Without this, PEs take turns. */
static void choose_gpu(void)
{
	const char *local = getenv("SLURM_LOCALID") ? getenv("SLURM_LOCALID") : getenv("PMIX_RANK");
	int gpus = 0;

	if (cudaGetDeviceCount(&gpus) != cudaSuccess)
		return;
	if (local && gpus > 0 && cudaSetDevice(atoi(local) % gpus) == cudaSuccess)
		cudaFree(0); /* before CUDA 12, this makes it current */
}

int main(int argc, char *argv[])
{
	int size = argc > 1 ? atoi(argv[1]) : 256, provided, me, n, good = 1;
	long iterations = argc > 2 ? atol(argv[2]) : 500;

	choose_gpu();
	shmem_init_thread(SHMEM_THREAD_SINGLE | SHMEM_DEVICE_HOST_INIT, &provided);
	me = shmem_my_pe();
	n = shmem_n_pes();
	if (!(provided & SHMEM_DEVICE_HOST_INIT) || size < n || size < 4 || size > 20000 || iterations < 1) {
		if (me == 0)
			fprintf(stderr, "usage: oshrun -n PES stencil_gpu [POINTS [ITERATIONS]], on a machine with "
					"a GPU; at least 4 points a side, and the number of PEs\n");
		shmem_finalize();
		return 2;
	}

	struct place p = find_place(size, me, n);
	struct field f = make_field(&p, size);

	shmem_barrier_all();
	iterate(&p, &f, iterations);
	shmem_barrier_all();
	if (me == 0) {
		printf("Poisson on a torus of %d x %d points, %d PEs as %d x %d, %ld iterations\n", size, size, n,
		       p.across, p.down, iterations);
		good = is_right(f.block[iterations % 2], size, iterations, n);
	}
	shmem_finalize();
	return good ? 0 : 1;
}
