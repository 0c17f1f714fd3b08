#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Every routine that PEs call together, or wait in, and every case in which one of them can fail to
# do its part: the job ends by itself, soon, not with 0, and a line names a PE and the call. On the
# paths of MISTAKE_PATHS: local, or more (make check-mistakes).

bats_require_minimum_version 1.5.0

AT_ONCE=8     # jobs
SECONDS_EACH=6 # a deadlock is certain after some 1.5 s, and the rest is for a machine with other things to do

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
	export OSHRUN="${OSHRUN:-$TOP_BUILDDIR/oshrun}" OSHCC="${OSHCC:-$TOP_BUILDDIR/oshcc}"
	export PROGRAM="$BATS_FILE_TMPDIR/mismatch"
	unset "${!SHMEM_@}" "${!SMA_@}" "${!UCX_@}" "${!SOFTOFU_@}"
	"$OSHCC" -O1 -o "$PROGRAM" "${BATS_TEST_FILENAME%/*}/mismatch.c"
	"$PROGRAM" --list >"$BATS_FILE_TMPDIR/list"
}

settings_of()
{
	case $1 in
	local) echo SHMEM_PATHS=local ;;
	ucx-tcp) echo SHMEM_PATHS=ucx UCX_TLS=tcp,self ;;
	tofu) echo SHMEM_PATHS=tofu SOFTOFU_SHAPE=2x2 ;;
	esac
}

# one_job PATH CALL MISTAKE: what it says, how long it took and how it ended are in
# the file PATH.CALL.MISTAKE
one_job()
{
	local code=0 began ended

	began=$(date +%s%N)
	# shellcheck disable=SC2046 # a list of settings
	env SHMEM_CHECK=1 $(settings_of "$1") timeout -k 1 $((SECONDS_EACH * ${TEST_PATIENCE:-1})) \
		"$OSHRUN" -q -n 4 "$PROGRAM" "$2" "$3" >"$BATS_TEST_TMPDIR/$1.$2.$3" 2>&1 || code=$?
	ended=$(date +%s%N)
	echo "code $code after $(((ended - began) / 1000000)) ms" >>"$BATS_TEST_TMPDIR/$1.$2.$3"
}

# expected MISTAKE ROUTINE: the line, a pattern
expected()
{
	case $1 in
	missing) echo "^torushmem: PE [0-9]+: (hang report: PEs? [-0-9,]+: in )?$2[:,]" ;;
	exited) echo '^torushmem: PE 1: exit with status 3 before shmem_finalize' ;;
	killed) echo '^oshrun: PE 1.*(SIGKILL|[Kk]illed|signal 9)' ;;
	order) echo "^torushmem: PE [0-9]+: (hang report: PEs? [-0-9,]+: in )?($2|shmem_barrier_all|shmem_sync_all)[:,].*PE" ;;
	size | root) echo "^torushmem: PE [0-9]+: $2: .*PE [0-9]" ;;
	esac
}

# also_expected MISTAKE ROUTINE: another line. A plan's own name is that of the routine that made
# it; who needs nothing of PE 1 waits in the end.
also_expected()
{
	case $1 in
	exited | killed) echo "^torushmem: PE [023]: was in ($2|shmemx_plan_wait|shmem_finalize) when PE 1 ended" ;;
	*) expected "$@" ;;
	esac
}

# ended_well PATH CALL MISTAKE ROUTINE
ended_well()
{
	local said="$BATS_TEST_TMPDIR/$1.$2.$3" code line

	code=$(sed -n 's/^code \([0-9]*\) after.*/\1/p' "$said")
	case $3,$code in
	killed,137) ;;
	*,0 | *,124 | *,137 | *,139 | *,) printf '%s: ended with %s\n' "$*" "$(cat "$said")" && return 1 ;;
	esac
	for line in "$(expected "$3" "$4")" "$(also_expected "$3" "$4")"; do
		grep -Eq -- "$line" "$said" || {
			printf '%s: no line "%s" in\n%s\n' "$*" "$line" "$(cat "$said")"
			return 1
		}
	done
}

# try_all MISTAKE...: on all paths
try_all()
{
	local path call mistake routine running=0 bad=0

	for path in $(tr , ' ' <<<"${MISTAKE_PATHS:-local}"); do
		[ "$path" != tofu ] || [ -e "$TOP_BUILDDIR/.libs/libtofucom.so" ] || continue
		while read -r call mistake routine; do
			[[ " $* " == *" $mistake "* ]] || continue
			one_job "$path" "$call" "$mistake" 3>&- </dev/null &
			running=$((running + 1))
			[ $((running % AT_ONCE)) -ne 0 ] || wait
		done <"$BATS_FILE_TMPDIR/list"
		wait
		while read -r call mistake routine; do
			[[ " $* " == *" $mistake "* ]] || continue
			ended_well "$path" "$call" "$mistake" "$routine" || bad=$((bad + 1))
		done <"$BATS_FILE_TMPDIR/list"
	done
	echo "$running jobs, $bad bad"
	[ "$running" -gt 0 ]
	[ "$bad" -eq 0 ]
}

@test "no mistake: all of them end well" {
	local call mistake routine

	while read -r call mistake routine; do
		[ "$mistake" = missing ] || continue
		case $call in wait_* | lock) continue ;; esac
		run -0 env SHMEM_CHECK=1 timeout -k 1 20 "$OSHRUN" -q -n 4 "$PROGRAM" "$call" none </dev/null
		[ -z "$output" ]
	done <"$BATS_FILE_TMPDIR/list"
}

@test "one PE does not call" {
	try_all missing
}

@test "one PE has ended" {
	try_all exited killed
}

@test "one PE calls in another order" {
	try_all order
}

@test "one PE calls with another size or root" {
	try_all size root
}
