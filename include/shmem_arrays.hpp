/* SPDX-License-Identifier: BSD-3-Clause */
/* For shmem.hpp: puts and gets of any type that may be copied as bytes, and symmetric arrays. */
#ifndef TORUSHMEM_SHMEM_ARRAYS_HPP
#define TORUSHMEM_SHMEM_ARRAYS_HPP

#include <shmem_owners.hpp>

#include <cstddef>
#include <cstring>
#include <iterator>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#if __cplusplus >= 202002L
#include <span>
#endif

namespace shmem {

namespace detail {

/* The bytes of so many elements. */
template <typename T> constexpr std::size_t bytes(std::size_t n)
{
	static_assert(
		std::is_trivially_copyable<T>::value,
		"shmem.hpp moves types that may be copied as bytes (std::is_trivially_copyable), such as numbers, "
		"std::complex, enums, and structures and std::array of these");
	return n * sizeof(T);
}

/*
 * Do as many shares as the team has PEs, or one, fit into a destination? An invalid team has no size: the
 * routine of C, which is called next, names it and ends the job.
 */
enum class shares { one, of_each_pe };
inline void fits(std::size_t dest, std::size_t source, shares come, shmem_team_t team, const char *routine)
{
	if (team == SHMEM_TEAM_INVALID)
		return;

	const int n = come == shares::one ? 1 : shmem_team_n_pes(team);

	if (dest / static_cast<std::size_t>(n) < source)
		throw std::length_error(std::string(routine) + ": dest has " + std::to_string(dest) +
					" elements, " + std::to_string(n) + " times " +
					std::to_string(source) + " are to go there");
}

/* A parameter from which no type is deduced: it converts to what the others say. */
template <typename T> struct same {
	typedef T type;
};

} // namespace detail

/* ---- Puts and gets of every type that may be copied as bytes ---- */

namespace detail {

/* By the typed routine where there is one, which is as in C, otherwise by bytes. */
template <typename T, bool Typed = shmemx_type<T>::rma> struct mover {
	static void put(shmem_ctx_t c, T *d, const T *s, std::size_t n, int pe) { shmem_put(c, d, s, n, pe); }
	static void get(shmem_ctx_t c, T *d, const T *s, std::size_t n, int pe) { shmem_get(c, d, s, n, pe); }
	static void put_nbi(shmem_ctx_t c, T *d, const T *s, std::size_t n, int pe) { shmem_put_nbi(c, d, s, n, pe); }
	static void get_nbi(shmem_ctx_t c, T *d, const T *s, std::size_t n, int pe) { shmem_get_nbi(c, d, s, n, pe); }
	static void p(shmem_ctx_t c, T *d, const T &value, int pe) { shmem_p(c, d, value, pe); }
	static T g(shmem_ctx_t c, const T *s, int pe) { return shmem_g(c, s, pe); }
};

template <typename T> struct mover<T, false> {
	static void put(shmem_ctx_t c, T *d, const T *s, std::size_t n, int pe)
	{
		shmem_ctx_putmem(c, d, s, bytes<T>(n), pe);
	}
	static void get(shmem_ctx_t c, T *d, const T *s, std::size_t n, int pe)
	{
		shmem_ctx_getmem(c, d, s, bytes<T>(n), pe);
	}
	static void put_nbi(shmem_ctx_t c, T *d, const T *s, std::size_t n, int pe)
	{
		shmem_ctx_putmem_nbi(c, d, s, bytes<T>(n), pe);
	}
	static void get_nbi(shmem_ctx_t c, T *d, const T *s, std::size_t n, int pe)
	{
		shmem_ctx_getmem_nbi(c, d, s, bytes<T>(n), pe);
	}
	static void p(shmem_ctx_t c, T *d, const T &value, int pe) { put(c, d, &value, 1, pe); }
	static T g(shmem_ctx_t c, const T *s, int pe)
	{
		typename std::remove_cv<T>::type value;

		get(c, &value, s, 1, pe);
		return value;
	}
};

template <typename T> using const_pointer = const typename same<T>::type *;

} // namespace detail

template <typename T>
void put(T *dest, detail::const_pointer<T> source, std::size_t n, int pe, shmem_ctx_t ctx = SHMEM_CTX_DEFAULT)
{
	detail::mover<T>::put(ctx, dest, source, n, pe);
}

template <typename T>
void get(T *dest, detail::const_pointer<T> source, std::size_t n, int pe, shmem_ctx_t ctx = SHMEM_CTX_DEFAULT)
{
	detail::mover<T>::get(ctx, dest, source, n, pe);
}

template <typename T>
void put_nbi(T *dest, detail::const_pointer<T> source, std::size_t n, int pe, shmem_ctx_t ctx = SHMEM_CTX_DEFAULT)
{
	detail::mover<T>::put_nbi(ctx, dest, source, n, pe);
}

template <typename T>
void get_nbi(T *dest, detail::const_pointer<T> source, std::size_t n, int pe, shmem_ctx_t ctx = SHMEM_CTX_DEFAULT)
{
	detail::mover<T>::get_nbi(ctx, dest, source, n, pe);
}

template <typename T>
void p(T *dest, const typename detail::same<T>::type &value, int pe, shmem_ctx_t ctx = SHMEM_CTX_DEFAULT)
{
	detail::mover<T>::p(ctx, dest, value, pe);
}

template <typename T> T g(const T *source, int pe, shmem_ctx_t ctx = SHMEM_CTX_DEFAULT)
{
	return detail::mover<T>::g(ctx, source, pe);
}

/* ---- Symmetric arrays ---- */

template <typename T> class array;

/* An array as it is on another PE: elements are read and written, and may be assigned to. It must not outlive the array. */
template <typename T> class remote {
public:
	class element {
	public:
		operator T() const { return shmem::g(word_, pe_, ctx_); }
		const element &operator=(const T &value) const
		{
			shmem::p(word_, value, pe_, ctx_);
			return *this;
		}
		const element &operator=(const element &other) const { return *this = static_cast<T>(other); }
		element(const element &) = default;

	private:
		friend class remote;
		element(T *word, int pe, shmem_ctx_t ctx) : word_(word), pe_(pe), ctx_(ctx) {}
		T *word_;
		int pe_;
		shmem_ctx_t ctx_;
	};

	element operator[](std::size_t i) const { return element(data_ + i, pe_, ctx_); }
	void put(const T *source, std::size_t n, std::size_t at = 0) const
	{
		check(n, at);
		shmem::put(data_ + at, source, n, pe_, ctx_);
	}
	void get(T *dest, std::size_t n, std::size_t at = 0) const
	{
		check(n, at);
		shmem::get(dest, data_ + at, n, pe_, ctx_);
	}
	void put_nbi(const T *source, std::size_t n, std::size_t at = 0) const
	{
		check(n, at);
		shmem::put_nbi(data_ + at, source, n, pe_, ctx_);
	}
	void get_nbi(T *dest, std::size_t n, std::size_t at = 0) const
	{
		check(n, at);
		shmem::get_nbi(dest, data_ + at, n, pe_, ctx_);
	}

private:
	friend class array<T>;
	remote(T *data, std::size_t size, int pe, shmem_ctx_t ctx) : data_(data), size_(size), pe_(pe), ctx_(ctx) {}
	void check(std::size_t n, std::size_t at) const
	{
		if (at > size_ || n > size_ - at)
			throw std::out_of_range("shmem::remote: elements " + std::to_string(at) + " to " +
						std::to_string(at + n) + " of an array of " + std::to_string(size_));
	}
	T *data_;
	std::size_t size_;
	int pe_;
	shmem_ctx_t ctx_;
};

/* Owns so many elements on each PE, whose bytes are 0 at first. All PEs make it together, with the same size, and destroy it together. */
template <typename T> class array {
	static_assert(
		std::is_trivially_copyable<T>::value && std::is_trivially_destructible<T>::value,
		"shmem::array holds types that may be copied as bytes (std::is_trivially_copyable), such as numbers, "
		"std::complex, enums, and structures and std::array of these");
	static_assert(!std::is_const<T>::value && !std::is_volatile<T>::value,
		      "shmem::array holds elements that are neither const nor volatile");

public:
	typedef T value_type;
	typedef std::size_t size_type;
	typedef std::ptrdiff_t difference_type;
	typedef T &reference;
	typedef const T &const_reference;
	typedef T *pointer;
	typedef const T *const_pointer;
	typedef T *iterator;
	typedef const T *const_iterator;
	typedef std::reverse_iterator<iterator> reverse_iterator;
	typedef std::reverse_iterator<const_iterator> const_reverse_iterator;

	array() noexcept : data_(nullptr), size_(0) {}
	explicit array(size_type n) : data_(allocate(n)), size_(n) {}
	array(size_type n, const T &value) : array(n)
	{
		fill(value);
		shmem_barrier_all(); /* so that no PE writes what another one has yet to fill */
	}
	array(array &&other) noexcept : data_(other.data_), size_(other.size_) { other.forget(); }
	array &operator=(array &&other) noexcept
	{
		array old(std::move(*this));

		swap(other);
		return *this;
	}
	~array()
	{
		if (data_ && detail::may_give_back())
			shmem_free(data_);
	}

	void swap(array &other) noexcept
	{
		std::swap(data_, other.data_);
		std::swap(size_, other.size_);
	}
	T *release() noexcept /* for shmem_free */
	{
		T *data = data_;

		forget();
		return data;
	}

	T *data() noexcept { return data_; }
	const T *data() const noexcept { return data_; }
	size_type size() const noexcept { return size_; }
	bool empty() const noexcept { return size_ == 0; }
	T &operator[](size_type i) noexcept { return data_[i]; }
	const T &operator[](size_type i) const noexcept { return data_[i]; }
	T &at(size_type i) { return data_[checked(i)]; }
	const T &at(size_type i) const { return data_[checked(i)]; }
	T &front() noexcept { return data_[0]; }
	const T &front() const noexcept { return data_[0]; }
	T &back() noexcept { return data_[size_ - 1]; }
	const T &back() const noexcept { return data_[size_ - 1]; }
	void fill(const T &value)
	{
		for (T &element : *this)
			element = value;
	}

	iterator begin() noexcept { return data_; }
	iterator end() noexcept { return data_ + size_; }
	const_iterator begin() const noexcept { return data_; }
	const_iterator end() const noexcept { return data_ + size_; }
	const_iterator cbegin() const noexcept { return data_; }
	const_iterator cend() const noexcept { return data_ + size_; }
	reverse_iterator rbegin() noexcept { return reverse_iterator(end()); }
	reverse_iterator rend() noexcept { return reverse_iterator(begin()); }
	const_reverse_iterator rbegin() const noexcept { return const_reverse_iterator(end()); }
	const_reverse_iterator rend() const noexcept { return const_reverse_iterator(begin()); }
#if __cplusplus >= 202002L
	std::span<T> span() noexcept
	{
		return std::span<T>(data_, size_);
	}
	std::span<const T> span() const noexcept
	{
		return std::span<const T>(data_, size_);
	}
#endif

	/* The same array on another PE. */
	remote<T> on(int pe, shmem_ctx_t ctx = SHMEM_CTX_DEFAULT) noexcept
	{
		return remote<T>(data_, size_, pe, ctx);
	}

private:
	static T *allocate(size_type n)
	{
		void *memory;

		if (n > static_cast<size_type>(-1) / sizeof(T))
			throw std::bad_alloc();
		if (alignof(T) <= alignof(std::max_align_t))
			memory = shmem_calloc(n, sizeof(T));
		else if ((memory = shmem_align(alignof(T), n * sizeof(T))) != nullptr) {
			std::memset(memory, 0, n * sizeof(T));
			shmem_barrier_all();
		}
		if (!memory && n > 0)
			throw std::bad_alloc();
		return static_cast<T *>(memory);
	}
	size_type checked(size_type i) const
	{
		if (i >= size_)
			throw std::out_of_range("shmem::array: element " + std::to_string(i) + " of " +
						std::to_string(size_));
		return i;
	}
	void forget() noexcept
	{
		data_ = nullptr;
		size_ = 0;
	}
	T *data_;
	size_type size_;
};

template <typename T> void swap(array<T> &a, array<T> &b) noexcept
{
	a.swap(b);
}

} // namespace shmem

#endif
