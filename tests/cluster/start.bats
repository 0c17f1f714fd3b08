# SPDX-License-Identifier: BSD-3-Clause
#
# Jobs without a launcher on several hosts: a shell on each host starts its PEs. Needs root.

bats_require_minimum_version 1.5.0

load "$TOP_SRCDIR/tests/lib/cluster.bash"

setup()
{
	need_cluster
	unset "${!SHMEM_@}"
	export ROOT=h0:5000 SHMEM_SECRET=secret START=$TOP_SRCDIR/tests/tools/progs/start
}

# on_all HOSTS PES PROGRAM...: PES on each host
on_all()
{
	local hosts=$1 pes=$2 jobs=() host failed=0

	shift 2
	for ((host = 0; host < hosts; host++)); do
		FIRST=$((host * pes)) HERE=$pes timeout 60 "$cluster" exec --name "$name" "h$host" "$START" $((hosts * pes)) "$@" \
			>"said.$host" 2>&1 3>&- &
		jobs+=($!)
	done
	for host in "${jobs[@]}"; do
		wait "$host" || failed=$?
	done
	[ "$failed" -eq 0 ] || { cat said.*; return "$failed"; }
}

@test "two hosts of two PEs" {
	"$cluster" up --name "$name" --switch 2
	for test in rma reduce globals; do
		on_all 2 2 "$TOP_BUILDDIR/tests/api/$test"
		[ -z "$(cat said.*)" ]
	done
	SHMEM_INFO=1 on_all 2 2 "$TOP_BUILDDIR/tests/api/barrier"
	grep -F 'PEs: 4, of which 2 on this node by load and store; others by ' said.0
}

@test "a ring of hosts, each cable a network of its own" {
	"$cluster" up --name "$name" --torus 4 --cables own
	# shellcheck disable=SC2016 # for the shell on the host
	export SHMEM_PATHS=local,cables SHMEM_CABLES_ONLY=yes
	SHMEM_TORUS_FILE=$("$cluster" exec --name "$name" h0 sh -c 'echo "$CLUSTER_SHAPE_FILE"')
	export SHMEM_TORUS_FILE
	for test in rma amo; do
		on_all 4 1 "$TOP_BUILDDIR/tests/api/$test"
		[ -z "$(cat said.*)" ]
	done
}

@test "a host that is lost ends the job, also that of PE 0" {
	"$OSHCC" -O1 -o loop -x c - <<'END'
#include <shmem.h>
int main(void)
{
	shmem_init();
	for (;;)
		shmem_barrier_all();
}
END
	export SHMEM_FAILURE_SECONDS=3
	for host in 1 0; do
		"$cluster" up --name "$name" --switch 2
		on_all 2 2 "$PWD/loop" 3>&- &
		job=$!
		sleep 2
		kill -0 "$job"
		SECONDS=0
		"$cluster" lose --name "$name" "h$host"
		! wait "$job" || false
		[ "$SECONDS" -lt 15 ]
		[ "$(grep -c torushmem "said.$((1 - host))")" -eq 1 ]
		grep "^torushmem: PE [0-9]*: .*host h$host" "said.$((1 - host))"
		"$cluster" down --name "$name"
	done
}
