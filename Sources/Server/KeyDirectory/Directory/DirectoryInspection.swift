// SPDX-License-Identifier: Apache-2.0

public import DurableStorage
import KeyTransparency
public import LogEngine
import SQLStores
package import TransparencyLog

/// What does not fit together in a directory's records. Nothing was written.
public enum DirectoryFault: Hashable, Sendable {
    /// Of the log itself.
    case log(LogFault)
    /// The database cannot be read.
    case database(DurableOpenError)
    /// The database is of another log or was made with another VRF key.
    case databaseOfOtherDirectory
    /// The log has this many entries of accounts that the database does not know, the first at this index.
    case databaseBehindLog(count: Int, firstIndex: UInt64)
    /// The database has this many states that the log should have, and does not.
    case logBehindDatabase(count: Int)
}

/// Reads a directory's log and database whole, and compares them.
package struct DirectoryInspection: Sendable {
    /// What it found.
    package struct Report: Sendable {
        /// Of the log.
        package var log = LogReport()
        /// What is wrong.
        package var faults: [DirectoryFault] = []
        /// How many accounts the database has.
        package var accounts = 0
        /// How many states are in the database that the log gets when it is next opened.
        package var pendingStates = 0
    }

    /// A record of an account in the log.
    private struct Logged {
        let index: UInt64
        let label: [UInt8]
        let version: UInt64
        let leaf: [UInt8]
    }

    /// What the database says.
    private struct Stored {
        var origin: [UInt8] = []
        var vrfKey: [UInt8] = []
        var states: [(label: [UInt8], version: UInt64, leaf: [UInt8])] = []
        var erased: Set<[UInt8]> = []
        /// The version of the last record of a former holder, by label.
        var takenOver: [[UInt8]: UInt64] = [:]
        var accounts = 0
    }

    private let paths: DirectoryPaths
    private let origin: KeyName
    private let keys: [VerifierKey]
    private let vrfKey: [UInt8]

    /// The records at a path, of the directory with this name and these keys.
    package init(at path: String, origin: KeyName, keys: [VerifierKey], vrfKey: [UInt8]) {
        paths = DirectoryPaths(root: path)
        self.origin = origin
        self.keys = keys
        self.vrfKey = vrfKey
    }

    /// Reads everything, which takes as long as opening the directory.
    package func run() -> Report {
        var report = Report()
        // Of now only the epochs' times would be, and none is written.
        let epochs = EpochSealer(clock: { 0 })
        var records: [Logged] = []
        var leaves: Set<[UInt8]> = []
        var index: UInt64 = 0
        do throws(LogOpenError) {
            report.log = try LogInspection(
                files: POSIXFileSystem(root: paths.log), origin: origin, keys: keys
            ).run(
                sealing: epochs
            ) { entry, leaf in
                defer { index += 1 }
                guard let record = try? StateRecord(decoding: [UInt8](entry)), !ReservedLabel.holds(record) else {
                    return
                }
                records.append(
                    Logged(index: index, label: record.label.bytes, version: record.version, leaf: leaf.bytes))
                leaves.insert(leaf.bytes)
            }
        } catch {
            report.faults.append(.log(.refused(error)))
            return report
        }
        report.faults += report.log.faults.map { .log($0) }
        do throws(DurableOpenError) {
            compare(try stored(), with: records, leaves, epochs, &report)
        } catch { report.faults.append(.database(error)) }
        return report
    }

    private func compare(
        _ stored: Stored, with records: [Logged], _ leaves: Set<[UInt8]>, _ epochs: EpochSealer, _ report: inout Report
    ) {
        guard stored.origin == origin.bytes, stored.vrfKey == vrfKey else {
            return report.faults.append(.databaseOfOtherDirectory)
        }
        report.accounts = stored.accounts
        let known = Set(stored.states.map(\.leaf))
        let unknown = records.filter { record in
            !known.contains(record.leaf) && !stored.erased.contains(record.label)
                && record.version > stored.takenOver[record.label] ?? 0
        }
        if let first = unknown.first {
            report.faults.append(.databaseBehindLog(count: unknown.count, firstIndex: first.index))
        }
        let missing = stored.states.filter { !leaves.contains($0.leaf) }
        // The next start logs what is newer than the log. What is older than that can only have been logged and lost.
        let lost = missing.filter { state in
            LabelIndex(state.label).map { epochs.version(of: $0) >= state.version } ?? true
        }
        report.pendingStates = missing.count - lost.count
        if !lost.isEmpty { report.faults.append(.logBehindDatabase(count: lost.count)) }
    }

    private func stored() throws(DurableOpenError) -> Stored {
        try SQLiteDatabase.read(paths.database) { database in
            var stored = Stored()
            guard let meta = try database.row("SELECT origin, vrf_key FROM meta", []) else { throw DamagedRow() }
            (stored.origin, stored.vrfKey) = (try meta.bytes(0), try meta.bytes(1))
            stored.states = try database.rows(
                "SELECT label, version, states.leaf FROM states JOIN accounts ON accounts.id = states.account", []
            ).map { (try $0.bytes(0), try $0.version(1), try $0.bytes(2)) }
            stored.erased = Set(try database.rows("SELECT label FROM erased", []).map { try $0.bytes(0) })
            for row in try database.rows("SELECT label, version FROM taken_over", []) {
                stored.takenOver[try row.bytes(0)] = try row.version(1)
            }
            stored.accounts = Int(clamping: try database.row("SELECT COUNT(*) FROM accounts")?.integer(0) ?? 0)
            return stored
        }
    }
}
