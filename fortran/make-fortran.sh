#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# make-fortran.sh WHAT VERSION: makes a part of the Fortran interface from the tables,
# on standard output. WHAT is
#   module   the source of the module shmem
#   modulex  the source of the module shmemx
#   typed    the C routines behind its type-generic names
#   include  shmem.fh, the include file of OpenSHMEM 1.3
#   interfaces  the same with every routine declared
#   numbers  the same with none declared
#   legacy   the C routines behind it
#   synopsis lines "name<tab>call" of the modules' names, for the manual pages
#   rows     lines "name form set type" of the type-generic names, for the tests
# $CPP is the preprocessor, $AWK awk.
set -eu
what=$1 version=$2
here=$(dirname "$0")
tables=$here/../include
work=$(mktemp -d "${TMPDIR:-/tmp}/make-fortran.XXXXXX")
trap 'rm -rf "$work"' EXIT

preprocess()
{
	${CPP:-cc -E} -P -I "$tables" "$1"
}

run_awk()
{
	${AWK:-awk} "$@"
}

# A prototype a line.
prototypes()
{
	cat >"$work/rows.c" <<'END'
#define F(ret, name, ...) ret name(__VA_ARGS__);
#define D(ret, name, ...) SHMEMX_DEPRECATED ret name(__VA_ARGS__);
#include "prototypes.def"
END
	preprocess "$work/rows.c" | tr '\n' ' ' | sed 's/; */;\n/g' |
		sed -e 's/^ *//' -e 's/  */ /g' -e 's/\* /*/g' -e 's/ (/(/g' -e 's/ ,/,/g' | grep -v '^ *$'
}

types()
{
	cat >"$work/types.c" <<'END'
#include "types.def"
#define ROW(X, name, code, type, rma, amo, ext, bits, old, minmax, logic, sum, avg, fadd, narrow, generic, fortran) \
	name|type|rma|amo|ext|bits|old|minmax|logic|sum|avg|fadd|fortran|code;
TYPE_TABLE(ROW, X)
END
	preprocess "$work/types.c" | tr ';' '\n' | sed -e 's/^ *//' -e 's/ *| */|/g' | grep '|'
}

# interfaces FILE [OPTION...]: see interfaces.awk.
interfaces()
{
	file=$1
	shift
	run_awk "$@" -f "$here/interfaces.awk" "$here/arguments.tsv" "$file"
}

# generics WANT [OPTION...]: see generics.awk.
generics()
{
	want=$1
	shift
	types >"$work/types"
	prototypes >"$work/prototypes"
	interfaces "$here/generics.def" -v typed=1 >"$work/generics.def"
	run_awk -v want="$want" "$@" -f "$here/generics.awk" -f "$here/own.awk" "$work/types" "$here/types.tsv" \
		"$work/prototypes" "$tables/generics.def" "$work/generics.def"
}

# The numbers of shmem.h that begin with SHMEM_, as "name value"; the deprecated
# part is the include file's.
constants()
{
	sed -n -e "$1" "$tables/shmem.h.in" | sed -n 's/^#define \(SHMEM_[A-Z_0-9]*\) (*\([0-9][-0-9L< ]*\))*$/\1 \2/p' |
		sed -e 's/1L << 0$/1/' -e 's/1L << 1$/2/' -e 's/1L << 2$/4/' -e 's/L$//'
}

# The same of shmemx.h, and the operations of its reductions.
extension_constants()
{
	sed -n 's/^#define \(SHMEMX_[A-Z_0-9]*\) (*\(-*[0-9][0-9]*\))*\( .*\)*$/\1 \2/p' "$tables/shmemx.h"
	sed -n '/^typedef enum {$/,/^}/p' "$tables/shmemx.h" | run_awk '/^typedef/ { n = 0 } /^\t/ { sub(/,/, ""); name[n++] = $1 }
		/^} shmemx_op_t;/ { for (i = 0; i < n; i++) print name[i], i }'
}

# fill_in TEMPLATE [OPTION...]: the template of a module with its constants, which come on standard
# input, and generic names.
fill_in()
{
	template=$1
	shift
	sed 's/^\([^ ]*\) \(.*\)/  integer(c_int), parameter, public :: \1 = \2/' >"$work/constants"
	generics names "$@" | sed 's/^/  public :: /' >"$work/public"
	generics f90 "$@" >"$work/generics"
	interfaces "$template" >"$work/template"
	sed -e "s/@VERSION@/$version/" -e 's/@SPEC@/1.6/' \
		-e "/^@CONSTANTS@\$/{r $work/constants
d
}" -e "/^@PUBLIC@\$/{r $work/public
d
}" -e "/^@GENERICS@\$/{r $work/generics
d
}" "$work/template"
}

case $what in
module) constants '/Deprecated: arrays/q;p' | sed 's/^SHMEM_SIGNAL_/&OP_/' | fill_in "$here/shmem.f90.in" ;;
modulex) extension_constants | fill_in "$here/shmemx.f90.in" -v extensions=1 ;;
typed)
	echo '/* SPDX-License-Identifier: BSD-3-Clause */'
	echo '/* Made by fortran/make-fortran.sh: what the type-generic names of the module shmem call. */'
	echo '#include "fortran/bodies.h"'
	generics c
	;;
rows) generics rows ;;
synopsis)
	for module in module modulex; do
		sh "$0" $module "$version" | run_awk -f "$here/synopsis.awk"
	done
	;;
include | interfaces | numbers | legacy)
	constants 'p' >"$work/constants"
	run_awk -v want="$what" -v version="$version" -v constants="$work/constants" -f "$here/legacy.awk" "$here/legacy.def"
	;;
*)
	echo "make-fortran.sh: unknown part '$what'" >&2
	exit 2
	;;
esac
