// SPDX-License-Identifier: BSD-3-Clause
// ../stencil.c in C++: the same arithmetic in the same order, so the same numbers. ../stencil.c
// says why no barrier is needed.
#include <shmem.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

enum side { north, south, west, east, sides };

struct options {
	int size = 64;
	long iterations = 100000;
	double tolerance = 1e-6;
};

// n points shared out to so many PEs: where does the share of the i-th begin?
int share(int n, int parts, int i)
{
	return static_cast<int>(static_cast<long>(n) * i / parts);
}

// A PE's place in the grid of PEs, and the block of points that goes with it.
struct place {
	int across, down = 1;
	int x, y, columns, rows, left, top, stride;
	int neighbour[sides];
	int north_rows; // the rows of the northern neighbour may differ from mine by one

	place(int size, int me, int n_pes)
	{
		for (int d = 1; d * d <= n_pes; d++)
			if (n_pes % d == 0)
				down = d;
		across = n_pes / down;
		x = me % across, y = me / across;
		const int upper = (y + down - 1) % down;
		neighbour[west] = y * across + (x + across - 1) % across;
		neighbour[east] = y * across + (x + 1) % across;
		neighbour[north] = upper * across + x;
		neighbour[south] = (y + 1) % down * across + x;
		left = share(size, across, x), top = share(size, down, y);
		columns = share(size, across, x + 1) - left, rows = share(size, down, y + 1) - top;
		north_rows = share(size, down, upper + 1) - share(size, down, upper);
		stride = size / across + 3; // the same on every PE
	}
	std::size_t at(int row, int column) const { return static_cast<std::size_t>(row * stride + column); }
};

// A charge a quarter of the way along the diagonal, its opposite at three quarters.
double charge(int size, int column, int row)
{
	if (column == size / 4 && row == size / 4)
		return 1;
	return column == size / 4 + size / 2 && row == size / 4 + size / 2 ? -1 : 0;
}

// One iteration over a block; returns by how much the points changed, squared and summed up.
double relax(const double *now, double *next, const double *source, int columns, int rows, int stride)
{
	double sum = 0;

	for (int r = 1; r <= rows; r++)
		for (int c = 1; c <= columns; c++) {
			const int i = r * stride + c;
			const double mean = 0.25 * (now[i - 1] + now[i + 1] + now[i - stride] + now[i + stride] + source[i]);
			const double step = 0.8 * (mean - now[i]);

			next[i] = now[i] + step;
			sum += step * step;
		}
	return sum;
}

void copy_column(double *to, int to_step, const double *from, int from_step, int count)
{
	for (int i = 0; i < count; i++)
		to[i * to_step] = from[i * from_step];
}

class poisson {
public:
	poisson(const options &o, const shmem::job &job)
		: o_(o), me_(job.my_pe()), n_pes_(job.n_pes()), p_(o.size, me_, n_pes_),
		  most_rows_(static_cast<std::size_t>(o.size / p_.down + 3)), bytes_(most_rows_ * static_cast<std::size_t>(p_.stride)),
		  blocks_{shmem::array<double>(bytes_), shmem::array<double>(bytes_)},
		  columns_in_{{shmem::array<double>(most_rows_), shmem::array<double>(most_rows_)},
			      {shmem::array<double>(most_rows_), shmem::array<double>(most_rows_)}},
		  arrived_{shmem::array<std::uint64_t>(sides), shmem::array<std::uint64_t>(sides)}, change_(1), source_(bytes_), column_out_(most_rows_)
	{
		for (int r = 0; r < p_.rows; r++)
			for (int c = 0; c < p_.columns; c++)
				source_[p_.at(r + 1, c + 1)] = charge(o.size, p_.left + c, p_.top + r);
	}

	// Iterates until the residual is small, and says how it falls. Returns the number of
	// iterations.
	long solve()
	{
		const long interval = 50; // the residual is looked at so often: a reduction costs more than an iteration
		const auto start = std::chrono::steady_clock::now();
		double first = 0, shown = 0;
		long k = 0;

		if (me_ == 0)
			std::printf("Poisson on a torus of %d x %d points, %d PEs as %d x %d\n  iteration      residual\n", o_.size,
				    o_.size, n_pes_, p_.across, p_.down);
		while (k < o_.iterations) {
			change_[0] = relax(blocks_[k % 2].data(), blocks_[(k + 1) % 2].data(), source_.data(), p_.columns, p_.rows,
					   p_.stride);
			k++;
			send_edges(k);
			receive_edges(k);
			if (k != 1 && k % interval)
				continue;
			shmem::sum_reduce(change_);
			const double residual = std::sqrt(change_[0]);
			if (k == 1)
				first = residual;
			if (me_ == 0 && (k == 1 || residual < 0.1 * shown)) {
				shown = residual;
				std::printf("%11ld  %12.2e\n", k, shown / first);
			}
			if (residual <= o_.tolerance * first)
				break;
		}
		const std::chrono::duration<double, std::micro> spent = std::chrono::steady_clock::now() - start;
		if (me_ == 0)
			std::printf("%ld iterations, %.1f us each\n", k, spent.count() / static_cast<double>(k ? k : 1));
		return k;
	}

	// PE 0 fetches everybody's block and compares with what one PE computes alone.
	bool check(long iterations)
	{
		const int s = o_.size + 2;
		const std::vector<double> serial = solve_serially(iterations);
		double worst = 0, most = 0;

		for (int pe = 0; pe < n_pes_; pe++) {
			const place p(o_.size, pe, n_pes_);
			std::vector<double> row(static_cast<std::size_t>(p.columns));

			for (int r = 0; r < p.rows; r++) {
				blocks_[iterations % 2].on(pe).get(row.data(), row.size(), p.at(r + 1, 1));
				for (int c = 0; c < p.columns; c++) {
					const double right = serial[static_cast<std::size_t>((p.top + r + 1) * s + p.left + c + 1)];

					worst = std::max(worst, std::fabs(row[static_cast<std::size_t>(c)] - right));
					most = std::max(most, std::fabs(right));
				}
			}
		}
		const bool good = worst <= 1e-12 * most;
		std::printf("largest difference from the serial answer: %.1e\n%s\n", worst, good ? "PASS" : "FAIL");
		return good;
	}

private:
	// Rows go where they belong; columns are packed, sent to a buffer, and unpacked by the
	// receiver.
	void send_edges(long k)
	{
		double *block = blocks_[k % 2].data();
		shmem::array<double> *in = columns_in_[k % 2];

		send(&block[p_.at(p_.north_rows + 1, 1)], &block[p_.at(1, 1)], p_.columns, south, k, north);
		send(&block[p_.at(0, 1)], &block[p_.at(p_.rows, 1)], p_.columns, north, k, south);
		copy_column(column_out_.data(), 1, &block[p_.at(1, 1)], p_.stride, p_.rows);
		send(in[1].data(), column_out_.data(), p_.rows, east, k, west);
		copy_column(column_out_.data(), 1, &block[p_.at(1, p_.columns)], p_.stride, p_.rows);
		send(in[0].data(), column_out_.data(), p_.rows, west, k, east);
	}
	void send(double *dest, const double *source, int n, side arrives, long k, side to)
	{
		shmem_put_signal(dest, source, static_cast<std::size_t>(n), &arrived_[k % 2][arrives], static_cast<std::uint64_t>(k),
				 SHMEM_SIGNAL_SET, p_.neighbour[to]);
	}
	void receive_edges(long k)
	{
		double *block = blocks_[k % 2].data();

		for (std::uint64_t &signal : arrived_[k % 2])
			shmem_signal_wait_until(&signal, SHMEM_CMP_GE, static_cast<std::uint64_t>(k));
		copy_column(&block[p_.at(1, 0)], p_.stride, columns_in_[k % 2][0].data(), 1, p_.rows);
		copy_column(&block[p_.at(1, p_.columns + 1)], p_.stride, columns_in_[k % 2][1].data(), 1, p_.rows);
	}
	std::vector<double> solve_serially(long iterations) const
	{
		const int n = o_.size, s = n + 2;
		const std::size_t points = static_cast<std::size_t>(s) * static_cast<std::size_t>(s);
		std::vector<double> now(points), next(points), source(points);

		for (int r = 0; r < n; r++)
			for (int c = 0; c < n; c++)
				source[static_cast<std::size_t>((r + 1) * s + c + 1)] = charge(n, c, r);
		for (long k = 0; k < iterations; k++) {
			double *d = now.data();

			std::copy_n(&d[n * s + 1], n, &d[1]);
			std::copy_n(&d[s + 1], n, &d[(n + 1) * s + 1]);
			copy_column(&d[s], s, &d[s + n], s, n);
			copy_column(&d[s + n + 1], s, &d[s + 1], s, n);
			relax(d, next.data(), source.data(), n, n, s);
			now.swap(next);
		}
		return now;
	}

	const options o_;
	const int me_, n_pes_;
	const place p_;
	const std::size_t most_rows_, bytes_;
	shmem::array<double> blocks_[2];	// of even and of odd iterations, with a frame of ghost points
	shmem::array<double> columns_in_[2][2]; // for them, from west and east
	shmem::array<std::uint64_t> arrived_[2]; // the last even and odd iteration whose edge came from that side
	shmem::array<double> change_;		// of all points in one iteration, squared and summed up
	std::vector<double> source_, column_out_;
};

// Returns 0 to go on, else the exit code plus one.
int read_options(int argc, char **argv, options &o, int me)
{
	for (int i = 1; i < argc; i += 2) {
		const std::string name = argv[i];
		const char *value = i + 1 < argc ? argv[i + 1] : "";

		if (name == "--size")
			o.size = std::atoi(value);
		else if (name == "--iterations")
			o.iterations = std::atol(value);
		else if (name == "--tolerance")
			o.tolerance = std::atof(value);
		else {
			if (me == 0)
				std::puts("usage: oshrun -n PES stencil [--size N] [--iterations K] [--tolerance T]");
			return name == "--help" ? 1 : 3;
		}
	}
	return 0;
}

} // namespace

int main(int argc, char **argv)
{
	shmem::job job;
	options o;
	const int stop = read_options(argc, argv, o, job.my_pe());

	if (stop)
		return stop - 1;
	if (o.size < job.n_pes() || o.size < 4 || o.size > 20000) {
		if (job.my_pe() == 0)
			std::fprintf(stderr, "stencil: --size must be at least 4 and the number of PEs, at most 20000\n");
		return 2;
	}
	poisson solver(o, job);
	const long iterations = solver.solve();
	shmem_barrier_all();
	const bool good = job.my_pe() != 0 || solver.check(iterations);
	shmem_barrier_all(); // PE 0 reads what is freed now
	return good ? 0 : 1;
}
