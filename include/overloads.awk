# SPDX-License-Identifier: BSD-3-Clause
# After types.awk. Reads the type table, the prototypes of shmem.h, a line each, then generics.def;
# writes the overloads for C++: each calls the typed routine of the same parameters. -v stem= is
# what all names begin with; only the standard's (shmem_) have overloads that explain what is wrong
# with a call.

/^#/ || NF == 0 { next }

/\);$/ {
	name = $0
	sub(/\(.*/, "", name)
	sub(/.*[ *]/, "", name)
	prototype[name] = $0
	next
}

!sets_written && stem == "shmem_" { write_sets() }

{
	split($0, row, / +/)
	generic = stem row[1]; form = row[2]; set = row[3]
	for (with_context = 0; with_context <= (form == "ctx"); with_context++) {
		prefix = stem (with_context ? "ctx_" : "")
		for (i = 1; i <= count[set]; i++)
			write_overload(prefix chosen[set, order[set, i]] "_" row[1], order[set, i])
		if (set == "sum" || set == "sums")
			write_for_complex()
	}
	if (stem == "shmem_")
		write_refusals()
}

# What the error messages say, and columns of the table by type.
function write_sets(    i, s, types)
{
	sets_written = 1
	columns = split("rma ext amo bits wait logic minmax sum", column, " ")
	for (s = 1; s <= columns; s++) {
		types = ""
		for (i = 1; i <= count[column[s]]; i++) {
			types = types (i == 1 ? "" : i == count[column[s]] ? " and " : ", ") order[column[s], i]
			is_in[column[s], order[column[s], i]] = 1
		}
		print "#define SHMEMX_TYPES_" toupper(column[s]) " \"" types "\""
	}
	for (i = 1; i <= count["sum"]; i++) # every type sums up
		write_type(order["sum", i])
}

function write_type(c_type,    s, line)
{
	if (c_type ~ /_Complex/)
		return
	line = "template <> struct shmemx_type<" c_type "> : shmemx_sets<"
	for (s = 1; s <= columns; s++)
		line = line (s == 1 ? "" : ", ") ((column[s], c_type) in is_in ? 1 : 0)
	print line "> {};"
}

# Of "(long *dest, size_t nelems);": "dest, nelems".
function names_of(parameters,    n, i, part, names)
{
	gsub(/^\(|\);$/, "", parameters)
	n = split(parameters, part, ", ")
	names = ""
	for (i = 1; i <= n; i++) {
		sub(/.*[ *]/, "", part[i])
		names = names (i == 1 ? "" : ", ") part[i]
	}
	return names
}

function types_of(parameters)
{
	gsub(/[a-zA-Z_0-9]+(,|\);$)/, "&@", parameters)
	gsub(/[a-zA-Z_0-9]+(,@|\);@$)/, ",", parameters)
	return parameters
}

function write_overload(routine, c_type,    line, start, parameters, result)
{
	line = prototype[routine]
	start = index(line, routine "(")
	parameters = substr(line, start + length(routine))
	result = substr(line, 1, start - 1)
	arguments = names_of(parameters)
	# A routine of C has the name and these parameters: it is the overload.
	if (generic in prototype && types_of(substr(prototype[generic], index(prototype[generic], "("))) == types_of(parameters))
		return
	sub(/;$/, "", parameters)
	line = (match(result, /^(SHMEMX_[A-Z]+ )+/) ? substr(result, 1, RLENGTH) : "")
	result = substr(result, length(line) + 1)
	line = line "SHMEMX_OVERLOAD " result generic parameters " { " (result == "void " ? "" : "return ") routine "(" arguments "); }"
	print c_type ~ /_Complex/ ? "#ifdef SHMEMX_HAS_COMPLEX\n" line "\n#endif" : line
	if (result != "void ")
		returns = result
}

# std::complex, and whatever is like it.
function write_for_complex(    passed, declared)
{
	passed = arguments
	sub(/^team, dest, source, /, "", passed)
	declared = passed
	sub(/^/, "size_t ", declared)
	sub(/ request$/, " shmemx_req_h *request", declared)
	print "#ifdef SHMEMX_HAS_COMPLEX"
	print "template <typename C> SHMEMX_OVERLOAD typename shmemx_complex<C>::result " generic "(shmem_team_t team, C *dest, const C *source, " declared ") { return " generic "(team, shmemx_complex<C>::in_c(dest), shmemx_complex<C>::in_c(source), " passed "); }"
	print "#endif"
}

# Chosen only where nothing else fits: no conversion of an argument is worse than to "..." or to a
# pointer to const volatile.
function write_refusals(    wanted)
{
	wanted = arguments
	sub(/^ctx, /, "", wanted)
	if (form == "ctx")
		write_refusal("typename T", "shmem_ctx_t, const volatile T *, ...", wanted)
	write_refusal("typename T", (form == "team" ? "shmem_team_t, " : "") "const volatile T *, ...", wanted)
	write_refusal("typename T = shmemx_no_pointer", "...", wanted)
}

function write_refusal(parameter, parameters, wanted)
{
	print "template <" parameter "> shmemx_no_result " generic "(" parameters ")\n{"
	if (parameter !~ /=/)
		print "\tstatic_assert(shmemx_type<T>::" set ", \"" generic " is for pointers to \" SHMEMX_TYPES_" toupper(set) ");"
	print "\tstatic_assert(!shmemx_type<T>::" set ", \"" generic " takes (" (form == "ctx" ? "[ctx,] " : "") wanted "), pointers of one type, without const where data is written, and never volatile\");"
	print "\treturn shmemx_no_result();\n}"
}
