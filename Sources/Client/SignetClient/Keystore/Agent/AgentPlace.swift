// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import Platform

/// Where the agent of a home folder is reached: a socket in `$XDG_RUNTIME_DIR/signet`, or in the home folder if there is no such folder of
/// this user alone.
package struct AgentPlace: Sendable {
    /// The folder of the socket.
    package let folder: String
    /// The socket.
    package let path: String
    /// The file that the running agent has locked.
    package var lock: String { path + ".lock" }

    /// - Parameter runtime: `$XDG_RUNTIME_DIR`; nil for none.
    package init(of home: HomeFolder, runtime: String?) {
        let found = realpath(home.path, nil)
        defer { free(found) }
        let place = found.map { String(cString: $0) } ?? home.path
        let name = Hex.encode(Array(SHA256.hash(data: Array(place.utf8)).prefix(8)))
        let isOwn = runtime.map { $0.hasPrefix("/") && Self.isPrivate($0) } ?? false
        folder = isOwn ? (runtime ?? "") + "/signet" : place
        path = "\(folder)/agent-\(String(decoding: name, as: UTF8.self))"
    }

    /// Whether only this user can enter the folder. What another user could put there is not asked.
    package var isPrivate: Bool { Self.isPrivate(folder) }

    private static func isPrivate(_ folder: String) -> Bool {
        guard let status = FileStatus(ofEntry: folder) else { return false }
        return status.isFolder && status.owner == geteuid() && !status.isOpenToOthers
    }
}
