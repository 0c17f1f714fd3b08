/* SPDX-License-Identifier: BSD-3-Clause */
#include "gather_cables.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent.h"
#include "records.h"
#include "remote.h"

#define AT_ONCE 64 /* hosts asked at a time; sshd refuses more */
#define ROUNDS 2   /* in the first all have sent probes, in the second all have received them */

/* What became of a line. */
struct line {
	char text[2 * AGENT_LINE];
	size_t length;
};

struct listener {
	struct remote remote;
	struct records records;
	struct line *line; /* by start */
	bool *ready;	   /* by host */
	bool *counted;	   /* by start: no longer delays others */
	int *rounds;	   /* by host: number of rounds done */
	uint64_t *state;   /* by host */
	int readies, under_way, round;
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int host_of_line(const struct listener *listener, const char *name)
{
	const struct arguments *names = &listener->remote.hosts->names;

	for (size_t i = 0; i < names->count; i++)
		if (records_same_host(names->list[i], name))
			return (int)i;
	return -1;
}

static void start_is_through(struct listener *listener, int start)
{
	if (!listener->counted[start])
		listener->under_way--;
	listener->counted[start] = true;
}

/* Output of a login before the agent's is ignored. */
static void take_line(struct listener *listener, int start, const char *line)
{
	char session[64], name[AGENT_NAME];
	const char *mark = strstr(line, AGENT_MARK " ");
	unsigned long long state;
	int host, used = 0;

	if (!mark || sscanf(mark, AGENT_MARK " %63s %255s %n", session, name, &used) != 2 || !used ||
	    strcmp(session, listener->remote.session) != 0)
		return;
	host = host_of_line(listener, name);
	if (host < 0)
		return;
	if (!strcmp(mark + used, "ready") && !listener->ready[host]) {
		listener->ready[host] = true;
		listener->readies++;
		start_is_through(listener, start);
	} else if (!strcmp(mark + used, "done")) {
		listener->rounds[host]++;
	} else if (sscanf(mark + used, "state %llx", &state) == 1) {
		listener->state[host] = state;
	} else {
		records_take(&listener->records, host, mark + used);
	}
}

static void take_output(struct listener *listener, int start)
{
	struct line *line = &listener->line[start];
	int *fd = &listener->remote.output[start];
	char bytes[8192];
	ssize_t got = read(*fd, bytes, sizeof bytes);

	if (got < 0 && errno == EINTR)
		return;
	for (ssize_t i = 0; i < got; i++) {
		if (bytes[i] != '\n') {
			if (line->length < sizeof line->text - 1)
				line->text[line->length++] = bytes[i];
			continue;
		}
		line->text[line->length] = '\0';
		line->length = 0;
		take_line(listener, start, line->text);
	}
	if (got > 0)
		return;
	close(*fd);
	*fd = -1;
	start_is_through(listener, start);
}

static bool anybody_left(const struct listener *listener)
{
	for (int i = 0; i < listener->remote.begun; i++)
		if (listener->remote.output[i] >= 0)
			return true;
	return listener->remote.begun < listener->remote.starts;
}

/* All hosts that will answer have done so. With srun, the end of its output is the end of all. */
static bool all_begun(const struct listener *listener)
{
	if (listener->remote.begun < listener->remote.starts || listener->under_way > 0)
		return false;
	return !listener->remote.by_srun || listener->readies == (int)listener->remote.hosts->names.count;
}

/* When all agents are ready, sends each a newline, and when all have answered it, another one. */
static bool is_enough(struct listener *listener)
{
	if (!all_begun(listener))
		return false;
	for (size_t h = 0; h < listener->remote.hosts->names.count; h++) {
		int start = listener->remote.by_srun ? 0 : (int)h;

		if (listener->ready[h] && listener->remote.output[start] >= 0 && listener->rounds[h] < listener->round)
			return false;
	}
	if (listener->round++ < ROUNDS)
		remote_send_newline(&listener->remote);
	return listener->round > ROUNDS;
}

static void listen_once(struct listener *listener, struct pollfd *fds)
{
	int count = 0, begun = listener->remote.begun;

	while (listener->remote.begun < listener->remote.starts && listener->under_way < AT_ONCE) {
		listener->under_way++;
		remote_begin(&listener->remote);
		if (listener->remote.output[listener->remote.begun - 1] < 0)
			start_is_through(listener, listener->remote.begun - 1);
	}
	begun = listener->remote.begun;
	for (int i = 0; i < begun; i++)
		fds[count++] = (struct pollfd){.fd = listener->remote.output[i], .events = POLLIN};
	if (poll(fds, (nfds_t)count, 20) <= 0)
		return;
	for (int i = 0; i < begun; i++)
		if (fds[i].revents)
			take_output(listener, i);
}

static bool prepare(struct listener *listener, const struct hosts *hosts, struct pollfd **fds, char *problem,
		    size_t size)
{
	size_t count = hosts->names.count;

	if (!remote_prepare(&listener->remote, hosts, problem, size))
		return false;
	listener->line = calloc(count, sizeof *listener->line);
	listener->ready = calloc(count, sizeof *listener->ready);
	listener->counted = calloc(count, sizeof *listener->counted);
	*fds = calloc(count, sizeof **fds);
	listener->rounds = calloc(count, sizeof *listener->rounds);
	listener->state = calloc(count, sizeof *listener->state);
	if (listener->line && listener->ready && listener->counted && listener->rounds && listener->state && *fds)
		return true;
	snprintf(problem, size, "no memory for %zu hosts", count);
	return false;
}

bool gather(struct gathered *gathered, const struct hosts *hosts, double seconds, char *problem, size_t size)
{
	struct listener listener = {.readies = 0};
	struct pollfd *fds = NULL;
	double end = now() + seconds;
	bool good = prepare(&listener, hosts, &fds, problem, size);

	while (good && !is_enough(&listener) && now() < end && anybody_left(&listener))
		listen_once(&listener, fds);
	remote_end(&listener.remote);
	if (good && !records_join(&listener.records, hosts, listener.ready, &gathered->cabling)) {
		good = false;
		snprintf(problem, size, "no memory for the ports of %zu hosts", hosts->names.count);
	}
	gathered->answered = listener.readies;
	gathered->state = listener.state;
	gathered->records = listener.records;
	free(listener.line);
	free(listener.ready);
	free(listener.counted);
	free(listener.rounds);
	free(fds);
	return good;
}

void gathered_free(struct gathered *gathered)
{
	records_free_cabling(&gathered->cabling);
	records_free(&gathered->records);
	free(gathered->state);
}
