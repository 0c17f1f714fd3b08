#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The examples, built as a user builds them: they say what they promise, on any number of PEs.

setup_file()
{
	: "${TOP_BUILDDIR:?is the folder torushmem was built in}"
	export OSHRUN="${OSHRUN:-$TOP_BUILDDIR/oshrun}" OSHCC="${OSHCC:-$TOP_BUILDDIR/oshcc}"
	unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
	cp "${BATS_TEST_FILENAME%/*}"/../../examples/*.c "${BATS_TEST_FILENAME%/*}"/../../examples/Makefile "$BATS_FILE_TMPDIR"
	# By its name, as users do: make would take a path with spaces for several words.
	PATH="${OSHCC%/*}:$PATH" make -s -C "$BATS_FILE_TMPDIR" OSHCC="${OSHCC##*/}" CFLAGS='-O2 -Wall -Wextra -Werror'
}

setup()
{
	cd "$BATS_FILE_TMPDIR" || return
}

# runs N PROGRAM ARGUMENTS...: quietly, and with success
runs()
{
	run timeout -k 2 60 "$OSHRUN" -q -n "$1" "./$2" "${@:3}"
	[ "$status" -eq 0 ] || { printf '%s\n' "$output" && return 1; }
}

says()
{
	printf '%s\n' "$output" | grep -Eq -- "$1" || {
		printf 'no "%s" in:\n%s\n' "$1" "$output"
		return 1
	}
}

@test "hello: every PE says so once" {
	runs 3 hello
	[ "$(printf '%s\n' "$output" | sort)" = "Hello from PE 0 of 3
Hello from PE 1 of 3
Hello from PE 2 of 3" ]
	./hello | grep -qx 'Hello from PE 0 of 1' # without a launcher
}

@test "ring: the token grows by one at every PE" {
	for pes in 1 2 5; do
		runs "$pes" ring
		says "^round 3: the token came back as $((3 * pes))$"
	done
}

@test "globals: who wrote what" {
	runs 4 globals
	says '^4 visitors; squares: 0 1 4 9$'
	says '^PE 3 heard from PE 0: 3, from itself: 303; it counts 0 visitors of its own$'
}

@test "pi" {
	runs 3 pi
	says '^pi is about 3\.14159265'
}

@test "histogram: no throw is lost" {
	for pes in 1 3; do
		runs "$pes" histogram
		says "^$((20000 * pes)) throws, none lost$"
	done
}

@test "stencil: the serial answer, for any number of PEs" {
	for pes in 1 2 3 4 6 7; do
		runs "$pes" stencil --size 37 --tolerance 1e-3
		says '^PASS$'
	done
	runs 4 stencil
	says '4 PEs as 2 x 2'
	says '^PASS$'
}

@test "stencil: over UCX as well" {
	export SHMEM_PATHS=ucx UCX_TLS=tcp,self
	runs 3 stencil --size 24 --tolerance 1e-2
	says '^PASS$'
}

@test "stencil: a picture" {
	runs 2 stencil --size 20 --iterations 30 --pgm out.pgm
	[ "$(head -c 13 out.pgm)" = "P5 20 20 255" ] # the line end is cut off by the shell
	[ "$(wc -c <out.pgm)" -eq 413 ]
}

@test "stencil: help, and options that make no sense" {
	runs 2 stencil --help
	[ "$(printf '%s\n' "$output" | grep -c '^usage:')" -eq 1 ]
	for wrong in --size=1 --size=x --nonsense; do
		run timeout -k 2 20 "$OSHRUN" -q -n 2 ./stencil "$wrong"
		[ "$status" -eq 2 ]
		[ "$(printf '%s\n' "$output" | grep -c '^./stencil\|^stencil')" -eq 1 ]
	done
}
