#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# make-man3.sh LIST TEXTS SHMEM.H FOLDER: the manual pages of the routines. LIST is openshmem-1.6.tsv, which knows the families; TEXTS
# is the folder with a text for each page, SHMEM.H the header with the prototypes. In FOLDER comes a page for each
# text, and for each other name in its families one that refers to it.
set -eu
LC_ALL=C
export LC_ALL
list=$1 texts=$2 header=$3 folder=$4
mkdir -p "$folder"
for text in "$texts"/*.txt; do
	page=$(basename "$text" .txt)
	# shellcheck disable=SC2016 # it is awk's to expand
	${AWK:-awk} -F '\t' -v page="$page" -v folder="$folder" -v header="$header" -v list="$list" -v text="$text" '
	function wrap(line,    cut) {
		for (indent = ""; length(indent line) > 76; indent = "    ") {
			for (cut = 76 - length(indent); cut > 0 && substr(line, cut, 2) != ", "; cut--)
				;
			if (!cut)
				break
			print indent substr(line, 1, cut) >page_file
			line = substr(line, cut + 2)
		}
		print indent line >page_file
	}
	function wanted(group, family,    i) {
		for (i = 1; i <= families; i++)
			if (family_list[i] == group "/" family || family_list[i] == group "/*")
				return 1
		return 0
	}
	# A prototype for any of the types that a family has.
	function plain(prototype, name, elem, type,    at, before, after) {
		if (elem == "" || elem == "mem" || !(elem in c_type))
			return prototype
		at = index(prototype, name "(")
		before = substr(prototype, 1, at - 1)
		after = substr(prototype, at + length(name))
		gsub("(^| )" c_type[elem] " ", "&@", before)
		sub(c_type[elem] " @", "TYPE ", before)
		gsub("const " c_type[elem] " ", "const TYPE ", after)
		gsub("[(]" c_type[elem] " ", "(TYPE ", after)
		gsub(", " c_type[elem] " ", ", TYPE ", after)
		sub("_" elem "_", "_TYPENAME_", name)
		return before name after
	}
	BEGIN {
		split("long long|uint unsigned int|short short", pair, "|")
		for (i in pair)
			c_type[substr(pair[i], 1, index(pair[i], " ") - 1)] = substr(pair[i], index(pair[i], " ") + 1)
		while ((getline line < text) > 0) {
			if (line ~ /^families: /)
				families = split(substr(line, 11), family_list, " ")
			else if (line ~ /^title: /)
				title = substr(line, 8)
			else
				body = body line "\n"
		}
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
		page_file = folder "/" page ".3"
	}
	NR > 1 && ($2 == "function" || $2 == "generic") && wanted($6, $7) {
		if (!($1 in is_name))
			names[++count] = $1
		is_name[$1] = 1
		key = $6 "/" $7
		if ($2 == "generic") {
			generic[key] = $1
			next
		}
		if ($4 != "current" && $4 != "")
			old[$1] = 1
		if (!(key in at_family))
			order[++n_keys] = key
		at_family[key] = 1
		if ($8 ~ /^typed/ && $8 !~ /ctx/) {
			if (!(key in first) || $9 == "long" || ($9 == "uint" && first_elem[key] != "long")) {
				first[key] = $1
				first_elem[key] = $9
			}
			types[key] = types[key] (types[key] == "" ? "" : ", ") $9
		} else if ($8 ~ /ctx/) {
			with_ctx = 1
			if ($8 !~ /^(typed|sized|mem)/)
				shown[key] = shown[key] $1 "\n"
		} else if ($8 ~ /^sized/) {
			sized[key] = sized[key] (sized[key] == "" ? "" : ", ") $9
			if (!(key in first_sized))
				first_sized[key] = $1
		} else
			shown[key] = shown[key] $1 "\n"
	}
	END {
		print ".\\\" SPDX-License-Identifier: BSD-3-Clause" >page_file
		print ".Dd November 21, 2026\n.Dt " toupper(page) " 3\n.Os torushmem\n.Sh NAME" >page_file
		for (k = 1; k <= n_keys; k++) {
			split(order[k], part, "/")
			head = order[k] in generic ? generic[order[k]] : shown[order[k]]
			sub(/\n.*/, "", head)
			if (head == "")
				head = order[k] in first ? first[order[k]] : first_sized[order[k]]
			if (head == page)
				heads = page (heads == "" ? "" : "\n" heads)
			else if (!(head in is_head))
				heads = heads (heads == "" ? "" : "\n") head
			is_head[head] = 1
		}
		m = split(heads, head_list, "\n")
		for (i = 1; i <= m; i++)
			print ".Nm " head_list[i] (i < m ? " ," : "") >page_file
		print ".Nd " title "\n.Sh SYNOPSIS\n.In shmem.h\n.Bd -literal" >page_file
		for (k = 1; k <= n_keys; k++) {
			key = order[k]
			if (key in first)
				wrap(plain(prototype[first[key]], first[key], first_elem[key]))
			if (key in first_sized) {
				line = prototype[first_sized[key]]
				name = sized[key]
				sub(/,.*/, "", name)
				sub(name, "SIZE", line)
				wrap(line)
			}
			m = split(shown[key], plain_names, "\n")
			for (i = 1; i < m; i++)
				wrap(prototype[plain_names[i]])
		}
		print ".Ed" >page_file
		if (with_ctx)
			print ".Pp\nEach of these has a form with\n.Li ctx_\nin its name and a context as its first argument." >page_file
		for (k = 1; k <= n_keys; k++) {
			key = order[k]
			if (types[key] == "" || types[key] in said)
				continue
			said[types[key]] = 1
			same = ""
			for (i = k; i <= n_keys; i++)
				if (types[order[i]] == types[key]) {
					split(order[i], part, "/")
					same = same (same == "" ? "" : ", ") part[2]
				}
			print ".Pp\nTYPENAME for " same ": " types[key] "." >page_file
		}
		for (k = 1; k <= n_keys; k++)
			if (sized[order[k]] != "") {
				print ".Pp\nSIZE is one of " sized[order[k]] ", in bits." >page_file
				break
			}
		for (k = 1; k <= n_keys; k++)
			if (order[k] in generic) {
				print ".Pp\nIn C11 and C++11 the names without a type choose it by their arguments." >page_file
				break
			}
		printf "%s", body >page_file
		print ".Sh SEE ALSO\n.Xr oshcc 1 ,\n.Xr oshrun 1 ,\n.Xr oshmem 7" >page_file
		for (i = 1; i <= count; i++)
			if (names[i] in old) {
				deprecated = deprecated (deprecated == "" ? "" : ", ") names[i]
				n_old++
			}
		if (n_old && n_old < 16)
			print ".Sh STANDARDS\nOpenSHMEM 1.6, which deprecates or has removed: " deprecated "." >page_file
		else
			print ".Sh STANDARDS\nOpenSHMEM 1.6" (n_old ? ", which deprecates these" : "") "." >page_file
		close(page_file)
		for (i = 1; i <= count; i++)
			if (names[i] != page) {
				other = folder "/" names[i] ".3"
				print ".so man3/" page ".3" >other
				close(other)
			}
	}' "$list"
done
