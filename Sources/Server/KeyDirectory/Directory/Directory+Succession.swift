// SPDX-License-Identifier: Apache-2.0

import Foundation
public import KeyTransparency
import LogEngine
import SignetAPI
import TransparencyLog

extension Directory {
    /// Whether the log has its last record: another one goes on. Also before that record is cosigned.
    public var hasEnded: Bool { epochs.hasEnded }

    /// How many changes of keys the log has, also those that are not cosigned yet.
    package var keyChanges: UInt64 { epochs.succession }

    /// Every change of this directory's keys, as clients read it; nil before the first.
    ///
    /// - Throws: ``DirectoryError/database``: the file cannot be read.
    public func succession() throws(DirectoryError) -> SuccessionChain? {
        do { return try SuccessionFile(path: paths.succession).read() } catch { throw .database }
    }

    /// The record of a change of keys: the last one, if that is this change and it was interrupted, or the next.
    package static func successionRecord(
        _ kind: SuccessionRecord.Kind, _ trust: DirectoryTrust, after chain: SuccessionChain?
    ) -> SuccessionRecord {
        let links = chain?.links ?? []
        let isDone = links.last.map { $0.record.policy == trust.policy } ?? false
        return SuccessionRecord(
            kind: kind, number: UInt64(links.count) + (isDone ? 0 : 1), vrfKey: trust.vrfKey, policy: trust.policy)
    }

    /// Logs a change of keys, waits until a checkpoint is published that the trust of before accepts, and keeps the
    /// proof for clients.
    ///
    /// Asking again for the change that was made last gives the same link; so a change that a crash interrupted is
    /// completed.
    ///
    /// - Throws: ``DirectoryError``; `unwitnessed`: too few witnesses have cosigned; `versionConflict`: the record's
    ///   number is not the next, or the log has another record of that number.
    public func succeed(_ record: SuccessionRecord) async throws(DirectoryError) -> SuccessionLink {
        let links = try succession()?.links ?? []
        if let last = links.last, last.record == record { return last }
        guard record.number == UInt64(links.count) + 1 else { throw .refused(.versionConflict) }
        if epochs.succession < record.number {
            _ = try await publish([record.entry])
        } else if log.index(ofLeaf: .leaf(record.entry)) == nil {
            try await publishDurable()
        }
        let published = log.published
        guard let index = log.index(ofLeaf: .leaf(record.entry)), index < published.head.size else {
            // All that is durable is published by now.
            throw .refused(.versionConflict)
        }
        let link = SuccessionLink(
            record: record, inclusion: try inclusion(index, published), note: published.note)
        do { try SuccessionFile(path: paths.succession).write(SuccessionChain(links: links + [link])) } catch {
            throw .database
        }
        return link
    }
}

/// The file that keeps a directory's changes of keys with their proofs.
struct SuccessionFile {
    let path: String

    /// - Returns: nil when there is no file.
    func read() throws -> SuccessionChain? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        return try SuccessionChain(decoding: Array(Data(contentsOf: URL(filePath: path))))
    }

    /// Replaces the file, durably.
    func write(_ chain: SuccessionChain) throws {
        let draft = path + ".new"
        guard FileManager.default.createFile(atPath: draft, contents: nil, attributes: [.posixPermissions: 0o600])
        else { throw CocoaError(.fileWriteUnknown) }
        let file = try FileHandle(forWritingTo: URL(filePath: draft))
        try file.write(contentsOf: Data(chain.encoded))
        try file.synchronize()
        try file.close()
        guard rename(draft, path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        let folder = open(URL(filePath: path).deletingLastPathComponent().path(), O_RDONLY | O_DIRECTORY)
        defer { close(folder) }
        guard folder >= 0, fsync(folder) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }
}
