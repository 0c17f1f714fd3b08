#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# make-header.sh TEMPLATE PREFIX VERSION [ROWS GENERICS STEM]: fills a header template from the
# tables, on standard output. PREFIX goes in front of every name (empty, or p for the profiling
# names). ROWS has the routines, GENERICS the type-generic names, which all begin with STEM: those
# of the standard, if none are given. $CPP is the preprocessor, $AWK awk.
set -eu
template=$1 prefix=$2 version=$3 rows=${4:-prototypes.def} generics=${5:-generics.def} stem=${6:-shmem_}
here=$(dirname "$0")
work=$(mktemp -d "${TMPDIR:-/tmp}/make-header.XXXXXX")
trap 'rm -rf "$work"' EXIT

preprocess()
{
	${CPP:-cc -E} -P -I "$here" "$1"
}

# One prototype per line; the preprocessor leaves blanks where macros met, and all
# rows of a macro on one line.
cat >"$work/rows.c" <<END
#define F(ret, name, ...) ret ${prefix:+$prefix##}name(__VA_ARGS__);
#define D(ret, name, ...) SHMEMX_DEPRECATED ret ${prefix:+$prefix##}name(__VA_ARGS__);
#include "$rows"
END
preprocess "$work/rows.c" | tr '\n' ' ' | sed 's/; */;\n/g' |
	sed -e 's/^ *//' -e 's/  */ /g' -e 's/\* /*/g' -e 's/ (/(/g' -e 's/ ,/,/g' | grep -v '^ *$' >"$work/all"
sed -n '/_Complex/s/^/SHMEMX_EXTENSION /p' "$work/all" >"$work/complex"
grep -v '_Complex' "$work/all" >"$work/both"

cat >"$work/types.c" <<'END'
#include "types.def"
#define ROW(X, name, code, type, rma, amo, ext, bits, old, minmax, logic, sum, avg, fadd, narrow, generic, fortran) \
	name|type|rma|amo|ext|bits|old|minmax|logic|sum|avg|fadd|narrow|generic;
TYPE_TABLE(ROW, X)
END
preprocess "$work/types.c" | tr ';' '\n' | sed -e 's/^ *//' -e 's/ *| */|/g' | grep '|' >"$work/types"
${AWK:-awk} -v stem="$stem" -f "$here/types.awk" -f "$here/generics.awk" "$work/types" "$here/$generics" >"$work/generics"
${AWK:-awk} -v stem="$stem" -f "$here/types.awk" -f "$here/overloads.awk" "$work/types" "$work/both" "$work/complex" "$here/$generics" \
	>"$work/overloads"

# The inline forms: a declaration by another name, then the form, a line each.
echo '#include "inline.def"' >"$work/inlined.c"
preprocess "$work/inlined.c" | tr '\n' ' ' | sed -e 's/ *NEXT_LINE */\n/g' |
	sed -e 's/^ *//' -e 's/  */ /g' -e 's/\* /*/g' -e 's/ (/(/g' -e 's/ \([,;]\)/\1/g' -e 's/; }/; }/g' | grep -v '^ *$' >"$work/inlined"

number=$(echo "$version" | ${AWK:-awk} -F . '{ print 10000 * $1 + 100 * $2 + $3 }')
sed -e "s/@VERSION@/$version/" -e "s/@VERSION_NUMBER@/$number/" \
	-e "/^@PROTOTYPES@\$/{r $work/both
d
}" -e "/^@PROTOTYPES_COMPLEX@\$/{r $work/complex
d
}" -e "/^@GENERICS@\$/{r $work/generics
d
}" -e "/^@OVERLOADS@\$/{r $work/overloads
d
}" -e "/^@INLINED@\$/{r $work/inlined
d
}" "$template"
