// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
package import ObjectStores
package import SQLStores

/// What is wrong with an object that holds a piece of a file.
package enum NoteObjectFault: Error, Hashable, Sendable {
    /// It is not there.
    case missing(path: String)
    /// Its bytes are not those that were put.
    case differs(path: String)
    /// The store did not answer, or refused.
    case store(ObjectFault)
    /// The row names an object, and there is no store.
    case noStore
}

/// Where bodies of files are in an object store: `blob/`, two hexadecimal digits of the name, `/`, and all 32.
package enum NoteObjects {
    /// How long a name is: random, so that nobody finds out by a name what somebody else stores.
    static let nameByteCount = 16

    static func path(_ name: [UInt8]) -> String {
        let digits = String(decoding: Hex.encode(name), as: UTF8.self)
        return "blob/\(digits.prefix(2))/\(digits)"
    }

    /// The body of a piece, if it is the one that was stored.
    static func body(of chunk: StoredChunk, in objects: any ObjectStore) async -> Result<[UInt8], NoteObjectFault> {
        guard let object = chunk.object else { return .success(chunk.body) }
        let path = path(object.name)
        do throws(ObjectFault) {
            guard let stored = try await objects.get(path) else { return .failure(.missing(path: path)) }
            return object.isBody(stored.bytes) ? .success(stored.bytes) : .failure(.differs(path: path))
        } catch { return .failure(.store(error)) }
    }

    /// Bodies that are all in their rows.
    static func here(_ chunks: [StoredChunk]) -> Result<[[UInt8]], NoteObjectFault> {
        chunks.contains { $0.object != nil } ? .failure(.noStore) : .success(chunks.map(\.body))
    }

    /// Brings all bodies into the rows of a file, for a directory that goes back to one machine. The objects stay.
    ///
    /// - Parameters:
    ///   - file: with rows that were copied from a server.
    ///   - acceptsLoss: whether to go on without objects that are gone, or are not what was put: their rows go on naming them.
    /// - Returns: how many were lost.
    /// - Throws: ``NoteObjectFault``, `SQLFault`.
    package static func bringBack(
        into file: any SQLDatabase, from objects: any ObjectStore, acceptsLoss: Bool = false
    ) async throws -> Int {
        var (lost, last) = (0, Int64.min)
        while true {
            let chunks = try await file.read { [last] database in
                try database.rows(
                    "SELECT id, \(StoredChunk.columns) FROM chunks WHERE object IS NOT NULL AND id > ? ORDER BY id LIMIT 16",
                    [last]
                ).map { (id: try $0.integer(0), chunk: try StoredChunk($0, from: 1)) }
            }
            guard let newest = chunks.last?.id else { break }
            last = newest
            for (id, chunk) in chunks {
                let body: [UInt8]
                switch await self.body(of: chunk, in: objects) {
                case .success(let found): body = found
                case .failure(.missing) where acceptsLoss, .failure(.differs) where acceptsLoss:
                    lost += 1
                    continue
                case .failure(let fault): throw fault
                }
                try await file.write {
                    _ = try $0.run(
                        "UPDATE chunks SET body = ?, object = NULL, hash = NULL, size = 0 WHERE id = ?", [body, id])
                }
            }
        }
        try await file.write {
            try $0.run("DELETE FROM coming_objects")
            try $0.run("DELETE FROM going_objects")
        }
        return lost
    }
}
