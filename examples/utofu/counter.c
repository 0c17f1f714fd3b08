/* SPDX-License-Identifier: BSD-3-Clause */
/* counter: tickets from one counter at rank 0, by atomic additions that rank 0 does nothing for. */
#include "start.h"

enum { TICKETS = 1000 };

static struct window {
	volatile uint64_t counter;
	volatile uint64_t finished;
	volatile uint64_t there;
} window __attribute__((aligned(256)));

int main(void)
{
	utofu_vcq_id_t first;
	utofu_stadd_t mine, counter;
	uint64_t ticket, previous = 0;
	utofu_vcq_hdl_t vcq;

	find_places();
	MUST(utofu_create_vcq_with_cmp_id(0, COMPONENT, 0, &vcq));
	MUST(utofu_reg_mem_with_stag(vcq, &window, sizeof window, STAG, 0, &mine));
	first = id_of(0, 0);
	MUST(utofu_query_stadd(first, STAG, &counter));
	notify_until_ready(first, counter + offsetof(struct window, there));

	for (int i = 0; i < TICKETS; i++) {
		MUST(utofu_armw8(vcq, first, UTOFU_ARMW_OP_ADD, 1, counter, 0, UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE,
				 NULL));
		ticket = wait_notice(vcq).rmt_value; /* what the counter was */
		if (i && ticket <= previous) {
			fprintf(stderr, "rank %d: ticket %llu after %llu\n", me, (unsigned long long)ticket,
				(unsigned long long)previous);
			return 1;
		}
		previous = ticket;
	}
	MUST(utofu_armw8(vcq, first, UTOFU_ARMW_OP_ADD, 1, counter + offsetof(struct window, finished), 0,
			 UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE, NULL));
	wait_notice(vcq);
	/* The counter must stay until all have drawn. */
	while (!me && window.finished < (uint64_t)ranks)
		;
	if (!me)
		printf("%d ranks drew %llu tickets\n", ranks, (unsigned long long)window.counter);
	MUST(utofu_free_vcq(vcq));
	return jtofu_finalize();
}
