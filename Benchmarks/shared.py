#!/usr/bin/env python3
"""What a directory does that several machines share, with all of it on this one: a PostgreSQL primary with two standbys of which each commit
waits for one, Ceph's gateway (Scripts/objects), a process that writes the log, front ends and three witnesses.

    Benchmarks/shared.py FOLDER-WITH-THE-PROGRAMS [WHAT...]     frames, path, receipts, lookups; all of them if none is named

- frames: appends to a shared log, in turn with the same bytes through pgbench (a bare loop of libpq) and, where SIGNET_TESSERA names the
  program of Benchmarks/peers/tessera, with Tessera's POSIX storage on the same disk.
- path: registrations from their acceptance at a front end to their receipts there, without TLS and HTTP.
- receipts: the time of a registration until its receipt, at a steady rate, where two of three witnesses have to cosign.
- lookups: over TLS (wrk) at a front end that applies an epoch each second, in turn with a bare route of Hummingbird.

SIGNET_TRY_BENCHMARKS=1 does a moment of each that is named, or of the first two.
"""
import os
import pathlib
import secrets
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading

from serving import HERE, counts, free_port, goal, row, wrk

ROOT = HERE.parent
POSTGRES = pathlib.Path("/usr/lib/postgresql/15/bin")
TICKS = os.sysconf("SC_CLK_TCK")
TRIED = "SIGNET_TRY_BENCHMARKS" in os.environ
BATCH, ENTRY = 256, 134
PEOPLE, AT_ONCE = (16, 8) if TRIED else (1024, 512)
CROWD = 16 if TRIED else 2048  # a receipt waits for an epoch of a second and for the front end to see it
ROUNDS = 1 if TRIED else 5
EMPTY = 7.5e6  # bytes of a database of PostgreSQL 15 without tables


def left_out(why):
    sys.exit(subprocess.run([ROOT / "Scripts/left-out", "benchmarks", f"shared: {why}"]).returncode)


if "SIGNET_S3_ENDPOINT" not in os.environ:
    if not (POSTGRES / "initdb").exists():
        left_out("there is no PostgreSQL 15 (Debian: postgresql)")
    if os.geteuid() != 0:
        left_out("its database runs as another user, so it has to be started as root")
    # What that script says is not for the table.
    os.environ["SIGNET_BENCH_OUTPUT"] = str(kept := os.dup(1))
    os.set_inheritable(kept, True)
    os.dup2(2, 1)
    os.execv(ROOT / "Scripts/objects", ["objects", "--serve", str(pathlib.Path(__file__).resolve()), *sys.argv[1:]])
if "SIGNET_BENCH_OUTPUT" in os.environ:
    os.dup2(int(os.environ.pop("SIGNET_BENCH_OUTPUT")), 1)

programs = pathlib.Path(sys.argv[1]).resolve()
work = pathlib.Path(tempfile.mkdtemp(prefix="shared.", dir=ROOT / ".build"))  # on the disk of the clone, not in memory
work.chmod(0o755)
running = []


# MARK: The engines

class Database:
    """A primary and two standbys, of which each commit waits for one."""

    def __init__(self):
        self.ports = {name: free_port() for name in ("primary", "standby", "third")}
        for name in self.ports:
            for folder in (name, f"{name}.socket"):
                (work / folder).mkdir(mode=0o700 if folder == name else 0o755)
                shutil.chown(work / folder, "postgres")
        self.run("initdb", "-D", work / "primary", "-A", "trust", "-E", "UTF8", "--no-locale")
        self.configure("primary")
        self.start("primary")
        self.sql("CREATE ROLE signet LOGIN")
        for name in ("standby", "third"):
            self.run("pg_basebackup", "-h", work / "primary.socket", "-p", self.ports["primary"], "-D", work / name, "-R", "-X",
                     "stream", "--checkpoint=fast")
            self.configure(name)
            with open(work / name / "postgresql.auto.conf", "a") as file:
                file.write(f"primary_conninfo = 'host={work}/primary.socket port={self.ports['primary']} application_name={name}'\n")
            self.start(name)
        with open(work / "primary/postgresql.conf", "a") as file:
            file.write("synchronous_standby_names = 'ANY 1 (standby, third)'\n")
        self.run("pg_ctl", "-D", work / "primary", "reload")

    def configure(self, name):
        with open(work / name / "postgresql.conf", "a") as file:
            file.write(f"listen_addresses = ''\nunix_socket_directories = '{work}/{name}.socket'\nport = {self.ports[name]}\n"
                       "wal_retrieve_retry_interval = 200ms\nwal_keep_size = 64MB\nmax_connections = 200\n"
                       "shared_buffers = 256MB\nmax_wal_size = 4GB\nunix_socket_permissions = 0777\n")

    def start(self, name):
        self.run("pg_ctl", "-D", work / name, "-l", work / f"{name}.socket/log", "-w", "start")

    def run(self, program, *arguments, check=True):
        command = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", POSTGRES / program, *arguments]
        done = subprocess.run([str(word) for word in command], cwd="/", capture_output=True, text=True)
        if check and done.returncode:
            sys.exit(f"bench: {program} failed: {done.stdout}{done.stderr}")
        return done.stdout

    def sql(self, statement, database="postgres"):
        return self.run("psql", "-h", work / "primary.socket", "-p", self.ports["primary"], "-d", database, "-Atc", statement)

    def make(self, name):
        """A database, and how libpq reaches it."""
        self.sql(f"CREATE DATABASE {name} OWNER signet")
        return f"host={work}/primary.socket port={self.ports['primary']} dbname={name} user=signet target_session_attrs=read-write"

    def processes(self):
        mains = [int((work / name / "postmaster.pid").read_text().split()[0]) for name in self.ports]
        return mains + [child for main in mains for child in children(main)]

    def stop(self):
        for name in self.ports:
            if (work / name / "postmaster.pid").exists():
                self.run("pg_ctl", "-D", work / name, "-m", "immediate", "-w", "stop", check=False)


def stats():
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(") ", 1)[1].split()
        except (OSError, IndexError):
            continue
        yield int(stat.parent.name), int(fields[1]), sum(map(int, fields[11:15]))


def children(process):
    return [number for number, parent, _ in stats() if parent == process]


def processor_time(processes):
    """Seconds that they have used, and their children that have ended."""
    return sum(ticks for number, _, ticks in stats() if number in processes) / TICKS


def object_store():
    """The processes of Scripts/objects beside this one."""
    return [child for child in children(os.getppid()) if child != os.getpid()]


# MARK: The programs

def run(program, *arguments):
    done = subprocess.run([str(programs / program), *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"bench: {program} {arguments[0]}: {done.stdout}{done.stderr}")
    return done.stdout


def start(*command, announcement="listening"):
    log = open(work / f"{len(running)}.log", "w+")
    process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
    running.append(process)
    if not process.stdout.readline().startswith(announcement):
        sys.exit(f"bench: {command[0]} did not start: {pathlib.Path(log.name).read_text().strip()}")
    return process


def ask(process, line):
    """One line of a program's input, and the figures it answers with."""
    process.stdin.write(f"{line}\n")
    process.stdin.flush()
    said = process.stdout.readline().split()
    if not said or said[0] != "COUNTED":
        sys.exit(f"bench: {process.args[0]} has ended after {line!r}; its log: {work}")
    return [float(word) for word in said[1:]]


def stop(process):
    process.kill()
    process.wait()


class Shared:
    """A directory of its own, moved to the engines, and the process that writes its log."""

    def __init__(self, database, name, witnesses=()):
        self.folder, self.port = work / name, free_port()
        options = []
        if witnesses:
            lines = [f"witness w{number} {key} http://127.0.0.1:{port}\n" for number, (key, port) in enumerate(witnesses)]
            (work / f"{name}.witnesses").write_text(
                "".join(lines) + f"group seen 2 {' '.join(f'w{number}' for number in range(len(witnesses)))}\nquorum seen\n")
            options = ["--witnesses", work / f"{name}.witnesses"]
        run("signetd", "init", "--data", self.folder, "--origin", f"{name}.example/signet", "--url", f"https://localhost:{self.port}",
            *options)
        # Its first start makes the keys that all machines share.
        stop(start(programs / "signetd", "run", "--data", self.folder, "--bind", f"127.0.0.1:{self.port}"))
        write_object_key(self.folder)
        run("signetd", "move", "--data", self.folder, "--database", database.make(name), "--objects", os.environ["SIGNET_S3_ENDPOINT"],
            "--bucket", os.environ["SIGNET_S3_BUCKET"], "--prefix", f"{name}/")
        profile = (self.folder / "directory.signet").read_text()
        self.key = next(line.split()[1] for line in profile.splitlines() if line.startswith("log "))

    def copy(self, name, has_log_key):
        folder = work / f"{self.folder.name}.{name}"
        shutil.copytree(self.folder, folder, ignore=shutil.ignore_patterns(
            "records", "*.sqlite*", "admin.socket", *([] if has_log_key else ["log.key", "clock.key"])))
        return folder

    def sequence(self, epoch=1000):
        return start(programs / "signetd", "run", "--data", self.copy(f"leader{epoch}", True), "--roles", "sequence", "--epoch", epoch,
                     announcement="standing by")

    def front(self):
        """A front end without a network."""
        return start(programs / "shared-bench", "front", self.copy("front", False))

    def serve(self):
        return start(programs / "signetd", "run", "--data", self.copy("server", False), "--roles", "serve", "--bind",
                     f"127.0.0.1:{self.port}", "--rate", 0, "--account-rate", 0, "--registrations", 0, "--connections-per-address",
                     1000, "--log-level", "error")


def write_object_key(folder):
    (folder / "keys").mkdir(parents=True, exist_ok=True)
    (folder / "keys/objects").write_text(f"aws_access_key_id = {os.environ['SIGNET_S3_ACCESS_KEY']}\n"
                                         f"aws_secret_access_key = {os.environ['SIGNET_S3_SECRET']}\n")
    (folder / "keys/objects").chmod(0o600)


def load():
    row("load average", ", ".join(f"{each:.1f}" for each in os.getloadavg()))


# MARK: What is measured

def frames(database):
    print(f"\nFrames of a shared log, quorum commit to one of two standbys, batches of {BATCH} entries of {ENTRY} bytes, "
          f"{ROUNDS} rounds in turn", flush=True)
    address = database.make("frames")
    write_object_key(work / "frames")
    ours = start(programs / "shared-bench", "frames", work / "frames", address, os.environ["SIGNET_S3_ENDPOINT"],
                 os.environ["SIGNET_S3_BUCKET"])
    database.sql("CREATE TABLE floor (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, payload bytea);"
                 "ALTER TABLE floor ALTER payload SET STORAGE EXTERNAL; GRANT ALL ON floor TO signet", "frames")
    script = work / "floor.sql"
    script.write_text(f"INSERT INTO floor (payload) VALUES ('\\x{secrets.token_hex(BATCH * (ENTRY + 2))}');\n")
    peer = None
    if "SIGNET_TESSERA" in os.environ:
        peer = start(os.environ["SIGNET_TESSERA"], work / "tessera", ENTRY, 8 * BATCH, BATCH)
    batches = 4 if TRIED else 150
    own, single, bare, tessera, costs = [], [], [], [], []
    for _ in range(ROUNDS):
        rate, cost, _ = ask(ours, f"batches {batches}")
        own.append(rate)
        costs.append(cost)
        bare.append(pgbench(address, script, batches) * BATCH)
        if peer:
            tessera += ask(peer, batches * BATCH)
        single.append(ask(ours, f"callers {8 * BATCH} {1 if TRIED else 20}"))
    row("entries, one batch after the other, median round", f"{statistics.median(own):.0f} /s")
    row("processor time of our own an entry, median round", f"{statistics.median(costs):.2f} µs")
    row(f"entries of {8 * BATCH} callers, one each, in frames as they come, median round",
        f"{statistics.median(each[0] for each in single):.0f} /s")
    row("the same bytes through pgbench, one row a batch, median round", f"{statistics.median(bare):.0f} /s")
    row("entries ÷ those of pgbench, median of rounds", f"{statistics.median(a / b for a, b in zip(own, bare)):.2f}")
    goal("entries a second, one batch after the other", statistics.median(own), 20_000, at_least=True)
    if peer:
        row(f"Tessera POSIX on the same disk, not replicated, {8 * BATCH} writers, median round", f"{statistics.median(tessera):.0f} /s")
        goal("entries ÷ those of Tessera, median of rounds", statistics.median(a / b for a, b in zip(own, tessera)), 1.5, at_least=True,
             is_peer=True)
        stop(peer)
    else:
        print("  Tessera: not measured; SIGNET_TESSERA does not name its program")
    load()
    stop(ours)


def pgbench(address, script, transactions):
    """Transactions a second."""
    done = subprocess.run(["/usr/bin/pgbench", "-n", "-f", script, "-t", str(transactions), address], capture_output=True, text=True)
    rate = next((line.split()[2] for line in done.stdout.splitlines() if line.startswith("tps")), None)
    if done.returncode or not rate:
        sys.exit(f"bench: pgbench failed: {done.stdout}{done.stderr}")
    return float(rate)


def path(database, shared):
    leader, front = shared.sequence(), shared.front()
    ask(front, f"register {AT_ONCE} {AT_ONCE}")
    for at_once in AT_ONCE, CROWD:
        crowd(database, leader, front, at_once)
    database.sql("VACUUM FULL", "path")
    size, people = (int(database.sql(question, "path")) for question in (
        "SELECT pg_database_size('path')", "SELECT count(*) FROM directory.accounts"))
    row("data in PostgreSQL, KB an account", f"{(size - EMPTY) / people / 1000:.1f}")
    leader.terminate()
    leader.wait()
    stop(front)


def crowd(database, leader, front, at_once):
    count = 2 * at_once
    print(f"\nRegistrations, from acceptance at a front end to the receipt there, without TLS and HTTP: --epoch 1000, {count} of {at_once} "
          f"clients at once, {ROUNDS} rounds", flush=True)
    parts = {"the process that writes the log": [leader.pid], "PostgreSQL, primary and standbys": None, "the object store": object_store()}
    rates, refused, costs, ran = [], 0, dict.fromkeys(["the front end", *parts], 0.0), transactions(database)
    for _ in range(ROUNDS):
        before = {name: processor_time(each or database.processes()) for name, each in parts.items()}
        rate, cost, again = ask(front, f"register {count} {at_once}")
        rates.append(rate)
        refused += again
        costs["the front end"] += cost * count / 1e6
        for name, each in parts.items():
            costs[name] += processor_time(each or database.processes()) - before[name]
    row("slowest and fastest round", f"{min(rates):.0f} /s, {max(rates):.0f} /s")
    for name, seconds in costs.items():
        row(f"processor time of one: {name}", f"{seconds / count / ROUNDS * 1e6:.0f} µs")
    row("processor time of one, all of it", f"{sum(costs.values()) / count / ROUNDS * 1e6:.0f} µs")
    row("requests refused and sent again, for each that was taken", f"{refused / count / ROUNDS:.2f}")
    done, failed = (now - then for now, then in zip(transactions(database), ran))
    row("transactions of the database that were run again or given up, %", f"{100 * failed / max(done + failed, 1):.1f}")
    if at_once == CROWD:
        goal("registrations a second, median round", statistics.median(rates), 1000, at_least=True)
    else:
        row(f"registrations a second of {at_once} clients, median round", f"{statistics.median(rates):.0f} /s")
    load()


def transactions(database):
    """How many were committed, and how many were not."""
    return [int(each) for each in database.sql(
        "SELECT xact_commit, xact_rollback FROM pg_stat_database WHERE datname = 'path'").split("|")]


def witnesses():
    made = []
    for number in range(3):
        folder, port = work / f"w{number}", free_port()
        run("signetd", "witness", "init", "--data", folder, "--name", f"witness.example/w{number}", "--plain-http")
        made.append((folder, run("signetd", "witness", "show", "--data", folder).split()[2], port))
    return made


def receipts(database):
    rate, count = (8, 8) if TRIED else (20, 800)
    made = witnesses()
    shared = Shared(database, "seen", [(key, port) for _, key, port in made])
    for folder, _, port in made:
        run("signetd", "witness", "add-log", "--data", folder, shared.key)
        start(programs / "signetd", "witness", "run", "--data", folder, "--plain-http", "--rate", 0, "--bind", f"127.0.0.1:{port}")
    leader, front = shared.sequence(), shared.front()
    ask(front, "register 4 4")
    print(f"\nA registration until its receipt at a front end, two of three witnesses on loopback: --epoch 1000, {rate} a second, "
          f"{count} of them", flush=True)
    half, _, most, longest, refused = ask(front, f"steady {count} {rate}")
    goal("half within, s", half, 0.7)
    goal("99 % within, s", most, 1.5)
    row("longest, s", f"{longest:.2f}")
    row("requests refused and sent again, which their times include", f"{refused:.0f}")
    load()
    stop(leader)
    stop(front)


def lookups(shared):
    leader, front, server = shared.sequence(), shared.front(), shared.serve()
    accounts = PEOPLE
    ask(front, f"register {accounts} {AT_ONCE}")
    port = free_port()
    bare = start(programs / "shared-bench", "baseline", shared.folder, port)
    os.environ["ACCOUNTS"] = str(accounts)
    seconds, each = (1, 1) if TRIED else (5, 20)
    print(f"\nLookups over TLS on loopback at a front end that applies an epoch of {each} registrations each second, 64 connections, "
          f"{accounts:,} accounts, {ROUNDS} rounds in turn", flush=True)
    ends = threading.Event()

    def register():
        while not ends.is_set():
            ask(front, f"steady {each * 2} {each}")

    background = threading.Thread(target=register)
    background.start()
    ours, theirs = [], []
    for _ in range(ROUNDS):
        for process, address, figures in ((server, shared.port, ours), (bare, port, theirs)):
            before = processor_time([process.pid])
            counted = counts(wrk(f"https://127.0.0.1:{address}/v1/lookup", 64, seconds))
            figures.append((counted.requests / counted.duration * 1e6,
                            (processor_time([process.pid]) - before) / counted.requests * 1e6, counted.most_within))
    ends.set()
    background.join()
    for name, figures in (("lookups at the front end", ours), ("Hummingbird, a small JSON object", theirs)):
        rates, costs, slow = (statistics.median(each) for each in zip(*figures))
        row(name, f"{rates:.0f} /s, {costs:.0f} µs of processor time each, 99 % within {slow:.1f} ms")
    goal("lookups a second ÷ Hummingbird, median of rounds", statistics.median(a[0] / b[0] for a, b in zip(ours, theirs)), 0.5,
         at_least=True, is_peer=True)
    load()
    for process in (leader, front, server, bare):
        stop(process)


def main():
    chosen = sys.argv[2:] or ["frames", "path", "receipts", "lookups"][:2 if TRIED else 4]
    if "lookups" in chosen and not shutil.which("wrk"):
        chosen.remove("lookups")
        print("  no wrk here: the lookups of a front end are left out")
    database = Database()
    try:
        if "frames" in chosen:
            frames(database)
        if "path" in chosen:
            path(database, Shared(database, "path"))
        if "receipts" in chosen:
            receipts(database)
        if "lookups" in chosen:
            lookups(Shared(database, "asked"))
    finally:
        for process in running:
            stop(process)
        database.stop()
    shutil.rmtree(work, ignore_errors=True)


main()
