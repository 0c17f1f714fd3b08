# SPDX-License-Identifier: BSD-3-Clause
#
# Disjoint teams at once on hosts cabled as a torus: lines, boxes, every second host, with one and two PEs a host. All values are checked, and
# by the kernel's counters each team's cables carry its data, and cables between teams carry none of it. Needs root.

load "$TOP_SRCDIR/tests/lib/cluster.bash"

setup()
{
	need_cluster
}

# made SHAPE [PES]: hosts that are cabled so
made()
{
	shape=$1 per_host=${2:-1}
	hosts=$(($(echo "$1" | tr -d md | sed 's/x/*/g')))
	"$cluster" up --name "$name" --torus "$1" --pes-per-host "$per_host" --share "$TOP_BUILDDIR" --share "$PWD"
}

# What each port has sent, such as: h0:x+ 1000
sent()
{
	for host in $(seq -f 'h%g' 0 $((hosts - 1))); do
		"$cluster" exec --name "$name" "$host" sh -c 'grep -H . /sys/class/net/*[+-]/statistics/tx_bytes' |
			sed "s,/sys/class/net/\(.*\)/statistics/tx_bytes:,$host:\1 ,"
	done
}

# carried BEFORE AFTER PORTS: bytes that all of them have sent in between. "x" is x+ and x- of all hosts.
carried()
{
	printf '%s\n%s\n' "$1" "$2" | awk -v ports="$3" 'BEGIN { n = split(ports, port) }
		{ for (i = 1; i <= n; i++)
			if ($1 == port[i] || index($1, ":" port[i] "+") || index($1, ":" port[i] "-"))
				sum += seen[$1]++ ? $2 : -$2 }
		END { printf "%d\n", sum }'
}

# teams COLLECTIVE BYTES TEAMS [SETTING=VALUE...]
teams()
{
	run timeout 100 "$cluster" exec --name "$name" h0 env -C "$PWD" "$TOP_BUILDDIR/oshrun" -q --hostfile /run/cluster/hostfile \
		-x SHMEM_SYMMETRIC_SIZE=64m -x "SHMEM_TORUS=$shape" $(printf -- '-x %s ' "${@:4}") -n $((hosts * per_host)) \
		"$TOP_BUILDDIR/tests/cluster/torus_times" "$1" "$2" 1 - 1 "$3"
	printf '%s\n' "$output"
	[ "$status" -eq 0 ]
}

# keep_to TEAMS LEAST PORTS_INSIDE PORTS_OUTSIDE: of each collective the cables inside carry so much at least, and those outside no more than
# it takes to start and end a job
keep_to()
{
	for row in broadcast:2m reduce:2m fcollect:512k alltoall:512k; do
		before=$(sent)
		teams "${row%:*}" "${row#*:}" "$1" SHMEM_DEBUG=1
		after=$(sent)
		inside=$(carried "$before" "$after" "$3") outside=$(carried "$before" "$after" "$4")
		echo "$row in teams $1: $inside bytes inside, $outside outside"
		[ "$inside" -gt "$2" ]
		[ "$outside" -lt 600000 ]
	done
}

@test "lines use their own axis only" {
	made 3x3
	keep_to 3x1 6000000 y x
	[[ "$output" == *"a team of 3 PEs on 3 nodes is on a torus 1x3 of its own"* ]]
	keep_to 3x3 6000000 x y
}

@test "two boxes, of a ring's halves, leave the cables between them alone" {
	made 4x3
	between=$(for h in 3 4 5 9 10 11; do echo "h$h:x+"; done; for h in 0 1 2 6 7 8; do echo "h$h:x-"; done)
	keep_to 6x1 6000000 'x y' "$between"
	[[ "$output" == *"a team of 6 PEs on 6 nodes is on a torus 2x3 of its own"* ]]
}

@test "every second host: hops over the hosts between, no cable for two of them" {
	made 6
	for row in broadcast:2m reduce:2m fcollect:512k alltoall:512k; do
		teams "${row%:*}" "${row#*:}" 3x2 SHMEM_DEBUG=1
		[[ "$output" == *"a team of 3 PEs on 3 nodes is on a torus 3 of its own"* ]]
	done
}

@test "planes with two PEs a host: the leaders over the cables, the others by load and store" {
	made 2x3 2
	keep_to 6x1 6000000 y x
	[[ "$output" == *"a team of 6 PEs on 3 nodes is on a torus 1x3 of its own"* ]]
}
