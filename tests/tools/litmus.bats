#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# run: beside
# tests/litmus: the table of what programs have seen, and a library without a fence.

bats_require_minimum_version 1.5.0

setup()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
	command -v python3 >/dev/null || skip "python3 is not there"
	export LITMUS="${BATS_TEST_FILENAME%/*}/../litmus" OSHRUN="${OSHRUN:-$TOP_BUILDDIR/oshrun}"
	cd "$BATS_TEST_TMPDIR"
}

@test "litmus: the table, a library beside ours, and one without a fence" {
	printf '#!/bin/sh\nexec "%s" "-DFENCE()=" "$@"\n' "${OSHCC:-$TOP_BUILDDIR/oshcc}" >cc
	chmod +x cc
	SHMEM_CHECK=1 run "$LITMUS" --build "$TOP_BUILDDIR" --pes 2 --runs 600 --only mp_p --paths local \
		--with oshcc="$PWD/cc" oshrun="$OSHRUN -q" name=unfenced
	printf '%s\n' "$output"
	[ "$status" -eq 0 ] # ours has seen nothing that is excluded
	[[ "$output" == *'| program | what it shows | excluded | weak | local | unfenced |'* ]]
	[[ "$output" == *'| mp_p_fence |'*'| none | **'*' excluded** |'* ]]
	run "$LITMUS" --build "$TOP_BUILDDIR" --paths nowhere
	[ "$status" -eq 1 ]
	[[ "$output" == *"there is no path 'nowhere'"* ]]
}
