// SPDX-License-Identifier: BSD-3-Clause
/*
 * A class for each direction with one send buffer and two receive buffers, as in libraries for lattices; MPI
 * exchanges ids and addresses. The receiver polls the last word of a message, without any call. Then the queues of
 * opposite directions are swapped for sending, so that messages to and from a neighbour share one queue.
 */
#include <mpi.h>
#include <utofu.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#define CHECK(condition)                                                                             \
	do {                                                                                         \
		if (!(condition)) {                                                                  \
			std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			MPI_Abort(MPI_COMM_WORLD, 1);                                                \
		}                                                                                    \
	} while (0)

namespace {

constexpr std::size_t words = 1024; // the last one counts
constexpr int steps = 40;

uint64_t swap_with(int to, int from, uint64_t value)
{
	uint64_t got;

	MPI_Sendrecv(&value, 1, MPI_UINT64_T, from, 0, &got, 1, MPI_UINT64_T, to, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return got;
}

class Direction {
public:
	Direction(utofu_tni_id_t tni, int to, int from)
	{
		CHECK(utofu_create_vcq(tni, UTOFU_VCQ_FLAG_THREAD_SAFE, &vcq) == UTOFU_SUCCESS);
		CHECK(utofu_query_vcq_id(vcq, &target) == UTOFU_SUCCESS);
		target = swap_with(to, from, target);
		CHECK(utofu_set_vcq_id_path(&target, nullptr) == UTOFU_SUCCESS);
		sent = make(0, &source);
		for (int parity = 0; parity < 2; parity++) {
			received[parity] = make(255, &own[parity]);
			there[parity] = swap_with(to, from, own[parity]);
			seen[parity] = 255;
		}
		sends_by = vcq;
		sends_from = source;
		MPI_Barrier(MPI_COMM_WORLD);
	}

	~Direction()
	{
		take_notices();
		CHECK(utofu_dereg_mem(vcq, source, 0) == UTOFU_SUCCESS);
		for (utofu_stadd_t memory : own)
			CHECK(utofu_dereg_mem(vcq, memory, 0) == UTOFU_SUCCESS);
		CHECK(utofu_free_vcq(vcq) == UTOFU_SUCCESS);
		std::free((void *)sent);
		std::free((void *)received[0]);
		std::free((void *)received[1]);
	}

	static void swap_queues(Direction &left, Direction &right)
	{
		CHECK(utofu_dereg_mem(left.vcq, left.source, 0) == UTOFU_SUCCESS);
		CHECK(utofu_dereg_mem(right.vcq, right.source, 0) == UTOFU_SUCCESS);
		left.enter(right.sent);
		right.enter(left.sent);
		std::swap(left.sends_by, right.sends_by);
		left.sends_from = right.source;
		right.sends_from = left.source;
	}

	void start(int parity, int value)
	{
		for (std::size_t i = 0; i < words - 1; i++)
			sent[i] = value;
		sent[words - 1] = (sent[words - 1] + 1) % 256;
		CHECK(utofu_put(sends_by, target, sends_from, there[parity], words * sizeof(int), 0,
				UTOFU_ONESIDED_FLAG_TCQ_NOTICE | UTOFU_ONESIDED_FLAG_STRONG_ORDER |
					UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE,
				nullptr) == UTOFU_SUCCESS);
	}

	void wait(int parity, int value)
	{
		take_notices();
		notices++;
		while (received[parity][words - 1] == seen[parity])
			;
		seen[parity] = received[parity][words - 1];
		for (std::size_t i = 0; i < words - 1; i++)
			CHECK(received[parity][i] == value);
	}

	void wait_sent()
	{
		void *cbdata;
		int code;

		do
			code = utofu_poll_tcq(sends_by, 0, &cbdata);
		while (code == UTOFU_ERR_NOT_FOUND);
		CHECK(code == UTOFU_SUCCESS);
	}

private:
	utofu_vcq_hdl_t vcq, sends_by;
	utofu_vcq_id_t target;
	utofu_stadd_t source, sends_from, own[2], there[2];
	volatile int *sent, *received[2];
	int seen[2], notices = 0;

	volatile int *make(int last, utofu_stadd_t *stadd)
	{
		void *memory;

		CHECK(posix_memalign(&memory, 256, words * sizeof(int)) == 0);
		std::memset(memory, 0, words * sizeof(int));
		static_cast<int *>(memory)[words - 1] = last;
		CHECK(utofu_reg_mem(vcq, memory, words * sizeof(int), 0, stadd) == UTOFU_SUCCESS);
		return static_cast<volatile int *>(memory);
	}

	void enter(volatile int *memory)
	{
		CHECK(utofu_reg_mem(vcq, (void *)memory, words * sizeof(int), 0, &source) == UTOFU_SUCCESS);
	}

	/* Those of what came before: else the queue would fill. */
	void take_notices()
	{
		struct utofu_mrq_notice notice;

		for (; notices > 0; notices--) {
			int code;

			do
				code = utofu_poll_mrq(vcq, 0UL, &notice);
			while (code == UTOFU_ERR_NOT_FOUND);
			CHECK(code == UTOFU_SUCCESS && notice.notice_type == UTOFU_MRQ_TYPE_RMT_PUT);
		}
	}
};

} // namespace

int main(int argc, char **argv)
{
	int rank, ranks;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	{
		int up = (rank + 1) % ranks, down = (rank + ranks - 1) % ranks;
		utofu_tni_id_t *tnis;
		std::size_t count;

		CHECK(utofu_get_onesided_tnis(&tnis, &count) == UTOFU_SUCCESS && count > 0);
		Direction upwards(tnis[0], up, down), downwards(tnis[1 % count], down, up);
		std::free(tnis);
		Direction::swap_queues(upwards, downwards);
		for (int step = 0; step < steps; step++) {
			upwards.start(step % 2, step * ranks + rank);
			downwards.start(step % 2, -step * ranks - rank);
			upwards.wait(step % 2, step * ranks + down);
			downwards.wait(step % 2, -step * ranks - up);
			upwards.wait_sent();
			downwards.wait_sent();
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
	if (rank == 0)
		std::printf("%d steps of %d ranks\n", steps, ranks);
	MPI_Finalize();
	return 0;
}
