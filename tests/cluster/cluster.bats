# SPDX-License-Identifier: BSD-3-Clause
#
# The cluster of hosts: that they are hosts, cabled as asked for, and that nothing of them is left whatever happens. Needs root.

bats_require_minimum_version 1.5.0

load "$TOP_SRCDIR/tests/lib/cluster.bash"

setup()
{
	need_cluster
}

# Interfaces, and processes that hold a cluster of ours.
traces()
{
	ip -o link | cut -d : -f 2
	"$cluster" list | grep -F "$name" || true
	grep -lz -e "[h]old=$name" /proc/[0-9]*/cmdline 2>/dev/null || true
}

on()
{
	timeout 20 "$cluster" exec --name "$name" "$@"
}

# Can the one host speak to the other? One line over TCP, with what a Debian has.
speak()
{
	on "$2" timeout 10 perl -MIO::Socket::INET -e \
		'$s = IO::Socket::INET->new(LocalPort => 7000, Listen => 1, ReuseAddr => 1); print scalar $s->accept->getline' >said &
	listener=$!
	on "$1" timeout 5 perl -MIO::Socket::INET -e \
		'for (1 .. 40) { $s = IO::Socket::INET->new(PeerAddr => $ARGV[0], PeerPort => 7000, Timeout => 1) and last;
			select undef, undef, undef, 0.1 } $s or exit 1; print $s "hello from $ARGV[1]\n"' "$2" "$1"
	wait "$listener"
	[ "$(cat said)" = "hello from $1" ]
}

@test "a host has a name, a network, a /tmp and a /dev/shm of its own" {
	"$cluster" up --name "$name" --switch 2
	[ "$(on h1 hostname)" = h1 ]
	[ "$(hostname)" != h1 ]
	on h0 touch /dev/shm/here /tmp/here
	run on h1 ls /dev/shm/here /tmp/here
	[ "$status" -ne 0 ]
	[ ! -e /dev/shm/here ] && [ ! -e /tmp/here ]
	run "$cluster" left --name "$name"
	[ "$status" -eq 1 ] && [[ "$output" == *'h0: /tmp/here'* && "$output" == *'h0: /dev/shm/here'* ]]
	speak h0 h1
}

@test "in a torus the farthest host is reached, by dimension order" {
	"$cluster" up --name "$name" --torus 3x3x2
	speak h0 h17
	run "$cluster" hosts --name "$name"
	[[ "$output" == *'h17 10.60.0.18 at 2,2,1 x+=h5 x-=h11 y+=h13 y-=h15 z-=h16'* ]]
	run on h0 ip route get 10.60.0.18
	[[ "$output" == *'via 10.60.0.13 dev x-'* ]]
	run on h12 ip route get 10.60.0.18
	[[ "$output" == *'via 10.60.0.17 dev y-'* ]]
}

@test "a mesh has ends, and ports may have addresses" {
	"$cluster" up --name "$name" --torus 4m --link-addresses
	speak h0 h3
	run "$cluster" hosts --name "$name"
	[[ "$output" == *'h3 10.60.0.4 at 3 x-=h2'* ]]
	run on h2 ip -br -4 address show dev x+
	[[ "$output" == *'10.61.0.4/31'* ]]
	run on h0 ip route get 10.61.0.5
	[[ "$output" == *'dev x+'* ]]
}

@test "a cable has the rate that was asked for" {
	"$cluster" up --name "$name" --switch 2 --rate 20mbit
	on h1 timeout 15 perl -MIO::Socket::INET -e \
		'$s = IO::Socket::INET->new(LocalPort => 7000, Listen => 1); $c = $s->accept; 1 while sysread $c, $b, 65536' &
	listener=$!
	start=$(date +%s%N)
	on h0 timeout 15 perl -MIO::Socket::INET -e \
		'for (1 .. 40) { $s = IO::Socket::INET->new(PeerAddr => "h1", PeerPort => 7000) and last; select undef, undef, undef, 0.1 }
			print $s "x" x 2500000'
	wait "$listener"
	took=$((($(date +%s%N) - start) / 1000000))
	[ "$took" -gt 800 ] # 20 Mbit take a second, less the first burst
}

@test "a cut cable is a detour nobody takes, and is put back" {
	"$cluster" up --name "$name" --torus 3
	"$cluster" cut --name "$name" h0 x+
	run on h0 ip route get 10.60.0.2
	[ "$status" -ne 0 ]
	"$cluster" join --name "$name" h0 x+
	speak h0 h1
}

@test "a lost host is gone, and the others are not" {
	"$cluster" up --name "$name" --switch 3
	on h1 sleep 100 &
	"$cluster" lose --name "$name" h1
	wait
	run on h1 true
	[ "$status" -ne 0 ] && [[ "$output" == *'the host h1 is lost'* ]]
	speak h0 h2
}

@test "run: the command's exit code, and nothing is left" {
	traces >before
	run "$cluster" run --name "$name" --torus 2x2 -- sh -c 'exit 7'
	[ "$status" -eq 7 ]
	run -0 "$cluster" run --name "$name" --switch 2 -- sh -c pwd
	[ "${lines[0]}" = "$PWD" ]
	run -1 "$cluster" run --name "$name" --switch 2 -- touch /dev/shm/forgotten
	[[ "$output" == *'h0: /dev/shm/forgotten'* ]]
	traces >after
	diff before after
}

@test "kill -9 of cluster run leaves nothing" {
	traces >before
	"$cluster" run --name "$name" --switch 3 -- sleep 100 3>&- &
	until on h0 true 2>/dev/null; do
		sleep 0.1
	done
	kill -9 $!
	for _ in $(seq 50); do
		traces >after
		diff before after >/dev/null && return
		sleep 0.1
	done
	diff before after
}

@test "up returns to a pipe that reads its output to the end" {
	timeout 30 sh -c '"$1" up --name "$2" --switch 2 2>&1 | cat' up "$cluster" "$name" 3>&-
	[ "$(on h1 hostname)" = h1 ]
}

@test "a cluster that does not come up says why" {
	run -2 env PATH="$BATS_TEST_TMPDIR:$PATH" sh -c 'printf "#!/bin/sh\necho no cables today >&2; exit 1\n" >ip; chmod +x ip
		exec "$@"' up "$cluster" up --name "$name" --switch 2
	[[ "$output" == *"no cables today"*"cluster: the cluster did not come up" ]]
}

@test "down ends what runs there" {
	traces >before
	"$cluster" up --name "$name" --switch 2
	on h1 sh -c 'setsid sleep 100 >/dev/null 2>&1 3>&- &'
	"$cluster" list | grep -qx "$name"
	"$cluster" down --name "$name"
	traces >after
	diff before after
}

@test "mistakes get one line" {
	mistake()
	{
		run "$cluster" "$@"
		[ "$status" -eq 2 ] && [ "${#lines[@]}" -eq 1 ] && [[ "$output" == cluster:* ]]
	}
	mistake
	mistake sideways
	mistake up
	mistake up --switch 0
	mistake up --switch 999
	mistake up --torus 3xx3
	mistake up --torus 3x
	mistake up --torus 2x2x2x2x2
	mistake up --torus 20x20
	mistake up --switch 2 --rate fast
	mistake up --switch 2 --pes-per-host none
	mistake up --name 'a b' --switch 2
	mistake down --name "$name"
	mistake exec --name "$name" h0 true
	"$cluster" up --name "$name" --switch 2
	mistake up --name "$name" --switch 2
	mistake exec --name "$name" h9 true
}

@test "oshrun finds the hosts by itself" {
	command -v mpirun >/dev/null || skip "no mpirun"
	timeout 60 "$cluster" run --name "$name" --torus 2x2 --pes-per-host 2 --share "$TOP_BUILDDIR" -- sh -c \
		"'$TOP_BUILDDIR/oshrun' --launcher mpirun --hostfile \$CLUSTER_HOSTFILE -n 8 '$TOP_BUILDDIR/examples/hello'" >out
	[ "$(grep -c '^Hello from PE [0-7] of 8$' out)" -eq 8 ]
}

# forwarding 0|1: whether hosts pass on what is for others
forwarding()
{
	for host in h0 h1 h2 h3; do
		on "$host" sh -c "echo $1 >/proc/sys/net/ipv4/ip_forward"
	done
}

# hosts_job LAUNCHER PROGRAM...: on all four hosts, its output to the file out
hosts_job()
{
	local launcher=$1

	shift
	SHMEM_TORUS_DISCOVER=no timeout 120 "$cluster" exec --name "$name" h0 "$TOP_BUILDDIR/oshrun" --launcher "$launcher" \
		--hostfile /run/cluster/hostfile -n 4 "$@" </dev/null >out 2>&1 3>&-
}

@test "hosts that cannot reach the launcher are named after 10 s, and the job goes on when they can" {
	for launcher in mpirun prterun; do
		command -v "$launcher" >/dev/null || continue
		"$cluster" up --name "$name" --torus 4 --link-addresses --share "$TOP_BUILDDIR"
		forwarding 0
		hosts_job "$launcher" "$TOP_BUILDDIR/examples/hello" &
		job=$!
		for _ in $(seq 250); do
			! grep -q 'still waits' out || break
			sleep 0.1
		done
		forwarding 1
		wait "$job"
		cat out
		grep -q "^oshrun: after 10 s [a-z]* still waits for 1 of 3 hosts: no connection to h0 from .*h2.*; connected: .*; see whether" out
		[ "$(grep -c 'still waits' out)" -eq 1 ]
		[ "$(grep -c '^Hello from PE [0-3] of 4$' out)" -eq 4 ]
		"$cluster" left --name "$name"
		"$cluster" down --name "$name"
	done
	[ -e out ] || skip "no mpirun and no prterun"
}

@test "a job of more than 10 s on hosts that have come gets no line" {
	command -v mpirun >/dev/null || skip "no mpirun"
	"$cluster" up --name "$name" --torus 4 --link-addresses --share "$TOP_BUILDDIR"
	hosts_job mpirun sh -c "sleep 11; '$TOP_BUILDDIR/examples/hello'"
	cat out
	! grep -q 'still waits' out
	[ "$(grep -c '^Hello from PE [0-3] of 4$' out)" -eq 4 ]
	"$cluster" left --name "$name"
}

@test "where ports have addresses, UCX takes the device with the host's own" {
	command -v mpirun >/dev/null || skip "no mpirun"
	timeout 60 "$cluster" run --name "$name" --torus 2x2 --link-addresses --share "$TOP_BUILDDIR" -- sh -c \
		"UCX_LOG_LEVEL=info '$TOP_BUILDDIR/oshrun' --launcher mpirun --hostfile \$CLUSTER_HOSTFILE -n 4 '$TOP_BUILDDIR/examples/ring'" >out 2>&1
	[ "$(grep -c 'am(tcp/node0)' out)" -ge 4 ]
	! grep 'am(tcp/' out | grep -v 'am(tcp/node0)'
}

@test "PEs take connections at their host's address only" {
	command -v mpirun >/dev/null || skip "no mpirun"
	"$cluster" up --name "$name" --switch 2 --share "$TOP_BUILDDIR"
	"$cluster" exec --name "$name" h0 "$TOP_BUILDDIR/oshrun" -q --launcher mpirun --hostfile /run/cluster/hostfile -n 2 \
		"$TOP_BUILDDIR/tests/cluster/pair" 1000000 </dev/null >/dev/null 2>&1 3>&- &
	for _ in $(seq 100); do
		listeners=$(on h1 ss -ltnpH | awk '/"pair"/ { print $4 }')
		[ -z "$listeners" ] || break
		sleep 0.1
	done
	"$cluster" down --name "$name"
	wait || true
	echo "$listeners"
	[ -n "$listeners" ]
	! grep -v '^10\.60\.0\.2:' <<<"$listeners"
}

@test "torus-bench measures broadcasts on hosts; no cable carries more than its share" {
	command -v mpirun >/dev/null || skip "no mpirun"
	timeout 90 "$TOP_SRCDIR/tests/cluster/torus-bench" 2x3 100mbit --build "$TOP_BUILDDIR" --sizes 512k --only broadcast,torus-up,tree >out
	awk '$2 == "torus-up" { found++; if ($5 < 1 || $6 > 0.6) bad++ } $2 == "tree" { found++ } END { exit found != 2 || bad > 0 }' out
	run -2 "$TOP_SRCDIR/tests/cluster/torus-bench" 2x3 fast
	[[ $output == *"give kbit, mbit or gbit"* ]]
}

# barriers SETTING...: how long 50 barriers of 8 hosts take, in tenths of a millisecond
barriers()
{
	timeout 60 "$cluster" exec --name "$name" h0 env "$@" "$TOP_BUILDDIR/oshrun" -q --launcher mpirun --hostfile /run/cluster/hostfile -n 8 \
		"$TOP_BUILDDIR/tests/cluster/phases" 50 </dev/null | sed -n 's/.* barriers \([0-9]*\)\.\([0-9]\) ms.*/\1\2/p'
}

@test "waiting PEs of hosts that share processors do not keep them from each other" {
	command -v mpirun >/dev/null || skip "no mpirun"
	[ "$(nproc)" -lt 8 ] || skip "a processor for each host"
	"$cluster" up --name "$name" --switch 8 --share "$TOP_BUILDDIR"
	spinning=$(barriers SHMEM_SPIN=20000)
	minding=$(barriers SHMEM_SPIN=auto)
	echo "$spinning $minding"
	[ "$spinning" -gt $((2 * minding)) ]
}
