/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The root of a rendezvous: a thread that accepts the PEs, hands round what they publish, and ends
 * the job when one is lost. It waits for no connection longer than for others: every socket is
 * nonblocking. The listener closes when all PEs have joined.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "rendezvous.h"
#include "rte/clock.h"
#include "rte/host/first_data.h"
#include "rte/host/greeting.h"
#include "rte/text/errors.h"

enum {
	EVENTS = 64,
	STRANGERS = 256,	/* connections that have not joined yet */
	JOIN_MS = 10000,	/* that a connection has for its first message */
	TICK_MS = 500,		/* between two looks at the clock while PEs are awaited */
	LATE_TICK_MS = 20,	/* the same when the job is broken before */
	LONGEST_TICK_MS = 250,	/* between two questions to all PEs */
	END_MS = 2000,		/* for the last messages */
	BROKEN_MS = 300,	/* the same in a broken job, where a PE may not answer */
	MESSAGE_BYTES = 1 << 26 /* longer ones are no messages of ours */
};

struct member {
	int fd;
	int pe;	       /* -1: it has not joined yet */
	int64_t since; /* when it was accepted */
	int64_t heard; /* when it last sent something */
	bool left, gone;
	struct rendezvous_join join;
	struct rendezvous_message head; /* being received, then its body */
	size_t received;
	char *body;
	char *out; /* waits to be sent */
	size_t out_bytes, out_sent;
	void *info;
	size_t info_bytes;
	struct member *next; /* in the list of those that have not joined */
};

static struct {
	pthread_t thread;
	int listener, epoll, n_pes;
	const struct member *own; /* of this PE */
	bool own_gone;
	uint64_t key[2];
	struct greeting greeting; /* of the connection that is being accepted */
	void *greetings;
	struct member **members; /* by PE; NULL: has not joined */
	struct member *strangers;
	int n_strangers, joined, informed, fenced, left;
	int64_t began;
	struct rlimit descriptors; /* before the start */
	bool raised;
	bool ends; /* this ends the job */
	bool broken;
	int64_t broke; /* when */
	struct rte_error error;
	int64_t last_tick; /* of check_silence */
} root;

static _Noreturn void end_job(int status);
static void fail_job(enum rte_error_kind kind, int pe, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* --- Send --- */

static void watch(struct member *member, int operation, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = member};

	epoll_ctl(root.epoll, operation, member->fd, &event);
}

/* Returns false if something is left. A broken connection shows when it is read. */
static bool flush(struct member *member)
{
	while (member->out_sent < member->out_bytes) {
		ssize_t sent = send(member->fd, member->out + member->out_sent, member->out_bytes - member->out_sent,
				    MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent < 0 && (errno == EAGAIN || errno == EINTR))
			return false;
		if (sent < 0)
			break;
		member->out_sent += (size_t)sent;
	}
	free(member->out);
	member->out = NULL;
	member->out_bytes = member->out_sent = 0;
	return true;
}

static void post(struct member *member, enum rendezvous_kind kind, int number, const void *data, size_t bytes)
{
	struct rendezvous_message head = {kind, number, bytes};
	size_t before = member->out_bytes;
	char *out;

	if (member->gone)
		return;
	out = realloc(member->out, before + sizeof head + bytes);
	if (!out && (root.ends || root.broken))
		return;
	if (!out) {
		fail_job(RTE_ERROR_OTHER, member->pe, "no memory for a message to PE %d", member->pe);
		return;
	}
	memcpy(out + before, &head, sizeof head);
	if (bytes)
		memcpy(out + before + sizeof head, data, bytes);
	member->out = out;
	member->out_bytes = before + sizeof head + bytes;
	if (before == 0 && !flush(member))
		watch(member, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
}

static void post_to_all(enum rendezvous_kind kind, int number, const void *data, size_t bytes)
{
	for (int pe = 0; pe < root.n_pes; pe++)
		if (root.members[pe])
			post(root.members[pe], kind, number, data, bytes);
}

/* Until all is sent, or for so long. */
static void flush_all(void)
{
	int64_t until = rte_clock_ms() + (root.broken ? BROKEN_MS : END_MS);

	for (int pe = 0; pe < root.n_pes && rte_clock_ms() < until;) {
		struct member *member = root.members[pe];
		struct pollfd writable = {.fd = member ? member->fd : -1, .events = POLLOUT};

		if (!member || member->gone || flush(member))
			pe++;
		else
			poll(&writable, 1, (int)(until - rte_clock_ms()));
	}
}

/* This process must not end before the others have been told, so this PE is not told. */
static _Noreturn void end_job(int status)
{
	root.ends = true;
	for (int pe = 0; pe < root.n_pes; pe++)
		if (root.members[pe] && pe != rte.pe)
			post(root.members[pe], ABORT, status, NULL, 0);
	for (struct member *member = root.strangers; member; member = member->next)
		post(member, ABORT, status, NULL, 0);
	flush_all();
	_exit(status);
}

/* Where errors return, this PE's own end of the connection gets the message, too. */
static void break_job(const struct rte_error *error, const struct member *finder)
{
	if (root.broken)
		return;
	root.broken = true;
	root.broke = rte_clock_ms();
	root.error = *error;
	for (int pe = 0; pe < root.n_pes; pe++)
		if (root.members[pe] && root.members[pe] != finder)
			post(root.members[pe], BROKEN, 0, error, sizeof *error);
	for (struct member *member = root.strangers; member; member = member->next)
		post(member, BROKEN, 0, error, sizeof *error);
}

static void fail_job(enum rte_error_kind kind, int pe, const char *format, ...)
{
	struct rte_error error = {.kind = kind, .pe = pe};
	va_list arguments;

	va_start(arguments, format);
	rte_make_line(error.message, sizeof error.message, NULL, format, arguments);
	va_end(arguments);
	if (rte.returns_errors) {
		break_job(&error, NULL);
		return;
	}
	va_start(arguments, format);
	rte_report_with(NULL, format, arguments);
	va_end(arguments);
	end_job(1);
}

/* --- The PEs come --- */

static void describe(char *text, size_t size, const struct member *member)
{
	snprintf(text, size, "PE %d (pid %d, host %s)", member->pe, member->join.pid, member->join.host);
}

static bool is_same_node(const struct member *one, const struct member *other)
{
	return one->join.node[0] == other->join.node[0] && one->join.node[1] == other->join.node[1];
}

/* Numbers the nodes in the order of their first PEs. */
static void all_have_joined(void)
{
	struct rendezvous_joined joined = {rte.pe, 0};
	size_t n = (size_t)root.n_pes, bytes = sizeof joined + n * (sizeof(int32_t) + RENDEZVOUS_HOST);
	int *first = malloc(n * sizeof *first);
	char *body = calloc(1, bytes);
	int32_t *node;
	char *hosts;

	if (!first || !body) {
		fail_job(RTE_ERROR_OTHER, rte.pe, "no memory for %d PEs", root.n_pes);
		free(first);
		free(body);
		return;
	}
	node = (int32_t *)(void *)(body + sizeof joined);
	hosts = (char *)(node + n);
	for (int pe = 0; pe < root.n_pes; pe++) {
		int i = pe > 0 && is_same_node(root.members[pe], root.members[pe - 1]) ? node[pe - 1] : 0;

		while (i < joined.n_nodes && !is_same_node(root.members[pe], root.members[first[i]]))
			i++;
		if (i == joined.n_nodes) {
			memcpy(hosts + i * RENDEZVOUS_HOST, root.members[pe]->join.host, RENDEZVOUS_HOST - 1);
			first[joined.n_nodes++] = pe;
		}
		node[pe] = i;
	}
	memcpy(body, &joined, sizeof joined);
	bytes -= (n - (size_t)joined.n_nodes) * RENDEZVOUS_HOST;
	post_to_all(JOINED, 0, body, bytes);
	free(first);
	free(body);
	if (root.listener >= 0)
		close(root.listener);
	root.listener = -1;
}

static void remove_stranger(struct member *member)
{
	struct member **at = &root.strangers;

	while (*at != member)
		at = &(*at)->next;
	*at = member->next;
	root.n_strangers--;
}

static void drop_stranger(struct member *member)
{
	remove_stranger(member);
	close(member->fd);
	free(member->body);
	free(member->out);
	free(member);
}

static struct member *add_stranger(int fd)
{
	struct member *member = calloc(1, sizeof *member);

	if (!member) {
		close(fd);
		return NULL;
	}
	fcntl(fd, F_SETFL, O_NONBLOCK);
	member->fd = fd;
	member->pe = -1;
	member->since = rte_clock_ms();
	member->next = root.strangers;
	root.strangers = member;
	root.n_strangers++;
	watch(member, EPOLL_CTL_ADD, EPOLLIN);
	return member;
}

static bool has_proven_itself(int fd)
{
	return greeting_receive(fd, root.key, &root.greeting) && greetings_seen_add(&root.greetings, &root.greeting);
}

static void accept_connection(void)
{
	int fd = first_data_accept(root.listener, NULL, NULL, has_proven_itself);
	struct member *member = fd >= 0 ? add_stranger(fd) : NULL;
	uint64_t proof;

	if (!member)
		return;
	proof = rendezvous_proof(root.key, root.greeting.nonce);
	post(member, WELCOME, 0, &proof, sizeof proof);
	if (root.broken)
		post(member, BROKEN, 0, &root.error, sizeof root.error);
	if (root.n_strangers > STRANGERS + root.n_pes) {
		while (member->next)
			member = member->next;
		drop_stranger(member);
	}
}

/* False: it has failed the job. */
static bool join_is_possible(const struct rendezvous_join *join)
{
	char other[128];

	if (join->version != RENDEZVOUS_VERSION || join->n_pes != root.n_pes || join->pe < 0 ||
	    join->pe >= root.n_pes) {
		fail_job(RTE_ERROR_OTHER, -1,
			 "pid %d on host %s comes as PE %d of %d, and this job has %d PEs%s; give all the same number",
			 join->pid, join->host, join->pe, join->n_pes, root.n_pes,
			 join->version != RENDEZVOUS_VERSION ? " of another version of torushmem" : "");
		return false;
	}
	if (root.members[join->pe]) {
		describe(other, sizeof other, root.members[join->pe]);
		fail_job(RTE_ERROR_OTHER, join->pe,
			 "pid %d on host %s comes as %s did; give each process a number of its own", join->pid,
			 join->host, other);
		return false;
	}
	if (join->returns_errors != rte.returns_errors) {
		describe(other, sizeof other, &(struct member){.pe = join->pe, .join = *join});
		fail_job(RTE_ERROR_OTHER, join->pe, "errors %s on %s, but %s here; give all PEs the same SHMEM_ERRORS",
			 join->returns_errors ? "return" : "end the job", other,
			 rte.returns_errors ? "return" : "end the job");
		return false;
	}
	return true;
}

static void take_join(struct member *member)
{
	struct rendezvous_join *join = &member->join;

	if (member->head.kind != JOIN || member->head.bytes != sizeof *join) {
		drop_stranger(member);
		return;
	}
	memcpy(join, member->body, sizeof *join);
	join->host[sizeof join->host - 1] = '\0';
	for (char *c = join->host; *c; c++)
		if (*c <= ' ' || *c > '~')
			*c = '?'; /* reports print the name */
	free(member->body);
	member->body = NULL;
	if (!join_is_possible(join)) {
		drop_stranger(member);
		return;
	}
	remove_stranger(member);
	member->pe = join->pe;
	root.members[join->pe] = member;
	member->heard = rte_clock_ms();
	if (++root.joined == root.n_pes)
		all_have_joined();
}

/* "1, 3-5 and 12 more" would be longer to make than to read: the first ones. */
static void list_missing(char *text, size_t size)
{
	size_t used = 0;
	int named = 0;

	for (int pe = 0; pe < root.n_pes && named < 8; pe++)
		if (!root.members[pe] && used < size)
			used += (size_t)snprintf(text + used, size - used, "%s%d", named++ ? ", " : "", pe);
	if (named < root.n_pes - root.joined && used < size)
		snprintf(text + used, size - used, " and others");
}

static int first_missing(void)
{
	int pe = 0;

	while (root.members[pe])
		pe++;
	return pe;
}

static void check_time(void)
{
	int64_t now = rte_clock_ms();
	int missing = root.n_pes - root.joined;
	char list[128];

	for (struct member *member = root.strangers, *next; member; member = next) {
		next = member->next;
		if (now - member->since > JOIN_MS)
			drop_stranger(member);
	}
	if (missing == 0 || now - root.began < rendezvous_seconds() * 1000)
		return;
	list_missing(list, sizeof list);
	fail_job(RTE_ERROR_OTHER, missing == 1 ? first_missing() : -1,
		 "PE%s %s of %d ha%s not come within %ld s; start %s, with the same root and secret, or set "
		 "SHMEM_START_SECONDS",
		 missing > 1 ? "s" : "", list, root.n_pes, missing > 1 ? "ve" : "s", rendezvous_seconds(),
		 missing > 1 ? "them" : "it");
}

/* --- Silence --- */

/* Time between two questions; 0: there is no limit. */
static int64_t tick(void)
{
	int64_t each = rte.silence_ms / 8;

	if (!rte.returns_errors || rte.silence_ms == 0 || root.broken)
		return 0;
	return each < 20 ? 20 : each < LONGEST_TICK_MS ? each : LONGEST_TICK_MS;
}

/* When this process itself was stopped, what the others have sent meanwhile is read first. */
static void check_silence(void)
{
	int64_t now = rte_clock_ms(), each = tick();
	bool was_stopped = now - root.last_tick > rte.silence_ms / 2 + each;
	char who[128];

	if (each == 0 || now - root.last_tick < each)
		return;
	root.last_tick = now;
	for (int pe = 0; pe < root.n_pes; pe++) {
		struct member *member = root.members[pe];

		if (was_stopped)
			member->heard = now;
		if (!member->left && !root.broken && now - member->heard >= rte.silence_ms) {
			describe(who, sizeof who, member);
			fail_job(RTE_ERROR_SILENT, pe, "%s has not answered for %g s; this ends the job", who,
				 (double)rte.silence_ms / 1000);
		}
		post(member, PING, 0, NULL, 0);
	}
}

/* How long to wait for messages, in ms; -1: for ever. */
static int longest_wait(void)
{
	if (root.joined < root.n_pes)
		return root.broken ? LATE_TICK_MS : TICK_MS;
	if (root.broken)
		return -1;
	return tick() ? (int)tick() : -1;
}

/* --- Messages --- */

static void send_infos(void)
{
	size_t n = (size_t)root.n_pes, bytes = n * sizeof(uint64_t), at = bytes;
	uint64_t *sizes;
	char *body;

	if (root.n_pes > RENDEZVOUS_COLLECTED) {
		post_to_all(INFOS, 0, NULL, 0);
		return;
	}
	for (size_t pe = 0; pe < n; pe++)
		bytes += root.members[pe]->info_bytes;
	body = malloc(bytes);
	sizes = (uint64_t *)(void *)body;
	for (size_t pe = 0; body && pe < n; pe++) {
		sizes[pe] = root.members[pe]->info_bytes;
		memcpy(body + at, root.members[pe]->info, sizes[pe]);
		at += sizes[pe];
	}
	if (!body) {
		fail_job(RTE_ERROR_OTHER, rte.pe, "no memory for what %d PEs publish", root.n_pes);
		return;
	}
	post_to_all(INFOS, 0, body, bytes);
	free(body);
}

static void take_message(struct member *member)
{
	int number = member->head.number;
	struct rte_error error;

	member->heard = rte_clock_ms();
	switch (member->head.kind) {
	case INFO:
		free(member->info);
		member->info = member->body;
		member->info_bytes = member->head.bytes;
		member->body = NULL;
		if (++root.informed % root.n_pes == 0)
			send_infos();
		break;
	case ONE_INFO:
		if (number >= 0 && number < root.n_pes)
			post(member, ONE_INFO, number, root.members[number]->info, root.members[number]->info_bytes);
		break;
	case FENCE:
		if (++root.fenced % root.n_pes == 0)
			post_to_all(FENCE, 0, NULL, 0);
		break;
	case ABORT: end_job(number);
	case BROKEN:
		if (member->head.bytes == sizeof(struct rte_error)) {
			memcpy(&error, member->body, sizeof error);
			break_job(&error, member);
		}
		break;
	case LEAVE:
		member->left = true;
		if (++root.left == root.n_pes)
			post_to_all(LEAVE, 0, NULL, 0);
		break;
	default: break;
	}
}

static void lose(struct member *member)
{
	char who[128];

	if (member == root.own)
		root.own_gone = true;
	if (member->pe < 0) {
		drop_stranger(member);
		if (root.own_gone)
			fail_job(RTE_ERROR_OTHER, rte.pe, "its start has failed; this ends the job");
		return;
	}
	member->gone = true;
	epoll_ctl(root.epoll, EPOLL_CTL_DEL, member->fd, NULL);
	if (member->left)
		return;
	describe(who, sizeof who, member);
	fail_job(RTE_ERROR_LOST, member->pe, "%s %s; this ends the job", who,
		 root.joined < root.n_pes ? "has ended while the job started" : "has ended before shmem_finalize");
}

/* Returns false if nothing more is here, or the connection is gone. */
static bool receive_some(struct member *member)
{
	size_t head = sizeof member->head;
	bool in_head = member->received < head;
	char *to = in_head ? (char *)&member->head + member->received : member->body + (member->received - head);
	size_t wanted = in_head ? head - member->received : head + member->head.bytes - member->received;
	ssize_t got = recv(member->fd, to, wanted, MSG_DONTWAIT);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (got <= 0) {
		lose(member);
		return false;
	}
	member->received += (size_t)got;
	if (in_head && member->received == head) {
		uint64_t most = member->pe < 0 ? sizeof member->join : MESSAGE_BYTES;

		free(member->body);
		member->body = member->head.bytes <= most ? malloc(member->head.bytes + 1) : NULL;
		if (!member->body) {
			lose(member);
			return false;
		}
	}
	if (member->received < head || member->received < head + member->head.bytes)
		return true;
	member->received = 0;
	if (member->pe >= 0) {
		take_message(member);
		return true;
	}
	take_join(member);
	return false; /* it may be gone; if not, epoll reports the rest */
}

static void handle_event(const struct epoll_event *event)
{
	struct member *member = event->data.ptr;

	if (!member) {
		if (root.listener >= 0)
			accept_connection();
		return;
	}
	if ((event->events & EPOLLOUT) && flush(member))
		watch(member, EPOLL_CTL_MOD, EPOLLIN);
	if (event->events & (EPOLLIN | EPOLLHUP | EPOLLERR))
		while (receive_some(member))
			;
}

/* PEs that are still to come learn from the root, and from nobody else, that the job is broken. */
static bool awaits_late_pes(void)
{
	return root.joined < root.n_pes && root.listener >= 0 && rte_clock_ms() - root.broke < rte.silence_ms &&
	       rte_clock_ms() - root.began < rendezvous_seconds() * 1000;
}

/* In a broken job each PE leaves when it likes, and the root when this PE does. */
static bool is_over(void)
{
	return root.left == root.n_pes || (root.own_gone && root.broken && !awaits_late_pes());
}

static void *serve(void *unused)
{
	struct epoll_event events[EVENTS];

	while (!is_over()) {
		int n = epoll_wait(root.epoll, events, EVENTS, longest_wait());

		/* One at a time where an event may free a connection that a later one names. */
		for (int i = 0; i < n; i++) {
			handle_event(&events[i]);
			if (root.joined < root.n_pes)
				break;
		}
		if (root.joined == root.n_pes)
			check_silence();
		else if (!root.broken)
			check_time();
	}
	flush_all();
	return unused;
}

/* --- Start and stop --- */

/* Each PE has a connection; the program needs some descriptors, too. */
static bool allow_descriptors(void)
{
	rlim_t needed = (rlim_t)root.n_pes + 32, wanted = needed + STRANGERS + 256;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= wanted)
		return true;
	root.descriptors = limit;
	root.raised = true;
	limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
	setrlimit(RLIMIT_NOFILE, &limit);
	errno = EMFILE;
	return limit.rlim_cur >= needed;
}

bool rendezvous_root_start(int listener, int own, int n_pes, const uint64_t key[2])
{
	struct epoll_event event = {.events = EPOLLIN};

	memset(&root, 0, sizeof root);
	root.listener = listener;
	root.n_pes = n_pes;
	memcpy(root.key, key, sizeof root.key);
	root.began = rte_clock_ms();
	if (!allow_descriptors())
		return false;
	root.members = calloc((size_t)n_pes, sizeof(struct member *));
	root.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (!root.members || root.epoll < 0)
		return false;
	epoll_ctl(root.epoll, EPOLL_CTL_ADD, listener, &event);
	root.own = add_stranger(own);
	return root.own && rte_start_thread(&root.thread, serve) == 0;
}

static void free_member(struct member *member)
{
	if (!member)
		return;
	close(member->fd);
	free(member->body);
	free(member->out);
	free(member->info);
	free(member);
}

void rendezvous_root_close(void)
{
	for (int pe = 0; root.members && pe < root.n_pes; pe++)
		if (root.members[pe])
			close(root.members[pe]->fd);
	for (const struct member *member = root.strangers; member; member = member->next)
		close(member->fd);
	if (root.listener >= 0)
		close(root.listener);
	close(root.epoll);
}

void rendezvous_root_stop(void)
{
	struct member **members = root.members;

	pthread_join(root.thread, NULL);
	root.members = NULL; /* for a child that another thread forks meanwhile */
	for (int pe = 0; pe < root.n_pes; pe++)
		free_member(members[pe]);
	free(members);
	greetings_seen_free(&root.greetings);
	while (root.strangers)
		drop_stranger(root.strangers);
	if (root.listener >= 0)
		close(root.listener);
	close(root.epoll);
	if (root.raised)
		setrlimit(RLIMIT_NOFILE, &root.descriptors);
}
