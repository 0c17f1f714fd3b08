/* SPDX-License-Identifier: BSD-3-Clause */
/* Every mistake has its code. What the NIC finds later comes with the notices. */
#include "together.h"

static _Alignas(256) char memory[65536];
static utofu_vcq_hdl_t vcq, other;
static utofu_vcq_id_t self;
static utofu_stadd_t at, closed, nowhere;
static utofu_tni_id_t tni;

static void handles(void)
{
	utofu_vcq_hdl_t made;
	utofu_tni_id_t *tnis;
	void *cbdata;
	size_t count;

	CODE(utofu_get_onesided_tnis(NULL, &count), UTOFU_ERR_INVALID_POINTER);
	CODE(utofu_get_barrier_tnis(&tnis, NULL), UTOFU_ERR_INVALID_POINTER);
	OK(utofu_get_barrier_tnis(&tnis, &count));
	CHECK(count == 6);
	free(tnis);
	CODE(utofu_create_vcq(6, 0, &made), UTOFU_ERR_INVALID_TNI_ID);
	CODE(utofu_create_vcq(tni, 8, &made), UTOFU_ERR_INVALID_FLAGS);
	CODE(utofu_create_vcq(tni, 0, NULL), UTOFU_ERR_INVALID_POINTER);
	CODE(utofu_create_vcq_with_cmp_id(tni, 8, 0, &made), UTOFU_ERR_INVALID_CMP_ID);
	OK(utofu_create_vcq_with_cmp_id(tni, 7, 0, &made));
	CODE(utofu_create_vcq_with_cmp_id(tni, 7, 0, &made), UTOFU_ERR_USED);
	OK(utofu_free_vcq(made));
	CODE(utofu_free_vcq(made), UTOFU_ERR_INVALID_VCQ_HDL);
	CODE(utofu_poll_tcq(made, 0, &cbdata), UTOFU_ERR_INVALID_VCQ_HDL);
	CODE(utofu_poll_tcq(0, 0, &cbdata), UTOFU_ERR_INVALID_VCQ_HDL);
	CODE(utofu_poll_tcq((utofu_vcq_hdl_t)memory, 0, &cbdata), UTOFU_ERR_INVALID_VCQ_HDL);
	CODE(utofu_poll_tcq(vcq + 1, 0, &cbdata), UTOFU_ERR_INVALID_VCQ_HDL);
	CODE(utofu_poll_tcq(vcq, 1, &cbdata), UTOFU_ERR_INVALID_FLAGS);
	CODE(utofu_poll_tcq(vcq, 0, NULL), UTOFU_ERR_INVALID_POINTER);
	CODE(utofu_poll_mrq(vcq, 0, NULL), UTOFU_ERR_INVALID_POINTER);
	CODE(utofu_query_vcq_id(vcq, NULL), UTOFU_ERR_INVALID_POINTER);
}

static void ids(void)
{
	uint8_t coords[6], far[6] = {200, 0, 0, 0, 0, 0}, path[3] = {9, 9, 9}, good[3];
	union jtofu_phys_coords size;
	utofu_path_id_t path_id;
	utofu_vcq_id_t id;
	utofu_tni_id_t got_tni;
	utofu_cq_id_t cq;
	uint16_t extra;
	void *map;
	size_t bytes;
	unsigned ranks;

	OK(utofu_query_my_coords(coords));
	CODE(utofu_query_my_coords(NULL), UTOFU_ERR_INVALID_POINTER);
	CODE(utofu_construct_vcq_id(far, tni, 0, 0, &id), UTOFU_ERR_INVALID_COORDS);
	CODE(utofu_construct_vcq_id(coords, 6, 0, 0, &id), UTOFU_ERR_INVALID_TNI_ID);
	CODE(utofu_construct_vcq_id(coords, tni, 99, 0, &id), UTOFU_ERR_INVALID_CQ_ID);
	CODE(utofu_construct_vcq_id(coords, tni, 0, 8, &id), UTOFU_ERR_INVALID_CMP_ID);
	CODE(utofu_query_vcq_info(0, coords, &got_tni, &cq, &extra), UTOFU_ERR_INVALID_VCQ_ID);
	CODE(utofu_query_vcq_info(self, NULL, &got_tni, &cq, &extra), UTOFU_ERR_INVALID_POINTER);
	id = self;
	CODE(utofu_set_vcq_id_path(&id, path), UTOFU_ERR_INVALID_PATH);
	/*
	 * Every path has a number, which gives the same path back. The default path leaves the id
	 * as it is.
	 */
	CHECK(!jtofu_create_mapinfo_by_envvars(&map, &bytes, &ranks) && !jtofu_initialize(0, 0, map));
	CHECK(!jtofu_query_sys_size(&size));
	free(map);
	for (path[0] = 0; path[0] < size.s.a; path[0]++)
		for (path[1] = 0; path[1] < size.s.b; path[1]++)
			for (path[2] = 0; path[2] < size.s.c; path[2]++) {
				OK(utofu_get_path_id(self, path, &path_id));
				OK(utofu_get_path_coords(self, path_id, good));
				CHECK(!memcmp(path, good, sizeof path));
				OK(utofu_set_vcq_id_path(&id, path));
				CHECK(id != self);
				OK(utofu_set_vcq_id_path(&id, NULL));
				CHECK(id == self);
			}
	CODE(utofu_get_path_coords(self, 200, good), UTOFU_ERR_INVALID_PATH_ID);
	CHECK(!jtofu_finalize());
}

static void registrations(void)
{
	utofu_stadd_t stadd, again;

	CODE(utofu_reg_mem(vcq, NULL, 8, 0, &stadd), UTOFU_ERR_INVALID_ADDRESS);
	CODE(utofu_reg_mem(vcq, memory, 0, 0, &stadd), UTOFU_ERR_INVALID_SIZE);
	CODE(utofu_reg_mem(vcq, memory, 8, 2, &stadd), UTOFU_ERR_INVALID_FLAGS);
	CODE(utofu_reg_mem(vcq, memory, 8, 0, NULL), UTOFU_ERR_INVALID_POINTER);
	CODE(utofu_reg_mem_with_stag(vcq, memory, 8, 256, 0, &stadd), UTOFU_ERR_INVALID_STAG);
	CODE(utofu_reg_mem_with_stag(vcq, memory + 8, 8, 1, 0, &stadd), UTOFU_ERR_INVALID_ADDRESS);
	OK(utofu_reg_mem_with_stag(vcq, memory, 8, 1, 0, &stadd));
	CODE(utofu_reg_mem_with_stag(vcq, memory, 8, 1, 0, &again), UTOFU_ERR_USED);
	OK(utofu_reg_mem_with_stag(other, memory, 8, 1, 0, &again));
	CODE(utofu_query_stadd(self, 256, &again), UTOFU_ERR_INVALID_STAG);
	CODE(utofu_query_stadd(0, 1, &again), UTOFU_ERR_INVALID_VCQ_ID);
	CODE(utofu_dereg_mem(vcq, stadd, 1), UTOFU_ERR_INVALID_FLAGS);
	OK(utofu_dereg_mem(vcq, stadd, 0));
	CODE(utofu_dereg_mem(vcq, stadd, 0), UTOFU_ERR_INVALID_STADD);
	OK(utofu_reg_mem(vcq, memory, 8, 0, &stadd));
	OK(utofu_reg_mem(vcq, memory, 8, 0, &again));
	CHECK(stadd != again);
	OK(utofu_dereg_mem(vcq, again, 0));
	OK(utofu_dereg_mem(vcq, stadd, 0));
	CODE(utofu_dereg_mem(vcq, at + 1, 0), UTOFU_ERR_INVALID_STADD);
}

/* Programs declare it in this form. */
extern void utofu_get_last_error(const char *);

static void arguments(void)
{
	char text[1024];
	char descriptors[128] = "not a descriptor";
	size_t size;

	CODE(utofu_put(0, self, at, at, 8, 0, 0, NULL), UTOFU_ERR_INVALID_VCQ_HDL);
	CODE(utofu_put(vcq, 0, at, at, 8, 0, 0, NULL), UTOFU_ERR_INVALID_VCQ_ID);
	CODE(utofu_put(vcq, self, 0, at, 8, 0, 0, NULL), UTOFU_ERR_INVALID_STADD);
	CODE(utofu_put(vcq, self, at, 0, 8, 0, 0, NULL), UTOFU_ERR_INVALID_STADD);
	CODE(utofu_put(vcq, self, at, at, 16777216, 0, 0, NULL), UTOFU_ERR_INVALID_SIZE);
	CODE(utofu_put(vcq, self, at, at, 8, 256, 0, NULL), UTOFU_ERR_INVALID_EDATA);
	CODE(utofu_put(vcq, self, at, at, 8, 0, 1ul << 4, NULL), UTOFU_ERR_INVALID_FLAGS);
	CODE(utofu_put(vcq, self, at, at, 8, 0, UTOFU_ONESIDED_FLAG_PATH(255), NULL), UTOFU_ERR_INVALID_PATH_ID);
	OK(utofu_put(vcq, self, at, at, 8, 0, UTOFU_ONESIDED_FLAG_PATH(12), NULL));
	CODE(utofu_put_gap(vcq, self, at, at, 8, 0, 0, 1921, 0, NULL), UTOFU_ERR_INVALID_SIZE);
	CODE(utofu_get_gap(vcq, self, at, at, 8, 0, 0, 1920, 256, NULL), UTOFU_ERR_INVALID_SIZE);
	CODE(utofu_put_stride(vcq, self, at, at, 8, 8, 0, 0, 0, NULL), UTOFU_ERR_INVALID_NUMBER);
	CODE(utofu_put_piggyback(vcq, self, memory, at, 33, 0, 0, NULL), UTOFU_ERR_INVALID_SIZE);
	CODE(utofu_put_piggyback(vcq, self, NULL, at, 8, 0, 0, NULL), UTOFU_ERR_INVALID_POINTER);
	CODE(utofu_put_piggyback8(vcq, self, 0, at, 9, 0, 0, NULL), UTOFU_ERR_INVALID_SIZE);
	CODE(utofu_armw8(vcq, self, (enum utofu_armw_op)0, 0, at, 0, 0, NULL), UTOFU_ERR_INVALID_OP);
	CODE(utofu_armw4(vcq, self, (enum utofu_armw_op)6, 0, at, 0, 0, NULL), UTOFU_ERR_INVALID_OP);
	CODE(utofu_armw8(vcq, self, UTOFU_ARMW_OP_ADD, 0, at + 4, 0, 0, NULL), UTOFU_ERR_INVALID_STADD);
	CODE(utofu_cswap4(vcq, self, 0, 0, at + 2, 0, 0, NULL), UTOFU_ERR_INVALID_STADD);
	CODE(utofu_prepare_nop(vcq, 0, NULL, &size), UTOFU_ERR_INVALID_POINTER);
	CODE(utofu_prepare_nop(vcq, 0, descriptors, NULL), UTOFU_ERR_INVALID_POINTER);
	CODE(utofu_post_toq(vcq, NULL, 64, NULL), UTOFU_ERR_INVALID_POINTER);
	CODE(utofu_post_toq(vcq, descriptors, 63, NULL), UTOFU_ERR_INVALID_SIZE);
	CODE(utofu_post_toq(vcq, descriptors, 64, NULL), UTOFU_ERR_INVALID_DESC);
	CODE(utofu_armw8(vcq, self, UTOFU_ARMW_OP_ADD, 0, at + 4, 0, 0, NULL), UTOFU_ERR_INVALID_STADD);
	utofu_get_last_error(text);
	CHECK(!strcmp(text, "utofu_armw8 returned -525: an argument is wrong"));
}

static void sent(int wanted)
{
	struct utofu_mrq_notice notice;
	void *cbdata;

	CODE(next_sent(vcq, &cbdata), wanted);
	CHECK(cbdata == memory);
	CODE(utofu_poll_mrq(vcq, 0, &notice), UTOFU_ERR_NOT_FOUND);
}

static void arrived(int wanted, int type, uint64_t edata)
{
	struct utofu_mrq_notice notice;

	CODE(next_notice(vcq, &notice), wanted);
	CHECK(notice.notice_type == type && notice.edata == edata);
	CODE(utofu_poll_mrq(vcq, 0, &notice), UTOFU_ERR_NOT_FOUND);
}

/*
 * Errors that only the communication finds. They are reported without a flag, except that the
 * target or its memory is missing.
 */
static void found_by_the_nic(void)
{
	utofu_stadd_t of_another;
	utofu_vcq_id_t nobody;
	uint8_t coords[6];

	OK(utofu_query_my_coords(coords));
	OK(utofu_construct_vcq_id(coords, tni, 0, 6, &nobody));
	OK(utofu_reg_mem(other, memory, sizeof memory, 0, &of_another));
	OK(utofu_put(vcq, self, nowhere, at, 8, 0, 0, memory));
	sent(UTOFU_ERR_TCQ_STADD);
	OK(utofu_put(vcq, self, of_another, at, 8, 0, 0, memory));
	sent(UTOFU_ERR_TCQ_STADD);
	OK(utofu_put(vcq, self, at, at, sizeof memory + 1, 0, 0, memory));
	sent(UTOFU_ERR_TCQ_LENGTH);
	OK(utofu_put_stride(vcq, self, at, at, 8, sizeof memory / 2, 3, 0, 0, memory));
	sent(UTOFU_ERR_TCQ_LENGTH);
	OK(utofu_get(vcq, self, closed, at, 8, 0, UTOFU_ONESIDED_FLAG_STRONG_ORDER, memory));
	sent(UTOFU_ERR_TCQ_MEMORY);
	OK(utofu_put(vcq, self, at, nowhere, 8, 1, UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE, memory));
	arrived(UTOFU_ERR_MRQ_RMT_STADD, UTOFU_MRQ_TYPE_LCL_PUT, 1);
	OK(utofu_put(vcq, self, at, of_another, 8, 1, UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE, memory));
	arrived(UTOFU_ERR_MRQ_RMT_STADD, UTOFU_MRQ_TYPE_LCL_PUT, 1);
	OK(utofu_put(vcq, self, at, at + sizeof memory - 7, 8, 2, 0, memory));
	arrived(UTOFU_ERR_MRQ_RMT_LENGTH, UTOFU_MRQ_TYPE_LCL_PUT, 2);
	OK(utofu_get(vcq, self, at, at + sizeof memory - 7, 8, 3, 0, memory));
	arrived(UTOFU_ERR_MRQ_RMT_LENGTH, UTOFU_MRQ_TYPE_LCL_GET, 3);
	OK(utofu_armw8(vcq, self, UTOFU_ARMW_OP_ADD, 1, closed, 4, 0, memory));
	arrived(UTOFU_ERR_MRQ_RMT_MEMORY, UTOFU_MRQ_TYPE_LCL_ARMW, 4);
	OK(utofu_put(vcq, self, closed, closed, 8, 5, 0, memory));
	arrived(UTOFU_ERR_MRQ_RMT_MEMORY, UTOFU_MRQ_TYPE_LCL_PUT, 5);
	OK(utofu_get(vcq, self, at, closed, 8, 6, UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE, memory));
	arrived(UTOFU_SUCCESS, UTOFU_MRQ_TYPE_LCL_GET, 6);
	OK(utofu_put(vcq, nobody, at, at, 8, 7, UTOFU_ONESIDED_FLAG_STRONG_ORDER, memory));
	OK(utofu_put(vcq, self, at, nowhere, 8, 7, UTOFU_ONESIDED_FLAG_STRONG_ORDER, memory));
	OK(utofu_put(vcq, nobody, at, at, 8, 7, UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE, memory));
	arrived(UTOFU_ERR_MRQ_PEER, UTOFU_MRQ_TYPE_LCL_PUT, 7);
	OK(utofu_dereg_mem(other, of_another, 0));
}

static void full_queue(void)
{
	void *cbdata;
	size_t unread;
	int posted = 0, code;

	while (!(code = utofu_nop(vcq, UTOFU_ONESIDED_FLAG_TCQ_NOTICE, (void *)(uintptr_t)posted)))
		posted++;
	CHECK(code == UTOFU_ERR_BUSY);
	OK(utofu_query_num_unread_tcq(vcq, &unread));
	CHECK((int)unread == posted && posted >= 1024);
	OK(utofu_poll_tcq(vcq, 0, &cbdata));
	CHECK(!cbdata);
	OK(utofu_nop(vcq, UTOFU_ONESIDED_FLAG_TCQ_NOTICE, NULL));
	while (posted-- > 0)
		OK(utofu_poll_tcq(vcq, 0, &cbdata));
	CODE(utofu_poll_tcq(vcq, 0, &cbdata), UTOFU_ERR_NOT_FOUND);
}

/* Each exclusive queue takes a CQ of the NIC, and there are only so many. */
static void queues_of_the_nic(void)
{
	utofu_vcq_hdl_t alone[16];
	utofu_cq_id_t cq, seen = 0;
	utofu_tni_id_t at_tni;
	utofu_vcq_id_t id;
	uint8_t coords[6];
	uint16_t extra;
	int count = 0, code;

	while (!(code = utofu_create_vcq(tni, count % 2 ? UTOFU_VCQ_FLAG_SESSION_MODE : UTOFU_VCQ_FLAG_EXCLUSIVE,
					 &alone[count]))) {
		OK(utofu_query_vcq_id(alone[count++], &id));
		OK(utofu_query_vcq_info(id, coords, &at_tni, &cq, &extra));
		CHECK(at_tni == tni && !(seen >> cq & 1));
		seen |= (utofu_cq_id_t)(1 << cq);
	}
	CHECK(code == UTOFU_ERR_FULL && count == 10);
	OK(utofu_free_vcq(alone[3]));
	OK(utofu_create_vcq(tni, UTOFU_VCQ_FLAG_EXCLUSIVE, &alone[3]));
	while (count)
		OK(utofu_free_vcq(alone[--count]));
}

/* The last: a queue that overflowed is no use any more. */
static void overflow(void)
{
	struct utofu_mrq_notice notice;
	size_t unread;
	int sent_count;

	for (sent_count = 0; sent_count < 20; sent_count++) {
		memory[0] = (char)sent_count;
		OK(utofu_put(vcq, self, at, at + 1, 1, (uint64_t)sent_count,
			     UTOFU_ONESIDED_FLAG_STRONG_ORDER | UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE, NULL));
	}
	OK(utofu_query_num_unread_mrq(vcq, &unread));
	CHECK(unread == 16);
	/* The byte with the notice that was lost came; those after it did not. */
	CHECK(memory[1] == 16);
	for (uint64_t i = 0; i < 16; i++) {
		OK(utofu_poll_mrq(vcq, 0, &notice));
		CHECK(notice.edata == i);
	}
	CODE(utofu_poll_mrq(vcq, 0, &notice), UTOFU_ERR_MRQ_OTHER);
}

int main(void)
{
	utofu_tni_id_t *tnis;
	size_t count;

	setenv("SOFTOFU_MRQ_SIZE", "16", 1);
	OK(utofu_get_onesided_tnis(&tnis, &count));
	tni = tnis[count - 1];
	free(tnis);
	OK(utofu_create_vcq(tni, 0, &vcq));
	OK(utofu_create_vcq(tni, 0, &other));
	OK(utofu_query_vcq_id(vcq, &self));
	OK(utofu_reg_mem(vcq, memory, sizeof memory, 0, &at));
	OK(utofu_reg_mem(vcq, memory, sizeof memory, UTOFU_REG_MEM_FLAG_READ_ONLY, &closed));
	OK(utofu_reg_mem(vcq, memory, sizeof memory, 0, &nowhere));
	OK(utofu_dereg_mem(vcq, nowhere, 0));
	handles();
	ids();
	registrations();
	arguments();
	found_by_the_nic();
	full_queue();
	queues_of_the_nic();
	overflow();
	return 0;
}
