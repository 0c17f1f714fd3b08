/* SPDX-License-Identifier: BSD-3-Clause */
/* A runtime of tasks: it puts with local notices, and reads them only at its flush, much later. */
#include <stdio.h>
#include <stdlib.h>
#include <utofu.h>

enum { PUTS = 40000 };

static uint64_t memory[2] __attribute__((aligned(256)));

static void demand(int code, const char *what)
{
	if (code == UTOFU_SUCCESS)
		return;
	fprintf(stderr, "mrq_depth: %s returned %d\n", what, code);
	exit(1);
}

int main(void)
{
	struct utofu_mrq_notice notice;
	utofu_tni_id_t *tnis;
	utofu_vcq_hdl_t vcq;
	utofu_vcq_id_t self;
	utofu_stadd_t at;
	size_t count;
	int read;

	demand(utofu_get_onesided_tnis(&tnis, &count), "utofu_get_onesided_tnis");
	demand(utofu_create_vcq(tnis[0], 0, &vcq), "utofu_create_vcq");
	free(tnis);
	demand(utofu_query_vcq_id(vcq, &self), "utofu_query_vcq_id");
	demand(utofu_reg_mem(vcq, memory, sizeof memory, 0, &at), "utofu_reg_mem");
	for (int i = 0; i < PUTS; i++)
		demand(utofu_put(vcq, self, at, at + 8, 8, 0, UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE, NULL), "utofu_put");
	for (read = 0; read < PUTS;) {
		int code = utofu_poll_mrq(vcq, 0, &notice);

		if (code == UTOFU_ERR_NOT_FOUND)
			continue;
		demand(code, "utofu_poll_mrq");
		read++;
	}
	printf("%d notices\n", read);
	demand(utofu_free_vcq(vcq), "utofu_free_vcq");
	return 0;
}
