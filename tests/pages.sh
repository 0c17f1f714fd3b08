#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# pages.sh SRCDIR: the files and the functions that CONTRIBUTING, the tour, the pages of protocols
# and those of decisions name exist, a name in front of its file is in that file, pages wrap at
# 100 columns, links lead to files and headings that exist, and pages have no word of
# tests/words.tsv. Fails and names the page and the name or the line where that does not hold.
# Only what stands between backquotes is a name; a function's has an underscore, and is neither in
# comments alone nor in tests of the API or of single functions alone. Tables, code that is
# indented by four blanks, and pages that a program makes ("Made by" in their first lines) may be
# wider; the README has at most 120 lines.
set -u
LC_ALL=C
export LC_ALL
cd "$1" || exit 1
folders=$(for folder in bench comms examples fortran include rte shmem softofu tests tools; do [ -d "$folder" ] && echo "$folder"; done)
pages=$(find CONTRIBUTING.md docs/tour.md docs/decisions docs/protocols -name '*.md' 2>/dev/null | sort)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# C, without what stands in comments: a name that is in comments alone is gone.
without_comments() {
	awk '{
		line = ""
		for (rest = $0; rest != ""; ) {
			if (!within && !(at = index(rest, "/*"))) { line = line rest; break }
			if (!within) { line = line substr(rest, 1, at - 1); rest = substr(rest, at + 2); within = 1 }
			if (!(at = index(rest, "*/"))) break
			rest = substr(rest, at + 2); within = 0
		}
		print line
	}'
}

# shellcheck disable=SC2086 # names are words
{
	find $folders docs -type f | sed 'p; s|.*/||'
	find $folders -type f ! -name '*.svg' ! -name '*.csv' ! -name '*.tsv' ! -name '*.[ch]' -exec cat {} + |
		grep -aoE '[A-Za-z_][A-Za-z0-9_]*'
	find $folders -name '*.[ch]' ! -path 'tests/api/*' ! -path 'tests/unit/*' -exec cat {} + | without_comments |
		grep -oE '[A-Za-z_][A-Za-z0-9_]*'
	sed -n 's/^\([a-z_][a-z_]*\) .*/shmem_\1/p' include/generics.def 2>/dev/null
	find $folders -name local.mk -exec cat {} + | grep -oE '[A-Za-z0-9_]+\.[a-z]+'
	cat configure.ac Makefile.am 2>/dev/null | grep -oE '[A-Za-z_][A-Za-z0-9_]*'
} | sort -u >"$work/there"

bad=0
# shellcheck disable=SC2016 # backquotes are what is looked for
for page in $pages; do
	sed '/^    /d' "$page" | grep -oE '`[^`]+`' | tr -d '`' | tr ' ' '\n' | grep -v NAME | sed 's/^pshmem_/shmem_/' | grep -vx 'shmem_x' |
		grep -E '^[a-z_]+/[A-Za-z0-9_./-]+\.(c|h|cc|def|md|bats|sh|awk|mk)$|^[a-z0-9_]+\.(c|h|cc|def|bats|awk)$|^[a-z][a-z0-9]*_[a-z0-9_]+$' |
		sort -u >"$work/named"
	comm -23 "$work/named" "$work/there" >"$work/missing"
	[ -s "$work/missing" ] || continue
	sed "s|^|$page: there is no |" "$work/missing" >&2
	bad=1
done
# PAGE FILE NAME, for each name that stands in front of its file: `name` (`folder/file.c`), `name`
# and `other` in `folder/file.c`. Of several files behind a name, it is in one.
# shellcheck disable=SC2086 # names are words
awk '
	function is_file(word) { return word ~ /^[a-z_]+\/[A-Za-z0-9_.\/-]+\.(c|h|cc|def)$/ }
	function pairs_of(text, word, count, i, j, files) {
		gsub(/[ \n]+/, " ", text)
		count = split(text, word, "`")
		for (i = 4; i <= count; i += 2) {
			if (!is_file(word[i]) || word[i - 1] !~ /^ (in |\()$/) continue
			files = word[i]
			for (j = i + 2; j <= count && word[j - 1] ~ /^(,| and| or) $/ && is_file(word[j]); j += 2)
				files = files "|" word[j]
			for (j = i - 2; j > 1; j -= 2) {
				sub(/\(.*/, "", word[j])
				if (word[j] !~ /^[A-Za-z_][A-Za-z0-9_]*$/) break
				print FILENAME, files, word[j]
				if (word[j - 1] !~ /^(,| and| or) $/) break
			}
		}
	}
	FNR == 1 { pairs_of(paragraph); paragraph = "" }
	/^ *$/ || /^ *([-*]|[0-9]+\.) / || /^\|/ { pairs_of(paragraph); paragraph = "" }
	{ paragraph = paragraph "\n" $0 }
	END { pairs_of(paragraph) }' $pages >"$work/pairs"
while read -r page files name; do
	old_ifs=$IFS
	IFS='|'
	# shellcheck disable=SC2086 # names are words
	set -- $files
	IFS=$old_ifs
	cat "$@" 2>/dev/null | without_comments >"$work/file"
	grep -qw -- "$name" "$work/file" && continue
	# Or a macro there makes it: shmem_##NAME##_wait_until is shmem_long_wait_until.
	grep -oE '[a-z_]+##[A-Z]+(##[a-z_]+)?' "$work/file" | sed 's/##[A-Z]*#*/[a-z0-9_]+/' | sort -u >"$work/made"
	echo "$name" | grep -qxEf "$work/made" && continue
	echo "$page: there is no $name in $files" >&2
	bad=1
done <"$work/pairs"
for page in $(find README.md CONTRIBUTING.md docs softofu -name '*.md' 2>/dev/null | sort); do
	sed -n 1,5p "$page" | grep -q '^\(<!-- \)\{0,1\}Made by' && continue
	LC_ALL=C.UTF-8 grep -nE '^.{101}' "$page" | grep -vE '^[0-9]+:(\||    )' >"$work/wide" || continue
	sed "s|:.*||; s|^|$page:|; s|\$|: wider than 100 columns|" "$work/wide" >&2
	bad=1
done
if [ "$(wc -l <README.md)" -gt 120 ]; then
	echo "README.md: more than 120 lines" >&2
	bad=1
fi

# The names by which links reach the headings of a page, as GitHub makes them.
# shellcheck disable=SC2016 # backquotes are what is looked for
headings_of() {
	sed '/^ *```/,/^ *```/d' "$1" | sed -n 's/^##* //p' | tr '[:upper:]' '[:lower:]' |
		sed 's/\[\([^]]*\)\]([^)]*)/\1/g; s/[^a-z0-9 _-]//g; s/ /-/g'
}

# shellcheck disable=SC2016 # backquotes are what is looked for
links_of() {
	sed -e '/^ *```/,/^ *```/d' -e '/^    /d' -e 's/`[^`]*`//g' "$1" | grep -oE '\]\([^) ]+\)' | sed 's/^](//; s/)$//' |
		grep -vE '^[a-z]+:' | sort -u
}

for page in $(find README.md CONTRIBUTING.md docs softofu -name '*.md' 2>/dev/null | sort); do
	for link in $(links_of "$page"); do
		file=${link%%#*}
		[ -n "$file" ] && file=$(dirname "$page")/$file || file=$page
		if [ ! -e "$file" ]; then
			echo "$page: the link $link leads nowhere" >&2
			bad=1
		elif [ "$link" != "${link#*#}" ] && ! headings_of "$file" | grep -qxF -- "${link#*#}"; then
			echo "$page: the link $link: there is no such heading" >&2
			bad=1
		fi
	done
done

# Words of pages, without code and commands.
find README.md CONTRIBUTING.md CHANGELOG.md docs softofu \( -name '*.md' -o -path '*/man/*.[1-8]*' -o -path '*/man/man3/*.txt' \) 2>/dev/null |
	sort | xargs awk -F '\t' '
	FILENAME == "tests/words.tsv" { word[$1] = $2; next }
	FNR == 1 { code = 0; made = 0 }
	FNR < 6 && /^(<!-- )?Made by/ { made = 1 }
	/^ *```/ { code = !code }
	/^\.Bd -literal/ { code = 1 }
	/^\.Ed/ { code = 0 }
	code || made || /^\./ || /^    / { next }
	{
		line = tolower($0)
		gsub(/`[^`]*`/, "", line)
		for (w in word)
			if (line ~ "(^|[^a-z])(" w ")([^a-z]|$)")
				print FILENAME ":" FNR ": write \"" word[w] "\" instead of \"" w "\""
	}' tests/words.tsv >"$work/words"
if [ -s "$work/words" ]; then
	cat "$work/words" >&2
	bad=1
fi
[ "$bad" = 0 ] && echo "pages: what they name is there, links lead somewhere, and they wrap"
exit "$bad"
