#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# close-archive.sh COMMAND...: runs COMMAND, which links libtorushmem.la; then the archive it
# made, if it made one, becomes an archive of one object whose only global symbols are those of
# the API. Otherwise a user's "int globals" would be the library's. bench/breakdown takes the
# archive as it was, libtorushmem-open.a beside it. RELOCATABLE is what links objects to one,
# OBJCOPY, AR and RANLIB are those tools.
set -eu
"$@"
archive=.libs/libtorushmem.a
[ -f "$archive" ] || exit 0
object=.libs/torushmem.o
# shellcheck disable=SC2086 # commands with options
$RELOCATABLE -o "$object" -Wl,--whole-archive "$archive" -Wl,--no-whole-archive
# shellcheck disable=SC2086
$OBJCOPY --localize-hidden "$object"
mv -f "$archive" "${archive%.a}-open.a"
# shellcheck disable=SC2086
$AR cr "$archive" "$object"
# shellcheck disable=SC2086
$RANLIB "$archive"
rm -f "$object"
