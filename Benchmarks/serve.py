#!/usr/bin/env python3
"""Lookups over TLS on loopback beside servers that have nothing to do, and the memory that a directory takes for them.

    Benchmarks/serve.py DIRECTORY-BENCH rate   [--accounts N] [--rounds N] [--seconds N]
    Benchmarks/serve.py DIRECTORY-BENCH memory [--accounts N] [--seconds N]

wrk asks each server in turn, round after round, so that a slow moment of the machine meets them all, and sends each the same lookups of random
accounts: our directory answers them, Hummingbird has a small JSON object for each, and, if they are here, Go's net/http and nginx as many
bytes as a lookup has (nginx gets them as GET, because it serves no file to a POST).
Processor time is the server's own, from /proc. The run fails if any request fails.
"""
import argparse
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile

from serving import HERE, counts, free_port, goal, on_disk, require_wrk, resident, row, start, wrk

ANSWER_BYTE_COUNT = 2450
TICKS = os.sysconf("SC_CLK_TCK")
NGINX = """
worker_processes auto;
daemon off;
pid {folder}/nginx.pid;
error_log stderr;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    keepalive_requests 1000000000;
    client_body_temp_path {folder}/temp;
    proxy_temp_path {folder}/temp;
    fastcgi_temp_path {folder}/temp;
    uwsgi_temp_path {folder}/temp;
    scgi_temp_path {folder}/temp;
    server {{
        listen 127.0.0.1:{port} ssl;
        ssl_certificate {certificate};
        ssl_certificate_key {key};
        root {folder}/files;
    }}
}}
"""


class Server:
    """A process under load, with its children."""

    def __init__(self, name, command, port, path="/v1/lookup", method="POST", announces=True):
        self.name, self.path, self.method, self.port = name, path, method, port
        self.rates, self.costs, self.slowest = [], [], []
        self.process = start(command, "listening on" if announces else None)
        while not announces and not listens(port):
            if self.process.poll() is not None:
                sys.exit(f"bench: {name} did not start: {self.process.stderr.read().strip()}")

    def processor_time(self):
        """Seconds that the process and its children have used."""
        ticks = 0
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rsplit(") ", 1)[1].split()
            except (OSError, IndexError):
                continue
            if self.process.pid in (int(stat.parent.name), int(fields[1])):
                ticks += int(fields[11]) + int(fields[12])
        return ticks / TICKS

    def ask(self, seconds):
        """Puts 64 connections on the server."""
        before = self.processor_time()
        counted = counts(wrk(f"https://127.0.0.1:{self.port}{self.path}", 64, seconds, self.method))
        self.rates.append(counted.requests / counted.duration * 1e6)
        self.costs.append((self.processor_time() - before) / counted.requests * 1e6)
        self.slowest.append(counted.most_within)

    def stop(self):
        self.process.terminate()
        self.process.wait()


def listens(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def signet(bench, data):
    port = free_port()
    return Server("lookups of Signet", [bench, "serve", data, str(port)], port)


def peers(bench, data, work):
    """Servers of other people, as far as they are here."""
    certificate, key = data / "tls/server.pem", data / "tls/server.key"
    port = free_port()
    yield Server("Hummingbird, a small JSON object", [bench, "baseline", data, str(port)], port)
    if shutil.which("go"):
        program = work / "fixed"
        subprocess.run(["go", "build", "-o", program, HERE / "peers/fixed.go"], check=True)
        port = free_port()
        yield Server(
            f"Go's net/http, {ANSWER_BYTE_COUNT} bytes",
            [program, certificate, key, str(port), str(ANSWER_BYTE_COUNT)], port)
    else:
        print("  no Go here: the peer is left out")
    if shutil.which("nginx"):
        for folder in ["nginx/temp", "nginx/files"]:
            (work / folder).mkdir(parents=True)
        work.chmod(0o755)
        (work / "nginx/files/fixed").write_bytes(bytes(ANSWER_BYTE_COUNT))
        port = free_port()
        configuration = work / "nginx/nginx.conf"
        configuration.write_text(
            NGINX.format(folder=work / "nginx", port=port, certificate=certificate, key=key))
        yield Server(
            f"nginx, a file of {ANSWER_BYTE_COUNT} bytes",
            ["nginx", "-c", configuration, "-p", work / "nginx"], port, "/fixed", "GET", announces=False)
    else:
        print("  no nginx here: the peer is left out")


def report(servers):
    ours = servers[0]
    for server in servers:
        row(server.name, f"{statistics.median(server.rates):.0f} /s, {statistics.median(server.costs):.0f} µs of processor "
            f"time each, 99 % within {statistics.median(server.slowest):.1f} ms")
    goal("processor time of a lookup, µs, median of rounds", statistics.median(ours.costs), 80)
    for prefix, limit in [("Hummingbird", 0.5), ("Go", 0.7), ("nginx", 0.45)]:
        for peer in servers[1:]:
            if peer.name.startswith(prefix):
                ratio = statistics.median(a / b for a, b in zip(ours.rates, peer.rates))
                goal(f"lookups a second ÷ {prefix}, median of rounds", ratio, limit, at_least=True, is_peer=True)


def rate(options, work):
    print(f"\nLookups over TLS on loopback, 64 connections, {options.accounts:,} accounts", flush=True)
    subprocess.run([options.bench, "make", work / "data", str(options.accounts)], check=True)
    servers = []
    try:
        servers.append(signet(options.bench, work / "data"))
        servers.extend(peers(options.bench, work / "data", work))
        for _ in range(options.rounds):
            for server in servers:
                server.ask(options.seconds)
        report(servers)
    finally:
        for server in servers:
            server.stop()


def memory(options, work):
    print(f"\nMemory of the server with {options.accounts:,} accounts, after {options.seconds} s of lookups", flush=True)
    subprocess.run([options.bench, "make", work / "data", str(options.accounts)], check=True)
    server = signet(options.bench, work / "data")
    try:
        start = server.processor_time()
        server.ask(options.seconds)
        row("processor time of its start, s", f"{start:.2f}")
        row("resident, MB", f"{resident(server.process):.0f}")
        row("data on the disk, KB an account", f"{on_disk(work / 'data') / options.accounts / 1000:.1f}")
        goal("the most that was resident, MB", resident(server.process, "VmHWM"), 400)
    finally:
        server.stop()


parser = argparse.ArgumentParser()
parser.add_argument("bench", type=pathlib.Path)
parser.add_argument("what", choices=["rate", "memory"])
parser.add_argument("--accounts", type=int)
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--seconds", type=int, default=5)
options = parser.parse_args()
options.bench = options.bench.resolve()
options.accounts = options.accounts or (1000 if options.what == "rate" else 100_000)
require_wrk(options.what)
os.environ["ACCOUNTS"] = str(options.accounts)
# On the disk of the clone, not in memory; nginx drops its rights, so others may look in.
work = pathlib.Path(tempfile.mkdtemp(prefix="serve.", dir=HERE.parent / ".build"))
try:
    (rate if options.what == "rate" else memory)(options, work)
finally:
    shutil.rmtree(work, ignore_errors=True)
