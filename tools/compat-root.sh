#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# compat-root.sh ROOT BINDIR LIBDIR INCLUDEDIR TRANSFORM PROGRAMS HEADERS MPP-HEADERS: makes the
# folder ROOT, where programs that look for an OpenSHMEM by its root find include/shmem.h,
# lib/libsma.so and the like, and bin/oshcc together. $DESTDIR goes in front of each folder.
# PROGRAMS are NAME:LINK, and TRANSFORM is the sed script of --program-suffix for NAME. All is
# links to what is installed, relative, so that the tree may be moved.
set -eu
root=$1 bindir=$2 libdir=$3 includedir=$4 transform=$5 programs=$6 headers=$7 mpp_headers=$8
there=${DESTDIR:-}

# The way from folder $1 to folder $2.
relative()
{
	from=$1 up=
	while [ "${2#"$from"/}" = "$2" ] && [ "$2" != "$from" ]; do
		from=${from%/*} up=../$up
	done
	rest=${2#"$from"}
	printf '%s%s\n' "$up" "${rest#/}"
}

# link TARGET-FOLDER TARGET FOLDER LINK
link()
{
	ln -sf "$(relative "$3" "$1")/$2" "$there$3/$4"
}

rm -rf "$there$root"
mkdir -p "$there$root/bin" "$there$root/include/mpp" "$there$root/lib"
ln -s lib "$there$root/lib64"
for pair in $programs; do
	link "$bindir" "$(printf '%s\n' "${pair%%:*}" | sed "$transform")" "$root/bin" "${pair#*:}"
done
for header in $headers; do
	link "$includedir" "${header##*/}" "$root/include" "${header##*/}"
done
for header in $mpp_headers; do
	link "$includedir/mpp" "${header##*/}" "$root/include/mpp" "${header##*/}"
done
# Under their own names as well: a program that was linked here has this folder for its run path.
for file in "$there$libdir"/libtorushmem*.so* "$there$libdir"/libtorushmem*.a; do
	[ ! -e "$file" ] || link "$libdir" "${file##*/}" "$root/lib" "${file##*/}"
done
# Sandia's and Cray's, Open MPI's, two of older libraries, and what is linked beside Sandia's.
for name in sma oshmem openshmem shmem pmi_simple; do
	for end in so a; do
		[ ! -e "$there$libdir/libtorushmem.$end" ] ||
			link "$libdir" "libtorushmem.$end" "$root/lib" "lib$name.$end"
	done
done
