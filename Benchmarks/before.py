#!/usr/bin/env python3
"""Compares what one machine with SQLite and files takes for registrations and appends in this tree and in an earlier commit.

    Benchmarks/before.py SQLITE-BENCH FOLDER COMMIT [--rounds N] [--built]

SQLITE-BENCH is that of this tree. FOLDER gets the files of COMMIT, with this tree's sqlite-bench in place of what was there, and is built in
release, which takes long the first time; with --built it is taken as it is. Then both programs run in turn, round after round, each in a new folder on the same disk.
"""
import argparse
import pathlib
import shutil
import statistics
import subprocess
import tempfile

from serving import HERE, goal, row

ROOT = HERE.parent
PARTS = ["Benchmarks/Sources/sqlite-bench", "Benchmarks/Sources/BenchPeople", "Benchmarks/Sources/Measuring"]
ANCHOR = "    benchmark(\"audit-bench\","


def git(*words):
    return subprocess.run(["git", "-C", str(ROOT), *map(str, words)], check=True, capture_output=True, text=True).stdout


def targets():
    """What this tree's manifest says of the two targets."""
    lines = (ROOT / "Package.swift").read_text().splitlines(keepends=True)
    begin = next(place for place, line in enumerate(lines) if 'name: "BenchPeople"' in line) - 1
    end = next(place for place, line in enumerate(lines) if 'benchmark("sqlite-bench"' in line) + 1
    return "".join(lines[begin:end])


def prepare(folder, commit):
    """A work tree of the commit, with this tree's benchmark."""
    if not folder.exists():
        git("worktree", "add", "--detach", "--force", folder, commit)
    for part in PARTS:
        shutil.rmtree(folder / part, ignore_errors=True)
        shutil.copytree(ROOT / part, folder / part)
    manifest = git("show", f"{commit}:Package.swift")
    (folder / "Package.swift").write_text(manifest.replace(ANCHOR, targets() + ANCHOR, 1))


def build(folder):
    command = ["env", "SIGNET_BENCHMARKS=1", "swift", "build", "-c", "release", "--product", "sqlite-bench"]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)


def measure(program, people, batches):
    with tempfile.TemporaryDirectory(prefix="sqlite-bench.", dir=ROOT / ".build") as folder:
        said = subprocess.run([program, pathlib.Path(folder) / "data", str(people), str(batches)], check=True,
                              capture_output=True, text=True).stdout
    return [float(word) for word in said.split()[1:]]


def report(commit, now, before, options):
    print(f"\nOne machine, SQLite and files: this tree and {commit[:8]} in turn, {options.people} registrations and "
          f"{options.batches} batches of 256 entries, {options.rounds} rounds", flush=True)
    for place, what in enumerate(["registrations a second", "processor time of a registration, µs",
                                  "entries appended a second", "processor time of an entry, µs"]):
        row(f"{what}, before, median", f"{statistics.median(each[place] for each in before):.2f}")
        row(f"{what}, now, median", f"{statistics.median(each[place] for each in now):.2f}")
        isRate = place % 2 == 0
        ratio = statistics.median(a[place] / b[place] for a, b in zip(now, before))
        goal(f"{what}, now ÷ before, median of rounds", ratio, 0.95 if isRate else 1.05, at_least=isRate)


parser = argparse.ArgumentParser()
parser.add_argument("bench", type=pathlib.Path)
parser.add_argument("folder", type=pathlib.Path)
parser.add_argument("commit")
parser.add_argument("--rounds", type=int, default=15)
parser.add_argument("--built", action="store_true")
parser.add_argument("--people", type=int, default=2000)
parser.add_argument("--batches", type=int, default=200)
options = parser.parse_args()
folder = options.folder.resolve()
if not options.built:
    prepare(folder, options.commit)
    build(folder)
old = folder / ".build/release/sqlite-bench"
now, before = [], []
for number in range(options.rounds):
    turns = [(options.bench.resolve(), now), (old, before)]
    for program, figures in turns if number % 2 else reversed(turns):
        figures.append(measure(program, options.people, options.batches))
report(git("rev-parse", options.commit).strip(), now, before, options)
