#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# bench breakdown: a row for each layer of a path, in order; what layers add comes to the whole. No
# test compares times with each other: a busy machine may slow any of them.

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
	export OSHRUN="${OSHRUN:-$TOP_BUILDDIR/oshrun}" BENCH="$TOP_BUILDDIR/bench/bench"
	[ -x "$TOP_BUILDDIR/bench/breakdown" ] || skip "there is no static library"
}

# layers NAME... are the rows of the table, each with four numbers that belong together.
layers()
{
	run timeout -k 2 60 "$OSHRUN" -q -n 2 "$BENCH" breakdown --seconds 0.2
	printf '%s\n' "$output"
	[ "$status" -eq 0 ]
	printf '%s\n' "$output" | awk -v wanted="$*" '
		/^an 8-byte put, path / { title = 1 }
		NF > 5 && $1 != "layer" && !/^an / {
			names = names (names ? " " : "") $1
			bad += !($(NF - 3) > 0 && $(NF - 1) > 0)
			injection = injection ? injection : $(NF - 3)
			latency = latency ? latency : $(NF - 1)
			added += $(NF - 2)
			there += $NF
		}
		function near(a, b) { return a - b < 0.5 && b - a < 0.5 }
		END { exit !(title && names == wanted && !bad && near(added, injection) && near(there, latency)) }'
}

@test "on a node: the call, the comms layer, the machine" {
	SHMEM_PATHS=local layers shmem comms floor
}

@test "over UCX: UCP as well" {
	for transport in posix tcp; do
		SHMEM_PATHS=ucx UCX_TLS=$transport,self layers shmem comms ucp floor
	done
}

@test "over Tofu" {
	[ -e "$TOP_BUILDDIR/.libs/libtofucom.so" ] || skip "there is no software Tofu"
	LD_LIBRARY_PATH="$TOP_BUILDDIR/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" SHMEM_PATHS=tofu SOFTOFU_SHAPE=2x1 \
		SOFTOFU_ORDER=posted layers shmem comms floor
}

@test "mistakes get one line" {
	run "$OSHRUN" -q -n 1 "$BENCH" breakdown
	[ "$status" -ne 0 ]
	[[ $output == *"breakdown is between two PEs, this job has 1; use oshrun -n 2"* ]]
	for words in '--seconds' '--seconds few' '--bars'; do
		# shellcheck disable=SC2086 # arguments
		run "$OSHRUN" -q -n 1 "$BENCH" breakdown $words
		[ "$status" -eq 2 ]
		[[ ${lines[0]} == "usage: oshrun -n 2 bench/bench breakdown"* ]]
	done
}
