#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# run: beside
# Inline forms: when programs with them call the library all the same, what compilers say,
# and how programs get them.

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
	export OSHRUN="${OSHRUN:-$TOP_BUILDDIR/oshrun}" OSHCC="${OSHCC:-$TOP_BUILDDIR/oshcc}"
	export OSHCXX="${OSHCC%/*}/oshcxx"
	cd "$BATS_FILE_TMPDIR" || return
	# A tool that replaces routines and counts their calls; at the end it
	# says how many there were.
	cat >tool.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
static long calls;
#define REPLACE(ret, name, params, args) ret name params { calls++; return ((ret (*) params)dlsym(RTLD_NEXT, #name)) args; }
REPLACE(void, shmem_long_p, (long *dest, long value, int pe), (dest, value, pe))
REPLACE(long, shmem_long_g, (const long *source, int pe), (source, pe))
REPLACE(void, shmem_putmem, (void *dest, const void *source, unsigned long n, int pe), (dest, source, n, pe))
REPLACE(void, shmem_double_get, (double *dest, const double *source, unsigned long n, int pe), (dest, source, n, pe))
REPLACE(void, shmem_int_atomic_inc, (int *dest, int pe), (dest, pe))
REPLACE(long, shmem_long_atomic_fetch_add, (long *dest, long value, int pe), (dest, value, pe))
REPLACE(void *, shmem_ptr, (const void *dest, int pe), (dest, pe))
__attribute__((destructor)) static void say(void) { if (calls >= 0 && getenv("PMIX_RANK")) fprintf(stderr, "calls: %ld\n", calls); }
END
	sed -i 's/#include <stdio.h>/&\n#include <stdlib.h>/' tool.c
	"${CC:-cc}" -w -shared -fPIC -o tool.so tool.c -ldl
	# Seven operations after a first contact, which is none of those that the tool counts.
	cat >seven.c <<'END'
#include <shmem.h>
#include <stdio.h>
static long word, many[8];
static double real;
static int number;
int main(void)
{
	long value = 5;
	double got;
	int right;
	shmem_init();
	right = (shmem_my_pe() + 1) % shmem_n_pes();
	shmem_double_get_nbi(&got, &real, 1, right);
	shmem_long_p(&word, 3, right);
	shmem_quiet();
	value += shmem_long_g(&word, right);
	shmem_putmem(many, &value, sizeof value, right);
	shmem_double_get(&got, &real, 1, right);
	shmem_int_atomic_inc(&number, right);
	shmem_long_atomic_fetch_add(&many[1], 4, right);
	shmem_quiet();
	(void)shmem_ptr(many, right);
	shmem_barrier_all();
	if (number != 1 || many[0] != 8 || many[1] != 4 || got != 0)
		printf("wrong\n");
	shmem_finalize();
	return 0;
}
END
	"$OSHCC" --inline -O2 -Wall -Wextra -Werror -o inlined seven.c
	"$OSHCC" -O2 -o called seven.c
}

setup()
{
	cd "$BATS_TEST_TMPDIR" || return
	unset "${!SHMEM_@}" "${!SMA_@}" "${!UCX_@}" LD_PRELOAD
}

# counted PROGRAM SETTINGS...: how many calls the tool sees in each of two PEs.
counted()
{
	program=$BATS_FILE_TMPDIR/$1
	shift
	env "$@" "$OSHRUN" -n 2 env LD_PRELOAD="$BATS_FILE_TMPDIR/tool.so" "$program" 2>&1 |
		sed -n -e 's/.*calls: //p' -e '/wrong/p' | paste -sd ' ' -
}

sees()
{
	got=$(counted "${@:2}")
	[ "$got" = "$1" ] || { echo "${*:2}: the tool sees $got calls, not $1" && return 1; }
}

@test "on a node nothing is called, unless somebody wants to see it" {
	sees "7 7" called
	sees "0 0" inlined
	sees "7 7" inlined SHMEM_INLINE=no
	sees "7 7" inlined SHMEM_STATS=yes
	sees "7 7" inlined SHMEM_CHECK=yes
	sees "7 7" inlined SHMEM_DEBUG=1
	sees "7 7" inlined SHMEM_TRACE=trace.json
}

@test "other compilers' programs call no more, in C and C++" {
	cp "$BATS_FILE_TMPDIR/seven.c" seven.cc
	for flags in -O1 -O2 -O3; do
		for compiler in gcc clang; do
			command -v $compiler >/dev/null || continue
			OSHCC_CC=$compiler "$OSHCC" --inline $flags -o "$BATS_FILE_TMPDIR/other" "$BATS_FILE_TMPDIR/seven.c"
			sees "0 0" other
		done
		for compiler in g++ clang++; do
			command -v $compiler >/dev/null || continue
			OSHCXX_CXX=$compiler "$OSHCXX" --inline $flags -o "$BATS_FILE_TMPDIR/other" seven.cc
			sees "0 0" other
		done
	done
}

@test "what the network carries is called" {
	sees "7 7" inlined SHMEM_PATHS=ucx UCX_TLS=tcp,self
	sees "7 7" inlined SHMEM_NODE_PES=1 UCX_TLS=tcp,self
}

@test "SHMEM_STATS and SHMEM_TRACE miss nothing" {
	run env SHMEM_STATS=yes "$OSHRUN" -n 2 "$BATS_FILE_TMPDIR/inlined"
	echo "$output"
	[ "$(echo "$output" | awk '$1 ~ /^(p|g|put|get|atomic|atomic_fetch)$/ { print $1, $3 }' | sort | paste -sd ' ' -)" = \
		"atomic 2 atomic_fetch 2 g 2 get 2 p 2 put 2" ]
	SHMEM_TRACE=trace.json "$OSHRUN" -n 2 "$BATS_FILE_TMPDIR/inlined"
	[ "$(grep -o shmem_long_p trace.json | wc -l)" -ge 2 ]
	[ "$(grep -o shmem_int_atomic_inc trace.json | wc -l)" -ge 2 ]
}

# mistaken STATEMENT ROUTINE...: PE 0 executes it after first contacts; the
# library's message begins so.
mistaken()
{
	cat >mistake.c <<END
#include <shmem.h>
#include <stdlib.h>
static long word[64];
int main(void)
{
	long *local = calloc(8, 8), value = 1;
	shmem_init();
	for (int pe = 0; pe < shmem_n_pes(); pe++)
		shmem_long_g(word, pe);
	shmem_barrier_all();
	if (shmem_my_pe() == 0) {
		$1;
	}
	shmem_barrier_all();
	shmem_finalize();
	return (int)(*local * value);
}
END
	"$OSHCC" --inline -O2 -w -o mistake mistake.c
	for check in no yes; do
		run env SHMEM_CHECK=$check "$OSHRUN" -n 2 ./mistake
		[ "$status" -ne 0 ] && [[ "$output" == *"PE 0: $2"* ]] || { echo "SHMEM_CHECK=$check, $1: $output" && return 1; }
	done
}

@test "wrong arguments are reported as by calls, with SHMEM_CHECK and without" {
	mistaken 'shmem_long_p(word, 1, 2)' 'shmem_long_p: pe=2: there is no such PE'
	mistaken 'shmem_long_p(word, 1, -1)' 'shmem_long_p: pe=-1: there is no such PE'
	mistaken 'shmem_long_p(word, 1, 257)' 'shmem_long_p: pe=257: there is no such PE'
	mistaken 'shmem_long_p(local, 1, 1)' 'shmem_long_p: dest='
	mistaken 'value = shmem_long_g(local, 1)' 'shmem_long_g: source='
	mistaken 'shmem_long_put(NULL, &value, 1, 1)' 'shmem_long_put: dest='
	mistaken 'shmem_getmem(&value, local, 8, 1)' 'shmem_getmem: source='
	# One byte beyond the heap, which ends 31 bytes behind the last place where 32 may begin.
	mistaken 'shmem_putmem((char *)shmemx_inline_1.base[0] + shmemx_inline_1.peers[1].room[0] - 32, local, 64, 1)' 'shmem_putmem: dest='
	mistaken 'shmem_getmem(local, (char *)shmemx_inline_1.base[0] + shmemx_inline_1.peers[1].room[0] - 1, 33, 1)' 'shmem_getmem: source='
	mistaken 'long two[2] = {1, 2}; shmem_long_put(local, two, 2, 1)' 'shmem_long_put: dest='
	mistaken 'long two[2]; shmem_long_get(two, local, 2, 1); value = two[0] + two[1]' 'shmem_long_get: source='
	mistaken 'shmem_long_atomic_inc(local, 1)' 'shmem_long_atomic_inc: dest='
	mistaken 'shmem_long_atomic_fetch_add((long *)((char *)word + 4), 1, 1)' 'shmem_long_atomic_fetch_add: dest='
}

@test "before shmem_init and after shmem_finalize, a call says so" {
	printf '%s\n' '#include <shmem.h>' 'static long word;' 'int main(void) { shmem_long_p(&word, 1, 0); }' >early.c
	"$OSHCC" --inline early.c -o early
	run ./early
	[ "$status" -ne 0 ]
	[[ "$output" == *shmem_long_p*shmem_init* ]]
	printf '%s\n' '#include <shmem.h>' 'static long word;' \
		'int main(void) { shmem_init(); shmem_long_p(&word, 1, 0); shmem_finalize(); shmem_long_p(&word, 1, 0); }' >late.c
	"$OSHCC" --inline late.c -o late
	run ./late
	[ "$status" -ne 0 ]
	[[ "$output" == *shmem_long_p* ]]
}

@test "no compiler warns, in any C or C++" {
	cat >all.c <<'END'
#include <shmem.h>
extern long word;
void some(int pe);
void some(int pe)
{
	long value = 1;
	shmem_long_p(&word, value, pe);
	value = shmem_long_g(&word, pe);
	shmem_long_put(&word, &value, 1, pe);
	shmem_long_atomic_add(&word, value, pe);
	value = shmem_long_atomic_compare_swap(&word, value, 2, pe);
	shmem_long_p(static_word(shmem_ptr(&word, pe)), value, pe);
}
END
	cp all.c all.cc
	sed -i 's/static_word/(long *)/' all.c
	sed -i 's/static_word/static_cast<long *>/' all.cc
	strict="-O2 -Wall -Wextra -pedantic -Wconversion -Wshadow -Wcast-qual -Wstrict-aliasing=2 -Werror -c"
	for compiler in gcc clang; do
		command -v $compiler >/dev/null || continue
		OSHCC_CC=$compiler "$OSHCC" --inline -std=c90 -O2 -Wall -Wextra -Werror -c -o all.o all.c
		for standard in c99 c11 gnu17; do
			# shellcheck disable=SC2086 # flags are words
			OSHCC_CC=$compiler "$OSHCC" --inline -std=$standard $strict -o all.o all.c
		done
	done
	for compiler in g++ clang++; do
		command -v $compiler >/dev/null || continue
		OSHCXX_CXX=$compiler "$OSHCXX" --inline -std=c++98 -O2 -Wall -Wextra -Werror -c -o all.o all.cc
		for standard in c++11 c++17 c++20; do
			# shellcheck disable=SC2086
			OSHCXX_CXX=$compiler "$OSHCXX" --inline -std=$standard $strict -o all.o all.cc
		done
	done
}

@test "C++ overloads and C11's generic names are inline, too" {
	cat >generic.c <<'END'
#include <shmem.h>
extern long word;
extern double real;
void some(int pe);
void some(int pe)
{
	shmem_p(&word, 1L, pe);
	shmem_p(&real, shmem_g(&real, pe), pe);
	shmem_put(&word, &word, 2, pe);
	shmem_atomic_add(&word, 4L, pe);
	shmem_atomic_set(&real, 4.0, pe);
}
END
	cp generic.c generic.cc
	"$OSHCC" --inline -std=c11 -O2 -c generic.c -o c.o
	"$OSHCXX" --inline -std=c++17 -O2 -c generic.cc -o cc.o
	"$OSHCC" -std=c11 -O2 -c generic.c -o plain.o
	for object in c.o cc.o; do
		nm "$object" | grep -q ' U shmemx_inline_1$'
		nm "$object" | grep -q ' U shmem_double_p$' # for other PEs
		# Six tests, whose fast half has no call: a table for each.
		[ "$(objdump -dr "$object" | grep -c shmemx_inline_1)" -ge 6 ]
	done
	! nm plain.o | grep shmemx_inline
}

@test "oshcc --inline is the macro; show options say it, oshfort refuses it" {
	run "$OSHCC" --inline --showme:compile
	[[ "$output" == *"-DSHMEMX_INLINE" ]]
	run "$OSHCC" --showme:compile
	[[ "$output" != *INLINE* ]]
	run "$OSHCXX" --inline -show x.cc
	[[ "$output" == *" x.cc "*" -DSHMEMX_INLINE "* ]]
	[[ "$output" != *--inline* ]]
	run "$OSHCC" --help
	[[ "$output" == *"--inline "*"tools that replace routines of OpenSHMEM do not see them"* ]]
	if [ -x "${OSHCC%/*}/oshfort" ]; then
		run "${OSHCC%/*}/oshfort" --inline -c x.f90
		[ "$status" -eq 1 ]
		[ "$output" = "oshfort: --inline: only C and C++ have inline forms; leave it out" ]
	fi
}

@test "the table has the size that programs know" {
	run nm -D -S --defined-only "$TOP_BUILDDIR/.libs/libtorushmem.so"
	echo "$output" | grep -q ' 0000000000004020 [BD] shmemx_inline_1'
}
