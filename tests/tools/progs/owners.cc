// SPDX-License-Identifier: BSD-3-Clause
// All that shmem.hpp has: owners, puts and gets of any type, collectives of arrays. A check that
// fails says its line and ends the job.
#ifdef COMPLEX_FIRST
#include <complex>
#endif
#include <shmem.hpp>

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <iostream>
#include <numeric>
#include <type_traits>

#define CHECK(condition)                                                                                                 \
	do {                                                                                                             \
		if (!(condition)) {                                                                                      \
			std::cerr << __FILE__ << ":" << __LINE__ << ": PE " << shmem_my_pe() << ": not so: " #condition  \
				  << std::endl;                                                                          \
			shmem_global_exit(1);                                                                            \
		}                                                                                                        \
	} while (0)

namespace {

struct particle {
	double place[3];
	std::int32_t kind;
};
enum class colour : unsigned char { red = 3, blue = 5 };
struct alignas(128) line {
	long words[16];
};

int me, npes, next, previous;

template <typename T, typename Make> void check_moves(Make make)
{
	shmem::array<T> a(8);
	T there[2] = {make(me), make(me + 1)}, back[2];
	const shmem::context ctx(0L);

	a.on(next).put(there, 2);
	a.on(next, ctx).put_nbi(there, 2, 2);
	a.on(next)[4] = make(me);
	shmem::p(&a[5], make(me + 1), next, ctx);
	shmem::put(&a[6], there, 1, next);
	shmem::put_nbi(&a[7], &there[1], 1, next);
	ctx.quiet();
	shmem_barrier_all();
	for (std::size_t i = 0; i < a.size(); i++)
		CHECK(a[i] == make(previous + int(i % 2)));
	shmem::get(back, &a[0], 2, next);
	CHECK(back[0] == make(me) && back[1] == make(me + 1));
	shmem::get_nbi(back, a.data() + 2, 2, next, ctx);
	ctx.quiet();
	CHECK(back[0] == make(me) && back[1] == make(me + 1));
	a.on(next).get(back, 2, 4);
	CHECK(back[0] == make(me) && back[1] == make(me + 1));
	const T one = a.on(next)[5];
	CHECK(one == make(me + 1) && shmem::g(&a[4], next) == make(me));
	shmem_barrier_all();
	a.on(next)[0] = a.on(next)[1]; // of an element, as of a value
	shmem_barrier_all();
	CHECK(a[0] == make(previous + 1));
	shmem_barrier_all();
}

bool operator==(const particle &a, const particle &b)
{
	return a.kind == b.kind && std::equal(a.place, a.place + 3, b.place);
}

particle make_particle(int i)
{
	return particle{{1.5 * i, 2.5 * i, -0.5 * i}, i};
}

void check_all_moves()
{
	check_moves<long>([](int i) { return long(i); });
	check_moves<double>([](int i) { return 0.25 * i; });
	check_moves<std::int8_t>([](int i) { return std::int8_t(i); });
	check_moves<bool>([](int i) { return i % 2 == 1; });
	check_moves<colour>([](int i) { return i % 2 ? colour::red : colour::blue; });
	check_moves<std::complex<double>>([](int i) { return std::complex<double>(i, -i); });
	check_moves<std::complex<float>>([](int i) { return std::complex<float>(float(i), 1); });
	check_moves<particle>(make_particle);
	check_moves<std::array<int, 3>>([](int i) { return std::array<int, 3>{{i, i + 1, i + 2}}; });
}

void check_container()
{
	shmem::array<int> a(10), none, filled(4, 7);
	const shmem::array<int> &constant = a;

	CHECK(a.size() == 10 && !a.empty() && none.empty() && none.begin() == none.end());
	CHECK(std::count(a.begin(), a.end(), 0) == 10 && std::count(filled.cbegin(), filled.cend(), 7) == 4);
	std::iota(a.begin(), a.end(), 1);
	CHECK(constant.front() == 1 && constant.back() == 10 && constant.at(3) == 4 && *a.rbegin() == 10 && *constant.rbegin() == 10);
	CHECK(std::accumulate(constant.begin(), constant.end(), 0) == 55);
	bool thrown = false;
	try {
		a.at(10) = 1;
	} catch (const std::out_of_range &) {
		thrown = true;
	}
	CHECK(thrown);
	thrown = false;
	try {
		int two[2] = {1, 2};
		a.on(me).put(two, 2, 9);
	} catch (const std::out_of_range &e) {
		thrown = std::string(e.what()) == "shmem::remote: elements 9 to 11 of an array of 10";
	}
	CHECK(thrown);
	int *where = a.data();
	shmem::array<int> b(std::move(a));
	CHECK(a.empty() && b.data() == where && b.size() == 10);
	a = std::move(b);
	CHECK(b.empty() && a.data() == where);
	swap(a, b);
	CHECK(a.empty() && b.data() == where);
	a = shmem::array<int>(3);
	CHECK(a.size() == 3);
	a = shmem::array<int>(); // what it had goes back, on all PEs
	shmem_free(b.release());
	CHECK(b.empty());
	shmem::array<line> aligned(3);
	CHECK(reinterpret_cast<std::uintptr_t>(aligned.data()) % 128 == 0 && aligned[2].words[15] == 0);
	static_assert(!std::is_copy_constructible<shmem::array<int>>::value && !std::is_copy_assignable<shmem::array<int>>::value, "");
	static_assert(std::is_nothrow_move_constructible<shmem::array<int>>::value && std::is_nothrow_move_assignable<shmem::array<int>>::value, "");
	static_assert(!std::is_copy_constructible<shmem::team>::value && !std::is_copy_constructible<shmem::context>::value, "");
	static_assert(!std::is_copy_constructible<shmem::job>::value && std::is_nothrow_destructible<shmem::array<int>>::value, "");
#if __cplusplus >= 202002L
	for (int &element : filled.span().subspan(1, 2))
		element = 9;
	CHECK(filled[0] == 7 && filled[1] == 9 && filled[2] == 9 && std::as_const(filled).span()[3] == 7);
#endif
	thrown = false;
	try {
		shmem::array<double> much(std::size_t(-1) / 2);
	} catch (const std::bad_alloc &) {
		thrown = true;
	}
	CHECK(thrown);
}

// What ends gives its memory back: many times more than the heap holds goes through it.
void check_memory_comes_back()
{
	for (int i = 0; i < 40; i++) {
		shmem::array<char> third(std::size_t(12) << 20);
		third.back() = 1;
		shmem::team part = shmem::team::world().split_strided(0, 1, npes);
		shmem::context own(part), shared(SHMEM_CTX_SERIALIZED);
		CHECK(own && shared && part);
	}
}

void check_teams()
{
	const shmem::team world = shmem::team::world();
	CHECK(world == SHMEM_TEAM_WORLD && world.my_pe() == me && world.n_pes() == npes);
	shmem::team even = world.split_strided(0, 2, (npes + 1) / 2);
	CHECK((even != SHMEM_TEAM_INVALID) == (me % 2 == 0));
	if (even) {
		shmem::context ctx(even);
		shmem_team_t of;

		CHECK(shmem_ctx_get_team(ctx, &of) == 0 && of == even);
		CHECK(even.translate_pe(even.my_pe()) == me && even.n_pes() == (npes + 1) / 2);
		even.sync();
	}
	auto axes = world.split_2d(2);
	CHECK(axes.first && axes.second && axes.first.my_pe() == me % 2 && axes.second.my_pe() == me / 2);
	shmem::team moved(std::move(axes.first));
	CHECK(moved && !axes.first);
	bool thrown = false;
	try {
		shmem::context none{shmem::team()};
	} catch (const shmem::error &e) {
		thrown = e.status() != 0;
	}
	CHECK(thrown);
}

template <typename T> void check_reductions()
{
	shmem::array<T> a(3), b(3);
	const T sum = T(npes * (npes + 1) / 2);

	a.fill(T(me + 1));
	shmem_sync_all();
	shmem::sum_reduce(b, a);
	CHECK(b[0] == sum && b[2] == sum);
	shmem::sum_inscan(b, a);
	CHECK(b[1] == T((me + 1) * (me + 2) / 2));
	shmem::sum_exscan(b, a);
	CHECK(b[1] == T(me * (me + 1) / 2));
	shmem_sync_all();
	shmem::sum_reduce(a); // in place
	CHECK(a[0] == sum);
	a.fill(T(1));
	shmem_sync_all();
	shmem::prod_reduce(&b[0], &a[0], 2, SHMEM_TEAM_WORLD);
	CHECK(b[1] == T(1));
	shmem_sync_all();
}

void check_collectives()
{
	check_reductions<int>();
	check_reductions<double>();
	check_reductions<std::complex<double>>();
	check_reductions<std::complex<float>>();
	shmem::array<unsigned> bits(1), all(1);
	bits[0] = 1u << (me % 8);
	shmem_sync_all();
	shmem::or_reduce(all, bits);
	CHECK(all[0] == (npes >= 8 ? 255u : (1u << npes) - 1));
	shmem::and_reduce(all, bits);
	CHECK(all[0] == (npes == 1 ? 1u : 0u));
	shmem::xor_reduce(all, bits);
	shmem::max_reduce(all, bits);
	CHECK(all[0] == 1u << (std::min(npes, 8) - 1));
	shmem::min_reduce(all, bits);
	CHECK(all[0] == 1);

	const std::size_t n = std::size_t(npes);
	shmem::array<particle> one(2), each(2 * n), shares(2 * n), got(2 * n);
	one[0] = make_particle(me), one[1] = make_particle(me + 1);
	shmem_sync_all();
	shmem::fcollect(each, one);
	for (int i = 0; i < npes; i++)
		CHECK(each[2 * std::size_t(i)] == make_particle(i) && each[2 * std::size_t(i) + 1] == make_particle(i + 1));
	shmem_sync_all();
	shmem::collect(each.data(), one.data(), 1);
	CHECK(each[n - 1] == make_particle(npes - 1));
	for (std::size_t i = 0; i < 2 * n; i++)
		shares[i] = make_particle(100 * me + int(i) / 2);
	shmem_sync_all();
	shmem::alltoall(got, shares);
	CHECK(got[2 * n - 1] == make_particle(100 * (npes - 1) + me));
	bool thrown = false;
	try {
		shmem::broadcast(one, shares, 0);
	} catch (const std::length_error &) {
		thrown = true;
	}
	CHECK(thrown == (npes > 1));
	shmem_sync_all();
	shmem::broadcast(got, each, npes - 1);
	CHECK(got[0] == make_particle(0) && got[n - 1] == make_particle(npes - 1));
}

} // namespace

int main()
{
	shmem::job job(shmem::thread::serialized);
	{
		shmem::job again; // nests
		CHECK(again.provided() >= shmem::thread::single);
	}
	CHECK(job.provided() >= shmem::thread::serialized);
	me = job.my_pe(), npes = job.n_pes(), next = (me + 1) % npes, previous = (me + npes - 1) % npes;
	check_all_moves();
	check_container();
	check_memory_comes_back();
	check_teams();
	check_collectives();
	shmem_barrier_all();
	if (me == 0)
		std::cout << "owners: right on " << npes << " PEs" << std::endl;
	return 0;
}
