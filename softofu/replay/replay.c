/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * softofu-replay FOLDER: the time that a recorded run (SOFTOFU_RECORD=FOLDER) would have taken on
 * the machine. The recording has the grid of the run, and the settings of the network come from the
 * environment.
 *
 * A process repeats its actions in order: it sends as soon as it has read the notices that it had
 * read before, and the software's time has passed; computing takes no time. A session sends when it
 * was released. The network decides when messages arrive; all of them are in it at once. The local
 * notice of a put comes with an acknowledgement, a message of no bytes on the way back.
 */
#include "softofu/replay/replay.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "softofu/include/utofu.h"
#include "softofu/nic/carrier.h"
#include "softofu/nic/descriptor.h"
#include "softofu/nic/recording.h"
#include "softofu/nic/vcq.h"

#define NOT_YET (-1)
enum { NODES_MOST = 1 << 20 };

struct message {
	const struct record *sent;
	/*
	 * The answer of a get or an atomic operation, or the acknowledgement of a put, is under
	 * way.
	 */
	bool is_answer;
	bool wants_answer; /* a put whose sender has read its local notice */
	int64_t arrived, acknowledged;
	size_t edge; /* between which VCQs */
	int reader;  /* rank that reads its arrival */
};

struct rank {
	struct record *records;
	size_t count, next;
	int64_t clock;
	bool runs_software; /* it has read something and not sent yet */
	bool may_go_on;	    /* it is in the list of those that may have something to do */
	struct message *messages;
	size_t n_messages;
};

struct session {
	const struct record **sent; /* by place */
	int64_t *released;
	size_t room, next;
	int64_t time;
};

static struct {
	struct rank *ranks;
	int n_ranks;
	int *runnable, n_runnable; /* ranks that may have something to do */
	struct session *sessions;
	size_t n_sessions;
	const struct record **released; /* records of releases, by message */
	size_t n_released;
	struct replay_net *network;
	bool show_messages;
	const struct net_shape *shape;
	int tnis;
	size_t n_records;
	int64_t software; /* picoseconds */
	time_t begun;
} replay;

/*
 * A progress line on the terminal in replays that take more than two seconds; removed at the end.
 */
static void show_progress(bool end)
{
	static time_t shown;
	time_t now = time(NULL);
	size_t done = 0, of = 0;

	if (end && shown)
		fputs("\r\033[K", stderr);
	if (end || now - replay.begun < 2 || now == shown || !isatty(STDERR_FILENO) ||
	    (replay.show_messages && isatty(STDOUT_FILENO)))
		return;
	for (int i = 0; i < replay.n_ranks; i++) {
		done += replay.ranks[i].next;
		of += replay.ranks[i].count;
	}
	shown = now;
	fprintf(stderr, "\rsoftofu-replay: %zu of %zu records, %ld s\033[K", done, of, (long)(now - replay.begun));
}

/* --- Reading --- */

static bool read_rank(const char *folder, int number, struct rank *rank)
{
	char path[4096];
	FILE *file;
	long bytes;

	snprintf(path, sizeof path, "%s/" RECORD_FILE, folder, number);
	file = fopen(path, "re");
	if (!file)
		return false;
	fseek(file, 0, SEEK_END);
	bytes = ftell(file);
	rewind(file);
	if (bytes < 0 || bytes == LONG_MAX)
		replay_fail("%s: it is no recording", path);
	*rank = (struct rank){.count = (size_t)bytes / sizeof *rank->records, .runs_software = true};
	rank->records = replay_memory(malloc((size_t)bytes + 1));
	if (fread(rank->records, sizeof *rank->records, rank->count, file) != rank->count)
		replay_fail("%s: %s", path, strerror(errno));
	fclose(file);
	for (size_t i = 0; i < rank->count; i++)
		rank->n_messages += rank->records[i].kind <= RECORD_SENT_BY_SESSION;
	rank->messages = replay_memory(calloc(rank->n_messages + 1, sizeof *rank->messages));
	return true;
}

static void read_ranks(const char *folder)
{
	do
		replay.ranks =
			replay_memory(realloc(replay.ranks, (size_t)(replay.n_ranks + 1) * sizeof *replay.ranks));
	while (read_rank(folder, replay.n_ranks, &replay.ranks[replay.n_ranks]) && ++replay.n_ranks);
	if (replay.n_ranks == 0)
		replay_fail("%s has no record of a run; make one with SOFTOFU_RECORD=%s", folder, folder);
}

/*
 * The grid of the run. Recordings that do not have it need the settings of the run in the
 * environment.
 */
static void read_grid(struct node_grid *grid)
{
	const struct record *job = replay.ranks[0].records;
	long nodes = 1;

	if (!replay.ranks[0].count || job->kind != RECORD_JOB)
		return;
	for (int a = 0; a < GRID_AXES; a++) {
		grid->size[a] = (int)(job->from >> a * RECORD_SIZE_BITS) & ((1 << RECORD_SIZE_BITS) - 1);
		grid->ring[a] = job->to >> a & 1;
		nodes *= grid->size[a];
		if (nodes < 1 || nodes > NODES_MOST)
			replay_fail("the recording is damaged: its grid has %ld nodes", nodes);
	}
	if (job->message > (uint64_t)replay.n_ranks)
		replay_fail("the run had %llu ranks, and there are recordings of %d", (unsigned long long)job->message,
			    replay.n_ranks);
}

static struct session *session_of(uint64_t queue, uint64_t place)
{
	struct session *session;

	if (queue >= replay.n_sessions) {
		replay.sessions = replay_memory(realloc(replay.sessions, (queue + 1) * sizeof *replay.sessions));
		memset(replay.sessions + replay.n_sessions, 0,
		       (queue + 1 - replay.n_sessions) * sizeof *replay.sessions);
		replay.n_sessions = queue + 1;
	}
	session = &replay.sessions[queue];
	while (place >= session->room) {
		size_t room = 2 * session->room + 64;

		session->sent = replay_memory(realloc(session->sent, room * sizeof *session->sent));
		session->released = replay_memory(realloc(session->released, room * sizeof *session->released));
		for (; session->room < room; session->room++) {
			session->sent[session->room] = NULL;
			session->released[session->room] = NOT_YET;
		}
	}
	return session;
}

static struct message *message_of(uint64_t number)
{
	uint64_t rank = number >> 32, n = number & UINT32_MAX;

	if (rank >= (uint64_t)replay.n_ranks || n == 0 || n > replay.ranks[rank].n_messages)
		replay_fail("a record refers to message %llu of rank %llu, which is not recorded",
			    (unsigned long long)n, (unsigned long long)rank);
	return &replay.ranks[rank].messages[n];
}

static int by_message(const void *left, const void *right)
{
	const struct record *a = *(const struct record *const *)left, *b = *(const struct record *const *)right;

	return (a->message > b->message) - (a->message < b->message);
}

static struct net_address replay_address(uint64_t id)
{
	struct vcq_name name;
	int coordinates[GRID_AXES];

	if (!id_read(id, &name))
		replay_fail("0x%llx is the id of no queue", (unsigned long long)id);
	for (int a = 0; a < GRID_AXES; a++) {
		coordinates[a] = name.coords[a];
		if (coordinates[a] >= replay.shape->axis[a].size || (int)name.tni >= replay.tnis)
			replay_fail(
				"the recording has a queue at node %d,%d,%d,%d,%d,%d, TNI %u, which the grid does not have; "
				"set SOFTOFU_SHAPE as in the run",
				name.coords[0], name.coords[1], name.coords[2], name.coords[3], name.coords[4],
				name.coords[5], name.tni);
	}
	return (struct net_address){net_place_at(replay.shape, coordinates), (int)name.tni, (int)name.cq};
}

/* Most bytes of a message; a recording of before does not say how many blocks it has. */
static uint64_t most_bytes(const struct record *sent)
{
	switch (sent->what) {
	case KIND_PUT:
	case KIND_GET: return (sent->steps && sent->steps < 256 ? sent->steps : 256) * MOST_BYTES;
	case KIND_NOP: return UINT32_MAX;
	default: return MOST_PIGGYBACK;
	}
}

static bool is_sane_message(int rank, const struct record *sent)
{
	return sent->what <= KIND_NOP && sent->message >> 32 == (uint64_t)rank && !message_of(sent->message)->sent &&
	       sent->bytes <= most_bytes(sent);
}

/*
 * A session has a place for each of its messages, and each message moves its pointer by a few of
 * them.
 */
static bool is_sane_session(const struct record *record)
{
	uint64_t most = ((uint64_t)replay.n_records + 1) * 64;

	return record->queue < (uint64_t)VCQS_OF_PROCESS * (uint64_t)replay.n_ranks && record->place < most &&
	       record->steps < most;
}

/*
 * Ends if a record cannot be one of a run: the rest of the program relies on what is checked here.
 */
static void check_record(int rank, size_t number)
{
	const struct record *record = &replay.ranks[rank].records[number];
	bool sane = record->kind < RECORD_KINDS;

	if (record->kind == RECORD_SENT || record->kind == RECORD_SENT_BY_SESSION)
		sane = is_sane_message(rank, record);
	if (record->kind == RECORD_SENT_BY_SESSION || record->kind == RECORD_RELEASED)
		sane = sane && is_sane_session(record);
	if (!sane)
		replay_fail("the recording of rank %d is damaged: its record %zu cannot be one of a run", rank, number);
}

static void sort_out(const struct record *record)
{
	if (record->kind <= RECORD_SENT_BY_SESSION)
		*message_of(record->message) =
			(struct message){.sent = record, .arrived = NOT_YET, .acknowledged = NOT_YET};
	if (record->kind <= RECORD_SENT_BY_SESSION && record->what != KIND_NOP)
		message_of(record->message)->edge =
			tnis_add(record->from, record->to, record->bytes,
				 (struct net_address[]){replay_address(record->from), replay_address(record->to)});
	if (record->kind == RECORD_READ && record->what == UTOFU_MRQ_TYPE_LCL_PUT)
		message_of(record->message)->wants_answer = true;
	if (record->kind == RECORD_SENT_BY_SESSION)
		session_of(record->queue, record->place)->sent[record->place] = record;
	if (record->kind == RECORD_RELEASED) {
		replay.released =
			replay_memory(realloc(replay.released, (replay.n_released + 1) * sizeof *replay.released));
		replay.released[replay.n_released++] = record;
		session_of(record->queue, record->place + record->steps);
	}
}

static void note_readers(void)
{
	for (int i = 0; i < replay.n_ranks; i++)
		for (size_t r = 0; r < replay.ranks[i].count; r++) {
			const struct record *read = &replay.ranks[i].records[r];

			if (read->kind == RECORD_READ && read->message >> 32 != (uint64_t)i)
				message_of(read->message)->reader = i;
		}
}

/* --- Running --- */

static uint64_t recorded_bytes(const struct message *message)
{
	switch (message->sent->what) {
	case KIND_GET: return message->is_answer ? message->sent->bytes : 0;
	case KIND_ARMW: return (message->is_answer ? 1 : 2) * sizeof(uint64_t);
	default: return message->is_answer ? 0 : message->sent->bytes;
	}
}

static void message_arrived(uint64_t number, int64_t time);

static void post_message(struct message *message, int64_t time)
{
	const struct record *sent = message->sent;
	struct net_address sender, target;

	if (sent->what == KIND_NOP) {
		message_arrived(sent->message, time);
		return;
	}
	sender = replay_address(sent->from);
	target = replay_address(sent->to);
	tnis_of(message->edge, &sender.tni, &target.tni);
	replay_net_post(replay.network,
			&(struct net_message){
				.from = message->is_answer ? target : sender,
				.to = message->is_answer ? sender : target,
				.class = message->is_answer ? NET_REPLY : NET_REQUEST,
				.bytes = (uint32_t)recorded_bytes(message),
				.time = time,
			},
			sent->message);
}

static void go_on_with(struct session *session)
{
	while (session->next < session->room && session->sent[session->next] &&
	       session->released[session->next] != NOT_YET) {
		size_t place = session->next++;

		if (session->released[place] > session->time)
			session->time = session->released[place];
		post_message(message_of(session->sent[place]->message), session->time);
	}
}

static void release_sessions(uint64_t number, int64_t time)
{
	struct record key = {.message = number};
	const struct record *wanted = &key, **found = replay.n_released
							      ? bsearch(&wanted, replay.released, replay.n_released,
									sizeof *replay.released, by_message)
							      : NULL;

	while (found && found > replay.released && found[-1]->message == number)
		found--;
	for (; found && found < replay.released + replay.n_released && (*found)->message == number; found++) {
		struct session *session = session_of((*found)->queue, (*found)->place);

		for (uint64_t i = 0; i < (*found)->steps; i++)
			session->released[(*found)->place + i] = time;
		go_on_with(session);
	}
}

static void let_go_on(int rank)
{
	if (!replay.ranks[rank].may_go_on)
		replay.runnable[replay.n_runnable++] = rank;
	replay.ranks[rank].may_go_on = true;
}

static void message_arrived(uint64_t number, int64_t time)
{
	struct message *message = message_of(number);
	bool is_put = message->sent->what != KIND_GET && message->sent->what != KIND_ARMW;

	let_go_on((int)(number >> 32));
	let_go_on(message->reader);
	if (is_put && message->is_answer) {
		message->acknowledged = time;
		return;
	}
	if (!message->is_answer && (!is_put || message->wants_answer)) {
		message->is_answer = true;
		post_message(message, time);
		if (!is_put)
			return;
	}
	message->arrived = time;
	if (replay.show_messages && message->sent->what != KIND_NOP)
		printf("%.3f us: message %llu of rank %llu, %llu bytes, has arrived\n", (double)time * 1e-6,
		       (unsigned long long)(number & UINT32_MAX), (unsigned long long)(number >> 32),
		       (unsigned long long)message->sent->bytes);
	release_sessions(number, time);
}

/* The time at which a notice that a process has read was available. */
static int64_t notice_time(const struct record *read)
{
	const struct message *message = message_of(read->message);

	return read->what == UTOFU_MRQ_TYPE_LCL_PUT && message->sent->what != KIND_NOP ? message->acknowledged
										       : message->arrived;
}

/* Repeats the actions of a rank as far as it can. */
static void go_on(struct rank *rank)
{
	for (; rank->next < rank->count; rank->next++) {
		const struct record *record = &rank->records[rank->next];

		if (record->kind == RECORD_SENT) {
			rank->clock += rank->runs_software ? replay.software : 0;
			rank->runs_software = false;
			post_message(message_of(record->message), rank->clock);
		}
		if (record->kind != RECORD_READ)
			continue;
		if (notice_time(record) == NOT_YET)
			return;
		if (notice_time(record) > rank->clock)
			rank->clock = notice_time(record);
		rank->runs_software = true;
	}
}

static void run_replay(void)
{
	unsigned steps = 0;

	replay.begun = time(NULL);
	replay.runnable = replay_memory(malloc((size_t)replay.n_ranks * sizeof *replay.runnable));
	for (int i = 0; i < replay.n_ranks; i++)
		let_go_on(i);
	do {
		while (replay.n_runnable > 0) {
			struct rank *rank = &replay.ranks[replay.runnable[--replay.n_runnable]];

			rank->may_go_on = false;
			go_on(rank);
		}
		if (++steps % 4096 == 0)
			show_progress(false);
	} while (replay_net_step(replay.network));
	show_progress(true);
	for (int i = 0; i < replay.n_ranks; i++)
		if (replay.ranks[i].next < replay.ranks[i].count)
			replay_fail(
				"rank %d waits for a message that never comes; is a record of the run missing, or %s",
				i,
				net_trouble(replay_net_state(replay.network))
					? net_trouble(replay_net_state(replay.network))
					: "were the settings different?");
}

int main(int argc, char **argv)
{
	struct replay_options options = {.choice = TNIS_AS_RECORDED};
	struct net_settings plan;
	struct settings settings;

	if (argc == 2 && !strcmp(argv[1], "--published"))
		return published_print();
	if (!replay_read_options(argc, argv, &options)) {
		replay_usage();
		return argc == 2 && !strcmp(argv[1], "--help") ? 0 : 2;
	}
	replay.show_messages = options.show_messages;
	settings_read(&settings);
	if (!settings.net)
		settings.net = "";
	read_ranks(options.folder);
	read_grid(&settings.grid);
	if (!packets_plan(&settings, &plan))
		return 1;
	replay.shape = &plan.shape;
	replay.tnis = plan.tnis;
	replay.software = (int64_t)(plan.software_time * 1000);
	for (int i = 0; i < replay.n_ranks; i++)
		replay.n_records += replay.ranks[i].count;
	for (int i = 0; i < replay.n_ranks; i++)
		for (size_t r = 0; r < replay.ranks[i].count; r++) {
			check_record(i, r);
			sort_out(&replay.ranks[i].records[r]);
		}
	note_readers();
	if (options.choice != TNIS_AS_RECORDED)
		tnis_assign(options.choice, plan.tnis);
	if (replay.n_released)
		qsort(replay.released, replay.n_released, sizeof *replay.released, by_message);
	replay.network = replay_net_open(&plan, message_arrived);
	run_replay();
	net_report(replay_net_state(replay.network), stdout);
	return 0;
}
