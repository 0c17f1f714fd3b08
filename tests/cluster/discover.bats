# SPDX-License-Identifier: BSD-3-Clause
#
# torusplan discover on hosts cabled as a torus, with cables cut, cables swapped and hosts exchanged; and jobs that use what is
# found without a setting. Larger shapes come with make check-long. Needs root.

bats_require_minimum_version 1.5.0

load "$TOP_SRCDIR/tests/lib/cluster.bash"

setup()
{
	need_cluster
}

on()
{
	timeout 60 "$cluster" exec --name "$name" "$@"
}

up()
{
	"$cluster" up --name "$name" --share "$TOP_BUILDDIR" --share "$PWD" "$@"
}

# discover CODE OPTIONS...: on the first host
discover()
{
	run on h0 env -C "$PWD" "$TOP_BUILDDIR/torusplan" discover --hostfile /run/cluster/hostfile "${@:2}"
	printf '%s\n' "$output"
	[ "$status" -eq "$1" ]
}

# found SHAPE CODE [WRONG...]: the shape, and all that is wrong, in these words.
found()
{
	discover "$2" --output found.shape
	grep -qx "shape $1" found.shape
	printf '%s\n' "${@:3}" | sed '/^$/d' >expected
	printf '%s\n' "$output" | sed -n 's/^wrong  *//p' | diff expected -
}

# The places are those that the cluster has.
places_are_right()
{
	"$cluster" hosts --name "$name" | sed 's/^\(h[0-9]*\) .* at \([0-9,]*\).*/host \1 \2/' | diff - <(grep '^host' found.shape)
}

whole() # SHAPE
{
	up --torus "$1"
	found "$1" 0
	places_are_right
	"$cluster" down --name "$name"
}

with_cut() # SHAPE HOST PORT WRONG
{
	up --torus "$1"
	"$cluster" cut --name "$name" "$2" "$3"
	found "$1" 1 "$4"
	places_are_right
	grep -q '^dead ' found.shape
	"$cluster" down --name "$name"
}

with_wrong() # SHAPE PAIRS WRONG...
{
	up --torus "$1" --wrong "$2"
	found "$1" 1 "${@:3}"
	"$cluster" down --name "$name"
}

@test "rings, tori and meshes are found as they are" {
	whole 5
	whole 3mx3
	whole 2x2
	[ "${TEST_LONG:-no}" = no ] || for shape in 4x4 2x3x4 3x3x3; do
		whole "$shape"
	done
}

@test "a cable that is cut is named" {
	with_cut 5 h4 x+ 'the cable from port x+ of h4 to port x- of h0 is dead: no carrier'
	with_cut 3mx3 h4 y- 'the cable from port y+ of h3 to port y- of h4 is dead: no carrier'
	[ "${TEST_LONG:-no}" = yes ] || return 0
	with_cut 4x4 h0 x+ 'the cable from port x+ of h0 to port x- of h4 is dead: no carrier'
	with_cut 2x3x4 h1 x+ 'the cable from port x+ of h1 to port x- of h13 is dead: no carrier'
	with_cut 3x3x3 h13 z- 'the cable from port z+ of h12 to port z- of h13 is dead: no carrier'
}

@test "cables that are swapped are named, and the shape file has the ports as they are" {
	with_wrong 3mx3 h4:x+=h4:y- 'ports x+ and y- of h4 are swapped'
	grep -qx 'port h4 x+ y-' found.shape && grep -qx 'port h4 y- x+' found.shape
	"$TOP_BUILDDIR/torusplan" routes --file found.shape --host h4 >routes
	grep -q 'route add 10.60.0.8/32 via 10.60.0.8 dev y- ' routes
	with_wrong 5 h0:x+=h2:x+ \
		'the cables in port x- of h3 and port x- of h1 are swapped: h0 x+ leads to h3 x-, and h2 x+ to h1 x-'
	[ "${TEST_LONG:-no}" = yes ] || return 0
	with_wrong 4x4 h5:x+=h5:x- 'ports x+ and x- of h5 are swapped'
	with_wrong 2x3x4 h7:y+=h7:z- 'ports y+ and z- of h7 are swapped'
	with_wrong 3x3x3 h3:x+=h6:x+ \
		'the cables in port x- of h15 and port x- of h12 are swapped: h3 x+ leads to h15 x-, and h6 x+ to h12 x-'
}

@test "hosts in wrong places are named" {
	with_wrong 5 h1=h2 "h1 and h2 are in each other's places: h1 is at 2 and h2 at 1"
	with_wrong 3mx3 h1=h2 "h1 and h2 are in each other's places: h1 is at 0,2 and h2 at 0,1"
	[ "${TEST_LONG:-no}" = yes ] || return 0
	with_wrong 4x4 h5=h7 "h5 and h7 are in each other's places: h5 is at 1,3 and h7 at 1,1"
	with_wrong 2x3x4 h1=h2 "h1 and h2 are in each other's places: h1 is at 0,0,2 and h2 at 0,0,1"
	with_wrong 3x3x3 h5=h7,h14:x+=h14:y- "h5 and h7 are in each other's places: h5 is at 0,2,1 and h7 at 0,1,2" \
		'ports x+ and y- of h14 are swapped'
}

@test "at a switch there is no torus, and jobs do not look for one" {
	up --switch 4
	discover 1
	[ "$output" = 'no torus here: the hosts are at a switch: 4 ports see more than one other' ]
	run on h0 env -C "$PWD" XDG_CACHE_HOME="$PWD/cache" SHMEM_INFO=1 "$TOP_BUILDDIR/oshrun" --hostfile /run/cluster/hostfile \
		-n 4 "$TOP_BUILDDIR/examples/hello"
	[ "$status" -eq 0 ] && [[ "$output" == *'from the number of nodes'* ]]
	[ ! -e cache ]
}

# h2 is a switch between a port of h0 and one of h1, and answers there.
@test "two hosts at a switch are known by a third one that answers there" {
	up --full-mesh 3 --cables link-local
	"$cluster" cut --name "$name" h0 c1
	on h2 sh -c 'ip link add between type bridge && echo 1 >/proc/sys/net/ipv6/conf/between/disable_ipv6 &&
		ip link set c0 master between && ip link set c1 master between && ip link set between up'
	on h0 sh -c 'head -n 2 /run/cluster/hostfile >/run/cluster/two'
	discover 0 --hostfile /run/cluster/two
	[[ "$output" == *'cable      h0 c2 to h1 c2'* ]]
	on h2 sh -c 'echo 0 >/proc/sys/net/ipv6/conf/between/disable_ipv6 &&
		until ip -6 -o address show dev between scope link | grep -v tentative; do sleep 0.05; done'
	discover 1 --hostfile /run/cluster/two
	[[ "$output" == 'no torus here: the hosts are at a switch: '* ]]
}

@test "a host that does not answer is a hole, and named" {
	up --torus 3x3
	"$cluster" lose --name "$name" h4
	discover 1 --output found.shape
	[[ "$output" == *'wrong      h4 does not answer; it should be at 1,1'* ]]
	grep -qx 'dead h4' found.shape
}

# own_cables CODE LINE...: the cluster's shape file has cables of their own, and the file that discover writes has the same. The
# report says so and has these lines.
own_cables()
{
	discover "$1" --output found.shape
	[[ "$output" == *'forwarding no: every cable is a network of its own'* ]]
	for line in "${@:2}"; do
		grep -qxF "$line" <<<"$output"
	done
	grep '^cable ' found.shape
	# The file may name the ends of a cable in either order.
	diff <(on h0 sh -c 'cat "$CLUSTER_SHAPE_FILE"' | cables) <(cables <found.shape)
}

cables()
{
	awk '$1 == "cable" { one = $2 " " $3; other = $4 " " $5; print one < other ? one " " other : other " " one }' | sort
}

@test "cables that are networks of their own are listed, whatever addresses they have" {
	up --torus 4 --cables own
	own_cables 0 'cable      h0 x+ to h1 x-, 10 Gbit/s' 'cable      h3 x+ to h0 x-, 10 Gbit/s' 'shape      4'
	[[ "$output" != *'Hosts that forward'* ]]
	# A host whose routes leave over no cable passes on nothing. Where all hosts have such routes, cables are no networks of their own.
	on h0 sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
	own_cables 0
	for host in 0 1 2 3; do
		on "h$host" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward; ip route add 10.99.0.0/16 via 10.98.0.1 dev x+ onlink'
	done
	found 4 0
	! grep -q '^cable' found.shape
	"$cluster" down --name "$name"

	up --torus 4 --cables link-local
	own_cables 0 'cable      h2 x+ to h3 x-, 10 Gbit/s' 'shape      4'
}

@test "cables of their own that form a chain, a full mesh or a pair give a shape, and all are listed" {
	up --torus 4m --cables own
	own_cables 0 'shape      4m' 'cabling    nothing is wrong'
	"$cluster" cut --name "$name" h1 x+
	discover 1 --output found.shape
	[[ "$output" == *'wrong      '* ]]
	[ "$(grep -c '^cable' found.shape)" -eq 2 ]
	"$cluster" down --name "$name"

	up --full-mesh 4 --cables link-local
	own_cables 0 'shape      4' 'cable      h0 c2 to h2 c0, 10 Gbit/s, not part of the shape' 'cabling    nothing is wrong'
	[[ "$output" == *'the cables follow no axes'* ]]
	"$cluster" down --name "$name"

	# The network for management is no cable.
	up --torus 2d --cables own
	own_cables 0 'shape      2d' 'cabling    nothing is wrong'
	"$cluster" cut --name "$name" h0 x-
	discover 0 --output found.shape
	[ "$(grep '^cable' found.shape)" = 'cable h0 x+ h1 x-' ]
}

@test "a cable of its own has the names of RDMA devices at its ends" {
	up --torus 2 --cables own
	# Below /sys, a folder like the one that a driver makes.
	for host in h0 h1; do
		on "$host" sh -c '
			base=/tmp/class && mkdir -p $base/net $base/infiniband && mount --bind /sys/class/net $base/net &&
			mount --rbind $base /sys/class && cd /sys/class/infiniband || exit
			gids=mlx5_$1/ports/1 && mkdir -p $gids/gids $gids/gid_attrs/ndevs $gids/gid_attrs/types &&
			echo fe80:0000:0000:0000:0204:06ff:fe08:0a0c >$gids/gids/1 && echo "$2" >$gids/gid_attrs/ndevs/1 &&
			echo RoCE v2 >$gids/gid_attrs/types/1' sh "${host#h}" "$([ "$host" = h0 ] && echo x+ || echo x-)"
	done
	own_cables 0 'cable      h0 x+ (mlx5_0, GID 1) to h1 x- (mlx5_1, GID 1), 10 Gbit/s'
	[[ "$(on h0 "$TOP_BUILDDIR/oshinfo" --parsable)" == *', 10 Gbit/s, RDMA device mlx5_0, GID 1'* ]]
}

# Two interfaces on each port, as some NICs show a socket; each hears both of the other end and its twin.
@test "interfaces that share a cable are paired" {
	up --torus 3 --cables link-local
	for host in h0 h1 h2; do
		on "$host" sh -c 'for port in x+ x-; do
			echo 1 >/proc/sys/net/ipv6/conf/$port/disable_ipv6
			for twin in 0 1; do
				ip link add link $port name $port$twin type macvlan mode bridge && ip link set $port$twin up || exit
			done
		done' || skip "the kernel has no macvlan"
	done
	discover 0 --output found.shape
	for pair in 'h0 x+0 h1 x-0' 'h0 x+1 h1 x-1' 'h1 x+0 h2 x-0' 'h1 x+1 h2 x-1' 'h2 x+0 h0 x-0' 'h2 x+1 h0 x-1'; do
		grep -qx "cable $pair" found.shape
	done
	grep -qx 'shape 3' found.shape
}

# cables_of SETTING=VALUE: what oshinfo says about them on h0
cables_of()
{
	on h0 env -C "$PWD" XDG_CACHE_HOME="$PWD/cache" "$@" "$TOP_BUILDDIR/oshinfo" --parsable | grep '^cables.port'
}

@test "oshinfo lists the ports of cables, and their neighbours as soon as discover has found them" {
	up --torus 3 --cables link-local
	[ "$(cables_of | sed 's/fe80[0-9a-f:]*/ADDRESS/')" = "\
cables.port.x+:ADDRESS, 10 Gbit/s, no RDMA device
cables.port.x-:ADDRESS, 10 Gbit/s, no RDMA device" ]
	run on h0 env -C "$PWD" XDG_CACHE_HOME="$PWD/cache" "$TOP_BUILDDIR/torusplan" discover --hostfile /run/cluster/hostfile
	[ "$status" -eq 0 ]
	[ "$(cables_of | sed 's/fe80[0-9a-f:]*/ADDRESS/')" = "\
cables.port.x+:to h1 x-, ADDRESS, 10 Gbit/s, no RDMA device
cables.port.x-:to h2 x+, ADDRESS, 10 Gbit/s, no RDMA device" ]
	# A file that is given counts more.
	printf 'shape 3m\nhost h0 0\nhost h1 1\nhost h2 2\n' >given.shape
	cables_of SHMEM_TORUS_FILE="$PWD/given.shape" >given
	grep -q '^cables.port.x+:to h1, fe80' given
	grep -q '^cables.port.x-:fe80' given
}

# found_by_job HOSTS SHAPE-FILE: oshrun hands this to the PEs on each of these hosts. mpirun may print a warning beside it.
found_by_job()
{
	run on h0 env -C "$PWD" XDG_CACHE_HOME="$PWD/cache" "$TOP_BUILDDIR/oshrun" --hostfile /run/cluster/hostfile -n "$1" \
		printenv OSHRUN_TORUS_FOUND
	printf '%s\n' "$output"
	[ "$status" -eq 0 ] && [ "$(grep -cxF "$2" <<<"$output")" -eq "$1" ]
}

@test "a job gets the cables that are networks of their own, also from what is kept, and on two hosts" {
	up --full-mesh 3 --cables link-local
	hosts='host h0 0;host h1 1;host h2 2;'
	ports='port h0 x+ c1;port h0 x- c2;port h1 x- c0;port h1 x+ c2;port h2 x+ c0;port h2 x- c1;'
	cables='cable h0 c1 h1 c0;cable h1 c2 h2 c1;cable h2 c0 h0 c2;'
	found_by_job 3 "shape 3;$hosts$ports$cables"
	sed -i 's/shape 3;/shape 3m;/' cache/torushmem/torus-*
	found_by_job 3 "shape 3m;$hosts$ports$cables"
	# What a host keeps ends when its own forwarding is switched.
	on h0 sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
	found_by_job 3 "shape 3;$hosts$ports$cables"
	run on h0 env -C "$PWD" XDG_CACHE_HOME="$PWD/cache" SHMEM_INFO=1 "$TOP_BUILDDIR/oshrun" --hostfile /run/cluster/hostfile -n 3 \
		"$TOP_BUILDDIR/examples/hello"
	printf '%s\n' "$output"
	[ "$status" -eq 0 ] && [[ "$output" == *'others by cables'*'here at ports c1, c2'* ]]
	"$cluster" down --name "$name"
	rm -r cache

	up --torus 2 --cables own
	found_by_job 2 'shape 2;host h0 0;host h1 1;cable h0 x+ h1 x-;'
	# IPv4 has link-local addresses, too: of a large network, which says nothing about the cable.
	rm -r cache
	on h0 ip address add 169.254.7.1/16 dev x+
	on h1 ip address add 169.254.8.1/16 dev x-
	found_by_job 2 'shape 2;host h0 0;host h1 1;cable h0 x+ h1 x-;'
}

job() # SETTINGS...: the torus line of its report
{
	run on h0 env -C "$PWD" XDG_CACHE_HOME="$PWD/cache" SHMEM_INFO=1 "$@" "$TOP_BUILDDIR/oshrun" \
		--hostfile /run/cluster/hostfile -n 5 "$TOP_BUILDDIR/examples/hello"
	printf '%s\n' "$output"
	[ "$status" -eq 0 ]
}

@test "a job uses the torus without a setting, keeps it for the next one, and can be told not to" {
	up --torus 5
	job SHMEM_TORUS_DISCOVER=no
	[[ "$output" == *'from the number of nodes'* ]] && [ ! -e cache ]
	job SHMEM_TORUS=5m
	[[ "$output" == *'Torus: 5m, from SHMEM_TORUS'* ]] && [ ! -e cache ]
	job
	[[ "$output" == *'Torus: 5, from the cables, as oshrun found them'* ]]
	# What is kept is used: as a mesh, say.
	sed -i 's/shape 5;/shape 5m;/' cache/torushmem/torus-*
	job
	[[ "$output" == *'Torus: 5m, from the cables, as oshrun found them'* ]]
	# But not beyond an hour, and not when a port of this host has changed.
	touch -d '2 hours ago' cache/torushmem/torus-*
	job
	[[ "$output" == *'Torus: 5, from the cables'* ]]
	sed -i 's/shape 5;/shape 5m;/' cache/torushmem/torus-*
	"$cluster" cut --name "$name" h0 x+
	"$cluster" join --name "$name" h0 x+
	job
	[[ "$output" == *'Torus: 5, from the cables'* ]]
}

# The bytes on the busiest cable, as hundredths of a broadcast of 8 MiB.
busiest() # SETTING=VALUE
{
	on h0 env -C "$PWD" "$TOP_BUILDDIR/oshrun" -q --hostfile /run/cluster/hostfile -x SHMEM_SYMMETRIC_SIZE=64m -x "$1" -n 9 \
		"$TOP_BUILDDIR/tests/cluster/torus_times" broadcast 8m | awk '{ print int(100 * $4 / $2) }'
}

@test "without a setting, a broadcast shares the cables as with one" {
	up --torus 3x3 --rate 50mbit
	share=$(busiest SHMEM_TORUS_DISCOVER=auto)
	echo "$share"
	[ "$share" -le 35 ]
	share=$(busiest SHMEM_TORUS_DISCOVER=no)
	echo "$share"
	[ "$share" -ge 90 ]
}

@test "without IPv6 the kernel's tables count" {
	up --torus 3x3
	for host in 0 1 2 3 4 5 6 7 8; do
		on "h$host" sh -c 'echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6'
	done
	found 3x3 0
	places_are_right
	"$cluster" cut --name "$name" h4 y+
	found 3x3 1 'the cable from port y+ of h4 to port y- of h5 is dead: no carrier'
}

# mpi_job HOSTS SETTINGS...: one PE on each, started by mpirun from the first of them
mpi_job()
{
	run on "${1%%,*}" env -C "$PWD" mpirun -H "$1" -n "$(tr , '\n' <<<"$1" | wc -l)" -x XDG_CACHE_HOME="$PWD/cache" -x SHMEM_INFO=1 \
		"${@:2}" "$TOP_BUILDDIR/examples/hello"
	printf '%s\n' "$output"
	[ "$status" -eq 0 ]
}

@test "a job of mpirun uses what discover last found, on whichever host its PE 0 is" {
	command -v mpirun >/dev/null || skip "no mpirun"
	up --torus 5
	mpi_job h0,h1,h2,h3,h4
	[[ "$output" == *'from the number of nodes'* ]] && [ ! -e cache ]
	run on h0 env -C "$PWD" XDG_CACHE_HOME="$PWD/cache" "$TOP_BUILDDIR/torusplan" discover --hostfile /run/cluster/hostfile
	[ "$status" -eq 0 ]
	mpi_job h0,h1,h2,h3,h4
	[[ "$output" == *'Torus: 5, from the cables, as torusplan discover last found them'* ]]
	mpi_job h1,h2,h3
	[[ "$output" == *'Torus: 3m, from the cables, as torusplan discover last found them'*'3 of the 5 places of 5'* ]]
	mpi_job h1,h2,h3 -x SHMEM_TORUS_DISCOVER=no
	[[ "$output" == *'from the number of nodes'* ]]
	# The state of the host that looks counts, not that of another.
	"$cluster" cut --name "$name" h1 x+
	"$cluster" join --name "$name" h1 x+
	mpi_job h1,h2,h3
	[[ "$output" == *'from the number of nodes'* ]]
	mpi_job h3,h4,h0
	[[ "$output" == *'Torus: 3m, from the cables, as torusplan discover last found them'* ]]
	touch -d '2 hours ago' cache/torushmem/torus-*
	mpi_job h3,h4,h0
	[[ "$output" == *'from the number of nodes'* ]]
}

# No server at hand publishes coordinates for several hosts, so the library's questions to it are answered by what is preloaded.
@test "coordinates that PMIx publishes are used if the nodes fill a box of them" {
	command -v mpirun >/dev/null || skip "no mpirun"
	# shellcheck disable=SC2046 # a list of options
	"${CC:-cc}" -shared -fPIC -o fabric.so "$TOP_SRCDIR/tests/tools/torus/fabric.c" $(pkg-config --cflags --libs pmix) -ldl
	up --switch 6
	fabric=(-x LD_PRELOAD="$PWD/fabric.so")
	mpi_job h0,h1,h2,h3,h4,h5 "${fabric[@]}" -x FABRIC_SHAPE=3,2
	[[ "$output" == *'Torus: 3x2, from the launcher'* ]]
	mpi_job h0,h1,h2,h3 "${fabric[@]}" -x FABRIC_SHAPE=3,2 -x FABRIC_TEXT=1
	[[ "$output" == *'Torus: 2x2, from the launcher'*'4 of the 6 places of 3x2'* ]]
	# A hole, and two nodes at one place.
	mpi_job h0,h1,h2 "${fabric[@]}" -x FABRIC_SHAPE=3,2
	[[ "$output" == *'from the number of nodes'* ]]
	mpi_job h0,h1,h2,h3 "${fabric[@]}" -x FABRIC_SHAPE=1,2
	[[ "$output" == *'from the number of nodes'* ]]
}

# lldpd on each host. Hosts share /run, so each has a socket elsewhere, which is mounted where lldpcli looks for it.
start_lldpd()
{
	for host in "$@"; do
		on "$host" sh -c 'socket=/run/cluster/lldpd.$(hostname) && lldpd -I "*+,*-" -u "$socket" &&
			: >>/run/lldpd.socket && : >>/run/lldpd.socket.lock && chmod 666 /run/lldpd.socket.lock &&
			while [ ! -S "$socket" ]; do sleep 0.02; done && mount --bind "$socket" /run/lldpd.socket'
	done
	for host in "$@"; do
		on "$host" lldpcli update >/dev/null
	done
	for host in "$@"; do
		for ((tries = 0; tries < 100; tries++)); do
			[ "$(on "$host" lldpcli -f keyvalue show neighbors | grep -c 'chassis.name=h')" -lt 4 ] || break
			sleep 0.1
		done
	done
}

@test "where lldpd runs and probes cannot, it says how hosts are cabled, and is named" {
	need_cluster lldpd ip6tables
	up --torus 3x3
	hosts='h0 h1 h2 h3 h4 h5 h6 h7 h8'
	start_lldpd $hosts
	found 3x3 0
	[[ "$output" == *'known by   probes (36 ports)'* ]]
	for host in $hosts; do
		on "$host" ip6tables -A INPUT -p udp --dport 27182 -j DROP
	done
	found 3x3 0
	[[ "$output" == *'known by   LLDP (36 ports)'* ]]
	for host in $hosts; do
		on "$host" sh -c 'echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6; ip neighbour flush nud permanent; ip route flush table main'
	done
	found 3x3 0
	[[ "$output" == *'known by   LLDP (36 ports)'* ]]
	places_are_right
	grep -q '^# Found by torusplan discover, .*; known by LLDP (36 ports)' found.shape
	# A program that does not answer is waited for, not for long.
	start=$(date +%s)
	mkdir bin && printf '#!/bin/sh\nexec sleep 40\n' >bin/lldpcli && chmod +x bin/lldpcli
	run on h0 env -C "$PWD" PATH="$PWD/bin:$PATH" "$TOP_BUILDDIR/torusplan" discover --hostfile /run/cluster/hostfile
	printf '%s\n' "$output"
	[[ "$output" == *'answered   9 of 9 hosts'* ]] && [ $(($(date +%s) - start)) -lt 9 ]
}

@test "in an allocation of Slurm, hosts and the way to them are its own" {
	need_cluster slurmctld
	up --torus 3x3 --slurm
	run on h0 env -C "$PWD" XDG_CACHE_HOME="$PWD/cache" timeout 50 salloc -N 9 "$TOP_BUILDDIR/torusplan" discover --output found.shape
	[ "$status" -eq 0 ] && [[ "$output" == *'cabling    nothing is wrong'* ]]
	places_are_right
	# And srun's jobs use what was found.
	run on h0 env -C "$PWD" SHMEM_INFO=1 XDG_CACHE_HOME="$PWD/cache" timeout 50 srun -N 9 "$TOP_BUILDDIR/examples/hello"
	printf '%s\n' "$output"
	[[ "$output" == *'Torus: 3x3, from the cables, as torusplan discover last found them'* ]]
}

# slurm_job HOSTS SETTING=VALUE...: a job whose PEs read slurm.conf of this folder
slurm_job()
{
	run on h0 env -C "$PWD" timeout 50 srun -N "$1" env SLURM_CONF="$PWD/slurm.conf" SHMEM_INFO=1 "${@:2}" "$TOP_BUILDDIR/examples/hello"
	printf '%s\n' "$output"
	[ "$status" -eq 0 ]
}

# Debian's Slurm is compiled for one dimension, and its controller refuses topology/3d_torus; it has no topology/block. So
# the controller has another slurm.conf than the PEs. All else is real: names of nodes, srun, sinfo.
@test "in a job of Slurm, names or blocks give the shape" {
	need_cluster slurmctld
	up --torus 3x2x1 --slurm-coordinates
	on h0 sh -c "cat \$SLURM_CONF" >slurm.conf.none
	slurm_job 6 SLURM_CONF="$PWD/slurm.conf.none"
	[[ "$output" == *'Torus: 6, from the number of nodes'* ]] || [[ "$output" == *'Torus: 3x2, from the number of nodes'* ]]

	(cat slurm.conf.none && echo TopologyPlugin=topology/3d_torus) >slurm.conf
	slurm_job 6
	[[ "$output" == *'Torus: 3x2x1, from the names of the nodes, as Slurm reads them'* ]]
	slurm_job 4
	[[ "$output" == *'Torus: 2x2x1, from the names of the nodes, as Slurm reads them'*'4 of the 6 places of 3x2x1'* ]]
	slurm_job 5
	[[ "$output" == *'from the number of nodes'* ]]
	slurm_job 6 SHMEM_TORUS_DISCOVER=no
	[[ "$output" == *'from the number of nodes'* ]]
	slurm_job 6 SHMEM_TORUS=6
	[[ "$output" == *'Torus: 6, from SHMEM_TORUS'* ]]

	# A controller that does not answer holds a job up for two seconds.
	mkdir bin && printf '#!/bin/sh\nexec sleep 40\n' >bin/sinfo && chmod +x bin/sinfo
	start=$(date +%s)
	slurm_job 6 PATH="$PWD/bin:$PATH"
	[[ "$output" == *'from the number of nodes'* ]] && [ $(($(date +%s) - start)) -lt 20 ]

	(cat slurm.conf.none && echo TopologyPlugin=topology/block) >slurm.conf
	printf 'BlockName=b1 Nodes=n000,n110,n[200-210]\nBlockName=b2 Nodes=n[010-100]\nBlockSizes=2\n' >topology.conf
	slurm_job 4
	[[ "$output" == *'Torus: 2x2, from the blocks of Slurm (logical: their cabling is unknown)'* ]]
}

@test "twenty-seven hosts are found within two seconds" {
	[ "${TEST_LONG:-no}" = yes ] || skip "with make check-long"
	up --torus 3x3x3
	start=$(date +%s%N)
	discover 0
	taken=$((($(date +%s%N) - start) / 1000000))
	echo "$taken ms"
	[ "$taken" -lt 2000 ]
}
