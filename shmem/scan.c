/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scans: each member gets the sum of the sources of the members before it, in the order of the
 * team. An exclusive scan leaves zero on the first member.
 *
 * On a node, members lay out small sources as rows; when all have arrived, one member computes all
 * sums and leaves each member its own. Between nodes, small scans run in rounds: each member sends
 * its sum to the member 1, 2, 4, ... positions further on. Data moves upwards only, so the first
 * member receives nothing, and its next piece could overwrite one that is still unread. So a
 * barrier follows every piece.
 *
 * Large scans are distributed: each member reads one part of every member's source, in order, and
 * writes the running sum to every member's dest. Only the owner of a part reads and writes it, so
 * dest may be source.
 */
#include "collectives.h"

#include <stdlib.h>
#include <string.h>

#define PIECES_AT_MOST 4
#define WINDOW (64UL << 10)

static void scan_rows(const struct scan *s)
{
	_Alignas(64) char sum[ROW_BYTES];
	size_t bytes = s->count * s->size;

	memset(sum, 0, bytes);
	for (int i = 0; i < s->set->group->size; i++) {
		struct scratch *scratch = scratch_of(s->set->team, set_pe(s->set, i));

		if (!s->inclusive)
			memcpy(scratch->result, sum, bytes);
		if (i == 0)
			memcpy(sum, scratch->row, bytes);
		else
			s->combine(sum, sum, scratch->row, s->count);
		if (s->inclusive)
			memcpy(scratch->result, sum, bytes);
	}
}

static void scan_by_rows(struct scan *s)
{
	struct scratch *scratch = team_scratch(s->set->team);

	memcpy(scratch->row, s->source, s->count * s->size);
	if (comms_node_barrier_arrive(s->set->group)) {
		scan_rows(s);
		comms_node_barrier_open(s->set->group);
	}
	memcpy(s->dest, scratch->result, s->count * s->size);
}

/*
 * sum covers the members just before this one that the rounds have reached; whole also includes
 * this member's source.
 */
static void scan_piece(const struct set *set, const struct scan *s, char *dest, const char *source, size_t count)
{
	_Alignas(64) char sum[PIECE_BYTES], whole[PIECE_BYTES];
	uint64_t epoch = ++set->team->pieces;
	struct scratch *scratch = team_scratch(set->team);
	int n = set->group->size, me = set->group->me, round = 0;
	size_t bytes = count * s->size;

	memset(sum, 0, bytes);
	memcpy(whole, source, bytes);
	for (int step = 1; step < n; step = step < n - step ? 2 * step : n, round++) {
		_Atomic uint64_t *received = &scratch->slot[epoch & 1][round].received;
		char *theirs = piece_place(scratch, epoch, round, bytes);

		if (me < n - step)
			comms_put_notify(theirs, whole, bytes, (struct comms_flag){received, epoch},
					 set_pe(set, me + step), set->routine);
		if (me < step)
			continue;
		await_flag(received, epoch);
		s->combine(whole, theirs, whole, count);
		if (step == 1)
			memcpy(sum, theirs, bytes);
		else
			s->combine(sum, theirs, sum, count);
	}
	memcpy(dest, s->inclusive ? whole : sum, bytes);
	set_sync(set);
}

static void scan_by_pieces(const struct scan *s)
{
	size_t most = PIECE_BYTES / s->size;

	for (size_t done = 0; done < s->count; done += most)
		scan_piece(s->set, s, s->dest + done * s->size, s->source + done * s->size,
			   s->count - done < most ? s->count - done : most);
}

/* `count` elements of all members, beginning with element `first`. */
static void scan_strip(const struct scan *s, size_t first, size_t count, char *window, char *sum)
{
	size_t bytes = count * s->size, at = first * s->size;

	memset(sum, 0, bytes);
	for (int i = 0; i < s->set->group->size; i++) {
		int pe = set_pe(s->set, i);

		comms_get(window, s->source + at, bytes, pe, s->set->routine);
		if (!s->inclusive)
			comms_put(s->dest + at, sum, bytes, pe, s->set->routine);
		if (i == 0)
			memcpy(sum, window, bytes);
		else
			s->combine(sum, sum, window, count);
		if (s->inclusive)
			comms_put(s->dest + at, sum, bytes, pe, s->set->routine);
	}
}

static void scan_by_parts(const struct scan *s)
{
	size_t n = (size_t)s->set->group->size, each = (s->count + n - 1) / n, most = WINDOW / s->size;
	size_t at = each * (size_t)s->set->group->me, end = at + each < s->count ? at + each : s->count;
	char *window = malloc(2 * WINDOW);

	if (!window)
		rte_die(s->set->routine, "no memory for a buffer of %lu bytes", 2 * WINDOW);
	set_sync(s->set);
	for (; at < end; at += most)
		scan_strip(s, at, end - at < most ? end - at : most, window, window + WINDOW);
	set_finish(s->set);
	free(window);
}

void set_scan(struct scan *s)
{
	const struct set *set = s->set;
	size_t bytes = s->count * s->size;

	set_note(set, s->dest, bytes, s->source, bytes);
	set_check_agreement(set, "nelems", (long)s->count, NULL, 0, s->dest);
	if (s->count == 0 || rte_is_broken() || !comms_check_symmetric(s->dest, bytes, "dest", set->routine))
		return;
	set_check_overlap(set, (struct set_span){s->dest, bytes}, (struct set_span){s->source, bytes}, true);
	if (rte_is_broken())
		return;
	comms_group_prepare(set->group);
	if (set->group->on_node && bytes <= ROW_BYTES)
		scan_by_rows(s);
	else if (!set->group->on_node && bytes <= PIECES_AT_MOST * PIECE_BYTES)
		scan_by_pieces(s);
	else
		scan_by_parts(s);
}
