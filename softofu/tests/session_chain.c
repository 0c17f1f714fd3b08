/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions. First the scheduling pointer of one process. Then a broadcast over three chains, each
 * on a TNI of its own with an order of its own: every rank except the root posts its forwards, and
 * then only polls its own memory.
 */
#include "together.h"

enum { CHAINS = 3, CHUNKS = 32, CHUNK = 1920, PART = CHUNKS * CHUNK, BROADCASTS = 5, SESSION_STAG = 10 };

static _Alignas(256) volatile char data[CHAINS][PART];
static _Alignas(256) volatile uint64_t ready[CHAINS];
static _Alignas(256) _Atomic uint64_t word;

static struct chain {
	utofu_vcq_hdl_t plain, session;
	utofu_vcq_id_t next_plain, next_session, previous_plain;
	utofu_stadd_t there, ready_there, here, here_session;
	bool root, last, before_last;
} chains[CHAINS];

static void put_word(utofu_vcq_hdl_t vcq, utofu_vcq_id_t to, uint64_t value, utofu_stadd_t at, unsigned long flags)
{
	OK(utofu_put_piggyback8(vcq, to, value, at, 8, 0, flags | UTOFU_ONESIDED_FLAG_STRONG_ORDER, NULL));
}

static void wait_for(uint64_t value)
{
	while (word != value)
		;
}

static void scheduling_pointer(void)
{
	utofu_vcq_hdl_t session, plain;
	utofu_vcq_id_t to_session, to_plain;
	utofu_stadd_t at;
	void *cbdata;

	OK(utofu_create_vcq(together.tni, UTOFU_VCQ_FLAG_SESSION_MODE, &session));
	OK(utofu_create_vcq(together.tni, 0, &plain));
	OK(utofu_query_vcq_id(session, &to_session));
	OK(utofu_query_vcq_id(plain, &to_plain));
	OK(utofu_reg_mem(plain, (void *)&word, sizeof word, 0, &at));
	/* Nothing goes before the pointer has moved, and then as far as it has. */
	put_word(session, to_plain, 1, at, 0);
	put_word(session, to_plain, 2, at, UTOFU_ONESIDED_FLAG_TCQ_NOTICE);
	put_word(session, to_plain, 3, at, 0);
	put_word(session, to_plain, 4, at, 0);
	usleep(20000);
	CHECK(word == 0 && utofu_poll_tcq(session, 0, &cbdata) == UTOFU_ERR_NOT_FOUND);
	put_word(plain, to_session, 0, at, UTOFU_ONESIDED_FLAG_SPS(1));
	CHECK(word == 0); /* at is memory of plain, not of session: refused, so nothing moved */
	usleep(20000);
	CHECK(word == 0);
	OK(utofu_reg_mem_with_stag(session, (void *)&word, sizeof word, SESSION_STAG, 0, &at));
	put_word(plain, to_session, 0, at, UTOFU_ONESIDED_FLAG_SPS(1));
	wait_for(1);
	put_word(plain, to_session, 1, at, UTOFU_ONESIDED_FLAG_SPS(2));
	wait_for(3);
	OK(next_sent(session, &cbdata));
	usleep(20000);
	CHECK(word == 3);
	/* A pointer that has moved ahead releases a later post at once. */
	put_word(plain, to_session, 3, at, UTOFU_ONESIDED_FLAG_SPS(3));
	wait_for(4);
	OK(utofu_reg_mem(plain, (void *)&word, sizeof word, 0, &at));
	put_word(session, to_plain, 5, at, 0);
	wait_for(5);
	OK(utofu_nop(session, 0, NULL));
	put_word(session, to_plain, 6, at, 0);
	usleep(20000);
	CHECK(word == 5);
	/* An ordinary queue has no such pointer. */
	put_word(plain, to_plain, 7, at, UTOFU_ONESIDED_FLAG_SPS(15));
	wait_for(7);
	OK(utofu_free_vcq(session));
	OK(utofu_free_vcq(plain));
}

/* Chain c goes through all ranks but the root in an order that is turned by c. */
static int rank_at(int chain, int place)
{
	int others = together.ranks - 1;

	return place ? 1 + (place - 1 + chain) % others : 0;
}

static int place_of(int chain, int rank)
{
	int place = 0;

	while (rank_at(chain, place) != rank)
		place++;
	return place;
}

static void make_chain(int c)
{
	struct chain *chain = &chains[c];
	int place = place_of(c, together.rank), next, previous;
	uint64_t ids[2];

	chain->root = !place;
	chain->last = place == together.ranks - 1;
	chain->before_last = place == together.ranks - 2;
	next = chain->last ? 0 : rank_at(c, place + 1);
	previous = chain->root ? 0 : rank_at(c, place - 1);
	OK(utofu_create_vcq((utofu_tni_id_t)(together.tni + c), 0, &chain->plain));
	OK(utofu_create_vcq((utofu_tni_id_t)(together.tni + c), UTOFU_VCQ_FLAG_SESSION_MODE, &chain->session));
	OK(utofu_query_vcq_id(chain->plain, &ids[0]));
	OK(utofu_query_vcq_id(chain->session, &ids[1]));
	together_share(ids, 2);
	chain->next_plain = together_seen.board[next][0];
	chain->next_session = together_seen.board[next][1];
	chain->previous_plain = together_seen.board[previous][0];
	OK(utofu_reg_mem(chain->plain, (void *)data[c], PART, 0, &chain->here));
	OK(utofu_reg_mem_with_stag(chain->plain, (void *)&ready[0], sizeof ready, TEST_STAG, 0, &chain->ready_there));
	OK(utofu_reg_mem_with_stag(chain->session, (void *)data[c], PART, TEST_STAG, 0, &chain->here_session));
	OK(utofu_query_stadd(chain->next_session, TEST_STAG, &chain->there));
	together_barrier();
}

static void forward(struct chain *chain)
{
	/* The last rank has nothing to release, and gets a notice. */
	unsigned long flags = chain->before_last ? UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE : UTOFU_ONESIDED_FLAG_SPS(1);

	for (size_t i = 0; i < CHUNKS && !chain->last; i++)
		OK(utofu_put(chain->root ? chain->plain : chain->session, chain->next_session,
			     (chain->root ? chain->here : chain->here_session) + i * CHUNK, chain->there + i * CHUNK,
			     CHUNK, i, flags | UTOFU_ONESIDED_FLAG_STRONG_ORDER, NULL));
}

/* A rank whose forwards are posted notifies the rank before it, up to the root. */
static void say_ready(int c, uint64_t number)
{
	struct chain *chain = &chains[c];

	while (!chain->last && ready[c] < number)
		usleep(20);
	if (!chain->root)
		put_word(chain->plain, chain->previous_plain, number, chain->ready_there + 8 * (size_t)c, 0);
}

static void drain(struct chain *chain)
{
	struct utofu_mrq_notice notice;

	for (int i = 0; i < CHUNKS && chain->last; i++) {
		OK(next_notice(chain->session, &notice));
		CHECK(notice.notice_type == UTOFU_MRQ_TYPE_RMT_PUT && notice.edata == (uint64_t)i);
	}
	CODE(utofu_poll_mrq(chain->session, 0, &notice), UTOFU_ERR_NOT_FOUND);
}

static void broadcast(uint64_t number)
{
	for (int c = 0; c < CHAINS; c++) {
		if (chains[c].root)
			memset((void *)data[c], (int)(10 * number) + c, PART);
		else
			forward(&chains[c]);
		say_ready(c, number);
	}
	for (int c = 0; c < CHAINS; c++)
		if (chains[c].root)
			forward(&chains[c]);
	/* No call of uTofu from here until all of it is there. */
	for (int c = 0; c < CHAINS; c++)
		for (int i = 0; i < PART; i++)
			while (data[c][i] != (char)(10 * number + (uint64_t)c))
				;
	for (int c = 0; c < CHAINS; c++)
		drain(&chains[c]);
	together_barrier();
}

int main(void)
{
	together_start();
	if (!together.rank)
		scheduling_pointer();
	for (int c = 0; c < CHAINS && together.ranks > 1; c++)
		make_chain(c);
	for (uint64_t i = 1; i <= BROADCASTS && together.ranks > 1; i++)
		broadcast(i);
	together_end();
	return 0;
}
