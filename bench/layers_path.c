/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The layers of each path. This program is linked with the library's archive, so that it can call what is inside: the
 * comms layer, and UCP by the library's own connection.
 */
#include "comms/ops/ops.h"
#include "comms/core/comms.h"
#include "comms/core/copy.h"
#include "comms/core/network.h"
#include "comms/net/ucx/ucx_messages.h"
#include "comms/wait/wait.h"

/* After the library's own, which have words of the bench for other things. */
#include "layers.h"
#include "layers_tofu.h"

#include <stdlib.h>
#include <string.h>

struct layer_word *layer_word;
uint64_t layer_value;
bool layer_acknowledges;

/* Whom messages go to: the other, or oneself. */
static int target;

static uint64_t value_now(void)
{
	return __atomic_load_n(&layer_word->value, __ATOMIC_ACQUIRE);
}

/* --- The call of the program --- */

static void shmem_post(uint64_t value)
{
	shmem_putmem(&layer_word->value, &value, sizeof value, target);
}

static void shmem_await(uint64_t value)
{
	shmem_ulong_wait_until((unsigned long *)&layer_word->value, SHMEM_CMP_GE, value);
}

/* --- The comms layer --- */

static void comms_post(uint64_t value)
{
	struct comms_peer *peer;
	void *here = comms_reach_quickly(&layer_word->value, sizeof value, target, &peer);

	if (here)
		comms_put_here(peer, &layer_word->value, here, &value, sizeof value, __func__);
	else
		comms_put(&layer_word->value, &value, sizeof value, target, "shmem_putmem");
}

static void call_post(uint64_t value)
{
	layers_put_unchecked(&layer_word->value, &value, sizeof value, target);
}

/* Nothing is called, and the length is known. */
static void inlined_post(uint64_t value)
{
	struct comms_peer *peer;
	void *here = comms_reach_among(false, comms.quick_pes, &layer_word->value, sizeof value, target, &peer);

	comms_put_here(peer, &layer_word->value, here, &value, sizeof value, __func__);
}

static void comms_await(uint64_t value)
{
	COMMS_WAIT(&layer_word->value, value_now() >= value);
}

static void comms_flush(void)
{
	comms_quiet();
}

/* --- UCP --- */

static struct {
	ucp_ep_h endpoint;
	ucp_rkey_h key;
	uint64_t remote;
	_Atomic uint64_t asked, answered; /* by whoever lets UCP work */
	_Atomic uint64_t came, known;	  /* from the other PE, and how many of those it knows of */
	_Atomic(ucp_ep_h) back;
} by_ucp;

static void open_ucp(void)
{
	struct comms_peer *other = comms_connect(!group.me);
	struct ucx_peer *peer = ucx_peer(other);
	enum comms_segment_id segment = comms_find_segment(layer_word);

	by_ucp.endpoint = peer->endpoint;
	by_ucp.key = peer->key[segment];
	by_ucp.remote =
		(uint64_t)(uintptr_t)(peer->base[segment] + ((char *)layer_word - comms.segments[segment].base)) +
		offsetof(struct layer_word, value);
}

static void finish(ucs_status_ptr_t request)
{
	while (UCS_PTR_IS_PTR(request) && ucp_request_check_status(request) == UCS_INPROGRESS)
		ucx_progress(); /* and not UCP alone: so the library's thread keeps away */
	if (UCS_PTR_IS_ERR(request))
		group_fail("UCP: %s", ucs_status_string(UCS_PTR_STATUS(request)));
	if (UCS_PTR_IS_PTR(request))
		ucp_request_free(request);
}

static void ucp_post(uint64_t value)
{
	finish(ucp_put_nbx(by_ucp.endpoint, &value, sizeof value, by_ucp.remote, by_ucp.key, &ucx_plain));
}

static void ucp_flush(void)
{
	finish(ucp_ep_flush_nbx(by_ucp.endpoint, &ucx_plain));
}

/* Where the library's puts are messages of UCP with an acknowledgement for all that came at once, so are these. */
enum { POSTED = 29, ANSWERED, BACK };

struct posted {
	struct ucx_message as_long_as_the_library_s;
	uint64_t remote, value;
};

static ucs_status_t post_came(void *unused, const void *header, size_t header_bytes, void *data, size_t bytes,
			      const ucp_am_recv_param_t *param)
{
	struct posted posted;

	(void)unused, (void)header_bytes, (void)data, (void)bytes, (void)param;
	memcpy(&posted, header, sizeof posted);
	__atomic_store_n((uint64_t *)(uintptr_t)posted.remote, posted.value, __ATOMIC_RELEASE);
	by_ucp.came++;
	return UCS_OK;
}

/* The first message brings the address to answer to, as the library's does. */
static ucs_status_t back_came(void *unused, const void *header, size_t header_bytes, void *data, size_t bytes,
			      const ucp_am_recv_param_t *param)
{
	(void)unused, (void)header, (void)header_bytes, (void)data, (void)bytes;
	by_ucp.back = param->reply_ep;
	return UCS_OK;
}

static ucs_status_t answer_came(void *unused, const void *header, size_t header_bytes, void *data, size_t bytes,
				const ucp_am_recv_param_t *param)
{
	uint64_t count;

	(void)unused, (void)header_bytes, (void)data, (void)bytes, (void)param;
	memcpy(&count, header, sizeof count);
	by_ucp.answered = count;
	return UCS_OK;
}

static void send_message(ucp_ep_h endpoint, unsigned number, const void *header, size_t bytes)
{
	static const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
						  .flags = UCP_AM_SEND_FLAG_EAGER};

	finish(ucp_am_send_nbx(endpoint, number, header, bytes, NULL, 0, &param));
}

static void open_messages(void)
{
	static const ucp_request_param_t param = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
		.flags = UCP_AM_SEND_FLAG_EAGER | UCP_AM_SEND_FLAG_REPLY,
	};

	ucx_take_by(ucx.main.worker, POSTED, post_came);
	ucx_take_by(ucx.main.worker, ANSWERED, answer_came);
	ucx_take_by(ucx.main.worker, BACK, back_came);
	shmem_barrier_all();
	finish(ucp_am_send_nbx(by_ucp.endpoint, BACK, NULL, 0, &param, 1, &param));
	while (!by_ucp.back)
		ucx_progress();
}

static bool ucp_work(void)
{
	bool worked = ucx_progress();
	uint64_t came = by_ucp.came;

	if (by_ucp.known < came) {
		by_ucp.known = came;
		send_message(by_ucp.back, ANSWERED, &came, sizeof came);
	}
	return worked;
}

static void ucp_message(uint64_t value)
{
	struct posted posted = {.remote = by_ucp.remote, .value = value};

	by_ucp.asked++;
	send_message(by_ucp.endpoint, POSTED, &posted, sizeof posted);
}

static void ucp_await_answers(void)
{
	while (by_ucp.answered < by_ucp.asked)
		ucp_work();
}

static bool ucp_progress(void)
{
	return ucp_work();
}

static void ucp_await(uint64_t value)
{
	while (value_now() < value)
		ucp_work();
}

/* --- uTofu --- */

static void tofu_await(uint64_t value)
{
	while (value_now() < value)
		tofu_layer_progress();
}

/* --- The machine --- */

static volatile uint64_t *line_mine, *line_other;

static void aim_at(int pe)
{
	target = pe;
	line_other = shmem_ptr(&layer_word->value, pe);
}

/* On the word that the library is measured with: another line may be farther from both. */
static void open_local_line(void)
{
	line_mine = &layer_word->value;
	aim_at(!group.me);
}

void layers_to_oneself(bool yes)
{
	aim_at(yes ? group.me : !group.me);
}

static void open_line(void)
{
	if (!group.has_raw)
		group_fail("PEs 0 and 1 share no memory of their own to compare with");
	line_mine = group.raw + 64 * (1 + group.me);
	line_other = group.raw + 64 * (1 + !group.me);
}

static void line_post(uint64_t value)
{
	*line_other = value;
}

static void fence_flush(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* Where a flush is answered by the other's software, so is this. */
static void line_flush(void)
{
	uint64_t wanted = *line_other;

	while (*line_mine != wanted)
		;
}

static bool line_progress(void)
{
	uint64_t now = *line_mine;

	if (now == layer_value)
		return false;
	layer_value = now;
	if (layer_acknowledges && group.me == 1)
		*line_other = now;
	return true;
}

static void line_await(uint64_t value)
{
	for (unsigned polls = 0; *line_mine < value; polls++)
		if (polls >= comms.bare_polls)
			relax();
}

static void uct_await(uint64_t value)
{
	while (layer_value < value)
		uct_progress();
}

static void socket_await(uint64_t value)
{
	while (layer_value < value)
		socket_progress();
}

/* What the library itself has to do at the target, for the word that ends a loop, too. */
bool library_progress(void)
{
	return comms_spin();
}

/* --- The paths --- */

/* All wait as the program does: the method of polling changes how a cache line travels. */
static struct layer local_layers[] = {
	{"shmem", shmem_post, shmem_quiet, NULL, shmem_await, 0},
	{"call", call_post, comms_flush, NULL, shmem_await, 0},
	{"comms", inlined_post, comms_flush, NULL, shmem_await, 0},
	{"floor", line_post, fence_flush, NULL, shmem_await, 0},
	{0},
};

static struct layer ucx_layers[] = {
	{"shmem", shmem_post, shmem_quiet, library_progress, shmem_await, 0},
	{"comms", comms_post, comms_flush, library_progress, comms_await, 0},
	{"ucp", ucp_post, ucp_flush, ucp_progress, ucp_await, 0},
	{"uct", uct_post, uct_flush, uct_progress, uct_await, 0},
	{"floor", line_post, line_flush, line_progress, line_await, 0},
	{0},
};

static struct layer tofu_layers[] = {
	{"shmem", shmem_post, shmem_quiet, library_progress, shmem_await, 0},
	{"comms", comms_post, comms_flush, library_progress, comms_await, 0},
	{"utofu", tofu_layer_post, tofu_layer_flush, tofu_layer_progress, tofu_await, 0},
	{"floor", line_post, line_flush, line_progress, line_await, 0},
	{0},
};

/* PEs of different machines have no floor. */
static struct layer *open_tofu(void)
{
	tofu_layer_open(&layer_word->value, sizeof layer_word->value);
	if (group.has_raw)
		open_line();
	else
		tofu_layers[3] = (struct layer){0};
	return tofu_layers;
}

/* Which transport UCX uses is what UCX_TLS leaves it. */
static bool by_tcp(void)
{
	const char *list = getenv("UCX_TLS");

	return !list || !strstr(list, "posix");
}

struct layer *layers_of_path(const char **path)
{
	struct comms_peer *peer;

	layer_word = shmem_calloc(1, sizeof *layer_word);
	if (!layer_word)
		group_fail("no symmetric memory");
	target = !group.me;
	comms_connect(target);
	if (comms_reach(layer_word, sizeof *layer_word, !group.me, &peer)) {
		*path = "local";
		open_local_line();
		return local_layers;
	}
	if (comms.network->row == ROW_TOFU) {
		*path = "tofu";
		return open_tofu();
	}
	open_ucp();
	if (!by_ucp.key) {
		open_messages();
		ucx_layers[2] = (struct layer){"ucp", ucp_message, ucp_await_answers, ucp_progress, ucp_await, 0};
	}
	*path = by_tcp() ? "ucx tcp" : "ucx posix";
	uct_open(by_tcp() ? "tcp" : "posix");
	if (by_tcp()) {
		struct layer *floor = &ucx_layers[4];

		socket_open();
		*floor = (struct layer){"floor", socket_post, socket_flush, socket_progress, socket_await, 0};
	} else {
		open_line();
	}
	return ucx_layers;
}
