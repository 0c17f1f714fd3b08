# SPDX-License-Identifier: BSD-3-Clause
#
# Hosts and cables that fail under a job where every cable is a network of its own: the job ends soon, with one line, or goes
# on, and its data is right. Needs root. (At random moments: tests/cluster/kill-rounds --cables own.)

bats_require_minimum_version 1.5.0

load "$TOP_SRCDIR/tests/lib/cluster.bash"

setup()
{
	need_cluster mpirun
}

# start ROUNDS PAIR...: traffic between these PEs, one on each of four hosts in a ring; returns when
# each pair has had a round. FOUND=yes: oshrun finds the cables.
start()
{
	# Started in this way, the launcher would wait for ever for daemons that it has reached over a
	# cable which is cut.
	# shellcheck disable=SC2016 # for the shell over there
	local given='export OMPI_MCA_oob_tcp_if_include=eth0 SHMEM_PATHS=local,cables SHMEM_TORUS_FILE=$CLUSTER_SHAPE_FILE'

	[ "${FOUND:-no}" = no ] || given=:
	# shellcheck disable=SC2016 # for the shell over there
	timeout -k 2 60 "$cluster" exec --name "$name" h0 env SHMEM_FAILURE_SECONDS=2 sh -c \
		"$given"'; exec "$0" -q --hostfile "$CLUSTER_HOSTFILE" -n 4 "$@"' \
		"$TOP_BUILDDIR/oshrun" "$TOP_BUILDDIR/tests/cluster/traffic" "$@" </dev/null >out 2>&1 3>&- &
	job=$!
	for _ in $(seq 200); do
		! grep -q 'under way' out || return 0
		kill -0 "$job" || break
		sleep 0.1
	done
	cat out
	return 1
}

# The job has ended by itself, within 15 s, not well, and with one line of a PE.
ended()
{
	local begun=$SECONDS code=0

	wait "$job" || code=$?
	cat out
	[ "$code" -ne 0 ] && [ "$code" -ne 124 ] && [ $((SECONDS - begun)) -le 15 ]
	[ "$(grep -c '^torushmem: ' out)" -eq 1 ]
}

@test "a cable is cut under relayed traffic: one line names it" {
	"$cluster" up --name "$name" --share "$TOP_BUILDDIR" --torus 4 --cables own
	start 1000000000 0-2
	"$cluster" cut --name "$name" h1 x+
	ended
	grep -q 'PE 1: .*PE 2 on host h2 over the cable at x+ (no answer for 2 s, but the host answers over another network)' out
	run -1 grep -r traffic <("$cluster" left --name "$name")
}

@test "a relay is stopped for longer than a silent host is waited for: the job goes on" {
	"$cluster" up --name "$name" --share "$TOP_BUILDDIR" --torus 4 --cables own
	start 3000 0-2
	signal_on h1 STOP traffic
	sleep 5
	kill -0 "$job"
	signal_on h1 CONT traffic
	wait "$job"
	cat out
	[ "$(grep -v 'plm:.*: Warning' out)" = $'under way\nright' ]
}

@test "a cable is cut before the job: messages take detours, and PE 0 says so once" {
	"$cluster" up --name "$name" --share "$TOP_BUILDDIR" --torus 4 --cables own
	"$cluster" cut --name "$name" h1 x+
	run -0 "$cluster" exec --name "$name" h0 sh -c 'exec env SHMEM_INFO=1 SHMEM_TORUS_FILE=$CLUSTER_SHAPE_FILE \
		"$0" --hostfile "$CLUSTER_HOSTFILE" -n 4 "$1"' "$TOP_BUILDDIR/oshrun" "$TOP_BUILDDIR/examples/hello"
	[[ $output == *'Cables: TCP over cables to 2 neighbours, relayed to 1 more; detours round 1'* ]]
	start 20 all
	wait "$job"
	cat out
	[ "$(grep -v 'plm:.*: Warning' out)" = 'torushmem: PE 0: the cable from h1 x+ to h2 x- has no carrier; messages take detours
under way
right' ]
}

@test "a cable is cut under a job that oshrun found the cables for: the launcher ends, too" {
	"$cluster" up --name "$name" --share "$TOP_BUILDDIR" --torus 4 --cables own
	FOUND=yes start 1000000000 0-2
	"$cluster" cut --name "$name" h0 x+
	ended
}

@test "an end of a cable without an address: discover names the cable, and messages take detours" {
	"$cluster" up --name "$name" --share "$TOP_BUILDDIR" --torus 4 --cables link-local
	"$cluster" exec --name "$name" h2 ip -6 address flush dev x- scope link
	run -1 "$cluster" exec --name "$name" h0 "$TOP_BUILDDIR/torusplan" discover --hostfile /run/cluster/hostfile
	[[ $output == *'wrong      the cable from port x+ of h1 to port x- of h2 has no addresses of the same kind at both ends'* ]]
	start 20 all
	wait "$job"
	cat out
	[ "$(grep -v 'plm:.*: Warning' out)" = 'torushmem: PE 0: the cable from h1 x+ to h2 x- has no addresses of the same kind at both ends; messages take detours
under way
right' ]
}
