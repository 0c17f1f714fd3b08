# SPDX-License-Identifier: BSD-3-Clause
#
# For tests on hosts made by tests/cluster/bed: each has a bed of its own, called $name, and leaves nothing of it. Needs root.

# need_bed [PROGRAM...]: skips the test where there can be no bed, or a program is missing
need_bed()
{
	bed=$TOP_SRCDIR/tests/cluster/bed
	name=bats-$$-$BATS_TEST_NUMBER
	cd "$BATS_TEST_TMPDIR" || return
	"$bed" able || skip "no root"
	while [ $# -gt 0 ]; do
		command -v "$1" >/dev/null || skip "no $1"
		shift
	done
}

teardown()
{
	"$bed" down --name "$name" 2>/dev/null || true
}
