// SPDX-License-Identifier: BSD-3-Clause
// Teaches how a C++ program owns an exchange and a plan, and how messages carry a type of its own:
// half spinors of a lattice QCD solver.
//
// ../solver.c in C++; the formulas are there: Wilson's operator and conjugate gradients. An
// exchange hides the faces behind the bulk, and a plan carries the global sums. The program writes
// half spinors to the buffers of the exchange and reads them there, without a copy: a std::array of
// std::complex has the bytes of C's numbers.
//
// PE 0 repeats everything alone. One M^+ M must agree in every bit. Sums over PEs have another
// order, so the solution must agree to 1e-12.
#include "halo.hpp"
#include "wilson.hpp"

#include <algorithm>

namespace
{

constexpr int edges = 8; // upwards along dimension d is 2 * d, downwards 2 * d + 1
constexpr double kappa = 0.13, tolerance = 1e-10;

enum { even, odd };

using field = std::vector<spinor>; // of the sites of one parity
using site_list = std::vector<std::size_t>;

// Where a site is in a lattice with such sides, the last of which counts fastest. Every other one
// has the same parity.
std::size_t place_in(const point<4> &sides, const point<4> &at)
{
	std::size_t n = 0;

	for (int d = 0; d < 4; d++)
		n = n * sides[d] + at[d];
	return n;
}

// Sites of a parity are numbered in the order of their places.
point<4> coordinates(const point<4> &sides, std::size_t site, int parity)
{
	std::size_t n = 2 * site, sum = static_cast<std::size_t>(parity);
	point<4> at;

	for (int d = 3; d >= 0; d--) {
		at[d] = n % sides[d];
		n /= sides[d];
		sum += at[d];
	}
	at[3] += sum % 2;
	return at;
}

std::size_t place_in_whole(const block<4> &part, const block<4> &whole, point<4> at)
{
	for (int d = 0; d < 4; d++)
		at[d] += part.begin[d];
	return place_in(whole.side, at);
}

// The sites of one parity in a block.
struct sublattice {
	std::vector<std::array<su3, 4>> links;
	std::vector<std::array<int, edges>> source; // the neighbour along each edge, or -1 - its place in the message
	std::array<site_list, edges> faces;	    // the sites whose half spinors leave, as the message has them
	site_list bulk, boundary;		    // the sites that need no message, and the others

	// A block that is cut out of the whole has its neighbours beyond its faces on other PEs;
	// otherwise it wraps.
	sublattice(const block<4> &part, const block<4> &whole, bool cut, int parity)
	{
		const std::size_t sites = part.inside().points() / 2;

		for (std::size_t site = 0; site < sites; site++) {
			const point<4> at = coordinates(part.side, site, parity);
			const std::size_t place = place_in_whole(part, whole, at);
			bool far = false;

			links.emplace_back();
			source.emplace_back();
			for (int d = 0; d < 4; d++)
				links[site][d] = make_link(place, d);
			for (int e = 0; e < edges; e++) {
				source[site][e] = neighbour(part.side, cut, site, at, e);
				far = far || source[site][e] < 0;
			}
			(far ? boundary : bulk).push_back(site);
		}
	}

      private:
	// Faces are in the order of their sites at both ends.
	int neighbour(const point<4> &sides, bool cut, std::size_t site, point<4> at, int e)
	{
		const int d = e / 2;

		if (cut && at[d] == (e % 2 ? 0 : sides[d] - 1)) {
			faces[e].push_back(site);
			return -static_cast<int>(faces[e].size());
		}
		at[d] = (at[d] + (e % 2 ? sides[d] - 1 : 1)) % sides[d];
		return static_cast<int>(place_in(sides, at) / 2);
	}
};

struct end_plan {
	typedef shmemx_plan_t pointer;
	void operator()(shmemx_plan_t plan) const
	{
		shmemx_plan_free(plan);
	}
};

// What joins the PEs: the exchange of the grid for faces, a plan for sums.
class network
{
      public:
	explicit network(const halo_grid<4> &grid) : exchange_(grid.exchange()), mine_(1), all_(1)
	{
		shmemx_plan_t plan;

		shmem::detail::check(shmemx_allreduce_init(grid.team(), all_.data(), mine_.data(), 1, SHMEMX_SUM,
							   SHMEMX_PLAN_AUTO, &plan),
				     "shmemx_allreduce_init");
		plan_.reset(plan);
	}

	shmemx_exchange_t exchange() const
	{
		return exchange_;
	}
	void start_sum(double mine)
	{
		mine_[0] = mine;
		shmemx_plan_start(plan_.get());
	}
	double finish_sum()
	{
		shmemx_plan_wait(plan_.get());
		return all_[0];
	}

      private:
	const shmemx_exchange_t exchange_;
	shmem::array<double> mine_, all_;
	std::unique_ptr<shmemx_plan_t, end_plan> plan_; // ends before the arrays that it reads and writes
};

double product(const spinor &a, const spinor &b)
{
	double sum = 0;

	for (int s = 0; s < 4; s++)
		for (int c = 0; c < 3; c++) {
			sum += a[s][c].real() * b[s][c].real();
			sum += a[s][c].imag() * b[s][c].imag();
		}
	return sum;
}

// out becomes a + factor * b; it may be one of them.
void combine(field &out, const field &a, double factor, const field &b)
{
	for (std::size_t site = 0; site < out.size(); site++)
		for (int s = 0; s < 4; s++)
			for (int c = 0; c < 3; c++)
				out[site][s][c] = a[site][s][c] + factor * b[site][s][c];
}

struct solution {
	long iterations;
	double residual; // what is left of b, as a part of it
};

class solver
{
      public:
	// Without a network, part is the whole lattice.
	solver(const block<4> &part, const block<4> &whole, network *net)
	    : net_(net), sub_{{part, whole, net != nullptr, even}, {part, whole, net != nullptr, odd}},
	      odd_(sub_[odd].links.size()), between_(odd_.size())
	{
		for (std::size_t site = 0; site < odd_.size(); site++)
			b_.push_back(hashed_spinor(place_in_whole(part, whole, coordinates(part.side, site, even))));
	}

	const field &b() const
	{
		return b_;
	}
	// M^+ M: gamma_5 M twice.
	void apply(field &out, const field &in)
	{
		turned_operator(between_, in);
		turned_operator(out, between_);
	}

	// Conjugate gradients, from x = 0 on.
	solution solve(field &x, long most)
	{
		field r = b_, p = b_, q(b_.size());
		long n = 0;

		x.assign(b_.size(), spinor());
		start_product(r, r);
		const double whole = finish_product();
		double left = whole;
		while (n < most && left > tolerance * tolerance * whole) {
			const double before = left;

			apply(q, p);
			start_product(p, q);
			const double step = left / finish_product();
			combine(r, r, -step, q);
			start_product(r, r);
			combine(x, x, step, p); // while the sum is under way
			left = finish_product();
			combine(p, r, left / before, p);
			n++;
		}
		return {n, std::sqrt(left / whole)};
	}

      private:
	// What a site sends along an edge: the sender multiplies what goes upwards by its own link.
	half_spinor leave(const field &in, int parity, std::size_t site, int e) const
	{
		const int d = e / 2;

		return e % 2 ? project(in[site], d, -1)
			     : multiply(sub_[parity].links[site][d], true, project(in[site], d, 1));
	}
	// What comes along the eight edges, in their order wherever it comes from.
	void hop_sites(field &out, const field &in, int parity, const site_list &sites) const
	{
		for (const std::size_t site : sites) {
			spinor sum{};

			for (int e = 0; e < edges; e++) {
				const int from = sub_[parity].source[site][e];
				half_spinor half = from < 0 ? arrived_[e][-1 - from]
							    : leave(in, !parity, static_cast<std::size_t>(from), e ^ 1);

				if (e % 2 == 0)
					half = multiply(sub_[parity].links[site][e / 2], false, half);
				add_whole(sum, half, e / 2, e % 2 ? 1 : -1);
			}
			out[site] = sum;
		}
	}
	void pack_faces(const field &in, int parity) const
	{
		for (int e = 0; e < edges; e++) {
			auto *to = static_cast<half_spinor *>(shmemx_exchange_buffer(net_->exchange(), e));

			for (const std::size_t site : sub_[parity].faces[e])
				*to++ = leave(in, parity, site, e);
		}
	}
	// Wilson's hopping term from the other parity to this one. The bulk is computed while the
	// faces travel.
	void hop(field &out, const field &in, int parity)
	{
		if (net_) {
			pack_faces(in, !parity);
			shmemx_exchange_start(net_->exchange(), SHMEMX_ALL_EDGES, SIZE_MAX);
		}
		hop_sites(out, in, parity, sub_[parity].bulk);
		if (!net_)
			return;
		shmemx_exchange_wait(net_->exchange(), SHMEMX_ALL_EDGES, nullptr);
		for (int e = 0; e < edges; e++)
			arrived_[e] = static_cast<const half_spinor *>(
				shmemx_exchange_received(net_->exchange(), e, nullptr));
		hop_sites(out, in, parity, sub_[parity].boundary);
		shmemx_exchange_release(net_->exchange(), SHMEMX_ALL_EDGES);
	}
	// gamma_5 M: the lower two spins change their sign.
	void turned_operator(field &out, const field &in)
	{
		hop(odd_, in, odd);
		hop(out, odd_, even);
		for (std::size_t site = 0; site < in.size(); site++)
			for (int s = 0; s < 4; s++)
				for (int c = 0; c < 3; c++) {
					const complex m = in[site][s][c] - kappa * kappa * out[site][s][c];

					out[site][s][c] = s < 2 ? m : -m;
				}
	}
	// Between start and finish there is time to do something else.
	void start_product(const field &a, const field &b)
	{
		mine_ = 0;
		for (std::size_t site = 0; site < a.size(); site++)
			mine_ += product(a[site], b[site]);
		if (net_)
			net_->start_sum(mine_);
	}
	double finish_product()
	{
		return net_ ? net_->finish_sum() : mine_;
	}

	network *const net_;
	const sublattice sub_[2]; // of each parity
	std::array<const half_spinor *, edges> arrived_{};
	field b_, odd_, between_;
	double mine_ = 0; // this PE's part of a sum
};

struct difference {
	std::size_t sites; // which differ in any bit
	double part;	   // how far, as a part of the size
};

// Between a field of the whole job, which PE 0 fetches, and the serial one.
difference compare(const halo_grid<4> &grid, shmem::array<spinor> &mine, const field &serial)
{
	field theirs(mine.size());
	double far = 0, size = 0;
	std::size_t differ = 0;

	for (int pe = 0; pe < grid.team().n_pes(); pe++) {
		const block<4> part = grid.block_of(pe);

		mine.on(grid.team().translate_pe(pe)).get(theirs.data(), theirs.size());
		for (std::size_t site = 0; site < theirs.size(); site++) {
			const point<4> at = coordinates(part.side, site, even);
			const spinor &same = serial[place_in_whole(part, grid.whole(), at) / 2];
			spinor away = theirs[site];

			differ += std::memcmp(&away, &same, sizeof same) != 0;
			for (int s = 0; s < 4; s++)
				for (int c = 0; c < 3; c++)
					away[s][c] -= same[s][c];
			far += product(away, away);
			size += product(same, same);
		}
	}
	return {differ, std::sqrt(far / size)};
}

// On PE 0 alone; returns the exit code.
int check(const halo_grid<4> &grid, shmem::array<spinor> &once, shmem::array<spinor> &x, long iterations)
{
	solver alone(grid.whole(), grid.whole(), nullptr);
	field serial(alone.b().size());

	alone.apply(serial, alone.b());
	const std::size_t differ = compare(grid, once, serial).sites;
	std::printf("M^+ M once: %zu of %zu sites differ from the serial answer\n", differ, serial.size());
	alone.solve(serial, iterations);
	const double part = compare(grid, x, serial).part;
	const bool good = differ == 0 && part <= 1e-12;
	std::printf("the solution differs from the serial one by %.1e of its size\n%s\n", part, good ? "PASS" : "FAIL");
	std::fflush(stdout);
	return good ? 0 : 1;
}

int run(const halo_grid<4> &grid, long iterations)
{
	network net(grid);
	solver all(grid.mine(), grid.whole(), &net);
	field mine(all.b().size());
	shmem::array<spinor> once(mine.size()), x(mine.size()); // which PE 0 reads
	int wrong = 0;

	all.apply(mine, all.b());
	std::copy(mine.begin(), mine.end(), once.begin());
	const solution s = all.solve(mine, iterations);
	std::copy(mine.begin(), mine.end(), x.begin());
	shmem_barrier_all();
	if (shmem_my_pe() == 0) {
		std::printf("%ld iterations, which leave %.1e of b\n", s.iterations, s.residual);
		wrong = check(grid, once, x, s.iterations);
	}
	shmem_barrier_all();
	return wrong;
}

} // namespace

int main(int argc, char **argv)
{
	shmem::job job;
	halo_options<4> o(8, 200);
	const int stop = o.read(argc, argv);

	if (stop)
		return stop - 1;
	// Every other point of a face sends a half spinor.
	const halo_grid<4> grid("solver", o.side, o.grid, o.wraps, sizeof(half_spinor) / 2);
	if (o.side[0] % 2 || !o.wraps) {
		if (job.my_pe() == 0)
			std::fprintf(
				stderr,
				"solver: the lattice wraps in blocks that begin with an even site; give an even --side and no --open\n");
		return 2;
	}
	return run(grid, o.iterations);
}
