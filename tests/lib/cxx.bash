# SPDX-License-Identifier: BSD-3-Clause
# For the tests of C++: $OSHCXX with every compiler and standard, $STRICT warnings, on every path.

# begin_cxx_file WARNINGS: for setup_file; skips the file where there is no C++ compiler
begin_cxx_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
	export OSHRUN="${OSHRUN:-$TOP_BUILDDIR/oshrun}" OSHCC="${OSHCC:-$TOP_BUILDDIR/oshcc}"
	export OSHCXX="${OSHCC%cc}cxx" TOP="${BATS_TEST_FILENAME%/*}/../.." STRICT=$1
	command -v "$("$OSHCXX" --showme:command | sed 's/ .*//')" >/dev/null || skip "no C++ compiler"
	unset "${!SHMEM_@}" "${!SMA_@}" "${!UCX_@}"
}

# compilers [STANDARDS]: the C++ compilers of this machine with the standards that they know, "compiler standard" lines.
compilers()
{
	for cxx in "$("$OSHCXX" --showme:command)" clang++; do
		command -v "${cxx%% *}" >/dev/null || continue
		for standard in ${1:-c++11 c++14 c++17 c++20}; do
			# shellcheck disable=SC2086 # a compiler may be several words
			! $cxx -std=$standard -x c++ -fsyntax-only /dev/null 2>/dev/null || echo "$cxx $standard"
		done
	done
}

# compile "COMPILER STANDARD" ARGUMENTS...
compile()
{
	# shellcheck disable=SC2086 # a list of options
	OSHCXX_CXX="${1% *}" "$OSHCXX" -std="${1##* }" $STRICT "${@:2}"
}

# passes ARGUMENTS...: with every compiler and standard
passes()
{
	compilers | while read -r with; do
		compile "$with" -fsyntax-only "$@" || { echo "with $with" && return 1; }
	done
}

# runs_on "SETTINGS" PROGRAM TEXT: with success, and saying nothing but TEXT and what follows it in its line
runs_on()
{
	for pes in 1 3; do
		# shellcheck disable=SC2086 # a list of settings
		timeout -k 2 $((60 * ${TEST_PATIENCE:-1})) env $1 "$OSHRUN" -q -n $pes "./$2" >out 2>&1 ||
			{ echo "with $1 on $pes PEs" && cat out && return 1; }
		if [ -n "$3" ]; then
			[[ "$(cat out)" == "$3"* ]]
		else
			[ ! -s out ]
		fi
	done
}

# runs_everywhere PROGRAM TEXT [SETTING]: on each path
runs_everywhere()
{
	for settings in SHMEM_PATHS=local 'SHMEM_PATHS=ucx UCX_TLS=tcp,self' SHMEM_NODE_PES=2 'SHMEM_PATHS=tofu SOFTOFU_SHAPE=2x2x1x1x1x1'; do
		if [[ "$settings" == *tofu* ]]; then
			grep -q 'HAVE_TOFU 1' "$TOP_BUILDDIR/config.h" && [ -e "$TOP_BUILDDIR/.libs/libtofucom.so" ] || continue
		fi
		runs_on "$settings ${3:-}" "$1" "$2"
	done
}

# runs_by_standard STANDARD PROGRAM TEXT [SETTING]: on each path by the first and the last standard; those between them have the code of
# one of these two, and run where no network is.
runs_by_standard()
{
	case $1 in
	c++11 | c++20) runs_everywhere "${@:2}" ;;
	*) runs_on "SHMEM_PATHS=local ${4:-}" "$2" "$3" ;;
	esac
}

# counts_of_putter PROGRAM...: the instructions of its function putter and what that calls, in count.PROGRAM
counts_of_putter()
{
	for program; do
		timeout -k 2 $((120 * ${TEST_PATIENCE:-1})) "$OSHRUN" -q -n 1 valgrind -q --tool=callgrind --callgrind-out-file="out.$program" \
			--toggle-collect=putter "./$program"
		sed -n 's/^\(summary\|totals\): //p' "out.$program" | head -n 1 >"count.$program"
		[ "$(cat "count.$program")" -gt 3000 ]
	done
}
