// SPDX-License-Identifier: BSD-3-Clause
// What heat.cc and lattice.cc share: ../halo.h in C++, without its measurements. A lattice of D dimensions is cut in blocks, one for each PE;
// around its block a PE has ghost points, copies of the outermost points of its neighbours' blocks.
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

// Rule has update(block, next, now, box), which computes the points of a box, and first(block, size of the lattice, point).
template <int D, typename Rule> class halo {
public:
	halo(const char *name, const point<D> &side, const std::array<int, D> &sizes, bool wraps, long iterations)
		: iterations_(iterations), team_(make_grid(sizes, wraps)), mine_(side, begin(side)), sides_(whole_of(side)),
		  now_(mine_.points()), next_(Rule::in_place ? 0 : mine_.points())
	{
		std::size_t bytes[2 * D];
		shmemx_exchange_t exchange;
		shmemx_grid_report_t report;

		for (int e = 0; e < 2 * D; e++)
			bytes[e] = sizeof(double) * mine_.layer(e / 2, 1).points();
		shmem::detail::check(shmemx_exchange_create_grid(team_, bytes, SHMEMX_EDGE_EACH_ITERATION, &exchange),
				     "shmemx_exchange_create_grid");
		exchange_.reset(exchange);
		shmemx_grid_report(team_, &report);
		if (shmem_my_pe() != 0)
			return;
		std::printf("%s: blocks of %zu points along each of %d dimensions, %d PEs as", name, side[0], D, shmem_n_pes());
		for (int d = 0; d < D; d++)
			std::printf("%s%d%s", d ? "x" : " ", grid_[d], wraps_[d] ? "" : "m");
		std::printf("\nplaced %s: %.2f hops between neighbours, %.2f in rank order; messages of %zu bytes\n", report.how,
			    report.after.mean_hops, report.before.mean_hops, bytes[0]);
	}

	const point<D> &sides() const { return sides_; }
	bool wraps(int dim) const { return wraps_[dim] != 0; }

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
	shmem_team_t make_grid(const std::array<int, D> &sizes, bool wraps)
	{
		shmem_team_t grid;

		wraps_.fill(wraps);
		shmem::detail::check(shmemx_grid_create(SHMEM_TEAM_WORLD, D, sizes.data(), wraps_.data(), 1, &grid), "shmemx_grid_create");
		shmemx_grid_sizes(grid, grid_.data(), nullptr);
		return grid;
	}
	point<D> whole_of(const point<D> &side) const
	{
		point<D> whole = side;

		for (int d = 0; d < D; d++)
			whole[d] *= static_cast<std::size_t>(grid_[d]);
		return whole;
	}
	point<D> begin(const point<D> &side, int pe = -1) const
	{
		std::array<int, D> at;
		point<D> from = side;

		shmemx_grid_coordinates(team_, pe < 0 ? team_.my_pe() : pe, at.data());
		for (int d = 0; d < D; d++)
			from[d] *= static_cast<std::size_t>(at[d]);
		return from;
	}
	void fill(const Rule &rule, const block<D> &b, double *to) const
	{
		b.each(b.inside(), [&](const point<D> &p) { to[b.at(p)] = rule.first(b, sides_, p); });
	}
	bool has(int edge) const { return shmemx_grid_neighbour(team_, edge / 2, edge % 2 ? -1 : 1) >= 0; }

	// Send the faces, compute what needs no ghost point, wait for the neighbours' faces, compute the rest.
	void sweep(const Rule &rule)
	{
		double *now = now_.data(), *next = Rule::in_place ? now : next_.data();
		box<D> bulk = mine_.inside();

		for (int e = 0; e < 2 * D; e++)
			if (has(e))
				mine_.pack(shmemx_exchange_buffer(exchange_.get(), e), now, mine_.layer(e / 2, e % 2 ? 1 : mine_.side[e / 2]));
		shmemx_exchange_start(exchange_.get(), SHMEMX_ALL_EDGES, SIZE_MAX);
		for (int d = 0; d < D; d++)
			bulk.first[d] = 2, bulk.counts[d] = mine_.side[d] > 2 ? mine_.side[d] - 2 : 0;
		rule.update(mine_, next, now, bulk);
		shmemx_exchange_wait(exchange_.get(), SHMEMX_ALL_EDGES, nullptr);
		for (int e = 0; e < 2 * D; e++)
			if (has(e))
				mine_.unpack(now, shmemx_exchange_received(exchange_.get(), e, nullptr),
					     mine_.layer(e / 2, e % 2 ? 0 : mine_.side[e / 2] + 1));
		shmemx_exchange_release(exchange_.get(), SHMEMX_ALL_EDGES);
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
	std::vector<double> solve_alone(Rule rule, const block<D> &whole) const
	{
		std::vector<double> now(whole.points()), next(whole.points());

		fill(rule, whole, now.data());
		for (long sweep = 0; sweep < iterations_ * Rule::sweeps; sweep++) {
			rule.begin(sweep);
			for (int e = 0; e < 2 * D; e++) {
				const box<D> face = whole.layer(e / 2, e % 2 ? 1 : whole.side[e / 2]);
				std::vector<double> points(face.points());

				if (!wraps_[e / 2])
					continue;
				whole.pack(points.data(), now.data(), face);
				whole.unpack(now.data(), points.data(), whole.layer(e / 2, e % 2 ? whole.side[e / 2] + 1 : 0));
			}
			rule.update(whole, Rule::in_place ? now.data() : next.data(), now.data(), whole.inside());
			if (!Rule::in_place)
				now.swap(next);
		}
		return now;
	}
	int compare(const Rule &rule)
	{
		const block<D> whole(sides_, point<D>());
		const std::vector<double> alone = solve_alone(rule, whole);
		std::vector<double> theirs(mine_.points()), got(mine_.inside().points()), right(got.size());
		std::size_t blocks = 0;
		double sum = 0;

		for (int pe = 0; pe < team_.n_pes(); pe++) {
			box<D> there = mine_.inside();
			const point<D> from = begin(mine_.side, pe);

			for (int d = 0; d < D; d++)
				there.first[d] += from[d];
			now_.on(team_.translate_pe(pe)).get(theirs.data(), theirs.size());
			mine_.pack(got.data(), theirs.data(), mine_.inside());
			whole.pack(right.data(), alone.data(), there);
			blocks += std::memcmp(got.data(), right.data(), got.size() * sizeof(double)) != 0;
		}
		whole.each(whole.inside(), [&](const point<D> &p) { sum += alone[whole.at(p)]; });
		std::printf("sum of all points: %.17g\nblocks that differ from the serial answer: %zu\n%s\n", sum, blocks,
			    blocks ? "FAIL" : "PASS");
		std::fflush(stdout);
		return blocks > 0;
	}

	const long iterations_;
	std::array<int, D> wraps_, grid_;
	shmem::team team_;
	const block<D> mine_;
	const point<D> sides_; // of the whole lattice
	shmem::array<double> now_, next_;
	std::unique_ptr<shmemx_exchange_t, end_exchange> exchange_;
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
