/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_ACCEPT_FILTER_H
#define OSHRUN_ACCEPT_FILTER_H

/*
 * From now on libpmix gets only connections whose first bytes contain this name, which only the
 * processes of the job know, unless SHMEM_ACCEPT_FILTER=no. Call it before libpmix listens. The
 * name must stay valid.
 */
void accept_filter_start(const char *name);

#endif
