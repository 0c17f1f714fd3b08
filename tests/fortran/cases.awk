# SPDX-License-Identifier: BSD-3-Clause
# Makes the cases of tests/api/fortran_types.f90: for each type a subroutine from the template tests/fortran/type.f90.in. Reads the rows of
# "fortran/make-fortran.sh rows", then fortran/types.tsv, then the template. A line "@generic" of the template begins with the name of a
# generic; it stays for the types that have it. It is an error if the template lacks a generic of the table.

FNR == 1 { part++ }
/^#/ { next }
part == 1 { has[$4, $1] = 1; generics[$1] = 1; next }
part == 2 { split($0, row, "\t"); order[++types] = row[1]; declaration[row[1]] = row[2]; next }
{ line[++lines] = $0 }

# Values are made of small numbers.
function value_of(type)
{
	if (type ~ /^logical/)
		return "mod(k, 3) == 0"
	if (type == "character")
		return "repeat(achar(97 + mod(k, 26)), 3)"
	if (type ~ /^complex/)
		return "cmplx(k, 1 - k, kind(value))"
	if (type ~ /^real/)
		return "real(k, kind(value))"
	return "int(k, kind(value))"
}

function text_of(type, text)
{
	text = declaration[type]
	sub(/len=\*/, "len=3", text)
	gsub(/ /, "", text)
	return text
}

END {
	print "! Made by tests/fortran/cases.awk."
	for (t = 1; t <= types; t++) {
		type = order[t]
		for (l = 1; l <= lines; l++) {
			text = line[l]
			if (text ~ /^@/) {
				generic = text
				sub(/^@/, "", generic)
				sub(/ .*/, "", generic)
				seen[generic] = 1
				if (!((type, generic) in has))
					continue
				sub(/^@[a-z_]* /, "", text)
			}
			gsub(/TYPE/, text_of(type), text)
			gsub(/NAME/, type, text)
			gsub(/VALUE_OF_K/, value_of(type), text)
			gsub(/EQUALS/, type ~ /^logical/ ? ".eqv." : "==", text)
			print text
		}
	}
	print "module fortran_cases"
	for (t = 1; t <= types; t++)
		print "  use cases_" order[t]
	print "  implicit none\ncontains\n  subroutine try_all_types()"
	for (t = 1; t <= types; t++)
		print "    call try_" order[t] "()"
	print "  end subroutine\nend module"
	for (generic in generics)
		if (!(generic in seen)) {
			print "tests/fortran/type.f90.in does not try shmem_" generic >"/dev/stderr"
			exit 1
		}
}
