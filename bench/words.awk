# SPDX-License-Identifier: BSD-3-Clause
# Used with stats.awk or medians.awk before it: which state counts, and how numbers are written.

# The state in which both were seen most often; "" if in none. Mixed ones say nothing.
function common_state(key1, who1, key2, who2,    state, n1, n2, best, most)
{
	most = 0
	best = ""
	for (state in States) {
		if (state == "mixed")
			continue
		n1 = Count[key1 SUBSEP who1 SUBSEP state] + 0
		n2 = Count[key2 SUBSEP who2 SUBSEP state] + 0
		if (n2 < n1)
			n1 = n2
		if (n1 > most || (n1 == most && n1 > 0 && state == "near")) {
			most = n1
			best = state
		}
	}
	return best
}

# --- Text ---

function trim(s)
{
	sub(/^[ \t]+/, "", s)
	sub(/[ \t]+$/, "", s)
	return s
}

function digits(x)
{
	return sprintf(x < 0.1 ? "%.3f" : x < 10 ? "%.2f" : x < 100 ? "%.1f" : "%.0f", x)
}

function amount(x, unit)
{
	if (unit != "ns")
		return digits(x) " " unit
	if (x < 1e3)
		return digits(x) " ns"
	if (x < 1e6)
		return digits(x / 1e3) " µs"
	if (x < 1e9)
		return digits(x / 1e6) " ms"
	return digits(x / 1e9) " s"
}

function size(bytes)
{
	if (bytes >= 1048576 && bytes % 1048576 == 0)
		return bytes / 1048576 " MiB"
	if (bytes >= 1024 && bytes % 1024 == 0)
		return bytes / 1024 " KiB"
	return bytes " B"
}

# How many times as fast.
function times(x)
{
	return sprintf(x < 1.95 ? "%.2f" : x < 9.95 ? "%.1f" : "%.0f", x)
}
