#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# install-pages.sh install|uninstall PAGES FOLDER TRANSFORM COMMAND...: the manual pages
# of the folder PAGES into FOLDER, by COMMAND (install -m 644), or away from it. TRANSFORM
# is the sed script of --program-suffix and its like: with one, a page that refers to
# another refers to the new name.
set -eu
action=$1 pages=$2 folder=$3 transform=$4
shift 4
cd "$pages"

if [ "$action" = install ] && [ "$(echo shmem_put | sed "$transform")" = shmem_put ]; then
	exec "$@" ./*.3 "$folder"
fi
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
for page in *.3; do
	echo "${page%.3}"
done >"$new/names"
sed "$transform" "$new/names" >"$new/renamed"
if [ "$action" = uninstall ]; then
	cd "$folder" 2>/dev/null || exit 0
	sed 's/$/.3/' "$new/renamed" | xargs rm -f
	exit
fi
paste "$new/names" "$new/renamed" | awk -v new="$new" '
	{ renamed[$1] = $2 }
	END {
		for (name in renamed) {
			page = name ".3"
			copy = new "/" renamed[name] ".3"
			for (first = 1; (getline line < page) > 0; first = 0) {
				other = line
				if (first && sub(/^\.so man3\//, "", other) && sub(/\.3$/, "", other))
					line = ".so man3/" renamed[other] ".3"
				print line >copy
			}
			close(page)
			close(copy)
		}
	}'
"$@" "$new"/*.3 "$folder"
