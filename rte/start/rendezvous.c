/* SPDX-License-Identifier: BSD-3-Clause */
/* A PE's end of the rendezvous. A thread receives what the root sends. */
#include "rendezvous.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "provider.h"
#include "rte/clock.h"
#include "rte/host/greeting.h"
#include "rte/settings.h"

enum {
	REFUSALS = 5,
	LONGER_MS = 10000 /* that a PE waits for the others after the root has given up */
};

static struct {
	int fd;
	bool is_root;
	bool has_thread;
	atomic_bool ends; /* this PE closes the connection of a broken job */
	pthread_t thread;
	pthread_mutex_t send_lock;
	pthread_mutex_t fetch_lock; /* one info is asked for at a time */
	pthread_mutex_t lock;	    /* of what follows */
	pthread_cond_t changed;
	int fences; /* that have ended */
	bool has_infos, left;
	char *infos; /* sizes, then infos; NULL: they are asked for one by one */
	void *one_info;
	size_t one_bytes;
	bool one_is_here;
	/* Constant after the start. */
	int root_pe;
	int32_t *node;
	char (*hosts)[RENDEZVOUS_HOST];
	char *tables; /* holds both */
} link_to_root = {.fd = -1,
		  .send_lock = PTHREAD_MUTEX_INITIALIZER,
		  .fetch_lock = PTHREAD_MUTEX_INITIALIZER,
		  .lock = PTHREAD_MUTEX_INITIALIZER,
		  .changed = PTHREAD_COND_INITIALIZER};

static bool send_to_root(enum rendezvous_kind kind, int number, const void *data, size_t bytes)
{
	bool sent;

	pthread_mutex_lock(&link_to_root.send_lock);
	sent = rendezvous_send_message(link_to_root.fd, kind, number, data, bytes);
	pthread_mutex_unlock(&link_to_root.send_lock);
	return sent;
}

/* --- The thread --- */

/* Only one PE reports it: the first one of another host, whose processes may all have ended. */
static bool is_speaker(void)
{
	int root_node = link_to_root.node[link_to_root.root_pe], first = link_to_root.root_pe == 0 ? 1 : 0;

	for (int pe = rte.n_pes - 1; rte.several_hosts && pe >= 0; pe--)
		if (link_to_root.node[pe] != root_node)
			first = pe;
	return rte.pe == first;
}

/* All PEs keep the same line, the one that one PE would have printed. */
static void break_without_root(enum rte_error_kind kind, const char *what)
{
	struct rte_error error = {.kind = kind, .pe = link_to_root.root_pe};

	snprintf(error.message, sizeof error.message, "torushmem: PE %d: PE %d (host %s) %s; this ends the job", rte.pe,
		 link_to_root.root_pe, link_to_root.hosts[link_to_root.node[link_to_root.root_pe]], what);
	rte_take_error(&error);
}

static void lose_root(void)
{
	if (rte.returns_errors) {
		break_without_root(RTE_ERROR_LOST, "has ended before shmem_finalize");
		return;
	}
	if (is_speaker())
		rte_report(NULL, "PE %d (host %s) has ended before shmem_finalize; this ends the job",
			   link_to_root.root_pe, link_to_root.hosts[link_to_root.node[link_to_root.root_pe]]);
	_exit(1);
}

static void take_error(const struct rendezvous_message *message, const char *body)
{
	struct rte_error error;

	if (message->bytes != sizeof error)
		return;
	memcpy(&error, body, sizeof error);
	error.routine[sizeof error.routine - 1] = error.message[sizeof error.message - 1] = '\0';
	rte_take_error(&error);
}

/* Waits for what the root sends end when the job is broken. */
static void wake_waits(void)
{
	pthread_mutex_lock(&link_to_root.lock);
	pthread_cond_broadcast(&link_to_root.changed);
	pthread_mutex_unlock(&link_to_root.lock);
}

static void take_message(const struct rendezvous_message *message, char *body)
{
	pthread_mutex_lock(&link_to_root.lock);
	switch (message->kind) {
	case FENCE: link_to_root.fences++; break;
	case INFOS:
		link_to_root.infos = message->bytes ? body : NULL;
		body = message->bytes ? NULL : body;
		link_to_root.has_infos = true;
		break;
	case ONE_INFO:
		link_to_root.one_info = body;
		link_to_root.one_bytes = message->bytes;
		link_to_root.one_is_here = true;
		body = NULL;
		break;
	case ABORT: _exit(message->number);
	case LEAVE: link_to_root.left = true; break;
	case BROKEN: take_error(message, body); break;
	case PING: send_to_root(PONG, 0, NULL, 0); break;
	default: break;
	}
	pthread_cond_broadcast(&link_to_root.changed);
	pthread_mutex_unlock(&link_to_root.lock);
	free(body);
}

/*
 * The root asks this PE more often than that, if there is a limit. Returns false if the connection
 * is of no use any more.
 */
static bool receive_from_root(void *data, size_t bytes)
{
	int64_t until = rte.returns_errors && rte.silence_ms ? rte_clock_ms() + rte.silence_ms : 0;

	if (rendezvous_receive(link_to_root.fd, data, bytes, until))
		return true;
	if (atomic_load_explicit(&link_to_root.ends, memory_order_seq_cst))
		return false;
	if (until && errno == ETIMEDOUT)
		break_without_root(RTE_ERROR_SILENT, "does not answer");
	else
		lose_root();
	return false;
}

static bool receive_message(struct rendezvous_message *message)
{
	char *body;

	if (!receive_from_root(message, sizeof *message))
		return false;
	body = malloc(message->bytes + 1);
	if (!body)
		rte_die(NULL, "no memory for what the PEs publish");
	if (!receive_from_root(body, message->bytes)) {
		free(body);
		return false;
	}
	take_message(message, body);
	return true;
}

static void *receive(void *unused)
{
	struct rendezvous_message message;

	while (receive_message(&message))
		if (message.kind == LEAVE)
			return unused;
	wake_waits();
	return unused;
}

/* --- Join --- */

static uint64_t hash_of(uint64_t hash, const void *data, size_t size)
{
	for (const unsigned char *c = data; size > 0; size--, c++)
		hash = (hash ^ *c) * 1099511628211u;
	return hash;
}

/*
 * PEs of one node open each other's files in /proc, so they have one kernel, one process table and
 * one user. Hosts that tests make in one kernel differ by their names.
 */
static void describe_self(struct rendezvous_join *join, const struct rte_start *start)
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	uint64_t table = 14695981039346656037u;
	uid_t user = geteuid();
	char boot[64] = "";
	struct stat status;

	*join = (struct rendezvous_join){RENDEZVOUS_VERSION, start->pe, start->n_pes, getpid(), {0}, "",
					 rte.returns_errors};
	gethostname(join->host, sizeof join->host - 1);
	if (file && !fgets(boot, sizeof boot, file))
		boot[0] = '\0';
	if (file)
		fclose(file);
	join->node[0] = hash_of(14695981039346656037u, boot, strlen(boot));
	join->node[0] = hash_of(join->node[0], join->host, strlen(join->host));
	if (boot[0] && stat("/proc/self/ns/pid", &status) == 0)
		table = hash_of(table, &status.st_ino, sizeof status.st_ino);
	else
		table = hash_of(table, &join->pid, sizeof join->pid); /* it sees no other process */
	join->node[1] = hash_of(table, &user, sizeof user);
}

/* All PEs compute the same key from the secret. */
static void key_of_secret(uint64_t key[2])
{
	const char *secret = setting_text(SETTING_SECRET);
	static const uint64_t fixed[2][2] = {{1, 2}, {3, 4}};
	size_t words = strlen(secret) / sizeof(uint64_t) + 1;
	uint64_t *text = calloc(words, sizeof *text);

	for (int half = 0; half < 2; half++)
		key[half] = 0;
	if (!text)
		return;
	memcpy(text, secret, strlen(secret));
	for (int half = 0; half < 2; half++)
		key[half] = siphash(fixed[half], text, words);
	free(text);
}

enum attempt { ATTEMPT_JOINED, ATTEMPT_LATER, ATTEMPT_REFUSED, ATTEMPT_ENDED };

/* One connection: the greeting, and the root's proof. errno says why it is to be tried later. */
static enum attempt try_root(const struct rte_start *start, const struct rte_unique_id *id, const uint64_t key[2],
			     const struct rendezvous_join *join, int64_t until)
{
	struct sockaddr_storage to;
	struct greeting greeting;
	struct rendezvous_message message;
	uint64_t proof = 0;
	int fd = rendezvous_connect(start->root, id, &to), error;

	if (fd < 0)
		return fd == RENDEZVOUS_NO_ADDRESS ? ATTEMPT_ENDED : ATTEMPT_LATER;
	if (greeting_make(&greeting, key, &to) && rendezvous_send(fd, &greeting, sizeof greeting) &&
	    rendezvous_send_message(fd, JOIN, 0, join, sizeof *join) &&
	    rendezvous_receive(fd, &message, sizeof message, until) && message.kind == WELCOME &&
	    message.bytes == sizeof proof && rendezvous_receive(fd, &proof, sizeof proof, until) &&
	    proof == rendezvous_proof(key, greeting.nonce)) {
		link_to_root.fd = fd;
		return ATTEMPT_JOINED;
	}
	error = errno;
	close(fd);
	errno = error;
	return errno == ETIMEDOUT ? ATTEMPT_LATER : ATTEMPT_REFUSED;
}

static const char *place_of_root(const struct rte_start *start, const struct rte_unique_id *id)
{
	return id ? "the process that made the id" : start->root;
}

/* Tries until the root is there; its start and this one's may be seconds apart. */
static bool reach_root(const struct rte_start *start, const struct rte_unique_id *id, const uint64_t key[2],
		       const struct rendezvous_join *join, int64_t until)
{
	struct timespec pause = {.tv_nsec = 1000000};
	int refusals = 0;

	for (;;) {
		enum attempt attempt = try_root(start, id, key, join, until);
		int error = errno;

		if (attempt == ATTEMPT_JOINED)
			return true;
		if (attempt == ATTEMPT_ENDED)
			return false;
		refusals += attempt == ATTEMPT_REFUSED;
		if (refusals == REFUSALS) {
			snprintf(rte.problem, sizeof rte.problem,
				 "what listens at %.200s refuses this process; is it PE 0 of this job, with the same "
				 "SHMEM_SECRET?",
				 place_of_root(start, id));
			return false;
		}
		if (rte_clock_ms() >= until) {
			snprintf(
				rte.problem, sizeof rte.problem,
				"%.200s cannot be reached within %ld s (%.100s); start PE 0 there, or set SHMEM_START_SECONDS",
				place_of_root(start, id), rendezvous_seconds(),
				error == ENOENT ? "its name has no address" : strerror(error));
			return false;
		}
		if (attempt == ATTEMPT_REFUSED)
			pause.tv_nsec = 100000000;
		nanosleep(&pause, NULL);
		pause.tv_nsec = pause.tv_nsec < 50000000 ? 2 * pause.tv_nsec : 100000000;
	}
}

/* The root has an end of the connection that needs no greeting. */
static bool become_root(const struct rte_start *start, const struct rte_unique_id *id, const uint64_t key[2],
			const struct rendezvous_join *join, int listener)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) ||
	    !rendezvous_root_start(listener, ends[1], start->n_pes, key)) {
		snprintf(
			rte.problem, sizeof rte.problem,
			"this process cannot serve the other PEs (%s); it needs a descriptor for each PE, see ulimit -n",
			strerror(errno));
		return false;
	}
	if (!id && !setting_text(SETTING_SECRET)[0])
		rte_report(NULL,
			   "warning: SHMEM_SECRET is not set, so anyone who reaches %s while the job starts can "
			   "join it; give all PEs the same secret",
			   start->root);
	link_to_root.is_root = true;
	link_to_root.fd = ends[0];
	return rendezvous_send_message(ends[0], JOIN, 0, join, sizeof *join);
}

/* The job cannot start: its error says why. Returns false. */
static bool receive_why_broken(const struct rendezvous_message *message, int64_t until)
{
	struct rte_error error;

	if (message->bytes == sizeof error && rendezvous_receive(link_to_root.fd, &error, sizeof error, until))
		take_error(message, (const char *)&error);
	snprintf(rte.problem, sizeof rte.problem, "the job could not start");
	return false;
}

/* Waits until all have come; the root watches the time, and names those that are missing. */
static bool await_others(const struct rte_start *start, const struct rte_unique_id *id)
{
	int64_t until = rte_clock_ms() + rendezvous_seconds() * 1000 + LONGER_MS;
	struct rendezvous_message message = {0};
	struct rendezvous_joined joined;
	bool good;

	good = rendezvous_receive(link_to_root.fd, &message, sizeof message, until);
	if (good && message.kind == ABORT)
		_exit(message.number);
	if (good && message.kind == BROKEN)
		return receive_why_broken(&message, until);
	good = good && message.kind == JOINED && message.bytes >= sizeof joined &&
	       rendezvous_receive(link_to_root.fd, &joined, sizeof joined, until);
	link_to_root.tables = good ? malloc(message.bytes) : NULL;
	good = link_to_root.tables &&
	       rendezvous_receive(link_to_root.fd, link_to_root.tables, message.bytes - sizeof joined, until);
	if (!good) {
		snprintf(rte.problem, sizeof rte.problem, "%s has ended while the job started (%s)",
			 id ? place_of_root(start, id) : "PE 0", strerror(errno));
		return false;
	}
	link_to_root.root_pe = joined.root;
	link_to_root.node = (int32_t *)(void *)link_to_root.tables;
	link_to_root.hosts = (void *)(link_to_root.node + start->n_pes);
	rte.several_hosts = joined.n_nodes > 1;
	return true;
}

static bool find_local_pes(void)
{
	rte.n_local = 0;
	for (int pe = 0; pe < rte.n_pes; pe++)
		rte.n_local += link_to_root.node[pe] == link_to_root.node[rte.pe];
	rte.local_pes = malloc((size_t)rte.n_local * sizeof *rte.local_pes);
	for (int pe = 0, n = 0; rte.local_pes && pe < rte.n_pes; pe++)
		if (link_to_root.node[pe] == link_to_root.node[rte.pe])
			rte.local_pes[n++] = pe;
	if (!rte.local_pes)
		snprintf(rte.problem, sizeof rte.problem, "no memory");
	return rte.local_pes;
}

static bool join(const struct rte_start *start, const struct rte_unique_id *id)
{
	int64_t until = rte_clock_ms() + rendezvous_seconds() * 1000;
	int listener = id ? rendezvous_listener_of(id) : -1;
	struct rendezvous_join self;
	uint64_t key[2];

	describe_self(&self, start);
	if (id)
		memcpy(key, id->key, sizeof key);
	else
		key_of_secret(key);
	if (!id && start->pe == 0) {
		listener = rendezvous_listen(start->root);
		if (listener < 0)
			return false;
	}
	if (listener >= 0)
		return become_root(start, id, key, &self, listener) && await_others(start, id);
	return reach_root(start, id, key, &self, until) && await_others(start, id);
}

/* A child of fork must not keep the connections of a PE that ends. */
static void close_in_child(void)
{
	if (link_to_root.fd >= 0)
		close(link_to_root.fd);
	link_to_root.fd = -1;
	if (link_to_root.is_root)
		rendezvous_root_close();
	link_to_root.is_root = false;
}

static enum rte_status start(void)
{
	static bool has_handler;
	struct rte_start job = rte_find_start();
	const struct rte_unique_id *id = rte_unique_id_in_use(&job.pe, &job.n_pes);

	link_to_root.fences = 0;
	link_to_root.has_infos = link_to_root.left = link_to_root.is_root = link_to_root.has_thread = false;
	atomic_store_explicit(&link_to_root.ends, false, memory_order_seq_cst);
	if (!has_handler)
		has_handler = pthread_atfork(NULL, NULL, close_in_child) == 0;
	if (!join(&job, id))
		return RTE_BAD_START;
	rte.pe = job.pe;
	rte.n_pes = job.n_pes;
	if (!find_local_pes())
		return RTE_BAD_START;
	if (rte_start_thread(&link_to_root.thread, receive)) {
		snprintf(rte.problem, sizeof rte.problem, "no thread could be started (ulimit -u?)");
		return RTE_BAD_START;
	}
	link_to_root.has_thread = true;
	return RTE_OK;
}

/* The root's thread, too, ends when this PE closes its end. */
static void close_end(void)
{
	atomic_store_explicit(&link_to_root.ends, true, memory_order_seq_cst);
	if (link_to_root.fd >= 0)
		shutdown(link_to_root.fd, SHUT_RDWR);
}

/* The last message has come, or the job is broken, whether before or while this PE waits. */
static void leave_job(void)
{
	if (!rte_is_broken() && link_to_root.has_thread) {
		send_to_root(LEAVE, 0, NULL, 0);
		pthread_mutex_lock(&link_to_root.lock);
		while (!link_to_root.left && !rte_is_broken())
			pthread_cond_wait(&link_to_root.changed, &link_to_root.lock);
		pthread_mutex_unlock(&link_to_root.lock);
	}
	if (!link_to_root.left)
		close_end();
	if (link_to_root.has_thread)
		pthread_join(link_to_root.thread, NULL);
}

/* Also after a start that has failed. */
static void finalize(void)
{
	leave_job();
	if (link_to_root.fd >= 0)
		close(link_to_root.fd);
	link_to_root.fd = -1;
	if (link_to_root.is_root) {
		link_to_root.is_root = false;
		rendezvous_root_stop();
	}
	free(link_to_root.infos);
	free(link_to_root.tables);
	link_to_root.infos = link_to_root.tables = NULL;
}

/* --- What the PEs exchange --- */

static enum rte_status broken(void)
{
	snprintf(rte.problem, sizeof rte.problem, "the job is broken");
	return RTE_FAILED;
}

/* The thread ends the process if the root is lost meanwhile, or breaks the job. */
static enum rte_status exchange(const void *info, size_t size)
{
	send_to_root(INFO, 0, info, size);
	pthread_mutex_lock(&link_to_root.lock);
	while (!link_to_root.has_infos && !rte_is_broken())
		pthread_cond_wait(&link_to_root.changed, &link_to_root.lock);
	pthread_mutex_unlock(&link_to_root.lock);
	rte.has_all_infos = link_to_root.infos;
	return link_to_root.has_infos ? RTE_OK : broken();
}

static void *ask_for_info(int pe, size_t *size)
{
	void *info = NULL;

	pthread_mutex_lock(&link_to_root.fetch_lock);
	link_to_root.one_is_here = false;
	send_to_root(ONE_INFO, pe, NULL, 0);
	pthread_mutex_lock(&link_to_root.lock);
	while (!link_to_root.one_is_here && !rte_is_broken())
		pthread_cond_wait(&link_to_root.changed, &link_to_root.lock);
	if (link_to_root.one_is_here) {
		info = link_to_root.one_info;
		*size = link_to_root.one_bytes;
	} else {
		broken();
	}
	pthread_mutex_unlock(&link_to_root.lock);
	pthread_mutex_unlock(&link_to_root.fetch_lock);
	return info;
}

static void *fetch(int pe, size_t *size)
{
	const uint64_t *sizes = (const uint64_t *)(const void *)link_to_root.infos;
	size_t at = (size_t)rte.n_pes * sizeof *sizes;
	void *info;

	if (!sizes)
		return ask_for_info(pe, size);
	for (int before = 0; before < pe; before++)
		at += sizes[before];
	*size = sizes[pe];
	info = malloc(*size);
	if (info)
		memcpy(info, link_to_root.infos + at, *size);
	else
		snprintf(rte.problem, sizeof rte.problem, "no memory");
	return info;
}

/* seconds 0: without limit. */
static bool await_fence(int seconds)
{
	struct timespec end;
	int before, late = 0;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += seconds;
	pthread_mutex_lock(&link_to_root.lock);
	before = link_to_root.fences;
	pthread_mutex_unlock(&link_to_root.lock);
	send_to_root(FENCE, 0, NULL, 0);
	pthread_mutex_lock(&link_to_root.lock);
	while (link_to_root.fences == before && !late && !rte_is_broken())
		late = seconds ? pthread_cond_timedwait(&link_to_root.changed, &link_to_root.lock, &end)
			       : pthread_cond_wait(&link_to_root.changed, &link_to_root.lock);
	late = link_to_root.fences == before;
	pthread_mutex_unlock(&link_to_root.lock);
	return !late;
}

static enum rte_status fence(void)
{
	return await_fence(0) ? RTE_OK : broken();
}

static bool host(int pe, char *name, size_t size)
{
	return (size_t)snprintf(name, size, "%s", link_to_root.hosts[link_to_root.node[pe]]) < size;
}

static bool node(int pe, uint64_t *number)
{
	*number = (uint64_t)link_to_root.node[pe];
	return true;
}

/* The root hands it to the others. */
static void tell_error(const struct rte_error *error)
{
	if (link_to_root.fd >= 0)
		send_to_root(BROKEN, 0, error, sizeof *error);
	wake_waits();
}

/*
 * The root repeats the message to all; this PE's thread then ends the process. Where errors return,
 * the others find this PE lost, unless the program ends all.
 */
static void abort_job(int status, const char *message)
{
	if (rte.returns_errors && strcmp(message, RTE_GLOBAL_EXIT) != 0)
		return;
	if (link_to_root.fd >= 0 && send_to_root(ABORT, status, NULL, 0))
		for (;;)
			pause();
}

const struct rte_provider rte_rendezvous = {
	.start = start,
	.finalize = finalize,
	.exchange = exchange,
	.fetch = fetch,
	.fence = fence,
	.fence_within = await_fence,
	.host = host,
	.node = node,
	.abort = abort_job,
	.tell_error = tell_error,
};
