#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
#
# Strangers at the TCP ports of a job that uses UCX: garbage, greetings of the job that are cut,
# spoilt or played back, and connections that say nothing, of this user and of another one. The job
# goes on, and nothing is lost. (The port of oshrun's PMIx server: pmix_accept_filter.bats.)

bats_require_minimum_version 1.5.0

KINDS='garbage cut flipped replayed reset half'

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
	export OSHRUN="${OSHRUN:-$TOP_BUILDDIR/oshrun}" OSHCC="${OSHCC:-$TOP_BUILDDIR/oshcc}"
	export HERE=$BATS_TEST_DIRNAME RECORDER=$BATS_FILE_TMPDIR/record.so BESIEGED=$BATS_FILE_TMPDIR/besieged
	unset "${!SHMEM_@}" "${!SMA_@}" "${!UCX_@}" OSHRUN_LAUNCHER SLURM_JOB_ID PBS_NODEFILE LSB_DJOB_HOSTFILE
	"$OSHCC" -O1 -o "$BESIEGED" "$HERE/besieged.c"
	"${CC:-cc}" -O1 -shared -fPIC -o "$RECORDER" "$HERE/progs/record.c" -ldl
	export SHMEM_PATHS=ucx UCX_TLS=tcp
}

setup()
{
	command -v perl >/dev/null || skip "no perl"
	cd "$BATS_TEST_TMPDIR" || return
	mkdir greetings
	COUNT=60 SLOW=10 ENTER=()
	if [ "${TEST_LONG:-no}" = yes ]; then
		COUNT=1000 SLOW=40
	fi
}

teardown()
{
	touch stop
	wait
}

# begin PES [SETTING...]: a job, in the background; its ports are in PORTS
begin()
{
	local pes=$1 pe

	shift
	rm -f stop ports.*
	env LD_PRELOAD="$RECORDER" RECORD="$PWD/greetings" "$@" timeout 300 "$OSHRUN" -q -n "$pes" "$BESIEGED" . >said 2>&1 3>&- &
	JOB=$!
	for ((pe = 0; pe < pes; pe++)); do
		until [ -e "ports.$pe" ]; do
			kill -0 "$JOB" || { cat said; return 1; }
			sleep 0.05
		done
	done
	read -ra PORTS <<<"$(sort -u ports.* | tr '\n' ' ')"
	[ "${#PORTS[@]}" -ge "$pes" ]
}

# come ARGUMENT...: strangers, while the job runs
come()
{
	"${ENTER[@]}" "$HERE/strangers" "$@" "$RANDOM" greetings "${PORTS[@]}"
	kill -0 "$JOB" || { echo "the job ended: $*"; cat said; return 1; }
}

# The job ends as it should, and said nothing but that.
ends_well()
{
	touch stop
	wait "$JOB" || { echo "code $?"; cat said; return 1; }
	cat said
	[ "$(cat said)" = 'nothing is lost in many rounds' ]
}

everybody_comes()
{
	local kind

	for kind in $KINDS; do
		come "$@" "$kind" "$COUNT"
	done
	come "$@" slow "$SLOW" &
	come "$@" idle "$COUNT"
	wait $!
}

@test "strangers of this user, two PEs" {
	begin 2
	everybody_comes
	ends_well
}

@test "strangers of another user, four PEs" {
	[ "$(id -u)" = 0 ] || skip "takes root, to become another user"
	begin 4
	everybody_comes --user nobody
	ends_well
}

@test "the network of cables" {
	begin 2 SHMEM_PATHS=cables
	everybody_comes
	ends_well
}

@test "more idle connections than the job may have descriptors" {
	ulimit -n 4096 || skip "takes a hard limit of 4096 descriptors"
	begin 2 prlimit --nofile=256:256
	come idle 1500
	ends_well
}

@test "connections that UCX is not to wait for" {
	begin 2 UCX_TCP_CONN_NB=y
	come garbage 20
	come replayed 20
	ends_well
}

@test "a kernel that does not wait for the first data of connections: SYN cookies" {
	local command='ip link set lo up && echo 2 >/proc/sys/net/ipv4/tcp_syncookies && exec "$@"'

	unshare -n true 2>/dev/null || skip "takes root, for a network of its own"
	begin 2 unshare -n sh -c "$command" sh
	ENTER=(nsenter -t "$JOB" -n)
	come garbage 20
	come replayed 20
	come idle 20
	ends_well
}

@test "a UCX that takes the functions of the filter by a call" {
	"${CC:-cc}" -O1 -shared -fPIC -o socket_functions.so "$HERE/progs/socket_functions.c" -ldl
	begin 2 LD_PRELOAD="$RECORDER $PWD/socket_functions.so" SHMEM_DEBUG=1
	come garbage 20
	come replayed 20
	touch stop
	wait "$JOB"
	grep "UCX takes the accept filter's functions by a call" said
	grep 'nothing is lost in many rounds' said
}

@test "each connection begins with a greeting of its own" {
	begin 2
	ends_well
	for port in "${PORTS[@]}"; do
		find greetings -name "$port-*"
	done >files
	[ "$(wc -l <files)" -ge 2 ]
	while read -r file; do
		[ "$(head -c 8 "$file")" = torushm1 ]
		head -c 24 "$file" | tail -c 16 | od -An -tx1
	done <files >nonces
	[ -z "$(sort nonces | uniq -d)" ]
}

@test "SHMEM_INFO and SHMEM_ACCEPT_FILTER" {
	local hello="$TOP_BUILDDIR/examples/hello"

	SHMEM_INFO=1 run -0 "$OSHRUN" -q -n 2 "$hello"
	[[ "$output" == *'Connections: from processes of this job only'* ]]
	SHMEM_INFO=1 SHMEM_ACCEPT_FILTER=yes run -0 "$OSHRUN" -q -n 2 "$hello"
	[[ "$output" == *'Connections: from processes of this job only'* ]]
	SHMEM_INFO=1 SHMEM_ACCEPT_FILTER=no run -0 "$OSHRUN" -q -n 2 "$hello"
	[[ "$output" == *'Connections: not filtered: SHMEM_ACCEPT_FILTER=no'* ]]
	SHMEM_ACCEPT_FILTER=maybe run -1 "$OSHRUN" -q -n 2 "$hello"
	[[ "$output" == *'SHMEM_ACCEPT_FILTER=maybe: give auto, yes or no'* ]]
	# shellcheck disable=SC2016 # for the shell of the PE
	run -1 timeout 60 "$OSHRUN" -q -n 2 sh -c 'if [ "$PMIX_RANK" = 1 ]; then export SHMEM_ACCEPT_FILTER=no; fi; exec "$0" .' "$BESIEGED"
	[[ "$output" == *' connections, and this PE '*'give all PEs the same UCX, or SHMEM_ACCEPT_FILTER=no'* ]]
}
