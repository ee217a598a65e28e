// SPDX-License-Identifier: Apache-2.0

import Platform

/// Where the file of an open database has to be.
package struct DatabasePlace: Sendable {
    private let path: String
    private let identity: FileStatus.Identity?

    /// That of a database that was just opened.
    package init(of path: String) {
        self.path = path
        identity = FileStatus(of: path)?.identity
    }

    /// Whether the file is still there: not if it was removed, moved away, or replaced by another one, so that what is written is gone with
    /// the process.
    package var isKept: Bool { FileStatus(of: path)?.identity == identity }

    /// Whether another file is there: a connection that is opened from now on would read that one.
    var isReplaced: Bool { FileStatus(of: path).map { $0.identity != identity } ?? false }
}
