# SPDX-License-Identifier: BSD-3-Clause
#
# Reads apt's lists of sources, one-line (*.list) and deb822 (*.sources), and prints "URI KEYRING" once for each URI of binary
# packages. The keyring is the file that Signed-By names, or "-".

function offer(uri, keyring)
{
	if (!seen[uri]++)
		print uri, (keyring ~ /^\// ? keyring : "-")
}

# deb [arch=amd64 signed-by=/usr/share/keyrings/x.gpg] URI SUITE COMPONENT...
function read_line(    first, keyring)
{
	if ($1 != "deb")
		return
	first = 2
	if ($2 ~ /^\[/) {
		while (first < NF && $first !~ /\]$/)
			first++
		for (i = 2; i <= first; i++) {
			gsub(/[][]/, "", $i)
			if ($i ~ /^signed-by=/)
				keyring = substr($i, 11)
		}
		first++
	}
	offer($first, keyring)
}

function end_stanza(    n, i, uri, keyring)
{
	n = split(field["signed-by"], keyring)
	if (field["types"] ~ /(^| )deb( |$)/ && field["enabled"] !~ /^(no|false|0)$/)
		for (i = 1; i <= split(field["uris"], uri); i++)
			offer(uri[i], n ? keyring[1] : "-")
	split("", field)
}

function read_field(    colon)
{
	if ($0 ~ /^[ \t]/) {
		gsub(/^[ \t]+/, "")
		field[name] = field[name] (field[name] == "" ? "" : " ") $0
		return
	}
	colon = index($0, ":")
	name = tolower(substr($0, 1, colon - 1))
	field[name] = substr($0, colon + 1)
	gsub(/^[ \t]+|[ \t]+$/, "", field[name])
}

FNR == 1 { end_stanza(); deb822 = FILENAME ~ /\.sources$/ }
{ sub(/\r$/, "") }
/^[ \t]*#/ { next }
!deb822 { sub(/[ \t]#.*/, ""); read_line(); next }
/^[ \t]*$/ { end_stanza(); next }
{ read_field() }
END { end_stanza() }
