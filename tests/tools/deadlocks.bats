#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Jobs that cannot go on end by themselves, and say why; jobs that only wait for long go on. On each path.

bats_require_minimum_version 1.5.0

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
	export OSHRUN="${OSHRUN:-$TOP_BUILDDIR/oshrun}" OSHCC="${OSHCC:-$TOP_BUILDDIR/oshcc}"
	export PROGRAM="$BATS_FILE_TMPDIR/deadlock"
	unset "${!SHMEM_@}" "${!SMA_@}" "${!UCX_@}"
	"$OSHCC" -O1 -pthread -o "$PROGRAM" "${BATS_TEST_FILENAME%/*}/deadlock.c"
}

# one_job NAME WAY SETTING...: in the background; what it says is in a file of that name
one_job()
{
	{
		code=0
		env "${@:3}" timeout -k 2 40 "$OSHRUN" -q -n 4 "$PROGRAM" "$2" 2>&1 || code=$?
		echo "code $code"
	} >"$BATS_TEST_TMPDIR/$1" 3>&- &
}

# on_each_path WAY
on_each_path()
{
	one_job local "$1" SHMEM_PATHS=local
	one_job ucx "$1" SHMEM_PATHS=ucx UCX_TLS=tcp,self
	one_job mixed "$1" SHMEM_NODE_PES=2
	[ ! -e "$TOP_BUILDDIR/.libs/libtofucom.so" ] || one_job tofu "$1" SHMEM_PATHS=tofu SOFTOFU_SHAPE=2x2
	wait
}

# ends WAY LINE...: on each path the job ends with the report, which has each of the lines (patterns)
ends()
{
	local path line

	on_each_path "$1"
	shift
	for path in local ucx mixed tofu; do
		[ -e "$BATS_TEST_TMPDIR/$path" ] || continue
		printf '%s: %s\n' "$path" "$(cat "$BATS_TEST_TMPDIR/$path")"
		[ "$(tail -n 1 "$BATS_TEST_TMPDIR/$path")" = 'code 1' ]
		[ "$(grep -c 'deadlock: all 4 PEs wait' "$BATS_TEST_TMPDIR/$path")" -eq 1 ]
		for line in "$@"; do
			grep -Eq "hang report: $line" "$BATS_TEST_TMPDIR/$path"
		done
	done
}

# goes_on WAY: on each path the job ends well and says nothing
goes_on()
{
	local path

	on_each_path "$1"
	for path in local ucx mixed tofu; do
		[ -e "$BATS_TEST_TMPDIR/$path" ] || continue
		printf '%s: %s\n' "$path" "$(cat "$BATS_TEST_TMPDIR/$path")"
		[ "$(cat "$BATS_TEST_TMPDIR/$path")" = 'code 0' ]
	done
}

@test "a collective that one PE does not call" {
	ends barrier 'PEs 0,2-3: in shmem_barrier_all, waiting for PE 1, ' 'PE 1: in shmem_finalize, waiting for PEs 0,2-3, '
	ends sync 'PEs 0,2-3: in shmem_sync_all, waiting for PE 1, ' 'PE 1: in shmem_finalize, '
	ends reduce 'PE.*: in shmem_long_sum_reduce, waiting for PE' 'PE.* in shmem_finalize, '
	ends fcollect 'PE.*: in shmem_long_fcollect, waiting for PE' 'PE.* in shmem_finalize, '
	ends alltoall 'PE.*: in shmem_long_alltoall, waiting for PE' 'PE.* in shmem_finalize, '
	ends scan 'PE.*: in shmem_long_sum_inscan, waiting for PE' 'PE.* in shmem_finalize, '
}

@test "an allocation that one PE does not call" {
	ends malloc 'PEs 0,2-3: in shmem_malloc, waiting for PE 1, ' 'PE 1: in shmem_finalize, '
	ends free 'PEs 0,2-3: in shmem_free, waiting for PE 1, ' 'PE 1: in shmem_finalize, '
}

@test "a barrier that one PE alone calls" {
	ends alone 'PE 1: in shmem_barrier_all, waiting for PEs 0,2-3, ' 'PEs 0,2-3: in shmem_finalize, waiting for PE 1, '
}

@test "a value, a signal, a lock that nobody gives" {
	ends value 'PEs 0,2-3: in shmem_long_wait_until, waiting for the word at' 'PE 1: in shmem_finalize, waiting for PEs 0,2-3, '
	ends vector 'PEs 0,2-3: in shmem_long_wait_until_all_vector, ' 'PE 1: in shmem_finalize, '
	ends signal 'PEs 0,2-3: in shmem_signal_wait_until, ' 'PE 1: in shmem_finalize, '
	ends all-wait 'PEs 0,2-3: in shmem_long_wait_until, ' 'PE 1: in shmem_signal_wait_until, '
	ends lock 'PEs 0,2-3: in shmem_set_lock, waiting for the lock at .*, which PE 1 holds, ' 'PE 1: in shmem_finalize, '
}

@test "a PE that computes, or sends late" {
	goes_on late
	goes_on sender
}

@test "a thread and a handler of the program that give the value" {
	goes_on thread
	goes_on handler
}

@test "a PE that is stopped for a while" {
	goes_on stopped
}

@test "a report alone, and nothing at all" {
	run -124 env SHMEM_DEADLOCK=report timeout -k 2 20 "$OSHRUN" -q --timeout 4 -n 4 "$PROGRAM" alone
	[ "$(grep -c 'deadlock: all 4 PEs wait' <<<"$output")" -eq 1 ]
	run -124 env SHMEM_DEADLOCK=ignore timeout -k 2 20 "$OSHRUN" -q --timeout 4 -n 4 "$PROGRAM" alone
	[[ "$output" != *deadlock:* ]]
	run -1 env SHMEM_DEADLOCK=perhaps "$OSHRUN" -q -n 2 "$PROGRAM"
	[ "${#lines[@]}" -eq 1 ]
	[[ "$output" == *'SHMEM_DEADLOCK=perhaps: give abort, report or ignore'* ]]
}

@test "one PE by itself" {
	run -1 timeout -k 2 20 "$OSHRUN" -q -n 1 "$PROGRAM" value
	[[ "$output" == *'PE 0: in shmem_long_wait_until, waiting for the word at'*'deadlock: all 1 PEs wait'* ]]
}
