// SPDX-License-Identifier: BSD-3-Clause
/*
 * Broadcasts along a chain of ranks by session queues, from any root, as in a benchmark for large systems of
 * equations. Each rank notifies the one before it that it is ready, by a flag in its memory. A message is a strided
 * put for all its pieces except the last, and a put for the last. Ids are used as they come, without a path.
 */
#include <mpi.h>
#include <utofu.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(condition)                                                                             \
	do {                                                                                         \
		if (!(condition)) {                                                                  \
			std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			MPI_Abort(MPI_COMM_WORLD, 1);                                                \
		}                                                                                    \
	} while (0)

namespace {

struct Chain {
	static constexpr std::size_t piece = 1920;
	int rank, ranks, next, previous;
	utofu_vcq_hdl_t free_queue, session;
	utofu_vcq_id_t previous_free, next_session;
	utofu_stadd_t by_free, by_session, next_data, own_ready, previous_ready;
	alignas(256) volatile int64_t ready = -1; // the step that the next one is ready for
	std::vector<char> data;

	explicit Chain(std::size_t bytes) : data(bytes)
	{
		utofu_tni_id_t *tnis;
		std::size_t count;
		utofu_vcq_id_t free_id, session_id;

		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		MPI_Comm_size(MPI_COMM_WORLD, &ranks);
		next = (rank + 1) % ranks;
		previous = (rank + ranks - 1) % ranks;
		CHECK(utofu_get_onesided_tnis(&tnis, &count) == UTOFU_SUCCESS);
		CHECK(utofu_create_vcq(tnis[0], 0, &free_queue) == UTOFU_SUCCESS);
		CHECK(utofu_create_vcq(tnis[0], UTOFU_VCQ_FLAG_SESSION_MODE, &session) == UTOFU_SUCCESS);
		std::free(tnis);
		CHECK(utofu_reg_mem(free_queue, (void *)&ready, sizeof ready, 0, &own_ready) == UTOFU_SUCCESS);
		CHECK(utofu_reg_mem(free_queue, data.data(), bytes, 0, &by_free) == UTOFU_SUCCESS);
		CHECK(utofu_reg_mem(session, data.data(), bytes, 0, &by_session) == UTOFU_SUCCESS);
		CHECK(utofu_query_vcq_id(free_queue, &free_id) == UTOFU_SUCCESS);
		CHECK(utofu_query_vcq_id(session, &session_id) == UTOFU_SUCCESS);
		next_session = exchange(session_id, previous, next);
		next_data = exchange(by_session, previous, next);
		previous_free = exchange(free_id, next, previous);
		previous_ready = exchange(own_ready, next, previous);
	}

	~Chain()
	{
		MPI_Barrier(MPI_COMM_WORLD);
		CHECK(utofu_dereg_mem(free_queue, own_ready, 0) == UTOFU_SUCCESS);
		CHECK(utofu_dereg_mem(free_queue, by_free, 0) == UTOFU_SUCCESS);
		CHECK(utofu_dereg_mem(session, by_session, 0) == UTOFU_SUCCESS);
		CHECK(utofu_free_vcq(free_queue) == UTOFU_SUCCESS && utofu_free_vcq(session) == UTOFU_SUCCESS);
	}

	static uint64_t exchange(uint64_t value, int to, int from)
	{
		uint64_t got;

		MPI_Sendrecv(&value, 1, MPI_UINT64_T, to, 0, &got, 1, MPI_UINT64_T, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		return got;
	}

	bool ends(int who, int root) const
	{
		return (who + 1) % ranks == root;
	}

	void say_ready(int64_t step)
	{
		CHECK(utofu_put_piggyback8(free_queue, previous_free, (uint64_t)step, previous_ready, 8, 0,
					   UTOFU_ONESIDED_FLAG_STRONG_ORDER, nullptr) == UTOFU_SUCCESS);
	}

	void send(int root)
	{
		utofu_vcq_hdl_t queue = rank == root ? free_queue : session;
		utofu_stadd_t from = rank == root ? by_free : by_session;
		std::size_t pieces = (data.size() + piece - 1) / piece, last = (pieces - 1) * piece;
		bool to_end = ends(next, root);
		unsigned long step = to_end ? 0 : UTOFU_ONESIDED_FLAG_SPS(1);

		if (pieces > 1)
			CHECK(utofu_put_stride(queue, next_session, from, next_data, piece, piece, pieces - 1, 0,
					       UTOFU_ONESIDED_FLAG_STRONG_ORDER | step, nullptr) == UTOFU_SUCCESS);
		CHECK(utofu_put(queue, next_session, from + last, next_data + last, data.size() - last, 0,
				UTOFU_ONESIDED_FLAG_STRONG_ORDER | UTOFU_ONESIDED_FLAG_TCQ_NOTICE | step |
					(to_end ? UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE : 0),
				nullptr) == UTOFU_SUCCESS);
	}

	void wait(int root)
	{
		struct utofu_mrq_notice notice;
		void *cbdata;
		int code;

		do
			code = ends(rank, root) ? utofu_poll_mrq(session, 0, &notice)
						: utofu_poll_tcq(rank == root ? free_queue : session, 0, &cbdata);
		while (code == UTOFU_ERR_NOT_FOUND);
		CHECK(code == UTOFU_SUCCESS);
	}

	void broadcast(int64_t step, int root)
	{
		for (std::size_t i = 0; i < data.size(); i++)
			data[i] = rank == root ? (char)(step + (int64_t)i) : 0;
		if (rank != root)
			say_ready(step);
		if (!ends(rank, root)) {
			while (ready < step)
				;
			send(root);
		}
		wait(root);
		for (std::size_t i = 0; i < data.size(); i++)
			CHECK(data[i] == (char)(step + (int64_t)i));
	}
};

} // namespace

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	for (std::size_t bytes : {100ul, 1920ul, 100000ul}) {
		Chain chain(bytes);

		MPI_Barrier(MPI_COMM_WORLD);
		for (int64_t step = 0; step < 2 * chain.ranks; step++) {
			chain.broadcast(step, (int)(step % chain.ranks));
			MPI_Barrier(MPI_COMM_WORLD); // the root changes: a rank that runs ahead must not notify the old one
		}
		if (chain.rank == 0)
			std::printf("%zu bytes from %d roots\n", bytes, chain.ranks);
	}
	MPI_Finalize();
	return 0;
}
