#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# tests/distros: arguments, apt's sources, results and the page made of them. Nothing here makes a root of a release.

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

# mirrors: what the made-up apt configuration in the folder apt offers
mirrors()
{
	mkdir -p apt/sources.list.d apt/apt.conf.d
	echo "Dir::Etc \"$PWD/apt\";" >apt.conf
	env -u http_proxy -u https_proxy APT_CONFIG="$PWD/apt.conf" "$distros/run" --mirrors >mirrors || return
	grep -q " proxy: " mirrors || return
	grep -v ' proxy: ' mirrors || true
}

# results NAME LINE...: a file of results; | stands for a tab
results()
{
	mkdir -p results
	name=$1
	shift
	printf '%s\n' "$@" | tr '|' '\t' >"results/$name.tsv"
}

# row_of PATTERN: the line of the page that has it, without the blanks that do not matter
row_of()
{
	grep -e "$1" results.md | tr -s ' '
}

@test "--help is a page with all options" {
	run -0 "$distros/run" --help
	for option in $(sed -n 's/^\t\(--[a-z |-]*\)).*/\1/p' "$distros/run" | tr -d '|' | tr ' ' '\n' | grep -v '^--$'); do
		[[ "$output" == *"       $option "* || "$output" == *", $option "* ]] || { echo "$option is missing" && false; }
	done
	for step in quickstart api tools sanitizers hosts compilers figures; do
		[[ "$output" == *"
       $step  "* ]]
	done
}

@test "wrong arguments are refused in one line" {
	refused "which release?"
	refused "unknown option '--step'" trixie --step api
	refused "--steps wants a value" trixie --steps
	refused "--steps apple: the steps are quickstart api" trixie --steps api,apple
	refused "a b: names with commas between" trixie --paths 'a b'
	refused "trixie and sid: one release at a time" trixie sid
	refused "../x: a release is a name such as trixie" ../x
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
	refused "trixie-alpha: there is no virtual machine for 'alpha'; the processors are" trixie-alpha
	refused "--steps hosts: in virtual machines the steps are quickstart api tools" "trixie-$other" --steps api,hosts
}

# with_machine COMMAND...: with the functions of tests/distros/machine and of tests/distros/inside
with_machine()
{
	sh -c 'distros=$1; shift; command=$1; set -- none; . "$distros/machine"; . "$distros/inside"; eval "$command"' machine "$distros" "$*"
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
	mkdir -p inside
	printf 'api\tlocal:a64fx\t1\n' >inside/rows
	run -0 with_machine "here=inside foreign=arm64 unknown=no paths=local,a64fx,local:a64fx,api,local:max; find_unknown; echo \$unknown"
	[ "$output" = "  --paths local:max: no line of these steps has this name here
yes" ]
}

@test "the words of a command reach the shell of a virtual machine as they are" {
	run -0 with_machine "quoted echo 'two words' \"it's\" '\$HOME' ''"
	eval "set -- $output"
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
	refused "a root and namespaces are made by root only" trixie --cache "$PWD/cache"
	[ ! -e cache ]
}

@test "apt's one-line sources" {
	command -v apt-config >/dev/null || skip "no apt"
	mkdir -p apt/sources.list.d apt/apt.conf.d
	cat >apt/sources.list <<'END'
# deb http://commented.example/debian bookworm main
deb-src http://sources.example/debian bookworm main
deb [arch=amd64 signed-by=/usr/share/keyrings/other.gpg] https://other.example/apt bookworm main # a comment
deb [ trusted=yes ] cdrom:[Debian 12]/ bookworm main
deb http://mirror.example/debian/ bookworm main contrib
deb http://mirror.example/debian/ bookworm-updates main
deb [ signed-by=/usr/share/keyrings/third.gpg ] http://third.example/debian bookworm main
END
	echo 'deb http://part.example/debian bookworm main' >apt/sources.list.d/part.list
	echo 'deb http://disabled.example/debian bookworm main' >apt/sources.list.d/part.list.save
	run -0 mirrors
	[ "$output" = "http://mirror.example/debian -
http://third.example/debian /usr/share/keyrings/third.gpg
http://part.example/debian -
https://other.example/apt /usr/share/keyrings/other.gpg" ]
}

@test "apt's deb822 sources" {
	command -v apt-config >/dev/null || skip "no apt"
	mkdir -p apt/sources.list.d apt/apt.conf.d
	cat >apt/sources.list.d/debian.sources <<'END'
# The system's own
Types: deb deb-src
# where it comes from
URIs: http://first.example/debian
 http://second.example/debian/
Suites: bookworm bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://off.example/debian
Suites: bookworm
Components: main
Enabled: no

Types: deb-src
URIs: http://sources.example/debian
Suites: bookworm
Components: main


types: deb
uris: https://key.example/debian
suites: bookworm
components: main
signed-by:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 mQINBF
 -----END PGP PUBLIC KEY BLOCK-----
END
	run -0 mirrors
	[ "$output" = "http://first.example/debian /usr/share/keyrings/debian-archive-keyring.gpg
http://second.example/debian /usr/share/keyrings/debian-archive-keyring.gpg
https://key.example/debian -" ]
}

@test "apt's lists of mirrors, and no source at all" {
	command -v apt-config >/dev/null || skip "no apt"
	run -0 mirrors
	[ -z "$output" ]
	printf '# mirrors\nhttps://listed.example/debian/\tpriority:1\nhttp://next.example/debian\n' >mirrors.list
	echo "deb mirror+file:$PWD/mirrors.list bookworm main" >apt/sources.list
	run -0 mirrors
	[ "$output" = "https://listed.example/debian -" ]
}

@test "apt's proxies: set, of https alone, found by a program, none" {
	command -v apt-config >/dev/null || skip "no apt"
	proxies()
	{
		mkdir -p apt/sources.list.d apt/apt.conf.d
		printf '%s\n' "Dir::Etc \"$PWD/apt\";" "$@" >apt.conf
		env http_proxy=http://environment:1 APT_CONFIG="$PWD/apt.conf" "$distros/run" --mirrors | grep ' proxy: '
	}
	run -0 proxies 'Acquire::http::Proxy "http://cache:3142";'
	[ "$output" = "http proxy: http://cache:3142
https proxy: http://cache:3142" ]
	run -0 proxies 'Acquire::http::Proxy "http://cache:3142";' 'Acquire::https::Proxy "DIRECT";'
	[ "$output" = "http proxy: http://cache:3142
https proxy: none" ]
	printf '#!/bin/sh\necho http://found:8080\n' >detect
	chmod +x detect
	run -0 proxies "Acquire::http::Proxy-Auto-Detect \"$PWD/detect\";"
	[ "${lines[0]}" = "http proxy: http://found:8080" ]
	run -0 proxies 'Acquire::http::Proxy "DIRECT";'
	[ "${lines[0]}" = "http proxy: none" ]
	run -0 proxies
	[ "${lines[0]}" = "http proxy: http://environment:1" ]
}

@test "--page: a table of all releases by age, and a section for each" {
	results trixie 'version|Debian|Debian GNU/Linux 13 (trixie)' 'version|glibc|2.41' 'version|UCX|1.18.1' 'version|PMIx|5.0.7' \
		'api|local|202|0|0|100|2026-01-02|abc|' 'api|ucx-tcp|40|2|1|90|2026-01-03|abd+|' \
		'compilers|gcc-14|60|0|0|50|2026-01-02|abc|0 warnings' \
		'figures|hello|20.00|ms|10.00|2.00|2026-01-02|abc' 'figures|get8/inside|9.00|us|8.00|1.12|2026-01-02|abc'
	results bookworm 'version|Debian|Debian GNU/Linux 12 (bookworm)' 'version|glibc|2.36' 'version|UCX|1.13.1' \
		'quickstart|stencil|1|0|0|60|2026-01-04|abc|'
	results sid 'version|glibc|2.42' 'hosts|slurm4|0|1|0|7|2026-01-05|abc|ended with status 2 and no result'
	run -0 "$distros/run" --page --results results
	[ "$(sed -n 's/^## \([a-z]*\):.*/\1/p' results.md | paste -s -d ' ')" = "bookworm trixie sid" ]
	[ "$(row_of '^| \[trixie\]')" = "| [trixie](#trixie-debian-gnulinux-13-trixie) | 1.18.1 | 5.0.7 | | – | 242, **2 failed** | – | – | – | 60 | – | 2026-01-02 to 2026-01-03 |" ]
	[ "$(row_of '^| \[bookworm\]')" = "| [bookworm](#bookworm-debian-gnulinux-12-bookworm) | 1.13.1 | | | 1 | – | – | – | – | – | – | 2026-01-04 |" ]
	[[ "$(row_of '^| \[sid\]')" == *"| – | – | – | – | 0, **1 failed** | – | – | 2026-01-05 |" ]]
	[ "$(row_of '^| api | ucx-tcp')" = "| api | ucx-tcp | 40 | **2** | 1 | 90 | 2026-01-03 | abd+ | |" ]
	[ "$(row_of '^| compilers')" = "| compilers | gcc-14 | 60 | 0 | 0 | 50 | 2026-01-02 | abc | 0 warnings |" ]
	[ "$(row_of '^| hello')" = "| hello | 20.00 ms | 10.00 ms | 2.00 | **1.5** | 2026-01-02 | abc |" ]
	[[ "$(row_of '^| get8/inside')" == *"| 1.12 | 1.25 |"* ]]
	[ "$(row_of '^Not run' | tail -n 2 | head -n 1)" = "Not run: quickstart, tools, sanitizers, hosts, packages." ]
}

@test "--page without results says what to do" {
	refused "--page: no results in $PWD/nothing; run tests/distros/run trixie" --page --results "$PWD/nothing"
	[ ! -e nothing.md ]
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
	only='' work=work results=results platform=trixie sh record.sh
}

@test "a run replaces the lines of what it ran, and all lines of a step that it ran as a whole" {
	results trixie 'api|local|1|1|0|1|d|s|' 'api|gone|1|0|0|1|d|s|' 'tools|tools|3|0|0|1|d|s|' 'version|UCX|1.0'
	record 'version|UCX|2.0' 'whole|version' 'api|local|2|0|0|1|d|s|'
	[ "$(tr '\t' '|' <results/trixie.tsv)" = 'api|gone|1|0|0|1|d|s|
tools|tools|3|0|0|1|d|s|
version|UCX|2.0
api|local|2|0|0|1|d|s|' ]
	record 'api|local|5|0|0|1|d|s|' 'whole|api'
	[ "$(tr '\t' '|' <results/trixie.tsv)" = 'tools|tools|3|0|0|1|d|s|
version|UCX|2.0
api|local|5|0|0|1|d|s|' ]
	rm results/trixie.tsv
	record 'api|local|5|0|0|1|d|s|'
	[ "$(cut -f 3 results/trixie.tsv)" = 5 ]
}

# line_of STEP NAME LOG: what tests/distros/inside makes of a tests/run that printed this; then its rows and failures
line_of()
{
	rm -rf inside
	mkdir -p inside/logs inside/source/tests
	printf 'echo "$*" >asked\ncat said\nexit 1\n' >inside/source/tests/run
	printf '%s\n' "$3" >said
	sh -c 'distros=$1 step=$2 name=$3; set -- none; . "$distros/inside"; here=$PWD/inside source=$here/source source_name=abc
		only=a,b; tests_of "$step" "$name" "a remark" build --kinds api' line "$distros" "$1" "$2"
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
	[[ "${lines[0]}" == "  api "*"ucx-tcp "*" 1 passed,   3 failed "*" s  a remark" ]]
	[ "${lines[1]}" = "api|ucx-tcp|1|3|0|abc|a remark" ]
	[ "$(cat asked)" = "--build build --kinds api --only a,b" ]
	[ "${lines[2]}" = "api ucx-tcp " ] && [ "${lines[3]}" = "api ucx-tcp channels" ] && [ "${#lines[@]}" -eq 4 ]
	run -0 line_of tools tools 'not ok 7 oshrun: ends with the status of its program 0.12s
8 passed, 1 failed, 10 skipped'
	[ "${lines[1]}" = "tools|tools|8|1|10|abc|a remark" ]
	[ "${lines[2]}" = "tools tools oshrun" ]
	run -0 line_of api local '5 passed, 0 failed'
	[ "${lines[1]}" = "api|local|5|0|0|abc|a remark" ] && [ "${#lines[@]}" -eq 2 ]
}

@test "figures are read as tests/cluster/figures prints them" {
	sed -n '/^beside()/,/^}/p' "$distros/../cluster/figures" >figures.sh
	printf '%s\n' 'yardstick:hello 10 ms' 'hello 15 ms' 'hello 14 ms' 'hello 40 ms' 'yardstick:get8 8 us' 'get8/inside 10.00 us' \
		'contact 3 ms' >all
	echo 'beside all "bare PMIx"' >>figures.sh
	sh figures.sh >said
	grep -q '^contact' said
	run -0 sh -c 'distros=$1; set -- none; . "$distros/inside"; figures_in said' figures "$distros"
	[ "$output" = "get8/inside 10.00 us 8.00 1.25
hello 15.00 ms 10.00 1.50" ]
}

@test "a command without a result has failed" {
	run -0 line_of sanitizers asan 'make: *** No rule'
	[ "${lines[1]}" = "sanitizers|asan|0|1|0|abc|ended with status 1 and no result" ]
	[ "${lines[2]}" = "sanitizers asan" ]
}

# A root with a few programs of this machine, and a command that enters it as tests/distros/run does.
make_small_root()
{
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	command -v ip >/dev/null && unshare --mount --net --pid --fork true 2>/dev/null || skip "needs ip and the right to make namespaces"
	mkdir -p root work/tmp work/source root/dev root/etc root/proc root/sys root/tmp root/run root/root root/var/tmp root/mnt root/torushmem
	for program in sh env umount ip ls cat touch sleep hostname; do
		for file in "$(command -v "$program")" $(ldd "$(command -v "$program")" | grep -o '/[^ ]*'); do
			mkdir -p "root${file%/*}"
			cp -L "$file" "root$file"
		done
	done
	mkdir -p root/bin root/usr/bin
	cp -Ln root/usr/bin/* root/bin/* root/bin 2>/dev/null || true
	cp -Ln root/bin/* root/usr/bin 2>/dev/null || true
	cp "$distros/inside" "$distros/machine" "$distros/packages" work
	echo "foreign=" >work/request
}

enter_small_root()
{
	setpriv --pdeathsig KILL unshare --fork --pid --kill-child --mount --uts --ipc --propagation private --net \
		sh "$distros/inside" enter "$PWD/root" "$PWD/work" small readonly shell "$@"
}

@test "a root has its own network, processes, name, /dev/shm and /tmp, and is read-only" {
	make_small_root
	# shellcheck disable=SC2016 # for the shell in there
	run -0 enter_small_root sh -c 'hostname; echo "process $$"; ls /mnt /dev/shm /tmp /run; ip -o link | while read -r _ name rest; do echo "$name $rest"; done
		touch /dev/shm/a /tmp/a /run/a /var/tmp/a && echo written; touch /etc/a 2>/dev/null || echo "read-only"; cat /etc/hosts; echo said >&2'
	echo "$output"
	[[ "$output" == "small
process "* && "$output" == *"
written
read-only
127.0.0.1 localhost small
"* ]]
	[ "$(grep -c LOOPBACK <<<"$output")" -eq 1 ] && [[ "$output" == *LOOPBACK,UP* ]]
	[ "$(grep -c '<.*UP' <<<"$output")" -eq 1 ]
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
