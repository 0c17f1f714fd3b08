#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Jobs over libfabric that go wrong end as over any other network, and oshinfo knows what there is.

bats_require_minimum_version 1.5.0

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
	export OSHRUN="${OSHRUN:-$TOP_BUILDDIR/oshrun}" OSHCC="${OSHCC:-$TOP_BUILDDIR/oshcc}" OSHINFO="${OSHINFO:-$TOP_BUILDDIR/oshinfo}"
	export PROGRAM="$BATS_FILE_TMPDIR/program"
	unset "${!SHMEM_@}" "${!SMA_@}" "${!UCX_@}" "${!FI_@}"
	cat >"$PROGRAM.c" <<'END'
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t handled;

static void handle(int number)
{
	(void)number;
	handled++;
}

/* The program's handlers, set before shmem_init, are there after it. */
static int keep_handlers(void)
{
	static const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGSEGV};

	for (int i = 0; i < 5; i++)
		signal(numbers[i], handle);
	shmem_init();
	for (int i = 0; i < 5; i++)
		if (i != 0 && i != 4)
			raise(numbers[i]);
	raise(SIGTERM);
	printf("PE %d: %d of 4 signals\n", shmem_my_pe(), (int)handled);
	shmem_finalize();
	for (int i = 0; i < 5; i++)
		if (signal(numbers[i], SIG_DFL) != handle)
			printf("PE %d: signal %d has another handler\n", shmem_my_pe(), numbers[i]);
	return 0;
}

/* Which signals have a handler that libraries brought along, after the end of the library? */
static int find_handlers(void)
{
	shmem_init();
	shmem_finalize();
	for (int number = 1; number < 32; number++) {
		struct sigaction now;

		if (sigaction(number, NULL, &now) == 0 && now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN)
			printf("signal %d has a handler\n", number);
	}
	return 0;
}

/* Is libfabric in this process? */
static int look_for_libfabric(void)
{
	char line[4096];
	int found = 0;
	FILE *maps;

	shmem_init();
	maps = fopen("/proc/self/maps", "r");
	while (maps && fgets(line, sizeof line, maps))
		found |= strstr(line, "/libfabric.so") != NULL;
	printf("PE %d: libfabric is %s\n", shmem_my_pe(), !maps ? "unknown" : found ? "loaded" : "not loaded");
	shmem_finalize();
	return 0;
}

/* Which of libfabric's variables would what this program starts inherit? */
static int show_variables(void)
{
	shmem_init();
	if (getenv("FI_PROVIDER") || getenv("FI_OFI_RXM_BUFFER_SIZE") || getenv("FI_TCP_MAX_RX_SIZE"))
		printf("PE %d: a variable of libfabric's is set\n", shmem_my_pe());
	shmem_finalize();
	return 0;
}

int main(int argc, char **argv)
{
	static long word;

	if (argc > 1 && !strcmp(argv[1], "handlers"))
		return keep_handlers();
	if (argc > 1 && !strcmp(argv[1], "clean"))
		return find_handlers();
	if (argc > 1 && !strcmp(argv[1], "maps"))
		return look_for_libfabric();
	if (argc > 1 && !strcmp(argv[1], "variables"))
		return show_variables();
	shmem_init();
	if (argc > 1 && !strcmp(argv[1], "terminated") && shmem_my_pe() == 1)
		raise(SIGTERM);
	if (argc > 1 && !strcmp(argv[1], "mistake") && shmem_my_pe() == 1)
		shmem_long_p(&word, 1, 99);
	if (argc > 1 && !strcmp(argv[1], "lonely") && shmem_my_pe() == 0)
		shmem_barrier_all();
	if (argc > 1 && !strcmp(argv[1], "crash")) {
		shmem_barrier_all();
		if (shmem_my_pe() == 1)
			raise(SIGSEGV);
		for (;;) {
			shmem_long_p(&word, 1, 1);
			shmem_quiet();
		}
	}
	shmem_long_atomic_add(&word, 1, 0);
	shmem_barrier_all();
	shmem_finalize();
	return 0;
}
END
	"$OSHCC" -O1 -o "$PROGRAM" "$PROGRAM.c"
}

setup()
{
	grep -q 'HAVE_OFI 1' "$TOP_BUILDDIR/config.h" || skip "configured without libfabric"
	export SHMEM_PATHS=ofi FI_PROVIDER='tcp;ofi_rxm'
}

@test "a job over libfabric says so, and takes nothing else" {
	SHMEM_INFO=1 run timeout 30 "$OSHRUN" -n 2 "$PROGRAM"
	[ "$status" -eq 0 ]
	[[ "$output" == *"; others by libfabric"* ]]
}

@test "libfabric is loaded where PEs need it, and not where all load and store" {
	run timeout 30 "$OSHRUN" -q -n 2 "$PROGRAM" maps
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == *"PE 0: libfabric is loaded"* && "$output" == *"PE 1: libfabric is loaded"* ]]
	SHMEM_PATHS=local,ofi run timeout 30 "$OSHRUN" -q -n 2 "$PROGRAM" maps
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == *"PE 0: libfabric is not loaded"* && "$output" == *"PE 1: libfabric is not loaded"* ]]
}

# libfabric says which settings it has read.
@test "libfabric makes small buffers, and leaves out verbs where there is no device; what the user sets counts" {
	unset FI_PROVIDER
	export FI_LOG_LEVEL=info
	run timeout 30 "$OSHRUN" -q -n 2 "$PROGRAM" variables
	[ "$status" -eq 0 ]
	[[ "$output" == *"var buffer_size=2048"* ]]
	# libfabric 1.17 does not have this one
	[[ "$output" != *max_rx_size* || "$output" == *"var max_rx_size=2048"* ]]
	[ -e /sys/class/infiniband ] || [[ "$output" == *"var provider=^verbs"* ]]
	[[ "$output" != *"a variable of libfabric's is set"* ]]
	FI_PROVIDER=tcp FI_OFI_RXM_BUFFER_SIZE=8192 run timeout 30 "$OSHRUN" -q -n 2 "$PROGRAM" variables
	[ "$status" -eq 0 ]
	[[ "$output" == *"var provider=tcp"* && "$output" == *"var buffer_size=8192"* ]]
	[[ "$output" != *"^verbs"* && "$output" != *"buffer_size=2048"* ]]
	[[ "$output" == *"PE 0: a variable of libfabric's is set"* ]]
}

@test "the provider's libraries leave a crash to us: PE, signal and calls, exit code 139" {
	run timeout 30 "$OSHRUN" -n 2 "$PROGRAM" crash
	[ "$status" -eq 139 ]
	[[ "$output" == *"torushmem: PE 1: SIGSEGV"* ]]
	[[ "$output" == *"oshrun: PE 1 "*"was killed by signal 11"* ]]
}

paths_to_try()
{
	echo SHMEM_PATHS=ofi SHMEM_PATHS=local
	! grep -q 'HAVE_UCX 1' "$TOP_BUILDDIR/config.h" || echo SHMEM_PATHS=ucx
}

@test "the program's handlers of signals stay, over each network" {
	for path in $(paths_to_try); do
		run env "$path" timeout 30 "$OSHRUN" -q -n 2 "$PROGRAM" handlers
		echo "$path: $output"
		[ "$status" -eq 0 ]
		[[ "$output" == *"PE 0: 4 of 4 signals"* ]]
		[[ "$output" == *"PE 1: 4 of 4 signals"* ]]
		[[ "$output" != *"another handler"* ]]
	done
}

@test "no library leaves a handler of a signal, over each network" {
	for path in $(paths_to_try); do
		run env "$path" timeout 30 "$OSHRUN" -q -n 2 "$PROGRAM" clean
		echo "$path: $output"
		[ "$status" -eq 0 ]
		[ -z "$output" ]
	done
}

@test "a PE that is terminated: its signal, exit code 143" {
	run timeout 30 "$OSHRUN" -n 2 "$PROGRAM" terminated
	[ "$status" -eq 143 ]
	[[ "$output" == *"oshrun: PE 1 "*"was killed by signal 15"* ]]
	[[ "$output" != *"exit with status"* ]]
}

@test "a mistake: the PE that made it is named, and no other" {
	run timeout 30 "$OSHRUN" -n 2 "$PROGRAM" mistake
	[ "$status" -eq 1 ]
	[[ "$output" == *"torushmem: PE 1: shmem_long_p: pe=99"* ]]
	[[ "$output" != *"exit with status"* ]]
}

@test "a job that is ended while it starts leaves nothing, and its exit code is the signal's" {
	[ -x "$TOP_BUILDDIR/tests/cluster/phases" ] || skip "make check-programs has not been run"
	run timeout 120 sh "${BATS_TEST_FILENAME%/*}/../cluster/start-kills" "$TOP_BUILDDIR" 10
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == *"10 passed, 0 failed" ]]
}

@test "a collective that not all PEs call ends the job with a report" {
	run timeout 30 "$OSHRUN" -n 2 "$PROGRAM" lonely
	[ "$status" -eq 1 ]
	[[ "$output" == *"PE 0: in shmem_barrier_all, waiting for PE 1"* ]]
	[[ "$output" == *"PE 1: in shmem_finalize, waiting for PE 0"* ]]
}

@test "no provider that can do it: one line, and no job" {
	FI_PROVIDER=nonsense run timeout 30 "$OSHRUN" -n 2 "$PROGRAM"
	[ "$status" -eq 1 ]
	# PE 0 speaks for all; another one does so if PE 0 is late, as it
	# may be on a loaded machine.
	[ "${#lines[@]}" -le 2 ]
	for line in "${lines[@]}"; do
		[[ "$line" == "torushmem: PE "[01]": shmem_init: SHMEM_PATHS names ofi: libfabric finds no provider"* ]]
	done
}

@test "oshinfo: which providers there are, and how to ask for them" {
	run "$OSHINFO"
	[[ "$output" == *"yes, by tcp;ofi_rxm"* ]]
	SHMEM_PATHS=local,ucx run "$OSHINFO" --parsable
	[[ "$output" == *"ofi.path:could be used, by tcp;ofi_rxm; name it: SHMEM_PATHS=local,ofi"* ]]
}
