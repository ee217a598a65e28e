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
    ///   - logged: what the log has.
    /// - Throws: ``DirectoryOpenError/keysChanged``: a proof is missing that was kept, as the policy or the log shows, and no other one could be
    ///   made that clients of before follow. `DirectoryOpenError.database`: the proofs cannot be read, or do not follow from each other.
    package func pending(
        after policy: Policy, logged: LoggedChanges
    ) throws(DirectoryOpenError) -> SuccessionRecord? {
        let links = try links()
        try requireUnbroken(links)
        guard !logged.isOfSuccessor || links.contains(where: { $0.record.kind == .log }) else { throw .keysChanged }
        let last = links.last?.record
        if let newest = logged.last, newest.number > last?.number ?? 0 {
            // The proof is kept before the policy is that of the change.
            guard newest.policy != policy else { throw .keysChanged }
            if !logged.isFollowed { return newest }
        }
        guard let last, last.isForLog(of: policy), last.policy != policy else { return nil }
        return last
    }

    /// Requires that each change was made under the trust of the one before it, as clients require. Nothing here says what was trusted before
    /// the first.
    private func requireUnbroken(_ links: [SuccessionLink]) throws(DirectoryOpenError) {
        for (former, link) in zip(links, links.dropFirst()) {
            let trust = DirectoryTrust(
                policy: former.record.policy, vrfKey: former.record.vrfKey, freshness: .standard)
            do { _ = try SuccessionVerifier(trust: trust).follow(SuccessionChain(links: [former, link])) } catch {
                throw .database(.damaged)
            }
        }
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

    /// What a log has which may be open in another process: every frame is read, and nothing is written.
    ///
    /// - Throws: `LogOpenError`.
    package static func logged(in log: LogCopy) throws(LogOpenError) -> LoggedChanges {
        var logged = LoggedChanges()
        try log.forEachFrame { (frame) throws(LogOpenError) in logged.take(frame) }
        return logged
    }
}

/// What the entries of a log say of changes of its keys and witnesses, also those that are not cosigned yet.
package struct LoggedChanges: Sendable {
    /// The last change.
    package private(set) var last: SuccessionRecord?
    /// Whether something is published after it: then it is complete, unless it was resumed after an epoch's time and interrupted again. False
    /// also where nobody looked.
    package private(set) var isFollowed = false
    /// Whether the log goes on where another one ended.
    package private(set) var isOfSuccessor = false

    /// Those of a log without entries.
    package init() {}

    /// Takes the next frame.
    mutating func take(_ frame: Frame, isPublished: Bool = false) {
        var change: SuccessionRecord?
        frame.forEachEntry { entry in
            let entry = [UInt8](entry)
            if let record = try? SuccessionRecord(decoding: entry) { change = record }
            if frame.firstIndex == 0, (try? PredecessorRecord(decoding: entry)) != nil { isOfSuccessor = true }
        }
        if let change {
            (last, isFollowed) = (change, false)
        } else if isPublished {
            isFollowed = true
        }
    }
}

extension SuccessionRecord {
    /// Whether it says what is trusted of the log that a policy is for: it may be the change that ended that log.
    fileprivate func isForLog(of policy: Policy) -> Bool {
        self.policy.logs.contains { log in policy.logs.contains { $0.name == log.name } }
    }
}
