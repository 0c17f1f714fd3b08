#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# run: beside
# What the standard says about names, headers, languages and profiling, against
# the headers and the library.

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
	export OSHRUN="${OSHRUN:-$TOP_BUILDDIR/oshrun}" OSHCC="${OSHCC:-$TOP_BUILDDIR/oshcc}"
	export HERE="${BATS_TEST_FILENAME%/*}/../conformance" TOP="${BATS_TEST_FILENAME%/*}/../.."
	export LIST="$HERE/openshmem-1.6.tsv" INCLUDE="$BATS_FILE_TMPDIR/include" LIBRARY="$TOP_BUILDDIR/.libs/libtorushmem.so"
	# The headers as they are installed: generated ones and others in one folder.
	mkdir -p "$INCLUDE/mpp"
	cp "$TOP/include/shmemx.h" "$TOP/include/shmemg.h" "$TOP/include/shmem_gpu.h" "$TOP_BUILDDIR/include/shmem.h" "$TOP_BUILDDIR/include/pshmem.h" "$TOP_BUILDDIR/include/shmemx_inline.h" \
		"$TOP_BUILDDIR/include/shmemx_typed.h" "$INCLUDE"
	cp "$TOP/include/mpp/"*.h "$INCLUDE/mpp"
	sh "$HERE/make-profiler" >"$BATS_FILE_TMPDIR/profiler.c"
	export PROFILER="$BATS_FILE_TMPDIR/profiler"
	"$OSHCC" -std=gnu99 -O0 -Wall -Wextra -Werror -c -fPIC -o "$PROFILER.o" "$PROFILER.c"
}

setup()
{
	cd "$BATS_TEST_TMPDIR" || return
	unset "${!SHMEM_@}" "${!SMA_@}" "${!UCX_@}" LD_PRELOAD
}

compile()
{
	"${CC:-cc}" -I"$INCLUDE" -fsyntax-only "$@"
}

functions()
{
	awk -F '\t' '$2 == "function" { print $1 }' "$LIST"
}

@test "headers and library have what the standard lists, and nothing else" {
	run sh "$HERE/check-api" "$INCLUDE" "$LIBRARY"
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$output" = "0 missing, 0 extra, 0 signature differences" ]
}

@test "the check sees what is missing, what is too much, and other types" {
	sed -e 's/^shmem_long_put\t/shmem_long_pu\t/' -e 's/^SHMEM_CMP_EQ\t/SHMEM_CMP_IS\t/' \
		-e 's/\tint shmem_team_sync(/\tlong shmem_team_sync(/' "$LIST" >changed
	run sh "$HERE/check-api" "$INCLUDE" "$LIBRARY" changed
	[ "$status" -eq 1 ]
	[[ "$output" == *"missing shmem.h: shmem_long_pu"* ]]
	[[ "$output" == *"extra shmem.h: shmem_long_put"* ]]
	[[ "$output" == *"extra constants: SHMEM_CMP_EQ"* ]]
	[[ "$output" == *"differs shmem.h: shmem_team_sync"* ]]
	[[ "${lines[-1]}" =~ ^[1-9]\ missing,\ [1-9]\ extra,\ [1-9]\ signature\ differences$ ]]
}

@test "each header alone, in C99, C11 and C17" {
	for header in shmem.h shmemx.h shmemg.h shmem_gpu.h pshmem.h mpp/shmem.h mpp/shmemx.h; do
		echo "#include <$header>" >alone.c
		for standard in c99 c11 c17 gnu11; do
			compile -std=$standard -pedantic -Wall -Wextra -Werror alone.c
		done
		if command -v clang >/dev/null; then
			CC=clang compile -std=c99 -pedantic -Wall -Wextra -Werror alone.c
			CC=clang compile -std=c11 -pedantic -Wall -Wextra -Werror alone.c
		fi
	done
}

# in_cxx FILE FLAG...: FILE passes every C++ compiler of this machine, in every standard that the
# compiler knows, without a warning.
in_cxx()
{
	for cxx in "${CXX:-c++}" clang++; do
		command -v "${cxx%% *}" >/dev/null || continue
		for standard in c++98 c++11 c++14 c++17 c++20 c++23 c++2b; do
			CC="$cxx" compile -std=$standard -x c++ /dev/null 2>/dev/null || continue
			CC="$cxx" compile -std=$standard -pedantic -Wall -Wextra -Werror "${@:2}" "$1"
		done
	done
}

@test "each header alone, in every C++ from C++98 on" {
	for header in shmem.h shmemx.h shmemg.h shmem_gpu.h pshmem.h mpp/shmem.h mpp/shmemx.h; do
		echo "#include <$header>" >alone.cc
		in_cxx alone.cc
	done
	command -v clang++ >/dev/null || return 0
	CC=clang++ compile -std=c++11 -Wc99-extensions -Werror alone.cc
}

@test "a program in C++: every routine has an address, global_exit does not return" {
	{
		echo '#include <pshmem.h>'
		echo 'typedef void (*any)(void); extern any table[]; any table[] = {'
		awk -F '\t' '$2 == "function" { print "(any)" $1 ", (any)" $10 "," }' "$LIST"
		echo '}; int f(void); int f(void) { shmem_global_exit(0); }'
	} >addresses.cc
	in_cxx addresses.cc -Wno-cast-function-type -DSHMEMX_NO_OVERLOADS # of names that are also those of routines, the routine
}

@test "complex reductions and scans run from C++" {
	cat >complex.cc <<'END'
#include <shmem.h>
#include <complex>
#include <cstdio>

typedef std::complex<double> number;
__extension__ typedef double _Complex as_in_c;

static number source(1, 2), dest;

static as_in_c *in_c(number &n)
{
	return reinterpret_cast<as_in_c *>(&n);
}

int main()
{
	shmem_init();
	bool right = shmem_complexd_sum_reduce(SHMEM_TEAM_WORLD, in_c(dest), in_c(source), 1) == 0 && dest == number(2, 4);
	shmem_sync_all();
	right = right && shmem_complexd_sum_inscan(SHMEM_TEAM_WORLD, in_c(dest), in_c(source), 1) == 0 &&
		dest == double(shmem_my_pe() + 1) * source;
	std::printf("%s\n", right ? "right" : "wrong");
	shmem_finalize();
	return 0;
}
END
	"${OSHCC%cc}c++" -pedantic -Wall -Wextra -Werror -o complex complex.cc
	run "$OSHRUN" -n 2 ./complex
	[ "$status" -eq 0 ]
	[ "$output" = "right
right" ]
}

@test "generic names: volatile data, and one readable error for a type without a routine" {
	cat >volatile.c <<'END'
#include <shmem.h>
volatile long word;
const volatile int number;
long f(void);
long f(void)
{
	shmem_wait_until(&word, SHMEM_CMP_EQ, 1);
	shmem_long_p((long *)&word, 1, 0);
	return shmem_g(&number, 0) + shmem_atomic_fetch(&word, 0);
}
END
	compile -std=c11 -Wall -Wextra -Werror -Wno-discarded-qualifiers volatile.c
	cat >unsupported.c <<'END'
#include <shmem.h>
struct pair { int a, b; } pair;
void f(void);
void f(void)
{
	shmem_put(&pair, &pair, 1, 0);
}
END
	for cc in "${CC:-cc}" clang; do
		command -v "${cc%% *}" >/dev/null || continue
		run "$cc" -I"$INCLUDE" -std=c11 -fsyntax-only unsupported.c
		printf '%s\n' "$output"
		[ "$status" -ne 0 ]
		[ "$(printf '%s\n' "$output" | grep -c 'error: ')" -eq 1 ]
		[ "$(printf '%s' "$output" | wc -c)" -lt 1500 ]
		[[ "$output" == *shmemx_no_routine_for_this_type* ]]
	done
}

@test "every routine has an address in C, generic or not" {
	{
		echo '#include <pshmem.h>'
		echo 'typedef void any(void); extern any *table[]; any *table[] = {'
		awk -F '\t' '$2 == "function" { print "(any *)" $1 ", (any *)" $10 "," }' "$LIST"
		echo '};'
	} >addresses.c
	for standard in c99 c11; do
		compile -std=$standard -pedantic -Wall -Wextra -Werror -Wno-cast-function-type addresses.c
	done
}

@test "constants are constant expressions, handles are initialisers" {
	{
		echo '#include <shmem.h>'
		awk -F '\t' '$2 == "constant" && $1 !~ /VENDOR|INVALID/ {
			print "_Static_assert(" $1 " == " $1 ", \"\"); enum { e_" $1 " = " $1 " };"
			if ($1 ~ /^_/) print "_Static_assert(" $1 " == " substr($1, 2) ", \"\");"
		}
		$2 == "handle" || $1 ~ /INVALID/ {
			type = $1 ~ /TEAM/ ? "shmem_team_t" : "shmem_ctx_t"
			print type " g_" $1 " = " $1 "; _Thread_local " type " t_" $1 " = " $1 ";"
			print "struct { " type " a[2]; } s_" $1 " = {{" $1 ", " $1 "}};"
			print "int c_" $1 "(" type " x); int c_" $1 "(" type " x) { return x == " $1 " || x != " $1 "; }"
		}' "$LIST"
		cat <<'C'
_Static_assert(sizeof SHMEM_VENDOR_STRING <= SHMEM_MAX_NAME_LEN, "");
_Static_assert(SHMEM_MAJOR_VERSION == 1 && SHMEM_MINOR_VERSION == 6, "");
_Static_assert(SHMEM_THREAD_SINGLE < SHMEM_THREAD_FUNNELED && SHMEM_THREAD_FUNNELED < SHMEM_THREAD_SERIALIZED &&
	SHMEM_THREAD_SERIALIZED < SHMEM_THREAD_MULTIPLE, "");
_Static_assert((SHMEM_CTX_SERIALIZED & SHMEM_CTX_PRIVATE) == 0 && (SHMEM_CTX_NOSTORE & SHMEM_CTX_PRIVATE) == 0 &&
	(SHMEM_CTX_SERIALIZED & SHMEM_CTX_NOSTORE) == 0 && SHMEM_CTX_SERIALIZED && SHMEM_CTX_PRIVATE && SHMEM_CTX_NOSTORE, "");
_Static_assert((SHMEM_MALLOC_ATOMICS_REMOTE & SHMEM_MALLOC_SIGNAL_REMOTE) == 0, "");
/* The values of docs/constants.md. */
_Static_assert(SHMEM_CMP_EQ == 0 && SHMEM_CMP_NE == 1 && SHMEM_CMP_GT == 2 && SHMEM_CMP_LE == 3 && SHMEM_CMP_LT == 4, "");
_Static_assert(SHMEM_CMP_GE == 5, "");
_Static_assert(SHMEM_SIGNAL_SET == 1 && SHMEM_SIGNAL_ADD == 2, "");
_Static_assert(SHMEM_THREAD_SINGLE == 0 && SHMEM_THREAD_MULTIPLE == 3, "");
_Static_assert(SHMEM_CTX_PRIVATE == 1 && SHMEM_CTX_SERIALIZED == 2 && SHMEM_CTX_NOSTORE == 4, "");
_Static_assert(SHMEM_MALLOC_ATOMICS_REMOTE == 1 && SHMEM_MALLOC_SIGNAL_REMOTE == 2 && SHMEM_TEAM_NUM_CONTEXTS == 1, "");
_Static_assert(SHMEM_SYNC_VALUE == 0 && SHMEM_SYNC_SIZE == 64 && SHMEM_REDUCE_MIN_WRKDATA_SIZE == 1 && SHMEM_MAX_NAME_LEN == 256, "");
_Static_assert(sizeof(shmem_ctx_t) == 8 && sizeof(shmem_team_t) == 8 && sizeof(shmem_team_config_t) == sizeof(int), "");
#if !defined(SHMEM_DEF_H) || !defined(SHMEM_FUNCTION_ATTRIBUTES) || defined(OSHMEM_MAJOR_VERSION)
#error shmem4py would take this library for one of 1.4
#endif
int compare(int cmp);
int compare(int cmp)
{
	switch (cmp) {
	case SHMEM_CMP_EQ: case SHMEM_CMP_NE: case SHMEM_CMP_GT: case SHMEM_CMP_GE: case SHMEM_CMP_LT: case SHMEM_CMP_LE:
		return 1;
	}
	switch (cmp) {
	case SHMEM_SIGNAL_SET: case SHMEM_SIGNAL_ADD: return 2;
	}
	return sizeof(shmem_team_config_t) + sizeof(shmem_ctx_session_config_t) + sizeof((shmem_team_config_t){.num_contexts = 1});
}
long psync[SHMEM_SYNC_SIZE] = {SHMEM_SYNC_VALUE};
C
	} >constants.c
	compile -std=c11 -Wall -Wextra -Werror constants.c
	# In C99, other names may be tested, but these are as static as there.
	sed -e '/_Static_assert/d' -e 's/_Thread_local/__thread/' constants.c | grep -v 'SHMEM_THREAD\|SHMEM_CTX_NOSTORE)\|(SHMEM_CTX_S' >constants99.c
	compile -std=gnu99 constants99.c
}

@test "deprecated routines warn only when asked to" {
	cat >old.c <<'C'
#include <shmem.h>
long word, psync[SHMEM_SYNC_SIZE];
int main(void) { start_pes(0); shmem_barrier(0, 0, _num_pes(), psync); return (int)shmem_long_fadd(&word, 1, _my_pe()); }
C
	compile -std=c99 -Wall -Wextra -Wdeprecated -Werror old.c
	run compile -std=c99 -DSHMEMX_WARN_DEPRECATED old.c
	[ "$status" -eq 0 ]
	for name in start_pes shmem_barrier _num_pes _my_pe shmem_long_fadd; do
		[[ "$output" == *"$name"*deprecated* ]]
	done
	# Nothing that is current is among them; everything that is deprecated is.
	{
		echo '#define SHMEMX_WARN_DEPRECATED'
		echo '#include <shmem.h>'
		awk -F '\t' '$2 == "function" { print "void *f_" $1 "(void) { return (void *)" $1 "; }" }' "$LIST"
	} >all.c
	LC_ALL=C compile -std=gnu99 all.c 2>warnings
	grep -o "'[a-z_0-9]*' is deprecated" warnings | sed "s/'\(.*\)'.*/\1/" | sort -u >warned
	awk -F '\t' '$2 == "function" && $4 != "current" { print $1 }' "$LIST" | sort -u >deprecated
	diff deprecated warned
}

@test "a type that a generic name is not for is an error" {
	for call in 'shmem_put(&s, &s, 1, 0)' 'shmem_p(SHMEM_CTX_DEFAULT, &s, s, 0)' 'shmem_atomic_add(&f, 1, 0)' \
		'shmem_atomic_fetch_xor(&f, 1, 0)' 'shmem_atomic_inc(&c, 0)' 'shmem_wait_until(&f, SHMEM_CMP_EQ, 1)' \
		'shmem_and_reduce(SHMEM_TEAM_WORLD, &f, &f, 1)' 'shmem_max_reduce(SHMEM_TEAM_WORLD, &z, &z, 1)' \
		'shmem_broadcast(SHMEM_TEAM_WORLD, &s, &s, 1, 0)' 'shmem_finc(&f, 0)' 'shmem_test_all(&c, 1, NULL, 1, 1)' \
		'shmem_sum_inscan(SHMEM_TEAM_WORLD, &s, &s, 1)' 'shmem_put(&f, &f, 1)' 'shmem_put(vp, vp, 1, 0)'; do
		printf '%s\n' '#include <shmem.h>' 'struct s { int i; } s; float f; char c; double _Complex z; void *vp;' \
			"void f1(void) { $call; }" >wrong.c
		if compile -std=c11 wrong.c 2>error; then
			echo "accepted: $call"
			return 1
		fi
	done
}

# Programs whose calls are counted; only PE 0 says something.
write_known()
{
	cat >known.c <<'C'
#include <shmem.h>
long word;
int main(void)
{
	long *heap;
	int me;

	shmem_init();
	me = shmem_my_pe();
	heap = shmem_malloc(sizeof *heap);
	shmem_long_p(heap, 3, me);
	shmem_long_p(&word, 3, me);
	shmem_quiet();
	shmem_barrier_all();
	shmem_int64_sum_reduce(SHMEM_TEAM_WORLD, heap, &word, 1);
	shmem_long_atomic_fetch_add(&word, 1, 0);
	shmem_set_lock(&word - 0 * me == heap ? heap : heap);
	shmem_clear_lock(heap);
	shmem_free(heap);
	shmem_finalize();
	return 0;
}
C
	sed -i -e 's/\tshmem_set_lock.*/\t*heap = 0;\n\tshmem_set_lock(heap);/' known.c
	sort >expected <<'C'
shmem_barrier_all 1
shmem_clear_lock 1
shmem_finalize 1
shmem_free 1
shmem_init 1
shmem_int64_sum_reduce 1
shmem_long_atomic_fetch_add 1
shmem_long_p 2
shmem_malloc 1
shmem_my_pe 1
shmem_quiet 1
shmem_set_lock 1
C
}

# Where a program's calls go, for every routine.
write_table()
{
	{
		echo '#include <shmem.h>'
		echo '#include <dlfcn.h>'
		echo '#include <stdio.h>'
		echo '#include <string.h>'
		echo 'static const struct { const char *name; void *address; } table[] = {'
		functions | sed 's/.*/{"&", (void *)&},/'
		cat <<'C'
};
int main(void)
{
	void *const *wrappers = dlsym(RTLD_DEFAULT, "profiler_wrappers");
	const char *const *names = dlsym(RTLD_DEFAULT, "profiler_names");
	int count = 0;

	for (size_t i = 0; wrappers && i < sizeof table / sizeof table[0]; i++)
		count += !strcmp(table[i].name, names[i]) && table[i].address == wrappers[i];
	printf("%d of %d\n", count, (int)(sizeof table / sizeof table[0]));
	return 0;
}
C
	} >table.c
}

counts_are_known()
{
	sort got | diff expected -
}

@test "profiling: the tool linked with the program and the shared library" {
	write_known
	write_table
	"$OSHCC" -std=gnu99 -o known known.c "$PROFILER.o"
	"$OSHRUN" -n 1 ./known >got
	counts_are_known
	"$OSHCC" -std=gnu99 -rdynamic -o table table.c "$PROFILER.o" -ldl
	run ./table
	[ "$output" = "$(functions | wc -l) of $(functions | wc -l)" ]
}

@test "profiling: the tool as a shared library of its own, and preloaded" {
	write_known
	write_table
	cc -shared -o libtool.so "$PROFILER.o"
	"$OSHCC" -std=gnu99 -o known known.c -L. -ltool -Wl,-rpath,"$PWD"
	"$OSHRUN" -n 1 ./known >got
	counts_are_known
	"$OSHCC" -std=gnu99 -o known known.c
	"$OSHRUN" -n 1 ./known >got
	[ ! -s got ]
	"$OSHRUN" -n 1 env LD_PRELOAD="$PWD/libtool.so" ./known >got
	sort -u got | diff expected -
	"$OSHCC" -std=gnu99 -o table table.c -ldl
	run ./table
	[ "$output" = "0 of $(functions | wc -l)" ]
	LD_PRELOAD="$PWD/libtool.so" run ./table
	[ "$output" = "$(functions | wc -l) of $(functions | wc -l)" ]
}

@test "profiling: the tool and the archive, without a name defined twice" {
	[ -e "$TOP_BUILDDIR/.libs/libtorushmem.a" ] || skip "built without an archive"
	write_known
	write_table
	"$OSHCC" -static-libtorushmem -std=gnu99 -o known known.c "$PROFILER.o"
	run ldd ./known
	[[ "$output" != *libtorushmem* ]]
	"$OSHRUN" -n 1 ./known >got
	counts_are_known
	"$OSHCC" -static-libtorushmem -std=gnu99 -rdynamic -o table table.c "$PROFILER.o" -ldl
	run ./table
	[ "$output" = "$(functions | wc -l) of $(functions | wc -l)" ]
}

@test "the library calls none of the names that a tool can replace" {
	nm -D --undefined-only "$LIBRARY" | awk '{ print $2 }' | sort >undefined
	functions | sort >names
	[ -s names ]
	run comm -12 undefined names
	[ "$output" = "" ]
	# Calls within the library would be relocations against exported names.
	run sh -c "readelf -rW '$LIBRARY' | awk '{ print \$5 }' | sort | comm -12 - names"
	[ "$output" = "" ]
}

@test "the page of conformance is up to date" {
	sh "$HERE/make-page" >page.md
	diff "$TOP/docs/conformance.md" page.md
}
