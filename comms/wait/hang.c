/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slow waits: publishes what this PE waits for in its system memory while the wait lasts, and
 * starts a report (after SHMEM_HANG_SECONDS, or if the launcher asks at its time limit).
 * hang_text.c has the texts. If several threads wait, the first publishes. Writers hold the lock.
 * Other PEs read without it; if a write comes in between, they find an odd version, or two
 * different ones, and read again.
 */
#include "hang.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "comms/ops/ops.h"
#include "deadlock.h"
#include "comms/core/awaited.h"
#include "rte/rte.h"
#include "rte/settings.h"
#include "wait.h"

#define REFRESH 500 /* ms */
#define ALREADY 100 /* ms after which a wait counts as slow */
#define TRIES 100
#define ADVICE 60000 /* ms after which a wait names the settings that explain it */

/* The slow wait of this thread. */
static _Thread_local struct {
	bool shown;
	bool silent; /* this thread makes reports */
	int64_t since, refreshed, due;
} slow_wait __attribute__((tls_model("initial-exec")));

static struct {
	pthread_mutex_t lock;
	bool busy;     /* a thread publishes its wait */
	int64_t limit; /* ms; 0: no reports */
	bool reporting, begun;
	enum { REPORT, REPORT_DEADLOCK, END_DEADLOCK, ADVISE } report;
	bool advised;
	int64_t longer_than;
	int writer; /* a PE where something else could end a wait, or COMMS_NOBODY */
	pthread_t reporter;
} hang = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- Shared data --- */

int64_t hang_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/*
 * Call with the lock held. The data follows the odd version, and the even version follows the data.
 */
static void publish_wait(const struct comms_waiting *w)
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

/* Returns false if a thread is writing. */
static bool copy_shown(struct comms_shown *shown, struct comms_waiting *waiting)
{
	uint32_t version = atomic_load_explicit(&shown->version, memory_order_acquire);
	uint64_t words[COMMS_SHOWN];

	for (size_t i = 0; i < COMMS_SHOWN; i++)
		words[i] = atomic_load_explicit(&shown->word[i], memory_order_relaxed);
	atomic_thread_fence(memory_order_acquire);
	memcpy(waiting, words, sizeof *waiting);
	return version % 2 == 0 && atomic_load_explicit(&shown->version, memory_order_relaxed) == version;
}

/* One get after another: each is complete when it returns. */
static bool read_by_network(int pe, struct comms_shown *shown, struct comms_waiting *waiting)
{
	struct comms_shown copy;
	uint32_t after;

	comms_get(&copy, shown, sizeof copy, pe, "SHMEM_HANG_SECONDS");
	comms_get(&after, &shown->version, sizeof after, pe, "SHMEM_HANG_SECONDS");
	return copy_shown(&copy, waiting) && atomic_load_explicit(&copy.version, memory_order_relaxed) == after;
}

static void show_wait(int64_t now)
{
	struct comms_waiting w;

	slow_wait.refreshed = now;
	hang_describe(&w);
	w.since = slow_wait.since;
	pthread_mutex_lock(&hang.lock);
	publish_wait(&w);
	pthread_mutex_unlock(&hang.lock);
}

bool hang_read(int pe, struct comms_waiting *waiting)
{
	struct comms_shown *shown = &comms.system->shown, *here;
	struct comms_peer *peer;
	bool good;

	if (pe == comms.pe) {
		pthread_mutex_lock(&hang.lock);
		good = copy_shown(shown, waiting);
		pthread_mutex_unlock(&hang.lock);
		return good;
	}
	comms_connect(pe);
	here = comms_reach(shown, sizeof *shown, pe, &peer);
	for (int i = 0; i < TRIES; i++)
		if (here ? copy_shown(here, waiting) : read_by_network(pe, shown, waiting))
			return true;
	return false;
}

/* --- Reports --- */

static void report_writer(int pe)
{
	char writer[sizeof comms.system->passive.writer];

	comms_get(writer, comms.system->passive.writer, sizeof writer, pe, "SHMEM_DEADLOCK");
	writer[sizeof writer - 1] = '\0';
	rte_report(NULL,
		   "perhaps a deadlock: all %d PEs wait as reported above, and no message is under way; PE %d found "
		   "what could still end a wait: %s; so the job goes on (SHMEM_DEADLOCK=abort ends it, ignore reports "
		   "nothing)",
		   comms.n_pes, pe, writer);
}

static void report_deadlock(bool end)
{
	hang_report(0);
	if (end)
		rte_die(NULL,
			"deadlock: all %d PEs wait as reported above, and nothing is under way; "
			"SHMEM_DEADLOCK=ignore lets them wait",
			comms.n_pes);
	if (hang.writer != COMMS_NOBODY)
		report_writer(hang.writer);
	else
		rte_report(NULL, "deadlock: all %d PEs wait as reported above, and nothing is under way", comms.n_pes);
}

/* Only one PE of the job prints this. */
static void print_advice(void)
{
	struct comms_waiting mine;

	if (hang_read(comms.pe, &mine) &&
	    comms_amo_fetch(&comms.system->advised, (struct comms_atomic){COMMS_CSWAP, 8, 1, 0}, 0,
			    "SHMEM_HANG_SECONDS") == 0)
		rte_report(NULL,
			   "has waited for %d s in %s; SHMEM_HANG_SECONDS=%d, or oshrun --timeout, reports which "
			   "PEs wait for which",
			   ADVICE / 1000, mine.routine, ADVICE / 1000);
}

static void *report_in_thread(void *unused)
{
	slow_wait.silent = true;
	if (hang.report == REPORT)
		hang_report(hang.longer_than);
	else if (hang.report == ADVISE)
		print_advice();
	else
		report_deadlock(hang.report == END_DEADLOCK);
	pthread_mutex_lock(&hang.lock);
	hang.reporting = false;
	pthread_mutex_unlock(&hang.lock);
	return unused;
}

static void start_reporter(int report, int64_t longer_than)
{
	pthread_mutex_lock(&hang.lock);
	if (!hang.reporting) {
		if (hang.begun)
			pthread_join(hang.reporter, NULL);
		hang.report = (unsigned)report;
		hang.longer_than = longer_than;
		hang.begun = hang.reporting = rte_start_thread(&hang.reporter, report_in_thread) == 0;
	}
	pthread_mutex_unlock(&hang.lock);
}

void hang_deadlock(bool end, int pe)
{
	hang.writer = pe;
	start_reporter(end ? END_DEADLOCK : REPORT_DEADLOCK, 0);
}

static bool become_shown(int64_t now)
{
	pthread_mutex_lock(&hang.lock);
	slow_wait.shown = !hang.busy;
	hang.busy = true;
	pthread_mutex_unlock(&hang.lock);
	slow_wait.since = now - ALREADY;
	slow_wait.refreshed = 0;
	slow_wait.due = hang.limit;
	if (slow_wait.shown)
		deadlock_wait_begins();
	return slow_wait.shown;
}

static enum deadlock_wait kind_of_wait(bool for_own)
{
	if (for_own || comms_awaited.pe != COMMS_NOBODY || hang_note.kind == HANG_NOTHING)
		return DEADLOCK_OWN;
	return hang_note.kind == HANG_WORD ? DEADLOCK_MEMORY : DEADLOCK_PES;
}

/* Messages of deadlock detection may themselves have to wait. */
static void search_for_deadlock(bool for_own)
{
	slow_wait.silent = true;
	deadlock_wait_goes_on(kind_of_wait(for_own));
	slow_wait.silent = false;
}

/* Reads the first PE of each node: the others usually wait for the same. */
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

	if (slow_wait.silent)
		return;
	now = hang_clock();
	if (!slow_wait.shown && !become_shown(now))
		return;
	if (now - slow_wait.refreshed >= REFRESH)
		show_wait(now);
	search_for_deadlock(for_own);
	advise_once(now - slow_wait.since);
	if (hang.limit > 0 && now - slow_wait.since >= slow_wait.due) {
		slow_wait.due *= 2;
		show_wait(now);
		start_reporter(REPORT, hang.limit);
	}
}

void comms_wait_is_over(void)
{
	const struct comms_waiting nothing = {.kind = COMMS_WAITS_NOT, .pe = COMMS_NOBODY};

	if (!slow_wait.shown || slow_wait.silent)
		return;
	slow_wait.shown = false;
	deadlock_wait_ends();
	pthread_mutex_lock(&hang.lock);
	hang.busy = false;
	publish_wait(&nothing);
	pthread_mutex_unlock(&hang.lock);
}

/* Runs in a thread of the launcher's library. */
static void launcher_asks(void)
{
	start_reporter(REPORT, 0);
}

void hang_start(void)
{
	long seconds = 0;

	setting_number(SETTING_HANG_SECONDS, &seconds);
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
