"""What the scripts share that run a cluster on this machine: the engines and the processes, how each is started, stopped and killed, and
how what it says is asked for. `Scripts/cluster` has the story; `Scripts/cluster-rounds` and `Scripts/cluster-faults` break one on purpose.

The engines are a PostgreSQL primary with two standbys, and an object store: whoever imports this is run once more by
`Scripts/objects --serve`, which puts the store's address into the environment. Everything of a run is in the folder `work`, which goes at
the end unless an expectation failed. The programs are those in the folder that is the last argument, else in .build/debug.
"""
import os, pathlib, shutil, signal, socket, subprocess, sys, tempfile, threading, time

HERE = pathlib.Path(__file__).resolve().parent
POSTGRES = pathlib.Path("/usr/lib/postgresql/15/bin")
SCRIPT = pathlib.Path(sys.argv[0]).name


def left_out(why):
    subprocess.run([HERE / "left-out", SCRIPT, why], check=True)
    sys.exit(0)


if "SIGNET_S3_ENDPOINT" not in os.environ:
    if not (POSTGRES / "initdb").exists():
        left_out("there is no PostgreSQL 15 (Debian: postgresql)")
    if os.geteuid() != 0:
        left_out("its database runs as another user, so it has to be started as root")
    os.execv(HERE / "objects", [str(HERE / "objects"), "--serve", str(HERE / SCRIPT), *sys.argv[1:]])


def free_ports(count):
    found = subprocess.run([HERE / "free-ports", str(count)], capture_output=True, text=True, check=True)
    return list(map(int, found.stdout.split()))


DATABASES = ["primary", "standby", "third"]
SEQUENCERS = ["first", "second"]
FRONTS = ["front1", "front2", "front3"]
names = [*DATABASES, *SEQUENCERS, *FRONTS, "balancer"]
ports = dict(zip(names, free_ports(len(names))))
programs = pathlib.Path(sys.argv[-1] if len(sys.argv) > 1 and os.path.isdir(sys.argv[-1]) else ".build/debug").resolve()
work = pathlib.Path(tempfile.mkdtemp(prefix="signet-cluster."))
work.chmod(0o755)
begun = time.monotonic()
failures, running = [], []
environment = dict(os.environ, SIGNET_PASSPHRASE="a passphrase of the cluster's, never one of yours")
environment.pop("SIGNET_HOME", None)


def say(text):
    print(f"{time.monotonic() - begun:6.1f} s  {text}", flush=True)


def expect(holds, what):
    say(("ok      " if holds else "FAILED  ") + what)
    if not holds:
        failures.append(what)


def stop_all():
    for process in running:
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.kill()
    for name in (*DATABASES, "copy"):
        if (work / name).exists():
            as_postgres("pg_ctl", "-D", work / name, "-m", "immediate", "-w", "stop", check=False)
    for process in running:
        process.wait()
    for line in pathlib.Path("/proc/mounts").read_text().splitlines():
        if line.split()[1].startswith(f"{work}/"):
            subprocess.run(["umount", "-l", line.split()[1]], check=False)
    if failures or sys.exc_info()[0]:
        print(f"the files of this run are in {work}")
    else:
        shutil.rmtree(work, ignore_errors=True)


def tell(story):
    """Runs a story, stops everything, and ends with 0 only if every expectation held. What failed is said once more, last, after the last
    lines of each process."""
    try:
        story()
    finally:
        stop_all()
    if failures:
        for log in sorted(work.glob("*.log")):
            print(f"\n{log.name} ends with:\n" + "\n".join(log.read_text(errors="replace").splitlines()[-12:]))
        print("\nwhat was expected and did not hold:\n" + "\n".join(failures))
        sys.exit(1)
    print("\nevery expectation held")


def as_postgres(program, *arguments, check=True):
    command = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", POSTGRES / program, *arguments]
    done = subprocess.run([str(word) for word in command], cwd="/", capture_output=True, text=True)
    if check and done.returncode:
        raise SystemExit(f"{SCRIPT}: {program} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def sql(name, statement):
    return as_postgres("psql", "-h", work / f"{name}.socket", "-p", ports[name], "-d", "signet", "-Atc", statement).strip()


# ------------------------------------------------------------------------------------------ the engines


def make_database(before_primary=lambda: None):
    """Something may be done with the primary's empty folder before it is one."""
    (work / "postgres").mkdir()
    shutil.chown(work / "postgres", "postgres")
    for name in DATABASES:
        (work / f"{name}.socket").mkdir(mode=0o755)
        shutil.chown(work / f"{name}.socket", "postgres")
    (work / "primary").mkdir(mode=0o700)
    before_primary()
    shutil.chown(work / "primary", "postgres")
    as_postgres("initdb", "-D", work / "primary", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")
    configure("primary")
    start_postgres("primary")
    as_postgres("psql", "-h", work / "primary.socket", "-p", ports["primary"], "-d", "postgres", "-c",
                "CREATE ROLE signet LOGIN; ", "-c", "CREATE DATABASE signet OWNER signet")
    for name in DATABASES[1:]:
        make_standby(name, "primary")
    # Both, so that whichever is promoted has everything that was acknowledged.
    demand_standbys("primary", "ANY 2 (standby, third)")


def make_standby(name, leader):
    """A new copy of a server, which follows it; what was there under this name before is gone."""
    shutil.rmtree(work / name, ignore_errors=True)
    as_postgres("pg_basebackup", "-h", work / f"{leader}.socket", "-p", ports[leader], "-D", work / f"postgres/{name}", "-R",
                "-X", "stream", "--checkpoint=fast", "--no-sync")
    os.rename(work / f"postgres/{name}", work / name)
    configure(name)
    follow(name, leader)
    start_postgres(name)


def promote(name, others, standbys):
    """Makes a standby the primary, lets others follow it, and demands that of these so many acknowledge what is written."""
    demand_standbys(name, standbys)
    as_postgres("pg_ctl", "-D", work / name, "-w", "promote")
    for other in others:
        follow(other, name)
        as_postgres("pg_ctl", "-D", work / other, "reload")


def follow(name, leader):
    with open(work / name / "postgresql.auto.conf", "a") as file:
        file.write(f"primary_conninfo = 'host={work}/{leader}.socket port={ports[leader]} application_name={name}'\n")


def demand_standbys(name, standbys, is_running=True):
    with open(work / name / "postgresql.conf", "a") as file:
        file.write(f"synchronous_standby_names = '{standbys}'\n")
    if is_running:
        as_postgres("pg_ctl", "-D", work / name, "reload")


def configure(name):
    with open(work / name / "postgresql.conf", "a") as file:
        file.write(f"listen_addresses = ''\nunix_socket_directories = '{work}/{name}.socket'\nport = {ports[name]}\n"
                   "wal_retrieve_retry_interval = 200ms\nwal_keep_size = 64MB\nmax_connections = 200\nshared_buffers = 64MB\n"
                   "unix_socket_permissions = 0777\n")


def start_postgres(name):
    as_postgres("pg_ctl", "-D", work / name, "-l", work / f"postgres/{name}.log", "-w", "start")


def kill_postgres(name):
    """The server and all its children, at once, as when a machine is lost."""
    pid = int((work / name / "postmaster.pid").read_text().split()[0])
    children = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True).stdout.split()
    everybody = [pid, *map(int, children)]
    for process in everybody:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass
    while any(is_alive(process) for process in everybody):
        time.sleep(0.01)
    # Whoever adopted the server may not have asked for its end yet: a start would take it for alive.
    (work / name / "postmaster.pid").unlink()
    (work / f"{name}.socket" / f".s.PGSQL.{ports[name]}.lock").unlink()


def is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


# ---------------------------------------------------------------------------------------- the processes


STARTED = "-- started --\n"


TRY_AGAIN = 75


def start(name, *arguments, waits_for, folder=None, attempts=5, **variables):
    """A process of this name, by the programs of this run or those in another folder. One that says that a new start may help is started
    again, as by a unit of systemd."""
    log = open(work / f"{name}.log", "ab")
    log.write(STARTED.encode())
    log.flush()
    # What is loaded before a program, such as a library that shows another time, may move its environment, beside which Swift looks for
    # the arguments: so it is loaded by another program first, which becomes this one.
    process = subprocess.Popen(["/usr/bin/env", (folder or programs) / "signetd", *map(str, arguments)], stdout=subprocess.PIPE, stderr=log,
                               stdin=subprocess.DEVNULL, env=environment | variables)
    running.append(process)
    line = process.stdout.readline().decode()
    if not line.startswith(waits_for):
        if process.wait() == TRY_AGAIN and attempts > 1:
            say(f"        {name} ends with {TRY_AGAIN}, and is started again")
            return start(name, *arguments, waits_for=waits_for, folder=folder, attempts=attempts - 1, **variables)
        raise SystemExit(f"{SCRIPT}: {name} did not start, and ended with {process.wait()}:\n{(work / f'{name}.log').read_text()[-2000:]}")
    threading.Thread(target=process.stdout.read, daemon=True).start()
    return process


def front_end(name, *options, **variables):
    return start(name, "run", "--data", work / name, "--roles", "serve", "--bind", f"127.0.0.1:{ports[name]}", *options,
                 waits_for="listening", **variables)


def sequencer(name, *options, **variables):
    return start(name, "run", "--data", work / name, "--roles", "sequence", "--epoch", 200, "--republish", 1,
                 "--admin-listen", f"127.0.0.1:{ports[name]}", *options, waits_for="standing by", **variables)


def said(name):
    """What a process has logged since it was started last."""
    return (work / f"{name}.log").read_text().split(STARTED)[-1]


def leader(names=SEQUENCERS):
    """Who leads by what the logs of the processes say last."""
    last = {name: [line for line in said(name).splitlines() if "leads" in line][-1:] for name in names}
    return [name for name, lines in last.items() if lines and "no more" not in lines[0] and "not lead" not in lines[0]]


def wait_for(what, condition, seconds=180):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    failures.append(what)
    say("FAILED  " + what)
    return False


class Balancer(threading.Thread):
    """Hands each connection to the next front end that takes it."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", port), backlog=100)
        self.next, self.left_out, self.drained = 0, set(), set()  # front ends to which nobody is sent: not ready, or taken out by hand
        self.first = None  # the front end that is tried first

    def run(self):
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        for attempt in range(len(FRONTS) + 1):
            self.next += 1
            front = self.first if self.first and attempt == 0 else FRONTS[self.next % len(FRONTS)]
            if front in self.left_out or front in self.drained:
                continue
            try:
                server = socket.create_connection(("127.0.0.1", ports[front]), timeout=5)
            except OSError:
                continue
            server.settimeout(None)
            for pair in ((client, server), (server, client)):
                threading.Thread(target=self.copy, args=pair, daemon=True).start()
            return
        client.close()

    @staticmethod
    def copy(source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def operators(name, page):
    """What a process that only sequences says at the address of the operators: the status, and the text."""
    done = subprocess.run(["curl", "-s", "-w", "%{http_code}", f"http://127.0.0.1:{ports[name]}/{page}"], capture_output=True, text=True)
    return done.stdout[-3:], done.stdout[:-3]


def measured(name, metric):
    for line in operators(name, "metrics")[1].splitlines():
        if line.startswith(metric + " "):
            return float(line.split()[1])
    return None


# --------------------------------------------------------------------------------------- the directory


def signetd(*arguments):
    return subprocess.run([programs / "signetd", *map(str, arguments)], env=environment, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=120)


def run_signetd(*arguments, expected=0, what=None):
    done = signetd(*arguments)
    said = "" if done.returncode == expected else f": {done.stdout.strip()}{done.stderr[:3000]}"
    expect(done.returncode == expected, (what or f"signetd {arguments[0]}") + said)
    return done


def make_directory(*options):
    run_signetd("init", "--data", work / "one", "--origin", "cluster.example/signet", "--url",
                f"https://localhost:{ports['balancer']}", *options)


def start_alone():
    """The directory as a server of one machine."""
    return start("alone", "run", "--data", work / "one", "--bind", f"127.0.0.1:{ports['balancer']}", waits_for="listening")


def move_to_engines(data="one", database="signet", prefix=None):
    one = work / data
    (one / "keys/objects").write_text(f"aws_access_key_id = {environment['SIGNET_S3_ACCESS_KEY']}\n"
                                      f"aws_secret_access_key = {environment['SIGNET_S3_SECRET']}\n")
    (one / "keys/objects").chmod(0o600)
    sockets = ",".join(f"{work}/{name}.socket" for name in DATABASES)
    address = (f"host={sockets} port={','.join(str(ports[name]) for name in DATABASES)} dbname={database} user=signet "
               "target_session_attrs=read-write connect_timeout=3")
    move = ["move", "--data", one, "--database", address, "--objects", environment["SIGNET_S3_ENDPOINT"], "--bucket",
            environment["SIGNET_S3_BUCKET"], *(["--prefix", prefix] if prefix else [])]
    run_signetd(*move)
    run_signetd(*move, expected=73, what="signetd move refuses to move it twice")


def copy_to_machines(data="one", machines=(*SEQUENCERS, *FRONTS)):
    """A data directory for each process, as on a machine of its own."""
    for name in machines:
        shutil.copytree(work / data, work / name, ignore=shutil.ignore_patterns(
            "records", "notes.sqlite*", "recovery.sqlite*", "signals.sqlite*"))
        if name in FRONTS:
            for key in ("log.key", "clock.key"):
                (work / name / "keys" / key).unlink()


# ------------------------------------------------------------------------------------------ the clients


def signet(home, *arguments, expected=0):
    done = subprocess.run([programs / "signet", "--home", work / home, *map(str, arguments)], env=environment,
                          capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)
    if done.returncode != expected:
        print(done.stdout[-1500:], done.stderr[-1500:])
        expect(False, f"signet {home} {' '.join(map(str, arguments))}: exit {done.returncode}, not {expected}")
    return done


def register(name):
    signet(name, "account", "create", f"{name}@example.org", "--directory", work / "one/directory.signet")


def tries(home, *arguments, seconds=40):
    """Until it succeeds, as a person would who is told to try again."""
    begin = time.monotonic()
    while True:
        done = subprocess.run([programs / "signet", "--home", work / home, *map(str, arguments)], env=environment,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)
        if done.returncode == 0:
            return time.monotonic() - begin
        if time.monotonic() - begin > seconds:
            print(done.stdout[-1500:], done.stderr[-1500:])
            return None


def checkpoint(name):
    done = subprocess.run(["curl", "-sk", f"https://localhost:{ports[name]}/log/checkpoint"],
                          capture_output=True, text=True)
    lines = done.stdout.split("\n")
    return (int(lines[1]), lines[2]) if len(lines) > 2 and lines[1].isdigit() else (0, "")
