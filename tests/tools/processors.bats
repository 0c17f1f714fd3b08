#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# run: beside
# What depends on the processor, by the cross compilers that are installed here: it compiles without
# a warning, and is what the pages say.

bats_require_minimum_version 1.5.0

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
	export TOP="${BATS_TEST_FILENAME%/*}/../.."
}

# cross PROCESSOR FILE [OPTION...]: compiles a source of the library into $object
cross()
{
	local compiler=$1-linux-gnu-gcc file=$2

	shift 2
	command -v "$compiler" >/dev/null || skip "$compiler is not there"
	object=$BATS_TEST_TMPDIR/object.o
	"$compiler" -std=gnu11 -O2 -Wall -Wextra -Wshadow -Werror -D_GNU_SOURCE -include "$TOP_BUILDDIR/config.h" -I"$TOP" \
		-I"$TOP_BUILDDIR" -I"$TOP_BUILDDIR/include" "$@" -c "$TOP/$file" -o "$object"
}

# has PATTERN: how many instructions of the object are so
has()
{
	aarch64-linux-gnu-objdump -d "$object" | grep -cE "$1" || :
}

@test "ARM: atomics are helpers of libgcc, and instructions where those are asked for" {
	cross aarch64 comms/ops/ops.c
	[ "$(aarch64-linux-gnu-nm -u "$object" | grep -c __aarch64_)" -ge 8 ]
	[ "$(has '\b(ldadd|cas|swp)[a-z]*[[:space:]]')" -eq 0 ]
	cross aarch64 comms/ops/ops.c -march=armv8.2-a
	[ "$(aarch64-linux-gnu-nm -u "$object" | grep -c __aarch64_ || :)" -eq 0 ]
	[ "$(has '\b(ldadd|cas|swp)[a-z]*[[:space:]]')" -ge 6 ]
	[ "$(has '\bst?l?xr\b')" -eq 0 ]
}

@test "ARM: a wait for one word watches it and stops the processor" {
	cross aarch64 comms/groups/groups.c
	[ "$(has '\bldxrb\b')" -ge 2 ]
	cross aarch64 comms/wait/wait.c
	[ "$(has '\bwfe\b')" -eq 1 ]
	[ "$(has '\bisb\b')" -ge 1 ]
	[ "$(has '\byield\b')" -eq 0 ]
}

@test "ARM: sources that depend on the processor" {
	for file in comms/core/copy.c comms/groups/numa.c tests/unit/processor.c; do
		cross aarch64 "$file"
	done
}

@test "POWER: sources that depend on the processor" {
	for file in comms/core/copy.c comms/wait/wait.c comms/groups/groups.c comms/ops/ops.c comms/groups/numa.c tests/unit/processor.c; do
		cross powerpc64le "$file"
	done
}

@test "RISC-V: sources that depend on the processor" {
	for file in comms/core/copy.c comms/wait/wait.c comms/groups/groups.c comms/ops/ops.c comms/groups/numa.c tests/unit/processor.c; do
		cross riscv64 "$file"
	done
}
