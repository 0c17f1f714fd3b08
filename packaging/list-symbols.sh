#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# list-symbols.sh LIBRARY PACKAGE VERSION FILE: adds to FILE, a list for dpkg-gensymbols, the symbols of LIBRARY, which is in
# PACKAGE, that it lacks, as brought by VERSION. What gfortran adds to a module (_MOD___) differs between its versions: the list
# has a pattern for it.
set -eu
library=$1 package=$2 version=$3 file=$4
{
	[ ! -e "$file" ] || sed -n 's/^ //p' "$file"
	nm -D --defined-only "$library" | awk '$3 !~ /_MOD___/ { print $3 "@Base" }'
} | awk -v version="$version" '!($1 in seen) { seen[$1] = 1; print " " $1, (NF > 1 ? $2 : version) }' | LC_ALL=C sort >"$file.new"
sed -i "1i\\
${library##*/} $package #MINVER#" "$file.new"
mv "$file.new" "$file"
