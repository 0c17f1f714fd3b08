/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SHMEM_TRACE: one file for the job in the format of Chrome's traces, which Perfetto also reads. PE
 * 0 fetches and writes the events of one PE after another, so it never holds those of all.
 *
 * While the job runs, each PE records into a mapped file, its part, which the kernel keeps however
 * the PE ends. shmem_finalize removes the parts; if the job ends otherwise, oshrun joins them into
 * one trace. Under other launchers, the first PE that a signal or an abort ends prints where the
 * parts are.
 */
#include "comms/observe/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shmem/api.h"
#include "trace_clocks.h"
#include "comms/nodes/job_torus.h"
#include "comms/observe/links.h"
#include "rte/settings.h"
#include "rte/text/plain.h"

enum { FETCHED = 256, BINS = 200 };

static struct {
	struct trace_ring *ring; /* symmetric: other PEs fetch it at the end */
	struct trace_ring *mine; /* memory to record into: the part's, or this PE's own */
	size_t bytes;		 /* of either */
	bool has_part;
	int file;					   /* on PE 0 */
	char name[TRACE_PART_NAME], part[TRACE_PART_NAME]; /* full paths */
} job_trace = {.file = -1};

/* --- The links' load over time --- */

static struct {
	int links;
	int64_t step; /* nanoseconds of a bin */
	uint64_t *bytes;
} link_loads;

static void load_start(uint64_t started)
{
	link_loads.links = comms.network ? links_known() : 0;
	link_loads.step = (int64_t)((counters_clock() - started) / BINS + 1);
	link_loads.bytes = link_loads.links ? calloc((size_t)link_loads.links * BINS, sizeof *link_loads.bytes) : NULL;
}

struct schedule {
	int64_t bin;
	uint64_t bytes;
};

static void add_to_link(int link, int direction, void *argument)
{
	const struct schedule *schedule = argument;

	(void)direction;
	link_loads.bytes[link * BINS + schedule->bin] += schedule->bytes;
}

static void load_add(const struct trace_ring *head, const struct trace_event *e)
{
	struct schedule schedule = {trace_time(head, e->begin) / link_loads.step, e->bytes};

	if (!link_loads.bytes || e->kind != TRACE_MESSAGE || e->local || schedule.bin < 0 || schedule.bin >= BINS)
		return;
	links_follow(e->away ? head->pe : e->pe, e->away ? e->pe : head->pe, add_to_link, &schedule);
}

/*
 * The torus is another process of the trace, its links are counters; rates in bytes per
 * millisecond, which is kB/s.
 */
static void load_write(struct plain_text *text)
{
	char name[LINKS_TEXT];

	for (int link = 0; link_loads.bytes && link < link_loads.links; link++) {
		uint64_t before = 0;

		links_name(link, name);
		for (int bin = 0; bin < BINS; bin++) {
			uint64_t bytes = link_loads.bytes[link * BINS + bin];

			if (bytes != before)
				plain_put(text,
					  "\n{\"ph\":\"C\",\"name\":\"link "
					  "%s\",\"cat\":\"link\",\"pid\":%d,\"ts\":%t,\"args\":{\"kB/s\":%l}},",
					  name, comms.n_pes, (int64_t)bin * link_loads.step,
					  (int64_t)(bytes * 1000000 / (uint64_t)link_loads.step));
			before = bytes;
		}
	}
	free(link_loads.bytes);
}

/* Information for torusplan view. */
static void write_torus(struct plain_text *text)
{
	const struct torus_shape *shape = &comms_ensure_torus()->sites.shape;
	char line[TORUS_TEXT];

	plain_put(text, "\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"args\":{\"name\":\"torus %s\"}},",
		  comms.n_pes, torus_shape_text(shape, line));
	plain_put(text,
		  "\n{\"ph\":\"M\",\"name\":\"torus\",\"pid\":%d,\"args\":{\"shape\":\"%s\",\"pes\":%d,\"end\":%t,"
		  "\"step\":%t,\"place\":[",
		  comms.n_pes, line, comms.n_pes, link_loads.step * BINS, link_loads.step);
	for (int pe = 0; pe < comms.n_pes; pe++)
		plain_put(text, pe ? ",%d" : "%d", torus_job_place(comms_ensure_torus(), pe));
	plain_put(text, "]}}");
}

/* --- The end --- */

/* Finds the ends of messages of this PE that only the other side knows. */
static void resolve_messages(void)
{
	bool *wanted = calloc((size_t)comms.n_pes, sizeof *wanted), done = wanted != NULL;
	struct trace_ring *theirs = malloc(job_trace.bytes);

	for (uint64_t i = trace_first(job_trace.ring); done && i < trace_recorded(job_trace.ring); i++) {
		const struct trace_event *e = &job_trace.ring->event[i % job_trace.ring->capacity];

		if (e->kind == TRACE_MESSAGE && e->away && e->detail != TRACE_SURE)
			wanted[e->pe] = true;
	}
	/* Each PE begins with itself, so that they do not all read from the same PE. */
	for (int i = 0; done && i < comms.n_pes; i++) {
		int pe = (comms.pe + i) % comms.n_pes;

		if (!wanted[pe])
			continue;
		if (theirs)
			comms_get(theirs, job_trace.ring, job_trace.bytes, pe, "shmem_finalize");
		done = theirs && trace_resolve(job_trace.ring, theirs);
	}
	if (!done)
		rte_report("shmem_finalize",
			   "no memory to find out when messages arrived; the trace lacks arrows of this PE");
	free(wanted);
	free(theirs);
}

static void write_events_of_pe(struct plain_text *text, struct trace_ring *head, int pe)
{
	struct trace_event fetched[FETCHED];
	uint64_t first, recorded;

	comms_get(head, job_trace.ring, sizeof *head, pe, "shmem_finalize");
	recorded = trace_recorded(head);
	first = trace_first(head);
	trace_write_names(text, pe);
	for (uint64_t i = first; i < recorded; i++) {
		uint64_t place = i % head->capacity, left = head->capacity - place;

		if ((i - first) % FETCHED == 0 || place == 0) {
			uint64_t n = left < FETCHED - (i - first) % FETCHED ? left : FETCHED - (i - first) % FETCHED;

			comms_get(&fetched[(i - first) % FETCHED], &job_trace.ring->event[place], n * sizeof fetched[0],
				  pe, "shmem_finalize");
		}
		trace_write_event(text, head, &fetched[(i - first) % FETCHED], (int64_t)i);
		load_add(head, &fetched[(i - first) % FETCHED]);
	}
	if (first > 0)
		rte_report("shmem_finalize",
			   "the trace lacks the first %llu events of PE %d; SHMEM_TRACE_EVENTS=%llu would hold all",
			   (unsigned long long)first, pe, (unsigned long long)recorded);
}

static void write_job_trace(void)
{
	struct plain_text text = {.file = job_trace.file};
	struct trace_ring *head = malloc(sizeof *head);

	if (!head)
		rte_die("shmem_finalize", "no memory for the head of a trace, %zu bytes", sizeof *head);
	load_start(job_trace.ring->started);
	plain_put(&text, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
	for (int pe = 0; pe < comms.n_pes; pe++)
		write_events_of_pe(&text, head, pe);
	load_write(&text);
	write_torus(&text);
	plain_put(&text, "\n]}\n");
	plain_flush(&text);
	free(head);
	if (text.failed)
		rte_report("shmem_finalize", "SHMEM_TRACE=%s: cannot write: %s", setting_text(SETTING_TRACE),
			   strerror(text.failed));
	/* Of all PEs now: if the job is killed from here on, it has its trace. */
	else
		trace_remove_parts(job_trace.name, 0);
}

/*
 * Only one PE can remove the empty file. Nothing here allocates or locks, because a signal handler
 * may call it.
 */
static void last_words(void)
{
	struct plain_text text = {.file = STDERR_FILENO};

	if (!job_trace.has_part || rte_by_oshrun() || unlink(job_trace.name))
		return;
	plain_put(&text,
		  "torushmem: PE %d: the trace of this job is in parts, %s.PE*; oshrun --join-trace %s makes one trace "
		  "of them\n",
		  comms.pe, job_trace.name, job_trace.name);
	plain_flush(&text);
}

/* --- Start and stop --- */

static void open_trace_file(void)
{
	const char *name = setting_text(SETTING_TRACE);
	char folder[TRACE_PART_NAME] = "";

	if (name[0] != '/' && !getcwd(folder, sizeof folder))
		rte_die("shmem_init", "SHMEM_TRACE=%s: the current folder is gone: %s", name, strerror(errno));
	if ((size_t)snprintf(job_trace.name, sizeof job_trace.name, "%s%s%s", folder, folder[0] ? "/" : "", name) + 16 >
	    sizeof job_trace.name)
		rte_die_together("shmem_init", "SHMEM_TRACE=%s: the name is too long", name);
	if (comms.pe != 0)
		return;
	job_trace.file = open(job_trace.name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (job_trace.file < 0)
		rte_die("shmem_init", "SHMEM_TRACE=%s: %s", name, strerror(errno));
	trace_remove_parts(job_trace.name, comms.n_pes);
	rte_notify_trace(job_trace.name);
}

/*
 * Maps the part; its blocks are allocated, so that a full disk cannot end this PE. NULL: errno says
 * why.
 */
static struct trace_ring *map_part(void)
{
	struct stat of_trace;
	void *memory = MAP_FAILED;
	int file, failed;

	errno = ENOTSUP;
	if (!stat(job_trace.name, &of_trace) && !S_ISREG(of_trace.st_mode))
		return NULL;
	trace_part_name(job_trace.part, job_trace.name, comms.pe);
	file = open(job_trace.part, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (file < 0)
		return NULL;
	failed = posix_fallocate(file, 0, (off_t)job_trace.bytes);
	if (!failed) {
		memory = mmap(NULL, job_trace.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
		failed = memory == MAP_FAILED ? errno : 0;
	}
	close(file);
	if (!failed)
		return memory;
	unlink(job_trace.part);
	errno = failed;
	return NULL;
}

static void allocate_memory(uint64_t events)
{
	job_trace.bytes = trace_ring_bytes(events);
	job_trace.ring = api_allocate(job_trace.bytes, "shmem_init");
	if (!job_trace.ring)
		rte_die_together(
			"shmem_init",
			"no room for %llu events of the trace in the symmetric heap; set SHMEM_SYMMETRIC_SIZE or "
			"SHMEM_TRACE_EVENTS",
			(unsigned long long)events);
	job_trace.mine = map_part();
	job_trace.has_part = job_trace.mine != NULL;
	if (job_trace.has_part)
		return;
	if (comms.pe == 0 && errno != ENOTSUP)
		rte_report("shmem_init",
			   "SHMEM_TRACE: %s: %s; there will be no trace if the job does not reach shmem_finalize",
			   job_trace.part, strerror(errno));
	job_trace.mine = malloc(job_trace.bytes);
	if (!job_trace.mine)
		rte_die("shmem_init", "no memory for %llu events of the trace; set SHMEM_TRACE_EVENTS",
			(unsigned long long)events);
}

void api_trace_start(void)
{
	uint64_t events = trace_events(), clock = trace_clock_number();

	if (!comms.traced)
		return;
	open_trace_file();
	allocate_memory(events);
	memset(job_trace.ring, 0, job_trace.bytes);
	job_trace.ring->clock = clock;
	trace_use(job_trace.mine, events);
	job_trace.ring->started = job_trace.ring->zero = job_trace.mine->started;
	api_barrier_all("shmem_init");
	trace_compare_clocks(job_trace.ring, false);
	job_trace.mine->ahead = job_trace.ring->ahead;
	job_trace.mine->error = job_trace.ring->error;
	job_trace.mine->zero = job_trace.ring->zero;
	job_trace.mine->clock = clock;
	rte.last_words = last_words;
}

static void release_memory(void)
{
	rte.last_words = NULL;
	if (job_trace.has_part) {
		unlink(job_trace.part);
		munmap(job_trace.mine, job_trace.bytes);
	} else {
		free(job_trace.mine);
	}
	if (job_trace.file >= 0)
		close(job_trace.file);
	job_trace.file = -1;
	job_trace.mine = job_trace.ring = NULL;
	job_trace.has_part = false;
}

/*
 * Copies the recording to memory that other PEs read. The counts of ask and answer continue from
 * the start.
 */
static void publish_recording(void)
{
	uint64_t asked = atomic_load_explicit(&job_trace.ring->ask, memory_order_relaxed);
	uint64_t answered = atomic_load_explicit(&job_trace.ring->answer, memory_order_relaxed);

	memcpy(job_trace.ring, job_trace.mine, job_trace.bytes);
	atomic_store_explicit(&job_trace.ring->ask, asked, memory_order_relaxed);
	atomic_store_explicit(&job_trace.ring->answer, answered, memory_order_relaxed);
	job_trace.ring->unfinished = 0;
}

void api_trace_stop(void)
{
	if (!comms.traced)
		return;
	trace_use(NULL, 0);
	publish_recording();
	api_barrier_all("shmem_finalize");
	trace_compare_clocks(job_trace.ring, true);
	resolve_messages();
	api_barrier_all("shmem_finalize");
	if (comms.pe == 0)
		write_job_trace();
	api_barrier_all("shmem_finalize");
	release_memory();
}
