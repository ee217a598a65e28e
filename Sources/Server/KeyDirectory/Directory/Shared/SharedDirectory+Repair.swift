// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
package import LogEngine
package import LogFencing
package import SQLStores
package import SharedLog
package import TransparencyLog

extension SharedDirectory {
    /// What a repair has done.
    package struct Repaired: Hashable, Sendable {
        /// Of the log.
        package let log: LogRepairReport
        /// How many accounts have newer records in the log than states in the database.
        package let lost: Int
        /// What this machine had shown before. If the log has fewer entries by now, neither database nor bucket has the others.
        package let shown: TreeHead?

        /// Whether the log has everything that this machine has shown.
        package var isWhole: Bool { shown.map { $0.size <= log.size } ?? true }
    }

    /// Puts back what the database lacks of the log, and writes down which accounts' states are lost: those answer as unavailable until their
    /// owners bring them again. Nobody else leads meanwhile. Whether the result has what this machine has shown is reported, not demanded: what
    /// was put back is put back.
    ///
    /// - Parameters:
    ///   - link: a connection for this alone; it is closed.
    ///   - holder: a name that no other process has.
    ///   - others: what witnesses hold who answer, asked by what was signed last.
    /// - Throws: ``SharedDirectoryError``.
    package func repair(
        over link: any SQLDatabase, _ facts: (DatabaseFacts, DatabaseDemands), holder: String,
        others: @Sendable (PublishedCheckpoint) async -> [SeenHead] = { _ in [] },
        steady: @escaping @Sendable () -> Duration
    ) async throws(SharedDirectoryError) -> Repaired {
        let log: LogRepairReport
        do throws(CandidacyEnd) {
            log = try await LogCandidate(engines, holder: holder, clock: steady).repair(
                over: link, facts,
                endsFrame: { entry in if case .epoch = try? LogEntry(decoding: entry) { true } else { false } },
                others: others)
        } catch { throw .candidacy(error) }
        do throws(DirectoryOpenError) {
            let lost = try await lostLabels(among: log.size)
            try await reaching { try await accounts.write { for label in lost { try LostStates.note(label, in: $0) } } }
            let count = try await reaching {
                try await accounts.read { try $0.row("SELECT COUNT(*) FROM lost")?.integer(0) }
            }
            return Repaired(log: log, lost: Int(clamping: count ?? 0), shown: shownHere)
        } catch { throw .directory(error) }
    }

    /// What this machine has shown last; nil: nothing, or that is lost.
    var shownHere: TreeHead? { state.flatMap { engines.shown(in: $0) } }

    /// The labels of which the log has records that the database does not know.
    private func lostLabels(among size: UInt64) async throws(DirectoryOpenError) -> [LostLabel] {
        var lost: [LabelIndex: LostLabel] = [:]
        var start: UInt64 = 0
        while start < size {
            let frames: [Frame]
            do throws(SharedLogFault) { frames = try await engines.frames(from: start, to: size) } catch {
                throw .logUnreadable(bundle: start / UInt64(Tile.fullWidth))
            }
            start = frames.last?.endIndex ?? size
            let records = frames.flatMap(\.stateRecords)
            let unknown = try await reaching {
                try await accounts.read { database in
                    try records.filter { try !Reconciliation.isKnown($0.record, $0.leaf, in: database) }
                }
            }
            for (record, _) in unknown {
                let isClosed = record.kind == .close
                let first = lost[record.label]?.first ?? record.version
                lost[record.label] = LostLabel(
                    label: record.label, first: first, last: record.version, isClosed: isClosed)
            }
        }
        return lost.values.sorted { $0.label.bytes.lexicographicallyPrecedes($1.label.bytes) }
    }
}

extension Frame {
    /// The records of accounts in it.
    fileprivate var stateRecords: [(record: StateRecord, leaf: TreeHash)] {
        var records: [(StateRecord, TreeHash)] = []
        forEachEntry { entry in
            let bytes = [UInt8](entry)
            if let record = try? StateRecord(decoding: bytes) { records.append((record, TreeHash.leaf(bytes))) }
        }
        return records
    }
}
