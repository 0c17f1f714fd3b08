/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_JOB_PLACES_H
#define TORUS_JOB_PLACES_H

#include "sites.h"

/*
 * The torus of a job: the node of each PE, the place of each node, and the source of this
 * information.
 *
 * node     numbered by first PEs, so PE 0 is on node 0
 * place    in sites.shape, the box that holds the job's nodes; the machine may be larger
 * logical  no source knows how the nodes are cabled: the shape follows from their number, perhaps
 *          in blocks of near nodes
 */
enum torus_source {
	TORUS_FROM_VENDOR,
	TORUS_FROM_LAUNCHER,
	TORUS_FROM_FILE,
	TORUS_FROM_SETTING,
	TORUS_FROM_CABLES,
	TORUS_FROM_CACHE,
	TORUS_FROM_SLURM,
	TORUS_FROM_BLOCKS,
	TORUS_LOGICAL,
	TORUS_SOURCES
};

struct torus_job {
	enum torus_source source;
	struct torus_shape machine;
	struct torus_box box;
	struct torus_sites sites;
	int pes;
	/* Number of consecutive PEs on a node, and again round; 0: see node_of and first. */
	int run;
	int *node_of; /* by PE */
	int *first;   /* first PE of each node */
	/*
	 * By direction: the interface of the cable that leaves this PE's node there, as far as
	 * known; "" if unknown.
	 */
	char port[TORUS_DIRECTIONS][TORUS_PORT];
};

/* The input for a job's torus: the node of each PE, and the place of each node in the machine. */
struct torus_job_map {
	enum torus_source source;
	const struct torus_shape *machine;
	int nodes, pes;
	const int *place;   /* by node, in the machine */
	const int *node_of; /* by PE */
};

/*
 * Returns false if two nodes are at one place (*twice is the second of them), or there is no memory
 * (-1).
 */
bool torus_job_make(struct torus_job *job, const struct torus_job_map *map, int *twice);
void torus_job_free(struct torus_job *job);

/* "the launcher", "SHMEM_TORUS" and so on. */
const char *torus_source_text(enum torus_source source);

static inline bool torus_job_logical(const struct torus_job *job)
{
	return job->source == TORUS_LOGICAL || job->source == TORUS_FROM_BLOCKS;
}

static inline int torus_job_node(const struct torus_job *job, int pe)
{
	return job->run ? pe / job->run % job->sites.nodes : job->node_of[pe];
}

static inline int torus_job_place(const struct torus_job *job, int pe)
{
	return job->sites.place[torus_job_node(job, pe)];
}

/* The i-th PE of a node, in ascending order; -1: it has fewer. */
int torus_job_pe(const struct torus_job *job, int node, int i);

/* Hops from the node of one PE to that of another; 0 on one node. */
static inline int torus_job_hops(const struct torus_job *job, int pe, int other)
{
	return torus_hops(&job->sites.shape, torus_job_place(job, pe), torus_job_place(job, other));
}

/*
 * Distances between nodes: the share of pairs at each number of hops. With many nodes, those of an
 * evenly spread sample.
 */
struct torus_spread {
	int longest;
	double mean;
	double *share; /* of the pairs, by hops up to the longest distance */
};

/* Returns false if there is no memory. */
bool torus_spread_find(struct torus_spread *spread, const struct torus_sites *sites);
void torus_spread_free(struct torus_spread *spread);

/* Writes "1: 60 %, 2: 40 %"; with ranges of hops if there are many. */
enum { TORUS_SPREAD_TEXT = 512 };
const char *torus_spread_text(const struct torus_spread *spread, char buffer[TORUS_SPREAD_TEXT]);

#endif
