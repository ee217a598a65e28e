// SPDX-License-Identifier: Apache-2.0

import Foundation
public import KeyTransparency
import SQLStores
import SignetAPI
import Synchronization
import TransparencyLog

/// What a directory knows of the logs that ended before its own: for each account what they held last, and how they grew.
public final class FormerLogs: Sendable {
    private let directory: Directory
    /// The trees that were asked for, by the number of the change of keys that ended the log.
    private let trees = Mutex<[UInt64: MerkleTree]>([:])

    /// The logs before a directory's own.
    public init(of directory: Directory) { self.directory = directory }

    /// Answers "what did a log that ended hold last for this handle, and how did it grow to there?".
    ///
    /// - Throws: ``DirectoryError``; `notFound`: no such log led here, or it held nothing for the handle.
    public func answer(_ request: FormerRequest) async throws(DirectoryError) -> FormerResponse {
        guard let (number, size) = try end(of: request.origin) else { throw .refused(.notFound) }
        let consistency = try consistency(from: request.knownSize, to: size, number)
        guard let handle = request.handle else { return FormerResponse(consistency: consistency, history: []) }
        let history = try await directory.database.read { try FormerRows.find(handle, log: number, in: $0) }
        guard let history else { throw .refused(.notFound) }
        return FormerResponse(consistency: consistency, history: history)
    }

    /// The change of keys that ended a log, and the log's size then.
    private func end(of origin: KeyName) throws(DirectoryError) -> (number: UInt64, size: UInt64)? {
        for link in try directory.succession()?.links ?? [] where link.record.kind == .log {
            guard let end = try? Checkpoint(decoding: link.note.text), end.origin == origin else { continue }
            return (link.record.number, end.head.size)
        }
        return nil
    }

    private func consistency(
        from known: UInt64, to size: UInt64, _ number: UInt64
    ) throws(DirectoryError) -> ConsistencyProof {
        guard known > 0, known < size else { return ConsistencyProof(hashes: []) }
        let tree = try tree(number)
        do { return try tree.consistencyProof(from: known, to: size) } catch { throw .database }
    }

    private func tree(_ number: UInt64) throws(DirectoryError) -> MerkleTree {
        if let known = trees.withLock({ $0[number] }) { return known }
        let path = directory.paths.formerLeaves(number)
        guard let bytes = FileManager.default.contents(atPath: path) else { throw .database }
        var tree = MerkleTree()
        for start in stride(from: 0, to: bytes.count - bytes.count % TreeHash.byteCount, by: TreeHash.byteCount) {
            guard let leaf = TreeHash(Array(bytes[start..<start + TreeHash.byteCount])) else { throw .database }
            tree.append(leaf)
        }
        trees.withLock { $0[number] = tree }
        return tree
    }
}

/// The rows that hold what earlier logs held last for an account. They go with it.
enum FormerRows {
    static func find(_ handle: Handle, log number: UInt64, in database: SQLTransaction) throws -> [UInt8]? {
        try database.row(
            """
            SELECT answer FROM former JOIN accounts ON accounts.id = former.account WHERE handle = ? AND log = ?
            """, [handle.bytes, Int64(clamping: number)]
        )?.bytes(0)
    }

    static func insert(_ answer: [UInt8], of account: Int64, log number: UInt64, in database: SQLTransaction) throws {
        try database.run(
            "INSERT INTO former (account, log, answer) VALUES (?, ?, ?)",
            [account, Int64(clamping: number), answer])
    }
}

extension DirectoryPaths {
    /// The leaf hashes of a log that ended with this change of keys, 32 bytes each, in order.
    func formerLeaves(_ number: UInt64) -> String { "\(root)/former-\(number)" }
}
