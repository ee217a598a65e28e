// SPDX-License-Identifier: Apache-2.0

import KeyDirectory
import LogEngine
import LogFencing
import NoteStore
import ObjectStores
import PostgresStores
import S3Stores
import SharedLog
import SignetServer
import TransparencyLog

extension Verdict {
    static func of(_ error: SharedSetupError) -> Verdict {
        switch error.cause {
        case .engines(let error): of(error)
        case .directory(.directory(let error)): of(error)
        case .directory(.candidacy(let end)): of(end)
        case .directory(.log(.fault(let fault))): of(fault)
        case .directory(.log(.log(let error))): of(DirectoryOpenError.log(error))
        case .directory(.failed(let failure)): of(failure)
        }
    }

    /// A log on shared engines has failed: it is no disk of this machine.
    private static func of(_ failure: LogFailure) -> Verdict {
        switch failure {
        case .sharedStore(let fault): of(fault)
        case .leadershipEnded(.conflict(let conflict)): of(CandidacyEnd.ended(.conflict(conflict)))
        case .leadershipEnded(.outOfTurn): of(CandidacyEnd.ended(.outOfTurn))
        case .leadershipEnded(.superseded): of(CandidacyEnd.ended(.othersLead))
        case .leadershipEnded(.outcomeUnknown): of(CandidacyEnd.ended(.outcomeUnknown))
        case .leadershipEnded(.unshown): Verdict(.tryAgain, "nothing could be published; try again")
        case .leadershipEnded(.clockAhead):
            Verdict(.tryAgain, "the clock of this machine is ahead of the database's; set both by NTP")
        case .writeAheadLog, .lockRecord, .publishedFile, .tiles, .sealing, .signing, .tree, .entriesLost,
            .contradicted:
            of(ServerStop.logFailed)
        }
    }

    static func of(_ error: SharedEnginesError) -> Verdict {
        switch error {
        case .file(let failure): Verdict(reading: failure)
        case .engines(.line(let name)): Verdict(.misconfigured, "engines: the line \(name) is none of this file")
        case .engines(.repeated(let name)): Verdict(.misconfigured, "engines: the line \(name) is there twice")
        case .engines(.missing(let name)): Verdict(.misconfigured, "engines: the line \(name) is missing")
        case .address(let error): of(error)
        case .database(let error): of(error)
        case .databaseAway: Verdict(.tryAgain, "the database does not answer; try again")
        case .objectsConfiguration(let error), .objects(.configuration(let error)): of(error)
        case .objects(.probe(let error)): of(error)
        case .otherBucket(let name, let prefix):
            Verdict(
                .misconfigured,
                "the bucket \(name)\(prefix.isEmpty ? "" : ", prefix \(prefix),") is not the one that this directory was moved to: its object "
                    + "`home` is not what `engines` says. Compare `engines` with that of the other machines. Only if the bucket was emptied, "
                    + "make its objects again with `signetd repair --objects`")
        }
    }

    static func of(_ error: BrokerFileError) -> Verdict {
        switch error {
        case .unreadable: Verdict(.misconfigured, "the file that --signals names cannot be read")
        case .openToOthers: Verdict(.misconfigured, "others can use the file that --signals names; make its mode 0600")
        case .line(let name):
            Verdict(.misconfigured, "the file that --signals names: its line \(name) is wrong, missing, or there twice")
        case .authority:
            Verdict(.misconfigured, "the file that --signals names: the certificates of its authority cannot be read")
        }
    }

    private static func of(_ error: PostgresOpenError) -> Verdict {
        switch error {
        case .unreachable(let address, let words): Verdict(.tryAgain, "no connection to \(address): \(words)")
        case .turnedAway(let refusal, let address, let words): of(refusal, "\(address): \(words)")
        case .notOurs(let schema):
            Verdict(.misconfigured, "the database has a schema \(schema) that this program did not make")
        case .fromNewerVersion:
            Verdict(.misconfigured, "a newer version of this program has changed the tables; use that one")
        case .isReplica: Verdict(.tryAgain, "this database only follows another one; name the one that is written")
        case .tooOld(let version): Verdict(.misconfigured, "PostgreSQL \(version / 10_000) is too old; it takes 15")
        case .notUTF8(let encoding):
            Verdict(.misconfigured, "the database keeps text as \(encoding); make one with UTF8")
        case .refused(let state, let words) where state == "3F000" || state == "42501":
            Verdict(
                .misconfigured,
                "the database refused: \(words) (\(state)). The user that `engines` names lacks rights in this database, or lost them: make it "
                    + "the owner of the database, or grant it what it had, and start again"
            )
        case .refused(let state, let words): Verdict(.misconfigured, "the database refused: \(words) (\(state))")
        }
    }

    /// A process that runs tries again, and says this in its log.
    private static func of(_ refusal: PostgresRefusal, _ said: String) -> Verdict {
        let words =
            switch refusal.part {
            case .address: "the line `database` of `engines` is wrong: \(said)"
            case .tls:
                "no TLS with \(said). Look at `sslmode` and `sslrootcert` in the line `database` of `engines`, and at the server's certificate"
            case .login:
                "no login at \(said). Look at `user` and `sslmode` in the line `database` of `engines`, at the password in the file that "
                    + "PGPASSFILE names, and at the server's pg_hba.conf"
            case .database:
                "no access to the database at \(said). Look at `dbname` in the line `database` of `engines`, and at what its user may connect to"
            }
        return Verdict(.misconfigured, words)
    }

    static func of(_ end: CandidacyEnd) -> Verdict {
        switch end {
        case .ended(.othersLead):
            Verdict(
                .tryAgain,
                "another process leads, or did until a moment ago; if all are stopped, try again in five seconds")
        case .ended(.outcomeUnknown): Verdict(.tryAgain, "the database broke off; try again")
        case .ended(.unfitDatabase(let fault)): of(fault)
        case .ended(.conflict(.databaseBehind(let seen, let database))) where seen.place.isOutsideTheEngines:
            Verdict(
                .damaged,
                "the database has \(database.size) entries, the bucket's object `signed` has no more, and \(says(seen)): both are older copies, "
                    + "or have lost some. Nothing was signed. Find a newer copy of one of them; `signetd repair` puts back only what the bucket "
                    + "has: see the guide, \"The database is behind\"" + wayOut(seen))
        case .ended(.conflict(.databaseBehind(let seen, let database))) where seen.place == .publishedCheckpoint:
            Verdict(
                .damaged,
                "the database has \(database.size) entries, and \(seen.head.size) were published: it has lost some, or an older copy was "
                    + "restored. Nothing was signed. Find a copy that has them. `signetd repair` puts back what the bucket's object `signed` "
                    + "names; if that is missing or names fewer, neither it nor `signetd repair --objects` helps, and only a newer copy of the "
                    + "database or of `signed` does: see the guide, \"The database is behind\"")
        case .ended(.conflict(.databaseBehind(let seen, let database))):
            Verdict(
                .damaged,
                "the database has \(database.size) entries, and \(says(seen)): it has lost some, or an older copy was "
                    + "restored. Nothing was signed. Find a copy that has them, or put them back with `signetd repair`: see the guide, "
                    + "\"The database is behind\"" + wayOut(seen))
        case .ended(.conflict(.forked(let seen, _))) where seen.place.isWitness:
            Verdict(
                .damaged,
                "\(place(seen)) has cosigned \(seen.head.size) entries, and nothing that was signed shows that they are the first ones of the "
                    + "database: it may have another log, such as an older copy that was written to after it was restored. Nothing was signed. Keep "
                    + "everything as it is, find the newest copies of the database and of the object `signed`, and ask who has written to "
                    + "the database" + wayOut(seen))
        case .ended(.conflict(.forked(let seen, _))):
            Verdict(
                .damaged,
                "the database has another log than the one that was signed at \(seen.head.size) entries, as \(place(seen)) has it. "
                    + "Keep everything as it is, and ask who has written to it" + wayOut(seen))
        case .ended(.memoryBehind(let memory, let published)):
            Verdict(
                .damaged,
                "the database has published \(published.size) entries, and the bucket's object `signed` "
                    + (memory.map { "names \($0.size)" } ?? "is missing")
                    + ": the bucket was emptied, or an older copy of it restored. Nothing was signed. `signetd repair` does not help: put the "
                    + "newest version of it back, or make it anew with `signetd repair --objects`: see the guide, \"The bucket has lost "
                    + "objects\"")
        case .ended(.framesDiffer): Verdict(.damaged, "the entries in the database do not make the root that it names")
        case .ended(.outOfTurn): Verdict(.damaged, "a bug: what was not asked was answered")
        case .log(let error): of(DirectoryOpenError.log(error))
        case .fault(let fault): of(fault)
        }
    }

    static func of(_ error: RepairIncomplete) -> Verdict {
        Verdict(
            .damaged,
            (error.missing.place == .thisMachine
                ? "this machine has shown \(error.missing.head.size) entries, as its `state` has it"
                : says(error.missing) + " entries")
                + ", and neither the database nor the bucket has more than \(error.size): both are older copies, or the bucket has lost the "
                + "rest. Find a newer copy of one of them. Without `state` and witnesses a start would fork the log, so do not delete it"
                + wayOut(error.missing))
    }

    private static func says(_ seen: SeenHead) -> String {
        switch seen.place {
        case .witness: "\(place(seen)) says that it has cosigned \(seen.head.size)"
        case .secondMemory, .publishedCheckpoint, .thisMachine:
            "\(seen.head.size) were signed, as \(place(seen)) has it"
        }
    }

    private static func place(_ seen: SeenHead) -> String {
        switch seen.place {
        case .secondMemory: "the bucket's object `signed`"
        case .publishedCheckpoint: "the bucket's object `checkpoint`"
        case .thisMachine: "this machine's `state`"
        case .witness(let name): name.map { "the witness \($0.text)" } ?? "a witness"
        }
    }

    private static func wayOut(_ seen: SeenHead) -> String {
        guard case .witness(let name?) = seen.place else { return "" }
        return
            ". If nothing else says so, the witness lies: `signetd run`, `signetd rotate`, `signetd move` and `signetd repair` take "
            + "--disregard-witness \(name.text); replace it"
    }

    private static func of(_ fault: DatabaseFault) -> Verdict {
        switch fault {
        case .inRecovery: Verdict(.tryAgain, "this database only follows another one")
        case .notSynchronous:
            Verdict(
                .misconfigured, "a commit can be lost with one machine: set fsync to on")
        case .withoutStandbys:
            Verdict(.misconfigured, "no standby is asked: set synchronous_standby_names, such as 'ANY 1 (a, b)'")
        case .otherInstallation:
            Verdict(
                .misconfigured,
                "the database is in another installation of PostgreSQL than the one that this directory was moved to. Compare "
                    + "`database` in `engines` with that of the other machines; after a restore into another installation see the guide, "
                    + "\"The database is behind\"")
        case .otherDatabase(let number):
            Verdict(
                .misconfigured,
                "this is another database of the installation than the one that this directory was moved to, such as a copy of it: its number "
                    + "is \(number). Compare `database` in `engines` with that of the other machines; after a restore into a new database write "
                    + "`oid \(number)` there, on each machine")
        case .olderTimeline:
            Verdict(.tryAgain, "this database was left behind by a promotion; name the one that was promoted")
        }
    }

    private static func of(_ fault: SharedLogFault) -> Verdict {
        switch fault {
        case .noLog: Verdict(.notSetUp, "the database has no log; run `signetd move` first")
        case .movedAway:
            Verdict(
                .misconfigured, "the log went back to the files of one machine; nobody may write it in these engines")
        case .logExists:
            Verdict(
                .notMade,
                "the database or the bucket has a log already: name another database, and another bucket or another --prefix. --again moves "
                    + "only to engines from which this log itself went back to files"
            )
        case .otherLog:
            Verdict(
                .misconfigured,
                "the database has the log of another directory: compare the line `database` of `engines` with that of the other machines"
            )
        case .frameMissing(let index), .frameDamaged(let index):
            Verdict(.damaged, "the frame of entry \(index) in the database is missing or damaged")
        case .rowDamaged: Verdict(.damaged, "a row of the database was not written by this program")
        case .rootDiffers(let size):
            Verdict(.damaged, "the entries do not make the root of the checkpoint of \(size) entries")
        case .checkpointInvalid: Verdict(.damaged, "a checkpoint in the database or the bucket is not of this log")
        case .keysChanged:
            Verdict(
                .misconfigured,
                "the log's key or its witnesses are not those of directory.signet and history/succession here. If they were changed on another "
                    + "machine, copy these files from there, and keys/log.key if this one sequences. If a change was interrupted, run the same "
                    + "`signetd rotate` again where it was, one of witnesses with the list of then. Nothing was signed"
            )
        case .databaseBeforeChange(let published, let changed):
            Verdict(
                .damaged,
                "the database has published \(published) entries, and the files here are of a change of the log's key or its witnesses that its "
                    + "first \(changed) have: an older copy of the database was restored, or it is another one. Nothing was signed. Find a copy "
                    + "that has them, or put them back with `signetd repair`: see the guide, \"The database is behind\""
            )
        case .objectsBeforeChange(let signed, let changed):
            Verdict(
                .damaged,
                "the bucket's object `signed` has \(signed) entries, and the files here are of a change of the log's key that its first "
                    + "\(changed) have: an older copy of the bucket was restored. Nothing was signed. Put the newest versions of its objects "
                    + "back, or make them anew with `signetd repair --objects --replace signed --replace checkpoint`: see the guide, \"The "
                    + "bucket has lost objects\"")
        case .shrinks(let shown, let size):
            Verdict(
                .damaged,
                "the database has \(size) entries, and this machine has shown \(shown): an older copy was restored, or another server "
                    + "answers. Find a copy that has them, or put back with `signetd repair` what the bucket has of them: see the guide, \"The "
                    + "database is behind\"")
        case .servedIsNewer(let served, let published):
            Verdict(
                .damaged,
                "the bucket shows a checkpoint of \(served) entries, and the database has published \(published): it is another database than "
                    + "the directory's, or an older copy. Nothing was served. Name the right one in `engines`; if this is the one, see the "
                    + "guide, \"The database is behind\"")
        case .objectContradicts(let path):
            Verdict(.damaged, "the bucket has something else at \(path); it was left there")
        case .objectMissing(let path): Verdict(.damaged, "the bucket has nothing at \(path), where entries are needed")
        case .objectDamaged(let path): Verdict(.damaged, "what the bucket has at \(path) are no entries")
        case .unavailable(let words): Verdict(.tryAgain, "not now: \(words); try again")
        }
    }

    static func of(_ defect: SharedLogDefect) -> Verdict {
        switch defect {
        case .fault(let fault): of(fault)
        case .log(let error): of(DirectoryOpenError.log(error))
        case .framesDiffer(let size):
            Verdict(.damaged, "the frames in the database do not make the root that it names for its \(size) entries")
        case .frameBeyondEnd(let index):
            Verdict(.damaged, "the database has a frame of entry \(index), which is beyond the end that it names")
        case .publishedDiffers(let size):
            Verdict(.damaged, "the frames in the database do not make the root of the published \(size) entries")
        case .memoryBehind(let size):
            Verdict(
                .damaged,
                "the object `signed` is missing, not of this log, or older than the \(size) entries that are published: the bucket was "
                    + "changed, or an older copy restored")
        case .databaseBehind(let signed, let size):
            Verdict(
                .damaged,
                "the database has \(size) entries, and \(signed) were signed: see the guide, \"The database is behind\""
            )
        case .forked(let size):
            Verdict(.damaged, "the database has another log than the one that was signed at \(size) entries; keep both")
        case .servedDiffers: Verdict(.damaged, "the object `checkpoint` is not of the log in the database")
        case .objectMissing(let path): Verdict(.damaged, "the bucket has nothing at \(path)")
        case .objectDiffers(let path): Verdict(.damaged, "the object \(path) is not what the log has there")
        }
    }

    private static let withoutLost =
        "Nothing has changed. Put it back from a copy of the bucket; if it is lost, go on with --without-lost-files"

    static func of(_ error: MoveError) -> Verdict {
        switch error {
        case .movedAlready: Verdict(.notMade, "this directory is in shared engines already")
        case .onFiles: Verdict(.notMade, "this directory is one of one machine already")
        case .present(let path):
            Verdict(.notMade, "there is something at \(path); what is copied goes there, so move it away first")
        case .candidacy(let end): of(end)
        case .rollback(let error): of(error)
        case .othersConnected(let count):
            Verdict(
                .tryAgain,
                "\(count) connections to the database are open; stop every process of the directory, on all machines")
        case .endsWaiting(let count):
            Verdict(
                .tryAgain,
                "\(count) accounts were erased and their end is not logged: run a process that sequences, and stop it again"
            )
        case .movedElsewhere:
            Verdict(
                .misconfigured,
                "another copy of this directory went back to the files of one machine; this one is of no use any more")
        case .noteFile(.missing(let path)):
            Verdict(.damaged, "the object \(path), of a file of a note, is not there. \(withoutLost)")
        case .noteFile(.differs(let path)):
            Verdict(.damaged, "the object \(path), of a file of a note, is not what was put there. \(withoutLost)")
        case .noteFile(.store(let fault)): Verdict(.tryAgain, "not now: objects: \(fault); try again")
        case .noteFile(.noStore): Verdict(.damaged, "a file of a note is in an object store that is not configured")
        case .interrupted: Verdict(.tryAgain, "interrupted")
        case .stored(let error): of(error)
        case .log(let error): of(DirectoryOpenError.log(error))
        case .keys(let error): of(error)
        case .file(let failure): Verdict(.diskFailed, sentence(failure))
        case .database(let path, let error): of(error, path, "restore it from a copy")
        case .engines(let error): of(error)
        case .unfit(let fault): of(fault)
        case .tables(let schema, .notEmpty(let table)):
            Verdict(
                .notMade,
                "the table \(schema).\(table) is not empty; if a move before was interrupted, run it again with --again"
            )
        case .tables(let schema, .differs(let table)):
            Verdict(.notMade, "the table \(schema).\(table) was not copied as it is; nothing has changed here")
        case .copying(let schema, let code):
            Verdict(
                .notMade,
                "\(schema) was not copied: \(code.map { "\($0)" } ?? "a row is damaged"); nothing has changed here")
        case .outcomeUnknown(let code):
            Verdict(
                .tryAgain,
                "the connection broke off while the database let go of the log (\(code)): it may have. Run the same command again, which finds "
                    + "out and goes on")
        case .shared(let fault): of(fault)
        }
    }
}

extension SeenHead.Place {
    fileprivate var isWitness: Bool { if case .witness = self { true } else { false } }

    /// Whether neither the database nor the bucket says so. What the bucket says is compared first.
    fileprivate var isOutsideTheEngines: Bool {
        switch self {
        case .thisMachine, .witness: true
        case .secondMemory, .publishedCheckpoint: false
        }
    }
}
