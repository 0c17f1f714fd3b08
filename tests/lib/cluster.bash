# SPDX-License-Identifier: BSD-3-Clause
#
# For tests on hosts made by tests/cluster/cluster: each has a cluster of its own, called $name, and leaves nothing of it. Needs root.

# need_cluster [PROGRAM...]: skips the test where there can be no cluster, or a program is missing
need_cluster()
{
	cluster=$TOP_SRCDIR/tests/cluster/cluster
	name=bats-$$-$BATS_TEST_NUMBER
	cd "$BATS_TEST_TMPDIR" || return
	"$cluster" able || skip "no root"
	while [ $# -gt 0 ]; do
		command -v "$1" >/dev/null || skip "no $1"
		shift
	done
}

# signal_on HOST SIGNAL PROGRAM: to its processes on this host alone, although each host sees those of all.
signal_on()
{
	# shellcheck disable=SC2016 # for the shell over there
	"$cluster" exec --name "$name" "$1" sh -c 'exec pkill "-$0" --ns $$ --nslist net -x "$1"' "$2" "$3"
}

teardown()
{
	"$cluster" down --name "$name" 2>/dev/null || true
}
