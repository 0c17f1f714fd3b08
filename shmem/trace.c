/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SHMEM_TRACE: one file for the job in the format of Chrome's traces, which Perfetto reads, too. PE 0 fetches the events of one PE
 * after the other and writes them; so it never has those of all.
 *
 * Clocks: PEs that share memory share a clock. PE 0 compares its own with that of every other PE at the start and at the end, by
 * the quickest of some questions and answers, and takes what lies between to be a straight line.
 *
 * A PE that ends otherwise writes what it has itself, into a file of its own beside the other (last_words): with nothing but
 * write, for that may be in the handler of a signal.
 */
#include "comms/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api.h"
#include "comms/job.h"
#include "comms/links.h"
#include "comms/wait.h"
#include "rte/settings.h"
#include "rte/plain.h"

enum { QUESTIONS = 16, FETCHED = 256, BINS = 200 };

static struct trace_ring *ring; /* symmetric */
static int file = -1;	       /* PE 0's */
static char own_file[4096];    /* of a PE that ends otherwise */

/* --- Clocks --- */

static bool shares_clock(int pe)
{
	struct comms_peer *peer;

	comms_meet(pe);
	return comms_reach(ring, 1, pe, &peer) != NULL;
}

/* PE 0 asks, the other answers; by how much its clock is ahead of PE 0's. */
static int64_t compare_clock(int pe)
{
	uint64_t quickest = UINT64_MAX;
	int64_t ahead = 0;

	for (int i = 0; i < QUESTIONS; i++) {
		uint64_t asked = watch_clock(), answered,
			 number = atomic_load_explicit(&ring->answer, memory_order_relaxed) + 1;

		comms_tell(NULL, NULL, 0, &ring->ask, number, pe, "shmem_finalize");
		COMMS_WAIT(&ring->answer, atomic_load_explicit(&ring->answer, memory_order_acquire) >= number);
		answered = watch_clock();
		if (answered - asked < quickest) {
			quickest = answered - asked;
			ahead = (int64_t)(ring->clock - (asked + quickest / 2));
		}
	}
	return ahead;
}

static void answer_clock(void)
{
	static uint64_t heard;

	for (int i = 0; i < QUESTIONS; i++) {
		uint64_t now;

		COMMS_WAIT(&ring->ask, atomic_load_explicit(&ring->ask, memory_order_acquire) > heard);
		heard = atomic_load_explicit(&ring->ask, memory_order_relaxed);
		now = watch_clock();
		comms_tell(&ring->clock, &now, sizeof now, &ring->answer, heard, 0, "shmem_finalize");
	}
}

/* --- Writing --- */

/* How to say when something was by this PE's clock, in PE 0's time since its start. */
struct clock {
	int64_t ahead;
	double drift;
	uint64_t started, zero;
};

static int64_t time_of(const struct clock *clock, uint64_t when)
{
	int64_t since = (int64_t)(when - clock->started);

	return (int64_t)(when - clock->zero) - clock->ahead - (int64_t)(clock->drift * (double)since);
}

static void write_names(struct plain_text *text, int pe)
{
	static const char *const threads[] = {"calls", "memory"};

	plain_put(text, "\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"args\":{\"name\":\"PE %d\"}},", pe, pe);
	plain_put(text, "\n{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":%d,\"args\":{\"sort_index\":%d}},", pe, pe);
	for (int t = 0; t < 2; t++)
		plain_put(text, "\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":\"%s\"}},", pe, t + 1,
			  threads[t]);
}

static void write_call(struct plain_text *text, int pe, const struct clock *clock, const struct trace_event *e)
{
	const char *name = trace_name(e->name);
	int64_t begin = time_of(clock, e->begin);

	if (!strncmp(name, "pshmem_", 7))
		name++;
	plain_put(text, "\n{\"ph\":\"X\",\"name\":\"%s\",\"cat\":\"%s\",\"pid\":%d,\"tid\":1,\"ts\":%t,\"dur\":%t,\"args\":{\"bytes\":%l", name,
		  watch_row_name(e->family), pe, begin, time_of(clock, e->end) - begin, (int64_t)e->bytes);
	if (e->pe >= 0)
		plain_put(text, ",\"pe\":%d", e->pe);
	plain_put(text, "}},");
}

/*
 * From the one's track to the other's: on the side of this PE the arrow hangs on the call, on the other's on a short mark in
 * the track of its memory. What has not arrived has no arrow.
 */
static void write_message(struct plain_text *text, int pe, const struct clock *clock, const struct trace_event *e, int64_t number)
{
	bool there = e->way == WATCH_THERE;
	int64_t left = time_of(clock, e->begin), arrived = time_of(clock, e->end), mark = there ? arrived : left;

	plain_put(text, "\n{\"ph\":\"X\",\"name\":\"%s PE %d\",\"cat\":\"%s\",\"pid\":%d,\"tid\":2,\"ts\":%t,\"dur\":0.1,\"args\":{\"bytes\":%l}},",
		  there ? "from" : "read by", pe, e->local ? "local" : "network", e->pe, mark, (int64_t)e->bytes);
	plain_put(text, "\n{\"ph\":\"s\",\"name\":\"message\",\"cat\":\"message\",\"id\":\"%d.%l\",\"pid\":%d,\"tid\":%d,\"ts\":%t},", pe, number,
		  there ? pe : e->pe, there ? 1 : 2, left);
	plain_put(text,
		  "\n{\"ph\":\"f\",\"bp\":\"e\",\"name\":\"message\",\"cat\":\"message\",\"id\":\"%d.%l\",\"pid\":%d,\"tid\":%d,\"ts\":%t},", pe,
		  number, there ? e->pe : pe, there ? 2 : 1, there ? arrived : arrived - 1);
}

static void write_event(struct plain_text *text, int pe, const struct clock *clock, const struct trace_event *e, int64_t number)
{
	if (e->kind == TRACE_CALL)
		write_call(text, pe, clock, e);
	else if (e->kind == TRACE_MESSAGE && e->end)
		write_message(text, pe, clock, e, number);
}

/* --- The links' load over time --- */

static struct {
	int links;
	int64_t step; /* nanoseconds of a bin */
	uint64_t *bytes;
} load;

static void load_start(uint64_t started)
{
	load.links = comms.network ? links_known() : 0;
	load.step = (int64_t)((watch_clock() - started) / BINS + 1);
	load.bytes = load.links ? calloc((size_t)load.links * BINS, sizeof *load.bytes) : NULL;
}

struct passing {
	int64_t bin;
	uint64_t bytes;
};

static void pass(int link, int way, void *argument)
{
	const struct passing *passing = argument;

	(void)way;
	load.bytes[link * BINS + passing->bin] += passing->bytes;
}

static void load_add(int pe, const struct clock *clock, const struct trace_event *e)
{
	struct passing passing = {time_of(clock, e->begin) / load.step, e->bytes};
	bool there = e->way == WATCH_THERE;

	if (!load.bytes || e->kind != TRACE_MESSAGE || e->local || passing.bin < 0 || passing.bin >= BINS)
		return;
	links_follow(there ? pe : e->pe, there ? e->pe : pe, pass, &passing);
}

/* The torus is one more process, its links are counters; rates in bytes per millisecond, which is kB/s. */
static void load_write(struct plain_text *text)
{
	char name[LINKS_TEXT];

	for (int link = 0; load.bytes && link < load.links; link++) {
		uint64_t before = 0;

		links_name(link, name);
		for (int bin = 0; bin < BINS; bin++) {
			uint64_t bytes = load.bytes[link * BINS + bin];

			if (bytes != before)
				plain_put(text,
					  "\n{\"ph\":\"C\",\"name\":\"link %s\",\"cat\":\"link\",\"pid\":%d,\"ts\":%t,\"args\":{\"kB/s\":%l}},",
					  name, comms.n_pes, (int64_t)bin * load.step,
					  (int64_t)(bytes * 1000000 / (uint64_t)load.step));
			before = bytes;
		}
	}
	free(load.bytes);
}

/* What torusplan watch needs to draw it. */
static void write_torus(struct plain_text *text)
{
	const struct torus_shape *shape = &comms_torus()->sites.shape;
	char line[TORUS_TEXT];

	plain_put(text, "\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"args\":{\"name\":\"torus %s\"}},", comms.n_pes,
		  torus_shape_text(shape, line));
	plain_put(text, "\n{\"ph\":\"M\",\"name\":\"torus\",\"pid\":%d,\"args\":{\"shape\":\"%s\",\"pes\":%d,\"end\":%t,\"step\":%t,\"place\":[",
		  comms.n_pes, line, comms.n_pes, load.step * BINS, load.step);
	for (int pe = 0; pe < comms.n_pes; pe++)
		plain_put(text, pe ? ",%d" : "%d", torus_job_place(comms_torus(), pe));
	plain_put(text, "]}}");
}

/* --- The end --- */

static void write_pe(struct plain_text *text, int pe, int64_t ahead_now)
{
	struct trace_event fetched[FETCHED];
	struct trace_ring head;
	struct clock clock;
	uint64_t first;

	comms_get(&head, ring, sizeof head, pe, "shmem_finalize");
	clock = (struct clock){head.ahead, 0, head.started, ring->started};
	if (watch_clock() > ring->started)
		clock.drift = (double)(ahead_now - head.ahead) / (double)(watch_clock() - ring->started);
	first = head.recorded > head.capacity ? head.recorded - head.capacity : 0;
	write_names(text, pe);
	for (uint64_t i = first; i < head.recorded; i++) {
		uint64_t place = i % head.capacity, left = head.capacity - place;

		if ((i - first) % FETCHED == 0 || place == 0) {
			uint64_t n = left < FETCHED - (i - first) % FETCHED ? left : FETCHED - (i - first) % FETCHED;

			comms_get(&fetched[(i - first) % FETCHED], &ring->event[place], n * sizeof fetched[0], pe, "shmem_finalize");
		}
		write_event(text, pe, &clock, &fetched[(i - first) % FETCHED], (int64_t)i);
		load_add(pe, &clock, &fetched[(i - first) % FETCHED]);
	}
	if (first > 0)
		rte_report("shmem_finalize", "the trace lacks the first %llu events of PE %d; SHMEM_TRACE_EVENTS=%llu would hold all",
			   (unsigned long long)first, pe, (unsigned long long)head.recorded);
}

static void write_all(void)
{
	struct plain_text text = {.file = file};

	load_start(ring->started);
	plain_put(&text, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
	for (int pe = 0; pe < comms.n_pes; pe++)
		write_pe(&text, pe, pe == 0 || shares_clock(pe) ? 0 : compare_clock(pe));
	load_write(&text);
	write_torus(&text);
	plain_put(&text, "\n]}\n");
	plain_flush(&text);
	if (text.failed)
		rte_report("shmem_finalize", "SHMEM_TRACE=%s: cannot write: %s", setting_text(SETTING_TRACE), strerror(text.failed));
}

/* Of this PE alone, in its own time. Nothing here allocates or locks. */
static void last_words(void)
{
	struct plain_text text = {0};
	struct clock clock;
	struct trace_ring *mine = ring;

	ring = NULL;
	if (!mine || (text.file = open(own_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) < 0)
		return;
	clock = (struct clock){mine->ahead, 0, mine->started, mine->started - (uint64_t)mine->ahead};
	plain_put(&text, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
	write_names(&text, comms.pe);
	for (uint64_t i = mine->recorded > mine->capacity ? mine->recorded - mine->capacity : 0; i < mine->recorded; i++)
		write_event(&text, comms.pe, &clock, &mine->event[i % mine->capacity], (int64_t)i);
	plain_put(&text, "\n{\"ph\":\"M\",\"name\":\"ended\",\"pid\":%d,\"args\":{\"name\":\"ended before shmem_finalize\"}}\n]}\n", comms.pe);
	plain_flush(&text);
	close(text.file);
}

/* --- Start and stop --- */

static void open_file(void)
{
	const char *name = setting_text(SETTING_TRACE);

	file = comms.pe == 0 ? open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
	if (comms.pe == 0 && file < 0)
		rte_die("shmem_init", "SHMEM_TRACE=%s: %s", name, strerror(errno));
	snprintf(own_file, sizeof own_file, "%s.PE%d", name, comms.pe);
}

void api_trace_start(void)
{
	uint64_t events = trace_events();

	if (!comms.traced)
		return;
	open_file();
	ring = api_allocate(sizeof *ring + events * sizeof ring->event[0], "shmem_init");
	if (!ring)
		rte_die_together("shmem_init", "no room for %llu events of the trace in the symmetric heap; set SHMEM_SYMMETRIC_SIZE or "
					       "SHMEM_TRACE_EVENTS", (unsigned long long)events);
	trace_use(ring, events);
	api_barrier_all("shmem_init");
	for (int pe = 1; comms.pe == 0 && pe < comms.n_pes; pe++) {
		int64_t ahead = shares_clock(pe) ? 0 : compare_clock(pe);

		comms_put(&ring->ahead, &ahead, sizeof ahead, pe, "shmem_init");
	}
	if (comms.pe != 0 && !shares_clock(0))
		answer_clock();
	api_barrier_all("shmem_init");
	rte.last_words = last_words;
}

void api_trace_stop(void)
{
	if (!comms.traced)
		return;
	trace_use(NULL, 0);
	rte.last_words = NULL;
	api_barrier_all("shmem_finalize");
	if (comms.pe == 0)
		write_all();
	else if (!shares_clock(0))
		answer_clock();
	api_barrier_all("shmem_finalize");
	if (file >= 0)
		close(file);
	file = -1;
	ring = NULL;
}
