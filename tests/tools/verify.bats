#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# oshverify: its report says what happened, its commands repeat it, it ends in time, and it is the
# same from an installed tree.

bats_require_minimum_version 1.5.0

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
	unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
	export VERIFY="$TOP_BUILDDIR/oshverify" OSHCC="${OSHCC:-$TOP_BUILDDIR/oshcc}"
	cd "$BATS_FILE_TMPDIR" || return
	"$OSHCC" -shared -fPIC "$TOP_SRCDIR/tests/lib/wrong_sum.c" -o fault.so
	# The same job for ever.
	cat >stuck.c <<'END'
#include <shmem.h>
#include <unistd.h>

void shmem_barrier_all(void)
{
	for (;;)
		pause();
}
END
	"$OSHCC" -shared -fPIC stuck.c -o stuck.so
}

setup()
{
	cd "$BATS_TEST_TMPDIR" || return
}

# field NAME: the values of a key in the report, a line each.
field()
{
	grep -o "\"$1\": \(\"[^\"]*\"\|[0-9]*\)" "${2:-torushmem-report.json}" | sed 's/^[^:]*: //; s/"//g'
}

is_json()
{
	if command -v python3 >/dev/null; then
		python3 -m json.tool "$1" >/dev/null
	elif command -v jq >/dev/null; then
		jq -e . "$1" >/dev/null
	fi
}

@test "a library that works: green, and JSON that others can read" {
	run "$VERIFY" --quick --paths local,ucx-tcp --only rma,barrier --parts tests,bench
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *" passed, 0 failed"* ]]
	is_json torushmem-report.json
	[ "$(field verdict)" = passed ]
	[ "$(field failed | sort -u)" = 0 ]
	grep -q '"measure": "put", "variant": "blocking", "bytes": 8' torushmem-report.json
	grep -q '<div class="verdict passed">' torushmem-report.html
	run grep -cE '(src|href)="?(http|//)|@import|url\(' torushmem-report.html
	[ "$output" = 0 ]
}

@test "a library with a wrong sum: red, the test is named, and its command repeats it" {
	export LD_PRELOAD="$BATS_FILE_TMPDIR/fault.so"
	run "$VERIFY" --quick --paths local --only rma,reduce --parts tests --output report
	unset LD_PRELOAD
	echo "$output"
	[ "$status" -eq 1 ]
	[[ $output == *"FAILED reduce on local"* ]]
	[ "$(field verdict report.json)" = failed ]
	grep -q '"result": "failed", "name": "reduce", "path": "local"' report.json
	grep -q '"result": "passed", "name": "rma", "path": "local"' report.json
	grep -q '<div class="verdict failed">' report.html
	grep -q '<h3>reduce on local' report.html
	grep -q 'long_sum' report.html
	command=$(printf '%s\n' "$output" | sed -n 's/^ *to repeat it: //p' | head -n 1)
	run env LD_PRELOAD="$BATS_FILE_TMPDIR/fault.so" sh -c "$command"
	[ "$status" -eq 1 ]
	[[ $output == *long_sum* ]]
	run sh -c "$command"
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "the stress part finds it as well" {
	export LD_PRELOAD="$BATS_FILE_TMPDIR/fault.so"
	run "$VERIFY" --quick --paths local --only collective_storm --parts stress --time-limit 100
	unset LD_PRELOAD
	echo "$output"
	[ "$status" -eq 1 ]
	[ "$(field verdict)" = failed ]
	[[ $output == *TEST_SEED=1* ]]
}

@test "jobs that hang: it ends at its time limit, and says what was not run" {
	export LD_PRELOAD="$BATS_FILE_TMPDIR/stuck.so"
	SECONDS=0
	run timeout -k 5 60 "$VERIFY" --quick --paths local --only rma,barrier --time-limit 8
	unset LD_PRELOAD
	echo "$output, after $SECONDS s"
	[ "$status" -eq 3 ]
	[ "$SECONDS" -lt 40 ]
	is_json torushmem-report.json
	[ "$(field verdict)" = incomplete ]
	grep -q '"result": "not-run", "name": "barrier"' torushmem-report.json
	grep -q 'not run for lack of time' torushmem-report.html
}

@test "interrupted, it still writes what it knows, and leaves nothing" {
	mkdir tmp
	TMPDIR="$PWD/tmp" "$VERIFY" --quick --paths local --parts tests >log 2>&1 3>&- &
	pid=$!
	for _ in $(seq 100); do
		! grep -q '^\[3/' log || break
		sleep 0.2
	done
	kill -TERM "$pid"
	code=0
	wait "$pid" || code=$?
	cat log
	[ "$code" -eq 143 ]
	is_json torushmem-report.json
	[ "$(field verdict)" = incomplete ]
	[ -z "$(ls tmp)" ]
}

@test "the report has no name of this host and no address, unless they are asked for" {
	name=$(uname -n)
	# What a test prints is the hard part: this one fails and says where it is.
	export LD_PRELOAD="$BATS_FILE_TMPDIR/fault.so"
	run "$VERIFY" --quick --paths local --only reduce --parts tests
	for file in torushmem-report.json torushmem-report.html; do
		run grep -w -e "$name" -e "${HOME:-none}/" "$file"
		echo "$file: $output"
		[ -z "$output" ]
	done
	mkdir records
	: | tee records/results records/figures >records/perftest
	printf 'version\ton node %s (10.1.2.3, fe80::1:2:3), nodes and x%sx\n' "$name" "$name" >records/facts
	printf '%s\t%s\n' made x profile x user x seconds 1 time_limit 2 verdict passed >>records/facts
	printf '%s\thost0\n' "$name" >records/private
	for names in no yes; do
		python3 "$TOP_BUILDDIR/oshverify-data/report.py" records "$names" "$names"
	done
	[ "$(field version no.json)" = "on node host0 ((address), (address)), nodes and x${name}x" ]
	[ "$(field version yes.json)" = "on node host0 (10.1.2.3, fe80::1:2:3), nodes and x${name}x" ]
}

@test "not as root" {
	[ "$(id -u)" -eq 0 ] || skip "this is not root"
	command -v runuser >/dev/null || skip "no runuser"
	runuser -u nobody -- test -x "$VERIFY" || skip "nobody cannot reach the build tree"
	mkdir -m 777 open
	cd open || return
	run runuser -u nobody -- env HOME=/nonexistent TMPDIR=/tmp "$VERIFY" --quick --paths local,ucx-tcp --only rma,reduce --parts tests
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(field user)" = "not root" ]
	[ "$(field verdict)" = passed ]
}

@test "mistakes are one line, and cost nothing" {
	run "$VERIFY" --paths teleport
	[ "$status" -eq 2 ]
	[ "$output" = "oshverify: --paths teleport: there is no such path; --list names them" ]
	run "$VERIFY" --time-limit soon
	[ "$status" -eq 2 ]
	[ "$output" = "oshverify: --time-limit soon: give seconds, or a time as in 20m or 2h" ]
	run "$VERIFY" --np two
	[ "$status" -eq 2 ]
	[ "$output" = "oshverify: --np two: give numbers of PEs, with commas between" ]
	run "$VERIFY" --paths hosts
	[ "$status" -eq 2 ]
	[ "${#lines[@]}" -eq 1 ]
	run "$VERIFY" --quick --output no/such/folder/report
	[ "$status" -eq 2 ]
	[ "$output" = "oshverify: --output no/such/folder/report: no/such/folder/report.html cannot be written; give another name" ]
	run "$VERIFY" --quick --only nothing --parts tests
	[ "$status" -eq 2 ]
	[[ $output == *"no test matches --only nothing"* ]]
	mkdir bin
	for program in sh awk basename cat chmod cut date dirname env expr find grep head id ls mkdir mktemp nproc paste readlink rm sed seq sort tail tr uname uniq wc; do
		ln -s "$(command -v "$program")" bin
	done
	run env PATH="$PWD/bin" "$VERIFY" --quick
	[ "$status" -eq 2 ]
	[ "$output" = "oshverify: python3 is not there, which writes the report; install it (Debian: python3)" ]
}

@test "its help has every option of its manual page, and the reverse" {
	"$VERIFY" --help | grep -oE -e '--[a-z-]+' | sort -u >help
	sed -n 's/^\.It Fl -/--/p' "$TOP_SRCDIR/docs/man/oshverify.1" | sed 's/ , Fl -/\n--/g' | grep -oE '^--[a-z-]+' | sort -u >page
	grep -vxE -e '--(help|version)' help >help.long
	diff help.long page
}

@test "started several times by a launcher, it runs once" {
	run env PMIX_RANK=1 "$VERIFY" --quick --paths local --only rma
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "installed and moved, it runs the programs that are installed" {
	make -C "$TOP_BUILDDIR" install-tests DESTDIR="$PWD/stage" >log 2>&1 || {
		tail log
		return 1
	}
	make -C "$TOP_BUILDDIR" install DESTDIR="$PWD/stage" >log 2>&1
	prefix=$("$TOP_BUILDDIR/oshinfo" --parsable | sed -n 's/^build.prefix://p')
	mv "$PWD/stage$prefix" "a moved tree"
	run "a moved tree/bin/oshverify" --quick --paths local,ucx-tcp --only rma,reduce --parts tests,bench
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(field verdict)" = passed ]
	run grep -F "$TOP_BUILDDIR" torushmem-report.json
	[ -z "$output" ]
	grep -qF "a moved tree/libexec/torushmem/tests/reduce'" torushmem-report.json
	run env LD_PRELOAD="$BATS_FILE_TMPDIR/fault.so" "a moved tree/bin/oshverify" --quick --paths local --only reduce --parts tests
	[ "$status" -eq 1 ]
	command=$(printf '%s\n' "$output" | sed -n 's/^ *to repeat it: //p' | head -n 1)
	run sh -c "$command"
	[ "$status" -eq 0 ]
}
