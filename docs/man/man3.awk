# SPDX-License-Identifier: BSD-3-Clause
# The manual page of one text of docs/man/man3, from the lists of routines (openshmem-1.6.tsv,
# additions.tsv), which are the files it reads. Variables: page, its name; text, the file with
# the text; header, shmem.h; folder, where the page goes, and for each other routine of its
# families a page that refers to it.
#
# A text begins with lines "names: GROUP/FAMILY..." (* for all of a group), "title: ...", "see:
# PAGE..." and, for what is deprecated, "instead: OLD=NEW...", with + for a blank. The rest is mdoc.

BEGIN {
	FS = "\t"
	split("long long|uint unsigned int|short short", pair, "|")
	for (i in pair)
		c_type[substr(pair[i], 1, index(pair[i], " ") - 1)] = substr(pair[i], index(pair[i], " ") + 1)
	read_text()
	read_header()
	page_file = folder "/" page ".3"
}

function read_text(    line, i, words, n, at)
{
	while ((getline line < text) > 0) {
		if (line ~ /^names: /)
			n_families = split(substr(line, 8), family_list, " ")
		else if (line ~ /^title: /)
			title = substr(line, 8)
		else if (line ~ /^see: /)
			see = substr(line, 6)
		else if (line ~ /^instead: /) {
			n = split(substr(line, 10), words, " ")
			for (i = 1; i <= n; i++) {
				at = index(words[i], "=")
				instead[substr(words[i], 1, at - 1)] = substr(words[i], at + 1)
			}
		} else
			body = body line "\n"
	}
}

function read_header(    line, name)
{
	while ((getline line < header) > 0) {
		if (line !~ /^[A-Za-z].*\);$/)
			continue
		sub(/^SHMEMX_EXTENSION /, "", line)
		sub(/^SHMEMX_(DEPRECATED|NORETURN) /, "", line)
		name = line
		sub(/\(.*/, "", name)
		sub(/.*[ *]/, "", name)
		prototype[name] = line
	}
}

function wanted(group, family,    i)
{
	for (i = 1; i <= n_families; i++)
		if (family_list[i] == group "/" family || family_list[i] == group "/*")
			return 1
	return 0
}

function join(list, word)
{
	return list (list == "" ? "" : ", ") word
}

function is_old(status)
{
	return status ~ /^(deprecated|removed)-in-/
}

# --- The rows of the lists ---

FNR == 1 || ($2 != "function" && $2 != "generic") || !wanted($6, $7) { next }

{
	key = $6 "/" $7
	if (!($1 in is_name))
		names[++n_names] = $1
	is_name[$1] = 1
	if (!(key in is_key))
		keys[++n_keys] = key
	is_key[key] = 1
}

$2 == "generic" {
	generic[key] = $1
	generic_status[key] = $4
	if (!is_old($4))
		generic_stays[$1] = 1
	next
}

{
	if ($4 == "current")
		has_current[key] = 1
	else if (is_old($4))
		old[$1] = key_status[key] = $4
	if (is_old($4) && $8 !~ /^plain/)
		many_status[key] = $4
}

$8 ~ /ctx/ { with_ctx = 1 }

$8 ~ /^typed/ && $8 !~ /ctx/ {
	if (!(key in first) || $9 == "long" || ($9 == "uint" && first_elem[key] != "long")) {
		first[key] = $1
		first_elem[key] = $9
	}
	elems[key] = elems[key] " " $9
	elem_name[key, $9] = $1
	next
}

$8 ~ /^sized/ && $8 !~ /ctx/ {
	sizes[key] = join(sizes[key], $9)
	if (!(key in first_sized))
		first_sized[key] = $1
	next
}

$8 !~ /^(typed|sized|mem).*ctx/ { shown[key] = shown[key] $1 "\n" }

# --- The page ---

# A prototype for any of the types that a family has.
function for_any_type(line, name, elem,    at, before, after)
{
	if (elem == "" || elem == "mem" || !(elem in c_type))
		return line
	at = index(line, name "(")
	before = substr(line, 1, at - 1)
	after = substr(line, at + length(name))
	gsub("(^| )" c_type[elem] " ", "&@", before)
	sub(c_type[elem] " @", "TYPE ", before)
	gsub("const " c_type[elem] " ", "const TYPE ", after)
	gsub("[(]" c_type[elem] " ", "(TYPE ", after)
	gsub(", " c_type[elem] " ", ", TYPE ", after)
	return before any_type(name, elem) after
}

function any_type(name, elem)
{
	sub("_" elem "_", "_TYPENAME_", name)
	return name
}

function any_size(key,    name, size)
{
	name = first_sized[key]
	size = sizes[key]
	sub(/,.*/, "", size)
	sub(size, "SIZE", name)
	return name
}

# "deprecated in 1.5; use shmem_x", with what is in between as it is given.
function remark(status, name, between,    said)
{
	said = status
	sub(/-in-/, " in ", said)
	if (name in generic_stays)
		said = said ", but not the generic name"
	if (!(name in instead))
		sub(/^shmem_/, "shmem_TYPENAME_", name)
	if (name in instead)
		said = said between "use " instead[name]
	gsub(/\+/, " ", said)
	return said
}

# declare(LINE, NAME, STATUS): a line of the synopsis, now or, if it is
# deprecated, behind the others.
function declare(line, name, status)
{
	if (!is_old(status))
		wrap(line)
	else {
		later[++n_later] = line
		later_remark[n_later] = remark(status, name, ": ")
		later_name[n_later] = name
		later_status[n_later] = status
	}
}

function key_is_old(key)
{
	return key in key_status && !(key in has_current)
}

function head_of(key,    head)
{
	head = key in generic ? generic[key] : shown[key]
	sub(/\n.*/, "", head)
	if (head == "")
		head = key in first ? first[key] : first_sized[key]
	return head
}

function print_names(    k, head, heads, old_heads, n, list, i)
{
	for (k = 1; k <= n_keys; k++) {
		head = head_of(keys[k])
		if (head in is_head)
			continue
		is_head[head] = 1
		if (key_is_old(keys[k]) && !(head in generic_stays))
			old_heads = join(old_heads, head)
		else if (head == page)
			heads = heads == "" ? page : page ", " heads
		else
			heads = join(heads, head)
	}
	if (heads != "" && old_heads != "")
		title = title " (deprecated: " old_heads ")"
	if (old_heads != "")
		heads = join(heads, old_heads)
	n = split(heads, list, ", ")
	# A page is found by the name of its file, which comes first.
	for (i = 2; i <= n && list[1] != page; i++)
		if (list[i] == page) {
			list[i] = list[1]
			list[1] = page
		}
	for (i = 1; i <= n; i++)
		print ".Nm " list[i] (i < n ? " ," : "") >page_file
	print ".Nd " title >page_file
}

# How Fortran programs call these, and the names that only they have; -v fortran= names a file
# of lines "name<tab>call".
function print_fortran(    line, call, i, n, list)
{
	while ((getline line < fortran) > 0)
		call[substr(line, 1, index(line, "\t") - 1)] = substr(line, index(line, "\t") + 1)
	close(fortran)
	n = n_names
	for (i = 1; i <= n_names; i++)
		list[i] = names[i]
	if (page == "shmem_malloc") {
		list[++n] = "shmem_allocate"
		list[++n] = "shmem_deallocate"
	}
	for (i = 1; i <= n; i++)
		if (list[i] in call) {
			if (!fortran_shown++)
				print ".Pp\nFortran:\n.Bd -literal\nuse shmem" >page_file
			wrap(call[list[i]])
			delete call[list[i]]
		}
	if (fortran_shown)
		print ".Ed" >page_file
}

function print_synopsis(    k, key, m, i, list, line)
{
	print ".Sh SYNOPSIS\n.In shmem.h\n.Bd -literal" >page_file
	for (k = 1; k <= n_keys; k++) {
		key = keys[k]
		if (key in first)
			declare(for_any_type(prototype[first[key]], first[key], first_elem[key]),
				any_type(first[key], first_elem[key]), key_is_old(key) ? many_status[key] : "")
		if (key in first_sized) {
			line = prototype[first_sized[key]]
			sub(first_sized[key], any_size(key), line)
			declare(line, any_size(key), key_is_old(key) ? many_status[key] : "")
		}
		m = split(shown[key], list, "\n")
		for (i = 1; i < m; i++)
			declare(prototype[list[i]], list[i], old[list[i]])
	}
	for (i = 1; i <= n_later; i++) {
		if (i > 1 || !all_old())
			print "" >page_file
		print "/* " later_remark[i] " */" >page_file
		wrap(later[i])
	}
	print ".Ed" >page_file
	print_fortran()
	if (with_ctx)
		print ".Pp\nEach of these also has a form with\n.Li ctx_\nin its name and a context as its first argument." >page_file
}

function all_old(    k)
{
	for (k = 1; k <= n_keys; k++)
		if (!key_is_old(keys[k]))
			return 0
	return 1
}

# The types of a family; in one that is not deprecated as a whole, those that are have a remark.
function types_of(key,    n, list, i, types, name)
{
	n = split(elems[key], list, " ")
	for (i = 1; i <= n; i++) {
		name = elem_name[key, list[i]]
		types = join(types, list[i] (name in old && !key_is_old(key) ? " (deprecated)" : ""))
	}
	return types
}

function print_types(    k, i, types, part, same)
{
	for (k = 1; k <= n_keys; k++) {
		types = types_of(keys[k])
		if (types == "" || types in said)
			continue
		said[types] = 1
		same = ""
		for (i = k; i <= n_keys; i++)
			if (types_of(keys[i]) == types) {
				split(keys[i], part, "/")
				same = join(same, part[2])
			}
		print ".Pp\nTYPENAME for " same ":\n" types "." >page_file
	}
	for (k = 1; k <= n_keys; k++)
		if (keys[k] in sizes) {
			print ".Pp\nSIZE is one of " sizes[keys[k]] ", in bits." >page_file
			break
		}
	for (k = 1; k <= n_keys; k++)
		if (keys[k] in generic && elems[keys[k]] != "") {
			print ".Pp\nIn C11 and C++11 the names without a type choose it by their arguments." >page_file
			break
		}
}

function print_see_also(    n, list, i, j, swap)
{
	n = split(see, list, " ")
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && list[j - 1] > list[j]; j--) {
			swap = list[j]
			list[j] = list[j - 1]
			list[j - 1] = swap
		}
	print ".Sh SEE ALSO\n.Xr oshcc 1 ,\n.Xr oshrun 1 ," >page_file
	for (i = 1; i <= n; i++)
		print ".Xr " list[i] " 3 ," >page_file
	print ".Xr oshmem 7" >page_file
}

function print_old(name, status)
{
	print ".It\n.Fn " name " :\n" remark(status, name, "; ") "." >page_file
}

# Each deprecated routine on a line of its own: those of the synopsis, single types,
# and names without a type.
function print_standards(    i, k, key, n, list)
{
	print ".Sh STANDARDS\nOpenSHMEM 1.6." >page_file
	for (k = 1; k <= n_keys && !(keys[k] in key_status); k++)
		;
	if (k > n_keys)
		return
	print ".Pp\nThe versions named here have deprecated or removed:\n.Bl -bullet -compact" >page_file
	for (i = 1; i <= n_later; i++)
		print_old(later_name[i], later_status[i])
	for (k = 1; k <= n_keys; k++) {
		key = keys[k]
		if (key in generic && is_old(generic_status[key]) && !(generic[key] in old))
			print_old(generic[key], generic_status[key])
		n = key_is_old(key) ? 0 : split(elems[key], list, " ")
		for (i = 1; i <= n; i++)
			if (elem_name[key, list[i]] in old)
				print_old(elem_name[key, list[i]], old[elem_name[key, list[i]]])
	}
	print ".El" >page_file
}

END {
	print ".\\\" SPDX-License-Identifier: BSD-3-Clause" >page_file
	print ".Dd November 24, 2026\n.Dt " toupper(page) " 3\n.Os torushmem\n.Sh NAME" >page_file
	print_names()
	print_synopsis()
	print_types()
	printf "%s", body >page_file
	print_see_also()
	print_standards()
	close(page_file)
	for (i = 1; i <= n_names; i++)
		if (names[i] != page) {
			print ".so man3/" page ".3" >(folder "/" names[i] ".3")
			close(folder "/" names[i] ".3")
		}
}
