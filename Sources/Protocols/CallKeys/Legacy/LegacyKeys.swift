// SPDX-License-Identifier: Apache-2.0

public import Crypto

/// The three keys of the eCall guide, for frames without a header: current, backup, future, tried in this order.
///
/// Wire form of a frame: 12-byte nonce, ciphertext, 16-byte tag (AES-GCM `combined`).
///
/// Security: nothing here says who sent a frame, or whether it was sent before. A stranger can make us try every key;
/// ``triesPerSecond`` bounds what that costs.
public struct LegacyKeys: Sendable {
    /// Frames that fit no key and are still tried, in a second.
    public static let triesPerSecond = 50

    private var current: SymmetricKey?
    private var backup: (key: SymmetricKey, until: UInt64)?
    private var future: (key: SymmetricKey, until: UInt64)?
    private var misses: (since: UInt64, count: Int) = (0, 0)
    private let retention: UInt64
    private let reason: LegacyFailure

    /// Which of them opened a frame.
    public enum Slot: Hashable, Sendable, CaseIterable {
        /// The key in use.
        case current
        /// The one before.
        case backup
        /// The one to come.
        case future
    }

    /// The keys of a session: the backup stays 120 s.
    public static func session() -> LegacyKeys { LegacyKeys(retention: 120_000, reason: .mediaDecryptFailed) }

    /// The keys of the audio path: the backup stays 30 s.
    public static func audio() -> LegacyKeys { LegacyKeys(retention: 30_000, reason: .audioDecryptFailed) }

    private init(retention: UInt64, reason: LegacyFailure) {
        self.retention = retention
        self.reason = reason
    }

    /// Keeps a key to come, for 60 s.
    public mutating func setFuture(_ key: SymmetricKey, at now: UInt64) { future = (key, now + 60_000) }

    /// Puts a key in use; the one before becomes the backup.
    public mutating func setCurrent(_ key: SymmetricKey, at now: UInt64) {
        if let current, current != key { backup = (current, now + retention) }
        if future?.key == key { future = nil }
        current = key
    }

    /// Seals a frame under the key in use, with a random nonce.
    ///
    /// - Throws: ``LegacyFailure/noKey``: drop the frame; never send it in the clear.
    public func seal(_ plaintext: [UInt8]) throws(LegacyFailure) -> [UInt8] {
        guard let current, let combined = try? AES.GCM.seal(plaintext, using: current).combined else { throw .noKey }
        return Array(combined)
    }

    /// Tries the keys in order.
    ///
    /// - Throws: ``LegacyFailure``: the guide's reason, for which the host is to be asked; or that it is not worth asking.
    public mutating func open(_ frame: [UInt8], at now: UInt64) throws(LegacyFailure) -> (plaintext: [UInt8], by: Slot)
    {
        if now >= misses.since + 1000 { misses = (now, 0) }
        guard misses.count < Self.triesPerSecond else { throw .tooManyTries }
        for (slot, key) in keys(at: now) {
            guard let box = try? AES.GCM.SealedBox(combined: frame), let plaintext = try? AES.GCM.open(box, using: key)
            else {
                continue
            }
            return (Array(plaintext), slot)
        }
        misses.count += 1
        throw reason
    }

    private mutating func keys(at now: UInt64) -> [(Slot, SymmetricKey)] {
        if let until = backup?.until, now >= until { backup = nil }
        if let until = future?.until, now >= until { future = nil }
        return [(.current, current), (.backup, backup?.key), (.future, future?.key)].compactMap { slot, key in
            key.map { (slot, $0) }
        }
    }
}

/// Why a frame without a header was not opened, or not sealed.
public enum LegacyFailure: Error, Hashable, Sendable {
    /// No key of the session fits.
    case mediaDecryptFailed
    /// No key of the audio path fits.
    case audioDecryptFailed
    /// This frame was not tried, because too many frames before it fitted nothing.
    case tooManyTries
    /// There is no key to seal with.
    case noKey
}
