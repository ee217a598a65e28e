// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import KeyTransparency
import SQLStores
package import VerifiableMap

/// A root as it was put down.
package struct KeptRoot: Hashable, Sendable {
    let number: UInt64
    let root: [UInt8]
    let time: UInt64
}

/// What is put down with a root, for those who follow.
package enum KeptEntries: Sendable {
    /// Nothing: nobody follows.
    case none
    /// That the map is this one, whatever entries are there.
    case all
    /// Entries that are others than in the map of the root before.
    case changed([MapEntry])
}

// The map of each of the last few roots, as the newest row of each key up to its number. A key is SHA-256 of a note's random name, and a value
// SHA-256 of where it stands, so what stays of an erased note for a while tells nobody anything.
extension NoteArchive {
    /// Puts down a root that is about to be logged, with the entries of its map.
    ///
    /// - Parameter before: the newest root that is there, as the caller knows it; nil: there is none.
    /// - Throws: ``NoteStoreError``: ``NoteStoreError/unavailable`` too if that is another one: somebody else has put it down meanwhile.
    package func keep(
        _ version: NoteMap.Version, _ entries: KeptEntries, after before: KeptRoot?
    ) async throws(NoteStoreError) {
        let number = Int64(clamping: version.number)
        _ = try await database.write(at: clock()) { transaction in
            guard try transaction.database.newestRoot() == before else { throw NoteStoreError.unavailable }
            switch entries {
            case .none: try transaction.run("DELETE FROM positions", [])
            case .all:
                try transaction.keepPositions(of: version.map, number)
                try transaction.dropPositions(after: 0, until: number - Self.keptRoots)
            case .changed(let entries):
                try transaction.insertPositions(entries.lazy.map { ($0.key, $0.value) }, number)
                let last = number - Self.keptRoots
                try transaction.dropPositions(after: last - 1, until: last)
            }
            try transaction.keepRoot(
                version.root.root.bytes, time: version.root.time, number: number, at: version.mark)
        }
    }

    /// The newest root that was put down; nil if none was.
    ///
    /// - Throws: ``NoteStoreError``.
    func newestRoot() async throws(NoteStoreError) -> KeptRoot? { try await database.read { try $0.newestRoot() } }

    /// All entries of the map of a root, as far as they were put down.
    ///
    /// - Throws: ``NoteStoreError``.
    package func positions(until number: UInt64) async throws(NoteStoreError) -> [MapEntry] {
        try await database.read { try $0.positions(until: Int64(clamping: number)) }
    }

    /// The entries that are others in the map of a root than in that of an earlier one, but for those that it is without: whoever has them
    /// finds another root.
    ///
    /// - Throws: ``NoteStoreError``.
    package func positions(
        after former: UInt64, until number: UInt64
    ) async throws(NoteStoreError) -> [MapEntry] {
        try await database.read { database in
            var changed: [MapKey: MapValue] = [:]
            for row in try database.rows(
                "SELECT map_key, map_value FROM positions WHERE number > ? AND number <= ? ORDER BY number",
                [Int64(clamping: former), Int64(clamping: number)])
            {
                let (key, value) = try row.position()
                changed[key] = value
            }
            return changed.map { MapEntry(key: $0.key, value: $0.value) }
        }
    }

    /// How many notes there are, those that were deleted and are remembered too.
    ///
    /// - Throws: ``NoteStoreError``.
    func noteCount() async throws(NoteStoreError) -> Int {
        try await database.read { try Int($0.row("SELECT COUNT(*) FROM notes")?.integer(0) ?? 0) }
    }
}

extension NoteTransaction {
    /// Makes the rows those of a map, whatever they are now. Those that are right already stay.
    fileprivate func keepPositions(of map: MapVersion, _ number: Int64) throws {
        try run("DELETE FROM positions WHERE number >= ?", [number])
        var others: [MapKey: MapValue] = [:]
        for entry in try database.positions(until: number) { others[entry.key] = entry.value }
        var changed: [MapEntry] = []
        for (count, entry) in map.entries.enumerated() {
            if others.removeValue(forKey: entry.key) != entry.value { changed.append(entry) }
            // A server ends a transaction that asks nothing for five seconds.
            if count % 65_536 == 0 { _ = try database.row("SELECT 1") }
        }
        // A key whose value is another one now is not among those that are left.
        try insertPositions(changed.lazy.map { ($0.key, $0.value) }, number)
        try insertPositions(others.keys.lazy.map { ($0, nil) }, number)
    }

    fileprivate func insertPositions(_ entries: some Sequence<(MapKey, MapValue?)>, _ number: Int64) throws {
        var rows: [SQLArguments] = []
        for (key, value) in entries {
            rows.append([key.bytes, number, value?.bytes ?? []])
            guard rows.count == Self.positionsAtOnce else { continue }
            try insertPositions(rows)
            rows.removeAll(keepingCapacity: true)
        }
        try insertPositions(rows)
    }

    private static let positionsAtOnce = 1024

    private func insertPositions(_ rows: [SQLArguments]) throws {
        guard !rows.isEmpty else { return }
        try insert(into: "positions (map_key, number, map_value)", rows)
    }

    /// Drops what no root needs any more: of each key that has a row between two numbers, all rows but the newest up to the latter; and that
    /// one, too, if it says that the map is without the key.
    fileprivate func dropPositions(after former: Int64, until number: Int64) throws {
        try run(
            """
            DELETE FROM positions WHERE map_key IN (SELECT map_key FROM positions WHERE number > ? AND number <= ?)
            AND EXISTS (
                SELECT 1 FROM positions AS newer
                WHERE newer.map_key = positions.map_key AND newer.number > positions.number AND newer.number <= ?
            )
            """, [former, number, number])
        try run(
            "DELETE FROM positions WHERE number > ? AND number <= ? AND length(map_value) = 0", [former, number])
    }
}

extension SQLTransaction {
    fileprivate func newestRoot() throws -> KeptRoot? {
        try row("SELECT number, root, time FROM roots ORDER BY number DESC LIMIT 1").map {
            KeptRoot(number: try $0.count(0), root: try $0.bytes(1), time: try $0.count(2))
        }
    }

    /// So many rows at a time: a server's whole answer is in memory at once.
    fileprivate func positions(until number: Int64) throws -> [MapEntry] {
        var entries: [MapEntry] = []
        var last: [UInt8] = []
        while true {
            let rows = try rows(
                """
                SELECT map_key, map_value FROM positions WHERE map_key > ? AND number = (
                    SELECT MAX(other.number) FROM positions AS other
                    WHERE other.map_key = positions.map_key AND other.number <= ?
                ) ORDER BY map_key LIMIT 4096
                """, [last, number])
            guard let end = rows.last else { return entries }
            last = try end.bytes(0)
            for row in rows {
                let (key, value) = try row.position()
                if let value { entries.append(MapEntry(key: key, value: value)) }
            }
        }
    }
}

extension SQLRow {
    /// A key, and its value; nil: the map is without it.
    fileprivate func position() throws -> (MapKey, MapValue?) {
        let value = try bytes(1)
        guard let key = MapKey(try bytes(0)), value.isEmpty || value.count == MapValue.byteCount else {
            throw DamagedRow()
        }
        return (key, MapValue(value))
    }
}
