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
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static long word;

	shmem_init();
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

@test "the provider's libraries leave a crash to us: PE, signal and calls, exit code 139" {
	run timeout 30 "$OSHRUN" -n 2 "$PROGRAM" crash
	[ "$status" -eq 139 ]
	[[ "$output" == *"torushmem: PE 1: SIGSEGV"* ]]
	[[ "$output" == *"oshrun: PE 1 "*"was killed by signal 11"* ]]
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
	[ "${#lines[@]}" -eq 1 ]
	[[ "$output" == "torushmem: PE 0: shmem_init: SHMEM_PATHS names ofi: libfabric finds no provider"* ]]
}

@test "oshinfo: which providers there are, and how to ask for them" {
	run "$OSHINFO"
	[[ "$output" == *"yes, by tcp;ofi_rxm"* ]]
	SHMEM_PATHS=local,ucx run "$OSHINFO" --parsable
	[[ "$output" == *"ofi.path:could be used, by tcp;ofi_rxm; name it: SHMEM_PATHS=local,ofi"* ]]
}
