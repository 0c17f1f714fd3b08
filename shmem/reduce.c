/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions and scans.
 *
 * Small reductions of a team double recursively, in pieces of one slot. Each piece is an exchange with an epoch of its
 * own; the slots alternate between two sets. A partner can write my slot of epoch e + 2 only after it heard my words of
 * epoch e + 1, which I sent when I was done with epoch e: so two sets are enough and nobody asks first.
 *
 * Large ones, and those of active sets, are shared out: each member reduces a part of everybody's source into its own
 * dest, then takes the other parts from the others' dest. Every part is computed once, so all have the same bits.
 * In place that is right, too: of my source, others read any part but mine, and only mine is overwritten
 * before they have finished.
 */
#include "collectives.h"

#include <stdlib.h>
#include <string.h>

#define PIECES_AT_MOST 4
#define WINDOW 65536 /* bytes of another's source at a time, where it cannot be read in place */

struct piece {
	const struct set *set;
	char *data;
	size_t bytes, count;
	uint64_t epoch;
	combine_t *combine;
};

static void send_piece(const struct piece *p, int round, int to)
{
	struct scratch *scratch = team_scratch(p->set->team);
	int slots = (int)(p->epoch & 1);

	tell(scratch->slot[slots][round], p->data, p->bytes, &scratch->heard[slots][round], p->epoch,
	     set_pe(p->set, to), p->set->routine);
}

static const void *receive_piece(const struct piece *p, int round)
{
	struct scratch *scratch = team_scratch(p->set->team);
	int slots = (int)(p->epoch & 1);

	hear(&scratch->heard[slots][round], p->epoch);
	return scratch->slot[slots][round];
}

/*
 * With the size not a power of two, the first members pair up: the odd one of a pair gives its part to the even one, sits
 * out, and is told the result.
 */
static void reduce_piece(const struct piece *p)
{
	int me = p->set->group->me, n = p->set->group->size, power = 1, round = 2, extra, rank;

	while (power * 2 <= n)
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

static void reduce_by_pieces(const struct set *set, char *dest, const char *source, size_t count, size_t size,
			     combine_t *combine)
{
	size_t most = PIECE_BYTES / size;

	for (size_t done = 0; done < count; done += most) {
		size_t now = count - done < most ? count - done : most;
		struct piece p = {set, dest + done * size, now * size, now, ++set->team->pieces, combine};

		if (dest != source)
			memmove(p.data, source + done * size, p.bytes);
		reduce_piece(&p);
	}
}

/* acc = acc op what member i has at source. window is WINDOW bytes, for members whose memory is not here. */
static void combine_member(const struct set *set, int i, char *acc, const char *source, size_t count, size_t size,
			   combine_t *combine, void *window)
{
	int pe = set_pe(set, i);
	struct comms_peer *peer;
	const void *here;

	if (count == 0)
		return;
	comms_meet(pe);
	here = comms_reach(source, count * size, pe, &peer);
	if (here) {
		combine(acc, acc, here, count);
		return;
	}
	for (size_t done = 0, most = WINDOW / size; done < count; done += most) {
		size_t now = count - done < most ? count - done : most;

		comms_get(window, source + done * size, now * size, pe, set->routine);
		combine(acc + done * size, acc + done * size, window, now);
	}
}

static void *make_window(const struct set *set)
{
	void *window = malloc(WINDOW);

	if (!window)
		rte_die(set->routine, "no memory for a buffer of %d bytes", WINDOW);
	return window;
}

/* Where the part of a member begins, in elements. */
static size_t part(const struct set *set, size_t count, int i)
{
	size_t n = (size_t)set->group->size, each = count / n, left = count % n;

	return each * (size_t)i + ((size_t)i < left ? (size_t)i : left);
}

static void reduce_by_parts(const struct set *set, char *dest, const char *source, size_t count, size_t size,
			    combine_t *combine)
{
	int n = set->group->size, me = set->group->me;
	size_t mine = part(set, count, me) * size, many = part(set, count, me + 1) - part(set, count, me);
	void *window = make_window(set);

	set_sync(set);
	if (dest != source)
		memmove(dest + mine, source + mine, many * size);
	for (int i = 1; i < n; i++)
		combine_member(set, (me + i) % n, dest + mine, source + mine, many, size, combine, window);
	set_sync(set);
	for (int i = 1; i < n; i++) {
		int from = (me + i) % n;
		size_t at = part(set, count, from), end = part(set, count, from + 1);

		comms_get_nbi(dest + at * size, dest + at * size, (end - at) * size, set_pe(set, from), set->routine);
	}
	set_finish(set);
	free(window);
}

static enum algorithm reduce_algorithm;

void api_reductions_start(void)
{
	reduce_algorithm = set_algorithm(SETTING_REDUCE_ALGORITHM, "doubling", "parts");
}

static bool doubles(size_t bytes)
{
	if (reduce_algorithm != AUTO)
		return reduce_algorithm == FIRST;
	return bytes <= PIECES_AT_MOST * PIECE_BYTES;
}

void set_reduce(const struct set *set, void *dest, const void *source, size_t count, size_t size, combine_t *combine)
{
	set_check_agreement(set, "the number of elements", (long)count, NULL, 0, dest);
	if (count == 0)
		return;
	comms_check_symmetric(dest, count * size, "dest", set->routine);
	if (set->team && doubles(count * size))
		reduce_by_pieces(set, dest, source, count, size, combine);
	else
		reduce_by_parts(set, dest, source, count, size, combine);
}

/*
 * Prefix sums in the order of the team: each member adds up the sources of those before it. What it has is written only
 * after all have read, so dest may be source.
 */
static int scan(shmem_team_t handle, char *dest, const char *source, size_t count, size_t size, combine_t *combine,
		bool inclusive, const char *routine)
{
	struct set set = set_of_team(handle, routine);
	int last = set.group->me - (inclusive ? 0 : 1);
	void *window;
	char *sum;

	set_check_agreement(&set, "nelems", (long)count, NULL, 0, dest);
	if (count == 0)
		return 0;
	comms_check_symmetric(dest, count * size, "dest", routine);
	window = make_window(&set);
	sum = calloc(count, size);
	if (!sum)
		rte_die(routine, "no memory for a buffer of %zu bytes", count * size);
	set_sync(&set);
	if (last >= 0)
		comms_get(sum, source, count * size, set_pe(&set, 0), routine);
	for (int i = 1; i <= last; i++)
		combine_member(&set, i, sum, source, count, size, combine, window);
	set_sync(&set);
	memcpy(dest, sum, count * size);
	free(sum);
	free(window);
	return 0;
}

#define COMBINE(NAME, TYPE, OP, EXPRESSION)                                                         \
	static void NAME##_##OP(void *out, const void *low, const void *high, size_t count)         \
	{                                                                                           \
		const TYPE *x = low, *y = high;                                                     \
		TYPE *z = out;                                                                      \
		for (size_t i = 0; i < count; i++) {                                                \
			const TYPE a = x[i], b = y[i];                                              \
			z[i] = (TYPE)(EXPRESSION);                                                  \
		}                                                                                   \
	}
#define REDUCE(NAME, TYPE, OP)                                                                                   \
	API int pshmem_##NAME##_##OP##_reduce(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nreduce) \
	{                                                                                                        \
		struct set set = set_of_team(team, __func__);                                                    \
		set_reduce(&set, dest, source, nreduce, sizeof(TYPE), NAME##_##OP);                              \
		return 0;                                                                                        \
	}                                                                                                        \
	PROFILED(shmem_##NAME##_##OP##_reduce)

#define LOGIC_COMBINE(NAME, TYPE) COMBINE(NAME, TYPE, and, a &b) COMBINE(NAME, TYPE, or, a | b) COMBINE(NAME, TYPE, xor, a ^ b)
#define MINMAX_COMBINE(NAME, TYPE) COMBINE(NAME, TYPE, max, a > b ? a : b) COMBINE(NAME, TYPE, min, a < b ? a : b)
#define SUM_COMBINE(NAME, TYPE) COMBINE(NAME, TYPE, sum, a + b) COMBINE(NAME, TYPE, prod, a *b)
FOR_LOGIC_TYPES(LOGIC_COMBINE)
FOR_MINMAX_TYPES(MINMAX_COMBINE)
FOR_SUM_TYPES(SUM_COMBINE)

#define LOGIC(NAME, TYPE) REDUCE(NAME, TYPE, and) REDUCE(NAME, TYPE, or) REDUCE(NAME, TYPE, xor)
#define MINMAX(NAME, TYPE) REDUCE(NAME, TYPE, max) REDUCE(NAME, TYPE, min)
#define SUM(NAME, TYPE) REDUCE(NAME, TYPE, sum) REDUCE(NAME, TYPE, prod)
FOR_LOGIC_TYPES(LOGIC)
FOR_MINMAX_TYPES(MINMAX)
FOR_SUM_TYPES(SUM)

#define SCANS(NAME, TYPE)                                                                                            \
	API int pshmem_##NAME##_sum_inscan(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems)         \
	{                                                                                                            \
		return scan(team, (char *)dest, (const char *)source, nelems, sizeof(TYPE), NAME##_sum, true, __func__); \
	}                                                                                                            \
	API int pshmem_##NAME##_sum_exscan(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems)         \
	{                                                                                                            \
		return scan(team, (char *)dest, (const char *)source, nelems, sizeof(TYPE), NAME##_sum, false, __func__); \
	}                                                                                                            \
	PROFILED(shmem_##NAME##_sum_inscan)                                                                          \
	PROFILED(shmem_##NAME##_sum_exscan)
FOR_SUM_TYPES(SCANS)

/* The deprecated interface has its own, older choice of types. */
#define SIGNED_LOGIC(X) X(short, short) X(int, int) X(long, long) X(longlong, long long)
SIGNED_LOGIC(LOGIC_COMBINE)

#define TO_ALL(NAME, TYPE, OP)                                                                                       \
	API void pshmem_##NAME##_##OP##_to_all(TYPE *dest, const TYPE *source, int nreduce, int PE_start,            \
					       int logPE_stride, int PE_size, TYPE *pWrk, long *pSync)               \
	{                                                                                                            \
		struct comms_group group;                                                                            \
		struct set set = set_of_active(&group, PE_start, logPE_stride, PE_size, pSync, __func__);            \
		(void)pWrk;                                                                                          \
		set_reduce(&set, dest, source, nreduce > 0 ? (size_t)nreduce : 0, sizeof(TYPE), NAME##_##OP);        \
	}                                                                                                            \
	PROFILED(shmem_##NAME##_##OP##_to_all)
#define LOGIC_TO_ALL(NAME, TYPE) TO_ALL(NAME, TYPE, and) TO_ALL(NAME, TYPE, or) TO_ALL(NAME, TYPE, xor)
#define MINMAX_TO_ALL(NAME, TYPE) TO_ALL(NAME, TYPE, max) TO_ALL(NAME, TYPE, min)
#define SUM_TO_ALL(NAME, TYPE) TO_ALL(NAME, TYPE, sum) TO_ALL(NAME, TYPE, prod)
FOR_OLD_LOGIC_TYPES(LOGIC_TO_ALL)
FOR_OLD_MINMAX_TYPES(MINMAX_TO_ALL)
FOR_OLD_SUM_TYPES(SUM_TO_ALL)
