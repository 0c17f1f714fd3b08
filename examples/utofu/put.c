/* SPDX-License-Identifier: BSD-3-Clause */
/* put: a message to the next rank of a ring, with a notice on either side. */
#include "start.h"

static struct window {
	volatile uint64_t there; /* the previous rank has us in its books */
	char text[64];
} window __attribute__((aligned(256))); /* as memory with a stag of one's own choice must be */
static char text[64];

int main(void)
{
	utofu_stadd_t mine, theirs, source;
	struct utofu_mrq_notice notice;
	utofu_vcq_id_t next;
	utofu_vcq_hdl_t vcq;

	find_places();
	MUST(utofu_create_vcq_with_cmp_id(0, COMPONENT, 0, &vcq));
	MUST(utofu_reg_mem_with_stag(vcq, &window, sizeof window, STAG, 0, &mine));
	MUST(utofu_reg_mem(vcq, text, sizeof text, 0,
			   &source)); /* sources are registered, too, with the queue that sends */
	next = id_of((me + 1) % ranks, 0);
	MUST(utofu_query_stadd(next, STAG, &theirs)); /* computed; nothing is asked */
	notify_until_ready(next, theirs + offsetof(struct window, there));
	while (!window.there)
		;

	snprintf(text, sizeof text, "a message from rank %d", me);
	MUST(utofu_put(vcq, next, source, theirs + offsetof(struct window, text), sizeof text, 42,
		       UTOFU_ONESIDED_FLAG_TCQ_NOTICE | UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE, NULL));
	wait_sent(vcq); /* from now on the source may change */
	notice = wait_notice(vcq);
	printf("rank %d of %d got \"%s\", edata %llu\n", me, ranks, window.text, (unsigned long long)notice.edata);

	MUST(utofu_free_vcq(vcq));
	return jtofu_finalize();
}
