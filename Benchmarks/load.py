#!/usr/bin/env python3
"""Three minutes of load: 200 connections that look people up without a pause, 2,000 idle ones, and 40 clients that register new
accounts. Prints how long answers took and what the server took of memory, and draws both over time.

    Benchmarks/load.py DIRECTORY-BENCH [--seconds N] [--accounts N] [--busy N] [--idle N] [--picture FILE]

Everything runs on this machine, so the load takes processor time from the server. The run fails if a request fails, if an idle
connection is closed, or if nobody could register.
"""
import argparse
import math
import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

from serving import HERE, counts, free_port, goal, require_wrk, resident, row, start, wrk

WIDTH, HEIGHT, LEFT, PANEL, GAP = 900, 470, 70, 150, 60
DOTS = 1500  # of registrations in the picture, about
STYLE = """
  text { font: 12px system-ui, sans-serif; fill: #1f2328 } .title { font-weight: 600; font-size: 13px }
  .grid { stroke: #8c959f; stroke-opacity: .3 } .paper { fill: #ffffff }
  polyline { fill: none; stroke: #0969da; stroke-width: 2 } circle { fill: #1a7f37; fill-opacity: .5 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .paper { fill: #0d1117 } polyline { stroke: #58a6ff } circle { fill: #3fb950 }
  }
"""


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, math.ceil(len(values) * share) - 1)]


def connect(port, count):
    """Connections that have gone through TLS and ask for nothing."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return [context.wrap_socket(socket.create_connection(("127.0.0.1", port))) for _ in range(count)]


def closed(connections):
    """How many of them the other side has closed."""
    count = 0
    for connection in connections:
        connection.setblocking(False)
        try:
            count += connection.recv(1) == b""
        except ssl.SSLWantReadError:
            pass
        except OSError:
            count += 1
    return count


class Load:
    """What happened while the load was on: seconds since its start, with what was measured then."""

    def __init__(self):
        self.memory, self.rates, self.registrations = [], [], []
        self.begun = time.monotonic()

    @property
    def now(self):
        return time.monotonic() - self.begun

    def note_registrations(self, process):
        for line in process.stdout:
            if line.startswith("registered "):
                self.registrations.append((self.now, int(line.split()[1])))


def panel(title, points, top, seconds, unit, dots=False):
    """One curve, or dots, from 0 to a round number above its highest point."""
    most = max([value for _, value in points] + [1])
    step = 10 ** math.floor(math.log10(most))
    ceiling = next(step * factor for factor in (1, 2, 5, 10) if step * factor >= most)
    place = lambda at, value: (LEFT + at / seconds * (WIDTH - LEFT - 20), top + PANEL - value / ceiling * PANEL)
    lines = [f'<text class="title" x="{LEFT}" y="{top - 10}">{title}</text>']
    for share in (0, 0.5, 1):
        y = top + PANEL - share * PANEL
        lines.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - 20}" y1="{y}" y2="{y}"/>')
        lines.append(f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{ceiling * share:,.0f} {unit}</text>')
    if dots:
        lines += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2"/>' for x, y in (place(*point) for point in points)]
    else:
        lines.append(f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in points))}"/>')
    return lines


def draw(load, seconds, file):
    top = 40
    lines = panel("Resident memory of the server", load.memory, top, seconds, "MB")
    each = max(1, len(load.registrations) // DOTS)
    shown = load.registrations[::each]
    of = f" (every {each}th)" if each > 1 else ""
    lines += panel(f"Registrations{of}: milliseconds until the keys stand in a published log", shown,
                   top + PANEL + GAP, seconds, "ms", dots=True)
    bottom = top + 2 * PANEL + GAP + 22
    for share in (0, 0.5, 1):
        x = LEFT + share * (WIDTH - LEFT - 20)
        lines.append(f'<text x="{x}" y="{bottom}" text-anchor="middle">{seconds * share:.0f} s</text>')
    file.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
                    f'aria-label="Memory and registrations under load"><style>{STYLE}</style>'
                    f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>' + "\n".join(lines) + "</svg>\n")


def run(options, work):
    subprocess.run([options.bench, "make", work / "data", str(options.accounts)], check=True)
    port = free_port()
    server = start([options.bench, "serve", work / "data", port], "listening on")
    clients = None
    try:
        before = resident(server)
        idle = connect(port, options.idle)
        each = (resident(server) - before) * 1024 / max(1, options.idle)
        load = Load()
        clients = start([options.bench, "register", work / "data", port])
        threading.Thread(target=load.note_registrations, args=[clients], daemon=True).start()
        asking = wrk(f"https://127.0.0.1:{port}/v1/lookup", options.busy, options.seconds)
        while asking.poll() is None:
            load.memory.append((min(load.now, options.seconds), resident(server)))
            time.sleep(min(1, options.seconds / 20))
        counted = counts(asking)
        lost = closed(idle)
        registered = [time for at, time in load.registrations if at <= options.seconds]
        if lost or not registered or clients.poll() is not None:
            sys.exit(f"load: {lost} idle connections were closed, {len(registered)} people registered")
        row("lookups a second", f"{counted.requests / counted.duration * 1e6:.0f}")
        row("their times: 50, 99 and 99.9 % within, and the longest, ms", ", ".join(f"{time:.1f}" for time in counted[3:]))
        goal("99 % of lookups within, ms", counted.most_within, 25)
        row("people registered", len(registered))
        row("registrations: 50, 99 and 99.9 % within, and the longest, ms",
            ", ".join(str(percentile(registered, share)) for share in (0.5, 0.99, 0.999, 1)))
        goal(f"memory of an idle connection, of {options.idle:,}, KB", each, 15)
        row("resident at the start, at the end and at most, MB",
            f"{before:.0f}, {load.memory[-1][1]:.0f}, {max(value for _, value in load.memory):.0f}")
        draw(load, options.seconds, options.picture)
        print(f"  the picture is {options.picture}")
    finally:
        for process in filter(None, [clients, server]):
            process.kill()
            process.wait()


parser = argparse.ArgumentParser()
parser.add_argument("bench", type=pathlib.Path)
parser.add_argument("--seconds", type=int, default=180)
parser.add_argument("--accounts", type=int, default=1000)
parser.add_argument("--busy", type=int, default=200)
parser.add_argument("--idle", type=int, default=2000)
parser.add_argument("--picture", type=pathlib.Path, default=HERE.parent / ".build/load.svg")
options = parser.parse_args()
options.bench = options.bench.resolve()
require_wrk("load")
print(f"\nLoad of {options.seconds} s: {options.busy} busy and {options.idle:,} idle connections, registrations beside", flush=True)
os.environ["ACCOUNTS"] = str(options.accounts)
work = pathlib.Path(tempfile.mkdtemp(prefix="load.", dir=HERE.parent / ".build"))
try:
    run(options, work)
finally:
    shutil.rmtree(work, ignore_errors=True)
