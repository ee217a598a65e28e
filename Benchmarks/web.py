#!/usr/bin/env python3
"""What the pages of `signet ui` take, of a person with 1,000 people and 10,000 notes.

    Benchmarks/web.py FOLDER-WITH-THE-PROGRAMS [--people N] [--notes N]

Each page is fetched twenty times over one connection, and once more beside it: an empty page of Python's own server, and one of
the app's own style sheets, which asks nobody. Pages that ask the directory go over TLS on loopback.
"""
import argparse
import http.client
import http.server
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

from serving import free_port, goal, row, start

PASSPHRASE = "a passphrase of the benchmark"
parser = argparse.ArgumentParser()
parser.add_argument("programs", type=pathlib.Path)
parser.add_argument("--people", type=int, default=1000)
parser.add_argument("--notes", type=int, default=10_000)
options = parser.parse_args()
programs = options.programs.resolve()
os.environ["SIGNET_PASSPHRASE"] = PASSPHRASE


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        sys.exit(f"bench: {words[0]} {words[1]} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


class Pages:
    """A browser that keeps one connection and a cookie."""

    def __init__(self, link):
        self.address = urllib.parse.urlsplit(link)
        self.connection = http.client.HTTPConnection(self.address.hostname, self.address.port)
        self.headers = {}
        answer, body = self.get(self.address.path)
        cookies = answer.headers.get_all("Set-Cookie") or []
        self.headers = {"Cookie": "; ".join(cookie.split(";")[0] for cookie in cookies)}
        self.base = re.search(r'http-equiv="refresh" content="0;url=([^"]+)"', body.decode())[1]
        answer, self.home = self.get(self.base)
        if answer.status != 200:
            sys.exit(f"bench: the first page is not shown: {answer.status}")

    def get(self, path):
        self.connection.request("GET", path, headers=self.headers)
        answer = self.connection.getresponse()
        return answer, answer.read()

    def unlock(self):
        """Opens the keys, as the person does with the passphrase before notes are shown."""
        page = self.get(self.base + "unlock")[1].decode()
        token = re.search(r'name="form-token" value="([^"]+)"', page)[1]
        form = urllib.parse.urlencode({"form-token": token, "passphrase": PASSPHRASE})
        fields = {"Origin": f"http://{self.address.netloc}", "Content-Type": "application/x-www-form-urlencoded"}
        self.connection.request("POST", self.base + "unlock", form, self.headers | fields)
        answer = self.connection.getresponse()
        answer.read()
        if answer.status != 303:
            sys.exit(f"bench: the keys were not opened: {answer.status}")

    def time(self, path):
        """The median of twenty, in milliseconds."""
        times = []
        for _ in range(20):
            begun = time.monotonic()
            answer, body = self.get(path)
            times.append((time.monotonic() - begun) * 1000)
            if answer.status != 200:
                sys.exit(f"bench: {path}: {answer.status}")
        return statistics.median(times)


class Empty(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def empty_page():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Empty)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    connection, times = http.client.HTTPConnection("127.0.0.1", server.server_port), []
    for _ in range(20):
        begun = time.monotonic()
        connection.request("GET", "/")
        connection.getresponse().read()
        times.append((time.monotonic() - begun) * 1000)
    server.shutdown()
    return statistics.median(times)


def settle(folder):
    """A directory with accounts, and the home of a person who knows them and has notes."""
    port = free_port()
    run(programs / "directory-bench", "make", folder / "server", str(options.people))
    profile = (folder / "server/directory.signet").read_text()
    (folder / "directory.signet").write_text(re.sub(r"https://localhost:\d+", f"https://localhost:{port}", profile))
    server = start(
        [programs / "signetd", "run", "--data", folder / "server", "--bind", f"127.0.0.1:{port}", "--epoch", "0",
         "--rate", "0", "--account-rate", "0"], "listening")
    home = folder / "home"
    run(programs / "signet", "account", "create", "ming@example.org", "--directory", folder / "directory.signet", "--home", home)
    run(programs / "signet", "notes", "sync", "--home", home)
    run(programs / "directory-bench", "acquaint", home, str(options.people))
    run(programs / "book-bench", "fill", home, PASSPHRASE)
    return server, home


def begin(home):
    """The pages, and how long it took from the start of the program to the first of them, in milliseconds."""
    begun = time.monotonic()
    served = subprocess.Popen(
        [programs / "signet", "ui", "--no-open", "--home", home], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, text=True)
    pages = Pages(served.stdout.readline().strip())
    return served, pages, (time.monotonic() - begun) * 1000


def main(folder):
    server, home = settle(folder)
    served = None
    try:
        firsts = []
        for _ in range(5):
            if served:
                served.kill()
                served.wait()
            served, pages, first = begin(home)
            firsts.append(first)
        print(f"\nPages of signet ui with {options.people:,} people and {options.notes:,} notes of 5 KiB", flush=True)
        goal("from the start of the program to the first page, ms, median of five", statistics.median(firsts), 300)
        pages.unlock()
        row("an empty page of Python's own server, ms, median of twenty as all below", f"{empty_page():.1f}")
        sheet = re.search(r'<link rel="stylesheet" href="([^"]+)"', pages.home.decode())[1]
        row("the style sheet of the app, ms", f"{pages.time(sheet):.1f}")
        note = re.search(r'href="([^"]*/notes/[0-9a-z]{16,}[^"]*)"', pages.get(pages.base + "notes")[1].decode())
        for name, path in [
            ("home", ""), ("people", "people"), ("a person, whom the directory is asked for", "people/user1@example.org"),
            ("notes", "notes"), ("a search in the notes", "notes?q=w17"), ("calls", "calls"), ("settings", "settings"),
        ]:
            goal(f"{name}, ms", pages.time(pages.base + path), 100)
        if note:
            goal("a note, ms", pages.time(note[1]), 100)
    finally:
        for process in filter(None, [served, server]):
            process.kill()
            process.wait()


folder = pathlib.Path(tempfile.mkdtemp(prefix="web."))
try:
    main(folder)
finally:
    shutil.rmtree(folder, ignore_errors=True)
