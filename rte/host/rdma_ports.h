/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_RDMA_PORTS_H
#define RTE_RDMA_PORTS_H

#include <stdbool.h>

/* The RDMA device of a network port. */
struct rdma_port {
	char device[64];
	/*
	 * Index of a GID for the port: of RoCE v2 if there is one, and of a link-local or IPv4
	 * address if possible.
	 */
	int gid;
};

#define RDMA_FOLDER "/sys/class/infiniband"

/* Returns false if the port has no RDMA device. folder: RDMA_FOLDER, another one in tests. */
bool rdma_port_find(const char *folder, const char *port, struct rdma_port *found);

#endif
