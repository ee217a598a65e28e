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
    /// The tables of a store in the shared database cannot be read.
    case tables(schema: String)
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
        /// Whether the data was restored, and has not been confirmed as the newest since.
        public fileprivate(set) var isRestored = false
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
        do throws(SharedEnginesError) {
            let place = SharedDirectory(
                try engines.log(profile.trust.policy, key.name),
                accounts: try engines.database(SharedDirectory.schema, count: 1), state: nil, secret: FrontEndSecret(),
                clock: { 0 }, logger: Logger(label: "check") { _ in SwiftLogNoOpLogHandler() })
            defer { place.close() }
            let found = await place.inspect(vrfKey: profile.trust.vrfKey.bytes)
            report.take(found)
            checkPins(profile, found.directory.reserved[.pins], &report)
        } catch { report.faults.append(.engines(SharedSetupError(error))) }
        await checkTables(engines, &report)
        return report
    }

    /// Every row of the other stores is read.
    private func checkTables(_ engines: SharedEngines, _ report: inout Report) async {
        for schema in [NoteArchive.schema, RecoverySchema.schema, TokenLedger.schema, SQLLimits.schema] {
            do throws(SharedEnginesError) {
                let database = try engines.database(schema, count: 1)
                defer { database.close() }
                if (try? await database.read { try Self.readAll($0) }) == nil {
                    report.faults.append(.tables(schema: schema.name))
                }
            } catch { report.faults.append(.engines(SharedSetupError(error))) }
        }
    }

    private static func readAll(_ database: SQLTransaction) throws {
        let names = try database.rows(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()"
        ).map { try $0.text(0) }
        for name in names { try database.each("SELECT * FROM \(name)", []) { _ in true } }
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
        let identity: TLSIdentity
        do throws(StoredDirectoryError) {
            _ = try StoredDirectory.readTrustedKeys(data, profile, signing: false)
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
        report.faults += found.faults.map { .records($0) }
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
        if let fault = found.unread { faults.append(.shared(.fault(fault))) }
        faults += found.directory.faults.map { .records($0) }
    }
}
