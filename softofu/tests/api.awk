# SPDX-License-Identifier: BSD-3-Clause
# From api.tsv a C program that compiles only where every name of uTofu and jTofu has the type and
# value of the table, and links only where every function is there.

BEGIN {
	FS = "\t"
	print "#include <jtofu.h>\n#include <utofu.h>\n#include <assert.h>"
	print "#include <stdio.h>\n"
}
NR == 1 {
	next
}
{
	seen[$1 " " ($2 ~ /^enum/ ? "enum" : $2)]++
}
$2 == "constant" {
	name = $4
	sub(/ = .*/, "", name)
	value = $4
	sub(/^[^=]* = /, "", value)
	if (name ~ /\(/) {
		# A macro with an argument: with one that shows where it goes.
		sub(/\(.*/, "(5u)", name)
		gsub(/path_id|sps/, "5u", value)
	}
	printf "static_assert((%s) == (%s), \"%s\");\n", name, value, $3
}
$2 == "type" {
	printf "static_assert(__builtin_types_compatible_p(%s, %s), \"%s\");\n", $3, $4, $3
}
$2 ~ /^enum/ {
	printf "static_assert(%s == %s && __builtin_types_compatible_p(%s, %s), \"%s\");\n", $3, $4, $2, $2, $3
}
$2 == "struct" || $2 == "union" {
	printf "%s twin_%s { %s };\n", $2, $3, $4
	printf "static_assert(sizeof(%s %s) == sizeof(%s twin_%s), \"%s\");\n", $2, $3, $2, $3, $3
	fields = $4
	gsub(/struct \{[^}]*\} s; /, "", fields)
	count = split(fields, field, /; */)
	for (i = 1; i <= count; i++) {
		name = field[i]
		sub(/\[.*/, "", name)
		sub(/.*[ *]/, "", name)
		if (name != "")
			printf "static_assert(offsetof(%s %s, %s) == offsetof(%s twin_%s, %s) && __builtin_types_compatible_p(" \
				"__typeof__(((%s %s *)0)->%s), __typeof__(((%s twin_%s *)0)->%s)), \"%s.%s\");\n",
				$2, $3, name, $2, $3, name, $2, $3, name, $2, $3, name, $3, name
	}
}
$2 == "function" {
	match($4, /[uj]tofu_[a-z0-9_]*\(/)
	prototype = substr($4, 1, RSTART - 1) "(*const the_" $3 ")(" substr($4, RSTART + RLENGTH)
	printf "%s = %s;\n", prototype, $3
	functions[++count_of_functions] = $3
}
END {
	print "\nint main(void)\n{\n\tconst void *all[] = {"
	for (i = 1; i <= count_of_functions; i++)
		printf "\t\t(const void *)the_%s,\n", functions[i]
	print "\t};\n\tint missing = 0;\n"
	print "\tfor (size_t i = 0; i < sizeof all / sizeof all[0]; i++)\n\t\tmissing += !all[i];"
	printf "\tprintf(\"utofu: %d functions, %d constants; jtofu: %d functions\\n\");\n", seen["utofu function"],
		seen["utofu constant"], seen["jtofu function"]
	print "\treturn missing;\n}"
}
