# SPDX-License-Identifier: BSD-3-Clause
# The type table for generics.awk and overloads.awk, which are given after this file: lines "name|C
# type|rma|amo|ext|bits|old|minmax|logic|sum|avg|fadd|narrow|generic". order[set, 1..count[set]] are
# the C types of a set, each once: names that are one C type on this platform are one type,
# chosen[set, C type] is the name in its routines.

BEGIN {
	FS = "|"
	columns = split("rma amo ext bits old minmax logic sum avg fadd narrow", column, " ")
	alias["int8_t"] = "signed char"; alias["uint8_t"] = "unsigned char"
	alias["int16_t"] = "short"; alias["uint16_t"] = "unsigned short"
	alias["int32_t"] = "int"; alias["uint32_t"] = "unsigned int"
	alias["int64_t"] = "long"; alias["uint64_t"] = "unsigned long"
	alias["ptrdiff_t"] = "long"; alias["size_t"] = "unsigned long"
}

NF == 14 {
	c_type = $2 in alias ? alias[$2] : $2
	for (i = 1; i <= columns; i++)
		if ($(i + 2) == 1)
			add(column[i], $1, c_type, $14)
	if ($4 == 1 || $7 == 1)
		add("wait", $1, c_type, $14)
	if ($10 == 1 || $13 == 1)
		add("sums", $1, c_type, $14)
	if ($8 == 1 || $13 == 1)
		add("extremes", $1, c_type, $14)
	if ($11 == 1 || $13 == 1)
		add("average", $1, c_type, $14)
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
