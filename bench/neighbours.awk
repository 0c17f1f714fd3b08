# SPDX-License-Identifier: BSD-3-Clause
# Reads "about" and the medians of bench/compare-neighbours (neighbours_medians.awk) and prints the page: how fast an exchange is beside what
# MPI programs do, a table for each measure, then what must hold.

function time(key, transport)
{
	return ns[key, transport] + 0
}

# Ours to the other's; sets low and high as well. Where the rounds were not kept it is that of the medians.
function ratio(key, other,    r)
{
	split(of[key, other], r, " ")
	low = r[2]
	high = r[3]
	return r[1] ? r[1] + 0 : time(key, other) ? time(key, "exchange") / time(key, other) : 0
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
	r = ratio(key, other)
	if (r == 0)
		return
	printf "| %s | %s | %s, %s | %.2f%s | ≤ %s | %s |\n", what, as_time(time(key, "exchange")), other, as_time(time(key, other)), r,
		low < high ? sprintf(" (%.2f–%.2f)", low, high) : "", wanted, r <= wanted + 0 ? "met" : "**not met**"
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

FNR == 1 {
	next
}

{
	split($0, f, ",")
	rounds = f[6]
	if (f[2] == "line") {
		nearest = f[9]
		farthest = f[10]
		next
	}
	key = f[1] "," f[2] "," f[3] "," f[4]
	if (!(key in known)) {
		known[key] = 1
		key_list[++keys] = key
	}
	if (!(f[5] in transport_known)) {
		transport_known[f[5]] = 1
		transport_list[++transport_count] = f[5]
	}
	if (!(f[1] in where_known)) {
		where_known[f[1]] = 1
		where_list[++wheres] = f[1]
	}
	ns[key, f[5]] = f[7]
	of[key, f[5]] = f[8] " " f[9] " " f[10]
}

# What a user asks for: what the exchange takes, and what MPI does.
function answer(what, key,    other, j)
{
	if (!time(key, "exchange"))
		return
	printf "| %s | %s |", what, as_time(time(key, "exchange"))
	for (j = 1; j <= transport_count; j++) {
		other = transport_list[j]
		if (other ~ /^MPI/)
			printf " %s | %s |", time(key, other) ? as_time(time(key, other)) : "", ratio(key, other) ? sprintf("%.1f", 1 / ratio(key, other)) : ""
	}
	print ""
}

function answers(    j, i, k, w)
{
	printf "| what | exchange |"
	for (j = 1; j <= transport_count; j++)
		if (transport_list[j] ~ /^MPI/)
			printf " %s | times ours |", transport_list[j]
	printf "\n|---|---|"
	for (j = 1; j <= transport_count; j++)
		if (transport_list[j] ~ /^MPI/)
			printf "---|---|"
	print ""
	for (w = 1; w <= wheres; w++)
		for (i = 1; i <= keys; i++) {
			split(key_list[i], k, ",")
			if (k[1] == where_list[w] && ((k[2] == "faces" && k[4] == 2048) || (k[2] == "poisson" && k[3] == "even" && (k[4] == 3840 || k[4] == 245760))))
				answer((k[2] == "faces" ? "8 faces of " : "an iteration of Poisson, messages of ") as_size(k[4]) ", " \
					(k[1] == "node" ? "on a node" : "between hosts"), key_list[i])
		}
}

END {
	print "# Exchanges with neighbours, next to MPI\n\n<!-- Made by bench/neighbours.awk. -->\n"
	print "How fast is an exchange (`man shmemx_exchange`), next to what MPI programs do? Two PEs, each on a core of its own; medians; "
	print about ". Both programs are [bench/neighbours_main.c](../bench/neighbours_main.c) with another transport, and run in turn."
	print "Every message is written and read as a whole. A column of times is the other's time divided by ours.\n"
	answers()
	print "\nOn your machine: `make && bench/compare-neighbours --build .`, between two hosts made of namespaces with `--hosts` (as root). `--mpicc` and"
	print "`--mpirun` name another MPI."
	for (w = 1; w <= wheres; w++) {
		print "\n## " (where_list[w] == "node" ? "On a node" : "Between two hosts")
		table("Eight faces in each direction, and nothing else", where_list[w], "faces", "none")
		table("An iteration of the Poisson solver, 60x60 points, both PEs with as much to do", where_list[w], "poisson", "even")
		table("The same with the PEs in turn computing five times as long", where_list[w], "poisson", "uneven")
		table("Waiting for eight faces, with nothing to compute meanwhile", where_list[w], "hidden", "alone")
		table("What is left of it beside a bulk computation that is long enough", where_list[w], "hidden", "with bulk")
	}
	print "\n## Targets\n"
	print "Ratios are our time divided by the other's: median over " rounds " rounds, least and greatest in brackets."
	if (farthest)
		print "A cache line took " (nearest < farthest ? nearest " to " : "") farthest " ns from one processor to the other before the rounds."
	print "An iteration of the Poisson solver is to take at most 0.8 of what it takes with single buffering where communication is visible: where messages"
	print "make that take half as long again as the shortest ones do.\n"
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
}
