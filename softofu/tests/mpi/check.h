/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_MPI_CHECK_H
#define SOFTOFU_MPI_CHECK_H

/* What must be so in a program that mpicc compiles: otherwise a line says what was not, and the job ends. */
#include <mpi.h>
#include <stdio.h>

#define CHECK(condition)                                                               \
	do {                                                                           \
		if (!(condition)) {                                                    \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			MPI_Abort(MPI_COMM_WORLD, 1);                                  \
		}                                                                      \
	} while (0)

#endif
