#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# names.sh SRCDIR: the files and the functions that the tour, the pages of protocols and those of decisions name exist. Fails and names
# the page and the name where one does not. Only what stands between backquotes is a name; a function's has an underscore.
set -u
LC_ALL=C
export LC_ALL
cd "$1" || exit 1
folders=$(for folder in bench comms examples include rte shmem softofu tests tools; do [ -d "$folder" ] && echo "$folder"; done)
pages=$(find docs/tour.md docs/decisions docs/protocols -name '*.md' 2>/dev/null | sort)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# shellcheck disable=SC2086 # names are words
{
	find $folders docs -type f | sed 'p; s|.*/||'
	find $folders -type f ! -name '*.svg' ! -name '*.csv' ! -name '*.tsv' -exec cat {} + | grep -aoE '[A-Za-z_][A-Za-z0-9_]*'
	find $folders -name local.mk -exec cat {} + | grep -oE '[A-Za-z0-9_]+\.[a-z]+'
	cat configure.ac Makefile.am 2>/dev/null | grep -oE '[A-Za-z_][A-Za-z0-9_]*'
} | sort -u >"$work/there"

bad=0
# shellcheck disable=SC2016 # backquotes are what is looked for
for page in $pages; do
	sed '/^    /d' "$page" | grep -oE '`[^`]+`' | tr -d '`' | tr ' ' '\n' |
		grep -E '^[a-z_]+/[A-Za-z0-9_./-]+\.(c|h|cc|def|md|bats|sh|awk|mk)$|^[a-z0-9_]+\.(c|h|cc|def|bats|awk)$|^[a-z][a-z0-9]*_[a-z0-9_]+$' |
		sort -u >"$work/named"
	comm -23 "$work/named" "$work/there" >"$work/missing"
	[ -s "$work/missing" ] || continue
	sed "s|^|$page: there is no |" "$work/missing" >&2
	bad=1
done
[ "$bad" = 0 ] && echo "names: what the pages name is there"
exit "$bad"
