# SPDX-License-Identifier: BSD-3-Clause
# expand-exports.awk: reads packaging/PACKAGE.exports, whose head says how it is written, and prints
# the list of symbols for dpkg-gensymbols (-v soname=NAME -v package=PACKAGE), or with -v names=1
# the names alone.
function write(name)
{
	print names ? name : " " name "@Base " $1
}

function expand(name, open, shut, members, member, count, i)
{
	open = index(name, "{")
	if (open == 0) {
		if (sub(/^p\?/, "", name)) write("p" name)
		if (sub(/^f\?/, "", name)) {
			write(name "_")
			write(name "__")
			name = toupper(name)
		}
		write(name)
		return
	}
	shut = index(name, "}")
	members = substr(name, open + 1, shut - open - 1)
	if (members in set) members = set[members]
	count = split(members, member, ",")
	for (i = 1; i <= count; i++) expand(substr(name, 1, open - 1) member[i] substr(name, shut + 1))
}

BEGIN {
	if (!names) print soname, package, "#MINVER#"
	if (!names && package ~ /fortran/) print " (optional|regex)\"_MOD___.*@Base$\" 0.2.0"
}
/^#/ || NF == 0 { next }
$1 == "set" { set[$2] = $3; next }
{ expand($2) }
