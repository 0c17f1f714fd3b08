#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The benchmarks: they run, their records can be read and are plausible, wrong data ends
# them; and the statistics of bench/compare/libraries, with records made up for it. No test
# checks a time that was measured.

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
	export OSHRUN="${OSHRUN:-$TOP_BUILDDIR/oshrun}" OSHCC="${OSHCC:-$TOP_BUILDDIR/oshcc}"
	export BENCH="$TOP_BUILDDIR/bench/bench"
	export FLOOR="$TOP_BUILDDIR/bench/floor/floor" COMPARE="${BATS_TEST_FILENAME%/*}/../../bench/compare"
	export FAST="--quick --samples 3 --sample-time 0.05"
	[ -x "$BENCH" ] || skip "bench/ was not built"
}

setup()
{
	cd "$BATS_TEST_TMPDIR" || return
}

says()
{
	printf '%s\n' "$output" | grep -Eq -- "$1" || {
		printf 'no "%s" in:\n%s\n' "$1" "$output"
		return 1
	}
}

one_line_and()
{
	if [ "$status" -ne "$1" ] || [ "${#lines[@]}" -ne 1 ]; then
		printf 'exit code %s and:\n%s\n' "$status" "$output"
		return 1
	fi
}

# plausible FILE PES: records of 14 fields, with a value above zero (or a share) between quartiles.
plausible()
{
	awk -F , -v pes="$2" '
		NR == 1 { if ($0 !~ /^measure,variant,bytes,pes,value,unit,/) { print "no header"; bad = 1 }; next }
		NF != 14 || $5 !~ /^[0-9.e+-]+$/ || $5 + 0 < 0 || ($5 + 0 == 0 && $6 != "%") || $5 + 0 > 1e12 { print "implausible: " $0; bad = 1 }
		$4 != pes || $7 + 0 > $5 + 0 || $8 + 0 < $5 + 0 || $9 + 0 > $7 + 0 || $10 < 1 { print "wrong: " $0; bad = 1 }
		END { if (NR < 2) { print "no records"; bad = 1 }; exit bad }' "$1"
}

@test "help and list, without and with a launcher" {
	run "$BENCH" --help
	[ "$status" -eq 0 ]
	says '^usage: '
	for measure in $("$BENCH" --list); do
		says "^  $measure "
	done
	run "$FLOOR" --help
	[ "$status" -eq 0 ]
	says '^  copy '
	run "$OSHRUN" -q -n 2 "$BENCH" --list
	[ "$status" -eq 0 ]
	[ "$(printf '%s\n' "$output" | grep -cx put)" -eq 1 ]
}

@test "what makes no sense gets one line" {
	for wrong in nonsense --nonsense --sizes=3,2 --sizes=x --sizes=1q --samples=0 --sample-time=no; do
		# shellcheck disable=SC2086 # two words
		run "$BENCH" $wrong
		one_line_and 2
	done
	run "$BENCH" --quick put
	one_line_and 1
	says 'put needs at least 2 PEs'
}

@test "every measure on 2 PEs" {
	# shellcheck disable=SC2086 # a list of options
	timeout -k 2 100 "$OSHRUN" -q -n 2 "$BENCH" --csv $FAST >records
	plausible records 2
	for measure in $("$BENCH" --list); do
		grep -q "^$measure," records || { echo "no record of $measure" && return 1; }
	done
	grep -q '^put,blocking:global,4096,' records
	grep -q '^atomic,fetch-add,8,' records
}

@test "on other numbers of PEs" {
	for pes in 1 3 4; do
		# shellcheck disable=SC2086 # a list of options
		timeout -k 2 60 "$OSHRUN" -q -n "$pes" "$BENCH" --csv $FAST --sizes 8,4k >records
		plausible records "$pes"
	done
	grep -q '^put-rate,pairs:window-64,' records
}

@test "over UCX" {
	# shellcheck disable=SC2086 # a list of options
	SHMEM_PATHS=ucx UCX_TLS=posix,self timeout -k 2 60 "$OSHRUN" -q -n 2 "$BENCH" --csv $FAST --sizes 8 p g atomic signal >records
	plausible records 2
}

@test "sizes: those that were asked for" {
	timeout -k 2 60 "$OSHRUN" -q -n 2 "$BENCH" --csv --quick --sizes 8,3k signal >records
	plausible records 2
	[ "$(cut -d , -f 3 records | tr '\n' ' ')" = "bytes 8 3072 " ]
}

@test "tables" {
	run timeout -k 2 60 "$OSHRUN" -q -n 2 "$BENCH" --quick --sizes 8,4k p halo
	[ "$status" -eq 0 ]
	says '^measure +variant +size +median'
	says '^halo +four-sides +4 KiB +[0-9.]+ (ns|us|ms) '
	says '^halo +exchange +4 KiB '
}

@test "wrong data ends a benchmark" {
	# A library whose puts forget the last byte.
	cat >forget.c <<'END'
#include <pshmem.h>
void shmem_putmem(void *to, const void *from, size_t bytes, int pe) { pshmem_putmem(to, from, bytes - 1, pe); }
END
	"$OSHCC" -shared -fPIC -o forget.so forget.c
	LD_PRELOAD="$PWD/forget.so" run timeout -k 2 60 "$OSHRUN" -q -n 2 "$BENCH" --csv --quick --sizes 64 put
	[ "$status" -ne 0 ]
	says 'bench: PE 1: put blocking, 64 B: wrong data'
}

@test "the floor" {
	# shellcheck disable=SC2086 # a list of options
	timeout -k 2 60 "$FLOOR" --csv $FAST >records
	plausible records 2
	for measure in $("$FLOOR" --list); do
		grep -q "^$measure," records || { echo "no record of $measure" && return 1; }
	done
	run "$FLOOR" nonsense
	one_line_and 2
}

@test "without --sizes it measures from 1 byte to 64 MiB" {
	run "$OSHRUN" -q -n 2 "$BENCH" --samples 3 --sample-time 0.01 get
	[ "$status" -eq 0 ]
	says 'blocking +1 B '
	says 'blocking +64 MiB '
}

# --- bench/compare: python3 ---

need_python()
{
	command -v python3 >/dev/null || skip "python3 is not there; on Debian: apt-get install python3"
}

# record ROUND GROUP WHO MEASURE VARIANT BYTES VALUE STATE
record()
{
	echo "$1,$2,$3,$4,$5,$6,2,$7,ns,$8"
}

made_up_records()
{
	echo "round,group,who,measure,variant,bytes,pes,value,unit,state"
	# Near: ours 10 20 30, theirs 100 100 100. A far and a mixed round must not count.
	for round in 1 2 3; do
		record "$round" put ours put blocking 8 "${round}0" near
		record "$round" put other put blocking 8 100 near
		record "$round" put floor copy memcpy 8 9 near
		record "$round" put floor copy movsb 8 8 near
	done
	record 4 put ours put blocking 8 5000 far
	record 5 put ours put blocking 8 7000 mixed
	record 5 put other put blocking 8 1 mixed
	record 1 put ours put blocking 65536 1000 far
	record 1 put other put blocking 65536 2000 far
	record 1 sums ours reduce team 8 300 near
	record 1 sums other reduce team 8 600 near
	# Never in one state: no ratio.
	record 1 get ours g heap 8 10 near
	record 1 get other g heap 8 90 far
}

@test "compare: medians, ratios and floors, and the table in words" {
	need_python
	mkdir out
	made_up_records >out/records.csv
	run "$COMPARE/libraries" --report --out out --keep kept
	[ "$status" -eq 0 ]
	says '^\| 8-byte put \| 20.0 ns \| 100 ns \| 5.0 \|$'
	says '^\| sum of 8 bytes, 2 PEs, team \| 300 ns \| 600 ns \| 2.0 \|$'
	tab=$(printf '\t')
	row() { printf '%s\n' "$*" | tr ' ' "$tab"; }
	grep -qx "$(row put put blocking 8 2 ns 20 8 100 0.2 0.1 0.3)" out/table.tsv
	grep -qx "$(row put put blocking 65536 2 ns 1000)$tab$tab$(row 2000 0.5 0.5 0.5)" out/table.tsv
	grep -qx "$(row get g heap 8 2 ns 10)$tab$tab$tab$tab$tab" out/table.tsv
	grep -q '^put.put.blocking.8.2.ns.20.8.100.0.2' kept
	! grep -q heap kept || return 1
}

@test "compare: a page of one's own" {
	need_python
	mkdir out
	made_up_records >out/records.csv
	"$COMPARE/libraries" --report --out out --page page.md
	grep -q '^| 8-byte put | 20.0 ns |' page.md
	! grep -q 'svg' page.md || return 1 # for the plots too little was measured
}

@test "compare: a run against ourselves, and a launcher that hangs" {
	need_python
	# In a script, for the launcher's words are for a shell.
	printf '#!/bin/sh\nexec "%s" "$@"\n' "$OSHCC" >cc && printf '#!/bin/sh\nexec "%s" -q "$@"\n' "$OSHRUN" >launch
	{
		printf '#!/bin/sh\n: >/dev/shm/vader_segment.left-%s >/dev/shm/other-%s\n' $$ $$
		printf 'trap "" TERM\nsetsid sleep 62.0%s &\nwhile :; do sleep 63.0%s; done\n' $$ $$
	} >hang
	chmod +x cc launch hang
	run timeout -k 2 100 "$COMPARE/libraries" --build "$TOP_BUILDDIR" --quick --limit 4 --only sync --out out \
		--against NAME=twin OSHCC="'$PWD/cc'" OSHRUN="'$PWD/launch'" \
		--against NAME=sleepy OSHCC="'$PWD/cc'" OSHRUN="'$PWD/hang'"
	printf '%s\n' "$output"
	[ "$status" -eq 0 ]
	says 'sleepy did not end within 4 s in sync'
	for who in ours twin floor; do
		grep -q "^1,sync,$who," out/records.csv
	done
	! grep -q sleepy out/records.csv || return 1
	! pgrep -f "sleep 6[23][.]0$$\$" || return 1
	[ ! -e "/dev/shm/vader_segment.left-$$" ]
	rm "/dev/shm/other-$$" # not of a name that these libraries give
}

@test "sums of MPI are measured as ours" {
	command -v mpicc >/dev/null || skip "mpicc is not there; on Debian: apt-get install libopenmpi-dev"
	programs=$TOP_SRCDIR/bench/programs
	mpicc -std=gnu11 -o sums "$programs"/{sums_mpi,members,harness,line,main,record}.c -lm
	run timeout -k 2 60 mpirun --allow-run-as-root --oversubscribe -n 2 ./sums --csv --quick --sizes 8,64k
	printf '%s\n' "$output"
	[ "$status" -eq 0 ]
	says '^reduce,set,8,2,' && says '^reduce,team,65536,2,'
}

@test "compare: what makes no sense gets one line" {
	need_python
	run "$COMPARE/libraries" --help
	[ "$status" -eq 0 ]
	says 'sync-64'
	for wrong in --nonsense --only=x '--only nonsense' '--rounds 0' '--against X=1' '--against MPICC=mpicc' '--report --out none'; do
		# shellcheck disable=SC2086 # two words
		run "$COMPARE/libraries" --build "$TOP_BUILDDIR" $wrong
		one_line_and 2
	done
}

@test "neighbours: what was sent arrives, in records that can be read" {
	run timeout 60 "$OSHRUN" -q -n 2 "$TOP_BUILDDIR/bench/neighbours" faces
	[ "$status" -eq 0 ]
	[ "$(printf '%s\n' "$output" | grep -Ec "^faces,none,exchange,[0-9]+,[0-9]+$")" -eq 5 ]
	timeout 60 "$OSHRUN" -q -n 1 "$TOP_BUILDDIR/bench/neighbours" poisson >one
	[ "$(grep -c '^poisson,even,exchange,' one)" -eq 5 ]
}

@test "compare with MPI: medians over the rounds, in the tables of the page" {
	need_python
	mkdir results
	for round in 1 2 3; do
		echo "node,$round,faces,none,exchange,2048,${round}000"
		echo "node,$round,faces,none,MPI persistent single,2048,$((round * round + 3))000"
		echo "hosts,$round,poisson,even,exchange,480,20000"
	done >results/records.csv
	run "$COMPARE/neighbours" --build "$TOP_BUILDDIR" --report --out results
	[ "$status" -eq 0 ]
	says '^\| 8 faces of 2 KiB, on a node \| 2.00 µs \| 7\.00 µs \| 3\.5 \|$'
	says '^## An iteration of the Poisson solver, .*, between hosts$'
	says '^\| 480 B \| 20\.0 µs \|  \|$'
	run "$COMPARE/neighbours" --only nothing
	one_line_and 2
}
