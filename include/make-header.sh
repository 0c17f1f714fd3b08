#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# make-header.sh TEMPLATE PREFIX VERSION: fills a header template from the tables, on standard
# output. PREFIX goes in front of every name (empty, or p for the profiling names). $CPP is
# the preprocessor, $AWK awk.
set -eu
template=$1 prefix=$2 version=$3
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
#include "prototypes.def"
END
preprocess "$work/rows.c" | tr '\n' ' ' | sed 's/; */;\n/g' |
	sed -e 's/^ *//' -e 's/  */ /g' -e 's/\* /*/g' -e 's/ (/(/g' -e 's/ ,/,/g' | grep -v '^ *$' >"$work/all"
grep '_Complex' "$work/all" | sed 's/^/SHMEMX_EXTENSION /' >"$work/complex"
grep -v '_Complex' "$work/all" >"$work/both"

cat >"$work/types.c" <<'END'
#include "types.def"
#define ROW(X, name, code, type, rma, amo, ext, bits, old, minmax, logic, sum, generic, fortran) \
	name|type|rma|amo|ext|bits|old|minmax|logic|sum|generic;
TYPE_TABLE(ROW, X)
END
preprocess "$work/types.c" | tr ';' '\n' | sed -e 's/^ *//' -e 's/ *| */|/g' | grep '|' >"$work/types"
${AWK:-awk} -f "$here/types.awk" -f "$here/generics.awk" "$work/types" "$here/generics.def" >"$work/generics"
${AWK:-awk} -f "$here/types.awk" -f "$here/overloads.awk" "$work/types" "$work/both" "$work/complex" "$here/generics.def" >"$work/overloads"

# The inline forms: a declaration by another name, then the form, a line each.
echo '#include "inline.def"' >"$work/inlined.c"
preprocess "$work/inlined.c" | tr '\n' ' ' | sed -e 's/ *NEXT_LINE */\n/g' |
	sed -e 's/^ *//' -e 's/  */ /g' -e 's/\* /*/g' -e 's/ (/(/g' -e 's/ \([,;]\)/\1/g' -e 's/; }/; }/g' | grep -v '^ *$' >"$work/inlined"

sed -e "s/@VERSION@/$version/" \
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
