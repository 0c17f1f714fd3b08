# SPDX-License-Identifier: BSD-3-Clause
# Makes the cases of tests/api/fortran_types.f90: for each type a subroutine from the template
# tests/fortran/type.f90.in. Reads the rows of "fortran/make-fortran.sh rows", then
# fortran/types.tsv, then the template, in which
#   @generic TEXT            is there for the types that have this generic; it is an error if no
#                            line has one of the table
#   %each rank ... %end      is repeated for arrays of rank RANK, 0 to 3, that are declared with
#                            COLONS
#   %sections RANK A | B...  makes pairs of these sections of arrays of this rank: each with each
#   %each pair ... %end      is repeated for all pairs: number PAIR, of sections TO and FROM, of
#                            rank RANK, of arrays of rank ARRAY, whose shape as declared is WHOLE
# TYPE is a declaration, NAME a type's name. "case (op_x)" in the first block that is repeated makes
# a number and a name of a case.

FNR == 1 { part++ }
/^#/ { next }
part == 1 { has[$4, $1] = 1; generics[$1] = 1; next }
part == 2 { split($0, row, "\t"); order[++types] = row[1]; declaration[row[1]] = row[2]; next }

/^%sections / { add_pairs(); next }
/^%each / { repeated = $2; block = 0; next }
/^%end/ {
	for (i = first_of(repeated); i <= last_of(repeated); i++)
		for (b = 1; b <= block; b++)
			line[++lines] = repeated == "rank" ? for_rank(held[b], i) : for_pair(held[b], i)
	repeated = ""
	next
}
repeated != "" {
	held[++block] = $0
	if (repeated == "rank" && match($0, /case \(op_[a-z_]*\)$/))
		operation[++operations] = substr($0, RSTART + 9, RLENGTH - 10)
	next
}
{ line[++lines] = $0 }

function add_pairs(    n, i, j, section)
{
	sub(/^%sections /, "")
	array = substr($0, 1, 1)
	n = split(substr($0, 3), section, / \| /)
	for (i = 1; i <= n; i++)
		for (j = 1; j <= n; j++) {
			array_of[++pairs] = array
			to[pairs] = section[i]
			from[pairs] = section[j]
		}
}

function first_of(what) { return what == "rank" ? 0 : 1 }
function last_of(what) { return what == "rank" ? 3 : pairs }

function colons(n,    text)
{
	for (text = ""; n > 0; n--)
		text = text (text == "" ? "(:" : ", :")
	return text == "" ? "" : text ")"
}

function for_rank(text, rank)
{
	gsub(/RANK/, rank, text)
	gsub(/COLONS/, colons(rank), text)
	return text
}

# Dimensions of a section are those with a colon.
function for_pair(text, i,    whole, d, section)
{
	whole = "("
	for (d = 1; d <= array_of[i]; d++)
		whole = whole (d == 1 ? "" : ", ") "size(d" array_of[i] ", " d ")"
	section = to[i]
	gsub(/[0-9-]*:[0-9-]*(:[0-9-]*)?/, ":", section)
	gsub(/PAIR/, i, text)
	gsub(/RANK/, gsub(/:/, "", section), text)
	gsub(/ARRAY/, array_of[i], text)
	gsub(/WHOLE/, whole ")", text)
	gsub(/TO/, to[i], text)
	gsub(/FROM/, from[i], text)
	return text
}

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

function for_type(text, type)
{
	if (type ~ /^logical/) {
		sub(/BITS_AND\(a, b\)/, "a .and. b", text)
		sub(/BITS_OR\(a, b\)/, "a .or. b", text)
		sub(/BITS_XOR\(a, b\)/, "a .neqv. b", text)
	}
	sub(/BITS_AND/, "iand", text)
	sub(/BITS_OR/, "ior", text)
	sub(/BITS_XOR/, "ieor", text)
	gsub(/TYPE/, text_of(type), text)
	gsub(/NAME/, type, text)
	gsub(/VALUE_OF_K/, value_of(type), text)
	gsub(/EQUALS/, type ~ /^logical/ ? ".eqv." : "==", text)
	return text
}

function print_operations(    i)
{
	print "module fortran_operations\n  implicit none\n  public"
	for (i = 1; i <= operations; i++)
		print "  integer, parameter :: op_" operation[i] " = " i
	print "  integer, parameter :: first_reduction = op_sum_reduce, last_op = " operations
	print "contains\n  function name_of(op) result(name)\n    integer, intent(in) :: op"
	print "    character(len=:), allocatable :: name\n    name = \"\"\n    select case (op)"
	for (i = 1; i <= operations; i++)
		print "    case (" i ")\n      name = \"" operation[i] "\""
	print "    end select\n  end function\nend module"
}

END {
	print "! Made by tests/fortran/cases.awk."
	print_operations()
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
			print for_type(text, type)
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
