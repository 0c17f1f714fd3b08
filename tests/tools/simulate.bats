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

simulate()
{
	run "$TOP_BUILDDIR/bench/simulate" "$@"
	printf '%s\n' "$output"
	[ "$status" -eq 0 ]
}

# column NUMBER [AT_LEAST AT_MOST]: of what was printed; numbers equal up to rounding where there is no AT_MOST
column()
{
	printf '%s\n' "$output" | awk -v n="$1" -v least="$2" -v most="${3:-$2}" \
		'{ exit !($n >= least - 0.006 && $n <= most + 0.006) }'
}

@test "on rings the links of one node take the time of all links" {
	for shape in 3x3x3 5 3x5; do
		for algorithm in allgather alltoall allreduce; do
			simulate "$shape" "$algorithm" 1048576 1 2.5e6 0
			printf '%s\n' "$output" | grep -q '^exact '
			all=$(printf '%s\n' "$output" | awk '{ print $8, $NF }')
			simulate --one-node "$shape" "$algorithm" 1048576 1 2.5e6 0
			printf '%s\n' "$output" | grep -q '^one-node '
			[ "$(printf '%s\n' "$output" | awk '{ print $8, $NF }')" = "$all" ]
		done
	done
}

@test "large tori reach their bounds, in the sizes that collectives have there" {
	for shape in 8x8x8 16x16x16 24x16x24; do
		for row in allgather:65536:0.99 allgather:1048576:0.99 alltoall:1024:0.96 alltoall:16384:0.98 alltoall:65536:0.98; do
			IFS=: read -r algorithm bytes share <<<"$row"
			simulate "$shape" "$algorithm" "$bytes" 1
			column 7 1
			column 10 "$share" 1
		done
	done
	# What a node keeps between the phases is bounded, so larger blocks take rounds: here four.
	simulate 16x16x16 alltoall 4096 1
	column 6 1152
	simulate 16x16x16 alltoall 16384 1
	column 6 4608
}

# Bytes of a face go at 1 MB/s, so microseconds are bytes.
@test "faces of a lattice share the links that they have in common" {
	# Two PEs on a node, and so two faces on each link; the other faces are copies, read and written.
	simulate --hop 0 --face 100 3 lattice 3x2 10x10 rows 1e6 0
	column 7 2
	column 10 2
	column 11 2000
	simulate --hop 0 --face 100 --memory 1e6 3 lattice 3x2 10x10 rows 1e6 0
	column 11 8000
	# Along a line of four, faces over two cables share each cable with one over one cable; the shorter ones end first, and leave their half.
	simulate --hop 0 --face 100 4m lattice 2mx2m 10x20 rows 1e6 0
	column 8 1.5
	column 9 2
	column 11 4000
	simulate --hop 0 --face 100 4m lattice 2mx2m 20x10 rows 1e6 0
	column 11 3000
	# Along a line of six, three of 2000 bytes share the middle; beside it, two of them and one of 1000 bytes get as little.
	simulate --hop 0 --face 100 6m lattice 2mx3m 10x20 rows 1e6 0
	column 10 3
	column 11 6000
}

@test "an iteration of a lattice code: exchange, computation, and sums by doubling" {
	# A face is one site. Sums go 1, 2 and 4 cables: 0.5, 0.6 and 0.8 us, twice, and 2.35 ns each for 16 bytes.
	simulate 8 lattice 8 16 rows
	column 11 0.51
	column 12 0.07
	column 13 3.81
	column 14 4.40
	simulate --compute 1e-3 --sums 0 8 lattice 8 16 rows
	column 12 1000
	column 13 0
	# Seven nodes: three give what they have to others first, and get the result last. Of six, the two are not waited for everywhere.
	simulate --compute 0 --sums 1 --sum 0 --hop 0 7 lattice 7 16 rows
	column 13 2
	simulate --compute 0 --sums 1 --sum 0 --hop 0 6 lattice 6 16 rows
	column 13 1.5
	simulate --sums 1 --sum 0 --hop 1e-6 6 lattice 6 16 rows
	column 13 4.5
}

@test "placement keeps the faces of a lattice near, on tori of any size" {
	for row in 8x8x8:8x4x4x4 16x16x16:8x8x8x8 24x16x24:24x12x8x4; do
		simulate "${row%:*}" lattice "${row#*:}" 8x8x8x8 rows
		rows=$(printf '%s\n' "$output" | awk '{ print $11 }')
		simulate "${row%:*}" lattice "${row#*:}" 8x8x8x8 placed
		column 9 1 2
		column 11 0.1 "$(awk -v rows="$rows" 'BEGIN { print rows / 2 }')"
	done
	simulate 16x16x16 lattice 16x16x16x4 8x8x8x8 placed
	column 7 4
	column 9 1
	column 10 4
	simulate --seed 2 8x8x8 lattice 8x4x4x4 8x8x8x8 random
	other=$output
	column 8 5.5 6.5
	simulate --seed 3 8x8x8 lattice 8x4x4x4 8x8x8x8 random
	[ "$output" != "$other" ]
}

@test "SimGrid shares links as simulate does" {
	[ -x "$TOP_BUILDDIR/bench/simulate-grid" ] || skip "not built with SimGrid"
	for row in "3x5x3 3x15 16x8" "5x5x5 25x5 16x8" "5x5x5 5x5x5x2 16x8x8x8"; do
		read -r shape grid lattice <<<"$row"
		simulate --hop 0 "$shape" lattice "$grid" "$lattice" random 6.8e7 0
		ours=$(printf '%s\n' "$output" | awk '{ print $11 }')
		run "$TOP_BUILDDIR/bench/simulate-grid" --hop 0 "$shape" lattice "$grid" "$lattice" random 6.8e7 0
		printf '%s\n' "$output" | grep -q '^simgrid '
		column 11 "$(awk -v ours="$ours" 'BEGIN { print ours * 0.996 }')" "$ours"
	done
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
		3x3 lattice 3x2 4x4 rows
		3x3 lattice 3x3 4x4x4 rows
		3x3 lattice 3x3 4xx4 rows
		3x3 lattice 3x3 4x4 somehow
		--face 0 3x3 lattice 3x3 4x4 rows
	END
	simulate --help
	printf '%s\n' "$output" | grep -q -- '--memory RATE'
}
