# SPDX-License-Identifier: BSD-3-Clause
# Figures, plots and tables of simulations, from the record of bench/simulate-record. Used by figures.awk.

function read_simulated(file,    line, f, n, key)
{
	while ((getline line < file) > 0) {
		if (line ~ /^#/ || (n = split(line, f, "\t")) < 10)
			continue
		Simulated[++Simulations] = line
		if (f[2] == "lattice") {
			key = "simulate:" f[1] ",lattice," f[3] "," f[4] "," f[5]
			keep(key ",exchange", amount(1000 * f[10], "ns"))
			keep(key ",sums", amount(1000 * f[12], "ns"))
			keep(key ",iteration", amount(1000 * f[13], "ns"))
			continue
		}
		key = "simulate:" f[1] "," f[2] "," f[3] (f[10] == 6.8 ? "" : ",slow")
		keep(key ",ms", f[7] " ms")
		if (f[2] !~ /^allgather$|^alltoall$/)
			keep(key ",links", f[8] " times")
		if (f[9] != "-")
			keep(key ",share", f[9])
	}
	close(file)
}

# --- Plots ---

function draw_simulated(    i, f)
{
	draw_begin("bars", "linear", "broadcast of 64 MiB, simulated: times the rate of one link", "")
	for (i = 1; i <= Simulations; i++) {
		split(Simulated[i], f, "\t")
		if (is_broadcast(f[2]))
			draw_point(f[2], f[1], f[8], f[8], f[8])
	}
	draw_end(folder "/simulated-broadcast.svg")
	draw_shares("allgather", "all-gather, simulated: share of the bound", "bytes from each PE")
	draw_shares("alltoall", "all-to-all, simulated: share of the bound", "bytes for each PE")
	draw_lattice("8x8x8x8", "8")
	draw_lattice("16x16x16x16", "16")
}

function is_broadcast(algorithm)
{
	return algorithm !~ /^all|^lattice$/
}

function draw_shares(algorithm, title, label,    i, f)
{
	draw_begin("curves", "linear", title, "")
	draw_axis("bytes", label)
	for (i = 1; i <= Simulations; i++) {
		split(Simulated[i], f, "\t")
		if (f[2] == algorithm && f[10] == 6.8)
			draw_point(f[1], bytes_of(f[3]), f[9], f[9], f[9])
	}
	draw_end(folder "/simulated-" algorithm ".svg")
}

# Of one PE on a node.
function draw_lattice(sites, name,    i, f, p, part)
{
	split("exchange,computation,sums", part, ",")
	draw_begin("bars", "linear", "an iteration, " sites " sites for each PE, simulated", "s")
	for (i = 1; i <= Simulations; i++) {
		split(Simulated[i], f, "\t")
		for (p = 1; p <= 3 && f[2] == "lattice" && f[4] == sites && f[6] == 1; p++)
			draw_point(part[p], f[1] " " f[5], f[9 + p] / 1e6, f[9 + p] / 1e6, f[9 + p] / 1e6)
	}
	draw_end(folder "/simulated-lattice-" name ".svg")
}

function bytes_of(text)
{
	return text ~ /m$/ ? text * 1048576 : text ~ /k$/ ? text * 1024 : text + 0
}

# --- Tables of pages: each makes "made" ---

function simulated_table(what, sites)
{
	if (what == "broadcast" || what == "allreduce")
		simulated_times(what == "allreduce")
	else if (what == "lattice")
		simulated_lattice(sites)
	else if (what == "shares")
		simulated_shares()
	else
		simulated_sizes(what)
}

function simulated_times(allreduce,    i, f)
{
	made = "| shape |" (allreduce ? "" : " algorithm | segment |") " transfers | most at once on a link | ms | times one link |\n"
	made = made "|---|" (allreduce ? "" : "---|---|") "---|---|---|---|\n"
	for (i = 1; i <= Simulations; i++) {
		split(Simulated[i], f, "\t")
		if (f[10] == 6.8 && (allreduce ? f[2] == "allreduce" : is_broadcast(f[2])))
			made = made "| " f[1] " |" (allreduce ? "" : " " f[2] " | " f[4] " |") " " f[5] " | " f[6] " | " f[7] " | " f[8] " |\n"
	}
}

# Sizes below one another, shapes beside one another.
function simulated_sizes(algorithm,    i, f, each, shape, cell, sizes, shapes, k, r)
{
	for (i = 1; i <= Simulations; i++) {
		split(Simulated[i], f, "\t")
		if (f[2] != algorithm || f[10] != 6.8)
			continue
		if (!((f[3], 0) in cell))
			each[++sizes] = f[3]
		if (!((0, f[1]) in cell))
			shape[++shapes] = f[1]
		cell[f[3], 0] = cell[0, f[1]] = 1
		cell[f[3], f[1]] = f[7] " | " f[9]
	}
	made = "| " (algorithm == "alltoall" ? "bytes for each PE" : "bytes from each PE") " |"
	for (k = 1; k <= shapes; k++)
		made = made " " shape[k] ", ms | share |"
	made = made "\n|---|"
	for (k = 1; k <= shapes; k++)
		made = made "---|---|"
	made = made "\n"
	for (r = 1; r <= sizes; r++) {
		made = made "| " draw_bytes(bytes_of(each[r])) " |"
		for (k = 1; k <= shapes; k++)
			made = made " " cell[each[r], shape[k]] " |"
		made = made "\n"
	}
}

function simulated_shares(    i, f, shape, shapes, share, k)
{
	for (i = 1; i <= Simulations; i++) {
		split(Simulated[i], f, "\t")
		if (f[2] == "lattice" || f[10] == 6.8)
			continue
		if (f[2] == "allgather")
			shape[++shapes] = f[1]
		share[f[1], f[2]] = f[9]
	}
	made = "| shape | all-gather | all-to-all | all-reduce |\n|---|---|---|---|\n"
	for (k = 1; k <= shapes; k++)
		made = made "| " shape[k] " | " share[shape[k], "allgather"] " | " share[shape[k], "alltoall"] " | " share[shape[k], "allreduce"] " |\n"
}

function simulated_lattice(sites,    i, f, k)
{
	made = "| nodes | grid of PEs | on a node | order | hops | most hops | busiest link | exchange | computation | sums | iteration |\n"
	made = made "|---|---|---|---|---|---|---|---|---|---|---|\n"
	for (i = 1; i <= Simulations; i++) {
		split(Simulated[i], f, "\t")
		if (f[2] != "lattice" || f[4] != sites)
			continue
		made = made "| " f[1] " | " f[3] " | " f[6] " | " f[5] " | " f[7] " | " f[8] " | " f[9] " |"
		for (k = 10; k <= 13; k++)
			made = made sprintf(" %.1f |", f[k])
		made = made "\n"
	}
}
