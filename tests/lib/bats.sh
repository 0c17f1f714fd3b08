# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2154,SC2094 # tests/run sets names; a file's name beside the file
#
# The tests of the tools, each file of them by bats, for tests/run, which sets top, work, jobs,
# patience and with_long and defines report, is_wanted and folders_of.
#
# With --jobs 2 or more, files that say "# run: beside" among their first lines run one after
# another beside the rest: nothing in them is measured, they write to folders of their own only, and
# they do not look at what else this machine runs.

# "it works in 1234ms": the time as we write it.
in_seconds()
{
	ms=${1##* in } && ms=${ms%ms}
	case $ms in
	'' | *[!0-9]*) echo "$1" ;;
	*) printf '%s %d.%02ds\n' "${1% in *}" $((ms / 1000)) $((ms % 1000 / 10)) ;;
	esac
}

# Turns bats' lines into ours. Lines that begin with # explain the failure above them.
read_tap()
{
	file=$1 planned=0 seen=0
	while read -r line; do
		case $line in
		1..*) planned=${line#1..} ;;
		"ok "*"# skip"*)
			seen=$((seen + 1)) line=${line#ok * }
			echo skipped >>"$work/results"
			echo "ok $(wc -l <"$work/results") $file: $line"
			;;
		"ok "*) seen=$((seen + 1)) && report ok "$file:" "$(in_seconds "${line#ok * }")" '' ;;
		"not ok "*) seen=$((seen + 1)) && report failed "$file:" "$(in_seconds "${line#not ok * }")" '' ;;
		*) echo "    | $line" ;;
		esac
	done
	if [ "$seen" -lt "$planned" ] || [ "$planned" -eq 0 ]; then
		report failed "$file:" "ended after $seen of its $planned tests" ''
	fi
}

# run_bats FILE: bats' own lines
run_bats()
{
	TEST_LONG=$with_long timeout -k 5 $((900 * patience)) bats --timing --tap "$1" </dev/null 2>&1
}

# The files of a kind that are wanted.
bats_files()
{
	for folder in $(folders_of "$1"); do
		(cd "$top" && ls "$folder"/*.bats)
	done | while read -r file; do
		! is_wanted "$(basename "$file" .bats)" || echo "$file"
	done
}

runs_beside()
{
	[ "$jobs" -gt 1 ] && sed -n 1,5p "$top/$1" | grep -qx '# run: beside'
}

# A file is reported when it is through, by the one that runs the others.
run_beside()
{
	for file in "$@"; do
		name=$(basename "$file" .bats)
		run_bats "$top/$file" >"$work/beside/$name"
		mv "$work/beside/$name" "$work/beside/$name.tap"
	done
}

report_beside()
{
	for tap in "$work"/beside/*.tap; do
		[ -e "$tap" ] || return
		read_tap "$(basename "$tap" .tap)" <"$tap"
		rm "$tap"
	done
}

run_tool_tests()
{
	alone='' beside=''
	for file in $(bats_files "$1"); do
		if ! command -v bats >/dev/null; then
			echo skipped >>"$work/results"
			echo "ok $(wc -l <"$work/results") $(basename "$file" .bats) # skip bats is not there; on Debian: apt-get install bats"
		elif runs_beside "$file"; then
			beside="$beside $file"
		else
			alone="$alone $file"
		fi
	done
	mkdir -p "$work/beside"
	# shellcheck disable=SC2086 # a list
	run_beside $beside &
	for file in $alone; do
		run_bats "$top/$file" | read_tap "$(basename "$file" .bats)"
		report_beside
	done
	wait
	report_beside
}
