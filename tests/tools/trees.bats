#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# torusplan show --trees: what it says of shapes that arithmetic has no trees for, the drawing,
# and the page in a browser.

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
}

setup()
{
	torusplan=${TORUSPLAN:-$TOP_BUILDDIR/torusplan}
	cd "$BATS_TEST_TMPDIR" || return
}

# at PAGE STEP SEGMENTS: what the page says of itself there.
at()
{
	timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$BATS_TEST_TMPDIR/profile" --dump-dom \
		"file://$BATS_TEST_TMPDIR/$1#step=$2&segments=$3" 2>said | tee dom |
		sed -n 's/.*<body \([^>]*\)>.*/\1/p; s/.*<p id="problem">\(.*\)<\/p>.*/problem:\1/p' | tr '\n' ' '
}

@test "mixed shapes have more trees than axes, holes are gone round" {
	run "$torusplan" show --shape 4x4m
	[[ "$output" == *'packed: 3 from node 0'* ]]
	run "$torusplan" show --shape 4x4
	[[ "$output" != *packed* ]]
	printf 'shape 4x4\n' >holes
	for p in 0,0 0,1 0,2 0,3 1,0 1,1 1,2 1,3 2,0 2,1 2,2 3,0 3,1 3,2 3,3; do
		echo "host h$p $p"
	done >>holes
	run "$torusplan" show --file holes --trees
	[[ "$output" == *'packed: 3 from node 0'* ]]
	[[ "$output" != *twice* ]]
	printf 'shape 3x3x3\nhosts h#\ndead h0 x+\n' >dead
	run "$torusplan" show --file dead --trees
	[[ "$output" == *'packed: 5 from node 0, up to '*', around what is missing or slow'* ]]
	[[ "$output" != *twice* ]]
	printf 'shape 3x3x3\nhosts h#\nslow 2 h0 x+\n' >slow
	run "$torusplan" show --file slow
	[[ "$output" == *'packed: 5 from node 0'* ]]
	[[ "$output" != *'of the usual rate'* ]]
	printf 'shape 4\nhosts h#\nslow 2 h0 x+\nslow 2 h0 x-\n' >slow
	run "$torusplan" show --file slow
	[[ "$output" == *'packed: 2 from node 0'*'over cables that carry 0.5 of the usual rate'* ]]
	printf 'shape 5m\nhost a 0\nhost b 1\nhost c 3\nhost d 4\n' >apart
	run "$torusplan" show --file apart --trees
	[[ "$output" == *'trees      none: not every node can be reached'* ]]
}

@test "the drawing has each link of each tree twice: among all, and in its tree's own field" {
	"$torusplan" show --shape 3x3x3 --trees --svg six.svg >/dev/null
	[ "$(grep -c 'class="link"' six.svg)" -eq $((2 * 6 * 26)) ]
	[ "$(grep -o 'data-link="[^"]*"' six.svg | sort | uniq -c | awk '$1 != 2' | wc -l)" -eq 0 ]
	"$torusplan" show --shape 3x3x3 --trees --kind up --svg three.svg >/dev/null
	[ "$(grep -c 'class="link"' three.svg)" -eq $((2 * 3 * 26)) ]
	"$torusplan" show --shape 3x3x3 --svg shape.svg >/dev/null
	! grep -q 'class="link"' shape.svg
	command -v xmllint >/dev/null || return 0
	xmllint --noout six.svg three.svg shape.svg
}

@test "the page works in a browser: each step, no link with two segments, in the end all have all" {
	browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip "no Chromium here"
	"$torusplan" show --shape 3x3x3 --trees --page page.html >/dev/null
	! grep -Eq 'https?://' <(sed 's#http://www.w3.org/2000/svg##' page.html)
	# The first segments have left the root; nothing else can.
	[[ "$(at page.html 1 4)" == *'data-steps="10" data-step="1" data-busy="6" data-shared="0" data-complete="1"'*'problem: ' ]]
	# One segment: in step 3 the links of the third level.
	third=$(grep -c 'data-level="3"' page.html)
	[[ "$(at page.html 3 1)" == *"data-steps=\"7\" data-step=\"3\" data-busy=\"$third\" data-shared=\"0\""* ]]
	[[ "$(at page.html 10 4)" == *'data-step="10"'*'data-shared="0" data-complete="27"'* ]]
	[ "$(grep -o 'class="node"' dom | wc -l)" -eq 27 ]
}

@test "mistakes are refused in one line" {
	for words in '--page p.html' '--kind up' '--trees --kind sideways' '--trees --kind twice --svg p.svg' \
		'--trees --page /nonexistent/p.html'; do
		# shellcheck disable=SC2086
		run "$torusplan" show --shape 3x3m $words
		[ "$status" -ne 0 ]
		[ "$(echo "$output" | grep -c '^torusplan: ')" -eq 1 ]
	done
}

@test "a broadcast goes around a dead cable, over the trees that are left, and no link carries more than its share" {
	cat >from0.c <<-'END'
		#include <shmem.h>

		int main(void)
		{
			static char to[1 << 20], from[1 << 20];

			shmem_init();
			for (size_t i = 0; i < sizeof from; i++)
				from[i] = (char)(i / 1000 + i + shmem_my_pe());
			shmem_broadcastmem(SHMEM_TEAM_WORLD, to, from, sizeof to, 0);
			for (size_t i = 0; i < sizeof to; i++)
				if (to[i] != (char)(i / 1000 + i))
					return 1;
			shmem_finalize();
			return 0;
		}
	END
	"$TOP_BUILDDIR/oshcc" -O1 -o from0 from0.c
	printf 'shape 3x3\nhosts h#\ndead h0 x+\n' >dead
	run timeout -k 2 60 "$TOP_BUILDDIR/oshrun" -q -n 9 env SHMEM_NODE_PES=1 SHMEM_TORUS_FILE="$PWD/dead" \
		SHMEM_BROADCAST_ALGORITHM=torus SHMEM_INFO=1 SHMEM_STATS=1 ./from0
	[ "$status" -eq 0 ]
	[[ "$output" == *"  3 trees lead from PE 0's node to all others"* ]]
	# A third of the message, and 128 KiB by which links are measured; over the dead
	# cable only what is small.
	echo "$output" | awk '$1 == "link" && ($2 " " $3 == "0,0 x+" || $2 " " $3 == "1,0 x-") && $NF > 60000 { exit 1 }'
	echo "$output" | awk '$1 == "link" { seen = seen > $NF ? seen : $NF } END { exit !(seen > 349000 && seen < 349525 + 131072 + 60000) }'
}
