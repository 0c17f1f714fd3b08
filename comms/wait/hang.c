/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slow waits: what this PE waits for, kept up to date in its system memory while the wait lasts, and the call for a report
 * (SHMEM_HANG_SECONDS, or the launcher's question when time is up).
 *
 * Of several threads that wait, the first is the one that is shown. Writers hold the lock; PEs that read from outside find an odd
 * version, or two different ones, if they come in between, and look again.
 */
#include "hang.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "comms/ops/ops.h"
#include "comms/topology/group.h"
#include "deadlock.h"
#include "comms/core/near.h"
#include "comms/net/network.h"
#include "comms/ops/reorder.h"
#include "rte/rte.h"
#include "rte/settings.h"
#include "wait.h"

#define REFRESH 500 /* ms */
#define ALREADY 100 /* ms that a wait has lasted when it counts as slow */
#define TRIES 100
#define ADVICE 60000 /* ms after which a wait says what tells more */

_Thread_local struct hang_note hang_note;

/* The slow wait of this thread. */
static _Thread_local struct {
	bool shown;
	bool silent; /* this thread makes reports */
	int64_t since, refreshed, due;
} slow __attribute__((tls_model("initial-exec")));

static struct {
	pthread_mutex_t lock;
	bool busy; /* some thread is shown */
	int64_t limit; /* ms; 0: no reports */
	bool reporting, begun;
	enum { REPORT, REPORT_DEADLOCK, END_DEADLOCK, ADVISE } purpose;
	bool advised;
	int64_t longer_than;
	pthread_t reporter;
} hang = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- Notes --- */

void hang_note_word(const char *routine, const void *word, size_t size, bool is_signed, const char *compare, uint64_t wanted)
{
	hang_note.kind = HANG_WORD;
	hang_note.routine = routine;
	hang_note.word = word;
	hang_note.size = size;
	hang_note.is_signed = is_signed;
	hang_note.text = compare;
	hang_note.wanted = wanted;
}

void hang_note_lock(const char *routine, const long *lock, int before)
{
	hang_note.kind = HANG_LOCK;
	hang_note.routine = routine;
	hang_note.word = lock;
	hang_note.pe = before;
}

void hang_note_peer(const char *routine, const char *what, int pe)
{
	hang_note.kind = HANG_PEER;
	hang_note.routine = routine;
	hang_note.text = what;
	hang_note.pe = pe;
}

/* --- In words --- */

static const char *place_of(const void *address, char place[64])
{
	enum comms_segment_id segment = comms_find_segment(address);
	uintptr_t offset = segment < COMMS_SEGMENTS ? (uintptr_t)((const char *)address - comms.segments[segment].base) : 0;

	if (segment == COMMS_HEAP)
		snprintf(place, 64, "heap + 0x%" PRIxPTR, offset - COMMS_SYSTEM_BYTES);
	else if (segment == COMMS_GLOBALS)
		snprintf(place, 64, "global data + 0x%" PRIxPTR, offset);
	else
		snprintf(place, 64, "0x%" PRIxPTR, (uintptr_t)address);
	return place;
}

static void print_value(char text[32], uint64_t value)
{
	int unused = 64 - 8 * (int)hang_note.size;

	if (hang_note.is_signed)
		snprintf(text, 32, "%" PRId64, (int64_t)(value << unused) >> unused);
	else
		snprintf(text, 32, "%" PRIu64, value << unused >> unused);
}

static uint64_t value_now(void)
{
	switch (hang_note.size) {
	case 2: return __atomic_load_n((const uint16_t *)hang_note.word, __ATOMIC_RELAXED);
	case 4: return __atomic_load_n((const uint32_t *)hang_note.word, __ATOMIC_RELAXED);
	default: return __atomic_load_n((const uint64_t *)hang_note.word, __ATOMIC_RELAXED);
	}
}

/* A profiling twin's name is the user's name with a p in front. */
static void name_routine(struct comms_waiting *w, const char *routine)
{
	if (!routine)
		routine = "a call";
	snprintf(w->routine, sizeof w->routine, "%s", strncmp(routine, "pshmem_", 7) ? routine : routine + 1);
}

static void describe_word(struct comms_waiting *w)
{
	char place[64], seen[32], wanted[32];
	int length, from;

	if (hang_note.size == 0) {
		snprintf(w->text, sizeof w->text, "waiting for any of the words at %s", place_of(hang_note.word, place));
		return;
	}
	print_value(seen, value_now());
	print_value(wanted, hang_note.wanted);
	length = snprintf(w->text, sizeof w->text, "waiting for the word at %s, which is %s, to be %s %s", place_of(hang_note.word, place),
			  seen, hang_note.text, wanted);
	if (reorder_overtook(hang_note.word, hang_note.size, &from) && length < (int)sizeof w->text)
		snprintf(w->text + length, sizeof w->text - (size_t)length,
			 " (puts of PE %d to it overtook each other: no fence between them)", from);
}

static void describe_group(struct comms_waiting *w)
{
	const struct comms_group *group = hang_note.group;

	w->kind = COMMS_WAITS_FOR_GROUP;
	w->slot = group->slot;
	w->size = group->size;
	w->start = group->start;
	w->stride = group->stride;
	w->listed = group->members != NULL;
	for (int i = 0; w->listed && i < group->size && i < COMMS_LISTED; i++)
		w->members[i] = group->members[i];
}

static void describe_answer(struct comms_waiting *w)
{
	char others[80];

	w->kind = COMMS_WAITS_FOR_PE;
	w->pe = hang_answer.pe;
	name_routine(w, hang_answer.routine);
	others[0] = '\0';
	if (comms.network)
		comms.network->name_under_way(others, sizeof others);
	snprintf(w->text, sizeof w->text, "waiting for an answer of PE %d%s", hang_answer.pe, others);
}

static void describe(struct comms_waiting *w)
{
	char place[64];

	memset(w, 0, sizeof *w);
	w->kind = COMMS_WAITS;
	w->pe = COMMS_NOBODY;
	name_routine(w, hang_note.routine);
	if (hang_answer.pe != COMMS_NOBODY) {
		describe_answer(w);
	} else if (hang_note.kind == HANG_GROUP) {
		describe_group(w);
	} else if (hang_note.kind == HANG_WORD) {
		describe_word(w);
	} else if (hang_note.kind == HANG_LOCK) {
		w->kind = COMMS_WAITS_FOR_LOCK;
		w->pe = hang_note.pe;
		snprintf(w->text, sizeof w->text, "waiting for the lock at %s", place_of(hang_note.word, place));
	} else if (hang_note.kind == HANG_PEER && hang_note.pe == COMMS_NOBODY) {
		snprintf(w->text, sizeof w->text, "waiting for %s", hang_note.text);
	} else if (hang_note.kind == HANG_PEER) {
		w->kind = COMMS_WAITS_FOR_PE;
		w->pe = hang_note.pe;
		snprintf(w->text, sizeof w->text, "waiting for %s PE %d", hang_note.text, hang_note.pe);
	}
}

/* --- Where others see it --- */

int64_t hang_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* With the lock held. The words follow the odd version, and the even one follows them. */
static void publish(const struct comms_waiting *w)
{
	struct comms_shown *shown = &comms.system->shown;
	uint32_t version = atomic_load_explicit(&shown->version, memory_order_relaxed);
	uint64_t words[COMMS_SHOWN];

	memcpy(words, w, sizeof *w);
	atomic_store_explicit(&shown->version, version + 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	for (size_t i = 0; i < COMMS_SHOWN; i++)
		atomic_store_explicit(&shown->word[i], words[i], memory_order_relaxed);
	atomic_store_explicit(&shown->version, version + 2, memory_order_release);
}

/* False: somebody writes it. */
static bool read_here(struct comms_shown *shown, struct comms_waiting *waiting)
{
	uint32_t version = atomic_load_explicit(&shown->version, memory_order_acquire);
	uint64_t words[COMMS_SHOWN];

	for (size_t i = 0; i < COMMS_SHOWN; i++)
		words[i] = atomic_load_explicit(&shown->word[i], memory_order_relaxed);
	atomic_thread_fence(memory_order_acquire);
	memcpy(waiting, words, sizeof *waiting);
	return version % 2 == 0 && atomic_load_explicit(&shown->version, memory_order_relaxed) == version;
}

/* One get after the other: each is complete when it returns. */
static bool read_by_network(int pe, struct comms_shown *shown, struct comms_waiting *waiting)
{
	struct comms_shown copy;
	uint32_t after;

	comms_get(&copy, shown, sizeof copy, pe, "SHMEM_HANG_SECONDS");
	comms_get(&after, &shown->version, sizeof after, pe, "SHMEM_HANG_SECONDS");
	return read_here(&copy, waiting) && atomic_load_explicit(&copy.version, memory_order_relaxed) == after;
}

static void show(int64_t now)
{
	struct comms_waiting w;

	slow.refreshed = now;
	describe(&w);
	w.since = slow.since;
	pthread_mutex_lock(&hang.lock);
	publish(&w);
	pthread_mutex_unlock(&hang.lock);
}

bool hang_read(int pe, struct comms_waiting *waiting)
{
	struct comms_shown *shown = &comms.system->shown, *here;
	struct comms_peer *peer;
	bool good;

	if (pe == comms.pe) {
		pthread_mutex_lock(&hang.lock);
		good = read_here(shown, waiting);
		pthread_mutex_unlock(&hang.lock);
		return good;
	}
	comms_connect(pe);
	here = comms_reach(shown, sizeof *shown, pe, &peer);
	for (int i = 0; i < TRIES; i++)
		if (here ? read_here(here, waiting) : read_by_network(pe, shown, waiting))
			return true;
	return false;
}

/* --- Reports --- */

static void report_deadlock(bool end)
{
	hang_report(0);
	if (end)
		rte_die(NULL, "deadlock: all %d PEs wait as reported above, and nothing is under way; SHMEM_DEADLOCK=ignore lets them wait",
			comms.n_pes);
	rte_report(NULL, "deadlock: all %d PEs wait as reported above, and nothing is under way", comms.n_pes);
}

/* One PE of the job does. */
static void advise(void)
{
	struct comms_waiting mine;

	if (hang_read(comms.pe, &mine) && comms_amo_fetch(&comms.system->advised, (struct comms_atomic){COMMS_CSWAP, 8, 1, 0}, 0, "SHMEM_HANG_SECONDS") == 0)
		rte_report(NULL, "has waited for %d s in %s; SHMEM_HANG_SECONDS=%d, or oshrun --timeout, tells who waits for whom",
			   ADVICE / 1000, mine.routine, ADVICE / 1000);
}

static void *report(void *unused)
{
	slow.silent = true;
	if (hang.purpose == REPORT)
		hang_report(hang.longer_than);
	else if (hang.purpose == ADVISE)
		advise();
	else
		report_deadlock(hang.purpose == END_DEADLOCK);
	pthread_mutex_lock(&hang.lock);
	hang.reporting = false;
	pthread_mutex_unlock(&hang.lock);
	return unused;
}

static void start_reporter(int purpose, int64_t longer_than)
{
	pthread_mutex_lock(&hang.lock);
	if (!hang.reporting) {
		if (hang.begun)
			pthread_join(hang.reporter, NULL);
		hang.purpose = (unsigned)purpose;
		hang.longer_than = longer_than;
		hang.begun = hang.reporting = pthread_create(&hang.reporter, NULL, report, NULL) == 0;
	}
	pthread_mutex_unlock(&hang.lock);
}

void hang_deadlock(bool end)
{
	start_reporter(end ? END_DEADLOCK : REPORT_DEADLOCK, 0);
}

static bool become_shown(int64_t now)
{
	pthread_mutex_lock(&hang.lock);
	slow.shown = !hang.busy;
	hang.busy = true;
	pthread_mutex_unlock(&hang.lock);
	slow.since = now - ALREADY;
	slow.refreshed = 0;
	slow.due = hang.limit;
	if (slow.shown)
		deadlock_wait_begins();
	return slow.shown;
}

static enum deadlock_wait kind_of_wait(bool for_own)
{
	if (for_own || hang_answer.pe != COMMS_NOBODY || hang_note.kind == HANG_NOTHING)
		return DEADLOCK_OWN;
	return hang_note.kind == HANG_WORD ? DEADLOCK_MEMORY : DEADLOCK_PES;
}

/* Messages of the search may themselves have to wait. */
static void look_for_deadlock(bool for_own)
{
	slow.silent = true;
	deadlock_wait_goes_on(kind_of_wait(for_own));
	slow.silent = false;
}

/* The first PE of each node: others wait for the same, as a rule. */
static void advise_once(int64_t waited)
{
	if (hang.advised || hang.limit > 0 || waited < ADVICE || comms.pe != comms.node_pes[0])
		return;
	hang.advised = true;
	start_reporter(ADVISE, 0);
}

void comms_wait_is_slow(bool for_own)
{
	int64_t now;

	if (slow.silent)
		return;
	now = hang_clock();
	if (!slow.shown && !become_shown(now))
		return;
	if (now - slow.refreshed >= REFRESH)
		show(now);
	look_for_deadlock(for_own);
	advise_once(now - slow.since);
	if (hang.limit > 0 && now - slow.since >= slow.due) {
		slow.due *= 2;
		show(now);
		start_reporter(REPORT, hang.limit);
	}
}

void comms_wait_is_over(void)
{
	const struct comms_waiting nothing = {.kind = COMMS_WAITS_NOT, .pe = COMMS_NOBODY};

	if (!slow.shown || slow.silent)
		return;
	slow.shown = false;
	deadlock_wait_ends();
	pthread_mutex_lock(&hang.lock);
	hang.busy = false;
	publish(&nothing);
	pthread_mutex_unlock(&hang.lock);
}

/* In a thread of the launcher's library. */
static void launcher_asks(void)
{
	start_reporter(REPORT, 0);
}

void hang_start(void)
{
	long seconds;

	if (!setting_number(SETTING_HANG_SECONDS, &seconds) || seconds > 10000000)
		rte_die_together("shmem_init", "SHMEM_HANG_SECONDS=%s: give a number of seconds, or 0 for no report",
				 setting_text(SETTING_HANG_SECONDS));
	hang.limit = seconds * 1000;
	rte_when_asked(launcher_asks);
}

void hang_stop(void)
{
	bool begun;

	rte_when_asked(NULL);
	pthread_mutex_lock(&hang.lock);
	begun = hang.begun;
	hang.begun = false;
	pthread_mutex_unlock(&hang.lock);
	if (begun)
		pthread_join(hang.reporter, NULL);
}
