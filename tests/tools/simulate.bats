#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Which share of its bound a schedule reaches on a network where nothing else costs time: by
# bench/simulate, exact and whatever the load.

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

@test "a reduce-scatter by rings fills the links of tori and meshes" {
	least_of reduce-scatter 3x3x3:0.99 4x4:0.99 2x3x4:0.99 4:0.99 5:0.99 2x3:0.99 3mx3:0.95 4m:0.95
}

simulate()
{
	run "$TOP_BUILDDIR/bench/simulate" "$@"
	printf '%s\n' "$output"
	[ "$status" -eq 0 ]
}

# column NUMBER [AT_LEAST AT_MOST]: of what was printed; numbers equal up to rounding
# where there is no AT_MOST
column()
{
	printf '%s\n' "$output" | awk -v n="$1" -v least="$2" -v most="${3:-$2}" \
		'{ exit !($n >= least - 0.006 && $n <= most + 0.006) }'
}

@test "on rings the links of one node take the time of all links" {
	for shape in 3x3x3 5 3x5; do
		for algorithm in allgather reduce-scatter alltoall allreduce; do
			simulate "$shape" "$algorithm" 1048576 1 2.5e6 0
			printf '%s\n' "$output" | grep -q '^exact '
			all=$(printf '%s\n' "$output" | awk '{ print $7, $NF }')
			simulate --one-node "$shape" "$algorithm" 1048576 1 2.5e6 0
			printf '%s\n' "$output" | grep -q '^one-node '
			[ "$(printf '%s\n' "$output" | awk '{ print $7, $NF }')" = "$all" ]
		done
	done
}

@test "large tori reach their bounds, in the sizes that collectives have there" {
	for shape in 8x8x8 16x16x16 24x16x24; do
		for row in allgather:65536:0.99 allgather:1048576:0.99 alltoall:1024:0.96 alltoall:16384:0.98 alltoall:65536:0.98; do
			IFS=: read -r algorithm bytes share <<<"$row"
			simulate "$shape" "$algorithm" "$bytes" 1
			column 9 "$share" 1
		done
	done
	# What a node keeps between the phases is bounded, so larger blocks take rounds: here four.
	simulate 16x16x16 alltoall 4096 1
	column 6 1152
	simulate 16x16x16 alltoall 16384 1
	column 6 4608
}

# worst_links SHAPE GRID PES: over the busiest link in rank order, and as placed
worst_links()
{
	"$TOP_BUILDDIR/torusplan" place --shape "$1" --dims "$2" --pes "$3" | awk '/^rank order/ { r = $5 } /^placed  / { p = $4 } END { print r, p }'
}

@test "placement keeps the faces of a lattice near, on tori of any size" {
	[ "$(worst_links 8x8x8 8x4x4x4 1)" = "10 3" ]
	[ "$(worst_links 16x16x16 8x8x8x8 1)" = "18 3" ]
	[ "$(worst_links 24x16x24 24x12x8x4 1)" = "17 3" ]
	[ "$(worst_links 16x16x16 16x16x16x4 4)" = "4 4" ]
}

@test "simulate says what is wrong in one line, and what there is" {
	while read -r words; do
		# shellcheck disable=SC2086 # arguments
		run "$TOP_BUILDDIR/bench/simulate" $words
		printf '%s: %s\n' "$words" "$output"
		[ "$status" -eq 2 ]
		[ "${#lines[@]}" -eq 1 ]
		[[ $output == "simulate: "* ]]
	done <<-'END'
		3xx3 allgather 1 1
		3x3 never 1 1
		3x3 alltoall 0 1
		3x3 alltoall 1k 1
		1 alltoall 1 1
		3x3 alltoall 1 1 0 0
		--one-node 3x3 twice 1 1
		--one-node 3x3m allgather 1 1
		9x9x9m allgather 1 1
	END
	simulate --help
	printf '%s\n' "$output" | grep -q -- '--one-node'
}
