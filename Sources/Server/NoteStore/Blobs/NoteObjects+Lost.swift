// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
package import ObjectStores
package import SQLStores

/// Pieces of files of notes whose objects are not there. Nobody but who has the file on a device can bring it again.
package struct LostNoteFiles: Hashable, Sendable {
    /// How many pieces.
    package let pieces: Int
    /// Of how many files.
    package let files: Int
    /// Of how many accounts, each of which has stored one of these pieces.
    package let accounts: Int

    package init(pieces: Int, files: Int, accounts: Int) {
        (self.pieces, self.files, self.accounts) = (pieces, files, accounts)
    }
}

extension NoteObjects {
    /// Counts the pieces whose rows name an object that is not in the store. What the objects hold is not read.
    ///
    /// - Parameter database: with the tables of ``NoteArchive/schema``.
    /// - Throws: `ObjectFault`, `SQLFault`, `DamagedRow`.
    package static func lost(of database: any SQLDatabase, in objects: any ObjectStore) async throws -> LostNoteFiles {
        // The rows first: an object is there before its row is.
        let rows = try await database.read { database in
            try database.rows("SELECT object, note, blob, payer FROM chunks WHERE object IS NOT NULL").map { row in
                NamedPiece(
                    path: path(try row.bytes(0)), note: try row.integer(1), blob: try row.bytes(2),
                    payer: try row.optionalInteger(3))
            }
        }
        let there = try await paths(in: objects)
        let lost = rows.filter { !there.contains($0.path) }
        return LostNoteFiles(
            pieces: lost.count, files: Set(lost.map { NamedFile(note: $0.note, blob: $0.blob) }).count,
            accounts: Set(lost.compactMap(\.payer)).count)
    }

    /// A list of a store has an end, so that each of these is of a part of all names.
    private static func paths(in objects: any ObjectStore) async throws(ObjectFault) -> Set<String> {
        var paths: Set<String> = []
        for first in UInt8.min ... .max {
            paths.formUnion(try await objects.list("blob/\(String(decoding: Hex.encode([first]), as: UTF8.self))/"))
        }
        return paths
    }
}

private struct NamedPiece: Sendable {
    let path: String
    let note: Int64
    let blob: [UInt8]
    let payer: Int64?
}

private struct NamedFile: Hashable {
    let note: Int64
    let blob: [UInt8]
}
