#!/usr/bin/env python3
"""What a server keeps of a person with friends and notes, in memory and on its disk.

    Benchmarks/people.py FOLDER-WITH-THE-PROGRAMS

Starts `signetd`, and lets `directory-bench people` register people, make them friends, and write notes, each with the
client's own code over the network. After each step the server is measured.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

from serving import free_port, on_disk, resident, row, start

PROGRAMS = pathlib.Path(sys.argv[1]).resolve()


def main(folder):
    port = free_port()
    subprocess.run(
        [PROGRAMS / "signetd", "init", "--data", folder / "server", "--origin", "bench.example/signet",
         "--url", f"https://localhost:{port}"], check=True, capture_output=True)
    shutil.copy(folder / "server/directory.signet", folder)
    server = start(
        [PROGRAMS / "signetd", "run", "--data", folder / "server", "--bind", f"127.0.0.1:{port}", "--epoch", "0",
         "--rate", "0", "--account-rate", "0"], "listening")
    people = None
    try:
        before = (resident(server), on_disk(folder / "server"))
        people = subprocess.Popen(
            [PROGRAMS / "directory-bench", "people", folder, "0"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        count = 0
        for line in people.stdout:
            what, number = line.split()
            count = count or int(number)
            name = f"{count} people" if what == "people" else f"with {number} {what} each"
            if what == "people":
                print(f"\nWhat a server keeps of a person: {count} people, with friends and notes of 1 KiB", flush=True)
            now = (resident(server), on_disk(folder / "server"))
            row(f"{name}: resident memory, KB more for each person", f"{(now[0] - before[0]) * 1024 / count:.0f}")
            row(f"{name}: on the disk, KB more for each person", f"{(now[1] - before[1]) / 1000 / count:.0f}")
            before = now
            people.stdin.write("\n")
            people.stdin.flush()
        if people.wait() != 0 or not count:
            sys.exit("bench: the people could not do what they were to do")
    finally:
        for process in filter(None, [people, server]):
            process.kill()
            process.wait()


folder = pathlib.Path(tempfile.mkdtemp(prefix="people."))
try:
    main(folder)
finally:
    shutil.rmtree(folder, ignore_errors=True)
