#!/usr/bin/env python3
"""Makes the tables of Benchmarks/README.md and Documentation/growth.md from what a run of the benchmarks printed.

    Benchmarks/table.py LOG              prints the table of that run
    Benchmarks/table.py LOG --write      also puts it into Benchmarks/README.md, and what grows into Documentation/growth.md

A line that does not begin with a space is a title, or says on what was measured. "  name  figure", with two spaces or more
between the two, is a row. All other lines are notes, such as what could not be measured and why.
"""
import math
import pathlib
import re
import sys
from collections import namedtuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
README, GROWTH = ROOT / "Benchmarks/README.md", ROOT / "Documentation/growth.md"
ROW = re.compile(r"^  (\S.*?) {2,}(\S.*)$")
VERDICT = re.compile(r"^(.*?)\s*\(goal: (.*): (met|MISSED|beaten|only tried)\)$")
MACHINE = re.compile(r"^(Processor|Features|Processors|System|Date|Commit): ")
Row = namedtuple("Row", "name figure goal verdict")


class Section:
    """What one benchmark printed under a title."""

    def __init__(self, title):
        self.title, self.rows, self.notes = title, [], []


def read(log):
    """The lines about the machine, and the sections, in order."""
    machine, sections = [], []
    for line in log.read_text(encoding="utf-8").splitlines():
        if not line.strip():
            continue
        if MACHINE.match(line):
            machine.append(line)
        elif not line.startswith(" "):
            sections.append(Section(line))
        elif sections:
            add(sections[-1], line)
    return machine, sections


def add(section, line):
    if not (found := ROW.match(line)):
        section.notes.append(line.strip())
    elif judged := VERDICT.match(found[2]):
        section.rows.append(Row(found[1], judged[1], judged[2], judged[3]))
    else:
        section.rows.append(Row(found[1], found[2].strip(), "", ""))


def table(machine, sections):
    """The whole table, in Markdown."""
    yield from (f"- {line}" for line in machine)
    verdicts = [row.verdict for section in sections for row in section.rows if row.verdict]
    yield ""
    yield (f"{len(verdicts)} rows have a goal: {verdicts.count('beaten')} beat their peer, {verdicts.count('met')} meet the goal, "
           f"{verdicts.count('MISSED')} miss it.")
    for section in sections:
        yield from ["", f"#### {section.title}", ""]
        if section.rows:
            yield from ["| What | Figure | Goal | |", "|---|---|---|---|"]
        for row in section.rows:
            yield f"| {row.name} | {row.figure} | {row.goal} | {'**missed**' if row.verdict == 'MISSED' else row.verdict} |"
        if section.notes:
            yield from ["", *(f"{note}  " for note in section.notes)]


# MARK: What grows with the number of labels

# The row's name, its title and name in the log, and what is modelled at 10⁷ from what was measured at 10⁵ and 10⁶.
GROWING = [
    ("Index memory, bytes per label, resident", "The whole index", "resident bytes a label", lambda log, before, last: last),
    ("Lookup, bytes, of one label", "Native lookup", "the whole answer, bytes", lambda log, *_: 895 + 33 * (log + 0.33) + 48 * (log + 1)),
    ("Index path, steps, mean", "The whole index", "index path of a label, mean", lambda log, *_: log + 0.33),
    ("Index path, steps, longest of 1,000", "The whole index", "index path of a label, longest", lambda log, *_: log + 3.8),
    ("Consistency path, hashes, mean", "The whole index", "consistency path from a size, mean", lambda log, *_: log + 1),
    ("Inclusion path, hashes, mean", "The whole index", "inclusion path of an entry, mean", lambda log, *_: log + 1),
    ("Seal, ms of processor time for 10,000 new labels", "The whole index", "predict and swap an epoch",
     lambda log, before, last: last * nodes(log) / nodes(math.log2(1e6))),
    ("Replay, entries per second on one core", "Replay of", "entries audited", lambda log, before, last: 1 / (2 / last - 1 / before)),
    ("Start without a snapshot, s", "Start .*, no snapshot", "start", lambda log, before, last: last * 10),
    ("Start with a snapshot, s", "Start .*, a snapshot", "start", lambda log, before, last: last * 10),
    ("Resident after the start with a snapshot, MB", "Start .*, a snapshot", "resident", lambda log, before, last: last * 10),
    ("Resident, the most during it, MB", "Start .*, a snapshot", "resident, the most during the start", lambda log, before, last: last * 10),
    ("A server with so many real accounts, MB at most", "Memory of the server", "the most that was resident, MB", None),
    ("Data of an account on the disk, KB", "Memory of the server", "data on the disk, KB an account", None),
]
SIZES = [10_000, 100_000, 1_000_000]


def nodes(log):
    """Of the trie that an epoch of 10,000 new labels makes again, at 2^log labels."""
    return 1e4 * (log - math.log2(1e4) + 2.3)


def size(title):
    """How many labels a title speaks of: of an entry count, half as many, to the next power of ten."""
    numbers = [int(word.replace(",", "")) for word in re.findall(r"[\d,]*\d", title)]
    labels = re.search(r"([\d,]*\d) (?:labels|accounts)", title)
    count = int(labels[1].replace(",", "")) if labels else max(numbers, default=1) / 2
    return 10 ** round(math.log10(max(1, count)))


def number(row):
    return float(re.match(r"-?[\d.]+", row.figure.replace(",", ""))[0])


def is_called(row, name):
    """Whether the row begins with that name, as a word."""
    return re.match(rf"{re.escape(name)}(\W|$)", row.name)


def growth(sections):
    yield "| What | 10⁴ | 10⁵ | 10⁶ | 10⁷, modelled | Goal at 10⁶ |"
    yield "|---|---|---|---|---|---|"
    for name, title, row_name, model in GROWING:
        found = {}
        for section in sections:
            if re.match(title, section.title):
                rows = [row for row in section.rows if row.name == row_name] or [row for row in section.rows if is_called(row, row_name)]
                found |= {size(section.title): row for row in rows[:1]}
        figures = [number(found[count]) if count in found else None for count in SIZES]
        modelled = model(math.log2(1e7), *figures[1:]) if model and all(figures[1:]) else None
        goal, verdict = next(((row.goal, row.verdict) for count, row in sorted(found.items(), reverse=True) if row.goal), ("", ""))
        cells = [shown(figure) for figure in [*figures, modelled]]
        yield f"| {name} | {' | '.join(cells)} | {goal}{', **missed**' if verdict == 'MISSED' else ''} |"


def shown(figure):
    if figure is None:
        return "–"
    return f"{figure:,.0f}" if figure >= 100 else f"{figure:.1f}"


def put(file, name, lines):
    """Between the two lines of a file that name what stands there."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    text = file.read_text(encoding="utf-8")
    before, rest = text.split(begin)
    after = rest.split(end)[1]
    file.write_text(before + begin + "\n".join(lines).strip() + "\n" + end + after, encoding="utf-8")


def main():
    machine, sections = read(pathlib.Path(sys.argv[1]))
    lines = list(table(machine, sections))
    print("\n".join(lines))
    if "--write" in sys.argv:
        put(README, "measured", lines)
        put(GROWTH, "measured", [*(f"- {line}" for line in machine), "", *growth(sections)])


main()
