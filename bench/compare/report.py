#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tables, plots and quoted numbers of the pages of results; see report.py --help.

docs/records/performance.tsv is what bench/compare/libraries --keep has measured. On other pages the
table that a reader sees is the record. docs/records/quoted.tsv lists the numbers that README, the
guide and others quote from those tables, so that pages have no marks.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))

# What users ask first: words; group, measure, variant, bytes, PEs.
ANSWERS = [
    ("8-byte put", "put put blocking 8 2"),
    ("8-byte get", "get get blocking 8 2"),
    ("8-byte put to a global variable", "put put blocking:global 8 2"),
    ("8-byte put and quiet", "put put quiet 8 2"),
    ("1 MiB put", "put put blocking 1048576 2"),
    ("fetch-add on the heap", "atomic atomic fetch-add 8 2"),
    ("fetch-add on a global variable", "atomic atomic fetch-add:global 8 2"),
    ("put with signal to the end of the wait", "pingpong signal put-signal 8 2"),
    ("barrier of 2 PEs", "sync sync barrier_all 0 2"),
    ("barrier of 64 PEs on 2 processors", "sync-64 sync barrier_all 0 64"),
    ("broadcast of 8 bytes, 2 PEs", "collectives broadcast set 8 2"),
    ("broadcast of 1 MiB, 2 PEs", "collectives broadcast set 1048576 2"),
    ("sum of 1 MiB, 2 PEs", "collectives reduce set 1048576 2"),
    ("all-to-all of 1 MiB, 2 PEs", "collectives alltoall set 1048576 2"),
    ("start and end of a program, 2 PEs", "start start hello 0 2"),
    ("start and end of a program, 64 PEs", "start start hello 0 64"),
    ("memory of a PE at the start, 16 PEs", "memory-16 memory private:at-start 0 16"),
    ("random updates (GUPS), atomic xor", "programs gups atomic-xor 8 2"),
    ("an iteration of a stencil, 64 x 64 points", "programs stencil 64x64 0 2"),
    ("an iteration of a stencil, 1024 x 1024 points", "programs stencil 1024x1024 0 2"),
    ("integer sort, a key", "programs isort 1M-keys 4 2"),
]

# Curves of plots.gp: file, group (a prefix), measure, variant, the axis.
CURVES = [
    ("put", "put", "put", "blocking", "bytes"),
    ("get", "get", "get", "blocking", "bytes"),
    ("broadcast", "collectives", "broadcast", "set", "bytes"),
    ("reduce", "collectives", "reduce", "set", "bytes"),
    ("fcollect", "collectives", "fcollect", "set", "bytes"),
    ("alltoall", "collectives", "alltoall", "set", "bytes"),
    ("start", "start", "start", "hello", "pes"),
    ("barrier", "", "sync", "barrier_all", "pes"),
]

PLOTS = ["put", "collectives", "pes", "torus-broadcast", "simulated"]
OF_COMPARISON = PLOTS[:3]


# --- Numbers as text ---


def digits(x):
    return "%.*f" % (3 if x < 0.1 else 2 if x < 10 else 1 if x < 100 else 0, x)


def amount(x, unit):
    if unit != "ns":
        return digits(x) + " " + unit
    for scale, name in ((1e3, "ns"), (1e6, "µs"), (1e9, "ms")):
        if x < scale:
            return digits(x * 1e3 / scale) + " " + name
    return digits(x / 1e9) + " s"


def times(x):
    return "%.*f" % (2 if x < 1.95 else 1 if x < 9.95 else 0, x)


# --- The table of a comparison ---


def read_table(file):
    """Rows by key, each a dictionary; the names of the other libraries."""
    with open(file, encoding="utf-8") as lines:
        names = next(lines).rstrip("\n").split("\t")
        rows = [dict(zip(names, line.rstrip("\n").split("\t"))) for line in lines]
    others = [n for n in names[7:] if "/" not in n and n not in ("floor", "least", "greatest")]
    return {" ".join(r[n] for n in names[:5]): r for r in rows}, others


def wanted(key):
    """Is this row on the page or in one of its plots?"""
    group, measure, variant, _, pes = key.split(" ")
    if any(key == answer for _, answer in ANSWERS):
        return True
    return any(group.startswith(g) and (measure, variant) == (m, v) and (axis == "pes" or pes == "2")
               for _, g, m, v, axis in CURVES)


TITLES = {"openmpi": "Open MPI"}


def answer(words, row, others):
    cells = [words, amount(float(row["ours"]), row["unit"])]
    for other in others:
        known = row[other] != ""
        cells.append(amount(float(row[other]), row["unit"]) if known else "")
        cells.append(times(1 / float(row["ours/" + other])) if known else "")
    return "| " + " | ".join(cells) + " |"


def answers(table, others):
    lines = ["| what | torushmem |" + "".join(" %s | its time / ours |" % TITLES.get(o, o) for o in others),
             "|---|---|" + "---|---|" * len(others)]
    return lines + [answer(words, table[key], others) for words, key in ANSWERS if key in table]


def sums(table, others):
    """Lines of a table for all sizes of the groups sums."""
    return [answer("sum of %s bytes, %s PEs, %s" % (r["bytes"], r["pes"], r["variant"]), r, others)
            for r in table.values() if r["group"].startswith("sums")]


def replace_table(text, name, lines):
    """The table behind the line that names it becomes this one."""
    mark = "<!-- table: %s -->\n\n" % name
    before, after = text.split(mark)
    return before + mark + "\n".join(lines) + "\n" + re.sub(r"\A(\|.*\n)*", "", after)


# --- Tables of pages ---


def tables_of(page):
    """Each a list of rows, the first with the names of the columns."""
    tables, inside = [], False
    with open(page, encoding="utf-8") as lines:
        for line in lines:
            cells = [c.strip(" `") for c in line.strip().strip("|").split("|")]
            if not line.startswith("|"):
                inside = False
            elif not inside:
                tables.append([cells])
                inside = True
            elif not line.startswith("|---"):
                tables[-1].append(cells)
    return tables


def quoted_cell(tables, row, column):
    """Of the first table that has the row (its first cells, with commas between) and the column."""
    begins = row.split("; ")
    for table in tables:
        if column in table[0]:
            for cells in table[1:]:
                if cells[: len(begins)] == begins:
                    return cells[table[0].index(column)]
    return None


# --- Plots ---


def data_of(plot, top, table, others):
    """The files that plots.gp reads, by name."""
    files = {}
    if plot in OF_COMPARISON:
        here = {"put": CURVES[:2], "collectives": CURVES[2:6], "pes": CURVES[6:]}[plot]
        for name, group, measure, variant, axis in here:
            rows = [r for k, r in table.items()
                    if r["group"].startswith(group) and (r["measure"], r["variant"]) == (measure, variant)]
            rows.sort(key=lambda r: int(r[axis]))
            files[name] = ["\t".join([r[axis], r["ours"], r[others[0]] if others else "", r["floor"]]) for r in rows]
    elif plot == "torus-broadcast":
        names = {"torus-twice": "torushmem, six trees", "torus-up": "torushmem, three trees",
                 "auto": "torushmem, as it chooses", "pull": "torushmem, a chain", "Open MPI": "Open MPI"}
        found = next(t for t in tables_of(top + "/docs/torus-collectives.md") if t[0][1] == "algorithm")
        files[plot] = ["%s\t%s" % (names[r[1]], r[3]) for r in found[1:] if r[0] == "broadcast" and r[1] in names]
    else:
        units = {"B": 1, "KiB": 1024, "MiB": 1 << 20}
        for found in tables_of(top + "/docs/simulations.md"):
            if not found[0][0].startswith("bytes "):
                continue
            name = "allgather" if found[0][0] == "bytes from each PE" else "alltoall"
            files[name] = ["\t".join(["bytes"] + [c[:-4] for c in found[0][1::2]])]
            for row in found[1:]:
                number, unit = row[0].split(" ")
                files[name].append("\t".join([str(int(number) * units[unit])] + row[2::2]))
    return {name: "\n".join(lines) + "\n" for name, lines in files.items()}


def stamp_of(files):
    with open(HERE + "/plots.gp", "rb") as script:
        crc = zlib.crc32(script.read())
    for name in sorted(files):
        crc = zlib.crc32((name + "\n" + files[name]).encode(), crc)
    return "<!-- data %08x -->\n" % crc


def tidy(svg):
    """A line for each object, or tick with its grid line; nothing empty, and nothing of gnuplot's version."""
    svg = re.sub(r"<title>Gnuplot</title>\s*<desc>.*</desc>", "", svg)
    svg = re.sub(r"<filter.*?</filter>", "", svg, flags=re.S)
    svg = re.sub(r"\s*\n\s*", " ", svg)
    svg = re.sub(r"<g [^>]*>\s*</g>", "", svg)
    svg = re.sub(r"\s*(<g fill|</?svg|<defs|</defs|<rect x)", r"\n\1", svg)
    return re.sub(r'(class="gridline".*)\n', r"\1", svg).strip() + "\n"


def draw(plot, files, others, output):
    with tempfile.TemporaryDirectory() as work:
        for name, text in files.items():
            with open(work + "/" + name, "w", encoding="utf-8") as file:
                file.write(text)
        other = TITLES.get(others[0], others[0]) if others else "no other"
        variables = "data = '%s/'; plot = '%s'; other = '%s'" % (work, plot, other)
        drawn = subprocess.run(["gnuplot", "-e", variables, HERE + "/plots.gp"],
                               stdout=subprocess.PIPE, check=True, encoding="utf-8").stdout
    with open(output, "w", encoding="utf-8") as file:
        file.write(tidy(drawn) + stamp_of(files))


# --- What is to be done ---


def put_text(path, text, check, name):
    """True: the file has this text already, or now."""
    with open(path, encoding="utf-8") as file:
        if file.read() == text:
            return True
    if check:
        print("%s: not what the record gives; run make figures" % name)
        return False
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    print(name + " changed")
    return True


def is_drawn_from(plot, files):
    if not os.path.exists(plot):
        return False
    with open(plot, encoding="utf-8") as file:
        return file.read().endswith(stamp_of(files))


def do_plots(top, table, others, check):
    good = True
    for plot in PLOTS:
        name = "docs/performance/%s.svg" % plot
        files = data_of(plot, top, table, others)
        if is_drawn_from(os.path.join(top, name), files):
            continue
        if check:
            print("%s: not drawn from what the tables have; run make figures" % name)
            good = False
        else:
            draw(plot, files, others, os.path.join(top, name))
            print(name + " changed")
    return good


TIME = re.compile(r"(?<![\w.])[0-9][0-9.,]* (?:ns|µs|us|ms|s|MB/s|GB/s|times)(?![\w/])")


def prose_of(page):
    """Without code, tables and what stands between backquotes; lines joined."""
    with open(page, encoding="utf-8") as file:
        text = re.sub(r"^ *```.*?^ *```$", "", file.read(), flags=re.S | re.M)
    text = re.sub(r"^(    |\t|\|).*$", "", text, flags=re.M)
    return re.sub(r"\s+", " ", re.sub(r"`[^`]*`", "", text))


def check_quotes(top):
    good, listed, pages = True, {}, {}
    with open(top + "/docs/records/quoted.tsv", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines if not line.startswith("#")]
    for page, says, source, row, column in rows:
        listed.setdefault(page, []).append(says)
        if source not in pages:
            pages[source] = tables_of(os.path.join(top, source))
        cell = quoted_cell(pages[source], row, column)
        if cell is None or cell.split(" ")[0] != says.split(" ")[0]:
            print("%s: says %s; %s, %s, %s: %s" % (page, says, source, row, column, cell or "there is no such row"))
            good = False
    guide = sorted(os.listdir(top + "/docs/guide")) if os.path.isdir(top + "/docs/guide") else []
    for page in sorted(set(listed) | {"docs/guide/" + g for g in guide if g.endswith(".md")}):
        text = prose_of(os.path.join(top, page))
        found = TIME.findall(text)
        for says in listed.get(page, []):
            if says not in text:
                print("%s: does not say %s; correct docs/records/quoted.tsv" % (page, says))
                good = False
        for time in found:
            if time not in listed.get(page, []):
                print("%s: says %s, which docs/records/quoted.tsv does not list" % (page, time))
                good = False
    return good


def write_page(table_file, page):
    """docs/performance.md of somebody's own run, with its plots in a folder of the page's name."""
    table, others = read_table(table_file)
    folder = os.path.splitext(page)[0]
    with open(HERE + "/../../docs/performance.md", encoding="utf-8") as file:
        text = replace_table(file.read(), "answers", answers(table, others))
    os.makedirs(folder, exist_ok=True)
    for plot in OF_COMPARISON:
        files = data_of(plot, "", table, others)
        if all(f.strip() for f in files.values()):
            draw(plot, files, others, "%s/%s.svg" % (folder, plot))
        else:
            text = re.sub(r"!\[.*\]\(performance/%s.svg\)\n" % plot, "", text)
    with open(page, "w", encoding="utf-8") as file:
        file.write(text.replace("](performance/", "](%s/" % os.path.basename(folder)))


class Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(2, "%s: %s; try --help\n" % (self.prog, message))


def main():
    parser = Parser(prog="report.py", description="Writes the tables and draws the plots of the pages of results "
                    "again from their records (make figures), and checks the numbers that other pages quote.")
    parser.add_argument("--check", action="store_true", help="change nothing: name what is wrong; exit status 1")
    parser.add_argument("--top", default=HERE + "/../..", metavar="DIR", help="the source tree")
    options = parser.parse_args()
    if not os.path.exists(options.top + "/docs/records/performance.tsv"):
        parser.error("%s has no docs/records/performance.tsv" % options.top)
    table, others = read_table(options.top + "/docs/records/performance.tsv")
    page = options.top + "/docs/performance.md"
    with open(page, encoding="utf-8") as file:
        text = replace_table(file.read(), "answers", answers(table, others))
    good = put_text(page, text, options.check, "docs/performance.md")
    good = do_plots(options.top, table, others, options.check) and good
    good = check_quotes(options.top) and good
    if good:
        print("figures: tables, plots and quoted numbers are what the records give")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
