#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# settings-table.sh SETTINGS.DEF: the settings as an mdoc list, on standard output, but for those of
# the reader DEBUGGING. $CPP is the preprocessor.
set -eu
table=$1
work=$(mktemp -d "${TMPDIR:-/tmp}/settings-table.XXXXXX")
trap 'rm -rf "$work"' EXIT

# Rows come back from the preprocessor as <<<name|older|default|reader|values|help>>>,
# strings still in quotes, words with / between; a help text of several strings is joined,
# as the compiler would do.
{
	printf '%s\n' '#define SETTING(id, name, old, value, reader, values, help) <<<name|old|value|reader|values|help>>>'
	sed -e 's/NULL/""/' -e '/"[a-z0-9-]*|[a-z0-9 ,|-]*"/s/|/\//g' "$table"
} >"$work/rows.c"
${CPP:-cc -E} -P "$work/rows.c" | tr '\n' ' ' | sed 's/>>>/>>>\n/g' |
	sed -n -e 's/" *"\([^|>]\)/\1/g' -e 's/^ *<<< *\(.*\) *>>>$/\1/p' |
	sed -e 's/ *| */|/g' -e 's/"//g' >"$work/rows"
[ -s "$work/rows" ]

echo '.Bl -tag -width Ds'
while IFS='|' read -r name old value reader values help; do
	[ "$reader" != DEBUGGING ] || continue
	printf '.It Ev %s' "$name"
	[ -z "$old" ] || printf ' Pq Ev %s' "$old"
	printf '\n'
	printf '%s.\n' "$help" | sed -e 's/\\/\\e/g' -e 's/^./\U&/' | fold -s -w 76 | sed -e 's/ $//' -e "s/^[.']/\\\\\&&/"
	[ -z "$values" ] || printf 'Value:\n%s.\n' "$(printf '%s\n' "$values" | sed -e 's/\(.*\)\//\1 or /' -e 's/\//, /g' -e 's/^number/a number/' -e 's/ or number/ or a number/' -e 's/^size of .*/a number with an optional k, m, g or t/')"
	[ -z "$value" ] || printf 'Default:\n.Ql %s .\n' "$value"
	[ "$reader" = LIBRARY ] || printf 'Read by\n.Xr oshrun 1 .\n'
done <"$work/rows"
echo '.El'
