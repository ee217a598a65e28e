// SPDX-License-Identifier: Apache-2.0

import CardSigner
public import DurableStorage
import Foundation
public import KeyDirectory
import KeyTransparency
import LogEngine
import Logging
import NoteStore
import Platform
import RecoveryStore
import SQLStores
public import SharedLog
import SignetAPI
public import TransparencyLog
import VRF

/// Something that is wrong with a data directory or a backup.
public enum DataFault: Error, Sendable {
    /// The directory cannot be read as one.
    case stored(StoredDirectoryError)
    /// A file or folder is missing or cannot be read.
    case file(FileFailure)
    /// Others than its owner can use what is secret.
    case othersMayUse(path: String)
    /// A file belongs to another user than the data directory: the server may not be able to use it.
    case ofOtherUser(path: String)
    /// The files of the signer of wallet cards cannot be used.
    case cards(CardSignerFilesError)
    /// Log and accounts.
    case records(DirectoryFault)
    /// What several machines share.
    case shared(SharedLogDefect)
    /// What several machines share was not connected.
    case engines(SharedSetupError)
    /// A table of a store in the shared database is missing or damaged.
    case tables(schema: String)
    /// The shared database does not let its user read the tables of a store.
    case tablesForbidden(schema: String)
    /// The shared database did not answer what was asked of the tables of a store, for the reason of this code. A retry may help.
    case tablesUnread(schema: String, code: String)
    /// A database cannot be read.
    case database(path: String, DurableOpenError)
    /// SQLite finds a database damaged.
    case databaseUnsound(path: String)
    /// Key and certificate are none for a TLS server.
    case tls(TLSIdentityError)
    /// Clients refuse the server's certificate, for the reason that this word names.
    case certificateRefused(String)
    /// The pins that clients are told cannot be read, or are of another directory.
    case pins(path: String)
    /// The log shows later pins than the files have.
    case pinsOutdated(path: String)
    /// The log shows other pins of the same version than the files have.
    case pinsOther(path: String)
    /// The log shows pins, and the files have none.
    case pinsMissing(path: String)
    /// The notes, or the secrets of logins beside them.
    case notes(StoredNotesError)
    /// A backup's file has changed since it was made.
    case changed(path: String)
    /// A backup's file is gone.
    case lost(path: String)
    /// A file was not in the backup when it was made.
    case added(path: String)
    /// The log's last epoch is so many seconds in the future: clients refuse it until then, or this machine's clock is behind.
    case epochAhead(seconds: UInt64)
}

extension DataFault {
    /// Why the tables of a store in a shared database were not read: a table is missing or damaged, its user may not, or the database did not
    /// answer.
    ///
    /// Spec: PostgreSQL 15, Appendix A: 42501 is `insufficient_privilege`, 42P01 and 42703 name a table or column that is not there, 58030
    /// and 58P01 a file of the server that cannot be read, class XX an internal error such as a damaged page.
    init(ofTables schema: String, _ error: any Error) {
        // What no program of ours has written.
        guard let fault = error as? SQLFault else {
            self = .tables(schema: schema)
            return
        }
        switch fault.code {
        case .postgres(state: "42501"?): self = .tablesForbidden(schema: schema)
        case .postgres(state: let state?)
        where ["42P01", "42703", "58030", "58P01"].contains(state) || state.hasPrefix("XX"):
            self = .tables(schema: schema)
        case .postgres, .sqlite: self = .tablesUnread(schema: schema, code: "\(fault.code)")
        }
    }

    /// Whether all else is worth a copy: of a few damaged accounts, which no copy repairs unless it is of before, of a certificate, which
    /// is renewed, and of a wrong clock.
    var isBesideTheData: Bool {
        switch self {
        case .records(.statesDamaged), .certificateRefused, .epochAhead: true
        default: false
        }
    }
}

/// Reads a data directory or a backup whole, changes nothing, and says what is wrong.
///
/// Security: this finds damage and what does not belong together. It does not know whether the data is the newest, which
/// ``RollbackGuard`` asks others; and an attacker who can write to the directory can write one in which nothing is
/// wrong.
public struct DirectoryCheck: Sendable {
    /// What was found.
    public struct Report: Sendable {
        /// The log's name; nil if not even that could be read.
        public fileprivate(set) var origin: KeyName?
        /// What the log signed last.
        public fileprivate(set) var signed: TreeHead?
        /// How many entries the log has.
        public fileprivate(set) var size: UInt64 = 0
        /// How many people have an account.
        public fileprivate(set) var accounts = 0
        /// How many states of accounts the next start will log.
        public fileprivate(set) var pendingStates = 0
        /// How many accounts have states that a repair could not put back.
        public fileprivate(set) var lostLabels = 0
        /// How many tiles the next start will make.
        public fileprivate(set) var missingTiles = 0
        /// Whether it is a backup whose keys are kept apart.
        public fileprivate(set) var isWithoutSecrets = false
        /// Whether it is a machine without the log's key, which cannot write the log that it shares.
        public fileprivate(set) var isWithoutLogKey = false
        /// Whether it is a machine of several that has the log's key, which only those need that sequence.
        public fileprivate(set) var isWithSharedLogKey = false
        /// Whether the data was restored, and has not been confirmed as the newest since.
        public fileprivate(set) var isRestored = false
        /// The keys of the folder `tls` that do not belong on the server, as paths in the directory: who breaks in would have them.
        public fileprivate(set) var misplacedKeys: [String] = []
        /// What is wrong.
        public fileprivate(set) var faults: [DataFault] = []
    }

    private let data: DataDirectory

    /// A check of a data directory, or of a backup.
    public init(of data: DataDirectory) { self.data = data }

    /// Whether a server, or a command that writes, has the log of a data directory now.
    public static func isInUse(_ data: DataDirectory) -> Bool {
        do throws(LogOpenError) {
            _ = try LogCopy(of: data.log).hold()
            return false
        } catch { return error == .inUse }
    }

    /// Reads everything. Takes as long as starting the server, and once more for the databases.
    public func run() async -> Report {
        var report = Report()
        report.isRestored = access(data.restoredMark, F_OK) == 0
        let profile: DirectoryProfile
        do { profile = try StoredDirectory.readProfile(data) } catch {
            report.faults.append(.stored(error))
            return report
        }
        let hold: any LogDirectoryLock
        do { hold = try LogCopy(of: data.log).hold() } catch {
            report.faults.append(.records(.log(.refused(error))))
            return report
        }
        defer { withExtendedLifetime(hold) {} }
        checkList(&report)
        checkModes(&report)
        await checkKeys(profile, &report)
        checkParts(profile, &report)
        checkRecords(profile, &report)
        checkDatabases(&report)
        return report
    }

    /// Reads what several machines share, and the files of this one. The cluster may run meanwhile.
    ///
    /// What a start of this machine refuses is found by the functions that the start calls.
    package func run(in engines: SharedEngines) async -> Report {
        var report = Report()
        let profile: DirectoryProfile
        do { profile = try StoredDirectory.readProfile(data) } catch {
            report.faults.append(.stored(error))
            return report
        }
        checkModes(&report)
        guard let key = profile.trust.policy.logs.first else {
            report.faults.append(.stored(.noLog))
            return report
        }
        report.origin = key.name
        let isInterrupted = checkInterruption(&report)
        let secret = await checkSharedKeys(profile, isInterrupted: isInterrupted, &report)
        do throws(StoredDirectoryError) { try await engines.requireInstallation() } catch {
            report.faults.append(.stored(error))
            // Without a database there is nothing else to read.
            if case .shared(let setup) = error, case .engines = setup.cause { return report }
        }
        do throws(SharedEnginesError) {
            var log = try engines.log(profile.trust.policy, key.name)
            // Of a change that is not complete it is known already what is to be done: what it has left half is as it has to be.
            log.former = isInterrupted ? StoredDirectory.formerPolicy(data) : nil
            let place = SharedDirectory(
                log, accounts: try engines.database(SharedDirectory.schema, count: 1), state: data.state,
                history: isInterrupted ? nil : data.history, secret: FrontEndSecret(),
                clock: { 0 }, logger: Logger(label: "check") { _ in SwiftLogNoOpLogHandler() })
            defer { place.close() }
            let found = await place.inspect(vrfKey: profile.trust.vrfKey.bytes)
            report.take(found)
            checkPins(profile, found.directory.reserved[.pins], &report)
        } catch { report.faults.append(.engines(SharedSetupError(error))) }
        await checkTables(engines, secret, &report)
        return report
    }

    private func checkInterruption(_ report: inout Report) -> Bool {
        do throws(StoredDirectoryError) { try StoredDirectory.requireNoneInterrupted(data) } catch {
            report.faults.append(.stored(error))
            return true
        }
        return false
    }

    /// - Returns: what all front ends share; nil if it was not read.
    private func checkSharedKeys(
        _ profile: DirectoryProfile, isInterrupted: Bool, _ report: inout Report
    ) async -> FrontEndSecret? {
        do throws(StoredDirectoryError) {
            report.isWithSharedLogKey = try StoredDirectory.requireSharedKeys(data, profile)
            report.isWithoutLogKey = !report.isWithSharedLogKey
        } catch {
            if case .rotationInterrupted = error, isInterrupted {} else { report.faults.append(.stored(error)) }
        }
        await checkIdentity(profile, &report)
        do throws(StoredDirectoryError) { return try StoredDirectory.readSharedSecret(data, isNeeded: true) } catch {
            report.faults.append(.stored(error))
            return nil
        }
    }

    /// Every row of the other stores is read, and the secrets of this machine are compared with those that the front ends have used.
    private func checkTables(_ engines: SharedEngines, _ secret: FrontEndSecret?, _ report: inout Report) async {
        let data = data
        var registered: [UInt8]?
        for schema in [NoteArchive.schema, RecoverySchema.schema, TokenLedger.schema, SQLLimits.schema] {
            do throws(SharedEnginesError) {
                let database = try engines.database(schema, count: 1)
                defer { database.close() }
                do {
                    let (login, fault) = try await database.read {
                        [registered] database -> ([UInt8]?, StoredNotesError?) in
                        try Self.readAll(database, schema)
                        switch schema.name {
                        case NoteArchive.schema.name:
                            return (try database.digestOfSecret(NoteArchive.loginKeys), nil)
                        case SQLLimits.schema.name:
                            return (
                                nil, try StoredNotes.fault(in: data, registered: registered, sharing: secret, database)
                            )
                        default: return (nil, nil)
                        }
                    }
                    registered = registered ?? login
                    if let fault { report.faults.append(.notes(fault)) }
                } catch {
                    let fault = DataFault(ofTables: schema.name, error)
                    report.faults.append(fault)
                    if case .tablesUnread = fault { return }
                }
            } catch {
                let setup = SharedSetupError(error)
                report.faults.append(.engines(setup))
                if setup.isPassing { return }
            }
        }
    }

    /// Those that a newer program or an operator has added, too.
    private static func readAll(_ database: SQLTransaction, _ schema: SQLSchema) throws {
        let names = try database.rows(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()"
        ).map { try $0.text(0) }
        for name in schema.tables.union(names).sorted() {
            try database.each("SELECT * FROM \(SQLTransaction.quoted(name))", []) { _ in true }
        }
    }

    /// A backup has a list of its files.
    private func checkList(_ report: inout Report) {
        do throws(FileFailure) {
            guard let faults = try BackupFiles.faults(of: data.path, in: data.path) else { return }
            report.faults += faults
            report.isWithoutSecrets =
                try BackupFiles.listed(in: data.path)?.keys.contains(
                    where: BackupFiles.isSecret) == false
        } catch { report.faults.append(.file(error)) }
    }

    private func checkModes(_ report: inout Report) {
        do throws(FileFailure) {
            let secret = try BackupFiles.paths(in: data.path).filter {
                BackupFiles.isSecret($0) || BackupFiles.staysBehind($0) || BackupFiles.isDatabase($0)
            }
            // A change of keys that is not complete needs those of `tls.next`.
            report.misplacedKeys = secret.filter { BackupFiles.staysBehind($0) && $0.hasPrefix("tls/") }.sorted()
            let folders: [String] = [data.path, data.keys, data.records, data.notes]
            for path in folders.filter({ access($0, F_OK) == 0 }) + secret.map({ "\(data.path)/\($0)" }) {
                guard let status = FileStatus(of: path) else { throw FileFailure(path) }
                if status.isOpenToOthers { report.faults.append(.othersMayUse(path: path)) }
            }
            guard let owner = FileStatus(of: data.path)?.owner else { throw FileFailure(data.path) }
            for path in try BackupFiles.paths(in: data.path) {
                guard let status = FileStatus(ofEntry: "\(data.path)/\(path)"), status.owner != owner else { continue }
                report.faults.append(.ofOtherUser(path: path))
            }
        } catch { report.faults.append(.file(error)) }
    }

    private func checkKeys(_ profile: DirectoryProfile, _ report: inout Report) async {
        guard !report.isWithoutSecrets else { return }
        do throws(StoredDirectoryError) { _ = try StoredDirectory.readTrustedKeys(data, profile, signing: false) } catch
        {
            return report.faults.append(.stored(error))
        }
        await checkIdentity(profile, &report)
    }

    private func checkIdentity(_ profile: DirectoryProfile, _ report: inout Report) async {
        let identity: TLSIdentity
        do throws(StoredDirectoryError) {
            identity = try StoredDirectory.readIdentity(data, pinnedBy: profile.pins)
        } catch { return report.faults.append(.stored(error)) }
        do throws(TLSIdentityError) { _ = try identity.context() } catch { return report.faults.append(.tls(error)) }
        if let word = await identity.refusal(by: profile.server, at: profile.url, ServerClock.system.time()) {
            report.faults.append(.certificateRefused(word))
        }
    }

    private func checkParts(_ profile: DirectoryProfile, _ report: inout Report) {
        do throws(FileFailure) {
            let lost = try DataParts(data).lost().filter { !report.isWithoutSecrets || !BackupFiles.isSecret($0) }
            if !lost.isEmpty { report.faults.append(.stored(.lostParts(lost))) }
            // That the database cannot be read is found further on.
            try DataParts(data).requireList((try? Directory.hasListOfParts(at: data.records)) ?? false)
        } catch { report.faults.append(.file(error)) }
        for path in [data.pins, data.formerPins] where access(path, F_OK) == 0 {
            if (try? StoredPins.read(path, of: profile)) == nil { report.faults.append(.pins(path: path)) }
        }
        let cards = CardSignerFiles(data)
        guard cards.exist, !report.isWithoutSecrets else { return }
        do { try cards.check() } catch { report.faults.append(.cards(error)) }
    }

    private func checkRecords(_ profile: DirectoryProfile, _ report: inout Report) {
        guard let key = profile.trust.policy.logs.first else { return report.faults.append(.stored(.noLog)) }
        report.origin = key.name
        let found = DirectoryInspection(
            at: data.records, origin: key.name, policy: profile.trust.policy, vrfKey: profile.trust.vrfKey.bytes
        ).run()
        (report.signed, report.size, report.missingTiles) = (found.log.signed, found.log.size, found.log.missingTiles)
        (report.accounts, report.pendingStates) = (found.accounts, found.pendingStates)
        report.faults += found.faults.map { fault in
            fault == .keysChanged ? .stored(StoredDirectory.refusal(.keysChanged, of: data, profile)) : .records(fault)
        }
        // Without the log nothing can be compared with it.
        guard found.log.signed != nil else { return }
        if let seconds = Readiness.secondsAhead(found.epochTime, at: ServerClock.system.time()) {
            report.faults.append(.epochAhead(seconds: seconds))
        }
        checkPins(profile, found.reserved[.pins], &report)
        let fault = StoredNotes.fault(
            in: data, root: found.reserved[.notes]?.version ?? 0, isWithoutSecrets: report.isWithoutSecrets)
        if let fault { report.faults.append(.notes(fault)) }
    }

    /// Compares the pins in the files with those of the log.
    private func checkPins(_ profile: DirectoryProfile, _ logged: ReservedRecord?, _ report: inout Report) {
        guard logged != nil else { return }
        guard access(data.pins, F_OK) == 0 else {
            report.faults.append(.pinsMissing(path: data.pins))
            return
        }
        guard let all = try? StoredPins.existing(in: data, of: profile) else { return }
        switch StoredPins.standing(of: all, to: logged) {
        case .agreed: break
        case .older: report.faults.append(.pinsOutdated(path: data.pins))
        case .other: report.faults.append(.pinsOther(path: data.pins))
        }
    }

    private func checkDatabases(_ report: inout Report) {
        let paths = (try? BackupFiles.paths(in: data.path))?.filter(BackupFiles.isDatabase) ?? []
        for path in paths {
            do throws(DurableOpenError) {
                guard try DurableDatabase.isSound("\(data.path)/\(path)") else {
                    report.faults.append(.databaseUnsound(path: path))
                    continue
                }
            } catch { report.faults.append(.database(path: path, error)) }
        }
    }
}

extension DirectoryCheck.Report {
    /// Takes what was found of a shared directory.
    fileprivate mutating func take(_ found: SharedDirectory.Report) {
        (signed, size) = (found.log.signed, found.log.size)
        (accounts, pendingStates) = (found.directory.accounts, found.directory.pendingStates)
        lostLabels = found.directory.lostLabels
        faults += found.log.defects.map { .shared($0) }
        if let fault = found.unread, !found.log.defects.contains(.fault(fault)) {
            faults.append(.shared(.fault(fault)))
        }
        faults += found.directory.faults.map { .records($0) }
    }
}
