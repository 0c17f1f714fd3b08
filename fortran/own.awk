# SPDX-License-Identifier: BSD-3-Clause
# Behind generics.awk: the names that only Fortran has, from fortran/generics.def,
# which says what its lines are.

part == 5 && /^@/ {
	emit_owns()
	split(substr($0, 2), row, / +/)
	owns = row[1]
	own_in = row[2]
	own_procedures = $0
	sub(/^[^ ]* [^ ]* */, "", own_procedures)
	own_interface = own_text = ""
	next
}
part == 5 && /^%/ { own_interface = own_text; own_text = ""; next }
part == 5 && /^\*/ { of_ranks = of_ranks substr($0, 2) "\n"; next }
part == 5 {
	own_text = own_text (of_ranks == "" ? "" : for_ranks(of_ranks)) $0 "\n"
	of_ranks = ""
}

function for_type(text, type,    local)
{
	local = declaration[type]
	sub(/len=\*/, "len=len(a)", local)
	gsub(/LOCAL/, local, text)
	gsub(/OF/, "__" type, text)
	gsub(/TYPE/, declaration[type], text)
	gsub(/NAME/, own_short, text)
	return text
}

# Lines of fortran/generics.def, for all ranks.
function for_ranks(text,    rank, d, colons, firsts, one, all)
{
	for (rank = 1; rank <= 15; rank++) {
		colons = firsts = ""
		for (d = 1; d <= rank; d++) {
			colons = colons (d == 1 ? "(" : ", ") ":"
			firsts = firsts (d == 1 ? "" : d == 9 ? ", \\&\n          " : ", ") "first(" d "):"
		}
		one = text
		gsub(/COLONS/, colons ")", one)
		gsub(/FIRSTS/, firsts, one)
		gsub(/RANK/, rank, one)
		all = all one
	}
	return all
}

function is_other_module(name)
{
	return (name ~ /^shmemx/) != (extensions + 0)
}

# For each of the names that stand together, with commas.
function emit_owns(    i, several, names)
{
	several = split(owns, names, ",")
	for (i = 1; i <= several; i++) {
		own = names[i]
		emit_own()
	}
}

function emit_own(    t, type, names, short)
{
	short = own
	sub(/^shmemx?_/, "", short)
	own_short = short
	if (own == "" || (want == "names" || want == "f90") && is_other_module(own) || want == "c" && own_in == "native")
		return
	if (want == "names") {
		if (!named[own]++)
			print own
		return
	}
	if (want == "f90")
		printf "\n  interface %s\n", own
	for (t = 1; t <= types; t++) {
		type = order[t]
		if (!takes_part(type, own_in, short) || is_foreign(type) && own_procedures == "")
			continue
		if (want == "f90" && own_procedures == "")
			printf "%s", for_type(own_text, type)
		else if (want == "f90") {
			names = for_type(own_procedures, type)
			gsub(/ /, "\n    procedure :: ", names)
			print "    procedure :: " names
			foreign_interfaces = foreign_interfaces for_type(own_interface, type)
			foreign_procedures = foreign_procedures "\n" for_type(own_text, type)
		} else if (want == "c")
			printf "BODY_%s(torushmemf_%s__%s, \"%s\", %s)\n", short, short, type, own, code[type]
		else if (want == "rows")
			print (own ~ /^shmemx_/ ? "x_" : "") short, "own", own_in, type
	}
	if (want == "f90")
		print "  end interface"
}
