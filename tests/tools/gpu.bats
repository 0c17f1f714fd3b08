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

@test "kernels compute what loops on the host do" {
	LD_LIBRARY_PATH=$SOFT run -0 "$TOP_BUILDDIR/tests/gpu/kernels"
	[ -z "$output" ]
}

@test "the assembler of CUDA takes the text of every kernel" {
	ptxas=$(command -v ptxas || command -v /usr/local/cuda/bin/ptxas) || skip "ptxas is not there"
	"$TOP_BUILDDIR/tests/gpu/kernels" "$BATS_TEST_TMPDIR"
	cd "$BATS_TEST_TMPDIR"
	[ "$(ls ./*.ptx | wc -l)" -eq 83 ]
	# One file: it takes each a moment to begin with.
	{ head -n 3 copy_blocks_1.ptx && sed '/^\.version/d; /^\.target/d; /^\.address_size/d' ./*.ptx; } >all.ptx
	for gpu in sm_75 sm_90; do
		run -0 "$ptxas" -arch "$gpu" all.ptx -o "$gpu.cubin"
		[ -z "$output" ]
	done
}
