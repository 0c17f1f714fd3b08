#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# make-header.sh TEMPLATE PREFIX VERSION: fills a header template from prototypes.def, on standard output.
# PREFIX goes in front of every name (empty, or p for the profiling names). $CPP is the preprocessor.
set -eu
template=$1 prefix=$2 version=$3
here=$(dirname "$0")
work=$(mktemp -d "${TMPDIR:-/tmp}/make-header.XXXXXX")
trap 'rm -rf "$work"' EXIT

# One prototype per line; cpp leaves blanks where macros met, and a macro's rows on one line. Before the
# preprocessor runs, "int" and friends must not be macros: no header is included, so they are not.
{
	echo "#define F(ret, name, ...) ret ${prefix:+$prefix##}name(__VA_ARGS__);"
	echo "#include \"prototypes.def\""
} >"$work/rows.c"
${CPP:-cc -E} -P -I "$here" "$work/rows.c" | tr '\n' ' ' | sed 's/; */;\n/g' |
	sed -e 's/^ *//' -e 's/  */ /g' -e 's/\* /*/g' -e 's/ (/(/g' -e 's/ ,/,/g' | grep -v '^ *$' >"$work/all"
grep '_Complex' "$work/all" >"$work/c_only"
grep -v '_Complex' "$work/all" >"$work/both"

sed -e "s/@VERSION@/$version/" \
	-e "/^@PROTOTYPES@\$/{r $work/both
d
}" -e "/^@PROTOTYPES_C_ONLY@\$/{r $work/c_only
d
}" "$template"
