#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Jobs that cannot go on end by themselves, and say why; jobs that only wait for
# long go on. On each path.
# run: beside

bats_require_minimum_version 1.5.0

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
	export OSHRUN="${OSHRUN:-$TOP_BUILDDIR/oshrun}" OSHCC="${OSHCC:-$TOP_BUILDDIR/oshcc}"
	export PROGRAM="$BATS_FILE_TMPDIR/deadlock"
	unset "${!SHMEM_@}" "${!SMA_@}" "${!UCX_@}"
	"$OSHCC" -D_GNU_SOURCE -O1 -pthread -o "$PROGRAM" "${BATS_TEST_FILENAME%/*}/deadlock.c"
}

# one_job PATH CAUSE SETTING...: in the background; what it says is in the file CAUSE.PATH
one_job()
{
	{
		code=0
		env "${@:3}" timeout -k 2 40 "$OSHRUN" -q -n 4 "$PROGRAM" "$2" 2>&1 || code=$?
		echo "code $code"
	} >"$BATS_TEST_TMPDIR/$2.$1" 3>&- &
}

# run_jobs CAUSE...: each on all paths, at the same time
run_jobs()
{
	local cause

	for cause in "$@"; do
		one_job local "$cause" SHMEM_PATHS=local
		one_job ucx "$cause" SHMEM_PATHS=ucx UCX_TLS=tcp,self
		one_job mixed "$cause" SHMEM_NODE_PES=2
		[ ! -e "$TOP_BUILDDIR/.libs/libtofucom.so" ] || one_job tofu "$cause" SHMEM_PATHS=tofu SOFTOFU_SHAPE=2x2
		! grep -q 'HAVE_OFI 1' "$TOP_BUILDDIR/config.h" || one_job ofi "$cause" SHMEM_PATHS=ofi FI_PROVIDER=tcp
	done
	wait
}

# run_shared CAUSE...: on the paths where PEs share memory
run_shared()
{
	local cause

	for cause in "$@"; do
		one_job local "$cause" SHMEM_PATHS=local
		one_job mixed "$cause" SHMEM_NODE_PES=2
	done
	wait
}

# ended CAUSE LINE...: on each path the job ended with the report, which has
# each of the lines (patterns)
ended()
{
	local said line

	for said in "$BATS_TEST_TMPDIR/$1".*; do
		printf '%s: %s\n' "${said##*/}" "$(cat "$said")"
		[ "$(tail -n 1 "$said")" = 'code 1' ]
		[ "$(grep -c 'deadlock: all 4 PEs wait' "$said")" -eq 1 ]
		for line in "${@:2}"; do
			grep -Eq "hang report: $line" "$said"
		done
	done
}

# went_on CAUSE: on each path the job ended well and said nothing
went_on()
{
	local said

	for said in "$BATS_TEST_TMPDIR/$1".*; do
		printf '%s: %s\n' "${said##*/}" "$(cat "$said")"
		[ "$(cat "$said")" = 'code 0' ]
	done
}

@test "a collective that one PE does not call" {
	run_jobs barrier sync reduce
	ended barrier 'PEs 0,2-3: in shmem_barrier_all, waiting for PE 1, ' 'PE 1: in shmem_finalize, waiting for PEs 0,2-3, '
	ended sync 'PEs 0,2-3: in shmem_sync_all, waiting for PE 1, ' 'PE 1: in shmem_finalize, '
	ended reduce 'PE.*: in shmem_long_sum_reduce, waiting for PE' 'PE.* in shmem_finalize, '
	run_jobs fcollect alltoall scan
	ended fcollect 'PE.*: in shmem_long_fcollect, waiting for PE' 'PE.* in shmem_finalize, '
	ended alltoall 'PE.*: in shmem_long_alltoall, waiting for PE' 'PE.* in shmem_finalize, '
	ended scan 'PE.*: in shmem_long_sum_inscan, waiting for PE' 'PE.* in shmem_finalize, '
}

@test "an allocation, or a barrier, that not all PEs call" {
	run_jobs malloc free alone
	ended malloc 'PEs 0,2-3: in shmem_malloc, waiting for PE 1, ' 'PE 1: in shmem_finalize, '
	ended free 'PEs 0,2-3: in shmem_free, waiting for PE 1, ' 'PE 1: in shmem_finalize, '
	ended alone 'PE 1: in shmem_barrier_all, waiting for PEs 0,2-3, ' 'PEs 0,2-3: in shmem_finalize, waiting for PE 1, '
}

@test "a value, a signal, a lock that nobody gives" {
	run_jobs first value vector signal all-wait lock
	ended first 'PEs 0,2-3: in shmem_long_wait_until, ' 'PE 1: in shmem_calloc, '
	ended value 'PEs 0,2-3: in shmem_long_wait_until, waiting for the word at' 'PE 1: in shmem_finalize, waiting for PEs 0,2-3, '
	ended vector 'PEs 0,2-3: in shmem_long_wait_until_all_vector, ' 'PE 1: in shmem_finalize, '
	ended signal 'PEs 0,2-3: in shmem_signal_wait_until, ' 'PE 1: in shmem_finalize, '
	ended all-wait 'PEs 0,2-3: in shmem_long_wait_until, ' 'PE 1: in shmem_signal_wait_until, '
	ended lock 'PEs 0,2-3: in shmem_set_lock, waiting for the lock at .*, which PE 1 holds, ' 'PE 1: in shmem_finalize, '
}

@test "a PE that computes, sends late, is stopped; a thread and a handler of the program that give the value" {
	run_jobs late sender stopped thread handler
	went_on late
	went_on sender
	went_on stopped
	went_on thread
	went_on handler
}

@test "signal handlers, whatever the signal, and a PE in a barrier whose handler or thread stores" {
	run_jobs sigchld sigterm
	run_shared barrier-handler barrier-thread barrier-child
	for cause in sigchld sigterm barrier-handler barrier-thread barrier-child; do
		went_on "$cause"
	done
}

@test "a child, a process with the same memory, one that writes to a PE, and the kernel" {
	run_jobs clone writer kernel
	run_shared child mapper
	for cause in clone writer kernel child mapper; do
		went_on "$cause"
	done
}

@test "a handler that could end the wait: one report, and the job goes on" {
	run -124 timeout -k 2 30 "$OSHRUN" -q --timeout 8 -n 4 "$PROGRAM" unused-handler
	echo "$output"
	[ "$(grep -c 'perhaps a deadlock: all 4 PEs wait' <<<"$output")" -eq 1 ]
	[[ "$output" == *'PE 1 found what could still end a wait: the handler of signal 10 (User defined signal 1); so the job goes on'* ]]
	run -1 env SHMEM_DEADLOCK=abort timeout -k 2 30 "$OSHRUN" -q -n 4 "$PROGRAM" unused-handler
	[ "$(grep -c 'deadlock: all 4 PEs wait' <<<"$output")" -eq 1 ]
}

@test "a child that could end the wait: when it has ended, the job ends" {
	run_jobs beside-child
	ended beside-child 'PE 1: in shmem_long_wait_until'
}

@test "a Fortran program, whose run-time library handles signals" {
	[ -x "$TOP_BUILDDIR/oshfort" ] || skip 'Fortran was not built'
	cat >"$BATS_TEST_TMPDIR/hang.f90" <<-'END'
		program hang
		  use shmem
		  integer(8), save :: flag = 0
		  call shmem_init()
		  call shmem_barrier_all()
		  call shmem_int8_wait_until(flag, SHMEM_CMP_EQ, 7_8)
		  call shmem_finalize()
		end program
	END
	"$TOP_BUILDDIR/oshfort" -o "$BATS_TEST_TMPDIR/hang" "$BATS_TEST_TMPDIR/hang.f90"
	run -1 timeout -k 2 30 "$OSHRUN" -q -n 2 "$BATS_TEST_TMPDIR/hang"
	echo "$output"
	[ "$(grep -c 'deadlock: all 2 PEs wait' <<<"$output")" -eq 1 ]
}

@test "a report alone, and nothing at all" {
	SHMEM_DEADLOCK=ignore timeout -k 2 20 "$OSHRUN" -q --timeout 3 -n 4 "$PROGRAM" alone >"$BATS_TEST_TMPDIR/ignored" 2>&1 3>&- &
	run -124 env SHMEM_DEADLOCK=report timeout -k 2 20 "$OSHRUN" -q --timeout 3 -n 4 "$PROGRAM" alone
	[ "$(grep -c 'deadlock: all 4 PEs wait' <<<"$output")" -eq 1 ]
	wait
	run ! grep deadlock: "$BATS_TEST_TMPDIR/ignored"
	grep -q 'did not end within 3 s' "$BATS_TEST_TMPDIR/ignored"
	run -1 env SHMEM_DEADLOCK=perhaps "$OSHRUN" -q -n 2 "$PROGRAM"
	[ "${#lines[@]}" -eq 1 ]
	[[ "$output" == *'SHMEM_DEADLOCK=perhaps: give auto, abort, report or ignore'* ]]
}

@test "PEs that shells start" {
	run -1 timeout -k 2 20 "$OSHRUN" -q -n 2 sh -c '"$PROGRAM" value; exit 3'
	[ "$(grep -c 'deadlock: all 2 PEs wait' <<<"$output")" -eq 1 ]
}

@test "one PE by itself" {
	run -1 timeout -k 2 20 "$OSHRUN" -q -n 1 "$PROGRAM" value
	[[ "$output" == *'PE 0: in shmem_long_wait_until, waiting for the word at'*'deadlock: all 1 PEs wait'* ]]
}
