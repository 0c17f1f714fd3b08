/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads: many on one VCQ that allows it; each with a VCQ of its own; two on one that does not,
 * which is reported.
 */
#include "together.h"

#include <pthread.h>

enum { THREADS = 4, TIMES = 500 };

static _Alignas(256) uint64_t counter;
static utofu_vcq_hdl_t shared;
static utofu_vcq_id_t first;
static utofu_stadd_t there;
static _Atomic bool refused;

static void *count_together(void *arg)
{
	struct utofu_mrq_notice notice;

	(void)arg;
	for (int i = 0; i < TIMES; i++) {
		OK(utofu_armw8(shared, first, UTOFU_ARMW_OP_ADD, 1, there, 0, UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE,
			       NULL));
		OK(next_notice(shared, &notice));
	}
	return NULL;
}

static void *count_alone(void *arg)
{
	struct utofu_mrq_notice notice;
	utofu_vcq_hdl_t own;
	void *cbdata;

	(void)arg;
	OK(utofu_create_vcq(together.tni, 0, &own));
	for (int i = 0; i < TIMES; i++) {
		OK(utofu_armw8(own, first, UTOFU_ARMW_OP_ADD, 1, there, 0,
			       UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE | UTOFU_ONESIDED_FLAG_TCQ_NOTICE, NULL));
		OK(next_sent(own, &cbdata));
		OK(next_notice(own, &notice));
	}
	OK(utofu_free_vcq(own));
	return NULL;
}

static void *disturb(void *arg)
{
	utofu_vcq_hdl_t *vcq = arg;
	void *cbdata;
	int code;

	while (!refused) {
		code = utofu_poll_tcq(*vcq, 0, &cbdata);
		if (code == UTOFU_ERR_FATAL)
			refused = true;
		else
			CHECK(code == UTOFU_ERR_NOT_FOUND);
	}
	return NULL;
}

static void all(void *(*work)(void *), void *arg, int count)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < count; i++)
		CHECK(!pthread_create(&threads[i], NULL, work, arg));
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	utofu_vcq_hdl_t plain;
	utofu_stadd_t mine;

	(void)argv;
	together_start();
	OK(utofu_create_vcq_with_cmp_id(together.tni, TEST_CMP, UTOFU_VCQ_FLAG_THREAD_SAFE, &shared));
	OK(utofu_reg_mem_with_stag(shared, &counter, sizeof counter, TEST_STAG, 0, &mine));
	first = together_id(0, together.tni, TEST_CMP);
	OK(utofu_query_stadd(first, TEST_STAG, &there));
	together_barrier();
	all(count_together, NULL, THREADS);
	all(count_alone, NULL, THREADS);
	together_barrier();
	CHECK(together.rank ||
	      __atomic_load_n(&counter, __ATOMIC_ACQUIRE) == (uint64_t)together.ranks * THREADS * TIMES * 2);
	/* One of two threads at once is refused, with a line that says what to do. */
	if (argc > 1) {
		OK(utofu_create_vcq(together.tni, 0, &plain));
		all(disturb, &plain, 2);
	}
	together_end();
	return 0;
}
