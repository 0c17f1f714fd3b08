#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# run: beside
# With SHMEM_CHECK, what the standard does not promise does not happen, on every path;
# and what it promises does.

bats_require_minimum_version 1.5.0

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
	export OSHRUN="${OSHRUN:-$TOP_BUILDDIR/oshrun}" OSHCC="${OSHCC:-$TOP_BUILDDIR/oshcc}"
	export PROGRAM="$BATS_FILE_TMPDIR/unordered"
	unset "${!SHMEM_@}" "${!SMA_@}" "${!UCX_@}" "${!SOFTOFU_@}"
	"$OSHCC" -O1 -o "$PROGRAM" "${BATS_TEST_FILENAME%/*}/unordered.c"
	PATHS='local ucx mixed split'
	[ ! -e "$TOP_BUILDDIR/.libs/libtofucom.so" ] || PATHS="$PATHS tofu"
	export PATHS
}

settings_of()
{
	case $1 in
	local) echo SHMEM_PATHS=local ;;
	ucx) echo SHMEM_PATHS=ucx UCX_TLS=tcp,self ;;
	mixed) echo SHMEM_NODE_PES=1 ;;
	split) echo SHMEM_SHARE_GLOBALS=no ;;
	tofu) echo SHMEM_PATHS=tofu SOFTOFU_SHAPE=2x1 ;;
	esac
}

# one_job PATH MODE SETTING...
one_job()
{
	# shellcheck disable=SC2046 # a list of settings
	run env $(settings_of "$1") "${@:3}" timeout -k 2 $((20 * ${TEST_PATIENCE:-1})) "$OSHRUN" -q -n 2 "$PROGRAM" "$2" </dev/null
	printf '%s %s: status %s, %s\n' "$1" "$2" "$status" "$output"
}

# goes_wrong MODE...: with SHMEM_CHECK on each path, which it need not without
goes_wrong()
{
	local path mode

	for path in $PATHS; do
		for mode in "$@"; do
			one_job "$path" "$mode" SHMEM_CHECK=1
			[ "$status" -eq 0 ]
			[[ "$output" == *'wrong '* ]]
		done
	done
}

goes_well()
{
	local path mode

	for path in $PATHS; do
		for mode in "$@"; do
			one_job "$path" "$mode" SHMEM_CHECK=1
			[ "$status" -eq 0 ]
			[ -z "$output" ]
		done
	done
}

@test "a flag that overtakes its data, for lack of a fence" {
	goes_wrong put nbi iput
}

@test "data that is read after a sync, or after the quiet of another context" {
	goes_wrong sync other-context
}

@test "a source that changes before the quiet" {
	goes_wrong source
}

@test "a get, or what an atomic fetches, that is read before the quiet: a canary" {
	goes_wrong get fetch
	one_job local get SHMEM_CHECK=1
	[[ "$output" == *'read cacacacacacacaca'* ]]
}

@test "programs that ask for the order they need" {
	goes_well put-right signal-right sync-right source-right get-right twice-right compute-right
}

@test "a word whose last value was overtaken: the report of the deadlock says so, and names the seed" {
	for path in $PATHS; do
		one_job "$path" twice SHMEM_CHECK=1 SHMEM_CHECK_SEED=3
		[ "$status" -eq 1 ]
		[[ "$output" == *'PE 1: in shmem_long_wait_until, waiting for the word at '*'puts of PE 0 to it overtook each other'* ]]
		[[ "$output" == *'SHMEM_CHECK_SEED=3'* ]]
	done
}

@test "the order follows from the seed" {
	one_job local order SHMEM_CHECK=1 SHMEM_CHECK_SEED=5
	first=$output
	[[ "$first" == *1* && "$first" == *2* ]]
	one_job local order SHMEM_CHECK=1 SHMEM_CHECK_SEED=5
	[ "$output" = "$first" ]
	one_job local order SHMEM_CHECK=1 SHMEM_CHECK_SEED=6
	[ "$output" != "$first" ]
	one_job local order SHMEM_CHECK=no
	[[ "$output" != *1* ]]
}

@test "SHMEM_CHECK is for all PEs or none" {
	# shellcheck disable=SC2016 # PMIX_RANK is each PE's own
	run timeout -k 2 20 "$OSHRUN" -q -n 2 sh -c 'SHMEM_CHECK=$PMIX_RANK exec "$0" put-right' "$PROGRAM" </dev/null
	[ "$status" -eq 1 ]
	[[ "$output" == *'SHMEM_CHECK differs between this PE and PE'* ]]
	[ "${#lines[@]}" -eq 1 ]
}
