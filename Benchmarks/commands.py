#!/usr/bin/env python3
"""What commands that need no passphrase cost: processor time of the whole program, in user space and in the kernel.

    Benchmarks/commands.py FOLDER-WITH-THE-PROGRAMS [--rounds N]

Each command is run once a round, all in turn, so that a slow moment of the machine meets them all; beside them /bin/true, which is
what any program costs, and `curl --version`, a program that loads a library for connections. The server on loopback is another process.
The programs of `make release`, which load no library of Swift's, are measured beside those of the folder if they are there, and their
sizes too.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

from serving import free_port, goal, row, start

ROOT = pathlib.Path(__file__).resolve().parent.parent
RELEASED = ROOT / ".build/release-archive/bin"
ENVIRONMENT = dict(os.environ, SIGNET_PASSPHRASE="a passphrase of the benchmark")
HANDLE = "anna@example.org"
MILLISECONDS, MEGABYTES = 50, 25


def run(folder, program, *arguments):
    done = subprocess.run([program, *arguments], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"bench: {program.name} {' '.join(arguments)} ended with {done.returncode}: {done.stderr.strip()}")


def processor_time(folder, words):
    """Milliseconds of one run, which must succeed."""
    with open(os.devnull, "w") as nowhere:
        child = subprocess.Popen(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=nowhere, stderr=nowhere)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"bench: {' '.join(map(str, words))} ended with {child.returncode}")
    return (usage.ru_utime + usage.ru_stime) * 1000


def commands(program):
    """Commands that open no key: what a person or a script calls again and again."""
    return {
        "signet --version": [program, "--version"],
        "signet --help": [program, "--help"],
        "signet people list --offline": [program, "people", "list", "--offline", "--home", "home"],
        f"signet lookup {HANDLE}": [program, "lookup", HANDLE, "--home", "home"],
    }


def main():
    options = argparse.ArgumentParser()
    options.add_argument("programs", type=pathlib.Path)
    options.add_argument("--rounds", type=int, default=50)
    options = options.parse_args()
    programs = options.programs.resolve()
    builds = {"": programs / "signet"}
    if (RELEASED / "signet").exists():
        builds[", of the archive"] = RELEASED / "signet"
    folder = pathlib.Path(tempfile.mkdtemp(prefix="commands."))
    server = None
    try:
        port = free_port()
        run(folder, programs / "signetd", "init", "--data", "server", "--origin", "bench.example/signet",
            "--url", f"https://localhost:{port}")
        server = start(
            [programs / "signetd", "run", "--data", folder / "server", "--bind", f"127.0.0.1:{port}", "--epoch", "0",
             "--rate", "0", "--account-rate", "0"], "listening ")
        run(folder, programs / "signet", "account", "create", HANDLE, "--directory", "server/directory.signet", "--home", "home")
        rows = {"/bin/true": ["/bin/true"]}
        if shutil.which("curl"):
            rows["curl --version"] = ["curl", "--version"]
        ours = {name + build: words for build, program in builds.items() for name, words in commands(program).items()}
        rows.update(ours)
        figures = {name: [] for name in rows}
        for _ in range(options.rounds):
            for name, words in rows.items():
                figures[name].append(processor_time(folder, words))
        print(f"\nCommands without a key, processor time, median of {options.rounds} rounds")
        for name, times in figures.items():
            median, what = statistics.median(times), f"{name}, ms; fastest {min(times):.1f}"
            if name in ours:
                goal(what, median, MILLISECONDS)
            else:
                row(what, f"{median:.2f}")
        for file in sorted(RELEASED.iterdir()) if RELEASED.exists() else []:
            goal(f"{file.name} of the archive, linked statically and stripped, MB", file.stat().st_size / 1e6, MEGABYTES)
        if not RELEASED.exists():
            print("  no archive to say the sizes of: make release")
    finally:
        if server:
            server.terminate()
            server.wait()
        shutil.rmtree(folder, ignore_errors=True)


main()
