// SPDX-License-Identifier: BSD-3-Clause
// The arithmetic of solver.cc at one site and one link, as in ../wilson.h and in its order, so that every bit is the same; nothing here
// communicates. A spinor has 3 colours for each of 4 spins; a half spinor has the upper two spins. Spins are those of the chiral basis, in
// which gamma_5 is 1 for the upper two and -1 for the lower two.
#ifndef EXAMPLES_WILSON_HPP
#define EXAMPLES_WILSON_HPP

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>

using complex = std::complex<double>;
using colours = std::array<complex, 3>;
using half_spinor = std::array<colours, 2>;
using spinor = std::array<colours, 4>;
using su3 = std::array<colours, 3>; // the rows of the matrix of a link

// Where row a of gamma_d, which takes the lower two spins to the upper ones, has its one entry. The adjoint takes the upper to the lower.
struct gamma_entry {
	int column;
	bool imaginary;
	double sign;
};

inline const gamma_entry &gamma_row(int d, int a)
{
	static const gamma_entry rows[4][2] = {{{1, true, -1}, {0, true, -1}},
					       {{1, false, -1}, {0, false, 1}},
					       {{0, true, -1}, {1, true, 1}},
					       {{0, false, 1}, {1, false, 1}}};

	return rows[d][a];
}

// Adds three colours, times 1 or i and a sign.
inline void add_colours(colours &to, const colours &from, bool imaginary, double sign)
{
	for (int c = 0; c < 3; c++)
		to[c] += imaginary ? complex(-sign * from[c].imag(), sign * from[c].real()) : sign * from[c];
}

// The upper half of (1 + sign gamma_d) psi; the lower one follows from it.
inline half_spinor project(const spinor &psi, int d, double sign)
{
	half_spinor half{{psi[0], psi[1]}};

	for (int a = 0; a < 2; a++) {
		const gamma_entry &g = gamma_row(d, a);

		add_colours(half[a], psi[2 + g.column], g.imaginary, sign * g.sign);
	}
	return half;
}

inline void add_whole(spinor &psi, const half_spinor &half, int d, double sign)
{
	for (int a = 0; a < 2; a++) {
		const gamma_entry &g = gamma_row(d, a);

		add_colours(psi[a], half[a], false, 1);
		add_colours(psi[2 + g.column], half[a], g.imaginary, g.imaginary ? -sign * g.sign : sign * g.sign);
	}
}

// By the matrix of a link, or by its adjoint. Not by operator* of complex numbers, which looks for infinities in each product; not inlined,
// so that every caller gets the same instructions and the same last bit.
__attribute__((noinline)) static half_spinor multiply(const su3 &u, bool adjoint, const half_spinor &half)
{
	half_spinor product;

	for (int a = 0; a < 2; a++)
		for (int i = 0; i < 3; i++) {
			double re = 0, im = 0;

			for (int j = 0; j < 3; j++) {
				const complex by = adjoint ? std::conj(u[j][i]) : u[i][j], v = half[a][j];

				re += by.real() * v.real() - by.imag() * v.imag();
				im += by.real() * v.imag() + by.imag() * v.real();
			}
			product[a][i] = complex(re, im);
		}
	return product;
}

// Numbers from -1 to 1 that follow from a site's place in the whole lattice.
inline double hashed(std::uint64_t place, int n)
{
	std::uint64_t z = (place * 128 + static_cast<std::uint64_t>(n) + 1) * 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return std::ldexp(static_cast<double>((z ^ z >> 31) >> 11), -52) - 1;
}

inline spinor hashed_spinor(std::uint64_t place)
{
	spinor psi;
	int n = 0;

	for (colours &spin : psi)
		for (complex &number : spin) {
			number = complex(hashed(place, n), hashed(place, n + 1));
			n += 2;
		}
	return psi;
}

// Two rows at random, made orthogonal and of length 1; the third is the conjugate of their cross product.
inline su3 make_link(std::uint64_t place, int d)
{
	su3 u;

	for (int row = 0; row < 2; row++) {
		complex overlap = 0;
		double length = 0;

		for (int c = 0; c < 3; c++) {
			const int n = 24 + 12 * d + 6 * row + 2 * c; // the site's spinor has the numbers before

			u[row][c] = complex(hashed(place, n), hashed(place, n + 1));
			overlap += row ? std::conj(u[0][c]) * u[1][c] : 0;
		}
		for (int c = 0; c < 3; c++) {
			u[row][c] -= overlap * u[0][c];
			length += std::norm(u[row][c]);
		}
		for (complex &number : u[row])
			number /= std::sqrt(length);
	}
	for (int c = 0; c < 3; c++)
		u[2][c] = std::conj(u[0][(c + 1) % 3] * u[1][(c + 2) % 3] - u[0][(c + 2) % 3] * u[1][(c + 1) % 3]);
	return u;
}

#endif
