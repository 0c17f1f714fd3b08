#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Tools that people have: a profiler between program and library by LD_PRELOAD, back-traces
# of PEs that die, debuggers.

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
	export OSHRUN="${OSHRUN:-$TOP_BUILDDIR/oshrun}" OSHCC="${OSHCC:-$TOP_BUILDDIR/oshcc}"
	cd "$BATS_FILE_TMPDIR" || return
	cat >count.c <<'END'
#include <pshmem.h>
#include <stdio.h>

static int puts_made;

void shmem_long_put(long *dest, const long *source, size_t nelems, int pe)
{
	puts_made++;
	pshmem_long_put(dest, source, nelems, pe);
}

void shmem_finalize(void)
{
	printf("PE %d: %d puts\n", pshmem_my_pe(), puts_made);
	pshmem_finalize();
}
END
	cat >program.c <<'END'
#include <shmem.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long word;

static void mine(int number)
{
	(void)number;
	if (write(1, "own handler\n", 12) < 0)
		_exit(1);
	_exit(5);
}

int main(int argc, char *argv[])
{
	long source = 1;
	const char *mode = argc > 1 ? argv[1] : "";

	volatile long *unset = malloc(sizeof *unset);

	if (!strcmp(mode, "chained"))
		signal(SIGSEGV, mine);
	shmem_init();
	for (int i = 0; i < 3; i++)
		shmem_long_put(&word, &source, 1, 0);
	if (shmem_my_pe() == 1 && (!strcmp(mode, "inside") || !strcmp(mode, "chained")))
		shmem_long_put(&word, (const long *)64, 1, 0);
	if (shmem_my_pe() == 1 && !strcmp(mode, "abort"))
		abort();
	for (int i = 0; !strcmp(mode, "busy") && i < 30000000; i++)
		shmem_long_put(&word, &source, 1, 0);
	if (!strcmp(mode, "unset") && *unset == 4711)
		return 1;
	shmem_barrier_all();
	shmem_finalize();
	return 0;
}
END
	"$OSHCC" -shared -fPIC count.c -o count.so
	"$OSHCC" -g program.c -o program
}

@test "a library in between by LD_PRELOAD" {
	run "$OSHRUN" -q -n 2 env LD_PRELOAD="$BATS_FILE_TMPDIR/count.so" "$BATS_FILE_TMPDIR/program"
	[ "$status" -eq 0 ]
	[ "$(printf '%s\n' "$output" | sort)" = "$(printf 'PE 0: 3 puts\nPE 1: 3 puts')" ]
}

@test "a signal inside a routine: PE, routine and calls" {
	run "$OSHRUN" -q -n 2 "$BATS_FILE_TMPDIR/program" inside
	[ "$status" -eq 139 ]
	[[ "$output" == *'torushmem: PE 1: shmem_long_put: SIGSEGV at address 0x40, where source points; the calls that led there:'* ]]
	[[ "$output" == *'#0 shmem_long_put + 0x'* ]]
	[[ "$output" == *"$BATS_FILE_TMPDIR/program + 0x"* ]]
}

@test "a signal in the program; no back-trace where none is wanted" {
	run "$OSHRUN" -q -n 2 "$BATS_FILE_TMPDIR/program" abort
	[ "$status" -eq 134 ]
	[[ "$output" == *'torushmem: PE 1: SIGABRT in the program; the calls that led there:'* ]]
	run "$OSHRUN" -q -n 2 env SHMEM_BACKTRACE=no "$BATS_FILE_TMPDIR/program" abort
	[ "$status" -eq 134 ]
	[[ "$output" != *'torushmem: PE 1'* ]]
}

@test "the program's own handler runs" {
	run "$OSHRUN" -q -n 2 "$BATS_FILE_TMPDIR/program" chained
	[ "$status" -eq 5 ]
	[[ "$output" == *'PE 1: shmem_long_put: SIGSEGV'* ]]
	[[ "$output" == *'own handler'* ]]
}

@test "one PE under gdb, the others not" {
	command -v gdb >/dev/null || skip "no gdb here"
	run "$OSHRUN" -q -n 2 --debug 1 --debugger 'gdb -q -batch -ex run -ex bt --args' "$BATS_FILE_TMPDIR/program" inside
	[[ "$output" == *'received signal SIGSEGV'* ]]
	[[ "$output" == *'pshmem_long_put'* ]]
	[ "$(printf '%s\n' "$output" | grep -c 'received signal')" -eq 1 ]
}

@test "one PE under valgrind, the others not" {
	command -v valgrind >/dev/null || skip "no valgrind here"
	run timeout 60 "$OSHRUN" -q -n 2 --debug 1 --debugger 'valgrind -q --undef-value-errors=yes' "$BATS_FILE_TMPDIR/program" unset
	printf '%s\n' "$output"
	[ "$status" -eq 0 ]
	[ "$(printf '%s\n' "$output" | grep -c 'Conditional jump or move depends on uninitialised value')" -eq 1 ]
	[[ "$output" == *'main (program.c:'* ]]
}

@test "each PE under perf: its time is found in the routine it calls" {
	cd "$BATS_TEST_TMPDIR"
	perf record -q -e cpu-clock -o try true 2>/dev/null || skip "no perf here, or no right to use it"
	# shellcheck disable=SC2016 # for the shell of each PE
	run "$OSHRUN" -q -n 2 sh -c 'exec perf record -q -e cpu-clock -o "perf.$PMIX_RANK" "$@"' sh "$BATS_FILE_TMPDIR/program" busy
	[ "$status" -eq 0 ]
	for pe in 0 1; do
		perf report -i "perf.$pe" --stdio --sort dso,symbol 2>/dev/null >"said.$pe"
		head -n 20 "said.$pe"
		grep -q 'libtorushmem.*pshmem_long_put' "said.$pe"
	done
}

@test "what is typed goes to the debugged PE" {
	printf '#!/bin/sh\nread -r word\necho "got $word"\nexec "$@"\n' >"$BATS_TEST_TMPDIR/reader"
	chmod +x "$BATS_TEST_TMPDIR/reader"
	run "$OSHRUN" -q -n 2 --debug 1 --debugger "$BATS_TEST_TMPDIR/reader" "$BATS_FILE_TMPDIR/program" <<<'typed'
	[ "$status" -eq 0 ]
	[ "$output" = 'got typed' ]
	run "$OSHRUN" -q -n 2 --dry-run --debug 1 --debugger 'valgrind -q' "$BATS_FILE_TMPDIR/program" 7
	[ "$status" -eq 0 ]
	[ "$(printf '%s\n' "$output" | grep -c 'valgrind -q')" -eq 1 ]
	[[ "$output" == *'PE 1 '*"valgrind -q $BATS_FILE_TMPDIR/program 7"* ]]
}

@test "mistakes with --debug are said in one line" {
	for words in '--debug 2' '--debug one' '--debugger gdb' '--debug 1 --debugger /nonexistent/gdb'; do
		# shellcheck disable=SC2086
		run "$OSHRUN" -q -n 2 $words "$BATS_FILE_TMPDIR/program"
		[ "$status" -ne 0 ]
		[ "${#lines[@]}" -eq 1 ]
	done
}

@test "tests/run says in one line that the test programs are not built" {
	mkdir "$BATS_TEST_TMPDIR/half"
	ln -s "$TOP_BUILDDIR/oshrun" "$BATS_TEST_TMPDIR/half/oshrun"
	run env -u OSHRUN sh "$BATS_TEST_DIRNAME/../run" --build "$BATS_TEST_TMPDIR/half" --only rma,barrier --kinds api
	[ "$status" -eq 2 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == "tests/run: "[1-9]*" of the test programs are not built in $BATS_TEST_TMPDIR/half, tests/api/barrier for one; run make check-programs there first" ]]
}

@test "bats by itself, with nothing built: one failure for a file" {
	mkdir "$BATS_TEST_TMPDIR/empty"
	run env TOP_BUILDDIR="$BATS_TEST_TMPDIR/empty" bats --tap "$BATS_TEST_DIRNAME/wrappers.bats"
	[ "$status" -ne 0 ]
	[ "$(grep -c '^not ok' <<<"$output")" -eq 1 ]
	[[ "$output" == *"nothing is built in TOP_BUILDDIR=$BATS_TEST_TMPDIR/empty; run make there"* ]]
}

@test "what counts as left in /dev/shm is ours alone" {
	. "$BATS_TEST_DIRNAME/../lib/left.sh"
	dead=$(sh -c 'echo $$')
	ours="/dev/shm/oshrun-$dead-bats$$" alive="/dev/shm/oshrun-$$-bats$$" segment="/dev/shm/ucx_shm_posix_bats$$"
	others="/dev/shm/vader_segment.bats$$"
	mkdir "$ours" "$alive"
	: >"$segment"
	: >"$others"
	run left_in_shm "$TOP_BUILDDIR"
	# Held by a program that lies elsewhere.
	echo x >"$segment"
	python3 -c 'import mmap, sys
file = open(sys.argv[1], "r+b")
memory = mmap.mmap(file.fileno(), 0)
print("mapped", flush=True)
sys.stdin.read()' "$segment" < <(sleep 20) >mapped 2>/dev/null 3>&- &
	holder=$!
	for _ in $(seq 100); do
		[ -s mapped ] && break
		sleep 0.05
	done
	held=$(left_in_shm "$TOP_BUILDDIR")
	kill "$holder"
	rm -rf "$ours" "$alive" "$segment" "$others"
	[[ "$output" == *"$ours"* && "$output" == *"$segment"* ]]
	[[ "$output" != *"$alive"* && "$output" != *"$others"* ]]
	[[ "$held" == *"$ours"* && "$held" != *"$segment"* ]]
}
