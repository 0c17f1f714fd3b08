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
	[ "$output" = "oshinfo: unknown option --frobnicate; see oshinfo --help" ]
	run "$OSHINFO" settings
	[ "$status" -eq 2 ]
	[ "${#lines[@]}" -eq 1 ]
}

@test "all sections are there, and nothing on standard error" {
	run "$OSHINFO"
	[ "$status" -eq 0 ]
	for section in Build Machine Limits "Paths on a node" Tofu "UCX transports" libfabric Torus Launchers Settings; do
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
	# Where /run/user/ID is missing, a thread that UCX starts when it is loaded says so at any time, before main as well.
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

@test "every setting is listed with value and origin" {
	source=$BATS_TEST_DIRNAME/../../rte/settings.def
	names=$(sed -n 's/^SETTING([A-Z_]*, "\([A-Z_]*\)".*/\1/p' "$source")
	[ -n "$names" ]
	"$OSHINFO" --parsable --settings >"$BATS_TEST_TMPDIR/settings"
	for name in $names; do
		grep -q "^settings.$name.value:" "$BATS_TEST_TMPDIR/settings"
		grep -Fqx "settings.$name.origin:default" "$BATS_TEST_TMPDIR/settings"
	done
	[ "$(grep -c '^machine' "$BATS_TEST_TMPDIR/settings")" -eq 0 ]
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
