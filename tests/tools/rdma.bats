#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# tests/rdma: arguments, and what goes between the guest and outside. Nothing here starts a guest.

bats_require_minimum_version 1.5.0

setup()
{
	rdma=$(cd "$BATS_TEST_DIRNAME/../rdma" && pwd)
	cd "$BATS_TEST_TMPDIR" || return
}

# refused SENTENCE ARGUMENTS...: ends with 2 and the one line
refused()
{
	sentence=$1
	shift
	run "$rdma/run" "$@"
	[ "$status" -eq 2 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ "$output" == "tests/rdma/run: $sentence"* ]]
}

# with_run COMMAND: with the functions of tests/rdma/run, up to where it acts
with_run()
{
	sed '/^# --- Go ---/,$d; s|^here=.*|here='"$rdma"'|' "$rdma/run" >functions
	sh -c '. ./functions; eval "$command"' functions up
}

@test "--help is a page with all options and checks" {
	run -0 "$rdma/run" --help
	for option in $(sed -n 's/^\t\(--[a-z |-]*\)).*/\1/p' "$rdma/run" | tr -d '|' | tr ' ' '\n' | grep -v '^--$'); do
		[[ "$output" == *"$option "* ]] || { echo "$option is missing" && false; }
	done
	for check in $(sed -n 's/^check_\([a-z]*\)()$/\1/p' "$rdma/checks"); do
		[[ "$output" == *"
  $check  "* ]] || { echo "$check is missing" && false; }
		grep -q "^all_checks=.*\b$check\b" "$rdma/run"
	done
}

@test "wrong arguments are refused in one line" {
	refused "what is to be done?"
	refused "unknown command 'boot'" boot
	refused "unknown option '--tori'" up --tori 4
	refused "--torus wants a value" up --torus
	refused "--seconds 0: give a number" exec --seconds 0 h0 true
	refused "--share ./none: no such folder" up --share ./none
	refused "run: which command?" run --torus 2
	refused "exec: tests/rdma/run exec HOST COMMAND" exec h0
	refused "up: 'h0' is one word too many" up h0
	refused "check ping: the checks are devices cables" check ping
}

@test "without a guest, exec and down say so" {
	refused "exec: no guest is up" exec --cache "$PWD" h0 true
	refused "down: no guest is up" down --cache "$PWD"
}

@test "the guest sees each folder once, and none within another" {
	mkdir -p one/two other
	export command='top=/src build=/src/build PWD=/src/build/x shared=:/src2:/other/a:/other; shared_folders'
	run -0 with_run
	[ "$output" = "/other
/src
/src2" ]
}

@test "words of a command and settings reach the guest as they are" {
	mkdir -p work/jobs
	export command='work=$PWD/work logs=$PWD seconds=1; echo $$ >work/pid
		await() { [ ! -e work/jobs/1 ] || { echo 7 >work/jobs/1.code; echo said >work/jobs/1.out; }; }
		on h0 printf "%s\n" "two words" "it'"'"'s"'
	UCX_TLS='a b' SHMEM_SYMMETRIC_SIZE=1M run -7 with_run
	[ "$output" = said ]
	run_job() { shift 2; "$@"; echo "$UCX_TLS $SHMEM_SYMMETRIC_SIZE"; }
	run -0 . ./work/jobs/1
	[ "$output" = "two words
it's
a b 1M" ]
}

# judged BYTES...: of x+ of h0, its device, x- of h1, its device, and another device of h1; what
# checks says
judged()
{
	printf 'h0 x+ 100 02:00 h1 x- 101 02:01\nh1 x+ 102 02:02 h2 x- 103 02:03\nh0 eth0 104 02:04 switch p0 105 02:05\n' >cables
	printf '%s\n' "h0 x+ sent $1 received 0" "h0 h0_x+ sent $2 received 0" "h1 x- sent 0 received $3" \
		"h1 h1_x- sent 0 received $4" "h1 h1_x+ sent 0 received $5" >rma.4
	sed '/^"check_$1"$/d; s|/tmp/cables|cables|; s|^\. "${0.*|. '"$rdma"'/../lib/plan.sh|' "$rdma/checks" >functions
	run sh -c '. ./functions; judge ./rma.4' functions
}

@test "the counters of a job show RDMA, on the devices of one cable" {
	judged 1200000 1000000 1200000 1000000 0
	[ "$status,$output" = "0,ok rma.4: 1000000 bytes by RDMA, 200000 by TCP over cables" ]
	judged 1200000 0 1200000 0 0
	[ "$status,$output" = "1,not ok rma.4: 0 bytes by RDMA, 1200000 by TCP over cables; too much by TCP" ]
	judged 1200000 1000000 1200000 0 1000000
	[ "$status" -eq 1 ]
	[[ "$output" == *"; h1 x+ received 1000000 bytes by RDMA, of which h2 x- sent 0"* ]]
}
