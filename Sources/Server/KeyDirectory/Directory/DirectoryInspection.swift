// SPDX-License-Identifier: Apache-2.0

public import DurableStorage
package import KeyTransparency
public import LogEngine
import SQLStores
package import TransparencyLog
import VRF

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
    /// The database was compared with this many entries of the log before, and it has fewer now.
    case logShorter(compared: UInt64, size: UInt64)
    /// The log has a later change of its keys or witnesses than the file for clients.
    case keysChanged
    /// This many states of the database are not what their records in the log say, or no states; some of their accounts' handles.
    case statesDamaged(count: Int, handles: [String])
}

/// Reads a directory's log and database whole, and compares them.
package struct DirectoryInspection: Sendable {
    /// What it found.
    package struct Report: Sendable {
        /// Of the log.
        package var log = LogReport()
        /// What is wrong.
        package var faults: [DirectoryFault] = []
        /// When the log's last epoch ended, in seconds since 1970; nil if it has none.
        package var epochTime: UInt64?
        /// How many accounts the database has.
        package var accounts = 0
        /// How many states are in the database that the log gets when it is next opened.
        package var pendingStates = 0
        /// How many labels have records in the log whose states the database has lost, as a repair has written down.
        package var lostLabels = 0
        /// The newest record under each reserved label that has any.
        package var reserved: [ReservedLabel: ReservedRecord] = [:]

        /// Takes the newest records under the reserved labels.
        mutating func note(_ epochs: EpochSealer) {
            for label in ReservedLabel.allCases { reserved[label] = epochs.newest(under: label) }
        }
    }

    /// The records of accounts in the log.
    struct Logged {
        private(set) var records: [(index: UInt64, label: [UInt8], version: UInt64, leaf: [UInt8])] = []
        private(set) var leaves: Set<[UInt8]> = []
        private var index: UInt64 = 0

        /// Takes the next entry.
        mutating func take(_ entry: ArraySlice<UInt8>, _ leaf: TreeHash) {
            defer { index += 1 }
            guard let record = try? StateRecord(decoding: [UInt8](entry)), !ReservedLabel.holds(record) else { return }
            records.append((index, record.label.bytes, record.version, leaf.bytes))
            leaves.insert(leaf.bytes)
        }
    }

    /// What the database says.
    struct Stored {
        var origin: [UInt8] = []
        var vrfKey: [UInt8] = []
        /// With so many entries of the log the database was compared before.
        var checkedSize: UInt64 = 0
        var states: [(label: [UInt8], version: UInt64, leaf: [UInt8])] = []
        var erased: Set<[UInt8]> = []
        /// The version of the last record of a former holder, by label.
        var takenOver: [[UInt8]: UInt64] = [:]
        /// The version of the last record whose state is lost, by label.
        var lost: [[UInt8]: UInt64] = [:]
        var accounts = 0
        /// How many states are not what their leaf hashes say.
        var damaged = 0
        /// The handles of at most ten accounts with such states.
        var damagedHandles: Set<String> = []
    }

    private let paths: DirectoryPaths
    private let origin: KeyName
    private let policy: Policy
    private let vrfKey: [UInt8]

    /// The records at a path, of the directory with this name, that clients are told to trust like this.
    package init(at path: String, origin: KeyName, policy: Policy, vrfKey: [UInt8]) {
        paths = DirectoryPaths(root: path)
        self.origin = origin
        self.policy = policy
        self.vrfKey = vrfKey
    }

    /// Reads everything, which takes as long as opening the directory.
    package func run() -> Report {
        var report = Report()
        // Of now only the epochs' times would be, and none is written.
        let epochs = EpochSealer(clock: { 0 })
        var logged = Logged()
        do throws(LogOpenError) {
            report.log = try LogInspection(
                files: POSIXFileSystem(root: paths.log), origin: origin, keys: policy.logs,
                changed: (try? SuccessionFile(path: paths.succession).read())?.links.last?.note
            ).run(
                sealing: epochs
            ) { entry, leaf in
                logged.take(entry, leaf)
            }
        } catch {
            report.faults.append(.log(.refused(error)))
            return report
        }
        report.faults += report.log.faults.map { .log($0) }
        report.epochTime = epochs.lastTime
        report.note(epochs)
        do throws(DirectoryOpenError) {
            try KeyChanges(at: paths).requireNewest(policy, logged: epochs.succession)
        } catch { report.faults.append(.keysChanged) }
        do throws(DurableOpenError) {
            let stored = try SQLiteDatabase.read(paths.database) { try Stored($0) }
            guard stored.origin == origin.bytes, stored.vrfKey == vrfKey else {
                report.faults.append(.databaseOfOtherDirectory)
                return report
            }
            if stored.checkedSize > report.log.size {
                report.faults.append(.logShorter(compared: stored.checkedSize, size: report.log.size))
            }
            Self.compare(stored, with: logged, epochs, &report)
        } catch { report.faults.append(.database(error)) }
        return report
    }

    static func compare(
        _ stored: Stored, with logged: Logged, _ epochs: EpochSealer, _ report: inout Report
    ) {
        report.lostLabels = stored.lost.count
        if stored.damaged > 0 {
            report.faults.append(.statesDamaged(count: stored.damaged, handles: stored.damagedHandles.sorted()))
        }
        report.accounts = stored.accounts
        let known = Set(stored.states.map(\.leaf))
        let unknown = logged.records.filter { record in
            !known.contains(record.leaf) && !stored.erased.contains(record.label)
                && record.version > max(stored.takenOver[record.label] ?? 0, stored.lost[record.label] ?? 0)
        }
        if let first = unknown.first {
            report.faults.append(.databaseBehindLog(count: unknown.count, firstIndex: first.index))
        }
        let missing = stored.states.filter { !logged.leaves.contains($0.leaf) }
        // The next start logs what is newer than the log. What is older than that can only have been logged and lost.
        let lost = missing.filter { state in
            LabelIndex(state.label).map { epochs.version(of: $0) >= state.version } ?? true
        }
        report.pendingStates = missing.count - lost.count
        if !lost.isEmpty { report.faults.append(.logBehindDatabase(count: lost.count)) }
    }
}

extension DirectoryInspection.Stored {
    /// Reads everything.
    init(_ database: SQLTransaction) throws {
        guard let meta = try database.row("SELECT origin, vrf_key, checked_size FROM meta", []) else {
            throw DamagedRow()
        }
        (origin, vrfKey, checkedSize) = (try meta.bytes(0), try meta.bytes(1), try meta.version(2))
        let columns = "label, vrf_hash, \(StateRow.columns), handle"
        var (states, damaged, handles) = (self.states, 0, damagedHandles)
        try database.each("SELECT \(columns) FROM states JOIN accounts ON accounts.id = states.account", []) { row in
            states.append((try row.bytes(0), try row.version(2), try row.bytes(6)))
            if !Self.isSound(row) {
                damaged += 1
                if handles.count < 10, let handle = try? Handle(canonical: row.bytes(7)) { handles.insert("\(handle)") }
            }
            return true
        }
        (self.states, self.damaged, damagedHandles) = (states, damaged, handles)
        erased = Set(try database.rows("SELECT label FROM erased", []).map { try $0.bytes(0) })
        for row in try database.rows("SELECT label, version FROM taken_over", []) {
            takenOver[try row.bytes(0)] = try row.version(1)
        }
        // A backup may be from before the table.
        for row in (try? database.rows("SELECT label, version FROM lost", [])) ?? [] {
            lost[try row.bytes(0)] = try row.version(1)
        }
        accounts = Int(clamping: try database.row("SELECT COUNT(*) FROM accounts")?.integer(0) ?? 0)
    }

    /// Whether state and opening make the record whose leaf hash stands beside them.
    private static func isSound(_ row: SQLRow) -> Bool {
        guard let bytes = try? row.bytes(1), let label = VRFHash(bytes), let state = try? StateRow(row, from: 2),
            let content = try? state.state(), content.version == state.version,
            LabelIndex(label).bytes == (try? row.bytes(0))
        else { return false }
        let record = LogEntries.record(label: label, state: content, kind: state.kind, opening: state.opening)
        return TreeHash.leaf(record.entry) == state.leaf
    }
}
