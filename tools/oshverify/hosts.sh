# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2034,SC2154
#
# oshverify: on which hosts jobs can run.

# The variables of a launcher that started us would make each of our jobs a part of its job.
forget_launcher()
{
	for name in $(env | sed -n 's/^\(PMIX_[A-Z0-9_]*\|PMI_[A-Z0-9_]*\|OMPI_[A-Za-z0-9_]*\|PRTE_[A-Za-z0-9_]*\|PRRTE_[A-Za-z0-9_]*\)=.*/\1/p'); do
		unset "$name"
	done
	[ -z "${SLURM_STEP_ID:-}" ] || {
		SLURM_OVERLAP=1 && export SLURM_OVERLAP
		for name in $(env | sed -n 's/^\(SLURM_STEP[A-Z0-9_]*\|SLURM_NTASKS\|SLURM_NPROCS\|SLURM_TASKS_PER_NODE\|SLURM_CPU_BIND[A-Z_]*\|SLURM_DISTRIBUTION\|SLURM_PROCID\|SLURM_LOCALID\|SLURM_NODEID\|SLURM_MPI_TYPE\)=.*/\1/p'); do
			unset "$name"
		done
	}
}

# Started by srun or mpirun, one process runs the tests, not each.
leave_launcher()
{
	rank=${PMIX_RANK:-${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-}}}
	if [ -z "$rank" ] && [ -n "${SLURM_STEP_ID:-}" ]; then
		rank=${SLURM_PROCID:-}
	fi
	[ "${rank:-0}" -eq 0 ] 2>/dev/null || exit 0
	size=${OMPI_COMM_WORLD_SIZE:-${SLURM_STEP_NUM_TASKS:-1}}
	if [ -n "$rank" ] && [ "$size" -gt 1 ]; then
		echo "$called: started $size times, of which one goes on: oshverify starts its jobs itself" >&2
	fi
	[ -z "$rank" ] || forget_launcher
}

# The names of --host, --hostfile or the allocation, each once. How many PEs a
# host takes is ours to say.
read_hosts()
{
	if [ -n "$host_list" ]; then
		echo "$host_list" | tr ',' '\n'
	elif [ -n "$hostfile" ]; then
		sed 's/#.*//' "$hostfile"
	elif [ -n "${SLURM_JOB_ID:-}" ] && [ -n "${SLURM_JOB_NODELIST:-}" ]; then
		scontrol show hostnames "$SLURM_JOB_NODELIST" 2>/dev/null
	elif [ -n "${PBS_NODEFILE:-}" ]; then
		cat "$PBS_NODEFILE"
	elif [ -n "${LSB_DJOB_HOSTFILE:-}" ]; then
		cat "$LSB_DJOB_HOSTFILE"
	fi | awk 'NF { sub(/:.*/, "", $1); if (!seen[$1]++) print $1 }'
}

# More hosts than these show nothing new, and the time of some tests grows with the square of
# the PEs. --np takes more.
most_hosts=32

find_hosts()
{
	host_names=$(read_hosts)
	host_count=$(echo "$host_names" | grep -c .)
	host_launcher=''
	if [ "$host_count" -gt 1 ]; then
		find_host_launcher
	elif [ "$host_count" -eq 1 ] && ! echo "$host_names" | grep -Fqx -e "$(uname -n)" -e "$(uname -n | sed 's/\..*//')" -e localhost; then
		echo "$called: $host_names is one host; give several for jobs between hosts" >&2
	fi
}

# Which launcher does oshrun take? It says so instead of taking it.
find_host_launcher()
{
	host_launcher=$("$oshrun" --dry-run ${launcher:+--launcher "$launcher"} -n 2 --host "$(hosts_for 2)" true 2>&1) ||
		fail "$(echo "$host_launcher" | tail -n 1 | sed 's/^[a-z]*: //')"
	host_launcher=$(echo "$host_launcher" | tr ' ' '\n' | grep -E '(^|/)(prterun|mpirun|srun)$' | head -n 1)
	host_launcher=${host_launcher##*/}
}

# hosts_for PES: so many hosts, and as many PEs on each as it takes, as oshrun --host takes them.
hosts_for()
{
	echo "$host_names" | awk -v pes="$1" '{ name[NR] = $0 }
	END {
		hosts = NR < pes ? NR : pes
		each = int((pes + hosts - 1) / hosts)
		for (i = 1; i <= hosts; i++) printf "%s%s%s", (i > 1 ? "," : ""), name[i], (each > 1 ? ":" each : "")
		print ""
	}'
}

# The numbers of PEs of jobs on the hosts: one on each, and two.
pes_of_hosts()
{
	count=$host_count
	[ "$count" -le "$most_hosts" ] || count=$most_hosts
	case $taker in
	quick) echo "$count" ;;
	*) echo "$count,$((2 * count))" ;;
	esac
}
