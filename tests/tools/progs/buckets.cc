// SPDX-License-Identifier: BSD-3-Clause
// A bucket sort in C++: numbers go to the PE that owns their range, room there is taken by a
// fetching add.
#include <shmem.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <numeric>
#include <vector>

namespace {

constexpr std::size_t each = 5000;

template <typename T> class Symmetric {
public:
	explicit Symmetric(std::size_t n) : data_(static_cast<T *>(shmem_calloc(n, sizeof(T)))) {}
	~Symmetric() { shmem_free(data_); }
	Symmetric(const Symmetric &) = delete;
	Symmetric &operator=(const Symmetric &) = delete;
	T *get() const { return data_; }
	T &operator[](std::size_t i) { return data_[i]; }

private:
	T *data_;
};

std::uint64_t random_number(std::uint64_t &state)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state >> 33;
}

bool sort(int me, int npes)
{
	const std::uint64_t width = (std::uint64_t(1) << 31) / static_cast<std::uint64_t>(npes) + 1;
	Symmetric<long> inbox(each * static_cast<std::size_t>(npes));
	Symmetric<long> taken(1), sums(2), totals(2), last(1);
	std::vector<std::vector<long>> buckets(static_cast<std::size_t>(npes));
	std::uint64_t state = 17 + static_cast<std::uint64_t>(me);

	for (std::size_t i = 0; i < each; i++) {
		const auto number = random_number(state);

		buckets[number / width].push_back(static_cast<long>(number));
		sums[0] += static_cast<long>(number);
	}
	for (int pe = 0; pe < npes; pe++) {
		const auto &bucket = buckets[static_cast<std::size_t>(pe)];
		const long at = shmem_long_atomic_fetch_add(taken.get(), static_cast<long>(bucket.size()), pe);

		shmem_long_put(inbox.get() + at, bucket.data(), bucket.size(), pe);
	}
	shmem_barrier_all();

	std::vector<long> mine(inbox.get(), inbox.get() + taken[0]);
	std::sort(mine.begin(), mine.end());
	sums[1] = std::accumulate(mine.begin(), mine.end(), 0L);
	last[0] = mine.empty() ? -1 : mine.back();
	shmem_barrier_all();
	shmem_long_sum_reduce(SHMEM_TEAM_WORLD, totals.get(), sums.get(), 2);
	const bool after_left = me == 0 || mine.empty() || shmem_long_g(last.get(), me - 1) <= mine.front();
	shmem_barrier_all();
	return after_left && totals[0] == totals[1];
}

} // namespace

int main()
{
	shmem_init();
	const int me = shmem_my_pe(), npes = shmem_n_pes();
	const bool good = sort(me, npes);

	if (!good)
		std::cerr << "PE " << me << ": not sorted" << std::endl;
	else if (me == 0)
		std::cout << "buckets: sorted on " << npes << " PEs" << std::endl;
	shmem_finalize();
	return good ? 0 : 1;
}
