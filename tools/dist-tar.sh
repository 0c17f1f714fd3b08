#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# dist-tar.sh SOURCE FOLDER: FOLDER as a tar archive on standard output, the same bytes each time:
# files by name, no owners, the usual permissions, and one date. The date is SOURCE_DATE_EPOCH, or
# that of the last commit, or in an unpacked archive its own.
set -eu
date=${SOURCE_DATE_EPOCH:-}
[ -n "$date" ] || [ ! -e "$1/.git" ] || date=$(git -C "$1" -c safe.directory='*' log -1 --format=%ct 2>/dev/null) || date=
date=${date:-$(date -r "$1/configure.ac" +%s)}
LC_ALL=C exec tar --format=gnu --sort=name --mtime="@$date" --owner=0 --group=0 --numeric-owner \
	--mode='u+rw,go+r,go-w,a+X' -cf - "$2"
