/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUSPLAN_RECORDS_H
#define TORUSPLAN_RECORDS_H

#include <net/if.h>

#include "comms/torus/cabling/cabling.h"
#include "rte/host/hosts.h"

/* The lines of the agents as records, and the cables that they show. Nothing is read or sent here. */
struct record_port {
	int host;
	char name[IF_NAMESIZE], hardware[18];
	bool carrier, can_probe, network;
	int speed;
};

struct record {
	enum record_kind {
		RECORD_ADDRESS,
		RECORD_NEIGHBOUR,
		RECORD_ROUTE,
		RECORD_LLDP,
		RECORD_HEARD,
		RECORD_KINDS
	} kind;
	int host;
	char port[IF_NAMESIZE], text[256], more[64]; /* address, host or gateway; hardware or port */
};

struct records {
	struct record_port *port;
	int ports;
	struct record *record;
	int records;
	bool failed;		  /* no memory */
	int joined[RECORD_KINDS]; /* by records_join: ports whose other end each kind showed */
};

/* A line of an agent, see agent.h. Lines that are none are left out. */
void records_take(struct records *records, int host, const char *line);

/* Names of hosts, one of which may have its domain. */
bool records_same_host(const char *name, const char *other);

/* False: no memory. ready: by host. */
bool records_join(struct records *records, const struct hosts *hosts, const bool *ready, struct cabling *cabling);
void records_free(struct records *records);
void records_free_cabling(struct cabling *cabling);

#endif
