"""Load on a cluster that is broken meanwhile, and a memory of all that it has said: what was acknowledged, and every checkpoint that any front
end or the bucket has shown. `Scripts/cluster-rounds` and `Scripts/cluster-faults` need it."""
import base64 as codec
import email.utils, hashlib, hmac, html, http.client, math, queue, re, ssl, subprocess, sys, threading, time, urllib.parse

from cluster_lab import (DATABASES, FRONTS, SEQUENCERS, Balancer, as_postgres, copy_to_machines, demand_standbys, environment, expect,
                         front_end, kill_postgres, leader, make_database, make_directory, make_standby, move_to_engines, ports, programs,
                         promote, running, sequencer, sql, start_alone, wait_for, work)

UNLIMITED = ["--rate", 0, "--account-rate", 0, "--registrations", 0, "--connections-per-address", 4096]
PRIVATE = ssl.create_default_context()
PRIVATE.check_hostname, PRIVATE.verify_mode = False, ssl.CERT_NONE


def base64(data):
    return codec.b64encode(data).decode()


def shares(values):
    """Seconds: half of them within, 99 of a hundred, all."""
    values = sorted(values) or [0]
    at = lambda share: values[min(len(values) - 1, math.ceil(len(values) * share) - 1)]
    return f"p50 {at(0.5):.2f} s, p99 {at(0.99):.2f} s, max {values[-1]:.2f} s"


class Cluster:
    """The processes, and who of the databases is the primary."""

    def __init__(self, *options, before_start=lambda: None, before_primary=lambda: None):
        """Options of `signetd init`, and what is done with the data directories before anything reads them, and with the primary's."""
        make_database(before_primary)
        make_directory(*options)
        alone = start_alone()
        alone.terminate()
        alone.wait()
        move_to_engines()
        copy_to_machines()
        before_start()
        self.primary = DATABASES[0]
        self.sequencers = {name: sequencer(name) for name in SEQUENCERS}
        self.one_leads()
        self.fronts = {name: front_end(name, *UNLIMITED) for name in FRONTS}
        self.balancer = Balancer(ports["balancer"])
        self.balancer.start()

    @property
    def standbys(self):
        return [name for name in DATABASES if name != self.primary]

    def one_leads(self):
        wait_for("one of the two leads", lambda: len(leader()) == 1)
        return leader()[0]

    def furthest_first(self):
        """The standbys, the one with the most of the primary's log first."""
        heard = lambda name: int(sql(name, "SELECT pg_wal_lsn_diff(pg_last_wal_receive_lsn(), '0/0')"))
        return sorted(self.standbys, key=heard, reverse=True)

    def fail_over(self, kill=kill_postgres):
        """Kills the primary and promotes the standby that is further; the other one follows and acknowledges. Returns what was the
        primary, and what follows."""
        old = self.primary
        kill(old)
        new, other = self.furthest_first()
        promote(new, [other], f"ANY 1 ({other})")
        self.primary = new
        return old, other

    def rebuild(self):
        """Two new standbys for whatever is the primary now."""
        for name in self.standbys:
            as_postgres("pg_ctl", "-D", work / name, "-m", "immediate", "-w", "stop", check=False)
            make_standby(name, self.primary)
        demand_standbys(self.primary, f"ANY 2 ({', '.join(self.standbys)})")


def grows(eyes, more=1, seconds=180):
    goal = eyes.newest + more
    return wait_for("something new is published", lambda: eyes.newest >= goal, seconds)


class Crowd:
    """`cluster-bench`, and what it has said so far."""

    def __init__(self, name, writers, lookers):
        self.acknowledged, self.found, self.unfound, self.refused = [], [], [], []
        self.repeated, self.evidence, self.checks = [], 0, queue.Queue()
        self.log = open(work / f"{name}.crowd", "w")
        self.process = subprocess.Popen(
            [programs / "cluster-bench", work / "one/directory.signet", name, str(writers), str(lookers)], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, env=environment)
        running.append(self.process)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        missing = []
        for line in self.process.stdout:
            now, words = time.monotonic(), line.split()
            self.log.write(f"{now:.3f} {line}")
            self.log.flush()
            if words[0] == "acknowledged":
                self.acknowledged.append((now, words[1], int(words[2]), int(words[3]), int(words[4]) / 1000))
            elif words[0] == "again":
                self.repeated.append((now, line.strip()))
            elif words[0] == "found":
                self.found.append((now, int(words[1]) / 1000))
            elif words[0] == "unfound":
                self.unfound.append((now, line.strip()))
            elif words[0] == "refused":
                self.refused.append((now, line.strip()))
            elif words[0] == "evidence":
                self.evidence += 1
            elif words[0] == "missing":
                missing.append(line.strip())
            elif words[0] == "checked":
                self.checks.put((int(words[1]), missing))
                missing = []

    def check(self, everything=False):
        """Has what was acknowledged since the last time looked up, or everything: how many, and the lines of those that are not there."""
        self.process.stdin.write("check all\n" if everything else "check\n")
        self.process.stdin.flush()
        return self.checks.get(timeout=300)

    def repeats(self, when):
        """The attempts since then that failed and were made again: when, and what was said."""
        return [one for one in self.repeated if one[0] >= when]

    def since(self, when):
        return [one for one in self.acknowledged if one[0] >= when]

    def end(self):
        self.process.stdin.close()
        self.process.wait(60)


class Eyes:
    """Looks at every front end and at the bucket a few times a second, and forgets nothing."""

    def __init__(self):
        self.shown, self.sizes, self.steps, self.fell = {}, {}, [], []
        self.newest, self.lock, self.blind = 0, threading.Lock(), set()
        for front in FRONTS:
            threading.Thread(target=self.watch, args=(front, FrontEnd(front).checkpoint), daemon=True).start()
        for name in ("signed", "checkpoint"):
            threading.Thread(target=self.watch, args=(name, lambda name=name: from_bucket(name)), daemon=True).start()

    def watch(self, source, ask):
        while True:
            try:
                note = None if source in self.blind else ask()
            except (OSError, http.client.HTTPException):
                note = None
            head = head_of(note) if note else None
            if head:
                self.note(source, head)
            time.sleep(0.05)

    def note(self, source, head):
        with self.lock:
            self.shown.setdefault(head, set()).add(source)
            if head[0] < self.sizes.get(source, 0):
                self.fell.append(f"{source} showed {self.sizes[source]} and then {head[0]}")
            self.sizes[source] = head[0]
            if source in FRONTS and head[0] > self.newest:
                self.newest = head[0]
                self.steps.append((time.monotonic(), head[0]))

    def pause(self, begin, end):
        """The longest time in which no front end showed anything new."""
        times = [begin, *(at for at, _ in self.steps if begin < at < end), end]
        return max(later - earlier for earlier, later in zip(times, times[1:]))

    def forks(self):
        """What was shown and is not a prefix of the tree that a front end has now."""
        front = FrontEnd(FRONTS[0])
        with self.lock:
            seen = dict(self.shown)
        largest = max(size for size, _ in seen)
        size, root = 0, ""
        while size < largest:
            size, root = head_of(front.checkpoint())
        roots = roots_of(front.leaves(size), {size for size, _ in seen} | {size})
        if roots[size] != root:
            return [f"the tiles of {size} entries have another root than their checkpoint"]
        return [f"{', '.join(sources)}: another root of {head[0]} entries" for head, sources in seen.items() if roots[head[0]] != head[1]]


def head_of(note):
    lines = note.decode("utf-8", "replace").split("\n")
    return (int(lines[1]), lines[2]) if len(lines) > 3 and lines[1].isdigit() else None


class FrontEnd:
    """Asks one front end over a connection that stays open while it can."""

    def __init__(self, name):
        self.name, self.connection = name, None

    def get(self, path):
        self.connection = self.connection or http.client.HTTPSConnection("127.0.0.1", ports[self.name], timeout=5, context=PRIVATE)
        try:
            self.connection.request("GET", path)
            response = self.connection.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException):
            self.connection.close()
            self.connection = None
            raise

    def checkpoint(self):
        status, body = self.get("/log/checkpoint")
        return body if status == 200 else None

    def leaves(self, size):
        """The hashes of the entries."""
        hashes = []
        for first in range(0, size, 256):
            count = min(256, size - first)
            path = "/log/tile/0/" + tile_path(first // 256) + ("" if count == 256 else f".p/{count}")
            status, body = self.get(path)
            if status != 200 or len(body) != 32 * count:
                raise RuntimeError(f"{self.name}: {path}: {status}, {len(body)} bytes")
            hashes += [body[at : at + 32] for at in range(0, len(body), 32)]
        return hashes


def tile_path(number):
    parts = [f"{number % 1000:03}"]
    while number := number // 1000:
        parts.insert(0, f"x{number % 1000:03}")
    return "/".join(parts)


def roots_of(leaves, sizes):
    """The roots (RFC 6962) of the trees of so many of these leaves, in Base64."""
    node = lambda left, right: hashlib.sha256(b"\x01" + left + right).digest()
    peaks, roots = [], {0: base64(hashlib.sha256(b"").digest())}
    for size, leaf in enumerate(leaves, start=1):
        height = 0
        while peaks and peaks[-1][0] == height:
            leaf, height = node(peaks.pop()[1], leaf), height + 1
        peaks.append((height, leaf))
        if size in sizes:
            root = peaks[-1][1]
            for _, left in reversed(peaks[:-1]):
                root = node(left, root)
            roots[size] = base64(root)
    return roots


def ask_bucket(method, name, body=None, query=None):
    """Status, headers and body of an object, or of the list of names. The older signature needs nothing but Python itself."""
    place, bucket = urllib.parse.urlsplit(environment["SIGNET_S3_ENDPOINT"]), environment["SIGNET_S3_BUCKET"]
    date = email.utils.formatdate(usegmt=True)
    text = f"{method}\n\n\n{date}\n/{bucket}/{name}".encode()
    code = base64(hmac.digest(environment["SIGNET_S3_SECRET"].encode(), text, "sha1"))
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=5)
    try:
        path = f"/{bucket}/{name}" + (f"?{urllib.parse.urlencode(query)}" if query else "")
        connection.request(method, path, body, {
            "Date": date, "Authorization": f"AWS {environment['SIGNET_S3_ACCESS_KEY']}:{code}"})
        response = connection.getresponse()
        return response.status, response.headers, response.read()
    finally:
        connection.close()


def from_bucket(name):
    status, _, body = ask_bucket("GET", name)
    return body if status == 200 else None


def names_in_bucket():
    """Every name in the bucket but those of the bodies of notes."""
    names, after = [], ""
    while True:
        status, _, body = ask_bucket("GET", "", query={"marker": after})
        found = [html.unescape(name) for name in re.findall(r"<Key>([^<]*)</Key>", body.decode())]
        if status != 200 or not found:
            return [name for name in names if not name.startswith("blob/")]
        names, after = names + found, found[-1]


def requires_bench():
    if not (programs / "cluster-bench").exists():
        sys.exit(f"there is no {programs}/cluster-bench: SIGNET_BENCHMARKS=1 swift build --product cluster-bench")


def find_again(crowd, eyes, everything=False, may_refuse=False):
    """Requires that what was acknowledged is there, that everything that was ever shown is one log, and, unless `may_refuse`, that nobody
    was refused what they were right to ask for."""
    count, missing = crowd.check(everything)
    for line in missing[:5]:
        print("        ", line)
    forks = eyes.forks()
    refused = [] if may_refuse else [line for _, line in crowd.refused]
    for line in [*forks[:5], *eyes.fell[:5], *refused[:5]]:
        print("        ", line)
    held = not missing and not forks and not eyes.fell and not refused and not crowd.evidence
    if not held:
        expect(False, f"{len(missing)} of {count} that were acknowledged are not there; {len(forks)} checkpoints of another log; "
               f"{len(eyes.fell)} that fell; {len(refused)} refused for good; {crowd.evidence} pieces of evidence")
    eyes.fell.clear()
    crowd.refused.clear()
    return count, len(missing), held
