#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# run: beside
# bench/compare/report.py: pages quote numbers of the tables and no others; tables and plots
# are what the records give.

setup_file()
{
	export TREE="${BATS_TEST_FILENAME%/*}/../.."
	export REPORT="$TREE/bench/compare/report.py"
	command -v python3 >/dev/null || skip "python3 is not there; on Debian: apt-get install python3"
}

setup()
{
	mkdir -p "$BATS_TEST_TMPDIR/tree/docs"
	cd "$BATS_TEST_TMPDIR/tree" || return
	cp "$TREE/README.md" .
	cp -r "$TREE/docs/records" "$TREE/docs/performance" "$TREE/docs/guide" "$TREE"/docs/*.md docs
	chmod -R u+w .
}

# refuses WORDS: --check fails with a line that has them.
refuses()
{
	run "$REPORT" --top . --check
	printf '%s\n' "$output"
	[ "$status" -eq 1 ]
	printf '%s\n' "$output" | grep -Eq -- "$1"
}

@test "README, guide and pages of results say what the records say" {
	"$REPORT" --check
}

@test "a quoted number that is not the table's is refused, and one that no table has" {
	sed -i 's/26\.0 s\./27.0 s./' README.md
	refuses '^README.md: does not say 26.0 s'
	cp "$TREE/README.md" .
	sed -i 's/^| broadcast | 1.22 s /| broadcast | 1.23 s /' docs/torus-collectives.md
	refuses '^README.md: says 1.22 s; docs/torus-collectives.md, broadcast, torushmem: 1.23 s'
	cp "$TREE/docs/torus-collectives.md" docs
	for wrong in 'It takes 3.1 µs.' 'It is (5.6 times) as fast.' 'It reaches 12 GB/s now.'; do
		echo "$wrong" >docs/guide/new.md
		refuses '^docs/guide/new.md: says [0-9.]+ (µs|times|GB/s), which'
	done
	printf '%s\n' '16 MiB, 3 hosts, 20 Mbit/s.' '`sleep 3 s`' '' '    took 5 ms' '' '```' '5 ms' '```' >docs/guide/new.md
	"$REPORT" --top . --check
}

@test "a table or plot that was changed by hand is found, and made again" {
	sed -i 's/| 8-byte put | [0-9.]* ns/| 8-byte put | 1.00 ns/' docs/performance.md
	refuses '^docs/performance.md: not what the record gives'
	sed -i 's/^\(put.put.blocking.4096.2.ns.\)[0-9.]*/\1999/' docs/records/performance.tsv
	refuses '^docs/performance/put.svg: not drawn from'
	command -v gnuplot >/dev/null || skip "gnuplot is not there; on Debian: apt-get install gnuplot-nox"
	"$REPORT" --top .
	"$REPORT" --top . --check
	cmp docs/performance.md "$TREE/docs/performance.md"
	! cmp -s docs/performance/put.svg "$TREE/docs/performance/put.svg" || return 1
}

@test "plots have their words, and no number that is none" {
	for plot in "$TREE"/docs/performance/*.svg; do
		grep -q '<svg .*viewBox="0 0 760 ' "$plot"
		grep -q 'fill="#ffffff"' "$plot" # readable on dark pages, too
		[ "$(grep -c '<text' "$plot")" -gt 5 ]
		! grep -q 'nan\|inf"' "$plot" || return 1
		python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$plot"
	done
}

@test "options that make no sense get one line" {
	for wrong in --nonsense '--top' '--top /nowhere'; do
		# shellcheck disable=SC2086 # two words
		run "$REPORT" $wrong
		[ "$status" -eq 2 ]
		[ "${#lines[@]}" -eq 1 ]
	done
	"$REPORT" --help | grep -q '^usage: report.py'
}
