#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# run: beside
# Barriers and collectives on nodes with several memory groups, which hwloc's XML files stand for.
# The PEs share the processors there are.

bats_require_minimum_version 1.5.0

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
	export OSHRUN="${OSHRUN:-$TOP_BUILDDIR/oshrun}" OSHCC="${OSHCC:-$TOP_BUILDDIR/oshcc}"
	export PROGRAM="$BATS_FILE_TMPDIR/node_shapes" NODES="${BATS_TEST_FILENAME%/*}/../machines/nodes"
	unset "${!SHMEM_@}" "${!SMA_@}" "${!UCX_@}" HWLOC_XMLFILE HWLOC_SYNTHETIC
	"$OSHCC" -O1 -I"${BATS_TEST_FILENAME%/*}/../.." -o "$PROGRAM" "${BATS_TEST_FILENAME%/*}/node_shapes.c"
}

# job NODE PES ROUNDS SETTING...: a job as on that node; what it says of its shape is in $shapes
job()
{
	local node=$1 pes=$2 rounds=$3

	shift 3
	run env HWLOC_XMLFILE="$NODES/$node.xml" SHMEM_DEBUG=1 SHMEM_SYMMETRIC_SIZE=1M "$@" \
		timeout 120 "$OSHRUN" -q -n "$pes" "$PROGRAM" "$rounds"
	shapes=$(grep -o 'a team of .*memory groups.*' <<<"$output" | sort | uniq -c | sort -k5n)
	echo "$node $pes $*: $status, $(grep -v '^torushmem: PE.*: ' <<<"$output"); $shapes"
	[ "$status" -eq 0 ]
	[[ "$output" == *"all shapes hold"* ]]
}

@test "48 PEs in the four core-memory groups of an A64FX" {
	job a64fx 48 2 SHMEM_MEMORY_GROUPS=yes SHMEM_BARRIER_ALGORITHM=counter
	[[ "$shapes" == *"48 a team of 48 PEs on this node synchronises by 4 memory groups"* ]]
	[[ "$shapes" == *"16 a team of 16 PEs on this node synchronises by 4 memory groups"* ]]
	[[ "$shapes" == *"46 a team of 46 PEs on this node synchronises by 4 memory groups"* ]]
	job a64fx 48 1 SHMEM_MEMORY_GROUPS=yes SHMEM_BARRIER_ALGORITHM=dissemination
	job a64fx 48 2 SHMEM_MEMORY_GROUPS=yes
}

@test "four groups of two, full and not" {
	for pes in 4 5 7 8; do
		for algorithm in counter dissemination auto; do
			job small "$pes" 10 SHMEM_MEMORY_GROUPS=yes SHMEM_BARRIER_ALGORITHM=$algorithm
		done
	done
	[[ "$shapes" == *"8 a team of 8 PEs on this node synchronises by 4 memory groups"* ]]
}

@test "groups of 5, 3 and 4, and two sockets" {
	for algorithm in counter dissemination auto; do
		job uneven 12 5 SHMEM_MEMORY_GROUPS=yes SHMEM_BARRIER_ALGORITHM=$algorithm
		[[ "$shapes" == *"12 a team of 12 PEs on this node synchronises by 3 memory groups"* ]]
		job xeon-2 9 5 SHMEM_MEMORY_GROUPS=yes SHMEM_BARRIER_ALGORITHM=$algorithm
	done
}

@test "nodes of a job each have their memory groups" {
	job a64fx 16 4 SHMEM_MEMORY_GROUPS=yes SHMEM_NODE_PES=8
	[[ "$shapes" == *"24 a team of 8 PEs on this node synchronises by 2 memory groups"* ]]
}

@test "one memory group, PEs that share processors, and SHMEM_MEMORY_GROUPS=no: no division" {
	job graviton3 6 2 SHMEM_MEMORY_GROUPS=yes
	[ -z "$shapes" ]
	job a64fx $((2 * $(nproc) + 4)) 2
	[ -z "$shapes" ]
	job a64fx 8 2 SHMEM_MEMORY_GROUPS=no
	[ -z "$shapes" ]
	run "$OSHRUN" -q -n 2 env SHMEM_MEMORY_GROUPS=maybe "$PROGRAM"
	[ "$status" -eq 1 ]
	[ "$output" = "torushmem: PE 0: shmem_init: SHMEM_MEMORY_GROUPS=maybe: give auto, yes or no" ]
}
