#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# run: beside
# SHMEM_TRACE: the file can be read, has every call, and an arrow for every message;
# torusplan view makes a page of it.

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
	export OSHRUN="${OSHRUN:-$TOP_BUILDDIR/oshrun}" OSHCC="${OSHCC:-$TOP_BUILDDIR/oshcc}"
	command -v python3 >/dev/null || skip "no python3 to read traces with"
	cd "$BATS_FILE_TMPDIR" || return
	cat >ring.c <<'END'
#include <shmem.h>
#include <stdlib.h>
#include <unistd.h>

static long word, sum;

/* Each PE puts to the next and adds there, then reads from it; a last argument ends PE 1 in the midst of it. */
int main(int argc, char *argv[])
{
	shmem_init();
	int me = shmem_my_pe(), next = (me + 1) % shmem_n_pes();

	for (int i = 0; i < 20; i++) {
		shmem_long_p(&word, i, next);
		shmem_long_atomic_add(&sum, 1, next);
		shmem_barrier_all();
		if (shmem_long_g(&word, next) != i)
			return 1;
		shmem_barrier_all();
		if (argc > 1 && me == 1 && i == 10)
			abort();
	}
	shmem_finalize();
	return 0;
}
END
	cat >messages.c <<'END'
#include <shmem.h>
#include <shmemx.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS 100

static uint64_t flag;
static char from[64], to[64];

/* Each PE sends to both neighbours and waits for both, by exchanges, one by one and all at once; then puts with signal around the ring. */
int main(void)
{
	shmem_init();
	int me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n, previous = (me + n - 1) % n;
	const shmemx_edge_t edges[2] = {
		{.pe = next, .edge = 1, .send_bytes = 64, .receive_bytes = 64},
		{.pe = previous, .edge = 0, .send_bytes = 64, .receive_bytes = 64},
	};
	shmemx_exchange_t exchange;

	if (shmemx_exchange_create(SHMEM_TEAM_WORLD, edges, 2, &exchange))
		return 1;
	shmem_barrier_all();
	for (int i = 0; i < ROUNDS; i++) {
		for (int e = 0; e < 2; e++)
			memset(shmemx_exchange_buffer(exchange, e), i, 64);
		if (i % 2) {
			shmemx_exchange_start(exchange, SHMEMX_ALL_EDGES, 64);
		} else {
			shmemx_exchange_start(exchange, 0, 64);
			shmemx_exchange_start(exchange, 1, 64);
		}
		if (i % 10 == 0)
			usleep(20000);
		for (int e = 0; e < 2; e++) {
			shmemx_exchange_wait(exchange, e, NULL);
			shmemx_exchange_release(exchange, e);
		}
	}
	shmem_barrier_all();
	for (int i = 0; i < ROUNDS; i++) {
		shmem_putmem_signal(to, from, sizeof to, &flag, 1, SHMEM_SIGNAL_ADD, next);
		shmem_signal_wait_until(&flag, SHMEM_CMP_GE, (uint64_t)i + 1);
	}
	shmem_barrier_all();
	shmem_finalize();
	return 0;
}
END
	cat >early.c <<'END'
#include <fcntl.h>
#include <shmem.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long word;

/* Puts around the ring; then the last PE ends the job early, as the argument says, while the others wait for it. */
int main(int argc, char *argv[])
{
	const char *how = argc > 1 ? argv[1] : "";

	shmem_init();
	int me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n;

	for (int i = 0; i < 20; i++) {
		shmem_long_p(&word, i, next);
		shmem_barrier_all();
	}
	if (me == n - 1) {
		if (!strcmp(how, "abort"))
			abort();
		if (!strcmp(how, "kill"))
			raise(SIGKILL);
		if (!strcmp(how, "global"))
			shmem_global_exit(7);
		if (!strcmp(how, "exit"))
			exit(3);
		if (!strcmp(how, "wait")) {
			close(open("waits", O_WRONLY | O_CREAT, 0666));
			pause();
		}
	}
	shmem_barrier_all();
	shmem_finalize();
	return 0;
}
END
	for program in ring messages early; do
		"$OSHCC" "$program.c" -o "$program"
	done
	cat >calls.py <<'END'
import collections, json, sys

trace = json.load(open(sys.argv[1]))["traceEvents"]
pes = int(sys.argv[2])
calls = collections.Counter((e["pid"], e["name"]) for e in trace if e["ph"] == "X" and e["tid"] == 1)
for pe in range(pes):
	for name, count in (("shmem_long_p", 20), ("shmem_long_atomic_add", 20), ("shmem_long_g", 20), ("shmem_barrier_all", 40)):
		assert calls[pe, name] == count, (pe, name, calls[pe, name])
starts = {e["id"]: e for e in trace if e["ph"] == "s"}
ends = {e["id"]: e for e in trace if e["ph"] == "f"}
assert starts.keys() == ends.keys()
between = collections.Counter((starts[i]["pid"], ends[i]["pid"]) for i in starts)
for pe in range(pes):
	next = (pe + 1) % pes
	assert between[pe, next] >= 40 and between[next, pe] >= 20, between
for i in starts:
	assert starts[i]["ts"] <= ends[i]["ts"] + 0.001, (starts[i], ends[i])
# No call of a PE begins before the one before it has ended.
for pe in range(pes):
	last = -1e18
	for e in sorted((e for e in trace if e["ph"] == "X" and e["pid"] == pe and e["tid"] == 1), key=lambda e: e["ts"]):
		assert e["ts"] >= last - 0.001 and e["dur"] >= 0, e
		last = e["ts"] + e["dur"]
links = collections.Counter(e["name"] for e in trace if e["ph"] == "C")
print(len(links), "links")
END
	cat >arrows.py <<'END'
# arrows.py TRACE PES SIGNALS: every exchange has its arrow, and so have so many puts with signal of
# each PE (-: not known); none of them ends before it begins, or after the wait of its receiver.
import bisect, collections, json, sys

trace = json.load(open(sys.argv[1]))["traceEvents"]
pes, signals = int(sys.argv[2]), sys.argv[3]
ROUNDS, NS = 100, 0.0015
calls = collections.defaultdict(list)
for e in trace:
	if e["ph"] == "X" and e["tid"] == 1:
		calls[e["pid"]].append((e["ts"], e["ts"] + e["dur"], e["name"]))
for of in calls.values():
	of.sort()

def call_at(pe, ts):
	i = bisect.bisect_right(calls[pe], (ts + NS, 1e18, "")) - 1
	return calls[pe][i][2] if i >= 0 and ts <= calls[pe][i][1] + NS else None

def of_name(pe, name):
	return [call for call in calls[pe] if call[2] == name]

starts = {e["id"]: e for e in trace if e["ph"] == "s"}
ends = {e["id"]: e for e in trace if e["ph"] == "f"}
bytes_of = {(e["pid"], e["ts"], e["name"]): e["args"]["bytes"] for e in trace if e["ph"] == "X" and e["tid"] == 2}
assert starts.keys() == ends.keys()
arrows = collections.defaultdict(list)
for i, s in starts.items():
	f = ends[i]
	assert s["ts"] <= f["ts"] + NS, (s, f)
	if s["tid"] == 1:
		size = bytes_of[f["pid"], f["ts"], "from PE %d" % s["pid"]]
		arrows[call_at(s["pid"], s["ts"]), s["pid"], f["pid"]].append((s["ts"], f["ts"], size))
early = 0
for pe in range(pes):
	next, previous = (pe + 1) % pes, (pe - 1) % pes
	waits = of_name(pe, "shmemx_exchange_wait")
	assert len(waits) == 2 * ROUNDS
	for other in {next, previous}:
		came = sorted(arrows["shmemx_exchange_start", other, pe])
		each = 2 if next == previous else 1
		assert len(came) == each * ROUNDS, (other, pe, len(came))
		for i, (left, arrived, size) in enumerate(came):
			# Of the two waits of a round the first is for the
			# next PE; of two PEs both are.
			wait = waits[2 * (i // each) + (1 if each == 2 or other == previous else 0)]
			assert arrived <= wait[1] + NS, ("exchange", other, pe, i, left, arrived, wait)
			early += arrived < waits[2 * (i // each)][0] - 1000
	waits = of_name(pe, "shmem_signal_wait_until")
	puts = [call[0] for call in of_name(previous, "shmem_putmem_signal")]
	came = arrows["shmem_putmem_signal", previous, pe]
	for left, arrived, size in came:
		wait = waits[bisect.bisect_right(puts, left + NS) - 1]
		assert arrived <= wait[1] + NS, ("signal", pe, left, arrived, wait)
	data = sum(size >= 64 for _, _, size in came)
	assert signals == "-" or data == int(signals), (previous, pe, data)
print("%d arrows of exchanges end before their receivers poll" % early)
END
	cat >whole.py <<'END'
# whole.py TRACE UNFINISHED ABSENT: it has all 20 puts of each of three PEs but the one that is
# absent, and says which PEs are in a barrier that has not ended.
import json, sys

events = json.load(open(sys.argv[1]))["traceEvents"]
pes = set(range(3)) - {int(sys.argv[3])}
puts = {pe: sum(e["pid"] == pe and e["name"] == "shmem_long_p" for e in events) for pe in pes}
assert puts == {pe: 20 for pe in pes}, puts
assert {e["pid"] for e in events if e["ph"] == "X" and e["tid"] == 1} == pes
assert {e["pid"] for e in events if e["name"] == "ended"} == pes
unfinished = {e["pid"]: e["name"] for e in events if e["ph"] == "B"}
assert unfinished == {int(pe): "shmem_barrier_all" for pe in sys.argv[2].split(",")}, unfinished
starts, ends = ({e["id"]: e for e in events if e["ph"] == ph} for ph in "sf")
assert starts.keys() == ends.keys() and all(starts[i]["ts"] <= ends[i]["ts"] + 0.001 for i in starts)
between = sum(starts[i]["tid"] == 1 and ends[i]["pid"] == (starts[i]["pid"] + 1) % 3 for i in starts)
assert between >= (60 if len(pes) == 3 else 20), between
END
}

@test "on one node: every call, an arrow for every message" {
	"$OSHRUN" -q -n 3 env SHMEM_TRACE="$BATS_TEST_TMPDIR/t.json" "$BATS_FILE_TMPDIR/ring"
	run python3 "$BATS_FILE_TMPDIR/calls.py" "$BATS_TEST_TMPDIR/t.json" 3
	[ "$status" -eq 0 ]
	[ "$output" = '0 links' ]
}

@test "between nodes: links of the torus are loaded, the page has them" {
	"$OSHRUN" -q -n 4 env SHMEM_TRACE="$BATS_TEST_TMPDIR/t.json" SHMEM_NODE_PES=1 SHMEM_TORUS=2x2m "$BATS_FILE_TMPDIR/ring"
	run python3 "$BATS_FILE_TMPDIR/calls.py" "$BATS_TEST_TMPDIR/t.json" 4
	[ "$status" -eq 0 ]
	[ "${output% links}" -ge 4 ]
	run "$TOP_BUILDDIR/torusplan" view "$BATS_TEST_TMPDIR/t.json"
	[ "$status" -eq 0 ]
	[ "$output" = "$BATS_TEST_TMPDIR/t.html" ]
	! grep -Eq 'https?://' <(sed '/id="trace"/d; s#http://www.w3.org/2000/svg##' "$BATS_TEST_TMPDIR/t.html")
}

@test "the page works in a browser" {
	browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip "no Chromium here"
	"$OSHRUN" -q -n 4 env SHMEM_TRACE="$BATS_TEST_TMPDIR/t.json" SHMEM_NODE_PES=1 SHMEM_TORUS=2x2m "$BATS_FILE_TMPDIR/ring"
	"$TOP_BUILDDIR/torusplan" view "$BATS_TEST_TMPDIR/t.json" --output "$BATS_TEST_TMPDIR/page.html"
	timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$BATS_TEST_TMPDIR/profile" --dump-dom \
		"file://$BATS_TEST_TMPDIR/page.html" >"$BATS_TEST_TMPDIR/dom" 2>"$BATS_TEST_TMPDIR/said"
	grep -q 'data-links="[1-9]' "$BATS_TEST_TMPDIR/dom"
	[ "$(grep -o '<circle' "$BATS_TEST_TMPDIR/dom" | wc -l)" -eq 4 ]
	grep -q '<p id="problem"></p>' "$BATS_TEST_TMPDIR/dom"
}

@test "the page opens at the busiest moment; its button plays, its selector shows one axis, thin links carry nothing" {
	browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip "no Chromium here"
	# On a ring of four: 2 bytes in the first step, 30 in the fourth, then nothing.
	cat >"$BATS_TEST_TMPDIR/t.json" <<-'END'
		{"traceEvents":[{"name":"torus","ph":"M","pid":0,"args":{"shape":"4x2m","pes":8,"place":[0,1,2,3,4,5,6,7],"step":1000,"end":8000}},
		{"name":"link 0,0 x+","cat":"link","ph":"C","ts":0,"args":{"kB/s":2}},{"name":"link 0,0 x+","cat":"link","ph":"C","ts":1000,"args":{"kB/s":0}},
		{"name":"link 3,0 y+","cat":"link","ph":"C","ts":3000,"args":{"kB/s":20}},{"name":"link 3,0 y+","cat":"link","ph":"C","ts":4000,"args":{"kB/s":0}},
		{"name":"link 3,1 x+","cat":"link","ph":"C","ts":3000,"args":{"kB/s":10}},{"name":"link 3,1 x+","cat":"link","ph":"C","ts":4000,"args":{"kB/s":0}}]}
	END
	"$TOP_BUILDDIR/torusplan" view "$BATS_TEST_TMPDIR/t.json" --output "$BATS_TEST_TMPDIR/page.html"
	# What a reader would do, and what is to be seen then.
	sed '/<\/body>/d; /<\/html>/d' "$BATS_TEST_TMPDIR/page.html" >"$BATS_TEST_TMPDIR/used.html"
	cat >>"$BATS_TEST_TMPDIR/used.html" <<-'END'
		<script>
		const lines = () => [...document.querySelectorAll("#drawing line")], seen = document.body.dataset;
		const width = line => parseFloat(getComputedStyle(line).strokeWidth);
		seen.opened = byId("when").value + " " + byId("now").textContent;
		seen.drawn = lines().length + " " + lines().filter(line => width(line) < 1).length;
		seen.scale = byId("greatest").textContent;
		byId("axis").value = "1";
		byId("axis").dispatchEvent(new Event("change"));
		seen.axis = lines().filter(line => getComputedStyle(line).display !== "none").length + " " + byId("busiest").rows[1].cells[0].textContent;
		byId("when").value = 0;
		byId("when").dispatchEvent(new Event("input"));
		seen.first = lines().filter(line => width(line) > 1).length;
		byId("most").click();
		seen.again = byId("when").value;
		byId("play").click();
		seen.button = byId("play").textContent;
		setTimeout(() => { byId("play").click(); seen.played = byId("when").value !== "3" ? "yes" : "no"; seen.stopped = byId("play").textContent; }, 100);
		</script>
	END
	timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$BATS_TEST_TMPDIR/profile" --virtual-time-budget=2000 --dump-dom \
		"file://$BATS_TEST_TMPDIR/used.html" 2>"$BATS_TEST_TMPDIR/said" | grep -o '<body[^>]*>' >"$BATS_TEST_TMPDIR/body"
	cat "$BATS_TEST_TMPDIR/body"
	for seen in 'opened="3 3.000 ms of 8.000"' 'drawn="24 22"' 'scale="20 kB/s"' 'axis="8 3,0 y+"' 'first="1"' 'again="3"' 'button="Pause"' \
		'played="yes"' 'stopped="Play"'; do
		grep -qF "data-$seen" "$BATS_TEST_TMPDIR/body" || {
			echo "not $seen"
			return 1
		}
	done
}

@test "the last events are stored, and a message counts the others" {
	run "$OSHRUN" -q -n 2 env SHMEM_TRACE="$BATS_TEST_TMPDIR/t.json" SHMEM_TRACE_EVENTS=30 "$BATS_FILE_TMPDIR/ring"
	[ "$status" -eq 0 ]
	[[ "$output" == *'the trace lacks the first '* ]]
	python3 -c 'import json, sys; assert len(json.load(open(sys.argv[1]))["traceEvents"]) < 200' "$BATS_TEST_TMPDIR/t.json"
}

# arrows PES SIGNALS [SETTING...]: the program that exchanges, on PEs that are reached so.
arrows()
{
	local pes=$1 signals=$2

	shift 2
	env "$@" "$OSHRUN" -q -n "$pes" env SHMEM_TRACE="$BATS_TEST_TMPDIR/t.json" "$BATS_FILE_TMPDIR/messages"
	run python3 "$BATS_FILE_TMPDIR/arrows.py" "$BATS_TEST_TMPDIR/t.json" "$pes" "$signals"
	echo "$*: $output"
	[ "$status" -eq 0 ]
	[ ! -e "$BATS_TEST_TMPDIR/t.json.PE0" ]
}

@test "arrows on a node: one for each exchange, which ends before its receiver has it" {
	arrows 2 100
	arrows 3 100
}

@test "arrows over UCX: the same, and they end when messages come, not when PEs poll" {
	arrows 2 100 SHMEM_PATHS=ucx UCX_TLS=tcp,self
	[ "${output%% *}" -gt 10 ]
	arrows 3 100 SHMEM_PATHS=ucx UCX_TLS=tcp,self
	arrows 2 100 SHMEM_PATHS=ucx UCX_TLS=tcp,self SHMEM_UCX_PROTOCOL=rma
	arrows 4 100 SHMEM_NODE_PES=2
}

@test "arrows over Tofu: the same for exchanges" {
	[ -e "$TOP_BUILDDIR/.libs/libtofucom.so" ] || skip "built without Tofu, or without shared libraries"
	arrows 2 - SHMEM_PATHS=tofu SOFTOFU_SHAPE=2x2x1x1x1x1
	arrows 3 - SHMEM_PATHS=tofu SOFTOFU_SHAPE=2x2x1x1x1x1
	arrows 4 - SOFTOFU_RANKS_PER_NODE=2 SOFTOFU_SHAPE=2x2x1x1x1x1
}

# whole UNFINISHED [ABSENT]: t.json is all that there is, and see whole.py.
whole()
{
	python3 "$BATS_FILE_TMPDIR/whole.py" t.json "$1" "${2:--1}"
	[ "$(echo t.json*)" = t.json ]
}

@test "a job that ends early: oshrun makes a trace of what there is, and says so" {
	cd "$BATS_TEST_TMPDIR"
	for how in abort:134 kill:137 global:7 exit:3; do
		for path in SHMEM_NODE_PES=64 SHMEM_NODE_PES=1; do
			run "$OSHRUN" -q -n 3 env "$path" SHMEM_TRACE=t.json "$BATS_FILE_TMPDIR/early" "${how%:*}"
			echo "$how $path: $output"
			[ "$status" -eq "${how#*:}" ]
			[ "$(grep -c trace <<<"$output")" -eq 1 ]
			[[ "$output" == *"oshrun: the trace of 3 PEs that ended early is in $PWD/t.json"* ]]
			whole 0,1
			rm t.json
		done
	done
}

@test "a job that is ended by a timeout or a signal has its trace, too" {
	cd "$BATS_TEST_TMPDIR"
	run "$OSHRUN" -q -n 3 --timeout 2 env SHMEM_TRACE=t.json "$BATS_FILE_TMPDIR/early" wait
	[ "$status" -eq 124 ]
	[[ "$output" == *"oshrun: the trace of 3 PEs that ended early is in $PWD/t.json"* ]]
	# PE 0 has written the report of what all wait for, which ends no call either.
	python3 -c 'import json; assert sum(e["name"] == "shmem_long_p" for e in json.load(open("t.json"))["traceEvents"]) == 60'
	[ "$(echo t.json*)" = t.json ]
	rm -f waits t.json
	"$OSHRUN" -q -n 3 env SHMEM_TRACE=t.json "$BATS_FILE_TMPDIR/early" wait >said 2>&1 &
	for ((i = 0; i < 300; i++)); do
		[ ! -e waits ] || break
		sleep 0.1
	done
	kill -TERM "$!"
	wait "$!" || true
	cat said
	grep -q "^oshrun: the trace of 3 PEs that ended early is in $PWD/t.json$" said
	whole 0,1
}

# leave_parts: the parts of three PEs whose oshrun was killed.
leave_parts()
{
	local i=0 left=1

	rm -f waits
	"$OSHRUN" -q -n 3 env SHMEM_TRACE=t.json "$BATS_FILE_TMPDIR/early" wait >said 2>&1 &
	while [ ! -e waits ] && [ $((i++)) -lt 300 ]; do
		sleep 0.1
	done
	sleep 0.2
	kill -KILL "$!"
	wait "$!" || true
	for ((i = 0; i < 100 && left > 0; i++)); do
		sleep 0.1
		left=$(pgrep -c -f "$BATS_FILE_TMPDIR/early" || true)
	done
	[ "$left" -eq 0 ]
	[ -e t.json.PE0 ] && [ -e t.json.PE1 ] && [ -e t.json.PE2 ]
}

@test "parts that nobody has joined: oshrun --join-trace, which says what is missing" {
	cd "$BATS_TEST_TMPDIR"
	leave_parts
	run "$OSHRUN" --join-trace t.json
	[ "$status" -eq 0 ]
	[ "$output" = "oshrun: the trace of 3 PEs that ended early is in t.json" ]
	whole 0,1
	run "$TOP_BUILDDIR/torusplan" view t.json
	[ "$status" -ne 0 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ "$output" == *'ended early'* ]]
	leave_parts
	rm t.json.PE1
	run "$OSHRUN" --join-trace t.json
	[ "$status" -eq 0 ]
	[ "$output" = "oshrun: the trace of 3 PEs that ended early is in t.json; there is no part of PE 1" ]
	whole 0 1
	leave_parts
	# In the middle of an event, and in the head, which is no part at
	# all; a part of another job.
	truncate -s $(($(wc -c <t.json.PE0) - 40 * 65536 + 30 * 40 + 17)) t.json.PE0
	truncate -s 100 t.json.PE2
	echo nonsense >t.json.PE9
	run "$OSHRUN" --join-trace t.json
	[ "$status" -eq 0 ]
	[ "$output" = "oshrun: the trace of 3 PEs that ended early is in t.json; there is no part of PE 2; the part of PE 0 is cut off" ]
	python3 - <<-'END'
		import json
		events = json.load(open("t.json"))["traceEvents"]
		puts = [sum(e["name"] == "shmem_long_p" and e["pid"] == pe and e["tid"] == 1 for e in events if "tid" in e) for pe in range(3)]
		assert 5 <= puts[0] < 20 and puts[1:] == [20, 0], puts
	END
	[ "$(echo t.json*)" = t.json ]
}

@test "without oshrun the first PE that ends says where the parts are" {
	cd "$BATS_TEST_TMPDIR"
	run env SHMEM_TRACE=t.json "$BATS_FILE_TMPDIR/early" abort
	[ "$status" -eq 134 ]
	[ "$(grep -c trace <<<"$output")" -eq 1 ]
	[[ "$output" == *"torushmem: PE 0: the trace of this job is in parts, $PWD/t.json.PE*; oshrun --join-trace $PWD/t.json makes one trace of them"* ]]
	"$OSHRUN" --join-trace "$PWD/t.json"
	[ "$(echo t.json*)" = t.json ]
	command -v mpirun >/dev/null || skip "no mpirun here"
	for how in abort kill global; do
		run env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n 3 env SHMEM_TRACE=t.json \
			"$BATS_FILE_TMPDIR/early" "$how"
		echo "$how: $output"
		[ "$status" -ne 0 ]
		[ "$(grep -c 'the trace of this job' <<<"$output")" -eq 1 ]
		"$OSHRUN" --join-trace "$PWD/t.json"
		whole 0,1
	done
}

@test "nothing to join" {
	cd "$BATS_TEST_TMPDIR"
	for words in '--join-trace t.json' '--join-trace /nonexistent/t.json' '--join-trace' '--join-trace t.json ./a.out'; do
		# shellcheck disable=SC2086
		run "$OSHRUN" $words
		echo "$words: $output"
		[ "$status" -ne 0 ]
		[ "${#lines[@]}" -eq 1 ]
	done
	# What is no file has no parts.
	run "$OSHRUN" -q -n 2 env SHMEM_TRACE=/dev/null "$BATS_FILE_TMPDIR/early" global
	[ "$status" -eq 7 ]
	[ "${#lines[@]}" -eq 1 ]
	[ ! -e /dev/null.PE0 ]
}

@test "parts of an earlier job do not get into a later one" {
	cd "$BATS_TEST_TMPDIR"
	leave_parts
	run "$OSHRUN" -q -n 2 env SHMEM_TRACE=t.json "$BATS_FILE_TMPDIR/early" kill
	[ "$status" -eq 137 ]
	[[ "$output" == *"oshrun: the trace of 2 PEs that ended early is in $PWD/t.json" ]]
	[ "$(echo t.json*)" = t.json ]
}

@test "mistakes are said in one line" {
	run env SHMEM_TRACE=/nonexistent/trace "$BATS_FILE_TMPDIR/ring"
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
	run env SHMEM_TRACE="$BATS_TEST_TMPDIR/t.json" SHMEM_TRACE_EVENTS=many "$BATS_FILE_TMPDIR/ring"
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
	echo '{"traceEvents":[' >"$BATS_TEST_TMPDIR/bad.json"
	for words in "$BATS_TEST_TMPDIR/bad.json" /nonexistent.json ''; do
		# shellcheck disable=SC2086
		run "$TOP_BUILDDIR/torusplan" view $words
		[ "$status" -ne 0 ]
		[ "${#lines[@]}" -eq 1 ]
	done
}
