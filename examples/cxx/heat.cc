// SPDX-License-Identifier: BSD-3-Clause
// ../heat.c in C++: a hot ball in a cube cools down. The cube wraps, or with --open its outside
// stays at 0.
#include "halo.hpp"

namespace {

struct diffusion {
	static constexpr bool in_place = false;
	static constexpr int sweeps = 1;

	void begin(long) {}
	void update(const block<3> &b, double *next, const double *now, const box<3> &part) const
	{
		const std::ptrdiff_t x = b.stride(0), y = b.stride(1);

		b.each(part, [&](const point<3> &p) {
			const double *t = &now[b.at(p)];

			next[t - now] = t[0] + 0.1 * (t[-1] + t[1] + t[-y] + t[y] + t[-x] + t[x] - 6 * t[0]);
		});
	}
	// A ball in the middle of the lattice.
	double first(const block<3> &b, const point<3> &sides, const point<3> &p) const
	{
		double radius = 0;

		for (int d = 0; d < 3; d++) {
			const double away = static_cast<double>(b.begin[d] + p[d] - 1) / static_cast<double>(sides[d]) - 0.5;

			radius += away * away;
		}
		return radius < 0.1 ? 100 : 0;
	}
};

} // namespace

int main(int argc, char **argv)
{
	shmem::job job;
	halo_options<3> o(24, 200);
	const int stop = o.read(argc, argv);

	if (stop)
		return stop - 1;
	halo<3, diffusion> heat("heat", o.side, o.grid, o.wraps, o.iterations);
	return heat.run(diffusion());
}
