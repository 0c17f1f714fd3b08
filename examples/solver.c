/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teaches how a solver of lattice QCD communicates: an exchange hides the faces behind the bulk,
 * plans carry the global sums.
 *
 * The field has a spinor (4 spins times 3 colours) at each site of a lattice of four dimensions,
 * and an SU(3) matrix on each link. Wilson's hopping term joins a site to its eight neighbours:
 *
 *     (H psi)(x) = sum over d of (1 - gamma_d) U_d(x) psi(x + d)
 *                              + (1 + gamma_d) U_d(x - d)^+ psi(x - d)
 *
 * Even sites have only odd neighbours, so M = 1 - kappa^2 H H acts on even sites alone. Conjugate
 * gradients solve M^+ M x = b. 1 - gamma_d and 1 + gamma_d leave two of four spins, so messages
 * carry half spinors, and the sender multiplies what goes upwards by its own link.
 *
 * PE 0 repeats everything alone. One M^+ M must agree in every bit. Sums over PEs have another
 * order, so the solution must agree to 1e-12.
 */
#include "halo_job.h"
#include "wilson.h"

#define EDGES (2 * DIMS)
#define KAPPA 0.13
#define TOLERANCE 1e-10

enum { EVEN, ODD };

struct lattice {
	struct halo h;		  /* grid, place, sides, exchange, times */
	size_t sites;		  /* of one parity; everything below is for either */
	double complex *links[2]; /* 4 matrices for each site */
	/* For each site and edge: the neighbour, or -1 - its place in the message. */
	int *source[2];
	/* The sites whose half spinors leave along an edge, as the message has them. */
	int *faces[2][EDGES], face_size[EDGES];
	int *bulk[2], *boundary[2]; /* the sites that need no message, and the others */
	size_t bulk_size[2], boundary_size[2];
	const double *arrived[EDGES];
	double *odd, *between; /* fields that H and M work with */
	double *partial, *total;
	shmemx_plan_t sum;
};

/* What a site sends along an edge, upwards (even numbers) or downwards. */
static inline void leave(const struct lattice *l, double *half, const double *in, int parity, int site, int e)
{
	double whole[HALF];

	if (e % 2) {
		project(half, &in[(size_t)site * SPINOR], e / 2, -1);
		return;
	}
	project(whole, &in[(size_t)site * SPINOR], e / 2, 1);
	multiply(half, &l->links[parity][((size_t)site * DIMS + (size_t)e / 2) * LINK], 1, whole);
}

/* H at one site: what comes along the eight edges, in their order wherever it comes from. */
static void hop_site(const struct lattice *l, double *out, const double *in, int parity, int site)
{
	double sum[SPINOR] = {0}, near[HALF], turned[HALF];

	for (int e = 0; e < EDGES; e++) {
		int from = l->source[parity][site * EDGES + e];
		const double *half = near;

		if (from >= 0)
			leave(l, near, in, !parity, from, e ^ 1);
		else
			half = l->arrived[e] + (size_t)(-1 - from) * HALF;
		if (e % 2 == 0) {
			multiply(turned, &l->links[parity][((size_t)site * DIMS + (size_t)e / 2) * LINK], 0, half);
			half = turned;
		}
		add_whole(sum, half, e / 2, e % 2 ? 1 : -1);
	}
	memcpy(&out[(size_t)site * SPINOR], sum, sizeof sum);
}

static void hop_sites(const struct lattice *l, double *out, const double *in, int parity, const int *sites, size_t n)
{
	for (size_t i = 0; i < n; i++)
		hop_site(l, out, in, parity, sites[i]);
}

static void pack_faces(struct lattice *l, const double *in, int parity)
{
	for (int e = 0; e < EDGES; e++) {
		double *message = l->h.alone ? NULL : shmemx_exchange_buffer(l->h.exchange, e);

		for (int i = 0; i < l->face_size[e]; i++)
			leave(l, message + (size_t)i * HALF, in, parity, l->faces[parity][e][i], e);
	}
}

static void wait_for_faces(struct lattice *l)
{
	if (l->h.alone)
		return;
	shmemx_exchange_wait(l->h.exchange, SHMEMX_ALL_EDGES, NULL);
	for (int e = 0; e < EDGES; e++)
		l->arrived[e] = shmemx_exchange_received(l->h.exchange, e, NULL);
}

/*
 * H from one parity to the other. One in eight waits before it computes the bulk, which shows what
 * communication takes if nothing hides it.
 */
static void hop(struct lattice *l, double *out, const double *in, int parity)
{
	struct halo *h = &l->h;
	int exposed = h->sweeps % 8 == 1;
	double at[PARTS + 1];

	at[PACK] = halo_clock();
	pack_faces(l, in, !parity);
	at[START] = halo_clock();
	if (!h->alone)
		shmemx_exchange_start(h->exchange, SHMEMX_ALL_EDGES, SIZE_MAX);
	at[BULK] = halo_clock();
	if (exposed)
		wait_for_faces(l);
	h->exposed += exposed ? halo_clock() - at[BULK] : 0;
	hop_sites(l, out, in, parity, l->bulk[parity], l->bulk_size[parity]);
	halo_lose_time(h);
	at[WAIT] = halo_clock();
	if (!exposed)
		wait_for_faces(l);
	at[BOUNDARY] = halo_clock();
	hop_sites(l, out, in, parity, l->boundary[parity], l->boundary_size[parity]);
	if (!h->alone)
		shmemx_exchange_release(h->exchange, SHMEMX_ALL_EDGES);
	at[PARTS] = halo_clock();
	halo_add_times(h, exposed, at);
}

/* gamma_5 M: the lower two spins change their sign. M^+ M is this twice. */
static void turned_operator(struct lattice *l, double *out, const double *in)
{
	hop(l, l->odd, in, ODD);
	hop(l, out, l->odd, EVEN);
	for (size_t i = 0; i < l->sites * SPINOR; i++) {
		double m = in[i] - KAPPA * KAPPA * out[i];

		out[i] = i % SPINOR < HALF ? m : -m;
	}
}

static void operator(struct lattice *l, double *out, const double *in)
{
	turned_operator(l, l->between, in);
	turned_operator(l, out, l->between);
}

/*
 * The sum over all PEs of a product; between start and finish there is time to do something else.
 */
static void start_product(struct lattice *l, const double *a, const double *b)
{
	*l->partial = 0;
	for (size_t site = 0; site < l->sites; site++) {
		double sum = 0;

		for (size_t i = site * SPINOR; i < (site + 1) * SPINOR; i++)
			sum += a[i] * b[i];
		*l->partial += sum;
	}
	if (!l->h.alone)
		shmemx_plan_start(l->sum);
}

static double finish_product(struct lattice *l)
{
	if (!l->h.alone)
		shmemx_plan_wait(l->sum);
	return l->h.alone ? *l->partial : *l->total;
}

static void add_multiple(const struct lattice *l, double *to, double factor, const double *from)
{
	for (size_t i = 0; i < l->sites * SPINOR; i++)
		to[i] += factor * from[i];
}

/* Returns the number of iterations; what is left of b, as a part of it, is in *residual. */
static long solve(struct lattice *l, double *x, const double *b, double *residual)
{
	size_t size = l->sites * SPINOR;
	double *r = halo_numbers(&l->h, size), *p = halo_numbers(&l->h, size), *q = halo_numbers(&l->h, size), whole,
	       left;
	long n = 0;

	memcpy(r, b, l->sites * SPINOR * sizeof *r);
	memcpy(p, b, l->sites * SPINOR * sizeof *p);
	start_product(l, r, r);
	whole = left = finish_product(l);
	while (n < l->h.iterations && left > TOLERANCE * TOLERANCE * whole) {
		double step, before = left;

		operator(l, q, p);
		start_product(l, p, q);
		step = left / finish_product(l);
		add_multiple(l, r, -step, q);
		start_product(l, r, r);
		add_multiple(l, x, step, p); /* while the sum is under way */
		left = finish_product(l);
		for (size_t i = 0; i < l->sites * SPINOR; i++)
			p[i] = r[i] + left / before * p[i];
		n++;
	}
	*residual = sqrt(left / whole);
	return n;
}

/*
 * Sites of a parity are numbered in the order of their coordinates, the last of which counts
 * fastest.
 */
static size_t coordinates(const struct lattice *l, size_t site, int parity, size_t *at)
{
	size_t n = 2 * site, place = 0, sum = 0;

	for (int d = DIMS - 1; d >= 0; d--) {
		at[d] = n % l->h.side[d];
		n /= l->h.side[d];
		sum += at[d];
	}
	at[DIMS - 1] += (sum + (size_t)parity) % 2;
	for (int d = 0; d < DIMS; d++)
		place = place * l->h.side[d] * (l->h.alone ? 1 : (size_t)l->h.grid[d]) +
			halo_where(&l->h, d, at[d] + 1);
	return place;
}

static int number(const struct lattice *l, const size_t *at)
{
	size_t n = 0;

	for (int d = 0; d < DIMS; d++)
		n = n * l->h.side[d] + at[d];
	return (int)(n / 2);
}

/* Where the neighbour along an edge is. Faces are in the order of their sites at both ends. */
static int neighbour(struct lattice *l, int parity, int site, size_t *at, int e, int *arrivals)
{
	size_t here = at[e / 2], side = l->h.side[e / 2];
	int from;

	if (!l->h.alone && here == (e % 2 ? 0 : side - 1)) {
		l->faces[parity][e][arrivals[e]] = site;
		return -1 - arrivals[e]++;
	}
	at[e / 2] = (here + (e % 2 ? side - 1 : 1)) % side;
	from = number(l, at);
	at[e / 2] = here;
	return from;
}

static void make_lattice(struct lattice *l, double *b)
{
	for (int parity = 0; parity < 2; parity++) {
		int arrivals[EDGES] = {0};

		l->links[parity] = malloc(l->sites * DIMS * LINK * sizeof(double complex));
		l->source[parity] = malloc(l->sites * EDGES * sizeof(int));
		l->bulk[parity] = malloc(l->sites * sizeof(int));
		l->boundary[parity] = malloc(l->sites * sizeof(int));
		for (int e = 0; e < EDGES; e++)
			l->faces[parity][e] = malloc(((size_t)l->face_size[e] + 1) * sizeof(int));
		for (size_t site = 0; site < l->sites; site++) {
			size_t at[DIMS], place = coordinates(l, site, parity, at);
			int far = 0;

			for (int d = 0; d < DIMS; d++)
				make_link(&l->links[parity][(site * DIMS + (size_t)d) * LINK], place, d);
			for (int i = 0; parity == EVEN && i < SPINOR; i++)
				b[site * SPINOR + (size_t)i] = hashed(place, (uint64_t)i);
			for (int e = 0; e < EDGES; e++) {
				int from = neighbour(l, parity, (int)site, at, e, arrivals);

				l->source[parity][site * EDGES + (size_t)e] = from;
				far |= from < 0;
			}
			(far ? l->boundary : l->bulk)[parity][(far ? l->boundary_size : l->bulk_size)[parity]++] =
				(int)site;
		}
	}
	l->odd = halo_numbers(&l->h, l->sites * SPINOR);
	l->between = halo_numbers(&l->h, l->sites * SPINOR);
}

/*
 * How many sites differ between a field of the whole job and the serial one, and how far, as a part
 * of its size. PE 0 gets everybody's.
 */
static size_t compare(struct lattice *l, const double *mine, const double *alone, double *part)
{
	double *theirs = malloc(l->sites * SPINOR * sizeof *theirs), far = 0, size = 0;
	size_t differ = 0;

	for (int pe = 0; pe < shmem_team_n_pes(l->h.team); pe++) {
		shmem_getmem(theirs, mine, l->sites * SPINOR * sizeof *theirs,
			     shmem_team_translate_pe(l->h.team, pe, SHMEM_TEAM_WORLD));
		shmemx_grid_coordinates(l->h.team, pe, l->h.at);
		for (size_t site = 0; site < l->sites; site++) {
			size_t at[DIMS];
			const double *same = &alone[coordinates(l, site, EVEN, at) / 2 * SPINOR];

			differ += memcmp(&theirs[site * SPINOR], same, SPINOR * sizeof *same) != 0;
			for (size_t i = 0; i < SPINOR; i++) {
				far += (theirs[site * SPINOR + i] - same[i]) * (theirs[site * SPINOR + i] - same[i]);
				size += same[i] * same[i];
			}
		}
	}
	free(theirs);
	*part = sqrt(far / size);
	return differ;
}

/*
 * H is four times in an iteration: 1320 at a site. M is twice, with 2 for each number; then come
 * two products and three sums of vectors.
 */
static void print_work(const struct lattice *l, double n, double seconds)
{
	double sites = (double)l->sites * shmem_n_pes(), sent = 0;
	double flops = sites * (4 * 1320 + 2 * SPINOR * 2 + SPINOR * 5 * 2);
	/*
	 * Without caches H reads eight links and eight spinors and writes one; the rest reads and
	 * writes 19 numbers for each of a spinor.
	 */
	double bytes = sites * sizeof(double) * (4 * (8 * 2 * LINK + 9 * SPINOR) + 19 * SPINOR);

	for (int e = 0; e < EDGES; e++)
		sent += 4.0 * l->face_size[e] * HALF * sizeof(double);
	printf("an iteration: %.3f Mflop, %.3f MB of memory, %.1f KB sent by each PE\n", flops / 1e6, bytes / 1e6,
	       sent / 1e3);
	printf("%.0f iterations in %.3f s: %.3f Gflop/s, %.3f GB/s of memory, %.1f MB/s sent by each PE\n", n, seconds,
	       flops * n / seconds / 1e9, bytes * n / seconds / 1e9, sent * n / seconds / 1e6);
}

/* On PE 0 alone, with the fields of all; returns the exit code. */
static int check(struct lattice *l, const double *once, const double *x, long iterations)
{
	struct lattice whole = {.h = halo_whole(&l->h)};
	double *b, *serial, part, residual;
	size_t differ;

	whole.h.iterations = iterations;
	whole.sites = l->sites * (size_t)shmem_n_pes();
	b = halo_numbers(&whole.h, whole.sites * SPINOR);
	serial = halo_numbers(&whole.h, whole.sites * SPINOR);
	whole.partial = halo_numbers(&whole.h, 1);
	make_lattice(&whole, b);
	operator(&whole, serial, b);
	differ = compare(l, once, serial, &part);
	printf("M^+ M once: %zu of %zu sites differ from the serial answer\n", differ, whole.sites);
	memset(serial, 0, whole.sites * SPINOR * sizeof *serial);
	solve(&whole, serial, b, &residual);
	compare(l, x, serial, &part);
	printf("the solution differs from the serial one by %.1e of its size\n%s\n", part,
	       differ || part > 1e-12 ? "FAIL" : "PASS");
	return differ || part > 1e-12;
}

static int run(struct lattice *l)
{
	size_t size = l->sites * SPINOR;
	double *b = halo_numbers(&l->h, size), *x = halo_numbers(&l->h, size), *once = halo_numbers(&l->h, size),
	       residual, seconds;
	long iterations;
	int wrong = 0;

	make_lattice(l, b);
	operator(l, once, b);
	shmem_barrier_all();
	seconds = halo_clock();
	iterations = solve(l, x, b, &residual);
	seconds = (halo_clock() - seconds) / 1e6;
	halo_keep_times(&l->h);
	shmem_barrier_all();
	if (shmem_my_pe() == 0) {
		printf("%ld iterations, which leave %.1e of b\n", iterations, residual);
		print_work(l, (double)iterations, seconds);
		halo_times();
		wrong = l->h.unchecked ? 0 : check(l, once, x, iterations);
		fflush(stdout);
	}
	shmem_barrier_all();
	return wrong;
}

int main(int argc, char **argv)
{
	struct lattice l = {
		.h = {.dims = DIMS, .side = {8, 8, 8, 8}, .wraps = {1, 1, 1, 1}, .iterations = 200, .point = 4 * HALF}};
	int wrong;

	halo_begin(&l.h, "solver", argc, argv);
	l.sites = l.h.side[0] * l.h.side[1] * l.h.side[2] * l.h.side[3];
	for (int e = 0; e < EDGES; e++)
		l.face_size[e] = (int)(l.sites / l.h.side[e / 2] / 2);
	l.sites /= 2;
	if (l.h.side[0] % 2 || !l.h.wraps[0]) {
		if (shmem_my_pe() == 0)
			fprintf(stderr, "solver: the lattice wraps in blocks that begin with an even site; give an "
					"even --side and no --open\n");
		shmem_finalize();
		return 2;
	}
	l.partial = halo_numbers(&l.h, 2);
	l.total = l.partial + 1;
	if (shmemx_allreduce_init(l.h.team, l.total, l.partial, 1, SHMEMX_DOUBLE, SHMEMX_SUM, SHMEMX_PLAN_AUTO, &l.sum))
		shmem_global_exit(1);
	wrong = run(&l);
	shmemx_plan_free(l.sum);
	shmemx_exchange_destroy(l.h.exchange);
	shmem_team_destroy(l.h.team);
	shmem_finalize();
	return wrong;
}
