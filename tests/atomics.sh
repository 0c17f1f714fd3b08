#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# atomics.sh SRCDIR [COMPILER FLAGS...]: what threads or processes share is a C11 atomic with a
# named order, and instructions that C has no word for stand in one header. Fails and names the
# lines where it is otherwise. docs/protocols/orders.md has the rules.
set -u
LC_ALL=C
export LC_ALL
cd "$1" || exit 1
shift
bad=0
sources=$(find comms rte shmem softofu include tools -name '*.[ch]' ! -path 'softofu/tests/*' 2>/dev/null | sort)

# The lines of the sources without comments, each behind FILE:LINE:.
code=$(mktemp) || exit 1
trap 'rm -f "$code"' EXIT
# shellcheck disable=SC2086 # names are words
awk '
	FNR == 1 { inside = 0 }
	{
		line = $0
		while (1) {
			if (inside) {
				end = index(line, "*/")
				if (!end) { line = ""; break }
				line = substr(line, end + 2)
				inside = 0
			}
			start = index(line, "/*")
			if (!start) break
			rest = substr(line, start + 2)
			end = index(rest, "*/")
			if (end) { line = substr(line, 1, start - 1) substr(rest, end + 2); continue }
			printf "%s:%d:%s\n", FILENAME, FNR, substr(line, 1, start - 1)
			line = ""
			inside = 1
		}
		if (line != "") printf "%s:%d:%s\n", FILENAME, FNR, line
	}' $sources >"$code"

# forbid WHY PATTERN FILES: no file but those may have what matches
forbid()
{
	if grep -E ":[0-9]+:.*($2)" "$code" | grep -vE "^($3):"; then
		echo "atomics: $1" >&2
		bad=1
	fi
}

# Assembler macros for programs of the machine (softofu-a64.h), and other names for listen and
# accept (accept_filter.c).
forbid 'instructions stand in comms/core/processor.h' \
	'__asm__|[^_[:alnum:]]asm[^_[:alnum:]]|[^_[:alnum:]]_mm_|__builtin_ia32_|__sync_' \
	'comms/core/processor\.h|softofu/include/softofu-a64\.h|rte/oshrun/accept_filter\.c'
forbid 'volatile orders nothing; use an atomic' \
	'(^|[^_[:alnum:]])volatile([^_[:alnum:]]|$)' 'comms/(core/processor\.h|gpu/kernels_text\.c)'
forbid 'name the order: atomic_..._explicit' \
	'[^_[:alnum:]]atomic_(load|store|exchange|fetch_[a-z]+|compare_exchange_[a-z]+|flag_test_and_set|flag_clear)\(' none
# Words of the program, whose type is not atomic; and counters of software Tofu, which are
# words of a public structure.
forbid 'declare the word _Atomic' '__atomic_' \
	'comms/core/operations\.h|comms/ops/update\.h|comms/core/copy\.h|comms/wait/hang_text\.c|shmem/sync\.c|shmem/locks\.c|shmem/signals\.c|softofu/nic/reach\.c|softofu/net/state\.h'

# An atomic word that is named like a plain one is loaded and stored in the
# strongest order. Clang says where.
if [ $# -gt 0 ] && command -v clang >/dev/null; then
	# shellcheck disable=SC2046,SC2086 # names are words
	if ! clang -fsyntax-only -Wno-everything -Werror=atomic-implicit-seq-cst "$@" \
		$(echo "$sources" | grep '\.c$' | grep -E '^(comms|shmem|rte/([a-z_]*\.c|(crash|host|pmix|text|trace)/)|softofu/(net|nic|utofu))') >"$code" 2>&1; then
		grep -E 'error:' "$code"
		echo "atomics: name the order: atomic_load_explicit and the like" >&2
		bad=1
	fi
fi
[ "$bad" = 0 ] && echo "atomics: what is shared is atomic, with named orders"
exit "$bad"
