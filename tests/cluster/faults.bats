# SPDX-License-Identifier: BSD-3-Clause
#
# Cables of a torus that die or become slow while a job runs: collectives notice, one line says so, all data is right, and by the kernel's
# counters the others carry what the cable would have carried. More shapes come with make check-long. The routes of hosts that forward for each other are those of torusplan, as
# whoever runs them would set them. Needs root.

load "$TOP_SRCDIR/tests/lib/cluster.bash"

setup()
{
	need_cluster
}

on()
{
	timeout 60 "$cluster" exec --name "$name" "$@"
}

# up SHAPE [PES [RATE]]: hosts, with one PE each or as many, and their shape file
up()
{
	"$cluster" up --name "$name" --torus "$1" --pes-per-host "${2:-1}" --rate "${3:-50mbit}" --share "$TOP_BUILDDIR" --share "$PWD"
	count=$(($(echo "$1" | sed 's/m//g; s/x/*/g') * ${2:-1}))
	{
		echo "shape $1"
		"$cluster" hosts --name "$name" | sed 's/^\(h[0-9]*\) .* at \([0-9,]*\).*/host \1 \2/'
	} >shape
}

# begin SETTING=VALUE... -- STEP...: a job of tests/cluster/faults; next_step runs its next step
begin()
{
	settings=''
	while [ "$1" != -- ]; do
		settings="$settings -x $1"
		shift
	done
	shift
	rm -f [0-9] job.status
	step=0
	{
		status=0
		timeout 120 "$cluster" exec --name "$name" h0 env -C "$PWD" "$TOP_BUILDDIR/oshrun" -q --hostfile /run/cluster/hostfile \
			-x SHMEM_SYMMETRIC_SIZE=64m $settings -n "$count" "$TOP_BUILDDIR/tests/cluster/faults" "$PWD" "$@" >job 2>&1 3>&- || status=$?
		echo "$status" >job.status
	} &
}

next_step()
{
	: >"$step"
	until grep -q "^step $step " job 2>/dev/null; do
		[ ! -e job.status ] || { cat job && return 1; }
		sleep 0.1
	done
	step=$((step + 1))
}

finish()
{
	wait
	cat job
	[ "$(cat job.status)" -eq 0 ]
}

# The number of lines about cables, and that each has these words.
lines_are() # COUNT WORDS
{
	grep 'torushmem: PE [0-9]*: the cable from' job >lines || true
	cat lines
	[ "$(wc -l <lines)" -eq "$1" ] && [ "$(grep -c "$2" lines)" -eq "$1" ]
}

sent_by()
{
	on "$1" cat "/sys/class/net/$2/statistics/tx_bytes"
}

# The bytes that each cable has sent, one a line.
all_sent()
{
	for host in $("$cluster" hosts --name "$name" | cut -d ' ' -f 1); do
		on "$host" cat /proc/net/dev | sed -n "s/^ *\([xyz][+-]\): */$host \1 /p" | awk '{ print $1 ":" $2, $11 }'
	done
}

# busiest BYTES: what the busiest cable has sent since all_sent >before, in hundredths of these
busiest()
{
	all_sent | paste -d ' ' before - | awk -v bytes="$1" '$4 - $2 > most { most = $4 - $2 } END { print int(100 * most / bytes) }'
}

# Tells the hosts of the routes round the cables that the shape file calls dead.
set_routes() # [DEAD...]
{
	{
		cat shape
		printf '%s\n' "$@"
	} >now.shape
	for host in $("$cluster" hosts --name "$name" | cut -d ' ' -f 1); do
		"$TOP_BUILDDIR/torusplan" routes --file now.shape --host "$host" --batch --device node0 |
			sed -n 's/^route add/route replace/p' | on "$host" ip -batch -
	done
}

# One job with a cable cut after its first step; sets $share to what the busiest cable carries of a broadcast then.
with_cut() # SETTING=VALUE...
{
	begin "$@" -- broadcast:2m:1 broadcast:2m:3 reduce:2m:2 fcollect:1m:2 broadcast:2m:4
	next_step
	"$cluster" cut --name "$name" h0 x+
	set_routes 'dead h0 x+'
	all_sent >before
	next_step
	share=$(busiest $((3 * 2097152)))
	echo "the busiest cable has sent $share hundredths"
	next_step
	next_step
	"$cluster" join --name "$name" h0 x+
	set_routes
	before=$(sent_by h0 x+)
	next_step
	after=$(($(sent_by h0 x+) - before))
	finish
}

@test "a cable that is cut is named and avoided, and used again when it is back" {
	up 3x3
	with_cut SHMEM_TORUS=3x3
	lines_are 2 'the cable from port x[+-] of h[03] to h[03] '
	head -1 lines | grep -q 'is dead: no carrier; collectives avoid it$'
	tail -1 lines | grep -q 'has a carrier again: collectives use it$'
	[ "$share" -le 42 ]
	[ "$after" -gt 1000000 ]
}

@test "with SHMEM_TORUS_FAULTS=no trees stay as they are, and another cable carries twice as much" {
	up 3x3
	with_cut SHMEM_TORUS=3x3 SHMEM_TORUS_FAULTS=no
	lines_are 0 ''
	[ "$share" -ge 46 ]
}

# with_slow SHAPE SETTING=VALUE...: a job with a slow cable after its first step; sets $carried to what that carries later of 20 MiB
with_slow()
{
	shape=$1
	shift
	begin "$@" -- broadcast:2m:2 broadcast:4m:5 broadcast:4m:2 reduce:4m:2 fcollect:4m:1
	next_step
	on h0 tc qdisc change dev x+ root tbf rate 5mbit burst 64kb limit 4mb
	next_step
	before=$(sent_by h0 x+)
	next_step
	next_step
	next_step
	carried=$(($(sent_by h0 x+) - before))
	echo "the slow cable of $shape has carried $carried"
	finish
	on h0 tc qdisc change dev x+ root tbf rate 50mbit burst 64kb limit 4mb
}

@test "a cable that becomes slow is named, and carries next to nothing from then on" {
	[ "${TEST_LONG:-no}" = no ] && shapes=3x3 || shapes='3x3 2x3x2 5'
	for shape in $shapes; do
		up "$shape"
		with_slow "$shape" SHMEM_TORUS="$shape" SHMEM_STATS=yes
		lines_are 1 'from port x[+-] of h[0-9]* to h[0-9]* is slow: [0-9.]* MB/s, and port [xyz][+-] has .*; collectives avoid it$'
		grep -q '^torushmem: the cable from h0 to h[0-9]*, at [0,]* x+: [0-9]* % of the usual rate$' job
		[ "$carried" -lt 500000 ]
		with_slow "$shape" SHMEM_TORUS="$shape" SHMEM_TORUS_FAULTS=no
		lines_are 0 ''
		[ "$carried" -gt 2000000 ]
		"$cluster" down --name "$name"
	done
}

# What the lines of a job say that were printed when plans were made again, with the steps that were over before.
plans_made_again()
{
	awk '$1 == "step" { step = $2 + 1 } /was made again/ { print step, $7 }' job
}

# In step 4, where the cut is noticed, some PEs have started the sum and others have not: it is made again in step 5.
@test "all-to-alls, and plans that are older, avoid a cable that becomes slow and is then cut" {
	up 3x3 1 100mbit
	begin SHMEM_TORUS=3x3 SHMEM_DEBUG=1 -- plans:1m:1 alltoall:2m:10 alltoall:2m:3 plans:1m:2 late:1m:5 alltoall:2m:5 plans:1m:1
	next_step
	on h0 tc qdisc change dev x+ root tbf rate 20mbit burst 64kb limit 4mb
	next_step
	before=$(sent_by h0 x+)
	next_step
	next_step
	carried=$(($(sent_by h0 x+) - before))
	echo "the slow cable has carried $carried"
	"$cluster" cut --name "$name" h0 x+
	set_routes 'dead h0 x+'
	next_step
	next_step
	next_step
	finish
	lines_are 2 'from port x[+-] of h[03] to h[03] is .*; collectives avoid it$'
	head -1 lines | grep -q 'is slow: [0-9.]* MB/s, and port [xyz][+-] has '
	tail -1 lines | grep -q 'is dead: no carrier; '
	[ "$carried" -lt 300000 ]
	[ "$(plans_made_again)" = "1 shmemx_broadcast_init,
1 shmemx_allreduce_init,
4 shmemx_broadcast_init,
5 shmemx_allreduce_init," ]
}

@test "barriers notice a cable that becomes slow where a program only starts plans" {
	up 3x3 1 100mbit
	begin SHMEM_TORUS=3x3 SHMEM_DEBUG=1 -- starts:1m:2 starts:1m:12 starts:1m:2
	next_step
	on h0 tc qdisc change dev x+ root tbf rate 20mbit burst 64kb limit 4mb
	next_step
	before=$(sent_by h0 x+)
	next_step
	carried=$(($(sent_by h0 x+) - before))
	echo "the slow cable has carried $carried"
	finish
	lines_are 1 'from port x[+-] of h[03] to h[03] is slow: [0-9.]* MB/s, and port [xyz][+-] has .*; collectives avoid it$'
	[ "$carried" -lt 300000 ]
	[ "$(plans_made_again)" = "1 shmemx_broadcast_init,
1 shmemx_allreduce_init," ]
}

# all_to_alls SHAPE HOST...: a job with all-to-alls while the cables x+ of these become slow
all_to_alls()
{
	shape=$1
	shift
	up "$shape" 1 100mbit
	begin SHMEM_TORUS="$shape" SHMEM_DEBUG=1 -- alltoall:2m:3 alltoall:2m:16 alltoall:2m:3
	next_step
	for host in "$@"; do
		on "$host" tc qdisc change dev x+ root tbf rate 20mbit burst 64kb limit 4mb
	done
	next_step
	all_sent >before
	next_step
	all_sent | paste -d ' ' before - >sent
	finish
	lines_are $# 'from port x[+-] of h[0-9]* to h[0-9]* is slow: [0-9.]* MB/s, and port [xyz][+-] has .*; collectives avoid it$'
	for host in "$@"; do
		carried=$(awk -v cable="$host:x+" '$1 == cable { print $4 - $2 }' sent)
		echo "the slow cable of $host has carried $carried"
		[ "$carried" -lt 200000 ]
	done
	"$cluster" down --name "$name"
}

@test "all-to-alls avoid slow cables of two lines of an axis at different coordinates" {
	all_to_alls 3x3 h0 h4
}

@test "all-to-alls go by the line beside a slow cable of a mesh, or beside the second one of a ring" {
	all_to_alls 3mx3 h0
	[ "${TEST_LONG:-no}" = no ] || all_to_alls 3x3 h0 h3
}

@test "a slow cable is noticed over libfabric, with two PEs to a host" {
	grep -q 'define HAVE_OFI 1' "$TOP_BUILDDIR/config.h" || skip 'the library is built without libfabric'
	up 3 2 200mbit
	begin SHMEM_TORUS=3 SHMEM_PATHS=local,ofi -- broadcast:1m:1 broadcast:8m:10
	next_step
	on h0 tc qdisc change dev x+ root tbf rate 40mbit burst 64kb limit 4mb
	next_step
	finish
	lines_are 1 'from port x[+-] of h[01] to h[01] is slow: [0-9.]* MB/s, and port x[+-] has .*; collectives avoid it$'
}

@test "cables that are well are not named, on shapes found by their cables" {
	[ "${TEST_LONG:-no}" = no ] && shapes=2x3 || shapes='2x3 3x3x3 3mx3'
	for shape in $shapes; do
		up "$shape"
		begin -- broadcast:1m:10 reduce:1m:10 fcollect:1m:5 broadcast:256k:20
		for _ in 1 2 3 4; do
			next_step
		done
		finish
		lines_are 0 ''
		"$cluster" down --name "$name"
	done
}
