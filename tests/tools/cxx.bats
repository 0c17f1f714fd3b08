#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# run: beside
# The type-generic names in C++: overloads for every name of include/generics.def and every type of
# include/types.def, which call the typed routines of C; errors that say which types there are.

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/cxx.bash"
	begin_cxx_file '-Wall -Wextra -pedantic -Werror'
}

setup()
{
	. "$TOP/tests/lib/cxx.bash"
	cd "$BATS_TEST_TMPDIR" || return
}

@test "every generic name with every type, in every standard; the first and the last on every path" {
	for standard in c++11 c++14 c++17 c++20; do
		compilers $standard | while read -r with; do
			compile "$with" -I "$TOP" -x c++ "$TOP/tests/api/generics.c" -o generics
			runs_by_standard $standard generics ''
		done
	done
}

@test "plans of reductions of every type, in every standard, run on every path" {
	for standard in c++11 c++20; do
		compilers $standard | while read -r with; do
			for option in '' -DCOMPLEX_FIRST; do
				# shellcheck disable=SC2086 # an option or none
				compile "$with" $option "$TOP/tests/tools/progs/plans.cc" -o plans
			done
			runs_everywhere plans 'plans: right'
		done
	done
	printf '%s\n' '#include <shmemx.h>' 'struct pair { int a; };' 'int wrong(pair *p, shmemx_plan_t *plan);' 'int wrong(pair *p, shmemx_plan_t *plan)' \
		'{' 'return shmemx_allreduce_init(SHMEM_TEAM_WORLD, p, p, 1, SHMEMX_SUM, 0, plan);' '}' >wrong.cc
	compilers 'c++11 c++20' | while read -r with; do
		run compile "$with" -fsyntax-only wrong.cc
		[ "$status" -ne 0 ]
		grep -q 'error: .*shmemx_reduce_init and others of shmemx.h are for pointers to float, double' <<<"$output" || { echo "$output" && false; }
	done
}

@test "16-bit numbers and averages, in every standard" {
	for standard in c++11 c++20; do
		compilers $standard | while read -r with; do
			compile "$with" "$TOP/tests/tools/progs/numbers.cc" -o numbers
			runs_by_standard $standard numbers 'numbers: right'
		done
	done
}

@test "the program of the first test calls every name of the table" {
	sed -n 's/^\([a-z_]*\) .*/\1/p' "$TOP/include/generics.def" >names
	[ "$(wc -l <names)" -gt 60 ]
	while read -r name; do
		grep -q "shmem_$name(" "$TOP/tests/api/generics.c" || { echo "shmem_$name is not called" && return 1; }
	done <names
}

@test "each typed routine of the table has an overload with its parameters and its result" {
	printf '#include "types.def"\n#define R(X, name, code, type, ...) name, __VA_ARGS__;\nTYPE_TABLE(R, X)\n' |
		"${CC:-cc}" -E -P -I "$TOP/include" -xc - | tr ';' '\n' | tr -d ' ' | tr ',' ' ' | grep . >types
	[ "$(wc -l <types)" -ge 26 ]
	{
		echo '#include <shmem.h>'
		echo 'template <typename F> void call(F *) {}'
		echo 'void all(); void all() {'
		awk 'FNR == NR {
			set["rma"] = $2; set["amo"] = $3; set["ext"] = $4; set["bits"] = $5; set["wait"] = $3 || $6
			set["minmax"] = $7; set["logic"] = $8; set["sum"] = $9
			for (s in set)
				if (set[s] == 1)
					names[s] = names[s] " " $1
			next
		}
		/^[a-z]/ {
			n = split(names[$3], type, " ")
			for (i = 1; i <= n; i++)
				for (ctx = 0; ctx <= ($2 == "ctx"); ctx++) {
					routine = (ctx ? "shmem_ctx_" : "shmem_") type[i] "_" $1
					print "call<decltype(" routine ")>(shmem_" $1 ");"
				}
		}' types "$TOP/include/generics.def"
		echo '}'
	} >addresses.cc
	[ "$(grep -c '^call' addresses.cc)" -gt 1500 ]
	passes addresses.cc
	sed 's/(shmem_put);/(shmem_get_nbi);/; s/decltype(shmem_long_p)>(shmem_p)/decltype(shmem_long_p)>(shmem_g)/' addresses.cc >wrong.cc
	run compile "$(compilers c++11 | head -n 1)" -fsyntax-only wrong.cc
	[ "$status" -ne 0 ] # so the calls above can fail
}

@test "templates call them; types that convert to a pointer do; std::complex needs no order of headers" {
	cat >templates.cc <<'END_OF_FILE'
#ifdef COMPLEX_FIRST
#include <complex>
#endif
#include <shmem.h>
#include <complex>
#include <cstdint>

template <typename T> T around(T *word, T value, shmem_ctx_t ctx, int pe)
{
	const T *same = word;
	shmem_p(word, value, pe);
	shmem_p(ctx, word, value, pe);
	shmem_put(word, word, 1, pe);
	shmem_put_nbi(ctx, word, same, 1, pe);
	return shmem_g(word, pe) + shmem_g(ctx, same, pe);
}
template <typename... T> void around_all(T *...words)
{
	const double sums[] = {double(around(words, T(1), SHMEM_CTX_DEFAULT, 0))...};
	(void)sums;
}
struct handle {
	operator long *() const;
	operator const long *() const;
};
void all(float *, double *, long double *, char *, signed char *, std::int16_t *, std::uint32_t *, std::size_t *, std::ptrdiff_t *);
void all(float *a, double *b, long double *c, char *d, signed char *e, std::int16_t *f, std::uint32_t *g, std::size_t *h, std::ptrdiff_t *i)
{
	around_all(a, b, c, d, e, f, g, h, i);
	shmem_p(h, 1, 0); // a value converts as it does in C
	shmem_p(b, 1, 0);
	shmem_p(handle(), 1, 0);
	shmem_atomic_add(SHMEM_CTX_DEFAULT, g, 1, 0);
	std::complex<double> z[2];
	std::complex<float> y[2];
	const std::complex<double> *in = z;
	(void)shmem_sum_reduce(SHMEM_TEAM_WORLD, z, in, 2);
	(void)shmem_prod_reduce(SHMEM_TEAM_WORLD, y, y, 2);
	(void)shmem_sum_exscan(SHMEM_TEAM_WORLD, y, y, 2);
	void (*active)(int, int, int, long *) = shmem_sync;
	int (*team)(shmem_team_t) = shmem_sync;
	void (*on_context)(shmem_ctx_t, std::uint64_t *, std::uint64_t, int) = shmem_signal_add;
	(void)active, (void)team, (void)on_context;
}
END_OF_FILE
	passes templates.cc
	passes -DCOMPLEX_FIRST templates.cc
	echo '#include <shmem.h>' >alone.cc
	run compile "$(compilers c++11 | head -n 1)" -M alone.cc
	[ "$status" -eq 0 ]
	[[ "$output" != *complex* ]] # nobody who does not ask for it gets it
}

@test "inside extern \"C\", and beside a program's own overloads" {
	printf '%s\n' 'extern "C" {' '#include <shmem.h>' '}' 'void f(double *); void f(double *d) { shmem_p(d, 1, 0); }' >wrapped.cc
	passes wrapped.cc
	printf '%s\n' '#include <shmem.h>' 'inline void shmem_p(double *d, double value, int pe) { shmem_double_p(d, value, pe); }' \
		'void f(double *); void f(double *d) { shmem_p(d, 1, 0); }' >own.cc
	passes -DSHMEMX_NO_OVERLOADS own.cc
	run compile "$(compilers c++11 | head -n 1)" -fsyntax-only own.cc
	[ "$status" -ne 0 ]
}

@test "deprecated names warn where they are called, and only when asked to" {
	printf '%s\n' '#include <shmem.h>' 'void f(int *); void f(int *i) { shmem_inc(i, 0); shmem_atomic_inc(i, 0); }' >old.cc
	passes old.cc
	echo '#include <shmem.h>' >alone.cc
	passes -DSHMEMX_WARN_DEPRECATED alone.cc
	compilers c++11 >with
	while read -r with; do
		run compile "$with" -DSHMEMX_WARN_DEPRECATED -Wno-error -fsyntax-only old.cc
		[ "$status" -eq 0 ]
		[ "$(grep -c '^old.cc:.*shmem_inc.*deprecated' <<<"$output")" -eq 1 ]
		[ "$(grep -c 'warning: ' <<<"$output")" -eq 1 ]
	done <with
}

# refuses: lines of "CALL // TEXT" each are one error that says TEXT, without a page of
# candidates. A file has all of them.
refuses()
{
	cat >calls
	{
		printf '%s\n' '#include <shmem.h>' '#include <complex>' 'struct pair { int a, b; } s;' \
			'float f; double d; char c; long l; const long k = 1; volatile long v; void *vp; std::complex<double> z;'
		sed 's|^\(.*\) // .*|\1; }|' calls | awk '{ print "void wrong" NR "(); void wrong" NR "() { " $0 }'
	} >wrong.cc
	compilers 'c++11 c++20' >with
	while read -r with; do
		echo "with $with"
		run compile "$with" -fsyntax-only wrong.cc
		echo "$output"
		[ "$status" -ne 0 ]
		grep 'error: ' <<<"$output" >errors
		[ "$(wc -l <errors)" -eq "$(wc -l <calls)" ]
		[ "${#output}" -lt $((1500 * $(wc -l <calls))) ]
		at=4
		while read -r line; do
			at=$((at + 1))
			grep -q "wrong\.cc:$at:" <<<"$output"
			[ "$(grep -cF "${line##* // }" errors)" -eq "$(grep -cF " // ${line##* // }" calls)" ]
		done <calls
	done <with
}

@test "a type without a routine is one error that names the types" {
	rma='is for pointers to float, double, long double, char, signed char, short, int, long, long long, unsigned char, unsigned short, unsigned int, unsigned long and unsigned long long'
	refuses <<END
shmem_put(&s, &s, 1, 0) // shmem_put $rma
shmem_p(SHMEM_CTX_DEFAULT, &s, s, 0) // shmem_p $rma
l = shmem_g(&s, 0) // shmem_g $rma
shmem_put(vp, vp, 1, 0) // shmem_put $rma
shmem_put(&z, &z, 1, 0) // shmem_put $rma
shmem_broadcast(SHMEM_TEAM_WORLD, &s, &s, 1, 0) // shmem_broadcast $rma
shmem_atomic_add(&f, 1, 0) // shmem_atomic_add is for pointers to int, long, long long, unsigned int, unsigned long and unsigned long long
shmem_atomic_fetch_xor(SHMEM_CTX_DEFAULT, &f, 1, 0) // shmem_atomic_fetch_xor is for pointers to unsigned int, unsigned long, unsigned long long, int and long
shmem_atomic_set(&c, 1, 0) // shmem_atomic_set is for pointers to float, double, int,
shmem_wait_until(&f, SHMEM_CMP_EQ, 1) // shmem_wait_until is for pointers to short, int,
shmem_test_all(&c, 1, nullptr, SHMEM_CMP_EQ, 1) // shmem_test_all is for pointers to short, int,
shmem_and_reduce(SHMEM_TEAM_WORLD, &f, &f, 1) // shmem_and_reduce is for pointers to unsigned char,
shmem_max_reduce(SHMEM_TEAM_WORLD, &z, &z, 1) // shmem_max_reduce is for pointers to float,
shmem_sum_inscan(SHMEM_TEAM_WORLD, &s, &s, 1) // and float _Complex
END
}

@test "arguments that do not fit are one error that says what they are" {
	refuses <<'END'
shmem_put(&l, &f, 1, 0) // shmem_put takes ([ctx,] dest, source, nelems, pe), pointers of one type
shmem_put(&d, &d, 1) // shmem_put takes ([ctx,] dest, source, nelems, pe), pointers of one type
shmem_put(SHMEM_CTX_DEFAULT, &l, &l, 1) // shmem_put takes ([ctx,] dest, source, nelems, pe), pointers of one type
shmem_p(&k, 1, 0) // shmem_p takes ([ctx,] dest, value, pe), pointers of one type, without const where data is written
shmem_p(l, 1, 0) // shmem_p takes ([ctx,] dest, value, pe), pointers of one type, without const where data is written
shmem_wait_until(&v, SHMEM_CMP_EQ, 0) // shmem_wait_until takes (ivar, cmp, cmp_value), pointers of one type, without const where data is written, and never volatile
shmem_sum_reduce(&l, &l, 1) // shmem_sum_reduce takes (team, dest, source, nreduce)
END
}

# One file of C and of C++: what it calls, and how many instructions that takes.
write_putter()
{
	cat >putter.c <<'END_OF_FILE'
#include <shmem.h>
static long word, value = 3;
#ifdef __cplusplus
extern "C"
#endif
__attribute__((noinline)) void putter(int pe)
{
	int i;
	for (i = 0; i < 1000; i++) {
		shmem_put(&word, &value, 1, pe);
		shmem_p(&word, 4, pe);
		shmem_put(SHMEM_CTX_DEFAULT, &word, &value, 1, pe);
	}
}
int main(void)
{
	shmem_init();
	putter((shmem_my_pe() + 1) % shmem_n_pes());
	shmem_barrier_all();
	shmem_finalize();
	return 0;
}
END_OF_FILE
	cp putter.c putter.cc
}

@test "the calls are those of the typed routines, which a profiler can take the place of" {
	write_putter
	for level in -O0 -O2; do
		"$OSHCXX" -std=c++11 $level -c putter.cc
		[ "$(nm -u putter.o | awk '{ print $2 }' | grep _ | grep -v '^_GLOBAL' | sort | paste -sd ' ' -)" = \
			"shmem_barrier_all shmem_ctx_long_put shmem_finalize shmem_init shmem_long_p shmem_long_put shmem_my_pe shmem_n_pes shmemx_this_header_needs_libtorushmem" ]
	done
	cat >counts.c <<'END_OF_FILE'
#include <pshmem.h>
#include <stdio.h>
static int puts_seen;
void shmem_long_put(long *dest, const long *source, size_t nelems, int pe)
{
	puts_seen++;
	pshmem_long_put(dest, source, nelems, pe);
}
void shmem_finalize(void)
{
	printf("%d puts\n", puts_seen);
	pshmem_finalize();
}
END_OF_FILE
	"$OSHCC" -c counts.c
	"$OSHCXX" -O2 -o putter putter.cc counts.o
	run "$OSHRUN" -q -n 1 ./putter
	[ "$output" = "1000 puts" ]
}

@test "an 8-byte put from C++ takes the instructions of one from C" {
	command -v valgrind >/dev/null || skip "no valgrind"
	write_putter
	"$OSHCC" -std=gnu11 -O2 -o from-c putter.c
	"$OSHCXX" -std=c++11 -O2 -o from-c++ putter.cc
	counts_of_putter from-c from-c++
	diff count.from-c count.from-c++
}
