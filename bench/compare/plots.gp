# SPDX-License-Identifier: BSD-3-Clause
# The plots of docs/performance. report.py sets data, a folder with a file of columns for each curve
# or row of bars, plot, the picture that is wanted, and other, the name of the other library.

set encoding utf8
set datafile separator "\t"
set grid ytics
set border 3
set tics nomirror
set key left top Left reverse samplen 2
blue = "#1b6ca8"; red = "#c2410c"; grey = "#555555"; green = "#2e7d32"
set linetype 1 linecolor rgb blue linewidth 2 pointtype 7 pointsize 0.5
set linetype 2 linecolor rgb red linewidth 2 pointtype 5 pointsize 0.5
set linetype 3 linecolor rgb grey linewidth 2 dashtype 2
set linetype 4 linecolor rgb green linewidth 2 pointtype 9 pointsize 0.6
set macros

# Times in nanoseconds on a logarithmic axis: ours, the other library, and the
# floor where there is one.
TIMES = 'set logscale xy; set ylabel "time"; set ytics ("1 ns" 1, "10 ns" 10, "100 ns" 100, "1 µs" 1e3, \
	"10 µs" 1e4, "100 µs" 1e5, "1 ms" 1e6, "10 ms" 1e7, "100 ms" 1e8, "1 s" 1e9, "10 s" 1e10, "100 s" 1e11)'
SIZES = 'set xrange [4:1.5e8]; set xlabel "size of the message"; \
	set xtics ("8 B" 8, "256 B" 256, "8 KiB" 8192, "256 KiB" 262144, "8 MiB" 8388608)'
OURS = 'using 1:2 with linespoints linetype 1 title "torushmem"'
OTHER = 'using 1:3 with linespoints linetype 2 title other'
FLOOR = 'using 1:4 with lines linetype 3 title "floor"'

if (plot eq "put") {
	set terminal svg size 760,340 font "sans-serif,13" background "#ffffff"
	set multiplot layout 1,2
	@TIMES; @SIZES
	set title "put to the heap, 2 PEs"
	plot data."put" @OURS, "" @OTHER, "" @FLOOR
	set title "get from the heap, 2 PEs"
	plot data."get" @OURS, "" @OTHER, "" @FLOOR
}
if (plot eq "collectives") {
	set terminal svg size 760,640 font "sans-serif,13" background "#ffffff"
	set multiplot layout 2,2
	@TIMES; @SIZES
	set title "broadcast, 2 PEs"
	plot data."broadcast" @OURS, "" @OTHER, "" @FLOOR
	set title "sum of long, 2 PEs"
	plot data."reduce" @OURS, "" @OTHER, "" @FLOOR
	set title "fcollect, 2 PEs"
	plot data."fcollect" @OURS, "" @OTHER, "" @FLOOR
	set title "alltoall, 2 PEs"
	plot data."alltoall" @OURS, "" @OTHER, "" @FLOOR
}
if (plot eq "pes") {
	set terminal svg size 760,340 font "sans-serif,13" background "#ffffff"
	set multiplot layout 1,2
	@TIMES
	set xlabel "PEs"
	set xtics (2, 4, 8, 16, 64, 256)
	set xrange [1.5:400]
	set title "start and end of a program"
	plot data."start" @OURS, "" @OTHER
	set xrange [1.5:100]
	set title "barrier of all PEs"
	plot data."barrier" @OURS, "" @OTHER
}
if (plot eq "torus-broadcast") {
	set terminal svg size 760,300 font "sans-serif,13" background "#ffffff"
	set title "broadcast of 16 MiB to 27 hosts, cabled as 3x3x3"
	set xlabel "times the rate of one cable"
	set xrange [0:6]
	set yrange [:] reverse
	unset grid
	set grid xtics
	set key off
	set style fill solid
	plot data."torus-broadcast" using ($2 / 2):0:($2 / 2):(0.35):(strcol(1) eq "Open MPI" ? 0xc2410c : 0x1b6ca8):ytic(1) \
		with boxxyerror linecolor rgb variable
}
if (plot eq "simulated") {
	set terminal svg size 760,340 font "sans-serif,13" background "#ffffff"
	set multiplot layout 1,2
	set logscale x
	set key bottom right autotitle columnhead
	set yrange [0:1.05]
	set ylabel "share of what the links allow"
	set xtics ("64 B" 64, "1 KiB" 1024, "16 KiB" 16384, "1 MiB" 1048576)
	set title "all-gather, simulated"
	set xlabel "bytes from each PE"
	plot for [c = 2:4] data."allgather" using 1:c with linespoints linetype (c == 4 ? 4 : c - 1)
	set title "all-to-all, simulated"
	set xlabel "bytes for each PE"
	plot for [c = 2:4] data."alltoall" using 1:c with linespoints linetype (c == 4 ? 4 : c - 1)
}
