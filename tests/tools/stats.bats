#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# run: beside
# The table of SHMEM_STATS: of a program whose calls can be counted by hand, in jobs
# of several sizes and nodes.

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
	export OSHRUN="${OSHRUN:-$TOP_BUILDDIR/oshrun}" OSHCC="${OSHCC:-$TOP_BUILDDIR/oshcc}"
	cd "$BATS_FILE_TMPDIR" || return
	cat >counted.c <<'END'
#include <shmem.h>

static long word;

/* PE i puts 10 * (i + 1) longs, one by one; two barriers follow. */
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

setup()
{
	cd "$BATS_TEST_TMPDIR" || return
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

# Four nodes in a line. PE i sends 10 * (i + 1) messages to the next, PE 3 over three links back to
# PE 0. Each of the two barriers is a message to the next PE and one to the next but one.
@test "links and axes of the torus, memory of a peer" {
	run "$OSHRUN" -n 4 env SHMEM_STATS=yes SHMEM_NODE_PES=1 SHMEM_TORUS=4m SHMEM_BARRIER_ALGORITHM=dissemination \
		"$BATS_FILE_TMPDIR/counted"
	[ "$status" -eq 0 ]
	[ "$(row 'link 0 x+')" = '14 112' ]
	[ "$(row 'link 1 x+')" = '26 208' ]
	[ "$(row 'link 2 x+')" = '34 272' ]
	[ "$(row 'link 3 x-')" = '44 352' ]
	[ "$(row 'link 2 x-')" = '46 368' ]
	[ "$(row 'link 1 x-')" = '44 352' ]
	[[ "$output" == *'6 of 6 links of the torus were used'* ]]
	[ "$(row 'torus x+' | cut -d' ' -f1,5)" = '74 592' ]
	[ "$(row 'torus x-' | cut -d' ' -f1,5)" = '134 1072' ]
	[ "$(row inside | cut -d' ' -f1,5)" = '16 128' ]
	[[ "$output" =~ 'memory for each connected peer: least '[1-9][0-9]+', median '[1-9][0-9]+', most '[1-9][0-9]+' bytes' ]]
}

# collected COSTS: how many messages and flags each of four nodes sends, at least, to
# collect 8 KiB of each ten times.
collected()
{
	run "$OSHRUN" -q -n 4 env SHMEM_STATS=yes SHMEM_NODE_PES=1 SHMEM_COSTS="$1" ./collected
	[ "$status" -eq 0 ] || return
	row inside | cut -d' ' -f2
}

# In rounds a node sends two messages, along a ring three, which are shorter.
@test "SHMEM_COSTS: the algorithm follows what messages cost" {
	cat >collected.c <<'END'
#include <shmem.h>

static char all[4 * 8192], mine[8192];

int main(void)
{
	shmem_init();
	for (int i = 0; i < 10; i++)
		shmem_fcollectmem(SHMEM_TEAM_WORLD, all, mine, sizeof mine);
	shmem_finalize();
	return 0;
}
END
	"$OSHCC" collected.c -o collected
	[ "$(collected '')" -eq 40 ]
	[ "$(collected ucx:20000:10000:1000,ofi:1:1:1)" -eq 40 ]
	[ "$(collected local:1:1:1,ucx:10:10:1000)" -eq 60 ]
	run env SHMEM_INFO=1 "$OSHRUN" -q -n 2 ./collected
	[[ "$output" == *'Costs of messages: local 250 ns and 8200 MB/s, built in'$'\n'* ]]
	run env SHMEM_INFO=1 SHMEM_NODE_PES=1 SHMEM_COSTS=ucx:9000:5000:1200 "$OSHRUN" -q -n 2 ./collected
	[[ "$(tr -s '\n ' ' ' <<<"$output")" == *'8200 MB/s, built in; ucx 9000 ns and 1200 MB/s, from SHMEM_COSTS Torus'* ]]
}

@test "memory that shrinks while UCX connects is counted as none" {
	cat >shrinks.c <<'END'
#include <malloc.h>
#if __GLIBC_PREREQ(2, 33)
struct mallinfo2 mallinfo2(void)
{
	static size_t left = 1 << 30;

	return (struct mallinfo2){.uordblks = left -= 1000};
}
#else
struct mallinfo mallinfo(void)
{
	static int left = 1 << 30;

	return (struct mallinfo){.uordblks = left -= 1000};
}
#endif
END
	"${CC:-cc}" -shared -fPIC -o shrinks.so shrinks.c
	run "$OSHRUN" -n 2 env SHMEM_STATS=yes SHMEM_NODE_PES=1 LD_PRELOAD="$PWD/shrinks.so" "$BATS_FILE_TMPDIR/counted"
	[ "$status" -eq 0 ]
	[ "$(row peers | cut -d' ' -f1)" = 4 ]
	[ "$(row peers | cut -d' ' -f5)" -lt 1000000 ]
}

# only PE SETTING COMMAND...: runs the command with the setting on that PE alone
only()
{
	# shellcheck disable=SC2016 # for the shell of each PE
	timeout 20 "$OSHRUN" -q -n 3 sh -c '[ "$PMIX_RANK" != "$1" ] || export "$2"; shift 2; exec "$@"' sh "$@"
}

@test "a setting that only some PEs were given: one line, and no hang" {
	for pe in 0 2; do
		for setting in SHMEM_STATS=1 SHMEM_TRACE="$BATS_TEST_TMPDIR/trace"; do
			run only "$pe" "$setting" "$BATS_FILE_TMPDIR/counted"
			[ "$status" -eq 1 ]
			[ "${#lines[@]}" -eq 1 ]
			[[ "$output" == *"shmem_init: ${setting%%=*} differs between this PE and PE "[01]"; give all PEs the same value"* ]]
		done
	done
	SHMEM_TRACE=$BATS_TEST_TMPDIR/trace run only 1 SHMEM_TRACE_EVENTS=10 "$BATS_FILE_TMPDIR/counted"
	[ "$status" -eq 1 ]
	[[ "$output" == *'SHMEM_TRACE_EVENTS differs between this PE and PE'* ]]
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
