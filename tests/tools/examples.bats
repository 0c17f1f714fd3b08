#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# run: beside
# The examples, built as a user builds them: they say what they promise, on any number of PEs.

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
	export OSHRUN="${OSHRUN:-$TOP_BUILDDIR/oshrun}" OSHCC="${OSHCC:-$TOP_BUILDDIR/oshcc}"
	unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
	cp "${BATS_TEST_FILENAME%/*}"/../../examples/*.[ch] "${BATS_TEST_FILENAME%/*}"/../../examples/*.cu "${BATS_TEST_FILENAME%/*}"/../../examples/Makefile "$BATS_FILE_TMPDIR"
	# By its name, as users do: make would take a path with spaces for several words.
	PATH="${OSHCC%/*}:$PATH" make -s -C "$BATS_FILE_TMPDIR" OSHCC="${OSHCC##*/}" CFLAGS='-O2 -Wall -Wextra -Werror'
}

setup()
{
	cd "$BATS_FILE_TMPDIR" || return
}

# runs N PROGRAM ARGUMENTS...: quietly, and with success
runs()
{
	run timeout -k 2 $((60 * ${TEST_PATIENCE:-1})) "$OSHRUN" -q -n "$1" "./$2" "${@:3}"
	[ "$status" -eq 0 ] || { printf '%s\n' "$output" && return 1; }
}

says()
{
	printf '%s\n' "$output" | grep -Eq -- "$1" || {
		printf 'no "%s" in:\n%s\n' "$1" "$output"
		return 1
	}
}

@test "hello: every PE says so once" {
	runs 3 hello
	[ "$(printf '%s\n' "$output" | sort)" = "Hello from PE 0 of 3
Hello from PE 1 of 3
Hello from PE 2 of 3" ]
	./hello | grep -qx 'Hello from PE 0 of 1' # without a launcher
}

@test "ring: the token grows by one at every PE" {
	for pes in 1 2 5; do
		runs "$pes" ring
		says "^round 3: the token came back as $((3 * pes))$"
	done
}

@test "service: the server names the worker that is lost, and goes on with a new one" {
	run timeout 60 ./service
	[ "$status" -eq 0 ]
	says '^PE 1 is lost, worker 1; another one gets request 3$'
	[ "$(printf '%s\n' "$output" | grep -c 'the square is')" -eq 5 ]
}

@test "globals: who wrote what" {
	runs 4 globals
	says '^4 visitors; squares: 0 1 4 9$'
	says '^PE 3 received from PE 0: 3, from itself: 303; it counts 0 visitors of its own$'
}

@test "costs: what messages cost, as a setting that jobs take" {
	runs 2 costs
	says '^local:[1-9][0-9]*:[1-9][0-9]*:[1-9][0-9]*$'
	SHMEM_PATHS=ucx runs 2 costs
	says '^ucx:[1-9][0-9]*:[1-9][0-9]*:[1-9][0-9]*$'
	SHMEM_COSTS=$output runs 3 hello
	run "$OSHRUN" -q -n 3 ./costs
	[ "$status" -eq 2 ]
	says '^costs: run it with two PEs, as in oshrun -n 2 ./costs$'
}

@test "gpu_ring: from GPU to GPU, also through the hosts" {
	soft="$TOP_BUILDDIR/tests/gpu/soft/.libs"
	grep -q 'HAVE_CUDA 1' "$TOP_BUILDDIR/config.h" || skip "configured --without-cuda"
	[ -e "$soft/libcuda.so.1" ] || skip "the stand-in for CUDA's driver is not built: make check-programs"
	export LD_LIBRARY_PATH="$soft"
	for settings in A=1 SHMEM_NODE_PES=1 SOFT_CUDA_IPC=0 SOFT_CUDA_INTEGRATED=1; do
		export "${settings?}"
		runs 3 gpu_ring
		says '^1000 numbers went round 3 PEs by their GPUs: PASS$'
		unset "${settings%%=*}"
	done
}

@test "stencil_gpu: it compiles, where nvcc is there" {
	nvcc=$(command -v nvcc || command -v /usr/local/cuda/bin/nvcc) || skip "nvcc is not there"
	echo 'int main() { return 0; }' >links.cu
	"$nvcc" -o links links.cu || skip "nvcc links no program: parts of CUDA are missing"
	rm -f stencil_gpu
	PATH="${OSHCC%/*}:$PATH" make -s NVCC="$nvcc" stencil_gpu
	[ -x stencil_gpu ]
}

@test "harvest: what others found, from memory of their own" {
	for paths in local,ucx ucx; do
		SHMEM_PATHS=$paths runs 3 harvest
		says '^PE 0 has 100 numbers; their sum is 32835000$'
		says '^PE 1 has 200 numbers; their sum is 66668200$'
		says '^PE 2 has 0 numbers; their sum is 0$'
	done
}

@test "neighbours: every block of every call is right, on any path and in any order of puts" {
	for pes in 1 2 3 6; do
		runs "$pes" neighbours
		says ' PEs, 1000 calls: 0 words wrong$'
	done
	SHMEM_PATHS=ucx UCX_TLS=tcp,self runs 4 neighbours
	says '^2x2 PEs, 1000 calls: 0 words wrong$'
	SHMEM_CHECK=yes runs 4 neighbours
	says '^2x2 PEs, 1000 calls: 0 words wrong$'
}

@test "pi" {
	runs 3 pi
	says '^pi is about 3\.14159265'
}

@test "train: the weights get right, and are the same everywhere" {
	for pes in 1 2 3 8; do
		runs "$pes" train
		says '^after 40 steps: the error is below a thousandth$'
		says '^all PEs have the same weights$'
	done
	SHMEM_PATHS=ucx UCX_TLS=tcp,self runs 3 train
	says '^PASS$'
	SHMEM_PLAN_EXECUTOR=thread SHMEM_CHECK=yes runs 4 train
	says '^PASS$'
}

@test "histogram: no throw is lost" {
	for pes in 1 3; do
		runs "$pes" histogram
		says "^$((20000 * pes)) throws, none lost$"
	done
}

@test "stencil: the serial answer, for any number of PEs" {
	for pes in 1 2 3 4 6 7; do
		runs "$pes" stencil --size 37 --tolerance 1e-3
		says '^PASS$'
	done
	runs 4 stencil
	says '4 PEs as 2 x 2'
	says '^PASS$'
}

@test "stencil: over UCX as well" {
	export SHMEM_PATHS=ucx UCX_TLS=tcp,self
	runs 3 stencil --size 24 --tolerance 1e-2
	says '^PASS$'
}

# solves N PROGRAM ARGUMENTS...: the serial answer to the last bit, and where the time went
solves()
{
	runs "$@"
	says '^PASS$'
	says '^microseconds in a sweep of PE [0-9]+, which waits least: pack [0-9.]+, start [0-9.]+, bulk [0-9.]+, wait [0-9.]+, boundary [0-9.]+$'
	says '^communication takes [0-9.]+ where nothing is computed meanwhile; hidden: [0-9.]+ %, of that and starting: [0-9.]+ %$'
}

@test "heat, poisson, lattice, upwind: the serial answer to the last bit, on any grid" {
	for pes in 1 3 4; do
		solves "$pes" heat --side 7 --iterations 40
		solves "$pes" poisson --iterations 100
		solves "$pes" lattice --side 4 --iterations 20
		solves "$pes" upwind --side 9 --iterations 100
	done
	solves 4 heat --side 6 --iterations 40 --open --grid 1,2,2
	solves 3 lattice --side 3 --iterations 20 --open
	solves 4 upwind --side 1 --iterations 60 --grid 4,1
	solves 4 poisson --side 2 --iterations 60 --slow 1 --dawdle 50 --scale 100
}

@test "heat, poisson, lattice, upwind: over UCX, on a torus whose order is not the grid's" {
	export SHMEM_PATHS=ucx UCX_TLS=tcp,self SHMEM_TORUS=2x3
	solves 6 heat --side 5 --iterations 20 --grid 3,2,1
	says 'placed axis by axis: 1.00 hops between neighbours, 1.[0-9]+ in rank order'
	solves 3 upwind --side 20 --iterations 50
	solves 4 lattice --side 4 --iterations 10
	solves 4 poisson --side 20 --iterations 50 --scale 64
}

@test "solver: every bit of the operator, the serial solution, flops and bytes" {
	for pes in 1 2 4 6; do
		solves "$pes" solver --side 4
		says '^[0-9]+ iterations, which leave [0-9.]+e-11 of b$'
		says "^M\\^\\+ M once: 0 of $((128 * pes)) sites differ from the serial answer$"
		says '^an iteration: [0-9.]+ Mflop, [0-9.]+ MB of memory, 98\.3 KB sent by each PE$'
		says '^[0-9]+ iterations in [0-9.]+ s: [0-9.]+ Gflop/s, [0-9.]+ GB/s of memory, [0-9.]+ MB/s sent by each PE$'
	done
	solves 4 solver --side 2 --grid 1,2,1,2 --dawdle 50
	SHMEM_PATHS=ucx UCX_TLS=tcp,self SHMEM_TORUS=2x3 solves 6 solver --side 4 --scale 4
	run timeout -k 2 $((20 * ${TEST_PATIENCE:-1})) "$OSHRUN" -q -n 2 ./solver --side 3
	[ "$status" -eq 2 ]
}

# replayed ITERATIONS: microseconds on the machine
replayed()
{
	rm -rf record
	mkdir record
	SOFTOFU_SHAPE=2x2 SHMEM_PATHS=tofu SOFTOFU_RECORD=record runs 4 solver --side 4 --iterations "$1" --unchecked
	SOFTOFU_SHAPE=2x2 timeout -k 2 60 "$TOP_BUILDDIR/softofu-replay" record | sed -n 's/^modelled: \([0-9.]*\) us.*/\1/p'
}

@test "solver: recorded on software Tofu and replayed, an iteration takes the time of its four exchanges" {
	[ -x "$TOP_BUILDDIR/softofu-replay" ] || skip "no software Tofu"
	few=$(replayed 2)
	many=$(replayed 6)
	awk -v few="$few" -v many="$many" 'BEGIN { print few, many; exit !(few > 0 && many > few + 4 * 4) }'
}

@test "every example begins with what it teaches" {
	for example in *.c; do
		sed -n 3p "$example" | grep -q '^ \* Teaches ' || {
			echo "$example"
			return 1
		}
	done
}

@test "poisson: help, and options that make no sense" {
	runs 2 poisson --help
	[ "$(printf '%s\n' "$output" | grep -c '^usage:')" -eq 1 ]
	for wrong in --side=4 '--scale 0' '--iterations x'; do
		# shellcheck disable=SC2086 # two words
		run timeout -k 2 $((20 * ${TEST_PATIENCE:-1})) "$OSHRUN" -q -n 2 ./poisson $wrong
		[ "$status" -eq 2 ]
	done
}

@test "stencil: a picture" {
	runs 2 stencil --size 20 --iterations 30 --pgm out.pgm
	[ "$(head -c 13 out.pgm)" = "P5 20 20 255" ] # the line end is cut off by the shell
	[ "$(wc -c <out.pgm)" -eq 413 ]
}

@test "stencil: help, and options that make no sense" {
	runs 2 stencil --help
	[ "$(printf '%s\n' "$output" | grep -c '^usage:')" -eq 1 ]
	for wrong in --size=1 --size=x --nonsense; do
		run timeout -k 2 $((20 * ${TEST_PATIENCE:-1})) "$OSHRUN" -q -n 2 ./stencil "$wrong"
		[ "$status" -eq 2 ]
		[ "$(printf '%s\n' "$output" | grep -c '^./stencil\|^stencil')" -eq 1 ]
	done
}
