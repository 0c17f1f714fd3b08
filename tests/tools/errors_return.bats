#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# run: beside
#
# Jobs whose errors return: PEs that are lost, do not answer, or make mistakes, and the next jobs of
# the survivors.

bats_require_minimum_version 1.5.0

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
	export OSHCC="${OSHCC:-$TOP_BUILDDIR/oshcc}" ERRORS=$BATS_FILE_TMPDIR/errors
	unset "${!SHMEM_@}" "${!SMA_@}" "${!UCX_@}" "${!PMIX_@}" "${!SLURM_@}" "${!OMPI_@}" "${!PMI_@}" RANK WORLD_SIZE
	"$OSHCC" -O1 -o "$ERRORS" "$BATS_TEST_DIRNAME/progs/errors_return.c"
}

setup()
{
	cd "$BATS_TEST_TMPDIR" || return
}

# The last PE stops itself, and is ended when the others have ended.
await_survivors()
{
	local rank

	for ((rank = 2; rank <= $1; rank++)); do
		wait "${!rank}" || true
	done
	pkill -KILL -P "${!#}" || true
}

# by_hand PES WHAT [JOBS]: the exit codes into codes, what each prints into said.RANK
by_hand()
{
	local rank pids=()

	rm -f id.*
	for ((rank = 0; rank < $1; rank++)); do
		timeout -s KILL 20 "$ERRORS" . "$rank" "$@" >"said.$rank" 2>&1 &
		pids+=($!)
	done
	codes=
	[ -z "$SILENCE" ] || await_survivors "$1" "${pids[@]}"
	for ((rank = 0; rank < $1; rank++)); do
		wait "${pids[rank]}" && codes+=' 0' || codes+=" $?"
	done
}

# said RANK TEXT: what the PE says begins so
said()
{
	grep -F "$2" "said.$1" || { cat said.*; false; }
}

@test "a PE is lost: every wait of the others returns, and they know which" {
	for what in barrier wait reduce collect alltoall puts lock malloc exchange; do
		by_hand 3 $what
		[ "$codes" = ' 0 0 137' ]
		for rank in 0 1; do
			# In the others a PE may ask for the error between two calls.
			case $what in
			puts | exchange | lock | malloc) ;;
			*) said $rank "PE $rank job 0: kind 1, PE 2, routine shmem_" ;;
			esac
			said $rank 'kind 1, PE 2, routine '
			said $rank ', in time: torushmem: PE 0: PE 2 (pid '
			[ "$(wc -l <said.$rank)" -eq 1 ]
		done
	done
}

@test "a PE makes a mistake: all PEs return, and know the sentence" {
	by_hand 3 misuse
	[ "$codes" = ' 0 0 0' ]
	for rank in 0 1 2; do
		said $rank "PE $rank job 0: kind 3, PE 2, routine shmem_long_p, in time: torushmem: PE 2: shmem_long_p: pe=3: there is no such PE; the job has PEs 0 to 2"
	done
}

@test "a PE is lost at any time in routines that act on what others bring: the others return" {
	for storm in 0 1 2 3 4 5 6; do
		by_hand 3 storm$storm
		[ "$codes" = ' 0 0 137' ]
		said 0 'PE 0 job 0: kind 1, PE 2, '
		said 1 'PE 1 job 0: kind 1, PE 2, '
	done
}

@test "mistakes in collectives, contexts, teams, plans, locks, heaps, grids, exchanges: the next job is whole" {
	by_hand 3 mistakes 22
	[ "$codes" = ' 0 0 0' ]
	for rank in 0 1 2; do
		[ "$(sed -n 's/.* kind 3, PE 2, routine \([a-z_0-9]*\), in time: torushmem: PE 2: \1: .*/\1/p' said.$rank | xargs)" = "shmem_long_alltoall shmem_long_broadcast shmem_long_alltoalls shmem_long_sum_reduce shmem_team_destroy shmemx_alltoallv shmemx_plan_start shmemx_broadcast_init shmem_set_lock shmem_long_put_signal shmemx_heap_malloc shmemx_grid_create shmemx_rdma_unregister shmemx_exchange_create shmem_barrier shmemx_grid_neighbour shmem_ctx_long_p shmem_ctx_long_atomic_fetch_inc shmem_ctx_destroy shmem_ctx_quiet shmem_ctx_long_get shmem_long_iput" ]
	done
}

@test "mistakes with an exchange, and one that SHMEM_CHECK finds: the next job is whole" {
	by_hand 2 misused 9
	[ "$codes" = ' 0 0' ]
	for rank in 0 1; do
		[ "$(sed -n 's/.* kind 3, PE 1, routine \([a-z_0-9]*\), in time: torushmem: PE 1: \1: .*/\1/p' said.$rank | xargs)" = "shmemx_exchange_start shmemx_exchange_send shmemx_exchange_release shmemx_exchange_received shmemx_exchange_wait shmemx_exchange_sent shmemx_pack shmemx_exchange_buffer shmemx_exchange_start" ]
	done
	export SHMEM_CHECK=1
	by_hand 2 misplaced 2
	[ "$codes" = ' 0 0' ]
	[ "$(cat said.* | grep -c 'kind 3, PE 1, routine shmem_putmem, .*this memory is not allocated; it lies 128 bytes behind the end')" -eq 4 ]
}

@test "survivors start again without the lost PE, with a new id" {
	by_hand 4 barrier 3
	[ "$codes" = ' 0 137 137 137' ]
	said 0 'PE 0 job 0: kind 1, PE 3, routine shmem_barrier_all'
	said 0 'PE 0 job 1: kind 1, PE 2, routine shmem_barrier_all'
	said 0 'PE 0 job 2: kind 1, PE 1, routine shmem_barrier_all'
}

@test "a job of one PE, by the environment: mistakes return, and the next job is whole" {
	export SHMEM_ERRORS=return
	by_hand 1 misuse 3
	[ "$codes" = ' 0' ]
	[ "$(grep -c 'kind 3, PE 0, routine shmem_long_p' said.0)" -eq 3 ]
}

@test "errors that end the job end it as before" {
	export ENDS=yes
	by_hand 2 misuse
	[ "$codes" = ' 1 1' ]
	[ "$(cat said.*)" = 'torushmem: PE 1: shmem_long_p: pe=2: there is no such PE; the job has PEs 0 to 1' ]
}

@test "over networks: a PE is lost during puts, and the survivors start again" {
	export UCX_TLS=tcp,self FI_PROVIDER='tcp;ofi_rxm'
	for path in ucx ofi cables; do
		[ $path != ofi ] || grep -q 'define HAVE_OFI 1' "$TOP_BUILDDIR/config.h" || continue
		export SHMEM_PATHS=$path
		by_hand 3 puts 2
		[ "$codes" = ' 0 137 137' ]
		said 0 'PE 0 job 0: kind 1, PE 2, '
		said 0 'PE 0 job 1: kind 1, PE 1, '
	done
}

@test "a PE that does not answer breaks the job within the bound" {
	export SILENCE=1
	by_hand 3 barrier
	[ "$codes" = ' 0 0 137' ]
	for rank in 0 1; do
		said $rank "PE $rank job 0: kind 2, PE 2, routine shmem_barrier_all, in time: torushmem: PE 0: PE 2 (pid "
		said $rank ') has not answered for 1 s'
	done
}

@test "memory of a PE that has left a broken job is its own" {
	"$OSHCC" -O1 -pthread -o late "$BATS_TEST_DIRNAME/progs/late_stores.c"
	export SHMEM_ERRORS=return SHMEM_START_SECONDS=10
	for how in alone threads; do
		rm -f finalized stored
		ROOT=127.0.0.1:$((20000 + (BASHPID * 7 + RANDOM) % 10000)) \
			run -0 timeout 30 "$BATS_TEST_DIRNAME/progs/start" 2 ./late $how
		[ -z "$output" ]
	done
}

@test "over networks: memory of a get that has returned from a broken job is the program's" {
	"$OSHCC" -O1 -pthread -o late "$BATS_TEST_DIRNAME/progs/late_stores.c"
	export SHMEM_ERRORS=return UCX_TLS=tcp,self FI_PROVIDER='tcp;ofi_rxm'
	for path in ucx ofi cables; do
		[ $path != ofi ] || grep -q 'define HAVE_OFI 1' "$TOP_BUILDDIR/config.h" || continue
		rm -f stopped through
		SHMEM_PATHS=$path ROOT=127.0.0.1:$((20000 + (BASHPID * 7 + RANDOM) % 10000)) \
			run -0 timeout 30 "$BATS_TEST_DIRNAME/progs/start" 3 ./late get nbi
		[ -z "$output" ]
	done
}
