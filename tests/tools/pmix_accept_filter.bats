#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
#
# Connections of other processes to oshrun's PMIx server: random bytes, a client's greeting cut
# short, with bits flipped, with more bytes after it, and no data.
# The job goes on and ends well. (softofu's port: softofu/tests/unit/softofu_net_wires.c.)

bats_require_minimum_version 1.5.0

setup_file() {
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
	# shellcheck disable=SC2046 # flags are words
	${CC:-cc} -O1 -o "$BATS_FILE_TMPDIR/peer" "$BATS_TEST_DIRNAME/progs/peer.c" $(pkg-config --cflags --libs pmix)
	export PEER=$BATS_FILE_TMPDIR/peer GREETINGS=$BATS_TEST_DIRNAME/bad_greetings
	OSHRUN=$(command -v "${OSHRUN:-oshrun}")
	export OSHRUN
	unset SHMEM_LAUNCHER OSHRUN_LAUNCHER SLURM_JOB_ID PBS_NODEFILE LSB_DJOB_HOSTFILE
}

setup() {
	command -v perl >/dev/null || skip "no perl"
	cd "$BATS_TEST_TMPDIR" || return
	cat >pe.sh <<'END'
if [ "$PMIX_RANK" = 0 ]; then
	"$GREETINGS" --record greeting "$PEER" init || exit 9
	"$GREETINGS" "$(env | sed -n 's/^PMIX_SERVER_URI[0-9]*=.*:\([0-9]*\)$/\1/p' | head -n 1)" "$1" "$2" $3 || exit 8
fi
exec "$PEER" init fence finalize
END
}

@test "random bytes and damaged greetings while PEs come up" {
	for seed in 1 2 3; do
		run -0 timeout 60 "$OSHRUN" -q -n 3 sh pe.sh 100 "$seed" greeting
		[ -z "$output" ]
	done
	[ "$(wc -c <greeting)" -gt 40 ]
}

@test "two hundred idle connections do not keep a job from starting" {
	cat >pe.sh <<'END'
if [ "$PMIX_RANK" = 0 ]; then
	perl -MIO::Socket::INET -e 'my @all = map { IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $ARGV[0], Timeout => 5) or die } 1 .. 200;
		open my $f, ">", "silent"; close $f; sleep 60' \
		"$(env | sed -n 's/^PMIX_SERVER_URI[0-9]*=.*:\([0-9]*\)$/\1/p' | head -n 1)" >/dev/null 2>&1 &
fi
until [ -e silent ]; do sleep 0.05; done
exec "$PEER" init fence finalize
END
	SECONDS=0
	run -0 timeout 60 "$OSHRUN" -q -n 4 sh pe.sh
	[ -z "$output" ]
	[ "$SECONDS" -lt 8 ]
}

@test "no other user can read the name that the filter accepts" {
	# shellcheck disable=SC2016 # for the shell of the PE
	run -0 timeout 30 "$OSHRUN" -q -n 1 sh -c 'echo "$PMIX_NAMESPACE"; ls -A /dev/shm; cat /proc/net/unix; tr "\0" " " <"/proc/$PPID/cmdline"'
	name=${lines[0]}
	[[ "$name" == oshrun-*-*-???????????????? ]]
	printf '%s\n' "${lines[@]:1}" >others
	run ! grep -F "${name##*-}" others
}

@test "the kernel keeps silent connections, but with SHMEM_ACCEPT_FILTER=no" {
	cat >silent.pl <<'END'
use IO::Socket::INET;
my ($port) = grep { defined } map { /^PMIX_SERVER_URI/ && $ENV{$_} =~ /:(\d+)$/ ? $1 : undef } sort keys %ENV;
my $silent = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port) or die "$!\n";
my $ends = sprintf '0100007F:%04X 0100007F:%04X', $port, $silent->sockport;
open my $connections, '<', '/proc/net/tcp' or die "$!\n";
/ $ends (..) / and print "state $1\n" while <$connections>;
END
	run -0 "$OSHRUN" -q -n 1 perl silent.pl
	[ "$output" = 'state 03' ] # SYN_RECV
	SHMEM_ACCEPT_FILTER=no run -0 "$OSHRUN" -q -n 1 perl silent.pl
	[ "$output" = 'state 01' ] # ESTABLISHED
}
