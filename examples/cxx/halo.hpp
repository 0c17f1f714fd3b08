// SPDX-License-Identifier: BSD-3-Clause
// What heat.cc, lattice.cc and solver.cc share: ../halo.h in C++, without its measurements. A lattice of D dimensions is cut in blocks, one
// for each PE. In heat.cc and lattice.cc a PE has ghost points around its block, copies of the outermost points of its neighbours' blocks.
#ifndef EXAMPLES_HALO_HPP
#define EXAMPLES_HALO_HPP

#include <shmem.hpp>
#include <shmemx.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

template <int D> using point = std::array<std::size_t, D>;

// A box of a block: so many points from first on along each dimension.
template <int D> struct box {
	point<D> first, counts;

	std::size_t points() const
	{
		std::size_t n = 1;

		for (std::size_t count : counts)
			n *= count;
		return n;
	}
};

// A block of the lattice, or all of it: where it begins, how long its sides are, without and with ghost points.
template <int D> struct block {
	point<D> side, size, begin;

	block(const point<D> &of_side, const point<D> &at) : side(of_side), size(of_side), begin(at)
	{
		for (std::size_t &n : size)
			n += 2;
	}
	std::size_t points() const { return box<D>{{}, size}.points(); }
	std::size_t at(const point<D> &p) const
	{
		std::size_t i = 0;

		for (int d = 0; d < D; d++)
			i = i * size[d] + p[d];
		return i;
	}
	std::ptrdiff_t stride(int dim) const
	{
		std::size_t n = 1;

		for (int d = dim + 1; d < D; d++)
			n *= size[d];
		return static_cast<std::ptrdiff_t>(n);
	}
	box<D> inside() const
	{
		box<D> all{{}, side};

		all.first.fill(1);
		return all;
	}
	// The layer of points along a dimension that begins there, as far as the block's own points go in the others.
	box<D> layer(int dim, std::size_t there) const
	{
		box<D> face = inside();

		face.first[dim] = there;
		face.counts[dim] = 1;
		return face;
	}
	void pack(void *to, const double *from, const box<D> &b) const
	{
		shmemx_pack(to, from, sizeof *from, D, size.data(), b.first.data(), b.counts.data());
	}
	void unpack(double *to, const void *from, const box<D> &b) const
	{
		shmemx_unpack(to, from, sizeof *to, D, size.data(), b.first.data(), b.counts.data());
	}
	// In order, the last dimension fastest.
	template <typename Visit> static void each(const box<D> &b, Visit visit)
	{
		point<D> p = b.first;

		if (b.points() == 0)
			return;
		for (int d = 0; d >= 0;) {
			visit(p);
			for (d = D - 1; d >= 0 && ++p[d] == b.first[d] + b.counts[d]; d--)
				p[d] = b.first[d];
		}
	}
};

struct end_exchange {
	typedef shmemx_exchange_t pointer;
	void operator()(shmemx_exchange_t exchange) const { shmemx_exchange_destroy(exchange); }
};

// The PEs as a grid, a block of the same sides for each, and the exchange that joins neighbours.
template <int D> class halo_grid {
public:
	// A message has so many bytes for each point of a face. PE 0 says what grid it is.
	halo_grid(const char *name, const point<D> &side, const std::array<int, D> &sizes, bool wraps, std::size_t bytes_of_point)
		: side_(side), team_(make_team(sizes, wraps))
	{
		std::size_t bytes[2 * D];
		shmemx_exchange_t exchange;
		shmemx_grid_report_t report;

		for (int e = 0; e < 2 * D; e++)
			bytes[e] = bytes_of_point * block<D>(side, {}).layer(e / 2, 1).points();
		shmem::detail::check(shmemx_exchange_create_grid(team_, bytes, SHMEMX_EDGE_EACH_ITERATION, &exchange),
				     "shmemx_exchange_create_grid");
		exchange_.reset(exchange);
		shmemx_grid_report(team_, &report);
		if (shmem_my_pe() != 0)
			return;
		std::printf("%s: blocks of %zu points along each of %d dimensions, %d PEs as", name, side[0], D, shmem_n_pes());
		for (int d = 0; d < D; d++)
			std::printf("%s%d%s", d ? "x" : " ", sizes_[d], wraps_[d] ? "" : "m");
		std::printf("\nplaced %s: %.2f hops between neighbours, %.2f in rank order; messages of %zu bytes\n", report.how,
			    report.after.mean_hops, report.before.mean_hops, bytes[0]);
	}

	const shmem::team &team() const { return team_; }
	shmemx_exchange_t exchange() const { return exchange_.get(); }
	bool wraps(int dim) const { return wraps_[dim] != 0; }
	bool has(int edge) const { return shmemx_grid_neighbour(team_, edge / 2, edge % 2 ? -1 : 1) >= 0; }

	block<D> whole() const
	{
		point<D> sides = side_;

		for (int d = 0; d < D; d++)
			sides[d] *= static_cast<std::size_t>(sizes_[d]);
		return block<D>(sides, {});
	}
	block<D> block_of(int pe) const
	{
		std::array<int, D> at;
		point<D> begin = side_;

		shmemx_grid_coordinates(team_, pe, at.data());
		for (int d = 0; d < D; d++)
			begin[d] *= static_cast<std::size_t>(at[d]);
		return block<D>(side_, begin);
	}
	block<D> mine() const { return block_of(team_.my_pe()); }

private:
	shmem_team_t make_team(const std::array<int, D> &sizes, bool wraps)
	{
		shmem_team_t grid;

		wraps_.fill(wraps);
		shmem::detail::check(shmemx_grid_create(SHMEM_TEAM_WORLD, D, sizes.data(), wraps_.data(), 1, &grid), "shmemx_grid_create");
		shmemx_grid_sizes(grid, sizes_.data(), nullptr);
		return grid;
	}

	const point<D> side_;
	std::array<int, D> wraps_, sizes_;
	shmem::team team_;
	std::unique_ptr<shmemx_exchange_t, end_exchange> exchange_;
};

// Rule has update(block, next, now, box), which computes the points of a box, and first(block, size of the lattice, point).
template <int D, typename Rule> class halo {
public:
	halo(const char *name, const point<D> &side, const std::array<int, D> &sizes, bool wraps, long iterations)
		: iterations_(iterations), grid_(name, side, sizes, wraps, sizeof(double)), mine_(grid_.mine()), whole_(grid_.whole()),
		  now_(mine_.points()), next_(Rule::in_place ? 0 : mine_.points())
	{
	}

	const point<D> &sides() const { return whole_.side; }
	bool wraps(int dim) const { return grid_.wraps(dim); }

	// By all PEs, then by PE 0 alone; PE 0 says whether all is the same. Returns the exit code.
	int run(Rule rule)
	{
		int differ = 0;

		fill(rule, mine_, now_.data());
		for (long sweep = 0; sweep < iterations_ * Rule::sweeps; sweep++) {
			rule.begin(sweep);
			this->sweep(rule);
			if (!Rule::in_place)
				swap(now_, next_);
		}
		shmem_barrier_all();
		if (shmem_my_pe() == 0)
			differ = compare(rule);
		shmem_barrier_all();
		return differ;
	}

private:
	void fill(const Rule &rule, const block<D> &b, double *to) const
	{
		b.each(b.inside(), [&](const point<D> &p) { to[b.at(p)] = rule.first(b, whole_.side, p); });
	}

	// Send the faces, compute what needs no ghost point, wait for the neighbours' faces, compute the rest.
	void sweep(const Rule &rule)
	{
		const shmemx_exchange_t exchange = grid_.exchange();
		double *now = now_.data(), *next = Rule::in_place ? now : next_.data();
		box<D> bulk = mine_.inside();

		for (int e = 0; e < 2 * D; e++)
			if (grid_.has(e))
				mine_.pack(shmemx_exchange_buffer(exchange, e), now, mine_.layer(e / 2, e % 2 ? 1 : mine_.side[e / 2]));
		shmemx_exchange_start(exchange, SHMEMX_ALL_EDGES, SIZE_MAX);
		for (int d = 0; d < D; d++)
			bulk.first[d] = 2, bulk.counts[d] = mine_.side[d] > 2 ? mine_.side[d] - 2 : 0;
		rule.update(mine_, next, now, bulk);
		shmemx_exchange_wait(exchange, SHMEMX_ALL_EDGES, nullptr);
		for (int e = 0; e < 2 * D; e++)
			if (grid_.has(e))
				mine_.unpack(now, shmemx_exchange_received(exchange, e, nullptr),
					     mine_.layer(e / 2, e % 2 ? 0 : mine_.side[e / 2] + 1));
		shmemx_exchange_release(exchange, SHMEMX_ALL_EDGES);
		boundary(rule, next, now);
	}
	// Along each dimension the two outermost layers, without the points that were in one before.
	void boundary(const Rule &rule, double *next, const double *now) const
	{
		for (int d = 0; d < D; d++)
			for (std::size_t there = 1; there <= mine_.side[d]; there += mine_.side[d] > 1 ? mine_.side[d] - 1 : 1) {
				box<D> part = mine_.layer(d, there);

				for (int i = 0; i < d; i++)
					part.first[i] = 2, part.counts[i] = mine_.side[i] > 2 ? mine_.side[i] - 2 : 0;
				rule.update(mine_, next, now, part);
			}
	}
	std::vector<double> solve_alone(Rule rule) const
	{
		std::vector<double> now(whole_.points()), next(whole_.points());

		fill(rule, whole_, now.data());
		for (long sweep = 0; sweep < iterations_ * Rule::sweeps; sweep++) {
			rule.begin(sweep);
			for (int e = 0; e < 2 * D; e++) {
				const box<D> face = whole_.layer(e / 2, e % 2 ? 1 : whole_.side[e / 2]);
				std::vector<double> points(face.points());

				if (!grid_.wraps(e / 2))
					continue;
				whole_.pack(points.data(), now.data(), face);
				whole_.unpack(now.data(), points.data(), whole_.layer(e / 2, e % 2 ? whole_.side[e / 2] + 1 : 0));
			}
			rule.update(whole_, Rule::in_place ? now.data() : next.data(), now.data(), whole_.inside());
			if (!Rule::in_place)
				now.swap(next);
		}
		return now;
	}
	int compare(const Rule &rule)
	{
		const std::vector<double> alone = solve_alone(rule);
		std::vector<double> theirs(mine_.points()), got(mine_.inside().points()), right(got.size());
		std::size_t blocks = 0;
		double sum = 0;

		for (int pe = 0; pe < grid_.team().n_pes(); pe++) {
			box<D> there = mine_.inside();
			const point<D> from = grid_.block_of(pe).begin;

			for (int d = 0; d < D; d++)
				there.first[d] += from[d];
			now_.on(grid_.team().translate_pe(pe)).get(theirs.data(), theirs.size());
			mine_.pack(got.data(), theirs.data(), mine_.inside());
			whole_.pack(right.data(), alone.data(), there);
			blocks += std::memcmp(got.data(), right.data(), got.size() * sizeof(double)) != 0;
		}
		whole_.each(whole_.inside(), [&](const point<D> &p) { sum += alone[whole_.at(p)]; });
		std::printf("sum of all points: %.17g\nblocks that differ from the serial answer: %zu\n%s\n", sum, blocks,
			    blocks ? "FAIL" : "PASS");
		std::fflush(stdout);
		return blocks > 0;
	}

	const long iterations_;
	const halo_grid<D> grid_;
	const block<D> mine_, whole_;
	shmem::array<double> now_, next_;
};

// What the command line asks for.
template <int D> struct halo_options {
	point<D> side;
	std::array<int, D> grid;
	bool wraps = true;
	long iterations;

	halo_options(std::size_t length, long n) : iterations(n) { side.fill(length), grid.fill(0); }

	// Returns 0, or the exit code plus one.
	int read(int argc, char **argv)
	{
		for (int i = 1; i < argc; i++) {
			const std::string name = argv[i];

			if (name == "--open") {
				wraps = false;
				continue;
			}
			char *value = i + 1 < argc ? argv[++i] : argv[i];
			if (name == "--side")
				side.fill(std::strtoul(value, nullptr, 10));
			else if (name == "--iterations")
				iterations = std::atol(value);
			else if (name == "--grid")
				for (int d = 0; d < D && *value; d++, value += *value == ',')
					grid[d] = static_cast<int>(std::strtol(value, &value, 10));
			else
				return usage(argv[0], name == "--help" ? 1 : 3);
		}
		return side[0] < 1 || iterations < 1 ? usage(argv[0], 3) : 0;
	}
	static int usage(const char *program, int result)
	{
		if (shmem_my_pe() == 0)
			std::printf("usage: oshrun -n PES %s [--side N] [--grid N,N,...] [--iterations N] [--open]\n", program);
		return result;
	}
};

#endif
