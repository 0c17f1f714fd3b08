/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_TESTS_TOGETHER_H
#define SOFTOFU_TESTS_TOGETHER_H

#include <jtofu.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utofu.h>

/*
 * What these programs need to be a job without MPI or PMIx. Places come from jTofu, VCQ ids are
 * constructed, memory has fixed stags. So nothing is exchanged before the first put.
 */
#define CHECK(condition) check(condition, #condition, __FILE__, __LINE__)
#define OK(call) check_code(call, UTOFU_SUCCESS, #call, __FILE__, __LINE__)
#define CODE(call, wanted) check_code(call, wanted, #call, __FILE__, __LINE__)

static inline void check(bool good, const char *what, const char *file, int line)
{
	if (good)
		return;
	fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
	_exit(1);
}

static inline void check_code(int code, int wanted, const char *what, const char *file, int line)
{
	if (code == wanted)
		return;
	fprintf(stderr, "%s:%d: %s returned %d, not %d\n", file, line, what, code, wanted);
	_exit(1);
}

enum { TOGETHER_MOST = 64, TOGETHER_STAG = 255, TOGETHER_CMP = 7, TEST_CMP = 3, TEST_STAG = 9 };

static struct {
	int rank, ranks;
	utofu_tni_id_t tni;
	utofu_vcq_hdl_t vcq;
	utofu_vcq_id_t ids[TOGETHER_MOST];
	uint64_t barriers;
} together;
enum { BOARD_WORDS = 16 };
static _Alignas(256) struct {
	volatile uint64_t reached[TOGETHER_MOST];
	volatile uint64_t board[TOGETHER_MOST][BOARD_WORDS]; /* values that each rank shared */
} together_seen;

/* The CQ that a rank's first VCQs are on, and its TNI, as on the machine. */
static inline utofu_cq_id_t together_cq(int local, int per_node)
{
	static const utofu_cq_id_t cqs[5][4] = {{0}, {0}, {0, 6}, {0, 4, 8}, {0, 2, 5, 8}};
	const char *when = getenv("SOFTOFU_CQS");

	return when && !strcmp(when, "early") ? (utofu_cq_id_t)(3 * local) : cqs[per_node][local];
}

static inline utofu_vcq_id_t together_id(int rank, utofu_tni_id_t tni, utofu_cmp_id_t cmp)
{
	int per_node = jtofu_query_max_proc_per_node();
	union jtofu_phys_coords place;
	utofu_vcq_id_t id;

	CHECK(!jtofu_query_phys_coords(0, (jtofu_rank_t)rank, &place));
	OK(utofu_construct_vcq_id(place.a, tni, together_cq(rank % per_node, per_node), cmp, &id));
	return id;
}

static inline void together_put(utofu_vcq_id_t to, uint64_t value, size_t offset)
{
	struct utofu_mrq_notice notice;
	utofu_stadd_t there;
	int code;

	OK(utofu_query_stadd(to, TOGETHER_STAG, &there));
	/* Repeat until the target is ready. */
	do {
		OK(utofu_put_piggyback8(together.vcq, to, value, there + offset, 8, 0,
					UTOFU_ONESIDED_FLAG_STRONG_ORDER | UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE, NULL));
		while ((code = utofu_poll_mrq(together.vcq, 0, &notice)) == UTOFU_ERR_NOT_FOUND)
			;
		if (code)
			usleep(1000);
	} while (code == UTOFU_ERR_MRQ_PEER || code == UTOFU_ERR_MRQ_RMT_STADD);
	CHECK(!code);
}

/* A barrier of all ranks. */
static inline void together_barrier(void)
{
	uint64_t barrier = ++together.barriers;

	for (int i = 0; i < together.ranks; i++)
		together_put(together.ids[i], barrier, (size_t)together.rank * 8);
	for (int i = 0; i < together.ranks; i++)
		while (together_seen.reached[i] < barrier)
			usleep(20);
}

/* Shares values with all ranks; afterwards the values of all ranks are on each rank's board. */
static inline void together_share(const uint64_t *values, int count)
{
	size_t at = offsetof(__typeof__(together_seen), board) + (size_t)together.rank * sizeof together_seen.board[0];

	for (int i = 0; i < together.ranks; i++)
		for (int j = 0; j < count; j++)
			together_put(together.ids[i], values[j], at + (size_t)j * 8);
	together_barrier();
}

static inline void together_start(void)
{
	utofu_stadd_t stadd;
	utofu_tni_id_t *tnis;
	void *map;
	size_t bytes, count;
	unsigned ranks;

	CHECK(!jtofu_create_mapinfo_by_envvars(&map, &bytes, &ranks));
	CHECK(ranks <= TOGETHER_MOST);
	together.rank = getenv("PMIX_RANK") ? atoi(getenv("PMIX_RANK")) : 0;
	if (getenv("SOFTOFU_RANK"))
		together.rank = atoi(getenv("SOFTOFU_RANK"));
	together.ranks = (int)ranks;
	CHECK(!jtofu_initialize(0, (jtofu_rank_t)together.rank, map));
	free(map);
	OK(utofu_get_onesided_tnis(&tnis, &count));
	together.tni = tnis[0];
	free(tnis);
	OK(utofu_create_vcq_with_cmp_id(together.tni, TOGETHER_CMP, 0, &together.vcq));
	OK(utofu_reg_mem_with_stag(together.vcq, &together_seen, sizeof together_seen, TOGETHER_STAG, 0, &stadd));
	for (int i = 0; i < together.ranks; i++)
		together.ids[i] = together_id(i, together.tni, TOGETHER_CMP);
	together_barrier();
}

static inline void together_end(void)
{
	together_barrier();
	OK(utofu_free_vcq(together.vcq));
	CHECK(!jtofu_finalize());
}

/* Waits for the next notice in the MRQ and returns its code. */
static inline int next_notice(utofu_vcq_hdl_t vcq, struct utofu_mrq_notice *notice)
{
	int code;

	while ((code = utofu_poll_mrq(vcq, 0, notice)) == UTOFU_ERR_NOT_FOUND)
		;
	return code;
}

static inline int next_sent(utofu_vcq_hdl_t vcq, void **cbdata)
{
	int code;

	while ((code = utofu_poll_tcq(vcq, 0, cbdata)) == UTOFU_ERR_NOT_FOUND)
		;
	return code;
}

#endif
