#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# run: beside
# Memory on GPUs, over the stand-in for CUDA's driver (tests/gpu/soft/).

bats_require_minimum_version 1.5.0

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
	grep -q 'HAVE_CUDA 1' "$TOP_BUILDDIR/config.h" || skip "configured --without-cuda"
	export SOFT="$TOP_BUILDDIR/tests/gpu/soft/.libs"
	[ -e "$SOFT/libcuda.so.1" ] || skip "the stand-in for CUDA's driver is not built: make check-programs"
	export OSHRUN="${OSHRUN:-$TOP_BUILDDIR/oshrun}" OSHCC="${OSHCC:-$TOP_BUILDDIR/oshcc}"
	export PROGRAM="$BATS_FILE_TMPDIR/gpu_mistake"
	"$OSHCC" -O1 -o "$PROGRAM" "${BATS_TEST_FILENAME%/*}/gpu_mistake.c" -ldl
}

setup()
{
	cd "$BATS_TEST_TMPDIR" || return
}

# job MISTAKE [NAME=VALUE]...: on two PEs, over the stand-in
job()
{
	run env LD_LIBRARY_PATH="${driver-$SOFT}" "${@:2}" timeout -k 2 $((20 * ${TEST_PATIENCE:-1})) \
		"$OSHRUN" -q -n 2 "$PROGRAM" "$1"
}

# says TEXT...: one line of ours, and each of the texts (patterns of grep -E) is in it
says()
{
	ours=$(printf '%s\n' "$output" | grep -E '^(torushmem|oshrun): ' |
		grep -Ev '^torushmem: PE [0-9]+: was in shmem[a-z_]+ when PE [0-9]+ ended$' || :)
	for text in '^torushmem: PE [01]: ' "$@"; do
		if [ "$(printf '%s\n' "$ours" | grep -c .)" -ne 1 ] || ! printf '%s\n' "$ours" | grep -Eq -- "$text"; then
			printf 'not one line with "%s"; status %s and:\n%s\n' "$text" "$status" "$output"
			return 1
		fi
	done
}

# goes_on TEXT...: no PE has memory of GPUs, one line says so, and the program ends well
goes_on()
{
	[ "$status" -eq 0 ] || { printf '%s\n' "$output" && return 1; }
	[ "$(printf '%s\n' "$output" | grep -cx 0)" -eq 2 ]
	says 'shmem_init_thread: no memory of GPUs: ' "$@"
}

@test "the stand-in is as strict as CUDA's driver" {
	LD_LIBRARY_PATH=$SOFT run -0 "$TOP_BUILDDIR/tests/gpu/stand_in"
	[ -z "$output" ]
}

@test "kernels compute what loops on the host do" {
	LD_LIBRARY_PATH=$SOFT run -0 "$TOP_BUILDDIR/tests/gpu/kernels"
	[ -z "$output" ]
}

@test "the assembler of CUDA takes the text of every kernel" {
	ptxas=$(command -v ptxas || command -v /usr/local/cuda/bin/ptxas) || skip "ptxas is not there"
	"$TOP_BUILDDIR/tests/gpu/kernels" "$BATS_TEST_TMPDIR"
	cd "$BATS_TEST_TMPDIR"
	[ "$(ls ./*.ptx | wc -l)" -eq 78 ]
	# One file: it takes each a moment to begin with.
	{ head -n 3 atomic_add_32.ptx && sed '/^\.version/d; /^\.target/d; /^\.address_size/d' ./*.ptx; } >all.ptx
	for gpu in sm_75 sm_90; do
		run -0 "$ptxas" -arch "$gpu" all.ptx -o "$gpu.cubin"
		[ -z "$output" ]
	done
}

# suite OPTION...: tests/gpu/run over the stand-in; says what failed
suite()
{
	run sh "$BATS_TEST_DIRNAME/../gpu/run" --soft --no-speed --build "$TOP_BUILDDIR" "$@"
	[ "$status" -eq 0 ] || {
		echo "$output"
		return 1
	}
}

@test "all chapters, between PEs that map each other's heaps" {
	suite --paths ipc --only rma,amo,signals,wait,collectives,memory
}

# Others of the paths below: tests/run --kinds gpu.
@test "puts, atomics and collectives, through the hosts and UCX" {
	suite --paths staged --only rma,amo,collectives
}

@test "puts and signals, between nodes of two PEs, over cables, and on a node without IPC" {
	suite --paths mixed,cables,noipc --only rma,signals
}

@test "the speed program runs on both paths" {
	run sh "$BATS_TEST_DIRNAME/../gpu/run" --soft --build "$TOP_BUILDDIR" --only none --record "$BATS_TEST_TMPDIR/record"
	[ "$status" -eq 0 ]
	grep -q '^2 passed, 0 failed' <<<"$output"
	grep -q '^| ipc | put 8 B GPU to GPU | [0-9.]* | us |' "$BATS_TEST_TMPDIR/record"
	grep -q '^| staged | put GPU to GPU through hosts, 1 MiB | [0-9.]* | GB/s |' "$BATS_TEST_TMPDIR/record"
}

# start_with SETTING...: tests/gpu/start on two PEs
start_with()
{
	LD_LIBRARY_PATH=$SOFT run env "$@" timeout 60 "$TOP_BUILDDIR/oshrun" -n 2 "$TOP_BUILDDIR/tests/gpu/start" $arguments
}

# without WHY: the program went on, and one line says what is missing
without()
{
	[ "$status" -eq 0 ]
	[ "$(grep -c "no memory of GPUs: " <<<"$output")" -eq 1 ]
	grep -q "^torushmem: PE 0: shmem_init_thread: no memory of GPUs: .*$1" <<<"$output"
	grep -qx 'not provided' <<<"$output"
	grep -qx 'sum 3' <<<"$output"
}

with()
{
	[ "$status" -eq 0 ]
	[ "$output" = "$(printf 'provided\nsum 3')" ]
}

@test "where no GPU can be used a line says why, and the program goes on" {
	start_with LD_LIBRARY_PATH=
	# A machine with a driver has another reason, or none.
	ldconfig -p | grep -q 'libcuda.so.1 ' || without 'libcuda.so.1 cannot be loaded'
	start_with SOFT_CUDA_DEVICES=0
	without 'no CUDA-capable device'
	start_with CUDA_VISIBLE_DEVICES=
	without 'no CUDA-capable device'
	start_with SOFT_CUDA_FAIL=cuMemAlloc_v2=2
	without 'SHMEM_DEVICE_SYMMETRIC_SIZE.*out of memory'
	start_with SHMEM_DEVICE_SYMMETRIC_SIZE=4G
	without '4 GiB (SHMEM_DEVICE_SYMMETRIC_SIZE): out of memory'
	start_with SOFT_CUDA_FAIL=cuStreamCreate=2
	without 'create a stream: out of memory'
}

@test "an allocation without a GPU ends with a message" {
	arguments=allocate start_with SOFT_CUDA_DEVICES=0
	[ "$status" -eq 1 ]
	grep -q 'shmemg_calloc: there is no memory of GPUs; request SHMEM_DEVICE_HOST_INIT' <<<"$output"
}

@test "a driver that cannot share memory between processes is enough" {
	start_with SOFT_CUDA_FAIL=cuIpcOpenMemHandle_v2=217
	with
	start_with SOFT_CUDA_FAIL=cuIpcGetMemHandle=801
	with
	start_with SOFT_CUDA_INTEGRATED=1
	with
	start_with SOFT_CUDA_DEVICES=2 SOFT_CUDA_PEER=0
	with
}

@test "a driver that cannot compile the library's kernels ends the job with a message" {
	start_with SOFT_CUDA_FAIL=cuModuleLoadData=222
	[ "$status" -eq 1 ]
	grep -q "cannot run the library's kernel for atomics; update the driver" <<<"$output"
}

@test "PEs on two GPUs reach each other's memory, or pass the hosts" {
	for peer in 1 0; do
		for program in rma amo collectives memory; do
			LD_LIBRARY_PATH=$SOFT run -0 env SOFT_CUDA_DEVICES=2 SOFT_CUDA_PEER=$peer timeout 60 \
				"$TOP_BUILDDIR/oshrun" -n 3 "$TOP_BUILDDIR/tests/gpu/$program"
		done
	done
}

@test "on a GPU that shares the host's memory the heap is pinned at the start" {
	LD_LIBRARY_PATH=$SOFT run -0 env SOFT_CUDA_INTEGRATED=1 timeout 60 "$TOP_BUILDDIR/oshrun" -n 2 "$TOP_BUILDDIR/tests/gpu/memory"
	arguments=pinned start_with SOFT_CUDA_INTEGRATED=1
	[ "$(grep -cx 'pinned' <<<"$output")" -eq 2 ]
	arguments=pinned start_with SOFT_CUDA_INTEGRATED=0
	[ "$(grep -cx 'not pinned' <<<"$output")" -eq 2 ]
}

@test "what is carried to a machine without packages runs there" {
	command -v bwrap >/dev/null || skip "bwrap is not there; on Debian: apt-get install bubblewrap"
	bwrap --ro-bind / / true 2>/dev/null || skip "bwrap cannot make a root of its own here"
	folder=$BATS_TEST_TMPDIR/there
	run -0 "$BATS_TEST_DIRNAME/../gpu/carry" "$folder"
	[ "$(du -sm "$folder" | cut -f 1)" -lt 40 ]
	root=$BATS_TEST_TMPDIR/root
	mkdir -p "$root/lib64" "$root/there" "$root/tests" "$root/bin" "$root/sys"
	cp -L /lib64/ld-linux-x86-64.so.2 "$root/lib64/" 2>/dev/null || skip "for x86_64 alone"
	# Of the C library, all that anything there asks for.
	for file in "$folder/oshrun" "$folder/tests/gpu/start" "$folder"/lib/*.so*; do
		ldd "$file" | awk '$1 ~ /^lib(c|m|dl|rt|pthread|resolv|util)\.so/ { print $3 }'
	done | sort -u >"$BATS_TEST_TMPDIR/libraries"
	xargs cp -L -t "$root/lib64" <"$BATS_TEST_TMPDIR/libraries"
	# shellcheck disable=SC2016 # for the shell there
	run -0 bwrap --bind "$root" / --proc /proc --dev /dev --tmpfs /dev/shm --tmpfs /tmp --ro-bind /sys /sys \
		--bind "$folder" /there --clearenv --setenv HOME /tmp --setenv PMIX_PREFIX /there/pmix \
		--setenv LD_LIBRARY_PATH /there/lib:/there/tests/gpu/soft/.libs:/lib64 --setenv SHMEM_PATHS ucx \
		--setenv UCX_TLS tcp,self /there/oshrun -n 2 /there/tests/gpu/start
	grep -qx provided <<<"$output"
}

@test "with a GPU: the host's part is provided, calls by kernels are not" {
	job provided
	[ "$status" -eq 0 ]
	[ "$output" = $'256\n256' ]
	job context
	[ "$status" -eq 0 ]
	[ "$output" = $'1\n1' ]
}

@test "SHMEM_INFO names the GPU, and only where there is one" {
	job provided SHMEM_INFO=1 SHMEM_DEVICE_SYMMETRIC_SIZE=16M
	[ "$(printf '%s\n' "$output" | grep -c '^GPU: .*, heap of 16 MiB there$')" -eq 1 ]
	job not-requested SHMEM_INFO=1
	[ "$(printf '%s\n' "$output" | grep -c '^GPU: ')" -eq 0 ]
	[ "$(printf '%s\n' "$output" | grep -c '^Symmetric heap: ')" -eq 1 ]
}

@test "no driver, no GPU: one line, and the program goes on" {
	mkdir none
	: >none/libcuda.so.1 # no library: also where a driver is installed
	driver=$PWD/none job provided
	goes_on 'libcuda.so.1 cannot be loaded'
	job provided SOFT_CUDA_DEVICES=0
	goes_on 'the GPU.s driver fails: no CUDA-capable device is detected'
}

@test "no room on the GPU for a heap: one line, and the program goes on" {
	job provided SOFT_CUDA_FAIL=cuMemAlloc_v2:1=2
	goes_on 'PE 0: ' 'allocate a heap of .*SHMEM_DEVICE_SYMMETRIC_SIZE\): out of memory'
	job provided SHMEM_DEVICE_SYMMETRIC_SIZE=4G
	goes_on 'allocate a heap of 4 GiB \(SHMEM_DEVICE_SYMMETRIC_SIZE\): out of memory'
	job provided SHMEM_DEVICE_SYMMETRIC_SIZE=much
	[ "$status" -ne 0 ]
	says 'SHMEM_DEVICE_SYMMETRIC_SIZE=much'
}

@test "no room on one PE's GPU only: that PE says so, and all go on without" {
	# shellcheck disable=SC2016 # for the script
	printf '#!/bin/sh\n[ "$PMIX_RANK" != 1 ] || export SOFT_CUDA_FAIL=cuMemAlloc_v2:1=2\nexec "$@"\n' >one
	chmod +x one
	run env LD_LIBRARY_PATH="$SOFT" timeout -k 2 $((20 * ${TEST_PATIENCE:-1})) "$OSHRUN" -q -n 2 ./one "$PROGRAM" provided
	goes_on 'PE 1: '
}

@test "routines of the GPU's heap without one: one line ends the job" {
	for mistake in not-requested none; do
		driver=/nowhere job "$mistake" SOFT_CUDA_DEVICES=0
		[ "$status" -ne 0 ]
		[[ "$mistake" != none ]] || output=$(printf '%s\n' "$output" | grep -v 'no memory of GPUs:')
		says 'shmemg_malloc: there is no memory of GPUs; request SHMEM_DEVICE_HOST_INIT of shmem_init_thread'
	done
}

@test "mistakes with memory of the GPU: one line says what is wrong" {
	while IFS='|' read -r mistake text; do
		job "$mistake"
		[ "$status" -ne 0 ] || { echo "$mistake ended well" && return 1; }
		says "$text"
	done <<'END'
dest-private|PE 1: shmem_long_put: dest=0x[0-9a-f]+ is memory of the GPU, but not symmetric; allocate it by shmemg_malloc
source-private|PE 1: shmem_long_get: source=0x[0-9a-f]+ is memory of the GPU, but not symmetric
beyond|PE 1: shmem_putmem: dest=0x[0-9a-f]+: 1099511627776 bytes from there run past the end of the heap on the GPU
strided-beyond|PE 1: .* run past the end of the heap on the GPU
misaligned|PE 1: shmem_long_atomic_add: dest=0x[0-9a-f]+ is not aligned to 8 bytes
no-pe|PE 1: shmem_long_p: pe=99: there is no such PE
lock|PE 1: shmem_set_lock: lock=0x[0-9a-f]+ is memory of a GPU, which this routine does not take
align|shmemg_align: alignment=3 is not a power of two
END
}

@test "routines for the host only refuse memory of the GPU" {
	for mistake in plan neighbours psync gather allgatherv; do
		job "$mistake"
		[ "$status" -ne 0 ] || { echo "$mistake ended well" && return 1; }
		output=$(printf '%s\n' "$output" | grep '^torushmem' | head -n 1) # both PEs may say so
		says 'is memory of a GPU, which this routine does not take; copy it to the host first$'
	done
}

@test "a heap that is exhausted: NULL on all PEs, and one line" {
	job too-large
	[ "$status" -eq 0 ]
	[ "$(printf '%s\n' "$output" | grep -cx 1)" -eq 2 ]
	says 'PE 0: shmemg_malloc: the heap on the GPU has no room for size=1099511627776 .*SHMEM_DEVICE_SYMMETRIC_SIZE'
}
