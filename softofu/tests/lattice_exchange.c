/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lattice_exchange ITERATIONS BYTES [FOLDER]: the exchange of a solver of lattice QCD with four
 * ranks on a node, as QWS has it: eight neighbours in four dimensions, all by the NICs, two receive
 * buffers for each, one put with strong order to each. Every message is checked. Nodes are a grid
 * by their logical coordinates; the ranks of a node are two along the third dimension and two along
 * the fourth, which has no more.
 *
 * With FOLDER one process writes the records that SOFTOFU_RECORD=FOLDER has of SOFTOFU_RANKS ranks,
 * without starting them: a rank sends and reads in a fixed order, so its record follows from its
 * neighbours.
 */
#include <pmix.h>

#include "together.h"

#include "softofu/nic/descriptor.h"
#include "softofu/nic/recording.h"

enum { DIRECTIONS = 8, LOCALS = 4, TNI_COUNT = 6, EXCHANGE_STAG = 5 };

struct direction {
	utofu_vcq_hdl_t vcq;
	utofu_vcq_id_t there;
	utofu_stadd_t out, in;
	char *sent, *received; /* received: two buffers */
	long arrived;	       /* messages */
};

static int rank, per_node;
static size_t bytes, room;
static struct direction directions[DIRECTIONS];

static int rank_at(union jtofu_log_coords *at, int local)
{
	jtofu_rank_t ranks[LOCALS];
	size_t count;

	CHECK(jtofu_query_ranks_from_log_coords(0, at, LOCALS, ranks, &count) == JTOFU_SUCCESS && count == LOCALS);
	return (int)ranks[local];
}

static int neighbour(int of, int direction)
{
	int axis = direction / 2, step = direction % 2 ? -1 : 1, local = of % LOCALS;
	union jtofu_log_coords at, size;

	CHECK(!jtofu_query_log_coords(0, (jtofu_rank_t)of, &at) && !jtofu_query_log_size(&size));
	if (axis == 3)
		return rank_at(&at, local ^ 2);
	if (axis == 2) {
		int sites = 2 * (int)size.a[2], z = (2 * (int)at.a[2] + local % 2 + step + sites) % sites;

		at.a[2] = (uint32_t)(z / 2);
		return rank_at(&at, (local & 2) | z % 2);
	}
	at.a[axis] = (at.a[axis] + size.a[axis] + (uint32_t)step) % size.a[axis];
	return rank_at(&at, local);
}

/* The queue by which a rank sends in a direction and receives from there. */
static utofu_vcq_id_t id_of(int of, int direction)
{
	union jtofu_phys_coords place;
	utofu_vcq_id_t id;

	CHECK(!jtofu_query_phys_coords(0, (jtofu_rank_t)of, &place));
	OK(utofu_construct_vcq_id(place.a, (utofu_tni_id_t)(direction % TNI_COUNT),
				  together_cq(of % per_node, per_node), (utofu_cmp_id_t)(direction / TNI_COUNT), &id));
	return id;
}

static void make_direction(int number)
{
	struct direction *direction = &directions[number];
	int tni = number % TNI_COUNT, component = number / TNI_COUNT;

	direction->sent = aligned_alloc(256, room);
	direction->received = aligned_alloc(256, 2 * room);
	CHECK(direction->sent && direction->received);
	memset(direction->received, 0, 2 * room);
	OK(utofu_create_vcq_with_cmp_id((utofu_tni_id_t)tni, (utofu_cmp_id_t)component, 0, &direction->vcq));
	OK(utofu_reg_mem(direction->vcq, direction->sent, room, 0, &direction->out));
	OK(utofu_reg_mem_with_stag(direction->vcq, direction->received, 2 * room, EXCHANGE_STAG, 0, &direction->in));
	direction->there = id_of(neighbour(rank, number), number ^ 1);
	OK(utofu_set_vcq_id_path(&direction->there, NULL));
	OK(utofu_query_stadd(direction->there, EXCHANGE_STAG, &direction->in));
}

static char mark(int of, int direction, long iteration)
{
	return (char)(of * 31 + direction * 7 + iteration);
}

static void send_all(long iteration)
{
	size_t at = (size_t)(iteration % 2) * room;

	for (int number = 0; number < DIRECTIONS; number++) {
		struct direction *direction = &directions[number];

		memset(direction->sent, mark(rank, number, iteration), bytes);
		OK(utofu_put(direction->vcq, direction->there, direction->out, direction->in + at, bytes,
			     (uint64_t)(iteration % 2),
			     UTOFU_ONESIDED_FLAG_STRONG_ORDER | UTOFU_ONESIDED_FLAG_TCQ_NOTICE |
				     UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE,
			     NULL));
	}
}

static void await_all(long iteration)
{
	struct utofu_mrq_notice notice;
	useconds_t pause = 1000;
	void *cbdata;

	for (int number = 0; number < DIRECTIONS; number++) {
		struct direction *direction = &directions[number];
		const char *message = direction->received + (size_t)(iteration % 2) * room;
		char wanted = mark(neighbour(rank, number), number ^ 1, iteration);
		int code;

		while (direction->arrived < iteration) {
			code = utofu_poll_mrq(direction->vcq, 0, &notice);
			if (code == UTOFU_ERR_NOT_FOUND) {
				usleep(pause = pause < 200000 ? 2 * pause : pause);
				continue;
			}
			CHECK(code == UTOFU_SUCCESS && notice.notice_type == UTOFU_MRQ_TYPE_RMT_PUT);
			direction->arrived++;
		}
		CHECK(message[0] == wanted && message[bytes - 1] == wanted);
		CHECK(next_sent(direction->vcq, &cbdata) == UTOFU_SUCCESS);
	}
}

static void exchange(long iterations)
{
	pmix_proc_t me;

	CHECK(PMIx_Init(&me, NULL, 0) == PMIX_SUCCESS);
	for (int number = 0; number < DIRECTIONS; number++)
		make_direction(number);
	/* Not by Tofu: the record has nothing but the exchange. */
	CHECK(PMIx_Fence(NULL, 0, NULL, 0) == PMIX_SUCCESS);
	for (long iteration = 1; iteration <= iterations; iteration++) {
		send_all(iteration);
		await_all(iteration);
	}
	/* What was for this rank has come, and what it sent has left. */
	for (int number = 0; number < DIRECTIONS; number++)
		OK(utofu_free_vcq(directions[number].vcq));
	CHECK(PMIx_Finalize(NULL, 0) == PMIX_SUCCESS);
}

/* --- Records without a run --- */

static uint64_t message_of(int of, int direction, long iteration)
{
	return (uint64_t)of << 32 | ((uint64_t)(iteration - 1) * DIRECTIONS + (uint64_t)direction + 1);
}

/* Of an iteration: what a rank sends, and what it reads. */
static void describe_rank(int of, struct record sent[DIRECTIONS], struct record read[DIRECTIONS])
{
	for (int number = 0; number < DIRECTIONS; number++) {
		sent[number] = (struct record){.kind = RECORD_SENT,
					       .what = KIND_PUT,
					       .from = id_of(of, number),
					       .to = id_of(neighbour(of, number), number ^ 1),
					       .bytes = bytes,
					       .steps = 1};
		read[number] = (struct record){.kind = RECORD_READ, .what = UTOFU_MRQ_TYPE_RMT_PUT};
	}
}

static void write_rank(const char *folder, int of, long iterations)
{
	struct record records[2 * DIRECTIONS], *read = records + DIRECTIONS;
	char path[4096];
	FILE *file;

	snprintf(path, sizeof path, "%s/" RECORD_FILE, folder, of);
	file = fopen(path, "w");
	CHECK(file != NULL);
	describe_rank(of, records, read);
	for (long iteration = 1; iteration <= iterations; iteration++) {
		for (int number = 0; number < DIRECTIONS; number++) {
			records[number].message = message_of(of, number, iteration);
			read[number].message = message_of(neighbour(of, number), number ^ 1, iteration);
		}
		CHECK(fwrite(records, sizeof *records, 2 * DIRECTIONS, file) == 2 * DIRECTIONS);
	}
	CHECK(fclose(file) == 0);
}

int main(int argc, char **argv)
{
	long iterations = argc > 1 ? atol(argv[1]) : 10;
	unsigned ranks;
	size_t length;
	void *map;

	bytes = argc > 2 ? (size_t)atol(argv[2]) : 4096;
	room = (bytes + 255) / 256 * 256;
	CHECK(!jtofu_create_mapinfo_by_envvars(&map, &length, &ranks));
	rank = getenv("PMIX_RANK") ? atoi(getenv("PMIX_RANK")) : 0;
	CHECK(!jtofu_initialize(0, (jtofu_rank_t)rank, map));
	free(map);
	per_node = jtofu_query_max_proc_per_node();
	CHECK(per_node == LOCALS && ranks % LOCALS == 0 && bytes > 0);
	if (argc > 3)
		for (unsigned of = 0; of < ranks; of++)
			write_rank(argv[3], (int)of, iterations);
	else
		exchange(iterations);
	if (rank == 0)
		printf("%u ranks %s %ld times %zu bytes with %d neighbours\n", ranks,
		       argc > 3 ? "would exchange" : "exchanged", iterations, bytes, DIRECTIONS);
	return jtofu_finalize();
}
