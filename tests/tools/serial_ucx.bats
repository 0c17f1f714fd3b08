#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# run: beside
# A UCX without thread support: one thread at a time calls it, programs with threads and contexts
# run, and the job says so.

bats_require_minimum_version 1.5.0

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
	unset "${!SHMEM_@}" "${!SMA_@}" "${!UCX_@}"
	export SHMEM_PATHS=ucx AUDIT="$BATS_FILE_TMPDIR/serial_ucx.so"
	# shellcheck disable=SC2046 # words
	${CC:-cc} -O1 -shared -fPIC $(pkg-config --cflags ucx 2>/dev/null) -o "$AUDIT" "${BATS_TEST_FILENAME%/*}/serial_ucx.c"
}

# serially TRANSPORTS PROGRAM
serially()
{
	run timeout 120 env UCX_TLS="$1" LD_AUDIT="$AUDIT" "$TOP_BUILDDIR/oshrun" -n 2 "$TOP_BUILDDIR/$2"
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "one thread at a time calls UCX over TCP" {
	serially tcp,self tests/api/threads
	serially tcp,self tests/api/contexts
}

@test "one thread at a time calls UCX over shared memory" {
	serially posix,self tests/api/threads
}

@test "SHMEM_INFO says that UCX has no thread support, and nothing where it has" {
	export SHMEM_INFO=1
	serially tcp,self examples/hello
	[[ $output == *"Threads: this UCX was built without --enable-mt"* ]]
	if "$TOP_BUILDDIR/oshinfo" | grep -q 'UCX threads *yes'; then
		AUDIT='' serially tcp,self examples/hello
		[[ $output != *"Threads:"* ]]
	fi
}
