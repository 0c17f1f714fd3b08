# SPDX-License-Identifier: BSD-3-Clause
# After types.awk. Reads the type table, then generics.def; writes the _Generic macros. -v stem= is
# what all names begin with.

# Lines of their own: what compilers show of a mistake is the line it is in.
function one(c_type, routine)
{
	return "\\\n\t" c_type " *: " routine ", const " c_type " *: " routine ", \\\n\tvolatile " c_type " *: " routine \
		", const volatile " c_type " *: " routine ", "
}

function list(set, prefix, suffix,    i, out)
{
	out = ""
	for (i = 1; i <= count[set]; i++)
		out = out one(order[set, i], prefix chosen[set, order[set, i]] suffix)
	return out "\\\n\tdefault: SHMEMX_NO_SUCH_TYPE"
}

/^#/ || NF == 0 { next }

{
	split($0, row, / +/)
	name = row[1]; form = row[2]; set = row[3]
	plain = list(set, stem, "_" name)
	argument = form == "team" ? "SHMEMX_ARG2" : "SHMEMX_ARG1"
	context = form == "ctx" ? "\\\n\tshmem_ctx_t: _Generic((SHMEMX_ARG2(__VA_ARGS__)), " list(set, stem "ctx_", "_" name) "), " : ""
	print "#define " stem name "(...) _Generic((" argument "(__VA_ARGS__)), " context plain ")(__VA_ARGS__)"
}
