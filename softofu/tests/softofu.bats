#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# uTofu and jTofu in software: names and types, and programs of uTofu under oshrun,
# Debian's mpirun, and alone.

bats_require_minimum_version 1.5.0

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../../tests/lib/built.bash"
	need_softofu
	export OSHRUN="${OSHRUN:-$TOP_BUILDDIR/oshrun}" TESTS="$TOP_BUILDDIR/softofu/tests"
	export TOP="${BATS_TEST_FILENAME%/*}/../.."
	unset "${!SOFTOFU_@}" "${!PMIX_@}" "${!OMPI_@}"
}

setup()
{
	cd "$BATS_TEST_TMPDIR" || return
}

# on RANKS PROGRAM...: under oshrun, quietly
on()
{
	timeout -k 2 $((60 * ${TEST_PATIENCE:-1})) "$OSHRUN" -q -n "$@"
}

mpi()
{
	OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
		timeout -k 2 $((60 * ${TEST_PATIENCE:-1})) mpirun --map-by slot:OVERSUBSCRIBE -n "$@"
}

# The extensions of Fujitsu's MPI are there, unless configure --disable-fjmpi left them out.
need_fjmpi()
{
	[ -e "$TOP_BUILDDIR/libfjmpi.la" ] || skip "configured --disable-fjmpi"
}

# each_mpi FUNCTION: with MPICC, MPICXX and an array MPIRUN of Debian's Open MPI and of its
# MPICH, else of the MPI there is
each_mpi()
{
	local kind found=

	for kind in openmpi mpich; do
		command -v mpicxx.$kind >/dev/null && command -v mpirun.$kind >/dev/null || continue
		found+=" $kind"
		MPICC=mpicc.$kind MPICXX=mpicxx.$kind MPIRUN=(mpirun.$kind)
		[ $kind = mpich ] || MPIRUN+=(--map-by slot:OVERSUBSCRIBE)
		"$1"
	done
	if [ -z "$found" ]; then
		command -v mpicxx >/dev/null && command -v mpirun >/dev/null || skip "there is no MPI"
		MPICC=mpicc MPICXX=mpicxx MPIRUN=(mpirun --map-by slot:OVERSUBSCRIBE)
		"$1"
	fi
}

mpirun_each()
{
	OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
		timeout -k 2 $((60 * ${TEST_PATIENCE:-1})) "${MPIRUN[@]}" -n "$@"
}

@test "every name of uTofu and jTofu has its type and value, and every function is there" {
	awk -f "$TOP/softofu/tests/api.awk" "$TOP/softofu/tests/api.tsv" >names.c
	"${CC:-cc}" -std=gnu11 -Wall -Wextra -Werror -I "$TOP/softofu/include" names.c -o names \
		-L "$TOP_BUILDDIR/.libs" -ltofucom -ljtofu -Wl,-rpath,"$TOP_BUILDDIR/.libs"
	run ./names
	[ "$output" = "utofu: 65 functions, 35 constants; jtofu: 20 functions" ]
}

# The names of the libraries that one needs, and those need; their folders may be called anything.
needed()
{
	ldd "$TOP_BUILDDIR/.libs/$1" | awk '{ print $1 }'
}

@test "the libraries export these functions, those of softofu.h, and nothing else, and link nothing of ours" {
	for library in utofu:tofucom jtofu:jtofu; do
		awk -F '\t' -v of="${library%:*}" '$1 == of && $2 == "function" { print $3 }' \
			"$TOP/softofu/tests/api.tsv" | sort >wanted
		# In no header of Fujitsu's, but in the library, and used.
		[ "$library" = jtofu:jtofu ] || { printf '%s\n' utofu_get_last_error utofu_modify_{armw8_op_value,cswap8_values,put_length,put_{lcl,rmt}_stadd_add} \
			utofu_modify_put_piggyback_{lcl_data,ldat,rmt_stadd_add} softofu_record_needed softofu_record_when_needed >>wanted && sort -o wanted wanted; }
		nm -D --defined-only "$TOP_BUILDDIR/.libs/lib${library#*:}.so" | awk '$2 == "T" { print $3 }' | sort >there
		diff wanted there
		run ! grep -E 'torushmem|ucp|pmix' <(needed "lib${library#*:}.so")
	done
	[ -e "$TOP_BUILDDIR/libfjmpi.la" ] || return 0
	run ! grep -E 'torushmem|ucp|pmix|libmpi' <(needed libfjmpi.so)
	run ! grep -Ev ' T fjmpi_(plan|rdma|topology)_' <(nm -D --defined-only "$TOP_BUILDDIR/.libs/libfjmpi.so")
}

@test "headers are C and C++ without a warning" {
	printf '#include <utofu.h>\n#include <jtofu.h>\n#include <softofu.h>\n' >both.c
	cp both.c both.cc
	"${CC:-cc}" -std=c99 -pedantic -Wall -Wextra -Werror -I "$TOP/softofu/include" -fsyntax-only both.c
	"${CXX:-c++}" -std=c++11 -pedantic -Wall -Wextra -Werror -I "$TOP/softofu/include" -fsyntax-only both.cc
}

@test "what programs of the machine have of its processor in them is read" {
	[ "$(uname -m)" = x86_64 ] || skip "not an x86"
	cat >a64.c <<-'END'
		int main(void)
		{
			int word = 1;

			__asm__ volatile("dsb sy\n dmb ishld\n isb" ::: "memory");
			__asm__ volatile("dc civac, %0" ::"r"(&word) : "memory");
			__asm__ volatile("prfm pldl1keep, [%0]\n sevl\n wfe\n sev\n yield" ::"r"(&word) : "memory");
			return word - 1;
		}
	END
	"${CC:-cc}" -Wall -Wextra -Werror -I "$TOP/softofu/include" -include softofu-a64.h a64.c -o a64
	./a64
	objdump -d a64 | grep -q mfence
}

@test "the machine's counter counts with its frequency, and spoils no register" {
	[ "$(uname -m)" = x86_64 ] || skip "not an x86"
	cat >counter.c <<-'END'
		#define _GNU_SOURCE
		#include <stdint.h>
		#include <stdio.h>
		#include <time.h>

		static inline uint64_t now(void)
		{
			uint64_t count;

			__asm__ volatile("isb\n mrs %0, CNTVCT_EL0" : "=r"(count)::"memory");
			return count;
		}

		int main(int argc, char **argv)
		{
			uint64_t frequency, before, after, sum = 0, small[16];

			(void)argv;
			__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(frequency));
			before = now();
			nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
			after = now();
			for (int i = 0; i < 16; i++) {
				uint64_t a = (uint64_t)argc + i, b = a * 3, c = b ^ a, t = now(), u;

				__asm__ volatile("mrs %0, cntvct_el0" : "=r"(u));
				small[i] = a + b + c + (t <= u);
			}
			for (int i = 0; i < 16; i++)
				sum += small[i] - (uint64_t)((1 + i) + (1 + i) * 3 + (((1 + i) * 3) ^ (1 + i)));
			printf("%llu %s %llu\n", (unsigned long long)frequency,
			       after - before >= frequency / 10 && after - before < frequency * 30 ? "right" : "wrong",
			       (unsigned long long)sum);
			return 0;
		}
	END
	for level in -O0 -O2 '-O3 -fPIC' '-O2 -mcmodel=large'; do
		# shellcheck disable=SC2086
		"${CC:-cc}" $level -Wall -Wextra -I "$TOP/softofu/include" -include softofu-a64.h counter.c -o counter
		run ./counter
		[ "$output" = "100000000 right 16" ]
	done
	printf 'void f(void) { long x; __asm__("mrs %%0, midr_el1" : "=r"(x)); }\n' >other.c
	run ! "${CC:-cc}" -c -I "$TOP/softofu/include" -include softofu-a64.h other.c
	[[ "$output" == *"knows CNTVCT_EL0 and CNTFRQ_EL0 only"* ]]
}

@test "clients with -fcommon and -mcmodel=large link, with 3 GB of static data, too" {
	[ "$(uname -m)" = x86_64 ] || skip "not an x86"
	cat >client.c <<-'END'
		#include <stdio.h>
		#include <utofu.h>
		#include <jtofu.h>

		int shared_count;
		char large[3ul << 30];
		extern utofu_vcq_hdl_t handle;

		int main(void)
		{
			utofu_tni_id_t *tnis;
			size_t count;
			int (*volatile create)(utofu_tni_id_t, unsigned long, utofu_vcq_hdl_t *) = utofu_create_vcq;
			int code = utofu_get_onesided_tnis(&tnis, &count);

			large[sizeof large - 1] = 1;
			return code || create(tnis[0], 0, &handle) || utofu_free_vcq(handle) || shared_count ||
			       jtofu_query_max_proc_per_node() >= 0;
		}
	END
	printf '#include <utofu.h>\nint shared_count;\nutofu_vcq_hdl_t handle;\n' >second.c
	"${CC:-cc}" -O2 -fcommon -mcmodel=large -I "$TOP/softofu/include" client.c second.c -o client \
		-L "$TOP_BUILDDIR/.libs" -ltofucom -ljtofu -Wl,-rpath,"$TOP_BUILDDIR/.libs"
	./client
}

@test "every communication brings the notices it was asked for: alone, under oshrun, under mpirun" {
	"$TESTS/utofu_notices"
	on 2 "$TESTS/utofu_notices"
	SOFTOFU_SHAPE=2x1x1x2 SOFTOFU_RANKS_PER_NODE=2 SOFTOFU_SEED=7 on 4 "$TESTS/utofu_notices"
	SOFTOFU_SHAPE=1x1x1 SOFTOFU_RANKS_PER_NODE=4 SOFTOFU_CQS=early on 4 "$TESTS/utofu_notices"
	command -v mpirun >/dev/null || skip "mpirun is not there"
	mpi 3 "$TESTS/utofu_notices"
}

@test "a run directory brings processes together that no launcher knows, and is empty afterwards" {
	mkdir run
	for rank in 0 1 2; do
		SOFTOFU_RUN_DIRECTORY=run SOFTOFU_RANK=$rank SOFTOFU_RANKS=3 timeout $((60 * ${TEST_PATIENCE:-1})) "$TESTS/utofu_notices" &
		jobs[rank]=$!
	done
	for rank in 0 1 2; do
		wait "${jobs[rank]}"
	done
	[ -z "$(ls -A run)" ]
}

@test "oshrun publishes the map of ranks; logical neighbours are one hop apart, holes are left out" {
	SOFTOFU_SHAPE=2x1x1x2x3x2 run on 5 "$TESTS/pmix_map"
	[ "$status" -eq 0 ]
	[ "$(sort <<<"$output")" = "rank 0 at 0 0 0 0 0 0 of 2 1 1 2 3 2, logically 0 0 0, first of 1: 0
rank 1 at 1 0 0 0 0 0 of 2 1 1 2 3 2, logically 1 0 0, first of 1: 1
rank 2 at 1 0 0 1 0 0 of 2 1 1 2 3 2, logically 2 0 0, first of 1: 2
rank 3 at 0 0 0 1 0 0 of 2 1 1 2 3 2, logically 3 0 0, first of 1: 3
rank 4 at 0 0 0 0 1 0 of 2 1 1 2 3 2, logically 0 1 0, first of 1: 4" ]
	SOFTOFU_SHAPE=4x1x1 SOFTOFU_RANKS_PER_NODE=2 SOFTOFU_HOLES='1,0,0,0,0,0' run on 6 "$TESTS/pmix_map"
	[ "$status" -eq 0 ]
	grep -q '^rank 2 at 2 0 0 0 0 0 of 4 1 1 1 1 1, logically 2 0 0, first of 2: 2$' <<<"$output"
	grep -q '^rank 5 at 3 0 0 0 0 0 of 4 1 1 1 1 1, logically 3 0 0, first of 2: 4$' <<<"$output"
}

@test "under oshrun the ranks of a node share System V memory, and those of different nodes do not" {
	unshare -i true 2>/dev/null || skip "namespaces cannot be made here"
	printf '#!/bin/sh\necho "node $((PMIX_RANK / 2)) $(readlink /proc/self/ns/ipc)"\n' >ipc
	chmod +x ipc
	SOFTOFU_SHAPE=2 SOFTOFU_RANKS_PER_NODE=2 run on 4 ./ipc
	[ "$(grep -c '^node' <<<"$output")" -eq 4 ]
	[ "$(grep '^node' <<<"$output" | sort -u | cut -d' ' -f1,2)" = $'node 0\nnode 1' ]
	[ "$(grep '^node' <<<"$output" | cut -d' ' -f3 | sort -u | wc -l)" -eq 2 ]
	[[ "$output" != *"$(readlink /proc/self/ns/ipc)"* ]]
	SOFTOFU_IPC=machine SOFTOFU_SHAPE=2 SOFTOFU_RANKS_PER_NODE=2 run on 4 ./ipc
	[ "$(grep '^node' <<<"$output" | cut -d' ' -f3 | sort -u)" = "$(readlink /proc/self/ns/ipc)" ]
}

@test "oshrun does not speak of OpenSHMEM to programs that are not of it" {
	run on 2 "$TESTS/pmix_map" leave
	[ "$status" -eq 1 ]
	[[ "$output" == *"exited without calling PMIx_Finalize"* ]]
	[[ "$output" != *shmem* ]]
}

@test "where no map is published, each process makes the same from its settings" {
	run on 1 "$TESTS/pmix_map"
	[ "$output" = "rank 0 at 0 0 0 0 0 0 of 1 1 1 2 3 2, logically 0 0 0, first of 1: 0" ]
	command -v mpirun >/dev/null || skip "mpirun is not there"
	SOFTOFU_SHAPE=2x1x1x2x3x2 SOFTOFU_RANKS_PER_NODE=2 run mpi 3 "$TESTS/pmix_map"
	[ "$(sort <<<"$output")" = "rank 0 at 0 0 0 0 0 0 of 2 1 1 2 3 2, logically 0 0 0, first of 2: 0
rank 1 at 0 0 0 0 0 0 of 2 1 1 2 3 2, logically 0 0 0, first of 2: 0
rank 2 at 1 0 0 0 0 0 of 2 1 1 2 3 2, logically 1 0 0, first of 1: 2" ]
}

@test "a setting that makes no sense ends the job with a line about it" {
	SOFTOFU_SHAPE=2y2 run on 2 "$TESTS/utofu_notices"
	[ "$status" -eq 1 ]
	[ "$output" = "softofu: SOFTOFU_SHAPE=2y2: at most six sizes with x between them, as in 2x2x2x2x3x2" ]
	SOFTOFU_SHAPE=3x1x1 run on 4 "$TESTS/utofu_notices"
	[ "$status" -eq 1 ]
	[ "$output" = "softofu: SOFTOFU_SHAPE=3x1x1 has room for 3 ranks at 1 per node, the job has 4" ]
	SOFTOFU_HOLES=1,2 SOFTOFU_SHAPE=2x2 run "$TESTS/utofu_notices"
	[ "$status" -eq 1 ]
	[ "$output" = "softofu: SOFTOFU_HOLES=1,2: a hole is six coordinates with commas, as in 0,1,0,0,0,0" ]
	SOFTOFU_ORDER=random run "$TESTS/utofu_notices"
	[ "$status" -eq 1 ]
	[ "$output" = "softofu: SOFTOFU_ORDER=random: adversarial or posted is wanted" ]
	SOFTOFU_TEAR=some run "$TESTS/utofu_notices"
	[ "$status" -eq 1 ]
	[ "$output" = "softofu: SOFTOFU_TEAR=some: no or yes is wanted" ]
	SOFTOFU_MARKER=256 run "$TESTS/utofu_notices"
	[ "$status" -eq 1 ]
	[ "$output" = "softofu: SOFTOFU_MARKER=256: last, first, or a number from 0 to 255 is wanted, the byte of a line with the marker" ]
	SOFTOFU_CQS=3 run "$TESTS/utofu_notices"
	[ "$status" -eq 1 ]
	[ "$output" = "softofu: SOFTOFU_CQS=3: late or early is wanted" ]
}

@test "every mistake has its code, and a queue is reported once when it fills and once when it is full" {
	run "$TESTS/errors"
	[ "$status" -eq 0 ]
	mrq="softofu: rank 0: the MRQ of TNI 5 CQ 0 component 8 holds"
	then="Read it with utofu_poll_mrq, or set SOFTOFU_MRQ_SIZE to more than 16"
	[ "${lines[0]}" = "$mrq 12 notices that nobody reads and is three quarters full; when it is full, notices are lost. $then" ]
	[ "${lines[1]}" = "$mrq 16 notices that nobody reads and is full; what comes from now on is lost. $then" ]
	[ "${#lines[@]}" -eq 2 ]
}

@test "a runtime that reads its notices only at a flush has room for 40,000; with a small queue it is told" {
	run "$TESTS/mrq_depth"
	[ "$status" -eq 0 ]
	[ "$output" = "40000 notices" ]
	SOFTOFU_MRQ_SIZE=8192 run "$TESTS/mrq_depth"
	[ "$status" -eq 1 ]
	[[ "${lines[0]}" == *"holds 6144 notices that nobody reads"*"set SOFTOFU_MRQ_SIZE to more than 8192" ]]
	[[ "${lines[1]}" == *"holds 8192 notices that nobody reads and is full"* ]]
}

@test "without strong order nothing is in order, with it everything; SOFTOFU_ORDER=posted does without surprises" {
	on 2 "$TESTS/strong_order"
	SOFTOFU_SEED=12345 on 2 "$TESTS/strong_order"
	SOFTOFU_ORDER=posted on 2 "$TESTS/strong_order" posted
	SOFTOFU_TEAR=yes on 2 "$TESTS/strong_order"
}

@test "a line is whole when its last word is there, or the one of SOFTOFU_MARKER; SOFTOFU_TEAR=yes tears lines" {
	on 2 "$TESTS/whole_lines" last
	SOFTOFU_ORDER=posted SOFTOFU_SHAPE=2x2 on 4 "$TESTS/whole_lines" last 1000
	SOFTOFU_MARKER=first on 2 "$TESTS/whole_lines" first
	SOFTOFU_NET=packets on 2 "$TESTS/whole_lines" packets 500
	on 2 "$TESTS/two_senders"
	SOFTOFU_TEAR=yes on 2 "$TESTS/whole_lines" torn
	SOFTOFU_TEAR=yes SOFTOFU_ORDER=posted on 2 "$TESTS/whole_lines" torn
	SOFTOFU_TEAR=yes SOFTOFU_NET=packets on 2 "$TESTS/whole_lines" torn
}

@test "a broadcast over three chains of sessions needs no call of the waiting ranks; the NIC does it all" {
	SOFTOFU_STATS=1 run on 4 "$TESTS/session_chain"
	[ "$status" -eq 0 ]
	# 5 broadcasts of 32 chunks: what those between root and end forward,
	# their NICs forward alone.
	forwarding=$(grep -c ': 0 descriptors by the caller, 160 by the NIC' <<<"$output")
	[ "$forwarding" -eq 6 ]
	SOFTOFU_SPS=block on 4 "$TESTS/session_chain"
	SOFTOFU_RANKS_PER_NODE=3 SOFTOFU_SHAPE=1x1x1 on 3 "$TESTS/session_chain"
	! command -v mpirun >/dev/null || mpi 4 "$TESTS/session_chain"
}

@test "programs that exchange ids by MPI: ping-pong, neighbours in C++, a chain of sessions in C++, a layer of messages, places" {
	need_fjmpi
	command -v mpirun >/dev/null && command -v mpicxx >/dev/null || skip "there is no MPI"
	link=(-L "$TOP_BUILDDIR/.libs" -ltofucom -ljtofu "-Wl,-rpath,$TOP_BUILDDIR/.libs")
	for name in pingpong messages launched_job; do
		mpicc -std=gnu11 -O1 -Wall -Wextra -Werror -I "$TOP/softofu/include" "$TOP/softofu/tests/mpi/$name.c" -o $name "${link[@]}"
	done
	mpicc -std=gnu11 -O1 -Wall -Wextra -Werror -I "$TOP/softofu/include" -I "$TOP/softofu/fjmpi" "$TOP/softofu/tests/mpi/topology.c" \
		-o topology "${link[@]}" -lfjmpi
	SOFTOFU_SHAPE=3x1x1 SOFTOFU_RANKS_PER_NODE=2 run mpi 5 ./topology
	[ "$output" = "5 ranks in 1 dimensions: 3 0 0" ]
	SOFTOFU_SHAPE=2x1x1x1x3x1 SOFTOFU_HOLES=1,0,0,0,0,0 run mpi 4 ./topology
	[ "$output" = "4 ranks in 2 dimensions: 2 3 0" ]
	for name in neighbours chain; do
		mpicxx -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX -std=c++11 -O1 -Wall -Wextra -Werror -I "$TOP/softofu/include" \
			"$TOP/softofu/tests/mpi/$name.cc" -o $name "${link[@]}"
	done
	mpi 2 ./pingpong
	SOFTOFU_SHAPE=3x1x1 SOFTOFU_RANKS_PER_NODE=2 mpi 4 ./launched_job 2
	mpi 3 ./neighbours
	SOFTOFU_SPS=block mpi 3 ./chain
	mpi 3 ./messages
	# Programs of Open MPI are started by oshrun as well.
	if mpicc --showme:version 2>/dev/null | grep -q 'Open MPI'; then
		OMPI_MCA_btl=self,vader on 3 ./messages
		SOFTOFU_SHAPE=3x1x1 SOFTOFU_RANKS_PER_NODE=2 OMPI_MCA_btl=self,vader run on 5 ./topology
		[ "$output" = "5 ranks in 1 dimensions: 3 0 0" ]
	fi
	for name in pingpong messages; do
		SOFTOFU_NET=packets:errors=1e-3 mpi 2 ./$name
	done
}

fjmpi_rdma()
{
	"$MPICC" -std=gnu11 -O1 -Wall -Wextra -Werror -I "$TOP/softofu/include" -I "$TOP/softofu/fjmpi" \
		"$TOP/softofu/tests/mpi/fjmpi_rdma.c" -o rdma -L "$TOP_BUILDDIR/.libs" -lfjmpi -ltofucom -ljtofu \
		"-Wl,-rpath,$TOP_BUILDDIR/.libs"
	for ranks in 1 2 3; do
		run mpirun_each "$ranks" ./rdma
		echo "$MPICC: $output"
		[ "$output" = "$ranks ranks" ]
	done
	SOFTOFU_SHAPE=2x1x1 SOFTOFU_RANKS_PER_NODE=2 SOFTOFU_TEAR=yes run mpirun_each 4 ./rdma
	[ "$output" = "4 ranks" ]
	SOFTOFU_NET=packets:errors=1e-3 run mpirun_each 2 ./rdma
	[ "$output" = "2 ranks" ]
	run mpirun_each 1 ./rdma mistakes
	[ "$status" -eq 0 ]
	for line in "FJMPI_Rdma_init: it was called before" "memid=512: memory ids are 0 to 511" \
		"memid=8: nothing is registered" \
		"tag=15: tags are 0 to 14" "pid=-1: there is no such rank" \
		"length=16777216: at most 16777215 bytes in one call" "no registered memory of rank 0 has 8 bytes there" \
		"laddr=0x11: no registered memory of this rank" "flags: NICs are 0 to 3"; do
		grep -q "^softofu: rank 0: .*$line" <<<"$output"
	done
	[ "$(grep -c '^softofu:' <<<"$output")" -eq 9 ]
	run mpirun_each 1 ./rdma find
	[ "$status" -ne 0 ]
	grep -q '^softofu: rank 0: FJMPI_Rdma_get_remote_addr: pid=1: there is no such rank; the job has ranks 0 to 0' <<<"$output"
	run mpirun_each 1 ./rdma poll
	[ "$status" -ne 0 ]
	grep -q '^softofu: rank 0: FJMPI_Rdma_poll_cq: NIC 4: NICs are 0 to 3' <<<"$output"
}

@test "RDMA of Fujitsu's MPI over Open MPI and MPICH: last words, counted puts, notified targets, tags, ids, mistakes" {
	need_fjmpi
	each_mpi fjmpi_rdma
}

# fjmpi_cc SOURCE OUTPUT FLAG...: a program of Fujitsu's MPI in C. gcc takes MPICH's
# MPI_STATUSES_IGNORE for an array.
fjmpi_cc()
{
	"$MPICC" -std=gnu11 -O1 -Wall -Wextra -Werror -Wno-stringop-overflow -I "$TOP/softofu/include" -I "$TOP/softofu/fjmpi" "$1" -o "$2" "${@:3}" \
		-L "$TOP_BUILDDIR/.libs" -lfjmpi -ltofucom -ljtofu "-Wl,-rpath,$TOP_BUILDDIR/.libs"
}

persistent()
{
	"$MPICXX" -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX -std=c++11 -O1 -Wall -Wextra -Werror -I "$TOP/softofu/include" \
		-I "$TOP/softofu/fjmpi" "$TOP/softofu/tests/mpi/persistent.cc" -o persistent \
		-L "$TOP_BUILDDIR/.libs" -lfjmpi -ltofucom -ljtofu "-Wl,-rpath,$TOP_BUILDDIR/.libs"
	for ranks in 1 2 5; do
		run mpirun_each "$ranks" ./persistent
		echo "$MPICXX: $output"
		[ "$output" = "$ranks ranks" ]
	done
}

@test "persistent requests and collectives of Fujitsu's MPI over Open MPI and MPICH" {
	need_fjmpi
	each_mpi persistent
}

# prequests_of RANKS MODE: it ends well; with SOFTOFU_STATS, which says how requests travel
prequests_of()
{
	SOFTOFU_STATS=1 run mpirun_each "$1" ./prequests "$2"
	echo "$MPICC $*: $(grep -v ' TNI ' <<<"$output" | sort | uniq -c | tail -20)"
	grep -qx "$1 ranks" <<<"$output"
}

# end_ranks PROGRAM: a launcher may leave a rank behind that waits for another that has ended;
# bats would wait for it, too.
end_ranks()
{
	local pid

	for pid in $(pgrep -x "${1#./}"); do
		[ "$(readlink "/proc/$pid/cwd")" != "$PWD" ] || kill -9 "$pid" || true
	done
}

# ends_with PROGRAM MODE LINE: two ranks end badly, with the line. Launchers may lose what
# ranks print just before one of them aborts, and MPICH's sometimes the exit status of one
# that never called MPI_Init.
ends_with()
{
	for _ in 1 2 3; do
		run mpirun_each 2 "$1" "$2"
		echo "$MPICC $2: $output"
		end_ranks "$1"
		[ "$status" -ne 124 ]
		[ "$status" -eq 0 ] || ! grep -q "$3" <<<"$output" || return 0
	done
	false
}

prequests()
{
	local send='FJMPI_Prequest_send_init: rank' receive='FJMPI_Prequest_recv_init: rank' by_mpi='the MPI carries it out:'

	fjmpi_cc "$TOP/softofu/tests/mpi/prequests.c" prequests
	prequests_of 1 exchange
	grep -qx "softofu: rank 0: $send 0, tag 10: puts over uTofu" <<<"$output"
	SOFTOFU_TEAR=yes prequests_of 3 exchange
	grep -qx "softofu: rank 2: $receive 0, tag 10: puts over uTofu" <<<"$output"
	run ! grep -q "$by_mpi" <<<"$output"
	SOFTOFU_NET=packets:errors=1e-3 prequests_of 2 record
	SOFTOFU_ORDER=posted prequests_of 1 cases
	prequests_of 2 cases
	grep -qx "softofu: rank 0: $send 1, tag 20: $by_mpi another request sends to this rank with this tag" <<<"$output"
	grep -qx "softofu: rank 0: $send 1, tag 22: $by_mpi the request of the other rank takes no puts" <<<"$output"
	grep -qx "softofu: rank 0: $send 1, tag 23: $by_mpi the datatype is not contiguous" <<<"$output"
	grep -qx "softofu: rank 0: $send 0, tag 28: $by_mpi the communicator is an intercommunicator" <<<"$output"
	SOFTOFU_SEED=2 SOFTOFU_TEAR=yes prequests_of 4 cases
	prequests_of 2 unfreed
	SOFTOFU_PLANS=no prequests_of 2 cases
	grep -qx "softofu: rank 0: $send 1, tag 20: $by_mpi SOFTOFU_PLANS=no" <<<"$output"
	run ! grep -q 'puts over uTofu' <<<"$output"
	prequests_of 2 longer-returns
	ends_with ./prequests longer '' # the MPI's own message, which is often lost
	ends_with ./prequests plain "^softofu: rank 1: $receive 0, tag 40: a message arrived that is not of FJMPI_Prequest_send_init"
	ends_with ./prequests start '^softofu: rank 1: MPI_Start: the request of FJMPI_Prequest_recv_init is active'
	ends_with ./prequests free '^softofu: rank 1: MPI_Request_free: the request of FJMPI_Prequest_recv_init is active'
	ends_with ./prequests cancel '^softofu: rank 0: MPI_Cancel: a request that sends, here of FJMPI_Prequest_send_init'
	rm -rf record
	mkdir record
	SOFTOFU_RECORD=record prequests_of 3 record
	run "$TOP_BUILDDIR/softofu-replay" --messages record
	# Two messages of each of three ranks, in all rounds but the first; the last
	# piece of each is the shortest.
	[ "$(grep -c ', 28936 bytes, has arrived$' <<<"$output")" -eq $((2 * 3 * 15)) ]
}

@test "persistent requests of Fujitsu's MPI over Open MPI and MPICH are puts: values, statuses, what ends a connection, mistakes, a record" {
	need_fjmpi
	each_mpi prequests
}

# plans_of RANKS KIND...: all of them are plans, and none is carried out by the MPI
plans_of()
{
	local kind

	SOFTOFU_STATS=1 run mpirun_each "$1" ./plans "${@:2}"
	echo "$MPICC $*: $(grep -v ' TNI ' <<<"$output" | sort | uniq -c | tail -20)"
	grep -qx "$1 ranks" <<<"$output"
	for kind in "${@:2}"; do
		kind=${kind/operators/allreduce}
		grep -q "^softofu: rank 0: MPIX_${kind^}_init: a plan of [0-9]* steps$" <<<"$output"
	done
	run ! grep -q 'the MPI carries it out' <<<"$output"
}

plans()
{
	local kinds=(barrier bcast reduce allreduce allgather alltoall)

	fjmpi_cc "$TOP/softofu/tests/mpi/plans.c" plans
	plans_of 1 "${kinds[@]}"
	plans_of 3 operators "${kinds[@]}"
	SOFTOFU_SHAPE=2x1x1x1x3x1 SOFTOFU_HOLES=1,0,0,0,0,0 SOFTOFU_TEAR=yes plans_of 4 "${kinds[@]}"
	SOFTOFU_NET=packets:errors=1e-3 plans_of 2 bcast
	# A process of MPICH that waits does not give the processor away.
	case $MPICC in *mpich) return ;; esac
	SOFTOFU_SHAPE=3x3 SOFTOFU_RANKS_PER_NODE=2 plans_of 7 "${kinds[@]}"
	SOFTOFU_SHAPE=2x3x2 plans_of 12 "${kinds[@]}"
}

@test "persistent collectives over Open MPI and MPICH are plans: every kind, many sizes, in place, parts of the job, all operators" {
	need_fjmpi
	each_mpi plans
}

plans_requests()
{
	local mistake

	fjmpi_cc "$TOP/softofu/tests/mpi/plans_requests.c" requests
	for ranks in 1 2 4; do
		run mpirun_each "$ranks" ./requests mixed
		echo "$MPICC: $output"
		[ "$output" = "$ranks ranks" ]
		SOFTOFU_STATS=1 run mpirun_each "$ranks" ./requests others
		grep -qx "$ranks ranks" <<<"$output"
		grep -qx 'softofu: rank 0: MPIX_Allreduce_init: the MPI carries it out: plans do not have this operation' <<<"$output"
		grep -qx 'softofu: rank 0: MPIX_Alltoall_init: the MPI carries it out: an all-to-all in place has no plan' <<<"$output"
	done
	grep -qx 'softofu: rank 0: MPIX_Bcast_init: the MPI carries it out: not all ranks can have a plan' <<<"$output"
	SOFTOFU_PLANS=no SOFTOFU_STATS=1 run mpirun_each 2 ./requests others
	grep -qx "2 ranks" <<<"$output"
	grep -qx 'softofu: rank 1: MPIX_Bcast_init: the MPI carries it out: SOFTOFU_PLANS=no' <<<"$output"
	SOFTOFU_PLANS=of run mpirun_each 1 ./requests mixed
	[ "$status" -ne 0 ]
	grep -qx 'softofu: SOFTOFU_PLANS=of: yes or no is wanted' <<<"$output"
	SOFTOFU_SHAPE=1 ends_with ./requests mixed '^softofu: SOFTOFU_SHAPE=1 has room for 1 rank'
	ends_with ./requests start '^softofu: rank 0: MPI_Start: the request of MPIX_Bcast_init is active; complete it with MPI_Wait first$'
	ends_with ./requests free '^softofu: rank 0: MPI_Request_free: the request of MPIX_Bcast_init is active; complete it with MPI_Wait first$'
	ends_with ./requests cancel '^softofu: rank 0: MPI_Cancel: a persistent collective, here MPIX_Bcast_init, cannot be cancelled$'
}

@test "requests of plans among those of the MPI: wait and test for one, any, some and all; what the MPI carries out; mistakes" {
	need_fjmpi
	each_mpi plans_requests
}

# The request of a plan in a file that knows mpi.h alone, and in a program with a
# function of requests of its own.
plans_files()
{
	cat >made.c <<-'END'
		#include <mpi-ext.h>
		#include <stdio.h>
		int finish(MPI_Request *request);

		int main(int argc, char **argv)
		{
			int word = 0, rank;
			MPI_Request request;

			MPI_Init(&argc, &argv);
			MPI_Comm_rank(MPI_COMM_WORLD, &rank);
			MPIX_Bcast_init(&word, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
			word = rank ? 0 : 7;
			finish(&request);
			printf("%d\n", word);
			MPI_Request_free(&request);
			MPI_Finalize();
			return 0;
		}
	END
	cat >finish.c <<-'END'
		#include <mpi.h>
		#include <unistd.h>

		int finish(MPI_Request *request)
		{
			int rank;

			MPI_Comm_rank(MPI_COMM_WORLD, &rank);
			usleep(rank ? 0 : 100000);
			return MPI_Start(request) || MPI_Wait(request, MPI_STATUS_IGNORE);
		}
		#ifdef OWN
		int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
		{
			return PMPI_Request_get_status(request, flag, status);
		}
		#endif
	END
	"$MPICC" -fPIC -shared finish.c -o libfinish.so
	fjmpi_cc made.c made -L . -lfinish "-Wl,-rpath,$PWD"
	SOFTOFU_STATS=1 run mpirun_each 2 ./made
	echo "$MPICC: $output"
	[ "$(grep -cx 7 <<<"$output")" -eq 2 ]
	grep -q '^softofu: rank 0: MPIX_Bcast_init: a plan of' <<<"$output"
	fjmpi_cc made.c own finish.c -DOWN
	SOFTOFU_STATS=1 run mpirun_each 2 ./own
	echo "$MPICC: $output"
	[ "$(grep -cx 7 <<<"$output")" -eq 2 ]
	grep -qx 'softofu: rank 0: MPIX_Bcast_init: the MPI carries it out: the program has functions of requests of its own' <<<"$output"
}

@test "requests of plans in files that know mpi.h alone, and in programs with functions of requests of their own" {
	need_fjmpi
	each_mpi plans_files
}

plans_recorded()
{
	fjmpi_cc "$TOP/softofu/tests/mpi/plans.c" plans
	rm -rf record
	mkdir record
	SOFTOFU_PLANS=no SOFTOFU_RECORD=record run mpirun_each 3 ./plans barrier
	[ "$output" = "3 ranks" ]
	[ -z "$(find record -type f -size +0)" ]
	SOFTOFU_RECORD=record run mpirun_each 3 ./plans barrier
	[ "$output" = "3 ranks" ]
	run "$TOP_BUILDDIR/softofu-replay" --messages record
	echo "$MPICC: ${lines[0]} ${lines[-1]}"
	# Two communicators of three ranks, one of two: two rounds of a flag from
	# each rank, or one; 120 times.
	[ "$(grep -c ', 8 bytes, has arrived$' <<<"$output")" -eq $((120 * (2 * 3 * 2 + 2))) ]
	[[ "$output" =~ modelled:\ [1-9] ]]
}

@test "a recorded run contains what plans put" {
	need_fjmpi
	each_mpi plans_recorded
}

# fortran_link SOURCE OUTPUT FILE...: with the objects of the folder
fortran_link()
{
	"$fc" "${flags[@]}" -I . -I "$TOP/softofu/fjmpi" "$TOP/softofu/tests/mpi/fortran_$1" "${@:3}" *.o -o "$2" \
		-L "$TOP_BUILDDIR/.libs" -lfjmpi -ltofucom -ljtofu "-Wl,-rpath,$TOP_BUILDDIR/.libs"
}

# fortran_stats RANKS PROGRAM: it ends well, with SOFTOFU_STATS
fortran_stats()
{
	SOFTOFU_STATS=1 run mpirun_each "$1" "./$2"
	echo "$fc $*: $(grep -v ' TNI ' <<<"$output" | sort | uniq -c | tail -20)"
	grep -qx "$1 ranks" <<<"$output"
}

# Plans and connected requests of Fortran, and what the MPI carries out.
fortran_plans()
{
	local kind ranks row refused='softofu: rank 0: MPIX_Allreduce_init: the MPI carries it out:'

	for row in 3:plans 2:plans_f08; do
		fortran_stats "${row%:*}" "${row#*:}"
		for kind in Barrier Bcast Reduce Allreduce Allgather Alltoall; do
			grep -q "^softofu: rank 0: MPIX_${kind}_init: a plan of [0-9]* steps$" <<<"$output"
		done
		run ! grep -q 'the MPI carries it out' <<<"$output"
	done
	for ranks in 1 5 2; do
		fortran_stats "$ranks" persistent
	done
	[ "$(grep -c '^softofu: rank [01]: FJMPI_Prequest_[a-z]*_init: rank [01], tag [12]: puts over uTofu$' <<<"$output")" -eq 8 ]
	mkdir own
	cat >own/own.c <<-END
		#include <mpi.h>
		void mpi_request_get_status_(MPI_Fint *request, MPI_Fint *flag, MPI_Fint *status, MPI_Fint *error)
		{
			int own_flag;

			(void)status;
			*error = PMPI_Request_get_status(MPI_Request_f2c(*request), &own_flag, MPI_STATUS_IGNORE);
			*flag = own_flag;
		}
	END
	"$MPICC" -c own/own.c -o own/own.o
	fortran_link included.f own/program own/own.o
	SOFTOFU_STATS=1 run mpirun_each 4 ./own/program
	grep -qx '2 ranks on a node' <<<"$output"
	grep -qx "$refused the program has functions of requests of its own" <<<"$output"
	SOFTOFU_PLANS=no SOFTOFU_STATS=1 run mpirun_each 4 ./included
	grep -qx '2 ranks on a node' <<<"$output"
	grep -qx "$refused SOFTOFU_PLANS=no" <<<"$output"
	# MPI_Waitany of MPICH 4.0 completes a persistent collective of its own again and again.
	case $fc in *mpich) return ;; esac
	SOFTOFU_PLANS=no fortran_stats 2 plans_f08
	run ! grep -q -e 'a plan of' -e 'puts over uTofu' <<<"$output"
}

fortran()
{
	local fc=${MPICC/mpicc/mpifort} flags=(-O1 -Wall -fimplicit-none) name

	command -v "$fc" >/dev/null || return 0
	# A folder for each: modules fit one MPI.
	mkdir -p "$fc"
	cd "$fc" || return
	"$MPICC" -O1 -Wall -Wextra -Werror -c -I "$TOP/softofu/fjmpi" "$TOP/softofu/fjmpi/fjmpi_fortran.c"
	for name in fjmpi mpi_ext mpi_f08_ext; do
		"$fc" "${flags[@]}" -c -I "$TOP/softofu/fjmpi" "$TOP/softofu/fjmpi/$name.f90"
	done
	for name in places.f90 persistent.f90 places_f08.f90 rdma.f90 included.f plans.f90 plans_f08.f90; do
		fortran_link "$name" "${name%.*}"
	done
	export SOFTOFU_SHAPE=3x1x1 SOFTOFU_RANKS_PER_NODE=2
	for name in places places_f08; do
		run mpirun_each 5 ./$name
		echo "$fc $name: $output"
		[ "$output" = "5 ranks in 1 dimensions: 3 0 0" ]
	done
	run mpirun_each 4 ./included
	[ "$output" = "2 ranks on a node" ]
	run mpirun_each 3 ./rdma
	echo "$fc rdma: $output"
	grep -qx '3 ranks' <<<"$output"
	fortran_plans
	unset SOFTOFU_SHAPE SOFTOFU_RANKS_PER_NODE
	cd ..
}

@test "Fujitsu's MPI in Fortran over Open MPI and MPICH: mpi_ext, mpi_f08_ext and mpif-ext.h" {
	need_fjmpi
	command -v gfortran >/dev/null || skip "there is no gfortran"
	each_mpi fortran
}

@test "four and 48 ranks on a node put to each other; with --long 1,000 nodes of one and of four ranks" {
	rows="8:4:2 48:48:1 96:48:2"
	[ "${TEST_LONG:-no}" = no ] || rows+=" 1000:1:10x10x10 4000:4:10x10x10"
	for row in $rows; do
		IFS=: read -r ranks per_node shape <<<"$row"
		mkdir "meet$ranks"
		SOFTOFU_SHAPE=$shape SOFTOFU_RANKS_PER_NODE=$per_node run on "$ranks" "$TESTS/many_ranks" "meet$ranks"
		echo "$row: $output"
		[[ "$output" =~ ^$ranks\ ranks,\ ([0-9]+)\ KiB\ of\ rank\ 0\ alone$ ]]
		[ "${BASH_REMATCH[1]}" -lt 2048 ]
	done
}

# iterations_take CHOICE: microseconds that 8 more iterations take by the replay
iterations_take()
{
	for n in 4 12; do
		"$TOP_BUILDDIR/softofu-replay" --tnis "$1" record$n | sed -n 's/^modelled: \([0-9.]*\) us.*/\1/p'
	done | awk '{ t[NR] = $1 } END { printf "%.1f\n", t[2] - t[1] }'
}

# written_as_recorded RANKS ITERATIONS FOLDER: what one process writes without starting the
# ranks is what they recorded
written_as_recorded()
{
	mkdir "$3.written"
	SOFTOFU_RANKS=$1 run "$TESTS/lattice_exchange" "$2" 23040 "$3.written"
	[ "$output" = "$1 ranks would exchange $2 times 23040 bytes with 8 neighbours" ]
	[ "$(find "$3.written" -type f -size +0 | wc -l)" -eq "$1" ]
	# Without the first record, which says how large the job is.
	for file in "$3"/*; do
		cmp <(tail -c +65 "$file") "$3.written/${file##*/}"
	done
}

@test "a recording has its grid; damaged recordings are refused or replayed, and end neither in a crash nor never" {
	mkdir record
	SOFTOFU_RECORD=record SOFTOFU_SHAPE=2x2 on 4 "$TESTS/session_chain"
	run "$TOP_BUILDDIR/softofu-replay" record
	[[ "${lines[-1]}" == "modelled: "* ]]
	run "$TESTS/damaged_records" "$TOP_BUILDDIR/softofu-replay" record 200
	[[ "$output" =~ ^[0-9]+\ of\ 200\ refused$ ]]
	rm record/softofu-rank-3
	run "$TOP_BUILDDIR/softofu-replay" record
	[ "$output" = "softofu-replay: the run had 4 ranks, and there are recordings of 3" ]
}

@test "lattice QCD with four ranks on a node, recorded, and replayed with other TNIs than it used" {
	export SOFTOFU_SHAPE=1x1x1x2x3x2 SOFTOFU_RANKS_PER_NODE=4
	for n in 4 12; do
		mkdir record$n
		SOFTOFU_RECORD=record$n run on 48 "$TESTS/lattice_exchange" $n 23040
		[ "$output" = "48 ranks exchanged $n times 23040 bytes with 8 neighbours" ]
		written_as_recorded 48 $n record$n
	done
	export SOFTOFU_NET=packets:preset=tofud-nominal
	recorded=$(iterations_take recorded) direction=$(iterations_take direction)
	robin=$(iterations_take round-robin) balanced=$(iterations_take balanced)
	echo "$recorded $direction $robin $balanced"
	# The program takes TNIs by direction. Six of 32 messages for a TNI
	# take less time than eight.
	[ "$recorded" = "$direction" ]
	awk -v d="$direction" -v r="$robin" -v b="$balanced" 'BEGIN { exit !(r > 0 && r < d && b < d) }'
	run "$TOP_BUILDDIR/softofu-replay" --tnis best record4
	[ "$status" -eq 1 ]
	[ "$output" = "softofu-replay: --tnis best: recorded, direction, round-robin or balanced is wanted" ]
	[ "${TEST_LONG:-no}" = no ] && return
	export SOFTOFU_SHAPE=2x2x2x2x3x2
	mkdir record96
	SOFTOFU_RECORD=record96 on 384 "$TESTS/lattice_exchange" 3 23040
	written_as_recorded 384 3 record96
}

@test "lattice QCD on 768 nodes: the record of 3,072 ranks, replayed" {
	export SOFTOFU_SHAPE=4x4x4x2x3x2 SOFTOFU_RANKS_PER_NODE=4
	mkdir record
	SOFTOFU_RANKS=3072 "$TESTS/lattice_exchange" 1 11520 record
	for choice in direction round-robin; do
		run "$TOP_BUILDDIR/softofu-replay" --tnis $choice record
		echo "$output"
		[[ "$output" =~ modelled:\ ([0-9.]+)\ us ]]
		took+=("${BASH_REMATCH[1]}")
	done
	# 8 and 6 of the 32 messages of a node.
	awk -v d="${took[0]}" -v r="${took[1]}" 'BEGIN { exit !(r > 0 && r < d) }'
}

@test "barrier gates: rings and butterflies, every reduction, late ranks, a rank that asks for something else" {
	for ranks in 1 2 3 4; do
		on "$ranks" "$TESTS/gate_reductions"
	done
	SOFTOFU_SHAPE=1x1x1 SOFTOFU_RANKS_PER_NODE=4 on 4 "$TESTS/gate_reductions"
	SOFTOFU_SHAPE=2x1x1x2x3x2 SOFTOFU_RANKS_PER_NODE=1 on 16 "$TESTS/gate_reductions"
}

@test "jTofu: places, ranks, paths and hops in grids of many shapes" {
	"$TESTS/place_queries"
}

@test "threads share a VCQ that allows it; two at one that does not get a line" {
	on 2 "$TESTS/vcq_threads"
	run on 1 "$TESTS/vcq_threads" misuse
	[ "$status" -eq 0 ]
	[ "$output" = "softofu: rank 0: utofu_poll_tcq: two threads are at one VCQ at once; create it with UTOFU_VCQ_FLAG_THREAD_SAFE" ]
}

@test "ranks that are killed leave nothing, and nobody waits for them" {
	SOFTOFU_JOB="killed-$$" SOFTOFU_RANKS=2 SOFTOFU_RANK=0 "$TESTS/session_chain" &
	first=$!
	sleep 0.3
	grep -q "@softofu/.*/$first/" /proc/net/unix
	kill -9 "$first"
	run wait "$first"
	# The same rank again, with a partner this time: the first one's queues do no harm.
	SOFTOFU_JOB="killed-$$" SOFTOFU_RANKS=2 SOFTOFU_RANK=1 timeout $((60 * ${TEST_PATIENCE:-1})) "$TESTS/session_chain" &
	second=$!
	SOFTOFU_JOB="killed-$$" SOFTOFU_RANKS=2 SOFTOFU_RANK=0 timeout $((60 * ${TEST_PATIENCE:-1})) "$TESTS/session_chain"
	wait "$second"
	run ! grep -E "@softofu/.*/($first|$second)/" /proc/net/unix
}

@test "the examples, built in the tree and by their own Makefile, say what they promise" {
	here="$TOP_BUILDDIR/examples/utofu"
	for ranks in 1 2 3 5; do
		run on "$ranks" "$here/put"
		[ "$status" -eq 0 ]
		for ((rank = 0; rank < ranks; rank++)); do
			grep -qx "rank $rank of $ranks got \"a message from rank $(((rank + ranks - 1) % ranks))\", edata 42" <<<"$output"
		done
		run on "$ranks" "$here/counter"
		[ "$output" = "$ranks ranks drew $((ranks * 1000)) tickets" ]
		run on "$ranks" "$here/chain"
		[ "$status" -eq 0 ]
		[ "$(grep -c "of $ranks has 122880 bytes" <<<"$output")" -eq "$ranks" ]
	done
	# 1000 words a step from either side: the step times 1000, and the sender's rank.
	for ranks in 1 2 3; do
		run on "$ranks" "$here/double_buffer"
		[ "$status" -eq 0 ]
		for ((rank = 0; rank < ranks; rank++)); do
			both=$(((rank + 1) % ranks + (rank + ranks - 1) % ranks))
			grep -qx "rank $rank of $ranks: sum $((2 * 1000 * 1000 * 5050 + 1000 * 100 * both))" <<<"$output"
		done
	done
	cp "$TOP"/examples/utofu/* .
	make -s CC="${CC:-cc}" CFLAGS='-O2 -Wall -Wextra -Werror' \
		TOFU="-I $TOP/softofu/include -L$TOP_BUILDDIR/.libs -ltofucom -ljtofu -Wl,-rpath,$TOP_BUILDDIR/.libs"
	run on 2 ./counter
	[ "$output" = "2 ranks drew 2000 tickets" ]
}

@test "memory that another user offers under our job's name is not taken" {
	[ "$(id -u)" -eq 0 ] || skip "needs root to become somebody else"
	cat >offer.c <<'END'
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	static char content[1 << 20], nothing[1 << 20];
	int fd, s = socket(AF_UNIX, SOCK_DGRAM, 0), length;
	char word;

	(void)argc;
	if (setgid(65534) || setuid(65534) || (fd = memfd_create("softofu", 0)) < 0 || ftruncate(fd, sizeof content))
		return 1;
	length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "%s/%d/%d", argv[1], (int)getpid(), fd);
	if (bind(s, (struct sockaddr *)&address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)))
		return 1;
	puts("offered");
	fflush(stdout);
	while (read(0, &word, 1) > 0)
		;
	if (pread(fd, content, sizeof content, 0) == sizeof content && !memcmp(content, nothing, sizeof content))
		puts("untouched");
	return 0;
}
END
	"${CC:-cc}" offer.c -o offer
	cat >tnis.c <<'END'
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <utofu.h>

/* Prints under which name this process offers its memory, less its own part. */
int main(void)
{
	FILE *names = fopen("/proc/net/unix", "r");
	char line[512], mine[32];
	utofu_tni_id_t *tnis;
	size_t count;
	int code = utofu_get_onesided_tnis(&tnis, &count);

	snprintf(mine, sizeof mine, "/%d/", (int)getpid());
	while (names && fgets(line, sizeof line, names))
		if (strstr(line, "@softofu/") && strstr(line, mine))
			printf("%.*s\n", (int)(strstr(line, mine) - strchr(line, '@')) - 1, strchr(line, '@') + 1);
	return code;
}
END
	"${CC:-cc}" -I "$TOP/softofu/include" tnis.c -o tnis -L "$TOP_BUILDDIR/.libs" -ltofucom -Wl,-rpath,"$TOP_BUILDDIR/.libs"
	name=$(SOFTOFU_JOB=shared ./tnis)
	[[ "$name" == softofu/0/* ]]
	mkfifo hold
	./offer "$name" <hold >offered 3>&- &
	other=$!
	exec 9>hold
	for _ in $(seq 100); do [ -s offered ] && break || sleep 0.05; done
	grep -q offered offered
	run timeout 30 env SOFTOFU_JOB=shared ./tnis
	exec 9>&-
	wait "$other"
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$output" = "$name" ]
	grep -q untouched offered
}
