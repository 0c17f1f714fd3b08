#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# rooms.sh SRCDIR BUILDDIR: the rooms of comms/ use each other only as the table in docs/tour.md
# says, and that table has no circle. What a file uses is what it includes, and what its object file
# needs of others. Headers do not include each other in a circle, and no more than three files are
# in any circle, a .c file and the .h file of its name being one file for includes. Fails and names
# the line or the symbols where it is otherwise.
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

# FILE:LINE HEADER, of the headers of the three layers, by their paths from the root
(cd "$source" && {
	find comms shmem rte -name '*.[ch]' 2>/dev/null
	grep -rnE --exclude-dir=oshrun --include='*.[ch]' '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' comms shmem rte 2>/dev/null
}) | awk -F : '
	NF == 1 { there[$1] = 1; next }
	{
		header = $3
		gsub(/^[^"]*"|".*/, "", header)
		beside = $1
		sub(/[^\/]*$/, header, beside)
		place[++count] = $1 ":" $2
		near[count] = beside
		far[count] = header
	}
	END {
		for (i = 1; i <= count; i++)
			if (near[i] in there) print place[i], near[i]
			else if (far[i] in there) print place[i], far[i]
	}' >"$work/includes"

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
	function complain(text) {
		print "rooms: " text
		bad = 1
	}
	function edge(graph, from, to) {
		if (from == to || (graph, from, to) in edges) return
		edges[graph, from, to] = 1
		out[graph, from] = out[graph, from] " " to
		nodes[graph, from] = nodes[graph, to] = 1
	}
	# Fills in above[]: all that can be reached from a node.
	function climb(graph, node, queue, first, last, next_ones, count, i) {
		split("", above)
		queue[first = last = 1] = node
		while (first <= last) {
			count = split(out[graph, queue[first++]], next_ones, " ")
			for (i = 1; i <= count; i++) if (!(next_ones[i] in above)) {
				above[next_ones[i]] = 1
				queue[++last] = next_ones[i]
			}
		}
	}
	# Complains of each node that is in a circle of more than so many.
	function circles(graph, more_than, suffix, node, other, key, parts, size, circle) {
		for (key in nodes) {
			split(key, parts, SUBSEP)
			if (parts[1] != graph) continue
			node = parts[2]
			climb(graph, node)
			if (node in above) for (other in above) reaches[graph, node, other] = 1
		}
		for (key in nodes) {
			split(key, parts, SUBSEP)
			if (parts[1] != graph) continue
			node = parts[2]
			circle = ""
			size = 0
			for (other in known_nodes) if ((graph, node, other) in reaches && (graph, other, node) in reaches) {
				circle = circle " " other suffix
				size++
			}
			if (size > more_than)
				complain(node suffix " is in a circle of " size " files that " graph " each other:" circle)
		}
	}
	FILENAME ~ /allowed$/ {
		known[$1] = 1
		for (i = 2; i <= NF; i++) {
			may[$1, $i] = 1
			edge("use", $1, $i)
		}
		next
	}
	FILENAME ~ /includes$/ {
		from = $1
		sub(/:.*/, "", from)
		a = room(from)
		b = room($2)
		if (a != "" && b != "" && a != b && !((a, b) in may))
			complain($1 " includes " $2 "; docs/tour.md has no such use")
		if (from ~ /h$/) edge("include", from, $2)
		sub(/\.[ch]$/, "", from)
		sub(/\.[ch]$/, "", $2)
		edge("need", from, $2)
		next
	}
	$2 == "D" { definer[$3] = $1 }
	$2 == "U" { wanted[++wishes] = $1 " " $3 }
	END {
		for (name in known) {
			climb("use", name)
			if (name in above) complain("by docs/tour.md, " name "/ uses rooms that use it")
		}
		for (i = 1; i <= wishes; i++) {
			split(wanted[i], wish, " ")
			other = definer[wish[2]]
			if (other == "" || other == wish[1]) continue
			edge("call", wish[1], other)
			a = room(wish[1])
			b = room(other)
			if (a == b || a == "") continue
			if (b == "" ? other !~ /^rte\// || a == "torus" : !((a, b) in may))
				complain(wish[1] ".c calls " wish[2] " of " other ".c; docs/tour.md has no such use")
		}
		for (key in nodes) {
			split(key, parts, SUBSEP)
			known_nodes[parts[2]] = 1
			if (parts[1] == "call" && room(parts[2]) != "" && !(room(parts[2]) in known))
				complain("docs/tour.md does not know the room of " parts[2] ".c")
		}
		circles("call", most, ".c")
		circles("need", most, "")
		circles("include", 1, "")
		if (wishes == 0) print "rooms: these object files show no symbols; only includes were looked at"
		else if (!bad) print "rooms: each uses those that it may"
		exit bad
	}' "$work/allowed" "$work/includes" "$work/symbols"
