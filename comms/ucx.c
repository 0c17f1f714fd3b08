/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The UCX path: one UCP context, one worker in multi-thread mode, an endpoint and two keys per peer made on first use.
 *
 * Over TCP (and over UCX's shared memory for memory UCX did not allocate) puts, gets and atomics are
 * carried out by the target's software. Atomics are then CPU atomics, and we ask UCX for exactly that everywhere
 * (ATOMIC_MODE=cpu), so that they agree with the atomics PEs of a node do by themselves. And somebody must call
 * ucp_worker_progress at the target while it computes or sleeps: the serving thread. It sleeps in poll
 * until UCX has an event, and rings this PE's bell after it has worked, since what came may be waited for.
 */
#include "ucx.h"

#include <ucp/api/ucp.h>
#include <ucs/debug/debug.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "rte/rte.h"
#include "rte/settings.h"

/*
 * A peer is touched from an operation on it until the quiet that completes it. Touched peers form a list: any thread
 * pushes, quiet takes all at once. An operation is sent first and marked then; were it the other way
 * round, a quiet of another thread could take the mark away before there was anything to flush.
 */
struct ucx_peer {
	ucp_ep_h endpoint;
	ucp_rkey_h key[COMMS_SEGMENTS];
	char *base[COMMS_SEGMENTS]; /* in the peer's address space */
	atomic_bool touched;
	struct ucx_peer *next;	    /* of those touched */
	struct ucx_peer *next_done; /* quiet's own, and so is flushing */
	ucs_status_ptr_t flushing;
};

/* In the card: the lengths, then the worker's address, then the keys. */
struct ucx_card {
	uint32_t address_bytes;
	uint32_t key_bytes[COMMS_SEGMENTS];
};

static struct {
	ucp_context_h context;
	ucp_worker_h worker;
	ucp_mem_h memory[COMMS_SEGMENTS];
	_Atomic(struct ucx_peer *) touched;
	atomic_int unsent; /* nonblocking operations that UCX has not handed to the network yet */
	pthread_mutex_t quieting;
	atomic_bool quiet_under_way;
	atomic_bool ending;
	int event_fd; /* UCX's: readable when the worker has something to do */
	int stop_fd;
	bool served;
	pthread_t server;
	pthread_mutex_t connecting;
	uint64_t nobody_reads; /* where results go that nobody asked for */
} ucx = {.connecting = PTHREAD_MUTEX_INITIALIZER, .quieting = PTHREAD_MUTEX_INITIALIZER};

/*
 * Loading UCX puts its own handlers on fatal signals, which write a page per process. The launcher's line is to be the
 * one that is read; who wants UCX's sets UCX_HANDLE_ERRORS.
 */
__attribute__((constructor)) static void leave_signals_alone(void)
{
	static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

	for (size_t i = 0; !getenv("UCX_HANDLE_ERRORS") && i < sizeof fatal / sizeof fatal[0]; i++)
		ucs_debug_disable_signal(fatal[i]);
}

static void check(ucs_status_t status, const char *what)
{
	if (status != UCS_OK)
		rte_die(NULL, "%s: %s", what, ucs_status_string(status));
}

/* A choice of ours, unless the user made one in UCX's own variable. */
static void choose(ucp_config_t *config, const char *name, const char *variable, const char *value)
{
	if (!getenv(variable) && ucp_config_modify(config, name, value) != UCS_OK)
		rte_debug("this UCX does not know %s=%s", variable, value);
}

static void make_context(void)
{
	ucp_params_t params = {
		.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS | UCP_PARAM_FIELD_NAME,
		.features = UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64 | UCP_FEATURE_WAKEUP,
		.estimated_num_eps = (size_t)comms.n_pes,
		.name = "torushmem",
	};
	ucp_config_t *config;

	check(ucp_config_read(NULL, NULL, &config), "ucp_config_read");
	/* Memory of a node is ours to load and store; UCX's way to it needs the owner's help. */
	choose(config, "TLS", "UCX_TLS", "^sm");
	choose(config, "ATOMIC_MODE", "UCX_ATOMIC_MODE", "cpu");
	check(ucp_init(&params, config, &ucx.context), "ucp_init");
	ucp_config_release(config);
}

static void make_worker(void)
{
	ucp_worker_params_t params = {
		.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
		.thread_mode = UCS_THREAD_MODE_MULTI,
	};

	check(ucp_worker_create(ucx.context, &params, &ucx.worker), "ucp_worker_create");
	check(ucp_worker_get_efd(ucx.worker, &ucx.event_fd), "ucp_worker_get_efd");
}

static void register_memory(void)
{
	for (int i = 0; i < COMMS_SEGMENTS; i++) {
		ucp_mem_map_params_t params = {
			.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
				      UCP_MEM_MAP_PARAM_FIELD_FLAGS,
			.address = comms.segments[i].base,
			.length = comms.segments[i].size,
			.flags = UCP_MEM_MAP_NONBLOCK,
		};

		if (comms.segments[i].size > 0)
			check(ucp_mem_map(ucx.context, &params, &ucx.memory[i]), "ucp_mem_map");
	}
}

void ucx_start(void)
{
	atomic_store(&ucx.ending, false);
	make_context();
	make_worker();
	register_memory();
}

void *ucx_make_card(size_t *size)
{
	void *keys[COMMS_SEGMENTS] = {NULL};
	size_t key_bytes[COMMS_SEGMENTS] = {0};
	size_t address_bytes;
	ucp_address_t *address;
	struct ucx_card *card;
	char *end;

	check(ucp_worker_get_address(ucx.worker, &address, &address_bytes), "ucp_worker_get_address");
	*size = sizeof *card + address_bytes;
	for (int i = 0; i < COMMS_SEGMENTS; i++) {
		if (ucx.memory[i])
			check(ucp_rkey_pack(ucx.context, ucx.memory[i], &keys[i], &key_bytes[i]), "ucp_rkey_pack");
		*size += key_bytes[i];
	}
	card = malloc(*size);
	if (!card)
		rte_die("shmem_init", "no memory");
	card->address_bytes = (uint32_t)address_bytes;
	end = (char *)(card + 1);
	memcpy(end, address, address_bytes);
	end += address_bytes;
	for (int i = 0; i < COMMS_SEGMENTS; i++) {
		card->key_bytes[i] = (uint32_t)key_bytes[i];
		memcpy(end, keys[i], key_bytes[i]);
		end += key_bytes[i];
		if (keys[i])
			ucp_rkey_buffer_release(keys[i]);
	}
	ucp_worker_release_address(ucx.worker, address);
	return card;
}

/*
 * The connection to a PE broke. If that PE failed, the launcher knows better what happened and is about to
 * end the job: leave it the time to say so before we say what we saw.
 */
static void lost_peer(void *argument, ucp_ep_h endpoint, ucs_status_t status)
{
	const struct comms_peer *peer = argument;
	const struct timespec grace = {5, 0};

	(void)endpoint;
	if (atomic_load(&ucx.ending))
		return;
	nanosleep(&grace, NULL);
	rte_die(NULL, "the connection to PE %d broke (%s); has its process or its host ended?", peer->pe,
		ucs_status_string(status));
}

/*
 * UCX's shared-memory transports cannot report a peer's failure, and refuse endpoints that ask for it. They are
 * used only when the user's own UCX_TLS leaves nothing else.
 */
static ucp_err_handling_mode_t failure_mode(void)
{
	static const char *const networks[] = {"tcp", "ib", "rc", "dc", "ud", "all", "^"};
	const char *transports = getenv("UCX_TLS");

	for (size_t i = 0; transports && i < sizeof networks / sizeof networks[0]; i++)
		if (strstr(transports, networks[i]))
			return UCP_ERR_HANDLING_MODE_PEER;
	return transports ? UCP_ERR_HANDLING_MODE_NONE : UCP_ERR_HANDLING_MODE_PEER;
}

static struct ucx_peer *connect_peer(struct comms_peer *peer)
{
	struct ucx_peer *made = calloc(1, sizeof *made);
	size_t size;
	const struct ucx_card *card = comms_ucx_card(peer, &size);
	const char *at = (const char *)(card + 1);
	ucp_ep_params_t params = {
		.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
			      UCP_EP_PARAM_FIELD_ERR_HANDLER,
		.err_mode = failure_mode(),
		.err_handler = {.cb = lost_peer, .arg = peer},
	};

	if (!made || !card || size < sizeof *card)
		rte_die(NULL, "PE %d cannot be reached: %s", peer->pe,
			made ? "it published no UCX address (do all PEs have the same SHMEM_ settings?)" : "no memory");
	params.address = (const ucp_address_t *)at;
	check(ucp_ep_create(ucx.worker, &params, &made->endpoint), "ucp_ep_create");
	at += card->address_bytes;
	for (int i = 0; i < COMMS_SEGMENTS; i++) {
		if (card->key_bytes[i])
			check(ucp_ep_rkey_unpack(made->endpoint, at, &made->key[i]), "ucp_ep_rkey_unpack");
		at += card->key_bytes[i];
		made->base[i] = peer->remote_base[i];
	}
	return made;
}

static struct ucx_peer *ucx_peer(struct comms_peer *peer)
{
	struct ucx_peer *known = __atomic_load_n(&peer->ucx, __ATOMIC_ACQUIRE);

	if (COMMS_LIKELY(known != NULL))
		return known;
	pthread_mutex_lock(&ucx.connecting);
	if (!peer->ucx)
		__atomic_store_n(&peer->ucx, connect_peer(peer), __ATOMIC_RELEASE);
	pthread_mutex_unlock(&ucx.connecting);
	return peer->ucx;
}

bool ucx_progress(void)
{
	return ucp_worker_progress(ucx.worker) != 0;
}

bool ucx_served(void)
{
	return ucx.served;
}

void ucx_doze(long nanoseconds)
{
	struct pollfd event = {.fd = ucx.event_fd, .events = POLLIN};
	int milliseconds = (int)((nanoseconds + 999999) / 1000000);

	if (!ucx_progress() && ucp_worker_arm(ucx.worker) == UCS_OK)
		poll(&event, 1, milliseconds);
}

/*
 * UCX's shared memory has no event for a sender that waits for room. Where nothing else is in use, look now and then.
 */
static int longest_sleep(void)
{
	return failure_mode() == UCP_ERR_HANDLING_MODE_NONE ? 1 : -1;
}

static void *serve(void *unused)
{
	int milliseconds = longest_sleep();
	struct pollfd events[] = {{.fd = ucx.event_fd, .events = POLLIN}, {.fd = ucx.stop_fd, .events = POLLIN}};

	while (!(events[1].revents & POLLIN)) {
		bool worked = false;

		while (ucx_progress())
			worked = true;
		if (worked)
			comms_notify(comms_peer(comms.pe));
		if (ucp_worker_arm(ucx.worker) == UCS_OK)
			poll(events, 2, milliseconds);
	}
	return unused;
}

static void start_server(void)
{
	ucx.stop_fd = eventfd(0, EFD_CLOEXEC);
	if (ucx.stop_fd < 0 || pthread_create(&ucx.server, NULL, serve, NULL))
		rte_die("shmem_init", "no thread to serve other nodes (%s); raise ulimit -u, or set "
				      "SHMEM_PROGRESS_THREAD=no",
			strerror(errno));
	ucx.served = true;
}

void ucx_serve(void)
{
	bool wanted = true;

	if (strcasecmp(setting_text(SETTING_PROGRESS_THREAD), "auto") &&
	    !setting_bool(SETTING_PROGRESS_THREAD, &wanted))
		rte_die_together("shmem_init", "SHMEM_PROGRESS_THREAD=%s: give auto, yes or no",
			setting_text(SETTING_PROGRESS_THREAD));
	if (wanted)
		start_server();
}

void ucx_expect_end(void)
{
	atomic_store(&ucx.ending, true);
	if (!ucx.served)
		start_server();
}

void ucx_rest(void)
{
	uint64_t one = 1;

	if (!ucx.served)
		return;
	if (write(ucx.stop_fd, &one, sizeof one) == sizeof one)
		pthread_join(ucx.server, NULL);
	close(ucx.stop_fd);
	ucx.served = false;
}

/* Waits for an operation; returns what it came to. */
static ucs_status_t finish(ucs_status_ptr_t request)
{
	ucs_status_t status;

	if (!UCS_PTR_IS_PTR(request))
		return UCS_PTR_STATUS(request);
	COMMS_WAIT(COMMS_NOWHERE, ucp_request_check_status(request) != UCS_INPROGRESS);
	status = ucp_request_check_status(request);
	ucp_request_free(request);
	return status;
}

/* An operation that UCX fails has lost its peer; lost_peer ends the job, but may run in another thread. */
static void must_succeed(ucs_status_t status, const char *what)
{
	const struct timespec grace = {10, 0};

	if (status == UCS_OK || status == UCS_INPROGRESS)
		return;
	if (!atomic_load(&ucx.ending))
		nanosleep(&grace, NULL);
	check(status, what);
}

void ucx_forget(struct ucx_peer *peer)
{
	ucp_request_param_t force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};
	ucs_status_ptr_t request;

	for (int i = 0; i < COMMS_SEGMENTS; i++)
		if (peer->key[i])
			ucp_rkey_destroy(peer->key[i]);
	request = ucp_ep_close_nbx(peer->endpoint, &force);
	while (UCS_PTR_IS_PTR(request) && ucp_request_check_status(request) == UCS_INPROGRESS)
		ucx_progress();
	if (UCS_PTR_IS_PTR(request))
		ucp_request_free(request);
	free(peer);
}

void ucx_stop(void)
{
	for (int i = 0; i < COMMS_SEGMENTS; i++)
		if (ucx.memory[i])
			ucp_mem_unmap(ucx.context, ucx.memory[i]);
	memset(ucx.memory, 0, sizeof ucx.memory);
	ucp_worker_destroy(ucx.worker);
	ucp_cleanup(ucx.context);
}

static void free_when_done(void *request, ucs_status_t status, void *data)
{
	(void)data;
	ucp_request_free(request);
	atomic_fetch_sub(&ucx.unsent, 1);
	if (status != UCS_ERR_CANCELED)
		must_succeed(status, "an operation on another PE");
}

static const ucp_request_param_t when_done = {
	.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK,
	.cb.send = free_when_done,
};

static const ucp_request_param_t plain;

static void touch(struct ucx_peer *peer)
{
	if (atomic_load_explicit(&peer->touched, memory_order_relaxed) || atomic_exchange(&peer->touched, true))
		return;
	peer->next = atomic_load(&ucx.touched);
	while (!atomic_compare_exchange_weak(&ucx.touched, &peer->next, peer))
		;
}

/*
 * Before an operation with when_done, and after it: the callback of one that UCX keeps may run at any time, also before
 * we see the request, so it is counted first.
 */
static void count(void)
{
	atomic_fetch_add(&ucx.unsent, 1);
}

static void started(struct ucx_peer *peer, ucs_status_ptr_t request, const char *what)
{
	if (!UCS_PTR_IS_PTR(request))
		atomic_fetch_sub(&ucx.unsent, 1); /* there will be no callback */
	touch(peer);
	if (UCS_PTR_IS_ERR(request))
		must_succeed(UCS_PTR_STATUS(request), what);
}

static uint64_t remote(const struct ucx_peer *peer, enum comms_segment_id segment, size_t offset)
{
	return (uint64_t)(uintptr_t)(peer->base[segment] + offset);
}

void ucx_put(struct comms_peer *to, enum comms_segment_id segment, size_t offset, const void *source, size_t bytes,
	     bool nbi)
{
	struct ucx_peer *peer = ucx_peer(to);
	uint64_t dest = remote(peer, segment, offset);

	if (nbi) {
		count();
		started(peer, ucp_put_nbx(peer->endpoint, source, bytes, dest, peer->key[segment], &when_done),
			"ucp_put_nbx");
	} else {
		must_succeed(finish(ucp_put_nbx(peer->endpoint, source, bytes, dest, peer->key[segment], &plain)),
			     "ucp_put_nbx");
		touch(peer);
	}
}

void ucx_put_untracked(struct comms_peer *to, enum comms_segment_id segment, size_t offset, const void *source,
		       size_t bytes)
{
	struct ucx_peer *peer = ucx_peer(to);

	must_succeed(finish(ucp_put_nbx(peer->endpoint, source, bytes, remote(peer, segment, offset),
					peer->key[segment], &plain)),
		     "ucp_put_nbx");
}

void ucx_get(struct comms_peer *from, enum comms_segment_id segment, size_t offset, void *dest, size_t bytes, bool nbi)
{
	struct ucx_peer *peer = ucx_peer(from);
	uint64_t source = remote(peer, segment, offset);

	if (nbi) {
		count();
		started(peer, ucp_get_nbx(peer->endpoint, dest, bytes, source, peer->key[segment], &when_done),
			"ucp_get_nbx");
	} else {
		must_succeed(finish(ucp_get_nbx(peer->endpoint, dest, bytes, source, peer->key[segment], &plain)),
			     "ucp_get_nbx");
	}
}

static ucp_atomic_op_t ucp_op(enum comms_amo op)
{
	static const ucp_atomic_op_t names[] = {
		[COMMS_FETCH] = UCP_ATOMIC_OP_ADD, /* of zero */
		[COMMS_ADD] = UCP_ATOMIC_OP_ADD, [COMMS_AND] = UCP_ATOMIC_OP_AND,   [COMMS_OR] = UCP_ATOMIC_OP_OR,
		[COMMS_XOR] = UCP_ATOMIC_OP_XOR, [COMMS_SWAP] = UCP_ATOMIC_OP_SWAP, [COMMS_CSWAP] = UCP_ATOMIC_OP_CSWAP,
	};

	return names[op];
}

/* UCP reads its operand when called, at the given width: on a little-endian machine the low half is in front. */
static const void *narrow(const uint64_t *operand, size_t width, uint32_t *half)
{
	if (width == sizeof *operand)
		return operand;
	*half = (uint32_t)*operand;
	return half;
}

void ucx_amo(struct comms_peer *to, enum comms_segment_id segment, size_t offset, enum comms_amo op, size_t width,
	     uint64_t operand)
{
	struct ucx_peer *peer = ucx_peer(to);
	ucp_request_param_t param = when_done;
	uint32_t half;

	if (op == COMMS_SWAP) { /* without a result, UCX's software atomics do not know it */
		ucx_amo_fetch(to, segment, offset, op, width, operand, 0, &ucx.nobody_reads, true);
		return;
	}
	param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
	param.datatype = ucp_dt_make_contig(width);
	count();
	started(peer,
		ucp_atomic_op_nbx(peer->endpoint, ucp_op(op), narrow(&operand, width, &half), 1,
				  remote(peer, segment, offset), peer->key[segment], &param),
		"ucp_atomic_op_nbx");
}

void ucx_amo_fetch(struct comms_peer *to, enum comms_segment_id segment, size_t offset, enum comms_amo op,
		   size_t width, uint64_t operand, uint64_t cond, void *result, bool nbi)
{
	struct ucx_peer *peer = ucx_peer(to);
	ucp_request_param_t param = nbi ? when_done : plain;
	const uint64_t *first = op == COMMS_CSWAP ? &cond : &operand;
	ucs_status_ptr_t request;
	uint32_t half;

	param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER;
	param.datatype = ucp_dt_make_contig(width);
	param.reply_buffer = result;
	if (op == COMMS_CSWAP) /* the new value travels in the result's place */
		memcpy(result, narrow(&operand, width, &half), width);
	if (nbi)
		count();
	request = ucp_atomic_op_nbx(peer->endpoint, ucp_op(op), narrow(first, width, &half), 1,
				    remote(peer, segment, offset), peer->key[segment], &param);
	if (nbi)
		started(peer, request, "ucp_atomic_op_nbx");
	else
		must_succeed(finish(request), "ucp_atomic_op_nbx");
}

/*
 * What UCX has handed to the network stays in order behind a fence. What it still keeps (a large nonblocking put) may be
 * overtaken over shared memory, where a later message goes out as soon as there is room; then only completion orders.
 */
void ucx_fence(void)
{
	if (atomic_load(&ucx.unsent) > 0)
		ucx_quiet();
	else if (atomic_load_explicit(&ucx.touched, memory_order_acquire))
		check(ucp_worker_fence(ucx.worker), "ucp_worker_fence");
}

void ucx_order(void)
{
	check(ucp_worker_fence(ucx.worker), "ucp_worker_fence");
}

/*
 * Endpoint by endpoint: UCX's flush of a whole worker passes over what still waits to be sent over shared memory. The
 * lock makes a quiet wait for one of another thread that has taken the list.
 */
void ucx_quiet(void)
{
	struct ucx_peer *flushed = NULL, *next;

	if (!atomic_load(&ucx.touched) && !atomic_load(&ucx.quiet_under_way))
		return;
	pthread_mutex_lock(&ucx.quieting);
	atomic_store(&ucx.quiet_under_way, true);
	for (struct ucx_peer *peer = atomic_exchange(&ucx.touched, NULL); peer; peer = next) {
		next = peer->next; /* once untouched, others may put it on the list again */
		atomic_store(&peer->touched, false);
		peer->flushing = ucp_ep_flush_nbx(peer->endpoint, &plain);
		peer->next_done = flushed;
		flushed = peer;
	}
	for (; flushed; flushed = flushed->next_done)
		must_succeed(finish(flushed->flushing), "ucp_ep_flush_nbx");
	atomic_store(&ucx.quiet_under_way, false);
	pthread_mutex_unlock(&ucx.quieting);
}
