// SPDX-License-Identifier: Apache-2.0

import Platform

/// When the newest complete backup of a data directory began: a file beside the data, for the server's metrics.
///
/// It is no part of a backup: of a directory that was restored none is known.
package struct BackupMark: Sendable {
    /// The file, in the data directory.
    static let name = "backup.time"

    private let folder: String
    private var path: String { "\(folder)/\(Self.name)" }

    /// That of a data directory.
    package init(of data: DataDirectory) { folder = data.path }

    /// In seconds since 1970; nil if no complete backup is known.
    package var time: UInt64? {
        guard let bytes = try? PrivateFile.read(path, maximumByteCount: 32) else { return nil }
        return UInt64(String(decoding: bytes, as: UTF8.self).prefix { $0 != "\n" })
    }

    /// Writes down that a backup is complete, unless a later one is known. A reader sees the time before or this one.
    ///
    /// - Parameter time: when it began, in seconds since 1970.
    package func write(_ time: UInt64) throws(FileFailure) {
        guard self.time.map({ $0 < time }) ?? true else { return }
        guard let owner = FileStatus(of: folder)?.owner else { throw FileFailure(folder) }
        // Root may make the backup, and the server's user reads this.
        try PrivateFile.replace(path, with: "\(time)\n".utf8, owner: owner)
    }
}
