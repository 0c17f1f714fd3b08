# SPDX-License-Identifier: BSD-3-Clause
# interfaces.awk ARGUMENTS FILE: writes the file with the interfaces of C routines in full. A line
#     @subroutine shmemx_gather(team, dest, source, PE_root, stat)
# becomes an interface. Arguments and results without a declaration in the lines behind it, which
# are indented by six, have that of fortran/arguments.tsv. Without bind(...) the routine of C is
# torushmemf_gather. With -v typed=1 the file is fortran/generics.def.

BEGIN { FS = "\t" }

FNR == NR && /^#/ { next }
FNR == NR {
	kind = $1
	if (sub(/^typed */, "", kind) && !typed)
		next
	name = $2
	sub(/\(.*/, "", name)
	usual[kind == "" ? "argument" : kind, name] = $3 " :: " $2
	next
}

routine != "" && /^      / { own = own $0 "\n"; next }
{ write_interface() }
/^    @/ { routine = substr($0, 6); next }
{ print }
END { write_interface() }

function write_interface(    kind, head, binding, result, count, names, i)
{
	if (routine == "")
		return
	kind = routine
	sub(/ .*/, "", kind)
	head = binding = routine
	sub(/\).*/, ")", head)
	sub(/^[^)]*\)/, "", binding)
	if (binding !~ /bind/)
		binding = " bind(c" (head ~ / shmemx?_/ ? ", name=\"" c_name(head) "\"" : "") ")" binding
	print folded("    " head) (length(head binding) > 110 ? " &\n     " : "") binding
	print "      import"
	count = split(arguments(head), names, ", *")
	for (i = 1; i <= count; i++)
		write_declaration("argument", names[i])
	printf "%s", own
	if (match(binding, /result\([a-z]*\)/))
		write_declaration("result", substr(binding, RSTART + 7, RLENGTH - 8))
	print "    end " kind
	routine = own = ""
}

function c_name(head)
{
	sub(/^[a-z]* shmemx?_/, "torushmemf_", head)
	sub(/\(.*/, "", head)
	return head
}

function arguments(head)
{
	gsub(/^[^(]*\(|\)$/, "", head)
	return head
}

function write_declaration(kind, name)
{
	if (own ~ "(:: |, )" name "[,(\n]")
		return
	if (!((kind, name) in usual)) {
		print "interfaces.awk: no declaration of " name " in: " routine >"/dev/stderr"
		exit 1
	}
	print "      " usual[kind, name]
}

# A line of Fortran ends after 132 columns.
function folded(line,    cut)
{
	if (length(line) <= 110)
		return line
	for (cut = 110; substr(line, cut, 2) != ", "; cut--)
		;
	return substr(line, 1, cut) " &\n       " substr(line, cut + 1)
}
