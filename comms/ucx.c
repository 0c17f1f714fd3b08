/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The UCX path: one UCP context; one main worker in multi-thread mode, whose address all PEs know, and one more for each
 * channel that asked to be alone; an endpoint and two keys per peer and worker, made on first use. Here: coming up
 * and going down, connections, serving. ucx_choices.c has the settings, channels.c order and completion, ucx_ops.c the operations.
 *
 * Over TCP (and over UCX's shared memory for memory UCX did not allocate) puts, gets and atomics are
 * carried out by the target's software. Atomics are then CPU atomics, and we ask UCX for exactly that everywhere
 * (ATOMIC_MODE=cpu), so that they agree with the atomics PEs of a node do by themselves. And somebody must call
 * ucp_worker_progress at the target while it computes or sleeps: the serving thread. It sleeps in poll
 * until UCX has an event, and rings this PE's bell after it has worked, since what came may be waited for.
 */
#include "ucx_inside.h"

#include <ucs/debug/debug.h>

#include <linux/futex.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "rte/rte.h"
#include "rte/settings.h"
#include "silence.h"
#include "watch.h"

/* In the card: the lengths and where UCX listens, then the worker's address, then the keys. */
struct ucx_card {
	uint32_t address_bytes;
	uint32_t key_bytes[COMMS_SEGMENTS];
	struct silence_address listens[SILENCE_ADDRESSES];
};

#define NAP_SHORTEST 200000L /* ns */
#define NAP_LONGEST 2000000L /* ns */
#define SLICE 100000	     /* ns, the shortest there is */

struct ucx ucx = {
	.connecting = PTHREAD_MUTEX_INITIALIZER,
	.main = {.marking = PTHREAD_MUTEX_INITIALIZER, .quieting = PTHREAD_MUTEX_INITIALIZER},
};

static _Thread_local bool serves __attribute__((tls_model("initial-exec"))); /* this thread is the server */

const ucp_request_param_t ucx_plain;

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

void ucx_check(ucs_status_t status, const char *what)
{
	if (status != UCS_OK)
		rte_die(NULL, "%s: %s", what, ucs_status_string(status));
}

static void make_context(void)
{
	ucp_params_t params = {
		.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS | UCP_PARAM_FIELD_NAME |
			      UCP_PARAM_FIELD_MT_WORKERS_SHARED,
		.features = UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64 | UCP_FEATURE_AM | UCP_FEATURE_WAKEUP,
		.mt_workers_shared = 1,
		.estimated_num_eps = (size_t)comms.n_pes,
		.name = "torushmem",
	};
	ucp_config_t *config = ucx_choices();

	ucx_check(ucp_init(&params, config, &ucx.context), "ucp_init");
	ucp_config_release(config);
}

ucp_worker_h ucx_make_worker(ucs_thread_mode_t mode)
{
	ucp_worker_params_t params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE, .thread_mode = mode};
	ucp_worker_h worker;

	ucx_check(ucp_worker_create(ucx.context, &params, &worker), "ucp_worker_create");
	return worker;
}

static void make_main_worker(void)
{
	silence_before_worker();
	ucx.main.worker = ucx_make_worker(UCS_THREAD_MODE_MULTI);
	ucx_check(ucp_worker_get_efd(ucx.main.worker, &ucx.event_fd), "ucp_worker_get_efd");
	silence_behind_worker(ucx.listens);
	if (ucx.by_messages)
		ucx_take_messages();
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
			ucx_check(ucp_mem_map(ucx.context, &params, &ucx.memory[i]), "ucp_mem_map");
	}
}

void ucx_start(void)
{
	atomic_store(&ucx.ending, false);
	ucx.failure_mode = ucx_failure_mode();
	/* UCX's shared memory has no event for a sender that waits for room; where nothing else is used, look often. */
	ucx.overtaking = ucx.failure_mode == UCP_ERR_HANDLING_MODE_NONE;
	ucx.gated = ucx.overtaking && comms.threads;
	ucx.by_software = !ucx.overtaking && ucx_is_only_tcp();
	ucx.by_messages = ucx.overtaking || ucx.by_software;
	ucx.longest_sleep = ucx.overtaking ? 1 : -1;
	ucx.processors = rte_node_processors() / rte.n_local;
	make_context();
	make_main_worker();
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

	ucx_check(ucp_worker_get_address(ucx.main.worker, &address, &address_bytes), "ucp_worker_get_address");
	*size = sizeof *card + address_bytes;
	for (int i = 0; i < COMMS_SEGMENTS; i++) {
		if (ucx.memory[i])
			ucx_check(ucp_rkey_pack(ucx.context, ucx.memory[i], &keys[i], &key_bytes[i]), "ucp_rkey_pack");
		*size += key_bytes[i];
	}
	card = malloc(*size);
	if (!card)
		rte_die("shmem_init", "no memory");
	card->address_bytes = (uint32_t)address_bytes;
	memcpy(card->listens, ucx.listens, sizeof card->listens);
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
	ucp_worker_release_address(ucx.main.worker, address);
	return card;
}

/*
 * The connection to a PE broke. If that PE failed, the launcher knows better what happened and is about to
 * end the job: leave it the time to say so before we say what we saw. (How long others wait for the launcher, and for each other, is in silence.c.)
 */
static void lost_peer(void *argument, ucp_ep_h endpoint, ucs_status_t status)
{
	const struct comms_peer *peer = argument;
	char host[256] = "?";

	(void)endpoint;
	if (atomic_load(&ucx.ending))
		return;
	rte_let_others_speak();
	silence_take_turn(peer->pe);
	rte_host(peer->pe, host, sizeof host);
	rte_die(NULL, "the connection to PE %d on host %s broke (%s); has its process or its host ended?", peer->pe,
		host, ucs_status_string(status));
}

static size_t memory_in_use(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

static struct ucx_peer *connect_to(struct comms_channel *channel, struct comms_peer *peer)
{
	struct ucx_peer *made = calloc(1, sizeof *made);
	size_t size;
	const struct ucx_card *card = comms_ucx_card(peer, &size);
	const char *at = (const char *)(card + 1);
	ucp_ep_params_t params = {
		.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
			      UCP_EP_PARAM_FIELD_ERR_HANDLER,
		.err_mode = ucx.failure_mode,
		.err_handler = {.cb = lost_peer, .arg = peer},
	};

	if (!made || !card || size < sizeof *card)
		rte_die(NULL, "PE %d cannot be reached: %s", peer->pe,
			made ? "it published no UCX address (do all PEs have the same SHMEM_ settings?)" : "no memory");
	params.address = (const ucp_address_t *)at;
	silence_expect(card->listens);
	ucx_check(ucp_ep_create(channel->worker, &params, &made->endpoint), "ucp_ep_create");
	at += card->address_bytes;
	for (int i = 0; i < COMMS_SEGMENTS; i++) {
		if (card->key_bytes[i])
			ucx_check(ucp_ep_rkey_unpack(made->endpoint, at, &made->key[i]), "ucp_ep_rkey_unpack");
		at += card->key_bytes[i];
		made->base[i] = peer->remote_base[i];
	}
	made->pe = peer->pe;
	made->mark.peer = made;
	atomic_init(&made->mark.channel, channel);
	return made;
}

struct ucx_peer *ucx_connect(struct comms_channel *channel, struct comms_peer *peer)
{
	size_t before = comms.watched ? memory_in_use() : 0;
	struct ucx_peer *made = connect_to(channel, peer);

	if (comms.watched)
		watch_connection(memory_in_use() - before);
	return made;
}

struct ucx_peer *ucx_peer(struct comms_peer *peer)
{
	struct ucx_peer *known = __atomic_load_n(&peer->ucx, __ATOMIC_ACQUIRE);

	if (COMMS_LIKELY(known != NULL))
		return known;
	pthread_mutex_lock(&ucx.connecting);
	if (!peer->ucx)
		__atomic_store_n(&peer->ucx, ucx_connect(&ucx.main, peer), __ATOMIC_RELEASE);
	pthread_mutex_unlock(&ucx.connecting);
	return peer->ucx;
}

const struct silence_address *ucx_addresses(int pe)
{
	const struct comms_peer *peer = comms_peer(pe);
	size_t size;
	const struct ucx_card *card = peer->met ? comms_ucx_card(peer, &size) : NULL;

	return card ? card->listens : NULL;
}

void ucx_visit(void)
{
	unsigned visits = atomic_load_explicit(&ucx.visits, memory_order_relaxed);

	if (!serves)
		atomic_store_explicit(&ucx.visits, visits + 1, memory_order_relaxed);
}

bool ucx_progress(void)
{
	ucx_visit();
	return ucp_worker_progress(ucx.main.worker) != 0;
}

bool ucx_served(void)
{
	return ucx.served;
}

/* Of two times to sleep, of which -1 is for ever. */
static int shorter(int one, int other)
{
	return one < 0 || (other >= 0 && other < one) ? other : one;
}

/* --- Who looks after the main worker: the PE in a wait, or the server --- */

static long futex(_Atomic uint32_t *word, int operation, uint32_t value, const struct timespec *timeout)
{
	return syscall(SYS_futex, word, operation, value, timeout, NULL, 0);
}

/* The server's; was it told that it is wanted? */
static bool nap(long nanoseconds)
{
	const struct timespec timeout = {0, nanoseconds};

	atomic_store(&ucx.napping, 1);
	futex(&ucx.napping, FUTEX_WAIT_PRIVATE, 1, &timeout);
	return atomic_exchange(&ucx.napping, 0) == 0;
}

void ucx_hand_over(void)
{
	if (atomic_load(&ucx.napping) && atomic_exchange(&ucx.napping, 0))
		futex(&ucx.napping, FUTEX_WAKE_PRIVATE, 1, NULL);
}

/*
 * A PE that is alone on its node and has one thread need not be woken by anybody but UCX, and it takes half as long if that is not by way of the
 * server. The server may just have done what is waited for: then it rang, so the word is another, or it finds us dozing and signals.
 */
enum network_doze ucx_doze(_Atomic uint32_t *word, uint32_t value, long nanoseconds)
{
	struct pollfd event = {.fd = ucx.event_fd, .events = POLLIN};
	int milliseconds;
	bool served = false;

	if (ucx.served && (comms.n_node > 1 || comms.threads)) {
		ucx_hand_over();
		return NETWORK_DOZE_NOT;
	}
	milliseconds = shorter((int)((nanoseconds + 999999) / 1000000), ucx.longest_sleep);
	milliseconds = shorter(milliseconds, shorter(channels_push(), silence_look()));
	atomic_store(&ucx.dozing, true);
	if (atomic_load(word) == value) {
		served = ucx_progress();
		if (!served && ucp_worker_arm(ucx.main.worker) == UCS_OK && poll(&event, 1, milliseconds) > 0)
			served = ucx_progress();
	}
	atomic_store(&ucx.dozing, false);
	return served ? NETWORK_DOZE_SERVED : NETWORK_DOZE_DONE;
}

void ucx_nudge(void)
{
	if (!ucx.served)
		return;
	ucx_hand_over();
	ucp_worker_signal(ucx.main.worker);
}

/* Until another looks after the worker. Is there more to do that no event will tell of? */
static bool progress_for_others(void)
{
	const unsigned visits = atomic_load_explicit(&ucx.visits, memory_order_relaxed);
	bool worked = false, moved;

	while (ucp_worker_progress(ucx.main.worker)) {
		worked = true;
		if (atomic_load_explicit(&ucx.visits, memory_order_relaxed) != visits)
			break;
	}
	moved = comms_lists_served();
	if (!worked && !moved)
		return false;
	comms_notify(comms_peer(comms.pe));
	if (atomic_load(&ucx.dozing))
		ucp_worker_signal(ucx.main.worker);
	return moved;
}

/*
 * What arrives for a PE that computes is urgent and soon done. Where the server finds no processor idle, a kernel gives it one at once if it
 * asked for a short slice of time (Linux since 6.12), and otherwise when another's slice, of milliseconds, is over.
 */
static void shorten_slice(void)
{
	struct { /* the kernel's sched_attr, in its first form; its own header and glibc's cannot both be included */
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attributes = {0};

	if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) || attributes.policy != SCHED_OTHER)
		return;
	attributes.runtime = SLICE;
	syscall(SYS_sched_setattr, 0, &attributes, 0);
}

/*
 * While the PE itself looks after the worker, in a wait, each event would wake the server for nothing and take the
 * processor from it. So then the server leaves UCX alone, and sees after a nap whether the PE still does. It does not even take a
 * look: where the two share a processor it would wait for UCX's lock, which the PE holds most of the time.
 */
static void *serve(void *unused)
{
	struct pollfd event = {.fd = ucx.event_fd, .events = POLLIN};
	const long shortest = comms.crowded ? NAP_LONGEST : NAP_SHORTEST;
	unsigned seen = 0;
	long length = shortest;

	serves = true;
	shorten_slice();
	while (!atomic_load(&ucx.resting)) {
		int look_again = shorter(channels_push(), silence_look());
		unsigned visits = atomic_load(&ucx.visits);

		if ((visits != seen || atomic_load(&ucx.dozing)) && !nap(length)) {
			seen = visits;
			length = 2 * length < NAP_LONGEST ? 2 * length : NAP_LONGEST;
			continue;
		}
		seen = atomic_load(&ucx.visits);
		length = shortest;
		if (!progress_for_others() && ucp_worker_arm(ucx.main.worker) == UCS_OK)
			poll(&event, 1, shorter(ucx.longest_sleep, look_again));
	}
	return unused;
}

static void start_server(void)
{
	int error;

	atomic_store(&ucx.resting, false);
	error = pthread_create(&ucx.server, NULL, serve, NULL);
	if (error)
		rte_die("shmem_init", "no thread to serve other nodes (%s); raise ulimit -u, or set "
				      "SHMEM_PROGRESS_THREAD=no",
			strerror(error));
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
	silence_end();
	if (!ucx.served)
		start_server();
}

/* A flush does not wait for messages of telling; the answer to a get comes behind those that were sent before it. */
void ucx_complete(void)
{
	for (int pe = 0; pe < comms.n_pes; pe++) {
		if (!comms_peer(pe)->ucx)
			continue;
		if (ucx.by_messages)
			ucx_get(NULL, comms_peer(pe), COMMS_HEAP, 0, &ucx.main.nobody_reads, sizeof ucx.main.nobody_reads, true);
		channel_touch(&comms_peer(pe)->ucx->mark);
	}
	ucx_quiet(NULL);
}

void ucx_rest(void)
{
	if (!ucx.served)
		return;
	atomic_store(&ucx.resting, true);
	ucx_hand_over();
	ucx_check(ucp_worker_signal(ucx.main.worker), "ucp_worker_signal");
	pthread_join(ucx.server, NULL);
	ucx.served = false;
}

void ucx_must_succeed(ucs_status_t status, const char *what)
{
	const struct timespec grace = {10, 0};

	if (status == UCS_OK || status == UCS_INPROGRESS)
		return;
	if (!atomic_load(&ucx.ending))
		nanosleep(&grace, NULL);
	ucx_check(status, what);
}

void ucx_release_keys(struct ucx_peer *peer)
{
	for (int i = 0; i < COMMS_SEGMENTS; i++)
		if (peer->key[i])
			ucp_rkey_destroy(peer->key[i]);
}

void ucx_forget(struct ucx_peer *peer)
{
	ucp_request_param_t force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};
	ucs_status_ptr_t request;

	ucx_release_keys(peer);
	request = ucp_ep_close_nbx(peer->endpoint, &force);
	while (UCS_PTR_IS_PTR(request) && ucp_request_check_status(request) == UCS_INPROGRESS)
		ucx_progress();
	if (UCS_PTR_IS_PTR(request))
		ucp_request_free(request);
	channel_forget_marks(peer);
	free(peer);
}

void ucx_stop(void)
{
	for (int i = 0; i < COMMS_SEGMENTS; i++)
		if (ucx.memory[i])
			ucp_mem_unmap(ucx.context, ucx.memory[i]);
	memset(ucx.memory, 0, sizeof ucx.memory);
	ucp_worker_destroy(ucx.main.worker);
	if (ucx.by_messages)
		ucx_leave_several();
	ucp_cleanup(ucx.context);
}
