"""Faults of what a cluster keeps: disks and a bucket that are full, copies of before that are restored, and a long time under load.
`Scripts/cluster-faults` needs it."""
import collections, os, pathlib, shutil, signal, subprocess, time

from cluster_lab import (HERE, as_postgres, environment, expect, front_end, is_alive, kill_postgres, leader, measured, ports, said, say, sequencer,
                         signetd, sql, start_postgres, wait_for, work, FRONTS, SEQUENCERS)
from cluster_load import UNLIMITED, FrontEnd, ask_bucket, from_bucket, grows, head_of, names_in_bucket


def mount_small(folder, megabytes):
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", folder], check=True)


def unmount(folder):
    subprocess.run(["umount", "-l", folder], check=True)


def fill(folder):
    """Takes all the room there is, and returns the file that has it."""
    path = folder / "filler"
    file = os.open(path, os.O_WRONLY | os.O_CREAT)
    for size in (1 << 20, 1 << 12):
        try:
            while True:
                os.write(file, bytes(size))
        except OSError:
            pass
    os.close(file)
    return path


def kinds(lines):
    """How often each error came among the lines of attempts that failed."""
    found = collections.Counter(line.split(" ", 2)[2] for _, line in lines)
    return "; ".join(f"{count} x {what[:90]}" for what, count in found.most_common(4)) or "none"


def end_postgres(name):
    """Kills a server, unless it has ended by itself."""
    try:
        kill_postgres(name)
    except FileNotFoundError:
        pass


def is_running(name):
    try:
        return is_alive(int((work / name / "postmaster.pid").read_text().split()[0]))
    except (OSError, IndexError, ValueError):
        return False


class DiskFaults:
    """Of a scene."""

    # ---------------------------------------------------------------------------------------- F9

    def disk(self):
        self.full_database()
        self.full_state()
        self.full_bucket()

    def full_database(self):
        primary = self.cluster.primary
        if not os.path.ismount(work / primary):
            raise SystemExit("cluster-faults: the primary is on no small disk of its own any more: `disk` comes first")
        with self.fault("F9: the primary's disk is full for eight seconds, and then has room again"):
            begin = time.monotonic()
            filler = fill(work / primary)
            time.sleep(8)
            say(f"        attempts that failed: {kinds(self.crowd.repeats(begin))}; the server {self.state_of(primary)}")
            filler.unlink()
            if not is_running(primary):
                (work / primary / "postmaster.pid").unlink(missing_ok=True)
                start_postgres(primary)
            self.cluster.one_leads()
        with self.fault("F9: the primary's disk is full until it ends, and a standby is promoted"):
            begin = time.monotonic()
            fill(work / primary)
            wait_for("the primary ends", lambda: self.write_log_and_look(primary))
            say(f"        attempts that failed: {kinds(self.crowd.repeats(begin))}; the server {self.state_of(primary)}")
            self.cluster.fail_over(end_postgres)
        unmount(work / primary)
        self.cluster.rebuild()

    @staticmethod
    def write_log_and_look(name):
        """Makes the server need another file for its log, which there is no room for. Returns whether it has ended."""
        subprocess.run(["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "psql", "-h", work / f"{name}.socket", "-p",
                        str(ports[name]), "-d", "postgres", "-Atc", "SELECT pg_switch_wal()"], cwd="/", capture_output=True, timeout=60)
        return not is_running(name)

    @staticmethod
    def state_of(name):
        words = (work / f"postgres/{name}.log").read_text(errors="replace").splitlines()
        last = [line for line in words if "No space left" in line]
        return ("runs" if is_running(name) else "has ended") + (f", and says {last[-1].split('] ')[-1][:120]!r}" if last else "")

    def full_state(self):
        state = work / "front2/state"
        with self.fault("F9: the disk of a front end's folder of state is full when it starts"):
            self.stop_front("front2", signal.SIGTERM)
            state.mkdir(exist_ok=True)
            mount_small(state, 1)
            fill(state)
            self.cluster.fronts["front2"] = front_end("front2", *UNLIMITED)
            shown = head_of(FrontEnd("front2").checkpoint())[0]
            grows(self.eyes, 3)
            expect("not kept" in said("front2"), "it says that it keeps no frames, and shows "
                   f"{head_of(FrontEnd('front2').checkpoint())[0] - shown} entries more")
            self.stop_front("front2", signal.SIGTERM)
            unmount(state)
            self.cluster.fronts["front2"] = front_end("front2", *UNLIMITED)

    def full_bucket(self):
        with self.fault("F9: the bucket takes nothing for 25 seconds, as it is full"):
            before, turns = head_of(from_bucket("signed"))[0], self.turns()
            if not self.limit_bucket(1):
                return
            begin = time.monotonic()
            time.sleep(25)
            after = head_of(from_bucket("signed"))[0]
            failed = sum(measured(name, 'signet_shared_log_objects_total{outcome="failed"}') or 0 for name in SEQUENCERS)
            say(f"        {after - before} entries signed meanwhile, {failed:.0f} objects refused; attempts that failed: "
                f"{kinds(self.crowd.repeats(begin))}; the log was handed over "
                f"{self.turns() - turns} times")
            self.limit_bucket(None)

    @staticmethod
    def turns():
        """How often a turn has ended since both processes were started last."""
        return sum("leads no more" in line for name in SEQUENCERS for line in said(name).splitlines())

    @staticmethod
    def limit_bucket(objects):
        """Of Ceph's gateway. Returns whether it could be done."""
        scope = ["--quota-scope=bucket", "--uid=signet"]
        commands = [["quota", "set", f"--max-objects={objects}", *scope], ["quota", "enable", *scope]] if objects else [
            ["quota", "disable", *scope]]
        for command in commands:
            done = subprocess.run(["timeout", "60", "radosgw-admin", "-n", "client.rgw", *command], capture_output=True, text=True)
            if done.returncode:
                subprocess.run([HERE / "left-out", "cluster-faults", f"the gateway's quota: {done.stderr.strip()[-200:]}"], check=True)
                return False
        return True

    # --------------------------------------------------------------------------------------- F11

    def restored(self):
        self.stop_sequencers()
        older = self.copy_engines("older")
        self.lead_again()
        grows(self.eyes, 20)
        with self.fault("F11: a copy of before is restored"):
            for name in FRONTS:
                self.stop_front(name, signal.SIGTERM)
            self.stop_sequencers()
            newest = self.copy_engines("newest")
            self.eyes.blind |= {"signed", "checkpoint"}
            time.sleep(0.5)
            for what, dump, objects, words in (
                    ("of the database", older[0], newest[1], "signetd repair"),
                    ("of the bucket", newest[0], older[1], "the bucket was emptied, or an older copy of it restored"),
                    ("of both, which the witnesses do not believe,", older[0], older[1],
                     "says that it has cosigned")):
                self.restore(dump, objects)
                # What this machine has shown is one more memory; a new one has none.
                shutil.rmtree(work / "first/state", ignore_errors=True)
                done = signetd("run", "--data", work / "first", "--roles", "sequence")
                expect(done.returncode == 65 and words in done.stderr,
                       f"F11: an older copy {what} stops who would lead: {done.returncode} {done.stderr.strip()[-160:]}")
            self.restore(*newest)
            self.eyes.blind -= {"signed", "checkpoint"}
            self.lead_again()
            for name in FRONTS:
                self.cluster.fronts[name] = front_end(name, *UNLIMITED)

    def stop_sequencers(self):
        for process in self.cluster.sequencers.values():
            process.terminate()
            process.wait()

    def copy_engines(self, name):
        """The database, and the objects of the log, while nobody leads."""
        dump = work / f"postgres/{name}.dump"
        place = ["-h", work / f"{self.cluster.primary}.socket", "-p", ports[self.cluster.primary]]
        as_postgres("pg_dump", *place, "-Fc", "-f", dump, "signet")
        return dump, {name: from_bucket(name) for name in names_in_bucket()}

    def restore(self, dump, objects):
        place = ["-h", work / f"{self.cluster.primary}.socket", "-p", ports[self.cluster.primary]]
        as_postgres("pg_restore", *place, "--clean", "--if-exists", "-d", "signet", dump)
        for name in names_in_bucket():
            if name not in objects:
                ask_bucket("DELETE", name)
        for name, body in objects.items():
            if from_bucket(name) != body:
                ask_bucket("PUT", name, body)

    # --------------------------------------------------------------------------------------- F15

    def soak(self, seconds, points=10):
        with self.fault(f"F15: {seconds} seconds under load"):
            begin = time.monotonic()
            self.weigh(begin)
            for point in range(1, points + 1):
                time.sleep(max(0, begin + seconds * point / points - time.monotonic()))
                self.weigh(begin)

    def weigh(self, begin):
        count = len(self.crowd.since(begin))
        memory = {name: resident(process) for name, process in [*self.cluster.sequencers.items(), *self.cluster.fronts.items()]}
        led = leader()
        say(f"        {count} states; resident: " + ", ".join(
            f"{name}{' (leads)' if name in led else ''} {size} MB" for name, size in memory.items()))
        rows = sql(self.cluster.primary, "SELECT schemaname || '.' || relname, pg_total_relation_size(relid), n_live_tup, n_dead_tup "
                   "FROM pg_stat_user_tables ORDER BY 2 DESC LIMIT 4").splitlines()
        small = sql(self.cluster.primary, "SELECT schemaname || '.' || relname, pg_total_relation_size(relid), n_live_tup, n_dead_tup "
                    "FROM pg_stat_user_tables WHERE relname IN ('waiting', 'log', 'lease') ORDER BY 1").splitlines()
        size = int(sql(self.cluster.primary, "SELECT pg_database_size('signet')")) >> 10
        for row in [*rows, *small]:
            name, taken, live, dead = row.split("|")
            say(f"            {name}: {int(taken) >> 10} kB, {live} rows, {dead} dead")
        say(f"            the database: {size} kB")


def resident(process):
    try:
        text = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    except OSError:
        return 0
    return next(int(line.split()[1]) >> 10 for line in text.splitlines() if line.startswith("VmRSS"))
