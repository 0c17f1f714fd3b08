/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every communication with every notice, between neighbours in a ring of ranks, and what the
 * notices say.
 */
#include "together.h"

#define BYTES 100000
#define ALL \
	(UTOFU_ONESIDED_FLAG_TCQ_NOTICE | UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE | UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE)

static struct window {
	uint64_t counter;
	uint32_t half;
	char small[32];
	char large[BYTES];
	char blocks[64 * 16];
} window __attribute__((aligned(256)));

static struct {
	char large[BYTES];
	char got[BYTES];
	char blocks[64 * 16];
} source;

static utofu_vcq_hdl_t vcq;
static utofu_vcq_id_t mine, next, previous;
static utofu_stadd_t local, base;
#define AT(field) (base + offsetof(struct window, field))
#define FROM(field) (local + offsetof(__typeof__(source), field))

/* The three notices of one communication, in whatever order they come. */
static void expect(uint64_t tag, int lcl, int rmt, utofu_stadd_t source_end, utofu_stadd_t end, uint64_t *value)
{
	struct utofu_mrq_notice notice;
	bool have[2] = {false, false};
	void *cbdata;

	for (int i = 0; i < 2; i++) {
		OK(next_notice(vcq, &notice));
		CHECK(notice.notice_type == lcl || notice.notice_type == rmt);
		CHECK(!have[notice.notice_type == rmt]);
		have[notice.notice_type == rmt] = true;
		CHECK(notice.edata == tag && notice.rmt_stadd == end);
		CHECK(notice.vcq_id == (notice.notice_type == rmt ? previous : next));
		if (notice.notice_type == lcl)
			CHECK(notice.lcl_stadd == source_end);
		if (notice.notice_type == lcl && value)
			*value = notice.rmt_value;
		if (notice.notice_type == rmt)
			CHECK(notice.rmt_value == end);
	}
	OK(next_sent(vcq, &cbdata));
	CHECK(cbdata == (void *)tag);
	CODE(utofu_poll_tcq(vcq, 0, &cbdata), UTOFU_ERR_NOT_FOUND);
}

static void put(void)
{
	memset(source.large, 'a' + together.rank, BYTES);
	OK(utofu_put(vcq, next, FROM(large), AT(large), BYTES, 1, ALL, (void *)1));
	expect(1, UTOFU_MRQ_TYPE_LCL_PUT, UTOFU_MRQ_TYPE_RMT_PUT, FROM(large) + BYTES, AT(large) + BYTES, NULL);
	for (int i = 0; i < BYTES; i++)
		CHECK(window.large[i] == (char)('a' + (together.rank + together.ranks - 1) % together.ranks));
	together_barrier();
	OK(utofu_put_piggyback(vcq, next, "exactly 32 bytes of a piggyback", AT(small), 32, 2, ALL, (void *)2));
	expect(2, UTOFU_MRQ_TYPE_LCL_PUT, UTOFU_MRQ_TYPE_RMT_PUT, 0, AT(small) + 32, NULL);
	CHECK(!strcmp(window.small, "exactly 32 bytes of a piggyback"));
	together_barrier();
	OK(utofu_put_piggyback8(vcq, next, 0x0807060504030201, AT(small), 5, 3, ALL, (void *)3));
	expect(3, UTOFU_MRQ_TYPE_LCL_PUT, UTOFU_MRQ_TYPE_RMT_PUT, 0, AT(small) + 5, NULL);
	CHECK(!memcmp(window.small, "\1\2\3\4\5ly 32", 10));
	together_barrier();
}

static void stride(void)
{
	for (size_t i = 0; i < sizeof source.blocks; i++)
		source.blocks[i] = (char)i;
	OK(utofu_put_stride_gap(vcq, next, FROM(blocks), AT(blocks), 5, 64, 16, 4, ALL, 1920, 10, (void *)4));
	expect(4, UTOFU_MRQ_TYPE_LCL_PUT, UTOFU_MRQ_TYPE_RMT_PUT, FROM(blocks) + 15 * 64 + 5, AT(blocks) + 15 * 64 + 5,
	       NULL);
	for (size_t i = 0; i < sizeof window.blocks; i++)
		CHECK(window.blocks[i] == (i % 64 < 5 ? (char)i : 0));
	together_barrier();
	memset(window.blocks, 'w', sizeof window.blocks);
	together_barrier();
	OK(utofu_get_stride(vcq, next, FROM(blocks), AT(blocks), 8, 128, 8, 5, ALL, (void *)5));
	expect(5, UTOFU_MRQ_TYPE_LCL_GET, UTOFU_MRQ_TYPE_RMT_GET, FROM(blocks) + 7 * 128 + 8, AT(blocks) + 7 * 128 + 8,
	       NULL);
	for (size_t i = 0; i < sizeof source.blocks; i++)
		CHECK(source.blocks[i] == (i % 128 < 8 ? 'w' : (char)i));
	together_barrier();
}

static void get(void)
{
	OK(utofu_get(vcq, next, FROM(got), AT(large), BYTES, 6, ALL, (void *)6));
	expect(6, UTOFU_MRQ_TYPE_LCL_GET, UTOFU_MRQ_TYPE_RMT_GET, FROM(got) + BYTES, AT(large) + BYTES, NULL);
	for (int i = 0; i < BYTES; i++)
		CHECK(source.got[i] == (char)('a' + together.rank));
	together_barrier();
}

static void atomics(void)
{
	static const struct {
		enum utofu_armw_op op;
		uint64_t operand, after;
	} steps[] = {{UTOFU_ARMW_OP_SWAP, 0xff00ff00ff, 0xff00ff00ff},
		     {UTOFU_ARMW_OP_ADD, 1, 0xff00ff0100},
		     {UTOFU_ARMW_OP_XOR, 0xf, 0xff00ff010f},
		     {UTOFU_ARMW_OP_AND, 0xff0000000f, 0xff0000000f},
		     {UTOFU_ARMW_OP_OR, 0xf0, 0xff000000ff}};
	uint64_t before = 0, old;

	for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
		OK(utofu_armw8(vcq, next, steps[i].op, steps[i].operand, AT(counter), 7, ALL, (void *)7));
		expect(7, UTOFU_MRQ_TYPE_LCL_ARMW, UTOFU_MRQ_TYPE_RMT_ARMW, 0, AT(counter), &old);
		CHECK(old == before && window.counter == steps[i].after);
		before = steps[i].after;
		together_barrier();
	}
	OK(utofu_cswap8(vcq, next, 1, 2, AT(counter), 8, ALL, (void *)8));
	expect(8, UTOFU_MRQ_TYPE_LCL_ARMW, UTOFU_MRQ_TYPE_RMT_ARMW, 0, AT(counter), &old);
	CHECK(old == before && window.counter == before);
	together_barrier();
	OK(utofu_cswap8(vcq, next, before, 2, AT(counter), 8, ALL, (void *)8));
	expect(8, UTOFU_MRQ_TYPE_LCL_ARMW, UTOFU_MRQ_TYPE_RMT_ARMW, 0, AT(counter), &old);
	CHECK(old == before && window.counter == 2);
	together_barrier();
	OK(utofu_armw4(vcq, next, UTOFU_ARMW_OP_ADD, 0xffffffff, AT(half), 9, ALL, (void *)9));
	expect(9, UTOFU_MRQ_TYPE_LCL_ARMW, UTOFU_MRQ_TYPE_RMT_ARMW, 0, AT(half), &old);
	CHECK(old == 0 && window.half == 0xffffffff && window.small[0] == 1);
	together_barrier();
	OK(utofu_cswap4(vcq, next, 0xffffffff, 3, AT(half), 9, ALL, (void *)9));
	expect(9, UTOFU_MRQ_TYPE_LCL_ARMW, UTOFU_MRQ_TYPE_RMT_ARMW, 0, AT(half), &old);
	CHECK(old == 0xffffffff && window.half == 3);
	together_barrier();
}

/* A batch of descriptors is posted at once; what is delayed goes with the first that is not. */
static void batches(void)
{
	char descriptors[4 * 64];
	struct utofu_mrq_notice notice;
	size_t used = 0, size;
	void *cbdata;

	OK(utofu_nop(vcq, UTOFU_ONESIDED_FLAG_TCQ_NOTICE, (void *)10));
	OK(next_sent(vcq, &cbdata));
	CHECK(cbdata == (void *)10);
	for (int i = 0; i < 3; i++) {
		OK(utofu_prepare_put_piggyback8(vcq, next, (uint64_t)i, AT(small) + 8 * (size_t)i, 8, (uint64_t)i,
						UTOFU_ONESIDED_FLAG_STRONG_ORDER |
							UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE,
						descriptors + used, &size));
		CHECK(size <= 64);
		used += size;
	}
	OK(utofu_prepare_nop(vcq, UTOFU_ONESIDED_FLAG_TCQ_NOTICE, descriptors + used, &size));
	OK(utofu_post_toq(vcq, descriptors, used + size, (void *)11));
	OK(next_sent(vcq, &cbdata));
	CHECK(cbdata == (void *)11);
	for (uint64_t i = 0; i < 3; i++) {
		OK(next_notice(vcq, &notice));
		CHECK(notice.edata == i);
	}
	together_barrier();
	OK(utofu_put_piggyback8(vcq, next, 77, AT(small), 8, 12,
				UTOFU_ONESIDED_FLAG_DELAY_START | UTOFU_ONESIDED_FLAG_STRONG_ORDER |
					UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE,
				NULL));
	together_barrier();
	CHECK(utofu_poll_mrq(vcq, 0, &notice) == UTOFU_ERR_NOT_FOUND && window.small[0] == 0);
	together_barrier();
	OK(utofu_put_piggyback8(vcq, next, 78, AT(small) + 8, 8, 13,
				UTOFU_ONESIDED_FLAG_STRONG_ORDER | UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE, NULL));
	OK(next_notice(vcq, &notice));
	CHECK(notice.edata == 12 && window.small[0] == 77);
	OK(next_notice(vcq, &notice));
	CHECK(notice.edata == 13 && window.small[8] == 78);
}

/* What a program changes in a descriptor holds, and nothing else does. */
static void modified(void)
{
	char put[64], piggyback[64], add[64], swap[64], text[1024];
	uint64_t data[4] = {1, 2, 3, 4}, old;
	size_t size;

	OK(utofu_prepare_put_piggyback(vcq, next, data, AT(small), 16, 1, ALL, piggyback, &size));
	data[0] = 55;
	OK(utofu_modify_put_piggyback_lcl_data(piggyback, data));
	OK(utofu_modify_put_piggyback_rmt_stadd_add(piggyback, 8));
	OK(utofu_post_toq(vcq, piggyback, size, (void *)1));
	expect(1, UTOFU_MRQ_TYPE_LCL_PUT, UTOFU_MRQ_TYPE_RMT_PUT, 0, AT(small) + 24, NULL);
	CHECK(window.small[8] == 55 && window.small[16] == 2);
	together_barrier();
	OK(utofu_prepare_put(vcq, next, FROM(large), AT(large), 64, 2, ALL, put, &size));
	OK(utofu_modify_put_length(put, 3));
	OK(utofu_modify_put_lcl_stadd_add(put, 1));
	OK(utofu_modify_put_rmt_stadd_add(put, 2));
	OK(utofu_post_toq(vcq, put, size, (void *)2));
	expect(2, UTOFU_MRQ_TYPE_LCL_PUT, UTOFU_MRQ_TYPE_RMT_PUT, FROM(large) + 4, AT(large) + 5, NULL);
	together_barrier();
	OK(utofu_prepare_armw8(vcq, next, UTOFU_ARMW_OP_SWAP, 1, AT(counter), 3, ALL, add, &size));
	OK(utofu_modify_armw8_op_value(add, 99));
	OK(utofu_post_toq(vcq, add, size, (void *)3));
	expect(3, UTOFU_MRQ_TYPE_LCL_ARMW, UTOFU_MRQ_TYPE_RMT_ARMW, 0, AT(counter), &old);
	CHECK(window.counter == 99);
	together_barrier();
	OK(utofu_prepare_cswap8(vcq, next, 1, 2, AT(counter), 4, ALL, swap, &size));
	OK(utofu_modify_cswap8_values(swap, 99, 100));
	OK(utofu_post_toq(vcq, swap, size, (void *)4));
	expect(4, UTOFU_MRQ_TYPE_LCL_ARMW, UTOFU_MRQ_TYPE_RMT_ARMW, 0, AT(counter), &old);
	CHECK(old == 99 && window.counter == 100);
	together_barrier();
	CODE(utofu_modify_put_length(piggyback, 8), UTOFU_ERR_INVALID_DESC);
	CODE(utofu_modify_put_length(put, 1 << 24), UTOFU_ERR_INVALID_SIZE);
	CODE(utofu_modify_put_length(NULL, 8), UTOFU_ERR_INVALID_POINTER);
	CODE(utofu_modify_put_rmt_stadd_add(put, 1ull << 40), UTOFU_ERR_INVALID_STADD);
	CODE(utofu_modify_put_piggyback_ldat(piggyback, NULL), UTOFU_ERR_INVALID_POINTER);
	CODE(utofu_modify_cswap8_values(add, 1, 2), UTOFU_ERR_INVALID_DESC);
	CODE(utofu_modify_armw8_op_value(swap, 1), UTOFU_ERR_INVALID_DESC);
	CODE(utofu_nop(0, 0, NULL), UTOFU_ERR_INVALID_VCQ_HDL);
	utofu_get_last_error(text);
	CHECK(!strncmp(text, "utofu_nop returned", 18));
}

int main(void)
{
	utofu_stadd_t stadd;

	together_start();
	next = together_id((together.rank + 1) % together.ranks, together.tni, TEST_CMP);
	previous = together_id((together.rank + together.ranks - 1) % together.ranks, together.tni, TEST_CMP);
	OK(utofu_create_vcq_with_cmp_id(together.tni, TEST_CMP, 0, &vcq));
	OK(utofu_query_vcq_id(vcq, &mine));
	CHECK(mine == together_id(together.rank, together.tni, TEST_CMP));
	OK(utofu_set_vcq_id_path(&next, NULL));
	OK(utofu_reg_mem_with_stag(vcq, &window, sizeof window, TEST_STAG, 0, &base));
	OK(utofu_query_stadd(next, TEST_STAG, &stadd));
	CHECK(stadd == base);
	OK(utofu_reg_mem(vcq, &source, sizeof source, 0, &local));
	together_barrier();
	put();
	stride();
	get();
	atomics();
	batches();
	together_barrier();
	modified();
	together_barrier();
	OK(utofu_dereg_mem(vcq, local, 0));
	OK(utofu_free_vcq(vcq));
	together_end();
	return 0;
}
