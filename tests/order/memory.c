/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomic memory as C11 allows it to behave. A location is a list of messages, one for each store,
 * in the location's order. A thread's view says of each location which message is the earliest that
 * it may still read. A load picks any from there on. A release puts the thread's view into the
 * message, and an acquire takes it over from there. What this leaves out: a load never returns a
 * value that is stored only later.
 */
#include "inside.h"

#include <string.h>

enum { TICK = 16 };

void view_join(struct view *view, const struct view *other)
{
	for (int t = 0; t < THREADS; t++)
		if (other->clock[t] > view->clock[t])
			view->clock[t] = other->clock[t];
	for (uint32_t i = view->n; i < other->n; i++)
		view->at[i] = 0;
	if (other->n > view->n)
		view->n = other->n;
	for (uint32_t i = 0; i < other->n; i++)
		if (other->at[i] > view->at[i])
			view->at[i] = other->at[i];
}

static void view_copy(struct view *view, const struct view *other)
{
	memcpy(view, other, offsetof(struct view, at) + other->n * sizeof other->at[0]);
}

static uint16_t seen(const struct view *view, int location)
{
	return (uint32_t)location < view->n ? view->at[location] : 0;
}

static void see(struct view *view, int location, uint16_t at)
{
	for (; view->n <= (uint32_t)location; view->n++)
		view->at[view->n] = 0;
	if (at > view->at[location])
		view->at[location] = at;
}

/* Before an execution all is known to all. */
void memory_begin(void)
{
	model->n_locations = model->n_messages = 0;
	memset(model->location_hash, 0, sizeof model->location_hash);
	memset(&model->sc, 0, offsetof(struct view, at));
	for (int t = 0; t < model->threads; t++) {
		struct thread *thread = &model->thread[t];

		memset(&thread->cur, 0, offsetof(struct view, at));
		memset(&thread->acquired, 0, offsetof(struct view, at));
		memset(&thread->released, 0, offsetof(struct view, at));
		thread->cur.clock[t] = 1;
	}
}

static uint64_t real_load(volatile void *address, int bytes)
{
	switch (bytes) {
	case 1: return *(volatile uint8_t *)address;
	case 2: return *(volatile uint16_t *)address;
	case 4: return *(volatile uint32_t *)address;
	default: return *(volatile uint64_t *)address;
	}
}

static void real_store(volatile void *address, int bytes, uint64_t value)
{
	switch (bytes) {
	case 1: *(volatile uint8_t *)address = (uint8_t)value; break;
	case 2: *(volatile uint16_t *)address = (uint16_t)value; break;
	case 4: *(volatile uint32_t *)address = (uint32_t)value; break;
	default: *(volatile uint64_t *)address = value;
	}
}

static int new_message(uint64_t value, uint16_t at)
{
	struct message *message = &model->message[++model->n_messages]; /* 0 is none */

	if (model->n_messages >= MESSAGES - 1 || at > UINT16_MAX - 2 * TICK)
		explore_fail("an execution stores more often than the model holds; make the scenario shorter", __FILE__,
			     __LINE__);
	message->value = value;
	message->at = at;
	message->next = 0;
	message->update = message->unknown = false;
	memset(&message->view, 0, offsetof(struct view, at));
	return model->n_messages;
}

static int find_location(uint64_t place)
{
	uint32_t at = (uint32_t)(place * 0x9e3779b97f4a7c15 >> 40) % (2 * LOCATIONS);

	for (; model->location_hash[at]; at = (at + 1) % (2 * LOCATIONS))
		if (model->location[model->location_hash[at] - 1].place == place)
			return model->location_hash[at] - 1;
	return -1;
}

static int make_location(uint64_t place, volatile void *address, int bytes)
{
	uint32_t at = (uint32_t)(place * 0x9e3779b97f4a7c15 >> 40) % (2 * LOCATIONS);
	int message = new_message(real_load(address, bytes), TICK);

	if (model->n_locations == LOCATIONS)
		explore_fail("an execution uses more atomic words than the model holds", __FILE__, __LINE__);
	while (model->location_hash[at])
		at = (at + 1) % (2 * LOCATIONS);
	model->location[model->n_locations] =
		(struct location){place, (uint16_t)message, (uint16_t)message, (uint8_t)bytes};
	model->location_hash[at] = (uint16_t)++model->n_locations;
	return model->n_locations - 1;
}

/* A plain store left its value in memory. */
static void know_newest(int location, volatile void *address)
{
	struct message *last = &model->message[model->location[location].last];

	if (last->unknown)
		last->value = real_load(address, model->location[location].bytes);
	last->unknown = false;
}

static int locate(uint64_t place, volatile void *address, int bytes)
{
	int location = find_location(place);

	if (location < 0)
		return make_location(place, address, bytes);
	know_newest(location, address);
	return location;
}

/* From which message on a load may read. */
static uint16_t readable_from(int location, enum order order)
{
	uint16_t from = seen(&model->thread[self].cur, location), sc = seen(&model->sc, location);

	return order == SEQ_CST && sc > from ? sc : from;
}

static struct message *pick(int location, uint16_t from)
{
	struct message *message = &model->message[model->location[location].last], *choice[THREADS * 4];
	unsigned n = 0;

	if (message->at <= from || random_below(2))
		return message;
	message = &model->message[model->location[location].first];
	while (message->next && message->at < from)
		message = &model->message[message->next];
	for (;; message = &model->message[message->next]) {
		choice[n++] = message;
		if (!message->next || n == sizeof choice / sizeof choice[0])
			break;
	}
	return choice[random_below(n)];
}

static void learn(struct thread *thread, const struct message *message, enum order order)
{
	bool acquires = order == ACQUIRE || order == CONSUME || order == ACQ_REL || order == SEQ_CST;

	view_join(acquires ? &thread->cur : &thread->acquired, &message->view);
}

uint64_t memory_load(uint64_t place, volatile void *address, int bytes, enum order order)
{
	struct thread *thread = &model->thread[self];
	int location = locate(place, address, bytes);
	struct message *message = pick(location, readable_from(location, order));

	see(&thread->cur, location, message->at);
	learn(thread, message, order);
	return message->value;
}

/*
 * Behind which message a store lands: mostly the last; else one that the thread has not seen a
 * later one of.
 */
static uint16_t behind(int location)
{
	uint16_t last = model->location[location].last, from = seen(&model->thread[self].cur, location), at;

	if (model->message[last].at <= from || random_below(4) != 0)
		return last;
	for (at = model->location[location].first; at != last; at = model->message[at].next) {
		struct message *message = &model->message[at], *next = &model->message[message->next];

		if (message->at >= from && !next->update && next->at - message->at > 1 && random_below(2))
			return at;
	}
	return last;
}

static struct message *put_message(int location, uint16_t before, uint64_t value)
{
	struct location *l = &model->location[location];
	uint16_t next = model->message[before].next, at = model->message[before].at;
	int made = new_message(value, next ? (uint16_t)((at + model->message[next].at) / 2) : (uint16_t)(at + TICK));
	struct message *message = &model->message[made];

	message->next = next;
	message->by = (uint8_t)self;
	model->message[before].next = (uint16_t)made;
	if (!next)
		l->last = (uint16_t)made;
	return message;
}

static void publish(int location, struct message *message, enum order order)
{
	struct thread *thread = &model->thread[self];
	bool releases = order == RELEASE || order == ACQ_REL || order == SEQ_CST;

	see(&thread->cur, location, message->at);
	view_join(&message->view, releases ? &thread->cur : &thread->released);
	see(&message->view, location, message->at);
	if (order == SEQ_CST)
		see(&model->sc, location, message->at);
	thread->cur.clock[self]++;
}

void memory_store(uint64_t place, volatile void *address, int bytes, uint64_t value, enum order order)
{
	int location = locate(place, address, bytes);
	struct message *message =
		put_message(location, order == SEQ_CST ? model->location[location].last : behind(location), value);

	publish(location, message, order);
	if (!message->next)
		real_store(address, bytes, value);
}

/*
 * Which value an update reads: mostly the newest; else one that the thread may still read, and that
 * no other update came behind. Then later stores of others come behind the update in the location's
 * order.
 */
static uint16_t update_of(int location, enum order order)
{
	uint16_t last = model->location[location].last, from = readable_from(location, order), at;

	if (model->message[last].at <= from || random_below(4) != 0)
		return last;
	for (at = model->location[location].first; at != last; at = model->message[at].next) {
		const struct message *message = &model->message[at], *next = &model->message[message->next];

		if (message->at >= from && !next->update && next->at - message->at > 1 && random_below(2))
			return at;
	}
	return last;
}

static uint64_t update_behind(int location, uint16_t behind_message, volatile void *address, int bytes,
			      memory_change *change, void *argument, enum order order)
{
	struct thread *thread = &model->thread[self];
	struct message *old = &model->message[behind_message], *message;
	uint64_t was = old->value, value;

	see(&thread->cur, location, old->at);
	learn(thread, old, order);
	if (!change(was, &value, argument))
		return was;
	message = put_message(location, behind_message, value);
	message->update = true;
	/* An update continues what a release before it began. */
	view_copy(&message->view, &old->view);
	publish(location, message, order);
	if (!message->next)
		real_store(address, bytes, value);
	return was;
}

uint64_t memory_update(uint64_t place, volatile void *address, int bytes, memory_change *change, void *argument,
		       enum order order)
{
	int location = locate(place, address, bytes);

	return update_behind(location, update_of(location, order), address, bytes, change, argument, order);
}

uint64_t memory_update_newest(uint64_t place, volatile void *address, int bytes, memory_change *change, void *argument,
			      enum order order)
{
	int location = locate(place, address, bytes);

	return update_behind(location, model->location[location].last, address, bytes, change, argument, order);
}

void memory_fence(enum order order)
{
	struct thread *thread = &model->thread[self];

	if (order == ACQUIRE || order == CONSUME || order == ACQ_REL || order == SEQ_CST)
		view_join(&thread->cur, &thread->acquired);
	if (order == SEQ_CST) {
		view_join(&thread->cur, &model->sc);
		view_copy(&model->sc, &thread->cur);
	}
	if (order == RELEASE || order == ACQ_REL || order == SEQ_CST) {
		view_copy(&thread->released, &thread->cur);
		thread->cur.clock[self]++;
	}
}

/* Twice, for the first fences are to see what the last ones bring. */
void memory_fence_all(void)
{
	int me = self;

	for (int round = 0; round < 2; round++)
		for (self = 0; self < model->threads; self++)
			memory_fence(SEQ_CST);
	self = me;
}

/*
 * A plain store to words that are used as atomic ones, too: they get a message whose value memory
 * has in a moment.
 */
void memory_plain_store(uint64_t place, volatile void *address, size_t bytes)
{
	struct thread *thread = &model->thread[self];

	if (model->n_locations == 0)
		return;
	for (uint64_t at = place & ~3ul; at < place + bytes; at += 4) {
		int location = find_location(at);
		struct message *message;

		if (location < 0)
			continue;
		know_newest(location, (volatile char *)address + (int64_t)(at - place));
		message = put_message(location, model->location[location].last, 0);
		message->unknown = true;
		see(&thread->cur, location, message->at);
		view_copy(&message->view, &thread->released);
		see(&message->view, location, message->at);
	}
}
