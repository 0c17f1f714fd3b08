#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# run: beside
# tests/blocks fails where a page shows something that is not so, and tests/pages.sh
# where a page cannot be read.

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
	command -v python3 >/dev/null || skip "python3 is not there"
}

setup()
{
	TOP=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	cd "$BATS_TEST_TMPDIR" || return
}

# page LINE...: tries a page of these lines.
page()
{
	printf '%s\n' "$@" >page.md
	run python3 "$TOP/tests/blocks" --build "$TOP_BUILDDIR" "${OPTIONS[@]}" page.md
}

shows()
{
	[[ "$output" == *"$1"* ]] || {
		printf 'no "%s" in:\n%s\n' "$1" "$output"
		return 1
	}
}

@test "output that is as shown, with patterns, folded, unordered, with lines left out" {
	page '<!-- block: run -->' '```console' '$ echo one; echo two' 'one' 'two' '$ seq 9' '1' '...' '9' '```' \
		'<!-- block: run numbers status=3 -->' '```console' '$ echo "took 12.5 us  in PE 3"; (exit 3)' 'took 7 ms in PE 1' '```' \
		'<!-- block: run unordered vary 0x[0-9a-f]+ -->' '```console' '$ echo at 0x12; echo b' 'b' 'at 0xff' '```' \
		'<!-- block: run folded -->' '```console' '$ echo a long line' 'a long' '  line' '```'
	[ "$status" -eq 0 ]
	shows '4 blocks right, 0 wrong, 0 skipped'
}

@test "output that is not as shown" {
	for lines in one,three one one,two,three; do
		IFS=, read -ra lines <<<"$lines"
		page '<!-- block: run -->' '```console' '$ echo one; echo two' "${lines[@]}" '```'
		[ "$status" -eq 1 ]
		shows 'page.md:2: run'
	done
	page '<!-- block: run numbers -->' '```console' '$ echo 12 us' '12 bananas' '```'
	[ "$status" -eq 1 ]
	page '<!-- block: run unordered -->' '```console' '$ echo b; echo a' 'b' 'b' '```'
	[ "$status" -eq 1 ]
	page '<!-- block: run folded -->' '```console' '$ echo a long line' 'a short line' '```'
	[ "$status" -eq 1 ]
}

@test "another exit status, also of a command that is not the last" {
	page '<!-- block: run -->' '```console' '$ (exit 2)' '$ true' '```'
	[ "$status" -eq 1 ]
	shows 'status 2, not 0'
	page '<!-- block: run status=1 -->' '```console' '$ true' '```'
	[ "$status" -eq 1 ]
	page '<!-- block: run status=2,0 -->' '```console' '$ (exit 2)' '$ true' '```'
	[ "$status" -eq 0 ]
}

@test "C that does not compile, or warns" {
	for kind in 'file x.c' program unit fragment; do
		page "<!-- block: $kind -->" '```c' 'int main(void) { return nothing; }' '```'
		[ "$status" -eq 1 ]
		shows 'nothing'
	done
	page '<!-- block: fragment static long x; -->' '```c' 'shmem_long_p(x, 1, 0);' '```'
	[ "$status" -eq 1 ]
	page '<!-- block: fragment static long x; -->' '```c' 'shmem_long_p(&x, 1, 0);' '```'
	[ "$status" -eq 0 ]
}

@test "a program that fails on one of its PEs" {
	local program=('```c' '#include <shmem.h>' 'int main(void)' '{' 'shmem_init();' 'int me = shmem_my_pe();' 'shmem_finalize();'
		'return me == 1;' '}' '```')

	page '<!-- block: program 1 -->' "${program[@]}"
	[ "$status" -eq 0 ]
	page '<!-- block: program 2 -->' "${program[@]}"
	[ "$status" -eq 1 ]
}

@test "a block without a mark, of an unknown kind, without an end" {
	page '```c' 'int x;' '```'
	[ "$status" -eq 1 ]
	shows 'has no mark'
	page '<!-- block: picture -->' '```' 'x' '```'
	[ "$status" -eq 1 ]
	shows 'no kind "picture"'
	page '<!-- block: drawing -->' '```' 'x'
	[ "$status" -eq 1 ]
	shows 'no end'
}

@test "an excerpt that the file does not have" {
	page '<!-- block: excerpt examples/hello.c -->' '```c' 'shmem_init();' '```'
	[ "$status" -eq 0 ]
	page '<!-- block: excerpt examples/hello.c -->' '```c' 'shmem_init(1);' '```'
	[ "$status" -eq 1 ]
	shows 'does not have these lines'
}

@test "blocks of manual pages" {
	printf '%s\n' '.\" block: program 2' '.Bd -literal' '#include <shmem.h>' '#include <stdio.h>' 'int main(void)' '{' 'shmem_init();' \
		'printf("one\en");' 'shmem_finalize();' 'return 0;' '}' '.Ed' >page.3
	run python3 "$TOP/tests/blocks" --build "$TOP_BUILDDIR" page.3
	[ "$status" -eq 0 ]
	shows '1 blocks right'
	sed -i 's/one/%d/' page.3
	run python3 "$TOP/tests/blocks" --build "$TOP_BUILDDIR" page.3
	[ "$status" -eq 1 ]
}

@test "--update shows what came out" {
	OPTIONS=(--update)
	page '<!-- block: run -->' '```console' '$ echo one; echo two' 'three' '```' 'text' '<!-- block: run -->' '```console' '$ echo x' '```'
	[ "$status" -eq 0 ]
	[ "$(cat page.md)" = "$(printf '%s\n' '<!-- block: run -->' '```console' '$ echo one; echo two' one two '```' text \
		'<!-- block: run -->' '```console' '$ echo x' x '```')" ]
}
