#!/usr/bin/env python3
"""How long a device with 10,000 notes takes to open and search them.

    Benchmarks/book.py BOOK-BENCH [FOLDER WITH THE PROGRAMS]

Makes an account with `signetd` and `signet` on loopback, so that the device has the key of its notes, stops the server, and
lets `book-bench`, built in release, write the notes and measure.
"""
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BENCH = pathlib.Path(sys.argv[1]).resolve()
PROGRAMS = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ROOT / ".build/debug").resolve()
PASSPHRASE = "a passphrase of the benchmark"


def run(folder, program, *arguments):
    environment = dict(os.environ, SIGNET_PASSPHRASE=PASSPHRASE)
    done = subprocess.run(
        [PROGRAMS / program, *arguments], cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{program} {arguments[0]} ended with {done.returncode}: {done.stderr.strip()}")


def make_account(folder):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    run(folder, "signetd", "init", "--data", "server", "--origin", "bench.example/signet",
        "--url", f"https://localhost:{port}")
    server = subprocess.Popen(
        [PROGRAMS / "signetd", "run", "--data", "server", "--bind", f"127.0.0.1:{port}", "--epoch", "0"],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        if not server.stdout.readline().startswith("listening "):
            raise RuntimeError("signetd did not start")
        run(folder, "signet", "account", "create", "anna@example.org", "--directory", "server/directory.signet",
            "--home", "home")
        run(folder, "signet", "notes", "sync", "--home", "home")
    finally:
        server.terminate()
        server.wait()


# In memory where there is such a place: a write of each note waits for the disk.
folder = pathlib.Path(tempfile.mkdtemp(prefix="book.", dir="/dev/shm" if os.path.isdir("/dev/shm") else None))
try:
    make_account(folder)
    for step in ["fill", "measure"]:
        subprocess.run([BENCH, step, folder / "home", PASSPHRASE], check=True)
finally:
    shutil.rmtree(folder, ignore_errors=True)
