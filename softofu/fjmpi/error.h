/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FJMPI_ERROR_H
#define FJMPI_ERROR_H

void fjmpi_error_rank(int me); /* in MPI_COMM_WORLD */

/* Prints a line in the name of this rank. Returns -1. */
__attribute__((format(printf, 1, 2))) int fjmpi_error(const char *format, ...);

#endif
