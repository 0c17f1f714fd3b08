# SPDX-License-Identifier: BSD-3-Clause
# Reads "about" and the records of bench/compare-neighbours (where,round,measure,work,transport,bytes,nanoseconds) and prints the page:
# what must hold, then a table for each measure. A ratio is the median of those of the rounds.

function sort_values(v, n,    i, j, x)
{
	for (i = 2; i <= n; i++) {
		x = v[i]
		for (j = i - 1; j >= 1 && v[j] > x; j--)
			v[j + 1] = v[j]
		v[j + 1] = x
	}
}

function median(v, n)
{
	sort_values(v, n)
	return n ? (v[int((n + 1) / 2)] + v[int(n / 2) + 1]) / 2 : 0
}

function time(key, transport,    i, n, v)
{
	for (i = 1; i <= rounds; i++)
		if ((key, transport, round_number[i]) in ns)
			v[++n] = ns[key, transport, round_number[i]]
	return median(v, n)
}

# Ours to the other's, round by round; sets low and high as well.
function ratio(key, mine, other,    i, n, v, r, middle)
{
	for (i = 1; i <= rounds; i++) {
		r = round_number[i]
		if ((key, mine, r) in ns && (key, other, r) in ns)
			v[++n] = ns[key, mine, r] / ns[key, other, r]
	}
	middle = median(v, n)
	low = v[1]
	high = v[n]
	return middle
}

function as_time(t)
{
	return t < 10000 ? sprintf("%.2f µs", t / 1000) : t < 1e6 ? sprintf("%.1f µs", t / 1000) : sprintf("%.2f ms", t / 1e6)
}

function as_size(b)
{
	return b < 1024 ? b " B" : b < 1048576 ? b / 1024 " KiB" : sprintf("%.1f MiB", b / 1048576)
}

# Single buffering is what MPI programs mostly do: persistent requests with one receive buffer for each edge.
function must(what, key, other, wanted,    r)
{
	r = ratio(key, "exchange", other)
	if (r == 0)
		return
	printf "| %s | %s | %s, %s | %.2f (%.2f–%.2f) | ≤ %s | %s |\n", what, as_time(time(key, "exchange")), other, as_time(time(key, other)), r,
		low, high, wanted, r <= wanted + 0 ? "met" : "**not met**"
}

function table(title, where, measure, work,    i, j, k, key, line, any)
{
	for (i = 1; i <= keys; i++) {
		split(key_list[i], k, ",")
		if (k[1] != where || k[2] != measure || k[3] != work)
			continue
		if (!any++) {
			printf "\n### %s\n\n| message |", title
			for (j = 1; j <= transport_count; j++)
				printf " %s |", transport_list[j]
			printf "\n|---|"
			for (j = 1; j <= transport_count; j++)
				printf "---|"
			print ""
		}
		printf "| %s |", as_size(k[4])
		for (j = 1; j <= transport_count; j++)
			printf " %s |", time(key_list[i], transport_list[j]) ? as_time(time(key_list[i], transport_list[j])) : ""
		print ""
	}
}

# Communication is visible where messages make the other take half as long again as with the shortest ones.
function is_visible(where, work, bytes)
{
	return time(where ",poisson," work "," bytes, "MPI persistent single") > 1.5 * time(where ",poisson," work ",480", "MPI persistent single")
}

function hidden_share(where, bytes, transport,    alone)
{
	alone = time(where ",hidden,alone," bytes, transport)
	return alone ? 100 * (1 - time(where ",hidden,with bulk," bytes, transport) / alone) : 0
}

FNR == NR {
	about = about (about ? "; " : "") $0
	next
}

{
	split($0, f, ",")
	if (f[3] == "line") {
		nearest = nearest && nearest < f[7] + 0 ? nearest : f[7] + 0
		farthest = farthest > f[7] + 0 ? farthest : f[7] + 0
		next
	}
	key = f[1] "," f[3] "," f[4] "," f[6]
	if (!(key in known)) {
		known[key] = 1
		key_list[++keys] = key
	}
	if (!(f[5] in transport_known)) {
		transport_known[f[5]] = 1
		transport_list[++transport_count] = f[5]
	}
	if (!(f[2] in round_known)) {
		round_known[f[2]] = 1
		round_number[++rounds] = f[2]
	}
	if (!(f[1] in where_known)) {
		where_known[f[1]] = 1
		where_list[++wheres] = f[1]
	}
	ns[key, f[5], f[2]] = f[7]
}

END {
	print "# Exchanges with neighbours, and MPI\n"
	print "Made by `bench/compare-neighbours`" (("hosts" in where_known) ? " `--hosts`" : "") ": " about "; rounds: " rounds ". Two PEs, each on a core"
	print "of its own. Both programs are [bench/neighbours_main.c](../bench/neighbours_main.c) with another transport, and run in turn. Ratios are our time"
	print "divided by the other's: median over the rounds, least and greatest in brackets. Every message is written and read as a whole."
	if (farthest)
		print "A cache line took " (nearest < farthest ? nearest " to " : "") farthest " ns from one processor to the other before the rounds."
	print "An iteration of the Poisson solver is to take at most 0.8 of what it takes with single buffering where communication is visible: where messages"
	print "make that take half as long again as the shortest ones do.\n"
	print "## What must hold\n"
	print "| what | ours | other | ratio | wanted | |\n|---|---|---|---|---|---|"
	must("8 faces of 2 KiB, on a node", "node,faces,none,2048", "MPI persistent single", "0.5")
	must("8 faces of 2 KiB, between hosts", "hosts,faces,none,2048", "MPI persistent single", "1.0")
	for (i = 1; i <= keys; i++) {
		split(key_list[i], k, ",")
		if (k[2] == "poisson")
			must("Poisson, " k[3] ", " as_size(k[4]) ", " (k[1] == "node" ? "on a node" : "between hosts"), key_list[i], "MPI persistent single", \
				k[1] == "node" && is_visible(k[1], k[3], k[4]) ? "0.8" : "1.0")
	}
	for (w = 1; w <= wheres; w++)
		for (i = 1; i <= keys; i++) {
			split(key_list[i], k, ",")
			if (k[1] == where_list[w] && k[1] == "hosts" && k[2] == "hidden" && k[3] == "alone")
				printf "| hidden of waiting for 8 faces of %s, %s | %.0f %% | %s, %.0f %% | | | |\n", as_size(k[4]), \
					"between hosts", hidden_share(k[1], k[4], "exchange"), "MPI persistent single", \
					hidden_share(k[1], k[4], "MPI persistent single")
		}
	for (w = 1; w <= wheres; w++) {
		print "\n## " (where_list[w] == "node" ? "On a node" : "Between two hosts")
		table("Eight faces in each direction, and nothing else", where_list[w], "faces", "none")
		table("An iteration of the Poisson solver, 60x60 points, both PEs with as much to do", where_list[w], "poisson", "even")
		table("The same with the PEs in turn computing five times as long", where_list[w], "poisson", "uneven")
		table("Waiting for eight faces, with nothing to compute meanwhile", where_list[w], "hidden", "alone")
		table("What is left of it beside a bulk computation that is long enough", where_list[w], "hidden", "with bulk")
	}
}
