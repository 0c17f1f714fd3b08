/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A put with all notices, as in benchmarks of uTofu. The sender relies on the notice of its put
 * before the answer, since both come through one queue.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utofu.h>

#include "check.h"

enum { LARGEST = 1 << 16, ROUNDS = 2000 };
static const unsigned long flags =
	UTOFU_ONESIDED_FLAG_TCQ_NOTICE | UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE | UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE;
static utofu_vcq_hdl_t vcq;
static utofu_vcq_id_t mine, other;
static utofu_stadd_t source, target, there;
static unsigned values; /* of edata */

static void expect(uint8_t type, uint64_t edata)
{
	struct utofu_mrq_notice notice;
	int code;

	do
		code = utofu_poll_mrq(vcq, 0, &notice);
	while (code == UTOFU_ERR_NOT_FOUND);
	CHECK(code == UTOFU_SUCCESS && notice.notice_type == type && notice.edata == edata);
}

static void send(size_t bytes, uintptr_t round)
{
	void *cbdata;
	int code;

	CHECK(utofu_put(vcq, other, source, there, bytes, round % values, flags, (void *)round) == UTOFU_SUCCESS);
	do
		code = utofu_poll_tcq(vcq, 0, &cbdata);
	while (code == UTOFU_ERR_NOT_FOUND);
	CHECK(code == UTOFU_SUCCESS && (uintptr_t)cbdata == round);
	expect(UTOFU_MRQ_TYPE_LCL_PUT, round % values);
}

static void start(int rank, char *out, char *in)
{
	struct utofu_onesided_caps *caps;
	utofu_tni_id_t *tnis;
	size_t count;

	CHECK(utofu_get_onesided_tnis(&tnis, &count) == UTOFU_SUCCESS && count > 0);
	CHECK(utofu_query_onesided_caps(tnis[0], &caps) == UTOFU_SUCCESS);
	values = 1u << (8 * caps->max_edata_size);
	CHECK(utofu_create_vcq(tnis[0], 0, &vcq) == UTOFU_SUCCESS);
	free(tnis);
	CHECK(utofu_query_vcq_id(vcq, &mine) == UTOFU_SUCCESS);
	CHECK(utofu_reg_mem(vcq, out, LARGEST, 0, &source) == UTOFU_SUCCESS);
	CHECK(utofu_reg_mem(vcq, in, LARGEST, 0, &target) == UTOFU_SUCCESS);
	MPI_Sendrecv(&mine, 1, MPI_UINT64_T, 1 - rank, 0, &other, 1, MPI_UINT64_T, 1 - rank, 0, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	MPI_Sendrecv(&target, 1, MPI_UINT64_T, 1 - rank, 0, &there, 1, MPI_UINT64_T, 1 - rank, 0, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	CHECK(utofu_set_vcq_id_path(&other, NULL) == UTOFU_SUCCESS);
}

int main(void)
{
	char *out = malloc(LARGEST), *in = malloc(LARGEST);
	int rank, ranks;

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	CHECK(ranks == 2 && out && in);
	start(rank, out, in);
	for (size_t bytes = 4; bytes <= LARGEST; bytes *= 16)
		for (uintptr_t round = 0; round < ROUNDS; round++) {
			memset(out, (int)round, bytes);
			if (rank == 0)
				send(bytes, round);
			expect(UTOFU_MRQ_TYPE_RMT_PUT, round % values);
			CHECK(in[0] == (char)round && in[bytes - 1] == (char)round);
			if (rank == 1)
				send(bytes, round);
		}
	MPI_Barrier(MPI_COMM_WORLD);
	CHECK(utofu_dereg_mem(vcq, source, 0) == UTOFU_SUCCESS && utofu_dereg_mem(vcq, target, 0) == UTOFU_SUCCESS);
	CHECK(utofu_free_vcq(vcq) == UTOFU_SUCCESS);
	MPI_Finalize();
	if (rank == 0)
		printf("%d rounds\n", ROUNDS);
	return 0;
}
