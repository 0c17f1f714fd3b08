#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# uTofu programs whose communications go through the software network: with faults,
# lost links, smallest buffers.

bats_require_minimum_version 1.5.0

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../../tests/lib/built.bash"
	need_softofu
	export OSHRUN="${OSHRUN:-$TOP_BUILDDIR/oshrun}" TESTS="$TOP_BUILDDIR/softofu/tests"
	unset "${!SOFTOFU_@}" "${!PMIX_@}" "${!OMPI_@}"
}

# on RANKS PROGRAM...: under oshrun, quietly
on()
{
	timeout -k 2 $((60 * ${TEST_PATIENCE:-1})) "$OSHRUN" -q -n "$@"
}

@test "programs find what they find without a network: notices, order, sessions, threads, mistakes" {
	export SOFTOFU_NET=packets
	"$TESTS/utofu_notices"
	SOFTOFU_SHAPE=2x3x2 on 4 "$TESTS/utofu_notices"
	SOFTOFU_SHAPE=2x1x1x2 SOFTOFU_RANKS_PER_NODE=2 on 4 "$TESTS/utofu_notices"
	on 2 "$TESTS/strong_order"
	on 4 "$TESTS/session_chain"
	on 2 "$TESTS/vcq_threads"
	run "$TESTS/errors"
	[ "$status" -eq 0 ]
}

@test "with one packet in ten thousand damaged, and with one in twenty and the smallest buffers" {
	for settings in errors=1e-4 errors=0.05,buffers=1,queue=1,receive-queue=1,window=1; do
		SOFTOFU_NET=packets:$settings SOFTOFU_SHAPE=4x3 on 4 "$TESTS/utofu_notices"
		SOFTOFU_NET=packets:$settings on 2 "$TESTS/strong_order"
		SOFTOFU_NET=packets:$settings on 4 "$TESTS/session_chain"
	done
}

@test "the report says what was sent again, and what time it would have taken" {
	SOFTOFU_STATS=1 SOFTOFU_NET=packets:errors=0.2 SOFTOFU_SHAPE=4 run on 2 "$TESTS/strong_order"
	[ "$status" -eq 0 ]
	again=$(sed -n 's/.*; \([0-9]*\) sent again.*/\1/p' <<<"$output")
	[ "$again" -gt 10 ]
	grep -Eq '^modelled: [0-9]+\.[0-9]+ us' <<<"$output"
}

@test "packets go around a lost link of a ring, and on a mesh it ends the job with its name" {
	SOFTOFU_NET=packets:cut=0,0,0,0,0,0:x+ SOFTOFU_SHAPE=4 on 4 "$TESTS/utofu_notices"
	SOFTOFU_NET=packets:cut=0,0,0,0,0,0:x+ SOFTOFU_SHAPE=2 run on 2 "$TESTS/strong_order"
	[ "$status" -eq 1 ]
	grep -Eq '^softofu: rank [01]: the link x[+-] from node [01],0,0,0,0,0 to node [01],0,0,0,0,0 is lost, and there is no route around' <<<"$output"
	[ "$(grep -c '^softofu:' <<<"$output")" -eq 1 ]
	SOFTOFU_NET=packets:cut=0,0,0,0,0,0:x+@20 SOFTOFU_SHAPE=2 run on 2 "$TESTS/strong_order"
	[ "$status" -eq 1 ]
	grep -q 'is lost: nothing gets through' <<<"$output"
}

@test "settings that make no sense end the job with a line" {
	SOFTOFU_NET=fast run "$TESTS/utofu_notices"
	[ "$status" -eq 1 ]
	[ "$output" = "softofu: SOFTOFU_NET=fast: direct, packets or packets:SETTINGS is wanted, as in packets:errors=1e-4" ]
	SOFTOFU_NET=packets:errors=2 run "$TESTS/utofu_notices"
	[ "$status" -ne 0 ]
	grep -q '^softofu: SOFTOFU_NET=errors=2: errors=2: give a number from 0 to 0.9$' <<<"$output"
}
