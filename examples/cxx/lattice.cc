// SPDX-License-Identifier: BSD-3-Clause
// ../lattice.c in C++: a field on a lattice of four dimensions, whose even points are computed from
// the odd ones and the other way round.
#include "halo.hpp"

namespace {

struct relaxation {
	static constexpr bool in_place = true;
	static constexpr int sweeps = 2; // one for each half
	std::size_t parity = 0;

	void begin(long sweep) { parity = static_cast<std::size_t>(sweep % 2); }
	void update(const block<4> &b, double *field, const double *, const box<4> &part) const
	{
		const std::ptrdiff_t strides[4] = {b.stride(0), b.stride(1), b.stride(2), b.stride(3)};

		b.each(part, [&](const point<4> &p) {
			double *here = &field[b.at(p)], sum = 0;
			std::size_t place = 0;

			for (int d = 0; d < 4; d++)
				place += b.begin[d] + p[d] - 1;
			if (place % 2 != parity)
				return;
			for (const std::ptrdiff_t stride : strides)
				sum += here[stride] + here[-stride];
			*here = 0.25 * *here + 0.09 * sum;
		});
	}
	// Any number that follows from where the point is.
	double first(const block<4> &b, const point<4> &, const point<4> &p) const
	{
		std::size_t n = 1;

		for (int d = 0; d < 4; d++)
			n = n * 31 + (b.begin[d] + p[d] - 1);
		return static_cast<double>(n * 2654435761u % 1000) / 1000;
	}
};

} // namespace

int main(int argc, char **argv)
{
	shmem::job job;
	halo_options<4> o(8, 100);
	const int stop = o.read(argc, argv);

	if (stop)
		return stop - 1;
	halo<4, relaxation> lattice("lattice", o.side, o.grid, o.wraps, o.iterations);
	for (int d = 0; d < 4; d++)
		if (lattice.wraps(d) && lattice.sides()[d] % 2) {
			if (job.my_pe() == 0)
				std::fprintf(stderr,
					     "lattice: where it wraps, %zu points make two even ones neighbours; give an even --side\n",
					     lattice.sides()[d]);
			return 2;
		}
	return lattice.run(relaxation());
}
