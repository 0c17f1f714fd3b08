#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The benchmarks: they run, their records can be read and are plausible, wrong data ends them; and the statistics
# of bench/compare, with records made up for it. No test checks a time that was measured.

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
	export OSHRUN="${OSHRUN:-$TOP_BUILDDIR/oshrun}" OSHCC="${OSHCC:-$TOP_BUILDDIR/oshcc}"
	export SOURCES="${BATS_TEST_FILENAME%/*}/../../bench" BENCH="$TOP_BUILDDIR/bench/bench"
	export FLOOR="$TOP_BUILDDIR/bench/floor" STOPWATCH="$TOP_BUILDDIR/bench/stopwatch"
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

# plausible FILE PES: records of 14 fields, with a value above zero between its quartiles.
plausible()
{
	awk -F , -v pes="$2" '
		NR == 1 { if ($0 !~ /^measure,variant,bytes,pes,value,unit,/) { print "no header"; bad = 1 }; next }
		NF != 14 || $5 !~ /^[0-9.e+-]+$/ || $5 + 0 <= 0 || $5 + 0 > 1e12 { print "implausible: " $0; bad = 1 }
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
	for wrong in nonsense --nonsense --sizes=3,2 --sizes=x --sizes=1q --samples=0 --sample-time=no '--min=4k --max=8'; do
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
	timeout -k 2 60 "$OSHRUN" -q -n 2 "$BENCH" --csv --quick --sizes 8,3k,1m --max 512k signal >records
	plausible records 2
	[ "$(cut -d , -f 3 records | tr '\n' ' ')" = "bytes 8 3072 " ]
}

@test "tables and JSON" {
	run timeout -k 2 60 "$OSHRUN" -q -n 2 "$BENCH" --quick --sizes 8,4k p halo
	[ "$status" -eq 0 ]
	says '^measure +variant +size +median'
	says '^halo +four-sides +4 KiB +[0-9.]+ (ns|us|ms) '
	command -v python3 >/dev/null || skip "nothing to read JSON with"
	timeout -k 2 60 "$OSHRUN" -q -n 2 "$BENCH" --quick --json --sizes 8,4k p halo >records.json
	python3 -c 'import json; r = json.load(open("records.json")); assert r["pes"] == 2
assert [x["measure"] for x in r["records"]] == ["p", "p"] + 4 * ["halo"]
assert [x["variant"] for x in r["records"]][2:] == 2 * ["four-sides", "exchange"]
assert all(x["value"] > 0 and x["unit"] == "ns" for x in r["records"])'
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

@test "stopwatch: exit codes, limits, and nothing left running" {
	run "$STOPWATCH" -n 2 -- sh -c 'exit 3'
	[ "$status" -eq 0 ]
	[ "$(printf '%s\n' "$output" | grep -Ec '^[0-9]+\.[0-9]+ 3$')" -eq 2 ]
	run "$STOPWATCH" -q -- sh -c 'echo out; exit 3'
	[ "$status" -eq 3 ]
	[ "$output" = out ]
	# Sleeps of lengths that nobody else's have.
	run "$STOPWATCH" -q -l 0.5 -- sh -c 'sleep 61.0'$$' & trap "" TERM; while :; do sleep 62.0'$$'; done'
	[ "$status" -eq 124 ]
	! pgrep -f "sleep 6[12][.]0$$\$" || return 1
	run "$STOPWATCH" -l nonsense true
	one_line_and 2
}

# --- bench/compare ---

# record ROUND GROUP WHO MEASURE VARIANT BYTES VALUE STATE
record()
{
	echo "$1,$2,$3,$4,$5,$6,2,$7,ns,$7,$7,$7,15,$8,50,0 1,made up"
}

made_up_records()
{
	echo "round,group,who,measure,variant,bytes,pes,value,unit,low,high,best,samples,state,line_ns,processors,library"
	# Near: ours 10 20 30, theirs 100 100 100. A far and a mixed round must not count.
	for round in 1 2 3; do
		record "$round" put ours put blocking 8 "${round}0" near
		record "$round" put other put blocking 8 100 near
		record "$round" put floor store loop 8 8 near
	done
	record 4 put ours put blocking 8 5000 far
	record 5 put ours put blocking 8 7000 mixed
	record 5 put other put blocking 8 1 mixed
	# A range of sizes: the worst decides; the floor is the fastest method.
	record 1 put ours put blocking 65536 1000 far
	record 1 put other put blocking 65536 2000 far
	record 1 put ours put blocking 1048576 30000 far
	record 1 put other put blocking 1048576 20000 far
	for method in memcpy movsb; do
		record 1 put floor copy "$method" 65536 "$([ "$method" = movsb ] && echo 990 || echo 3000)" far
		record 1 put floor copy "$method" 1048576 30000 far
	done
	# Never in one state.
	record 1 get ours g heap 8 10 near
	record 1 get other g heap 8 90 far
	# The other has no teams.
	record 1 collectives ours broadcast team 8 40 near
	record 1 collectives other broadcast set 8 100 near
}

@test "compare: medians, ratios, floors and what is met" {
	mkdir out
	made_up_records >out/records.csv
	run "$SOURCES/compare" --report --out out
	[ "$status" -eq 0 ]
	grep -qx 'put,put,blocking,8,2,other,put,blocking,2,near,3,0.2,0.1,0.3' out/ratios.csv
	says '^\| 8-byte put \| 20.0 ns \| 100 ns \| 0.20 \(0.10–0.30\) \| ≤ 0.25 \| 8.00 ns \| 2.50 \| ≤ 2 \| near \| \*\*not met\*\* \|'
	says '^\| put of 64 KiB to 64 MiB \| 30.0 µs at 1 MiB \| 20.0 µs \| 1.50 \| ≤ 1.0 \| 990 ns at 64 KiB \| 1.01 \| .* \| far \| \*\*not met\*\* \|'
	says '^\| 8-byte shmem_g \| .* \| never in one state \|'
	says '^\| broadcast to 4 KiB, 2 PEs, team \| 40.0 ns at 8 B \| 100 ns \| 0.40 .*\| near \| met \|'
	! says 'barrier_all' || return 1
	grep -qx 'put,put,blocking,8,2,ours,near,3,20,15,25,ns' out/medians.csv
	grep -qx 'put,put,blocking,8,2,ours,far,1,5000,5000,5000,ns' out/medians.csv
}

@test "compare: the page, with plots" {
	mkdir out
	made_up_records >out/records.csv
	printf 'machine\tsome\nrounds\t5\n' >out/about
	"$SOURCES/compare" --report --out out --page page.md
	grep -q '^| 8-byte put |' page.md
	grep -q '^!\[.*\](page/put.svg)' page.md
	grep -q '<svg' page/put.svg
	# What is kept makes the same page again.
	"$SOURCES/compare" --report --out out --keep kept
	"$SOURCES/make-page" kept again.md
	sed 's|(again/|(page/|' again.md | cmp - page.md
	cmp page/put.svg again/put.svg
}

@test "compare: a run against ourselves, and a launcher that hangs" {
	# In a script, for the launcher's words are for a shell.
	printf '#!/bin/sh\nexec "%s" "$@"\n' "$OSHCC" >cc && printf '#!/bin/sh\nexec "%s" -q "$@"\n' "$OSHRUN" >launch
	printf '#!/bin/sh\n: >/dev/shm/vader_segment.left-%s >/dev/shm/other-%s\nsleep 63.0%s\n' $$ $$ $$ >hang && chmod +x cc launch hang
	run timeout -k 2 100 "$SOURCES/compare" --build "$TOP_BUILDDIR" --quick --limit 4 --only sync --out out \
		--against NAME=twin OSHCC="'$PWD/cc'" OSHRUN="'$PWD/launch'" \
		--against NAME=sleepy OSHCC="'$PWD/cc'" OSHRUN="'$PWD/hang'"
	[ "$status" -eq 0 ]
	says 'sleepy did not end within 4 s in sync'
	for who in ours twin floor; do
		grep -q "^1,sync,$who," out/records.csv
	done
	! grep -q sleepy out/records.csv || return 1
	! pgrep -f "sleep 63[.]0$$\$" || return 1
	[ ! -e "/dev/shm/vader_segment.left-$$" ]
	rm "/dev/shm/other-$$" # not of a name that these libraries give
}

@test "compare: what makes no sense gets one line" {
	run "$SOURCES/compare" --list
	[ "$status" -eq 0 ]
	says '^sync-64$'
	for wrong in --nonsense --only=x '--only nonsense' '--rounds 0' NAME=x '--against X=1' '--report --out none'; do
		# shellcheck disable=SC2086 # two words
		run "$SOURCES/compare" $wrong
		one_line_and 2
	done
}

@test "neighbours: every transport brings what was sent, in records that can be read" {
	run timeout 60 "$OSHRUN" -q -n 2 "$TOP_BUILDDIR/bench/neighbours" faces hidden
	[ "$status" -eq 0 ]
	for transport in exchange 'put[+]signal' hand-shake; do
		[ "$(printf '%s\n' "$output" | grep -Ec "^faces,none,$transport,[0-9]+,[0-9]+$")" -eq 5 ]
	done
	timeout 60 "$OSHRUN" -q -n 1 "$TOP_BUILDDIR/bench/neighbours" poisson >one
	[ "$(grep -c '^poisson,even,exchange,' one)" -eq 5 ]
}

@test "compare-neighbours: medians of ratios, round by round, and what is met" {
	mkdir results
	echo 'made today' >results/about
	for round in 1 2 3; do
		echo "node,$round,faces,none,exchange,2048,${round}000"
		echo "node,$round,faces,none,MPI persistent single,2048,$((round * round + 3))000"
		echo "hosts,$round,hidden,alone,exchange,2048,20000"
		echo "hosts,$round,hidden,with bulk,exchange,2048,${round}00"
	done >results/records.csv
	run "$SOURCES/compare-neighbours" --build "$TOP_BUILDDIR" --report --out results --page page.md
	[ "$status" -eq 0 ]
	says '^\| 8 faces of 2 KiB, on a node \| 2.00 µs \| MPI persistent single, 7\.00 µs \| 0\.25 \(0\.25–0\.29\) \| ≤ 0\.5 \| met \|$'
	says '^\| hidden of waiting for 8 faces of 2 KiB, between hosts \| 99 % \| .* \| \|$'
	grep -q '^# Exchanges with neighbours, next to MPI$' page.md
	run "$SOURCES/compare-neighbours" --only nothing
	one_line_and 2
}
