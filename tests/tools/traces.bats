#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# SHMEM_TRACE: the file can be read, has every call, and an arrow for every message; torusplan watch makes a page of it.

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
	"$OSHCC" ring.c -o ring
	cat >look.py <<'END'
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
}

@test "on one node: every call, an arrow for every message" {
	"$OSHRUN" -q -n 3 env SHMEM_TRACE="$BATS_TEST_TMPDIR/t.json" "$BATS_FILE_TMPDIR/ring"
	run python3 "$BATS_FILE_TMPDIR/look.py" "$BATS_TEST_TMPDIR/t.json" 3
	[ "$status" -eq 0 ]
	[ "$output" = '0 links' ]
}

@test "between nodes: links of the torus are loaded, the page has them" {
	"$OSHRUN" -q -n 4 env SHMEM_TRACE="$BATS_TEST_TMPDIR/t.json" SHMEM_NODE_PES=1 SHMEM_TORUS=2x2m "$BATS_FILE_TMPDIR/ring"
	run python3 "$BATS_FILE_TMPDIR/look.py" "$BATS_TEST_TMPDIR/t.json" 4
	[ "$status" -eq 0 ]
	[ "${output% links}" -ge 4 ]
	run "$TOP_BUILDDIR/torusplan" watch "$BATS_TEST_TMPDIR/t.json"
	[ "$status" -eq 0 ]
	[ "$output" = "$BATS_TEST_TMPDIR/t.html" ]
	! grep -Eq 'https?://' <(sed '/id="trace"/d; s#http://www.w3.org/2000/svg##' "$BATS_TEST_TMPDIR/t.html")
}

@test "the page works in a browser" {
	browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip "no Chromium here"
	"$OSHRUN" -q -n 4 env SHMEM_TRACE="$BATS_TEST_TMPDIR/t.json" SHMEM_NODE_PES=1 SHMEM_TORUS=2x2m "$BATS_FILE_TMPDIR/ring"
	"$TOP_BUILDDIR/torusplan" watch "$BATS_TEST_TMPDIR/t.json" --output "$BATS_TEST_TMPDIR/page.html"
	timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$BATS_TEST_TMPDIR/profile" --dump-dom \
		"file://$BATS_TEST_TMPDIR/page.html" >"$BATS_TEST_TMPDIR/dom" 2>"$BATS_TEST_TMPDIR/said"
	grep -q 'data-links="[1-9]' "$BATS_TEST_TMPDIR/dom"
	[ "$(grep -o '<circle' "$BATS_TEST_TMPDIR/dom" | wc -l)" -eq 4 ]
	grep -q '<p id="problem"></p>' "$BATS_TEST_TMPDIR/dom"
}

@test "the last events are kept, and it is said that others are not" {
	run "$OSHRUN" -q -n 2 env SHMEM_TRACE="$BATS_TEST_TMPDIR/t.json" SHMEM_TRACE_EVENTS=30 "$BATS_FILE_TMPDIR/ring"
	[ "$status" -eq 0 ]
	[[ "$output" == *'the trace lacks the first '* ]]
	python3 -c 'import json, sys; assert len(json.load(open(sys.argv[1]))["traceEvents"]) < 200' "$BATS_TEST_TMPDIR/t.json"
}

@test "a PE that dies leaves what it has" {
	run "$OSHRUN" -q -n 2 env SHMEM_TRACE="$BATS_TEST_TMPDIR/t.json" "$BATS_FILE_TMPDIR/ring" abort
	[ "$status" -ne 0 ]
	python3 - "$BATS_TEST_TMPDIR/t.json.PE1" <<-'END'
		import json, sys
		events = json.load(open(sys.argv[1]))["traceEvents"]
		assert sum(e["name"] == "shmem_long_p" for e in events) == 11
		assert {e["pid"] for e in events if e["ph"] == "X" and e["tid"] == 1} == {1}
	END
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
		run "$TOP_BUILDDIR/torusplan" watch $words
		[ "$status" -ne 0 ]
		[ "${#lines[@]}" -eq 1 ]
	done
}
