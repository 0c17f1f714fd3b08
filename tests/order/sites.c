/* SPDX-License-Identifier: BSD-3-Clause */
/* Places in the program: what they do, which of them are weakened, and the report of a failure. */
#include "inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const char __ehdr_start[] __attribute__((visibility("hidden")));

enum { WEAKENED = 64 };

static struct {
	char kind; /* a, r, s, f, or 0 */
	int n;
	uint32_t offset[WEAKENED];
} weakened;

__attribute__((constructor)) static void read_weakened(void)
{
	const char *text = getenv(EXPLORE_WEAKEN), *colon = text ? strchr(text, ':') : NULL;
	char *end = (char *)(uintptr_t)colon;

	if (!colon)
		return;
	weakened.kind = text[0];
	while (weakened.n < WEAKENED && (*end == ':' || *end == ','))
		weakened.offset[weakened.n++] = (uint32_t)strtoul(end + 1, &end, 0);
}

/* An offset in the program, within the call. */
uint32_t site_of(const void *return_address)
{
	return (uint32_t)((uintptr_t)return_address - (uintptr_t)__ehdr_start - 1);
}

static void count_site(uint32_t offset, enum access access, enum order order)
{
	uint32_t at = offset * 0x9e3779b9 >> 20;

	for (; model->site[at % SITES].count; at++)
		if (model->site[at % SITES].offset == offset) {
			model->site[at % SITES].count++;
			return;
		}
	if (++model->n_sites >= SITES)
		explore_fail("too many places", __FILE__, __LINE__);
	model->site[at % SITES] = (struct site){offset, (uint8_t)access, (uint8_t)order, 1};
}

static bool is_weakened(uint32_t site)
{
	for (int i = 0; i < weakened.n; i++)
		if (weakened.offset[i] == site)
			return true;
	return false;
}

static enum order without_acquire(enum order order)
{
	return order == ACQ_REL || order == SEQ_CST ? RELEASE : RELAXED;
}

static enum order without_release(enum order order)
{
	return order == ACQ_REL || order == SEQ_CST ? ACQUIRE : RELAXED;
}

/* The order that an access has in this run. Gone: a fence that is left out. */
enum order site_order(uint32_t site, enum access access, enum order order, bool *gone)
{
	static const enum order strongest[] =
		{[LOAD] = ACQUIRE, [STORE] = RELEASE, [UPDATE] = ACQ_REL, [FENCE] = ACQ_REL};

	*gone = false;
	count_site(site, access, order);
	if (!weakened.kind || !is_weakened(site))
		return order;
	if (order != SEQ_CST && order == RELAXED)
		return order;
	switch (weakened.kind) {
	case 'a': order = access == LOAD ? RELAXED : without_acquire(order); break;
	case 'r': order = access == STORE ? RELAXED : without_release(order); break;
	case 's': order = order == SEQ_CST ? strongest[access] : order; break;
	case 'f': *gone = true; break;
	}
	return order;
}

void note(const char *what, uint64_t place, uint64_t value, int bytes, enum order order, uint32_t site)
{
	struct event *event = &model->event[model->n_events++ % EVENTS];

	*event = (struct event){.place = place,
				.value = value,
				.site = site,
				.thread = (uint8_t)self,
				.order = (uint8_t)order,
				.bytes = (uint8_t)bytes};
	snprintf(event->what, sizeof event->what, "%s", what);
}

static void print_place(const char *label, uint32_t site)
{
	char command[256];

	fprintf(stderr, "  %s ", label);
	fflush(stderr);
	snprintf(command, sizeof command, "addr2line -Cfpie /proc/%d/exe 0x%x | sed 's/^ (inlined by)/    in/' >&2",
		 (int)getpid(), site);
	if (system(command) != 0)
		fprintf(stderr, "0x%x\n", site);
}

static void print_events(void)
{
	static const char *const orders[] = {"relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"};
	int first = model->n_events > EVENTS ? model->n_events - EVENTS : 0;

	for (int i = first; i < model->n_events; i++) {
		const struct event *event = &model->event[i % EVENTS];
		char label[160];

		snprintf(label, sizeof label, "thread %d %s %s %llx: %llx,", event->thread, event->what,
			 event->order <= SEQ_CST ? orders[event->order] : "", (unsigned long long)event->place,
			 (unsigned long long)event->value);
		print_place(label, event->site);
	}
}

static void print_state(void)
{
	static const char *const states[] = {"ready", "asleep on a futex", "at a mutex", "waiting for a thread to end",
					     "done"};

	fprintf(stderr, "  execution %llu, EXPLORE_SEED=%llu, step %llu\n", (unsigned long long)model->round,
		(unsigned long long)model->seed, (unsigned long long)model->steps);
	for (int t = 0; t < model->threads; t++)
		fprintf(stderr, "  thread %d is %s\n", t, states[model->thread[t].state]);
	if (getenv(EXPLORE_TRACE))
		print_events();
}

_Noreturn void fail_at(const char *text, uint32_t site, uint32_t other)
{
	fprintf(stderr, "explore: thread %d: %s\n", self, text);
	print_place("here:", site);
	if (other)
		print_place("other:", other);
	print_state();
	fflush(NULL);
	_exit(3);
}

_Noreturn void explore_fail(const char *text, const char *file, int line)
{
	fprintf(stderr, "explore: thread %d: %s (%s:%d)\n", self, text, file, line);
	if (model)
		print_state();
	fflush(NULL);
	_exit(3);
}
