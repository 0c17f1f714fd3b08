/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small reductions of a team: by the network, if it can combine them; otherwise by recursive
 * doubling, in pieces of one slot. Each piece is an exchange with its own epoch; the slots
 * alternate between two sets. A partner can write this PE's slot of epoch e + 2 only after it has
 * received this PE's flags of epoch e + 1, which were sent after epoch e ended: so two sets are
 * enough and no PE asks first.
 *
 * If several members share a node with others elsewhere, or share processors, they lay out their
 * data as rows. When all have arrived, one of them combines the rows, exchanges with the other
 * nodes' leaders, and leaves the result for its node. With several memory groups, one member of
 * each group combines the rows of the group first, so that few lines cross between groups.
 */
#include "reduce.h"

#include <string.h>

#include "words.h"

/* Bytes: with more, a prefetch keeps lines from their writer for longer than it saves. */
#define PREFETCH_UP_TO 128

struct piece {
	const struct set *set; /* the members that exchange it */
	char *data;
	size_t bytes, count;
	uint64_t epoch;
	combine_t *combine;
};

static void send_piece(const struct piece *p, int round, int to)
{
	struct scratch *scratch = team_scratch(p->set->team);

	comms_put_notify(piece_place(scratch, p->epoch, round, p->bytes), p->data, p->bytes,
			 (struct comms_flag){&scratch->slot[p->epoch & 1][round].received, p->epoch},
			 set_pe(p->set, to), p->set->routine);
}

/*
 * Prefetches the lines of a little data along with that of the flag: they arrive together, not one
 * after the other.
 */
static bool slot_is_filled(const struct piece_slot *slot, uint64_t epoch, const char *data, size_t bytes)
{
	if (bytes <= PREFETCH_UP_TO) {
		__builtin_prefetch(data);
		__builtin_prefetch(data + bytes - 1);
	}
	return atomic_load_explicit(&slot->received, memory_order_acquire) >= epoch;
}

static const void *receive_piece(const struct piece *p, int round)
{
	struct scratch *scratch = team_scratch(p->set->team);
	struct piece_slot *slot = &scratch->slot[p->epoch & 1][round];
	const char *data = piece_place(scratch, p->epoch, round, p->bytes);

	COMMS_WAIT(&slot->received, slot_is_filled(slot, p->epoch, data, p->bytes));
	return data;
}

/*
 * If the size is not a power of two, the first members pair up: the odd one of a pair gives its
 * data to the even one, skips the rounds, and receives the result.
 */
static void double_piece(const struct piece *p)
{
	int me = p->set->group->me, n = p->set->group->size, power = 1, round = 2, extra, rank;

	while (power <= n / 2)
		power *= 2;
	extra = n - power;
	if (me < 2 * extra && me % 2) {
		send_piece(p, 0, me - 1);
		memcpy(p->data, receive_piece(p, 1), p->bytes);
		return;
	}
	if (me < 2 * extra)
		p->combine(p->data, p->data, receive_piece(p, 0), p->count);
	rank = me < 2 * extra ? me / 2 : me - extra;
	for (int mask = 1; mask < power; mask *= 2, round++) {
		int partner = rank ^ mask;
		const void *theirs;

		send_piece(p, round, partner < extra ? partner * 2 : partner + extra);
		theirs = receive_piece(p, round);
		if (partner < rank)
			p->combine(p->data, theirs, p->data, p->count);
		else
			p->combine(p->data, p->data, theirs, p->count);
	}
	if (me < 2 * extra)
		send_piece(p, 1, me + 1);
}

static size_t count_pieces(size_t count, size_t size)
{
	size_t most = PIECE_BYTES / size;

	return (count + most - 1) / most;
}

/* By the network, if it can combine this few elements of this kind. */
static bool combine_in_network(const struct reduction *r, const struct set *set, char *data)
{
	uint64_t words[COMMS_REDUCE_WORDS];
	struct words_method method;

	if (!r->by_network || !comms_can_reduce_in_network() || r->count > COMMS_REDUCE_WORDS || set->group->on_node ||
	    !set_find_method(r->combine, &method))
		return false;
	words_from(&method, words, data, r->count);
	if (!comms_reduce_in_network(set->group, method.op, words, r->count))
		return false;
	words_to(&method, data, words, r->count);
	return true;
}

/* `data` is the contribution of this member of the set, and becomes the result. */
static void double_all(const struct reduction *r, const struct set *set, char *data)
{
	size_t most = PIECE_BYTES / r->size;
	uint64_t epoch = r->epoch;

	if (combine_in_network(r, set, data))
		return;
	for (size_t done = 0; done < r->count; done += most) {
		size_t now = r->count - done < most ? r->count - done : most;
		struct piece p = {set, data + done * r->size, now * r->size, now, epoch++, r->combine};

		double_piece(&p);
	}
}

static void combine_into(char *result, const struct reduction *r, const struct comms_group *members)
{
	for (int i = 1; i < members->size; i++)
		r->combine(result, result, scratch_of(r->set->team, comms_group_pe(members, i))->row, r->count);
}

/* Run by one member for its memory group: combines the rows of the group into the first. */
static void combine_part(const struct reduction *r)
{
	const struct comms_levels *parts = comms_memory_parts(r->set->group);

	if (parts)
		combine_into(scratch_of(r->set->team, comms_group_pe(&parts->node, 0))->row, r, &parts->node);
}

/* Run by one member for the node. */
static void combine_rows(const struct reduction *r)
{
	const struct comms_group *group = r->set->group, *node = group->levels ? &group->levels->node : group;
	const struct comms_levels *parts = comms_memory_parts(r->set->group);
	const struct comms_group *rows = parts ? &parts->leaders : node;
	char *result = scratch_of(r->set->team, comms_group_pe(node, 0))->result;
	struct set leaders = set_of_leaders(r->set);

	memcpy(result, scratch_of(r->set->team, comms_group_pe(rows, 0))->row, r->count * r->size);
	combine_into(result, r, rows);
	if (group->levels)
		double_all(r, &leaders, result);
}

static void combine_when_all_have_come(const struct reduction *r)
{
	if (!comms_part_barrier_arrive(r->set->group))
		return;
	combine_part(r);
	if (!comms_node_barrier_arrive_for_part(r->set->group))
		return;
	combine_rows(r);
	comms_node_barrier_open(r->set->group);
}

static void reduce_by_rows(const struct reduction *r)
{
	const struct comms_group *group = r->set->group;
	int first = comms_group_pe(group->levels ? &group->levels->node : group, 0);

	memcpy(team_scratch(r->set->team)->row, r->source, r->count * r->size);
	combine_when_all_have_come(r);
	memcpy(r->dest, scratch_of(r->set->team, first)->result, r->count * r->size);
}

void reduce_small(struct reduction *r)
{
	const struct comms_group *group = r->set->group;
	size_t most = ROW_BYTES / r->size, left = r->count;
	bool rows = group->levels || (group->on_node && (group->oversubscribed || comms_memory_parts(r->set->group)));

	for (r->count = left < most ? left : most; left > 0; r->count = left < most ? left : most) {
		r->epoch = r->set->team->pieces + 1;
		r->set->team->pieces += count_pieces(r->count, r->size);
		if (rows) {
			reduce_by_rows(r);
		} else {
			if (r->dest != r->source)
				memmove(r->dest, r->source, r->count * r->size);
			double_all(r, r->set, r->dest);
		}
		r->dest += r->count * r->size;
		r->source += r->count * r->size;
		left -= r->count;
	}
}
