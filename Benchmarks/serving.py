"""What the benchmarks of running servers share: starting a program, asking it with wrk, and saying whether a goal is met."""
import os
import pathlib
import shutil
import socket
import subprocess
import sys
from collections import namedtuple

HERE = pathlib.Path(__file__).resolve().parent
# How many requests were answered in how many microseconds and how many failed; the times of the answers, in milliseconds.
Counts = namedtuple("Counts", "requests duration failed half_within most_within nearly_all_within longest")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def start(command, announcement=None, **environment):
    """A program, once it has announced that it runs."""
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=HERE,
                               env=os.environ | environment)
    if announcement and not process.stdout.readline().startswith(announcement):
        process.wait()
        sys.exit(f"bench: {command[0]} did not start: {process.stderr.read().strip()}")
    return process


def wrk(url, connections, seconds, method="POST"):
    """wrk, running, which sends lookups."""
    return start(["wrk", "-t", "2", "-c", connections, "-d", f"{seconds}s", "-s", "lookup.lua", url], METHOD=method)


def counts(process):
    """What a run of wrk counted. The benchmark ends if it failed, or if a request did."""
    said, complaints = process.communicate()
    line = next((line.split()[1:] for line in said.splitlines() if line.startswith("COUNTED")), None)
    if process.returncode or not line:
        sys.exit(f"bench: wrk failed: {complaints.strip() or said.strip()}")
    numbers = [int(word) for word in line]
    counted = Counts(*numbers[:3], *(number / 1000 for number in numbers[3:]))
    if counted.failed or not counted.requests:
        sys.exit(f"bench: {counted.failed} of {counted.requests} requests failed")
    return counted


def resident(process, row="VmRSS"):
    """What a process has in memory, or had at most (VmHWM), in MB."""
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith(row))


def on_disk(folder):
    """Bytes of all files in a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def row(name, figure):
    """A name and what was measured, in the columns that table.py reads."""
    print(f"  {name:78}  {figure}", flush=True)


def goal(name, figure, limit, at_least=False, is_peer=False):
    """A figure with a goal, and whether it is met; of a ratio to somebody else's work, whether that is beaten."""
    is_met = figure >= limit if at_least else figure <= limit
    is_beaten = is_peer and (figure > 1 if at_least else figure < 1)
    verdict = "only tried" if "SIGNET_TRY_BENCHMARKS" in os.environ else "MISSED" if not is_met else "beaten" if is_beaten else "met"
    row(name, f"{figure:.2f}  (goal: at {'least' if at_least else 'most'} {limit}: {verdict})")


def require_wrk(name):
    if shutil.which("wrk"):
        return
    if "SIGNET_TRY_BENCHMARKS" not in os.environ:
        sys.exit("bench: no wrk here; Scripts/setup --bench installs it")
    left_out = [HERE.parent / "Scripts/left-out", "benchmarks", f"{name}: no wrk here"]
    sys.exit(subprocess.run(left_out).returncode)
