# SPDX-License-Identifier: BSD-3-Clause
#
# Makes docs/platforms.md from files of results, one per release, in the order in which they are given; with section=NAME, the
# section of that release alone. A line of results is one of, with tabs between fields:
#
#   version NAME VALUE
#   STEP LINE PASSED FAILED SKIPPED SECONDS DATE SOURCE REMARK
#   figures NAME VALUE UNIT YARDSTICK RATIO DATE SOURCE

BEGIN {
	FS = "\t"
	steps = split("quickstart api tools sanitizers hosts compilers packages", step, " ")
	split("hello 1.5 get8/inside 1.25 fetch_add8/inside 1.25 put8+quiet/inside 1.25", pair, " ")
	for (i = 1; i in pair; i += 2)
		most[pair[i]] = pair[i + 1]
}

function release_of(file)
{
	sub(/.*\//, "", file)
	sub(/\.tsv$/, "", file)
	return file
}

# What was passed and failed on all lines of a step, or a dash where it was not run.
function total(step)
{
	if (!(step in passed))
		return "–"
	return failed[step] ? passed[step] ", **" failed[step] " failed**" : passed[step]
}

function join(from, to)
{
	return from == "" || from == to ? to : from " to " to
}

function end_release(    i, names, rule, values)
{
	if (release == "")
		return
	rule = versions
	gsub(/[^|]+/, "---", rule)
	text = text "\n## " release ": " version["Debian"] "\n\n|" versions "\n|" rule "\n|" version_values "\n"
	if (table != "")
		text = text "\n| step | line | passed | failed | skipped | seconds | date | source | remark |\n" \
			"|---|---|---:|---:|---:|---:|---|---|---|\n" table
	if (figures != "")
		text = text "\n| figure | measured | yardstick | ratio | wanted at most | date | source |\n" \
			"|---|---:|---:|---:|---:|---|---|\n" figures
	summary = summary sprintf("| [%s](#%s) | %s | %s | %s |", release, anchor(release ": " version["Debian"]), \
		version["UCX"], version["PMIx"], version["Open MPI"])
	for (i = 1; i <= steps; i++) {
		summary = summary " " total(step[i]) " |"
		if (!(step[i] in passed))
			names = names (names == "" ? "" : ", ") step[i]
	}
	if (figures == "")
		names = names (names == "" ? "" : ", ") "figures"
	if (names != "")
		text = text "\nNot run: " names ".\n"
	summary = summary " " join(first_day, last_day) " |\n"
	split("", passed); split("", failed); split("", version)
	versions = version_values = table = figures = first_day = last_day = ""
}

# How GitHub makes the anchor of a heading.
function anchor(heading)
{
	heading = tolower(heading)
	gsub(/[^a-z0-9 _-]/, "", heading)
	gsub(/ /, "-", heading)
	return heading
}

function see_day(day)
{
	if (first_day == "" || day < first_day)
		first_day = day
	if (day > last_day)
		last_day = day
}

FNR == 1 { end_release(); release = section == "" ? release_of(FILENAME) : section }
$1 == "whole" || NF < 3 { next }
$1 == "version" {
	version[$2] = $3
	versions = versions " " $2 " |"
	version_values = version_values " " $3 " |"
	next
}
$1 == "figures" {
	see_day($7)
	figures = figures sprintf("| %s | %s %s | %s %s | %s | %s | %s | %s |\n", $2, $3, $4, $5, $4, $6, \
		$2 in most ? ($6 > most[$2] ? "**" most[$2] "**" : most[$2]) : "–", $7, $8)
	next
}
{
	see_day($7)
	passed[$1] += $3
	failed[$1] += $4
	table = table sprintf("| %s | %s | %d | %s | %d | %d | %s | %s | %s |\n", $1, $2, $3, \
		$4 > 0 ? "**" $4 "**" : 0, $5, $6, $7, $8, $9)
}
END {
	end_release()
	if (section != "") {
		sub(/^\n/, "", text)
		printf "%s", text
		exit
	}
	print "# Platforms"
	print ""
	print "`tests/distros/run RELEASE` builds and tests torushmem on a release of Debian and makes this page"
	print "([how and why](decisions/testing.md)). Each cell of the first table counts the tests that passed,"
	print "and those that failed if there are any; – means not run. A date and a source, the commit that was"
	print "tested, stand in each line, for a run replaces the lines of what it ran. A + behind a commit means"
	print "that the tree had changes."
	print ""
	print "| release | UCX | PMIx | Open MPI | quickstart | API | tools | sanitizers | hosts | compilers | packages | tested |"
	print "|---|---|---|---|---|---|---|---|---|---|---|---|"
	printf "%s", summary
	print ""
	print "Lines of the step api are paths of `tests/run --help`; lines of hosts are launchers, which are to"
	print "put four PEs on four hosts, and paths on hosts made of namespaces by `tests/cluster/cluster`. A"
	print "compiler's line counts the tests of the API on one machine and the warnings of the whole build."
	print "Lines of packages are explained in [packages.md](packages.md)."
	print "Figures stand beside what bare PMIx (hello: a start of two PEs by"
	print "`oshrun`) and `ucx_perftest` over TCP (the others) take on the same machine in turn."
	print ""
	print "A release with a processor behind its name (trixie-arm64) was tested in virtual machines, whose"
	print "names stand behind the lines: a64fx is Fujitsu\047s A64FX, max all that QEMU has of arm64, 16k and 64k"
	print "are pages of that size."
	print ""
	print "No release has a UCX without thread support, which is UCX\047s own default. UCX 1.13.1 built so, and"
	print "1.23.0~rc1 of sid on trixie whose workers took no locks ([how](testing.md)), passed all tests of the"
	print "API on ucx-tcp, ucx-shm and mixed on 2026-11-27, 291 each. Thirteen runs of threads,"
	print "contexts and channels with the former were without a report of the thread sanitizer."
	printf "%s", text
}
