/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teaches a halo exchange by puts with signals, without a barrier: Poisson's equation on a torus,
 * by Jacobi's method.
 *
 * A square of N x N points wraps around at its edges. It holds a charge and, so that the sum is
 * zero (else there would be no solution), an opposite one. The PEs form a grid, as square as their
 * number allows, and each owns a block of points, with a frame of "ghost" points around it: copies
 * of its neighbours' edges.
 *
 * In each iteration a PE computes its block's next values from the present ones, and puts the edges
 * of the result straight into its neighbours' ghost points. Each put carries a signal that says
 * "iteration k is here"; the neighbour waits for four such signals, and for nothing else. There is
 * no barrier.
 *
 * Is it safe to write into a neighbour's memory without asking? There are two copies of the block,
 * present and next. When I have computed iteration k, its edges of k-1 had come to me from all
 * neighbours; so they had finished k-1, and read the ghosts of k-2 for the last time. Those are the
 * ones I overwrite. The signals alternate for the same reason: two puts with signal have no order,
 * so the edge of k may overtake that of k-1.
 */
#include <getopt.h>
#include <math.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum side { NORTH, SOUTH, WEST, EAST, SIDES };

struct options {
	int size;
	long iterations;
	double tolerance;
	const char *picture;
};

/* My place in the grid of PEs, and the block of points that goes with it. */
struct place {
	int across, down;     /* the grid of PEs */
	int x, y;	      /* my place in it */
	int columns, rows;    /* my block */
	int left, top;	      /* its first point */
	int stride;	      /* from a row to the next, in memory: the same on every PE */
	int neighbour[SIDES]; /* PEs */
	int north_rows;	      /* the rows of my neighbours' blocks may differ from mine by one */
	int west_columns;
};

/*
 * Symmetric: the number of the last even and of the last odd iteration whose edge came from that
 * side.
 */
static uint64_t arrived[2][SIDES];

static double my_change, change; /* of all points in one iteration, squared and summed up */

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* n points shared out to so many PEs: where does the share of the i-th begin? */
static int share(int n, int parts, int i)
{
	return (int)((long)n * i / parts);
}

static struct place find_place(int size, int me, int n_pes)
{
	struct place p = {.down = 1};

	for (int d = 1; d * d <= n_pes; d++)
		if (n_pes % d == 0)
			p.down = d;
	p.across = n_pes / p.down;
	p.x = me % p.across;
	p.y = me / p.across;

	int west = (p.x + p.across - 1) % p.across, east = (p.x + 1) % p.across;
	int north = (p.y + p.down - 1) % p.down, south = (p.y + 1) % p.down;

	p.neighbour[WEST] = p.y * p.across + west;
	p.neighbour[EAST] = p.y * p.across + east;
	p.neighbour[NORTH] = north * p.across + p.x;
	p.neighbour[SOUTH] = south * p.across + p.x;

	p.left = share(size, p.across, p.x);
	p.top = share(size, p.down, p.y);
	p.columns = share(size, p.across, p.x + 1) - p.left;
	p.rows = share(size, p.down, p.y + 1) - p.top;
	p.west_columns = share(size, p.across, west + 1) - share(size, p.across, west);
	p.north_rows = share(size, p.down, north + 1) - share(size, p.down, north);
	p.stride = size / p.across + 3;
	return p;
}

/* The charges: one a quarter of the way along the diagonal, its opposite at three quarters. */
static double charge(int size, int column, int row)
{
	if (column == size / 4 && row == size / 4)
		return 1;
	if (column == size / 4 + size / 2 && row == size / 4 + size / 2)
		return -1;
	return 0;
}

/*
 * One iteration over a block: each point goes most of the distance (4/5, which is best against
 * ripples) to the mean of its neighbours plus its charge. Returns by how much the points changed,
 * squared and summed up.
 */
static double relax(const double *now, double *next, const double *source, int columns, int rows, int stride)
{
	double sum = 0;

	for (int r = 1; r <= rows; r++) {
		for (int c = 1; c <= columns; c++) {
			int i = r * stride + c;
			double mean = 0.25 * (now[i - 1] + now[i + 1] + now[i - stride] + now[i + stride] + source[i]);
			double step = 0.8 * (mean - now[i]);

			next[i] = now[i] + step;
			sum += step * step;
		}
	}
	return sum;
}

static void copy_column(double *to, int to_step, const double *from, int from_step, int count)
{
	for (int i = 0; i < count; i++)
		to[i * to_step] = from[i * from_step];
}

/*
 * Puts my edges into my neighbours' ghost points. Rows lie in one piece and go where they belong;
 * columns are packed, sent to a buffer, and unpacked by the receiver.
 */
static void send_edges(const struct place *p, double *block, double *columns_in[2], double *column_out, uint64_t k)
{
	int s = p->stride;
	uint64_t *signal = arrived[k % 2];

	/*
	 * My first row becomes the row below my northern neighbour's last one; and so on round the
	 * block.
	 */
	shmem_double_put_signal(&block[(p->north_rows + 1) * s + 1], &block[s + 1], (size_t)p->columns, &signal[SOUTH],
				k, SHMEM_SIGNAL_SET, p->neighbour[NORTH]);
	shmem_double_put_signal(&block[1], &block[p->rows * s + 1], (size_t)p->columns, &signal[NORTH], k,
				SHMEM_SIGNAL_SET, p->neighbour[SOUTH]);

	copy_column(column_out, 1, &block[s + 1], s, p->rows);
	shmem_double_put_signal(columns_in[1], column_out, (size_t)p->rows, &signal[EAST], k, SHMEM_SIGNAL_SET,
				p->neighbour[WEST]);
	/* put_signal has taken what it needs: the buffer may be used again at once. */
	copy_column(column_out, 1, &block[s + p->columns], s, p->rows);
	shmem_double_put_signal(columns_in[0], column_out, (size_t)p->rows, &signal[WEST], k, SHMEM_SIGNAL_SET,
				p->neighbour[EAST]);
}

static void receive_edges(const struct place *p, double *block, double *columns_in[2], uint64_t k)
{
	for (int side = 0; side < SIDES; side++)
		shmem_signal_wait_until(&arrived[k % 2][side], SHMEM_CMP_GE, k);
	copy_column(&block[p->stride], p->stride, columns_in[0], 1, p->rows);
	copy_column(&block[p->stride + p->columns + 1], p->stride, columns_in[1], 1, p->rows);
}

/* What one PE alone computes in as many iterations: the answer to compare with. */
static double *solve_serially(int size, long iterations)
{
	int s = size + 2;
	double *now = calloc((size_t)s * (size_t)s, sizeof *now);
	double *next = calloc((size_t)s * (size_t)s, sizeof *next);
	double *source = calloc((size_t)s * (size_t)s, sizeof *source);

	if (!now || !next || !source)
		shmem_global_exit(1);
	for (int r = 0; r < size; r++)
		for (int c = 0; c < size; c++)
			source[(r + 1) * s + c + 1] = charge(size, c, r);
	for (long k = 0; k < iterations; k++) {
		double *swap = now;

		memcpy(&now[1], &now[size * s + 1], (size_t)size * sizeof *now);
		memcpy(&now[(size + 1) * s + 1], &now[s + 1], (size_t)size * sizeof *now);
		copy_column(&now[s], s, &now[s + size], s, size);
		copy_column(&now[s + size + 1], s, &now[s + 1], s, size);
		relax(now, next, source, size, size, s);
		now = next;
		next = swap;
	}
	free(next);
	free(source);
	return now;
}

/* PE 0 fetches everybody's block. */
static double *gather(const double *block, int size, int n_pes)
{
	double *whole = calloc((size_t)size * (size_t)size, sizeof *whole);

	if (!whole)
		shmem_global_exit(1);
	for (int pe = 0; pe < n_pes; pe++) {
		struct place p = find_place(size, pe, n_pes);

		for (int r = 0; r < p.rows; r++)
			shmem_double_get(&whole[(p.top + r) * size + p.left], &block[(r + 1) * p.stride + 1],
					 (size_t)p.columns, pe);
	}
	return whole;
}

static void write_picture(const char *name, const double *whole, int size)
{
	FILE *file = fopen(name, "wb");
	double most = 1e-300;

	if (!file) {
		perror(name);
		return;
	}
	for (int i = 0; i < size * size; i++)
		most = fmax(most, fabs(whole[i]));
	fprintf(file, "P5 %d %d 255\n", size, size);
	for (int i = 0; i < size * size; i++)
		fputc((int)(127.5 + 127 * cbrt(whole[i] / most)), file);
	fclose(file);
}

/*
 * The blocks against the serial answer. Each point is the same arithmetic, so only rounding may
 * differ.
 */
static int check(const double *whole, int size, long iterations)
{
	double *serial = solve_serially(size, iterations);
	double worst = 0, most = 0;
	int good;

	for (int r = 0; r < size; r++) {
		for (int c = 0; c < size; c++) {
			double right = serial[(r + 1) * (size + 2) + c + 1];

			worst = fmax(worst, fabs(whole[r * size + c] - right));
			most = fmax(most, fabs(right));
		}
	}
	good = worst <= 1e-12 * most;
	printf("largest difference from the serial answer: %.1e\n%s\n", worst, good ? "PASS" : "FAIL");
	free(serial);
	return good;
}

static void help(void)
{
	puts("usage: oshrun -n PES stencil [options]\n"
	     "\n"
	     "Solves Poisson's equation on a torus of N x N points by Jacobi's method, and compares the result\n"
	     "with what one PE computes alone.\n"
	     "\n"
	     "  --size N         points along each side (64)\n"
	     "  --iterations K   stop after so many (100000)\n"
	     "  --tolerance T    stop when the residual has fallen to this part of its first value (1e-6)\n"
	     "  --pgm FILE       write the solution as a grey picture\n"
	     "  --help           this text");
}

/* Returns 0 to go on, else the exit code plus one. */
static int read_options(int argc, char *argv[], struct options *o)
{
	static const struct option names[] = {{"size", required_argument, NULL, 's'},
					      {"iterations", required_argument, NULL, 'i'},
					      {"tolerance", required_argument, NULL, 't'},
					      {"pgm", required_argument, NULL, 'p'},
					      {"help", no_argument, NULL, 'h'},
					      {NULL, 0, NULL, 0}};
	int option;

	opterr = shmem_my_pe() == 0; /* one complaint is enough */
	while ((option = getopt_long(argc, argv, "s:i:t:p:h", names, NULL)) != -1) {
		switch (option) {
		case 's': o->size = atoi(optarg); break;
		case 'i': o->iterations = atol(optarg); break;
		case 't': o->tolerance = atof(optarg); break;
		case 'p': o->picture = optarg; break;
		case 'h':
			if (shmem_my_pe() == 0)
				help();
			return 1;
		default: return 3;
		}
	}
	return 0;
}

/* Iterates until the residual is small; says how it falls. Returns the number of iterations. */
static long solve(const struct place *p, const struct options *o, double *blocks[2], double *columns_in[2],
		  const double *source)
{
	/* The residual is looked at so often: a reduction costs more than an iteration. */
	const long interval = 50;
	double *column_out = malloc((size_t)p->rows * sizeof *column_out);
	double first = 0, shown = 0, start = seconds();
	long k = 0;

	if (!column_out)
		shmem_global_exit(1);
	while (k < o->iterations) {
		double *now = blocks[k % 2], *next = blocks[(k + 1) % 2];

		my_change = relax(now, next, source, p->columns, p->rows, p->stride);
		k++;
		send_edges(p, next, &columns_in[2 * (k % 2)], column_out, (uint64_t)k);
		receive_edges(p, next, &columns_in[2 * (k % 2)], (uint64_t)k);
		if (k != 1 && k % interval)
			continue;

		shmem_double_sum_reduce(SHMEM_TEAM_WORLD, &change, &my_change, 1);
		if (k == 1)
			first = sqrt(change);
		if (shmem_my_pe() == 0 && (k == 1 || sqrt(change) < 0.1 * shown)) {
			shown = sqrt(change);
			printf("%11ld  %12.2e\n", k, shown / first);
		}
		if (sqrt(change) <= o->tolerance * first)
			break;
	}
	if (shmem_my_pe() == 0)
		printf("%ld iterations, %.1f us each\n", k, 1e6 * (seconds() - start) / (double)(k ? k : 1));
	free(column_out);
	return k;
}

static int run(const struct options *o, int me, int n_pes)
{
	struct place p = find_place(o->size, me, n_pes);
	size_t most_rows = (size_t)(o->size / p.down + 3), bytes = most_rows * (size_t)p.stride * sizeof(double);
	double *blocks[2], *columns_in[4], *source = calloc(1, bytes);
	int good = 1;
	long k;

	for (int i = 0; i < 2; i++)
		blocks[i] = shmem_calloc(1, bytes);
	for (int i = 0; i < 4; i++) /* from west and east, for even and for odd iterations */
		columns_in[i] = shmem_malloc(most_rows * sizeof(double));
	if (!source || !blocks[0] || !blocks[1] || !columns_in[3])
		shmem_global_exit(1);
	for (int r = 0; r < p.rows; r++)
		for (int c = 0; c < p.columns; c++)
			source[(r + 1) * p.stride + c + 1] = charge(o->size, p.left + c, p.top + r);
	if (me == 0)
		printf("Poisson on a torus of %d x %d points, %d PEs as %d x %d\n  iteration      residual\n", o->size,
		       o->size, n_pes, p.across, p.down);

	k = solve(&p, o, blocks, columns_in, source);

	shmem_barrier_all();
	if (me == 0) {
		double *whole = gather(blocks[k % 2], o->size, n_pes);

		if (o->picture)
			write_picture(o->picture, whole, o->size);
		good = check(whole, o->size, k);
		free(whole);
	}
	for (int i = 3; i >= 0; i--)
		shmem_free(columns_in[i]);
	shmem_free(blocks[1]);
	shmem_free(blocks[0]);
	free(source);
	return good ? 0 : 1;
}

int main(int argc, char *argv[])
{
	struct options o = {.size = 64, .iterations = 100000, .tolerance = 1e-6};
	int me, n_pes, result;

	shmem_init();
	me = shmem_my_pe();
	n_pes = shmem_n_pes();
	result = read_options(argc, argv, &o);
	if (result) {
		shmem_finalize();
		return result - 1;
	}
	if (o.size < n_pes || o.size < 4 || o.size > 20000) {
		if (me == 0)
			fprintf(stderr, "stencil: --size must be at least 4 and the number of PEs, at most 20000\n");
		shmem_finalize();
		return 2;
	}
	result = run(&o, me, n_pes);
	shmem_finalize();
	return result;
}
