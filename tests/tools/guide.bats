#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The guide as pages: make guide has every chapter, a search, and the drawings; and tests/pages.sh
# finds what is wrong in pages.

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
	unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
}

setup()
{
	TOP=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	cd "$BATS_TEST_TMPDIR" || return
}

@test "make guide" {
	command -v sphinx-build >/dev/null || skip "sphinx-build is not there; on Debian: apt-get install python3-sphinx python3-myst-parser"
	sphinx-build -q -W --keep-going -b html -c "$TOP/docs/guide" "$TOP" guide
	for page in "$TOP"/docs/guide/*.md; do
		[ -s "guide/docs/guide/$(basename "$page" .md).html" ]
	done
	[ -s guide/searchindex.js ]
	grep -q 'id="searchbox"' guide/docs/guide/01-one-sided.html
	for drawing in barrier fence signal credits ticket torus; do
		[ -s "guide/_images/$drawing.svg" ]
	done
}

@test "the drawings are those of draw.py and of torusplan" {
	command -v python3 >/dev/null || skip "python3 is not there"
	python3 "$TOP/docs/guide/draw.py" .
	"$TOP_BUILDDIR/torusplan" show --shape 4x3 --svg torus.svg >/dev/null
	for drawing in *.svg; do
		cmp "$drawing" "$TOP/docs/guide/$drawing"
	done
}

# finds WHAT FILE LINE: a copy of the tree's pages in which that line is added to that file is
# refused, and it is said why.
finds()
{
	cp "$TOP/$2" kept
	printf '%s\n' "$3" >>"tree/$2"
	run sh tree/tests/pages.sh tree
	[ "$status" -eq 1 ]
	[[ "$output" == *"$2"*"$1"* ]]
	cp kept "tree/$2"
}

@test "broken links, wide lines, words and a long README" {
	mkdir tree
	(cd "$TOP" && tar -cf - --exclude=./build --exclude=./.git --exclude=./autom4te.cache .) | tar -xf - -C tree
	chmod -R u+w tree
	run sh tree/tests/pages.sh tree
	[ "$status" -eq 0 ]
	finds 'leads nowhere' docs/guide/index.md '[there](nowhere.md)'
	finds 'no such heading' docs/tofu.md '[there](glossary.md#nothing)'
	finds 'wider than 100 columns' docs/guide/05-collectives.md "$(printf 'word %.0s' {1..30})"
	finds 'write "notify, or say" instead of' README.md 'It tells the others.'
	finds 'more than 120 lines' README.md "$(printf 'line\n%.0s' {1..60})"
}

@test "programs of the guide give the same in every order that the standard allows" {
	[ "${TEST_LONG:-no}" = yes ] || skip "takes a minute: make check-long"
	for seed in 1 2 3 4; do
		"$TOP/tests/blocks" --set SHMEM_CHECK=1 --set SHMEM_CHECK_SEED=$seed "$TOP/docs/guide/04-puts-and-signals.md" \
			"$TOP/docs/guide/07-stencils.md"
	done
}
