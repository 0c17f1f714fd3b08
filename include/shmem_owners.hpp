/* SPDX-License-Identifier: BSD-3-Clause */
/* For shmem.hpp: what PEs hold and give back, but for memory: the library, teams, contexts. */
#ifndef TORUSHMEM_SHMEM_OWNERS_HPP
#define TORUSHMEM_SHMEM_OWNERS_HPP

#include <shmem.h>
#include <shmemx.h>

#if __cplusplus < 201103L
#error "shmem.hpp needs C++11 or later"
#endif
#ifdef SHMEMX_NO_OVERLOADS
#error "shmem.hpp needs the overloads of shmem.h, which SHMEMX_NO_OVERLOADS leaves out"
#endif

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

namespace shmem {

/* A call of the library returned a status other than 0. */
class error : public std::runtime_error {
public:
	error(const char *routine, int status)
	    : std::runtime_error(std::string(routine) + " returned " + std::to_string(status)), status_(status)
	{
	}
	int status() const noexcept { return status_; }

protected:
	error(const std::string &message, int status) : std::runtime_error(message), status_(status) {}

private:
	int status_;
};

/* The job is broken: what shmemx_error says of it, and its kind as the status. */
class broken : public error {
public:
	explicit broken(const shmemx_error_t &why)
	    : error(std::string(why.message), why.kind), pe_(why.pe), routine_(why.routine ? why.routine : "")
	{
	}
	int kind() const noexcept { return status(); }
	int pe() const noexcept { return pe_; }
	const std::string &routine() const noexcept { return routine_; }

private:
	int pe_;
	std::string routine_;
};

/* Throws if the job is broken, which is possible only if errors return. */
inline void throw_if_broken()
{
	shmemx_error_t why;

	if (shmemx_error(&why) != SHMEMX_ERROR_NONE)
		throw broken(why);
}

namespace detail {

inline void check(int status, const char *routine)
{
	if (status == 0)
		return;
	throw_if_broken();
	throw error(routine, status);
}

inline bool is_unwinding() noexcept
{
#if __cplusplus >= 201703L
	return std::uncaught_exceptions() > 0;
#else
	return std::uncaught_exception();
#endif
}

/* Is there a library that would take something back, and will the other PEs do the same? */
inline bool may_give_back() noexcept
{
	int initialized = 0;

	shmem_query_initialized(&initialized);
	return initialized && !is_unwinding();
}

} // namespace detail

/* ---- The library ---- */

enum class thread {
	single = SHMEM_THREAD_SINGLE,
	funneled = SHMEM_THREAD_FUNNELED,
	serialized = SHMEM_THREAD_SERIALIZED,
	multiple = SHMEM_THREAD_MULTIPLE
};

/*
 * Initialises the library, and finalizes it at the end. Jobs nest, as shmem_init does. A broken job
 * may end by an exception.
 */
class job {
public:
	explicit job(thread wanted = thread::single)
	{
		int provided;

		detail::check(shmem_init_thread(static_cast<int>(wanted), &provided), "shmem_init_thread");
		if (provided < static_cast<int>(wanted)) {
			std::fprintf(stderr, "shmem::job: thread level %d is wanted, %d is there; ask for a lower one\n",
				     static_cast<int>(wanted), provided);
			shmem_global_exit(1);
		}
		provided_ = static_cast<thread>(provided);
	}
	/* A job of an id, an all-gather, or with errors that return, which throw: shmemx_init_attr. */
	explicit job(const shmemx_init_attr_t &attr)
	{
		int provided = attr.threads;

		detail::check(shmemx_init_attr(&attr), "shmemx_init_attr");
		shmem_query_thread(&provided);
		provided_ = static_cast<thread>(provided);
	}
	~job()
	{
		if (detail::is_unwinding() && shmemx_error(nullptr) == SHMEMX_ERROR_NONE) {
			std::fprintf(stderr,
				     "shmem::job: PE %d leaves the job by an exception; catch it inside of the job\n",
				     shmem_my_pe());
			shmem_global_exit(1);
		}
		shmem_finalize();
	}
	job(const job &) = delete;
	job &operator=(const job &) = delete;

	thread provided() const noexcept { return provided_; }
	int my_pe() const noexcept { return shmem_my_pe(); }
	int n_pes() const noexcept { return shmem_n_pes(); }

private:
	thread provided_;
};

/* ---- Teams and contexts ---- */

/* Owns a team; the predefined ones and none at all may be held, too, and are never destroyed. Converts to shmem_team_t. */
class team {
public:
	team() noexcept : handle_(SHMEM_TEAM_INVALID) {}
	explicit team(shmem_team_t handle) noexcept : handle_(handle) {}
	team(team &&other) noexcept : handle_(other.release()) {}
	team &operator=(team &&other) noexcept
	{
		team old(std::move(*this));

		handle_ = other.release();
		return *this;
	}
	~team()
	{
		if (handle_ != SHMEM_TEAM_INVALID && handle_ != SHMEM_TEAM_WORLD && handle_ != SHMEM_TEAM_SHARED &&
		    detail::may_give_back())
			shmem_team_destroy(handle_);
	}
	static team world() noexcept { return team(SHMEM_TEAM_WORLD); }
	static team shared() noexcept { return team(SHMEM_TEAM_SHARED); }

	operator shmem_team_t() const noexcept { return handle_; } /* SHMEM_TEAM_INVALID: this PE is no member */
	shmem_team_t release() noexcept
	{
		shmem_team_t handle = handle_;

		handle_ = SHMEM_TEAM_INVALID;
		return handle;
	}

	int my_pe() const noexcept { return shmem_team_my_pe(handle_); }
	int n_pes() const noexcept { return shmem_team_n_pes(handle_); }
	int translate_pe(int pe, shmem_team_t to = SHMEM_TEAM_WORLD) const noexcept
	{
		return shmem_team_translate_pe(handle_, pe, to);
	}
	void sync() const { detail::check(shmem_team_sync(handle_), "shmem_team_sync"); }

	/* Called by all members; those that are not in the new team get an invalid one. */
	team split_strided(int start, int stride, int size) const
	{
		shmem_team_t part = SHMEM_TEAM_INVALID;

		detail::check(shmem_team_split_strided(handle_, start, stride, size, nullptr, 0, &part),
			      "shmem_team_split_strided");
		return team(part);
	}
	/* The row and the column of this PE, where members lie in rows of xrange. */
	std::pair<team, team> split_2d(int xrange) const
	{
		shmem_team_t row = SHMEM_TEAM_INVALID, column = SHMEM_TEAM_INVALID;

		detail::check(shmem_team_split_2d(handle_, xrange, nullptr, 0, &row, nullptr, 0, &column),
			      "shmem_team_split_2d");
		return std::pair<team, team>(team(row), team(column));
	}

private:
	shmem_team_t handle_;
};

/*
 * Owns a context. After the end of its team it may only be destroyed. Converts to shmem_ctx_t. Only
 * this PE takes part in making and destroying one.
 */
class context {
public:
	context() noexcept : handle_(SHMEM_CTX_INVALID) {}
	explicit context(long options) : handle_(SHMEM_CTX_INVALID)
	{
		detail::check(shmem_ctx_create(options, &handle_), "shmem_ctx_create");
	}
	explicit context(shmem_team_t team, long options = 0) : handle_(SHMEM_CTX_INVALID)
	{
		detail::check(shmem_team_create_ctx(team, options, &handle_), "shmem_team_create_ctx");
	}
	context(context &&other) noexcept : handle_(other.release()) {}
	context &operator=(context &&other) noexcept
	{
		context old(std::move(*this));

		handle_ = other.release();
		return *this;
	}
	~context()
	{
		if (handle_ != SHMEM_CTX_INVALID && handle_ != SHMEM_CTX_DEFAULT && detail::may_give_back())
			shmem_ctx_destroy(handle_);
	}

	operator shmem_ctx_t() const noexcept { return handle_; }
	shmem_ctx_t release() noexcept
	{
		shmem_ctx_t handle = handle_;

		handle_ = SHMEM_CTX_INVALID;
		return handle;
	}
	void fence() const noexcept { shmem_ctx_fence(handle_); }
	void quiet() const noexcept { shmem_ctx_quiet(handle_); }

private:
	shmem_ctx_t handle_;
};

} // namespace shmem

#endif
