#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What a PE says when a signal ends it: routine and argument on every path, functions and
# lines of the program, who sent the signal; and that this takes no longer than it may,
# whatever is missing or broken.

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
	export OSHRUN="${OSHRUN:-$TOP_BUILDDIR/oshrun}" OSHCC="${OSHCC:-$TOP_BUILDDIR/oshcc}"
	export PROGRAM="$BATS_FILE_TMPDIR/crash" SOURCE="${BATS_TEST_FILENAME%/*}/crash.c"
	"$OSHCC" -O1 -g -o "$PROGRAM" "$SOURCE"
}

setup()
{
	unset "${!SHMEM_@}" "${!SMA_@}" "${!UCX_@}" "${!PMIX_@}" "${!OMPI_@}" "${!SLURM_@}" "${!SOFTOFU_@}"
	cd "$BATS_TEST_TMPDIR" || return
}

# crash ARGUMENTS...: of two PEs the second does it
crash()
{
	run timeout -k 2 30 "$OSHRUN" -q -n 2 "$PROGRAM" "$@"
	[ "$status" -ne 124 ] && [ "$status" -ne 137 ]
}

# says PATTERN: one of the lines of PE 1 has it (grep -E)
says()
{
	printf '%s\n' "$output" | grep -Eq -- "^torushmem: PE 1: $1" || {
		printf '"%s" is not in:\n%s\n' "$1" "$output"
		return 1
	}
}

says_not()
{
	[[ "$output" != *"$1"* ]] || {
		printf '"%s" is in:\n%s\n' "$1" "$output"
		return 1
	}
}

# The number of the line that is marked so.
line_of()
{
	grep -n "LINE: $1 " "$SOURCE" | cut -d : -f 1
}

# names ROUTINE ARGUMENT WHAT...: the report has both
names()
{
	crash "${@:3}"
	printf '%s: status %s\n%s\n' "${*:3}" "$status" "$output"
	[ "$status" -eq 139 ]
	says "$1: SIGSEGV at address 0x[0-9a-f]+, (in $2=0x[0-9a-f]+ \([0-9]+ bytes\)|where $2( or ctx)? points); the calls that led there:"
}

# Bad memory for puts, gets and atomics; further arguments for each
transfers()
{
	names shmem_long_put source put "$@"
	names shmem_putmem source put-many "$@"
	names shmem_long_get dest get "$@"
	names shmem_getmem dest get-many "$@"
	names shmem_long_put_nbi source put-nbi "$@"
	names shmem_long_get_nbi dest get-nbi "$@"
	names shmem_ctx_long_put source ctx-put "$@"
	names shmem_long_iput source iput "$@"
	names shmem_long_iget dest iget "$@"
	names shmem_long_put_signal source put-signal "$@"
	names shmem_putmem_signal source put-signal-many "$@"
	names shmem_long_atomic_fetch_add_nbi fetch fetch-add "$@"
	names shmem_int_atomic_compare_swap_nbi fetch swap "$@"
}

collectives()
{
	names shmem_broadcastmem source broadcast "$@"
	names shmem_broadcastmem source broadcast-many "$@"
	names shmem_collectmem source collect "$@"
	names shmem_fcollectmem source fcollect "$@"
	names shmem_fcollect64 source fcollect-old "$@"
	names shmem_alltoallmem source alltoall "$@"
	names shmem_long_sum_reduce source reduce "$@"
	names shmem_long_sum_inscan source scan "$@"
}

@test "routine and argument: on a node, at first contact and later" {
	transfers
	transfers unmapped
	transfers unmapped met
	names shmem_putmem source put-end unmapped
	names shmem_putmem source put-end unmapped met
}

@test "routine and argument: collectives on a node" {
	collectives
	collectives unmapped
}

@test "routine and argument: UCX over TCP" {
	export SHMEM_PATHS=ucx UCX_TLS=tcp,self
	transfers
	transfers unmapped met
	names shmem_putmem source put-end unmapped
	collectives
}

@test "routine and argument: UCX's own puts and gets" {
	export SHMEM_PATHS=ucx UCX_TLS=tcp,self SHMEM_UCX_PROTOCOL=rma
	transfers
	transfers unmapped met
	says_not 'Invalid parameter'
}

@test "routine and argument: PEs of several nodes" {
	export SHMEM_NODE_PES=1
	transfers unmapped
	collectives
}

@test "routine and argument: the software Tofu" {
	grep -q 'HAVE_TOFU 1' "$TOP_BUILDDIR/config.h" || skip "configured --without-tofu"
	[ -e "$TOP_BUILDDIR/.libs/libtofucom.so" ] || skip "built without shared libraries"
	export SHMEM_PATHS=tofu SOFTOFU_SHAPE=2x1x1x1x1x1
	transfers
	transfers unmapped met
	collectives
}

@test "a handle that is none" {
	names shmem_ctx_long_p ctx p unmapped met
}

@test "functions, files and lines of the program, inlined ones as well" {
	command -v addr2line >/dev/null || skip "no addr2line here"
	crash segv
	[ "$status" -eq 139 ]
	says 'SIGSEGV at address 0x8 in the program; the calls that led there:'
	says "  #0 innermost at .*/crash.c:$(line_of innermost) \(.*/crash \+ 0x"
	says "  #1 between at .*/crash.c:$(line_of between), inlined in work at .*/crash.c:[0-9]+ \("
	says "  #[0-9]+ main at .*/crash.c:[0-9]+ "
	says_not 'type: addr2line'
}

@test "a program that is not position independent, and one with its debugging information elsewhere" {
	command -v addr2line >/dev/null || skip "no addr2line here"
	"$OSHCC" -O1 -g -no-pie -o fixed "$SOURCE"
	PROGRAM=$PWD/fixed crash segv
	says "  #0 innermost at .*/crash.c:$(line_of innermost) "
	command -v objcopy >/dev/null || skip "no objcopy here"
	cp "$PROGRAM" apart
	objcopy --only-keep-debug apart apart.debug
	objcopy --strip-debug --add-gnu-debuglink=apart.debug apart
	PROGRAM=$PWD/apart crash segv
	says "  #0 innermost at .*/crash.c:$(line_of innermost) "
}

@test "a library of the program" {
	command -v addr2line >/dev/null || skip "no addr2line here"
	printf 'int *bad_place;\nvoid in_library(void)\n{\n\t*bad_place = 1;\n}\n' >part.c
	printf '#include <shmem.h>\nvoid in_library(void);\nint main(void)\n{\n\tshmem_init();\n\tif (shmem_my_pe() == 1)\n\t\tin_library();\n\tshmem_finalize();\n\treturn 0;\n}\n' >user.c
	"$OSHCC" -g -shared -fPIC -o libpart.so part.c
	"$OSHCC" -g -o user user.c -L. -lpart -Wl,-rpath,"$PWD"
	PROGRAM=$PWD/user crash
	says '  #0 in_library at .*/part.c:4 \(.*/libpart.so \+ 0x'
	says '  #1 main at .*/user.c:7 '
}

@test "a program that contains the library" {
	command -v addr2line >/dev/null || skip "no addr2line here"
	[ -e "$TOP_BUILDDIR/.libs/libtorushmem.a" ] || skip "built without an archive"
	"$OSHCC" -static-libtorushmem -O1 -g -o contains "$SOURCE"
	PROGRAM=$PWD/contains crash segv
	[ "$status" -eq 139 ]
	says "  #0 innermost at .*/crash.c:$(line_of innermost) "
	export PROGRAM=$PWD/contains
	names shmem_putmem source put-many
	names shmem_broadcastmem source broadcast
	says '  #[0-9]+ .*main at '
}

@test "without addr2line: functions, and the command to type" {
	PATH=/nonexistent run "$(command -v timeout)" 30 "$OSHRUN" -q -n 2 "$PROGRAM" segv
	[ "$status" -eq 139 ]
	says "  #0 innermost \+ 0x[0-9a-f]+ \($PROGRAM \+ 0x"
	says '  #[0-9]+ main \+ 0x'
	says 'files and lines are missing \(addr2line is not installed here\); type: addr2line -Cfpie /'
	command -v addr2line >/dev/null || skip "no addr2line here to try the command"
	command=$(printf '%s\n' "$output" | sed -n "s|.*; type: \(addr2line -Cfpie $PROGRAM .*\)|\1|p")
	[ -n "$command" ]
	$command | grep -q "^innermost at .*/crash.c:$(line_of innermost)\$"
}

@test "an addr2line that fails, or never ends: no longer than 2 s" {
	for text in 'exit 1' 'exec sleep 100' 'sleep 100' 'while echo 0x0; do echo y; echo z:1; done' 'kill -STOP $$'; do
		mkdir -p bin
		printf '#!/bin/sh\n%s\n' "$text" >bin/addr2line
		chmod +x bin/addr2line
		began=$SECONDS
		PATH=$PWD/bin:$PATH crash segv
		[ "$status" -eq 139 ]
		[ $((SECONDS - began)) -le 8 ]
		says '  #0 innermost '
		says 'files and lines are missing \(addr2line failed or took longer than 2 s\); type: addr2line'
	done
}

@test "nothing false of a program without symbols" {
	command -v strip >/dev/null || skip "no strip here"
	cp "$PROGRAM" stripped
	strip stripped
	PROGRAM=$PWD/stripped crash segv
	[ "$status" -eq 139 ]
	says "  #0 $PWD/stripped \+ 0x[0-9a-f]+\$"
	says "$PWD/stripped has no line numbers; compile and link it with -g"
	says_not 'type: addr2line'
	says_not crash.c:
}

# sends SIGNAL PROGRAM [COMMAND]: runs it until it says its pid, then the command and the signal
# from a process of a name of its own
sends()
{
	cat >sender-name <<'END'
#!/bin/sh
while ! grep -q pid said 2>/dev/null; do sleep 0.1; done
eval "$2"
kill -"$1" "$(sed -n 's/^pid //p' said)"
while ! [ -e over ]; do sleep 0.1; done
END
	chmod +x sender-name
	rm -f said over
	./sender-name "$1" "${3:-:}" &
	sender=$!
	timeout 30 "$OSHRUN" -q -n 2 "$2" sleep >said 2>&1 || :
	: >over
	wait
	output=$(cat said)
}

@test "a program or a library that is no longer there, or another one: right names or none" {
	command -v addr2line >/dev/null || skip "no addr2line here"
	cp "$PROGRAM" running
	"$OSHCC" -O0 -o other "$SOURCE"
	sends SEGV "$PWD/running" 'mv other running'
	says '  #[0-9]+ main at .*/crash.c:[0-9]+ '
	printf '#include <stdio.h>\n#include <unistd.h>\nvoid in_library(void)\n{\n\tprintf("pid %%d\\n", (int)getpid());\n\tfflush(stdout);\n\tsleep(60);\n}\n' >part.c
	printf '#include <shmem.h>\nvoid in_library(void);\nint main(void)\n{\n\tshmem_init();\n\tif (shmem_my_pe() == 1)\n\t\tin_library();\n\tshmem_finalize();\n\treturn 0;\n}\n' >user.c
	"$OSHCC" -g -shared -fPIC -o libpart.so part.c
	"$OSHCC" -g -o user user.c -L. -lpart -Wl,-rpath,"$PWD"
	printf 'void false_one(void)\n{\n' >false.c
	for _ in 1 2 3 4 5 6 7 8 9; do cat part.c; done | grep -v '[{}]\|in_library\|include' | sed 's/printf.*/;/' >>false.c
	printf '}\n' >>false.c
	sed -i '1i #include <stdio.h>\n#include <unistd.h>' false.c
	"$OSHCC" -g -shared -fPIC -o false.so false.c
	sends SEGV "$PWD/user" 'mv false.so libpart.so'
	says '  #[0-9]+ .*/libpart.so'
	says '  #[0-9]+ main at .*/user.c:7 '
	says_not false_one
	says_not in_library
}

@test "the library itself is replaced while it runs: its functions are still named" {
	[ -e "$TOP_BUILDDIR/.libs/libtorushmem.so.0" ] || skip "built without a shared library"
	mkdir lib
	cp -L "$TOP_BUILDDIR/.libs/libtorushmem.so.0" lib
	echo 'int nothing;' >other.c
	cc -shared -fPIC -o other.so other.c
	printf '#include <shmem.h>\n#include <stdio.h>\nstatic long to[8];\nint main(void)\n{\n\tshmem_init();\n\tif (shmem_my_pe() == 1 && rename("other.so", "lib/libtorushmem.so.0") == 0)\n\t\tshmem_putmem(to, (void *)8, sizeof to, 0);\n\tshmem_finalize();\n\treturn 0;\n}\n' >user.c
	"$OSHCC" -O1 -o user user.c
	run env LD_LIBRARY_PATH="$PWD/lib" timeout -k 2 30 "$OSHRUN" -q -n 2 ./user
	[ ! -e other.so ]
	says 'shmem_putmem: SIGSEGV at address 0x8, (in|where) source'
	says '  #[0-9]+ [a-z_]+ \+ 0x[0-9a-f]+ \(.*/lib/libtorushmem.so.0 \+ '
}

@test "the other signals" {
	crash fpe
	[ "$status" -eq 136 ]
	says 'SIGFPE in the program; the calls'
	says '  #0 divide '
	crash bus
	[ "$status" -eq 135 ]
	says 'SIGBUS, sent by this process itself in the program; the calls'
	crash ill
	[ "$status" -eq 132 ]
	says 'SIGILL, sent by this process itself in the program; the calls'
	crash abort
	[ "$status" -eq 134 ]
	says 'SIGABRT in the program; the calls'
	says '  #[0-9]+ otherwise'
}

@test "a heap in a file that became shorter: the place has a name" {
	crash shorter-file
	[ "$status" -eq 135 ]
	says 'shmem_putmem: SIGBUS at address 0x[0-9a-f]+, in heap 1 of shmemx_heap_create_in of PE 0; the calls'
}

@test "a call of a function that is not there: who called" {
	[ "$(uname -m)" = x86_64 ] || [ "$(uname -m)" = aarch64 ] || skip "not on this processor"
	crash no-function
	[ "$status" -eq 139 ]
	says 'SIGSEGV at address 0x0 in the program; the calls that led there:'
	says '  #0 0x0, which is in no file'
	says '  #1 otherwise'
}

@test "a crash while the first one is described ends the PE at once, with the first signal" {
	[ "$(uname -m)" = x86_64 ] || skip "not on this processor"
	crash stack
	[ "$status" -eq 132 ]
	says 'SIGILL; the calls that led there cannot be found: the stack is damaged'
}

@test "who sent a signal: process and user" {
	for signal in SEGV FPE ABRT; do
		sends $signal "$PROGRAM"
		says "(shmem_[a-z_]+: )?SIG$signal, sent by process $sender \(sender-name\) of user $(id -u)( in the program)?; the calls that led there:"
		says_not 'at address'
	done
}

@test "a connection that breaks: which, after what, and that the process still runs" {
	export SHMEM_PATHS=ucx UCX_TLS=tcp,self
	crash cut
	[ "$status" -ne 0 ]
	printf '%s\n' "$output" | grep -Eq "^torushmem: PE [01]: (shmem_[a-z]+: )?UCX's connection to PE [01] on host .* broke: .*; its process still runs"
	says_not 'has its process'
}

@test "a connection that breaks where /proc is not mounted: the process is not said to have ended" {
	unshare -m mount -t tmpfs none /proc 2>/dev/null || skip "needs the right to unshare mounts"
	# shellcheck disable=SC2016 # for the inner shell
	SHMEM_PATHS=ucx UCX_TLS=tcp,self run unshare -m sh -c 'mount -t tmpfs none /proc && exec timeout -k 2 30 "$@"' \
		sh "$OSHRUN" -q -n 2 "$PROGRAM" cut
	[ "$status" -ne 0 ]
	printf '%s\n' "$output" | grep -Eq "^torushmem: PE [01]: .*UCX's connection to PE [01] on host .* broke: .*; this host cannot see whether its process still runs, because /proc is not mounted"
	says_not 'its process has ended'
}

@test "UCX's own lines go to standard error, or where the user wants them" {
	export SHMEM_PATHS=ucx UCX_TLS=tcp,self UCX_LOG_LEVEL=info
	timeout 30 "$OSHRUN" -q -n 2 "$PROGRAM" none >out 2>err
	grep -q UCX err
	! grep UCX out
	UCX_LOG_FILE=$PWD/log.%p timeout 30 "$OSHRUN" -q -n 2 "$PROGRAM" none >out 2>err
	! grep UCX out
	! grep UCX err
	cat log.* | grep -q UCX
	UCX_LOG_FILE=stdout timeout 30 "$OSHRUN" -q -n 2 "$PROGRAM" none >out 2>err
	grep -q UCX out
}
