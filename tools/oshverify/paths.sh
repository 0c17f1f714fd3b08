# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2034,SC2154
#
# oshverify: which paths can be taken here. It has those of tests/run, and these, on which nothing
# chooses the network's devices.

own_path_rows()
{
	cat <<'END'
ucx            ucx-shm=2    ucx-shm      1  1   standard,full  SHMEM_PATHS=ucx
	UCX on one machine, with the transports that it chooses
hosts          all          hosts        2  3   quick,standard,full  needs=several launcher=any
	between hosts, as jobs run by default
hosts-tcp      all          hosts        2  3   full  needs=several launcher=any SHMEM_PATHS=local,ucx UCX_TLS=tcp,self
	between hosts over TCP
hosts-ofi      all          hosts        2  3   standard,full  needs=several,ofi launcher=any SHMEM_PATHS=local,ofi
	between hosts by libfabric, with the provider that it chooses
hosts-cables   all          hosts        2  3   full  needs=several launcher=any SHMEM_PATHS=local,cables
	between hosts over TCP of the library's own: over each cable where hosts forward nothing
hosts-tofu     all          hosts        2  3   standard,full  needs=several,vendor launcher=any SHMEM_PATHS=local,tofu
	between hosts over Tofu
END
}

# fact NAME: of oshinfo.
fact()
{
	printf '%s\n' "$facts" | sed -n "s/^$1://p"
}

# why_not NEED: why a path that needs this cannot be taken; nothing if it can.
why_not()
{
	case $1 in
	several) [ "$host_count" -gt 1 ] || echo "there is one host; oshverify uses those of an allocation, --hostfile or --host" ;;
	tofu)
		case $(fact tofu.library) in
		*'uTofu 1.0, '*) grep -aq SOFTOFU_SHAPE "$(fact tofu.library | sed 's/.*, //')" || echo "this is the Tofu of a machine, not software Tofu" ;;
		'') fact tofu.path | sed 's/^no: //' ;;
		*) echo "this is the Tofu of a machine, not software Tofu" ;;
		esac
		;;
	vendor)
		why=$(why_not tofu)
		case $why in
		'') echo "this is software Tofu, for one machine" ;;
		'this is the Tofu of a machine'*) ;;
		*) echo "$why" ;;
		esac
		;;
	ofi) fact ofi.path | sed -n 's/^no: //p' ;;
	ucx-takes-?) [ "$("$programs/../lib/ucx_protocols" 2>/dev/null || "$programs/ucx_protocols" 2>/dev/null)" = "${1#ucx-takes-}" ] || echo "this UCX takes that method by itself, or has one only" ;;
	hosts) echo "for a clone of the sources, tests/run" ;;
	esac
}

build_has()
{
	[ -z "$(why_not "$1")" ]
}

# Why the path that was found cannot be taken: the first need that is missing.
why_not_path()
{
	for need in $(echo "$path_needs" | tr ',' ' '); do
		why_not "$need"
	done | head -n 1
}

choose_paths()
{
	use_paths
	facts=$("$oshinfo" --parsable 2>/dev/null) || fail "$oshinfo does not run"
	paths_given=no
	if [ -z "$paths" ]; then
		paths=$(paths_taken)
		return
	fi
	paths_given=yes
	for path in $(echo "$paths" | tr ',' ' '); do
		if ! find_path "$path" || [ "$path_needs" = hosts ]; then
			fail "--paths $path: there is no such path; --list names them"
		fi
		why=$(why_not_path)
		[ -z "$why" ] || fail "--paths $path: $why"
	done
}

# The plan, with the tests' names and tags as they were read from their sources.
make_plan()
{
	while read -r test_name tags; do
		plan_test "$test_name" "$tags"
	done <"$data/runs"
}

list_runs()
{
	echo "Paths:"
	for path in $(names_of_paths); do
		find_path "$path"
		why=$(why_not_path) mark=' '
		! in_list "$path" "$paths" || mark='*'
		printf '%s %-12s%s\n' "$mark" "$path" "$([ -n "$why" ] && echo "not here: $why" || describe_path "$path")"
	done
	echo "Runs on those with *:"
	make_plan | awk '{ printf "  %s %s %s PEs, at most %s s\n", $1, $2, $3, $4 }'
}
