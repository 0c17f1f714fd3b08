/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "plan.h"

/*
 * Requests of FJMPI_Prequest_send_init and FJMPI_Prequest_recv_init.
 *
 * A request begins as a message of the MPI, which finds the receiver: a header and the data. How two requests connect:
 *
 *   1. The header of the first message asks. It names the sender's mailbox. The receiver, when the message is complete,
 *      answers with a put into it: where its buffer and its own mailbox are, or that it wants no puts.
 *   2. The sender does not wait for the answer. It goes on with the MPI until it has it, and then tells the receiver
 *      from which message on it puts. The thread does that, so a receiver that starts again may wait for it.
 *   3. In a round of puts the receiver's start notifies the sender that the buffer is free. The sender awaits this, and
 *      puts the data in pieces, which the receiver awaits.
 *
 * How they disconnect, when a request is freed, cancelled, or not the only one any more for the messages of a rank and
 * a tag (the MPI then has to match them): each tells the other once to close. The sender says how many rounds of puts
 * it has begun, so that the receiver knows whether the data of a round that it has started still comes; otherwise the
 * MPI starts the round again. Until both have told, the mailbox stays, also that of a request which is freed.
 *
 * Control puts between two mailboxes are strongly ordered: behind the notification to close nothing else arrives.
 */
#define PLANS_API __attribute__((visibility("default")))

#define HEADER_MAGIC UINT64_C(0x746f667570616972)

struct header {
	uint64_t magic, machine, asks, vcq, mailbox, bytes, unused[2];
};

static_assert(sizeof(struct header) == FJMPI_PAIR_HEADER_BYTES, "fjmpi_persistent.h sends headers of this size");

/* Into the mailbox of the sender. */
struct answer {
	uint64_t agrees, vcq, buffer, mailbox;
};

enum { BLOCK = sizeof(struct answer) };

/* Blocks of a mailbox, which are also the slots of its arrivals. */
enum {
	BLOCK_REPLY, /* the answer; at the receiver the number of the first message that is put */
	BLOCK_FLAG,  /* the buffer is free; at the receiver that a message without bytes is here */
	BLOCK_CLOSE, /* with the number of rounds of puts that the sender has begun */
	BLOCKS
};

enum pair_state {
	PAIR_ALONE,
	PAIR_AGREEING, /* the sender has asked, the receiver has agreed */
	PAIR_CONNECTED
};

struct plan_pair {
	struct fjmpi_pair_call call;
	struct header header; /* of messages of the MPI, sent or received */
	enum pair_state state;
	bool has_mailbox, gave_up; /* asks no more */
	bool by_mpi;		   /* this round */
	bool late, starting;	   /* the MPI has to start it; is about to */
	bool close_wanted, cancel_wanted, freed, said;
	uint64_t number;    /* of the last message since the question, which is 1 */
	uint64_t first_put; /* number of a message */
	uint32_t puts;	    /* rounds that the receiver has started, or that the sender has begun */
	uint32_t closes_sent, closes_seen;
	struct plan_mailbox other;
	utofu_stadd_t buffer; /* of the other rank */
	size_t bytes;	      /* of the message */
	struct fjmpi_pair_result result;
};

static _Atomic int late_pairs; /* read without the lock: most programs have none */

static const char *routine(const struct fjmpi_pair_call *call)
{
	return plan_routine(call->receives ? FJMPI_PLAN_RECEIVES : FJMPI_PLAN_SENDS);
}

static void report(const struct fjmpi_pair_call *call, const char *how, const char *why)
{
	char other[40] = "any rank", tag[20] = "any";

	if (!plan_wants_stats())
		return;
	if (call->other >= 0)
		snprintf(other, sizeof other, "rank %d", call->other);
	if (call->tag >= 0)
		snprintf(tag, sizeof tag, "%d", call->tag);
	fprintf(stderr, "softofu: rank %d: %s: %s, tag %s: %s%s\n", call->me, routine(call), other, tag, how, why);
}

static void report_mpi(struct plan_pair *pair, const char *why)
{
	if (!pair->said)
		report(&pair->call, "the MPI carries it out: ", why);
	pair->said = true;
}

/* --- Control puts --- */

static void tell(struct fjmpi_plan *plan, int block, const void *words, size_t bytes)
{
	int code;

	while ((code = plan_queues_tell(plan->tni, &plan->pair->other, (size_t)block * BLOCK, words, bytes)) ==
	       UTOFU_ERR_BUSY)
		if (plan_queues_poll())
			break;
	if (code == UTOFU_SUCCESS)
		return;
	fjmpi_error("%s: a put failed: uTofu returned %d", routine(&plan->pair->call), code);
	plan_fail();
}

static bool take_arrival(struct fjmpi_plan *plan, int block, void *words, size_t bytes)
{
	int slot = plan->region[PLAN_FLAGS].first_slot + block;

	if (plan->arrived[slot] == plan->awaited[slot])
		return false;
	plan->awaited[slot]++;
	memcpy(words, plan->region[PLAN_FLAGS].at + block * BLOCK, bytes);
	return true;
}

static bool in_puts(const struct fjmpi_plan *plan)
{
	return plan->state == FJMPI_PLAN_ACTIVE && !plan->pair->by_mpi;
}

/* Of a sender: the receiver's buffer is free, and the data goes there. */
static bool has_begun(const struct fjmpi_plan *plan)
{
	return !plan->pair->call.receives && in_puts(plan) && plan->at > 0;
}

static uint32_t rounds_begun(const struct fjmpi_plan *plan)
{
	return plan->pair->puts - (in_puts(plan) && !has_begun(plan));
}

static void leave_to_mpi(struct plan_pair *pair)
{
	pair->by_mpi = true;
	pair->late = true;
	atomic_fetch_add_explicit(&late_pairs, 1, memory_order_relaxed);
}

static void send_close(struct fjmpi_plan *plan)
{
	struct plan_pair *pair = plan->pair;
	uint64_t begun = pair->call.receives ? 0 : rounds_begun(plan);

	pair->close_wanted = false;
	pair->state = PAIR_ALONE;
	pair->closes_sent++;
	tell(plan, BLOCK_CLOSE, &begun, sizeof begun);
	if (!pair->call.receives && in_puts(plan) && !has_begun(plan))
		leave_to_mpi(pair);
}

/* A round of puts for which no data comes. */
static void end_round_without_data(struct fjmpi_plan *plan)
{
	if (!plan->pair->cancel_wanted) {
		leave_to_mpi(plan->pair);
		return;
	}
	plan->pair->result.cancelled = 1;
	plan->state = FJMPI_PLAN_COMPLETE;
}

static void take_close(struct fjmpi_plan *plan, uint64_t begun)
{
	struct plan_pair *pair = plan->pair;

	pair->closes_seen++;
	if (pair->call.receives && in_puts(plan) && begun < pair->puts)
		end_round_without_data(plan);
	if (pair->closes_seen > pair->closes_sent)
		pair->close_wanted = true;
}

/* --- Connecting --- */

static void step_or_fail(struct fjmpi_plan *plan, struct plan_step step)
{
	if (plan_add_step(&plan->steps[0], step) == 0)
		return;
	fjmpi_error("%s: there is no memory", routine(&plan->pair->call));
	plan_fail();
}

static void write_steps(struct fjmpi_plan *plan)
{
	const struct plan_pair *pair = plan->pair;
	bool receives = pair->call.receives;
	struct plan_step flag = {.kind = STEP_NOTIFY,
				 .tni = plan->tni,
				 .target = pair->other.vcq,
				 .remote = pair->other.at + BLOCK_FLAG * BLOCK};
	struct plan_step await_flag = {.kind = STEP_AWAIT, .slot = plan->region[PLAN_FLAGS].first_slot + BLOCK_FLAG};

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
	int flag = plan->region[PLAN_FLAGS].first_slot + BLOCK_FLAG;

	pair->state = PAIR_CONNECTED;
	pair->puts = 0;
	/* What is left of an earlier connection. */
	plan->awaited[flag] = plan->arrived[flag];
	write_steps(plan);
	report(&pair->call, "puts over uTofu", "");
}

static void take_answer(struct fjmpi_plan *plan, const struct answer *answer)
{
	struct plan_pair *pair = plan->pair;

	if (!answer->agrees) {
		pair->state = PAIR_ALONE;
		pair->gave_up = true;
		pair->close_wanted = false;
		report_mpi(pair, "the request of the other rank takes no puts");
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
	tell(plan, BLOCK_REPLY, &pair->first_put, sizeof pair->first_put);
}

bool plan_pair_advance(struct fjmpi_plan *plan)
{
	struct plan_pair *pair = plan->pair;
	struct answer answer;
	uint64_t word;
	bool moved = false;

	if (!pair->has_mailbox)
		return false;
	if (!pair->call.receives && take_arrival(plan, BLOCK_REPLY, &answer, sizeof answer)) {
		take_answer(plan, &answer);
		moved = true;
	}
	if (pair->call.receives && take_arrival(plan, BLOCK_REPLY, &word, sizeof word) &&
	    pair->state == PAIR_AGREEING) {
		pair->first_put = word;
		connect_pair(plan);
		moved = true;
	}
	if (take_arrival(plan, BLOCK_CLOSE, &word, sizeof word)) {
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

static bool is_closing(const struct plan_pair *pair)
{
	return pair->closes_sent != pair->closes_seen;
}

/* Another request that may, or NULL. A freed one counts until the other rank knows of its end. */
static struct fjmpi_plan *find_rival(const struct fjmpi_plan *plan, bool freed)
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

static void answer_question(struct fjmpi_plan *plan)
{
	struct plan_pair *pair = plan->pair;
	struct answer answer = {0};
	struct fjmpi_plan *rival;

	pair->other = (struct plan_mailbox){pair->header.vcq, pair->header.mailbox};
	/* The other rank has told earlier requests to close before it asked. */
	while (is_closing(pair) && plan_queues_poll() == 0)
		plan_pair_advance(plan);
	while ((rival = find_rival(plan, true)) && plan_queues_poll() == 0)
		plan_pair_advance(rival);
	if (pair->call.refused)
		report_mpi(pair, pair->call.refused);
	else if (pair->header.bytes > pair->call.bytes)
		report_mpi(pair, "the message is longer than the buffer");
	else if (find_rival(plan, false))
		report_mpi(pair, "another request receives from this rank with this tag");
	else
		answer = (struct answer){1, plan_queues_id(plan->tni), plan->region[PLAN_RECEIVE].stadd[plan->tni],
					 plan->region[PLAN_FLAGS].stadd[plan->tni]};
	if (answer.agrees) {
		pair->state = PAIR_AGREEING;
		pair->number = 1;
		pair->bytes = pair->header.bytes;
	}
	tell(plan, BLOCK_REPLY, &answer, sizeof answer);
}

/* --- Rounds --- */

static bool may_ask(const struct fjmpi_plan *plan)
{
	struct plan_pair *pair = plan->pair;

	if (pair->call.refused || pair->gave_up || pair->state != PAIR_ALONE || is_closing(pair))
		return false;
	if (!find_rival(plan, false))
		return !find_rival(plan, true);
	report_mpi(pair, "another request sends to this rank with this tag");
	return false;
}

static void start_in_mpi(struct fjmpi_plan *plan)
{
	struct plan_pair *pair = plan->pair;

	pair->by_mpi = true;
	memset(&pair->header, 0, sizeof pair->header);
	if (pair->call.receives)
		return;
	pair->header = (struct header){.magic = HEADER_MAGIC, .machine = plan_machine(), .bytes = pair->call.bytes};
	if (!may_ask(plan))
		return;
	pair->header.asks = 1;
	pair->header.vcq = plan_queues_id(plan->tni);
	pair->header.mailbox = plan->region[PLAN_FLAGS].stadd[plan->tni];
	pair->bytes = pair->call.bytes;
	pair->state = PAIR_AGREEING;
	pair->number = 1;
}

enum fjmpi_plan_start plan_pair_start(struct fjmpi_plan *plan)
{
	struct plan_pair *pair = plan->pair;

	if (pair->call.receives && pair->state == PAIR_AGREEING)
		return FJMPI_PLAN_NOT_YET;
	memset(&pair->result, 0, sizeof pair->result);
	pair->cancel_wanted = false;
	pair->by_mpi = false;
	pair->number++;
	if (pair->state == PAIR_CONNECTED && pair->number >= pair->first_put)
		pair->puts++;
	else
		start_in_mpi(plan);
	return pair->by_mpi ? FJMPI_PLAN_MPI_STARTS : FJMPI_PLAN_STARTED;
}

bool plan_pair_in_mpi(const struct fjmpi_plan *plan)
{
	return plan->pair->by_mpi;
}

bool plan_pair_testable(const struct fjmpi_plan *plan)
{
	return plan->pair->by_mpi && !plan->pair->late && !plan->pair->starting;
}

bool plan_pair_busy(const struct fjmpi_plan *plan)
{
	const struct plan_pair *pair = plan->pair;

	return in_puts(plan) || pair->state != PAIR_ALONE || is_closing(pair);
}

PLANS_API struct fjmpi_plan *fjmpi_plan_pair_late(uintptr_t *request)
{
	struct fjmpi_plan *plan;

	if (atomic_load_explicit(&late_pairs, memory_order_relaxed) == 0)
		return NULL;
	plan_lock();
	for (plan = plan_first(); plan; plan = plan->next)
		if (plan->pair && plan->pair->late) {
			atomic_fetch_sub_explicit(&late_pairs, 1, memory_order_relaxed);
			plan->pair->late = false;
			plan->pair->starting = true;
			memset(&plan->pair->header, 0, sizeof plan->pair->header);
			if (!plan->pair->call.receives)
				start_in_mpi(plan);
			*request = plan->request;
			break;
		}
	plan_unlock();
	return plan;
}

PLANS_API void fjmpi_plan_pair_started(struct fjmpi_plan *plan)
{
	plan_lock();
	plan->pair->starting = false;
	plan_unlock();
}

/* Returns 0, or -1 after a line. */
static int read_header(struct fjmpi_plan *plan, int code, size_t bytes)
{
	const struct plan_pair *pair = plan->pair;
	const struct header *header = &pair->header;

	if (code == 0 && (bytes < sizeof *header || header->magic != HEADER_MAGIC))
		return fjmpi_error("FJMPI_Prequest_recv_init: rank %d, tag %d: a message arrived that is not of "
				   "FJMPI_Prequest_send_init in C or C++; both sides have to be requests of this kind",
				   pair->call.other, pair->call.tag);
	if (header->magic != HEADER_MAGIC || !header->asks)
		return 0;
	if (header->machine != plan_machine() || plan->tni < 0)
		return fjmpi_error(
			"FJMPI_Prequest_recv_init: rank %d, tag %d: %s; SOFTOFU_PLANS=no leaves such requests "
			"to the MPI",
			pair->call.other, pair->call.tag,
			plan->tni < 0 ? "this rank has no queues" : "the sender runs on another machine");
	answer_question(plan);
	return 0;
}

PLANS_API int fjmpi_plan_pair_arrived(struct fjmpi_plan *plan, const struct fjmpi_pair_round *of_mpi)
{
	struct plan_pair *pair = plan->pair;
	int result = 0;

	plan_lock();
	pair->result.by_mpi = 1;
	pair->result.of_mpi = *of_mpi;
	plan->state = FJMPI_PLAN_COMPLETE;
	/* A receive that is cancelled has had no message. */
	if (of_mpi->cancelled)
		pair->number--;
	else if (pair->call.receives)
		result = read_header(plan, of_mpi->code, of_mpi->bytes);
	plan_recount(plan);
	plan_unlock();
	return result;
}

PLANS_API void fjmpi_plan_pair_result(struct fjmpi_plan *plan, int end, struct fjmpi_pair_result *result)
{
	struct plan_pair *pair = plan->pair;

	plan_lock();
	*result = pair->result;
	result->complete = plan->state == FJMPI_PLAN_COMPLETE;
	result->receives = pair->call.receives;
	result->other = pair->call.other;
	result->tag = pair->call.tag;
	result->bytes = pair->bytes;
	if (end && result->complete)
		plan->state = FJMPI_PLAN_INACTIVE;
	plan_unlock();
}

PLANS_API int fjmpi_plan_pair_cancel(struct fjmpi_plan *plan)
{
	struct plan_pair *pair = plan->pair;
	int what = 0;

	plan_lock();
	if (plan->state == FJMPI_PLAN_INACTIVE)
		what = fjmpi_error("MPI_Cancel: the request of %s is not active", routine(&pair->call));
	else if (!pair->call.receives)
		what = fjmpi_error("MPI_Cancel: a request that sends, here of %s, cannot be cancelled",
				   routine(&pair->call));
	else if (plan->state == FJMPI_PLAN_ACTIVE && plan_pair_testable(plan))
		what = 1;
	else if (plan->state == FJMPI_PLAN_ACTIVE) {
		pair->cancel_wanted = true;
		if (pair->late) {
			atomic_fetch_sub_explicit(&late_pairs, 1, memory_order_relaxed);
			pair->late = pair->by_mpi = false;
			end_round_without_data(plan);
		} else if (pair->state == PAIR_CONNECTED) {
			pair->close_wanted = true;
		}
		plan_recount(plan);
	}
	plan_unlock();
	return what;
}

/* --- Making and freeing --- */

PLANS_API int fjmpi_plan_pair_wanted(int me)
{
	fjmpi_error_rank(me);
	return plan_setting();
}

PLANS_API void fjmpi_plan_pair_plain(const struct fjmpi_pair_call *call, const char *reason)
{
	report(call, "the MPI carries it out: ", reason);
}

static void use_region(struct fjmpi_plan *plan, enum plan_region_name name, void *at, size_t block, int blocks)
{
	plan->region[name] = (struct plan_region){.at = at, .bytes = block * (size_t)blocks, .block = block};
}

/* Returns whether the memory is registered, and arrivals in it are counted. */
static bool use_memory(struct fjmpi_plan *plan)
{
	if (plan_queues_register(plan) == 0 && plan_queues_expect(plan) == 0)
		return true;
	plan_queues_forget(plan);
	return false;
}

static int prepare(struct fjmpi_plan *plan)
{
	struct plan_pair *pair = plan->pair;
	const struct fjmpi_pair_call *call = &pair->call;

	use_region(plan, PLAN_FLAGS, NULL, BLOCK, BLOCKS);
	if (!call->refused)
		use_region(plan, call->receives ? PLAN_RECEIVE : PLAN_SEND, call->buffer, call->bytes, 1);
	if (plan_make_regions(plan))
		return -1;
	plan->tni = plan_queues_open() > 0 ? plan_queues_choose() : -1;
	pair->has_mailbox = plan->tni >= 0 && plan_start_thread() == 0 && use_memory(plan);
	if (!pair->has_mailbox && !call->refused)
		pair->call.refused = "there is no queue, or no memory can be registered with it";
	if (pair->call.refused)
		report_mpi(pair, pair->call.refused);
	return 0;
}

PLANS_API struct fjmpi_plan *fjmpi_plan_pair_make(const struct fjmpi_pair_call *call, unsigned char **header)
{
	struct fjmpi_plan *plan = calloc(1, sizeof *plan);
	struct plan_pair *pair = calloc(1, sizeof *pair);
	int code = -1;

	if (plan && pair) {
		pair->call = *call;
		plan->pair = pair;
		plan->call.kind = call->receives ? FJMPI_PLAN_RECEIVES : FJMPI_PLAN_SENDS;
		*header = (unsigned char *)&pair->header;
		plan_lock();
		code = prepare(plan);
		plan_unlock();
	} else {
		free(plan);
		free(pair);
		plan = NULL;
	}
	if (code)
		fjmpi_error("%s: there is no memory", routine(call));
	if (code && plan)
		plan_free(plan);
	return code ? NULL : plan;
}

PLANS_API void fjmpi_plan_pair_attach(struct fjmpi_plan *plan, uintptr_t request)
{
	fjmpi_plan_attach(plan, request);
}

PLANS_API const struct fjmpi_pair_call *fjmpi_plan_pair_call_of(struct fjmpi_plan *plan)
{
	return plan->pair ? &plan->pair->call : NULL;
}

PLANS_API int fjmpi_plan_pair_left(uintptr_t *request)
{
	struct fjmpi_plan *plan;

	plan_lock();
	for (plan = plan_first(); plan; plan = plan->next)
		if (plan->pair && !plan->pair->freed && plan->state == FJMPI_PLAN_INACTIVE) {
			*request = plan->request;
			break;
		}
	plan_unlock();
	return plan != NULL;
}

void plan_pair_detach(struct fjmpi_plan *plan)
{
	struct plan_pair *pair = plan->pair;

	pair->freed = true;
	pair->close_wanted = pair->close_wanted || pair->state != PAIR_ALONE;
	plan_queues_forget_region(plan, pair->call.receives ? PLAN_RECEIVE : PLAN_SEND);
	plan_recount(plan);
}

bool plan_pair_ended(const struct fjmpi_plan *plan)
{
	const struct plan_pair *pair = plan->pair;

	return pair->freed && pair->state == PAIR_ALONE && !is_closing(pair) && !pair->close_wanted;
}

void plan_pair_free(struct plan_pair *pair)
{
	free(pair);
}
