# SPDX-License-Identifier: BSD-3-Clause
# Replaces what is private in a text: the file "private" has lines "what<tab>by what". Words are replaced whole, so that a host
# called "node" does not change "nodes". Addresses go, too, unless names are wanted.

function is_inside(c) {
	return c ~ /[A-Za-z0-9_]/
}

# Each occurrence that is a word of its own.
function replaced(text, what, by,    out, at, before, after) {
	out = ""
	while ((at = index(text, what)) > 0) {
		before = at > 1 ? substr(text, at - 1, 1) : ""
		after = substr(text, at + length(what), 1)
		if (is_inside(before) || is_inside(after))
			out = out substr(text, 1, at + length(what) - 1)
		else
			out = out substr(text, 1, at - 1) by
		text = substr(text, at + length(what))
	}
	return out text
}

# Longer ones first: a full name before the short one in it.
function read_private(    line, pair, i, j, keep) {
	while ((getline line < private) > 0) {
		split(line, pair, "\t")
		if (pair[1] == "" || pair[1] == "localhost")
			continue
		what[++count] = pair[1]
		by[count] = pair[2]
	}
	for (i = 1; i <= count; i++)
		for (j = i + 1; j <= count; j++)
			if (length(what[j]) > length(what[i])) {
				keep = what[i]; what[i] = what[j]; what[j] = keep
				keep = by[i]; by[i] = by[j]; by[j] = keep
			}
}

BEGIN {
	read_private()
}

{
	for (i = 1; i <= count; i++)
		$0 = replaced($0, what[i], by[i])
	if (names == "no") {
		gsub(/[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+/, "(address)")
		gsub(/[0-9a-f]+:[0-9a-f]*:[0-9a-f:]*:[0-9a-f]+/, "(address)")
	}
	print
}
