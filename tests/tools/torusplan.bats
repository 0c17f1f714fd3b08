#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# run: beside
# torusplan: what it says of recorded machines, the files it writes, the figures it is known
# for, and what it refuses.

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
}

setup()
{
	TORUSPLAN=${TORUSPLAN:-$TOP_BUILDDIR/torusplan}
	machines=$BATS_TEST_DIRNAME/../machines
	cd "$BATS_TEST_TMPDIR" || return
}

teardown()
{
	for name in $(ip netns list 2>/dev/null | sed -n "s/^\(tplan$$-[0-9]*\).*/\1/p"); do
		ip netns delete "$name"
	done
}

# refused EXPECTED ARGUMENTS...: exit code 2 and this one line.
refused()
{
	expected=$1
	shift
	run "$TORUSPLAN" "$@"
	[ "$status" -eq 2 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ "$output" == "torusplan: $expected"* ]] || {
		echo "$output"
		return 1
	}
}

@test "--version and --help, of the tool and of each command" {
	run "$TORUSPLAN" --version
	[ "$status" -eq 0 ]
	[[ "$output" == "torusplan (torushmem) "[0-9]* ]]
	[ "$("$TORUSPLAN" show -V)" = "$output" ]
	run "$TORUSPLAN" --help
	[ "$status" -eq 0 ]
	[[ "$output" == "usage: torusplan COMMAND "* ]]
	for command in show place tni routes discover view; do
		[[ "$output" == *"  $command "* ]]
		[[ "$("$TORUSPLAN" "$command" -h)" == "usage: torusplan $command "* ]]
	done
}

@test "mistakes are refused in one line" {
	refused "no command; there are show, place, tni, routes, discover and view"
	refused "unknown command shwo; did you mean show?" shwo
	refused "unknown command frobnicate; there are" frobnicate
	refused "no machine; give --shape" show
	refused "--shape, --file and --nodes each say what the machine is" show --shape 4 --nodes 4
	refused "unknown option --shap; did you mean --shape?" show --shap 4
	refused "unknown option --dims; torusplan show --help lists them" show --dims 4
	refused "unexpected argument '4x4'" show 4x4
	refused "--shape needs a value (SHAPE)" show --shape
	refused "--shape: its value is empty" show --shape=
	refused "--links takes no value" show --shape 4 --links=yes
	refused "--shape 4y4: not a shape; after a size comes m (mesh), d (two cables) or x" show --shape 4y4
	refused "--nodes 0: not a whole number from 1 to" show --nodes 0
	refused "--hosts node: not a pattern" show --shape 4 --hosts node
	refused "--root 9: no such node; give a number from 0 to 3" show --shape 4 --root 9
	refused "--svg /nowhere/a.svg: cannot be written: No such file" show --shape 4 --svg /nowhere/a.svg
	refused "no hosts; give --hostfile FILE, or -H" discover
	refused "--hostfile and -H both name the hosts" discover --hostfile a -H b
	refused "-H a,,b: not a list of hosts" discover -H a,,b
	refused "--hostfile /nowhere: cannot be read: No such file" discover --hostfile /nowhere
	refused "--timeout 0: not a whole number from 1 to" discover -H a --timeout 0
	refused "--file /nowhere: cannot be read: No such file" show --file /nowhere
	refused "no grid; give its sizes" place --shape 4x4
	refused "--dims 4x5: a grid of 20 PEs does not fit 16 nodes with 1 PEs each" place --shape 4x4 --dims 4x5
	refused "--format lsf: no such form; give openmpi, prrte, slurm or fujitsu" place --shape 4 --dims 4 --format lsf
	refused "--output out: a file in which form?" place --shape 4 --dims 4 --output out
	refused "--format fujitsu: its rank maps have at most three coordinates, the shape has 4 axes" \
		place --shape 2x2x2x2 --dims 16 --format fujitsu
	refused "no tile; give the part of the grid" tni
	refused "--tile 2x0: not a grid" tni --tile 2x0
	refused "--volume z=1: not a list of volumes" tni --tile 2x2 --volume z=1
	refused "--volume x=-1: not a list of volumes" tni --tile 2x2 --volume x=-1
	refused "--rate 0: not a number of GB/s above 0" tni --tile 2 --rate 0
	refused "--tnis 0: not a whole number from 1 to 1024" tni --tile 2 --tnis 0
	refused "--assign worst: no such method; give direction, round-robin or best" tni --tile 2 --assign worst
	refused "--address 10.60.0.0: not a network" routes --shape 4 --address 10.60.0.0
	refused "--address 10.60.0.1/16: it has bits beyond its first 16" routes --shape 4 --address 10.60.0.1/16
	refused "--address 10.60.0.0/30: too small for 4 hosts" routes --shape 4 --address 10.60.0.0/30
	refused "--host 4: no such node" routes --shape 4 --host 4
	refused "--nodes: routes need cables that are there" routes --nodes 4
}

@test "a mistake in a shape file is named with its line" {
	printf 'shape 2x2\nhost a 0,0\nhost b 0,2\n' >bad
	refused "--file bad: line 3: 0,2: outside of 2x2; along axis y coordinates go to 1" show --file bad
	printf 'shape 2x2\0\nhost a 0,0\n' >bad
	refused "--file bad: not a text" show --file bad
	: >bad
	refused "--file bad: it has no shape" show --file bad
}

@test "output that cannot be written is an error" {
	[ -w /dev/full ] || skip "no /dev/full"
	run bash -c "'$TORUSPLAN' show --shape 4x4 >/dev/full"
	[ "$status" -eq 1 ]
	[[ "$output" == "torusplan: cannot write: "* ]]
	run "$TORUSPLAN" place --shape 4 --dims 4 --format slurm --output /dev/full
	[ "$status" -eq 1 ]
}

@test "recorded machines: shapes, boxes, placements" {
	count=0
	for machine in "$machines"/*.shape; do
		sh "$machines/show" "$TORUSPLAN" "$machine" >got
		diff "${machine%.shape}.expected" got
		count=$((count + 1))
	done
	[ "$count" -ge 13 ]
}

@test "a made-up shape says that it is" {
	[[ "$("$TORUSPLAN" show --nodes 36)" == "shape      4x3x3 (logical: made up from the number of nodes)"* ]]
	[[ "$("$TORUSPLAN" show --nodes 37)" == "shape      37 (logical"* ]]
	[[ "$("$TORUSPLAN" place --nodes 36 --dims 6x6)" == *"(logical: made up"* ]]
}

@test "links are mutual, and as many as there are cables" {
	"$TORUSPLAN" show --shape 3x4mx2dx2 --links >text
	cables=$(sed -n 's/^cables *//p' text)
	sed '1,/^links/d; s/://' text |
		awk '{for (i = 4; i < NF; i += 2) print $1, $i, $(i + 1)}' >links
	[ "$(wc -l <links)" -eq $((2 * cables)) ]
	awk '{direction = $2; sub(/./, "&", direction); print $3, substr(direction, 1, 1) (direction ~ /\+/ ? "-" : "+"), $1}' links | sort >back
	sort links | diff - back
}

@test "trees: every node but the root has a parent in each" {
	"$TORUSPLAN" show --shape 3x3x4 --trees --root 1,1,1 >text
	grep -Fqx "trees      both: 3 from node 17, up to 5 deep" text
	grep -Fqx "trees      twice: 6 from node 17, up to 8 deep" text
	[ "$(grep -c '^  tree' text)" -eq 12 ]
	[ "$(grep '^  tree' text | tr ' ' '\n' | grep -c '<')" -eq $((12 * 35)) ]
	[ "$(grep '^  tree' text | grep -c ' 17<')" -eq 0 ]
}

@test "a drawing is well-formed and has every node and cable" {
	"$TORUSPLAN" show --shape 4x3mx2d --hosts 'a&b<#>' --svg out.svg >text
	[ "$(grep -c '<circle' out.svg)" -eq 24 ]
	[ "$(grep -c '<path' out.svg)" -eq "$(sed -n 's/^cables *//p' text)" ]
	grep -Fq 'a&amp;b&lt;0&gt; at 0,0,0' out.svg
	if command -v python3 >/dev/null; then
		python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' out.svg
	fi
	refused "--svg: a drawing of 8000 places shows nothing" show --shape 20x20x20 --svg out.svg
}

@test "rank files of all forms name the same places" {
	printf 'shape 4mx2\npes 2\nhosts n#\n' >machine
	for form in openmpi prrte slurm fujitsu; do
		"$TORUSPLAN" place --file machine --dims 16 --format "$form" >"ranks.$form"
		[ "$(wc -l <"ranks.$form")" -eq 16 ]
	done
	cmp ranks.openmpi ranks.prrte
	[ "$(sed 's/.*=\(.*\) slot=.*/\1/' ranks.openmpi)" = "$(cat ranks.slurm)" ]
	[ "$(sed 's/^rank \([0-9]*\)=.*/\1/' ranks.openmpi | tr '\n' ' ')" = "$(seq -s ' ' 0 15) " ]
	[ "$(sort ranks.openmpi | sed 's/.*=n\(.\) slot=\(.\)$/\1\2/' | sort -u | wc -l)" -eq 16 ]
	# Node 2 * x + y of a mesh of 4 by 2.
	[ "$(sed 's/n//' ranks.slurm | awk '{printf "(%d,%d)\n", $1 / 2, $1 % 2}')" = "$(cat ranks.fujitsu)" ]
}

@test "--output writes the rank file and prints the report" {
	run "$TORUSPLAN" place --shape 4mx2 --dims 8 --format slurm --output ranks
	[ "$status" -eq 0 ]
	[[ "${lines[4]}" == "placed          1.000        1           1 "* ]]
	[ "$("$TORUSPLAN" place --shape 4mx2 --dims 8 --format slurm)" = "$(cat ranks)" ]
}

@test "Open MPI takes its rank file" {
	command -v mpirun >/dev/null || skip "no mpirun"
	[[ "$(mpirun --version)" == *"Open MPI"*" 4."* ]] || skip "not the Open MPI this is tried with"
	[ "$(nproc)" -ge 2 ] || skip "it binds, and here is one processor"
	printf 'shape 1\npes 2\nhost %s 0\n' "$(uname -n)" >machine
	"$TORUSPLAN" place --file machine --dims 2 --format openmpi >ranks
	# shellcheck disable=SC2016 # the shell that mpirun starts expands it
	run env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 60 \
		mpirun --oversubscribe --rankfile ranks -n 2 sh -c 'echo "rank $OMPI_COMM_WORLD_RANK"'
	[ "$status" -eq 0 ]
	[ "$(printf '%s\n' "$output" | sort)" = "rank 0
rank 1" ]
}

rate()
{
	"$TORUSPLAN" tni --tile 2x2 --tnis 6 --rate 6.8 "$@" | sed -n 's/^effective //p'
}

@test "TNIs: the published figures" {
	[ "$(rate --volume x=1,y=1 --assign direction)" = "27.2 GB/s" ]
	[ "$(rate --volume x=1,y=1 --assign round-robin)" = "36.3 GB/s" ]
	[ "$(rate --volume x=2,y=1 --assign direction)" = "20.4 GB/s" ]
	[ "$(rate --volume x=2,y=1 --assign round-robin)" = "32.6 GB/s" ]
	[ "$(rate --volume x=2,y=1 --assign best)" = "40.8 GB/s" ]
	[ "$(rate)" = "36.3 GB/s" ]
}

@test "TNIs: local messages past them shorten the step" {
	"$TORUSPLAN" tni --tile 2x2 >through
	"$TORUSPLAN" tni --tile 2x2 --memory-rate 1000 >past
	grep -q '^step      441.2 us, which the TNIs take' through
	grep -q '^step      294.1 us, which the links take' past
	grep -Fqx 'leaving   27.2 GB/s' past
	[ "$(grep -c '^  PE .*  -' past)" -eq 4 ]
}

@test "routes: what is reached, and what of cycles" {
	run "$TORUSPLAN" routes --shape 3x3x3
	[ "$status" -eq 0 ]
	[[ "$output" == *"reached    all 702 pairs, in 2.077 hops on average and 3 at most"* ]]
	[[ "$output" == *"cycles     none"* ]]
	run "$TORUSPLAN" routes --shape 3x5
	[[ "$output" == *"cycles     yes, for one: "*"Hosts that forward drop a packet"* ]]
	run "$TORUSPLAN" routes --shape 3x5 --no-cycles
	[[ "$output" == *"cycles     none"* ]]
	printf 'shape 4x3\nhost a 0,0\nhost b 2,0\nhost c 0,1\n' >holes
	run "$TORUSPLAN" routes --file holes
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ "$output" == "torusplan: 4 of 6 pairs are not reached: no cables lead from b to a through hosts" ]]
}

@test "dead and slow cables and hosts: shown, drawn, and gone around" {
	printf 'shape 4x3\nhosts n#\ndead n5\ndead n0 x+\nslow 4 0,1 y+\n' >flawed
	run "$TORUSPLAN" show --file flawed --links --svg out.svg
	[ "$status" -eq 0 ]
	for line in "cables     19" "dead       n5" "dead       0,0 x+" "slow       0,1 y+, 4 times" \
		"  0 n0 0,0: x- 8 y+ 1 y- 2"; do
		[[ "$output" == *"$line"* ]]
	done
	[ "$(grep -c 'stroke-dasharray="1.5,2"' out.svg)" -eq 1 ]
	[ "$(grep -c 'stroke-dasharray="6,5"' out.svg)" -eq 1 ]
	run "$TORUSPLAN" routes --file flawed
	[[ "$output" == *"reached    all 110 pairs"*"around     26 pairs go round"* ]]
	"$TORUSPLAN" routes --file flawed --host n0 >commands
	grep -Fqx 'ip route add 10.60.0.4/32 via 10.60.0.2 dev y+ onlink src 10.60.0.1' commands
	[ "$(grep -c 'dev x+' commands)" -eq 0 ]
	run "$TORUSPLAN" routes --file flawed --no-cycles
	[ "$status" -eq 1 ]
	printf 'shape 4x3\nhosts n#\ndead n12\n' >flawed
	refused "--file flawed: line 3: n12: no such host up to here" show --file flawed
}

@test "routes: one host's, all hosts', by number, place and name" {
	"$TORUSPLAN" routes --shape 3x3 --host 4 >by_number
	[ "$("$TORUSPLAN" routes --shape 3x3 --host 1,1)" = "$(cat by_number)" ]
	[ "$("$TORUSPLAN" routes --shape 3x3 --host node4)" = "$(cat by_number)" ]
	grep -Fqx 'ip address add 10.60.0.5/32 dev lo' by_number
	grep -Fqx 'ip route add 10.60.0.9/32 via 10.60.0.8 dev x+ onlink src 10.60.0.5' by_number
	[ "$(grep -c '^ip route add' by_number)" -eq 8 ]
	"$TORUSPLAN" routes --shape 3x3 --host all --batch --device node0 --address 10.9.0.0/24 >out
	[ "$(grep -c '^route add 10\.9\.0\.' out)" -eq 72 ]
	[ "$(grep -c '^address add 10.9.0.*/32 dev node0$' out)" -eq 9 ]
	[ "$(grep -c '^echo\|^ip' out)" -eq 0 ]
}

# The routes of all hosts of a cluster of this shape, one a line: host, target, the
# next host and the port to it.
routes_of_cluster()
{
	mkdir -p net/links
	awk -v kind=torus -v shape="$1" -v cables=routed -v slots=1 -v run=net -f "$BATS_TEST_DIRNAME/../cluster/network.awk"
	for file in net/links/h*; do
		sed -n "s|^route replace \([0-9.]*\)/32\( tos 0x08\)\{0,1\} via \([0-9.]*\) dev \(..\) .*|${file#net/links/h} \1\2 \3 \4|p" "$file"
	done | sort
	rm -r net
}

routes_of_plan()
{
	"$TORUSPLAN" routes --shape "$1" --host all --batch |
		sed -n 's/^# host \([0-9]*\) .*/host \1/p; s|^route add \([0-9.]*\)/32\( tos 0x08\)\{0,1\} via \([0-9.]*\) dev \(..\) .*|\1\2 \3 \4|p' |
		awk '$1 == "host" { host = $2; next } { print host, $0 }' | sort
}

@test "routes: those of the cluster of hosts are the same, in every shape" {
	for shape in 2 2d 5 4m 6 3x3 2dx3 3x2dx2d 2x2x2 3x3x3 4mx2x3 5x4 6mx1x3 2x3x2x4 3x2x1x5m; do
		routes_of_cluster "$shape" >cluster
		routes_of_plan "$shape" >plan
		[ -s plan ]
		diff cluster plan || { echo "shape $shape" && return 1; }
	done
}

try_namespace()
{
	[ "$(id -u)" -eq 0 ] && command -v ip >/dev/null && ip netns add "tplan$$-0" 2>/dev/null &&
		ip -n "tplan$$-0" link add x+ type veth peer name x- 2>/dev/null &&
		ip netns exec "tplan$$-0" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward' 2>/dev/null
}

# cable_hosts SHAPE: a network namespace for each host, with the cables that torusplan lists.
cable_hosts()
{
	"$TORUSPLAN" show --shape "$1" --links >shape
	hosts=$(sed -n 's/^nodes *//p' shape)
	for host in $(seq 0 $((hosts - 1))); do
		ip netns add "tplan$$-$host"
	done
	sed '1,/^links/d; s/://' shape | awk -v name="tplan$$-" '{
		for (i = 4; i < NF; i += 2)
			if ($i ~ /\+/)
				print "link add", $i, "netns", name $1, "type veth peer name", substr($i, 1, 1) "-", "netns",
					name $(i + 1)
	}' >cables
	ip -batch cables
}

@test "routes: in network namespaces cabled so, every host reaches every other" {
	try_namespace || skip "no network namespaces with veth and forwarding here"
	ip netns delete "tplan$$-0"
	command -v python3 >/dev/null || skip "no python3 to send with"
	for shape in 3x4 2dx3mx2; do
		cable_hosts "$shape"
		for host in $(seq 0 $((hosts - 1))); do
			"$TORUSPLAN" routes --shape "$shape" --host "$host" >commands
			ip netns exec "tplan$$-$host" sh -e commands
		done
		# Nobody listens: a refusal is an answer from there.
		for host in $(seq 0 $((hosts - 1))); do
			ip netns exec "tplan$$-$host" python3 - "$hosts" <<'END'
import socket, sys
for host in range(int(sys.argv[1])):
    try:
        socket.create_connection(("10.60.0.%d" % (1 + host), 9), 5)
        sys.exit("somebody listens")
    except ConnectionRefusedError:
        pass
END
		done
		teardown
	done
}

@test "view of what is no text ends at once, in one line" {
	run timeout 10 "$TORUSPLAN" view /dev/zero
	[ "$status" -ne 0 ]
	[ "$status" -ne 124 ]
	[ "${#lines[@]}" -eq 1 ]
	[ "$output" = "torusplan: /dev/zero: not a text" ]
}

@test "routes of thousands of hosts show on a terminal how far they are, and nowhere else" {
	command -v python3 >/dev/null || skip "no python3 to make a terminal with"
	terminal=$BATS_TEST_DIRNAME/../lib/on_terminal
	python3 "$terminal" 20 stderr sh -c '"$1" routes --shape 16x16x16 --host all & sleep 5; kill $!' sh "$TORUSPLAN" >said
	grep -q $'\rtorusplan: hosts: [0-9]* of 4096, [0-9]* s' said
	python3 "$terminal" 20 stderr "$TORUSPLAN" routes --shape 4x4 --host all >said
	[ ! -s said ]
}
