#!/usr/bin/env python3
"""Draws Documentation/growth.svg from the measured table of Documentation/growth.md, and Documentation/growth-model.svg from the modelled one.

    Benchmarks/growth-chart.py            draws both
    Benchmarks/growth-chart.py --check    says which of them are not what the tables make
"""
import math
import pathlib
import re
import sys

DOCUMENTATION = pathlib.Path(__file__).resolve().parent.parent / "Documentation"
PANELS = [  # rows of the table, title, goal, its words: below their line if the curve ends above it
    (["index memory"], "Index in memory, bytes a label", 400, "goal: at most 400"),
    (["lookup"], "Lookup, bytes", 3500, "goal: at most 3,500"),
    (["index path", "consistency path"], "Paths, hashes (mean)", None, ""),
    (["seal"], "Epoch of 10,000 new labels, ms", 250, "goal: at most 250"),
    (["replay"], "Replay, thousand entries/s", 50, "goal: at least 50"),
    (["start without a snapshot"], "Start without a snapshot, s", None, ""),
]
# How the rows of the modelled table begin, title, a limit and its words. Both axes are logarithmic.
MODEL = [
    (["index in memory", "a front end after its start"], "Memory of a front end, GB", None, ""),
    (["front ends of two processors"], "Front ends of two processors", None, ""),
    (["postgresql"], "PostgreSQL, GB", None, ""),
    (["egress a month"], "Egress a month, TB", None, ""),
    (["those"], "Changes at the peak, % of one writer", 100, "all that one writer did here"),
    (["entries after ten years"], "Entries in ten years, % of 2³²", 100, "a log is full"),
]
MODEL_SIZES = [5, 6, 7, 8, 9]
MODEL_MEASURED = 2
SIZES = [4, 5, 6, 7]
MEASURED = 3
WIDTH, HEIGHT = 900, 650
PANEL_WIDTH, PANEL_HEIGHT = 230, 160
LEFTS, TOPS = [50, 345, 640], [50, 300]
STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .title { font-weight: 600 } .small { font-size: 11px; fill: #57606a }
  .goal-word { font-size: 11px; fill: #b35900 }
  .grid { stroke: #8c959f; stroke-opacity: .3 } .axis { stroke: #8c959f }
  .goal { stroke: #b35900; stroke-dasharray: 2 3 }
  .a { stroke: #0969da; fill: #0969da } .b { stroke: #1a7f37; fill: #1a7f37 }
  polyline { fill: none !important; stroke-width: 2 } .modelled { stroke-dasharray: 6 4 }
  .hollow { fill: #ffffff; stroke-width: 2 } text.a, text.b { stroke: none; font-size: 11px }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .small { fill: #9198a1 } .goal-word { fill: #f0a050 } .goal { stroke: #f0a050 }
    .a { stroke: #58a6ff; fill: #58a6ff } .b { stroke: #3fb950; fill: #3fb950 } .hollow { fill: #0d1117 }
    .paper { fill: #0d1117 }
  }
"""


def table(name, columns):
    """The numbers of each row, by its first words up to the comma; the first of several such rows."""
    rows = {}
    text = (DOCUMENTATION / "growth.md").read_text().split(f"<!-- {name} -->\n")[1].split(f"<!-- end of {name} -->")[0]
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 6:
            numbers = [re.fullmatch(r"[\d.]+", cell.replace(",", "")) for cell in cells[1:1 + columns]]
            if all(numbers):
                rows.setdefault(cells[0].split(",")[0].lower(), [float(found.group()) for found in numbers])
    return rows


def ceiling(value):
    """A round number not below, and half of it as round."""
    power = 10 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 3, 4, 5, 6, 8, 10) if step * power >= value)


def number(value):
    return f"{value:,.0f}"


class Panel:
    def __init__(self, left, top, highest):
        self.left, self.top, self.highest = left, top, ceiling(highest * 1.08)

    def x(self, size):
        return self.left + PANEL_WIDTH * (size - SIZES[0]) / (SIZES[-1] - SIZES[0])

    def y(self, value):
        return self.top + PANEL_HEIGHT * (1 - value / self.highest)

    def frame(self, title):
        yield f'<text class="title" x="{self.left}" y="{self.top - 22}">{title}</text>'
        for value in (0, self.highest / 2, self.highest):
            kind = "axis" if value == 0 else "grid"
            yield f'<path class="{kind}" d="M{self.left} {self.y(value):.1f}h{PANEL_WIDTH}"/>'
            yield (f'<text class="small" text-anchor="end" x="{self.left - 6}" y="{self.y(value) + 4:.1f}">'
                   f"{number(value)}</text>")
        for size in SIZES:
            yield (f'<text class="small" text-anchor="middle" x="{self.x(size):.1f}" y="{self.top + PANEL_HEIGHT + 17}">'
                   f'10<tspan dy="-5" font-size="9">{size}</tspan></text>')

    def goal(self, value, words, below):
        y = self.y(value) + (14 if below else -5)
        yield f'<path class="goal" d="M{self.left} {self.y(value):.1f}h{PANEL_WIDTH}"/>'
        yield (f'<text class="goal-word" text-anchor="end" x="{self.left + PANEL_WIDTH}" y="{y:.1f}">'
               f"{words}</text>")

    def curve(self, values, kind):
        points = [(self.x(size), self.y(value)) for size, value in zip(SIZES, values)]
        for part, style in ((points[:MEASURED], ""), (points[MEASURED - 1:], " modelled")):
            line = " ".join(f"{x:.1f},{y:.1f}" for x, y in part)
            yield f'<polyline class="{kind}{style}" points="{line}"/>'
        for place, (x, y) in enumerate(points):
            hollow = " hollow" if place >= MEASURED else ""
            yield f'<circle class="{kind}{hollow}" cx="{x:.1f}" cy="{y:.1f}" r="4"/>'

    def name(self, words, values, kind, below):
        x, y = self.x(SIZES[1]) + (8 if below else 0), self.y(values[1]) + (18 if below else -22)
        anchor = "start" if below else "middle"
        yield f'<text class="{kind}" text-anchor="{anchor}" x="{x:.1f}" y="{y:.1f}">{words}</text>'


def drawing(rows):
    for place, (names, title, goal, words) in enumerate(PANELS):
        values = [rows[name] for name in names]
        if names == ["replay"]:
            values = [[value / 1000 for value in values[0]]]
        panel = Panel(LEFTS[place % 3], TOPS[place // 3], max(map(max, values + [[goal or 0]])))
        yield from panel.frame(title)
        if goal:
            yield from panel.goal(goal, words, below=goal < values[0][-1] < 1.5 * goal)
        for order, (name, curve) in enumerate(zip(names, values)):
            kind = "ab"[order]
            yield from panel.curve(curve, kind)
            if len(names) > 1:
                yield from panel.name(name, curve, kind, below=curve[1] == min(each[1] for each in values))
    yield from legend(LEFTS[0], TOPS[1] + PANEL_HEIGHT + 60)


def legend(x, y):
    yield f'<polyline class="a" points="{x},{y} {x + 40},{y}"/><circle class="a" cx="{x + 20}" cy="{y}" r="4"/>'
    yield f'<text x="{x + 52}" y="{y + 4}">measured</text>'
    yield (f'<polyline class="a modelled" points="{x},{y + 28} {x + 40},{y + 28}"/>'
           f'<circle class="a hollow" cx="{x + 20}" cy="{y + 28}" r="4"/>')
    yield f'<text x="{x + 52}" y="{y + 32}">modelled</text>'
    yield f'<path class="goal" d="M{x} {y + 56}h40"/><text x="{x + 52}" y="{y + 60}">goal</text>'
    yield f'<text class="small" x="{x}" y="{y + 92}">Across: labels in the directory</text>'


class PowerPanel(Panel):
    """Both axes in powers of ten."""

    def __init__(self, left, top, values):
        self.left, self.top = left, top
        self.low = math.floor(math.log10(min(value for value in values if value > 0)))
        self.high = math.ceil(math.log10(max(values)))

    def x(self, size):
        return self.left + PANEL_WIDTH * (size - MODEL_SIZES[0]) / (MODEL_SIZES[-1] - MODEL_SIZES[0])

    def y(self, value):
        return self.top + PANEL_HEIGHT * (self.high - math.log10(value)) / (self.high - self.low)

    def frame(self, title):
        yield f'<text class="title" x="{self.left}" y="{self.top - 22}">{title}</text>'
        step = 1 if self.high - self.low <= 4 else 2
        for power in range(self.low, self.high + 1, step):
            kind = "axis" if power == self.low else "grid"
            yield f'<path class="{kind}" d="M{self.left} {self.y(10**power):.1f}h{PANEL_WIDTH}"/>'
            yield (f'<text class="small" text-anchor="end" x="{self.left - 6}" y="{self.y(10**power) + 4:.1f}">'
                   f"{10**power:,.{max(0, -power)}f}</text>")
        for size in MODEL_SIZES:
            yield (f'<text class="small" text-anchor="middle" x="{self.x(size):.1f}" y="{self.top + PANEL_HEIGHT + 17}">'
                   f'10<tspan dy="-5" font-size="9">{size}</tspan></text>')

    def curve(self, values, kind):
        points = [(self.x(size), self.y(value)) for size, value in zip(MODEL_SIZES, values)]
        for part, style in ((points[:MODEL_MEASURED], ""), (points[MODEL_MEASURED - 1:], " modelled")):
            line = " ".join(f"{x:.1f},{y:.1f}" for x, y in part)
            yield f'<polyline class="{kind}{style}" points="{line}"/>'
        for place, (x, y) in enumerate(points):
            hollow = " hollow" if place >= MODEL_MEASURED else ""
            yield f'<circle class="{kind}{hollow}" cx="{x:.1f}" cy="{y:.1f}" r="4"/>'


def model(rows):
    for place, (names, title, limit, words) in enumerate(MODEL):
        curves = [rows[name] for name in names]
        panel = PowerPanel(LEFTS[place % 3] + 10, TOPS[place // 3], [value for curve in curves for value in curve] + ([limit] if limit else []))
        yield from panel.frame(title)
        if limit:
            yield from panel.goal(limit, words, below=False)
        for order, (name, curve) in enumerate(zip(names, curves)):
            yield from panel.curve(curve, "ab"[order])
            if len(names) > 1:
                x, y = panel.x(MODEL_SIZES[-1]) - 8, panel.y(curve[-1]) + (64 if order == 0 else -10)
                yield f'<text class="{"ab"[order]}" text-anchor="end" x="{x:.1f}" y="{y:.1f}">{name}</text>'
    x, y = LEFTS[0], TOPS[1] + PANEL_HEIGHT + 60
    yield f'<polyline class="a" points="{x},{y} {x + 40},{y}"/><circle class="a" cx="{x + 20}" cy="{y}" r="4"/>'
    yield f'<text x="{x + 52}" y="{y + 4}">up to the sizes that index, tree and starts were measured at</text>'
    yield (f'<polyline class="a modelled" points="{x},{y + 28} {x + 40},{y + 28}"/>'
           f'<circle class="a hollow" cx="{x + 20}" cy="{y + 28}" r="4"/>')
    yield f'<text x="{x + 52}" y="{y + 32}">beyond: arithmetic</text>'
    yield f'<text class="small" x="{x}" y="{y + 64}">Across: people. Both axes in powers of ten.</text>'


def picture(label, body):
    lines = "\n".join(body)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
            f'aria-label="{label}">\n'
            f"<style>{STYLE}</style>\n"
            f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>\n{lines}\n</svg>\n')


def main():
    pictures = {
        "growth.svg": picture("What grows with the number of labels: memory, lookup, paths, sealing, replay and start",
                              drawing(table("measured", 4))),
        "growth-model.svg": picture("Modelled to a billion people: memory, front ends, database, egress, changes and entries",
                                    model(table("modelled", 5))),
    }
    others = []
    for name, text in pictures.items():
        if "--check" in sys.argv:
            path = DOCUMENTATION / name
            others += [name] if not path.exists() or path.read_text() != text else []
        else:
            (DOCUMENTATION / name).write_text(text)
    for name in others:
        print(f"Documentation/{name}: not what the table makes: Benchmarks/growth-chart.py")
    return 1 if others else 0


sys.exit(main())
