#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# run: beside
# oshcc, oshcxx, oshc++: what they show, what they pass on, and that their programs run.

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
}

setup()
{
	OSHCC=${OSHCC:-$TOP_BUILDDIR/oshcc}
	OSHRUN=${OSHRUN:-$TOP_BUILDDIR/oshrun}
	OSHCXX=${OSHCC%/*}/oshcxx
	unset OSHCC_CC OSHCXX_CXX SHMEM_CC SHMEM_CXX OSHCC_NO_RPATH
	# Every test works in a folder whose name has a blank.
	folder="$BATS_TEST_TMPDIR/a folder"
	mkdir "$folder"
	cd "$folder" || return
	cat >hello.c <<'END'
#include <shmem.h>
#include <stdio.h>
#ifdef WORD
#define TEXT WORD
#else
#define TEXT "hello"
#endif
int main(void)
{
	shmem_init();
	printf("%s from %d of %d\n", TEXT, shmem_my_pe(), shmem_n_pes());
	shmem_finalize();
	return 0;
}
END
	cp hello.c hello.cc
}

# A compiler that prints its arguments, each in brackets on a line, and ends with 7.
fake_compiler()
{
	printf '#!/bin/sh\nprintf "[%%s]\\n" "$@"\nexit 7\n' >"$BATS_TEST_TMPDIR/fake"
	chmod +x "$BATS_TEST_TMPDIR/fake"
	export OSHCC_CC="$BATS_TEST_TMPDIR/fake"
}

has_line()
{
	printf '%s\n' "$output" | grep -Fqx -- "$1" || {
		printf 'no line "%s" in:\n%s\n' "$1" "$output"
		return 1
	}
}

lacks()
{
	case $output in
	*"$1"*) printf '"%s" is in:\n%s\n' "$1" "$output" && return 1 ;;
	esac
}

@test "oshcc builds a program that runs on two PEs" {
	"$OSHCC" -Wall -Wextra -Werror -o hello hello.c
	run "$OSHRUN" -n 2 ./hello
	[ "$status" -eq 0 ]
	has_line "hello from 0 of 2"
	has_line "hello from 1 of 2"
}

@test "oshcxx and oshc++ build C++ programs" {
	for name in oshcxx oshc++; do
		"${OSHCC%/*}/$name" -Wall -Wextra -Werror -o hello hello.cc
		run "$OSHRUN" -n 2 ./hello
		[ "$status" -eq 0 ]
		has_line "hello from 1 of 2"
	done
}

@test "compile with -c, then link" {
	"$OSHCC" -c hello.c
	[ -f hello.o ]
	"$OSHCC" hello.o -o hello
	run "$OSHRUN" -n 1 ./hello
	[ "$status" -eq 0 ]
	has_line "hello from 0 of 1"
}

@test "every show option says the whole command" {
	run "$OSHCC" -show hello.c -o hello
	[ "$status" -eq 0 ]
	whole=$output
	# A path with blanks comes in quotes.
	[[ "$whole" == *" hello.c -o hello "*-I*-L*" -ltorushmem"* ]]
	for option in -showme --showme --show; do
		run "$OSHCC" "$option" hello.c -o hello
		[ "$status" -eq 0 ]
		[ "$output" = "$whole" ]
	done
	[ ! -e hello ]
}

@test "a shown command does what the wrapper does" {
	shown=$("$OSHCC" -show "-DWORD=\"it's a \$HOME\"" hello.c -o "my hello")
	eval "$shown"
	run "$OSHRUN" -n 1 "./my hello"
	[ "$status" -eq 0 ]
	# shellcheck disable=SC2016 # the dollar must have survived as it is
	has_line 'it'\''s a $HOME from 0 of 1'
}

@test "show options with a part, with one dash or two" {
	for dashes in -showme -show --showme --show; do
		run "$OSHCC" $dashes:compile
		[ "$status" -eq 0 ]
		[[ "$output" == -I* || "$output" == "'-I"* ]]
		lacks torushmem.a
		lacks -ltorushmem
		run "$OSHCC" $dashes:link
		[ "$status" -eq 0 ]
		[[ "$output" == *-ltorushmem* ]]
		lacks "-I"
		run "$OSHCC" $dashes:libs
		[ "$output" = torushmem ]
		run "$OSHCC" $dashes:incdirs
		[ -f "$output/shmem.h" ]
		run "$OSHCC" $dashes:libdirs
		[ -e "$output/libtorushmem.so" ] || [ -e "$output/libtorushmem.a" ]
		run "$OSHCC" $dashes:command
		command -v "${output%% *}"
		run "$OSHCC" $dashes:version
		[[ "$output" == "oshcc: torushmem "[0-9]* ]]
		run "$OSHCC" $dashes:help
		[ "$status" -eq 0 ]
		[[ "$output" == "usage: oshcc "* ]]
	done
}

@test "MPICH's habits and -showlibs" {
	compile=$("$OSHCC" --showme:compile) link=$("$OSHCC" --showme:link) cc=$("$OSHCC" --showme:command)
	run "$OSHCC" -compile-info
	[ "$output" = "$cc $compile" ]
	run "$OSHCC" -link-info
	[ "$output" = "$cc $link" ]
	run "$OSHCC" -showlibs
	[ "$output" = "$link" ]
}

@test "the parts shown are enough for a compiler of one's own" {
	eval "cc $("$OSHCC" --showme:compile) -c hello.c"
	eval "cc hello.o -o hello $("$OSHCC" --showme:link)"
	run "$OSHRUN" -n 2 ./hello
	[ "$status" -eq 0 ]
	has_line "hello from 1 of 2"
}

@test "no libraries where nothing is linked" {
	for option in -c -S -E -M -MM -fsyntax-only -r; do
		run "$OSHCC" -show "$option" hello.c
		[ "$status" -eq 0 ]
		lacks -ltorushmem
		lacks -rpath
	done
	run "$OSHCC" -show -MD -MF hello.d hello.c
	[[ "$output" == *-ltorushmem* ]]
}

@test "-E, -S and -M do what they say" {
	"$OSHCC" -E hello.c | grep -q 'shmem_init *('
	"$OSHCC" -S hello.c
	[ -s hello.s ]
	"$OSHCC" -M hello.c | grep -q 'shmem\.h'
}

@test "the compiler answers for itself when no file is named" {
	run "$OSHCC" -v
	[ "$status" -eq 0 ]
	run "$OSHCC" -dumpversion
	[ "$status" -eq 0 ]
	[ "$output" = "$($("$OSHCC" --showme:command) -dumpversion)" ]
}

@test "--version speaks of the compiler and of us" {
	run "$OSHCC" --version
	[ "$status" -eq 0 ]
	[[ "${lines[0]}" != oshcc* ]]
	[[ "${lines[-1]}" == "oshcc: torushmem "* ]]
}

@test "arguments arrive whole" {
	fake_compiler
	run "$OSHCC" -c "-DWORD=\"a  b\"" "it's.c" '*' '' '$HOME `x` \n'
	[ "$status" -eq 7 ]
	has_line '[-DWORD="a  b"]'
	has_line "[it's.c]"
	has_line '[*]'
	has_line '[]'
	has_line '[$HOME `x` \n]'
}

@test "the compiler's exit code is ours" {
	echo 'int main(void) { return undeclared; }' >wrong.c
	run "$OSHCC" wrong.c
	[ "$status" -eq 1 ]
	fake_compiler
	run "$OSHCC" hello.c
	[ "$status" -eq 7 ]
}

@test "another compiler by the environment, also one of several words" {
	fake_compiler
	run env OSHCC_CC= SHMEM_CC="$OSHCC_CC first" "$OSHCC" hello.c
	[ "$status" -eq 7 ]
	[ "${lines[0]}" = "[first]" ]
	run env OSHCC_CC="$OSHCC_CC own" SHMEM_CC=/nowhere "$OSHCC" hello.c
	[ "${lines[0]}" = "[own]" ]
	run env OSHCXX_CXX="$OSHCC_CC cxx" "$OSHCXX" hello.cc
	[ "${lines[0]}" = "[cxx]" ]
	run env -u OSHCC_CC SHMEM_CXX="$OSHCC_CC site" "$OSHCXX" hello.cc
	[ "${lines[0]}" = "[site]" ]
}

@test "SHMEM_CC that names the wrapper does not make it call itself" {
	run env SHMEM_CC="$OSHCC" timeout 20 "$OSHCC" --showme:command
	[ "$status" -eq 0 ]
	[[ "$output" != *oshcc* ]]
}

@test "a compiler that is not there is named, with the remedy" {
	run env OSHCC_CC=no-such-compiler "$OSHCC" hello.c
	[ "$status" -eq 1 ]
	[ "$output" = "oshcc: the compiler no-such-compiler is not there; install it or set OSHCC_CC" ]
}

@test "an unknown show option is refused" {
	run "$OSHCC" --showme:linkk
	[ "$status" -eq 1 ]
	[[ "$output" == "oshcc: unknown show option 'linkk'; one of compile, "* ]]
}

@test "rpath is there, and leaves on demand" {
	[ -e "$("$OSHCC" --showme:libdirs)/libtorushmem.so" ] || skip "built without a shared library"
	! "$TOP_BUILDDIR/config.status" --config | grep -q disable-wrapper-rpath || skip "configured without"
	run "$OSHCC" --showme:link
	[[ "$output" == *-rpath* ]]
	run env OSHCC_NO_RPATH=1 "$OSHCC" --showme:link
	lacks -rpath
}

@test "-static-libtorushmem and -Wl,-Bstatic take the archive" {
	[ -e "$("$OSHCC" --showme:libdirs)/libtorushmem.a" ] || skip "built without an archive"
	for option in -static-libtorushmem -Wl,-Bstatic; do
		"$OSHCC" "$option" -o hello -x c hello.c
		run ldd ./hello
		lacks libtorushmem
		run "$OSHRUN" -n 2 ./hello
		[ "$status" -eq 0 ]
		has_line "hello from 1 of 2"
	done
}

@test "-static is refused in one line where it would link" {
	for option in -static --static -static-pie; do
		run "$OSHCC" "$option" -o hello hello.c
		[ "$status" -eq 1 ]
		[ "${#lines[@]}" -eq 1 ]
		[[ "$output" == "oshcc: -static: UCX and PMIx load parts of themselves"*"-static-libtorushmem links "* ]]
	done
	[ ! -e hello ]
	"$OSHCC" -static -c hello.c
}

@test "with a suffix in its name it is the same language" {
	for name in oshcc-1.6:C oshc++-1.6:C++ my-oshcxx-torus:C++ oshCC:C++; do
		ln -s "$OSHCC" "$BATS_TEST_TMPDIR/${name%:*}"
		run "$BATS_TEST_TMPDIR/${name%:*}" --showme:version
		[[ "$output" == *"(language: ${name#*:})" ]]
	done
	run env SHMEM_CC="$BATS_TEST_TMPDIR/oshcc-1.6" timeout 20 "$OSHCC" --showme:command
	[[ "$output" != *oshcc* ]]
}

@test "it works through a link, and from another folder" {
	mkdir bin
	ln -s "$OSHCC" bin/oshcc
	ln -s oshcc bin/oshc++
	(cd bin && ./oshcc --showme:link && ./oshc++ --showme:command) >shown
	[ "$(sed -n 1p shown)" = "$("$OSHCC" --showme:link)" ]
	[ "$(sed -n 2p shown)" = "$("$OSHCXX" --showme:command)" ]
	PATH="$PWD/bin:$PATH" oshcc -o hello hello.c
	[ -x hello ]
}

@test "programs made with -fsanitize=thread run, on every path, shared and archive" {
	cat >threads.c <<'END'
#include <pthread.h>
#include <shmem.h>
static long box;
static void *work(void *nothing)
{
	shmem_long_p(&box, 5, (shmem_my_pe() + 1) % shmem_n_pes());
	shmem_quiet();
	return nothing;
}
int main(void)
{
	pthread_t thread;
	int provided;

	shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
	for (int i = 0; i < 10; i++) {
		pthread_create(&thread, NULL, work, NULL);
		pthread_join(thread, NULL);
	}
	shmem_barrier_all();
	if (box != 5)
		shmem_global_exit(9);
	shmem_finalize();
	return 0;
}
END
	"$OSHCC" -fsanitize=thread -o threads threads.c 2>/dev/null || skip "this compiler has no thread sanitizer"
	setarch -R true 2>/dev/null && fixed='setarch -R' || fixed=
	# shellcheck disable=SC2086 # a command or nothing
	timeout 60 $fixed "$OSHRUN" -q -n 2 ./threads
	# shellcheck disable=SC2086
	SHMEM_PATHS=ucx UCX_TLS=tcp,self timeout 60 $fixed "$OSHRUN" -q -n 2 ./threads
	[ -e "$("$OSHCC" --showme:libdirs)/libtorushmem.a" ] || return 0
	"$OSHCC" -static-libtorushmem -fsanitize=thread -o threads threads.c
	# shellcheck disable=SC2086
	timeout 60 $fixed "$OSHRUN" -q -n 2 ./threads
}

@test "the scripts are plain sh" {
	command -v shellcheck >/dev/null || skip "no shellcheck"
	shellcheck -s sh "$OSHCC"
}

@test "leaks inside PMIx, UCX and hwloc do not fail a program made with -fsanitize=address; its own do" {
	cd "$BATS_TEST_TMPDIR"
	cat >pmixleak.c <<'END'
#include <stdlib.h>
void *volatile kept;
void leak_there(void);
void leak_there(void)
{
	kept = malloc(1234);
	kept = NULL;
}
END
	cat >leaks.c <<'END'
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
void leak_there(void);
void *volatile mine;
int main(int argc, char **argv)
{
	shmem_init();
	leak_there();
	if (argc > 1) {
		mine = malloc(4321);
		mine = NULL;
	}
	if (shmem_my_pe() == 0)
		printf("%s\n", getenv("LSAN_OPTIONS") ? getenv("LSAN_OPTIONS") : "none");
	shmem_finalize();
	return argc < 0 || !argv;
}
END
	cc -shared -fPIC -g -o libpmixleak.so pmixleak.c
	"$OSHCC" -g -fsanitize=address -o leaks leaks.c -L. -lpmixleak -Wl,-rpath,"$PWD" || skip "no address sanitizer"
	unset LSAN_OPTIONS ASAN_OPTIONS
	run env LSAN_OPTIONS=detect_leaks=1:suppressions=/dev/null:exitcode=9 "$OSHRUN" -n 1 ./leaks
	[[ "$output" == *"LeakSanitizer: detected"* ]] || skip "this machine lets nobody look for leaks"
	[ "$status" -eq 9 ] && [[ "$output" == *"1234 byte(s)"* ]]
	run "$OSHRUN" -n 2 ./leaks
	printf '%s\n' "$output"
	[ "$status" -eq 0 ] && [[ "$output" == "suppressions='"*"/lsan.supp':print_suppressions=0" ]]
	run env LSAN_OPTIONS=print_suppressions=1:exitcode=9 "$OSHRUN" -n 2 ./leaks
	[ "$status" -eq 0 ] && [[ "$output" == *"Suppressions used"*libpmix* ]]
	[[ "$output" == *"suppressions='"*"/lsan.supp':print_suppressions=0:print_suppressions=1:exitcode=9"* ]]
	run "$OSHRUN" -n 1 ./leaks own
	[ "$status" -ne 0 ] && [[ "$output" == *"4321 byte(s)"* && "$output" != *"1234 byte(s)"* ]]
	# Another program's environment stays as it is.
	"$OSHCC" -o plain leaks.c -L. -lpmixleak -Wl,-rpath,"$PWD"
	[ "$("$OSHRUN" -n 1 ./plain)" = none ]
}
