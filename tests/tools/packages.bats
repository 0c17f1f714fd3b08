#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What packages are made of, as far as no package has to be built: tests/distros/run RELEASE
# --steps packages does that.

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
	unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
	TOP=$(cd "${BATS_TEST_FILENAME%/*}/../.." && pwd)
	export TOP
}

setup()
{
	cd "$BATS_TEST_TMPDIR" || return
	version=$(sed -n 's/^AC_INIT(\[torushmem\], \[\(.*\)\])/\1/p' "$TOP/configure.ac")
	[ -n "$version" ]
}

# The names that Debian's packages give programs, as debian/rules tells configure.
transform()
{
	printf 'include %s\nsay: ; @echo '\''$(TRANSFORM)'\''\n' "$TOP/debian/rules" >say.mk
	make -s -f say.mk say
}

@test "one version: configure.ac, CHANGELOG.md, debian/changelog, Spack's recipe, the library" {
	[ "$(sed -n 's/^## //p' "$TOP/CHANGELOG.md" | head -n 1)" = "$version" ]
	[ "$(sed -n '1s/^torushmem (\([^-]*\)-.*/\1/p' "$TOP/debian/changelog")" = "$version" ]
	grep -q "version(\"$version\"" "$TOP/packaging/spack/packages/torushmem/package.py"
	[[ "$("$TOP_BUILDDIR/oshinfo" --version)" == *"$version"* ]]
}

@test "each version of CHANGELOG.md has its date or is not released; each tag is a version with a date" {
	awk '/^## / { getline empty; getline line; print $2, line }' "$TOP/CHANGELOG.md" >versions
	[ -s versions ]
	! grep -vE '^[0-9]+\.[0-9]+\.[0-9]+ ([0-9]{4}-[0-9]{2}-[0-9]{2}\.|Not released)' versions
	[ "$(sed 1d versions | grep -c 'yet')" -eq 0 ]
	for tag in $(git -C "$TOP" tag -l 'v[0-9]*' 2>/dev/null); do
		grep -qE "^${tag#v} [0-9]{4}-" versions || { echo "no date for the tag $tag" && return 1; }
	done
}

@test "two runs of make dist give the same bytes, and every file of debian/ and packaging/ is in them" {
	for run in first second; do
		make -s -C "$TOP_BUILDDIR" dist XZ_OPT=-1 >log 2>&1 || { tail log && return 1; }
		mv "$TOP_BUILDDIR/torushmem-$version.tar.xz" "$run"
		sleep 1
	done
	cmp first second
	tar -tf first | sed "s|^torushmem-$version/||" | sort >there
	(cd "$TOP" && find debian packaging ! -type d ! -name local.mk | sort) >wanted
	run comm -13 there wanted
	[ "$output" = "" ]
	tar -tvf first | awk '$2 != "0/0" || $1 ~ /^.....w/ || $1 ~ /^........w/ { print; bad = 1 } END { exit bad }'
}

# exports_listed LIBRARY PACKAGE: what the library exports is what packaging/PACKAGE.exports lists.
exports_listed()
{
	library=$TOP_BUILDDIR/.libs/$1.so
	awk -v names=1 -f "$TOP/packaging/expand-exports.awk" "$TOP/packaging/$2.exports" | sort >listed
	[ "$(wc -l <listed)" -gt 1000 ]
	nm -D --defined-only "$library" | awk '$3 !~ /_MOD___/ { print $3 }' | sort >exported # but for what gfortran adds
	diff listed exported
	grep -q -e "-v soname=$(objdump -p "$library" | awk '/SONAME/ { print $2 }') -v package=$2 " "$TOP/debian/rules"
}

@test "the library exports what packaging/libtorushmem0.exports lists: make symbols prints more, fewer need a new soname" {
	[ -e "$TOP_BUILDDIR/.libs/libtorushmem.so" ] || skip "built without a shared library"
	exports_listed libtorushmem libtorushmem0
}

@test "the Fortran library exports what packaging/libtorushmem-fortran0.exports lists, compiled by gfortran" {
	[ -e "$TOP_BUILDDIR/.libs/libtorushmem_fortran.so" ] || skip "built without Fortran or without shared libraries"
	grep -q '^FC = .*gfortran' "$TOP_BUILDDIR/Makefile" || skip "another compiler, which gives other names to what is in modules"
	exports_listed libtorushmem_fortran libtorushmem-fortran0
}

@test "make install fills every pattern of debian/*.install, under the names of Debian's packages, and each file is in one package" {
	grep -q 'HAVE_SOFTOFU 1' "$TOP_BUILDDIR/config.h" || skip "configured --disable-softofu"
	names=$(transform)
	[[ "$names" == *"s:^oshcc\$:&.torushmem:;"* ]]
	mkdir tree
	make -s -C "$TOP_BUILDDIR" install install-tests DESTDIR="$PWD/stage" program_transform_name="${names//\$/\$\$}" >log 2>&1 ||
		{ tail log && return 1; }
	prefix=$("$TOP_BUILDDIR/oshinfo" --parsable | sed -n 's/^build.prefix://p')
	mkdir -p tree/usr/lib/arch tree/usr/include/torushmem tree/usr/share/torushmem
	cp -a "stage$prefix/bin" tree/usr
	cp -a "stage$prefix/libexec" "stage$prefix/share" tree/usr
	cp -a "stage$prefix/lib/." tree/usr/lib/arch
	cp -a "stage$prefix/include/." tree/usr/include/torushmem
	mv tree/usr/share/doc/torushmem tree/usr/share/doc/torushmem-doc
	: >tree/usr/share/torushmem/plain-names
	rm -f tree/usr/lib/arch/*.la tree/usr/lib/arch/softofu/*.la
	cd tree
	for list in "$TOP"/debian/*.install; do
		while read -r pattern; do
			# A build without Fortran has nothing of it to pack.
			[ -x "$TOP_BUILDDIR/oshfort" ] || [[ ! $pattern =~ oshf|fortran|shmem_(interfaces|constants)|\.(mod|f90|fh)$ ]] || continue
			# shellcheck disable=SC2086 # a pattern
			set -- $pattern
			[ -e "$1" ] || { echo "$list: nothing is $pattern" && return 1; }
			find "$@" ! -type d
		done <"$list"
	done | sort >../packed
	[ "$(uniq -d ../packed)" = "" ]
	find usr ! -type d | sort >../installed
	run comm -13 ../packed ../installed
	[ "$output" = "" ]
}

@test "Spack's recipe loads, and configure knows what it is given" {
	command -v python3 >/dev/null || skip "no python3"
	recipe=$TOP/packaging/spack/packages/torushmem/package.py
	script=${BATS_TEST_FILENAME%/*}/spack_recipe.py
	"$TOP/configure" --help >help
	for variants in '+ofi +verbs +fortran +softofu +static +checks' '~ofi ~verbs ~fortran ~softofu ~static ~checks' ''; do
		# shellcheck disable=SC2086 # words
		python3 "$script" "$recipe" ucx=/ucx pmix=/pmix hwloc=/hwloc libfabric=/ofi rdma-core=/v zlib-api=/z $variants >said
		for option in $(sed -n 's/^configure //p' said); do
			name=${option%%=*}
			case $name in
			--enable-static | --disable-static) ;;
			*) grep -qE -- "--(enable|disable|with|without)-${name#--*-}([[ =]|\$)" help || { echo "$option" && return 1; } ;;
			esac
		done
	done
	python3 "$script" "$recipe" ucx=/u pmix=/p hwloc=/h '~ofi' '~softofu' >said
	grep -qx 'configure --with-ucx=/u --with-pmix=/p --with-hwloc=/h --without-ofi --without-verbs --with-fortran --disable-softofu --enable-static --enable-argument-checks' said
	grep -qx "git file://$TOP" said
	grep -qx 'depends_on ucx@1.10:+thread_multiple' said
	run python3 "$script" "$recipe" ucx=/u pmix=/p hwloc=/h +nothing
	[ "$status" -ne 0 ]
}

@test "make install-modules: a module in Tcl and one in Lua, with nothing left to fill in" {
	make -s -C "$TOP_BUILDDIR" install-modules DESTDIR="$PWD/stage" moduledir=/modules
	prefix=$("$TOP_BUILDDIR/oshinfo" --parsable | sed -n 's/^build.prefix://p')
	for file in "stage/modules/torushmem/$version" "stage/modules/torushmem/$version.lua"; do
		grep -q "PATH.*$prefix/bin" "$file"
		run grep -F @ "$file"
		[ "$output" = "" ]
	done
	head -n 1 "stage/modules/torushmem/$version" | grep -q '^#%Module'
}

@test "scripts of packages pass shellcheck" {
	command -v shellcheck >/dev/null || skip "no shellcheck"
	cd "$TOP"
	shellcheck debian/plain-names debian/*.postinst debian/*.prerm
	# shellcheck disable=SC2046 # names
	shellcheck -s sh -x -P SCRIPTDIR $(sed -n 's|^Tests: |debian/tests/|p' debian/tests/control)
	shellcheck tools/below-prefix.sh tools/dist-tar.sh tools/install-docs.sh
}
