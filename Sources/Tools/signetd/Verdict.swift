// SPDX-License-Identifier: Apache-2.0

import CardSigner
import DurableStorage
import FrameRelay
import KeyDirectory
import LogEngine
import LogWitness
import NoteStore
import Platform
import RecoveryStore
import SignalBroker
import SignetAPI
import SignetServer
import TransparencyLog

/// What to tell the operator about an error, and the exit code: the one place with sentences.
struct Verdict {
    let sentence: String
    let status: DaemonStatus

    init(_ status: DaemonStatus, _ sentence: String) {
        self.sentence = sentence
        self.status = status
    }

    init(_ error: any Error) {
        self =
            switch error {
            case let error as SetupError: Self.of(error)
            case let error as ForeignFolder: Self.of(error)
            case let error as StoredDirectoryError: Self.of(error)
            case let error as MoveError: Self.of(error)
            case let error as SharedSetupError: Self.of(error)
            case let error as ObjectsRepairError: Self.of(error)
            case let error as RepairIncomplete: Self.of(error)
            case let error as SharedEnginesError: Self.of(error)
            case let error as StoredIdentityError: Self.of(error)
            case let error as KeyRotationError: Self.of(error)
            case let error as KeyFileError: Self.of(error)
            case let error as TLSIdentityError: Self.of(error)
            case let error as TLSRotationError: Self.of(error)
            case let error as RecoveryKeyError: Self.of(error)
            case MailboxStoreError.opening(let error):
                Self.of(error, "recovery.sqlite", "restore the newest copy of it")
            case is MailboxStoreError:
                Verdict(
                    .diskFailed,
                    "the disk failed while storing guardians' letters. Check space and disk, then start again")
            case let error as ServerStop: Self.of(error)
            case let error as TooFewFiles: Self.of(error)
            case let error as DirectoryError: Self.of(error)
            case let error as StoredWitnessError: Self.of(error)
            case let error as WitnessServerStop: Self.of(error)
            case let error as SignalStoreError: Self.of(error)
            case let error as BrokerFileError: Self.of(error)
            case let error as StoredNotesError: Self.of(error)
            case let error as BackupError: Self.of(error)
            case let error as RestoreError: Self.of(error)
            case let error as AdministrationError: Self.of(error)
            case let error as DamagedAccounts: Self.of(error)
            case let error as ExplorerFilesError: Self.of(error)
            case let error as CardSignerFilesError: Self.of(error)
            case TokenLedgerError.opening(let error):
                Self.of(error, "cards/tokens.sqlite", "restore the newest copy of it")
            case is TokenLedgerError:
                Verdict(.diskFailed, "the disk failed while counting tokens. Check space and disk, then start again")
            case is RelayStartError:
                Verdict(
                    .addressUnusable,
                    "cannot listen there: the port is in use, for TCP or for UDP, which carries call frames; or it is below 1024 and the process has no right to it; or the host is not one of this machine. Choose another address with --bind HOST:PORT, or another UDP port with --relay-port"
                )
            default: Verdict(.tryAgain, "stopped by an unexpected kind of error: \(type(of: error))")
            }
    }

    private static func of(_ error: SetupError) -> Verdict {
        switch error {
        case .exists: Verdict(.notMade, "that name already exists; nothing was changed")
        case .keys(let error): Verdict(.notMade, of(error).sentence)
        case .directory(let error): Verdict(.notMade, of(error).sentence)
        case .tls(let error): of(error)
        case .certificates: Verdict(.notMade, "the certificates could not be made")
        case .policy(let error): of(error)
        case .witness: Verdict(.notMade, "the witness database could not be made")
        case .file(let failure): Verdict(.notMade, sentence(failure))
        }
    }

    /// Two lines, the log's and its clock's, stand before those that were given.
    private static func of(_ error: PolicyError) -> Verdict {
        switch error {
        case .line(let number, _) where number > 2:
            Verdict(.damaged, "line \(number - 2) of the witnesses is not valid in a policy; see `signet policy check`")
        case .quorumMissing: Verdict(.damaged, "the witnesses: a line `quorum NAME` is missing")
        case .quorumOutOfReach:
            Verdict(.damaged, "the witnesses: those whose kind of key signetd verifies cannot meet the quorum")
        case .lineNotTerminated: Verdict(.damaged, "the witnesses: the last line does not end")
        default: Verdict(.damaged, "the log's name or key is not valid in a policy; choose another --origin")
        }
    }

    private static func of(_ error: KeyRotationError) -> Verdict {
        switch error {
        case .stored(let error): of(error)
        case .keys(let error): of(error)
        case .policy(let error): of(error)
        case .witnessesSilent(let silent):
            Verdict(
                .tryAgain,
                "nothing has changed: too few of the witnesses answer and know this log, and its next key: "
                    + silent.map { "\($0.text) (\($1))" }.sorted().joined(separator: ", ")
                    + ". Without them nothing could be published, and changing them again needs them too. Look at their addresses, at "
                    + "--witness-roots, and whether their operators ran `signetd witness add-log`, before a change of the log's key with the key that "
                    + "`signetd rotate log-key --announce` prints; --untried does not ask"
            )
        case .signing(let error): Verdict(.damaged, "nothing has changed: the log's next key does not sign: \(error)")
        case .unfinished:
            Verdict(
                .tryAgain,
                "the change is in the log, and is not complete: too few witnesses cosign, or, where several machines share the "
                    + "directory, the database or the bucket does not answer. Until it is done no server starts. See that the witnesses "
                    + "answer, and know the log's new key if it gets one, and run the same command again")
        case .directory(.refused(.unwitnessed)):
            Verdict(
                .tryAgain,
                "too few witnesses cosign; nothing was changed. See that they answer (--witness-roots), and run the same command again"
            )
        case .directory(let error): of(error)
        case .file(let failure): Verdict(ofSystem: failure.code, sentence(failure))
        case .setup(let error): of(error)
        case .otherChange(let pending): of(pending)
        case .otherSuccessor:
            Verdict(
                .notMade,
                "that is the old log's name, or another successor was started here; run the same command as "
                    + "then. Nothing was changed"
            )
        case .handover(let error): of(error)
        case .sharedEngines:
            Verdict(
                .misconfigured,
                "nothing was changed: a log cannot end in shared engines. Take it to the files of one machine, `signetd move --to files`, end it "
                    + "there, and move the new one; see the guide, \"Many machines\""
            )
        case .underWay: Verdict(.tryAgain, "`rotate log-key` is under way: wait until it has ended")
        case .othersConnected(let count):
            Verdict(
                .tryAgain,
                "this command has changed nothing: \(count) connections to the database are open; stop every process of the directory, on all "
                    + "machines, and run it again")
        case .unfinishedBesideOthers(let count):
            Verdict(
                .tryAgain,
                "the change is in the log, and is not complete: "
                    + (count.map { "\($0) connections to the database are open" }
                        ?? "another process leads, or did until a moment ago")
                    + ". Stop every process of the directory, on all machines, and run the same command again here: until then nobody leads"
            )
        case .interrupted: Verdict(.tryAgain, "interrupted; run the same command again")
        }
    }

    private static func of(_ error: HandoverError) -> Verdict {
        switch error {
        case .notWritable(let failure):
            Verdict(.notMade, "\(sentence(failure)); make it writable, or choose another --data. Nothing was changed")
        case .tooLittleSpace(let needed, let free):
            Verdict(
                .notMade,
                "the new directory needs \(needed >> 20) MiB on its disk, but \(free >> 20) MiB are free; make room, "
                    + "then run the same command again")
        case .inUse(let path):
            Verdict(.tryAgain, "another program is using \(path); stop it, then run the same command again")
        case .unreadable(let failure):
            Verdict(
                ofSystem: failure.code,
                "\(sentence(failure)), and nothing of the old directory may stay behind: make it readable, or put it back, then run the same "
                    + "command again")
        case .recovery:
            Verdict(.damaged, "recovery.sqlite of the old directory cannot be read; restore it from a copy")
        case .signals(let code):
            Verdict(.damaged, "signals.sqlite of the old directory cannot be read, SQLite's code \(code)")
        }
    }

    static func of(_ error: StoredDirectoryError) -> Verdict {
        switch error {
        case .notSetUp:
            Verdict(
                .notSetUp,
                "there is no data directory. If there was one, see whether its disk is mounted and --data is right: a new one is another "
                    + "directory with other keys. Only for a new one: `signetd init`")
        case .file(let failure) where failure.code == ENOENT && failure.path.hasSuffix("/directory.signet"):
            Verdict(
                .damaged,
                "\(failure.path) is missing; restore the newest one, from a backup that was made after the last change of keys or witnesses"
            )
        case .file(let failure): Verdict(reading: failure)
        case .clockAhead(let error): of(error)
        case .lostParts(let names):
            Verdict(
                .damaged,
                "missing or empty, and this directory had it: \(names.joined(separator: ", ")). "
                    + (names.contains { $0.hasSuffix(".sqlite") }
                        ? "If a server is running, do not stop it yet: it has the lost file open, see disasters.md. Remove what is left beside "
                            + "a lost database, its -wal and -shm, and restore it from the newest backup. "
                        : "Restore it from the newest backup. ")
                    + "Only if there is no copy, "
                    + (names.contains("notes/login.key")
                        ? "`signetd rotate login-key` makes another key, and every notes password is unset"
                        : "take its line out of records/parts: the next start makes a new one, and what the old one held is lost")
            )
        case .profile, .noLog: Verdict(.damaged, "directory.signet is damaged; restore it from a copy")
        case .keys(let error): of(error)
        case .identity(let error): of(error)
        case .witnessRoots(let error): of(error)
        case .rollback(let error): of(error)
        case .rotationInterrupted:
            Verdict(
                .damaged,
                "a change of the log's key or its witnesses was interrupted, or the log's key is not the one in directory.signet; run the same "
                    + "`signetd rotate` again, and if none was begun, put keys/log.key back from the newest backup")
        case .changePending(let pending):
            Verdict(
                .damaged,
                "directory.signet is older than the last change of the log's key or witnesses: \(sentence(pending))")
        case .vrfKeyDiffers:
            Verdict(
                .damaged,
                "keys/vrf.key is not the one that clients are told to trust; restore the one of this directory from a backup. Nobody "
                    + "would be found with another one")
        case .clockKeyDiffers:
            Verdict(
                .damaged,
                "keys/clock.key is not the one in directory.signet; restore it from a copy, or from another machine")
        case .directory(let error): of(error)
        case .ended(let keys): ended(by: keys)
        case .successionUnreadable:
            Verdict(
                .damaged,
                "records/succession (where several machines share the directory, history/succession) is damaged. Restore the newest one, from a "
                    + "backup that was made after the last change of the log's key or witnesses, or copy it from another machine"
            )
        case .successionOutdated:
            Verdict(
                .damaged,
                "records/succession (where several machines share the directory, history/succession) is missing, or older than the last change of the log's key or witnesses, which directory.signet has. Restore "
                    + "the newest one, from a backup that was made after the change, or copy it from another machine")
        case .shared(let error): of(error)
        case .otherForm:
            Verdict(.misconfigured, "this command is for a directory of one machine; this one is in shared engines")
        case .notShared:
            Verdict(
                .misconfigured,
                "this command is for a directory in shared engines; this one is of one machine: it has no file `engines`"
            )
        }
    }

    private static func of(_ error: ExplorerFilesError) -> Verdict {
        switch error {
        case .file(let failure):
            Verdict(.misconfigured, "--explorer: \(sentence(failure)); build the folder with Scripts/explorer")
        case .version:
            Verdict(
                .misconfigured,
                "--explorer: the file `version` is damaged; build the folder again with Scripts/explorer")
        case .policy:
            Verdict(
                .misconfigured,
                "--explorer: the files `card-policy` and `card.html` are damaged, or do not belong together; build the folder again with Scripts/explorer"
            )
        }
    }

    private static func of(_ error: StoredIdentityError) -> Verdict {
        switch error {
        case .keyNotPrivate(let path):
            Verdict(
                .damaged,
                "\(path) can be used by others; chmod 600 it, or replace it if it may have been read")
        case .file(let failure) where failure.code == ENOENT:
            Verdict(
                .damaged,
                "\(failure.path) is missing; restore it from the newest backup, or renew the certificate of the same key"
            )
        case .file(let failure): Verdict(reading: failure)
        case .notPinned:
            Verdict(
                .damaged,
                "tls/server.pem and tls/server.key, or --tls-cert and --tls-key, belong to a key that no client accepts; restore the previous "
                    + "ones, and renew the certificate for the same key. After `signetd rotate tls` the certificate of --tls-cert has to be for "
                    + "the key of tls/server.key; or take --tls-cert and --tls-key away")
        }
    }

    static func of(_ error: TLSIdentityError) -> Verdict {
        switch error {
        case .invalidCertificate:
            Verdict(
                .damaged,
                "the TLS certificate (tls/server.pem, or that of --tls-cert) cannot be read: it has to be whole, and PEM"
            )
        case .invalidKey:
            Verdict(
                .damaged,
                "the TLS key (tls/server.key, or that of --tls-key) cannot be read: it has to be whole, PEM, and not encrypted"
            )
        case .keyDoesNotMatch:
            Verdict(
                .damaged,
                "the TLS key does not match the certificate (tls/server.key and server.pem, or --tls-key and --tls-cert)"
            )
        }
    }

    static func of(_ error: ServerStop) -> Verdict {
        switch error {
        case .logFailed:
            Verdict(
                .diskFailed,
                "the disk failed under the log; nothing acknowledged is lost. Check space and disk, then start again. If a token "
                    + "has the log's key, an event above says whether it was the token")
        case .tooManyOpenFiles: tooManyOpenFiles("the log has stopped; nothing acknowledged is lost")
        case .cannotListen:
            Verdict(
                .addressUnusable,
                "the address is in use or not one of this machine, or the folder of the socket cannot be written to; see --bind"
            )
        case .cannotMonitor:
            Verdict(
                .addressUnusable,
                "the address of --admin-listen is in use or not one of this machine; choose another one there")
        case .cannotAdminister:
            Verdict(
                .addressUnusable,
                "the socket admin.socket, for signetd accounts, cannot be made in the data directory; see whether this user may write there, "
                    + "and remove what is at its place and no socket"
            )
        case .pathInUse:
            Verdict(
                .addressUnusable,
                "something is at the path of the socket already: another server that listens there, or a file. Nothing was changed. "
                    + "Remove it, or give another path; see --bind")
        }
    }

    static func of(_ error: DirectoryError) -> Verdict {
        switch error {
        case .refused(.notFound): Verdict(.notSetUp, "there is no such person in the database")
        case .refused(let code): Verdict(.damaged, "refused: \(code.rawValue)")
        case .stopped: of(ServerStop.logFailed)
        case .database: Verdict(.tryAgain, "the database cannot do this at the moment; try again")
        }
    }

    static func of(_ error: StoredNotesError) -> Verdict {
        switch error {
        case .file(let failure): Verdict(reading: failure)
        case .store(let error): of(error, "the notes' database", "restore the newest copy of it")
        case .unreadable: Verdict(.tryAgain, "the notes' database cannot do this at the moment; try again")
        case .loginKeyNotPrivate:
            Verdict(.damaged, "notes/login.key can be used by others; chmod 600 it, and consider whether it was read")
        case .loginKeyDamaged: Verdict(.damaged, "notes/login.key is damaged; restore it from a copy")
        case .loginKeyMissing:
            Verdict(
                .damaged,
                "notes/login.key is missing; restore it from a copy, or from another machine. If there is none, `signetd rotate login-key` makes "
                    + "another key, and every notes password is unset")
        case .loginKeyDiffers:
            Verdict(
                .damaged,
                "notes/login.key is not the one under which people registered their passwords; restore that one, or copy it from another "
                    + "machine, or passwords open nothing")
        case .sharedSecretDiffers:
            Verdict(
                .damaged,
                "keys/shared-secret is another one than that of the other front ends; copy keys/shared-secret* from the one where it was "
                    + "changed last")
        case .olderThanLog:
            Verdict(
                .damaged,
                "notes/notes.sqlite is an older copy than the log: people have seen more. Restore the newest copy. Only if there is none, "
                    + "start once with --accept-lost-notes, and ask everybody to use 'signet notes accept-loss'; see the guide, disasters.md"
            )
        }
    }

    /// - Parameters:
    ///   - name: which database.
    ///   - remedy: what helps where it is missing or damaged.
    static func of(_ error: DurableOpenError, _ name: String, _ remedy: String) -> Verdict {
        switch error {
        case .missing: Verdict(.damaged, "\(name) is missing; \(remedy)")
        case .exists: Verdict(.notMade, "\(name) already exists")
        case .file(let code): Verdict(ofSystem: code, "\(name): \(text(code))")
        case .database(let code) where isDamage(code):
            Verdict(.damaged, "\(name) is damaged, SQLite's code \(code); \(remedy)")
        // SQLITE_PERM, SQLITE_READONLY, SQLITE_CANTOPEN and SQLITE_AUTH
        case .database(let code) where [3, 8, 14, 23].contains(code & 0xff):
            Verdict(
                .damaged,
                "\(name) cannot be opened by this user, SQLite's code \(code). See whom it and its folder belong to, and give everything in "
                    + "the data directory to the server's user, such as with chown -R signet:signet"
                    // SQLite does not say why it could not open a file.
                    + (code & 0xff == 14 ? ". If they are this user's, too many files are open: \(moreFiles)" : ""))
        case .database(let code):
            Verdict(
                .diskFailed,
                "the disk failed under \(name), SQLite's code \(code). Check space and disk, then start again")
        case .fromNewerVersion: Verdict(.damaged, "a newer signetd has changed \(name); use that version")
        case .other:
            Verdict(.damaged, "\(name) is another database, such as one that was copied to this name; \(remedy)")
        case .notDurable: Verdict(.damaged, "\(name) does not wait for the disk; this is a bug, or a different SQLite")
        case .damaged: Verdict(.damaged, "\(name) is damaged; \(remedy)")
        }
    }

    static func of(_ error: KeyFileError) -> Verdict {
        switch error {
        case .missing(.nextShared):
            Verdict(.notMade, "no secret was announced: run 'signetd rotate shared-secret --announce' first")
        case .missing(.shared):
            Verdict(
                .damaged,
                "keys/shared-secret is missing: copy it from another front end, or make the first one with "
                    + "'signetd rotate shared-secret --announce'")
        case .missing(let file):
            Verdict(
                .damaged,
                "keys/\(file.name) is missing; restore it: a new one would make another directory")
        case .exists(.nextLog):
            Verdict(
                .notMade,
                "another next key was announced before, in keys/log.key.next, and it is not the one in this token. Nothing has changed; to discard "
                    + "that one, add --anew")
        case .exists(let file): Verdict(.notMade, "keys/\(file.name) already exists")
        case .wrongMode(let file, _):
            Verdict(
                .damaged,
                "keys/\(file.name) can be used by others; chmod 600 it, and consider whether it was read")
        case .wrongOwner(let file):
            Verdict(.damaged, "keys/\(file.name) belongs to another user; run the command as that user")
        case .notAFile(let file), .malformed(let file), .refused(let file):
            Verdict(.damaged, "keys/\(file.name) is not a key of this kind; restore it from a copy")
        case .invalidName: Verdict(.damaged, "the log's name cannot be the name of a key")
        case .token(let file, let error): of(error, "keys/\(file.name)")
        case .system(let file, let code): Verdict(ofSystem: code, "keys/\(file.name): \(text(code))")
        }
    }

    /// All of them end with a code after which systemd does not try again: each try with a wrong PIN brings a token nearer to locking.
    private static func of(_ error: TokenError, _ place: String) -> Verdict {
        let sentence =
            switch error {
            case .module: "the module of module-path cannot be loaded, or is not one of PKCS #11"
            case .pinFile(let code): "the file of pin-source: \(text(code))"
            case .pinFileNotPrivate:
                "the file of pin-source must have the PIN in one line, and be readable by its owner alone: chmod 600 it"
            case .noToken: "the module has no token with this label. Is it connected, and may this user reach it?"
            case .noKey: "the token has no key pair with this label: both halves need it"
            case .ambiguous: "two tokens, or two keys of the token, have this label"
            case .wrongPIN:
                "the token refuses the PIN. It was tried once; correct the file of pin-source before you start again"
            case .locked:
                "the token is locked, or the next wrong PIN would lock it. Nothing was tried; see its own tools"
            case .notEd25519: "the key with this label is not of Ed25519"
            case .otherKey:
                "the key with this label is not the one that this log has. Nothing was signed; put back the token or the key"
            case .failed(let code): "the token or its module failed (CKR 0x\(String(code, radix: 16)))"
            }
        return Verdict(.damaged, "\(place), a key in a token: \(sentence)")
    }

    static func of(_ error: DirectoryOpenError) -> Verdict {
        switch error {
        case .log(let error): of(error)
        case .file(let code): Verdict(ofSystem: code, "the data directory: \(text(code))")
        case .database(.missing):
            Verdict(
                .damaged,
                "the log is there but the database is not; restore the whole data directory")
        case .database(let error):
            of(error, "the database", "restore the newest copy of the whole data directory")
        case .databaseAway(let state):
            Verdict(
                .tryAgain,
                "the database server did not do what was asked, its code \(state ?? "none"): start it, or wait for it")
        case .databaseOfOtherLog, .databaseOfOtherVRFKey:
            Verdict(
                .damaged,
                "the database and the keys belong to different directories: restore both from one backup; on many machines, compare `engines` and "
                    + "keys/vrf.key with those of the other machines")
        case .keysChanged:
            Verdict(
                .damaged,
                "directory.signet is older than the last change of the log's key or witnesses, or that change was interrupted. If you began "
                    + "one, run the same `signetd rotate` or `signetd succeed` again. Otherwise restore the newest directory.signet and keys/log.key, from a backup "
                    + "that was made after the change; the older ones are of no use")
        case .logUnreadable:
            Verdict(
                .diskFailed,
                "the log's entries cannot be read; check the disk, then start again")
        case .logStopped: of(ServerStop.logFailed)
        case .logBehindDatabase:
            Verdict(
                .damaged,
                "the log is an older copy than the database; restore the newest copy of both together")
        case .databaseBehindLog:
            Verdict(
                .damaged,
                "the database is an older copy than the log; restore the newest copy of both together")
        }
    }

    static func of(_ error: LogOpenError) -> Verdict {
        switch error {
        case .lockRecordMissing:
            return Verdict(
                .damaged,
                "records/log/checkpoint.lock is missing, the record of what was signed last; continuing without it could fork the log. "
                    + "Restore it if you have moved it; otherwise restore the newest copy of the whole data directory")
        case .file(let error) where error.isOfOpenFiles: return tooManyOpenFiles("the log could not be opened")
        case .lockRecordDamaged:
            return Verdict(
                .damaged,
                "records/log/checkpoint.lock is damaged, the record of what was signed last; continuing without it could fork the log. "
                    + "Restore the newest copy of the whole data directory")
        default: break
        }
        return switch error.remedy {
        case .provideDirectory: Verdict(.damaged, "the log's directory is missing; check the mount")
        case .allowWriting:
            Verdict(
                .damaged,
                "the log's directory, or a file in it, cannot be read or written by this user. Give everything in the data directory to "
                    + "the server's user, such as with chown -R signet:signet, and see whether the disk is mounted for reading only"
            )
        case .stopOtherProcess: Verdict(.tryAgain, "another process uses this data directory; stop it first")
        case .createLog: Verdict(.notSetUp, "there is no log; an empty directory may be a disk that is not mounted")
        case .openExistingLog: Verdict(.notMade, "a log already exists")
        case .restoreNewestCopy:
            Verdict(
                .damaged,
                "the log does not match what was signed for it; continuing would fork it. "
                    + "Restore the newest copy of the whole data directory")
        case .correctConfiguration: Verdict(.damaged, "the log was made with another name or other keys")
        case .repairStorage:
            Verdict(
                .diskFailed,
                "the disk failed under the log; check space and disk, then start again")
        }
    }

    /// A length of time in words.
    static func span(_ seconds: UInt64) -> String {
        let (days, hours) = (seconds / 86_400, seconds / 3600)
        return days > 1 ? "\(days) days" : hours > 1 ? "\(hours) hours" : "\(seconds / 60) minutes"
    }

    static func text(_ code: Int32) -> String { String(cString: strerror(code)) }
}

extension Verdict {
    fileprivate static func of(_ error: SignalStoreError) -> Verdict {
        switch error {
        case .opening(let error): of(error, "signals.sqlite", "without it, calls start afresh")
        case .busy(let code):
            Verdict(.tryAgain, "signals.sqlite could not be opened, SQLite's code \(code); try again")
        case .disk(let code):
            Verdict(
                .diskFailed,
                "the disk failed under the signals, SQLite's code \(code). Check space and disk, then start again")
        case .failed(let code): Verdict(.damaged, "signals.sqlite failed with SQLite's code \(code)")
        case .unavailable: Verdict(.tryAgain, "the database did not answer about signals; try again")
        }
    }
}
