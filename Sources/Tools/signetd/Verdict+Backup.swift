// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import Foundation
import KeyDirectory
import LogEngine
import LogWitness
import SignetServer
import TransparencyLog

extension Verdict {
    /// What the operator can do if the data is not what others have seen.
    private static let wayOut = """
        Nothing was signed. If another copy of this directory was started, it is the one that people have seen: keep this one stopped, \
        and go on with the data of that one. If an older copy was restored, restore a newer one. If there is neither, this log cannot go \
        on, and a new one begins under a new --origin (see Documentation/operations/disasters.md)
        """

    /// The same, found while the server ran, which could not reach its witnesses when it was started.
    private static let foundOut = """
        another copy of this directory was started and went on, or an older copy was restored, and this witness could not be asked when \
        the server was started. Too few witnesses cosign without it, so what was accepted since then was shown to nobody, and is lost \
        when the right data is back. The next start says the same before it signs anything, as long as it reaches the witness: \
        restore the newest copy (see Documentation/operations/disasters.md). If the witness lies, start with --disregard-witness
        """

    /// What stands before the rest where a server is running in a damaged directory: who stops it first, as the rest may tell them, can destroy
    /// the only whole copy of a file.
    static let keepServer =
        "do not stop the server that is running here; see disasters.md: it may have open, whole, what was removed or replaced under its name. "

    static func of(_ error: RollbackError) -> Verdict {
        switch error {
        case .behindWitness(let name, let size, let own):
            Verdict(
                .damaged,
                "the witness \(name.text) has cosigned \(size) entries of this log, and here are \(own.size): another copy of "
                    + "this directory was started and went on, or an older copy was restored. \(wayOut)")
        case .otherTreeWitnessed(let name, let own):
            Verdict(
                .damaged,
                "the witness \(name.text) has cosigned another tree of \(own.size) entries under this log's name: two copies of "
                    + "this directory were started, and each has signed what the other has not. \(wayOut)")
        case .foundBehindWitness(let name, let size, let own):
            Verdict(
                .damaged,
                "the witness \(name.text) has cosigned \(size) entries of this log, and here are \(own.size): \(foundOut)"
            )
        case .foundOtherTreeWitnessed(let name, let own):
            Verdict(
                .damaged,
                "the witness \(name.text) has cosigned another tree of at most \(own.size) entries of this log: \(foundOut)"
            )
        case .behindMemory(let newest, let own):
            Verdict(
                .damaged,
                "the second memory knows a checkpoint of \(newest.size) entries, and here are \(own.size): another copy of "
                    + "this directory was started and went on, or an older copy was restored. \(wayOut)")
        case .otherTreeInMemory(let own):
            Verdict(
                .damaged,
                "the second memory knows another tree of \(own.size) entries: two copies of this directory were started, and each has signed "
                    + "what the other has not. \(wayOut)")
        case .keyRefused(let name, let own):
            Verdict(
                .damaged,
                "the witness \(name.text) knows another key of this log than the one that signed these \(own.size) entries: the log's key was "
                    + "changed after this copy was made, or the witness was never told of this key. Nothing was signed. Restore a copy "
                    + "that was made after the change; if there was none, tell the witnesses of this log (`signetd witness add-log`). "
                    + "--accept-restored would begin a second log")
        case .keyRefusedByTooFew(let name, let own):
            Verdict(
                .tryAgain,
                "the witness \(name.text) knows another key of this log than the one that signed these \(own.size) entries, and too few of the "
                    + "others answer to say whether they are the newest. Nothing was signed. Try again when the others can be reached, and "
                    + "restore nothing until they have answered; if the log's key was changed, have \(name.text) told of the new one, `signetd witness "
                    + "add-log`")
        case .unconfirmed(let own):
            Verdict(
                .tryAgain,
                "--require-confirmation: neither the second memory nor enough witnesses say that \(own.size) entries are "
                    + "the newest. Nothing was signed. Try again when the witnesses can be reached")
        case .restoredAndUnconfirmed(let own):
            Verdict(
                .tryAgain,
                "this data was restored, and neither the second memory nor enough witnesses say that its \(own.size) "
                    + "entries are the newest. Nothing was signed. Try again when the witnesses can be reached; if you know "
                    + "that nothing was published after the backup, start once with --accept-restored")
        case .memory(let error): of(error)
        case .log(let error): of(error)
        case .witnessRoots(let error): of(error)
        }
    }

    static func of(_ error: WitnessRootsError) -> Verdict {
        switch error {
        case .malformed: Verdict(.damaged, "--witness-roots: not PEM certificates")
        case .systemHasNone:
            Verdict(
                .damaged,
                "a witness has an https address, and this system has no root certificates: install them (in Debian and Ubuntu the package "
                    + "ca-certificates)")
        }
    }

    private static func of(_ error: NewestMemoryError) -> Verdict {
        switch error {
        case .file(let failure):
            Verdict(
                .damaged,
                "--second-memory: \(sentence(failure)). Is its disk mounted? To begin a memory, make an empty file there"
            )
        case .link(let path):
            Verdict(
                .misconfigured,
                "--second-memory: \(path) is a symbolic link, which the first checkpoint would replace; name the file that it leads to"
            )
        case .damaged(let path): Verdict(.damaged, "--second-memory: \(path) is not a checkpoint; restore it")
        case .ofOtherLog(let path): Verdict(.damaged, "--second-memory: \(path) is of a log of another name")
        case .contradicted(let head):
            Verdict(.damaged, "the log does not extend the \(head.size) entries of the second memory. \(wayOut)")
        }
    }

    static func of(_ error: BackupError) -> Verdict {
        switch error {
        case .exists(let path): Verdict(.notMade, "\(path) already exists; nothing was changed")
        case .inside(let path):
            Verdict(
                .notMade,
                "\(path) is inside the data directory; nothing was made. Put backups elsewhere, best on another disk")
        case .stored(let error): of(error)
        // A read or a write: a full disk is that of the new folder.
        case .log(.file(let error)) where isOfTarget(error.code): notCopied("the log", text(error.code))
        case .log(let error): of(error)
        case .database(let path, .database(let code)) where !isDamage(code):
            notCopied(path, "SQLite's code \(code)\(code & 0xff == 13 ? ", the disk is full" : "")")
        case .database(let path, let error): of(error, path, "nothing was made")
        case .file(let failure): Verdict(.notMade, "\(sentence(failure)); nothing was made")
        case .sharedEngines:
            Verdict(
                .misconfigured,
                "nothing was made: this directory is in shared engines. Back up the database with PostgreSQL's tools (pg_basebackup and an "
                    + "archive of its log), let the bucket keep its versions, and copy this folder for its keys; see the guide, \"Many "
                    + "machines\"")
        case .copyHasFaults(let faults):
            Verdict(.damaged, "nothing was made, since the copy has faults: \(sentences(faults))")
        }
    }

    /// Whether a database that is read is damaged, by SQLite's code: SQLITE_CORRUPT and SQLITE_NOTADB; and SQLITE_IOERR_SHORT_READ, as where its
    /// `-wal` was removed under a running server.
    static func isDamage(_ code: Int32) -> Bool { [11, 26].contains(code & 0xff) || code == 522 }

    /// Whether it can be the new folder's disk: not, if something is missing or damaged.
    private static func isOfTarget(_ code: Int32) -> Bool { ![ENOENT, ENOTDIR, EISDIR, EIO].contains(code) }

    private static func notCopied(_ what: String, _ reason: String) -> Verdict {
        Verdict(
            .diskFailed,
            "\(what) could not be copied: \(reason). Nothing was made, and a running server goes on. Look at the disk of the new folder "
                + "first, then at that of the data")
    }

    static func of(_ error: RestoreError) -> Verdict {
        switch error {
        case .exists: Verdict(.notMade, "that name already exists; nothing was changed")
        case .noBackup: Verdict(.notSetUp, "there is no backup: a whole one has a file backup.sha256")
        case .secretsApart:
            Verdict(
                .notMade, "the keys of this backup are kept apart: name their folder with --secrets. Nothing was made")
        case .faults(let faults):
            Verdict(.damaged, "nothing was made, since the backup has faults: \(sentences(faults))")
        case .file(let failure): Verdict(.notMade, "\(sentence(failure)); nothing was made")
        }
    }

    private static func sentences(_ faults: [DataFault]) -> String {
        faults.map { of($0).sentence }.joined(separator: ". ")
    }

    static func of(_ fault: DataFault) -> Verdict {
        switch fault {
        case .stored(let error): of(error)
        case .file(let failure): Verdict(reading: failure)
        case .othersMayUse(let path): Verdict(.damaged, "\(path) can be used by others; chmod go= it")
        case .ofOtherUser(let path):
            Verdict(
                .damaged,
                "\(path) belongs to another user than the data directory, as when something was run as root; give everything to one user, "
                    + "such as with chown -R signet:signet")
        case .cards(let error): of(error)
        case .tls(let error): of(error)
        case .certificateRefused("notYetValid"):
            Verdict(
                .damaged,
                "the certificate in tls/server.pem is not valid yet by this machine's clock: if the clock is behind, set it; otherwise clients "
                    + "refuse the certificate until then: renew it for the same key, see the guide, disasters.md, \"The clock was wrong\""
            )
        case .certificateRefused("expired"):
            Verdict(
                .damaged,
                "clients refuse the certificate in tls/server.pem: it has expired, or its authority's has. Renew it for the same key and the name of the server, by "
                    + "the authority of the line tls-root in directory.signet. Behind a proxy that shows a certificate itself this does not "
                    + "matter")
        case .certificateRefused(let word):
            Verdict(
                .damaged,
                "clients refuse the certificate in tls/server.pem (\(word)): renew it for the same key and the name of the server, by the "
                    + "authority of the line tls-root in directory.signet. Behind a proxy that shows a certificate itself this does not matter"
            )
        case .pins(let path):
            Verdict(.damaged, "\(path) does not hold the pins that clients are told; restore it from the newest backup")
        case .records(.log(.refused(.inUse))):
            Verdict(
                .tryAgain,
                "do not stop the server that is running here for this; see disasters.md if `/ready` names files: it may have them open. "
                    + "Make a backup, which is checked, and check that")
        case .records(let fault): of(fault)
        case .shared(let defect): of(defect)
        case .engines(let error): of(error)
        case .tables(let schema):
            Verdict(
                .damaged,
                "a table of \(schema) in the database is missing or damaged; restore the whole database: see the guide, machines.md, \"The "
                    + "database is behind\"")
        case .tablesForbidden(let schema):
            Verdict(
                .misconfigured,
                "the database does not let the user that `engines` names read the tables of \(schema), as after a restore under another owner. "
                    + "Whether they are sound is not known: make that user the owner of the database, its schemas and their tables, and check again"
            )
        case .tablesUnread(let schema, let code):
            Verdict(
                .tryAgain,
                "the database did not answer for the tables of \(schema) (\(code)), so whether they are sound is not known. See that it runs and "
                    + "can be reached from this machine, and check again")
        case .database(let path, let error): of(error, path, "restore the newest backup")
        case .databaseUnsound(let path):
            Verdict(.damaged, "\(path): SQLite finds it damaged; restore the newest backup")
        case .pinsOutdated(let path):
            Verdict(
                .damaged,
                "\(path) is older than the log: clients know later pins, and refuse this server. Restore the newest directory.signet and the "
                    + "newest folder tls together")
        case .pinsOther(let path):
            Verdict(
                .damaged,
                "\(path) is not what the log has of the same version: clients know other pins, and will refuse this server. Copy directory.signet "
                    + "and the whole folder tls from the machine or the backup that has those of the log; see the guide, disasters.md, \"The "
                    + "pins are lost\"")
        case .pinsMissing(let path):
            Verdict(
                .damaged,
                "\(path) is missing: restore it from the newest backup, or see the guide, disasters.md, \"The pins are lost\""
            )
        case .notes(let error): of(error)
        case .changed(let path): Verdict(.damaged, "\(path) is not what was backed up")
        case .lost(let path): Verdict(.damaged, "\(path) was backed up and is gone")
        case .added(let path): Verdict(.damaged, "\(path) was not in the backup when it was made")
        case .epochAhead(let seconds):
            Verdict(
                .damaged,
                "the log's last epoch is \(span(seconds)) in the future, so clients refuse it until then; or this machine's clock is behind. If "
                    + "the clock is right, see the guide, disasters.md, \"The clock was wrong\"")
        }
    }

    private static func of(_ fault: DirectoryFault) -> Verdict {
        switch fault {
        case .log(let fault): of(fault)
        case .database(let error): of(DirectoryOpenError.database(error))
        case .databaseOfOtherDirectory: of(DirectoryOpenError.databaseOfOtherVRFKey)
        case .keysChanged: of(DirectoryOpenError.keysChanged)
        case .databaseBehindLog(let count, let index):
            Verdict(
                .damaged,
                "the log has \(count) entries of accounts that the database does not know, the first at \(index); restore "
                    + "the newest copy of both together")
        case .statesDamaged(let count, let handles):
            Verdict(
                .damaged,
                "\(count) states of accounts in the database are not what the log has for them"
                    + (handles.isEmpty ? "" : ", of \(handles.joined(separator: ", "))")
                    + "; the other accounts are sound. See the guide, disasters.md, \"An account is damaged\"")
        case .logShorter(let compared, let size):
            Verdict(
                .damaged,
                "the log has \(size) entries, and the database was compared with \(compared) of them before: the log is an older copy than "
                    + "the database; restore the newest copy of both together")
        case .logBehindDatabase(let count):
            Verdict(
                .damaged,
                "the database has \(count) states of accounts that the log should have; restore the newest copy of both "
                    + "together")
        }
    }

    private static func of(_ fault: LogFault) -> Verdict {
        switch fault {
        case .refused(let error): of(error)
        case .signatureInvalid: Verdict(.damaged, "the checkpoint signed last does not verify under the log's key")
        case .publishedDamaged:
            Verdict(
                .damaged,
                "records/log/checkpoint.published is damaged, and nothing else with it: the next start has the witnesses cosign what it held"
            )
        case .publishedContradicts:
            Verdict(
                .damaged,
                "the checkpoint published last is of more than the log has, or of another tree: the log is an older copy. Restore the newest "
                    + "copy of the whole data directory")
        case .tileDiffers(let path):
            Verdict(.damaged, "records/log/\(path) differs from the tree; the next start writes it again")
        }
    }
}

extension DirectoryCheck.Report {
    /// What there is to say beside what is wrong.
    var lines: [String] {
        guard let origin, let signed else { return [] }
        var lines = [
            "log: \(String(decoding: origin.bytes, as: UTF8.self)), \(size) entries, signed \(signed.size)",
            "accounts: \(accounts)",
        ]
        if pendingStates > 0 { lines.append("to be logged by the next start: \(pendingStates) states") }
        if lostLabels > 0 {
            lines.append("without their newest states, until their owners bring them again: \(lostLabels) accounts")
        }
        if missingTiles > 0 { lines.append("to be made by the next start: \(missingTiles) tiles") }
        if isWithoutLogKey { lines.append("without keys/log.key: looked at as a machine that only serves") }
        if isWithSharedLogKey {
            lines.append("with keys/log.key: looked at as a machine that sequences; a front end must not have it")
        }
        if isWithoutSecrets { lines.append("without keys: they are kept apart") }
        if isRestored { lines.append("restored: the next start asks whether it is the newest") }
        if !misplacedKeys.isEmpty {
            lines.append("to be moved away from the server: \(misplacedKeys.joined(separator: ", "))")
        }
        return lines
    }

    /// The exit status of the first fault; nil when nothing is wrong.
    var verdict: DaemonStatus? { faults.first.map { Verdict.of($0).status } }
}
