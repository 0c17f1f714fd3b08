#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# run: beside
# The torus in the library: who knows it, in which order they are asked, what a bad answer does,
# and what grids make of it.

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
	export OSHRUN="${OSHRUN:-$TOP_BUILDDIR/oshrun}" OSHCC="${OSHCC:-$TOP_BUILDDIR/oshcc}"
	export OSHINFO="${OSHINFO:-$TOP_BUILDDIR/oshinfo}"
	cd "$BATS_FILE_TMPDIR" || return
	"$OSHCC" -O1 -o where "${BATS_TEST_FILENAME%/*}/torus/where.c"
	"$OSHCC" -O1 -o teams "${BATS_TEST_FILENAME%/*}/torus/teams.c"
	# shellcheck disable=SC2046 # a list of options
	"${CC:-cc}" -shared -fPIC -o fabric.so "${BATS_TEST_FILENAME%/*}/torus/fabric.c" $(pkg-config --cflags --libs pmix) -ldl
}

setup()
{
	unset "${!SHMEM_@}" "${!SMA_@}" "${!UCX_@}" "${!PMIX_@}" "${!OMPI_@}" "${!SLURM_@}"
	cd "$BATS_FILE_TMPDIR" || return
}

# where PES [SIZES]
where()
{
	run timeout -k 2 30 "$OSHRUN" -q -n "$1" ./where "${@:2}"
	echo "$output"
}

# says LINE...: all of these lines
says()
{
	[ "$status" -eq 0 ]
	for line in "$@"; do
		printf '%s\n' "$output" | grep -Fqx "$line"
	done
}

# refused TEXT: one line, which has this in it
refused()
{
	where 3
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ "$output" == "torushmem: PE 0: shmem_init: $1"* ]]
}

@test "without any setting the torus is made up from the number of nodes" {
	where 2
	says "source the number of nodes" "shape 1" "at 0 0"
	SHMEM_NODE_PES=1 where 8 2,2,2
	says "source the number of nodes" "shape 2 2 2" "at 0,0,0 0,0,1 0,1,0 0,1,1 1,0,0 1,0,1 1,1,0 1,1,1" \
		"grid rank order (logical), hops 1.00 1.00, longest 1 1, worst link 2 2"
}

@test "SHMEM_TORUS: the nodes of the job in order, PEs of a node at one place, a part of a larger machine" {
	SHMEM_NODE_PES=2 SHMEM_TORUS=3x2m where 6
	says "source SHMEM_TORUS" "shape 2 2" "at 0,0 0,0 0,1 0,1 1,0 1,0"
	SHMEM_NODE_PES=1 SHMEM_TORUS=3x2m where 6
	says "shape 3 ring 2" "at 0,0 0,1 1,0 1,1 2,0 2,1"
}

@test "SHMEM_TORUS_FILE goes before SHMEM_TORUS" {
	printf 'shape 4x3\nhost a 3,2\nhost b 0,2\nhost c 0,0\n' >hosts.shape
	SHMEM_NODE_PES=1 SHMEM_TORUS=9 SHMEM_TORUS_FILE=hosts.shape where 3
	says "source SHMEM_TORUS_FILE" "shape 2 2" "at 0,0 1,0 1,1"
}

@test "hosts of a file are found by name, with or without a domain" {
	for name in "$(hostname)" "$(hostname).example.org"; do
		printf 'shape 4x3\nhost elsewhere 0,0\nhost %s 3,2\n' "$name" >hosts.shape
		SHMEM_TORUS_FILE=hosts.shape SHMEM_INFO=1 where 2
		says "source SHMEM_TORUS_FILE" "Torus: 1x1, from SHMEM_TORUS_FILE" "  1 of the 12 places of 4x3"
	done
}

@test "a launcher that knows the fabric goes before all settings" {
	run timeout -k 2 30 env LD_PRELOAD="$PWD/fabric.so" FABRIC_SHAPE=2,5 SHMEM_TORUS=3x3 SHMEM_INFO=1 "$OSHRUN" -q -n 2 ./where
	echo "$output"
	says "source the launcher" "shape 1 1" "  1 of the 10 places of 2x5"
}

@test "a grid whose order of dimensions is not the torus's is turned" {
	SHMEM_NODE_PES=1 SHMEM_TORUS=4x2d where 8 2,4
	says "grid axis by axis, hops 1.75 1.00, longest 2 1, worst link 5 2"
	SHMEM_NODE_PES=1 SHMEM_TORUS=4x2d where 8 4,2
	says "grid rank order, hops 1.00 1.00, longest 1 1, worst link 2 2"
}

@test "a bad shape or file ends the job with one line" {
	SHMEM_TORUS=4y2 refused "SHMEM_TORUS=4y2: not a shape"
	SHMEM_NODE_PES=1 SHMEM_TORUS=2 refused "SHMEM_TORUS=2: the shape has 2 nodes, but the job has 3"
	SHMEM_TORUS_FILE=/nowhere refused "SHMEM_TORUS_FILE=/nowhere: cannot be read: No such file"
	printf 'shape 4x3\nhost a 4,0\n' >hosts.shape
	SHMEM_TORUS_FILE=hosts.shape refused "SHMEM_TORUS_FILE=hosts.shape: line 2: 4,0: outside of 4x3"
	printf 'shape 4x3\nhost a 3,0\n' >hosts.shape
	SHMEM_TORUS_FILE=hosts.shape refused "SHMEM_TORUS_FILE=hosts.shape: host $(hostname), where PE 0 is, is not in it; add a line"
	printf 'shape 4x3\nhost %s 0,0\nhost b 0,1\ndead %s\n' "$(hostname)" "$(hostname)" >dead.shape
	SHMEM_TORUS_FILE=dead.shape refused "SHMEM_TORUS_FILE=dead.shape: it declares host $(hostname) dead, but PE 0 runs there; remove the line"
	SHMEM_NODE_PES=1 SHMEM_TORUS_FILE=hosts.shape refused "SHMEM_TORUS_FILE=hosts.shape: it has 1 hosts, and with SHMEM_NODE_PES=1 the job has 3 nodes"
}

# teams SHAPE PES APART TEXT: as many nodes as the shape has, and all such
# teams say this of their torus
teams()
{
	nodes=$(($(echo "$1" | tr -d md | sed 's/x/*/g')))
	run env SHMEM_NODE_PES=1 SHMEM_TORUS="$1" SHMEM_DEBUG=1 timeout -k 2 60 "$OSHRUN" -q -n "$nodes" ./teams "$2" "$3"
	printf '%s\n' "$output" | grep 'a team of'
	[ "$status" -eq 0 ]
	[ "$(printf '%s\n' "$output" | grep -Fc ": a team of $2 PEs on $2 nodes is on $4")" -eq $((nodes / $2)) ]
}

@test "teams say which torus they have, or that they have none" {
	teams 3x4 4 1 'a torus 1x4 of its own'
	teams 3x4 3 4 'a torus 3x1 of its own'
	teams 3x4 6 2 'a torus 3x2 of its own'
	teams 4mx3 6 1 'a torus 2x3 of its own'
	teams 8 4 2 'a torus 4 of its own'
	teams 12m 4 3 'a torus 4m of its own'
	teams 3x4 6 1 'a torus 2x4 with holes or bad cables'
	teams 3x4 4 3 'no torus: its nodes fill no box'
}

@test "oshinfo says what a shape or file in the environment means" {
	run env SHMEM_TORUS=4x4x2 "$OSHINFO" --parsable
	says "torus.source:SHMEM_TORUS" "torus.shape:4x4x2" "torus.nodes:32"
	[[ "$output" == *"torus.hops:1: 16 %, 2: 32 %, 3: 32 %, 4: 16 %, 5: 3 %"* ]]
	printf 'shape 9m\nhost a 3\nhost b 5\nhost c 8\ndead c\nslow 2 a\n' >hosts.shape
	run env SHMEM_TORUS=4x4x2 SHMEM_TORUS_FILE=hosts.shape "$OSHINFO" --parsable
	says "torus.source:SHMEM_TORUS_FILE" "torus.shape:3m" "torus.machine:9m" "torus.nodes:2" "torus.dead_hosts:1" \
		"torus.flaws:2"
	run env SHMEM_TORUS=4y "$OSHINFO" --parsable
	says "torus.problem:SHMEM_TORUS=4y: not a shape; after a size comes m (mesh), d (two cables) or x, as in 4x4mx2"
	run "$OSHINFO" --parsable
	says "torus.source:the number of nodes (logical: their cabling is unknown)" "torus.vendor:jTofu goes before all settings, in jobs that go over Tofu"
}
