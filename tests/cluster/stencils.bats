# SPDX-License-Identifier: BSD-3-Clause
#
# Stencils on hosts cabled as a torus give the serial answer to the last bit: rings and meshes, balanced and not, with a slow PE, in two
# to four dimensions, and where data goes in one direction only. Needs root.

load "$TOP_SRCDIR/tests/lib/cluster.bash"

setup()
{
	need_cluster mpirun
}

# solves SHAPE PES EXPECTED PROGRAM ARGUMENTS...: on hosts of that shape, with one line more that must be there
solves()
{
	run timeout 100 "$cluster" exec --name "$name" h0 "$TOP_BUILDDIR/oshrun" -q --launcher mpirun --hostfile /run/cluster/hostfile \
		-x SHMEM_TORUS="$1" -n "$2" "$TOP_BUILDDIR/examples/$4" "${@:5}"
	printf '%s\n' "$output"
	[ "$status" -eq 0 ]
	printf '%s\n' "$output" | grep -qx PASS
	printf '%s\n' "$output" | grep -Eq "$3"
}

@test "on 3x3 hosts" {
	"$cluster" up --name "$name" --torus 3x3 --share "$TOP_BUILDDIR"
	solves 3x3 9 'placed rank order: 1.00 hops' poisson --grid 3,3 --side 20 --iterations 100
	solves 3x3 9 'placed [a-z ]*: 1.00 hops' upwind --grid 3,3 --side 20 --iterations 100 --slow 4
	solves 3x3 9 '9 PEs as 3x3x1' heat --grid 3,3,1 --side 8 --iterations 50 --dawdle 200
}

@test "on 3mx3 hosts, a mesh and rings" {
	"$cluster" up --name "$name" --torus 3mx3 --share "$TOP_BUILDDIR"
	solves 3mx3 9 '9 PEs as 3mx3m' poisson --grid 3,3 --open --side 20 --iterations 100 --slow 8
	solves 3mx3 9 '9 PEs as 9x1' upwind --grid 9,1 --side 12 --iterations 100 --dawdle 100
}

@test "on 2x2x2 hosts" {
	"$cluster" up --name "$name" --torus 2x2x2 --share "$TOP_BUILDDIR"
	solves 2x2x2 8 'placed [a-z ]*: 1.00 hops between neighbours, 1.00 in rank order' heat --grid 2,2,2 --side 10 --iterations 50
	solves 2x2x2 8 '8 PEs as 2x2x2' heat --grid 2,2,2 --side 10 --iterations 50 --dawdle 200 --slow 3
	solves 2x2x2 8 'placed [a-z ]*: 1.00 hops' lattice --grid 2,2,2,1 --side 4 --iterations 25
	solves 2x2x2 8 'placed [a-z ]*: 1.00 hops between neighbours, 1.75 in rank order' poisson --grid 8,1 --side 20 --iterations 100
}
