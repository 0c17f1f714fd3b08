#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# install-docs.sh install|uninstall SOURCE FOLDER FILE...: those of FILE that are pages for readers
# (*.md, and the pictures in them) into FOLDER, or away from it. They keep their folders, so that
# the links between them hold.
set -eu
action=$1 source=$2 to=$3
shift 3
# A folder in the list stands for the pictures in it.
for file in "$@"; do
	case $file in
	README.md | CHANGELOG.md | LICENSE | docs/*.md | docs/*.svg | softofu/README.md) echo "$file" ;;
	docs/*) [ ! -d "$source/$file" ] || (cd "$source" && find "$file" -name '*.svg') ;;
	esac
done | while read -r file; do
	rm -f "$to/$file"
	[ "$action" = install ] || continue
	mkdir -p "$to/$(dirname "$file")"
	cp "$source/$file" "$to/$file"
	chmod 644 "$to/$file"
done
