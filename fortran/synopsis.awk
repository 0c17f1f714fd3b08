# SPDX-License-Identifier: BSD-3-Clause
# The synopses of the manual pages: a line "name<tab>call" for each public name,
# from the source of a module.

# A statement may go on in the next line.
/&$/ { sub(/ *&$/, ""); held = held $0; next }
{ $0 = held $0; held = "" }

/^ *interface shmemx?_/ { generic = $2; next }
/^ *end interface/ { generic = ""; next }

/^ *(subroutine|function) / {
	kind = $1
	name = $2
	sub(/\(.*/, "", name)
	if (name ~ /^module_(allocate|deallocate|ptr)__/) {
		sub(/^module/, "shmem", name)
		sub(/__.*/, "", name)
	}
	rest = $0
	sub(/^[^(]*\(/, "", rest)
	sub(/\).*/, "", rest)
	n = split(rest, argument, ", *")
	split("", optional)
	next
}
/, optional ::/ {
	rest = $0
	sub(/.*:: */, "", rest)
	gsub(/\([^)]*\)/, "", rest)
	m = split(rest, word, ", *")
	for (i = 1; i <= m; i++)
		optional[word[i]] = 1
}
/^ *end (subroutine|function)/ {
	shown = generic != "" ? generic : name
	if (shown !~ /^shmemx?_/ || shown in done)
		next
	done[shown] = 1
	line = (kind == "function" ? "answer = " : "call ") shown "("
	for (i = 1; i <= n; i++)
		line = line (argument[i] in optional ? (i > 1 ? "[, " : "[") argument[i] "]" : (i > 1 ? ", " : "") argument[i])
	print shown "\t" line ")"
}
