"""Lines between the processes of a cluster on this machine and its engines and witnesses, which can be cut and made slow, and the three
witnesses. `Scripts/cluster-faults` needs it.

A line is a proxy: one that is cut holds back what is sent and tells nobody, as a cable that is cut does. What the kernel does with its
timers after minutes of that is not shown. Network namespaces would show it, but the databases of this cluster listen on sockets of the
file system, which no namespace of the network cuts."""
import random, socket, subprocess, threading, time, urllib.parse

from cluster_lab import DATABASES, FRONTS, SEQUENCERS, environment, free_ports, ports, programs, run_signetd, start, work

WITNESSES = ["w0", "w1", "w2"]


class Link(threading.Thread):
    """A line between one process and one engine: open, cut, or slow, as one of 300 ms that loses a fifth of its packets."""

    def __init__(self, listen, target, is_there=lambda: True):
        """Listens while something is there: whoever connects to a server that is gone is refused, and is not let in and out again."""
        super().__init__(daemon=True)
        self.listen, self.target, self.is_there = listen, target, is_there
        self.opened, self.is_slow = threading.Event(), False
        self.opened.set()
        self.start()

    def run(self):
        listener = None
        while True:
            if not self.is_there() and self.opened.is_set():
                if listener:
                    listener.close()
                    listener = None
                time.sleep(0.05)
                continue
            listener = listener or self.listen()
            listener.settimeout(0.2)
            try:
                client, _ = listener.accept()
            except TimeoutError:
                continue
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        self.opened.wait()
        server = socket.socket(socket.AF_UNIX if isinstance(self.target, str) else socket.AF_INET)
        try:
            server.connect(self.target)
        except OSError:
            client.close()
            return
        for pair in ((client, server), (server, client)):
            threading.Thread(target=self.copy, args=pair, daemon=True).start()

    def copy(self, source, target):
        try:
            while data := source.recv(65536):
                if self.is_slow:
                    # A lost packet is sent again after 200 ms, 400 ms and so on.
                    wait, again = 0.15, 0.2
                    while random.random() < 0.2:
                        wait, again = wait + again, again * 2
                    time.sleep(wait)
                self.opened.wait()
                target.sendall(data)
        except OSError:
            pass
        self.opened.wait()
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def at_path(path):
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(100)
    return listener


class Lines:
    """Of every process to the databases and the bucket, and of both sequencers to the witnesses."""

    def __init__(self):
        self.database, self.bucket = {}, {}
        self.witness_ports = dict(zip(WITNESSES, free_ports(len(WITNESSES))))
        fronts = dict(zip(WITNESSES, free_ports(len(WITNESSES))))
        self.witnesses = [Link(lambda name=name: socket.create_server(("127.0.0.1", fronts[name])), ("127.0.0.1", self.witness_ports[name]))
                          for name in WITNESSES]
        self.witness_urls = {name: f"http://127.0.0.1:{fronts[name]}" for name in WITNESSES}

    def lay(self):
        """Between the processes, which have their data directories, and the engines."""
        place = urllib.parse.urlsplit(environment["SIGNET_S3_ENDPOINT"])
        for name in [*SEQUENCERS, *FRONTS]:
            self.database[name] = []
            for database in DATABASES:
                folder = work / "lines" / name / database
                folder.mkdir(parents=True)
                self.database[name].append(Link(
                    lambda path=folder / f".s.PGSQL.{ports[database]}": at_path(path),
                    f"{work}/{database}.socket/.s.PGSQL.{ports[database]}", (work / database / "postmaster.pid").exists))
            listener = socket.create_server(("127.0.0.1", 0), backlog=100)
            self.bucket[name] = [Link(lambda listener=listener: listener, (place.hostname, place.port))]
            file = work / name / "engines"
            text = file.read_text().replace(environment["SIGNET_S3_ENDPOINT"], f"http://127.0.0.1:{listener.getsockname()[1]}")
            for database in DATABASES:
                text = text.replace(f"{work}/{database}.socket", f"{work}/lines/{name}/{database}")
            file.write_text(text)

    @property
    def everything(self):
        return [link for links in [*self.database.values(), *self.bucket.values(), self.witnesses] for link in links]


def make_witnesses(lines):
    text = ""
    for name in WITNESSES:
        run_signetd("witness", "init", "--data", work / name, "--name", f"witness.example/{name}", "--plain-http", what="a witness")
        shown = subprocess.run([programs / "signetd", "witness", "show", "--data", work / name], capture_output=True, text=True).stdout
        text += f"witness {name} {shown.split()[2]} {lines.witness_urls[name]}\n"
    (work / "witnesses").write_text(text + "group seen 2 w0 w1 w2\nquorum seen\n")
    return ["--witnesses", work / "witnesses"]


def start_witnesses(lines):
    profile = (work / "one/directory.signet").read_text()
    key = next(line.split()[1] for line in profile.splitlines() if line.startswith("log "))
    for name in WITNESSES:
        run_signetd("witness", "add-log", "--data", work / name, key, what="a witness of this log")
        start(name, "witness", "run", "--data", work / name, "--plain-http", "--rate", 0, "--bind",
              f"127.0.0.1:{lines.witness_ports[name]}", waits_for="listening")
