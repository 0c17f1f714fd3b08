#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# run: beside
#
# Jobs that nothing but a shell and variables starts: API tests, what goes wrong at the start and
# later, and strangers at the port of PE 0.

bats_require_minimum_version 1.5.0

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
	export OSHRUN="${OSHRUN:-$TOP_BUILDDIR/oshrun}" OSHCC="${OSHCC:-$TOP_BUILDDIR/oshcc}"
	export START=$BATS_TEST_DIRNAME/progs/start ENDS=$BATS_FILE_TMPDIR/ends
	unset "${!SHMEM_@}" "${!SMA_@}" "${!UCX_@}" "${!PMIX_@}" "${!SLURM_@}" "${!OMPI_@}" "${!PMI_@}" RANK WORLD_SIZE
	unset OSHRUN_LAUNCHER
	export BY_ID=$BATS_FILE_TMPDIR/by_id
	"$OSHCC" -O1 -o "$ENDS" "$BATS_TEST_DIRNAME/progs/ends.c"
	"$OSHCC" -O1 -pthread -o "$BY_ID" "$BATS_TEST_DIRNAME/progs/by_id.c"
}

setup()
{
	cd "$BATS_TEST_TMPDIR" || return
	PORT=$((20000 + (BASHPID * 7 + RANDOM) % 10000))
	export ROOT=127.0.0.1:$PORT
}

# by_hand PES PROGRAM...: a job that has to end well, saying nothing
by_hand()
{
	run -0 timeout 60 "$START" "$@"
	[ -z "$output" ]
}

api()
{
	echo "$TOP_BUILDDIR/tests/api/$1"
}

# only LINE: this one line was said
only()
{
	[ "${#lines[@]}" -eq 1 ]
	[ "${lines[0]}" = "torushmem: $1" ]
}

@test "API tests" {
	[ -x "$(api rma)" ] || skip "the API tests are not built"
	for test in rma amo globals teams reinit; do
		by_hand 2 "$(api "$test")"
	done
	for test in rma reduce globals; do
		by_hand 4 "$(api "$test")"
	done
	SHMEM_SYMMETRIC_SIZE=64m run -0 timeout 60 "$START" 2 "$(api heap)"
	run -9 timeout 60 "$START" 2 "$(api global_exit)"
}

@test "API tests over UCX" {
	[ -x "$(api rma)" ] || skip "the API tests are not built"
	export SHMEM_NODE_PES=1 UCX_TLS=tcp,self
	for test in rma amo reduce; do
		by_hand 2 "$(api "$test")"
	done
}

@test "a root at all addresses" {
	ROOT=0.0.0.0:$PORT by_hand 2 "$ENDS"
}

@test "sixty-four PEs" {
	by_hand 64 "$ENDS"
}

@test "variables of other launchers" {
	export SHMEM_INFO=1 SHMEM_SECRET=secret
	for pe in 0 1; do
		RANK=$pe WORLD_SIZE=2 MASTER_ADDR=localhost MASTER_PORT=$((PORT - 1)) timeout 60 "$ENDS" >torch.$pe &
		SLURM_PROCID=$pe SLURM_STEP_NUM_TASKS=2 SLURM_STEP_NODELIST="$(uname -n),other[3-4]" SLURM_JOB_ID=$PORT \
			timeout 60 "$ENDS" >slurm.$pe &
		PMI_RANK=$pe PMI_SIZE=2 SHMEM_ROOT=localhost:$((PORT + 1)) timeout 60 "$ENDS" >mpich.$pe &
	done
	wait
	grep -Fx 'Start: without a launcher, by RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT' torch.0
	grep -Fx 'Start: without a launcher, by variables of Slurm' slurm.0
	grep -Fx 'Start: without a launcher, by variables of MPICH' mpich.0
	[ "$(grep -c 'PEs: 2, of which 2 on this node' torch.0 slurm.0 mpich.0 | grep -c ':1')" -eq 3 ]
}

@test "SHMEM_INFO does not print the secret" {
	SHMEM_INFO=1 SHMEM_SECRET=abracadabra run -0 timeout 60 "$START" 2 "$ENDS"
	[[ $output == *'Start: without a launcher, by SHMEM_RANK and SHMEM_SIZE'* ]]
	[[ $output == *'SHMEM_SECRET=(hidden)'* ]]
	[[ $output != *abracadabra* ]]
}

@test "without a secret there is a warning" {
	SHMEM_SECRET='' run -0 timeout 60 "$START" 2 "$ENDS"
	only "PE 0: warning: SHMEM_SECRET is not set, so anyone who reaches $ROOT while the job starts can join it; give all PEs the same secret"
}

@test "a job of oshrun inside such a job, and one PE" {
	SHMEM_RANK=0 SHMEM_SIZE=2 SHMEM_ROOT=$ROOT run -0 timeout 60 "$OSHRUN" -q -n 2 "$ENDS"
	[ -z "$output" ]
	SHMEM_RANK=0 SHMEM_SIZE=1 run -0 timeout 60 "$ENDS"
	[ -z "$output" ]
	SHMEM_ROOT=/opt/shmem run -0 timeout 60 "$ENDS"
	[ -z "$output" ]
}

@test "numbers and addresses that are wrong" {
	SHMEM_RANK=4 SHMEM_SIZE=2 SHMEM_ROOT=$ROOT run -1 timeout 60 "$ENDS"
	only 'PE 4: shmem_init: SHMEM_RANK=4 and SHMEM_SIZE=2: give a number of PEs, and the number of this PE below that'
	SHMEM_RANK=1 run -1 timeout 60 "$ENDS"
	only 'PE 1: shmem_init: SHMEM_RANK=1 and SHMEM_SIZE=: give a number of PEs, and the number of this PE below that'
	SHMEM_RANK=1 SHMEM_SIZE=2 run -1 timeout 60 "$ENDS"
	only 'PE 1: shmem_init: SHMEM_RANK=1 and no SHMEM_ROOT: give HOST:PORT, at which PE 0 is to listen'
	SHMEM_RANK=0 SHMEM_SIZE=2 SHMEM_ROOT=here run -1 timeout 60 "$ENDS"
	only 'PE 0: shmem_init: SHMEM_ROOT=here: give HOST:PORT, at which PE 0 is to listen'
	SHMEM_RANK=1 SHMEM_SIZE=2 SHMEM_ROOT=here run -1 timeout 60 "$ENDS"
	only 'PE 1: shmem_init: SHMEM_ROOT=here: give HOST:PORT, at which PE 0 is to listen'
	SHMEM_START_SECONDS=1 SHMEM_RANK=1 SHMEM_SIZE=2 SHMEM_ROOT=[fe80::1]:$PORT run -1 timeout 60 "$ENDS"
	only "PE 1: shmem_init: [fe80::1]:$PORT cannot be reached within 1 s (Invalid argument); start PE 0 there, or set SHMEM_START_SECONDS"
}

@test "PEs that never come" {
	export SHMEM_START_SECONDS=2 # those that come do so in that time
	HERE=2 run -1 timeout 60 "$START" 4 "$ENDS"
	only 'PE 0: PEs 2, 3 of 4 have not come within 2 s; start them, with the same root and secret, or set SHMEM_START_SECONDS'
	SHMEM_START_SECONDS=1 FIRST=1 HERE=1 run -1 timeout 60 "$START" 2 "$ENDS"
	only "PE 1: shmem_init: $ROOT cannot be reached within 1 s (Connection refused); start PE 0 there, or set SHMEM_START_SECONDS"
	run -1 timeout 60 "$START" 3 "$ENDS" 1 early
	only 'PE 0: PE 1 of 3 has not come within 2 s; start it, with the same root and secret, or set SHMEM_START_SECONDS'
}

@test "two processes that come as one PE, and jobs of two sizes" {
	export SHMEM_SECRET=secret
	SHMEM_RANK=1 SHMEM_SIZE=3 SHMEM_ROOT=$ROOT timeout 60 "$ENDS" 2>first &
	HERE=2 run -1 timeout 60 "$START" 3 "$ENDS"
	wait
	[[ $(cat first; echo "$output") =~ ^'torushmem: PE 0: pid '[0-9]+' on host '[^\ ]+' comes as PE 1 (pid '[0-9]+', host '[^\ ]+') did; give each process a number of its own'$ ]]
	SHMEM_RANK=1 SHMEM_SIZE=3 SHMEM_ROOT=$ROOT timeout 60 "$ENDS" 2>first &
	HERE=1 run -1 timeout 60 "$START" 2 "$ENDS"
	wait
	[[ $(cat first; echo "$output") =~ 'comes as PE 1 of 3, and this job has 2 PEs; give all the same number'$ ]]
}

@test "a PE that comes after the others know of an error learns of it" {
	export SHMEM_SECRET=secret SHMEM_ERRORS=return SHMEM_SILENCE_SECONDS=20 SHMEM_START_SECONDS=20 SHMEM_ROOT=$ROOT
	SHMEM_RANK=0 SHMEM_SIZE=3 timeout 60 "$ENDS" 2>first &
	SHMEM_RANK=1 SHMEM_SIZE=4 run -1 timeout 60 "$ENDS"
	broken=$output
	[[ $broken =~ 'comes as PE 1 of 4, and this job has 3 PEs; give all the same number'$ ]]
	for rank in 1 2; do
		SHMEM_RANK=$rank SHMEM_SIZE=3 run -1 timeout 60 "$ENDS"
		[ "$output" = "$broken" ]
	done
	wait
	[ "$(cat first)" = "$broken" ]
}

@test "PEs that end later end the job, with one line" {
	run timeout 60 "$START" 3 "$ENDS" 0 killed
	[ "$status" -eq 137 ]
	[[ $output == *'torushmem: PE 1: PE 0 (host '*') has ended before shmem_finalize; this ends the job'* ]]
	[ "$(grep -c torushmem <<<"$output")" -eq 1 ]
	run timeout 60 "$START" 3 "$ENDS" 2 killed
	[[ $output == *'torushmem: PE 0: PE 2 (pid '*') has ended before shmem_finalize; this ends the job'* ]]
	[ "$(grep -c torushmem <<<"$output")" -eq 1 ]
	for pe in 0 2; do # with a child that goes on
		run timeout 30 "$START" 3 "$ENDS" "$pe" forked
		kill "$(cat child)"
		[[ $output == *"PE $pe ("*') has ended before shmem_finalize; this ends the job'* ]]
		[ "$(grep -c torushmem <<<"$output")" -eq 1 ]
	done
	run -5 timeout 60 "$START" 3 "$ENDS" 0 _exit
	only "PE 1: PE 0 (host $(uname -n)) has ended before shmem_finalize; this ends the job"
	for pe in 0 2; do
		run -7 timeout 60 "$START" 3 "$ENDS" "$pe" exit
		only "PE $pe: exit with status 7 before shmem_finalize; this ends the job"
		run -11 timeout 60 "$START" 3 "$ENDS" "$pe" global
		[ -z "$output" ]
		run -1 timeout 60 "$START" 3 "$ENDS" "$pe" mistake
		only "PE $pe: shmem_int_p: pe=99: there is no such PE; the job has PEs 0 to 2"
	done
}

@test "a wrong secret" {
	export SHMEM_START_SECONDS=3
	SHMEM_SECRET=other SHMEM_RANK=1 SHMEM_SIZE=2 SHMEM_ROOT=$ROOT timeout 60 "$ENDS" 2>other &
	SHMEM_SECRET=right HERE=1 run -1 timeout 60 "$START" 2 "$ENDS"
	wait
	only 'PE 0: PE 1 of 2 has not come within 3 s; start it, with the same root and secret, or set SHMEM_START_SECONDS'
	[ "$(cat other)" = "torushmem: PE 1: shmem_init: what listens at $ROOT refuses this process; is it PE 0 of this job, with the same SHMEM_SECRET?" ]
}

@test "strangers at the port while PE 0 waits" {
	command -v perl >/dev/null || skip "no perl"
	export SHMEM_SECRET=right
	HERE=1 timeout 60 "$START" 2 "$ENDS" >first 2>&1 3>&- &
	job=$!
	# Connections that send nothing, garbage, a greeting that is cut, slow, and wrong.
	perl -MIO::Socket::INET -e 'my $port = shift; my @kept; $SIG{PIPE} = "IGNORE";
		sub come { for (1 .. 200) { my $c = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $port, Timeout => 5); return $c if $c; select undef, undef, undef, 0.05 } die }
		for my $round (1 .. 30) {
			push @kept, come() for 1 .. 3;
			for my $bytes ("x" x 4000, "torushm1" . ("\0" x 24), "torushm1", "GET / HTTP/1.0\r\n\r\n", "\0") { my $c = come(); print $c $bytes; push @kept, $c if $round % 2 }
		}
		my $c = come(); $c->autoflush(1); for my $byte (split //, "torushm1" . ("\1" x 24)) { last unless print $c $byte; select undef, undef, undef, 0.005 }
		open my $f, ">", "done"; close $f; sleep 30' "$PORT" 3>&- &
	strangers=$!
	until [ -e done ]; do
		kill -0 "$job"
		kill -0 "$strangers"
		sleep 0.05
	done
	SHMEM_RANK=1 SHMEM_SIZE=2 SHMEM_ROOT=$ROOT run -0 timeout 60 "$ENDS"
	[ -z "$output" ]
	wait "$job"
	kill "$strangers"
	[ ! -s first ]
}

# in_container SETUP PROGRAM...: where SETUP, a command of sh, has changed what is mounted
in_container()
{
	unshare -m true 2>/dev/null || skip "unshare -m needs root"
	# shellcheck disable=SC2016 # for the shell in there
	unshare -m sh -c 'eval "$1"; shift; exec "$@"' container "$@"
}

@test "containers with little or no /dev/shm" {
	[ -x "$(api rma)" ] || skip "the API tests are not built"
	# shellcheck disable=SC2016 # for the shell in there
	local none='mount -t tmpfs none /mnt && touch /mnt/null /mnt/urandom && mount --bind /dev/null /mnt/null &&
		mount --bind /dev/urandom /mnt/urandom && mount --move /mnt /dev && [ ! -e /dev/shm ]'

	for change in 'mount -t tmpfs -o size=64m none /dev/shm' 'mount -t tmpfs -o size=4k none /dev/shm' "$none"; do
		run -0 in_container "$change" timeout 60 "$START" 2 "$ENDS"
		[ -z "$output" ]
		SHMEM_NODE_PES=1 run -0 in_container "$change" timeout 60 "$START" 2 "$ENDS"
		[ -z "$output" ]
	done
	run -0 in_container "$none" timeout 60 "$START" 2 "$(api rma)"
	[ -z "$output" ]
}

@test "containers that forbid ptrace" {
	[ -x "$(api rdma)" ] || skip "the API tests are not built"
	"$OSHCC" -O1 -o refuse "$BATS_TEST_DIRNAME/progs/refuse.c"
	./refuse true || skip "no filter of system calls"
	run -0 timeout 60 ./refuse "$START" 2 "$(api globals)"
	[ -z "$output" ]
	run -1 timeout 60 ./refuse "$START" 2 "$(api rdma)"
	[[ $output == *'shmemx_rdma_put: the kernel does not let this process reach into that of PE '*'; allow it (kernel.yama.ptrace_scope=0), or set SHMEM_PATHS=ucx'* ]]
	SHMEM_PATHS=ucx TEST_EASE=10 run -0 timeout 60 ./refuse "$START" 2 "$(api rdma)"
}

@test "containers that see no process of the others" {
	unshare -pf true 2>/dev/null || skip "unshare -p needs root"
	SHMEM_INFO=1 run -0 timeout 60 "$START" 2 unshare -pf --mount-proc "$ENDS"
	[[ $output == *'PEs: 2, of which 1 on this node by load and store; others by '* ]]
	[[ $output =~ 'Apart: PE 1 is on this host, but not by load and store: it has another user or'[[:space:]]+'process table' ]]
	run -0 in_container 'mount -t proc -o hidepid=2 proc /proc' timeout 60 "$START" 2 "$ENDS"
	[ -z "$output" ]
}

# by_id PES HOW [STARTS]: a job by a unique id
by_id()
{
	local pe pids=() failed=0

	mkdir -p ids
	rm -f ids/*
	for ((pe = 0; pe < $1; pe++)); do
		timeout 60 "$BY_ID" ids "$pe" "$1" "${@:2}" >"said.$pe" 2>&1 3>&- &
		pids+=($!)
	done
	for pe in "${pids[@]}"; do
		wait "$pe" || failed=$?
	done
	cat said.*
	return "$failed"
}

@test "a unique id, and an all-gather" {
	for how in id id-last gather id-threads; do
		run -0 by_id 3 "$how"
		[ -z "$output" ]
	done
	run -0 by_id 1 id 2
	SHMEM_NODE_PES=1 UCX_TLS=tcp,self run -0 by_id 2 gather
	[ -z "$output" ]
	SHMEM_INFO=1 run -0 by_id 2 id-threads
	[[ $output == *'Start: without a launcher, by a unique id'* ]]
	[[ $output == *'Global data: 0 bytes, private: other threads ran already when the'* ]]
}

@test "a process makes an id and forks the other PEs" {
	"$OSHCC" -O1 -x c -o forks - <<'END'
#include <shmemx.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	shmemx_unique_id_t id;
	shmemx_init_attr_t attr = {.id = &id, .size = 3};
	int status = 0, failed = 0;
	if (shmemx_get_unique_id(&id)) return 2;
	while (attr.rank < 2 && fork() == 0) attr.rank++;
	shmemx_init_attr(&attr);
	failed = shmem_n_pes() != 3 || shmem_my_pe() != attr.rank;
	shmem_finalize();
	if (attr.rank < 2) wait(&status);
	return failed || status;
}
END
	SHMEM_START_SECONDS=10 run -0 timeout 60 ./forks
	[ -z "$output" ]
}

@test "starts again and again in one process" {
	run -0 by_id 2 id 20
	[ -z "$output" ]
	run -0 by_id 2 gather 5
	[ -z "$output" ]
}

@test "global data stays private if the library is loaded while other threads run" {
	cat >loads.c <<-'END'
		#include <dlfcn.h>
		#include <pthread.h>
		#include <unistd.h>
		static void *wait_long(void *unused) { for (;;) pause(); return unused; }
		__attribute__((constructor)) static void start(void)
		{
			pthread_t thread;
			pthread_create(&thread, NULL, wait_long, NULL);
		}
		#ifndef EARLY
		int main(int count, char **argument)
		{
			void *library = count > 1 ? dlopen(argument[1], RTLD_NOW) : NULL;
			if (!library) return 2;
			((void (*)(void))dlsym(library, "shmem_init"))();
			((void (*)(void))dlsym(library, "shmem_finalize"))();
			return 0;
		}
		#endif
	END
	cc -o loads loads.c -pthread -ldl
	export SHMEM_INFO=1
	run -0 timeout 60 "$START" 2 ./loads "$TOP_BUILDDIR/.libs/libtorushmem.so"
	[[ $output == *'Global data: 0 bytes, private: other threads ran already when the library'* ]]
	# A thread that a library starts before main does no harm.
	cc -shared -fPIC -DEARLY -o libearly.so loads.c -pthread
	"$OSHCC" -o ends -L. "$BATS_TEST_DIRNAME/progs/ends.c" -Wl,--no-as-needed -learly -Wl,-rpath,"$PWD"
	run -0 timeout 60 "$START" 2 ./ends
	[[ $output =~ 'Global data: '[0-9]+' bytes, shared' ]]
}

@test "signal handlers and the alternate signal stack after finalize" {
	"$OSHCC" -O1 -o left "$BATS_TEST_DIRNAME/progs/left_behind.c"
	by_hand 2 ./left
}

@test "a Python service that loads the library, starts in a thread, and starts again" {
	command -v python3 >/dev/null || skip "no python3"
	mkdir ids
	timeout 60 python3 "$BATS_TEST_DIRNAME/progs/service.py" "$TOP_BUILDDIR/.libs/libtorushmem.so" ids 1 2 30 >other 2>&1 3>&- &
	run -0 timeout 60 python3 "$BATS_TEST_DIRNAME/progs/service.py" "$TOP_BUILDDIR/.libs/libtorushmem.so" ids 0 2 30
	wait "$!"
	[ "$output" = served ]
	[ "$(cat other)" = served ]
}

@test "ids and numbers that are wrong" {
	"$OSHCC" -O1 -x c -o wrong - <<'END'
#include <shmemx.h>
#include <stdlib.h>
static int fail(const void *mine, void *all, size_t bytes, void *arg) { return 9; }
int main(int count, char **argument)
{
	shmemx_unique_id_t id = {{1}};
	shmemx_init_attr_t attr = {.rank = atoi(argument[1]), .size = 2, .threads = atoi(argument[2])};
	if (argument[3][0] == 'g') attr.all_gather = fail;
	if (argument[3][0] == 'i') attr.id = &id;
	if (argument[3][0] == 'd' && !shmemx_get_unique_id(&id)) {
		attr.id = &id;
		((unsigned char *)&id)[26] = 5; /* the number of addresses, of which an id holds 4 */
	}
	return shmemx_init_attr(&attr);
}
END
	run -1 ./wrong 2 0 id
	only 'PE 0: shmemx_init_attr: rank=2 and size=2: give the number of PEs, and the number of this PE below that'
	run -1 ./wrong 1 7 id
	only 'PE 0: shmemx_init_attr: threads=7: give SHMEM_THREAD_SINGLE, _FUNNELED, _SERIALIZED or _MULTIPLE'
	run -1 ./wrong 0 7 environment
	only 'PE 0: shmemx_init_attr: threads=7: give SHMEM_THREAD_SINGLE, _FUNNELED, _SERIALIZED or _MULTIPLE'
	run -1 ./wrong 1 0 id
	only 'PE 0: shmemx_init_attr: the bytes of id are no unique id; hand round all bytes that shmemx_get_unique_id made'
	run -1 ./wrong 1 0 damaged
	only 'PE 0: shmemx_init_attr: the bytes of id are no unique id; hand round all bytes that shmemx_get_unique_id made'
	run -1 ./wrong 1 0 gather
	only "PE 0: shmemx_init_attr: the program's all_gather failed with 9"
	run -0 ./wrong 0 0 environment
}
