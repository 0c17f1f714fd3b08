#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Every mistake a user can make ends in one line that says who, where, what and what to do; in an
# exit code that is not 0; soon; and without anything left behind.

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
	export OSHRUN="${OSHRUN:-$TOP_BUILDDIR/oshrun}" OSHCC="${OSHCC:-$TOP_BUILDDIR/oshcc}"
	export PROGRAM="$BATS_FILE_TMPDIR/mistake"
	"$OSHCC" -O1 -o "$PROGRAM" "${BATS_TEST_FILENAME%/*}"/mistake{,_extensions}.c
}

setup()
{
	unset "${!SHMEM_@}" "${!SMA_@}" "${!UCX_@}" "${!PMIX_@}" "${!OMPI_@}" "${!SLURM_@}"
	. "${BATS_TEST_FILENAME%/*}/../lib/left.sh"
	things_there >"$BATS_TEST_TMPDIR/before"
}

# What a job could leave: files in shared memory, processes.
things_there()
{
	left_in_shm "${PROGRAM%/*}"
	find /proc/[0-9]*/exe -maxdepth 0 -lname "$PROGRAM*" 2>/dev/null || : # a process may end meanwhile
}

nothing_left()
{
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		left=$(things_there | sort | comm -13 <(sort "$BATS_TEST_TMPDIR/before") -)
		[ -n "$left" ] || return 0
		sleep 0.2
	done
	printf 'left behind:\n%s\n' "$left"
	return 1
}

# job N MISTAKE: the same on a number of PEs, with an end to patience.
job()
{
	run timeout -k 2 20 "$OSHRUN" -n "$1" "$PROGRAM" "${@:2}"
	nothing_left
}

# says TEXT...: exactly one line of ours, and each of the texts (patterns of grep -E) is in it. One
# more reports the end of a PE that another saw.
says()
{
	lines=$(printf '%s\n' "$output" | grep -E '^(torushmem|oshrun): ' | grep -Ev '^torushmem: PE [0-9]+: was in shmem[a-z_]+ when PE [0-9]+ ended$' || :)
	if [ "$(printf '%s\n' "$lines" | grep -c .)" -ne 1 ]; then
		printf 'expected one line, got status %s and:\n%s\n' "$status" "$output"
		return 1
	fi
	for text in "$@"; do
		printf '%s\n' "$lines" | grep -Eq -- "$text" || {
			printf '"%s" is not in: %s\n' "$text" "$lines"
			return 1
		}
	done
}

# A job that was ended, and not by our patience.
failed()
{
	if [ "$status" -eq 0 ] || [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
		printf 'status %s, output:\n%s\n' "$status" "$output"
		return 1
	fi
}

# fails MISTAKE TEXT...: of two PEs the second makes it.
fails()
{
	job 2 "$1"
	failed
	says "${@:2}"
}

@test "a program without a mistake says nothing" {
	job 2 none
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "put to the stack" {
	fails put-private '^torushmem: PE 1: shmem_long_put: ' 'dest=0x' 'symmetric' 'use shmem_malloc'
}

@test "put to malloc memory" {
	fails put-malloc '^torushmem: PE 1: shmem_long_put: ' 'dest=0x' 'symmetric'
}

@test "put to NULL" {
	fails put-null '^torushmem: PE 1: shmem_long_put: ' 'dest='
}

@test "put beyond the end" {
	fails put-beyond '^torushmem: PE 1: shmem_long_put: ' 'dest=0x' 'end'
}

@test "get from the stack" {
	fails get-private '^torushmem: PE 1: shmem_long_get: ' 'source=0x' 'symmetric'
}

@test "p to the stack" {
	fails p-private '^torushmem: PE 1: shmem_long_p: ' 'dest=0x' 'symmetric'
}

@test "iput to the stack" {
	fails iput-private '^torushmem: PE 1: shmem_long_iput: ' 'dest=0x' 'symmetric'
}

@test "atomic on the stack" {
	fails atomic-private '^torushmem: PE 1: shmem_long_atomic_add: ' 'dest=0x' 'symmetric'
	fails fetch-private '^torushmem: PE 1: shmem_long_atomic_fetch_inc: ' 'dest=0x' 'symmetric'
}

@test "signal in malloc memory" {
	fails signal-private '^torushmem: PE 1: shmem_long_put_signal: ' 'sig_addr=0x' 'symmetric'
}

@test "wait for a variable on the stack" {
	fails wait-private '^torushmem: PE 1: shmem_long_wait_until: ' 'ivar=0x' 'symmetric'
}

@test "neighbour exchange: edges that are none, or lead elsewhere" {
	fails edge-pe '^torushmem: PE 1: shmemx_exchange_create: ' 'edges\[1\].pe=2' 'PEs 0 to 1'
	fails edge-elsewhere '^torushmem: PE [01]: shmemx_exchange_create: ' 'edges\[1\] leads to edge'
	fails edge-options '^torushmem: PE [01]: shmemx_exchange_create: ' 'edges\[1\].options=0x40'
	fails edge-none '^torushmem: PE [01]: shmemx_exchange_create: ' 'edge'
	fails edge-small '^torushmem: PE 1: shmemx_exchange_create: ' 'edges\[0\].send_bytes=65' 'at most 64'
}

@test "neighbour exchange: misuse of an edge" {
	fails edge-number '^torushmem: PE 1: shmemx_exchange_buffer: ' 'edge=2' 'edges 0 to 1'
	fails edge-long '^torushmem: PE 1: shmemx_exchange_start: ' 'bytes=65' 'at most 64'
	fails edge-one-way '^torushmem: PE 1: shmemx_exchange_wait: ' 'edge=1' 'receive_bytes is 0'
	fails edge-release '^torushmem: PE 1: shmemx_exchange_release: ' 'edge=0' 'no message'
	fails edge-skipped '^torushmem: PE 1: shmemx_exchange_start: ' 'edge=1 was not started in iteration 2'
	fails edge-no-start '^torushmem: PE 1: shmemx_exchange_wait: ' 'edge=0' 'message 1 of PE 0' 'none was started'
	fails edge-unreleased '^torushmem: PE 1: shmemx_exchange_wait: ' 'edge=0' 'release one first'
}

@test "plans" {
	fails plan-invalid '^torushmem: PE [01]: shmemx_plan_start: ' 'is no plan' 'SHMEMX_PLAN_INVALID'
	fails plan-freed '^torushmem: PE 1: shmemx_plan_wait: ' 'is no plan'
	fails plan-root '^torushmem: PE 0: shmemx_broadcast_init: ' 'PE_root=7' 'PEs 0 to 1'
	fails plan-executor '^torushmem: PE [01]: shmemx_broadcast_init: ' 'executor=5'
	fails plan-private '^torushmem: PE 1: shmemx_broadcast_init: ' 'source=0x' 'symmetric'
	fails plan-reduction '^torushmem: PE 0: shmemx_allreduce_init: ' 'op=6' 'no such reduction'
	fails plan-scan '^torushmem: PE 0: shmemx_sum_inscan_init: ' 'type=99' 'no such reduction'
	fails plan-stride '^torushmem: PE 0: shmemx_alltoalls_init: ' 'dst=1, sst=-1' 'at least 1'
	fails plan-scatter '^torushmem: PE 1: shmemx_scatter_init: ' 'dest=0x' 'symmetric'
	fails plan-lengths '^torushmem: PE [01]: shmemx_alltoallv_init: ' 'source_counts.* is 2 here' 'is 1 on PE'
	fails plan-started '^torushmem: PE 1: shmemx_plan_start: ' 'shmemx_broadcast_init is under way'
	fails plan-free-started '^torushmem: PE 1: shmemx_plan_free: ' 'shmemx_broadcast_init is under way'
	fails plan-left '^torushmem: PE 1: shmem_finalize: ' 'shmemx_broadcast_init is under way'
	fails plan-team '^torushmem: PE 0: shmem_team_destroy: ' 'shmemx_plan_free'
}

@test "teams of lists" {
	fails list-twice '^torushmem: PE 0: shmemx_team_of_pes: ' 'pes\[1\]=0' 'in the list already'
	fails list-outside '^torushmem: PE 1: shmemx_team_of_pes: ' 'the calling PE is not in the list'
	fails list-number '^torushmem: PE 0: shmemx_team_of_pes: ' 'pes\[1\]=7' 'PEs 0 to 1'
	fails list-psync '^torushmem: PE 0: shmemx_team_of_pes: ' 'psync=0x' 'symmetric'
}

@test "plans that a word starts" {
	fails plan-word-private '^torushmem: PE 1: shmemx_plan_start_on: ' 'done=0x' 'symmetric'
	fails plan-word-one '^torushmem: PE 1: shmemx_plan_start_on: ' 'done is NULL' 'pass two words'
	fails plan-word-same '^torushmem: PE 1: shmemx_plan_start_on: ' 'the same word'
	fails plan-word-odd '^torushmem: PE 1: shmemx_plan_start_on: ' 'start=0x' 'multiple of 8'
	fails plan-word-shared '^torushmem: PE 1: shmemx_plan_start_on: ' 'done=0x' 'is a word of the plan of shmemx_broadcast_init'
	fails plan-word-start '^torushmem: PE 1: shmemx_plan_start: ' 'a word starts the plan of shmemx_broadcast_init'
	fails plan-word-again '^torushmem: PE 1: shmemx_plan_start_on: ' 'shmemx_broadcast_init is under way'
	fails plan-word-free '^torushmem: PE 1: shmemx_plan_free: ' 'shmemx_broadcast_init is under way'
	fails plan-word-left '^torushmem: PE 1: shmem_finalize: ' 'shmemx_broadcast_init is under way'
}

@test "blocks, and nonblocking collectives" {
	fails block-type '^torushmem: PE 0: shmemx_gather: ' 'type=99 is no type'
	fails block-root '^torushmem: PE 0: shmemx_scatter: ' 'PE_root=7' 'PEs 0 to 1'
	fails block-private '^torushmem: PE 1: shmemx_gather: ' 'dest=0x' 'symmetric'
	fails block-counts '^torushmem: PE 0: shmemx_allgatherv: ' 'counts of dest are NULL'
	fails block-lengths '^torushmem: PE [01]: shmemx_alltoallv: ' 'source_counts.* is 2 here' 'is 1 on PE'
	fails request-null '^torushmem: PE 0: shmemx_sync_all_nb: ' 'request is NULL'
	fails request-root '^torushmem: PE 0: shmemx_long_broadcast_nb: ' 'PE_root=7' 'PEs 0 to 1'
	fails request-type '^torushmem: PE 0: shmemx_gather_nb: ' 'type=99 is no type'
	fails request-no-root '^torushmem: PE 0: shmemx_scatter_nb: ' 'PE_root=-1' 'PEs 0 to 1'
	fails request-private '^torushmem: PE 1: shmemx_gather_nb: ' 'dest=0x' 'symmetric'
	fails request-lengths '^torushmem: PE [01]: shmemx_alltoallv_nb: ' 'source_counts.* is 2 here' 'is 1 on PE'
	fails request-nelems '^torushmem: PE [01]: shmemx_gather_nb: ' '[12] elements for PE [01]' 'the same number'
	fails request-kind '^torushmem: PE [01]: shmemx_[a-z]*_nb: ' 'PE [01] of the team calls another collective'
	fails request-stride '^torushmem: PE 0: shmemx_long_alltoalls_nb: ' 'dst=0, sst=2' 'at least 1'
	fails request-reduction '^torushmem: PE 0: shmemx_reduce_scatter_nb: ' 'op=6' 'no such reduction'
	fails request-left '^torushmem: PE 1: shmem_finalize: ' 'shmemx_sync_nb is under way' 'its request'
	fails request-team '^torushmem: PE 1: shmem_team_destroy: ' 'shmemx_sync_nb is under way' 'its request'
}

@test "RDMA with events" {
	fails rdma-nothing '^torushmem: PE 1: shmemx_rdma_register: ' 'bytes=0' 'at least a byte'
	fails rdma-none '^torushmem: PE 1: shmemx_rdma_put: ' 'dest=0x' 'is no buffer'
	fails rdma-beyond '^torushmem: PE 1: shmemx_rdma_put: ' 'offset=121: 8 bytes' 'PE 0, which has 128'
	fails rdma-gone '^torushmem: PE 1: shmemx_rdma_put: ' 'PE 0 has unregistered'
	fails rdma-twice '^torushmem: PE 1: shmemx_rdma_unregister: ' 'has unregistered'
	fails rdma-theirs '^torushmem: PE 1: shmemx_rdma_unregister: ' 'buffer of PE 0' 'only its owner'
	fails rdma-send-theirs '^torushmem: PE 1: shmemx_rdma_send: ' 'buffer of PE 0' 'only its owner'
	fails rdma-pe '^torushmem: PE 1: shmemx_rdma_send: ' 'pe=2' 'PEs 0 to 1'
	fails rdma-long '^torushmem: PE 0: shmemx_rdma_wait: ' '16 bytes came from PE 1 to memory of 8' 'shmemx_rdma_receive'
	fails rdma-events '^torushmem: PE 1: shmemx_rdma_put: ' '65536 events of this PE' 'shmemx_rdma_wait'
	SHMEM_PATHS=ucx fails rdma-gone '^torushmem: PE 0: shmemx_rdma_put: ' 'no longer registered'
}

@test "heaps in memory that the program brings" {
	fails heap-null '^torushmem: PE 0: shmemx_heap_create_in: ' 'base=\(nil\), bytes=1048576: give memory'
	fails heap-empty '^torushmem: PE 0: shmemx_heap_create_in: ' 'bytes=0: give memory'
	fails heap-sizes '^torushmem: PE 0: shmemx_heap_create_in: ' 'bytes is 1048576 on one PE and 2097152 on another'
	fails heap-overlaps '^torushmem: PE 1: shmemx_heap_create_in: ' 'base=0x' 'overlaps the symmetric heap'
	fails heap-twice '^torushmem: PE 1: shmemx_heap_create_in: ' 'overlaps the memory of another heap'
	fails heap-device '^torushmem: PE 0: shmemx_heap_create: ' 'device_index=0' 'give -1'
	fails heap-alignment '^torushmem: PE 0: shmemx_heap_align: ' 'alignment=1099511627776: ' 'that at most'
	fails heap-beyond '^torushmem: PE 1: shmem_long_put: ' '16 bytes' 'past the end of the heap 1 of shmemx_heap_create_in'
	fails heap-free '^torushmem: PE 0: shmemx_heap_free: ' 'ptr=0x' 'was not returned'
	fails heap-gone '^torushmem: PE 1: shmem_long_put: ' 'is not symmetric memory'
	fails heap-destroyed '^torushmem: PE 0: shmemx_heap_malloc: ' 'was destroyed'
	SHMEM_CHECK=1 fails heap-block '^torushmem: PE 1: shmem_long_put: ' 'offset 0 of the heap 1' '72 bytes' 'block of 64 bytes'
}

@test "a wait in a heap that the program made: reports say where" {
	job 2 heap-waits
	failed
	[[ $output == *'waiting for the word at heap 1 of shmemx_heap_create_in + 0x8, which is 0, to be == 5'* ]]
}

@test "memory that cannot be a heap: a line says why, and all PEs go on" {
	job 2 heap-odd
	[ "$status" -eq 0 ]
	says '^torushmem: PE 1: shmemx_heap_create_in: base=0x' 'boundaries of its pages of 4 KiB'
	job 2 heap-hole
	[ "$status" -eq 0 ]
	says '^torushmem: PE 1: shmemx_heap_create_in: base=0x' 'memory that this process reads and writes'
	job 2 heap-full
	[ "$status" -eq 0 ]
	says '^torushmem: PE 0: shmemx_heap_malloc: the heap at 0x' 'no room for bytes=1048576' 'largest block'
}

@test "plans: edges to neighbours" {
	fails plan-edge-pe '^torushmem: PE 1: shmemx_neighbours_init: ' 'edges\[0\].pe=9' 'PEs 0 to 1'
	fails plan-edge-none '^torushmem: PE [01]: shmemx_neighbours_init: ' 'edges\[0\]'
	fails plan-edge-bytes '^torushmem: PE 1: shmemx_neighbours_init: ' 'edges\[0\].send_bytes=8' 'receives 16 bytes'
	fails plan-edge-private '^torushmem: PE 1: shmemx_neighbours_init: ' 'source=0x' 'symmetric'
}

@test "grids" {
	fails grid-dims '^torushmem: PE 0: shmemx_grid_create: ' 'dims=7' '1 to 6'
	fails grid-size '^torushmem: PE 0: shmemx_grid_create: ' 'sizes\[0\]=-2' 'from 1'
	fails grid-product '^torushmem: PE 0: shmemx_grid_create: ' 'product of 3' '2 PEs; both must be the same'
	fails grid-rest '^torushmem: PE 0: shmemx_grid_create: ' 'product of 3' '2 PEs; it must divide them'
	fails grid-none '^torushmem: PE 1: shmemx_grid_neighbour: ' 'no grid; shmemx_grid_create'
	fails grid-dim '^torushmem: PE 1: shmemx_grid_neighbour: ' 'dim=2' 'dimensions 0 to 1'
	fails grid-pe '^torushmem: PE 1: shmemx_grid_coordinates: ' 'pe=2' 'PEs 0 to 1'
}

@test "misaligned atomic" {
	fails misaligned '^torushmem: PE 1: shmem_long_atomic_add: ' 'dest=0x' 'align'
}

@test "the same mistakes over UCX" {
	export SHMEM_PATHS=ucx UCX_TLS=tcp,self
	fails put-private '^torushmem: PE 1: shmem_long_put: ' 'dest=0x' 'symmetric'
	fails atomic-private '^torushmem: PE 1: shmem_long_atomic_add: ' 'dest=0x' 'symmetric'
	fails misaligned '^torushmem: PE 1: shmem_long_atomic_add: ' 'dest=0x' 'align'
	fails put-pe '^torushmem: PE 1: shmem_long_put: ' 'pe=2'
}

@test "a PE that is not there" {
	fails put-pe '^torushmem: PE 1: shmem_long_put: ' 'pe=2' '0 to 1'
	fails get-pe '^torushmem: PE 1: shmem_long_get: ' 'pe=7' '0 to 1'
	fails negative-pe '^torushmem: PE 1: shmem_long_p: ' 'pe=-1' '0 to 1'
	fails atomic-pe '^torushmem: PE 1: shmem_long_atomic_inc: ' 'pe=1000000' '0 to 1'
}

@test "a signal operation of 0" {
	fails no-signal-op '^torushmem: PE 1: shmem_long_put_signal: ' 'sig_op=0 is neither SHMEM_SIGNAL_SET nor SHMEM_SIGNAL_ADD'
}

@test "heap exhausted: NULL everywhere, and one line with the numbers" {
	export SHMEM_SYMMETRIC_SIZE=8m
	job 2 heap-exhausted
	[ "$status" -eq 0 ]
	says '^torushmem: PE 0: shmem_malloc: ' '104857600|100 MiB' 'free' 'largest block' 'SHMEM_SYMMETRIC_SIZE=8m'
	[ "$(printf '%s\n' "$output" | grep -c 'got NULL')" -eq 2 ]
}

@test "heap exhausted again and again: one line for each size" {
	export SHMEM_SYMMETRIC_SIZE=8m
	job 2 heap-often
	[ "$status" -eq 0 ]
	[ "$(printf '%s\n' "$output" | grep -c '^torushmem: PE 0: shmem_malloc: the symmetric heap has no room for size=')" -eq 2 ]
}

# Every alignment is asked for twice by each of two PEs.
@test "alignments of 4 MiB to 1 GiB: aligned, or NULL and one line for each" {
	export SHMEM_SYMMETRIC_SIZE=1g
	paths=(SHMEM_PATHS=local 'SHMEM_PATHS=ucx UCX_TLS=tcp,self')
	[ ! -e "$TOP_BUILDDIR/.libs/libtofucom.so" ] || paths+=('SHMEM_PATHS=tofu SOFTOFU_SHAPE=2x2x1x1x1x1')
	! grep -q 'HAVE_OFI 1' "$TOP_BUILDDIR/config.h" || paths+=('SHMEM_PATHS=ofi FI_PROVIDER=tcp')
	for path in "${paths[@]}"; do
		for setting in $path; do
			export "${setting?}"
		done
		job 2 large-alignments
		echo "$path: $output"
		[ "$status" -eq 0 ]
		for mib in 4 8 16 32 64 128 256; do
			[ "$(grep -c "^alignment $mib MiB: aligned$" <<<"$output")" -eq 4 ]
		done
		for mib in 512 1024; do
			[ "$(grep -c "^alignment $mib MiB: NULL$" <<<"$output")" -eq 4 ]
			[ "$(grep -c "^torushmem: PE 0: shmem_align: alignment=$((mib << 20)) is more than .*; give 256 MiB at most$" <<<"$output")" -eq 1 ]
		done
		[ "$(grep -c ^torushmem: <<<"$output")" -eq 2 ]
		unset SHMEM_PATHS UCX_TLS SOFTOFU_SHAPE
	done
}

@test "a heap larger than the memory" {
	export SHMEM_SYMMETRIC_SIZE=100t
	fails none '^torushmem: PE 0: shmem_init: ' 'SHMEM_SYMMETRIC_SIZE=100t' 'memory' 'ask for less'
}

@test "a bad SHMEM_SYMMETRIC_SIZE" {
	for size in -5k abc '' 5x nan 1e9; do
		export SHMEM_SYMMETRIC_SIZE=$size
		fails none '^torushmem: PE 0: shmem_init: ' "SHMEM_SYMMETRIC_SIZE=$size" 'give a number'
	done
	unset SHMEM_SYMMETRIC_SIZE
	export SMA_SYMMETRIC_SIZE=xyz
	fails none '^torushmem: PE 0: shmem_init: ' 'SYMMETRIC_SIZE=xyz'
}

@test "a heap of no size is not a mistake" {
	export SHMEM_SYMMETRIC_SIZE=0
	job 2 none
	printf '%s\n' "$output"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "a call before shmem_init" {
	fails before-init '^torushmem: .*shmem_long_p: ' 'before shmem_init'
	fails before-init-barrier '^torushmem: .*shmem_barrier_all: ' 'before shmem_init'
	fails before-init-malloc '^torushmem: .*shmem_malloc: ' 'before shmem_init'
}

@test "a call after shmem_finalize" {
	fails after-finalize '^torushmem: .*shmem_long_p: ' 'after shmem_finalize'
	fails finalize-twice '^torushmem: .*shmem_finalize: ' 'after shmem_finalize'
}

@test "no shmem_finalize" {
	fails one-no-finalize '^torushmem: PE 1: shmem_finalize: ' 'not called' 'call it'
}

@test "no PE calls shmem_finalize, and all end well: the library does" {
	for settings in SHMEM_PATHS=local SHMEM_PATHS=ucx; do
		for pes in 1 2; do
			export "${settings?}"
			job "$pes" no-finalize
			printf '%s\n' "$output"
			[ "$status" -eq 0 ]
			[ -z "$output" ]
		done
	done
}

@test "a collective on an active set that the caller is not in: one warning" {
	job 2 outside-set
	[ "$status" -eq 0 ]
	says '^torushmem: PE 1: shmem_barrier: warning: ' 'PE_start=0, logPE_stride=0, PE_size=1' 'not in this set'
}

@test "one PE ends by itself" {
	fails exit 'PE 1' 'status 3|code 3'
	[ "$status" -eq 3 ]
	[ "$(grep -c 'PE 0: was in shmem_barrier_all when PE 1 ended' <<<"$output")" -eq 1 ]
	fails _exit '^oshrun: PE 1' 'finalize'
}

@test "shmem_free of what cannot be freed" {
	fails double-free '^torushmem: PE [01]: shmem_free: ' 'ptr=0x' 'has been freed'
	fails free-interior '^torushmem: PE [01]: shmem_free: ' 'ptr=0x' 'shmem_malloc'
	fails free-private '^torushmem: PE 1: shmem_free: ' 'ptr=0x' 'shmem_malloc'
	fails free-global '^torushmem: PE 1: shmem_free: ' 'ptr=0x' 'shmem_malloc'
}

@test "shmem_align with an alignment that is none" {
	fails alignment '^torushmem: PE [01]: shmem_align: ' 'alignment=24' 'power of two'
}

@test "an unknown setting: a warning with the nearest one" {
	export SHMEM_SYMETRIC_SIZE=1g
	job 2 none
	[ "$status" -eq 0 ]
	says '^torushmem: ' 'warning' 'SHMEM_SYMETRIC_SIZE' 'SHMEM_SYMMETRIC_SIZE'
	unset SHMEM_SYMETRIC_SIZE
	export SHMEM_NOTHING_LIKE_IT=1
	job 2 none
	[ "$status" -eq 0 ]
	says '^torushmem: ' 'warning' 'SHMEM_NOTHING_LIKE_IT'
}

@test "a bad value of a setting" {
	export SHMEM_PATHS=pigeon
	fails none '^torushmem: PE 0: shmem_init: ' 'SHMEM_PATHS=pigeon' 'local' 'ucx'
	export SHMEM_PATHS=
	fails none '^torushmem: PE 0: shmem_init: ' 'SHMEM_PATHS=' 'local' 'ucx'
	unset SHMEM_PATHS
	export SHMEM_HUGE_PAGES=perhaps
	fails none '^torushmem: PE 0: shmem_init: ' 'SHMEM_HUGE_PAGES=perhaps' 'yes or no'
	unset SHMEM_HUGE_PAGES
	export SHMEM_NODE_PES=few
	fails none '^torushmem: PE 0: shmem_init: ' 'SHMEM_NODE_PES=few' 'number'
}

# Rows whose values the library checks: name, values.
rows_with_values()
{
	sed -n 's/^SETTING([A-Z_]*, "\([A-Z_]*\)", [^,]*, "[^"]*", [LD][A-Z]*, "\([^"][^"]*\)",.*/\1:\2/p' \
		"${BATS_TEST_FILENAME%/*}/../../rte/settings.def"
}

@test "a mistake of all PEs makes one line, also if PE 0 or oshrun is late" {
	cd "$BATS_TEST_TMPDIR" || return
	cat >late.c <<-'END_OF_FILE'
		#include <shmemx.h>
		#include <signal.h>
		#include <unistd.h>
		int main(void)
		{
			shmemx_exchange_t exchange;

			shmem_init();
			if (shmem_my_pe() == 0)
				kill(getppid(), SIGSTOP);
			shmem_barrier_all();
			if (shmem_my_pe() == 0 && getenv("LATE"))
				usleep(500000);
			shmemx_exchange_create(SHMEM_TEAM_WORLD, NULL, -1, &exchange);
		}
	END_OF_FILE
	"$OSHCC" -include stdlib.h -o late late.c
	for late in LATE PUNCTUAL; do
		# shellcheck disable=SC2016 # for the inner shell
		run env "$late=1" timeout -k 2 20 bash -c '"$0" -n 4 ./late & oshrun=$!
			until grep -q "^State:.*stopped" "/proc/$oshrun/status"; do sleep 0.05; done
			sleep 1.2; kill -CONT "$oshrun"; wait "$oshrun"' "$OSHRUN"
		nothing_left
		failed
		says '^torushmem: PE [0-3]: shmemx_exchange_create: n_edges=-1 is negative'
	done
}

@test "a bad value of each setting, whether this job needs it or not" {
	rows=$(rows_with_values)
	[ "$(printf '%s\n' "$rows" | wc -l)" -gt 20 ]
	while IFS=: read -r name values; do
		case $values in
		'size of'*) wanted='give a number with an optional k, m, g or t' ;;
		'number of'*) wanted="give a $values" ;;
		*'|number of'*) continue ;;
		*) wanted="give $(printf '%s\n' "$values" | sed -e 's/\(.*\)|/\1 or /' -e 's/|/, /g')" ;;
		esac
		export "$name=perhaps"
		fails none '^torushmem: PE 0: shmem_init: ' "$name=perhaps: $wanted"
		unset "$name"
	done <<<"$rows"
	# The bounds of all rows are tested by tests/unit/settings.c.
	for pair in TORUS=4x:4x COSTS=ucx:'give path:latency:interval:rate' TRACE_EVENTS=0:'at least 1' SPIN=some:'auto or a number of polls' \
		FAILURE_SECONDS=99999999999999999999:'at most 100000'; do
		export "SHMEM_${pair%%:*}"
		fails none '^torushmem: PE 0: shmem_init: ' "SHMEM_${pair%%:*}" "${pair#*:}"
		name=${pair%%=*}
		unset "SHMEM_$name"
	done
	export SHMEM_LAUNCHER=horse
	job 2 none
	[ "$status" -eq 2 ]
	says '^oshrun: SHMEM_LAUNCHER horse: no such launcher'
}

@test "a name that looks like a setting's" {
	export SHMEM_PATH=ucx
	job 2 none
	[ "$status" -eq 0 ]
	says '^torushmem: ' 'warning' 'SHMEM_PATH' 'SHMEM_PATHS'
}

@test "paths that do not reach everybody" {
	export SHMEM_PATHS=local SHMEM_NODE_PES=1
	fails none '^torushmem: PE 0: shmem_init: ' 'SHMEM_PATHS=local' 'ucx'
}

@test "a PE dies of a signal" {
	export SHMEM_BACKTRACE=no # tools.bats checks what it adds
	fails segfault '^oshrun: PE 1' 'signal 11|SIGSEGV|[Ss]egmentation'
	[ "$status" -eq 139 ]
	fails abort '^oshrun: PE 1' 'signal 6|SIGABRT|[Aa]bort'
	[ "$status" -eq 134 ]
	job 2 killed # 137 is also how timeout would say that it had to kill oshrun; then there would be no line
	[ "$status" -eq 137 ]
	says '^oshrun: PE 1' 'signal 9|SIGKILL|[Kk]illed'
}

@test "a launcher that gives no PMIx" {
	for variable in OMPI_COMM_WORLD_SIZE SLURM_STEP_NUM_TASKS PMI_SIZE; do
		run timeout -k 2 20 env "$variable=4" "$PROGRAM"
		nothing_left
		failed
		says '^torushmem: .*shmem_init: ' "$variable=4" 'PMIx' 'oshrun'
	done
	run timeout -k 2 20 env OMPI_COMM_WORLD_SIZE=1 "$PROGRAM"
	[ "$status" -eq 0 ]
}

@test "MPICH's launcher, which has no PMIx" {
	command -v mpiexec.hydra >/dev/null || skip "no mpiexec.hydra"
	for option in -pmi-port ''; do
		# shellcheck disable=SC2086 # a word or none
		run timeout -k 2 20 mpiexec.hydra $option -n 4 "$PROGRAM"
		failed
		says '^torushmem: PE 0: shmem_init: ' 'PMIx' 'oshrun'
		[ "$(grep -c '^torushmem: ' <<<"$output")" -eq 1 ]
	done
	run timeout -k 2 20 env PMI_PORT=node:1 PMI_ID=0 "$PROGRAM"
	failed
	says '^torushmem: .*shmem_init: ' 'PMI_PORT=node:1' 'PMIx' 'oshrun'
}

@test "a PMIx server that is gone" {
	uri='gone.0;tcp4://127.0.0.1:1'
	run timeout -k 2 20 env PMIX_NAMESPACE=gone PMIX_RANK=0 PMIX_SERVER_URI41="$uri" PMIX_SERVER_URI4="$uri" \
		PMIX_SERVER_URI3="$uri" PMIX_SERVER_URI21="$uri" PMIX_SERVER_URI2="$uri" "$PROGRAM"
	nothing_left
	failed
	says '^torushmem: .*shmem_init: ' 'PMIx'
}

# limited_job LIMIT MISTAKE: of two PEs, by a shell that applies the limit (an option of
# ulimit and its value) first.
limited_job()
{
	# shellcheck disable=SC2016 # for the inner shell
	run timeout -k 2 20 bash -c 'ulimit $1 && shift && exec "$@"' bash "$1" "$OSHRUN" -n 2 "$PROGRAM" "${@:2}"
	nothing_left
}

@test "ulimit -f: no shared memory of the size that is needed" {
	export SHMEM_PATHS=local
	limited_job '-Sf 1' none
	failed
	says '^torushmem: PE [01]: shmem_init: the heap needs a file of 1\.[0-9]+ GiB in shared memory, and ulimit -f allows less' 'raise ulimit -f'
	export SHMEM_PATHS=ucx UCX_TLS=tcp,self
	limited_job '-Sf 1' none
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	[ -e "$TOP_BUILDDIR/.libs/libtofucom.so" ] || return 0
	unset SHMEM_PATHS UCX_TLS
	export SHMEM_PATHS=tofu SOFTOFU_SHAPE=2x2x1x1x1x1
	for SOFTOFU_RUN_DIRECTORY in '' "$BATS_TEST_TMPDIR"; do
		[ -z "$SOFTOFU_RUN_DIRECTORY" ] || export SOFTOFU_RUN_DIRECTORY
		limited_job '-Sf 1' none
		failed
		echo "$output"
		grep -Eq '^softofu: the job needs a file of [0-9]+ bytes in shared memory, and ulimit -f allows less; raise ulimit -f$' <<<"$output"
	done
}

@test "ulimit -f: other files of a PE" {
	export SHMEM_PATHS=ucx UCX_TLS=tcp,self
	limited_job '-Sf 1' write-much
	[ "$status" -eq 153 ]
	says '^oshrun: PE 1 .*was killed by signal 25 .*; ulimit -f limits the size of its files and shared memory'
}

@test "global data that cannot be shared, and no network for it" {
	export SHMEM_PATHS=local
	SHMEM_SHARE_GLOBALS=no fails none '^torushmem: PE 0: shmem_init: global data that is not in shared memory \(SHMEM_SHARE_GLOBALS\) needs a network' 'SHMEM_PATHS=local'
	echo '#include <shmem.h>
	static char big[400 << 20];
	int main(void) { shmem_init(); big[0] = 1; shmem_finalize(); }' >"$BATS_TEST_TMPDIR/big.c"
	"$OSHCC" -o "$BATS_TEST_TMPDIR/big" "$BATS_TEST_TMPDIR/big.c"
	# shellcheck disable=SC2016 # for the inner shell
	SHMEM_SYMMETRIC_SIZE=1m run bash -c 'ulimit -f 300000; exec timeout -k 2 20 "$@"' bash "$OSHRUN" -n 2 "$BATS_TEST_TMPDIR/big"
	failed
	says '^torushmem: PE 0: shmem_init: global data that is not in shared memory \(ulimit -f allows no file of its size\)' 'ucx'
}

@test "messages must go over cables, and none lead to a host" {
	export SHMEM_PATHS=cables SHMEM_NODE_PES=1 SHMEM_CABLES_ONLY=yes
	job 2 none
	failed
	says '^torushmem: PE [01]: shmem_init: SHMEM_CABLES_ONLY=yes, and no cables lead from [^ ]+ to [^ ]+ \(PE [01]\); see torusplan discover' 'SHMEM_CABLES_ONLY=no'
	SHMEM_TORUS=2 job 2 none
	[ "$status" -eq 0 ]
}

@test "libfabric without memory: what to do" {
	grep -q 'HAVE_OFI 1' "$TOP_BUILDDIR/config.h" || skip "this build has no libfabric"
	export SHMEM_PATHS=ofi FI_PROVIDER=tcp SHMEM_SYMMETRIC_SIZE=8m
	# Where the library is larger, it is not even loaded.
	for limit in 60000 115000; do
		limited_job "-d $limit" none
		failed
		says '^torushmem: PE [01]: .*(fi_[a-z_]+ failed|cannot be loaded) \(lib.*\); its memory is limited; raise ulimit -d$'
	done
}

@test "a UCX that cannot be loaded: why, and what to do" {
	export SHMEM_PATHS=ucx LD_LIBRARY_PATH="$BATS_TEST_TMPDIR${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
	limited_job '-d 60000' none
	failed
	says '^torushmem: PE [01]: shmem_init: UCX cannot be loaded \(.*\); its memory is limited; raise ulimit -d$'
	echo 'no library' >"$BATS_TEST_TMPDIR/libucp.so.0"
	fails none '^torushmem: PE [01]: shmem_init: UCX cannot be loaded \(.*\); the file is there and cannot be used'
	rm "$BATS_TEST_TMPDIR/libucp.so.0"
	echo 'void needed(void) {}' | ${CC:-gcc} -shared -fPIC -x c - -o "$BATS_TEST_TMPDIR/libneeded.so"
	echo 'void needed(void); void f(void) { needed(); }' |
		${CC:-gcc} -shared -fPIC -x c - -o "$BATS_TEST_TMPDIR/libucp.so.0" -L"$BATS_TEST_TMPDIR" -lneeded
	rm "$BATS_TEST_TMPDIR/libneeded.so"
	fails none '^torushmem: PE [01]: shmem_init: UCX cannot be loaded \(libneeded.*\); install it'
}

@test "no /proc: the reason, and what to do" {
	unshare -m mount -t tmpfs none /proc 2>/dev/null || skip "needs the right to unshare mounts"
	# shellcheck disable=SC2016 # for the inner shell
	without_proc='mount -t tmpfs none /proc && exec timeout -k 2 20 "$@"'
	SHMEM_PATHS=local run unshare -m sh -c "$without_proc" sh "$OSHRUN" -n 2 "$PROGRAM" none
	nothing_left
	failed
	says '^torushmem: PE [01]: the memory of PE [01] on this node cannot be mapped, because /proc is not mounted' 'mount -t proc' 'SHMEM_PATHS=ucx'
	[ -e "$TOP_BUILDDIR/.libs/libtofucom.so" ] || return 0
	SHMEM_PATHS=tofu SOFTOFU_SHAPE=2x2x1x1x1x1 run unshare -m sh -c "$without_proc" sh "$OSHRUN" -n 2 "$PROGRAM" none
	failed
	echo "$output"
	grep -Eq '^softofu: .* do not find each other \(/proc and sockets are needed\)' <<<"$output"
	[[ "$output" != *'its process has ended'* ]]
}

# Enough of a UCX for its version to be seen.
@test "a UCX that is too old" {
	export SHMEM_PATHS=ucx LD_LIBRARY_PATH="$BATS_TEST_TMPDIR${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
	echo 'void ucp_get_version(unsigned *a, unsigned *b, unsigned *c) { *a = 1, *b = 10, *c = 0; }' |
		${CC:-gcc} -shared -fPIC -x c - -o "$BATS_TEST_TMPDIR/libucp.so.0"
	fails none '^torushmem: PE [01]: shmem_init: UCX 1\.10 crashes' '1\.13 or later'
}

# A job with SHMEM_CHECK, less what oshrun says where cores are few, and with SHMEM_DEBUG what that
# says of each PE's memory.
checked_job()
{
	[ -n "${SHMEM_DEBUG+set}" ] || export SHMEM_CHECK=1
	job "$@"
	output=$(printf '%s\n' "$output" | grep -Ev '^torushmem: PE [0-9]+: heap of |not binding$' || :)
}

# differs MISTAKE ROUTINE TEXT...: of three PEs the last, which passes something
# else than PE 0, says what.
differs()
{
	checked_job 3 "$1"
	failed
	says "^torushmem: PE 2: $2: " 'PE 0' "${@:3}"
}

@test "SHMEM_CHECK finds no fault with calls that agree" {
	checked_job 2 none
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "SHMEM_CHECK: memory routines with different sizes or blocks" {
	differs malloc-size shmem_malloc 'size is 200 here and 100 on PE 0' 'must pass the same'
	differs calloc-count shmem_calloc 'size is 300 here and 400 on PE 0'
	differs align-size shmem_align 'size is 200 here and 100 on PE 0'
	differs align-alignment shmem_align 'alignment is 128 here and 64 on PE 0'
	differs malloc-nothing shmem_malloc 'size is 0 here and 100 on PE 0'
	differs calloc-nothing shmem_calloc 'size is 0 here and 100 on PE 0'
	differs hints-other shmem_malloc_with_hints 'hints is 2 here and 1 on PE 0'
	differs hints-size shmem_malloc_with_hints 'size is 200 here and 100 on PE 0'
	differs realloc-size shmem_realloc 'size is 200 here and 100 on PE 0'
	differs free-other shmem_free 'another collective' 'same order'
}

@test "SHMEM_CHECK: splits with different arguments" {
	differs split-start shmem_team_split_strided 'start is 1 here and 0 on PE 0' 'must pass the same'
	differs split-stride shmem_team_split_strided 'stride is 2 here and 1 on PE 0'
	differs split-size shmem_team_split_strided 'size is 2 here and 1 on PE 0'
	differs split-xrange shmem_team_split_2d 'xrange is 2 here and 1 on PE 0'
}

@test "SHMEM_CHECK: broadcasts that differ" {
	differs broadcast-root shmem_long_broadcast 'PE_root is 1 here and 0 on PE 0' 'must pass the same'
	differs broadcast-size shmem_long_broadcast 'bytes is 24 here and 16 on PE 0'
	differs broadcast-dest shmem_long_broadcast 'dest=0x[0-9a-f]+ is a different object'
	differs broadcast-type shmem_int_broadcast 'another collective'
}

@test "SHMEM_CHECK: collects and alltoalls that differ" {
	differs collect-dest shmem_long_collect 'dest=0x[0-9a-f]+ is a different object'
	differs fcollect-size shmem_long_fcollect 'bytes is 24 here and 16 on PE 0'
	differs fcollect-dest shmem_long_fcollect 'dest=0x[0-9a-f]+ is a different object'
	differs alltoall-size shmem_long_alltoall 'bytes is 24 here and 16 on PE 0'
	differs alltoall-dest shmem_long_alltoall 'dest=0x[0-9a-f]+ is a different object'
	differs alltoalls-size shmem_long_alltoalls 'nelems is 3 here and 2 on PE 0'
	differs alltoalls-dst shmem_long_alltoalls 'dst is 2 here and 1 on PE 0'
	differs alltoalls-sst shmem_long_alltoalls 'sst is 2 here and 1 on PE 0'
	differs alltoalls-dest shmem_long_alltoalls 'dest=0x[0-9a-f]+ is a different object'
}

@test "SHMEM_CHECK: reductions and scans that differ" {
	differs reduce-size shmem_long_sum_reduce 'elements is 3 here and 2 on PE 0'
	differs reduce-dest shmem_long_sum_reduce 'dest=0x[0-9a-f]+ is a different object'
	differs reduce-type shmem_int_sum_reduce 'another collective'
	differs reduce-op shmem_long_max_reduce 'another collective'
	differs inscan-size shmem_long_sum_inscan 'nelems is 3 here and 2 on PE 0'
	differs exscan-dest shmem_long_sum_exscan 'dest=0x[0-9a-f]+ is a different object'
	differs scan-kind shmem_long_sum_inscan 'another collective'
}

@test "SHMEM_CHECK: different collectives" {
	differs collective shmem_long_collect 'another collective' 'same order'
	differs sync shmem_long_fcollect 'in another collective, shmem_team_sync;'
	differs sync-malloc shmem_malloc 'in another collective, shmem_barrier_all;'
	differs sync-first shmem_sync_all 'in another collective, shmem_barrier_all;'
}

@test "SHMEM_CHECK: one complaint where all differ from the first" {
	checked_job 4 all-but-first
	failed
	says '^torushmem: PE 1: shmem_long_fcollect: ' 'bytes is 16 here and 24 on PE 0'
	[ "$(grep -c '^torushmem: ' <<<"$output")" -eq 1 ]
}

@test "SHMEM_CHECK: active sets" {
	differs old-broadcast-root shmem_broadcast64 'PE_root is 1 here and 0 on PE 0'
	differs old-broadcast-size shmem_broadcast64 'bytes is 24 here and 16 on PE 0'
	differs old-broadcast-dest shmem_broadcast64 'dest=0x[0-9a-f]+ is a different object'
	differs old-collect-dest shmem_collect32 'dest=0x[0-9a-f]+ is a different object'
	differs old-fcollect-size shmem_fcollect32 'bytes is 12 here and 8 on PE 0'
	differs old-alltoall-size shmem_alltoall64 'bytes is 24 here and 16 on PE 0'
	differs old-alltoalls-dst shmem_alltoalls64 'dst is 2 here and 1 on PE 0'
	differs old-alltoalls-sst shmem_alltoalls64 'sst is 2 here and 1 on PE 0'
	differs old-reduce-size shmem_long_sum_to_all 'elements is 3 here and 2 on PE 0'
	differs old-reduce-op shmem_long_max_to_all 'another collective'
}

@test "SHMEM_CHECK: PE 0 is the one that differs" {
	for mistake in malloc-size broadcast-root old-reduce-size; do
		checked_job 2 "$mistake" first
		failed
		says '^torushmem: PE 1: shmem_' ' is [0-9]+ here and [0-9]+ on PE 0'
	done
}

@test "SHMEM_CHECK: the same over UCX" {
	export SHMEM_PATHS=ucx UCX_TLS=tcp,self
	differs malloc-size shmem_malloc 'size is 200 here and 100 on PE 0'
	differs broadcast-root shmem_long_broadcast 'PE_root is 1 here and 0 on PE 0'
	differs reduce-op shmem_long_max_reduce 'another collective'
	differs old-broadcast-size shmem_broadcast64 'bytes is 24 here and 16 on PE 0'
}

@test "SHMEM_CHECK: plans that differ" {
	differs plans-root shmemx_broadcast_init 'PE_root is 1 here and 0 on PE 0'
	differs plans-bytes shmemx_broadcast_init 'bytes is 24 here and 16 on PE 0'
	differs plans-reduce-root shmemx_reduce_init 'PE_root is 1 here and 0 on PE 0'
	differs plans-count shmemx_allreduce_init 'elements is 3 here and 2 on PE 0'
	differs plans-op shmemx_allreduce_init 'op is [0-9]+ here and [0-9]+ on PE 0'
	differs plans-type shmemx_allreduce_init 'type is [0-9]+ here and [0-9]+ on PE 0'
	differs plans-executor shmemx_allgather_init 'executor is [0-9]+ here and [0-9]+ on PE 0'
	differs plans-alltoall shmemx_alltoall_init 'bytes is 24 here and 16 on PE 0'
	differs plans-free shmemx_plan_free "the plan's number among those of its team is 2 here and 1 on PE 0"
}

# all_find MISTAKE ROUTINE TEXT...: all PEs make the mistake, and PE 0 says so.
all_find()
{
	checked_job 3 "$1"
	failed
	says "^torushmem: PE 0: $2: " "${@:3}"
}

@test "SHMEM_CHECK: source and dest overlap" {
	for pair in reduce:shmem_long_sum_reduce scan:shmem_long_sum_inscan broadcast:shmem_long_broadcast old:shmem_long_sum_to_all; do
		all_find "overlap-${pair%:*}" "${pair#*:}" 'source=0x[0-9a-f]+ of 16 bytes overlaps dest=0x[0-9a-f]+ of 16 bytes' 'the same address'
	done
	all_find overlap-plan shmemx_allreduce_init 'source=0x[0-9a-f]+ of 16 bytes overlaps dest=0x[0-9a-f]+ of 16 bytes' 'the same address'
	for pair in fcollect:shmem_long_fcollect collect:shmem_long_collect alltoall:shmem_long_alltoall alltoalls:shmem_long_alltoalls; do
		all_find "overlap-${pair%:*}" "${pair#*:}" 'source=0x[0-9a-f]+ of [0-9]+ bytes overlaps dest=0x[0-9a-f]+ of 48 bytes'
	done
	checked_job 3 overlap-right
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "SHMEM_CHECK: pSync that is not initialised, or in use" {
	all_find psync-new shmem_fcollect64 'pSync\[0\]=-1 is not SHMEM_SYNC_VALUE, which is 0' 'initialise'
	all_find psync-changed shmem_fcollect64 'pSync\[0\]=-1 is not SHMEM_SYNC_VALUE'
	for settings in SHMEM_PATHS=local SHMEM_PATHS=ucx; do
		export "${settings?}"
		checked_job 3 psync-again
		failed
		says '^torushmem: PE [0-2]: shmem_broadcast64: ' 'pSync=0x[0-9a-f]+: PE [0-2] has not returned yet from an earlier call' 'synchronise'
		for right in psync-again-right psync-sync-right; do
			checked_job 3 "$right"
			[ "$status" -eq 0 ]
			[ -z "$output" ]
		done
	done
}

# blocked MISTAKE ROUTINE ARGUMENT TEXT...: of two PEs the last uses heap
# memory that is in no block.
blocked()
{
	checked_job 2 "$1"
	failed
	says "^torushmem: PE [01]: $2: $3=0x[0-9a-f]+ \\(offset [0-9]+ of the symmetric heap\\): " "${@:4}"
}

@test "SHMEM_CHECK: memory that was freed" {
	freed='this memory was freed: it is byte 0 of a block of 100 bytes that shmem_free gave back'
	blocked freed-put shmem_long_put dest 'it is byte 8 of a block of 100 bytes that shmem_free gave back; free a block after'
	blocked freed-get shmem_long_get source "$freed"
	blocked freed-p shmem_long_p dest "$freed"
	blocked freed-iput shmem_long_iput dest "$freed"
	blocked freed-source shmem_long_put source "$freed"
	blocked freed-dest shmem_long_get_nbi dest "$freed"
	blocked freed-atomic shmem_long_atomic_inc dest "$freed"
	blocked freed-signal shmem_long_put_signal sig_addr "$freed"
	blocked freed-wait shmem_long_wait_until ivar "$freed"
	blocked freed-lock shmem_set_lock lock "$freed"
	blocked freed-reduce shmem_long_sum_reduce dest "$freed"
	blocked freed-broadcast shmem_long_broadcast source "$freed"
	blocked freed-generic shmem_long_put dest 'it is byte 8 of a block of 100 bytes that shmem_free gave back'
	blocked freed-generic-wait shmem_long_wait_until ivar "$freed"
	blocked freed-generic-reduce shmem_long_sum_reduce dest "$freed"
	blocked freed-moved shmem_putmem dest 'byte 10 of a block of 1000 bytes that shmem_realloc gave back'
}

@test "SHMEM_CHECK: memory that is in no block, or in two" {
	blocked past-count shmem_long_put dest '96 bytes from there run past the end of the block of 100 bytes at 0x' 'byte 8; check the count'
	blocked past-index shmem_long_p dest 'it lies 4 bytes behind the end of the block of 100 bytes at 0x' 'check the index'
	blocked past-next shmem_long_p dest 'it lies 8 bytes behind the end of the block of 200 bytes'
	blocked past-shrunk shmem_putmem dest '11 bytes from there run past the end of the block of 300 bytes'
	checked_job 2 blocks-right
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "SHMEM_CHECK: a wait for a private variable that has its value already" {
	export SHMEM_CHECK=1
	fails wait-private-over '^torushmem: PE 1: shmem_long_wait_until: ' 'ivar=0x' 'symmetric'
	fails test-private-over '^torushmem: PE 1: shmem_long_test: ' 'ivar=0x' 'symmetric'
	fails wait-signal-over '^torushmem: PE 1: shmem_signal_wait_until: ' 'sig_addr=0x' 'symmetric'
}

@test "a context that was destroyed" {
	over='ctx=0x[0-9a-f]+: this context was destroyed; use it before shmem_ctx_destroy'
	fails context-put '^torushmem: PE 1: shmem_ctx_long_put: ' "$over"
	fails context-private '^torushmem: PE 1: shmem_ctx_long_put: ' "$over"
	fails context-generic '^torushmem: PE 1: shmem_ctx_long_put: ' "$over"
	fails context-generic-atomic '^torushmem: PE 1: shmem_ctx_long_atomic_fetch_add: ' "$over"
	fails context-team-put '^torushmem: PE 1: shmem_ctx_long_put: ' 'ctx=0x[0-9a-f]+: the team of this context was destroyed'
	fails context-atomic '^torushmem: PE 1: shmem_ctx_long_atomic_inc: ' "$over"
	fails context-get '^torushmem: PE 1: shmem_ctx_long_g: ' "$over"
	fails context-fence '^torushmem: PE 1: shmem_ctx_fence: ' "$over"
	fails context-quiet '^torushmem: PE 1: shmem_ctx_quiet: ' "$over"
	fails context-team '^torushmem: PE 1: shmem_ctx_get_team: ' "$over"
	fails context-twice '^torushmem: PE 1: shmem_ctx_destroy: ' "$over"
}

@test "a team that was destroyed" {
	over='team=0x[0-9a-f]+: this team was destroyed; use it before shmem_team_destroy'
	fails team-pe '^torushmem: PE 1: shmem_team_my_pe: ' "$over"
	fails team-translate '^torushmem: PE 1: shmem_team_translate_pe: ' "$over"
	fails team-context '^torushmem: PE 1: shmem_team_create_ctx: ' "$over"
	fails team-sync '^torushmem: PE [01]: shmem_team_sync: ' "$over"
	fails team-reduce '^torushmem: PE [01]: shmem_long_sum_reduce: ' "$over"
	fails team-generic '^torushmem: PE [01]: shmem_long_sum_reduce: ' "$over"
	fails team-split '^torushmem: PE [01]: shmem_team_split_strided: ' "$over"
	fails team-twice '^torushmem: PE [01]: shmem_team_destroy: ' "$over"
}

@test "freed memory, destroyed contexts and teams on other paths; a context that ends after its team" {
	paths=(SHMEM_PATHS=local 'SHMEM_PATHS=ucx UCX_TLS=tcp,self')
	[ ! -e "$TOP_BUILDDIR/.libs/libtofucom.so" ] || paths+=('SHMEM_PATHS=tofu SOFTOFU_SHAPE=2x2x1x1x1x1')
	for path in "${paths[@]}"; do
		for setting in $path; do
			export "${setting?}"
		done
		job 2 context-after-team
		[ "$status" -eq 0 ]
		[ -z "$output" ]
		fails context-private '^torushmem: PE 1: shmem_ctx_long_put: ctx=0x[0-9a-f]+: this context was destroyed'
		fails context-quiet '^torushmem: PE 1: shmem_ctx_quiet: ctx=0x[0-9a-f]+: this context was destroyed'
		fails team-sync '^torushmem: PE [01]: shmem_team_sync: team=0x[0-9a-f]+: this team was destroyed'
		blocked freed-put shmem_long_put dest 'it is byte 8 of a block of 100 bytes that shmem_free gave back'
		blocked freed-atomic shmem_long_atomic_inc dest 'this memory was freed'
		unset SHMEM_CHECK SHMEM_PATHS UCX_TLS SOFTOFU_SHAPE FI_PROVIDER
	done
}

@test "an exchange that was destroyed" {
	fails destroyed-start '^torushmem: PE 1: shmemx_exchange_start: ' 'exchange=0x[0-9a-f]+ was destroyed'
	fails destroyed-all '^torushmem: PE 1: shmemx_exchange_start: ' 'exchange=0x[0-9a-f]+ was destroyed'
	fails destroyed-wait '^torushmem: PE 1: shmemx_exchange_wait: ' 'was destroyed'
	fails destroyed-test '^torushmem: PE 1: shmemx_exchange_test: ' 'was destroyed'
	fails destroyed-buffer '^torushmem: PE 1: shmemx_exchange_buffer: ' 'was destroyed'
	fails destroyed-twice '^torushmem: PE 0: shmemx_exchange_destroy: ' 'was destroyed already'
}

@test "SHMEM_DEBUG goes with SHMEM_CHECK, unless that is set itself" {
	export SHMEM_DEBUG=1
	differs broadcast-root shmem_long_broadcast 'PE_root is 1 here and 0 on PE 0'
	export SHMEM_CHECK=no
	checked_job 3 sync-first
	[[ "$output" != *'another collective'* ]]
}

@test "SHMEM_CHECK: bad values" {
	export SHMEM_CHECK=perhaps
	fails none '^torushmem: PE 0: shmem_init: ' 'SHMEM_CHECK=perhaps: give yes or no'
	export SHMEM_CHECK=yes SHMEM_CHECK_SEED=x
	fails none '^torushmem: PE 0: shmem_init: ' 'SHMEM_CHECK_SEED=x: give a number'
}
