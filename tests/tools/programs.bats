#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Programs in the styles that users have written since the first releases: they compile without a
# warning, with the deprecated names that belong to their time, and give the right answer on one
# node, on several, and over UCX alone.

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

# compile COMPILER SOURCE OPTIONS...: into ./program, with not a word. (The folder of mpp/ is beside
# the others once installed.)
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

@test "a program that loads the library, unloads it and ends" {
	library=$("$OSHCC" --showme:libdirs)/libtorushmem.so
	[ -e "$library" ] || skip "built without a shared library"
	cat >loads.c <<'END'
#include <dlfcn.h>
#include <stdio.h>

static void call(void *library, const char *name)
{
	void (*function)(void) = (void (*)(void))dlsym(library, name);

	function();
}

int main(int argc, char **argv)
{
	void *library = dlopen(argv[1], RTLD_NOW);

	(void)argc;
	if (!library) {
		puts(dlerror());
		return 1;
	}
	call(library, "shmem_init");
	call(library, "shmem_barrier_all");
	call(library, "shmem_finalize");
	dlclose(library);
	puts("unloaded");
	return 0;
}
END
	"${CC:-cc}" -o loads loads.c -ldl
	for pes in 1 2; do
		run timeout -k 2 60 "$OSHRUN" -q -n "$pes" ./loads "$library"
		printf '%s\n' "$output"
		[ "$status" -eq 0 ]
		[ "$(printf '%s\n' "$output" | sort -u)" = unloaded ]
	done
}

@test "a child that crashes is not reported as the PE" {
	cat >child.c <<'END'
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	int status;
	pid_t child;

	shmem_init();
	child = fork();
	if (child == 0)
		abort();
	waitpid(child, &status, 0);
	if (WIFSIGNALED(status))
		puts("child died");
	shmem_finalize();
	return 0;
}
END
	"$OSHCC" -o child child.c
	run timeout -k 2 60 "$OSHRUN" -q -n 1 ./child
	[ "$status" -eq 0 ]
	[ "$output" = "child died" ]
}

@test "a PE that is killed while UCX makes its shared memory leaves no file" {
	[ -w /dev/shm ] || skip "no /dev/shm"
	cat >killed.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* UCX makes a file, maps it and unlinks it: this is the moment in between. */
static void die_for(const char *name)
{
	if (strstr(name, "ucx_shm_posix"))
		kill(getpid(), SIGKILL);
}

int shm_unlink(const char *name)
{
	die_for(name);
	return ((int (*)(const char *))dlsym(RTLD_NEXT, "shm_unlink"))(name);
}

int unlink(const char *name)
{
	die_for(name);
	return ((int (*)(const char *))dlsym(RTLD_NEXT, "unlink"))(name);
}
END
	"${CC:-cc}" -shared -fPIC -o killed.so killed.c -ldl
	printf '%s\n' '#include <shmem.h>' 'int main(void) { shmem_init(); shmem_finalize(); return 0; }' >plain.c
	"$OSHCC" -o plain plain.c
	ls -A /dev/shm >before
	run timeout -k 2 60 env SHMEM_PATHS=ucx UCX_TLS=posix,self "$OSHRUN" -q -n 2 env LD_PRELOAD="$PWD/killed.so" ./plain
	printf '%s\n' "$output"
	[ "$status" -eq 137 ] || skip "this UCX does not unlink such files at once"
	ls -A /dev/shm | comm -13 before - | tee after
	! grep -q ucx_shm_posix after
}
