#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# A program that hangs: the report says who waits for what, and who is to blame, on each path.

bats_require_minimum_version 1.5.0

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
	export OSHRUN="${OSHRUN:-$TOP_BUILDDIR/oshrun}" OSHCC="${OSHCC:-$TOP_BUILDDIR/oshcc}"
	export PROGRAM="$BATS_FILE_TMPDIR/hang"
	unset "${!SHMEM_@}" "${!SMA_@}" "${!UCX_@}"
	"$OSHCC" -O1 -o "$PROGRAM" "${BATS_TEST_FILENAME%/*}/hang.c"
}

# hangs HOW LINE...: on each path, of four PEs, the report has each of the lines (patterns)
hangs()
{
	local how=$1 path line

	shift
	one_job local "$how" SHMEM_PATHS=local
	one_job ucx "$how" SHMEM_PATHS=ucx UCX_TLS=tcp,self
	one_job mixed "$how" SHMEM_NODE_PES=2
	[ ! -e "$TOP_BUILDDIR/.libs/libtofucom.so" ] || one_job tofu "$how" SHMEM_PATHS=tofu SOFTOFU_SHAPE=2x2
	wait
	for path in local ucx mixed tofu; do
		[ -e "$BATS_TEST_TMPDIR/$path" ] || continue
		printf '%s: %s\n' "$path" "$(cat "$BATS_TEST_TMPDIR/$path")"
		[ "$(tail -n 1 "$BATS_TEST_TMPDIR/$path")" = 'code 124' ]
		for line in "$@"; do
			grep -Eq "hang report: $line" "$BATS_TEST_TMPDIR/$path"
		done
	done
}

# one_job NAME HOW SETTING...: in the background; what it says is in a file of that name
one_job()
{
	{
		code=0
		env SHMEM_HANG_SECONDS=1 SHMEM_DEADLOCK=ignore "${@:3}" timeout -k 2 20 "$OSHRUN" -q --timeout 1.6 -n 4 "$PROGRAM" "$2" 2>&1 || code=$?
		echo "code $code"
	} >"$BATS_TEST_TMPDIR/$1" 3>&- &
}

@test "a PE that does not come to a barrier" {
	hangs missing 'PEs 0,2-3: in shmem_barrier_all, waiting for PE 1, for [1-3] s' 'PE 1: in user code, for at least [1-3] s'
}

@test "a PE in an endless loop" {
	hangs loop 'PEs 0,2-3: in shmem_barrier_all, waiting for PE 1, ' 'PE 1: in user code, '
}

@test "a value that nobody sends" {
	hangs value 'PEs 0,2-3: in shmem_long_wait_until, waiting for the word at global data \+ 0x[0-9a-f]+, which is -3, to be >= 7, ' \
		'PE 1: in shmem_barrier_all, waiting for PEs 0,2-3, '
}

@test "a signal that nobody sends" {
	hangs signal 'PEs 0,2-3: in shmem_signal_wait_until, waiting for the word at global data \+ 0x[0-9a-f]+, which is 0, to be == 1, '
}

@test "a lock that is never freed" {
	hangs lock 'PEs 0,2-3: in shmem_set_lock, waiting for the lock at global data \+ 0x[0-9a-f]+, which PE 1 holds, ' \
		'PE 1: in shmem_barrier_all, waiting for PEs 0,2-3, '
}

@test "collectives in another order" {
	hangs order 'PEs 0,2-3: in shmem_barrier_all, waiting for PE 1, ' 'PE 1: in shmem_long_sum_reduce, waiting for PEs 0,2-3, '
}

@test "--timeout asks by itself" {
	run -124 timeout -k 2 20 "$OSHRUN" -q --timeout 0.7 -n 3 "$PROGRAM" missing
	[[ "$output" == *"hang report: PEs 0,2: in shmem_barrier_all, waiting for PE 1"* ]]
	[[ "$output" == *"the job did not end within 0.7 s"* ]]
}

@test "one PE with the setting is enough" {
	# shellcheck disable=SC2016 # for the shell of each PE
	run -124 timeout -k 2 20 "$OSHRUN" -q --timeout 1.6 -n 3 sh -c '[ "$PMIX_RANK" != 2 ] || export SHMEM_HANG_SECONDS=1; exec "$@"' sh \
		"$PROGRAM" missing
	[[ "$output" == *"PE 2: hang report: PEs 0,2: in shmem_barrier_all, waiting for PE 1"* ]]
}

@test "a program that does not hang says nothing" {
	run -0 env SHMEM_HANG_SECONDS=1 "$OSHRUN" -q -n 4 "$PROGRAM" none
	[ -z "$output" ]
}

@test "a wrong number of seconds gets one line" {
	run env SHMEM_HANG_SECONDS=soon "$OSHRUN" -q -n 2 "$PROGRAM" none
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ "$output" == *'SHMEM_HANG_SECONDS=soon: give a number of seconds'* ]]
}
