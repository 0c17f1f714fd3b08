#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# run: beside
# The checks of the source's structure find what is planted, and name the line.

setup()
{
	FORMAT=${BATS_TEST_FILENAME%/*}/../format.sh
	ATOMICS=${BATS_TEST_FILENAME%/*}/../atomics.sh
	LAYERS=${BATS_TEST_FILENAME%/*}/../layers.sh
	PAGES=${BATS_TEST_FILENAME%/*}/../pages.sh
	ROOMS=${BATS_TEST_FILENAME%/*}/../rooms.sh
	cd "$BATS_TEST_TMPDIR" || return
	mkdir -p comms shmem
	printf '%s\n' '/* volatile, __asm__ and atomic_load( in a comment are no matter */' 'int nothing;' >comms/plain.c
}

# planted LINE: a file of the layer above has that line, and the check names it.
planted()
{
	printf '%s\n' '#include <stdatomic.h>' "$1" >shmem/planted.c
	run sh "$ATOMICS" .
	[ "$status" -eq 1 ]
	[[ $output == *shmem/planted.c:2:* ]]
}

@test "a tree without shared words is fine" {
	run sh "$ATOMICS" .
	[ "$status" -eq 0 ]
}

@test "volatile words are found" {
	planted 'static volatile int flag;'
}

@test "fences in assembler and by the compiler's names are found" {
	planted 'void fence(void) { __asm__ volatile("mfence" ::: "memory"); }'
	planted 'void fence(void) { _mm_sfence(); }'
	planted 'void fence(void) { __sync_synchronize(); }'
	planted 'void fence(void) { __builtin_ia32_mfence(); }'
}

@test "atomics without a named order are found" {
	planted 'int get(atomic_int *word) { return atomic_load(word); }'
	planted 'void add(atomic_int *word) { atomic_fetch_add(word, 1); }'
}

@test "words that are not declared atomic are found" {
	planted 'int get(int *word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }'
}

@test "atomic words that are used like plain ones are found, where clang is" {
	command -v clang >/dev/null || skip "there is no clang"
	printf '%s\n' '#include <stdatomic.h>' 'int get(atomic_int *word) { return *word; }' >shmem/planted.c
	run sh "$ATOMICS" . -std=gnu11
	[ "$status" -eq 1 ]
	[[ $output == *shmem/planted.c:2:* ]]
}

# upward FILE HEADER: an include of that header in that file is found, and named.
upward()
{
	mkdir -p "${1%/*}"
	printf '#include "%s"\n' "$2" >"$1"
	run sh "$LAYERS" .
	rm "$1"
	[ "$status" -eq 1 ]
	[[ $output == *"$1:1:"* ]]
}

@test "calls that go up are found, in folders of folders too" {
	run sh "$LAYERS" .
	[ "$status" -eq 0 ]
	mkdir -p comms/net/ucx comms/net/tofu comms/net/ofi
	upward rte/launch.c comms/core/comms.h
	upward comms/ops/ops.c shmem/api.h
	upward comms/net/tofu/tofu_ops.c shmem/api.h
	upward comms/wait/wait.c ucp/api/ucp.h
	upward comms/net/networks.c ucp/api/ucp.h
	upward comms/core/peers.c rdma/fabric.h
	upward comms/start.c comms/net/ofi/ofi_inside.h
	upward comms/net/ucx/ucx_ops.c comms/net/tofu/tofu_inside.h
	upward shmem/rma.c comms/net/ucx/ucx_inside.h
	upward shmem/plans/plans.c ucp/api/ucp.h
	upward comms/torus/shape.c comms/core/comms.h
	upward softofu/nic/vcq.c rte/text/text.h
	upward softofu/net/route.c comms/torus/model.h
	upward comms/core/peers.c softofu/nic/vcq.h
	upward rte/oshrun/server.c softofu/nic/vcq.h
}

@test "names of routines in rte are found" {
	mkdir -p rte/text rte/oshrun
	echo '/* shmem_put */ const char *text = "SHMEM_DEBUG: ";' >rte/text/names.c
	echo 'const char *name = "shmem_init";' >rte/oshrun/main.c
	run sh "$LAYERS" .
	[ "$status" -eq 0 ]
	for name in shmem_put pshmem_ shmemx_ libtorushmem_fortran.; do
		echo "const char *name = \"$name\";" >rte/text/names.c
		run sh "$LAYERS" .
		[ "$status" -eq 1 ]
		[[ $output == *rte/text/names.c:1:* ]]
	done
}

@test "files and functions that a page names and that are not there are found" {
	mkdir -p docs/decisions
	echo 'int find_this(void);' >shmem/there.c
	printf '%s\n' 'See `find_this` in `shmem/there.c`, or `there.c`;' 'ordinary `words`, `--options` and `SETTINGS` are no names.' >docs/tour.md
	run sh "$PAGES" .
	[ "$status" -eq 0 ]
	for name in find_that shmem/gone.c gone.c; do
		echo "See \`$name\`." >docs/decisions/page.md
		run sh "$PAGES" .
		[ "$status" -eq 1 ]
		[[ $output == *"docs/decisions/page.md: there is no $name"* ]]
	done
}

@test "a name that a page puts in front of another file than its own is found" {
	mkdir -p docs
	echo 'int find_this(void); int and_that(void); #define WORD(NAME) int find_##NAME##_word(void);' >shmem/there.c
	printf '%s\n' 'int elsewhere_now(void); /* find_this is there */' 'int find_long_word(void);' >shmem/else.c
	printf '%s\n' '`find_this` and `and_that` (`shmem/there.c`), `elsewhere_now` in' '`shmem/else.c`;' \
		'`find_this` (`shmem/else.c`, `shmem/there.c`), `find_long_word` (`shmem/there.c`)' >docs/tour.md
	run sh "$PAGES" .
	[ "$status" -eq 0 ]
	for text in '`find_this` (`shmem/else.c`)' '`find_this(word)` in `shmem/else.c`' \
		'`find_this`, `elsewhere_now` in `shmem/else.c`' '| `find_this` in `shmem/else.c` |'; do
		echo "$text" >docs/tour.md
		run sh "$PAGES" .
		[ "$status" -eq 1 ]
		[[ $output == *'docs/tour.md: there is no find_this in shmem/else.c'* ]]
	done
	echo '`elsewhere_now` (`shmem/there.c`)' >docs/tour.md
	run sh "$PAGES" .
	[[ $output == *'there is no elsewhere_now in shmem/there.c'* ]]
}

@test "lines of pages that are too wide are found, but for tables, code and pages that a program makes" {
	mkdir -p docs
	wide=$(printf 'word %.0s' {1..25})
	printf '%s\n' 'Words.' "| $wide |" "    $wide" >docs/page.md
	printf '%s\n' 'Made by a program.' "$wide" >docs/made.md
	run sh "$PAGES" .
	[ "$status" -eq 0 ]
	echo "$wide" >>docs/page.md
	run sh "$PAGES" .
	[ "$status" -eq 1 ]
	[[ $output == *'docs/page.md:4: wider than 100 columns'* ]]
}

# object FILE TEXT: an object file of the library made of that text.
object()
{
	mkdir -p "build/${1%/*}/.libs"
	echo "$2" | "${CC:-cc}" -x c -c -o "build/${1%/*}/.libs/libtorushmem_la-${1##*/}.o" -
}

@test "calls between rooms that the tour does not have are found, and circles" {
	mkdir -p docs
	printf '%s\n' '| `core/` | what a put passes | |' '| `wait/` | sleeping | `core/` |' >docs/tour.md
	object comms/core/peers 'void peer(void) {}'
	object comms/wait/sleep 'void peer(void); void block(void) { peer(); }'
	run sh "$ROOMS" . build
	[ "$status" -eq 0 ]
	object comms/core/up 'void block(void); void up(void) { block(); }'
	run sh "$ROOMS" . build
	[ "$status" -eq 1 ]
	[[ $output == *'comms/core/up.c calls block of comms/wait/sleep.c'* ]]
	rm build/comms/core/.libs/libtorushmem_la-up.o
	object comms/garden/tree 'void tree(void) {}'
	object shmem/picnic 'void tree(void); void picnic(void) { tree(); }'
	run sh "$ROOMS" . build
	[ "$status" -eq 1 ]
	[[ $output == *'does not know the room of comms/garden/tree.c'* ]]
	rm build/comms/garden/.libs/*
	object shmem/a 'void b(void); void a(void) { b(); }'
	object shmem/b 'void c(void); void b(void) { c(); }'
	object shmem/c 'void a(void); void c(void) { a(); }'
	run sh "$ROOMS" . build
	[ "$status" -eq 0 ]
	object shmem/c 'void d(void); void c(void) { d(); }'
	object shmem/d 'void a(void); void d(void) { a(); }'
	run sh "$ROOMS" . build
	[ "$status" -eq 1 ]
	[[ $output == *'shmem/a.c is in a circle of 4 files'* ]]
	rm build/shmem/.libs/*
	echo '| `core/` | what a put passes | `wait/` |' >>docs/tour.md
	run sh "$ROOMS" . build
	[ "$status" -eq 1 ]
	[[ $output == *'core/ uses rooms that use it'* ]]
}

# rooms_with FILE TEXT: checks the rooms with that file, and takes it away
# again. Its lines end with |.
rooms_with()
{
	mkdir -p "${1%/*}"
	echo "$2" | tr '|' '\n' >"$1"
	run sh "$ROOMS" . build
	rm "$1"
}

@test "includes of rooms above that the tour does not have are found, and circles of headers" {
	mkdir -p docs build comms/core comms/wait shmem
	printf '%s\n' '| `core/` | what a put passes | |' '| `wait/` | sleeping | `core/` |' >docs/tour.md
	touch comms/core/peers.h comms/wait/wait.h
	rooms_with comms/wait/wait.c '#include "wait.h"|#include "comms/core/peers.h"'
	[ "$status" -eq 0 ]
	rooms_with comms/core/peers.c '#include "peers.h"|#include "comms/wait/wait.h"'
	[ "$status" -eq 1 ]
	[[ $output == *'comms/core/peers.c:2 includes comms/wait/wait.h'* ]]
	rooms_with comms/core/shared.h ' #  include "comms/wait/wait.h" /* "core.h" */'
	[ "$status" -eq 1 ]
	[[ $output == *'comms/core/shared.h:1 includes comms/wait/wait.h'* ]]

	# Two headers, of one folder or of two.
	echo '#include "b.h"' >shmem/a.h
	rooms_with shmem/b.h '#include "a.h"'
	[ "$status" -eq 1 ]
	[[ $output == *'shmem/a.h is in a circle of 2 files that include each other'* ]]
	echo '#include "comms/wait/pair.h"' >comms/wait/wait.h
	rooms_with comms/wait/pair.h '#include "wait.h"'
	[ "$status" -eq 1 ]
	[[ $output == *'comms/wait/pair.h is in a circle of 2 files'* ]]

	# Four files, a .c and a .h of one name being one.
	rm shmem/a.h && touch shmem/{a,b,c,d}.h comms/wait/pair.h
	echo '#include "b.h"' >shmem/a.c
	echo '#include "c.h"' >shmem/b.c
	rooms_with shmem/c.c '#include "a.h"'
	[ "$status" -eq 0 ]
	echo '#include "d.h"' >shmem/c.c
	rooms_with shmem/d.c '#include "a.h"'
	[ "$status" -eq 1 ]
	[[ $output == *'shmem/a is in a circle of 4 files that need each other'* ]]
}

@test "a line that clang-format would change is found, where its version is" {
	clang-format --version 2>/dev/null | grep -q 'version 14\.' || skip "there is no clang-format 14"
	git init -q . && cp "${FORMAT%/*}/../.clang-format" . && printf '%s\n' 'int  far;' >comms/far.c && git add comms
	run sh "$FORMAT" .
	[ "$status" -eq 1 ]
	[[ $output == *comms/far.c:1:* ]]
	git rm -qf comms/far.c
	sh "$FORMAT" .
}

@test "a comment longer than 100 columns is found, tabs and macros counted" {
	git init -q . && cp "${FORMAT%/*}/../.clang-format" .
	line=$(printf '%95s' '' | tr ' ' x)
	for text in "/* $line */" "$(printf '/*\n\t * %s\n */' "$line")" "int a; /* ${line%xxxx} */" \
		"$(printf '#define A /* %s */ \\\n\t1' "$line")"; do
		printf '%s\n' "$text" >comms/long.c && git add comms
		run sh "$FORMAT" .
		[ "$status" -eq 1 ]
		[[ $output == *comms/long.c:[12]:\ the\ comment* ]]
	done
	printf '%s\n' "/* ${line%x} */" "char text[] = \"/* $line */\";" "/* run: $line */" >comms/long.c
	sh "$FORMAT" .
}

@test "a comment of a script or makefile longer than 100 columns is found, tabs counted" {
	git init -q . && cp "${FORMAT%/*}/../.clang-format" .
	line=$(printf '%98s' '' | tr ' ' x)
	for file in one.sh one.awk one.bats local.mk Makefile.am ci.yml script; do
		printf '#!/bin/sh\n# %sx\n' "$line" >"$file" && git add comms "$file"
		run sh "$FORMAT" .
		[ "$status" -eq 1 ]
		[[ $output == *"$file:2: the comment"* ]]
		printf '#!/bin/sh\n# %s\n# short\n\t# %s\n' "$line" "${line%????????}x" >"$file"
		run sh "$FORMAT" .
		[[ $status -eq 1 && $output == *"$file:4: the comment"* ]]
		printf '#!/bin/sh\n# %s\nputs "%s" #%s\n' "$line" "$line" "$line" >"$file"
		sh "$FORMAT" .
	done
}

@test "scripts end after their help, also where it cannot be written" {
	[ -e /dev/full ] || skip "no /dev/full"
	run grep -rnE '(usage|help) && exit' "${BATS_TEST_FILENAME%/*}/../../"{quickstart,bench,tests,tools} --include='[!.]*' --exclude=structure.bats
	[ "$status" -eq 1 ]
	for script in tests/run bench/compare tests/cluster/cluster quickstart; do
		run timeout 5 sh -c '"$1" --help >/dev/full' sh "${BATS_TEST_FILENAME%/*}/../../$script"
		[ "$status" -ne 0 ] && [ "$status" -ne 124 ]
	done
}
