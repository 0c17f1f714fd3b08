/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arithmetic of solver.c at one site and one link; nothing here communicates.
 *
 * A spinor is 24 numbers: 4 spins, of each 3 colours, of each the real and the imaginary part. A
 * half spinor has the upper two spins. Spins are those of the chiral basis, in which gamma_5 is 1
 * for the upper two and -1 for the lower two.
 */
#ifndef EXAMPLES_WILSON_H
#define EXAMPLES_WILSON_H

#include <complex.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { COMPLEX = 2, HALF = 2 * 3 * COMPLEX, SPINOR = 2 * HALF, LINK = 3 * 3 };

/*
 * gamma_d takes the lower two spins to the upper ones by this matrix, and the upper to the lower by
 * its adjoint. Row a has one entry.
 */
static const struct entry {
	int column, imaginary;
	double sign;
} gammas[4][2] = {{{1, 1, -1}, {0, 1, -1}}, {{1, 0, -1}, {0, 0, 1}}, {{0, 1, -1}, {1, 1, 1}}, {{0, 0, 1}, {1, 0, 1}}};

/* Adds the three colours of a spin, times 1 or i and a sign. */
static inline void add_colours(double *to, const double *from, int imaginary, double sign)
{
	for (int c = 0; c < 3 * COMPLEX; c += COMPLEX) {
		to[c] += imaginary ? -sign * from[c + 1] : sign * from[c];
		to[c + 1] += imaginary ? sign * from[c] : sign * from[c + 1];
	}
}

/* The upper half of (1 + sign gamma_d) psi; the lower one follows from it. */
static inline void project(double *half, const double *psi, int d, double sign)
{
	memcpy(half, psi, HALF * sizeof *half);
	for (int a = 0; a < 2; a++)
		add_colours(half + 6 * a, psi + HALF + 6 * gammas[d][a].column, gammas[d][a].imaginary,
			    sign * gammas[d][a].sign);
}

static inline void add_whole(double *psi, const double *half, int d, double sign)
{
	for (int a = 0; a < 2; a++) {
		const struct entry *g = &gammas[d][a];

		add_colours(psi + 6 * a, half + 6 * a, 0, 1);
		add_colours(psi + HALF + 6 * g->column, half + 6 * a, g->imaginary,
			    g->imaginary ? -sign * g->sign : sign * g->sign);
	}
}

/* Not inlined, so that every caller gets the same instructions and the same last bit. */
__attribute__((noinline)) static void multiply(double *to, const double complex *link, int adjoint, const double *half)
{
	int row = adjoint ? 1 : 3, column = adjoint ? 3 : 1;
	double conjugate = adjoint ? -1 : 1;

	for (int a = 0; a < 2; a++)
		for (int i = 0; i < 3; i++) {
			double re = 0, im = 0;

			for (int j = 0; j < 3; j++) {
				const double *u = (const double *)&link[i * row + j * column],
					     *v = &half[6 * a + COMPLEX * j];

				re += u[0] * v[0] - conjugate * u[1] * v[1];
				im += u[0] * v[1] + conjugate * u[1] * v[0];
			}
			to[6 * a + COMPLEX * i] = re;
			to[6 * a + COMPLEX * i + 1] = im;
		}
}

/* Numbers from -1 to 1 that follow from a site's place in the whole lattice. */
static inline double hashed(uint64_t place, uint64_t n)
{
	uint64_t z = (place * 128 + n + 1) * 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (double)((z ^ z >> 31) >> 11) * 0x1p-52 - 1;
}

/*
 * Two rows at random, made orthogonal and of length 1; the third is the conjugate of their cross
 * product.
 */
static inline void make_link(double complex *u, uint64_t place, int d)
{
	for (int row = 0; row < 2; row++) {
		double complex overlap = 0, *v = u + 3 * row;
		double length = 0;

		for (int c = 0; c < 3; c++) {
			uint64_t n = (uint64_t)(SPINOR + 12 * d + 6 * row + 2 * c);

			v[c] = hashed(place, n) + I * hashed(place, n + 1);
			overlap += row ? conj(u[c]) * v[c] : 0;
		}
		for (int c = 0; c < 3; c++) {
			v[c] -= overlap * u[c];
			length += creal(v[c] * conj(v[c]));
		}
		for (int c = 0; c < 3; c++)
			v[c] /= sqrt(length);
	}
	for (int c = 0; c < 3; c++)
		u[6 + c] = conj(u[(c + 1) % 3] * u[3 + (c + 2) % 3] - u[(c + 2) % 3] * u[3 + (c + 1) % 3]);
}

#endif
