#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# make install: what it puts where, and that others can build with it, from a tree
# that was staged and moved.

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
	# This runs inside "make check" as a rule; the make below is one of its own.
	unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
	export STAGE="$BATS_FILE_TMPDIR/stage" MOVED="$BATS_FILE_TMPDIR/a moved tree"
	prefix=$("${OSHINFO:-$TOP_BUILDDIR/oshinfo}" --parsable | sed -n 's/^build.prefix://p')
	libdir=$("${OSHINFO:-$TOP_BUILDDIR/oshinfo}" --parsable | sed -n 's/^build.libdir://p')
	export prefix libdir lib="${libdir#"$prefix"/}"
	touch "$BATS_FILE_TMPDIR/before"
	cd "$TOP_BUILDDIR" || return
	make install DESTDIR="$STAGE" >"$BATS_FILE_TMPDIR/log" 2>&1 || {
		tail -n 20 "$BATS_FILE_TMPDIR/log"
		return 1
	}
	(cd "$STAGE" && find . ! -type d) >"$BATS_FILE_TMPDIR/files"
	cp -a "$STAGE$prefix" "$MOVED"
}

setup()
{
	folder="$BATS_TEST_TMPDIR/a folder"
	mkdir "$folder"
	cd "$folder" || return
	unset OSHCC_CC OSHCXX_CXX SHMEM_CC SHMEM_CXX OSHCC_NO_RPATH LD_LIBRARY_PATH
	PATH="$MOVED/bin:$PATH"
	cat >ring.c <<'END'
#include <shmem.h>
#include <stdio.h>
long box = -1;
int main(void)
{
	int me, n;

	shmem_init();
	me = shmem_my_pe();
	n = shmem_n_pes();
	shmem_long_p(&box, me, (me + 1) % n);
	shmem_barrier_all();
	printf("PE %d got %ld\n", me, box);
	shmem_finalize();
	return box == (me + n - 1) % n ? 0 : 1;
}
END
	cp ring.c ring.cc
	cat >ring.f90 <<'END'
program ring
  use shmem
  implicit none
  integer :: me, n
  integer, save :: box = -1

  call shmem_init()
  me = shmem_my_pe()
  n = shmem_n_pes()
  call shmem_p(box, me, mod(me + 1, n))
  call shmem_barrier_all()
  print '(a,i0,a,i0)', 'PE ', me, ' got ', box
  call shmem_finalize()
end program
END
	cat >owners.cc <<'END'
#include <shmem.hpp>
#include <cstdio>
int main()
{
	shmem::job job;
	shmem::array<long> box(1, -1);
	box.on((job.my_pe() + 1) % job.n_pes())[0] = job.my_pe();
	shmem_barrier_all();
	std::printf("PE %d got %ld\n", job.my_pe(), box[0]);
}
END
}

runs_as_ring()
{
	# Standard error may say that three PEs share two cores.
	oshrun -n 3 "$@" >"$BATS_TEST_TMPDIR/out" || {
		cat "$BATS_TEST_TMPDIR/out"
		return 1
	}
	[ "$(sort "$BATS_TEST_TMPDIR/out")" = "PE 0 got 2
PE 1 got 0
PE 2 got 1" ]
}

@test "all of it is under the prefix" {
	run grep -v "^\.$prefix/" "$BATS_FILE_TMPDIR/files"
	[ "$output" = "" ]
	if [ -d "$prefix" ]; then
		run find "$prefix" -newer "$BATS_FILE_TMPDIR/before" ! -type d
		[ "$output" = "" ]
	fi
}

@test "programs, headers, libraries and packages are there" {
	for file in bin/oshcc bin/oshcxx bin/oshc++ bin/oshrun bin/oshinfo bin/oshmem_info bin/osh_info bin/torusplan \
		include/shmem.h include/shmemx.h include/pshmem.h include/shmemx_inline.h include/shmemx_typed.h include/shmemx_binding.h include/mpp/shmem.h include/mpp/shmemx.h \
		include/shmem.hpp include/shmem_arrays.hpp include/shmem_owners.hpp share/man/man3/shmem.hpp.3 \
		"$lib/libtorushmem.so" "$lib/pkgconfig/torushmem.pc" "$lib/pkgconfig/openshmem.pc" \
		"$lib/cmake/OpenSHMEM/OpenSHMEMConfig.cmake" share/aclocal/ax_openshmem.m4; do
		[ -s "$MOVED/$file" ] || {
			echo "$file is missing"
			return 1
		}
	done
}

@test "no file that is installed names the build folder" {
	run grep -rlF "$TOP_BUILDDIR" "$STAGE" --include=oshcc --include='*.pc' --include='*.cmake' --include='*.h' \
		--include='*.m4' --include='*.[17]'
	[ "$output" = "" ]
}

@test "manual pages are there and without a fault" {
	for page in man1/oshcc.1 man1/oshcxx.1 man1/oshc++.1 man1/oshrun.1 man1/oshinfo.1 man1/oshmem_info.1 \
		man1/osh_info.1 man1/torusplan.1 man7/oshmem.7 man7/shmem_check.7; do
		[ -s "$MOVED/share/man/$page" ]
		if command -v mandoc >/dev/null; then
			mandoc -T lint -W warning "$MOVED/share/man/$page"
		fi
		if command -v man >/dev/null; then
			man -l "$MOVED/share/man/$page" >page
			[ -s page ]
		fi
	done
}

@test "oshmem(7) has every setting with its default" {
	page=$MOVED/share/man/man7/oshmem.7
	"$MOVED/bin/oshinfo" --parsable --settings | sed -n 's/^settings\.\(.*\)\.origin:.*/\1/p' >names
	[ -s names ]
	while read -r name; do
		grep -q "^\.It Ev $name\( \|\$\)" "$page"
	done <names
	grep -Fqx '.Ql local,tofu,cables,ucx .' "$page"
	run grep -F @ "$page"
	[ "$output" = "" ]
}

@test "oshcc and oshcxx of a moved tree, oshrun of the same" {
	[ "$(oshcc --showme:incdirs)" = "$MOVED/include" ]
	[ "$(oshcc --showme:libdirs)" = "$MOVED/$lib" ]
	oshcc -Wall -Wextra -Werror -o ring ring.c
	runs_as_ring ./ring
	oshc++ -Wall -Wextra -Werror -o ring ring.cc
	runs_as_ring ./ring
	oshcxx -std=c++11 -Wall -Wextra -Werror -o owners owners.cc
	runs_as_ring ./owners
}

@test "a staged tree is found where it stands" {
	run "$STAGE$prefix/bin/oshcc" --showme:libdirs
	[ "$output" = "$STAGE$libdir" ]
	run "$STAGE$prefix/bin/oshcc" --showme:incdirs
	[ "$output" = "$STAGE$prefix/include" ]
}

@test "oshinfo under its three names" {
	for name in oshinfo oshmem_info osh_info; do
		run "$name" --settings
		[ "$status" -eq 0 ]
		[[ "$output" == "torushmem "* ]]
	done
}

@test "Fortran of a moved tree: oshfort, the archives, pkg-config and CMake" {
	[ -x "$MOVED/bin/oshfort" ] || skip "built without Fortran"
	for name in oshfort oshf90 oshf77; do
		"$name" -Wall -Werror -o ring ring.f90
		runs_as_ring ./ring
	done
	if [ -e "$MOVED/$lib/libtorushmem_fortran.a" ]; then
		oshfort -static-libtorushmem -o ring ring.f90
		run ldd ./ring
		[[ "$output" != *libtorushmem* ]]
		runs_as_ring ./ring
	fi
	# pkg-config says a blank as a backslash and a blank, so this tree has none in its name.
	plain="$BATS_TEST_TMPDIR/plain"
	cp -a "$MOVED" "$plain"
	export PKG_CONFIG_PATH="$plain/$lib/pkgconfig"
	[ "$(pkg-config --define-prefix --variable=oshfort torushmem-fortran)" = "$plain/bin/oshfort" ]
	# shellcheck disable=SC2046 # flags
	$(oshfort --showme:command) -o ring ring.f90 $(pkg-config --define-prefix --cflags --libs torushmem-fortran) -Wl,-rpath,"$plain/$lib"
	ldd ring | grep -q "$plain/$lib/libtorushmem_fortran.so.0"
	runs_as_ring ./ring
	command -v cmake >/dev/null || skip "no cmake"
	cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.18)
project(ring LANGUAGES C Fortran)
find_package(OpenSHMEM 1.6 REQUIRED COMPONENTS C Fortran)
add_executable(ring ring.f90)
target_link_libraries(ring PRIVATE OpenSHMEM::Fortran)
END
	cmake -S . -B out -DCMAKE_PREFIX_PATH="$MOVED" >log 2>&1 || { cat log && return 1; }
	cmake --build out >log 2>&1 || { cat log && return 1; }
	runs_as_ring out/ring
}

@test "--without-fortran: no Fortran compiler is needed, and nothing of Fortran is built or installed" {
	unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES FC F77
	# configure takes no blank in PATH, so this works beside.
	cd "$BATS_TEST_TMPDIR"
	mkdir programs without
	find /usr/local/bin /usr/bin /bin -maxdepth 1 ! -type d ! -name '*fortran*' ! -name '*flang*' ! -name 'f[79]*' \
		-exec ln -sf -t programs {} +
	programs=$PWD/programs
	cd without
	PATH=$programs run command -v gfortran f77 f90 f95 flang
	[ "$output" = "" ]
	PATH=$programs "${TOP_SRCDIR:-$BATS_TEST_DIRNAME/../..}/configure" -q --without-fortran >log 2>&1 || { tail log && return 1; }
	PATH=$programs make -n install >wanted 2>/dev/null
	grep -q libtorushmem.la wanted
	run grep -nE "libtorushmem_fortran|oshcc:oshf|torushmem-fortran\.pc[^.]|list='[^']*\.(mod|f90|fh)" wanted
	[ "$output" = "" ]
	PATH=$programs run "${TOP_SRCDIR:-$BATS_TEST_DIRNAME/../..}/configure" --with-fortran
	[ "$status" -ne 0 ]
	[[ "$output" == *"configure: error: --with-fortran: there is no Fortran compiler that has"* ]]
}

@test "the archive: oshcc -static-libtorushmem" {
	[ -e "$MOVED/$lib/libtorushmem.a" ] || skip "built without an archive"
	oshcc -static-libtorushmem -o ring ring.c
	run ldd ./ring
	[[ "$output" != *libtorushmem* ]]
	runs_as_ring ./ring
}

@test "the archive has the names of the API and no others" {
	[ -e "$MOVED/$lib/libtorushmem.a" ] || skip "built without an archive"
	nm -g --defined-only "$MOVED/$lib/libtorushmem.a" | awk 'NF == 3 { print $3 }' | sort >archive
	nm -D --defined-only "$MOVED/$lib/libtorushmem.so" | awk '{ print $3 }' | sort >shared
	[ "$(wc -l <archive)" -gt 1000 ]
	diff shared archive
}

@test "a program's own globals, comms, rte, ucx and tofu stay its own, shared and archive" {
	cat >own.c <<'END'
#include <shmem.h>
int globals = 1, comms = 2, rte = 3, ucx = 4, tofu = 5;
long got;
int main(void)
{
	shmem_init();
	shmem_long_p(&got, 6, (shmem_my_pe() + 1) % shmem_n_pes());
	shmem_barrier_all();
	int right = got == 6 && globals == 1 && comms == 2 && rte == 3 && ucx == 4 && tofu == 5;
	shmem_finalize();
	return right ? 0 : 9;
}
END
	for option in '' -static-libtorushmem; do
		[ -z "$option" ] || [ -e "$MOVED/$lib/libtorushmem.a" ] || continue
		# shellcheck disable=SC2086 # an option or none
		oshcc $option -o own own.c
		oshrun -n 2 ./own
		SHMEM_PATHS=ucx UCX_TLS=tcp,self oshrun -n 2 ./own
	done
}

# Files of another package in a tree that is to take ours: their names and what is in them.
make_foreign()
{
	mkdir -p "$1$prefix/bin" "$1$prefix/share/man/man1"
	for file in bin/oshcxx bin/oshc++ bin/oshmem_info share/man/man1/oshcxx.1; do
		echo "another's $file" >"$1$prefix/$file"
	done
}

check_foreign()
{
	for file in bin/oshcxx bin/oshc++ bin/oshmem_info share/man/man1/oshcxx.1; do
		[ "$(cat "$1$prefix/$file")" = "another's $file" ] || {
			echo "$file is no longer the other package's"
			return 1
		}
	done
}

@test "--program-suffix: every name has it, and files of other packages stay" {
	unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
	there="$BATS_TEST_TMPDIR/there"
	make_foreign "$there"
	suffix='program_transform_name=s,$$,-torus,'
	(cd "$TOP_BUILDDIR" && make install DESTDIR="$there" "$suffix") >"$BATS_TEST_TMPDIR/log" 2>&1 || { tail "$BATS_TEST_TMPDIR/log" && return 1; }
	check_foreign "$there"
	cd "$there$prefix"
	[ "$(readlink bin/oshcxx-torus) $(readlink bin/oshc++-torus)" = "oshcc-torus oshcc-torus" ]
	[ "$(readlink bin/oshmem_info-torus) $(readlink bin/osh_info-torus)" = "oshinfo-torus oshinfo-torus" ]
	[ "$(readlink share/man/man1/oshc++-torus.1)" = oshcc-torus.1 ]
	[ "$(readlink share/man/man7/torushmem-torus.7)" = oshmem-torus.7 ]
	[ "$(cat share/man/man3/shmem_iput-torus.3)" = ".so man3/shmem_put-torus.3" ]
	[ -s share/man/man3/shmem_put-torus.3 ] && [ -s share/man/man3/shmemx_exchange_start-torus.3 ]
	run find bin share/man/man1 share/man/man3 ! -type d ! -name '*-torus*'
	[ "$(wc -l <<<"$output")" -eq 4 ]
	run bin/oshcxx-torus --showme:version
	[[ "$output" == *"(language: C++)" ]]
	(cd "$TOP_BUILDDIR" && make uninstall DESTDIR="$there" "$suffix") >"$BATS_TEST_TMPDIR/log" 2>&1 || { tail "$BATS_TEST_TMPDIR/log" && return 1; }
	check_foreign "$there"
	[ "$(find "$there" ! -type d | wc -l)" -eq 4 ]
}

@test "without a suffix, a link does not take the place of another package's file" {
	unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
	there="$BATS_TEST_TMPDIR/there"
	make_foreign "$there"
	(cd "$TOP_BUILDDIR" && make install-exec install-man DESTDIR="$there") >log 2>&1 || { tail log && return 1; }
	grep -q "bin/oshcxx belongs to another package and stays" log
	check_foreign "$there"
	[ "$(readlink "$there$prefix/bin/osh_info")" = oshinfo ]
}

@test "configure refuses 32 bits and a prefix with a blank, each in one line" {
	mkdir "$BATS_TEST_TMPDIR/configure"
	cd "$BATS_TEST_TMPDIR/configure"
	source=${TOP_SRCDIR:-$BATS_TEST_DIRNAME/../..}
	for arguments in CC='gcc -m32' CFLAGS='-O2 -m32' --host=i386-linux-gnu; do
		run env -u CC -u CFLAGS "$source/configure" "$arguments"
		[ "$status" -ne 0 ]
		[[ "$output" == *"configure: error: torushmem needs a 64-bit system, and "*" is for 32 bits; configure for "* ]]
	done
	for arguments in --prefix="/opt/my programs" --libdir="/opt/a;b"; do
		run "$source/configure" "$arguments"
		[ "$status" -ne 0 ]
		[[ "$output" == *"configure: error: the folder '/opt/"*"' has a blank or another character in its name"* ]]
	done
}

@test "pkg-config, for a staged tree" {
	export PKG_CONFIG_PATH="$STAGE$libdir/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$STAGE"
	for name in torushmem openshmem; do
		flags=$(pkg-config --cflags --libs "$name")
		# shellcheck disable=SC2086 # the stage has no blanks in its name
		cc -o ring ring.c $flags -Wl,-rpath,"$STAGE$libdir"
		runs_as_ring ./ring
		# shellcheck disable=SC2086
		c++ -std=c++11 -o owners owners.cc $flags -Wl,-rpath,"$STAGE$libdir"
		runs_as_ring ./owners
	done
	[ "$(pkg-config --modversion openshmem)" = 1.6 ]
}

@test "programs for Tofu link by the names they know, and find Fujitsu's additions to MPI and PMIx" {
	grep -q 'HAVE_SOFTOFU 1' "$TOP_BUILDDIR/config.h" || skip "configured --disable-softofu"
	for name in tofucom utofu jtofu tofutop; do
		printf 'int main(void) { return 0; }\n' | "${CC:-cc}" -xc - -o linked -L "$MOVED/$lib/softofu" "-l$name"
	done
	[ -f "$MOVED/include/softofu/pmix_fjext.h" ] && [ -f "$MOVED/include/softofu/softofu-a64.h" ]
	PKG_CONFIG_PATH="$MOVED/$lib/pkgconfig" run pkg-config --define-prefix --variable=mpiincludedir softofu
	[ "$status" -eq 0 ]
	# A blank has a backslash.
	[ ! -e "$TOP_BUILDDIR/libfjmpi.la" ] || [ -f "${output//\\/}/mpi-ext.h" ]
}

@test "software Tofu is in folders of its own, where no loader and no compiler finds it by accident" {
	run find "$MOVED" \( -name '*tofu*' -o -name '*fjext*' -o -name mpi-ext.h \) ! -type d ! -path '*/softofu/*' \
		! -path '*/share/*' ! -name softofu.pc ! -name softofu-replay
	[ "$output" = "" ]
}

# A folder as Fujitsu's are: what configure and the Tofu path look for, made
# of software Tofu's files.
make_tofu()
{
	mkdir -p "$1/include" "$1/lib64"
	cp "$MOVED/include/softofu"/*tofu.h "$1/include"
	cp -a "$MOVED/$lib/softofu"/*.so* "$1/lib64"
}

@test "--with-tofu=DIR: nothing of software Tofu is built or installed" {
	grep -q 'HAVE_SOFTOFU 1' "$TOP_BUILDDIR/config.h" || skip "configured --disable-softofu"
	unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
	make_tofu "$BATS_TEST_TMPDIR/tofu"
	mkdir "$BATS_TEST_TMPDIR/with"
	cd "$BATS_TEST_TMPDIR/with"
	"${TOP_SRCDIR:-$BATS_TEST_DIRNAME/../..}/configure" -q --with-tofu="$BATS_TEST_TMPDIR/tofu" >log 2>&1 || { tail log && return 1; }
	grep -q 'HAVE_SOFTOFU 0' config.h
	grep -q 'HAVE_TOFU 1' config.h
	make -n install >wanted 2>/dev/null
	grep -q libtorushmem.la wanted
	run grep -nE 'lib[uj]?tofu|softofu-replay|utofu\.h' wanted
	[ "$output" = "" ]
}

@test "the Tofu path takes the system's libraries, and with SOFTOFU_SHAPE software Tofu, both from one folder" {
	grep -q 'HAVE_TOFU 1' "$TOP_BUILDDIR/config.h" && grep -q 'HAVE_SOFTOFU 1' "$TOP_BUILDDIR/config.h" ||
		skip "built without Tofu"
	make_tofu "$BATS_TEST_TMPDIR/system"
	export LD_LIBRARY_PATH="$BATS_TEST_TMPDIR/system/lib64"
	[[ "$(env -u SOFTOFU_SHAPE oshinfo --parsable | grep '^tofu.library')" == *", libtofucom.so" ]]
	[[ "$(SOFTOFU_SHAPE=2x1 oshinfo --parsable | grep '^tofu.library')" == *"/softofu/libtofucom.so" ]]
	rm "$BATS_TEST_TMPDIR/system/lib64"/libjtofu*
	[[ "$(env -u SOFTOFU_SHAPE oshinfo --parsable | grep '^tofu.path')" == *"libjtofu.so"* ]]
}

@test "pkg-config --define-prefix: every .pc file goes with its tree, and what was linked by it runs" {
	# pkg-config says a blank as a backslash and a blank, so this tree has none in its name.
	plain="$BATS_TEST_TMPDIR/plain"
	cp -a "$MOVED" "$plain"
	export PKG_CONFIG_PATH="$plain/$lib/pkgconfig"
	for file in "$plain/$lib/pkgconfig"/*.pc; do
		name=$(basename "$file" .pc)
		run pkg-config --define-prefix --cflags --libs "$name"
		[[ "$output" == *"-I$plain/include"*"-L$plain/$lib"* ]]
		[[ "$output" != *"$prefix"* ]]
	done
	[ "$(pkg-config --define-prefix --variable=oshrun openshmem)" = "$plain/bin/oshrun" ]
	# shellcheck disable=SC2046 # flags
	cc -o ring ring.c $(pkg-config --define-prefix --cflags --libs openshmem) -Wl,-rpath,"$plain/$lib"
	runs_as_ring ./ring
	[ -f "$plain/$lib/pkgconfig/softofu.pc" ] || return 0
	printf '#include <utofu.h>\nint main(void) { int major, minor; utofu_query_utofu_version(&major, &minor); return 0; }\n' >version.c
	# shellcheck disable=SC2046 # flags
	cc -o version version.c $(pkg-config --define-prefix --cflags --libs softofu)
	./version
	ldd version | grep -q "$plain/$lib/softofu/libtofucom.so"
}

@test "pages for readers are installed, and the links between them hold" {
	cd "$MOVED/share/doc/torushmem"
	[ -s README.md ] && [ -s CHANGELOG.md ] && [ -s docs/tofu.md ]
	grep -q "^## $(sed -n 's/^AC_INIT(\[torushmem\], \[\(.*\)\])/\1/p' "${TOP_SRCDIR:-$BATS_TEST_DIRNAME/../..}/configure.ac")\$" CHANGELOG.md
	grep -o '](docs/[a-z/_-]*\.[a-z]*' README.md | cut -c 3- | while read -r page; do
		[ -s "$page" ] || { echo "README.md: $page is missing" && return 1; }
	done
}

@test "pkg-config, the archive with what it needs" {
	[ -e "$MOVED/$lib/libtorushmem.a" ] || skip "built without an archive"
	export PKG_CONFIG_PATH="$MOVED/$lib/pkgconfig"
	private=$(pkg-config --static --libs openshmem | sed 's/.*-ltorushmem//')
	[[ "$private" == *-lpmix* ]]
	[[ "$private" != *-lucp* ]]
	# shellcheck disable=SC2086 # flags
	cc -o ring ring.c -I"$MOVED/include" "$MOVED/$lib/libtorushmem.a" $private
	runs_as_ring ./ring
}

@test "CMake: find_package(OpenSHMEM) for C and C++, and its launcher" {
	command -v cmake >/dev/null || skip "no cmake"
	cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.18)
project(ring LANGUAGES C CXX)
find_package(OpenSHMEM 1.5 REQUIRED COMPONENTS C CXX)
add_executable(ring ring.c)
add_executable(ringxx ring.cc)
add_executable(ringhpp owners.cc)
set_target_properties(ringhpp PROPERTIES CXX_STANDARD 20 CXX_EXTENSIONS OFF)
target_link_libraries(ringhpp PRIVATE OpenSHMEM::OpenSHMEM)
add_executable(ringa ring.c)
target_link_libraries(ring PRIVATE OpenSHMEM::OpenSHMEM)
target_link_libraries(ringxx PRIVATE OpenSHMEM::OpenSHMEM)
target_link_libraries(ringa PRIVATE OpenSHMEM::OpenSHMEM_static)
enable_testing()
add_test(NAME ring COMMAND ${OpenSHMEM_OSHRUN} -n 2 $<TARGET_FILE:ring>)
END
	[ -e "$MOVED/$lib/libtorushmem.a" ] || sed -i /ringa/d CMakeLists.txt
	cmake -S . -B out -DCMAKE_PREFIX_PATH="$MOVED" >log 2>&1 || { cat log && return 1; }
	cmake --build out >log 2>&1 || { cat log && return 1; }
	for program in out/ring*; do
		[ ! -x "$program" ] || [ -d "$program" ] || runs_as_ring "$program"
	done
	(cd out && ctest) | grep -q '100% tests passed'
}

@test "CMake: a version of the standard that we do not have is refused" {
	command -v cmake >/dev/null || skip "no cmake"
	printf '%s\n' 'cmake_minimum_required(VERSION 3.18)' 'project(x LANGUAGES C)' \
		'find_package(OpenSHMEM 1.7 REQUIRED)' >CMakeLists.txt
	run cmake -S . -B out -DCMAKE_PREFIX_PATH="$MOVED"
	[ "$status" -ne 0 ]
	[[ "$output" == *"1.7"* ]]
}

@test "autoconf: AX_OPENSHMEM by pkg-config and by the wrapper" {
	# configure scripts refuse names with blanks, so this one works beside.
	mkdir "$BATS_TEST_TMPDIR/plain"
	cd "$BATS_TEST_TMPDIR/plain"
	printf '%s\n' 'AC_INIT([x], [1])' AC_PROG_CC AX_OPENSHMEM 'AC_CONFIG_FILES([flags])' AC_OUTPUT >configure.ac
	echo '@OPENSHMEM_CFLAGS@ @OPENSHMEM_LIBS@ @OSHRUN@' >flags.in
	aclocal -I "$STAGE$prefix/share/aclocal"
	autoconf
	PATH="$STAGE$prefix/bin:$PATH"
	unset OSHRUN # configure would take it from us
	PKG_CONFIG_PATH="$STAGE$libdir/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$STAGE" ./configure >log
	grep -q 'checking for OpenSHMEM... yes, by pkg-config' log
	grep -q -- "-ltorushmem *$STAGE$prefix/bin/oshrun" flags
	PKG_CONFIG=false ./configure >log
	grep -q 'checking for OpenSHMEM... yes, by oshcc' log
	grep -q -- "-I$STAGE$prefix/include" flags
	CC=oshcc PKG_CONFIG=false ./configure >log
	grep -q 'checking for OpenSHMEM... yes, the compiler knows it' log
	mkdir none
	printf '#!/bin/sh\nexit 1\n' >none/oshcc
	chmod +x none/oshcc
	PATH="$PWD/none:$PATH" CC=cc PKG_CONFIG=false run ./configure
	[ "$status" -ne 0 ]
	[[ "$output" == *"no OpenSHMEM found; put oshcc into PATH"* ]]
}

@test "make uninstall takes all of it away" {
	unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
	cp -a "$STAGE" "$BATS_TEST_TMPDIR/copy"
	(cd "$TOP_BUILDDIR" && make uninstall DESTDIR="$BATS_TEST_TMPDIR/copy") >log 2>&1 || { tail log && return 1; }
	run find "$BATS_TEST_TMPDIR/copy" ! -type d
	[ "$output" = "" ]
}

# --- The root that other programs look for: the table of docs/guide/13-porting.md ---

# plain_root: a copy of the tree without a blank in its name, for pkg-config and make. Its root is
# ROOT.
plain_root()
{
	plain="$BATS_FILE_TMPDIR/plain root"
	plain=${plain// /-}
	[ -d "$plain" ] || cp -a "$MOVED" "$plain"
	ROOT=$("$plain/bin/oshcc" --compat-root)
	PATH="$ROOT/bin:$PATH"
}

# Another OpenSHMEM, of Debian's packages, which all of these tests are beside where it is
# installed.
openmpi()
{
	for OTHER in /usr/lib/*/openmpi/lib /usr/lib64/openmpi/lib; do
		[ ! -e "$OTHER/liboshmem.so" ] || return 0
	done
	skip "no Open MPI with OpenSHMEM"
}

@test "the root holds headers, libraries and programs together, and nothing of it is outside" {
	[ ! -e "$MOVED/$lib/libsma.so" ] && [ ! -e "$MOVED/$lib/liboshmem.so" ] && [ ! -e "$MOVED/$lib/pkgconfig/oshmem.pc" ]
	ROOT=$(oshcc --compat-root)
	[ "$ROOT" = "$MOVED/$lib/torushmem-compat" ]
	for file in include/shmem.h include/shmemx.h include/mpp/shmem.h include/mpp/shmemx.h lib/libsma.so lib/liboshmem.so \
		lib64/libsma.so lib/libopenshmem.so bin/oshcc bin/oshc++ bin/oshrun bin/shmemcc lib/pkgconfig/sandia-openshmem.pc; do
		[ -e "$ROOT/$file" ] || { echo "$file is missing" && return 1; }
	done
	run find "$ROOT" -xtype l
	[ "$output" = "" ]
	run find "$ROOT" -type l -lname '/*'
	[ "$output" = "" ]
	"$ROOT/bin/oshcc" ring.c -o ring
	oshrun() { "$ROOT/bin/oshrun" "$@"; }
	runs_as_ring ./ring
	run "$TOP_BUILDDIR/oshcc" --compat-root
	[ "$status" -eq 1 ] && [ "${#lines[@]}" -eq 1 ] && [[ "$output" == *"libtorushmem-compat-dev"* ]]
}

@test "shmem.h and another OpenSHMEM's library do not link, and the missing name says why" {
	openmpi
	sed 's/shmem_init()/shmem_init_thread(SHMEM_THREAD_SINGLE, \&n)/' ring.c >threads.c
	sed 's/shmem_init()/start_pes(0)/' ring.c >old.c
	for source in ring.c ring.cc threads.c old.c; do
		for compiler in 'cc -O0' 'cc -O2' 'clang -O0' 'clang -O2'; do
			command -v "${compiler% *}" >/dev/null || continue
			[ "$source" = ring.c ] || [ "$compiler" = 'cc -O2' ] || continue
			language=${source##*.} && language=${language/cc/c++}
			run $compiler -x $language "$source" -x none -I"$MOVED/include" -L"$OTHER" -loshmem -o ring
			[ "$status" -ne 0 ]
			[[ "$output" == *"undefined reference to "?"shmemx_this_header_needs_libtorushmem"* ]]
		done
	done
	# A tool that defines the routine says so, and one that takes its address has the library's.
	cat >tool.c <<'END'
#define SHMEMX_ANY_LIBRARY
#include <pshmem.h>
int calls;
void shmem_init(void)
{
	calls++;
	pshmem_init();
}
END
	sed 's/shmem_init()/start()/; s/^int main/extern int calls;\nvoid (*start)(void) = shmem_init;\n&/; s/return box/return calls == 1 \&\& box/' ring.c >address.c
	oshcc -Wall -Wextra -Werror tool.c address.c -o address
	runs_as_ring ./address
}

@test "the number of the version is in the header" {
	printf '#include <shmem.h>\n#if TORUSHMEM_VERSION < 200\n#error\n#endif\nTORUSHMEM_VERSION\n' >number.c
	number=$(cc -E -P -I"$MOVED/include" number.c | tail -n 1)
	[ "$(oshcc --showme:version)" = "oshcc: torushmem $((number / 10000)).$((number / 100 % 100)).$((number % 100)) (language: C)" ]
}

@test "folders of the user come before the library's, as elsewhere" {
	mkdir own
	echo '#error of the program' >own/shmem.h
	for compiler in oshcc oshc++; do
		run "$compiler" -c ring.c -I own
		[ "$status" -ne 0 ] && [[ "$output" == *"of the program"* ]]
	done
}

# find_module NAMES OPTIONS CMAKE-ARGUMENTS...: a program that looks for header and library as
# modules do that take a root.
find_module()
{
	cat >CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.18)
project(ring LANGUAGES C)
find_library(shmem_library NAMES $1 \${SHMEM_ROOT} $2)
find_path(shmem_header shmem.h PATHS \${SHMEM_ROOT}/include $2)
file(STRINGS \${shmem_header}/shmem.h major REGEX "#define SHMEM_MAJOR_VERSION [0-9]+")
if(NOT major)
  message(FATAL_ERROR "no version in \${shmem_header}/shmem.h")
endif()
add_executable(ring ring.c)
target_include_directories(ring PRIVATE \${shmem_header})
target_link_libraries(ring PRIVATE \${shmem_library})
END
	rm -rf out
	cmake -S . -B out "${@:3}" >log 2>&1 && cmake --build out >>log 2>&1
}

@test "CMake modules that take a root find header and library there: Kokkos Remote Spaces, DTL, NVSHMEM" {
	command -v cmake >/dev/null || skip "no cmake"
	plain_root
	# DTL's, and that of Kokkos Remote Spaces with packaging/patches
	find_module 'oshmem sma PATHS' 'PATH_SUFFIXES lib lib64 NO_DEFAULT_PATH' "-DSHMEM_ROOT=$ROOT" || { cat log && return 1; }
	runs_as_ring out/ring
	# without: two words that CMake takes for folders, so it needs its own variable
	find_module 'oshmem sma PATHS' 'SUFFIXES lib lib64 NO_DEFAULT_PATHS' "-DSHMEM_ROOT=$ROOT" "-DCMAKE_PREFIX_PATH=$ROOT" || { cat log && return 1; }
	runs_as_ring out/ring
	grep -q "$ROOT" out/CMakeCache.txt
	# NVSHMEM's, whose root comes before the folders that CMake knows
	find_module 'oshmem HINTS' 'PATH_SUFFIXES lib lib64' "-DSHMEM_ROOT=$ROOT" || { cat log && return 1; }
	runs_as_ring out/ring
}

@test "the prefix as a root, and CMake finds another library: the link says so" {
	command -v cmake >/dev/null || skip "no cmake"
	openmpi
	plain_root
	run find_module 'oshmem PATHS' 'SUFFIXES lib lib64 NO_DEFAULT_PATHS' "-DSHMEM_ROOT=$plain" "-DCMAKE_LIBRARY_PATH=$OTHER" "-Dshmem_header=$plain/include"
	[ "$status" -ne 0 ]
	grep -q shmemx_this_header_needs_libtorushmem log
}

@test "pkg-config by the names of others: Intel SHMEM (sandia-openshmem), HPX (oshmem, and its libraries by name)" {
	command -v pkg-config >/dev/null || skip "no pkg-config"
	plain_root
	export PKG_CONFIG_PATH="$ROOT/lib/pkgconfig"
	pkg-config --exists 'sandia-openshmem >= 1.5.3'
	for name in sandia-openshmem oshmem sma; do
		# shellcheck disable=SC2046 # flags
		c++ ring.cc -o ring $(pkg-config --cflags --libs "$name") -Wl,-rpath,"$ROOT/lib"
		runs_as_ring ./ring
		ldd ring | grep -q "$ROOT/lib/libtorushmem.so.0"
	done
	# Intel SHMEM loads the library when it runs.
	cat >loads.c <<'END'
#define SHMEMX_ANY_LIBRARY
#include <dlfcn.h>
#include <shmemx.h>
#include <stdio.h>
int main(void)
{
	void *library = dlopen("libsma.so", RTLD_NOW | RTLD_GLOBAL);
	void (*preinit)(void), (*postinit)(void), (*finalize)(void);
	int (*me)(void);

	if (!library) {
		puts(dlerror());
		return 1;
	}
	*(void **)&preinit = dlsym(library, "shmemx_heap_preinit");
	*(void **)&postinit = dlsym(library, "shmemx_heap_postinit");
	*(void **)&finalize = dlsym(library, "shmem_finalize");
	*(void **)&me = dlsym(library, "shmem_my_pe");
	preinit();
	postinit();
	printf("PE %d\n", me());
	finalize();
	return 0;
}
END
	cc loads.c -I"$ROOT/include" -o loads -ldl
	[ "$(LD_LIBRARY_PATH="$ROOT/lib" oshrun -n 2 ./loads | sort)" = "PE 0
PE 1" ]
}

@test "makefiles with a root: HClib, PRK, Cray's -lsma, ARMCI, GAP; configure scripts: Neko, Conveyors, OSU" {
	plain_root
	sed 's/<shmem.h>/<mpp\/shmem.h>/' ring.c >mpp.c
	cat >Makefile <<'END'
all: one two three four five six seven
one: ring.c
	$(OPENSHMEM_INSTALL)/bin/oshcc -std=gnu11 $^ -I$(OPENSHMEM_INSTALL)/include -L$(OPENSHMEM_INSTALL)/lib -o $@
two: ring.c
	cc $^ -I$(SHMEM_HOME)/include -L$(SHMEM_HOME)/lib -loshmem -o $@
three: ring.c
	cc $^ -I$(SHMEMTOP)/include -L$(SHMEMTOP)/lib -lshmem -o $@
four: ring.c
	cc $^ -I$(SHMEM_DIR)/include -L$(SHMEM_DIR)/lib64 -lsma -lpmi_simple -o $@
five: ring.cc
	$(SHMEM_DIR)/bin/shmemc++ -std=gnu++17 $^ -o $@
six: mpp.c
	cc $(CPPFLAGS) $^ $(LDFLAGS) -lsma -o $@
seven: ring.cc
	$(CXX) -std=c++11 -O3 $^ -o $@
END
	make -s OPENSHMEM_INSTALL="$ROOT" SHMEM_HOME="$ROOT" SHMEMTOP="$ROOT" SHMEM_DIR="$ROOT" \
		CPPFLAGS="-I$ROOT/include" LDFLAGS="-L$ROOT/lib" CXX="$ROOT/bin/oshc++"
	export LD_LIBRARY_PATH="$ROOT/lib"
	for program in one two three four five six seven; do
		runs_as_ring "./$program"
	done
	unset LD_LIBRARY_PATH
	mkdir -p "$BATS_TEST_TMPDIR/configured"
	cd "$BATS_TEST_TMPDIR/configured"
	cat >configure.ac <<'END'
AC_INIT([x], [1])
AC_PROG_CC
AC_ARG_WITH([openshmem], [], [CPPFLAGS="-I$withval/include $CPPFLAGS" LDFLAGS="-L$withval/lib $LDFLAGS"])
AS_IF([test "x$with_openshmem" != x], [AC_CHECK_LIB([sma], [shmem_init], [LIBS="-lsma $LIBS"], [AC_CHECK_LIB([oshmem], [shmem_init])])])
AC_CHECK_HEADERS([shmem.h], [], [AC_MSG_ERROR([no shmem.h])])
AC_SEARCH_LIBS([shmemx_alltoallv], [], [AC_DEFINE([HAVE_ALLTOALLV_OF_CRAY], [1], [not ours])])
AC_CHECK_FUNCS([shmem_putmem_signal shmem_signal_wait_until shmem_putmem_nbi shmemx_putmem_signal])
AC_CONFIG_FILES([flags])
AC_OUTPUT
END
	echo '@LIBS@ @DEFS@' >flags.in
	autoconf
	# Conveyors would take our routine for Cray's, whose arguments are others.
	ac_cv_search_shmemx_alltoallv=no ./configure --with-openshmem="$ROOT" >log
	grep -q -- '-lsma.*-DHAVE_SHMEM_PUTMEM_SIGNAL=1 -DHAVE_SHMEM_SIGNAL_WAIT_UNTIL=1.*-DHAVE_SHMEMX_PUTMEM_SIGNAL=1' flags
	run grep ALLTOALLV flags
	[ "$status" -eq 1 ]
	# By the wrapper alone, without a header: the OSU micro-benchmarks. A folder of its own:
	# autoconf would take the first script again where both were written in the same second.
	mkdir "$BATS_TEST_TMPDIR/wrapped"
	cd "$BATS_TEST_TMPDIR/wrapped"
	cat >configure.ac <<'END'
AC_INIT([x], [1])
AC_PROG_CC
AC_CHECK_FUNC([shmem_barrier_all], [], [AC_MSG_ERROR([no OpenSHMEM])])
AC_CHECK_FUNCS([shmem_finalize shmem_malloc shmem_put_nbi_none])
AC_CONFIG_FILES([flags])
AC_OUTPUT
END
	echo '@LIBS@ @DEFS@' >flags.in
	autoconf
	./configure CC="$ROOT/bin/oshcc" >log
	grep -q -- '-DHAVE_SHMEM_FINALIZE=1 -DHAVE_SHMEM_MALLOC=1' flags
	run grep NONE flags
	[ "$status" -eq 1 ]
}

@test "scripts that read oshcc -show: the Rust crates" {
	plain_root
	# as openshmem-sys: folders and libraries out of the command, then a program of its own
	flags=$("$ROOT/bin/oshcc" -show | tr ' ' '\n' | grep -E '^-(I|L|l)' | tr '\n' ' ')
	[[ "$flags" == *-I*-L*-ltorushmem* ]]
	# shellcheck disable=SC2086 # flags
	cc ring.c -o ring $flags -Wl,-rpath,"$ROOT/lib"
	runs_as_ring ./ring
	# They make their declarations by bindgen, which omits inline functions.
	if command -v bindgen >/dev/null; then
		echo '#include <shmem.h>' >wrapper.h
		bindgen wrapper.h -- -I"$ROOT/include" >bindings
		for name in shmem_init shmem_init_thread shmem_long_p; do
			grep -qE "pub fn $name ?\\(" bindings
		done
	fi
	# shmem4py compiles by the wrapper, as a shared library
	"$ROOT/bin/oshcc" -shared -fPIC ring.c -o libring.so
	ldd libring.so | grep -q libtorushmem
}

@test "without a root, oshcc --showme:compat and --compat-root say what to do" {
	plain_root
	mv "$ROOT" "$ROOT.away"
	for option in --showme:compat --compat-root; do
		run "$plain/bin/oshcc" "$option"
		[ "$status" -eq 1 ] && [ "${#lines[@]}" -eq 1 ] && [[ "$output" == *"--disable-compat-root"* ]] || break
	done
	mv "$ROOT.away" "$ROOT"
	[ "$status" -eq 1 ] && [ "${#lines[@]}" -eq 1 ] && [[ "$output" == *"--disable-compat-root"* ]]
}
