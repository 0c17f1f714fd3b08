#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# links.sh make|remove FOLDER TRANSFORM ENDING NAME:LINK ...: installs LINK as a link to NAME in
# FOLDER, or removes it. TRANSFORM is the sed script of --program-suffix and its like for both
# names, ENDING what follows them. What is there and is not such a link belongs to another package:
# it stays, and one line says so.
set -eu
action=$1 folder=$2 transform=$3 ending=$4
shift 4

renamed()
{
	printf '%s\n' "$1" | sed "$transform"
}

cd "$folder" 2>/dev/null || exit 0
for pair in "$@"; do
	from=$(renamed "${pair%%:*}")$ending to=$(renamed "${pair#*:}")$ending
	if [ -L "$to" ] && [ "$(readlink "$to")" = "$from" ]; then
		[ "$action" = make ] || rm -f "$to"
	elif [ -e "$to" ] || [ -L "$to" ]; then
		[ "$action" = remove ] ||
			echo "$folder/$to belongs to another package and stays; --program-suffix installs this one beside it" >&2
	elif [ "$action" = make ] && [ -e "$from" ]; then
		ln -s "$from" "$to"
	fi
done
