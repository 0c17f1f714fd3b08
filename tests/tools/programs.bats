#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Programs in the styles that users have written since the first releases: they compile without a warning, with the
# deprecated names that belong to their time, and give the right answer on one node, on several, and over UCX alone.

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
	export OSHRUN="${OSHRUN:-$TOP_BUILDDIR/oshrun}" OSHCC="${OSHCC:-$TOP_BUILDDIR/oshcc}"
	export OSHCXX="${OSHCC%cc}c++"
	export PROGS="${BATS_TEST_FILENAME%/*}/progs"
	unset "${!SHMEM_@}" "${!SMA_@}" "${!UCX_@}"
}

setup()
{
	cd "$BATS_TEST_TMPDIR" || return
}

# compile COMPILER SOURCE OPTIONS...: into ./program, with not a word. (The folder of mpp/ is beside the others once installed.)
compile()
{
	run "$1" -I "$PROGS/../../../include" -O2 -Wall -Wextra "${@:3}" -o program "$PROGS/$2" -lm
	if [ "$status" -ne 0 ] || [ -n "$output" ]; then
		printf '%s\n' "$output"
		return 1
	fi
}

# says TEXT: on every number of PEs and path, one line, by PE 0
says()
{
	for pes in 1 2 3 5; do
		for settings in SHMEM_PATHS=local SHMEM_NODE_PES=2 'SHMEM_PATHS=ucx UCX_TLS=tcp,self'; do
			# shellcheck disable=SC2086 # a list of settings
			run timeout -k 2 60 env $settings "$OSHRUN" -q -n "$pes" ./program
			if [ "$status" -ne 0 ] || [ "$output" != "$1 on $pes PEs" ]; then
				printf 'status %s with %s, output:\n%s\n' "$status" "$settings" "$output"
				return 1
			fi
		done
	done
}

@test "the oldest style: start_pes, shmalloc, pSync filled in a loop, waits" {
	for standard in gnu89 c99 gnu11; do
		compile "$OSHCC" old_style.c -std=$standard
	done
	says 'old style: right'
}

@test "a solver of the style of 1.2, halos and max_to_all" {
	compile "$OSHCC" rod.c
	says 'rod: a straight line'
}

@test "contexts of OpenMP threads, generic names" {
	echo 'int main(void) { return 0; }' >probe.c
	"${CC:-cc}" -fopenmp -o probe probe.c || skip 'the compiler has no OpenMP'
	compile "$OSHCC" histogram.c -fopenmp
	says 'histogram: complete'
}

@test "a program in C++" {
	for standard in c++11 c++17; do
		compile "$OSHCXX" buckets.cc -std=$standard -pedantic
	done
	says 'buckets: sorted'
}

@test "two programs in one job share the heap and the collectives, not the globals" {
	cat >one.c <<'END'
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

long mine = 7;
#ifdef SECOND
long more[1000] = {1};
#endif

int main(int argc, char **argv)
{
	(void)argv;
	shmem_init();
	long me = shmem_my_pe(), *heap = shmem_calloc(2, sizeof *heap);

	shmem_long_p(heap, me + 1, (me + 1) % shmem_n_pes());
	shmem_barrier_all();
	shmem_long_sum_reduce(SHMEM_TEAM_WORLD, heap + 1, heap, 1);
	if (me == shmem_n_pes() - 1)
		printf("sum %ld\n", heap[1]);
	if (argc > 1 && me == 0)
		shmem_long_p(&mine, 3, shmem_n_pes() - 1);
	shmem_finalize();
	return 0;
}
END
	"$OSHCC" -o one one.c
	"$OSHCC" -DSECOND -o two one.c
	for settings in SHMEM_PATHS=local 'SHMEM_PATHS=ucx UCX_TLS=tcp,self'; do
		# shellcheck disable=SC2086 # a list of settings
		run timeout -k 2 60 env $settings "$OSHRUN" -q -n 1 ./one : -n 2 ./two
		[ "$status" -eq 0 ]
		[ "$output" = "sum 6" ]
		# shellcheck disable=SC2086
		run timeout -k 2 60 env $settings "$OSHRUN" -q -n 1 ./one x : -n 2 ./two
		[ "$status" -eq 1 ]
		[[ "$output" == *"torushmem: PE 0: shmem_long_p: "*"PE 2 runs another program, so its global data lies differently; use shmem_malloc memory"* ]]
	done
}
