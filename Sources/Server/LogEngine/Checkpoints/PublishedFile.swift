// SPDX-License-Identifier: Apache-2.0

import TransparencyLog

/// The file `checkpoint.published`: the last checkpoint that a quorum of witnesses cosigned, so that a log that opens
/// while they are away still shows what it showed before. A log that needs no witnesses has no such file.
struct PublishedFile: Sendable {
    let fileSystem: any LogFileSystem

    /// Replaces the file, durably.
    func write(_ checkpoint: PublishedCheckpoint) throws(LogFileError) {
        _ = try fileSystem.createDurably(LogPath.published, in: LogPath.root, checkpoint.bytes)
    }

    /// Removes the file, durably, if it is there.
    func remove() throws(LogFileError) {
        guard try fileSystem.list(LogPath.root).contains(LogPath.published) else { return }
        try fileSystem.remove(LogPath.published)
        try fileSystem.synchronizeDirectory(LogPath.root)
    }

    /// The size that the file names, which is not verified; nil when there is no readable file.
    var claimedSize: UInt64? {
        guard let bytes = try? fileSystem.contents(of: LogPath.published),
            let note = try? SignedNote(decoding: bytes), let checkpoint = try? Checkpoint(decoding: note.text)
        else { return nil }
        return checkpoint.head.size
    }

    /// What the file says.
    enum Content {
        /// There is none.
        case none
        /// It is no checkpoint of this log. What it held is signed and witnessed again.
        case damaged
        case checkpoint(PublishedCheckpoint)
    }

    /// Reads the file.
    ///
    /// - Parameter isSigned: whether a note has the signature of one of the log's keys.
    /// - Throws: ``LogOpenError/publishedCheckpointContradicts``: it is this log's, and of a tree that `tree` does not extend.
    func read(
        origin: KeyName, tree: MerkleTree, isSigned: (SignedNote) -> Bool
    ) throws(LogOpenError) -> Content {
        let bytes: [UInt8]
        do throws(LogFileError) {
            guard try fileSystem.list(LogPath.root).contains(LogPath.published) else { return .none }
            bytes = try fileSystem.contents(of: LogPath.published)
        } catch { throw LogOpenError(opening: error) }
        guard let checkpoint = Self.checkpoint(bytes, origin: origin) else { return .damaged }
        guard (try? tree.root(size: checkpoint.head.size)) == checkpoint.head.root else {
            if isSigned(checkpoint.note) { throw .publishedCheckpointContradicts }
            return .damaged
        }
        return .checkpoint(checkpoint)
    }

    static func checkpoint(_ bytes: [UInt8], origin: KeyName) -> PublishedCheckpoint? {
        guard let note = try? SignedNote(decoding: bytes), let checkpoint = try? Checkpoint(decoding: note.text),
            checkpoint.origin == origin
        else { return nil }
        return PublishedCheckpoint(head: checkpoint.head, note: note)
    }
}
