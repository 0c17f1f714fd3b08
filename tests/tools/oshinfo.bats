#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# oshinfo: true facts, in both forms, quickly.

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
}

setup()
{
	OSHINFO=${OSHINFO:-$TOP_BUILDDIR/oshinfo}
	OSHRUN=${OSHRUN:-$TOP_BUILDDIR/oshrun}
	for name in $(env | sed -n 's/^\(SHMEM_[A-Z_]*\)=.*/\1/p'); do
		unset "$name"
	done
}

# The value of one fact.
fact()
{
	"$OSHINFO" --parsable --all | sed -n "s/^$1://p"
}

@test "--version and --help" {
	run "$OSHINFO" --version
	[ "$status" -eq 0 ]
	[[ "$output" == "oshinfo (torushmem) "[0-9]* ]]
	[ "$("$OSHINFO" -V)" = "$output" ]
	run "$OSHINFO" --help
	[ "$status" -eq 0 ]
	[[ "$output" == "usage: oshinfo "* ]]
	[ "$("$OSHINFO" -h)" = "$output" ]
}

@test "an unknown option is refused in one line, with the nearest one" {
	run "$OSHINFO" --setings
	[ "$status" -eq 2 ]
	[ "$output" = "oshinfo: unknown option --setings; did you mean --settings?" ]
	run "$OSHINFO" --frobnicate
	[ "$status" -eq 2 ]
	[ "$output" = "oshinfo: unknown option --frobnicate; oshinfo --help lists them" ]
	run "$OSHINFO" settings
	[ "$status" -eq 2 ]
	[ "${#lines[@]}" -eq 1 ]
}

@test "all sections are there, and nothing on standard error" {
	run "$OSHINFO"
	[ "$status" -eq 0 ]
	for section in Build Machine Limits "Paths on a node" Tofu "UCX transports" libfabric GPUs Torus Launchers Settings; do
		printf '%s\n' "$output" | grep -Fqx "$section"
	done
	"$OSHINFO" --all >/dev/null 2>"$BATS_TEST_TMPDIR/err"
	[ ! -s "$BATS_TEST_TMPDIR/err" ]
}

@test "every line of --parsable is a key, a colon and a value; keys do not repeat" {
	"$OSHINFO" --parsable --all >"$BATS_TEST_TMPDIR/facts"
	[ -s "$BATS_TEST_TMPDIR/facts" ]
	run grep -Evn '^[A-Za-z0-9_.+-]+:' "$BATS_TEST_TMPDIR/facts"
	[ "$output" = "" ]
	run bash -c "cut -d: -f1 '$BATS_TEST_TMPDIR/facts' | sort | uniq -d"
	[ "$output" = "" ]
	[ "$("$OSHINFO" --parseable --settings)" = "$("$OSHINFO" --parsable --settings)" ]
}

@test "columns do not break: values of a section begin below each other, whatever they are" {
	export SHMEM_TORUS=2x2 SHMEM_TRACE=/a/name/that/is/longer/than/any/other/value/of/a/setting.json
	"$OSHINFO" >"$BATS_TEST_TMPDIR/said"
	# Each label is followed by two blanks, and all values of a section begin at one column, as
	# does a note, which has no label.
	awk '/^[^ ]/ { section = $0; at = 0 } section == "Settings" || !/^  / { next }
		/^  [^ ]/ { match($0, /[^ ]   *[^ ]/); here = RSTART + RLENGTH - 1 } /^   / { match($0, /[^ ]/); here = RSTART }
		at && here != at { print section ": " $0; bad = 1 } { at = here } END { exit bad }' "$BATS_TEST_TMPDIR/said"
	sed -n '/^Settings/,$p' "$BATS_TEST_TMPDIR/said" | sed 1d >"$BATS_TEST_TMPDIR/settings"
	[ "$(grep -c 'SHMEM_' "$BATS_TEST_TMPDIR/settings")" -ge 20 ]
	[ "$(sed -n 's/ \(default\|environment\)$//p' "$BATS_TEST_TMPDIR/settings" | awk '{ print length }' | sort -u | wc -l)" -eq 1 ]
	[ "$(grep -o '^  SHMEM_[A-Z_]*  *' "$BATS_TEST_TMPDIR/settings" | awk '{ print length }' | sort -u | wc -l)" -eq 1 ]
}

@test "a narrow terminal: lines go on in their column" {
	COLUMNS=60 "$OSHINFO" --all >"$BATS_TEST_TMPDIR/narrow"
	# Only words that are longer by themselves stand out: names of files.
	run grep -E '^.{61}' "$BATS_TEST_TMPDIR/narrow"
	[ "$(printf '%s\n' "$output" | grep -c '[^ ] [^ ]')" -eq 0 ]
	[ "$(tr -s ' \n' '  ' <"$BATS_TEST_TMPDIR/narrow")" = "$("$OSHINFO" --all | tr -s ' \n' '  ')" ]
}

@test "--json has the same facts as --parsable, whatever is in the environment" {
	command -v python3 >/dev/null || skip "no python3 to read JSON with"
	export UCX_TLS=$'a"b\\c \xff \xc3\xa4 \x01' SHMEM_NOSUCH=1 SHMEM_NOTSUCH=2
	for more in '' --all --settings; do
		# shellcheck disable=SC2086 # an option or none
		"$OSHINFO" --json $more >"$BATS_TEST_TMPDIR/facts.json"
		# shellcheck disable=SC2086
		"$OSHINFO" --parsable $more >"$BATS_TEST_TMPDIR/facts"
		python3 - "$BATS_TEST_TMPDIR" <<'END'
import json, sys
tree = json.load(open(sys.argv[1] + '/facts.json', encoding='utf-8'))
lines = []
def walk(name, node):
    if isinstance(node, dict):
        for key, value in node.items():
            walk(name + '.' + key if name else key, value)
    elif isinstance(node, list):
        for value in node:
            walk(name, value)
    else:
        lines.append('%s:%s' % (name, node))
walk('', tree)
text = open(sys.argv[1] + '/facts', encoding='utf-8', errors='replace').read().split('\n')[:-1]
moving = ('limits.dev_shm_free', 'machine.share')
assert [l for l in lines if not l.startswith(moving)] == [l for l in text if not l.startswith(moving)], (lines, text)
assert sorted(tree['settings']['unknown']) == ['SHMEM_NOSUCH', 'SHMEM_NOTSUCH']
assert tree['environment']['UCX_TLS'] == 'a"b\\c \ufffd \u00e4 \u0001'
assert 'machine' not in tree or isinstance(tree['machine']['memory'], int)
END
	done
}

@test "the machine is described as the system does" {
	[ "$(fact machine.usable)" -eq "$(nproc)" ]
	[ "$(fact machine.threads)" -ge "$(nproc)" ]
	[ "$(fact machine.memory)" -eq "$(($(getconf _PHYS_PAGES) * $(getconf PAGESIZE)))" ]
	[ "$(fact machine.host)" = "$(uname -n)" ]
	[ "$(fact limits.open_files)" = "$(ulimit -n)" ]
}

@test "fewer processors allowed, fewer usable" {
	first=$(taskset -cp $$ | sed 's/.*: *//; s/[,-].*//')
	[ "$(taskset -c "$first" "$OSHINFO" --parsable | sed -n 's/^machine.usable://p')" -eq 1 ]
}

@test "a smaller limit shows" {
	[ "$(ulimit -n 123 && "$OSHINFO" --parsable | sed -n 's/^limits.open_files://p')" -eq 123 ]
}

@test "library versions are those of pkg-config" {
	[[ "$(fact build.ucx)" == *"running $(pkg-config --modversion ucx)"* ]]
	[[ "$(fact build.pmix)" == "built with "[0-9]*", running "[0-9]* ]]
	[[ "$(fact build.hwloc)" == "built with "[0-9]*", running "[0-9]* ]]
}

@test "UCX: TCP on the loopback interface; what is missing has a reason" {
	[[ "$(fact ucx.tcp)" == "yes: "*lo* ]]
	[[ "$(fact ucx.self)" == "yes: "* ]]
	[ -n "$(ls -A /sys/class/infiniband 2>/dev/null)" ] || [[ "$(fact ucx.ib)" == "no: "* ]]
}

@test "noise of UCX stays out" {
	# Where /run/user/ID is missing, a thread that UCX starts when it is loaded says so at any
	# time, before main as well.
	run env UCX_VFS_ENABLE=n UCX_LOG_LEVEL=info UCX_NO_SUCH_THING=1 "$OSHINFO" --parsable
	[ "$status" -eq 0 ]
	[ "$(printf '%s\n' "$output" | grep -Ec ' (UCX|DEBUG|WARN) ')" -eq 0 ]
	printf '%s\n' "$output" | grep -Fqx environment.UCX_NO_SUCH_THING:1
}

@test "the local path is tried, and a setting that leaves it out is named" {
	[[ "$(fact paths.local)" == "yes: "* ]]
	[[ "$(SHMEM_PATHS=ucx fact paths.local)" == *"SHMEM_PATHS=ucx"* ]]
}

@test "huge pages: what the kernel says" {
	file=/sys/kernel/mm/transparent_hugepage/shmem_enabled
	[ -r "$file" ] || skip "no such setting in this kernel"
	mode=$(sed 's/.*\[\(.*\)\].*/\1/' "$file")
	[[ "$(fact paths.huge_pages)" == *" says $mode"* ]]
	mode=$(sed 's/.*\[\(.*\)\].*/\1/' "${file%/*}/enabled")
	[[ "$(fact paths.huge_pages_alone)" == *" says $mode"* ]]
	total=$(awk '/^HugePages_Total/ { print $2 }' /proc/meminfo)
	[ "${total:-0}" -gt 0 ] && answer="yes: * of $total free*" || answer="no: none are reserved*"
	# shellcheck disable=SC2053 # the answer is a pattern
	[[ "$(fact paths.reserved_pages)" == $answer ]]
}

@test "the launcher beside it is found, with its version" {
	[ "${OSHRUN%/*}" = "${OSHINFO%/*}" ] || skip "oshrun and oshinfo are in different folders"
	[[ "$(fact launchers.oshrun)" == *"/oshrun, oshrun"* ]]
}

@test "a launcher in PATH is found; one that hangs does not hold us" {
	mkdir "$BATS_TEST_TMPDIR/bin"
	printf '#!/bin/sh\necho "srun 99.1"\n' >"$BATS_TEST_TMPDIR/bin/srun"
	printf '#!/bin/sh\nexec sleep 60\n' >"$BATS_TEST_TMPDIR/bin/prterun"
	chmod +x "$BATS_TEST_TMPDIR"/bin/*
	run env PATH="$BATS_TEST_TMPDIR/bin:$PATH" timeout 20 "$OSHINFO" --parsable
	[ "$status" -eq 0 ]
	printf '%s\n' "$output" | grep -Fqx "launchers.srun:$BATS_TEST_TMPDIR/bin/srun, srun 99.1"
	printf '%s\n' "$output" | grep -Fqx "launchers.prterun:$BATS_TEST_TMPDIR/bin/prterun, which says no version"
	run env PATH=/nowhere "$OSHINFO" --parsable
	printf '%s\n' "$output" | grep -Fqx "launchers.srun:no: not in PATH"
}

@test "whether RDMA can be used over cables, and why not" {
	why='this build was configured without libibverbs'
	! grep -q 'HAVE_VERBS 1' "$TOP_BUILDDIR/config.h" || why='SHMEM_CABLE_RDMA=no'
	SHMEM_CABLE_RDMA=no run -0 "$OSHINFO" --parsable
	[[ $output == *$'\n'"cables.rdma:no: $why"$'\n'* ]]
	[ "$why" = SHMEM_CABLE_RDMA=no ] || return 0
	run -0 "$OSHINFO" --parsable
	[[ $output =~ cables.rdma:(yes, by libibverbs|no: libibverbs) ]]
}

# Names of settings: of one reader, or of all but one.
names_of_settings()
{
	grep '^SETTING(' "$BATS_TEST_DIRNAME/../../rte/settings.def" | grep "$@" | cut -d '"' -f 2
}

@test "every setting is listed with value and origin" {
	names=$(names_of_settings -v ' DEBUGGING,')
	[ -n "$names" ]
	[ "$(printf '%s\n' "$names" | wc -l)" -le 28 ]
	"$OSHINFO" --parsable --settings >"$BATS_TEST_TMPDIR/settings"
	for name in $names; do
		grep -q "^settings.$name.value:" "$BATS_TEST_TMPDIR/settings"
		grep -Fqx "settings.$name.origin:default" "$BATS_TEST_TMPDIR/settings"
	done
	[ "$(grep -c '^machine' "$BATS_TEST_TMPDIR/settings")" -eq 0 ]
}

@test "settings for tests are listed with --debug or where they are set, and are not in oshmem(7)" {
	names=$(names_of_settings ' DEBUGGING,')
	[ -n "$names" ]
	"$OSHINFO" --parsable --settings >"$BATS_TEST_TMPDIR/settings"
	"$OSHINFO" --parsable --settings --debug >"$BATS_TEST_TMPDIR/debug"
	for name in $names; do
		[ "$(grep -c "$name" "$BATS_TEST_TMPDIR/settings")" -eq 0 ]
		grep -Fqx "debugging.$name.origin:default" "$BATS_TEST_TMPDIR/debug"
		[ "$(grep -c "$name" "$TOP_BUILDDIR/docs/man/oshmem.7")" -eq 0 ]
	done
	run env SHMEM_SPIN=7 "$OSHINFO" --parsable --settings
	printf '%s\n' "$output" | grep -Fqx settings.SHMEM_SPIN.value:7
}

@test "a setting from the environment, also by its old name" {
	run env SHMEM_SYMMETRIC_SIZE=3m "$OSHINFO" --parsable --settings
	printf '%s\n' "$output" | grep -Fqx settings.SHMEM_SYMMETRIC_SIZE.value:3m
	printf '%s\n' "$output" | grep -Fqx settings.SHMEM_SYMMETRIC_SIZE.origin:environment
	run env SMA_SYMMETRIC_SIZE=5m "$OSHINFO" --parsable --settings
	printf '%s\n' "$output" | grep -Fqx settings.SHMEM_SYMMETRIC_SIZE.value:5m
	printf '%s\n' "$output" | grep -Fqx settings.SHMEM_SYMMETRIC_SIZE.origin:SMA_SYMMETRIC_SIZE
}

@test "a name that no setting has is pointed out with the nearest" {
	run env SHMEM_SYMETRIC_SIZE=3m "$OSHINFO" --settings
	[ "$status" -eq 0 ]
	[[ "$output" == *"SHMEM_SYMETRIC_SIZE is set, but no setting has this name; did you mean SHMEM_SYMMETRIC_SIZE?"* ]]
}

@test "SHMEM_INFO prints one screen: what the job found, and the settings that it changes" {
	hello=${TOP_BUILDDIR}/examples/hello
	for job in '2' '6 SHMEM_NODE_PES=1 SHMEM_PATHS=local,ucx SHMEM_TORUS=2x3 SHMEM_SYMMETRIC_SIZE=20m SHMEM_HUGE_PAGES=no SHMEM_SPIN=0'; do
		# shellcheck disable=SC2086 # a number and settings
		set -- $job
		run env SHMEM_INFO=1 "${@:2}" "$OSHRUN" -q -n "$1" "$hello"
		[ "$status" -eq 0 ]
		printf '%s\n' "$output" | grep -v '^Hello' >"$BATS_TEST_TMPDIR/said"
		cat "$BATS_TEST_TMPDIR/said"
		[ "$(wc -l <"$BATS_TEST_TMPDIR/said")" -le 24 ]
		[ "$(awk 'length > 80' "$BATS_TEST_TMPDIR/said" | wc -l)" -eq 0 ]
		for setting in SHMEM_INFO=1 "${@:2}"; do
			tr -s ' \n' '  ' <"$BATS_TEST_TMPDIR/said" | grep -Fq " $setting "
		done
		# The standard wants help for these.
		for name in SHMEM_VERSION SHMEM_INFO SHMEM_SYMMETRIC_SIZE SHMEM_DEBUG; do
			grep -q "^  $name  *[a-z]" "$BATS_TEST_TMPDIR/said"
		done
		! grep -q SHMEM_BACKTRACE "$BATS_TEST_TMPDIR/said" || false
	done
}

@test "GPUs: those of the driver, or the reason why there are none" {
	soft="$TOP_BUILDDIR/tests/gpu/soft/.libs"
	if grep -q 'HAVE_CUDA 0' "$TOP_BUILDDIR/config.h"; then
		[ "$(fact gpu.memory)" = "no: this library was configured --without-cuda" ]
		return
	fi
	[ -e "$soft/libcuda.so.1" ] || skip "the stand-in for CUDA's driver is not built: make check-programs"
	export LD_LIBRARY_PATH="$soft"
	[[ "$(SOFT_CUDA_DEVICES=2 fact gpu.memory)" == "yes, "* ]]
	[[ "$(SOFT_CUDA_DEVICES=2 fact gpu.driver)" == "for CUDA "[0-9]*.[0-9] ]]
	[ "$(SOFT_CUDA_DEVICES=2 fact 'gpu.gpu.[0-9]' | wc -l)" -eq 2 ]
	[[ "$(SOFT_CUDA_MEMORY=$((3 << 30)) fact gpu.gpu.0)" == *", 3 GiB" ]]
	[[ "$(SOFT_CUDA_INTEGRATED=1 fact gpu.gpu.0)" == *", shares the host's memory" ]]
	[[ "$(SOFT_CUDA_DEVICES=0 fact gpu.memory)" == "no: the GPU's driver fails: no CUDA-capable device"* ]]
	mkdir "$BATS_TEST_TMPDIR/none"
	: >"$BATS_TEST_TMPDIR/none/libcuda.so.1"
	LD_LIBRARY_PATH="$BATS_TEST_TMPDIR/none" run fact gpu.memory
	[[ "$output" == "no: libcuda.so.1 cannot be loaded"* ]]
}

@test "inside a job it says so" {
	run "$OSHRUN" -n 1 "$OSHINFO" --parsable
	[ "$status" -eq 0 ]
	printf '%s\n' "$output" | grep -q '^launchers.started_by:a PMIx launcher, job .*, PE 0$'
}

@test "output that cannot be written is an error" {
	[ -w /dev/full ] || skip "no /dev/full"
	run bash -c "'$OSHINFO' --version >/dev/full"
	[ "$status" -eq 1 ]
	[[ "$output" == "oshinfo: cannot write: "* ]]
}

@test "it answers within a second" {
	"$OSHINFO" >/dev/null # the files are in memory now
	start=$(date +%s%N)
	"$OSHINFO" --settings >/dev/null
	[ $((($(date +%s%N) - start) / 1000000)) -lt 1000 ]
}
