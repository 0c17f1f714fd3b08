/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scenarios of software Tofu: what its processes share, by calls of uTofu; and the queues of its
 * network by themselves.
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <shmem.h>

#include "scenarios.h"
#include "softofu/include/utofu.h"
#include "softofu/net/net.h"
#include "softofu/nic/vcq.h"

enum { TNI = 0, STAG = 5, COMPONENT = 3, PACKETS_OF_EACH = 3 };

/* Of a PE: in the symmetric heap, so that the explorer sees what the kernel copies there. */
static struct words {
	_Alignas(STAG_ALIGNMENT) uint64_t data[4];
	uint64_t out[4], other[2];
	uint64_t announced, back;
	/* Two words of a line, and two of the next. */
	_Alignas(CACHE_LINE) char before[CACHE_LINE - 16];
	uint64_t split[4];
} * memory;

/* What PEs must know of each other before the first execution. */
static struct shown {
	uint64_t vcq, stadd, named, gate[2];
} * shown;

static utofu_vcq_hdl_t queue, session;
static uint64_t my_stadd, session_stadd;
static struct nic *nic;

static struct shown *of(int pe)
{
	return shmem_ptr(shown, pe);
}

static uint64_t stadd_of(uint64_t stadd, const void *address)
{
	return stadd + (uint64_t)((const char *)address - (const char *)memory);
}

/* --- Before the first execution --- */

static void start_tofu(const char *net)
{
	setenv("SOFTOFU_SHAPE", npes == 3 ? "3x1x1x1x1x1" : "2x1x1x1x1x1", 1);
	setenv("SOFTOFU_ORDER", "posted", 1);
	setenv("SOFTOFU_MRQ_SIZE", "16", 1);
	if (net)
		setenv("SOFTOFU_NET", net, 1);
	memory = shmem_align(STAG_ALIGNMENT, sizeof *memory);
	must(memory != NULL, "no memory");
	memset(memory, 0, sizeof *memory);
	memory->other[1] = (uint64_t)(uintptr_t)memory->data;
	shown = shmem_calloc(1, sizeof *shown);
	explore_reachable(memory, sizeof *memory);
	nic = nic_get();
	must(nic != NULL, "software Tofu does not start");
}

static uint64_t make_queue(unsigned long flags, utofu_vcq_hdl_t *vcq, uint64_t *stadd)
{
	utofu_vcq_id_t id;

	must(utofu_create_vcq(TNI, flags, vcq) == UTOFU_SUCCESS, "no VCQ");
	must(utofu_query_vcq_id(*vcq, &id) == UTOFU_SUCCESS, "a VCQ without an id");
	must(utofu_reg_mem(*vcq, memory, sizeof *memory, 0, stadd) == UTOFU_SUCCESS, "no memory can be registered");
	return id;
}

static void show(void)
{
	shown->vcq = make_queue(0, &queue, &my_stadd);
	shown->stadd = my_stadd;
}

/* A short queue of notices, so that an execution goes round in it. */
void open_tofu(void)
{
	utofu_vcq_hdl_t named;
	utofu_vcq_id_t id;

	start_tofu(NULL);
	show();
	must(utofu_create_vcq_with_cmp_id(TNI, COMPONENT, 0, &named) == UTOFU_SUCCESS, "no VCQ by component");
	must(utofu_query_vcq_id(named, &id) == UTOFU_SUCCESS && utofu_free_vcq(named) == UTOFU_SUCCESS, "no id");
	shown->named = id;
	nic->job->mrq_size = 4;
}

/* PE 1 has a session, which the thread of its NIC serves. */
void open_tofu_session(void)
{
	start_tofu(NULL);
	show();
	nic->vcq_count = 2;
	if (me == 1) {
		shown->vcq = make_queue(UTOFU_VCQ_FLAG_SESSION_MODE, &session, &session_stadd);
		shown->stadd = session_stadd;
	}
}

/* Each PE has a gate where a barrier starts and one that waits for both PEs. */
void open_tofu_gates(void)
{
	utofu_vbg_id_t ids[2];
	struct utofu_vbg_setting setting[2];
	const struct shown *other;

	start_tofu(NULL);
	must(utofu_alloc_vbg(TNI, 2, 0, ids) == UTOFU_SUCCESS, "no barrier gates");
	memcpy(shown->gate, ids, sizeof ids);
	shmem_barrier_all();
	other = of(1 - me);
	memset(setting, 0, sizeof setting);
	setting[0] = (struct utofu_vbg_setting){ids[0], ids[1], UTOFU_VBG_ID_NULL, ids[1], other->gate[1], {0}};
	setting[1] = (struct utofu_vbg_setting){ids[1], ids[0], other->gate[0], ids[0], UTOFU_VBG_ID_NULL, {0}};
	must(utofu_set_vbg(setting, 2) == UTOFU_SUCCESS, "barrier gates that do not fit");
}

void open_tofu_packets(void)
{
	start_tofu("packets:buffers=1,queue=1,window=1,receive-queue=1");
	show();
}

void open_tofu_through(void)
{
	start_tofu("packets:mode=through,receive-queue=2");
}

void open_tofu_routers(void)
{
	start_tofu("packets:buffers=1,queue=1,window=1,receive-queue=1");
}

/* --- Puts and their notices --- */

static void put_words(const uint64_t *words, uint64_t value, unsigned long flags)
{
	const struct shown *other = of(1 - me);

	for (int i = 0; i < 4; i++)
		memory->out[i] = value;
	must(utofu_put(queue, other->vcq, stadd_of(my_stadd, memory->out), stadd_of(other->stadd, words),
		       sizeof memory->out, 0, flags, NULL) == UTOFU_SUCCESS,
	     "no put");
}

static void put(uint64_t value, unsigned long flags)
{
	put_words(memory->data, value, flags);
}

/* Returns the VCQ of the other side. */
static uint64_t await(uint8_t type)
{
	struct utofu_mrq_notice notice;
	int code;

	do
		code = utofu_poll_mrq(queue, 0, &notice);
	while (code == UTOFU_ERR_NOT_FOUND && !sched_yield());
	EXPLORE_CHECK(code == UTOFU_SUCCESS && notice.notice_type == type);
	return notice.vcq_id;
}

/*
 * There and back, twice: data has come when its notice has, and may come again when it was
 * answered.
 */
void tofu_puts(uint64_t round)
{
	for (uint64_t iteration = 2 * round; iteration < 2 * round + 2; iteration++) {
		if (me == 0) {
			put(iteration, UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE | UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE);
			await(UTOFU_MRQ_TYPE_LCL_PUT);
		}
		await(UTOFU_MRQ_TYPE_RMT_PUT);
		EXPLORE_CHECK(all_are(memory->data, 4, iteration));
		if (me == 1)
			put(iteration, UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE);
	}
}

/*
 * PEs 1 and 2 put to PE 0 at once. Each also writes the packets of the other that it finds in the
 * receive queue.
 */
void tofu_packets(uint64_t round)
{
	uint64_t *mine = &memory->out[0];

	for (int taken = 0; taken < 2 && me == 0; taken++) {
		uint64_t from = await(UTOFU_MRQ_TYPE_RMT_PUT);

		EXPLORE_CHECK(all_are(&memory->data[from == of(1)->vcq ? 0 : 2], 2, round));
	}
	if (me == 0)
		return;
	mine[0] = mine[1] = round;
	must(utofu_put(queue, of(0)->vcq, stadd_of(my_stadd, mine), stadd_of(of(0)->stadd, &memory->data[2 * (me - 1)]),
		       16, 0, UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE, NULL) == UTOFU_SUCCESS,
	     "no put");
}

static void await_word(int word, uint64_t value)
{
	while (atomic_load_explicit((_Atomic uint64_t *)&memory->split[word], memory_order_acquire) != value)
		sched_yield();
	EXPLORE_CHECK(all_are(memory->split, word, value));
}

/*
 * No notices: with strong order the last word of a line comes behind the others, and so does the
 * last word of the put.
 */
void tofu_words(uint64_t round)
{
	for (uint64_t iteration = 2 * round; iteration < 2 * round + 2; iteration++) {
		if (me == 0)
			put_words(memory->split, iteration, UTOFU_ONESIDED_FLAG_STRONG_ORDER);
		await_word(1, iteration);
		await_word(3, iteration);
		if (me == 1)
			put_words(memory->split, iteration, UTOFU_ONESIDED_FLAG_STRONG_ORDER);
	}
}

/* All PEs add to a word of PE 0, twice each. */
void tofu_atomics(uint64_t round)
{
	struct utofu_mrq_notice notice;
	int code;

	for (int i = 0; i < 2; i++) {
		must(utofu_armw8(queue, of(0)->vcq, UTOFU_ARMW_OP_ADD, 1, stadd_of(of(0)->stadd, &memory->other[0]), 0,
				 UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE, NULL) == UTOFU_SUCCESS,
		     "no atomic operation");
		do
			code = utofu_poll_mrq(queue, 0, &notice);
		while (code == UTOFU_ERR_NOT_FOUND && !sched_yield());
		EXPLORE_CHECK(code == UTOFU_SUCCESS);
	}
	shmem_barrier_all();
	EXPLORE_CHECK(me != 0 || memory->other[0] == 2 * round * (uint64_t)npes);
	shmem_barrier_all();
}

/* --- A queue of notices that goes round, with several who write to it --- */

static void put_entry(struct shared_vcq *to, uint64_t value)
{
	struct mrq_entry notice = {.vcq_id = value, .rmt_value = ~value};
	uint64_t iteration;

	while (atomic_fetch_add_explicit(&to->mrq_tail, 0, memory_order_relaxed) -
		       atomic_load_explicit(&to->mrq_head, memory_order_relaxed) >
	       nic->job->mrq_size - (uint64_t)npes)
		;
	must(mrq_reserve(nic, to, &iteration), "the queue is full");
	mrq_fill(nic, to, iteration, &notice);
}

void tofu_notices(uint64_t round)
{
	struct utofu_mrq_notice notice;
	uint64_t sum = 0;
	uint32_t number;
	struct shared_vcq *to = vcq_find(nic, of(0)->vcq, &number);

	for (uint64_t i = 0; i < 4 && me > 0; i++)
		put_entry(to, round + i);
	for (int taken = 0; taken < 4 * (npes - 1) && me == 0;) {
		if (utofu_poll_mrq(queue, 0, &notice) == UTOFU_ERR_NOT_FOUND)
			continue;
		EXPLORE_CHECK(notice.rmt_value == ~notice.vcq_id);
		sum += notice.vcq_id - round;
		taken++;
	}
	EXPLORE_CHECK(me > 0 || sum == 6 * ((uint64_t)npes - 1));
}

/* --- A VCQ, and memory, that come and go while another PE searches for them --- */

/* Which may be the one that another PE has just given back. */
static void make_and_free(utofu_cmp_id_t component)
{
	utofu_vcq_hdl_t vcq;

	must(utofu_create_vcq_with_cmp_id(TNI, component, 0, &vcq) == UTOFU_SUCCESS, "no VCQ");
	must(utofu_free_vcq(vcq) == UTOFU_SUCCESS, "a VCQ that cannot be given back");
}

void tofu_comings(uint64_t round)
{
	utofu_vcq_hdl_t named;
	uint64_t stadd, address;
	uint32_t number;
	struct shared_vcq *found;
	struct range range;

	if (me == 2) {
		make_and_free(COMPONENT + 1);
		make_and_free(COMPONENT + 1);
		return;
	}
	if (me == 1) {
		must(utofu_create_vcq_with_cmp_id(TNI, COMPONENT, 0, &named) == UTOFU_SUCCESS, "no VCQ");
		must(utofu_reg_mem_with_stag(named, memory->data, sizeof memory->data, STAG, 0, &stadd) ==
			     UTOFU_SUCCESS,
		     "no memory can be registered");
		shmem_uint64_wait_until(&memory->announced, SHMEM_CMP_EQ, round);
		must(utofu_dereg_mem(named, stadd, 0) == UTOFU_SUCCESS, "memory that cannot be given back");
		must(utofu_free_vcq(named) == UTOFU_SUCCESS, "a VCQ that cannot be given back");
		shmem_fence();
		shmem_uint64_p(&memory->back, round, 0);
		return;
	}
	while (!(found = vcq_find(nic, of(1)->named, &number)))
		sched_yield();
	EXPLORE_CHECK(found->rank == 1 && shared_vcq_id(found) == of(1)->named && found->flags == 0);
	range = (struct range){found, number, STADD_MAKE(STAG, 0), sizeof memory->data, true};
	while (memory_find(nic, &range, &address) != TRANSLATED)
		sched_yield();
	EXPLORE_CHECK(address == *(uint64_t *)shmem_ptr(&memory->other[1], 1));
	shmem_fence();
	shmem_uint64_p(&memory->announced, round, 1);
	shmem_uint64_wait_until(&memory->back, SHMEM_CMP_EQ, round);
	EXPLORE_CHECK(!vcq_find(nic, of(1)->named, &number));
}

/*
 * --- A session: what arrives lets a prepared put go, which the thread of the NIC carries out ---
 */

void tofu_sessions(uint64_t round)
{
	if (me == 1) {
		must(utofu_put(session, of(0)->vcq, stadd_of(session_stadd, memory->data),
			       stadd_of(of(0)->stadd, memory->data), sizeof memory->data, 0,
			       UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE, NULL) == UTOFU_SUCCESS,
		     "no put in the session");
		return;
	}
	put(round, UTOFU_ONESIDED_FLAG_SPS(1));
	await(UTOFU_MRQ_TYPE_RMT_PUT);
	EXPLORE_CHECK(all_are(memory->data, 4, round));
}

/*
 * --- The thread of the NIC releases what reorder injection holds back, also without further calls
 * of the program ---
 */

void open_tofu_held(void)
{
	start_tofu(NULL);
	show();
	nic->settings.order = ORDER_REORDERED;
	nic->vcq_count = 2;
	must(nic_thread_start(nic), "no thread");
	explore_sleeps_end();
}

void tofu_held(uint64_t round)
{
	memory->out[0] = round;
	for (int i = 0; i < 4 && me == 0; i++)
		must(utofu_put(queue, of(1)->vcq, stadd_of(my_stadd, memory->out),
			       stadd_of(of(1)->stadd, &memory->data[i]), sizeof memory->data[i], 0, 0,
			       NULL) == UTOFU_SUCCESS,
		     "no put");
	for (int i = 0; i < 4 && me == 1; i++)
		while (atomic_load_explicit((_Atomic uint64_t *)&memory->data[i], memory_order_relaxed) != round)
			sched_yield();
}

/* --- Barrier gates: a sum over both PEs, twice --- */

void tofu_gates(uint64_t round)
{
	for (uint64_t i = 0; i < 2; i++) {
		uint64_t value = round + i + (uint64_t)me, sum = 0;
		int code;

		must(utofu_reduce_uint64(shown->gate[0], UTOFU_REDUCE_OP_SUM, &value, 1, 0) == UTOFU_SUCCESS,
		     "no reduction");
		do
			code = utofu_poll_reduce_uint64(shown->gate[0], 0, &sum);
		while (code == UTOFU_ERR_NOT_COMPLETED);
		EXPLORE_CHECK(code == UTOFU_SUCCESS && sum == 2 * (round + i) + 1);
	}
}

/*
 * --- The network by itself: all send to PE 0, without routers, or through routers with the least
 * room ---
 */

static struct net *net_of(void)
{
	return (struct net *)(void *)((char *)nic->job + nic->job->net_at);
}

static bool take(void *context, const struct net_packet *packet, const void *data)
{
	uint64_t words[2];

	memcpy(words, data, sizeof words);
	EXPLORE_CHECK(packet->length == sizeof words && words[0] == ~words[1]);
	*(uint64_t *)context += words[0];
	return true;
}

static void send_to_first(uint64_t value)
{
	struct net_message message = {.from = {me, TNI, 0}, .to = {0, TNI, 0}, .class = NET_REQUEST, .bytes = 16};
	uint64_t words[2] = {value, ~value}, done = 0;

	while (net_inject(net_of(), &message, words, &done) == 0)
		net_step(net_of(), 64);
}

void tofu_packet_network(uint64_t round)
{
	const struct net_address at = {0, TNI, 0};
	uint64_t sum = 0, wanted = 0;
	int taken = 0, all = PACKETS_OF_EACH * (npes - 1);

	for (uint64_t i = 0; i < PACKETS_OF_EACH; i++) {
		if (me > 0)
			send_to_first(round + i);
		wanted += (round + i) * ((uint64_t)npes - 1);
	}
	while (me == 0 && taken < all) {
		taken += net_take(net_of(), &at, NET_REQUEST, 1, take, &sum);
		net_step(net_of(), 64);
	}
	EXPLORE_CHECK(me > 0 || sum == wanted);
}
