#!/usr/bin/env python3
"""How long a change waits until witnesses have cosigned it: from sending a registration to its receipt.

    Benchmarks/publish.py [FOLDER WITH THE PROGRAMS [CHANGES]]

Starts three `signetd witness` processes and `signetd`, all on loopback, and registers people with
`signet account create`, once for each kind of epoch and once more with an auditor whom every checkpoint needs. Four
clients do so at once, so that most changes find an epoch that has just ended. Between each client and the server
stands a relay that reads nothing and notes times: what counts is the longest wait between bytes of the client and the
next bytes of the server, so that the client's Argon2 and its own start do not count.
"""
import concurrent.futures
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from serving import goal, row

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / ".build/debug").resolve()
CHANGES = int(sys.argv[2]) if len(sys.argv) > 2 else 20
GOAL = 2.0
ENVIRONMENT = dict(os.environ, SIGNET_PASSPHRASE="a passphrase of the benchmark")
CLIENTS = 4
WITNESSES = ["w0", "w1", "w2"]


class Relay:
    """Passes bytes between any client and a server, and notes the longest wait for the server."""

    def __init__(self, server_port):
        self.server_port = server_port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.waits = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            try:
                server = socket.create_connection(("127.0.0.1", self.server_port))
            except OSError:  # it does not listen yet
                client.close()
                continue
            asked = [None]
            threading.Thread(target=self.forward, args=(client, server, asked), daemon=True).start()
            threading.Thread(target=self.back, args=(server, client, asked), daemon=True).start()

    def forward(self, client, server, asked):
        for data in chunks(client):
            asked[0] = time.monotonic()
            server.sendall(data)
        end(server)

    def back(self, server, client, asked):
        for data in chunks(server):
            if asked[0] is not None:
                self.waits.append(time.monotonic() - asked[0])
                asked[0] = None
            client.sendall(data)
        end(client)


def chunks(source):
    try:
        while data := source.recv(1 << 16):
            yield data
    except OSError:
        return


def end(sink):
    try:
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class Federation:
    """Three witnesses, a directory, and perhaps an auditor, each a process with data of its own."""

    def __init__(self, folder, with_auditor):
        self.folder, self.with_auditor, self.running = folder, with_auditor, []
        self.ports = {name: free_port() for name in WITNESSES + ["auditor", "server"]}
        self.relays = [Relay(self.ports["server"]) for _ in range(CLIENTS)]
        lines = "".join(self.make_witness(name) for name in WITNESSES) + "group seen 2 w0 w1 w2\n"
        if with_auditor:
            made = self.run("signet", "audit", "key", "auditor.example/map", "--out", "auditor.key")
            key = next(word for word in made.split() if word.startswith("auditor.example/map+"))
            lines += f"witness auditor {key} http://127.0.0.1:{self.ports['auditor']}\n"
            lines += "group all all seen auditor\nquorum all\n"
        else:
            lines += "quorum seen\n"
        (folder / "witnesses").write_text(lines)
        url = f"https://localhost:{self.ports['server']}"
        self.run(
            "signetd", "init", "--data", "server", "--origin", "bench.example/signet", "--url", url,
            "--witnesses", "witnesses")
        profile = (folder / "server/directory.signet").read_text()
        for number, relay in enumerate(self.relays):
            (folder / f"{number}.signet").write_text(profile.replace(url, f"https://localhost:{relay.port}"))
        key = next(line.split()[1] for line in profile.splitlines() if line.startswith("log "))
        for name in WITNESSES:
            self.run("signetd", "witness", "add-log", "--data", name, key)

    def make_witness(self, name):
        self.run("signetd", "witness", "init", "--data", name, "--name", f"witness.example/{name}", "--plain-http")
        key = self.run("signetd", "witness", "show", "--data", name).split()[2]
        return f"witness {name} {key} http://127.0.0.1:{self.ports[name]}\n"

    def run(self, program, *arguments):
        done = subprocess.run(
            [PROGRAMS / program, *arguments], cwd=self.folder, env=ENVIRONMENT, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{program} {arguments[0]} ended with {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def start(self, name, program, *arguments):
        log = open(self.folder / f"{name}.log", "w+")
        child = subprocess.Popen(
            [PROGRAMS / program, *arguments], cwd=self.folder, env=ENVIRONMENT, stdout=log, stderr=log)
        self.running.append(child)
        for _ in range(1200):
            if "listening " in pathlib.Path(log.name).read_text():
                return
            if child.poll() is not None:
                break
            time.sleep(0.05)
        raise RuntimeError(f"{name} did not start: {pathlib.Path(log.name).read_text().strip()}")

    def start_all(self, epoch):
        for name in WITNESSES:
            self.start(
                name, "signetd", "witness", "run", "--data", name, "--plain-http", "--rate", "0", "--bind",
                f"127.0.0.1:{self.ports[name]}")
        if self.with_auditor:
            self.start(
                "auditor", "signet", "audit", "--directory", "server/directory.signet", "--state", "audit",
                "--follow", "--every", "1", "--cosign", "auditor.key", "--listen",
                f"127.0.0.1:{self.ports['auditor']}", "--home", "auditor-home")
        self.start(
            "server", "signetd", "run", "--data", "server", "--bind", f"127.0.0.1:{self.ports['server']}",
            "--epoch", str(epoch), "--rate", "0", "--account-rate", "0")

    def stop_all(self):
        for child in reversed(self.running):
            child.terminate()
        for child in self.running:
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                child.kill()

    def register(self, client):
        """Registers this client's share of the people: for each, seconds to the receipt, and of the whole command."""
        relay, times = self.relays[client], []
        for number in range(client, CHANGES, CLIENTS):
            relay.waits.clear()
            begin = time.monotonic()
            self.run(
                "signet", "account", "create", f"person{number}@example.org", "--directory", f"{client}.signet",
                "--home", f"person{number}")
            times.append((max(relay.waits), time.monotonic() - begin))
        return times


def report(epoch, with_auditor):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="publish."))
    federation = None
    try:
        federation = Federation(folder, with_auditor)
        federation.start_all(epoch)
        load = os.getloadavg()[0]
        with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
            times = sum(pool.map(federation.register, range(CLIENTS)), [])
    finally:
        if federation:
            federation.stop_all()
        shutil.rmtree(folder, ignore_errors=True)
    waits = [wait for wait, _ in times]
    print(f"\nA registration until its cosigned receipt, on loopback: --epoch {epoch}, three witnesses"
          f"{' and an auditor' if with_auditor else ''}, {CHANGES} changes of {CLIENTS} clients at once", flush=True)
    row("median, s", f"{statistics.median(waits):.2f}")
    goal("longest, s", max(waits), GOAL)
    row("the whole command, median, s", f"{statistics.median(whole for _, whole in times):.2f}")
    row("load average before and after", f"{load:.1f}, {os.getloadavg()[0]:.1f}")


for epoch, with_auditor in [(1000, False), (0, False), (1000, True)]:
    report(epoch, with_auditor)
