# SPDX-License-Identifier: BSD-3-Clause
# Makes the interface of OpenSHMEM 1.3 of fortran/legacy.def. -v want= says which part:
#   legacy      C routines, with names as compilers make them of Fortran's: name_, name__ and NAME
#   include     shmem.fh, for fixed and free form; -v constants= names a file with the numbers, as
#               "name value"
#   interfaces  shmem_interfaces/shmem.fh, which declares every routine of OpenSHMEM 1.3
#   numbers     shmem_constants/shmem.fh, which declares none
#
# Programs call old routines with arrays of any type, pass them as arguments, and have variables
# that are called my_pe: shmem.fh declares functions alone, so that their results have the right
# kind where the program does not declare them. A declared routine is a generic name for one that
# takes any arguments, so programs that declare a function themselves remain right.

BEGIN {
	c_result["-"] = "void"
	c_result["integer"] = c_result["logical"] = "int"
	c_result["integer8"] = "int64_t"
	c_result["real4"] = "float"
	c_result["real8"] = "double"
	c_result["address"] = "void *"
	f_result["integer"] = "integer(c_int)"
	f_result["logical"] = "logical(c_bool)"
	f_result["integer8"] = "integer(c_int64_t)"
	f_result["address"] = "integer(c_intptr_t)"
	f_result["real4"] = "real(c_float)"
	f_result["real8"] = "real(c_double)"
	by_address = " dest source addr ivar lock pwrk fetch major minor length errcode abort "
	if (want == "legacy") {
		print "/* SPDX-License-Identifier: BSD-3-Clause */"
		print "/* Made by fortran/make-fortran.sh: the routines of fortran/legacy.def. */"
		print "#include \"fortran/legacy.h\"\n"
	} else
		print_head()
}

/^#/ || NF == 0 { next }
$1 == "weak" { weak = 1; next }

{
	name = $1; result = $2; value_type = $3; target = $4
	arguments = NF - 4
	for (i = 1; i <= arguments; i++)
		argument[i] = $(i + 4)
	if (want == "legacy")
		print_c()
	else if (want == "interfaces" && !weak || want == "include" && result != "-" && name !~ /^(my_pe|num_pes)$/)
		print_f()
}

# --- C ---

function parameter_of(word)
{
	if (word == "text")
		return "char *text, size_t text_length" # compilers append the length
	if (word == "psync")
		return "void *psync"
	if (word == "value" || word == "cond")
		return "const " value_type " *" word
	if (word == "source" || word == "addr" && target ~ /^shmem/)
		return "const void *" word
	if (index(by_address, " " word " "))
		return "void *" word
	return "const int *" word
}

function handed_on(word)
{
	if (word == "text")
		return "text, text_length"
	if (word == "psync")
		return "fortran_psync(psync)"
	if (word == "nelems" || word == "nreduce")
		return "fortran_legacy_count(" word ", \"" word "\", \"" toupper(name) "\")"
	return index(by_address, " " word " ") ? word : "*" word
}

function print_c(    parameters, call)
{
	for (i = 1; i <= arguments; i++) {
		parameters = parameters (i == 1 ? "" : ", ") parameter_of(argument[i])
		call = call (i == 1 ? "" : ", ") handed_on(argument[i])
	}
	printf "%sAPI %s %s_(%s)\n{\n\t%s%s(%s);\n}\nNAMES(%s, %s, %s)\n", !weak ? "" : "WEAK ", c_result[result], name,
		parameters == "" ? "void" : parameters, result == "-" ? "" : "return ", target, call, name, toupper(name),
		!weak ? "API" : "WEAK API"
}

# --- Fortran ---

function print_head(    line, pair)
{
	print "! SPDX-License-Identifier: BSD-3-Clause"
	print "! torushmem " version ": the Fortran interface of OpenSHMEM 1.3, for fixed and free form."
	print "! Made of fortran/legacy.def. New programs say \"use shmem\" instead."
	while ((getline line < constants) > 0) {
		split(line, pair, " ")
		if (pair[1] ~ /^SHMEM_(CMP|SYNC_VALUE|MAJOR|MINOR|MAX_NAME|REDUCE_MIN)/)
			print_constant(pair[1], pair[2])
		# A pSync of C consists of words twice as long, and must be aligned as they are.
		if (pair[1] == "SHMEM_SYNC_SIZE")
			sync_size = 2 * pair[2] + 2
	}
	split("BCAST REDUCE BARRIER COLLECT ALLTOALL ALLTOALLS", kind, " ")
	for (i = 1; i <= 6; i++)
		print_constant("SHMEM_" kind[i] "_SYNC_SIZE", sync_size)
	print_constant("SHMEM_SYNC_SIZE", sync_size)
	printf "%-72s&\n", "      character(len=*), parameter :: SHMEM_VENDOR_STRING ="
	print "     & 'torushmem " version "'"
}

function print_constant(constant, value)
{
	print "      integer " constant
	print "      parameter (" constant " = " value ")"
}

function print_f(    list, i, inner, kind)
{
	if (argument[1] == "text" && arguments == 1) {
		print "      external " name
		return
	}
	inner = "torushmem_" name
	kind = result == "-" ? "subroutine" : "function"
	for (i = 1; i <= arguments; i++)
		list = list (i == 1 ? "" : ", ") argument[i]
	print "      interface " name
	printf "%-72s&\n", "        " kind " " inner
	printf "%-72s&\n", "     &  (" list ")"
	print "     &  bind(c, name='" name "_')"
	if (result != "-")
		print "        use, intrinsic :: iso_c_binding"
	if (arguments > 0) {
		for (i = 1; i <= arguments; i++) {
			print "!GCC$ ATTRIBUTES NO_ARG_CHECK :: " argument[i]
			print "!DIR$ IGNORE_TKR (TKR) " argument[i]
			print "        type(*) " argument[i]
		}
	}
	if (result != "-")
		print "        " f_result[result] " " inner
	print "        end " kind
	print "      end interface"
}
