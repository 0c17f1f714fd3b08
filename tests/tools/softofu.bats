#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# uTofu and jTofu in software: names and types, and programs of uTofu under oshrun, Debian's mpirun, and alone.

bats_require_minimum_version 1.5.0

setup_file()
{
	: "${TOP_BUILDDIR:?is the folder torushmem was built in}"
	export OSHRUN="${OSHRUN:-$TOP_BUILDDIR/oshrun}" TESTS="$TOP_BUILDDIR/tests/softofu"
	export TOP="${BATS_TEST_FILENAME%/*}/../.."
	unset "${!SOFTOFU_@}" "${!PMIX_@}" "${!OMPI_@}"
}

setup()
{
	cd "$BATS_TEST_TMPDIR" || return
}

# on RANKS PROGRAM...: under oshrun, quietly
on()
{
	timeout -k 2 60 "$OSHRUN" -q -n "$@"
}

mpi()
{
	OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
		timeout -k 2 60 mpirun -n "$@"
}

@test "every name of uTofu and jTofu has its type and value, and every function is there" {
	awk -f "$TOP/tests/conformance/check-tofu.awk" "$TOP/tests/conformance/tofu.tsv" >names.c
	"${CC:-cc}" -std=gnu11 -Wall -Wextra -Werror -I "$TOP/softofu/include" names.c -o names \
		-L "$TOP_BUILDDIR/.libs" -ltofucom -ljtofu -Wl,-rpath,"$TOP_BUILDDIR/.libs"
	run ./names
	[ "$output" = "utofu: 65 functions, 35 constants; jtofu: 20 functions" ]
}

@test "the libraries export these functions and nothing else, and link nothing of ours" {
	for library in utofu:tofucom jtofu:jtofu; do
		awk -F '\t' -v of="${library%:*}" '$1 == of && $2 == "function" { print $3 }' \
			"$TOP/tests/conformance/tofu.tsv" | sort >wanted
		nm -D --defined-only "$TOP_BUILDDIR/.libs/lib${library#*:}.so" | awk '$2 == "T" { print $3 }' | sort >there
		diff wanted there
		run ! grep -E 'torushmem|ucp|pmix' <(ldd "$TOP_BUILDDIR/.libs/lib${library#*:}.so")
	done
}

@test "headers are C and C++ without a warning" {
	printf '#include <utofu.h>\n#include <jtofu.h>\n' >both.c
	cp both.c both.cc
	"${CC:-cc}" -std=c99 -pedantic -Wall -Wextra -Werror -I "$TOP/softofu/include" -fsyntax-only both.c
	"${CXX:-c++}" -std=c++11 -pedantic -Wall -Wextra -Werror -I "$TOP/softofu/include" -fsyntax-only both.cc
}

@test "every communication brings the notices it was asked for: alone, under oshrun, under mpirun" {
	"$TESTS/notices"
	on 2 "$TESTS/notices"
	SOFTOFU_SHAPE=2x1x1x2 SOFTOFU_RANKS_PER_NODE=2 SOFTOFU_SEED=7 on 4 "$TESTS/notices"
	command -v mpirun >/dev/null || skip "mpirun is not there"
	mpi 3 "$TESTS/notices"
}

@test "a run directory brings processes together that no launcher knows, and is empty afterwards" {
	mkdir run
	for rank in 0 1 2; do
		SOFTOFU_RUN_DIRECTORY=run SOFTOFU_RANK=$rank SOFTOFU_RANKS=3 timeout 60 "$TESTS/notices" &
		jobs[rank]=$!
	done
	for rank in 0 1 2; do
		wait "${jobs[rank]}"
	done
	[ -z "$(ls -A run)" ]
}

@test "oshrun publishes the map of ranks; logical neighbours are one hop apart, holes are left out" {
	SOFTOFU_SHAPE=2x1x1x2x3x2 run on 5 "$TESTS/pmix_map"
	[ "$status" -eq 0 ]
	[ "$(sort <<<"$output")" = "rank 0 at 0 0 0 0 0 0 of 2 1 1 2 3 2, logically 0 0 0, first of 1: 0
rank 1 at 1 0 0 0 0 0 of 2 1 1 2 3 2, logically 1 0 0, first of 1: 1
rank 2 at 1 0 0 1 0 0 of 2 1 1 2 3 2, logically 2 0 0, first of 1: 2
rank 3 at 0 0 0 1 0 0 of 2 1 1 2 3 2, logically 3 0 0, first of 1: 3
rank 4 at 0 0 0 0 1 0 of 2 1 1 2 3 2, logically 0 1 0, first of 1: 4" ]
	SOFTOFU_SHAPE=4x1x1 SOFTOFU_RANKS_PER_NODE=2 SOFTOFU_HOLES='1,0,0,0,0,0' run on 6 "$TESTS/pmix_map"
	[ "$status" -eq 0 ]
	grep -q '^rank 2 at 2 0 0 0 0 0 of 4 1 1 1 1 1, logically 2 0 0, first of 2: 2$' <<<"$output"
	grep -q '^rank 5 at 3 0 0 0 0 0 of 4 1 1 1 1 1, logically 3 0 0, first of 2: 4$' <<<"$output"
}

@test "without a shape no map is published" {
	run on 1 "$TESTS/pmix_map"
	[ "$status" -ne 0 ]
	grep -q '^PMIx_Get of fjpmix.rankmap returned' <<<"$output"
}

@test "a setting that makes no sense ends the job with a line about it" {
	SOFTOFU_SHAPE=2y2 run on 2 "$TESTS/notices"
	[ "$status" -eq 1 ]
	[ "$output" = "softofu: SOFTOFU_SHAPE=2y2: at most six sizes with x between them, as in 2x2x2x2x3x2" ]
	SOFTOFU_SHAPE=3x1x1 run on 4 "$TESTS/notices"
	[ "$status" -eq 1 ]
	[ "$output" = "softofu: SOFTOFU_SHAPE=3x1x1 has room for 3 ranks at 1 per node, the job has 4" ]
	SOFTOFU_HOLES=1,2 SOFTOFU_SHAPE=2x2 run "$TESTS/notices"
	[ "$status" -eq 1 ]
	[ "$output" = "softofu: SOFTOFU_HOLES=1,2: a hole is six coordinates with commas, as in 0,1,0,0,0,0" ]
	SOFTOFU_ORDER=random run "$TESTS/notices"
	[ "$status" -eq 1 ]
	[ "$output" = "softofu: SOFTOFU_ORDER=random: adversarial or posted is wanted" ]
}
