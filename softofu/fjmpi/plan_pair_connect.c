/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>
#include "plan_pair.h"

/* How two requests connect and disconnect: plan_pair.h. */

/* --- Control puts --- */

static void notify(struct fjmpi_plan *plan, int block, const void *words, size_t bytes)
{
	int code;

	while ((code = plan_queues_notify(plan->tni, &plan->pair->other, (size_t)block * PAIR_BLOCK, words, bytes)) ==
	       UTOFU_ERR_BUSY)
		if (plan_queues_poll())
			break;
	if (code == UTOFU_SUCCESS)
		return;
	fjmpi_error("%s: a put failed: uTofu returned %d", pair_routine(&plan->pair->call), code);
	plan_fail();
}

static bool take_arrival(struct fjmpi_plan *plan, int block, void *words, size_t bytes)
{
	int slot = plan->region[PLAN_FLAGS].first_slot + block;

	if (plan->arrived[slot] == plan->awaited[slot])
		return false;
	plan->awaited[slot]++;
	memcpy(words, plan->region[PLAN_FLAGS].at + block * PAIR_BLOCK, bytes);
	return true;
}

/* Of a sender: the receiver's buffer is free, and the data goes there. */
static bool has_begun(const struct fjmpi_plan *plan)
{
	return !plan->pair->call.receives && pair_in_puts(plan) && plan->at > 0;
}

static uint32_t rounds_begun(const struct fjmpi_plan *plan)
{
	return plan->pair->puts - (pair_in_puts(plan) && !has_begun(plan));
}

static void send_close(struct fjmpi_plan *plan)
{
	struct plan_pair *pair = plan->pair;
	uint64_t begun = pair->call.receives ? 0 : rounds_begun(plan);

	pair->close_wanted = false;
	pair->state = PAIR_ALONE;
	pair->closes_sent++;
	notify(plan, PAIR_BLOCK_CLOSE, &begun, sizeof begun);
	if (!pair->call.receives && pair_in_puts(plan) && !has_begun(plan))
		pair_leave_to_mpi(pair);
}

static void take_close(struct fjmpi_plan *plan, uint64_t begun)
{
	struct plan_pair *pair = plan->pair;

	pair->closes_seen++;
	if (pair->call.receives && pair_in_puts(plan) && begun < pair->puts)
		pair_end_round_without_data(plan);
	if (pair->closes_seen > pair->closes_sent)
		pair->close_wanted = true;
}

/* --- Connecting --- */

static void step_or_fail(struct fjmpi_plan *plan, struct plan_step step)
{
	if (plan_add_step(&plan->steps[0], step) == 0)
		return;
	fjmpi_error("%s: there is no memory", pair_routine(&plan->pair->call));
	plan_fail();
}

static void write_steps(struct fjmpi_plan *plan)
{
	const struct plan_pair *pair = plan->pair;
	bool receives = pair->call.receives;
	struct plan_step flag = {.kind = STEP_NOTIFY,
				 .tni = plan->tni,
				 .target = pair->other.vcq,
				 .remote = pair->other.at + PAIR_BLOCK_FLAG * PAIR_BLOCK};
	struct plan_step await_flag = {.kind = STEP_AWAIT,
				       .slot = plan->region[PLAN_FLAGS].first_slot + PAIR_BLOCK_FLAG};

	plan->steps[0].count = 0;
	step_or_fail(plan, receives ? flag : await_flag);
	if (pair->bytes == 0)
		step_or_fail(plan, receives ? await_flag : flag);
	for (int piece = 0; piece < plan_pieces(pair->bytes); piece++) {
		size_t before = (size_t)piece * PLAN_PIECE;

		if (receives)
			step_or_fail(plan, (struct plan_step){.kind = STEP_AWAIT,
							      .slot = plan->region[PLAN_RECEIVE].first_slot + piece});
		else
			step_or_fail(plan,
				     (struct plan_step){.kind = STEP_PUT,
							.tni = plan->tni,
							.target = pair->other.vcq,
							.local = plan->region[PLAN_SEND].stadd[plan->tni] + before,
							.remote = pair->buffer + before,
							.bytes = plan_piece_bytes(pair->bytes, piece)});
	}
	if (!receives)
		step_or_fail(plan, (struct plan_step){.kind = STEP_SENT});
}

static void connect_pair(struct fjmpi_plan *plan)
{
	struct plan_pair *pair = plan->pair;
	int flag = plan->region[PLAN_FLAGS].first_slot + PAIR_BLOCK_FLAG;

	pair->state = PAIR_CONNECTED;
	pair->puts = 0;
	/* Data left from an earlier connection. */
	plan->awaited[flag] = plan->arrived[flag];
	write_steps(plan);
	pair_report(&pair->call, "puts over uTofu", "");
}

static void take_answer(struct fjmpi_plan *plan, const struct pair_answer *answer)
{
	struct plan_pair *pair = plan->pair;

	if (!answer->agrees) {
		pair->state = PAIR_ALONE;
		pair->gave_up = true;
		pair->close_wanted = false;
		pair_report_mpi(pair, "the request of the other rank takes no puts");
		return;
	}
	pair->other = (struct plan_mailbox){answer->vcq, answer->mailbox};
	pair->buffer = answer->buffer;
	if (pair->close_wanted) {
		pair->puts = 0;
		pair->state = PAIR_CONNECTED;
		return; /* closes now */
	}
	pair->first_put = pair->number + 1;
	connect_pair(plan);
	notify(plan, PAIR_BLOCK_REPLY, &pair->first_put, sizeof pair->first_put);
}

bool plan_pair_advance(struct fjmpi_plan *plan)
{
	struct plan_pair *pair = plan->pair;
	struct pair_answer answer;
	uint64_t word;
	bool moved = false;

	if (!pair->has_mailbox)
		return false;
	if (!pair->call.receives && take_arrival(plan, PAIR_BLOCK_REPLY, &answer, sizeof answer)) {
		take_answer(plan, &answer);
		moved = true;
	}
	if (pair->call.receives && take_arrival(plan, PAIR_BLOCK_REPLY, &word, sizeof word) &&
	    pair->state == PAIR_AGREEING) {
		pair->first_put = word;
		connect_pair(plan);
		moved = true;
	}
	if (take_arrival(plan, PAIR_BLOCK_CLOSE, &word, sizeof word)) {
		take_close(plan, word);
		moved = true;
	}
	/* A sender that waits for an answer does not know the mailbox. */
	if (pair->close_wanted && !has_begun(plan) && (pair->call.receives || pair->state != PAIR_AGREEING)) {
		send_close(plan);
		moved = true;
	}
	plan_recount(plan);
	return moved;
}

/* May two requests of this rank match the same message? */
static bool overlap(const struct fjmpi_pair_call *a, const struct fjmpi_pair_call *b)
{
	return !a->receives == !b->receives && a->comm == b->comm &&
	       (a->other == b->other || a->other < 0 || b->other < 0) && (a->tag == b->tag || a->tag < 0 || b->tag < 0);
}

bool pair_is_closing(const struct plan_pair *pair)
{
	return pair->closes_sent != pair->closes_seen;
}

struct fjmpi_plan *pair_find_rival(const struct fjmpi_plan *plan, bool freed)
{
	for (struct fjmpi_plan *other = plan_first(); other; other = other->next)
		if (other != plan && other->pair && other->pair->freed == freed && !plan_pair_ended(other) &&
		    overlap(&plan->pair->call, &other->pair->call))
			return other;
	return NULL;
}

void plan_pair_warn_others(const struct fjmpi_plan *plan)
{
	for (struct fjmpi_plan *other = plan_first(); other; other = other->next)
		if (other != plan && other->pair && other->pair->state != PAIR_ALONE &&
		    overlap(&plan->pair->call, &other->pair->call))
			other->pair->close_wanted = true;
}

void pair_answer_question(struct fjmpi_plan *plan)
{
	struct plan_pair *pair = plan->pair;
	struct pair_answer answer = {0};
	struct fjmpi_plan *rival;

	pair->other = (struct plan_mailbox){pair->header.vcq, pair->header.mailbox};
	/* The other rank has closed earlier requests before it asked. */
	while (pair_is_closing(pair) && plan_queues_poll() == 0)
		plan_pair_advance(plan);
	while ((rival = pair_find_rival(plan, true)) && plan_queues_poll() == 0)
		plan_pair_advance(rival);
	if (pair->call.refused)
		pair_report_mpi(pair, pair->call.refused);
	else if (pair->header.bytes > pair->call.bytes)
		pair_report_mpi(pair, "the message is longer than the buffer");
	else if (pair_find_rival(plan, false))
		pair_report_mpi(pair, "another request receives from this rank with this tag");
	else
		answer = (struct pair_answer){1, plan_queues_id(plan->tni), plan->region[PLAN_RECEIVE].stadd[plan->tni],
					      plan->region[PLAN_FLAGS].stadd[plan->tni]};
	if (answer.agrees) {
		pair->state = PAIR_AGREEING;
		pair->number = 1;
		pair->bytes = pair->header.bytes;
	}
	notify(plan, PAIR_BLOCK_REPLY, &answer, sizeof answer);
}
