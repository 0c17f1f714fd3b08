#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# run: beside
# quickstart: what can be tried without installing packages or building this tree once more. A tiny
# tree stands in for ours: its autogen.sh, configure and make are real, and done in a moment.

setup()
{
	top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	tree="$BATS_TEST_TMPDIR/a tree"
	bin="$BATS_TEST_TMPDIR/bin"
	mkdir "$tree" "$bin"
	cp "$top/quickstart" "$tree"
	: >"$tree/configure.ac"
	cat >"$tree/autogen.sh" <<'END'
echo autogen >>trace
cat >configure <<'X'
#!/bin/sh
echo "configure in $PWD" >>../trace
echo "torushmem 0.0 will run somewhere; next: make"
cat >Makefile <<'Y'
all: first-job; echo "make in $$PWD" >>../trace
first-job: ; echo "first in $$PWD" >>../trace; mkdir -p examples; cp ../fake-oshrun oshrun; : >examples/stencil
check-programs: ; echo "programs $$MAKEFLAGS" >>../trace
check: ; @echo noise; echo "5 passed, $${TINY_FAILED:-0} failed"; exit $${TINY_FAILED:-0}
check-asan check-ubsan check-tsan: ; @echo "2 passed, 0 failed"
check-valgrind: ; @$${TINY_VALGRIND:-echo "2 passed, 0 failed"}
Y
[ -n "$LEFT_OUT" ] || : >config.status
for name in $LEFT_OUT; do printf 'S["%s_TRUE"]="#"\n' "$name"; done >>config.status
X
chmod +x configure
END
	printf '#!/bin/sh\necho "residual 0.5"\necho "PASS $*"\nexit "${TINY_STATUS:-0}"\n' >"$tree/fake-oshrun"
	chmod +x "$tree/fake-oshrun"
	unset HOME LEFT_OUT
	all_there
	PATH="$bin:$PATH"
}

command_of()
{
	printf '#!/bin/sh\n%s\n' "$2" >"$bin/$1"
	chmod +x "$bin/$1"
}

# A dpkg-query to which every package is installed, but for those in $ABSENT.
all_there()
{
	# shellcheck disable=SC2016 # for the script
	command_of dpkg-query 'for last; do :; done
case " $ABSENT " in *" $last "*) exit 1 ;; esac
echo installed'
	command_of apt-get 'echo "apt-get $*" >>"$APT_TRACE"; exit "${APT_STATUS:-0}"'
	# shellcheck disable=SC2016
	command_of sudo '[ "$1" = -n ] && exit "${SUDO_STATUS:-0}"; exec "$@"'
	export APT_TRACE="$BATS_TEST_TMPDIR/apt"
	# An apt that has every package but those in $NOT_IN_APT.
	# shellcheck disable=SC2016
	command_of apt-cache 'case " $NOT_IN_APT " in *" $2 "*) echo "  Candidate: (none)" ;; *) echo "  Candidate: 1.0" ;; esac'
	system_of debian '' 'Debian GNU/Linux 13 (trixie)'
}

# system_of ID ID_LIKE PRETTY_NAME
system_of()
{
	export OS_RELEASE="$BATS_TEST_TMPDIR/os-release"
	printf 'PRETTY_NAME="%s"\nNAME=%s\nID=%s\nID_LIKE="%s"\nUBUNTU_CODENAME=x\n' "$3" "$1" "$1" "$2" >"$OS_RELEASE"
}

@test "Ubuntu and Mint are served as Debian is" {
	for system in 'ubuntu:debian' 'linuxmint:ubuntu debian' 'pop:ubuntu'; do
		system_of "${system%%:*}" "${system#*:}" "Some system"
		run env ABSENT="libucx-dev" "$tree/quickstart" --dry-run
		[ "$status" -eq 0 ]
		[[ "$output" == *"missing: libucx-dev
"* ]]
	done
}

@test "a package has the name that this release's apt knows" {
	run env ABSENT="pkgconf pkg-config" "$tree/quickstart" --dry-run
	[[ "$output" == *"missing: pkgconf
"* ]]
	run env ABSENT="pkgconf pkg-config" NOT_IN_APT=pkgconf "$tree/quickstart" --dry-run
	[[ "$output" == *"missing: pkg-config
"* ]]
	run env ABSENT=pkgconf "$tree/quickstart" --dry-run
	[[ "$output" == *"packages   all there"* ]]
}

@test "a package that this release does not have is named in one line" {
	run env ABSENT=libpmix-dev NOT_IN_APT=libpmix-dev "$tree/quickstart"
	[ "$status" -eq 1 ]
	[[ "$output" == *"apt has no package libpmix-dev for Debian GNU/Linux 13 (trixie); "* ]]
	[ "$(cat "$APT_TRACE")" = "apt-get -q update" ]
}

@test "a system that is not made from Debian: what is needed is named, and it goes on where that is there" {
	system_of fedora '' 'Fedora Linux 43'
	for tool in gcc g++ make autoconf automake libtoolize; do
		command -v "$tool" >/dev/null || command_of "$tool" :
	done
	# shellcheck disable=SC2016
	command_of pkg-config 'case " $NO_MODULE " in *" $2 "*) exit 1 ;; esac'
	run "$tree/quickstart"
	[ "$status" -eq 0 ]
	[[ "$output" == *"Fedora Linux 43 has no apt-get that this script could use, "*"dnf install gcc gcc-c++ "*" pmix-devel "*"PASS -n 4"* ]]
	run env NO_MODULE=pmix "$tree/quickstart"
	[ "$status" -eq 1 ]
	[[ "$output" == *"missing    pmix (for pkg-config)"*"quickstart: install what is missing, "* ]]
	[ ! -e "$APT_TRACE" ]
}

# there: all tools and modules that the build needs; a uname that says what $KERNEL does
there()
{
	for tool in gcc g++ make autoconf automake libtoolize; do
		command -v "$tool" >/dev/null || command_of "$tool" :
	done
	command_of pkg-config :
	# shellcheck disable=SC2016
	command_of uname 'echo "${KERNEL:-Linux}"'
}

# names LIKE ID KERNEL COMMAND MORE: on this system the command is printed, nothing is
# installed, and the stencil runs.
names()
{
	rm -rf "$tree/build" "$tree/configure"
	system_of "$2" "$1" "System $2"
	run env KERNEL="$3" "$tree/quickstart"
	[ "$status" -eq 0 ]
	[[ "$output" == *"to install them: $4 "*" hwloc"*"$5"*"PASS -n 4"* ]]
	[ ! -e "$APT_TRACE" ]
	run env KERNEL="$3" "$tree/quickstart" --dry-run check
	[[ "$output" == *"to install them: $4 "*" bats"* ]]
}

@test "Fedora, openSUSE, Arch, Alpine and macOS: their packages are named, and it goes on without apt-get" {
	there
	names '' fedora Linux 'dnf install gcc gcc-c++' ''
	names 'rhel centos fedora' rocky Linux 'dnf install gcc gcc-c++' ''
	names 'suse opensuse' opensuse-tumbleweed Linux 'zypper install gcc gcc-c++' ''
	names '' arch Linux 'pacman -S --needed gcc' ''
	names arch manjaro Linux 'pacman -S --needed gcc' ''
	names '' alpine Linux 'apk add build-base' 'UCX and PMIx have to be built'
	names '' '' Darwin 'brew install gcc' 'needs Linux'
}

@test "elsewhere, what is missing ends it in one line, also with --no-install" {
	there
	command_of pkg-config 'exit 1'
	system_of fedora '' 'Fedora Linux 43'
	for option in '' --no-install; do
		# shellcheck disable=SC2086 # an option or none
		run "$tree/quickstart" $option
		[ "$status" -eq 1 ]
		[[ "${lines[-1]}" == "quickstart: install what is missing, by the packages of this system, and run me again: ucx "*"zlib (for pkg-config)" ]]
	done
	system_of haiku '' 'Haiku'
	run "$tree/quickstart"
	[[ "$output" == *"needed is what Debian has as: gcc "*" libpmix-dev "* ]]
}

@test "--help" {
	run "$top/quickstart" --help
	[ "$status" -eq 0 ]
	[[ "$output" == "usage: ./quickstart "* ]]
}

@test "an unknown word is refused in one line" {
	run "$top/quickstart" chekc
	[ "$status" -eq 1 ]
	[ "$output" = "quickstart: unknown argument 'chekc'; try ./quickstart --help" ]
}

@test "on a terminal a step that takes long shows for how long, and what it does" {
	command -v python3 >/dev/null || skip "no python3 to make a terminal with"
	sed -i 's/^first-job: ;/first-job: ; @echo compiling.something; sleep 3;/' "$tree/autogen.sh"
	cd "$BATS_TEST_TMPDIR"
	python3 "$top/tests/lib/on_terminal" 60 both "$tree/quickstart" >said
	cat -v said
	[[ "$(<said)" == *$'\r  build      '[0-9]*' s: compiling.something'* ]]
	[[ "$(<said)" == *$'\r\e[K  build      done in '*' s'* ]]
	"$tree/quickstart" >said
	[[ "$(<said)" != *$'\r'* ]]
}

@test "--dry-run of our own tree changes nothing" {
	before=$(ls -la "$top")
	run "$top/quickstart" --dry-run
	[ "$status" -eq 0 ]
	[ "$(ls -la "$top")" = "$before" ]
	[ ! -e "$APT_TRACE" ]
}

@test "the missing packages, and no others, are named" {
	run env ABSENT="libucx-dev g++" "$tree/quickstart" --dry-run
	[ "$status" -eq 0 ]
	[[ "$output" == *"missing: g++ libucx-dev
"* ]]
	run env ABSENT=bats "$tree/quickstart" --dry-run
	[[ "$output" == *"packages   all there"* ]]
	run env ABSENT=bats "$tree/quickstart" --dry-run check
	[[ "$output" == *"missing: bats
"* ]]
	[ ! -e "$APT_TRACE" ]
}

@test "missing packages are installed, one update first" {
	run env ABSENT="libucx-dev g++" "$tree/quickstart" build
	[ "$status" -eq 0 ]
	[ "$(cat "$APT_TRACE")" = "apt-get -q update
apt-get -q install -y --no-install-recommends g++ libucx-dev" ]
}

@test "packages that do not install: the end of the log, and one line" {
	run env ABSENT=g++ APT_STATUS=100 "$tree/quickstart"
	[ "$status" -eq 1 ]
	[[ "$output" == *"quickstart: install failed; "*"/build/quickstart.log has all of it" ]]
	[ ! -e "$tree/trace" ]
}

@test "--no-install, and no way to become root" {
	run env ABSENT=g++ "$tree/quickstart" --no-install
	[ "$status" -eq 1 ]
	[[ "$output" == *"quickstart: packages are missing; as root: apt-get install g++" ]]
	command_of id 'echo 1000'
	SUDO_STATUS=1 ABSENT=g++ run "$tree/quickstart" </dev/null
	[ "$status" -eq 1 ]
	[[ "$output" == *"quickstart: cannot install packages without root or sudo; as root: apt-get install g++" ]]
	[ ! -e "$APT_TRACE" ]
}

@test "it builds and runs in a path with blanks, through a link without, and takes that away" {
	run "$tree/quickstart"
	printf '%s\n' "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == *"will run somewhere."* ]]
	[[ "$output" == *"PASS -n 4 build/examples/stencil"* ]]
	place=$(sed -n 's/^configure in //p' "$tree/trace")
	[[ "$place" == /tmp/torushmem-*/torushmem/build ]]
	[ ! -e "${place%/torushmem/build}" ]
	# The link has the same name the next time, so that makefiles stay true.
	run "$tree/quickstart"
	[ "$status" -eq 0 ]
	[ "$(sed -n 's/^make in //p' "$tree/trace")" = "$place
$place" ]
}

@test "a dry run leaves the link of one at work alone" {
	"$tree/quickstart" build
	place=$(sed -n 's/^configure in //p' "$tree/trace")
	mkdir -m 700 "${place%/torushmem/build}"
	ln -s "$tree" "${place%/build}"
	run "$tree/quickstart" --dry-run
	[ -e "$place" ]
	rm -r "${place%/torushmem/build}"
	[[ "$output" == *"through the link ${place%/build}"* ]]
}

@test "a folder of that name that is not ours is not used" {
	"$tree/quickstart" build
	place=$(sed -n 's/^configure in //p' "$tree/trace")
	folder=${place%/torushmem/build}
	ln -s "$BATS_TEST_TMPDIR" "$folder"
	run "$tree/quickstart" build
	rm "$folder"
	[ "$status" -eq 1 ]
	[[ "$output" == *"belongs to somebody else"* ]]
	[ -d "$BATS_TEST_TMPDIR" ]
}

@test "the second time, nothing is done that is done" {
	"$tree/quickstart"
	run "$tree/quickstart"
	[ "$status" -eq 0 ]
	[[ "$output" != *autogen* ]]
	[[ "$output" != *configure* ]]
	[ "$(grep -c autogen "$tree/trace")" -eq 1 ]
	sleep 0.05
	touch "$tree/configure.ac"
	run "$tree/quickstart"
	[ "$(grep -c autogen "$tree/trace")" -eq 2 ]
}

# A pkg-config that knows each module but those in $NO_MODULE
with_modules()
{
	# shellcheck disable=SC2016
	command_of pkg-config 'for last; do :; done
case " $NO_MODULE " in *" $last "*) exit 1 ;; esac
echo "${VERSION:-1.0}"'
}

@test "what was installed since it was configured is found" {
	with_modules
	NO_MODULE=libfabric "$tree/quickstart"
	NO_MODULE=libfabric run "$tree/quickstart"
	[[ "$output" != *changed* && "$output" != *configure* ]]
	run "$tree/quickstart" check
	[[ "$output" == *"changed    since the last time: libfabric"*"configure  done"* ]]
	[ "$(grep -c configure "$tree/trace")" -eq 2 ]
	run "$tree/quickstart"
	[[ "$output" != *changed* ]]
	command_of gfortran 'echo 99.1.0'
	run env VERSION=1.1 "$tree/quickstart" build
	[[ "$output" == *"changed    since the last time: ucx pmix hwloc zlib libfabric gfortran
"*"configure  done"* ]]
	# A package that went
	NO_MODULE=libfabric VERSION=1.1 run "$tree/quickstart" build
	[[ "$output" == *"changed    since the last time: libfabric
"* ]]
	[ "$(grep -c configure "$tree/trace")" -eq 4 ]
}

@test "the stencil runs before what it does not need is built" {
	sed -i 's/^all: first-job;/all: first-job; echo the rest fails; exit 1;/' "$tree/autogen.sh"
	run "$tree/quickstart"
	printf '%s\n' "$output"
	[ "$status" -eq 1 ]
	[[ "$output" == *"build      done"*"PASS -n 4"*"rest       failed"*"the rest fails"* ]]
}

@test "what is not built is named, with the package it wants" {
	for command in run build; do
		[ "$command" = build ] && set -- build || set --
		rm -rf "$tree/build"
		LEFT_OUT='WITH_FORTRAN WITH_OFI' run "$tree/quickstart" "$@"
		[ "$status" -eq 0 ]
		[[ "$output" == *"Not built, since the package is missing: Fortran and oshfort (gfortran), networks by libfabric (libfabric-dev)."* ]]
		rm -rf "$tree/build"
		run "$tree/quickstart" "$@"
		[[ "$output" != *"Not built"* ]]
	done
}

@test "a tree that was moved is configured afresh" {
	"$tree/quickstart" build
	mv "$tree" "$BATS_TEST_TMPDIR/elsewhere"
	run "$BATS_TEST_TMPDIR/elsewhere/quickstart" build
	[ "$status" -eq 0 ]
	[ "$(grep -c configure "$BATS_TEST_TMPDIR/elsewhere/trace")" -eq 2 ]
}

@test "a step that fails shows the end of its log" {
	echo 'echo the cause of it; exit 3' >"$tree/autogen.sh"
	run "$tree/quickstart"
	[ "$status" -eq 1 ]
	[[ "$output" == *"autogen "*"failed after "*"the cause of it"*"quickstart: autogen failed; "* ]]
}

@test "a stencil that fails is a failure" {
	TINY_STATUS=4 run "$tree/quickstart"
	[ "$status" -eq 1 ]
	[[ "$output" == *"quickstart: the stencil ended with status 4" ]]
}

@test "check adds up what all targets say, in the last line" {
	run "$tree/quickstart" check
	printf '%s\n' "$output"
	[ "$status" -eq 0 ]
	[ "${lines[-1]}" = "11 passed, 0 failed" ]
	grep -q '^programs .*-j' "$tree/trace"
	TINY_FAILED=2 run "$tree/quickstart" check
	[ "$status" -eq 1 ]
	[ "${lines[-1]}" = "11 passed, 2 failed" ]
}

@test "a target that dies without a result counts as failed" {
	TINY_VALGRIND="exit 9" run "$tree/quickstart" check
	[ "$status" -eq 1 ]
	[ "${lines[-1]}" = "9 passed, 1 failed" ]
}

@test "check that does not get as far as the tests ends with a closing line too" {
	echo 'exit 3' >"$tree/autogen.sh"
	run "$tree/quickstart" check
	[ "$status" -eq 1 ]
	[ "${lines[-1]}" = "0 passed, 1 failed" ]
}

@test "two at once: the second says so" {
	mkdir -p "$tree/build"
	exec 8>"$tree/build/.lock"
	flock 8
	run "$tree/quickstart" build
	exec 8>&-
	[ "$status" -eq 1 ]
	[[ "$output" == *"another ./quickstart is at work in $tree/build" ]]
}

@test "clean removes what was built" {
	"$tree/quickstart" build
	[ -d "$tree/build" ]
	run "$tree/quickstart" clean
	[ "$status" -eq 0 ]
	[ ! -e "$tree/build" ]
}

@test "the automatic run is the test command, its exit code and its last line" {
	mkdir "$tree/.ci"
	cp "$top/.ci/run" "$tree/.ci/run"
	run "$tree/.ci/run"
	[ "$status" -eq 0 ]
	[ "${lines[-1]}" = "11 passed, 0 failed" ]
	TINY_FAILED=1 run "$tree/.ci/run"
	[ "$status" -eq 1 ]
}

@test "quickstart and .ci/run pass shellcheck" {
	command -v shellcheck >/dev/null || skip "no shellcheck"
	shellcheck "$top/quickstart" "$top/.ci/run"
}
