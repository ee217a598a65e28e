// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import LogEngine
import SQLStores
import SignetAPI
import TransparencyLog

// What a successor keeps of the log that ended, so that people can hold it to what it showed them.
extension Directory {
    /// This many accounts in one transaction.
    private static let togetherCount = 64

    /// Gives the successor what this log held last for each of its accounts, and the leaves of the log. An account whose history
    /// is too long for one answer gets none: its contacts are told that nothing is shown.
    func handOverPast(
        to successor: DirectoryDatabase, _ paths: DirectoryPaths, ending end: SuccessionLink
    ) async throws(DirectoryError) {
        let number = end.record.number
        var last: Int64 = 0
        while true {
            let after = last
            let accounts = try await successor.read { try Self.accounts(after: after, in: $0) }
            guard let newest = accounts.last?.id else { break }
            var answers: [(Int64, [UInt8])] = []
            for (id, handle) in accounts {
                if let answer = try await finalHistory(of: handle, ending: end) { answers.append((id, answer)) }
            }
            let rows = answers
            try await successor.write { database in
                for (id, answer) in rows { try FormerRows.insert(answer, of: id, log: number, in: database) }
            }
            last = newest
        }
        do { try handOverLeaves(to: paths, number) } catch { throw .database }
    }

    private static func accounts(after id: Int64, in database: SQLTransaction) throws -> [(id: Int64, handle: Handle)] {
        try database.rows(
            "SELECT id, handle FROM accounts WHERE id > ? ORDER BY id LIMIT \(togetherCount)", [id]
        ).map { (try $0.integer(0), try Handle(canonical: $0.bytes(1))) }
    }

    /// The whole history of a handle under the log's last checkpoint, as the succession shows it; nil if it is too long.
    private func finalHistory(
        of handle: Handle, ending end: SuccessionLink
    ) async throws(DirectoryError) -> [UInt8]? {
        do {
            let answer = try await history(
                HistoryRequest(LookupRequest(handle: handle, knownSize: 0)), endingWith: end.note
            ).encoded
            return answer.count <= HistoryResponse.maximumByteCount ? answer : nil
        } catch {
            guard case .refused(.tooLarge) = error else { throw error }
            return nil
        }
    }

    /// Writes the leaves of this log beside those of the logs before it.
    private func handOverLeaves(to successor: DirectoryPaths, _ number: UInt64) throws {
        for link in try succession()?.links ?? [] where link.record.kind == .log && link.record.number < number {
            let known = successor.formerLeaves(link.record.number)
            try? FileManager.default.removeItem(atPath: known)
            try FileManager.default.copyItem(atPath: paths.formerLeaves(link.record.number), toPath: known)
            let copy = try FileHandle(forWritingTo: URL(filePath: known))
            try copy.synchronize()
            try copy.close()
        }
        let (draft, size) = (successor.formerLeaves(number) + ".new", log.published.head.size)
        guard FileManager.default.createFile(atPath: draft, contents: nil, attributes: [.posixPermissions: 0o600])
        else { throw CocoaError(.fileWriteUnknown) }
        let file = try FileHandle(forWritingTo: URL(filePath: draft))
        let width = UInt64(Tile.fullWidth)
        for index in 0..<(size + width - 1) / width {
            let count = Int(min(width, size - index * width))
            try file.write(contentsOf: Data(log.tile(level: 0, index: index, width: count)))
        }
        try file.synchronize()
        try file.close()
        guard rename(draft, successor.formerLeaves(number)) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }
}
