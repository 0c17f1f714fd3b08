/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_OFI_LIBRARY_H
#define COMMS_OFI_LIBRARY_H

#include <rdma/fabric.h>

/*
 * libfabric, loaded on demand. Its other functions are in its headers, and in tables of its
 * objects.
 */
struct ofi_library {
	__typeof__(fi_getinfo) *getinfo;
	__typeof__(fi_dupinfo) *dupinfo;
	__typeof__(fi_freeinfo) *freeinfo;
	__typeof__(fi_fabric) *fabric;
	__typeof__(fi_strerror) *strerror;
	__typeof__(fi_version) *version;
};
extern struct ofi_library ofi_library;

#define OFI_PROBLEM 256

/*
 * Loads libfabric and returns the providers that meet this network's needs, the best first; free it
 * with freeinfo. NULL: problem says why there are none.
 */
struct fi_info *ofi_providers(char problem[OFI_PROBLEM]);

#endif
