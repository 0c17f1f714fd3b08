#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bench breakdown: the arithmetic of its report, with numbers made up for it, and that it runs on every path. A layer that is
# slowed down by more than any machine varies is seen in that layer.

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
	export OSHRUN="${OSHRUN:-$TOP_BUILDDIR/oshrun}" BREAKDOWN="$TOP_BUILDDIR/bench/bench"
	[ -x "$TOP_BUILDDIR/bench/layers" ] || skip "there is no static library"
	cd "$BATS_FILE_TMPDIR" || return
	# Of a path over UCX; per layer: post progress total half sent came satisfied.
	{
		layer shmem 130 20 152 600 105 0 7
		layer comms 120 18 140 590 100 260 5
		layer ucp 100 16 118 550 80 250 3
		layer uct 60 10 71 300 50 100 2
		layer floor 10 4 14 150 5 40 1
		printf 'ucx tcp\tempty\tpost\t2\t2\t2\t9\n'
	} >made_up
}

layer()
{
	name=$1
	shift
	for quantity in post progress total half sent came satisfied; do
		printf 'ucx tcp\t%s\t%s\t%s\t%s\t%s\t9\n' "$name" "$quantity" "$1" "$1" "$1"
		shift
	done
}

part() # NAME: its nanoseconds in the first of the tables on standard output; with 2, in the second
{
	printf '%s\n' "$output" | awk -v name="$1" -v want="${2:-1}" '/ of 8 bytes$/ { n++ } n == want && $1 == name { print $2 }'
}

@test "what a layer takes, the model and the residual" {
	run "$BREAKDOWN" breakdown --from "$BATS_FILE_TMPDIR/made_up"
	[ "$status" -eq 0 ]
	[ "$(part put-post.shmem)" = 10.0 ]
	[ "$(part put-post.comms)" = 20.0 ]
	[ "$(part put-post.ucp)" = 40.0 ]
	[ "$(part put-post.uct)" = 50.0 ]
	[ "$(part put-post.floor)" = 8.0 ]
	[ "$(part progress.ucp)" = 6.0 ]
	[ "$(part misc)" = 2.0 ]
	[ "$(part model)" = 150.0 ] # 130 + 20
	[ "$(part measured)" = 152.0 ]
	[ "$(part residual)" = 2.0 ]
	# 590 there and back at comms, of which 100 to post and 260 to see it; 10 more for the program's call, 2 for its wait
	[ "$(part put-post.uct 2)" = 45.0 ]
	[ "$(part put-post.floor 2)" = 3.0 ]
	[ "$(part transfer.floor 2)" = 105.0 ]
	[ "$(part transfer.uct 2)" = 45.0 ]
	[ "$(part transfer.ucp 2)" = 70.0 ]
	[ "$(part transfer.comms 2)" = 10.0 ]
	[ "$(part progress.ucp 2)" = 150.0 ]
	[ "$(part progress.shmem 2)" = 2.0 ]
	[ "$(part model 2)" = 602.0 ]
	[ "$(part residual 2)" = -2.0 ]
}

@test "what if" {
	run "$BREAKDOWN" breakdown --from "$BATS_FILE_TMPDIR/made_up" --what-if put-post=-50%
	[ "$status" -eq 0 ]
	[[ "$output" == *'what if put-post-50 %: 88.0 ns, -42.11 %'* ]] # 152 - 128 / 2
	run "$BREAKDOWN" breakdown --from "$BATS_FILE_TMPDIR/made_up" --what-if put-post.ucp=+20ns
	[[ "$output" == *'what if put-post.ucp+20 ns: 172.0 ns, +13.16 %'* ]]
	run "$BREAKDOWN" breakdown --from "$BATS_FILE_TMPDIR/made_up" --what-if progress=half
	[ "$status" -eq 2 ]
	[ "${#lines[@]}" -eq 1 ]
}

@test "JSON and SVG can be read" {
	"$BREAKDOWN" breakdown --from "$BATS_FILE_TMPDIR/made_up" --json --svg "$BATS_TEST_TMPDIR/bars.svg" >"$BATS_TEST_TMPDIR/out.json"
	grep -q '"name": "put-post.uct", "ns": 50.000' "$BATS_TEST_TMPDIR/out.json"
	grep -q '<title>put-post.uct: 50.0 ns, 32.89 %</title>' "$BATS_TEST_TMPDIR/bars.svg"
	command -v python3 >/dev/null || skip "no python3 to read them with"
	python3 -c 'import json, sys; assert len(json.load(open(sys.argv[1]))) == 2' "$BATS_TEST_TMPDIR/out.json"
	python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$BATS_TEST_TMPDIR/bars.svg"
}

@test "one layer slowed: what that changes, and how it was measured" {
	{
		cat "$BATS_FILE_TMPDIR/made_up"
		sed 's/^ucx tcp\t/ucx tcp, uct + 500 ns\t/' "$BATS_FILE_TMPDIR/made_up" |
			awk -F '\t' -v OFS='\t' '$3 ~ /^(post|total|half|sent)$/ && $2 !~ /floor|empty/ { $4 += 500 } { print }'
		echo '# ucx tcp: 9 of 10 rounds count'
	} >"$BATS_TEST_TMPDIR/slowed"
	run "$BREAKDOWN" breakdown --from "$BATS_TEST_TMPDIR/slowed"
	[ "$status" -eq 0 ]
	[[ "$output" == *$'injection of 8 bytes\n  (9 of 10 rounds count)\n'* ]]
	[[ "$output" == *'ucx tcp, uct + 500 ns, injection of 8 bytes: what that changes'* ]]
	printf '%s\n' "$output" | grep -Eq '^  put-post.uct +50.0 ns -> +550.0 ns +\+500.0 ns$'
	printf '%s\n' "$output" | grep -Eq '^  put-post.ucp +40.0 ns -> +40.0 ns +\+0.0 ns$'
	[ "$(printf '%s\n' "$output" | grep -c '+500.0 ns$')" -eq 4 ] # both posts, and both that were measured
}

# A path's table of changes: what slowing has added to a part of the injection.
added()
{
	printf '%s\n' "$output" | awk -v path="$1" -v name="$2" '/ of 8 bytes/ { here = index($0, path ",") == 1 && /injection of.*what that/ }
		here && $1 == name { print $(NF - 1) + 0 }'
}

# Does the slowed layer show, and do the others not change by half of it?
slow_layer_is_seen()
{
	local path name slowed

	for path in local 'ucx posix' 'ucx tcp'; do
		slowed=$(added "$path" put-post.comms)
		for name in shmem floor; do
			awk -v slowed="$slowed" -v ns="$(added "$path" put-post.$name)" \
				'BEGIN { exit !(slowed > 12000 && ns < slowed / 2 && ns > -slowed / 2) }' || return
		done
	done
}

# A process that waits for its processor for a while is slow, too: on a busy machine not every attempt is left alone.
@test "every path is measured, and a slow layer is seen where it is" {
	for _ in 1 2 3 4 5 6; do
		run "$BREAKDOWN" breakdown --paths local,ucx-posix,ucx-tcp --seconds 0.2 --slow comms=20000
		[ "$status" -eq 0 ]
		[ "$(printf '%s\n' "$output" | grep -c ' of 8 bytes$')" -eq 6 ]
		[ "$(printf '%s\n' "$output" | grep -Ec ' rounds count|, and all count')" -eq 6 ] # the latter on a busy machine
		! slow_layer_is_seen || return 0
	done
	return 1
}

@test "over Tofu: uTofu below the library" {
	[ -e "$TOP_BUILDDIR/.libs/libtofucom.so" ] || skip "there is no software Tofu"
	run "$BREAKDOWN" breakdown --paths tofu --seconds 0.2
	[ "$status" -eq 0 ]
	[ "$(printf '%s\n' "$output" | grep -c '^tofu, .* of 8 bytes$')" -eq 2 ]
	for name in put-post.comms put-post.utofu progress.utofu transfer.utofu transfer.comms; do
		printf '%s\n' "$output" | grep -q "^  $name "
	done
}

@test "confirm judges what breakdown says" {
	run "$TOP_SRCDIR/bench/confirm" --build "$TOP_BUILDDIR" --paths local --rounds 1 --seconds 0.1 model
	[ "$status" -le 1 ]
	[ "$(printf '%s\n' "$output" | grep -Ec '^(ok  |BAD ) local, (injection|latency) of 8 bytes +residual +-?[0-9.]+ % of [0-9.]+ ns$')" -eq 2 ]
	run "$TOP_SRCDIR/bench/confirm" --build "$TOP_BUILDDIR" everything
	[ "$status" -eq 2 ]
	[ "${#lines[@]}" -eq 1 ]
}

@test "mistakes are said in one line" {
	for words in '--paths nowhere' '--slow comms' '--seconds few' '--from /nonexistent' '--bars'; do
		# shellcheck disable=SC2086
		run "$BREAKDOWN" breakdown $words
		[ "$status" -ne 0 ]
	done
	echo nonsense >"$BATS_TEST_TMPDIR/bad"
	run "$BREAKDOWN" breakdown --from "$BATS_TEST_TMPDIR/bad"
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
}
