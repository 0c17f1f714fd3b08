#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The manual pages as they are installed: each routine has one, with examples and related pages, and
# whatis and apropos find it. tests/run --kinds pages compiles and runs the examples.

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
	unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES MANPATH
	TOP=$(cd "${BATS_TEST_FILENAME%/*}/../.." && pwd -P)
	stage="$BATS_FILE_TMPDIR/stage"
	make -s -C "$TOP_BUILDDIR" install-man install-data-hook DESTDIR="$stage" mandir=/man >"$BATS_FILE_TMPDIR/log" 2>&1 || {
		tail -n 20 "$BATS_FILE_TMPDIR/log"
		return 1
	}
	export TOP MAN="$stage/man"
	# What the headers declare.
	{
		sed -n -e '/^template/d' -e 's/^[A-Za-z].*[ *]\([a-z_0-9]*\)(.*);$/\1/p' "$TOP_BUILDDIR/include/shmem.h" | grep -v no_routine_for_this_type
		sed -n -e '/SHMEMX_OVERLOAD/d' -e 's/^[A-Za-z_].*[ *]\(shmemx_[a-z_0-9]*\)(.*/\1/p' "$TOP/include/shmemx.h" \
			"$TOP_BUILDDIR/include/shmemx_typed.h"
		sed -n 's/^[a-z].*[ *]\(shmem[a-z]*_[a-z_]*\)(.*);$/\1/p' "$TOP/include/shmemg.h"
	} | sort -u >"$BATS_FILE_TMPDIR/routines"
	# Pages that are more than a reference to another: all of section 3,
	# and those of docs/man/man3.
	grep -L '^\.so ' "$MAN"/man3/*.3 >"$BATS_FILE_TMPDIR/whole"
	(cd "$TOP_BUILDDIR/docs/man/man3-pages" && grep -L '^\.so ' -- *.3) | sed "s|^|$MAN/man3/|" >"$BATS_FILE_TMPDIR/routines_pages"
}

setup()
{
	cd "$BATS_TEST_TMPDIR" || return
}

@test "every routine of shmem.h, shmemx.h and shmemg.h has a page that is there" {
	[ "$(wc -l <"$BATS_FILE_TMPDIR/routines")" -gt 1900 ]
	missing=0
	while read -r name; do
		page=$MAN/man3/$name.3
		[ -s "$page" ] || { echo "$name has no page" && missing=1 && continue; }
		read -r first <"$page"
		[[ "$first" != .so* ]] || [ -s "$MAN/${first#.so }" ] || { echo "$name refers to ${first#.so }, which is not there" && missing=1; }
	done <"$BATS_FILE_TMPDIR/routines"
	[ "$missing" -eq 0 ]
}

# A section of a page.
section()
{
	sed -n "/^\.Sh $1\$/,/^\.Sh /p" "$2" | sed 1d
}

@test "every page of routines, and shmem_check, has a program in EXAMPLES, and what it prints" {
	[ "$(wc -l <"$BATS_FILE_TMPDIR/routines_pages")" -ge 36 ]
	wrong=0
	for page in $(cat "$BATS_FILE_TMPDIR/routines_pages") "$MAN/man7/shmem_check.7" "$MAN/man7/oshmem.7"; do
		[ "$page" = "$MAN/man7/oshmem.7" ] || section EXAMPLES "$page" >examples
		[ "$page" != "$MAN/man7/oshmem.7" ] || cp "$page" examples
		grep -q '^\.\\" block: file .*\.c$' examples || { echo "$page has no program in EXAMPLES" && wrong=1; }
		grep -q '^int main(' examples || { echo "the program of $page is not whole" && wrong=1; }
		awk '/^\.\\" block: run/ { within = 1 } /^\.Ed/ { within = 0 } within && /^\$ .*(oshrun -n [1-9]|SHMEM_RANK=)/ { shown = 1; next }
			shown && within && NF { output = 1 } END { exit !output }' examples || {
			echo "$page does not show how its program runs" && wrong=1
		}
	done
	[ "$wrong" -eq 0 ]
}

@test "every page has SEE ALSO, and pages of this tree that it names are there" {
	wrong=0
	for page in "$MAN"/man[17]/*.[17] $(cat "$BATS_FILE_TMPDIR/whole"); do
		[ "$(section 'SEE ALSO' "$page" | grep -c '^\.Xr')" -ge 2 ] || { echo "$page has no SEE ALSO" && wrong=1; }
		sed -n 's/.*Xr \(_*[a-z_0-9-]*\) \([1-9]\).*/\1 \2/p' "$page" | grep -E '^(shmem|osh|torus|softofu)' >named || continue
		while read -r name number; do
			[ -e "$MAN/man$number/$name.$number" ] || { echo "$page names $name($number)" && wrong=1; }
		done <named
	done
	[ "$wrong" -eq 0 ]
}

# A line that its words do not fill (groff calls that a break) is no fault of a page.
@test "mandoc and man find nothing to warn of" {
	wrong=0
	for page in "$MAN"/man[17]/*.[17] $(cat "$BATS_FILE_TMPDIR/whole"); do
		if command -v mandoc >/dev/null; then
			mandoc -T lint -W warning "$page" || wrong=1
		fi
		if command -v man >/dev/null; then
			LC_ALL=C.UTF-8 MANWIDTH=80 MANROFFOPT=-Wbreak man --warnings -l "$page" 2>&1 >/dev/null | tee warnings
			[ ! -s warnings ] || wrong=1
		fi
	done
	[ "$wrong" -eq 0 ]
}

@test "whatis knows every page, apropos finds them by what they are for" {
	command -v mandb >/dev/null || skip "no mandb here"
	mandb -c -u -q "$MAN"
	export MANWIDTH=300 # whatis cuts summaries
	{
		cat "$BATS_FILE_TMPDIR/routines"
		for page in "$MAN"/man[17]/*; do
			page=${page##*/}
			echo "${page%.*}"
		done
	} | sort -u >names
	xargs whatis -l -M "$MAN" <names >found 2>unknown || { head unknown && false; }
	sed 's/ (.*//' found | sort -u | comm -13 - names | tee missing
	[ ! -s missing ]
	[ "$(grep -vc ' - ..' found)" -eq 0 ] # a summary
	while read -r page words; do
		# shellcheck disable=SC2086 # words to look for
		apropos -l -a -M "$MAN" $words | grep -q "^$page (" || { echo "apropos $words does not find $page" && false; }
	done <<'END'
shmem_put write memory
shmem_atomic_fetch atomic
shmem_quiet order complete
shmem_broadcast32 deprecated active
shmalloc symmetric deprecated
shmemx_exchange halo
shmemx_plan_start nonblocking collectives
shmemg symmetric GPUs
shmemx_half_sum_reduce 16-bit floating-point
shmemx_double_atomic_add atomic floating-point
shmem_check mistakes
torushmem overview
softofu Tofu software
softofu-replay recorded
END
}

@test "man torushmem, shmem, softofu, softofu-replay and the like" {
	command -v man >/dev/null || skip "no man here"
	names='torushmem shmem openshmem oshmem shmem_check shmemg shmemx_exchange shmemx_plan shmemx_grid shmemx_atomic shmemx_rdma shmemx_reduce shmemx_stats'
	! grep -q 'HAVE_SOFTOFU 1' "$TOP_BUILDDIR/config.h" || names="$names softofu softofu-replay"
	man -M "$MAN" SHMEM_CHECK | grep -q '^NAME'
	for name in $names; do
		[ -e "$(echo "$MAN"/man[137]/"$name".[137])" ] # by itself, not by the index of names
		man -M "$MAN" "$name" | grep -q '^NAME'
	done
}

@test "each deprecated routine is marked on its page, and no current one" {
	awk -F '\t' '$2 == "function" && $4 ~ /^(deprecated|removed)-in/ { print $1, $4, $8 ~ /^plain/ ? "-" : $9 }' \
		"$TOP/tests/conformance/openshmem-1.6.tsv" >old
	[ "$(wc -l <old)" -gt 100 ]
	wrong=0
	while read -r name status type; do
		page=$MAN/man3/$name.3
		read -r first <"$page"
		[[ "$first" != .so* ]] || page=$MAN/${first#.so }
		any=$name
		[ "$type" = - ] || any=$(echo "$name" | sed -e "s/_${type}_/_TYPENAME_/" -e "s/$type\$/SIZE/")
		said=${status/-in-/ in }
		section STANDARDS "$page" | grep -A 1 -xE "\.Fn ($name|$any) :" | grep -q "^$said" || {
			echo "$page does not say that $name is $said" && wrong=1
		}
	done <old
	for page in $(cat "$BATS_FILE_TMPDIR/whole"); do
		for name in $(section STANDARDS "$page" | sed -n 's/^\.Fn \([a-z_0-9]*\) :$/\1/p'); do
			grep -q "^$name	.*	\(deprecated\|removed\)-in" "$TOP/tests/conformance/openshmem-1.6.tsv" || {
				echo "$page says that $name is deprecated" && wrong=1
			}
		done
	done
	[ "$wrong" -eq 0 ]
}

@test "softofu(7) has every setting that software Tofu reads" {
	grep -q 'HAVE_SOFTOFU 1' "$TOP_BUILDDIR/config.h" || skip "configured --disable-softofu"
	grep -rhoE '"SOFTOFU_[A-Z_]+"' "$TOP/softofu" --include='*.c' --exclude-dir=tests | tr -d '"' | sort -u >settings
	[ "$(wc -l <settings)" -ge 10 ]
	while read -r name; do
		grep -Eq "^\.It Ev .*$name( |\$)" "$MAN/man7/softofu.7" || { echo "$name is not there" && false; }
	done <settings
}
