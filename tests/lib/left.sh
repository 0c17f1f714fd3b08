# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# What a job of ours can leave in /dev/shm, and nothing that another program
# of this machine put there.

# left_in_shm BUILD: the session folders of oshruns that have ended, and segments of UCX that no
# process holds, or one of the folder BUILD does. Whatever has another name, Open MPI's
# vader_segment for one, cannot come from us.
left_in_shm()
{
	find /dev/shm -mindepth 1 -maxdepth 1 -user "$(id -u)" \( -name 'oshrun-*' -o -name 'ucx_shm_posix_*' \) 2>/dev/null |
		sort | while read -r left_file; do
		case $left_file in
		*/oshrun-*)
			left_pid=${left_file#/dev/shm/oshrun-}
			[ -d "/proc/${left_pid%%-*}" ] || echo "$left_file"
			;;
		*) held_by_another "$left_file" "$1" || echo "$left_file" ;;
		esac
	done
}

# held_by_another FILE BUILD: does a process map it whose program lies elsewhere?
held_by_another()
{
	grep -lsF "$1" /proc/[0-9]*/maps | {
		while read -r left_maps; do
			case $(readlink "${left_maps%/maps}/exe" 2>/dev/null) in
			"$2"/* | '') ;;
			*) return 0 ;;
			esac
		done
		return 1
	}
}
