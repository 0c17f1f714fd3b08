#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# list-symbols.sh LIBRARY VERSION FILE: adds to FILE, a list for dpkg-gensymbols, the symbols of LIBRARY that it lacks, as
# brought by VERSION.
set -eu
library=$1 version=$2 file=$3
{
	[ ! -e "$file" ] || sed -n 's/^ //p' "$file"
	nm -D --defined-only "$library" | awk '{ print $3 "@Base" }'
} | awk -v version="$version" '!($1 in seen) { seen[$1] = 1; print " " $1, (NF > 1 ? $2 : version) }' | LC_ALL=C sort >"$file.new"
sed -i "1i\\
${library##*/} libtorushmem0 #MINVER#" "$file.new"
mv "$file.new" "$file"
