#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Which share of its bound a schedule reaches on a network where nothing else costs time: by bench/simulate, exact and whatever the load.

load "$TOP_SRCDIR/tests/lib/built.bash"

setup_file()
{
	need_built
}

# reaches ALGORITHM SHAPE SHARE: of 1 MiB, on links of 20 Mbit/s, 50 us from node to node.
reaches()
{
	run "$TOP_BUILDDIR/bench/simulate" "$2" "$1" 1048576 1 2.5e6 5e-5
	printf '%s\n' "$output"
	[ "$status" -eq 0 ]
	printf '%s\n' "$output" | awk -v least="$3" '{ exit !($NF + 0 >= least && $NF <= 1.0001) }'
}

# least_of ALGORITHM SHAPE:SHARE...
least_of()
{
	for row in "${@:2}"; do
		reaches "$1" "${row%:*}" "${row#*:}"
	done
}

@test "an all-gather fills the links of tori, meshes, rings and of what is mixed" {
	least_of allgather 3x3x3:0.99 4x4:0.99 2x2x2x2:0.99 2x3x4:0.96 5:0.99 8:0.99 4m:0.99 2x4:0.93 3mx3:0.99 3mx3m:0.94 \
		4mx4m:0.90 2x16:0.95 3x5:0.94 4x8:0.94 8x8x8:0.99
}

@test "an all-to-all fills the links of the axis that has the most to carry" {
	least_of alltoall 3x3x3:0.99 4x4:0.99 2x2x2x2:0.99 2x3x4:0.99 5:0.99 8:0.99 4m:0.99 2x4:0.99 3mx3:0.99 3mx3m:0.99 \
		4mx4m:0.99 2x16:0.99 3x5:0.99 4x8:0.99
}

@test "an all-reduce by rings fills the links of tori and meshes" {
	least_of allreduce 3x3x3:0.99 4x4:0.99 2x2x2x2:0.99 2x3x4:0.99 5:0.99 8:0.99 4m:0.95 2x4:0.99 3mx3:0.96 3mx3m:0.96 \
		4mx4m:0.88 3mx3x3:0.90 3x5:0.99 4x8:0.99
}
