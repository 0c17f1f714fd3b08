# SPDX-License-Identifier: BSD-3-Clause
#
# Hosts and cables that fail under a job: it ends soon, and one line says which host it was. Needs root. (Processes that are killed:
# tests/cluster/kill-rounds.)

bats_require_minimum_version 1.5.0

load "$TOP_SRCDIR/tests/lib/cluster.bash"

setup()
{
	need_cluster mpirun
}

# start LAUNCHER SETTING... -- CLUSTER-OPTION...: a cluster, and a job without end on its four hosts
start()
{
	local launcher=$1 settings=()

	shift
	while [ "$1" != -- ]; do
		settings+=("$1")
		shift
	done
	shift
	"$cluster" up --name "$name" --share "$TOP_BUILDDIR" "$@"
	timeout -k 2 60 "$cluster" exec --name "$name" h0 env SHMEM_FAILURE_SECONDS=8 "${settings[@]}" "$TOP_BUILDDIR/oshrun" -q \
		--launcher "$launcher" --hostfile /run/cluster/hostfile -n 4 \
		"$TOP_BUILDDIR/tests/cluster/phases" 1000000000 </dev/null >out 2>&1 3>&- &
	job=$!
	await_ranks
}

# All four PEs run and had a barrier.
await_ranks()
{
	for _ in $(seq 100); do
		[ "$("$cluster" exec --name "$name" h3 ss -tn state established | grep -c '10\.60')" -lt 4 ] || break
		sleep 0.1
	done
	sleep 1
}

# await_line TEXT: until the job has said it, or should have
await_line()
{
	for _ in $(seq 200); do
		! grep -q -- "$1" out || break
		sleep 0.1
	done
}

# ended SECONDS TEXT: by itself, in time, not well, and with a word about it
ended()
{
	local begun=$SECONDS code=0

	wait "$job" || code=$?
	cat out
	[ "$code" -ne 0 ] && [ "$code" -ne 124 ] && [ $((SECONDS - begun)) -le "$1" ]
	grep -q -- "$2" out
}

@test "a host whose cable is cut: mpirun names it" {
	start mpirun -- --switch 4
	"$cluster" cut --name "$name" h2 eth0
	ended 15 'daemon: .* on node h2'
	"$cluster" left --name "$name"
}

@test "a host whose cable is cut, and a launcher that asks nobody: a PE names it" {
	start mpirun OMPI_MCA_oob_tcp_keepalive_time=300 PRTE_MCA_oob_tcp_keepalive_time=300 -- --switch 4
	"$cluster" cut --name "$name" h2 eth0
	await_line 'host h2, with PE 2, has not answered for 8 s'
	# The launcher now waits for its daemon; of the PEs nothing is left, on h2 neither.
	cat out
	[ "$(grep -c '^torushmem: ' out)" -eq 1 ]
	for _ in $(seq 100); do
		"$cluster" left --name "$name" | grep 'phases [0-9]*$' || break
		sleep 0.1
	done
	run -1 grep 'phases [0-9]*$' <("$cluster" left --name "$name")
}

@test "a host whose cable is cut, detected by messages: a PE names it" {
	start mpirun OMPI_MCA_oob_tcp_keepalive_time=300 PRTE_MCA_oob_tcp_keepalive_time=300 SHMEM_FAILURE_METHOD=messages -- --switch 4
	"$cluster" cut --name "$name" h2 eth0
	await_line 'host h2, with PE 2, has not answered for 8 s'
	cat out
	[ "$(grep -c '^torushmem: .*host h2, with PE 2, has not answered for 8 s' out)" -eq 1 ]
}

@test "Slurm: a host that is lost is named" {
	command -v srun >/dev/null || skip "no srun"
	start srun -- --slurm --switch 4
	"$cluster" lose --name "$name" h2
	ended 25 'host h2, with PE 2, has not answered for 8 s'
}

@test "a PE that is stopped for a while is not lost" {
	start mpirun SHMEM_FAILURE_SECONDS=2 -- --switch 4
	signal_on h1 STOP phases
	sleep 7
	kill -0 "$job"
	signal_on h1 CONT phases
	sleep 1
	kill -0 "$job"
	cat out
	run -1 grep -v 'plm:[rs]sh: Warning' out # the launchers warn of their own process groups now and then
}
