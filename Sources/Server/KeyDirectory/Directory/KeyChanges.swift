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
        let last = try proven()
        let known = last?.number ?? 0
        if let number, number > known {
            // The log has one more than the file while a change is made.
            guard next != nil, number == known + 1 else { throw .keysChanged }
        }
        // The last change may be the one that ended the log before this one, or this one.
        guard let last, last.isForLog(of: policy) else { return }
        guard last.policy == policy || last.policy == next else { throw .keysChanged }
    }

    /// The last change, if it was interrupted: the log has it, and its proof or the policy is of before.
    ///
    /// - Parameters:
    ///   - policy: what clients are told to trust.
    ///   - logged: the last change that the log has.
    /// - Throws: `DirectoryOpenError.database`: the proofs cannot be read.
    package func pending(
        after policy: Policy, logged: SuccessionRecord?
    ) throws(DirectoryOpenError) -> SuccessionRecord? {
        let last = try proven()
        if let logged, logged.number > last?.number ?? 0 { return logged }
        guard let last, last.isForLog(of: policy), last.policy != policy else { return nil }
        return last
    }

    /// Whether one of the changes whose proofs are kept ended a log: the former one, which this one continues, or this one.
    ///
    /// - Throws: `DirectoryOpenError.database`: the proofs cannot be read.
    package func haveEndedALog() throws(DirectoryOpenError) -> Bool {
        try links().contains { $0.record.kind == .log }
    }

    /// The last change whose proof is kept.
    private func proven() throws(DirectoryOpenError) -> SuccessionRecord? { try links().last?.record }

    private func links() throws(DirectoryOpenError) -> [SuccessionLink] {
        do { return try SuccessionFile(path: paths.succession).read()?.links ?? [] } catch {
            throw .database(.damaged)
        }
    }

    /// The last change that a log has which may be open in another process, also if it is not cosigned yet: every frame is read, and nothing is
    /// written.
    ///
    /// - Throws: `LogOpenError`.
    package static func last(in log: LogCopy) throws(LogOpenError) -> SuccessionRecord? {
        var last: SuccessionRecord?
        try log.forEachFrame { (frame) throws(LogOpenError) in
            last = frame.lastChange ?? last
        }
        return last
    }
}

extension Frame {
    /// The last change of keys and witnesses among its entries; nil: there is none.
    var lastChange: SuccessionRecord? {
        var last: SuccessionRecord?
        forEachEntry { entry in
            if let record = try? SuccessionRecord(decoding: [UInt8](entry)) { last = record }
        }
        return last
    }
}

extension SuccessionRecord {
    /// Whether it says what is trusted of the log that a policy is for: it may be the change that ended that log.
    fileprivate func isForLog(of policy: Policy) -> Bool {
        self.policy.logs.contains { log in policy.logs.contains { $0.name == log.name } }
    }
}
