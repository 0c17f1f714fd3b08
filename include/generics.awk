# SPDX-License-Identifier: BSD-3-Clause
# Reads the type table (lines "name|C type|rma|amo|ext|bits|old|minmax|logic|sum|generic"), then generics.def; writes the
# _Generic macros. Names that are one C type on this platform get one association.

BEGIN {
	FS = "|"
	columns = split("rma amo ext bits old minmax logic sum", column, " ")
	alias["int8_t"] = "signed char"; alias["uint8_t"] = "unsigned char"
	alias["int16_t"] = "short"; alias["uint16_t"] = "unsigned short"
	alias["int32_t"] = "int"; alias["uint32_t"] = "unsigned int"
	alias["int64_t"] = "long"; alias["uint64_t"] = "unsigned long"
	alias["ptrdiff_t"] = "long"; alias["size_t"] = "unsigned long"
}

NF == 11 {
	c_type = $2 in alias ? alias[$2] : $2
	type_of[$1] = c_type
	for (i = 1; i <= columns; i++)
		if ($(i + 2) == 1)
			add(column[i], $1, c_type, $11)
	if ($4 == 1 || $7 == 1)
		add("wait", $1, c_type, $11)
	next
}

# The type's own name wins over a fixed-width name for it.
function add(set, name, c_type, own)
{
	if (!((set, c_type) in chosen)) {
		order[set, ++count[set]] = c_type
		chosen[set, c_type] = name
	} else if (own == 1)
		chosen[set, c_type] = name
}

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
	plain = list(set, "shmem_", "_" name)
	argument = form == "team" ? "SHMEMX_ARG2" : "SHMEMX_ARG1"
	context = form == "ctx" ? "\\\n\tshmem_ctx_t: _Generic((SHMEMX_ARG2(__VA_ARGS__)), " list(set, "shmem_ctx_", "_" name) "), " : ""
	print "#define shmem_" name "(...) _Generic((" argument "(__VA_ARGS__)), " context plain ")(__VA_ARGS__)"
}
