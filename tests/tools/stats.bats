#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The table of SHMEM_STATS: of a program whose calls can be counted by hand, in jobs of several sizes and nodes.

setup_file()
{
	: "${TOP_BUILDDIR:?is the folder torushmem was built in}"
	export OSHRUN="${OSHRUN:-$TOP_BUILDDIR/oshrun}" OSHCC="${OSHCC:-$TOP_BUILDDIR/oshcc}"
	cd "$BATS_FILE_TMPDIR" || return
	cat >counted.c <<'END'
#include <shmem.h>

static long word;

/* PE i puts 10 * (i + 1) longs, one by one; all meet twice. */
int main(void)
{
	shmem_init();
	int me = shmem_my_pe(), next = (me + 1) % shmem_n_pes();

	for (int i = 0; i < 10 * (me + 1); i++)
		shmem_long_p(&word, i, next);
	shmem_barrier_all();
	shmem_barrier_all();
	shmem_finalize();
	return 0;
}
END
	"$OSHCC" counted.c -o counted
}

# row NAME: its numbers, without the bars.
row()
{
	printf '%s\n' "$output" | sed -n "s/^$1  *| *//p" | tr -s ' |' ' '
}

@test "calls, bytes and paths of every PE" {
	run "$OSHRUN" -n 5 env SHMEM_STATS=1 "$BATS_FILE_TMPDIR/counted"
	[ "$status" -eq 0 ]
	[ "$(row p | cut -d' ' -f1-8)" = '150 10 30 50 1200 80 240 400' ]
	[ "$(row 'path local' | cut -d' ' -f1-8)" = '150 10 30 50 1200 80 240 400' ]
	[ "$(row barrier | cut -d' ' -f1-4)" = '10 2 2 2' ]
	[ -z "$(row put)" ]
}

@test "between nodes and on them" {
	run "$OSHRUN" -n 4 env SHMEM_STATS=yes SHMEM_NODE_PES=2 "$BATS_FILE_TMPDIR/counted"
	[ "$status" -eq 0 ]
	[ "$(row p | cut -d' ' -f1-4)" = '100 10 20 40' ]
	# PEs 0 and 2 have their neighbour on their node, PEs 1 and 3 have not.
	[ "$(row 'path local' | cut -d' ' -f1-4)" = '40 0 0 30' ]
	[ "$(row 'path ucx' | cut -d' ' -f1-4)" = '60 0 0 40' ]
}

@test "one PE; nothing without the setting; a bad value" {
	run env SHMEM_STATS=1 "$BATS_FILE_TMPDIR/counted"
	[ "$status" -eq 0 ]
	[ "$(row p | cut -d' ' -f1-4)" = '10 10 10 10' ]
	run "$BATS_FILE_TMPDIR/counted"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	run env SHMEM_STATS=perhaps "$BATS_FILE_TMPDIR/counted"
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ "$output" == *'SHMEM_STATS=perhaps: give yes or no'* ]]
}
