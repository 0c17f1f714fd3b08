# SPDX-License-Identifier: BSD-3-Clause
# The keys of all records and their values, and pages that quote them; used with medians.awk, words.awk, draw.awk and figures_simulated.awk before it. See bench/figures.
#
#   mode=list    every key and its value
#   mode=fill    the page on standard input with the numbers of the records, on standard output; what it says of it to "complaints"
#   mode=draw    the plots of records that bench/compare does not have, into the folder "folder"
#
# folder of records: kept; name: the page's

BEGIN {
	load(kept "/compare/medians.csv", kept "/compare/ratios.csv")
	compare_figures()
	read_neighbours(kept "/neighbours/medians.csv")
	read_torus(kept "/torus.tsv")
	read_simulated(kept "/simulate.tsv")
	read_cluster(kept "/cluster.tsv")
	read_lattice(kept "/lattice.tsv")
	read_softofu(kept "/softofu.tsv")
	if (mode == "list")
		for (i = 1; i <= Figures; i++)
			print Figure_key[i] "\t" Figure[Figure_key[i]]
	if (mode == "draw")
		draw_others()
	if (mode != "fill")
		exit
}

function keep(key, text)
{
	if (!(key in Figure))
		Figure_key[++Figures] = key
	Figure[key] = text
}

function compare_figures(    i, o, state)
{
	for (i = 1; i <= Key_count; i++)
		for (o = 1; o <= Who_count; o++) {
			state = common_state(Keys[i], Whos[o], Keys[i], Whos[o])
			if (state == "")
				continue
			find_state(Keys[i], Whos[o], state)
			keep("compare:" Keys[i] "," Whos[o], amount(Median, Unit[Keys[i]]))
			if (Whos[o] == "ours")
				continue
			state = common_state(Keys[i], "ours", Keys[i], Whos[o])
			if (state != "" && compare(Keys[i], "ours", Keys[i], Whos[o], state)) {
				keep("ratio:" Keys[i] "," Whos[o], digits(Ratio))
				keep("times:" Keys[i] "," Whos[o], times(1 / Ratio) " times")
			}
		}
}

function read_neighbours(file,    line, f, method)
{
	while ((getline line < file) > 0) {
		if (split(line, f, ",") < 8 || f[1] == "where" || f[2] == "line")
			continue
		method = tolower(f[5])
		gsub(/ persistent /, "-", method)
		gsub(/[^a-z0-9-]/, "-", method)
		gsub(/ /, "-", f[3])
		keep("neighbours:" f[1] "," f[2] "," f[3] "," method "," f[4], amount(f[7], "ns"))
		if (f[8] != "")
			keep("neighbours-times:" f[1] "," f[2] "," f[3] "," method "," f[4], times(1 / f[8]) " times")
	}
	close(file)
}

function read_torus(file,    line, f, key)
{
	while ((getline line < file) > 0) {
		if (line ~ /^#/ || split(line, f, "\t") < 8)
			continue
		key = f[1] "," f[2] "," f[3] "," f[4] "," f[5]
		keep("torus:" key ",seconds", amount(f[6] * 1e9, "ns"))
		keep("torus:" key ",links", sprintf("%.2f", f[7]) " times")
		keep("torus:" key ",busiest", f[8])
		if (!(key in Torus_links))
			Torus_row[++Torus_rows] = key
		Torus_links[key] = f[7]
		Torus_share[key] = f[9]
		if (f[9] != "")
			keep("torus:" key ",share", f[9])
		if (f[10] != "")
			keep("torus:" key ",times", f[10])
	}
	close(file)
}

function read_softofu(file,    line, f)
{
	while ((getline line < file) > 0)
		if (line !~ /^#/ && split(line, f, "\t") >= 4) {
			keep("softofu:" f[1] "," f[2] ",seconds", f[3] " s")
			keep("softofu:" f[1] "," f[2] ",memory", f[4] " KiB")
		}
	close(file)
}

function read_lattice(file,    line, f)
{
	while ((getline line < file) > 0) {
		if (line ~ /^#/ || split(line, f, "\t") < 7)
			continue
		keep("lattice:" f[1] "," f[2] "," f[3] "," f[4] ",us", f[6] " us")
		keep("lattice:" f[1] "," f[2] "," f[3] "," f[4] ",rate", f[7] " GB/s")
		Lattice[++Lattices] = line
	}
	close(file)
}

function read_cluster(file,    line, f)
{
	while ((getline line < file) > 0)
		if (line !~ /^#/ && split(line, f, "\t") >= 3)
			keep("cluster:" f[1], f[2] (f[3] == "-" ? "" : " " f[3]))
	close(file)
}

# --- Plots ---

function draw_others(    i, n, a, f, key, shown)
{
	draw_begin("bars", "linear", "broadcast of 16 MiB on 3x3x3 hosts: times the rate of one cable", "")
	n = split("torus-twice,torus-up,auto,pull,openmpi", a, ",")
	split("torushmem, six trees;torushmem, three trees;torushmem, as it chooses;torushmem, a chain;Open MPI", shown, ";")
	for (i = 1; i <= n; i++) {
		key = "3x3x3,20mbit,broadcast," a[i] ",16m"
		if (key in Torus_links)
			draw_point(a[i] == "openmpi" ? "openmpi" : "ours", shown[i], Torus_links[key], Torus_links[key], Torus_links[key])
	}
	draw_end(folder "/torus-broadcast.svg")
	draw_simulated()
}

# --- Pages ---

/^ *```/ {
	code = !code
}

/<!-- unrecorded -->/ {
	free = 1
}

code || /^    / || /^\t/ {
	print
	next
}

{
	while (/^<!-- table: /)
		if (!table())
			exit
	line = filled($0)
	print line
	if (!free)
		unmarked(line)
}

# What stands in front of a mark becomes what the record has.
function filled(line,    before, mark, key, done)
{
	done = ""
	while (match(line, /<!--=[^>]*-->/)) {
		mark = substr(line, RSTART, RLENGTH)
		before = substr(line, 1, RSTART - 1)
		line = substr(line, RSTART + RLENGTH)
		key = substr(mark, 6, length(mark) - 8)
		if (key != "given" && !(key in Figure))
			complain("no record has " key)
		else if (!match(before, /[0-9][0-9.]*( (ns|µs|ms|s|B|KiB|MiB|MB\/s|GB\/s|times|%))?$/))
			complain("no number in front of " mark)
		else if (key != "given") {
			if (substr(before, RSTART) != Figure[key])
				complain("says " substr(before, RSTART) ", the record " Figure[key] " (" key ")")
			before = substr(before, 1, RSTART - 1) Figure[key]
		}
		done = done before mark
	}
	return done line
}

# --- Tables of pages ---

# Behind a line that names it. Reads the next line behind the table; is there one?
function table(    old, more)
{
	print
	old = made = ""
	table_of($3, $4, $5, $6)
	while ((more = getline) > 0 && (/^\|/ || (/^$/ && old == "")))
		if (/^\|/)
			old = old $0 "\n"
	printf "\n%s%s", made, old == "" ? "\n" : ""
	if (old != made)
		complain("says another table than the records")
	return more > 0
}

function table_of(what, a, b, c)
{
	if (what == "torus")
		torus_table(a "," b, c)
	else if (what == "shares")
		shares_table(a, b)
	else if (what == "simulated")
		simulated_table(a, b)
	else if (what == "lattice")
		lattice_table(a)
	else
		complain("there is no table " what)
}

function torus_table(where, bytes,    i, f, key, c)
{
	made = "| collective, " bytes "iB | algorithm | seconds | times one cable | busiest cable |\n|---|---|---|---|---|\n"
	sub(/miB/, " MiB", made)
	for (i = 1; i <= Torus_rows; i++) {
		split(Torus_row[i], f, ",")
		if (f[1] "," f[2] != where || f[5] != bytes)
			continue
		key = "torus:" Torus_row[i]
		c = f[3] == "reduce" ? "sum to all" : f[3]
		made = made "| " c " | " algorithm_name(f[4]) " | " Figure[key ",seconds"] " | " Torus_links[Torus_row[i]] " | " Figure[key ",busiest"] " |\n"
	}
}

# By shape and size: what "auto" took, the share of what the cables allow that this is, and the same of others, such as "sockets+openmpi".
function shares_table(collective, others,    i, j, n, f, key, other, rule)
{
	n = split(others, other, "+")
	made = "| hosts | cables | bytes | seconds | share of the bound | times both bounds |"
	rule = "|---|---|---|---|---|---|"
	for (j = 1; j <= n; j++) {
		made = made " " algorithm_name(other[j]) " | share |"
		rule = rule "---|---|"
	}
	made = made "\n" rule "\n"
	for (i = 1; i <= Torus_rows; i++) {
		split(Torus_row[i], f, ",")
		if (f[3] != collective || f[4] != "auto" || Torus_share[Torus_row[i]] == "")
			continue
		key = "torus:" Torus_row[i]
		made = made "| " f[1] " | " f[2] " | " f[5] " | " Figure[key ",seconds"] " | " Figure[key ",share"] " | " Figure[key ",times"] " |"
		for (j = 1; j <= n; j++) {
			key = "torus:" f[1] "," f[2] "," f[3] "," other[j] "," f[5]
			made = made " " Figure[key ",seconds"] " | " Figure[key ",share"] " |"
		}
		made = made "\n"
	}
}

function algorithm_name(word)
{
	return word == "openmpi" ? "Open MPI" : word == "sockets" ? "plain sockets" : "`" word "`"
}

function lattice_table(program,    i, f)
{
	made = "| nodes | TNIs | network | us of an iteration | GB/s of a node |\n|---|---|---|---|---|\n"
	for (i = 1; i <= Lattices; i++) {
		split(Lattice[i], f, "\t")
		if (f[1] == program)
			made = made "| " f[2] " | " f[3] " | " f[4] " | " f[6] " | " f[7] " |\n"
	}
}

function complain(what)
{
	print name ":" NR ": " what >complaints
}

function unmarked(line)
{
	gsub(/[0-9][0-9.]*( [^ <]+)?<!--=[^>]*-->/, "", line)
	gsub(/`[^`]*`/, "", line)
	if (match(" " line " ", /[^A-Za-z0-9.][0-9][0-9.,]* (ns|µs|us|ms|s|MB\/s|GB\/s|Gflop\/s|times)[^A-Za-z0-9\/]/))
		complain("quotes" substr(" " line " ", RSTART, RLENGTH) "without the record's key: put <!--=KEY--> behind it, or <!--=given--> if it is chosen")
}
