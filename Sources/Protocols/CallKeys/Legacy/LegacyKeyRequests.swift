// SPDX-License-Identifier: Apache-2.0

/// When a participant of the eCall guide asks its host for a key.
///
/// The guide lets a second failure within one second pass without a request; that lies within the three seconds here.
///
/// Spec: call guide, "Emergency Key Redistribution".
public struct LegacyKeyRequests: Sendable {
    /// `keyRequestCooldown`: between two requests, in milliseconds.
    public static let cooldown: UInt64 = 3000
    /// `keyResponseTimeout`: how long an answer is waited for, in milliseconds.
    public static let timeout: UInt64 = 10_000

    private var askedAt: UInt64?
    private var isWaiting = false

    /// Nothing was asked yet.
    public init() {}

    /// Whether to ask now; it counts as asked.
    ///
    /// - Parameters:
    ///   - failure: what happened to a frame. Only those for which the guide has a reason are worth a request.
    ///   - isHost: whether this device makes the keys: it never asks.
    public mutating func ask(because failure: LegacyFailure, isHost: Bool, at now: UInt64) -> Bool {
        guard !isHost, failure == .mediaDecryptFailed || failure == .audioDecryptFailed else { return false }
        if let askedAt, now < askedAt + (isWaiting ? Self.timeout : Self.cooldown) { return false }
        (askedAt, isWaiting) = (now, true)
        return true
    }

    /// `markKeyRequestComplete`: the key is there.
    public mutating func complete() { isWaiting = false }
}
