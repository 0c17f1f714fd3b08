#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# run: beside
# bench/figures: pages quote numbers of the records and no others, and are made again from them.

setup_file()
{
	export FIGURES="${BATS_TEST_FILENAME%/*}/../../bench/figures" TREE="${BATS_TEST_FILENAME%/*}/../.."
}

setup()
{
	mkdir -p "$BATS_TEST_TMPDIR/tree/docs"
	cd "$BATS_TEST_TMPDIR/tree" || return
	cp -r "$TREE/docs/records" docs
	put=$("$FIGURES" --list compare:put,put,blocking,8,2,ours | cut -f 2)
}

says()
{
	printf '%s\n' "$output" | grep -Eq -- "$1" || {
		printf 'no "%s" in:\n%s\n' "$1" "$output"
		return 1
	}
}

@test "README, guide and pages of results say what the records say" {
	"$FIGURES" --check
}

@test "a number becomes the record's, and what changed is printed" {
	echo 'A put takes **0 ns<!--=compare:put,put,blocking,8,2,ours-->**.' >page.md
	run "$FIGURES" --check page.md
	[ "$status" -eq 1 ]
	says '^page.md:1: says 0 ns, the record [0-9.]+ ns '
	run "$FIGURES" page.md
	[ "$status" -eq 0 ]
	says '^page.md changed:'
	[ "$(cat page.md)" = "A put takes **$put<!--=compare:put,put,blocking,8,2,ours-->**." ]
	run "$FIGURES" --check page.md
	[ "$status" -eq 0 ]
	run "$FIGURES" page.md
	[ -z "$output" ]
}

@test "numbers without a record are refused: times, rates, and keys that no record has" {
	for wrong in 'It takes 3.1 µs.' 'It is (5.6 times) as fast.' 'It reaches 12 GB/s now.' '| put | 7 ns |' 'a 3 ns<!--=compare:no,such-->' \
		'much<!--=compare:put,put,blocking,8,2,ours-->'; do
		echo "$wrong" >page.md
		run "$FIGURES" --check page.md
		[ "$status" -eq 1 ] || {
			echo "$wrong"
			return 1
		}
		says '^page.md:1: '
	done
	printf '%s\n' 'After 10 s<!--=given--> it gives up; 16 MiB, 3 hosts, 20 Mbit/s.' '`sleep 3 s`' '' '    took 5 ms' '' '```' '5 ms' '```' >page.md
	"$FIGURES" --check page.md
}

@test "tables are made of records, in their place" {
	printf '%s\n' before '' '<!-- table: torus 3x3x3 20mbit 16m -->' '' '| old |' '' after >page.md
	run "$FIGURES" --check page.md
	[ "$status" -eq 1 ]
	run "$FIGURES" page.md
	[ "$status" -eq 0 ]
	grep -Eq '^\| broadcast \| `torus-twice` \| [0-9.]+ s \| 5\.[0-9]+ \| 0\.[0-9]+ \|$' page.md
	[ "$(sed -n '1p;$p' page.md)" = "before
after" ]
	! grep -q old page.md || return 1
	"$FIGURES" --check page.md
}

@test "a page of results that was changed by hand is found, and made again" {
	cp "$TREE"/docs/*.md docs && cp -r "$TREE/docs/performance" docs && cp "$TREE/README.md" .
	sed -i 's/| 8-byte put | [0-9.]* ns/| 8-byte put | 1.00 ns/' docs/performance.md
	echo '<!-- by hand -->' >>docs/performance/put.svg
	run "$FIGURES" --top . --check
	[ "$status" -eq 1 ]
	says '^docs/performance.md: not what the records give'
	says '^docs/performance/put.svg: not what'
	"$FIGURES" --top .
	"$FIGURES" --top . --check
	cmp docs/performance.md "$TREE/docs/performance.md"
}

@test "plots have their words and curves, and no number that is none" {
	for plot in "$TREE"/docs/performance/*.svg; do
		grep -q '^<svg .*viewBox="0 0 640 ' "$plot"
		[ "$(grep -c '<text' "$plot")" -gt 5 ]
		! grep -q 'nan\|inf"' "$plot" || return 1
	done
	grep -q '>floor<' "$TREE/docs/performance/programs.svg"
	[ "$(grep -c 'stroke-width="3.5"' "$TREE/docs/performance/programs.svg")" -eq 3 ]
}

@test "options that make no sense get one line" {
	for wrong in --nonsense '--top' '--top /nowhere' /no/such/page; do
		# shellcheck disable=SC2086 # two words
		run "$FIGURES" $wrong
		[ "$status" -eq 2 ]
		[ "${#lines[@]}" -eq 1 ]
	done
	"$FIGURES" --help | grep -q '^usage: bench/figures'
}
