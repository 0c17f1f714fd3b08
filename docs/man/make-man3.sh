#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# make-man3.sh LISTS TEXTS SHMEM.H FORTRAN FOLDER: the manual pages of the routines. LISTS is the
# folder with openshmem-1.6.tsv and additions.tsv, which know the families; TEXTS the folder with a
# text for each page of the standard's routines (man3.awk says what is in it) and a whole page for
# each extension (extension.awk adds how Fortran calls it; a comment "names: PATTERN" names routines
# that are not listed in NAME); SHMEM.H the header with the prototypes, beside which lies
# shmemx_typed.h, FORTRAN what "make-fortran.sh synopsis" writes. In FOLDER comes each page, and for
# each other name that it has one that refers to it.
set -eu
LC_ALL=C
export LC_ALL
lists=$1 texts=$2 header=$3 fortran=$4 folder=$5
here=$(dirname "$0")
mkdir -p "$folder"
for text in "$texts"/*.txt; do
	${AWK:-awk} -v page="$(basename "$text" .txt)" -v folder="$folder" -v header="$header" -v fortran="$fortran" -v text="$text" \
		-f "$here/wrap.awk" -f "$here/man3.awk" "$lists/openshmem-1.6.tsv" "$lists/additions.tsv"
done
for whole in "$texts"/*.3; do
	page=$(basename "$whole" .3)
	${AWK:-awk} -v page_file="$folder/$page.3" -v fortran="$fortran" -f "$here/wrap.awk" -f "$here/extension.awk" "$whole"
	{
		sed -n -e '/^\.Sh NAME/,/^\.Nd/ s/^\.Nm \([^ ]*\).*/\1/p' "$whole"
		sed -n 's/^\.\\" names: //p' "$whole" | while read -r names; do
			sed -n -e '/^SHMEMX_.*OVERLOAD/d' -e 's/^[A-Za-z].*[ *]\(shmemx_[a-z_0-9]*\)(.*);$/\1/p' "$(dirname "$header")/shmemx_typed.h" | grep -xE "$names"
		done
	} | while read -r name; do
		[ "$name" = "$page" ] || echo ".so man3/$page.3" >"$folder/$name.3"
	done
done
