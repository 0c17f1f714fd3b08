# SPDX-License-Identifier: BSD-3-Clause
#
# Broadcasts and sums down trees on hosts cabled as a torus: right up to 64 MiB, no cable carries more than its share by
# the kernel's counters, and a cable that the shape file calls dead carries nothing of them. Teams that work at once, beside a slow
# host, disturb nobody's values; on other shapes and for longer with make check-teams. Needs root.

load "$TOP_SRCDIR/tests/lib/cluster.bash"

setup()
{
	need_cluster
}

# times COLLECTIVE SIZES SETTING=VALUE...: on all nine hosts; prints name, bytes, seconds, bytes on the busiest cable, segments again
times()
{
	set -- "$1" "$2" "${@:3}"
	run timeout 100 "$cluster" exec --name "$name" h0 env -C "$PWD" "$TOP_BUILDDIR/oshrun" -q --hostfile /run/cluster/hostfile \
		-x SHMEM_SYMMETRIC_SIZE=256m $(printf -- '-x %s ' "${@:3}") -n 9 "$TOP_BUILDDIR/tests/cluster/torus_times" "$1" "$2"
	printf '%s\n' "$output"
	[ "$status" -eq 0 ]
}

# Bytes that a port has sent.
sent_by()
{
	"$cluster" exec --name "$name" "$1" cat "/sys/class/net/$2/statistics/tx_bytes"
}

# share SIZE MOST: the busiest cable of the last line of times, as a share of the message.
share_is_at_most()
{
	printf '%s\n' "$output" | awk -v bytes="$1" -v most="$2" '$2 == bytes { found = 1; share = $4 / $2 }
		END { print "share", share; exit !(found && share <= most) }'
}

# The places of nine hosts, and what is behind it.
shape_file()
{
	echo 'shape 3x3'
	for host in 0 1 2 3 4 5 6 7 8; do
		echo "host h$host $((host / 3)),$((host % 3))"
	done
	printf '%s\n' "$@"
}

@test "sizes up to 64 MiB are right, and four trees share the cables" {
	"$cluster" up --name "$name" --torus 3x3 --share "$TOP_BUILDDIR" --share "$PWD"
	times broadcast 1,1000003,64m SHMEM_TORUS=3x3 SHMEM_BROADCAST_ALGORITHM=torus-twice
	share_is_at_most 67108864 0.27
	times broadcast 65537,64m SHMEM_TORUS=3x3 SHMEM_BROADCAST_ALGORITHM=torus-up
	share_is_at_most 67108864 0.54
	times reduce 4,1000004,64m SHMEM_TORUS=3x3 SHMEM_REDUCE_ALGORITHM=torus-up
	share_is_at_most 67108864 0.54
}

@test "a dead cable carries nothing, and the trees that are left do" {
	"$cluster" up --name "$name" --torus 3x3 --share "$TOP_BUILDDIR" --share "$PWD"
	shape_file >whole
	shape_file 'dead h0 x+' >flawed
	for file in whole flawed; do
		before=$(($(sent_by h0 x+) + $(sent_by h3 x-)))
		times broadcast 8m "SHMEM_TORUS_FILE=$PWD/$file"
		carried=$(($(sent_by h0 x+) + $(sent_by h3 x-) - before))
		echo "$file: the cable carried $carried"
		if [ "$file" = whole ]; then
			[ "$carried" -gt 2000000 ]
		else
			[ "$carried" -lt 200000 ]
		fi
	done
	share_is_at_most 8388608 0.40
	times reduce 8m "SHMEM_TORUS_FILE=$PWD/flawed"
	# Eight others' data by one ring would be eight on some cable.
	times fcollect 1m "SHMEM_TORUS_FILE=$PWD/flawed"
	share_is_at_most 1048576 4.5
}

# teams SHAPE SETTING=VALUE...: disjoint teams at once, on hosts of that shape; PE 4 computes before each call
teams()
{
	run timeout 600 "$cluster" exec --name "$name" h0 env -C "$PWD" "$TOP_BUILDDIR/oshrun" -q --hostfile /run/cluster/hostfile \
		-x SHMEM_SYMMETRIC_SIZE=64m -x SHMEM_TORUS="$1" $(printf -- '-x %s ' "${@:2}") -n "$(hosts_of "$1")" \
		"$TOP_BUILDDIR/tests/cluster/teams" "${TEST_ROUNDS:-1}" 4
	printf '%s\n' "$output"
	[ "$status" -eq 0 ]
	printf '%s\n' "$output" | grep -qx PASS
}

hosts_of()
{
	echo $(($(echo "$1" | sed 's/x/*/g')))
}

@test "teams at once beside a PE that computes, and then one host with slow cables as well" {
	for shape in $(echo "${TEST_TEAMS:-3x3}" | tr ',' ' '); do
		"$cluster" up --name "$name" --torus "$shape" --rate 50mbit --share "$TOP_BUILDDIR" --share "$PWD"
		teams "$shape" SHMEM_REDUCE_ALGORITHM=torus SHMEM_BROADCAST_ALGORITHM=torus SHMEM_COLLECT_ALGORITHM=torus SHMEM_ALLTOALL_ALGORITHM=torus
		for port in $("$cluster" exec --name "$name" h4 ls /sys/class/net | grep '[+-]'); do
			"$cluster" exec --name "$name" h4 tc qdisc change dev "$port" root tbf rate 5mbit burst 64kb limit 4mb
		done
		teams "$shape" SHMEM_REDUCE_ALGORITHM=torus-rings SHMEM_BROADCAST_ALGORITHM=torus SHMEM_COLLECT_ALGORITHM=torus
		teams "$shape" SHMEM_REDUCE_ALGORITHM=auto
		"$cluster" down --name "$name"
	done
}
