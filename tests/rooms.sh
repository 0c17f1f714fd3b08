#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# rooms.sh SRCDIR BUILDDIR: by what the library's object files define and need, the rooms of comms/ use each other only as the table in
# docs/tour.md says, that table has no circle, and no more than three files are in a circle. Fails and names the symbols where it is otherwise.
set -u
LC_ALL=C
export LC_ALL
source=$(CDPATH='' cd -- "$1" && pwd -P) || exit 1
cd "$2" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# shellcheck disable=SC2016 # backquotes are what is looked for
# ROOM USED..., a line each, of the table whose lines begin with | `room/` |
sed -n 's/^| `\([a-z]*\)\/` |.*|\([^|]*\)|$/\1 \2/p' "$source/docs/tour.md" | tr -d '`/,' >"$work/allowed"

# Of shared objects where both kinds were made: FILE D or U SYMBOL
objects=$(find comms shmem rte -path '*/.libs/libtorus*_la-*.o' 2>/dev/null)
[ -n "$objects" ] || objects=$(find comms shmem rte -name 'libtorus*_la-*.o' 2>/dev/null)
# shellcheck disable=SC2086 # names are words
nm -A $objects 2>/dev/null | awk '{
	file = $1
	sub(/:.*/, "", file)
	sub(/\.libs\//, "", file)
	sub(/libtorus[a-z]*_la-/, "", file)
	sub(/\.o$/, "", file)
	if ($(NF - 1) == "U") print file, "U", $NF
	else if ($(NF - 1) ~ /^[A-Z]$/) print file, "D", $NF
}' >"$work/symbols"

awk -v most=3 '
	function room(file, parts) {
		if (file !~ /^comms\/[a-z]+\//) return ""
		split(file, parts, "/")
		return parts[2]
	}
	FILENAME ~ /allowed$/ {
		known[$1] = 1
		for (i = 2; i <= NF; i++) may[$1, $i] = 1
		next
	}
	$2 == "D" { definer[$3] = $1 }
	$2 == "U" { wanted[++wishes] = $1 " " $3 }
	END {
		if (wishes == 0) {
			print "rooms: these object files show no symbols; nothing was looked at"
			exit 0
		}
		for (name in known) { # all that it uses, and all that these use
			split("", above)
			first = last = 1
			line[1] = name
			while (first <= last) {
				for (other in known) if ((line[first], other) in may && !(other in above)) {
					above[other] = 1
					line[++last] = other
				}
				first++
			}
			if (name in above) {
				print "rooms: by docs/tour.md, " name "/ uses rooms that use it"
				bad = 1
			}
		}
		for (i = 1; i <= wishes; i++) {
			split(wanted[i], wish, " ")
			other = definer[wish[2]]
			if (other == "" || other == wish[1]) continue
			if (!((wish[1], other) in needs)) {
				needs[wish[1], other] = wish[2]
				out[wish[1]] = out[wish[1]] " " other
			}
			files[wish[1]] = files[other] = 1
			a = room(wish[1])
			b = room(other)
			if (a == b || a == "") continue
			if (b == "" ? other !~ /^rte\// || a == "torus" : !((a, b) in may)) {
				print "rooms: " wish[1] ".c calls " wish[2] " of " other ".c; docs/tour.md has no such use"
				bad = 1
			}
		}
		for (file in files) if (room(file) != "" && !(room(file) in known)) {
			print "rooms: docs/tour.md does not know the room of " file ".c"
			bad = 1
		}
		for (file in files) {
			first = last = 1
			queue[1] = file
			while (first <= last) {
				count = split(out[queue[first++]], next_ones, " ")
				for (i = 1; i <= count; i++) if (!((file, next_ones[i]) in seen)) {
					seen[file, next_ones[i]] = 1
					queue[++last] = next_ones[i]
				}
			}
		}
		for (file in files) {
			circle = ""
			size = 0
			for (other in files) if ((file, other) in seen && (other, file) in seen) {
				circle = circle " " other ".c"
				size++
			}
			if (size > most) {
				print "rooms: " file ".c is in a circle of " size " files:" circle
				bad = 1
			}
		}
		if (!bad) print "rooms: each uses those that it may"
		exit bad
	}' "$work/allowed" "$work/symbols"
