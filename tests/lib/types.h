/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The types of the specification's tables, each once: X(name, C type, least value, greatest value).
 * Written from the specification and not from the library's own table, so that a slip in one shows.
 */
#ifndef TESTS_LIB_TYPES_H
#define TESTS_LIB_TYPES_H

#ifdef __cplusplus
#include <complex>
#else
#include <complex.h>
#endif
#include <float.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>

/* Bitwise atomics */
#define BITS_TYPES(X)                                   \
	X(uint, unsigned int, 0, UINT_MAX)              \
	X(ulong, unsigned long, 0, ULONG_MAX)           \
	X(ulonglong, unsigned long long, 0, ULLONG_MAX) \
	X(int32, int32_t, INT32_MIN, INT32_MAX)         \
	X(int64, int64_t, INT64_MIN, INT64_MAX)         \
	X(uint32, uint32_t, 0, UINT32_MAX)              \
	X(uint64, uint64_t, 0, UINT64_MAX)

/* Atomics, wait and test */
#define AMO_TYPES(X)                                 \
	BITS_TYPES(X)                                \
	X(int, int, INT_MIN, INT_MAX)                \
	X(long, long, LONG_MIN, LONG_MAX)            \
	X(longlong, long long, LLONG_MIN, LLONG_MAX) \
	X(size, size_t, 0, SIZE_MAX)                 \
	X(ptrdiff, ptrdiff_t, PTRDIFF_MIN, PTRDIFF_MAX)

/* Atomic fetch, set and swap */
#define REAL_TYPES(X)                      \
	X(float, float, -FLT_MAX, FLT_MAX) \
	X(double, double, -DBL_MAX, DBL_MAX)
#define EXTENDED_TYPES(X) AMO_TYPES(X) REAL_TYPES(X)

/*
 * wait and test take these as well: one word from the days before 1.5, sets of words as other
 * libraries do
 */
#define OLD_WAIT_TYPES(X)                   \
	X(short, short, SHRT_MIN, SHRT_MAX) \
	X(ushort, unsigned short, 0, USHRT_MAX)

#define SMALL_TYPES(X)                          \
	X(uchar, unsigned char, 0, UCHAR_MAX)   \
	X(ushort, unsigned short, 0, USHRT_MAX) \
	X(int8, int8_t, INT8_MIN, INT8_MAX)     \
	X(int16, int16_t, INT16_MIN, INT16_MAX) \
	X(uint8, uint8_t, 0, UINT8_MAX)         \
	X(uint16, uint16_t, 0, UINT16_MAX)
#define OTHER_TYPES(X)                              \
	X(char, char, CHAR_MIN, CHAR_MAX)           \
	X(schar, signed char, SCHAR_MIN, SCHAR_MAX) \
	X(short, short, SHRT_MIN, SHRT_MAX)         \
	X(longdouble, long double, -LDBL_MAX, LDBL_MAX)

/* Put, get, signals, broadcast, max and min: all that is not complex */
#define RMA_TYPES(X) AMO_TYPES(X) REAL_TYPES(X) SMALL_TYPES(X) OTHER_TYPES(X)

/* and, or, xor reductions */
#define LOGIC_TYPES(X) BITS_TYPES(X) SMALL_TYPES(X) X(size, size_t, 0, SIZE_MAX)

/* sum and prod reductions take all of RMA_TYPES and these */
#ifdef __cplusplus
#define COMPLEX_TYPES(X)                        \
	X(complexd, std::complex<double>, 0, 0) \
	X(complexf, std::complex<float>, 0, 0)
#else
#define COMPLEX_TYPES(X)                   \
	X(complexd, double _Complex, 0, 0) \
	X(complexf, float _Complex, 0, 0)
#endif

/*
 * Names from before 1.4: the standard's int, long and long long, and the newer types that other
 * libraries have as well
 */
#define OLD_AMO_TYPES(X) AMO_TYPES(X)
#define OLD_EXTENDED_TYPES(X) OLD_AMO_TYPES(X) REAL_TYPES(X)

/* Sized routines: X(bits) */
#define SIZES(X) X(8) X(16) X(32) X(64) X(128)

#endif
