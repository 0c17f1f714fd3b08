/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef START_H
#define START_H

/*
 * What every uTofu program does first, here without MPI: who am I, where are the others, a queue,
 * an address for everybody's memory. With MPI you would exchange VCQ ids and STADDs by messages
 * instead; docs/tofu.md shows both.
 */
#include <jtofu.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utofu.h>

enum { STAG = 1, COMPONENT = 0 };

static int me, ranks;

static void must(int code, const char *what)
{
	if (code == UTOFU_SUCCESS)
		return;
	fprintf(stderr, "rank %d: %s returned %d\n", me, what, code);
	exit(1);
}
#define MUST(call) must(call, #call)

/* The map of ranks: on the real machine it comes from PMIx, under the key fjpmix.rankmap. */
static inline void find_places(void)
{
	const char *rank = getenv("PMIX_RANK");
	unsigned count;
	size_t bytes;
	void *map;

	me = rank ? atoi(rank) : 0;
	MUST(jtofu_create_mapinfo_by_envvars(&map, &bytes, &count));
	MUST(jtofu_initialize(0, (jtofu_rank_t)me, map));
	free(map);
	ranks = (int)count;
}

/*
 * The id of a rank's queue, from its place alone. One rank per node has CQ 0 of every TNI; where
 * several share a node, exchange the ids that utofu_query_vcq_id gives.
 */
static inline utofu_vcq_id_t id_of(int rank, utofu_tni_id_t tni)
{
	union jtofu_phys_coords place;
	utofu_vcq_id_t id;

	MUST(jtofu_query_phys_coords(0, (jtofu_rank_t)rank, &place));
	MUST(utofu_construct_vcq_id(place.a, tni, 0, COMPONENT, &id));
	MUST(utofu_set_vcq_id_path(&id, NULL)); /* the default path */
	return id;
}

static inline void wait_sent(utofu_vcq_hdl_t vcq)
{
	void *cbdata;
	int code;

	do
		code = utofu_poll_tcq(vcq, 0, &cbdata);
	while (code == UTOFU_ERR_NOT_FOUND);
	must(code, "utofu_poll_tcq");
}

static inline struct utofu_mrq_notice wait_notice(utofu_vcq_hdl_t vcq)
{
	struct utofu_mrq_notice notice;
	int code;

	do
		code = utofu_poll_mrq(vcq, 0, &notice);
	while (code == UTOFU_ERR_NOT_FOUND);
	must(code, "utofu_poll_mrq");
	return notice;
}

/*
 * Waits without a barrier until the other side is ready: repeats a put with a local notice. A put
 * to a queue that does not exist yet gets UTOFU_ERR_MRQ_PEER, one to memory that is not registered
 * yet UTOFU_ERR_MRQ_RMT_STADD. A separate queue keeps these notices apart from all others.
 */
static inline void notify_until_ready(utofu_vcq_id_t to, utofu_stadd_t at)
{
	const unsigned long flags = UTOFU_ONESIDED_FLAG_STRONG_ORDER | UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE;
	struct utofu_mrq_notice notice;
	utofu_vcq_hdl_t vcq;
	int code;

	MUST(utofu_create_vcq(0, 0, &vcq));
	do {
		MUST(utofu_put_piggyback8(vcq, to, 1, at, 8, 0, flags, NULL));
		do
			code = utofu_poll_mrq(vcq, 0, &notice);
		while (code == UTOFU_ERR_NOT_FOUND);
		if (code)
			usleep(1000);
	} while (code == UTOFU_ERR_MRQ_PEER || code == UTOFU_ERR_MRQ_RMT_STADD);
	must(code, "the first put");
	MUST(utofu_free_vcq(vcq));
}

#endif
