#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# oshrun by itself: real PMIx clients (progs/peer.c), real processes, no part of the library.
# OSHRUN names the launcher to test; by default the one in PATH.

bats_require_minimum_version 1.5.0

setup_file() {
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
	FOLDER=$(mktemp -d "${BATS_FILE_TMPDIR:-/tmp}/oshrun test.XXXXXX")
	PEER="$FOLDER/peer"
	OSHRUN=$(command -v "${OSHRUN:-oshrun}")
	case $OSHRUN in /*) ;; *) OSHRUN=$PWD/$OSHRUN ;; esac
	# shellcheck disable=SC2046 # flags are words
	${CC:-cc} -O1 -o "$PEER" "$BATS_TEST_DIRNAME/progs/peer.c" $(pkg-config --cflags --libs pmix)
	chmod 755 "$FOLDER"
	unset SHMEM_LAUNCHER OSHRUN_LAUNCHER SLURM_JOB_ID PBS_NODEFILE LSB_DJOB_HOSTFILE
	export FOLDER PEER OSHRUN
}

teardown_file() {
	rm -rf "$FOLDER"
}

setup() {
	cd "$FOLDER" || return
	before=$(ls -A /dev/shm)
	MARK="oshrun-test-$BATS_TEST_NUMBER-$$"
	export MARK
}

# Whatever a test did, no process and no file of it may be left.
teardown() {
	for _ in $(seq 50); do
		marked=$(marked_processes)
		if [ -z "$marked" ]; then break; fi
		sleep 0.1
	done
	[ -z "$marked" ] || {
		echo "left behind: $marked"
		for pid in $marked; do
			if ! grep -qs reaper "/proc/$pid/comm"; then kill -9 "$pid"; fi
		done
		return 1
	}
	left=$(leftover_folders)
	echo "left behind: $left"
	[ -z "$left" ]
}

marked_processes() {
	grep -lsz "^MARK=$MARK\$" /proc/[0-9]*/environ | cut -d/ -f3 | while read -r pid; do
		if [ "$pid" != $$ ] && grep -qsE '^(peer|sleep|oshrun|shmem-reaper)$' "/proc/$pid/comm"; then echo "$pid"; fi
	done
}

# Session folders of oshruns that are no longer there.
leftover_folders() {
	for folder in /dev/shm/oshrun-* /tmp/oshrun-[0-9]*; do
		pid=${folder##*/oshrun-}
		pid=${pid%%-*}
		if [ -d "$folder" ] && [ ! -d "/proc/$pid" ]; then
			case $before in *"${folder##*/}"*) ;; *) echo "$folder" ;; esac
		fi
	done
}

# osh LIMIT args...: oshrun with a time limit; the limit's 124 differs from
# --timeout's by the words.
osh() {
	limit=$1
	shift
	run timeout -k 5 "$limit" "$OSHRUN" "$@"
	echo "$* -> $status: $output"
}

# Everything that was printed is in one line that matches.
one_line() {
	echo "output: $output"
	[ "${#lines[@]}" -eq 1 ]
	[[ "$output" =~ $1 ]]
}

wait_for() { # FILE: until it has something in it
	for _ in $(seq 100); do
		if [ -s "$1" ]; then return; fi
		sleep 0.05
	done
	echo "$1 stayed empty"
	return 1
}

as_nobody() {
	[ "$(id -u)" -eq 0 ] || skip "needs root to become somebody else"
	command -v setpriv >/dev/null || skip "no setpriv"
	chmod 755 "${BATS_FILE_TMPDIR:-/tmp}" "$(dirname "${BATS_FILE_TMPDIR:-/tmp}")" "$BATS_RUN_TMPDIR" 2>/dev/null || true
	setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$PEER" || skip "nobody cannot reach $FOLDER"
	setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$OSHRUN" || skip "nobody cannot reach $OSHRUN"
}

own_mounts() {
	unshare -m true 2>/dev/null || skip "needs the right to unshare mounts"
}

# ---- a job runs

@test "every PE learns who it is and who is there" {
	osh 20 -q -n 3 "$PEER" init keys exchange fence finalize
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 3 ]
	[[ "$output" == *"size=3 universe=3 local=3 node=3 nodes=1 rank=2 local_rank=2 node_rank=2 app=0 nodeid=0 peers=0,1,2 host=$(hostname) "* ]]
	[[ "$output" == *" rank=0 "* && "$output" == *" rank=1 "* ]]
}

@test "each of the launcher's own keys has its value, whichever is read first" {
	grep -q 'HAVE_SOFTOFU 1' "$TOP_BUILDDIR/config.h" || skip "configured --disable-softofu"
	for keys in "torushmem.processors fjpmix.rankmap" "fjpmix.rankmap torushmem.processors"; do
		# shellcheck disable=SC2046,SC2086 # two words
		SOFTOFU_SHAPE=2x1 osh 20 -q -n 2 "$PEER" init $(printf 'value=%s ' $keys) finalize
		[ "$status" -eq 0 ]
		[ "$(grep -c '^fjpmix.rankmap=[0-9]* bytes$' <<<"$output")" -eq 2 ]
		[ "$(grep -c '^torushmem.processors=[0-9]*$' <<<"$output")" -eq 2 ]
	done
}

@test "programs that know nothing of PMIx run too, and get exactly their arguments" {
	# shellcheck disable=SC2016 # the dollar is the test
	osh 10 -q -n 1 -- printf '<%s>' 'a b' '' '$HOME' "it's" '*' -n
	[ "$status" -eq 0 ]
	[ "$output" = "<a b><><\$HOME><it's><*><-n>" ]
	osh 10 -q -n 4 hostname
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 4 ]
}

@test "a program in the current folder needs no ./" {
	osh 10 -q -n 2 peer init finalize
	[ "$status" -eq 0 ]
}

@test "-n, -np, --np, -n4 and --np=4 mean the same" {
	for words in "-n 4" "-np 4" "--np 4" "-n4" "--np=4"; do
		# shellcheck disable=SC2086 # two words
		osh 10 -q $words echo x
		[ "${#lines[@]}" -eq 4 ]
	done
}

@test "without -n there is a PE per core" {
	osh 10 --dry-run true
	[ "$status" -eq 0 ]
	cores=${#lines[@]}
	[ "$cores" -ge 1 ] && [ "$cores" -le "$(nproc)" ]
	[ "$cores" -ge 2 ] || skip "one core"
	osh 10 -n "$((cores + 1))" --bind-to core true
	[ "$status" -eq 0 ]
	one_line "^oshrun: $((cores + 1)) PEs share $cores cores; not binding\$"
}

@test "256 PEs, with ulimit -n 1024" {
	ulimit -S -n 300
	ulimit -H -n 1024
	osh 60 -q -n 256 "$PEER" init exchange fence finalize
	[ "$status" -eq 0 ]
	osh 60 -q -l -n 256 sh -c 'ulimit -n'
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 256 ]
	[ "$(cut -d' ' -f2- <<<"${output//[/}" | grep -c '300$')" -eq 256 ]
}

@test "a job inside a job is a job of its own" {
	# shellcheck disable=SC2016 # for the inner shell
	osh 20 -q -n 2 sh -c '"$OSHRUN" -q -n 3 "$PEER" init exchange finalize print=ok'
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 6 ]
	PMIX_SERVER_URI99=elsewhere PMIX_MCA_ptl=^nothing osh 10 -q -n 1 env
	[[ "$output" != *elsewhere* && "$output" == *PMIX_MCA_ptl=^nothing* ]]
}

@test "PEs may initialise and finalise again" {
	osh 20 -q -n 2 "$PEER" init fence finalize init fence finalize
	[ "$status" -eq 0 ]
}

# ---- mistakes on the command line

@test "numbers of PEs that are none" {
	for n in 0 -3 x 4x '' 99999999999; do
		osh 5 -n "$n" touch started
		[ "$status" -eq 2 ]
		one_line "^oshrun: -n $n: "
	done
	[ ! -e started ]
}

@test "an unknown option, its nearest match; a missing value; no program" {
	osh 5 --tiemout 3 true
	[ "$status" -eq 2 ]
	one_line 'unknown option --tiemout; did you mean --timeout\?'
	osh 5 --frobnicate true
	[ "$status" -eq 2 ]
	one_line 'unknown option --frobnicate'
	osh 5 --bind-to
	[ "$status" -eq 2 ]
	one_line -- '--bind-to needs a value'
	osh 5 --bind-to cores true
	one_line 'did you mean core\?'
	osh 5 -n 2
	[ "$status" -eq 2 ]
	one_line 'no program given'
	osh 5 --timeout never true
	[ "$status" -eq 2 ]
	one_line 'timeout never'
}

@test "several programs in one job; -- makes : an argument" {
	mkdir -p other
	# shellcheck disable=SC2016 # for the inner shell
	osh 10 -q -n 1 sh -c 'echo $PMIX_RANK a' : -n 2 --wdir other sh -c 'echo $PMIX_RANK b ${PWD##*/}' : -n1 sh -c 'echo $PMIX_RANK c'
	[ "$status" -eq 0 ]
	[ "$(printf '%s\n' "${lines[@]}" | sort | tr '\n' ,)" = "0 a,1 b other,2 b other,3 c," ]
	osh 10 -q -n 2 "$PEER" init exchange finalize : -n 3 "$PEER" init exchange finalize
	[ "$status" -eq 0 ]
	osh 10 -n 1 --dry-run true : -n 1 false x
	[[ "${lines[0]}" == *": true" ]]
	[[ "${lines[1]}" == *": false x" ]]
	osh 5 -q -n 1 -- echo x : y
	[ "$output" = "x : y" ]
	osh 5 -q -n 1 sh -c :
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "mistakes with several programs: one line each" {
	osh 5 true : -n 1 false
	[ "$status" -eq 2 ]
	one_line '^oshrun: true: of several programs each needs its number of PEs, as in -n 2 true$'
	osh 5 -n 1 true : -n 1 --timeout 3 false
	[ "$status" -eq 2 ]
	one_line '^oshrun: --timeout: behind : only -n and --wdir are possible'
	osh 5 -n 1 true : -n 1 ./nothing-there
	[ "$status" -eq 127 ]
	one_line 'nothing-there: program not found'
	osh 5 -n 1 true : -n 2
	[ "$status" -eq 2 ]
	one_line 'no program given behind :'
	stand_ins mpirun srun
	PATH=$PWD/launchers:/usr/bin:/bin osh 5 --launcher mpirun -n 8 --dry-run ./app x : -n 2 --wdir /tmp ./other
	[[ "$output" == "mpirun "*" -n 8 ./app x : -n 2 --wdir /tmp ./other" ]]
	PATH=$PWD/launchers:/usr/bin:/bin osh 5 --launcher srun -n 8 --dry-run ./app x : -n 2 ./other
	[ "$status" -eq 2 ]
	one_line 'srun --multi-prog'
}

@test "options of other launchers do what they mean, or say what to use" {
	# shellcheck disable=SC2016 # for the inner shell
	osh 10 -q -ppn 2 -genv A 'x y' -env B z --mca btl self --map-by core --rank-by slot --stdin 0 -wd /tmp -prepend-rank \
		sh -c 'echo "$A $B $OMPI_MCA_btl $PWD"'
	[ "$status" -eq 0 ]
	[ "$(printf '%s\n' "${lines[@]}" | sort | tr '\n' ,)" = "[0] x y z self /tmp,[1] x y z self /tmp," ]
	osh 10 -q -n 2 --output-filename out.d echo hello
	[ "$(cat out.d/pe.1)" = hello ]
	osh 10 -n 1 --display-map true
	[[ "$output" == "oshrun: PE 0 on "* ]]
	osh 10 -q -N 2 -n 3 true
	[ "$status" -eq 2 ]
	one_line '^oshrun: -N 2: 3 PEs need more than this one host'
	osh 10 --map-by socket true
	[ "$status" -eq 2 ]
	one_line 'use --bind-to socket$'
	osh 10 --map-by ppr:2:socket true
	one_line 'oshrun puts PEs in order'
	osh 10 -q --map-by ppr:2:node -genvall -envall --use-hwthread-cpus --bynode -mca plm isolated -x SMA_SYMMETRIC_SIZE=9m \
		sh -c 'echo $SMA_SYMMETRIC_SIZE $OMPI_MCA_plm'
	[ "$status" -eq 0 ] && [ "$output" = $'9m isolated\n9m isolated' ]
	osh 10 -np 3 --map-by ppr:1:node true
	[ "$status" -eq 2 ]
	one_line '^oshrun: -N 1: 3 PEs need more than this one host'
	osh 10 --stdin all true
	one_line 'PE 0 gets the standard input'
	osh 10 --mca btl
	[ "$status" -eq 2 ]
	one_line -- '--mca needs two words \(NAME VALUE\)'
	osh 10 --rankfile ranks true
	[ "$status" -eq 2 ]
	one_line 'this job is on one machine; name its hosts with --hostfile'
	osh 10 -nev A true
	one_line '^oshrun: unknown option -nev; oshrun --help lists them$'
	stand_ins mpirun srun
	PATH=$PWD/launchers:/usr/bin:/bin osh 5 --launcher mpirun -n 8 --host a,b --rankfile ranks --dry-run ./app
	[[ "$output" == *" --host a,b --rankfile ranks ./app" ]]
	PATH=$PWD/launchers:/usr/bin:/bin osh 5 --launcher mpirun -N 2 --host a,b --dry-run ./app
	one_line 'as in --host node1:2,node2:2$'
	PATH=$PWD/launchers:/usr/bin:/bin osh 5 --launcher srun -n 8 --host a,b --rankfile ranks --dry-run ./app
	one_line 'srun takes another kind of file'
}

@test "more PEs than cores: Open MPI yields" {
	many=$((2 * $(nproc) + 1))
	# shellcheck disable=SC2016 # for the inner shell
	osh 20 -n "$many" sh -c '[ "$PMIX_RANK" != 0 ] || echo "yield $OMPI_MCA_mpi_yield_when_idle"'
	[ "$output" = "yield 1" ]
	# shellcheck disable=SC2016
	OMPI_MCA_mpi_yield_when_idle=0 osh 20 -n "$many" sh -c '[ "$PMIX_RANK" != 0 ] || echo "yield $OMPI_MCA_mpi_yield_when_idle"'
	[ "$output" = "yield 0" ]
	# shellcheck disable=SC2016
	osh 20 -n 1 sh -c 'echo "yield $OMPI_MCA_mpi_yield_when_idle"'
	[ "$output" = "yield " ]
}

@test "programs that cannot be run, each with its reason" {
	echo 'not a program' >text && chmod +x text
	echo 'no permission' >plain && chmod -x plain
	printf '#!/no/such/interpreter\n' >orphan && chmod +x orphan
	mkdir -p folder
	run -127 timeout -k 5 5 "$OSHRUN" -n 2 ./peeer
	one_line '\./peeer: program not found .*did you mean \./peer\?'
	run -127 timeout -k 5 5 "$OSHRUN" -n 2 no-such-program-anywhere
	one_line 'not in PATH nor in the current folder'
	osh 5 -n 2 ./plain
	[ "$status" -eq 126 ]
	one_line 'no permission'
	osh 5 -n 2 ./folder
	[ "$status" -eq 126 ]
	one_line 'is a folder'
	osh 5 -q -n 2 ./text
	[ "$status" -eq 126 ]
	one_line 'format'
	osh 5 -q -n 2 ./orphan
	[ "$status" -eq 126 ]
	one_line 'interpreter'
	osh 5 -q -n 2 --wdir /no/such/folder true
	[ "$status" -eq 1 ]
	one_line -- '--wdir /no/such/folder'
}

# ---- how a job ends

@test "exit code: the worst PE's" {
	# shellcheck disable=SC2016 # for the inner shell
	osh 10 -q -n 4 sh -c 'exit $PMIX_RANK'
	[ "$status" -eq 3 ]
	one_line 'PE 3 \(pid [0-9]+, host .*\) exited with code 3, and 2 more'
}

@test "a PE killed by a signal ends the job, 128 + signal, and is named" {
	osh 5 -q -n 4 "$PEER" init fence @2:signal=11 sleep=2 fence finalize
	[ "$status" -eq 139 ]
	one_line "PE 2 \(pid [0-9]+, host $(hostname)\) was killed by signal 11 \(Segmentation fault\).*ending the other 3"
	osh 5 -q -n 2 "$PEER" init fence @1:signal=9 fence sleep=60
	[ "$status" -eq 137 ]
	one_line 'PE 1 .*signal 9 .*out of memory'
	osh 5 -q -n 2 "$PEER" init fence @1:signal=7 fence sleep=60
	[ "$status" -eq 135 ]
	one_line 'PE 1 .*signal 7 .*/dev/shm'
	osh 5 -q -n 2 "$PEER" @0:signal=6 sleep=60
	[ "$status" -eq 134 ]
	one_line 'PE 0 .*signal 6'
}

@test "a PE that exits nonzero ends the job" {
	osh 5 -q -n 4 "$PEER" init fence @1:exit=3 sleep=2 fence finalize
	[ "$status" -eq 3 ]
	one_line 'PE 1 .*exited with code 3 without calling PMIx_Finalize; ending the other 3'
	osh 5 -q -n 4 "$PEER" @1:exit=4 init fence sleep=60
	[ "$status" -eq 4 ]
	one_line 'PE 1 .*exited with code 4'
	osh 5 -q -n 4 "$PEER" @1:exit=5 sleep=60
	[ "$status" -eq 5 ]
	one_line 'PE 1 .*exited with code 5; ending the other 3'
}

@test "a PE that exits with 0 and without finalize ends the job" {
	osh 5 -q -n 4 "$PEER" init fence @3:exit=0 fence sleep=60
	[ "$status" -eq 1 ]
	one_line 'PE 3 .*without calling PMIx_Finalize'
}

@test "a PE that never connects while others wait ends the job" {
	osh 5 -q -n 4 "$PEER" @0:exit=0 init fence sleep=60
	[ "$status" -eq 1 ]
	one_line 'PE 0 .*without calling PMIx_Init'
	osh 5 -q -n 4 "$PEER" @0:sleep=0.3 @0:exit=0 init fence sleep=60
	[ "$status" -eq 1 ]
	one_line 'PE 0 .*without calling PMIx_Init'
}

@test "a program that dies inside a wrapper that lives on ends the job" {
	# shellcheck disable=SC2016 # for the inner shell
	osh 8 -q -n 2 sh -c '"$PEER" init fence @1:exit=0 fence sleep=60; sleep 60'
	[ "$status" -eq 1 ]
	one_line 'PE 1 .*lost its program'
}

@test "a PE that has finalised may return what it likes; the others go on" {
	osh 10 -q -n 3 "$PEER" init fence finalize @1:exit=7 sleep=0.4 print=done
	[ "$status" -eq 7 ]
	[ "$(grep -c 'done' <<<"$output")" -eq 2 ]
	[[ "$output" == *"PE 1 "*"exited with code 7"* ]]
}

@test "the same for a PE that has said that it is down and stays connected, until it is up again" {
	osh 10 -q -n 3 "$PEER" init fence up=0 @1:exit=7 sleep=0.4 print=done
	[ "$status" -eq 7 ]
	[ "$(grep -c 'done' <<<"$output")" -eq 2 ]
	[[ "$output" == *"PE 1 "*"exited with code 7"* && "$output" != *shmem_finalize* ]]
	osh 10 -q -n 3 "$PEER" init fence up=0 up=1 @1:exit=3 fence sleep=60
	[ "$status" -eq 3 ]
	one_line 'PE 1 .*exited with code 3 without calling PMIx_Finalize; ending the other 2'
}

@test "the library's ends: said, global_exit, and any other abort" {
	osh 5 -q -n 3 "$PEER" init fence @1:abort=5:torushmem:said fence sleep=60
	[ "$status" -eq 5 ]
	[ -z "$output" ]
	osh 5 -q -n 3 "$PEER" init fence @1:abort=9:torushmem:global_exit fence sleep=60
	[ "$status" -eq 9 ]
	one_line '^oshrun: PE 1 called shmem_global_exit\(9\)$'
	osh 5 -q -n 3 "$PEER" init fence @1:abort=0:torushmem:global_exit fence sleep=60
	[ "$status" -eq 0 ]
	one_line 'shmem_global_exit\(0\)'
	osh 5 -q -n 3 "$PEER" init fence @1:abort=0:"something broke" fence sleep=60
	[ "$status" -eq 1 ]
	one_line 'PE 1 .*aborted the job with 0: something broke$'
}

# libpmix uses the record of a fence that it has freed when PEs in it and PEs outside are lost
# together: oshrun stops it before it ends them.
@test "valgrind finds nothing in oshrun that ends PEs while some are in a fence" {
	[ "${TEST_LONG:-no}" = yes ] || skip "takes half a minute: make check-long"
	local ending code

	command -v valgrind >/dev/null || skip "no valgrind here"
	for ending in "5 @1:abort=5:torushmem:said" "139 @1:signal=11" "3 @1:exit=3" "124 @1:sleep=50"; do
		read -r code ending <<<"$ending"
		for _ in 1 2 3; do
			run timeout 60 valgrind -q --undef-value-errors=no --error-exitcode=77 "$OSHRUN" -q --timeout 5 -n 3 "$PEER" init fence "$ending" fence sleep=60
			[ "$status" -eq "$code" ]
			[[ "$output" != *==* ]]
		done
	done
}

@test "a PE that says that it is in no fence may still finalise when it is asked to end" {
	osh 10 -q --timeout 1 -n 2 "$PEER" init fence in_fence=0 catch=15 "sleep=60" finalize print=finalised
	[ "$status" -eq 124 ]
	[ "$(grep -c finalised <<<"$output")" -eq 2 ]
	# and one that says nothing finds nobody who answers
	osh 10 -q --timeout 1 -n 2 "$PEER" init fence catch=15 "sleep=60" finalize print=finalised
	[ "$status" -eq 124 ]
	[[ "$output" != *finalised* ]]
}

@test "PEs deaf to SIGTERM are killed a second later" {
	SECONDS=0
	osh 10 -q -n 3 "$PEER" ignore=15 init fence @1:exit=2 sleep=60
	[ "$status" -eq 2 ]
	one_line 'exited with code 2'
	[ "$SECONDS" -le 3 ]
}

@test "a PE that the kernel ends late is waited for, and the user reads it once" {
	cat >traced.c <<'END'
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <unistd.h>
/* A killed process is its tracer's before it is its parent's: until the tracer ends. */
int main(int argc, char **argv)
{
	int ready[2];
	char word;

	(void)argc;
	signal(SIGTERM, SIG_IGN);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	if (pipe(ready))
		return 1;
	if (fork() == 0) {
		setsid();
		if (ptrace(PTRACE_SEIZE, getppid(), 0, 0))
			_exit(1);
		word = 'x';
		if (write(ready[1], &word, 1) != 1)
			_exit(1);
		sleep((unsigned)atoi(argv[1]));
		_exit(0);
	}
	close(ready[1]);
	if (read(ready[0], &word, 1) != 1) {
		puts("not traced");
		return 0;
	}
	for (;;)
		pause();
}
END
	"${CC:-cc}" -o traced traced.c
	SECONDS=0
	osh 30 -q -n 1 --timeout 1 ./traced 8
	[[ "$output" != *"not traced"* ]] || skip "tracing is not allowed"
	[ "$status" -eq 124 ]
	[ "$SECONDS" -ge 7 ]
	[ "${#lines[@]}" -eq 2 ]
	[[ "${lines[1]}" == "oshrun: 1 PE has been killed and has not ended yet: the kernel still works for it; waiting (Ctrl-C: give up)" ]]
}

@test "--timeout" {
	osh 8 -q -n 3 --timeout 0.5 "$PEER" init fence sleep=60
	[ "$status" -eq 124 ]
	one_line 'did not end within 0.5 s \(--timeout\)'
}

# ---- signals and being killed

# start args...: oshrun in the background with signals as in a terminal; $pid
# is it once all PEs print.
start() {
	: >out
	python3 -c 'import os, signal, sys
for sig in (signal.SIGINT, signal.SIGQUIT): signal.signal(sig, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])' timeout --foreground -k 5 20 "$OSHRUN" "$@" >out 2>err 3>&- &
	limiter=$!
	wait_for out
	pid=$(pgrep -P "$limiter")
}

finish() {
	status=0
	wait "$limiter" || status=$?
	cat out err
}

@test "SIGINT, SIGTERM and SIGHUP end the job: 130, 143, 129" {
	for pair in INT:130 TERM:143 HUP:129; do
		start -q -n 3 "$PEER" init fence print=up sleep=60
		kill -"${pair%:*}" "$pid"
		finish
		[ "$status" -eq "${pair#*:}" ]
		grep -q '^oshrun: stopped by signal .*; ending 3 PEs$' err
	done
}

@test "a second Ctrl-C does not wait" {
	# On a busy machine one try may take its time; all three only if oshrun does.
	for _ in 1 2 3; do
		start -q -n 2 "$PEER" ignore=15 init fence print=up sleep=60
		before_ns=$(date +%s%N)
		kill -INT "$pid"
		sleep 0.1
		kill -INT "$pid"
		finish
		[ "$status" -eq 130 ]
		took=$((($(date +%s%N) - before_ns) / 1000000))
		if [ "$took" -lt 900 ]; then break; fi
	done
	[ "$took" -lt 900 ]
}

@test "SIGTSTP stops all PEs, SIGCONT wakes them" {
	start -q -n 2 "$PEER" init fence print=up sleep=1 finalize
	kill -TSTP "$pid"
	sleep 0.3
	for child in $(pgrep -P "$pid" -x peer); do
		[ "$(cut -d' ' -f3 <"/proc/$child/stat")" = T ]
	done
	[ "$(cut -d' ' -f3 <"/proc/$pid/stat")" = T ]
	kill -CONT "$pid"
	finish
	[ "$status" -eq 0 ]
}

@test "SIGUSR1 reaches the PEs" {
	# shellcheck disable=SC2016 # for the inner shell
	start -q -n 2 sh -c 'trap "echo got; exit 0" USR1; echo up; while :; do sleep 0.1; done'
	sleep 0.2
	kill -USR1 "$pid"
	finish
	[ "$status" -eq 0 ]
	[ "$(grep -c got out)" -eq 2 ]
}

@test "kill -9 of oshrun leaves neither process nor file" {
	# Also those that ignore SIGTERM, and children in sessions of their own.
	# shellcheck disable=SC2016 # for the inner shell
	start -q -n 3 sh -c 'setsid sleep 61 & sleep 62 & "$PEER" ignore=15 init fence print=up sleep=60'
	ls -d "/dev/shm/oshrun-$pid"-*
	[ -n "$(marked_processes)" ]
	kill -9 "$pid"
	finish
	[ "$status" -eq 137 ]
	for _ in $(seq 30); do
		if [ -z "$(marked_processes)" ]; then break; fi
		sleep 0.1
	done
	[ -z "$(marked_processes)" ]
	run ! ls -d "/dev/shm/oshrun-$pid"-*
}

@test "killing all that is called oshrun leaves nothing either" {
	start -q -n 2 "$PEER" ignore=15 init fence print=up sleep=60
	for process in "$pid" $(pgrep -P "$pid"); do
		if grep -qs oshrun "/proc/$process/comm" || cut -d '' -f1 "/proc/$process/cmdline" | grep -qa oshrun; then
			kill -9 "$process"
		fi
	done
	finish
	for _ in $(seq 30); do
		if [ -z "$(marked_processes)" ]; then break; fi
		sleep 0.1
	done
	run ! ls -d "/dev/shm/oshrun-$pid"-*
}

@test "what PEs started goes when they go" {
	# Not through a pipe: waiting for its end would be waiting for them.
	timeout -k 5 10 "$OSHRUN" -q -n 2 sh -c 'sleep 61 & setsid sleep 62 & sleep 0.3; echo started' >out 3>&-
	[ -z "$(marked_processes)" ]
}

# ---- input and output

@test "labels: every line whole, one PE's number before it, also the last without newline" {
	# shellcheck disable=SC2016 # for the inner shell
	osh 30 -q -l -n 12 sh -c 'i=0; while [ $i -lt 200 ]; do echo "line $i ----------------------------------------"; echo "err $i" >&2; i=$((i+1)); done; printf end'
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq $((12 * 401)) ]
	[ "$(grep -cE '^\[( [0-9]|1[01])\] (line [0-9]+ -{40}|err [0-9]+|end)$' <<<"$output")" -eq $((12 * 401)) ]
	[ "$(grep -cE '^\[ 7\] end$' <<<"$output")" -eq 1 ]
	# Lines too long to be written at once, and both streams in one place.
	# shellcheck disable=SC2016 # for the inner shell
	osh 30 -q -l -n 4 sh -c 'line=$(printf %9000s x); for i in 1 2 3 4 5 6 7 8 9; do echo "$line"; echo "$line" >&2; done'
	[ "$(grep -cE '^\[[0-3]\] {9000}x$' <<<"$output")" -eq 72 ]
}

@test "labels keep stdout and stderr apart; --timestamp" {
	timeout -k 5 10 "$OSHRUN" -q --label -n 2 sh -c 'echo o; echo e >&2' >out 2>err
	[ "$(sort out | tr '\n' ,)" = "[0] o,[1] o," ]
	[ "$(sort err | tr '\n' ,)" = "[0] e,[1] e," ]
	osh 10 -q --timestamp --tag-output -n 1 echo x
	[[ "$output" =~ ^20[0-9]{2}-[0-9]{2}-[0-9]{2}\ [0-9:]{8}\.[0-9]{3}\ \[0\]\ x$ ]]
}

@test "PE 0 gets stdin, the others nothing" {
	# shellcheck disable=SC2016 # for the inner shell
	run sh -c 'echo hello | timeout -k 5 10 "$OSHRUN" -q -l -n 3 cat'
	[ "$status" -eq 0 ]
	[ "$output" = "[0] hello" ]
	# shellcheck disable=SC2016 # for the inner shell
	run sh -c '(echo hello; sleep 1) | timeout -k 5 10 "$OSHRUN" -q -l -n 3 sh -c "[ \$PMIX_RANK != 0 ] || sleep 0.4; cat"'
	[ "$output" = "[0] hello" ]
}

@test "a terminal's input reaches PE 0, and its Ctrl-C ends the job" {
	cat >terminal.py <<'EOF'
import os, pty, select, sys, time
pid, master = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
seen, deadline = b"", time.time() + 10
def until(text):
    global seen
    while text not in seen and time.time() < deadline:
        if select.select([master], [], [], 0.1)[0]:
            seen += os.read(master, 4096)
    assert text in seen, seen
until(b"ready")
os.write(master, b"typed\n")
until(b"<typed>")
os.write(master, b"\x03")
status = os.waitpid(pid, 0)[1]
sys.exit(0 if os.WIFSIGNALED(status) and os.WTERMSIG(status) == 2 else 1)
EOF
	# shellcheck disable=SC2016 # for the inner shell
	run timeout -k 5 15 python3 terminal.py "$OSHRUN" -q -n 2 sh -c 'if [ $PMIX_RANK = 0 ]; then echo ready; read x; echo "<$x>"; fi; sleep 60'
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "stdin and stdout closed, and readers that go away" {
	timeout -k 5 10 "$OSHRUN" -q -n 2 "$PEER" init fence finalize <&-
	cat >files <<'EOF'
#!/bin/sh
in=$(readlink /proc/$$/fd/0) out=$(readlink /proc/$$/fd/1)
echo "$in $out" >seen
EOF
	chmod +x files
	timeout -k 5 10 "$OSHRUN" -q -n 1 ./files <&- >&-
	[ "$(cat seen)" = "/dev/null /dev/null" ]
	timeout -k 5 10 "$OSHRUN" -q -n 2 "$PEER" init fence print=x finalize >&- 2>&-
	for label in "" -l; do
		# shellcheck disable=SC2086 # no word or one
		[ "$(timeout -k 5 10 "$OSHRUN" -q $label -n 2 yes 2>/dev/null | head -n 1 | tail -c 2)" = y ]
		[ "${PIPESTATUS[0]}" -ne 124 ]
	done
}

@test "a reader that goes away ends the job by SIGPIPE without a word, another SIGPIPE is reported" {
	for option in -q -l; do
		timeout -k 5 10 "$OSHRUN" $option -n 2 yes 2>err | head -n 1 | grep y
		[ "${PIPESTATUS[0]}" -eq 141 ]
		[ ! -s err ]
		timeout -k 5 10 "$OSHRUN" $option -v -n 2 yes 2>err | head -n 1 | grep y
		grep 'was killed by signal 13' err
	done
	# shellcheck disable=SC2016 # for the inner shell
	run timeout -k 5 10 "$OSHRUN" -n 2 sh -c 'kill -PIPE $$'
	[ "$status" -eq 141 ]
	one_line 'PE [01] .* was killed by signal 13'
}

@test "labelled output that cannot be written: one line, and not 0" {
	[ -e /dev/full ] || skip "no /dev/full"
	for option in -l --timestamp; do
		status=0
		timeout -k 5 10 "$OSHRUN" -q $option -n 2 echo lost >/dev/full 2>err || status=$?
		[ "$status" -eq 1 ]
		[ "$(cat err | wc -l)" -eq 1 ]
		grep -q "oshrun: the PEs' standard output is lost from here on: it cannot be written (No space left on device)" err
	done
	# The code of a PE counts for more.
	status=0
	timeout -k 5 10 "$OSHRUN" -q -l -n 2 sh -c 'echo lost; exit 7' >/dev/full 2>err || status=$?
	[ "$status" -eq 7 ]
}

@test "a reader that is stuck does not make oshrun deaf" {
	mkfifo pipe
	# shellcheck disable=SC2217 # it holds the pipe open and reads nothing: that is the test
	sleep 60 <pipe 3>&- &
	reader=$!
	timeout -k 5 15 "$OSHRUN" -q -l -n 2 yes >pipe 2>err 3>&- &
	limiter=$!
	sleep 0.7
	kill -TERM "$(pgrep -P "$limiter")"
	status=0
	wait "$limiter" || status=$?
	kill "$reader"
	[ "$status" -eq 143 ]
}

@test "--output: a file per PE" {
	# shellcheck disable=SC2016 # for the inner shell
	osh 10 -q -n 3 --output 'the results' sh -c 'echo "I am $PMIX_RANK"; echo and >&2'
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	[ "$(cat 'the results/pe.2')" = "I am 2
and" ]
}

@test "-x and --wdir" {
	mkdir -p 'a folder'
	# shellcheck disable=SC2016 # for the inner shell
	SEEN=before osh 10 -q -n 1 -x FOO='1 2' -x SEEN -x BAR= --wdir 'a folder' sh -c 'echo "$FOO|$SEEN|${BAR-unset}|${PWD##*/}"'
	[ "$output" = "1 2|before||a folder" ]
	cp "$PEER" 'a folder/inside'
	osh 10 -q -n 1 -wdir 'a folder' ./inside print=found
	[ "$output" = found ]
	osh 10 -q -n 1 -wdir 'a folder' ./peer print=found
	[ "$output" = found ]
}

# ---- binding

@test "--bind-to and --report-bindings" {
	cores=$("$OSHRUN" --dry-run true | wc -l)
	[ "$cores" -ge 2 ] || skip "one core"
	osh 10 -n 2 --report-bindings sh -c 'grep Cpus_allowed_list /proc/self/status'
	[ "$status" -eq 0 ]
	[[ "$output" == *"oshrun: PE 0 on "*": core 0 (cpus "* ]]
	[[ "$output" == *"oshrun: PE 1 on "*": core 1 (cpus "* ]]
	[ "$(grep -c '^Cpus' <<<"$output")" -eq 2 ]
	[ "$(grep '^Cpus' <<<"$output" | sort -u | wc -l)" -eq 2 ]
	osh 10 -n 2 --bind-to none grep Cpus_allowed_list /proc/self/status
	[ "$(sort -u <<<"$output" | cut -f2)" = "$(grep Cpus_allowed_list /proc/self/status | cut -f2)" ]
	osh 10 -n "$((cores + 1))" --bind-to socket true
	[ -z "$output" ]
}

@test "more PEs than cores: as many on each, or all on all, which is said with -v or where binding was asked for" {
	cores=$("$OSHRUN" --dry-run true | wc -l)
	[ "$cores" -ge 2 ] || skip "one core"
	osh 20 -q -l -n "$((3 * cores))" grep Cpus_allowed_list /proc/self/status
	[ "${#lines[@]}" -eq "$((3 * cores))" ]
	[ "$(cut -f2 <<<"$output" | sort | uniq -c | awk '{ print $1 }' | sort -u)" = 3 ]
	[ "$(sort -t'[' -k2n <<<"$output" | head -n "$cores" | cut -f2 | sort -u | wc -l)" -eq "$cores" ]
	osh 20 -n "$((2 * cores))" --bind-to core grep Cpus_allowed_list /proc/self/status
	[ "$(cut -f2 <<<"$output" | sort -u | wc -l)" -eq "$cores" ]
	osh 20 -v -n "$((2 * cores))" true
	[[ "$output" == *"$((2 * cores)) PEs share $cores cores; 2 on each"* ]]
	osh 20 -n "$((2 * cores))" --bind-to none grep Cpus_allowed_list /proc/self/status
	[ "$(sort -u <<<"$output" | cut -f2)" = "$(grep Cpus_allowed_list /proc/self/status | cut -f2)" ]
	many=$((2 * cores + 1))
	osh 20 -q -n "$many" grep Cpus_allowed_list /proc/self/status
	[ "$(sort -u <<<"$output" | cut -f2)" = "$(grep Cpus_allowed_list /proc/self/status | cut -f2)" ]
	osh 20 -n "$many" --bind-to core true
	one_line "^oshrun: $many PEs share $cores cores; not binding$"
	osh 20 -v -n "$many" true
	[[ "$output" == *"$many PEs share $cores cores; not binding"* ]]
}

@test "places on nodes of other machines" {
	nodes=$BATS_TEST_DIRNAME/../machines/nodes
	count=0
	for node in "$nodes"/*.xml; do
		name=${node##*/}
		"$nodes/show" "$OSHRUN" "${name%.xml}" >got
		diff -u "${node%.xml}.expected" got
		count=$((count + 1))
	done
	[ "$count" -ge 10 ]
}

@test "a topology of another machine places PEs and binds none" {
	export HWLOC_XMLFILE=$BATS_TEST_DIRNAME/../machines/nodes/a64fx.xml
	osh 10 -n 4 --report-bindings grep Cpus_allowed_list /proc/self/status
	[ "$status" -eq 0 ]
	[[ "${lines[0]}" == *"describes another machine: PEs are placed for that machine, and not bound on this one" ]]
	[[ "$output" == *"PE 1 on "*": core 12 (cpus 12), memory group 1 of 4"* ]]
	[ "$(grep '^Cpus' <<<"$output" | sort -u | cut -f2)" = "$(grep Cpus_allowed_list /proc/self/status | cut -f2)" ]
	osh 10 -q -n 4 "$PEER" print=x
	[ "$output" = "$(printf 'x\nx\nx\nx')" ]
	echo 'not a topology' >topology.xml
	HWLOC_XMLFILE=topology.xml osh 10 -q -n 2 true
	[ "$status" -eq 1 ]
	[[ "$output" == *"HWLOC_XMLFILE=topology.xml: hwloc finds no processors in it"* ]]
}

@test "only the processors that oshrun was given" {
	last=$(($(nproc) - 1))
	[ "$last" -ge 1 ] || skip "one processor"
	run timeout -k 5 10 taskset -c "$last" "$OSHRUN" --dry-run true
	[ "${#lines[@]}" -eq 1 ]
	run timeout -k 5 10 taskset -c "$last" "$OSHRUN" -n 2 --bind-to hwthread grep Cpus_allowed_list /proc/self/status
	[[ "$output" == *"2 PEs share 1 hardware thread; not binding"* ]]
	run timeout -k 5 10 taskset -c "$last" "$OSHRUN" -n 1 --bind-to core grep Cpus_allowed_list /proc/self/status
	[ "$(cut -f2 <<<"$output")" = "$last" ]
}

@test "--dry-run: a line per PE, nothing started" {
	osh 5 -q -n 2 --dry-run touch 'started it'
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 2 ]
	[[ "${lines[1]}" =~ ^PE\ 1\ on\ .*\ in\ .*:\ touch\ \'started\ it\'$ ]]
	[ ! -e 'started it' ]
}

@test "--help and --version" {
	osh 5 --help
	[ "$status" -eq 0 ]
	[[ "$output" == *--bind-to* && "$output" == *--hostfile* ]]
	osh 5 --version
	[ "$status" -eq 0 ]
	[[ "$output" =~ ^oshrun\ \(torushmem\)\ [0-9] ]]
}

# ---- machines that lack something

@test "/dev/shm full, read-only or missing: elsewhere; nowhere: one line" {
	own_mounts
	for how in 'mount -t tmpfs -o size=1m tmpfs /dev/shm' 'mount -t tmpfs -o ro tmpfs /dev/shm' 'mount -t tmpfs tmpfs /dev && mknod /dev/null c 1 3'; do
		run timeout -k 5 20 unshare -m sh -c "$how && exec \"\$@\"" sh env TMPDIR="$FOLDER" "$OSHRUN" -q -n 2 "$PEER" init exchange keys finalize
		echo "$output"
		[ "$status" -eq 0 ]
		[[ "$output" == *"folder=$FOLDER/oshrun-"* ]]
	done
	# By its descriptor, since the new /tmp may cover it.
	exec 8<"$OSHRUN"
	run timeout -k 5 20 unshare -m sh -c 'mount -t tmpfs -o size=1m tmpfs /dev/shm && mount -t tmpfs -o size=1m tmpfs /tmp && exec "$@"' sh env -u TMPDIR /proc/self/fd/8 -q -n 2 true
	exec 8<&-
	[ "$status" -eq 1 ]
	one_line '^oshrun: no space in /dev/shm \(full\), /tmp \(full\)'
}

@test "a host name of 60 letters" {
	unshare -u true 2>/dev/null || skip "needs the right to unshare host names"
	for length in 47 48 50 57 60 63; do
		# shellcheck disable=SC2016 # for the inner shell
		run timeout -k 5 20 unshare -u sh -c 'hostname "$1" && shift && exec "$@"' sh "$(printf "%${length}s" | tr ' ' n)" \
			"$OSHRUN" -q -n 2 "$PEER" init keys fence finalize
		echo "$length -> $status: $output"
		[ "$status" -eq 0 ]
	done
}

@test "a small stack: as much as oshrun may take, or one line" {
	# shellcheck disable=SC2016 # for the inner shell
	run timeout -k 5 20 sh -c 'ulimit -Ss 192; exec "$@"' sh "$OSHRUN" -q -n 2 sh -c 'ulimit -s'
	[ "$status" -eq 0 ]
	[ "${lines[*]}" = "192 192" ]
	run timeout -k 5 20 sh -c 'ulimit -s 192; exec "$@"' sh "$OSHRUN" -q -n 2 "$PEER" init fence finalize
	[ "$status" -eq 1 ]
	one_line 'oshrun: the stack is limited to 192 KiB, and libpmix needs 256; raise the limit with ulimit -s'
}

@test "small files: as much as oshrun may take, or one line" {
	# shellcheck disable=SC2016 # for the inner shell
	run timeout -k 5 20 bash -c 'ulimit -Sf 1; exec "$@"' bash "$OSHRUN" -q -n 2 bash -c 'ulimit -f'
	[ "$status" -eq 0 ]
	[ "${lines[*]}" = "1 1" ]
	[ "$("$TOP_BUILDDIR/oshinfo" --parsable | sed -n 's/^build.pmix:built with \([0-9]*\).*/\1/p')" -lt 5 ] ||
		skip "libpmix 5 makes no file of that size"
	# shellcheck disable=SC2016 # for the inner shell
	run timeout -k 5 20 bash -c 'ulimit -f 1; exec "$@"' bash "$OSHRUN" -q -n 2 "$PEER" init fence finalize
	[ "$status" -eq 1 ]
	one_line 'oshrun: files are limited to 1 KiB, and libpmix needs one of 4096; raise the limit with ulimit -f'
}

@test "little memory: one line, or small stacks of threads" {
	# shellcheck disable=SC2016 # for the inner shell
	run timeout -k 5 20 bash -c 'ulimit -Ss 8192; ulimit -d 22000; exec "$@"' bash "$OSHRUN" -q -n 2 "$PEER" init fence finalize
	[ "$status" -eq 1 ]
	one_line 'oshrun: memory is limited to 22000 KiB, and oshrun needs 28704; raise the limit with ulimit -d, or lower ulimit -s'
	# shellcheck disable=SC2016 # for the inner shell
	run timeout -k 5 20 bash -c 'ulimit -Ss 1024; ulimit -d 22000; exec "$@"' bash "$OSHRUN" -q -n 2 "$PEER" init fence finalize
	[ "$status" -eq 0 ]
}

@test "too few open files" {
	run bash -c 'ulimit -n 80; exec timeout -k 5 20 "$OSHRUN" -q -n 200 "$PEER" init fence'
	[ "$status" -eq 1 ]
	one_line 'open files.*80.*ulimit -n'
}

@test "too few processes" {
	as_nobody
	# shellcheck disable=SC2016 # for the inner shell
	run timeout -k 5 20 setpriv --reuid=65534 --regid=65534 --clear-groups prlimit --nproc=30:30 "$OSHRUN" -q -n 60 sleep 60
	[ "$status" -eq 1 ]
	one_line 'PE [0-9]+ of 60 cannot start: no more processes.*ulimit -u'
}

@test "not as root" {
	as_nobody
	run timeout -k 5 20 setpriv --reuid=65534 --regid=65534 --clear-groups "$OSHRUN" -q -n 3 "$PEER" init exchange fence finalize print=ok
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 3 ]
}

# ---- other launchers

# A folder that holds nothing but timeout and stand-ins for launchers, which
# print how they are called.
version="mpirun (Open MPI) 4.1.4"
stand_ins() {
	rm -rf launchers
	mkdir launchers
	ln -s "$(command -v timeout)" launchers/timeout
	for name in "$@"; do
		cat >"launchers/$name" <<EOF
#!/bin/sh
if [ "\$1" = --version ]; then echo "$version"; exit 0; fi
echo "\${0##*/}"
for word in "\$@"; do echo "<\$word>"; done
EOF
		chmod +x "launchers/$name"
	done
}

@test "hosts other than this one go to another launcher, with everything translated" {
	stand_ins mpirun
	# shellcheck disable=SC2016 # the dollar is the test
	PATH=$PWD/launchers SHMEM_SYMMETRIC_SIZE=1M osh 5 -n 8 --host node1:4,node2:4 -x 'A=b c' -l --timeout 1.5 --bind-to core --wdir /tmp ./app 'x y' '$z'
	[ "$status" -eq 0 ]
	wanted='<--oversubscribe>
<-n>
<8>
<--host>
<node1:4,node2:4>
<--wdir>
</tmp>
<--bind-to>
<core>
<--tag-output>
<--timeout>
<2>'
	[[ "$output" == mpirun*"$wanted"* ]]
	[[ "$output" == *"<-x>
<SHMEM_SYMMETRIC_SIZE>"* ]]
	[[ "$output" == *"<-x>
<A>"* ]]
	# shellcheck disable=SC2016 # the dollar is the test
	[[ "$output" == *'<./app>
<x y>
<$z>' ]]
	[ "$(id -u)" -ne 0 ] || [[ "$output" == *"<--allow-run-as-root>"* ]]
}

@test "--dry-run prints the launcher's command, to be pasted" {
	stand_ins srun
	PATH=$PWD/launchers:/usr/bin:/bin osh 5 --launcher srun -n 8 --host node1,node2 -x 'A=b c' -l --timeout 90 --dry-run ./app 'x y'
	[ "$status" -eq 0 ]
	[ "$output" = "env 'A=b c' srun --mpi=pmix --export=ALL --overcommit --kill-on-bad-exit=1 -n 8 --nodelist node1,node2 --label --time=1:30 ./app 'x y'" ]
	stand_ins prterun
	PATH=$PWD/launchers:/usr/bin:/bin osh 5 -n 2 --host node1 --bind-to socket -l --timestamp --dry-run ./app
	[ "$output" = "prterun --map-by slot:OVERSUBSCRIBE -n 2 --host node1 --bind-to package --output tag,timestamp ./app" ]
}

@test "mpirun of Open MPI 5 is called by PRRTE's options" {
	version="mpirun (Open MPI) 5.0.7" stand_ins mpirun
	PATH=$PWD/launchers osh 5 -n 2 --host node1 --bind-to socket --output files --dry-run ./app
	[ "$output" = "mpirun --map-by slot:OVERSUBSCRIBE -n 2 --host node1 --bind-to package --output dir=files ./app" ]
}

@test "an allocation of several hosts goes to a launcher; one host stays" {
	stand_ins srun mpirun
	ln -s "$(type -P true)" launchers/true
	SLURM_JOB_ID=7 SLURM_JOB_NUM_NODES=2 PATH=$PWD/launchers osh 5 -n 2 --dry-run ./app
	[[ "$output" == srun* ]]
	SLURM_JOB_ID=7 SLURM_JOB_NUM_NODES=1 PATH=$PWD/launchers osh 5 -q -n 2 --dry-run true
	[[ "$output" == "PE 0 "* ]]
	printf 'n1\nn1\nn2\n' >nodes
	PBS_NODEFILE=$PWD/nodes PATH=$PWD/launchers osh 5 -n 2 --dry-run ./app
	[[ "$output" == "mpirun --oversubscribe"*"--hostfile '$PWD/nodes'"* || "$output" == "mpirun --allow"*"--hostfile '$PWD/nodes'"* ]]
	SHMEM_LAUNCHER=srun PBS_NODEFILE=$PWD/nodes PATH=$PWD/launchers osh 5 -n 2 --dry-run ./app
	[[ "$output" == srun* ]]
}

@test "host lists that name only this machine stay with our own server" {
	printf '# mine\nlocalhost slots=2\n%s:1\n' "$(hostname)" >hosts
	osh 10 -q --hostfile hosts "$PEER" init keys finalize
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 3 ]
	osh 10 -q -f hosts -n 2 "$PEER" init exchange finalize
	[ "$status" -eq 0 ]
	osh 10 -q -H localhost -n 2 "$PEER" init exchange finalize
	[ "$status" -eq 0 ]
}

@test "no launcher, a wrong one, and host files that are none" {
	stand_ins nothing
	mkdir -p only && ln -sf "$(command -v timeout)" only/timeout
	PATH=$PWD/only osh 5 -n 2 --host node1 true
	[ "$status" -eq 1 ]
	one_line 'node1.*install prrte .*openmpi-bin .*slurm'
	osh 5 -n 2 --launcher mpirum true
	[ "$status" -eq 2 ]
	one_line 'did you mean mpirun\?'
	printf '#!/bin/sh\necho HYDRA build details\n' >launchers/mpirun && chmod +x launchers/mpirun
	PATH=$PWD/launchers:/usr/bin:/bin osh 5 -n 2 --launcher mpirun true
	[ "$status" -eq 1 ]
	one_line 'openmpi-bin'
	osh 5 -n 2 --hostfile /no/such/file true
	[ "$status" -eq 2 ]
	one_line '/no/such/file: cannot be read'
	echo 'two words here' >hosts
	osh 5 -n 2 --hostfile hosts true
	[ "$status" -eq 2 ]
	one_line 'line 1'
}

@test "a real hand-over to Open MPI" {
	command -v mpirun >/dev/null && mpirun --version | grep -q 'Open MPI' || skip "no Open MPI"
	# shellcheck disable=SC2016 # for the inner shell
	osh 40 --launcher mpirun --host localhost -n 4 -x FOO=bar -l sh -c 'echo "$FOO"'
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(grep -c '>:\{0,1\} \{0,1\}bar$' <<<"$output")" -eq 4 ]
	osh 40 --launcher mpirun --host localhost -n 2 --output words sh -c 'echo "$FOO"; echo said'
	[ "$status" -eq 0 ]
	[ "$(grep -rl said words | wc -l)" -eq 2 ]
	osh 40 --launcher mpirun -n 3 "$PEER" init exchange finalize print=ok
	[ "$status" -eq 0 ]
	[ "$(grep -c '^ok$' <<<"$output")" -eq 3 ]
	osh 40 --launcher mpirun -n 2 sh -c 'exit 5'
	[ "$status" -eq 5 ]
}
