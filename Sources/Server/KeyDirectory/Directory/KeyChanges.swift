// SPDX-License-Identifier: Apache-2.0

import DurableStorage
package import KeyTransparency
package import LogEngine
package import TransparencyLog

/// What a log says of the changes of its keys and witnesses, for a server that signs for it: with the keys of before a change it would show what
/// nobody believes who has followed the change.
package struct KeyChanges {
    private let paths: DirectoryPaths

    init(at paths: DirectoryPaths) { self.paths = paths }

    /// Those of the records at a path.
    package init(at records: String) { paths = DirectoryPaths(root: records) }

    /// Requires the policy of the last change, or the one that a change makes now.
    ///
    /// - Parameters:
    ///   - policy: what clients are told to trust.
    ///   - number: how many changes the log has; nil if that is not known.
    ///   - next: the policy of a change that the caller makes or completes.
    /// - Throws: ``DirectoryOpenError/keysChanged``.
    package func requireNewest(
        _ policy: Policy, logged number: UInt64? = nil, changingTo next: Policy? = nil
    ) throws(DirectoryOpenError) {
        let last: SuccessionRecord?
        do { last = try SuccessionFile(path: paths.succession).read()?.links.last?.record } catch {
            throw .database(.damaged)
        }
        let known = last?.number ?? 0
        if let number, number > known {
            // The log has one more than the file while a change is made.
            guard next != nil, number == known + 1 else { throw .keysChanged }
        }
        // The last change may be the one that ended the log before this one, or this one.
        guard let last, last.policy.logs.contains(where: { log in policy.logs.contains { $0.name == log.name } }) else {
            return
        }
        guard last.policy == policy || last.policy == next else { throw .keysChanged }
    }

    /// How many changes a log has that may be open in another process, also those that are not cosigned yet: every frame is read, and nothing is
    /// written.
    ///
    /// - Throws: `LogOpenError`.
    package static func number(in log: LogCopy) throws(LogOpenError) -> UInt64 {
        var number: UInt64 = 0
        try log.forEachFrame { (frame) throws(LogOpenError) in
            frame.forEachEntry { entry in
                if let record = try? SuccessionRecord(decoding: [UInt8](entry)) { number = record.number }
            }
        }
        return number
    }
}
