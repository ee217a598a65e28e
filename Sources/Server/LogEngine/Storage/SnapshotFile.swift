// SPDX-License-Identifier: Apache-2.0

/// The file `index.snapshot`: what the sealer of a log wrote down for a quicker start. The log itself never reads it.
package struct SnapshotFile: Sendable {
    private let fileSystem: any LogFileSystem

    /// The file of the log in some storage.
    package init(in fileSystem: any LogFileSystem) { self.fileSystem = fileSystem }

    /// The file, for reading; nil if there is none.
    package func open() throws(LogFileError) -> (any LogFile)? {
        guard try fileSystem.list(LogPath.root).contains(LogPath.snapshot) else { return nil }
        return try fileSystem.open(LogPath.snapshot, .read)
    }

    /// Replaces the file piece by piece, durably: a reader sees all of the new one, or the old one.
    ///
    /// - Parameter pieces: calls its argument with one piece after the other.
    /// - Throws: ``LogFileError``: the file is the old one, or the new one.
    package func write(
        _ pieces: (_ write: ([UInt8]) throws(LogFileError) -> Void) throws(LogFileError) -> Void
    ) throws(LogFileError) {
        let draft = LogPath.snapshot + LogPath.temporarySuffix
        do throws(LogFileError) {
            let file = try fileSystem.open(draft, .create)
            var end: UInt64 = 0
            try pieces { (piece) throws(LogFileError) in
                try file.writeAll(piece, at: end)
                end += UInt64(piece.count)
            }
            try file.synchronize()
            try fileSystem.rename(draft, to: LogPath.snapshot)
            try fileSystem.synchronizeDirectory(LogPath.root)
        } catch {
            // It would take room until the next one is written.
            try? fileSystem.remove(draft)
            throw error
        }
    }
}
