// SPDX-License-Identifier: Apache-2.0

import TransparencyLog

/// Decides whether an answer shows what a log that ended held last for a handle.
///
/// ``verify(_:for:beginning:)`` is the page of checks. Nothing is asked about the age of the end: a client may have slept
/// for years.
public struct FormerVerifier: Sendable {
    /// The log that ended.
    public let log: FormerLog

    /// A verifier for one log that ended.
    public init(_ log: FormerLog) { self.log = log }

    /// Checks an answer to the question "what did the log hold last for `handle`?".
    ///
    /// - Parameters:
    ///   - bytes: the body as received, ``FormerResponse``.
    ///   - handle: whose history; never what the server echoed.
    ///   - beginning: how the history begins, as this client knows it.
    /// - Returns: the whole history, up to the log's last checkpoint.
    /// - Throws: ``FormerRefusal``: which check failed and why. No retry helps.
    ///
    /// Security: proves that nothing that this client was shown of the handle was taken back before the log ended, and what
    /// the log that goes on has to begin with. That nothing else was done to the handle is for its owner to say.
    public func verify(
        _ bytes: [UInt8], for handle: Handle, beginning: FormerBeginning
    ) throws(FormerRefusal) -> VerifiedHistory {
        let response = try checkEnvelope(bytes)
        let history = try checkHistory(response, handle)
        try checkEnd(history)
        try checkBeginning(history, beginning)
        return history
    }

    private func checkEnvelope(_ bytes: [UInt8]) throws(FormerRefusal) -> FormerResponse {
        do { return try FormerResponse(decoding: bytes) } catch { throw .envelope(error) }
    }

    /// As any history, under the trust of the time, as of the log's end.
    private func checkHistory(
        _ response: FormerResponse, _ handle: Handle
    ) throws(FormerRefusal) -> VerifiedHistory {
        do {
            return try HistoryVerifier(log).verify(
                response.history, for: handle, knowing: nil, since: MerkleFrontier(), at: log.end.quorumTime ?? 0)
        } catch { throw .history(error) }
    }

    /// It rests on the very checkpoint with which the log ended.
    private func checkEnd(_ history: VerifiedHistory) throws(FormerRefusal) {
        let shown = history.epoch.checkpoint.checkpoint
        guard shown.origin == log.origin, shown.head == log.end.checkpoint.head else {
            throw .anotherEnd(size: shown.head.size, expected: log.end.checkpoint.head.size)
        }
    }

    /// It begins with what was known of it: nothing that was shown was taken back.
    private func checkBeginning(_ history: VerifiedHistory, _ beginning: FormerBeginning) throws(FormerRefusal) {
        let head = beginning.head(under: history.label)
        guard history.head(count: head.count) == head else {
            throw .rewritten(known: head.count, received: history.frontier.size)
        }
    }
}

/// Why what a log is said to have ended with was refused: one case a check.
public enum FormerRefusal: Error, Hashable, Sendable {
    /// The body does not have the form of ``FormerResponse``.
    case envelope(LookupMessageError)
    /// The history does not hold under the trust of the time.
    case history(HistoryRefusal)
    /// It is the history at another moment than the log's end.
    case anotherEnd(size: UInt64, expected: UInt64)
    /// It does not begin with what this client had verified: what the log showed of a person was taken back before it
    /// ended.
    case rewritten(known: UInt64, received: UInt64)
}
