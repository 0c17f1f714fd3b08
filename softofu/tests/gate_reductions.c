/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barrier gates: as a butterfly for 2 and 4 ranks, as a ring for any number; every reduction; what
 * is refused.
 */
#include "together.h"

#include <math.h>

enum { ROUNDS = 500, GATES_MOST = 3 };

static utofu_vbg_id_t mine[GATES_MOST];

static struct utofu_vbg_setting setting(int gate, utofu_vbg_id_t src_lcl, utofu_vbg_id_t src_rmt,
					utofu_vbg_id_t dst_lcl, utofu_vbg_id_t dst_rmt)
{
	return (struct utofu_vbg_setting){mine[gate], src_lcl, src_rmt,
					  dst_lcl,    dst_rmt, {UTOFU_PATH_COORD_NULL, 0, 0}};
}

static utofu_vbg_id_t theirs(int rank, int gate)
{
	return together_seen.board[rank][gate];
}

/*
 * Gate s+1 joins what this rank and its partner of step s have; the start feeds the first, the last
 * feeds the start.
 */
static void set_butterfly(void)
{
	struct utofu_vbg_setting settings[GATES_MOST];
	int steps = together.ranks == 4 ? 2 : 1;

	settings[0] = setting(0, mine[steps], UTOFU_VBG_ID_NULL, mine[1], theirs(together.rank ^ 1, 1));
	for (int s = 0; s < steps; s++) {
		int partner = together.rank ^ 1 << s, next = together.rank ^ 2 << s;
		bool last = s == steps - 1;

		settings[s + 1] = setting(s + 1, mine[s], theirs(partner, s), last ? mine[0] : mine[s + 2],
					  last ? UTOFU_VBG_ID_NULL : theirs(next, s + 2));
	}
	OK(utofu_set_vbg(settings, (size_t)steps + 1));
}

/* One round from rank 0 to collect (gate 1), one more to distribute (gate 2). */
static void set_ring(void)
{
	int next = (together.rank + 1) % together.ranks,
	    previous = (together.rank + together.ranks - 1) % together.ranks;
	bool first = !together.rank, last = next == 0;
	struct utofu_vbg_setting settings[GATES_MOST] = {
		setting(0, mine[2], UTOFU_VBG_ID_NULL, mine[1], UTOFU_VBG_ID_NULL),
		setting(1, mine[0], first ? UTOFU_VBG_ID_NULL : theirs(previous, 1), UTOFU_VBG_ID_NULL, 0),
		setting(2, UTOFU_VBG_ID_NULL, theirs(previous, first ? 1 : 2), mine[0],
			last ? UTOFU_VBG_ID_NULL : theirs(next, 2)),
	};

	settings[1].dst_rmt_vbg_id = last ? theirs(0, 2) : theirs(next, 1);
	OK(utofu_set_vbg(settings, 3));
}

static int finish_words(uint64_t *data)
{
	int code;

	while ((code = utofu_poll_reduce_uint64(mine[0], 0, data)) == UTOFU_ERR_NOT_COMPLETED)
		usleep(1);
	return code;
}

static void reduce(enum utofu_reduce_op op, uint64_t value, uint64_t expected)
{
	uint64_t data[6] = {value, value, value, value, value, value}, result[6];

	OK(utofu_reduce_uint64(mine[0], op, data, 6, 0));
	OK(finish_words(result));
	for (int i = 0; i < 6; i++)
		CHECK(result[i] == expected);
}

static void reductions(void)
{
	uint64_t n = (uint64_t)together.ranks, r = (uint64_t)together.rank, all = 0, any = 0, odd = 0;
	uint64_t pair[2] = {100 + r / 2, r}, best[2];
	double doubles[3] = {1e300 * (r ? -1.0 / (double)(n - 1) : 1), 0.1 * (double)r, INFINITY}, sums[3];
	int code;

	for (uint64_t i = 0; i < n; i++) {
		any |= 1ull << i;
		odd ^= 1ull << i | 1;
	}
	all = 0xf0;
	reduce(UTOFU_REDUCE_OP_SUM, r + 1, n * (n + 1) / 2);
	reduce(UTOFU_REDUCE_OP_MAX, UINT64_MAX - r, UINT64_MAX);
	reduce(UTOFU_REDUCE_OP_BAND, 1ull << r | 0xf0, all | (n == 1));
	reduce(UTOFU_REDUCE_OP_BOR, 1ull << r, any);
	reduce(UTOFU_REDUCE_OP_BXOR, 1ull << r | 1, odd | (n % 2 ? 1 : 0));
	OK(utofu_reduce_uint64(mine[0], UTOFU_REDUCE_OP_MAXLOC, pair, 2, 0));
	OK(finish_words(best));
	CHECK(best[0] == 100 + (n - 1) / 2 && best[1] == (n - 1) / 2 * 2);
	OK(utofu_reduce_double(mine[0], UTOFU_REDUCE_OP_BFPSUM, doubles, 3, 0));
	while ((code = utofu_poll_reduce_double(mine[0], 0, sums)) == UTOFU_ERR_NOT_COMPLETED)
		usleep(1);
	OK(code);
	CHECK((n == 1 || fabs(sums[0]) < 1e290) && fabs(sums[1] - 0.05 * (double)(n * (n - 1))) < 1e-12 &&
	      isinf(sums[2]));
}

/*
 * Many barriers in a row, with some late ranks: values of one must not get into another, and no
 * rank leaves before all have come.
 */
static void barriers(void)
{
	uint64_t sum, one = 1, counted;
	int code;

	for (uint64_t i = 0; i < ROUNDS; i++) {
		uint64_t value = i * 64 + (uint64_t)together.rank;

		if (i % 100 == (uint64_t)together.rank)
			usleep(2000);
		OK(utofu_reduce_uint64(mine[0], UTOFU_REDUCE_OP_SUM, &value, 1, 0));
		OK(finish_words(&sum));
		CHECK(sum == i * 64 * (uint64_t)together.ranks + (uint64_t)(together.ranks * (together.ranks - 1) / 2));
	}
	OK(utofu_barrier(mine[0], 0));
	CODE(utofu_barrier(mine[0], 0), UTOFU_ERR_BUSY);
	CODE(utofu_poll_reduce_uint64(mine[0], 0, &counted), UTOFU_ERR_INVALID_OP);
	while ((code = utofu_poll_barrier(mine[0], 0)) == UTOFU_ERR_NOT_COMPLETED)
		usleep(1);
	OK(code);
	CODE(utofu_poll_barrier(mine[0], 0), UTOFU_ERR_NOT_PROCESSED);
	/* The last rank waits until the others can be seen to wait for it. */
	if (together.rank == together.ranks - 1)
		usleep(50000);
	OK(utofu_barrier(mine[0], 0));
	if (together.rank != together.ranks - 1 && together.ranks > 1)
		CODE(utofu_poll_barrier(mine[0], 0), UTOFU_ERR_NOT_COMPLETED);
	while ((code = utofu_poll_barrier(mine[0], 0)) == UTOFU_ERR_NOT_COMPLETED)
		usleep(1);
	OK(code);
	/* One of them asks for something else. */
	if (together.ranks > 1) {
		OK(utofu_reduce_uint64(mine[0], together.rank ? UTOFU_REDUCE_OP_SUM : UTOFU_REDUCE_OP_MAX, &one, 1, 0));
		CODE(finish_words(&counted), UTOFU_ERR_BARRIER_MISMATCH);
	}
	OK(utofu_reduce_uint64(mine[0], UTOFU_REDUCE_OP_SUM, &one, 1, 0));
	OK(finish_words(&counted));
	CHECK(counted == (uint64_t)together.ranks);
}

/*
 * A runtime that exchanges few bytes sends the parts of an id and puts it together on the other
 * side: the bits of the place, the TNI and the gate, and no others.
 */
static utofu_vbg_id_t put_together(const uint8_t at[6], utofu_tni_id_t tni, utofu_bg_id_t gate)
{
	return (uint64_t)tni << 61 | (uint64_t)at[5] << 59 | (uint64_t)at[4] << 57 | (uint64_t)at[3] << 56 |
	       (uint64_t)at[2] << 48 | (uint64_t)at[1] << 40 | (uint64_t)at[0] << 32 | gate;
}

static void parts(void)
{
	for (int rank = 0; rank < together.ranks; rank++) {
		union jtofu_phys_coords place;

		CHECK(!jtofu_query_phys_coords(0, (jtofu_rank_t)rank, &place));
		for (int i = 0; i < GATES_MOST; i++) {
			utofu_vbg_id_t id = theirs(rank, i);

			CHECK((id & ~0xefffffff0000003full) == 0);
			CHECK(put_together(place.a, (utofu_tni_id_t)(id >> 61), (utofu_bg_id_t)(id & 63)) == id);
		}
	}
}

static void refused(void)
{
	utofu_vbg_id_t many[64], one;
	uint8_t coords[6], own[6];
	utofu_bg_id_t gate;
	utofu_tni_id_t tni;
	uint16_t extra;
	uint64_t data[6];
	double number = 1;

	CODE(utofu_alloc_vbg(6, 1, 0, &one), UTOFU_ERR_INVALID_TNI_ID);
	CODE(utofu_alloc_vbg(0, 0, 0, &one), UTOFU_ERR_INVALID_NUMBER);
	CODE(utofu_alloc_vbg(0, 1, 2, &one), UTOFU_ERR_INVALID_FLAGS);
	CODE(utofu_alloc_vbg(0, 1, 0, NULL), UTOFU_ERR_INVALID_POINTER);
	CODE(utofu_alloc_vbg(0, 49, 0, many), UTOFU_ERR_FULL);
	CODE(utofu_barrier(UTOFU_VBG_ID_NULL, 0), UTOFU_ERR_INVALID_VBG_ID);
	CODE(utofu_barrier(mine[1], 0), UTOFU_ERR_INVALID_VBG_ID);
	CODE(utofu_barrier(mine[0], 1), UTOFU_ERR_INVALID_FLAGS);
	CODE(utofu_reduce_uint64(mine[0], UTOFU_REDUCE_OP_BFPSUM, data, 1, 0), UTOFU_ERR_INVALID_OP);
	CODE(utofu_reduce_uint64(mine[0], UTOFU_REDUCE_OP_SUM, data, 7, 0), UTOFU_ERR_INVALID_NUMBER);
	CODE(utofu_reduce_uint64(mine[0], UTOFU_REDUCE_OP_SUM, NULL, 1, 0), UTOFU_ERR_INVALID_POINTER);
	CODE(utofu_reduce_double(mine[0], UTOFU_REDUCE_OP_BFPSUM, &number, 4, 0), UTOFU_ERR_INVALID_NUMBER);
	OK(utofu_query_vbg_info(mine[1], coords, &tni, &gate, &extra));
	OK(utofu_query_my_coords(own));
	CHECK(!memcmp(coords, own, 6) && tni == together.tni && gate >= 16);
	CODE(utofu_query_vbg_info(1 << 20, coords, &tni, &gate, &extra), UTOFU_ERR_INVALID_VBG_ID);
}

int main(void)
{
	together_start();
	OK(utofu_alloc_vbg(together.tni, GATES_MOST, 0, mine));
	together_share(mine, GATES_MOST);
	parts();
	refused();
	together_barrier();
	set_ring();
	together_barrier();
	reductions();
	barriers();
	together_barrier();
	if (together.ranks == 2 || together.ranks == 4) {
		set_butterfly();
		together_barrier();
		reductions();
		barriers();
	}
	together_barrier();
	OK(utofu_free_vbg(mine, GATES_MOST));
	CODE(utofu_free_vbg(mine, 1), UTOFU_ERR_INVALID_VBG_ID);
	together_end();
	return 0;
}
