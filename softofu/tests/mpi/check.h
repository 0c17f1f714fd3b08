/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_MPI_CHECK_H
#define SOFTOFU_MPI_CHECK_H

/* A check in a program that mpicc compiles: prints one line and ends the job if it fails. */
#include <mpi.h>
#include <stdio.h>

#define CHECK(condition)                                                                        \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			MPI_Abort(MPI_COMM_WORLD, 1);                                           \
		}                                                                               \
	} while (0)

#endif
