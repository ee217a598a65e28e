// SPDX-License-Identifier: Apache-2.0

import Crypto
public import DurableStorage
import Foundation
package import KeyDirectory
public import KeyTransparency
import LogEngine
public import Logging
import NoteStore
import SQLStores
import SecretMemory

#if canImport(CSodium)
    import OPAQUE
#endif

/// The notes in a data directory: a folder with the database and, beside it, the secrets of logins.
public enum StoredNotes {
    #if canImport(CSodium)
        /// Opens the notes, or makes them where there are none yet.
        ///
        /// - Parameters:
        ///   - directory: the directory whose log has the notes' positions; nil for none: then clients that ask for
        ///     positions do not write to shared notes.
        ///   - areFriends: who may share notes with whom; nil: as the directory has it, and without one every account
        ///     with every name.
        ///   - shared: what all front ends share; nil: this server is the only one.
        ///   - acceptsLoss: whether notes that are older than the log are opened: their people accept it on their devices.
        /// - Throws: ``StoredNotesError``: the operator has to act.
        package static func open(
            _ data: DataDirectory, beside directory: Directory? = nil, areFriends: NotesAnswering.AreFriends? = nil,
            login limits: LoginLimits = LoginLimits(), quota: UInt64 = NoteLimits().bytes,
            sharing shared: FrontEndSecret? = nil, in engines: SharedEngines? = nil, acceptsLoss: Bool = false,
            logger: Logger
        ) async throws(StoredNotesError) -> NotesAnswering {
            guard mkdir(data.notes, 0o700) == 0 || errno == EEXIST else { throw .file(FileFailure(data.notes)) }
            let store = try store(data, logger, quota, engines)
            do throws(StoredNotesError) {
                let sharedLimits = try engines.map { (engines) throws(StoredNotesError) in try limitsStore(engines) }
                // Each machine would make its own, and a password would be good at one.
                guard engines == nil || access(data.loginKey, F_OK) == 0 else { throw StoredNotesError.loginKeyMissing }
                let keys = try await keys(data.loginKey, store)
                try await requireSame(keys, shared, store, sharedLimits)
                // In engines the log and the notes are restored together.
                if let directory, engines == nil { try await requireNewest(store, directory, acceptsLoss, logger) }
                let logins = shared.map {
                    SharedLogins(
                        $0, marks: sharedLimits ?? LocalMarks(clock: ServerClock.system.time), attempts: sharedLimits)
                }
                let logged = directory.map {
                    LoggedNotes(
                        store, in: $0, isShared: engines != nil, every: max($0.heartbeat, 1),
                        clock: ServerClock.system.time, logger: logger)
                }
                return NotesAnswering(
                    store, LoginServer(store, keys: keys, limits: limits, sharing: logins), logged,
                    areFriends: areFriends ?? friends(in: directory))
            } catch {
                store.close()
                throw error
            }
        }

        private static func friends(in directory: Directory?) -> NotesAnswering.AreFriends? {
            guard let directory else { return nil }
            return { one, other in try await directory.areFriends(one, other) }
        }

        /// Requires the secrets that the people's passwords were registered under, and that every front end has: under others nobody could log in,
        /// and what one front end seals no other would open.
        private static func requireSame(
            _ keys: LoginServerKeys, _ shared: FrontEndSecret?, _ store: NoteArchive, _ limits: SQLLimits?
        ) async throws(StoredNotesError) {
            let login = digest(of: keys)
            var (isSame, isShared) = (false, true)
            do {
                isSame = try await store.isKnown(loginKeys: login)
                if isSame, let limits {
                    isSame = try await limits.isKnown(secret: NoteArchive.loginKeys, digest: login)
                }
                if let limits, let digests = shared?.digests {
                    isShared = try await limits.isKnown(
                        secret: sharedSecret, digest: digests.current, after: digests.former, before: digests.next)
                }
            } catch { throw .unreadable }
            guard isSame else { throw .loginKeyDiffers }
            guard isShared else { throw .sharedSecretDiffers }
        }

        private static func digest(of keys: LoginServerKeys) -> [UInt8] {
            keys.withEncoded { span in
                var hash = SHA256()
                hash.update(data: Array("signet.dev/login-key-digest/v1\n".utf8))
                span.withUnsafeBytes { hash.update(bufferPointer: $0) }
                return Array(hash.finalize())
            }
        }

        /// Refuses notes from before what the log says of them: the devices of those who have seen more would refuse them for good.
        private static func requireNewest(
            _ store: NoteArchive, _ directory: Directory, _ acceptsLoss: Bool, _ logger: Logger
        ) async throws(StoredNotesError) {
            let newest = directory.version(of: .notes)
            do {
                guard try await store.isBehind(root: newest) else { return }
                guard acceptsLoss else { throw StoredNotesError.olderThanLog }
                try await store.acceptLoss(before: newest)
            } catch let error as StoredNotesError { throw error } catch { throw .unreadable }
            logger.warning(
                "notes: older than the log says; whoever has seen more goes on with `signet notes accept-loss`")
        }

        /// Makes other secrets of logins, after those of before were lost, while no server runs: every password is unset, and people set theirs
        /// again on a device that has their notes. Interrupted, it can be repeated.
        ///
        /// - Throws: ``StoredNotesError``, or ``StoredDirectoryError``: a server runs, or several machines share the directory.
        package static func replaceLoginKeys(of data: DataDirectory, logger: Logger) async throws {
            guard access(data.engines, F_OK) != 0 else { throw StoredDirectoryError.otherForm }
            let hold: any LogDirectoryLock
            do throws(LogOpenError) { hold = try LogCopy(of: data.log).hold() } catch {
                throw StoredDirectoryError.directory(.log(error))
            }
            defer { withExtendedLifetime(hold) {} }
            guard access(data.notesDatabase, F_OK) == 0 else {
                throw StoredNotesError.file(FileFailure(data.notesDatabase))
            }
            let store = try store(data, logger, NoteLimits().bytes)
            defer { store.close() }
            try await store.forgetPasswords()
            guard unlink(data.loginKey) == 0 || errno == ENOENT else {
                throw StoredNotesError.file(FileFailure(data.loginKey))
            }
            _ = try await store.isKnown(loginKeys: digest(of: makeKeys(data.loginKey, store)))
        }

        /// What is wrong with the notes of a directory that no server has open; nil: nothing, or there are none.
        ///
        /// - Parameters:
        ///   - root: the number of the newest root of notes in the log; 0 if there is none.
        ///   - isWithoutSecrets: whether the secrets of logins are kept elsewhere.
        static func fault(in data: DataDirectory, root: UInt64, isWithoutSecrets: Bool) -> StoredNotesError? {
            do throws(StoredNotesError) {
                let keys = isWithoutSecrets ? nil : try readKeys(data.loginKey)
                // Of notes that the log knows, none at all are an older copy too.
                guard access(data.notesDatabase, F_OK) == 0 else { return root > 0 ? .olderThanLog : nil }
                let (isBehind, known, isNeeded): (Bool, [UInt8]?, Bool)
                do throws(DurableOpenError) {
                    (isBehind, known, isNeeded) = try SQLiteDatabase.read(data.notesDatabase) { database in
                        let isNeeded = try NoteArchive.hasRegistrations(database)
                        // A database of an earlier version knows neither.
                        return (
                            (try? NoteArchive.isBehind(root: root, database)) ?? false,
                            try? database.digestOfSecret(NoteArchive.loginKeys), isNeeded
                        )
                    }
                } catch { throw .store(error) }
                guard !isBehind else { throw .olderThanLog }
                guard !isWithoutSecrets else { return nil }
                guard keys != nil || !isNeeded else { throw .loginKeyMissing }
                if let known, let keys, known != digest(of: keys) { throw .loginKeyDiffers }
                return nil
            } catch { return error }
        }

        /// What is wrong with the secrets of a machine that has to have those of the other front ends; nil: nothing. Nothing is written.
        ///
        /// - Parameters:
        ///   - registered: the digest of the secrets of logins that the notes know; nil: they know none, or were not read.
        ///   - shared: what all front ends share; nil: it was not read.
        ///   - limits: what the front ends remember together.
        static func fault(
            in data: DataDirectory, registered: [UInt8]?, sharing shared: FrontEndSecret?, _ limits: SQLTransaction
        ) throws -> StoredNotesError? {
            let logins = [registered, try limits.digestOfSecret(NoteArchive.loginKeys)]
            let known = try limits.digestOfSecret(sharedSecret)
            do throws(StoredNotesError) {
                guard let keys = try readKeys(data.loginKey) else { throw .loginKeyMissing }
                let login = digest(of: keys)
                guard logins.allSatisfy({ SecretDigests.allow(login, where: $0) }) else { throw .loginKeyDiffers }
                if let digests = shared?.digests {
                    let isShared = SecretDigests.allow(
                        digests.current, where: known, after: digests.former, before: digests.next)
                    guard isShared else { throw .sharedSecretDiffers }
                }
                return nil
            } catch { return error }
        }

        private static let sharedSecret = "shared"

        /// The secrets of logins. Once a password is registered under them, others are of no use.
        private static func keys(
            _ path: String, _ store: NoteArchive
        ) async throws(StoredNotesError) -> LoginServerKeys {
            if let keys = try readKeys(path) { return keys }
            return try await makeKeys(path, store)
        }

        /// nil if there is no such file.
        private static func readKeys(_ path: String) throws(StoredNotesError) -> LoginServerKeys? {
            guard access(path, F_OK) == 0 else { return nil }
            guard isPrivate(path) else { throw .loginKeyNotPrivate }
            var bytes: [UInt8]
            do { bytes = try PrivateFile.read(path) } catch { throw .file(error) }
            defer { bytes.wipe() }
            do { return try LoginServerKeys(decoding: bytes.span) } catch { throw .loginKeyDamaged }
        }

        private static func isPrivate(_ path: String) -> Bool {
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            let mode = (attributes?[.posixPermissions] as? NSNumber)?.uint16Value ?? 0o777
            return mode & 0o077 == 0 && (attributes?[.ownerAccountID] as? NSNumber)?.uint32Value == geteuid()
        }

        private static func makeKeys(
            _ path: String, _ store: NoteArchive
        ) async throws(StoredNotesError) -> LoginServerKeys {
            let isNeeded: Bool
            do { isNeeded = try await store.hasRegistrations() } catch { throw .unreadable }
            guard !isNeeded else { throw .loginKeyMissing }
            let keys: LoginServerKeys
            do { keys = try LoginServerKeys.generate() } catch { throw .loginKeyDamaged }
            var bytes = keys.withEncoded { span in (0..<span.count).map { span[$0] } }
            defer { bytes.wipe() }
            do { try PrivateFile.replace(path, with: bytes) } catch { throw .file(error) }
            return keys
        }
    #endif

    /// Erases a person's notes, while the server does not run. No harm if there are none.
    ///
    /// - Throws: ``StoredNotesError``; repeating the call completes it.
    public static func erase(
        _ handle: Handle, from data: DataDirectory, logger: Logger
    ) async throws(StoredNotesError) {
        guard access(data.notesDatabase, F_OK) == 0 else { return }
        let store = try store(data, logger, NoteLimits().bytes)
        defer { store.close() }
        do { try await store.erase(handle, keepsPlace: false) } catch { throw .unreadable }
    }

    /// What front ends count and remember together.
    package static func limitsStore(_ engines: SharedEngines) throws(StoredNotesError) -> SQLLimits {
        do { return SQLLimits(try engines.database(SQLLimits.schema), clock: ServerClock.system.time) } catch {
            throw .unreadable
        }
    }

    private static func store(
        _ data: DataDirectory, _ logger: Logger, _ quota: UInt64, _ engines: SharedEngines? = nil
    ) throws(StoredNotesError) -> NoteArchive {
        var limits = NoteLimits()
        limits.bytes = quota
        limits.newcomerBytes = min(limits.newcomerBytes, quota)
        if let engines {
            do {
                let archive = NoteArchive(
                    on: try engines.database(NoteArchive.schema, count: 8), objects: engines.objects, limits: limits,
                    clock: ServerClock.system.time, logger: logger)
                archive.lookForNews(every: .seconds(1))
                return archive
            } catch { throw .unreadable }
        }
        do {
            return try NoteArchive(
                at: data.notesDatabase, limits: limits, clock: ServerClock.system.time, logger: logger)
        } catch { throw .store(error) }
    }
}

/// Why the notes were not opened.
public enum StoredNotesError: Error, Hashable, Sendable {
    /// A file or folder was not made or read.
    case file(FileFailure)
    /// The database was not opened.
    case store(DurableOpenError)
    /// The database could not be read or written now.
    case unreadable
    /// Others can use the file of the login secrets, or it is another user's.
    case loginKeyNotPrivate
    /// The file of the login secrets is none.
    case loginKeyDamaged
    /// People have registered passwords, and the secrets under which they did are not there.
    case loginKeyMissing
    /// The database, or the other front ends of the directory, have other secrets of logins.
    case loginKeyDiffers
    /// The other front ends have another secret that all share.
    case sharedSecretDiffers
    /// The log has a root of notes that these do not know: they are an older copy.
    case olderThanLog
}

extension DataDirectory {
    /// The notes and the secrets of logins, mode 0700.
    public var notes: String { path + "/notes" }
    /// The notes' database, mode 0600; SQLite keeps `-wal` and `-shm` beside it.
    public var notesDatabase: String { notes + "/notes.sqlite" }
    /// OPRF seed and private key of logins, 96 bytes, mode 0600. Keep copies of it apart from copies of the database: a
    /// thief of both can guess passwords, a thief of one cannot.
    public var loginKey: String { notes + "/login.key" }
}
