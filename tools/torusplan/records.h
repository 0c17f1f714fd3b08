/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUSPLAN_RECORDS_H
#define TORUSPLAN_RECORDS_H

#include <net/if.h>

#include "comms/torus/cabling/cabling.h"
#include "rte/host/hosts.h"

/* Parses the agents' lines into records, and finds the cables that they show. Does no I/O. */
struct record_port {
	int host;
	char name[IF_NAMESIZE], hardware[18];
	bool carrier, can_probe, network, infiniband, address;
	int speed;
	bool gateway, default_route; /* such a route leads over it */
	char rdma[64];		     /* its RDMA device; "": none */
	int gid;		     /* for the device */
};

struct record {
	enum record_kind {
		RECORD_ADDRESS,
		RECORD_NEIGHBOUR,
		RECORD_ROUTE,
		RECORD_LLDP,
		RECORD_HEARD,
		RECORD_FORWARDS,
		RECORD_LINK,
		RECORD_ANSWER,
		RECORD_KINDS
	} kind;
	int host;
	/* Address, host or gateway, or whether it forwards; hardware or port. */
	char port[IF_NAMESIZE], text[256], more[64];
};

struct records {
	struct record_port *port;
	int ports;
	struct record *record;
	int records;
	bool failed;		  /* no memory */
	int joined[RECORD_KINDS]; /* by records_join: ports whose other end each kind identified */
};

/* A line of an agent, see agent.h. Ignores other lines. */
void records_take(struct records *records, int host, const char *line);

/* Compares host names, one of which may have its domain. */
bool records_same_host(const char *name, const char *other);

/*
 * Returns false if there is no memory. ready: by host. Sorts the ports of the records, so that they
 * have the numbers of the cabling's.
 */
bool records_join(struct records *records, const struct hosts *hosts, const bool *ready, struct cabling *cabling);
void records_free(struct records *records);
void records_free_cabling(struct cabling *cabling);

#endif
