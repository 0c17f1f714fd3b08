/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * double_buffer: an exchange with both neighbours of a ring in every step, without a handshake.
 *
 * Each edge has two receive buffers, used alternately. When a rank starts step k, its neighbour's
 * message of step k-1 has arrived. The neighbour sent it after it was done with step k-2, so its
 * buffer of step k-2, which step k uses again, is free. The step number is the last word of the
 * message, and strong order makes it arrive last: a rank that sees it has the whole message.
 */
#include "start.h"

enum { LEFT, RIGHT, SIDES, WORDS = 1000, STEPS = 100 };

struct message {
	uint64_t data[WORDS];
	volatile uint64_t step;
};

static struct window {
	volatile uint64_t there[SIDES];
	struct message received[SIDES][2];
} window __attribute__((aligned(256)));
static struct message sent[SIDES];

/* What I send to my left arrives from my neighbour's right. */
static utofu_stadd_t buffer_at(utofu_stadd_t base, int to, uint64_t step)
{
	return base + offsetof(struct window, received) +
	       ((to == LEFT ? RIGHT : LEFT) * 2 + step % 2) * sizeof(struct message);
}

int main(void)
{
	utofu_stadd_t mine, source, theirs[SIDES];
	utofu_vcq_id_t neighbours[SIDES];
	uint64_t sum = 0;
	utofu_vcq_hdl_t vcq;

	find_places();
	MUST(utofu_create_vcq_with_cmp_id(0, COMPONENT, 0, &vcq));
	MUST(utofu_reg_mem_with_stag(vcq, &window, sizeof window, STAG, 0, &mine));
	MUST(utofu_reg_mem(vcq, sent, sizeof sent, 0, &source));
	for (int side = 0; side < SIDES; side++) {
		neighbours[side] = id_of((me + (side == LEFT ? ranks - 1 : 1)) % ranks, 0);
		MUST(utofu_query_stadd(neighbours[side], STAG, &theirs[side]));
		notify_until_ready(neighbours[side], theirs[side] + 8 * (size_t)(side == LEFT ? RIGHT : LEFT));
	}
	while (!window.there[LEFT] || !window.there[RIGHT])
		;

	for (uint64_t step = 1; step <= STEPS; step++) {
		for (int side = 0; side < SIDES; side++) {
			for (int i = 0; i < WORDS; i++)
				sent[side].data[i] = step * 1000 + (uint64_t)me;
			sent[side].step = step;
			MUST(utofu_put(vcq, neighbours[side], source + (size_t)side * sizeof sent[0],
				       buffer_at(theirs[side], side, step), sizeof sent[0], 0,
				       UTOFU_ONESIDED_FLAG_STRONG_ORDER | UTOFU_ONESIDED_FLAG_TCQ_NOTICE, NULL));
		}
		/* The bulk of the work would be here. */
		for (int side = 0; side < SIDES; side++) {
			struct message *message = &window.received[side][step % 2];

			while (message->step != step)
				;
			__atomic_thread_fence(__ATOMIC_ACQUIRE);
			for (int i = 0; i < WORDS; i++)
				sum += message->data[i];
		}
		for (int side = 0; side < SIDES; side++)
			wait_sent(vcq); /* before the send buffers are filled again */
	}
	printf("rank %d of %d: sum %llu\n", me, ranks, (unsigned long long)sum);

	/* All that was for us has come, and what we sent has left: nobody needs us any more. */
	MUST(utofu_free_vcq(vcq));
	return jtofu_finalize();
}
