# SPDX-License-Identifier: BSD-3-Clause
#
# Clusters whose every cable is a network of its own: that nothing is forwarded, that neighbours are reached by their cable and
# all hosts by the management network, and that its bytes are counted. Needs root.

bats_require_minimum_version 1.5.0

load "$TOP_SRCDIR/tests/lib/cluster.bash"

setup()
{
	need_cluster
}

on()
{
	timeout 20 "$cluster" exec --name "$name" "$@"
}

up()
{
	"$cluster" up --name "$name" "$@"
}

# send FROM TO ADDRESS BYTES: over TCP, to the address of the host TO as FROM sees it
send()
{
	on "$2" timeout 10 perl -MIO::Socket::IP -e \
		'$s = IO::Socket::IP->new(LocalHost => $ARGV[0], LocalPort => 7000, Listen => 1, ReuseAddr => 1) or die $@;
			$c = $s->accept; while (sysread $c, $b, 65536) { $n += length $b } print $n' \
		"$([[ $3 == *:* ]] && echo :: || echo 0.0.0.0)" >received &
	local listener=$!
	on "$1" timeout 10 perl -MIO::Socket::IP -e \
		'for (1 .. 60) { $s = IO::Socket::IP->new(PeerHost => $ARGV[0], PeerPort => 7000, Timeout => 2) and last;
			select undef, undef, undef, 0.05 } $s or die $@; print $s "x" x $ARGV[1]' "$3" "$4"
	wait "$listener"
	[ "$(cat received)" -eq "$4" ]
}

# bytes_of HOST PORT sent|received
bytes_of()
{
	"$cluster" bytes --name "$name" "$1" | awk -v port="$2" -v what="$3" \
		'$2 == port { for (i = 3; i < NF; i++) if ($i == what) print $(i + 1) }'
}

# The cables as the kernel has them, "h0:x+=h1:x-" with the smaller number of the two ends first.
cables()
{
	"$cluster" hosts --name "$name" | while read -r host _; do
		# shellcheck disable=SC2016 # for the shell over there
		on "$host" sh -c 'cd /sys/class/net; for port in *; do echo "$1:$port" $(cat "$port/ifindex" "$port/iflink"); done' \
			ports "$host" </dev/null
	done | awk '{ end[$2] = $1; other[$2] = $3 }
		END { for (i in end) if (other[i] in end && i < other[i]) print end[i] "=" end[other[i]] }' | sort
}

# link_local HOST PORT: its address there
link_local()
{
	on "$1" ip -6 -o address show dev "$2" scope link | awk '{ sub("/.*", "", $4); print $4 }'
}

@test "neighbours are reached by their cable, and nothing is forwarded until a host is told to" {
	up --torus 4 --cables own
	send h0 h1 10.61.0.2 1000
	send h1 h0 "$(link_local h0 x+)%x-" 1000
	for host in h0 h1 h2 h3; do
		[ "$(on "$host" sh -c 'cat /proc/sys/net/ipv[46]/conf/*/forwarding' | sort -u)" = 0 ]
	done
	run on h0 ip route get 10.61.0.6
	[ "$status" -ne 0 ]
	[[ $output == *unreachable* ]]
	# With a route, the packet gets to h1, which has to drop it. The first one that h2 sees is one of those after h1 forwards.
	on h0 ip route add 10.61.0.6/32 via 10.61.0.2
	on h2 timeout 10 perl -MIO::Socket::INET -e \
		'$s = IO::Socket::INET->new(LocalPort => 7001, Proto => "udp"); $| = 1; print "ready\n"; $s->recv($b, 100); print $b' >said &
	listener=$!
	until grep -q ready said; do
		sleep 0.02
	done
	before=$(bytes_of h1 x- received)
	# shellcheck disable=SC2016 # for the shell over there
	sender='for (1 .. $ARGV[1]) { IO::Socket::INET->new(PeerAddr => "10.61.0.6:7001", Proto => "udp")->send($ARGV[0]);
		select undef, undef, undef, 0.02 }'
	on h0 perl -MIO::Socket::INET -e "$sender" dropped 10
	[ "$(bytes_of h1 x- received)" -gt $((before + 300)) ]
	on h1 sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
	on h0 perl -MIO::Socket::INET -e "$sender" forwarded 50
	wait "$listener"
	[ "$(tail -n 1 said)" = forwarded ]
}

@test "bytes are counted by port, and cut cables come back one by one" {
	up --torus 3 --cables own
	"$cluster" bytes --name "$name" >before
	send h0 h1 10.61.0.2 200000
	"$cluster" bytes --name "$name" >after
	[ "$(wc -l <after)" -eq 9 ]
	paste -d ' ' before after | awk '
		$1 != $7 || $2 != $8 || NF != 12 { bad = 1 }
		{ sent = $10 - $4; received = $12 - $6 }
		$1 == "h0" && $2 == "x+" && sent > 200000 { found++; next }
		$1 == "h1" && $2 == "x-" && received > 200000 { found++; next }
		sent > 20000 || received > 20000 { bad = 1 }
		END { exit bad || found != 2 }' || { cat before after; false; }
	run -0 "$cluster" bytes --name "$name" h2
	[ "${#lines[@]}" -eq 3 ]
	[[ $output =~ ^h2\ x-\ sent\ [0-9]+\ received\ [0-9]+$'\n'h2\ x\+\ .*h2\ eth0\  ]]
	"$cluster" cut --name "$name" h0 x+
	"$cluster" cut --name "$name" h0 x-
	run on h0 ip route get 10.61.0.2
	[ "$status" -ne 0 ]
	"$cluster" join --name "$name" h0 x+
	send h0 h1 10.61.0.2 1000
	send h0 h1 "$(link_local h1 x-)%x+" 1000
	[[ "$(on h0 ip -br link show dev x-)" == *DOWN* ]]
	run -2 "$cluster" join --name "$name" h0 y+
	[[ $output == *"join: h0 has no port y+"* ]]
	"$cluster" lose --name "$name" h1
	run -0 "$cluster" bytes --name "$name"
	[[ $output == *'h0 eth0 sent '* ]]
	[[ $output != *h1* ]]
}

@test "the management network joins all hosts at its rate, by their names" {
	up --torus 4 --cables own --management-rate 40mbit
	[ "$(on h0 getent hosts h2)" = "10.60.0.3       h2" ]
	[[ "$(on h0 ip route get 10.60.0.3)" == *'dev eth0'* ]]
	start=$(date +%s%N)
	send h0 h2 h2 2500000
	took=$((($(date +%s%N) - start) / 1000000))
	[ "$took" -gt 400 ] # 40 Mbit/s take half a second, less the first burst
	[ "$(bytes_of h2 eth0 received)" -gt 2500000 ]
	[ "$(bytes_of h0 x+ sent)" -lt 20000 ]
	[[ "$(on h0 tc qdisc show dev x+)" != *tbf* ]]
}

@test "link-local: ports have no IPv4, and fe80::...%port can be used at once" {
	up --torus 2x3 --cables link-local
	run -0 on h5 ip -o address
	echo "$output" | awk '$2 ~ /^[xy]/ { ports++; if ($3 != "inet6" || $4 !~ /^fe80::.*\/64$/ || /tentative/) bad = 1 }
		END { exit bad || ports != 3 }'
	send h0 h3 "$(link_local h3 x-)%x+" 1000
	[ "$(on h0 sh -c 'cat "$CLUSTER_SHAPE_FILE"')" = 'shape 2x3
host h0 0,0
host h1 0,1
host h2 0,2
host h3 1,0
host h4 1,1
host h5 1,2
cable h0 x+ h3 x-
cable h0 y+ h1 y-
cable h1 x+ h4 x-
cable h1 y+ h2 y-
cable h2 x+ h5 x-
cable h2 y+ h0 y-
cable h3 y+ h4 y-
cable h4 y+ h5 y-
cable h5 y+ h3 y-' ]
	on h0 sed -n 's/^cable \(.*\) \(.*\) \(.*\) \(.*\)/\1:\2=\3:\4/p' /run/cluster/shape | sort >said
	cables | sort | diff said -
}

@test "two cables between a pair, and a cable between each two hosts" {
	up --torus 2d --cables own
	[ "$(cables)" = $'h0:x+=h1:x-\nh1:x+=h0:x-' ]
	send h0 h1 10.61.0.5 1000 # h1's end of the cable from its x+ to h0's x-
	"$cluster" down --name "$name"
	up --full-mesh 4 --cables own
	[ "$(cables)" = $'h0:c1=h1:c0\nh0:c2=h2:c0\nh0:c3=h3:c0\nh1:c2=h2:c1\nh1:c3=h3:c1\nh2:c3=h3:c2' ]
	[[ "$("$cluster" hosts --name "$name")" == *'h2 10.60.0.3 at 2 c0=h0 c1=h1 c3=h3 eth0=switch'* ]]
	send h2 h3 "$(link_local h3 c2)%c3" 1000
}

@test "cables in wrong ports lead elsewhere, and the management network stays" {
	up --torus 4 --cables own --wrong h1=h2
	[ "$(cables | paste -sd ' ')" = 'h0:x+=h2:x- h1:x+=h3:x- h2:x+=h1:x- h3:x+=h0:x-' ]
	[ "$(on h0 sed -n 5,6p /run/cluster/shape | paste -sd ' ')" = 'host h3 3 cable h0 x+ h1 x-' ]
	send h0 h1 h1 1000
}

@test "mistakes get one line" {
	mistake()
	{
		run -2 "$cluster" up --name "$name" "$@"
		[ "${#lines[@]}" -eq 1 ] && [[ "$output" == cluster:* ]]
	}
	mistake --torus 4 --cables copper
	mistake --switch 4 --cables own
	mistake --full-mesh 4
	mistake --full-mesh 7 --cables own
	mistake --torus 4 --management-rate 10mbit
	mistake --torus 4 --cables own --management-rate fast
}

@test "mpirun starts programs on all hosts" {
	command -v mpirun >/dev/null || skip "no mpirun"
	# shellcheck disable=SC2016 # for the shell over there
	timeout 60 "$cluster" run --name "$name" --torus 4 --cables link-local -- \
		sh -c 'mpirun --hostfile "$CLUSTER_HOSTFILE" -n 4 hostname' | sort >said
	[ "$(paste -sd ' ' said)" = "h0 h1 h2 h3" ]
}

@test "tests/run gives jobs on such hosts their cables" {
	cat >oshrun <<-'END'
		#!/bin/sh
		echo "$SHMEM_PATHS, $SHMEM_TORUS_FILE, $CLUSTER_SHAPE_FILE, $(grep -c ^cable "$SHMEM_TORUS_FILE") cables: $*"
		exit 1
	END
	chmod +x oshrun
	run -1 env OSHRUN="$PWD/oshrun" "$TOP_SRCDIR/tests/run" --build "$TOP_BUILDDIR" --kinds api --paths own2d:2 --only wait_sets
	[[ $output == *"not ok 1 "*"wait_sets own2d:2 4 PEs"* ]]
	[[ $output == *"| local,cables, /run/cluster/shape, /run/cluster/shape, 2 cables: -q "*" -n 4 "* ]]
	run -0 "$TOP_SRCDIR/tests/run" --build "$TOP_BUILDDIR" --list --paths own4 --only grid,torus_,lock
	[[ $output == *"lock own4 4 PEs"* ]]
	[[ $output == *"torus_reduce own4 4 PEs"* ]]
	[[ $output != *grid* && $output != *torus_teams* && $output != *torus_damaged* ]]
}

@test "tests/run uses hosts that are up, and counts the bytes of each run" {
	up --torus 3 --cables own --share "$TOP_BUILDDIR" --share "$PWD"
	run -0 "$TOP_SRCDIR/tests/run" --build "$TOP_BUILDDIR" --kinds api --paths own3 --only start_pes --on "$name" --count .
	printf '%s\n' "$output"
	[[ $output == *"ok 1 start_pes own3 3 PEs "* ]]
	awk '$2 == "x+" && $4 > 100 && $6 > 100 { found++ } END { exit found != 3 || NR != 9 }' start_pes.3
	run -0 "$cluster" bytes --name "$name"
}

@test "torus-bench: jobs and sockets fill the cables, which the management network could not" {
	command -v mpirun >/dev/null || skip "no mpirun"
	timeout 90 "$TOP_SRCDIR/tests/cluster/torus-bench" 3 50mbit --cables link-local --management-rate 20mbit \
		--build "$TOP_BUILDDIR" --only fcollect,torus,sockets --fcollect-sizes 256k >out
	cat out
	awk '$1 == "fcollect" && $5 > 1.2 { found = found " " $2 } END { exit found != " torus sockets" }' out
	# Ports let 64 KiB through at once, so one call with less takes less than its bound, but many in a row do not.
	timeout 90 "$TOP_SRCDIR/tests/cluster/torus-bench" 3 50mbit --cables link-local --build "$TOP_BUILDDIR" \
		--only fcollect,sockets --fcollect-sizes 4k --calls 200 >out
	cat out
	awk '$2 == "sockets" && $9 > 0.3 && $9 < 1.2 { found++ } END { exit found != 1 }' out
}
