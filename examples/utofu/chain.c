/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chain: a broadcast that the NICs do by themselves.
 *
 * Every rank between the first and the last posts its forwards on a session-mode queue before
 * anything has arrived. They wait there, because the scheduling pointer of the queue releases none
 * of them. Each chunk that arrives carries SPS(1), advances the pointer by one, and so releases its
 * own forward. The CPU computes meanwhile.
 */
#include "start.h"

enum { CHUNKS = 64, CHUNK = 1920, READY_STAG = 2 };

static _Alignas(256) char data[CHUNKS * CHUNK];
static _Alignas(256) volatile uint64_t ready;

/*
 * Sessions have queues of their own, whose numbers only their owner knows: they are exchanged by
 * puts here.
 */
static _Alignas(256) volatile struct {
	uint64_t session_of_next;
	uint64_t there;
} books;
enum { BOOKS_STAG = 3 };

static double work(void)
{
	double x = 1;

	for (int i = 0; i < 20000000; i++)
		x = x * 1.0000001 + 1e-9;
	return x;
}

int main(void)
{
	utofu_stadd_t ready_here, ready_there, books_here, books_there, source, session_data, to;
	utofu_vcq_hdl_t plain, session, sender;
	utofu_vcq_id_t session_id, next = 0;
	unsigned long flags;
	double result;
	int last;

	find_places();
	last = ranks - 1;
	MUST(utofu_create_vcq_with_cmp_id(0, COMPONENT, 0, &plain));
	/* There are few: have another method ready. */
	MUST(utofu_create_vcq(0, UTOFU_VCQ_FLAG_SESSION_MODE, &session));
	MUST(utofu_query_vcq_id(session, &session_id));
	MUST(utofu_reg_mem(plain, data, sizeof data, 0, &source));
	MUST(utofu_reg_mem_with_stag(session, data, sizeof data, STAG, 0, &session_data));
	MUST(utofu_reg_mem_with_stag(plain, (void *)&ready, sizeof ready, READY_STAG, 0, &ready_here));
	MUST(utofu_reg_mem_with_stag(plain, (void *)&books, sizeof books, BOOKS_STAG, 0, &books_here));

	/* The one before me learns where my session is, and that I am there. */
	if (me > 0) {
		utofu_vcq_id_t previous = id_of(me - 1, 0);

		MUST(utofu_query_stadd(previous, BOOKS_STAG, &books_there));
		notify_until_ready(previous, books_there + 8);
		MUST(utofu_put_piggyback8(plain, previous, session_id, books_there, 8, 0,
					  UTOFU_ONESIDED_FLAG_STRONG_ORDER, NULL));
	}
	while (me < last && !books.session_of_next)
		;
	next = books.session_of_next;

	/*
	 * A rank whose forwards are posted notifies the rank before it. So the first rank learns
	 * that all are ready.
	 */
	sender = me ? session : plain;
	if (!me) {
		memset(data, 'x', sizeof data);
		while (last && !ready)
			;
	}
	flags = me == last - 1 ? UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE : UTOFU_ONESIDED_FLAG_SPS(1);
	for (size_t i = 0; i < CHUNKS && me < last; i++) {
		MUST(utofu_query_stadd(next, STAG, &to));
		MUST(utofu_put(sender, next, (me ? session_data : source) + i * CHUNK, to + i * CHUNK, CHUNK, i,
			       flags | UTOFU_ONESIDED_FLAG_STRONG_ORDER |
				       (i == CHUNKS - 1 ? UTOFU_ONESIDED_FLAG_TCQ_NOTICE : 0),
			       NULL));
	}
	if (me) {
		while (me < last && !ready)
			;
		MUST(utofu_query_stadd(id_of(me - 1, 0), READY_STAG, &ready_there));
		MUST(utofu_put_piggyback8(plain, id_of(me - 1, 0), 1, ready_there, 8, 0,
					  UTOFU_ONESIDED_FLAG_STRONG_ORDER, NULL));
	}

	result = work(); /* not a word to the network from here ... */
	if (me < last)
		wait_sent(sender); /* ... to here: my last forward has left */
	for (int i = 0; i < CHUNKS && me == last && me; i++)
		wait_notice(session);
	for (size_t i = 0; i < sizeof data; i++)
		if (data[i] != 'x' && ranks > 1) {
			fprintf(stderr, "rank %d: byte %zu is missing\n", me, i);
			return 1;
		}
	printf("rank %d of %d has %zu bytes and computed %.3f\n", me, ranks, sizeof data, result);
	MUST(utofu_free_vcq(session));
	MUST(utofu_free_vcq(plain));
	return jtofu_finalize();
}
