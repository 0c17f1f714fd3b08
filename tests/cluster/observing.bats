# SPDX-License-Identifier: BSD-3-Clause
#
# Counters, traces and hang reports of jobs on several hosts. Needs root.

bats_require_minimum_version 1.5.0

setup_file()
{
	export OSHCC="${OSHCC:-$TOP_BUILDDIR/oshcc}"
	cat >"$BATS_FILE_TMPDIR/ring.c" <<-'END_OF_RING'
		#include <shmem.h>

		static long word;

		/* Each PE puts 100 longs to the next one by one, with a barrier after each. */
		int main(void)
		{
			shmem_init();
			int next = (shmem_my_pe() + 1) % shmem_n_pes();

			for (int i = 0; i < 100; i++) {
				shmem_long_p(&word, i, next);
				shmem_barrier_all();
			}
			shmem_finalize();
			return 0;
		}
	END_OF_RING
	"$OSHCC" "$BATS_FILE_TMPDIR/ring.c" -o "$BATS_FILE_TMPDIR/ring"
	"$OSHCC" -O1 -o "$BATS_FILE_TMPDIR/hang" "$TOP_SRCDIR/tests/tools/hang.c"
}

load "$TOP_SRCDIR/tests/lib/cluster.bash"

setup()
{
	need_cluster mpirun
	work=$TOP_BUILDDIR/$name # the hosts share the build tree
	mkdir "$work" && cd "$work" || return
	cp "$BATS_FILE_TMPDIR/ring" "$BATS_FILE_TMPDIR/hang" .
}

teardown()
{
	"$cluster" down --name "$name" 2>/dev/null || true
	rm -rf "${work:?}"
}

# on_hosts PES SETTING... -- COMMAND...
on_hosts()
{
	local pes=$1 settings=()

	shift
	while [ "$1" != -- ]; do
		settings+=(-x "$1")
		shift
	done
	shift
	timeout -k 2 60 "$cluster" exec --name "$name" h0 "$TOP_BUILDDIR/oshrun" -q --launcher mpirun --hostfile /run/cluster/hostfile \
		"${settings[@]}" -n "$pes" "$@"
}

@test "what each link carried" {
	"$cluster" up --name "$name" --torus 4m --share "$TOP_BUILDDIR"
	run -0 --separate-stderr on_hosts 4 SHMEM_STATS=1 SHMEM_TORUS=4m SHMEM_BARRIER_ALGORITHM=dissemination -- "$work/ring"
	printf '%s\n' "$stderr"
	# From 0 to 1: 100 puts, and of each barrier the words from 0 to 1 and to 2. From 1 to 0: the puts from 3 to 0, and the words from 3 and from 2.
	[[ "$stderr" =~ 'link 0 x+            |            300 |           2400' ]]
	[[ "$stderr" =~ 'link 1 x-            |            300 |           2400' ]]
	[[ "$stderr" == *'6 of 6 links of the torus were used'* ]]
}

# Whoever is in a barrier was there when the last came: no one's ends before all have begun, on a clock for all.
@test "clocks of hosts that are a thousand seconds apart are one in a trace" {
	[ -e /proc/self/ns/time ] || skip "this kernel has one clock for all"
	command -v python3 >/dev/null || skip "no python3 to read traces with"
	"$cluster" up --name "$name" --switch 3 --clocks 1000 --share "$TOP_BUILDDIR"
	on_hosts 3 SHMEM_TRACE="$work/trace" -- "$work/ring"
	python3 - trace <<-'END'
		import json, sys
		calls = [e for e in json.load(open(sys.argv[1]))["traceEvents"] if e["ph"] == "X" and e["tid"] == 1]
		barriers = [sorted((e["ts"], e["ts"] + e["dur"]) for e in calls if e["pid"] == pe and e["name"] == "shmem_barrier_all")
			    for pe in range(3)]
		assert [len(b) for b in barriers] == [100] * 3
		early = [max(b[i][0] for b in barriers) - min(b[i][1] for b in barriers) for i in range(100)]
		print("the last came at most %.1f us after the first had gone" % max(early))
		assert max(early) < 500
	END
	"$TOP_BUILDDIR/torusplan" view trace --output trace.html
}

# hangs HOW LINE...: of four PEs on two hosts, the report has each of the lines (patterns)
hangs()
{
	local how=$1 line

	shift
	on_hosts 4 SHMEM_HANG_SECONDS=2 -- timeout 6 "$work/hang" "$how" >said 2>&1 || true
	cat said
	for line in "$@"; do
		grep -Eq "hang report: $line" said
	done
}

@test "reports of hangs across hosts name the culprit" {
	"$cluster" up --name "$name" --switch 2 --pes-per-host 2 --share "$TOP_BUILDDIR"
	hangs missing 'PEs 0,2-3: in shmem_barrier_all, waiting for PE 1, ' 'PE 1: in user code, '
	hangs loop 'PEs 0,2-3: in shmem_barrier_all, waiting for PE 1, ' 'PE 1: in user code, '
	hangs value 'PEs 0,2-3: in shmem_long_wait_until, waiting for the word at global data .*, which is -3, to be >= 7, ' \
		'PE 1: in shmem_barrier_all, waiting for PEs 0,2-3, '
	hangs lock 'PEs 0,2-3: in shmem_set_lock, waiting for the lock at global data .*, which PE 1 holds, '
	hangs order 'PEs 0,2-3: in shmem_barrier_all, waiting for PE 1, ' 'PE 1: in shmem_long_sum_reduce, waiting for PEs 0,2-3, '
}

@test "a setting that reached one host only" {
	"$cluster" up --name "$name" --switch 2 --share "$TOP_BUILDDIR"
	# shellcheck disable=SC2016 # for the shell of each PE
	run ! on_hosts 2 -- sh -c '[ "$(hostname)" != h1 ] || export SHMEM_STATS=1; exec "$1"' sh "$work/ring"
	[[ "$output" == *'shmem_init: SHMEM_STATS differs between this PE and PE 0; give all PEs the same value (with mpirun over hosts: -x SHMEM_STATS)'* ]]
}
