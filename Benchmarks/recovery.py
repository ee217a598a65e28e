#!/usr/bin/env python3
"""How long a recovery with three guardians takes besides its wait: what the programs need, not the people.

    Benchmarks/recovery.py [FOLDER WITH THE PROGRAMS [ROUNDS]]

Starts `signetd` on loopback, lets a person choose five guardians, and recovers them on a new device with three, each round with
a new person. The clock runs while `signet` does: nobody looks for anybody here, nobody reads a code aloud, and the wait that
the person chose is taken off. Beside it: the same number of `account show`, which starts, looks the own account up and needs no
passphrase.
"""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from serving import goal, row

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / ".build/debug").resolve()
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 3
GOAL = 3.0
WAIT = 2
ENVIRONMENT = dict(os.environ, SIGNET_PASSPHRASE="a passphrase of the benchmark")
GUARDIANS = ["ana", "ben", "cleo", "dan", "eva"]


class Story:
    """One person with five guardians, in a folder of their own."""

    def __init__(self, folder, round):
        self.folder, self.round, self.spent, self.commands = folder, round, 0.0, 0
        self.handle = self.name("ming")
        self.profile = folder / "server/directory.signet"

    def name(self, who):
        return f"{who}{self.round}@example.org"

    def signet(self, home, *arguments, counts=False):
        begun = time.monotonic()
        run = subprocess.run(
            [PROGRAMS / "signet", "--home", self.folder / f"{home}{self.round}", *arguments],
            env=ENVIRONMENT, capture_output=True, text=True)
        if counts:
            self.spent += time.monotonic() - begun
            self.commands += 1
        if run.returncode != 0:
            sys.exit(f"recovery: signet {' '.join(map(str, arguments))}: {run.stderr}")
        return run.stdout

    def prepare(self):
        for who in ["ming"] + GUARDIANS:
            self.signet(who, "account", "create", self.name(who), "--directory", self.profile)
        for who in GUARDIANS:
            self.signet("ming", "people", "add", self.name(who))
            self.signet(who, "people", "accept", self.handle)
        self.signet("ming", "guardians", "add", *map(self.name, GUARDIANS), "--wait", f"{WAIT}s")
        for who in GUARDIANS:
            self.signet(who, "guardian")
        self.signet("ming", "guardians")

    def asked(self):
        return json.loads(self.signet("new", "recover", "--json", counts=True))

    def recover(self):
        self.signet("new", "recover", "start", self.handle, "--directory", self.profile, counts=True)
        number = self.asked()["request"]
        self.signet("ana", "guardian", "confirm", self.handle, "--request", number, counts=True)
        for who in GUARDIANS[:3]:
            if who != "ana":
                self.signet(who, "guardian", counts=True)
            code = next(code["code"] for code in self.asked()["codes"] if code["handle"] == self.name(who))
            self.signet(who, "guardian", "confirm", self.handle, "--code", code, counts=True)
            if who == "ana":
                self.asked()  # lets the log take the request
        # The guardians' programs count the wait from when they saw the request in the log.
        for who in GUARDIANS[:3]:
            self.signet(who, "guardian")
        time.sleep(WAIT + 3)
        for who in GUARDIANS[:3]:
            self.signet(who, "guardian", counts=True)
        self.signet("new", "recover", "finish", counts=True)

    def showing(self):
        """As many commands that only look the own account up."""
        begun = time.monotonic()
        for _ in range(self.commands):
            subprocess.run(
                [PROGRAMS / "signet", "--home", self.folder / f"friend{self.round}", "account", "show"],
                env=ENVIRONMENT, capture_output=True, check=True)
        return time.monotonic() - begun


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="signet-recovery."))
    server = None
    try:
        port = 18447
        subprocess.run(
            [PROGRAMS / "signetd", "init", "--data", folder / "server", "--origin", "example.org/signet",
             "--url", f"https://localhost:{port}"], check=True, capture_output=True, env=ENVIRONMENT)
        server = subprocess.Popen(
            [PROGRAMS / "signetd", "run", "--data", folder / "server", "--bind", f"127.0.0.1:{port}", "--rate", "0",
             "--account-rate", "0", "--epoch", "0", "--republish", "1"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=ENVIRONMENT)
        server.stdout.readline()
        spent, showing = [], []
        for round in range(ROUNDS):
            story = Story(folder, round)
            story.prepare()
            story.recover()
            shutil.copytree(folder / f"dan{round}", folder / f"friend{round}")
            spent.append(story.spent)
            showing.append(story.showing())
        print(f"\nA recovery with three guardians, {story.commands} commands, {ROUNDS} rounds, besides the wait")
        goal("longest, s", max(spent), GOAL)
        row("median, s", f"{statistics.median(spent):.2f}")
        row("as many account show, median, s", f"{statistics.median(showing):.2f}")
        row("the recovery ÷ as many account show, median", f"{statistics.median(s / o for s, o in zip(spent, showing)):.2f}")
    finally:
        if server:
            server.terminate()
            server.wait()
        shutil.rmtree(folder, ignore_errors=True)


main()
