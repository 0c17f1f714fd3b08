#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# format.sh SRCDIR: every C file of the clone is as .clang-format has it, and comments wrap at 100
# columns: those of C, and lines of comment alone in scripts and makefiles. Names the lines that are
# not or do not. Versions of clang-format differ in details, so only the one below is asked; without
# it, and outside a clone, a line says what was not checked.
set -u
VERSION=14
cd "$1" || exit 1

# Names lines with a comment that are longer than 100 columns. tests/run
# reads a line "run: ..." whole.
long_comments()
{
	awk '
	function width(line,    i, n) {
		for (i = 1; i <= length(line); i++)
			n = substr(line, i, 1) == "\t" ? n + 8 - n % 8 : n + 1
		return n
	}
	FNR == 1 { inside = 0 }
	{
		line = rest = $0
		sub(/[ \t]*\\$/, "", line) # a macro goes on
		gsub(/\047([^\047\\]|\\.)\047|"([^"\\]|\\.)*"/, "", rest)
		has = inside || rest ~ /\/\*/
		while (i = index(rest, inside ? "*/" : "/*")) {
			inside = !inside
			rest = substr(rest, i + 2)
		}
		if (has && width(line) > 100 && line !~ /^\/\* run: /) {
			print FILENAME ":" FNR ": the comment is longer than 100 columns"
			found = 1
		}
	}
	END { exit found }' "$@"
}

# script_files: makefiles, and scripts, which have a known ending or name their interpreter.
script_files()
{
	git ls-files '*.sh' '*.awk' '*.bats' '*.am' '*.mk' '*.ac' '*.m4' '*.py' '*.gp' '*.yml' ':!tests/cluster/*'
	git ls-files ':!tests/cluster/*' ':!tests/run' | awk -F / '$NF !~ /\./' | while read -r file; do
		read -r first <"$file" && case $first in '#!'*) echo "$file" ;; esac
	done
}

# Names lines of comment alone, in scripts, that are longer than 100 columns, or that follow the
# licence on its line, where tools do not read it any more.
long_script_comments()
{
	expand "$1" | awk -v name="$1" '
	/^# SPDX-License-Identifier: [^ ]+ ./ {
		print name ":" NR ": more than the licence is on its line"
		found = 1
	}
	/^ *#+ / && length > 100 {
		print name ":" NR ": the comment is longer than 100 columns"
		found = 1
	}
	END { exit found }'
}

wide=0
for file in $(script_files 2>/dev/null); do
	long_script_comments "$file" || wide=1
done

# mpif-ext.h is Fortran.
files=$(git ls-files '*.c' '*.h' ':!*/mpif-ext.h' 2>/dev/null)
# shellcheck disable=SC2086 # a list of names without blanks
if [ -z "$files" ]; then
	echo "format: not checked, this is no clone"
elif ! long_comments $files || [ "$wide" = 1 ]; then
	echo "format: wrap these comments at 100 columns" >&2
	exit 1
elif ! clang-format --version 2>/dev/null | grep -q "version $VERSION\."; then
	echo "format: not checked, there is no clang-format $VERSION"
elif clang-format --dry-run --Werror $files; then
	echo "format: C files are as .clang-format has them, and comments fit in 100 columns"
else
	echo "format: make format mends this" >&2
	exit 1
fi
