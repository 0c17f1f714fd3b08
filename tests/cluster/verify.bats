#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
#
# oshverify on several hosts: by a hostfile, and in an allocation of Slurm. Needs root.

bats_require_minimum_version 1.5.0

load "$TOP_SRCDIR/tests/lib/cluster.bash"

setup()
{
	need_cluster mpirun
	work=$TOP_BUILDDIR/$name # the hosts share the build tree
	mkdir "$work" && cd "$work" || return
}

teardown()
{
	"$cluster" down --name "$name" 2>/dev/null || true
	rm -rf "${work:?}"
}

# passed_on PATH: how many runs the report says passed there, and none otherwise.
passed_on()
{
	grep -q '"verdict": "passed"' report.json || return
	grep -c "\"result\": \"passed\", \"name\": \"[a-z_]*\", \"path\": \"$1\"" report.json
}

# is_nameless: the report does not have the hosts' names.
is_nameless()
{
	! grep -w -e h0 -e h1 -e h2 -e h3 report.json && ! grep -wE '(h0|10\.[0-9]+\.[0-9]+\.[0-9]+)' report.html
}

@test "four hosts of a hostfile: the paths between them, in numbers" {
	run timeout 500 "$cluster" run --name "$name" --switch 4 -- "$TOP_BUILDDIR/oshverify" --quick --paths local,hosts \
		--only rma,reduce --parts tests,bench --hostfile /run/cluster/hostfile --output report
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(passed_on hosts)" -ge 3 ]
	grep -Eq '"hosts": \{"count": 4, "launcher": "(mpirun|prterun)"' report.json
	grep -q '"found": \["PEs: 4, of which 1 on this node by load and store; others by UCX"' report.json
	is_nameless
	grep -q -- '--host host0,host1,host2,host3 ' report.json
}

@test "a hosts' torus is in the report, and names where they are asked for" {
	run timeout 500 "$cluster" run --name "$name" --torus 2x2 -- env SHMEM_TORUS=2x2 "$TOP_BUILDDIR/oshverify" --quick --paths hosts \
		--only barrier --parts tests --hostfile /run/cluster/hostfile --output report --with-host-names
	echo "$output"
	[ "$status" -eq 0 ]
	grep -q '"torus": "2x2' report.json
	grep -q '"names": "h0 h1 h2 h3"' report.json
	grep -qw h3 report.html
}

@test "hosts in a ring that forward nothing: how they are reached, and their cables, without addresses" {
	run timeout 300 "$cluster" run --name "$name" --torus 3 --cables own -- env XDG_CACHE_HOME="$work/cache" "$TOP_BUILDDIR/oshverify" \
		--quick --paths hosts,hosts-cables --only barrier --parts tests --hostfile /run/cluster/hostfile --output report
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(passed_on hosts-cables)" -eq 1 ]
	grep -q '"found": \["PEs: 3, of which 1 on this node by load and store; others by cables"' report.json
	grep -q '"cables": {"path": "yes, ' report.json
	is_nameless
	! grep -w fe80 report.json report.html
}

@test "in an allocation of Slurm it finds the hosts by itself" {
	command -v salloc >/dev/null || skip "no salloc"
	run timeout 500 "$cluster" run --name "$name" --slurm --switch 4 -- salloc -Q -N 4 "$TOP_BUILDDIR/oshverify" --quick --paths local,hosts \
		--only rma,reduce --parts tests,bench --output report
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(passed_on hosts)" -ge 3 ]
	grep -q '"hosts": {"count": 4, "launcher": "srun"' report.json
	is_nameless
}
