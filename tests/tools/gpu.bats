#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# run: beside
# Memory on GPUs, over the stand-in for CUDA's driver (tests/gpu/soft/).

bats_require_minimum_version 1.5.0

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
	export SOFT="$TOP_BUILDDIR/tests/gpu/soft/.libs"
	[ -e "$SOFT/libcuda.so.1" ] || skip "the stand-in for CUDA's driver is not built: make check-programs"
}

@test "the stand-in is as strict as CUDA's driver" {
	LD_LIBRARY_PATH=$SOFT run -0 "$TOP_BUILDDIR/tests/gpu/stand_in"
	[ -z "$output" ]
}
