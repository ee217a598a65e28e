// SPDX-License-Identifier: Apache-2.0

import Foundation
package import TransparencyLog

/// What an operator is warned of when a process starts that shares a directory with others. Nothing of it keeps the process from running.
package enum SharedStartRemarks {
    /// - Parameter sequences: whether this process writes the log whenever nobody else does.
    package static func of(_ data: DataDirectory, _ policy: Policy, sequences: Bool) -> [String] {
        guard sequences else { return needlessKey(data) }
        return forgottenLog(data, policy)
    }

    /// Who breaks into a front end would take the key away.
    private static func needlessKey(_ data: DataDirectory) -> [String] {
        guard FileManager.default.fileExists(atPath: data.keys + "/log.key") else { return [] }
        return [
            "keys/log.key is on this machine, and a process that only serves does not need it: remove it here unless another process on this "
                + "machine sequences"
        ]
    }

    private static func forgottenLog(_ data: DataDirectory, _ policy: Policy) -> [String] {
        let kept = (try? FileManager.default.contentsOfDirectory(atPath: data.state)) ?? []
        guard kept.isEmpty, !policy.witnesses.contains(where: { $0.url != nil }) else { return [] }
        return [
            "nothing outside the database and the bucket knows how far the log has come: there is no witness that can be asked, and state/ of "
                + "this machine is empty. Older copies of both would not be noticed"
        ]
    }
}
