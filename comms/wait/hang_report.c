/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report of a hang: reads what all PEs wait for from their system memory, without their help,
 * and prints equal lines once. The PEs missing in a collective are those that do not wait in it.
 * The PE that holds a lock is at the head of its queue. A PE that waits for nothing is in the
 * program's own code.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comms/ops/ops.h"
#include "hang.h"
#include "comms/core/network.h"
#include "rte/rte.h"
#include "rte/settings.h"

#define MOST_PES 256 /* to read from: each needs a connection */
#define LINE 512

struct seen {
	int pe;
	struct comms_waiting waiting;
	int64_t lasted;	 /* ms: its wait, or that of a PE that waits for it */
	bool missed;	 /* other PEs wait for it */
	char line[LINE]; /* its description */
	bool printed;
};

struct report {
	struct seen *seen;
	int count;
};

/* One report per job: the time of the last is on PE 0. */
static bool is_reporter(int64_t longer_than)
{
	int64_t now = hang_clock();
	uint64_t last = comms_amo_fetch(&comms.system->last_report, (struct comms_atomic){COMMS_FETCH, 8, 0, 0}, 0,
					"SHMEM_HANG_SECONDS");

	if (longer_than > 0 && now - (int64_t)last < longer_than)
		return false;
	return comms_amo_fetch(&comms.system->last_report, (struct comms_atomic){COMMS_CSWAP, 8, (uint64_t)now, last},
			       0, "SHMEM_HANG_SECONDS") == last;
}

/*
 * Without a serving thread, a PE of another node that does not call the library would not answer.
 */
static bool can_be_read(int pe)
{
	if (!comms_can_connect(pe))
		return false;
	return !comms.network || comms.network->served() ||
	       bsearch(&pe, comms.node_pes, (size_t)comms.n_node, sizeof pe, comms_compare_ints);
}

static bool collect_waits(struct report *report)
{
	int most = comms.n_pes < MOST_PES ? comms.n_pes : MOST_PES, first = comms.pe - most / 2;

	report->count = 0;
	report->seen = calloc((size_t)most, sizeof *report->seen);
	if (!report->seen)
		return false;
	first = first < 0 ? 0 : first > comms.n_pes - most ? comms.n_pes - most : first;
	for (int pe = first; pe < first + most; pe++) {
		struct seen *s = &report->seen[report->count];

		s->pe = pe;
		report->count += can_be_read(pe) && hang_read(pe, &s->waiting);
	}
	return true;
}

static struct seen *find_seen(const struct report *report, int pe)
{
	for (int i = 0; i < report->count; i++)
		if (report->seen[i].pe == pe)
			return &report->seen[i];
	return NULL;
}

static int listed_member(const struct comms_waiting *w, int i)
{
	if (!w->listed)
		return w->start + i * w->stride;
	return i < COMMS_LISTED ? w->members[i] : COMMS_NOBODY;
}

static bool same_collective(const struct comms_waiting *a, const struct comms_waiting *b)
{
	return b->kind == COMMS_WAITS_FOR_GROUP && a->slot == b->slot && !strcmp(a->routine, b->routine);
}

/* Writes "0-2,4". */
static void add_number(char *text, size_t size, int *first, int *last, int next)
{
	size_t used = strlen(text);

	if (*first >= 0 && next == *last + 1) {
		*last = next;
		return;
	}
	if (*first >= 0 && *last > *first)
		snprintf(text + used, size - used, "%d-%d", *first, *last);
	else if (*first >= 0)
		snprintf(text + used, size - used, "%d", *first);
	used = strlen(text);
	if (*first >= 0 && next >= 0)
		snprintf(text + used, size - used, ",");
	*first = *last = next;
}

static void note_missed(struct seen *missed, const struct seen *by)
{
	missed->missed = true;
	if (missed->waiting.kind == COMMS_WAITS_NOT && missed->lasted < by->lasted)
		missed->lasted = by->lasted;
}

static void add_missing(const struct report *report, const struct seen *s)
{
	char list[LINE / 2] = "";
	int first = -1, last = -1;
	bool other = false;

	for (int i = 0; i < s->waiting.size; i++) {
		struct seen *m = find_seen(report, listed_member(&s->waiting, i));

		if (!m || same_collective(&s->waiting, &m->waiting))
			continue;
		other |= m->waiting.kind == COMMS_WAITS_FOR_GROUP && m->waiting.slot == s->waiting.slot;
		note_missed(m, s);
		add_number(list, sizeof list, &first, &last, m->pe);
	}
	add_number(list, sizeof list, &first, &last, -1);
	if (list[0])
		snprintf((char *)s->line + strlen(s->line), LINE - strlen(s->line), ", waiting for PE%s %s%s",
			 strpbrk(list, "-,") ? "s" : "", list,
			 other ? " (in another collective of the same team: all PEs must make the same calls in "
				 "the same order)"
			       : "");
}

/* Follows the queue to the PE that holds the lock. */
static void add_holder(const struct report *report, struct seen *s)
{
	struct seen *at = find_seen(report, s->waiting.pe);
	int holder = s->waiting.pe;

	for (int i = 0; at && i < report->count; i++) {
		holder = at->pe;
		if (at->waiting.kind != COMMS_WAITS_FOR_LOCK || strcmp(at->waiting.text, s->waiting.text))
			break;
		at = find_seen(report, at->waiting.pe);
		holder = at ? at->pe : holder;
	}
	if (at)
		note_missed(at, s);
	snprintf(s->line + strlen(s->line), LINE - strlen(s->line), ", which PE %d holds", holder);
}

static void describe_wait(const struct report *report, struct seen *s)
{
	struct seen *other;

	if (s->waiting.kind == COMMS_WAITS_NOT) {
		snprintf(s->line, LINE, "in user code");
		return;
	}
	snprintf(s->line, LINE, "in %s%s%s", s->waiting.routine, s->waiting.text[0] ? ", " : "", s->waiting.text);
	other = find_seen(report, s->waiting.pe);
	if (s->waiting.kind == COMMS_WAITS_FOR_GROUP)
		add_missing(report, s);
	else if (s->waiting.kind == COMMS_WAITS_FOR_LOCK)
		add_holder(report, s);
	else if (s->waiting.kind == COMMS_WAITS_FOR_PE && other)
		note_missed(other, s);
}

/* Prints one line for all PEs with the same text. */
static void print_alike(const struct report *report, struct seen *s)
{
	char list[LINE] = "", lasted[48] = "";
	int first = -1, last = -1, count = 0;
	int64_t longest = 0;

	for (int i = 0; i < report->count; i++) {
		struct seen *m = &report->seen[i];

		if (m->printed || strcmp(m->line, s->line) ||
		    (m->waiting.kind == COMMS_WAITS_NOT && m->missed != s->missed))
			continue;
		m->printed = true;
		count++;
		longest = m->lasted > longest ? m->lasted : longest;
		add_number(list, sizeof list, &first, &last, m->pe);
	}
	add_number(list, sizeof list, &first, &last, -1);
	if (longest > 0)
		snprintf(lasted, sizeof lasted, ", for %s%lld s", s->waiting.kind == COMMS_WAITS_NOT ? "at least " : "",
			 (long long)longest / 1000);
	rte_report(NULL, "hang report: PE%s %s: %s%s", count > 1 ? "s" : "", list, s->line, lasted);
}

void hang_report(int64_t longer_than)
{
	int64_t now = hang_clock();
	struct report report;

	if (!is_reporter(longer_than) || !collect_waits(&report))
		return;
	for (int i = 0; i < report.count; i++)
		if (report.seen[i].waiting.kind != COMMS_WAITS_NOT)
			report.seen[i].lasted = now - report.seen[i].waiting.since;
	for (int i = 0; i < report.count; i++)
		describe_wait(&report, &report.seen[i]);
	for (int i = 0; i < report.count; i++)
		if (!report.seen[i].printed)
			print_alike(&report, &report.seen[i]);
	if (comms.checks)
		rte_report(NULL, "hang report: SHMEM_CHECK held puts back, in the order of SHMEM_CHECK_SEED=%s",
			   setting_text(SETTING_CHECK_SEED));
	if (report.count < comms.n_pes)
		rte_report(NULL, "hang report: %d of the %d PEs have ended, or were not examined",
			   comms.n_pes - report.count, comms.n_pes);
	free(report.seen);
}
