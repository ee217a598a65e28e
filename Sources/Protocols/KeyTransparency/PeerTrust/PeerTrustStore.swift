// SPDX-License-Identifier: Apache-2.0

/// Where a client keeps what it has verified and accepted. One conformance suite runs on every store.
///
/// Every change is durable when the call returns, and happens wholly or not at all.
public protocol PeerTrustStore: Sendable {
    /// Why the store could not read or write: the environment's fault, worth a retry.
    associatedtype Failure: Error

    /// What was pinned for a handle, or nil.
    func pinnedPeer(_ handle: Handle) async throws(Failure) -> PinnedPeer?

    /// Everyone pinned, in order of handle.
    func pinnedPeers() async throws(Failure) -> [PinnedPeer]

    /// Replaces what is pinned for `peer.handle` if it still is `expected`.
    ///
    /// - Returns: false if something else is pinned by now; nothing was changed.
    func pin(_ peer: PinnedPeer, replacing expected: PinnedPeer?) async throws(Failure) -> Bool

    /// The largest verified checkpoint of a log, or nil before the first.
    func logView(origin: [UInt8]) async throws(Failure) -> LogView?

    /// Moves the view of a log forward if it still is `expected`.
    ///
    /// - Returns: false if the view has moved meanwhile; nothing was changed and the lookup must be repeated.
    func advance(to view: LogView, from expected: LogView?) async throws(Failure) -> Bool

    /// Keeps proof of a log's misbehaviour permanently.
    func keep(_ evidence: LogContradiction, at now: UInt64) async throws(Failure)

    /// All evidence kept, oldest first.
    func evidence() async throws(Failure) -> [LogContradiction]
}
