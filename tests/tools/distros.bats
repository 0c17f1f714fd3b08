#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# tests/distros: arguments, results and the page made of them. Nothing here
# makes a root of a release.

bats_require_minimum_version 1.5.0

setup()
{
	distros=$(cd "$BATS_TEST_DIRNAME/../distros" && pwd)
	cd "$BATS_TEST_TMPDIR" || return
	tab=$(printf '\t')
}

# refused SENTENCE ARGUMENTS...: ends with 2 and the one line
refused()
{
	sentence=$1
	shift
	run "$distros/run" "$@"
	[ "$status" -eq 2 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ "$output" == "tests/distros/run: $sentence"* ]]
}

# with_machine COMMAND...: with the functions of tests/distros/machine and of tests/distros/inside
with_machine()
{
	sed '/^# --- Go ---/,$d' "$distros/inside" >functions
	sh -c '. "$1/machine"; . ./functions; eval "$2"' machine "$distros" "$*"
}

@test "--help is a page with all options" {
	run -0 "$distros/run" --help
	for option in $(sed -n 's/^\t\(--[a-z |-]*\)).*/\1/p' "$distros/run" | tr -d '|' | tr ' ' '\n' | grep -v '^--$'); do
		[[ "$output" == *"  $option "* ]] || { echo "$option is missing" && false; }
	done
	for step in quickstart api tools sanitizers hosts compilers packages; do
		[[ "$output" == *"
  $step  "* ]]
	done
}

@test "wrong arguments are refused in one line" {
	refused "'': which release?"
	refused "unknown option '--step'" trixie --step api
	refused "--steps wants a value" trixie --steps
	refused "--steps apple: the steps are quickstart api" trixie --steps api,apple
	refused "--paths 'a b' --only '': names with commas between" trixie --paths 'a b'
	refused "trixie and sid: one release at a time" trixie sid
	refused "'../x': which release?" ../x
	refused "'true': a command goes with --shell" trixie -- true
}

# another: a processor with virtual machines that this machine does not have
another()
{
	command -v dpkg >/dev/null || skip "no dpkg"
	[ "$(dpkg --print-architecture)" != arm64 ] && other=arm64 || other=riscv64
}

@test "processors without virtual machines, and steps that these do not have, are refused" {
	another
	refused "trixie-alpha: the processors are" trixie-alpha
	refused "--steps hosts: the steps are quickstart api tools" "trixie-$other" --steps api,hosts
}

@test "every virtual machine has a processor, a kernel and a console" {
	for processor in arm64 riscv64 ppc64el; do
		run -0 with_machine "facts_of $processor; for name in \$machines; do
			echo \"\$name \$(processor_of \$name)\" | grep -- '-M .* -cpu ' >/dev/null || echo \"\$name: no processor\"
			case \" \$kernels\" in *\" \$(pages_of \$name):linux-image-\"*) ;; *) echo \"\$name: no kernel\" ;; esac
		done; [ -n \"\$triplet\" ] && [ -n \"\$emulator\" ] && [ -n \"\$console\" ] || echo $processor"
		[ -z "$output" ]
	done
	run -1 with_machine 'facts_of alpha'
	for release in bookworm trixie; do
		run -0 with_machine "machine_packages $release"
		[[ "$output" == *busybox-static*libpmix2* ]]
	done
}

@test "--paths names lines, lines of one virtual machine, and virtual machines" {
	asked="facts_of arm64; for name in \$machines; do ! is_machine_asked_for \$name || echo \$name; done"
	run -0 with_machine "paths=; $asked"
	[ "$output" = "max
a64fx
16k" ]
	run -0 with_machine "paths=local,tofu; $asked"
	[ "${#lines[@]}" -eq 3 ]
	run -0 with_machine "paths=programs; $asked"
	[ -z "$output" ]
	run -0 with_machine "paths=16k,local:a64fx; $asked"
	[ "$output" = "a64fx
16k" ]
	lines_of="for machine in max a64fx; do for line in local tofu; do ! is_asked_for \$line || echo \$line:\$machine; done; done"
	run -0 with_machine "paths=local:a64fx,max; $lines_of"
	[ "$output" = "local:max
tofu:max
local:a64fx" ]
	run -0 with_machine "paths=tofu; $lines_of"
	[ "$output" = "tofu:max
tofu:a64fx" ]
	run -0 with_machine "paths=; $lines_of"
	[ "${#lines[@]}" -eq 4 ]
}

@test "the words of a command reach the shell of a virtual machine as they are" {
	run -0 with_machine "foreign=arm64 here=. machines=max paths=; boot() { echo 0 >ended; }; shell_in_machine echo 'two words' \"it's\" '\$HOME' ''"
	eval "set -- $(cat command)"
	[ "$#" -eq 5 ] && [ "$2" = 'two words' ] && [ "$3" = "it's" ] && [ "$4" = "\$HOME" ] && [ -z "$5" ]
}

@test "a virtual machine that ends early has failed, and its console is shown" {
	mkdir -p share/logs share/tmp bin
	cat >bin/qemu-system-aarch64 <<'END'
#!/bin/sh
printf '%s\n' "$@" >asked
[ ! -e works ] || echo 0 >share/ended
echo "Kernel panic" >share/logs/console-16k.log
END
	chmod +x bin/qemu-system-aarch64
	PATH=$PWD/bin:$PATH
	run -1 with_machine "share=share; facts_of arm64; boot 16k machine-steps forget"
	[ "$output" = "the virtual machine 16k ended early; the end of its console:
Kernel panic" ]
	touch works
	run -0 with_machine "share=share; foreign=arm64; facts_of arm64; boot 16k machine-steps forget"
	[ -z "$output" ]
	grep -qx /machine/kernel-16k asked
	grep -q 'snapshot=on$' asked
	grep -q '^machine=16k action=machine-steps speaks=/dev/hvc0 foreign=arm64$' share/awake
	run -0 with_machine "share=share; foreign=arm64; facts_of arm64; boot a64fx settle keep"
	grep -qx a64fx asked
	grep -q 'snapshot=off$' asked
}

@test "a user who is not root gets a message" {
	if [ "$(id -u)" -eq 0 ]; then
		mkdir bin
		printf '#!/bin/sh\necho 1000\n' >bin/id
		chmod +x bin/id
		PATH=$PWD/bin:$PATH
	fi
	refused "only root makes a root" trixie --cache "$PWD/cache"
	[ ! -e cache ]
}

# results NAME LINE...: a file of results in a tree of its own; | stands for a tab
results()
{
	[ -e tree/tests/distros/run ] || { mkdir -p tree/docs/platforms tree/tests && cp -r "$distros" tree/tests; }
	name=$1
	shift
	printf '%s\n' "$@" | tr '|' '\t' >"tree/docs/platforms/$name.tsv"
}

# row_of PATTERN: the line of the page that has it, without the blanks that do not matter
row_of()
{
	grep -e "$1" tree/docs/platforms.md | tr -s ' '
}

@test "--page: all releases by age, the versions that each has, and lines with failures" {
	results trixie 'version|Debian|Debian GNU/Linux 13 (trixie)' 'version|glibc|2.41' 'version|UCX|1.18.1' 'version|PMIx|5.0.7' \
		'api|local|202|0|0|100|2026-01-02|abc|' 'api|ucx-tcp|40|2|1|90|2026-01-03|abd+|' \
		'compilers|gcc-14|60|0|0|50|2026-01-02|abc|0 warnings'
	results bookworm 'version|Debian|Debian GNU/Linux 12 (bookworm)' 'version|glibc|2.36' 'version|UCX|1.13.1' \
		'quickstart|stencil|1|0|0|60|2026-01-04|abc|'
	results sid 'version|glibc|2.42' 'hosts|slurm4|0|1|0|7|2026-01-05|abc|ended with status 2 and no result'
	printf 'What this is.\n\n| release | old\nold\n' >tree/docs/platforms.md
	run -0 tree/tests/distros/run --page
	[ "$(head -n 1 tree/docs/platforms.md)" = "What this is." ]
	! grep -q old tree/docs/platforms.md
	[ "$(sed -n '/^| release | UCX/,/^$/s/^| \([a-z]*\) .*/\1/p' tree/docs/platforms.md | paste -s -d ' ')" = "release bookworm trixie sid" ]
	[ "$(row_of '^| trixie | 1')" = "| trixie | 1.18.1 | 5.0.7 | | – | 242, **2 failed** | – | – | – | 60 | – | 2026-01-02 to 2026-01-03 |" ]
	[ "$(row_of '^| bookworm | 1')" = "| bookworm | 1.13.1 | | | 1 | – | – | – | – | – | – | 2026-01-04 |" ]
	[[ "$(row_of '^| sid |  |')" == *"| – | – | – | – | 0, **1 failed** | – | – | 2026-01-05 |" ]]
	[ "$(row_of '^| trixie | Debian')" = '| trixie | Debian GNU/Linux 13 (trixie); glibc 2.41 |' ]
	[ "$(row_of '^| trixie | api')" = "| trixie | api ucx-tcp | 2 | 2026-01-03 | abd+ | |" ]
	[ "$(row_of '^| sid | hosts')" = "| sid | hosts slurm4 | 1 | 2026-01-05 | abc | ended with status 2 and no result |" ]
	[ "$(grep -c '^| [a-z]* | [a-z]* [a-z0-9-]* |' tree/docs/platforms.md)" -eq 2 ]
}

# record ROW...: what a run that had these results leaves of those recorded
record()
{
	mkdir -p work
	printf '%s\n' "$@" | tr '|' '\t' >work/rows
	{
		sed -n '/^record_results()/,/^}/p' "$distros/run"
		echo 'make_page() { :; }; record_results'
	} >record.sh
	only='' work=work top=tree platform=trixie sh record.sh
}

@test "a run replaces the lines of what it ran" {
	results trixie 'api|local|1|1|0|1|d|s|' 'api|other|1|0|0|1|d|s|' 'version|UCX|1.0'
	record 'version|UCX|2.0' 'api|local|2|0|0|1|d|s|'
	[ "$(tr '\t' '|' <tree/docs/platforms/trixie.tsv)" = 'api|other|1|0|0|1|d|s|
version|UCX|2.0
api|local|2|0|0|1|d|s|' ]
	rm tree/docs/platforms/trixie.tsv
	record 'api|local|5|0|0|1|d|s|'
	[ "$(cut -f 3 tree/docs/platforms/trixie.tsv)" = 5 ]
}

# line_of STEP NAME LOG: what tests/distros/inside makes of a tests/run that printed this;
# then its rows and failures
line_of()
{
	rm -rf inside
	mkdir -p inside/logs inside/source/tests
	printf 'echo "$*" >asked\ncat said\nexit 1\n' >inside/source/tests/run
	printf '%s\n' "$3" >said
	with_machine "here=inside source=inside/source source_name=abc paths= only=a,b warnings='a remark'; tests_of $1 $2 build --kinds api"
	cut -f 1-5,8- inside/rows | tr '\t' '|'
	[ ! -e inside/failures ] || cat inside/failures
}

@test "a log becomes a line of results, and names what failed once" {
	run -0 line_of api ucx-tcp 'ok 1 amo ucx-tcp 2 PEs 0.20s
not ok 2 channels ucx-tcp 2 PEs 3.00s: exit code 1, expected 0
    | not ok 9 of somebody else
not ok 3 channels ucx-tcp 3 PEs: stopped after 60.00s, its time limit
not ok 4 nothing-left these are still there:
1 passed, 3 failed'
	[[ "${lines[0]}" == "  api "*"ucx-tcp "*" 1 passed,   3 failed, 0 skipped "*" s  a remark" ]]
	[ "${lines[1]}" = "api|ucx-tcp|1|3|0|abc|a remark" ]
	[ "$(cat asked)" = "--build build --kinds api --only a,b" ]
	[ "${lines[2]}" = "api ucx-tcp channels" ] && [ "${lines[3]}" = "api ucx-tcp nothing-left" ] && [ "${#lines[@]}" -eq 4 ]
	run -0 line_of tools tools 'not ok 7 oshrun: ends with the status of its program 0.12s
8 passed, 1 failed, 10 skipped'
	[ "${lines[1]}" = "tools|tools|8|1|10|abc|a remark" ]
	[ "${lines[2]}" = "tools tools oshrun" ]
	run -0 line_of api local '5 passed, 0 failed'
	[ "${lines[1]}" = "api|local|5|0|0|abc|a remark" ] && [ "${#lines[@]}" -eq 2 ]
}

@test "a command without a result has failed" {
	run -0 line_of sanitizers asan 'make: *** No rule'
	[ "${lines[1]}" = "sanitizers|asan|0|1|0|abc|ended without a result" ]
	[ "${lines[2]}" = "sanitizers asan" ]
}

# A root with a few programs of this machine, and a command that enters it
# as tests/distros/run does.
make_small_root()
{
	[ "$(id -u)" -eq 0 ] && command -v bwrap >/dev/null && bwrap --ro-bind / / --unshare-net true || skip "needs root, bwrap and namespaces"
	mkdir -p root/torushmem root/usr root/bin work/tmp
	for program in sh env ip ls cat touch sleep hostname mount; do
		for file in "$(command -v "$program")" $(ldd "$(command -v "$program")" | grep -o '/[^ ]*'); do
			mkdir -p "root${file%/*}"
			cp -L "$file" "root$file"
		done
	done
	mkdir -p root/usr/bin root/dev root/proc root/sys root/tmp root/run root/root root/var/tmp root/etc
	cp -Ln root/usr/bin/* root/bin/* root/bin 2>/dev/null || true
	printf 'shift\n"$@"\n' >work/inside
	{
		sed -n '/^enter()/,/^}/p' "$distros/run"
		echo 'enter offline root shell "$@"'
	} >enter.sh
}

enter_small_root()
{
	exec env work="$PWD/work" platform=small sh enter.sh "$@"
}

@test "a root has its own network, processes, name, /dev/shm and /tmp, and is read-only" {
	make_small_root
	# shellcheck disable=SC2016 # for the shell in there
	run -0 enter_small_root sh -c 'hostname; ls /dev/shm /tmp /run; ip -o link | while read -r _ name rest; do echo "$name $rest"; done
		touch /dev/shm/a /tmp/a /run/a /var/tmp/a && echo written; touch /etc/a 2>/dev/null || echo "read-only"; echo /proc/[0-9]*'
	echo "$output"
	[[ "$output" == "small
"*"lo: "*LOOPBACK,UP*"
written
read-only
/proc/1 /proc/2 /proc/3" ]]
	[ ! -e /dev/shm/a ] && [ -e work/tmp/a ] && [ ! -e root/etc/a ]
	! grep -F "$PWD" /proc/self/mounts
}

@test "nothing is left of a run that is killed" {
	make_small_root
	seconds=9$$
	enter_small_root sh -c "touch /tmp/up; sleep $seconds & exec sleep $seconds" 3>&- &
	pid=$!
	for _ in $(seq 50); do
		[ ! -e work/tmp/up ] || break
		sleep 0.1
	done
	[ -e work/tmp/up ]
	kill -9 "$pid"
	for _ in $(seq 50); do
		[ -n "$(grep -lzx "$seconds" /proc/[0-9]*/cmdline 2>/dev/null)" ] || break
		sleep 0.1
	done
	[ -z "$(grep -lzx "$seconds" /proc/[0-9]*/cmdline 2>/dev/null)" ]
	! grep -F "$PWD" /proc/self/mounts
}

@test "the scripts are clean" {
	command -v shellcheck >/dev/null || skip "no shellcheck"
	cd "$distros/../.." || return
	shellcheck -x tests/distros/run
	shellcheck -x -s sh tests/distros/inside tests/distros/machine
}
