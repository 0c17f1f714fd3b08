# SPDX-License-Identifier: BSD-3-Clause
# Makes the type-generic part of the Fortran interface. Reads, in this order: the C type table
# (lines "name|C type|rma|amo|ext|bits|old|minmax|logic|sum|avg|fadd|Fortran|code"),
# fortran/types.tsv, the prototypes of shmem.h one a line, include/generics.def, and
# fortran/generics.def with the names that only Fortran has. Writes what -v want= says:
#   f90    interface blocks for the module, which is shmem, or shmemx with -v extensions=1
#   c      the routines behind them: scalars are passed on to C, arrays go to the BODY_ macros of
#          fortran/bodies.h
#   rows   lines "generic form set type", for the tests
#   names  the generic names of the module
# The prototypes of int32, which has every routine, are the pattern for all types. fortran/own.awk
# comes behind and has what stands in fortran/generics.def.

BEGIN {
	FS = "|"
	pattern = "int32"
	declaration["any"] = "type(*)"
	c_type["any"] = c_name["any"] = "char"
}

FNR == 1 { part++ }
/^#/ || NF == 0 { next }

part == 1 && $13 != "none" {
	c_name[$13] = $1
	c_type[$13] = $2
	code[$13] = "SHMEMX_" $14
	for (i = 3; i <= 12; i++)
		column[$13, i] = $i
}
part == 1 { c_type_of[$1] = $2; next }

part == 2 {
	split($0, row, "\t")
	order[++types] = row[1]
	declaration[row[1]] = row[2]
	if (row[3] != "") {
		c_name[row[1]] = row[3]
		c_type[row[1]] = c_type_of[row[3]]
		own_set[row[1]] = row[4]
		code[row[1]] = "SHMEMX_" toupper(row[3])
	}
	next
}

part == 3 {
	if ($0 ~ /SHMEMX_DEPRECATED/ || !match($0, "shmem_(ctx_)?" pattern "_[a-z_]*\\("))
		next
	name = substr($0, RSTART, RLENGTH - 1)
	result[name] = $0 ~ /^void/ ? "void" : substr($0, 1, RSTART - 1)
	rest = substr($0, RSTART + RLENGTH)
	sub(/\);.*/, "", rest)
	parameters[name] = rest
	next
}

# --- Which types take part ---

# The default logical is no type of C, so the standard keeps it out of interfaces to C. Its routines
# are procedures of the module, which hand the arrays on as those of any type.
function is_foreign(type)
{
	return type == "logical"
}

function takes_part(type, set, name)
{
	if (set == "native")
		return is_foreign(type) || own_set[type] == "text"
	if (set == "own")
		return !(type in own_set && own_set[type] == "text") && !is_foreign(type)
	if (type in own_set) {
		if (set == "logic")
			return own_set[type] == "logic"
		return set == "rma" && !(own_set[type] == "text" && name ~ /^(p|g|i(b)?(put|get)|alltoalls)$/)
	}
	if (set == "rma")
		return 1
	if (set == "wait")
		set = "amo"
	return column[type, place[set]] == 1
}

# --- One parameter of C in Fortran ---

function is_array_call(name)
{
	return parameters[name] ~ /size_t n(elems|reduce|blocks)/
}

# Sizes come from the arrays, except where strides stand beside them.
function is_dropped(word, name)
{
	return (word == "nelems" || word == "nreduce") && parameters[name] !~ /ptrdiff_t dst/
}

function dummy_of(parameter, type, arrays, word,    intent)
{
	if (parameter ~ /^shmem_ctx_t/)
		return "type(shmem_ctx_t), value :: ctx"
	if (parameter ~ /^shmem_team_t/)
		return "type(shmem_team_t), value :: team"
	if (word == "sig_addr")
		return "integer(c_int64_t), intent(inout) :: sig_addr"
	if (word == "signal")
		return "integer(c_int64_t), value :: signal"
	if (word == "status")
		return "integer(c_int), intent(in), optional :: status(..)"
	if (word == "indices")
		return "integer(c_int), intent(inout) :: indices(..)"
	if (parameter ~ pattern "_t \\*") {
		intent = parameter ~ /^const/ ? "in" : "inout"
		return declaration[type] ", intent(" intent ") :: " word (arrays ? "(..)" : "")
	}
	if (parameter ~ "^" pattern "_t")
		return declaration[type] ", value :: " word
	return "integer(c_int), value :: " word
}

function split_parameters(name,    n, i, words)
{
	n = split(parameters[name], list, ", *")
	for (i = 1; i <= n; i++) {
		words = list[i]
		sub(/.*[ *]/, "", words)
		word_of[i] = words
	}
	return n
}

# --- One procedure ---

# Of a routine that returns a status of its collective the status is an
# argument, as is usual in Fortran.
function fortran_result(name, set, type, generic)
{
	if (result[name] == "void" || set == "team")
		return ""
	if (generic ~ /^test(_all|_all_vector)?$/)
		return "logical(c_bool)"
	if (generic ~ /^(wait_until|test)_(any|some)/)
		return "integer(c_int)"
	return declaration[type]
}

function emit_f90(name, generic, symbol, form, type,    text)
{
	if (!is_foreign(type)) {
		printf "%s", interface_of(name, generic, symbol, form, type, "bind(c)")
		return
	}
	inner = symbol "_"
	sub(/^torushmemf_/, "module_", inner)
	printf "    procedure :: %s\n", inner
	text = interface_of(name, generic, inner, form, type, "")
	sub(/\n      import/, "", text)
	if (is_array_call(name)) {
		foreign_interfaces = foreign_interfaces interface_of(name, generic, symbol, form, "any", "bind(c)")
		text = text_without_end(text) "      call " symbol "(" dummies ")\n"
	} else if (generic == "p")
		text = text_without_end(text) "      call torushmemf_" (form_has_ctx(name) ? "ctx_" : "") "putmem__any(" dummies ")\n"
	else
		text = text_without_end(text) "      call torushmemf_" (form_has_ctx(name) ? "ctx_" : "") "getmem__any(" \
			(form_has_ctx(name) ? "ctx, " : "") "answer, source, pe)\n"
	foreign_procedures = foreign_procedures "\n" text "    end " (generic == "g" ? "function" : "subroutine") "\n"
}

function form_has_ctx(name)
{
	return name ~ /^shmem_ctx_/
}

function text_without_end(text)
{
	sub(/    end [a-z]*\n$/, "", text)
	return text
}

# The interface of a procedure; dummies has its arguments.
function interface_of(name, generic, symbol, form, type, binding,    n, i, arrays, words, lines, answer, kind, last)
{
	n = split_parameters(name)
	arrays = is_array_call(name)
	last = ""
	for (i = 1; i <= n; i++) {
		if (is_dropped(word_of[i], name))
			continue
		if (word_of[i] == "status") {
			last = dummy_of(list[i], type, arrays, "status")
			continue
		}
		words = words (words == "" ? "" : ", ") word_of[i]
		lines = lines "      " dummy_of(list[i], type, arrays, word_of[i]) "\n"
	}
	if (form == "team")
		last = "integer(c_int), intent(out), optional :: stat"
	if (last != "") {
		words = words (form == "team" ? ", stat" : ", status")
		lines = lines "      " last "\n"
	}
	answer = fortran_result(name, form, type, generic)
	kind = answer == "" ? "subroutine" : "function"
	dummies = words
	return sprintf("    %s %s(%s) %s%s\n      import\n%s%s    end %s\n", kind, symbol, words, binding,
		answer == "" ? "" : " result(answer)", lines, answer == "" ? "" : "      " answer " :: answer\n", kind)
}

# Scalars: the routine of C is called with the same arguments. Types that C has no p and
# g for are moved as bytes.
function emit_c_scalar(name, generic, symbol, type,    n, i, c, arguments, parameter, call, answer)
{
	c = c_type[type]
	n = split_parameters(name)
	for (i = 1; i <= n; i++) {
		parameter = list[i]
		gsub(pattern "_t", c, parameter)
		c_parameters = i == 1 ? parameter : c_parameters ", " parameter
		arguments = arguments (i == 1 ? "" : ", ") word_of[i]
	}
	answer = result[name]
	gsub(pattern "_t", c, answer)
	if (generic == "test")
		answer = "bool"
	call = name "(" arguments ")"
	sub(pattern, c_name[type], call)
	if (c ~ /_Complex/ && generic == "p") {
		sub(/_[a-z]*_p\(/, "_putmem(", call)
		sub(/dest, value,/, "dest, \\&value, sizeof value,", call)
	}
	if (c ~ /_Complex/ && generic == "g") {
		sub(/_[a-z]*_g\(/, "_getmem(", call)
		sub(/source, pe/, "\\&value, source, sizeof value, pe", call)
		printf "API %s %s(%s)\n{\n\t%s value;\n\n\t%s;\n\treturn value;\n}\n", answer, symbol, c_parameters, c, call
		return
	}
	printf "API %s %s(%s)\n{\n\t%s%s;\n}\n", answer, symbol, c_parameters, answer == "void" ? "" : "return ", call
}

# shown is the name under which Fortran programs call it, if that differs from the generic one.
function emit(name, generic, context, form, type, shown,    symbol)
{
	if (shown == "")
		shown = generic
	symbol = "torushmemf_" context shown "__" type
	if (want == "f90")
		emit_f90(name, generic, symbol, form, type)
	else if (is_array_call(name))
		printf "BODY_%s(%s, \"shmem_%s\", %s, %s, %s)\n", generic, symbol, shown, c_type[type], c_name[type],
			context == "" ? "DEFAULT" : "GIVEN"
	else if (!is_foreign(type))
		emit_c_scalar(name, generic, symbol, type)
}

# Arrays of all other types go as bytes, under the name that C has for that.
function bytes_name(generic)
{
	if (generic !~ /^(put|get)(_nbi|_signal|_signal_nbi)?$|^(broadcast|collect|fcollect|alltoall)$/)
		return ""
	sub(/^[a-z]*/, "&mem", generic)
	return generic
}

function emit_bytes(generic, form, bytes,    symbol)
{
	if (want == "rows")
		return
	if (want == "f90")
		printf "\n  interface shmem_%s\n", bytes
	emit("shmem_" pattern "_" generic, generic, "", form, "any", bytes)
	if (form == "ctx")
		emit("shmem_ctx_" pattern "_" generic, generic, "ctx_", form, "any", bytes)
	if (want == "f90")
		print "  end interface"
}

function emit_generic(generic, form, set,    t, type)
{
	if (want == "names") {
		print "shmem_" generic
		if (bytes_name(generic) != "")
			print "shmem_" bytes_name(generic)
		return
	}
	if (want == "f90")
		printf "\n  interface shmem_%s\n", generic
	for (t = 1; t <= types; t++) {
		type = order[t]
		if (!takes_part(type, set, generic))
			continue
		if (want == "rows") {
			print generic, form, set, type
			continue
		}
		emit("shmem_" pattern "_" generic, generic, "", form, type)
		if (form == "ctx")
			emit("shmem_ctx_" pattern "_" generic, generic, "ctx_", form, type)
	}
	if (want == "f90")
		print "  end interface"
	if (bytes_name(generic) != "")
		emit_bytes(generic, form, bytes_name(generic))
}

part >= 4 && !place_known {
	place_known = 1
	split("rma amo ext bits old minmax logic sum avg fadd", sets, " ")
	for (i in sets)
		place[sets[i]] = i + 2
}

part == 4 && extensions { next }
part == 4 {
	split($0, row, / +/)
	if (("shmem_" pattern "_" row[1]) in parameters)
		emit_generic(row[1], row[2], row[3])
	next
}

END {
	emit_owns()
	if (want == "f90" && !extensions) {
		print "\n  ! --- What the module hands on to C: default logicals, which C does not have, and pointers ---\n\n  interface"
		printf "%s  end interface\n\ncontains\n%s", foreign_interfaces, foreign_procedures
	}
}
